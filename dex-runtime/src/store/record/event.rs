//! Events, one kind after the other. Times in them are distances from the transition's time.

use std::sync::Arc;

use super::bytes::{ReadError, Reader, Writer};
use super::tag::event as tag;
use crate::engine::{Event, Failure, RunIdentity, RunTimeout, StepPatch};
use crate::ids::{Epoch, ExecutionNo, Slot};
use crate::time::Timestamp;

impl Writer {
    pub(super) fn event(&mut self, at: Timestamp, event: &Event) {
        match event {
            Event::RunStarted { identity, timeout } => self.run_started(at, identity, timeout.as_ref()),
            Event::AttributeSet { slot, value } => {
                self.of_slot(tag::ATTRIBUTE_SET, slot);
                self.payload(value);
            }
            Event::AttributeDeleted { slot } => self.of_slot(tag::ATTRIBUTE_DELETED, slot),
            Event::MessagePublished { slot, value } => {
                self.of_slot(tag::MESSAGE_PUBLISHED, slot);
                self.payload(value);
            }
            Event::MessageDeleted { slot, number } => {
                self.of_slot(tag::MESSAGE_DELETED, slot);
                self.number(*number);
            }
            Event::Noted { execution, name, value } => {
                self.byte(tag::NOTED);
                self.option(*execution, Self::execution);
                self.name(name);
                self.payload(value);
            }
            Event::ChannelForgotten { slot } => self.of_slot(tag::CHANNEL_FORGOTTEN, slot),
            Event::RpcApplied { rpc } => {
                self.byte(tag::RPC_APPLIED);
                self.name(rpc);
            }
            Event::StepScheduled { .. } => self.step_scheduled(event),
            Event::LocksTaken { execution } => self.of_execution(tag::LOCKS_TAKEN, *execution),
            Event::CheckpointStored { execution, value } => {
                self.of_execution(tag::CHECKPOINT_STORED, *execution);
                self.payload(value);
            }
            Event::HandedOut { execution, opening, lost } => {
                self.of_execution(tag::HANDED_OUT, *execution);
                self.number(opening.0);
                self.number((*lost).into());
            }
            Event::ChildRequested { child, flow_id, request } => {
                self.child_requested(*child, flow_id, request);
            }
            Event::ChildStarted { child, run } => self.child_started(*child, *run),
            Event::ChildEnded { child, result } => self.child_ended(*child, result),
            Event::ChildStopped { child } => self.of_child(tag::CHILD_STOPPED, *child),
            Event::ParentTold => self.byte(tag::PARENT_TOLD),
            Event::WaitStarted { execution, condition } => {
                self.of_execution(tag::WAIT_STARTED, *execution);
                self.condition(at, condition);
            }
            Event::TimerFired { execution, until } => {
                self.of_execution(tag::TIMER_FIRED, *execution);
                self.time(at, *until);
            }
            Event::WaitMet { execution, matched } => {
                self.of_execution(tag::WAIT_MET, *execution);
                self.matched(matched);
            }
            Event::AttemptFailed { execution, failure, started_at, retry_at } => {
                self.failed(tag::ATTEMPT_FAILED, *execution, failure);
                self.time(at, *started_at);
                self.time(at, *retry_at);
            }
            Event::RetryStarted { execution } => self.of_execution(tag::RETRY_STARTED, *execution),
            Event::StepParked { execution, failure } => self.failed(tag::STEP_PARKED, *execution, failure),
            Event::StepResumed { execution } => self.of_execution(tag::STEP_RESUMED, *execution),
            Event::StepSkipped { execution } => self.of_execution(tag::STEP_SKIPPED, *execution),
            Event::StepCompleted { execution } => self.of_execution(tag::STEP_COMPLETED, *execution),
            Event::StepFailed { execution, failure } => self.failed(tag::STEP_FAILED, *execution, failure),
            Event::StepCanceled { execution } => self.of_execution(tag::STEP_CANCELED, *execution),
            Event::TimeoutReached => self.byte(tag::TIMEOUT_REACHED),
            Event::CancelRequested { reason, until, cleanup } => {
                self.byte(tag::CANCEL_REQUESTED);
                self.option(reason.as_deref(), Self::text);
                self.time(at, *until);
                self.option(cleanup.as_ref(), Self::target);
            }
            Event::GraceEnded => self.byte(tag::GRACE_ENDED),
            Event::RunPaused => self.byte(tag::RUN_PAUSED),
            Event::RunResumed => self.byte(tag::RUN_RESUMED),
            Event::RequestAnswered { request, digest, answer } => {
                self.byte(tag::REQUEST_ANSWERED);
                self.name(request);
                self.number(*digest);
                self.payload(answer);
            }
            Event::OutputProduced { step, number, value } => {
                self.byte(tag::OUTPUT_PRODUCED);
                self.name(step);
                self.number((*number).into());
                self.payload(value);
            }
            Event::RunClosed { closing } => {
                self.byte(tag::RUN_CLOSED);
                self.closing(closing);
            }
        }
    }

    fn step_scheduled(&mut self, event: &Event) {
        let Event::StepScheduled { execution, step, source, input, waits, recovery, locks, patch } = event
        else {
            return;
        };
        // Most movements change nothing, and their bytes are as they were before there were patches.
        match patch {
            None => self.byte(tag::STEP_SCHEDULED),
            Some(patch) => {
                self.byte(tag::STEP_SCHEDULED_WITH);
                self.patch(patch);
            }
        }
        self.execution(*execution);
        self.name(step);
        self.source(source);
        self.payload(input);
        self.flag(*waits);
        self.recovery(recovery.as_ref());
        self.slots(locks);
    }

    fn run_started(&mut self, at: Timestamp, identity: &RunIdentity, timeout: Option<&RunTimeout>) {
        match &identity.parent {
            None => self.byte(tag::RUN_STARTED),
            Some(parent) => {
                self.byte(tag::CHILD_RUN_STARTED);
                self.parent(parent);
            }
        }
        self.identity(at, identity);
        self.option(timeout, |out, timeout| out.run_timeout(at, timeout));
    }

    fn failed(&mut self, tag: u8, execution: ExecutionNo, failure: &Failure) {
        self.of_execution(tag, execution);
        self.failure(failure);
    }

    fn of_slot(&mut self, tag: u8, slot: &Slot) {
        self.byte(tag);
        self.slot(slot);
    }

    fn of_execution(&mut self, tag: u8, execution: ExecutionNo) {
        self.byte(tag);
        self.execution(execution);
    }
}

impl Reader<'_> {
    pub(super) fn event(&mut self, at: Timestamp) -> Result<Event, ReadError> {
        Ok(match self.byte()? {
            tag::RUN_STARTED => Event::RunStarted {
                identity: self.identity(at)?,
                timeout: self.option(|input| input.run_timeout(at))?,
            },
            tag::CHILD_RUN_STARTED => {
                let parent = Some(self.parent()?);
                let identity = RunIdentity { parent, ..self.identity(at)? };
                Event::RunStarted { identity, timeout: self.option(|input| input.run_timeout(at))? }
            }
            tag::CHILD_REQUESTED => Event::ChildRequested {
                child: self.child_no()?,
                flow_id: self.flow_id()?,
                request: Box::new(self.child_request()?),
            },
            tag::CHILD_STARTED => Event::ChildStarted { child: self.child_no()?, run: self.run()? },
            tag::CHILD_ENDED => Event::ChildEnded { child: self.child_no()?, result: self.payload()? },
            tag::CHILD_STOPPED => Event::ChildStopped { child: self.child_no()? },
            tag::PARENT_TOLD => Event::ParentTold,
            tag::ATTRIBUTE_SET => Event::AttributeSet { slot: self.slot()?, value: self.payload()? },
            tag::ATTRIBUTE_DELETED => Event::AttributeDeleted { slot: self.slot()? },
            tag::MESSAGE_PUBLISHED => Event::MessagePublished { slot: self.slot()?, value: self.payload()? },
            tag::MESSAGE_DELETED => Event::MessageDeleted { slot: self.slot()?, number: self.number()? },
            tag::NOTED => Event::Noted {
                execution: self.option(Self::execution)?,
                name: self.name()?,
                value: self.payload()?,
            },
            tag::CHANNEL_FORGOTTEN => Event::ChannelForgotten { slot: self.slot()? },
            tag::RPC_APPLIED => Event::RpcApplied { rpc: self.name()? },
            tag::STEP_SCHEDULED => self.scheduled(None)?,
            tag::STEP_SCHEDULED_WITH => {
                let patch = self.patch()?;
                self.scheduled(Some(patch))?
            }
            tag::LOCKS_TAKEN => Event::LocksTaken { execution: self.execution()? },
            tag::CHECKPOINT_STORED => {
                Event::CheckpointStored { execution: self.execution()?, value: self.payload()? }
            }
            tag::HANDED_OUT => Event::HandedOut {
                execution: self.execution()?,
                opening: self.number().map(Epoch)?,
                lost: self.small_number()?,
            },
            tag::WAIT_STARTED => {
                Event::WaitStarted { execution: self.execution()?, condition: self.condition(at)? }
            }
            tag::TIMER_FIRED => Event::TimerFired { execution: self.execution()?, until: self.time(at)? },
            tag::WAIT_MET => Event::WaitMet { execution: self.execution()?, matched: self.matched()? },
            tag::ATTEMPT_FAILED => Event::AttemptFailed {
                execution: self.execution()?,
                failure: self.failure()?,
                started_at: self.time(at)?,
                retry_at: self.time(at)?,
            },
            tag::RETRY_STARTED => Event::RetryStarted { execution: self.execution()? },
            tag::STEP_PARKED => Event::StepParked { execution: self.execution()?, failure: self.failure()? },
            tag::STEP_RESUMED => Event::StepResumed { execution: self.execution()? },
            tag::STEP_SKIPPED => Event::StepSkipped { execution: self.execution()? },
            tag::STEP_COMPLETED => Event::StepCompleted { execution: self.execution()? },
            tag::STEP_FAILED => Event::StepFailed { execution: self.execution()?, failure: self.failure()? },
            tag::STEP_CANCELED => Event::StepCanceled { execution: self.execution()? },
            tag::TIMEOUT_REACHED => Event::TimeoutReached,
            tag::CANCEL_REQUESTED => Event::CancelRequested {
                reason: self.option(|input| input.text().map(str::to_owned))?,
                until: self.time(at)?,
                cleanup: self.option(Self::target)?,
            },
            tag::GRACE_ENDED => Event::GraceEnded,
            tag::RUN_PAUSED => Event::RunPaused,
            tag::RUN_RESUMED => Event::RunResumed,
            tag::REQUEST_ANSWERED => Event::RequestAnswered {
                request: self.name()?,
                digest: self.number()?,
                answer: self.payload()?,
            },
            tag::OUTPUT_PRODUCED => Event::OutputProduced {
                step: self.name()?,
                number: self.small_number()?,
                value: self.payload()?,
            },
            tag::RUN_CLOSED => Event::RunClosed { closing: self.closing()? },
            other => return Err(self.unknown_tag("event", other)),
        })
    }

    fn scheduled(&mut self, patch: Option<Arc<StepPatch>>) -> Result<Event, ReadError> {
        Ok(Event::StepScheduled {
            execution: self.execution()?,
            step: self.name()?,
            source: self.source()?,
            input: self.payload()?,
            waits: self.flag()?,
            recovery: self.recovery()?,
            locks: self.slots()?,
            patch,
        })
    }
}
