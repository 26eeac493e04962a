//! A run's whole state: the snapshot that saves reading a long history.
//!
//! What follows from the rest (which executions are ready, who waits on which channel, how many messages
//! are reserved) is not written but made again, so that it cannot disagree.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use super::super::types::StoreError;
use super::bytes::{ReadError, Reader, Writer};
use super::{AS_WRITTEN, begin, read_renamed, renamed, tag};
use crate::engine::{
    Answered, Attribute, Canceling, ChannelState, Children, Closed, Execution, HandedOut, Message, Method,
    Outcome, Output, Phase, RunState, StepId,
};
use crate::ids::{Epoch, ExecutionNo, Renamed};
use crate::time::Timestamp;

const VERSION: u8 = 1;

/// Room for a small run. Larger ones grow a few times, which is nothing beside writing them.
const CAPACITY: usize = 1024;

/// Encodes a run's state.
pub fn encode_state(state: &RunState) -> Bytes {
    let mut out = begin(VERSION, CAPACITY);
    out.state(state);
    out.finish()
}

/// Decodes what [`encode_state`] made.
///
/// # Errors
///
/// [`StoreError::Unreadable`] for anything else, a snapshot of a later version included.
pub fn decode_state(record: &[u8]) -> Result<RunState, StoreError> {
    decode_state_renamed(record, &AS_WRITTEN)
}

/// As [`decode_state`], with other names for attributes and channels that were written under old ones.
///
/// If there is something under both names, the attribute that was written later counts, and the messages of both
/// channels.
///
/// # Errors
///
/// As [`decode_state`], and if the messages of both channels have numbers in common: nobody can tell their
/// order then.
pub fn decode_state_renamed(record: &[u8], names: &Renamed) -> Result<RunState, StoreError> {
    read_renamed("a snapshot", VERSION, (record, names), |input| {
        let mut state = input.state()?;
        input.additions(&mut state)?;
        derive(&mut state);
        if !names.is_empty() {
            renamed::check_messages(input, &state)?;
        }
        Ok(state)
    })
}

/// Makes again what follows from the executions.
pub(super) fn derive(state: &mut RunState) {
    for channel in state.channels.values_mut() {
        channel.reserved = 0;
        channel.waiting.clear();
    }
    state.ready = 0;
    (state.locks, state.blocked) = (BTreeMap::new(), BTreeMap::new());
    for (number, execution) in &state.executions {
        if let Some(outcome) = &execution.outcome {
            for (slot, _) in &outcome.reserved {
                state.channels.get_or_default(slot).reserved += 1;
            }
        }
        if execution.holds_locks() {
            state.locks.extend(execution.locks.iter().map(|slot| (slot.clone(), *number)));
        }
        match &execution.phase {
            Phase::Ready(_) => state.ready += 1,
            Phase::Blocked => {
                for slot in &execution.locks {
                    state.blocked.entry(slot.clone()).or_default().insert(*number);
                }
            }
            Phase::Waiting { condition, .. } => condition.each_need(&mut |slot, need| {
                state.channels.get_or_default(slot).waiting.insert(*number, need);
            }),
            Phase::Backoff { .. } | Phase::Parked(_) => {}
        }
    }
    state.children.derive(&state.executions, state.closed.is_some());
    state.bytes = state.count_bytes();
}

impl Writer {
    fn state(&mut self, state: &RunState) {
        let base = state.identity.started_at;
        self.time(Timestamp::EPOCH, base);
        self.identity(base, &state.identity);
        self.number(state.version);
        self.number(state.scheduled);
        self.list(&state.step_counts, |out, (step, count)| {
            out.name(step);
            out.number((*count).into());
        });
        self.list(&state.executions, |out, (number, execution)| {
            out.execution(*number);
            out.execution_state(base, execution);
        });
        self.list(&state.attributes, |out, (slot, attribute)| {
            out.slot(slot);
            out.payload(&attribute.value);
            out.number(attribute.version);
        });
        self.list(&state.channels, |out, (slot, channel)| {
            out.slot(slot);
            out.number(channel.published);
            out.list(&channel.queue, |out, (number, value)| {
                out.number(*number);
                out.payload(value);
            });
        });
        self.flag(state.completion_requested);
        self.flag(state.paused);
        self.option(state.timeout.as_ref(), |out, timeout| out.run_timeout(base, timeout));
        self.option(state.canceling.as_ref(), |out, canceling| {
            out.option(canceling.reason.as_deref(), Self::text);
            out.option(canceling.until, |out, at| out.time(base, at));
            out.option(canceling.cleanup.as_ref(), Self::target);
            out.flag(canceling.cleaning);
        });
        self.list(&state.requests, |out, answered| {
            out.name(&answered.request);
            out.number(answered.digest);
            out.payload(&answered.answer);
        });
        self.list(&state.outputs, |out, output| {
            out.name(&output.step);
            out.number(output.number.into());
            out.payload(&output.value);
        });
        self.option(state.closed.as_ref(), |out, closed| {
            out.time(base, closed.at);
            out.closing(&closed.closing);
            out.number(closed.unconsumed);
        });
        self.additions(state);
    }

    /// What a snapshot has got since its first version, each with a tag and only if there is any: so all
    /// others read and are written as before.
    fn additions(&mut self, state: &RunState) {
        let patches: Vec<_> = state
            .executions
            .iter()
            .filter_map(|(number, execution)| Some((number, execution.patch.as_ref()?)))
            .collect();
        if !patches.is_empty() {
            self.byte(tag::addition::PATCHES);
            self.list(patches, |out, (number, patch)| {
                out.execution(*number);
                out.patch(patch);
            });
        }
        if state.identity.parent.is_some() || !state.children.all.is_empty() {
            self.byte(tag::addition::FAMILY);
            self.family(state);
        }
        let sources = state.executions.iter();
        let sources: Vec<_> =
            sources.filter_map(|(number, execution)| Some((number, execution.source_id.as_ref()?))).collect();
        if !sources.is_empty() {
            self.byte(tag::addition::SOURCES);
            self.sources(sources.into_iter());
        }
        if state.numbered > 0 {
            self.byte(tag::addition::NUMBERED);
            self.number(state.numbered);
        }
    }

    fn sources<'a>(&mut self, sources: impl ExactSizeIterator<Item = (&'a ExecutionNo, &'a StepId)>) {
        self.list(sources, |out, (number, source)| {
            out.execution(*number);
            out.name(&source.step);
            out.number(source.number.into());
        });
    }

    fn family(&mut self, state: &RunState) {
        self.option(state.identity.parent.as_ref(), Self::parent);
        self.flag(state.parent_told);
        self.list(&state.children.all, |out, (no, child)| {
            out.child_no(*no);
            out.child(child);
        });
    }

    fn execution_state(&mut self, base: Timestamp, execution: &Execution) {
        self.name(&execution.step);
        self.number(execution.number.into());
        self.source(&execution.source);
        self.payload(&execution.input);
        self.phase(base, &execution.phase);
        self.time(base, execution.since);
        self.number(execution.attempt.into());
        self.number(execution.failures.into());
        self.option(execution.first_attempt_at, |out, at| out.time(base, at));
        self.option(execution.last_failure.as_ref(), Self::failure);
        self.recovery(execution.recovery.as_ref());
        self.slots(&execution.locks);
        self.option(execution.checkpoint.as_ref(), Self::payload);
        self.option(execution.handed_out, |out, handed_out| {
            out.number(handed_out.opening.0);
            out.number(handed_out.lost.into());
        });
        self.option(execution.outcome.as_ref(), |out, outcome| {
            out.condition(base, &outcome.condition);
            out.matched(&outcome.matched);
            out.list(&outcome.reserved, |out, (slot, message)| {
                out.slot(slot);
                out.message(message);
            });
        });
    }

    fn phase(&mut self, base: Timestamp, phase: &Phase) {
        match phase {
            Phase::Ready(method) => {
                self.byte(tag::phase::READY);
                self.method(*method);
            }
            Phase::Blocked => self.byte(tag::phase::BLOCKED),
            Phase::Waiting { condition, fired_until } => {
                self.byte(tag::phase::WAITING);
                self.condition(base, condition);
                self.time(base, *fired_until);
            }
            Phase::Backoff { method, until } => {
                self.byte(tag::phase::BACKOFF);
                self.method(*method);
                self.time(base, *until);
            }
            Phase::Parked(method) => {
                self.byte(tag::phase::PARKED);
                self.method(*method);
            }
        }
    }

    fn method(&mut self, method: Method) {
        self.byte(match method {
            Method::WaitFor => tag::method::WAIT_FOR,
            Method::Execute => tag::method::EXECUTE,
        });
    }

    fn message(&mut self, message: &Message) {
        self.number(message.number);
        self.payload(&message.value);
    }
}

impl Reader<'_> {
    fn state(&mut self) -> Result<RunState, ReadError> {
        let base = self.time(Timestamp::EPOCH)?;
        Ok(RunState {
            identity: Arc::new(self.identity(base)?),
            version: self.number()?,
            scheduled: self.number()?,
            step_counts: self.list(|input| Ok((input.name()?, input.small_number()?)))?,
            executions: self
                .list(|input| Ok((input.execution()?, Box::new(input.execution_state(base)?))))?,
            ready: 0,
            attributes: self
                .list(|input| Ok((input.slot()?, input.attribute()?)))
                .map(renamed::attributes)?,
            channels: renamed::channels(self)?,
            numbered: 0,
            completion_requested: self.flag()?,
            paused: self.flag()?,
            locks: BTreeMap::new(),
            blocked: BTreeMap::new(),
            timeout: self.option(|input| input.run_timeout(base))?,
            canceling: self.option(|input| input.canceling(base))?,
            children: Children::default(),
            parent_told: false,
            requests: self.list(Self::answered)?,
            outputs: self.list(Self::output)?,
            closed: self.option(|input| input.closed(base))?,
            ended: None,
            bytes: 0,
        })
    }

    fn additions(&mut self, state: &mut RunState) -> Result<(), ReadError> {
        while !self.is_at_end() {
            match self.byte()? {
                tag::addition::PATCHES => {
                    let patches: Vec<_> = self.list(|input| Ok((input.execution()?, input.patch()?)))?;
                    for (number, patch) in patches {
                        let execution = state.executions.get_mut(&number);
                        execution.ok_or_else(|| self.error("a patch of no execution"))?.patch = Some(patch);
                    }
                }
                tag::addition::FAMILY => self.family(state)?,
                tag::addition::SOURCES => self.sources(state)?,
                tag::addition::NUMBERED => state.numbered = self.number()?,
                other => return Err(self.unknown_tag("addition", other)),
            }
        }
        Ok(())
    }

    fn sources(&mut self, state: &mut RunState) -> Result<(), ReadError> {
        let source = |input: &mut Self| {
            let number = input.execution()?;
            Ok((number, StepId { step: input.name()?, number: input.small_number()? }))
        };
        let sources: Vec<_> = self.list(source)?;
        for (number, source) in sources {
            let execution = state.executions.get_mut(&number);
            execution.ok_or_else(|| self.error("a source of no execution"))?.source_id = Some(source);
        }
        Ok(())
    }

    fn family(&mut self, state: &mut RunState) -> Result<(), ReadError> {
        Arc::make_mut(&mut state.identity).parent = self.option(Self::parent)?;
        state.parent_told = self.flag()?;
        state.children.all = self.list(|input| Ok((input.child_no()?, input.child()?)))?;
        Ok(())
    }

    fn attribute(&mut self) -> Result<Attribute, ReadError> {
        Ok(Attribute { value: self.payload()?, version: self.number()? })
    }

    pub(super) fn channel(&mut self) -> Result<ChannelState, ReadError> {
        let published = self.number()?;
        Ok(ChannelState {
            queue: self.list(|input| Ok((input.number()?, input.payload()?)))?,
            published,
            ..ChannelState::default()
        })
    }

    fn output(&mut self) -> Result<Output, ReadError> {
        Ok(Output { step: self.name()?, number: self.small_number()?, value: self.payload()? })
    }

    fn closed(&mut self, base: Timestamp) -> Result<Closed, ReadError> {
        Ok(Closed { at: self.time(base)?, closing: self.closing()?, unconsumed: self.number()? })
    }

    fn canceling(&mut self, base: Timestamp) -> Result<Canceling, ReadError> {
        Ok(Canceling {
            reason: self.option(|input| input.text().map(str::to_owned))?,
            until: self.option(|input| input.time(base))?,
            cleanup: self.option(Self::target)?,
            cleaning: self.flag()?,
        })
    }

    fn answered(&mut self) -> Result<Answered, ReadError> {
        Ok(Answered { request: self.name()?, digest: self.number()?, answer: self.payload()? })
    }

    fn handed_out(&mut self) -> Result<HandedOut, ReadError> {
        Ok(HandedOut { opening: self.number().map(Epoch)?, lost: self.small_number()? })
    }

    fn execution_state(&mut self, base: Timestamp) -> Result<Execution, ReadError> {
        Ok(Execution {
            step: self.name()?,
            number: self.small_number()?,
            source: self.source()?,
            // An addition, if it is known.
            source_id: None,
            input: self.payload()?,
            phase: self.phase(base)?,
            since: self.time(base)?,
            attempt: self.small_number()?,
            failures: self.small_number()?,
            first_attempt_at: self.option(|input| input.time(base))?,
            last_failure: self.option(Self::failure)?,
            recovery: self.recovery()?,
            locks: self.slots()?,
            // An addition, if there is one.
            patch: None,
            checkpoint: self.option(Self::payload)?,
            handed_out: self.option(Self::handed_out)?,
            outcome: self.option(|input| input.outcome(base))?,
        })
    }

    fn outcome(&mut self, base: Timestamp) -> Result<Outcome, ReadError> {
        Ok(Outcome {
            condition: self.condition(base)?,
            matched: self.matched()?,
            reserved: self.list(|input| Ok((input.slot()?, input.message()?)))?,
        })
    }

    fn phase(&mut self, base: Timestamp) -> Result<Phase, ReadError> {
        Ok(match self.byte()? {
            tag::phase::READY => Phase::Ready(self.method()?),
            tag::phase::BLOCKED => Phase::Blocked,
            tag::phase::WAITING => {
                Phase::Waiting { condition: self.condition(base)?, fired_until: self.time(base)? }
            }
            tag::phase::BACKOFF => Phase::Backoff { method: self.method()?, until: self.time(base)? },
            tag::phase::PARKED => Phase::Parked(self.method()?),
            other => return Err(self.unknown_tag("phase", other)),
        })
    }

    fn method(&mut self) -> Result<Method, ReadError> {
        Ok(match self.byte()? {
            tag::method::WAIT_FOR => Method::WaitFor,
            tag::method::EXECUTE => Method::Execute,
            other => return Err(self.unknown_tag("method", other)),
        })
    }

    fn message(&mut self) -> Result<Message, ReadError> {
        Ok(Message { number: self.number()?, value: self.payload()? })
    }
}
