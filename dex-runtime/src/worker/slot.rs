//! A slot: takes handler calls one after another.

use std::pin::pin;
use std::sync::{Arc, Weak};

use tokio::sync::oneshot;

use super::invoke::{Deadline, Ended, Leash, TextTimer, call as worker_call, run_blocking};
use super::outcome::{self, Failed};
use crate::definition::call::CallFuture;
use crate::definition::{
    CallInfo, Core, Effective, Live, Registered, StepError, StepInfo, StepInput, StreamError, Streams,
    WaitInfo,
};
use crate::dispatch::{Job, Next};
use crate::engine::{Command, Method, Rejection, Task, View};
use crate::ids::Attempt;
use crate::registry::{Refused, Resident, Submit, Submitted, Wanted};
use crate::shard::{AttemptOutlet, Shard};
use crate::signal::Signal;
use crate::time::Timestamp;

/// Makes handler calls, `first` before those that wait, and rests while there are none.
///
/// While it rests it does not hold the shard, which ends it when it goes.
pub(crate) async fn slot(shard: Weak<Shard>, first: Job) {
    let mut next = Some(first);
    while let (Some(job), Some(shard)) = (next, shard.upgrade()) {
        let rest = make_calls(&shard, job).await;
        drop(shard);
        next = match rest {
            Some(rest) => rest.await.ok(),
            None => None,
        };
    }
}

/// Makes calls until none wait. Gives where the next one comes from, if the slot is to wait for it.
async fn make_calls(shard: &Arc<Shard>, first: Job) -> Option<oneshot::Receiver<Job>> {
    let mut job = first;
    loop {
        make_call(shard, job).await;
        job = match shard.queue.next() {
            Next::Call(next) => next,
            Next::Rest(rest) => return Some(rest),
            Next::End => return None,
        };
        // Handlers that never await would otherwise keep this thread from everyone else.
        tokio::task::coop::consume_budget().await;
    }
}

async fn make_call(shard: &Arc<Shard>, job: Job) {
    let Job { run, task, view, mut busy, lost, .. } = job;
    let Some(flow) = shard.flows.get(&run.identity().flow) else {
        tracing::warn!(flow = %run.identity().flow, "a run stands since its flow is not registered");
        return;
    };
    let step = task.step.clone();
    let Some(definition) = flow.step(step.as_str()).map(|found| found.definition) else {
        // No attempt is used up, and nothing is written: a build that has the step goes on from here.
        tracing::warn!(run = %run.identity().run_id, %step, "a run stands since this build has no such step");
        return;
    };
    let attempt = task.attempt;
    // Two that may both be what kills the process are not called at once, so that the right one is found.
    // Both are rare, and kept out of what each slot holds.
    let alone = if lost && run.was_lost(attempt) {
        busy.wait();
        let alone = Box::pin(shard.suspect_alone()).await;
        busy.go_on();
        alone
    } else {
        None
    };
    if lost && !Box::pin(write_hand_out(shard, &run, attempt)).await {
        return;
    }
    let started_at = shard.clock.now();
    let Some(signal) = begin(&run, attempt) else { return };
    let blocking = definition.blocking && task.method == Method::Execute;
    let patch = task.patch.clone();
    let options = Effective::of(definition, patch.as_deref());
    let called = Called { shard, flow, run: &run, options, started_at };
    let mut call = pin!(called.invoke(task, view, signal));
    // What runs on the blocking pool does not await anything.
    let ended = if blocking { call.await } else { busy.handler(call.as_mut()).await };
    let outcome = match ended {
        Ended::CalledOff => None,
        Ended::Returned(result) => Some(result),
        Ended::Panicked(failure) => Some(Err(StepError::from_failure(failure))),
        Ended::TimedOut => Some(Err(outcome::timed_out(called.options.timeout.unwrap_or_default()))),
        Ended::Silent => Some(Err(outcome::silent(called.options.heartbeat.unwrap_or_default()))),
    };
    if let Some(outcome) = outcome {
        called.report(outcome.unwrap_or_else(|error| called.fail(attempt, error)));
    }
    // Not before it has reported: a pause that ends in between would have the handler called again.
    if run.end_call(attempt) {
        shard.note_idle(Arc::clone(&run));
    }
    drop((alone, busy));
}

/// Registers the call of an attempt that is wanted and does not run yet.
fn begin(run: &Resident, attempt: Attempt) -> Option<Arc<Signal>> {
    loop {
        let signal = run.begin_call(attempt)?;
        // Looked at after registering: a stop between the two would be missed.
        if let Some(Wanted { canceling }) = run.wanted(attempt) {
            if canceling {
                signal.tell();
            }
            return Some(signal);
        }
        run.end_call(attempt);
        // A pause may have ended in between: whoever was to make the call then has found it registered, and left it.
        run.wanted(attempt)?;
    }
}

/// Writes down that a handler is about to be called whose last call was lost with its process. Gives
/// whether it is still to be called.
async fn write_hand_out(shard: &Arc<Shard>, run: &Arc<Resident>, attempt: Attempt) -> bool {
    let opening = shard.store.epoch();
    let command = Command::HandOut { attempt, opening, lost_max: shard.options.crash_attempts_max };
    let (reply, answer) = oneshot::channel();
    match shard.writer.submit(run, command, Submit { reply: Some(reply), ..Submit::URGENT }) {
        Ok(Submitted::Enqueued) => matches!(answer.await, Ok(Ok(()))),
        Ok(Submitted::Nothing { .. }) => true,
        // The run has moved on, or the engine stops.
        Err(_) => false,
    }
}

/// A handler call, and what belongs to it.
struct Called<'a> {
    shard: &'a Arc<Shard>,
    flow: &'a Arc<Registered>,
    run: &'a Arc<Resident>,
    options: Effective<'a>,
    started_at: Timestamp,
}

impl Called<'_> {
    async fn invoke(
        &self,
        task: Box<Task>,
        view: View,
        signal: Arc<Signal>,
    ) -> Ended<Result<Command, StepError>> {
        let Some(found) = self.flow.step(task.step.as_str()) else { return Ended::CalledOff };
        let clock = &self.shard.clock;
        let deadline = self.options.timeout;
        let deadline =
            deadline.map(|limit| Box::new(Deadline::new(clock, self.started_at.saturating_add(limit))));
        let mut leash = Leash { signal: Some(Arc::clone(&signal)), deadline, ..Leash::default() };
        let task = *task;
        let core = Core::new(view);
        let (attempt, tries) = (task.attempt, task.failures + 1);
        let info = CallInfo {
            step: task.step.clone(),
            number: task.number,
            attempt: tries,
            first_attempt_at: task.first_attempt_at.unwrap_or(self.started_at),
            source: task.source,
            source_id: task.source_id,
            recovery: task.recovery,
        };
        match task.method {
            Method::WaitFor => {
                let handler =
                    self.flow.flow.call_wait(found.index, core, WaitInfo { call: info, signal }, task.input);
                let ended = worker_call(handler, leash).await;
                map(ended, |end| outcome::wait(&self.shard.flows, attempt, end, clock.now()))
            }
            Method::Execute => {
                let outlet = AttemptOutlet::new(
                    self.shard,
                    self.run,
                    attempt,
                    (task.step.clone(), task.number, tries),
                );
                let streams = Streams::new(outlet, clock, self.started_at);
                leash.heartbeat =
                    self.options.heartbeat.map(|limit| Box::new(Deadline::silence(clock, &streams, limit)));
                leash.texts = Some(TextTimer::new(clock, &streams));
                let info = StepInfo {
                    call: info,
                    live: Live { signal, streams: Arc::clone(&streams), checkpoint: task.checkpoint },
                    key: std::sync::OnceLock::new(),
                };
                let input = StepInput { input: task.input, outcome: task.outcome };
                let mut handler = self.flow.flow.call_step(found.index, core, info, input);
                if found.definition.blocking {
                    handler = on_blocking_pool(handler);
                }
                let ended = worker_call(handler, leash).await;
                let left = streams.end();
                let ended = if left.is_empty() {
                    ended
                } else {
                    Box::pin(finish(ended, streams.write_left(left))).await
                };
                map(ended, |end| outcome::complete(self.flow, attempt, end))
            }
        }
    }

    /// The command of an attempt that failed.
    fn fail(&self, attempt: Attempt, error: StepError) -> Command {
        outcome::fail(self.flow, &self.options, Failed { attempt, started_at: self.started_at, error })
    }

    /// Submits what a handler call led to.
    fn report(&self, command: Command) {
        let about = match &command {
            Command::CompleteStep(report) => Some(report.attempt),
            Command::StartWait(report) => Some(report.attempt),
            _ => None,
        };
        let run_id = self.run.identity().run_id;
        let submit = || Submit { durable: self.options.is_sync(), ..Submit::URGENT };
        let Err(refused) = self.shard.writer.submit(self.run, command, submit()) else { return };
        match (refused, about) {
            // The run has moved on without this attempt.
            (Refused::Rejected(Rejection::StaleAttempt { .. } | Rejection::Closed { .. }), _) => {}
            // What the handler wants cannot be, and will not be when it wants it again.
            (Refused::Rejected(rejection), Some(attempt)) => {
                let failed = self.fail(attempt, StepError::unworkable(rejection));
                if let Err(refused) = self.shard.writer.submit(self.run, failed, submit()) {
                    tracing::warn!(run = %run_id, ?refused, "a refused step cannot be parked");
                }
            }
            // The engine stops; the store still knows of the attempt.
            (refused, _) => tracing::debug!(run = %run_id, ?refused, "a report is dropped"),
        }
    }
}

/// Writes what the attempt has not written to its streams yet, whatever its outcome.
async fn finish<T>(
    ended: Ended<Result<T, StepError>>,
    write: impl Future<Output = Result<(), StreamError>>,
) -> Ended<Result<T, StepError>> {
    if matches!(ended, Ended::CalledOff) {
        return ended;
    }
    match (write.await, ended) {
        (Err(lost), Ended::Returned(Ok(_))) => Ended::Returned(Err(StepError::from(lost))),
        (Err(lost), ended) => {
            tracing::warn!(%lost, "the last text of an attempt that failed is lost");
            ended
        }
        (Ok(()), ended) => ended,
    }
}

fn map<T>(
    ended: Ended<Result<T, StepError>>,
    command: impl FnOnce(T) -> Result<Command, StepError>,
) -> Ended<Result<Command, StepError>> {
    match ended {
        Ended::Returned(result) => Ended::Returned(result.and_then(command)),
        Ended::Panicked(failure) => Ended::Panicked(failure),
        Ended::TimedOut => Ended::TimedOut,
        Ended::Silent => Ended::Silent,
        Ended::CalledOff => Ended::CalledOff,
    }
}

/// Moves a plain `fn` handler to where it may block.
///
/// Dropping the future does not end the handler, which nothing can; its result is then refused.
fn on_blocking_pool<T: Send + 'static>(
    handler: CallFuture<Result<T, StepError>>,
) -> CallFuture<Result<T, StepError>> {
    Box::pin(async move {
        match tokio::task::spawn_blocking(move || run_blocking(handler)).await {
            Ok(Ended::Returned(result)) => result,
            Ok(Ended::Panicked(failure)) => Err(StepError::from_failure(failure)),
            Ok(Ended::TimedOut | Ended::Silent | Ended::CalledOff) | Err(_) => {
                Err(StepError::new("the blocking pool was shut down"))
            }
        }
    })
}
