//! The context of a step.

use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use serde::Serialize;

use super::call::{CallInfo, StepSource};
use super::core::Core;
use super::live::Live;
use super::stream::TextWriter;
use crate::definition::access::{AttributeHandle, ChannelHandle};
use crate::definition::error::StepError;
use crate::definition::stream::{Stream, StreamError};
use crate::engine::Recovery;
use crate::ids::{FlowId, RunId};
use crate::time::Timestamp;
use crate::value::{Payload, Value};

/// What a step can see of its run and do to it.
///
/// Writes and messages take effect together with the step's decision or not at all. The step sees its own
/// writes at once, and otherwise the run as it was when this attempt was handed out.
pub struct StepContext<F> {
    pub(crate) core: Core,
    info: StepInfo,
    flow: PhantomData<fn() -> F>,
}

/// What a step call knows beside the run.
#[derive(Debug)]
pub(crate) struct StepInfo {
    pub(crate) call: CallInfo,
    /// What connects the call with the engine.
    pub(crate) live: Live,
    /// Made when it is asked for: most steps do not.
    pub(crate) key: OnceLock<String>,
}

impl<F> StepContext<F> {
    pub(crate) fn new(core: Core, info: StepInfo) -> Self {
        Self { core, info, flow: PhantomData }
    }

    /// What the caller called the run.
    pub fn flow_id(&self) -> &FlowId {
        &self.core.view.identity.flow_id
    }

    /// What the engine called the run.
    pub fn run_id(&self) -> RunId {
        self.core.view.identity.run_id
    }

    /// When the run was started.
    pub fn started_at(&self) -> Timestamp {
        self.core.view.identity.started_at
    }

    /// This step execution: `<step>-<n>`, n from 1 for each step of the run.
    pub fn execution_id(&self) -> String {
        self.info.call.execution_id()
    }

    /// Which attempt this is, from 1.
    pub fn attempt(&self) -> u32 {
        self.info.call.attempt
    }

    /// When the first attempt of this call started: of the step, not of the execution as a whole. It stays the same in
    /// all attempts, also after a restart. An attempt that was lost with its process before it had failed is not
    /// counted, here as in [`attempt`](Self::attempt).
    pub fn first_attempt_at(&self) -> Timestamp {
        self.info.call.first_attempt_at
    }

    /// What scheduled this execution.
    pub fn source(&self) -> StepSource {
        self.info.call.source()
    }

    /// A key that is the same in every attempt of this execution and differs from every other one's.
    ///
    /// Give it to outside services that absorb repeated requests: an attempt may have had its effect
    /// before it failed or its process ended.
    pub fn idempotency_key(&self) -> &str {
        self.info.key.get_or_init(|| format!("{}/{}", self.run_id(), self.execution_id()))
    }

    /// What this step is to recover from, if it runs because another one failed for good.
    pub fn recovery(&self) -> Option<&Recovery> {
        self.info.call.recovery.as_ref()
    }

    /// Whether the step is to stop: its run is being cancelled, another step cancelled it, it took too long,
    /// or the engine shuts down.
    ///
    /// An `async` handler that does not ask is dropped when its time is up. A plain `fn` cannot be, so a long
    /// one should ask now and then; its result is refused in any case.
    pub fn is_cancelled(&self) -> bool {
        self.info.live.signal.is_told()
    }

    /// Completes when the step [is to stop](Self::is_cancelled); never, if it is not.
    ///
    /// What it gives does not borrow the context, so that it can be awaited beside other work.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + 'static {
        Arc::clone(&self.info.live.signal).told()
    }

    /// Gives a sign of life. A step with a `heartbeat` has to give one in time, or the attempt fails.
    pub fn heartbeat(&self) {
        self.info.live.streams.beat();
    }

    /// Writes down how far the step has come, for the next attempt if this one fails or its process dies.
    /// It is a sign of life, too.
    ///
    /// It returns before the value is on disk. It gets there with the next sync, and before the outcome of
    /// this attempt does. The last one counts; it is forgotten when the step ends.
    ///
    /// # Errors
    ///
    /// If the value cannot be encoded or is too large, if this attempt is not the current one any more, or if
    /// the engine takes no more at this moment.
    pub fn checkpoint<T: Value>(&self, value: &T) -> Result<(), StepError> {
        let value = Payload::encode(value).map_err(|error| error.of("the checkpoint"))?;
        self.info.live.streams.keep(value)
    }

    /// What the last [`checkpoint`](Self::checkpoint) of an earlier attempt of this step said.
    ///
    /// # Errors
    ///
    /// If it does not fit `T`. No repetition mends that, so the step is parked.
    pub fn last_checkpoint<T: Value>(&self) -> Result<Option<T>, StepError> {
        let decoded = self.info.live.checkpoint.as_ref().map(Payload::decode).transpose();
        Ok(decoded.map_err(|error| error.of("the stored checkpoint"))?)
    }

    /// The attribute's value, if it is set.
    ///
    /// # Errors
    ///
    /// If the stored value does not fit the type, or a map's key cannot be one. No repetition mends that: the step is parked.
    #[expect(clippy::needless_pass_by_value, reason = "a handle is written where it is used")]
    pub fn get<A: AttributeHandle<F>>(&self, attribute: A) -> Result<Option<A::Value>, StepError> {
        Ok(self.core.get(&attribute.slot()?)?)
    }

    /// The attribute's value, which has to be set.
    ///
    /// # Errors
    ///
    /// [`ValueError::Unset`](crate::ValueError::Unset) if it is not. No repetition mends that, so the step is parked: once somebody
    /// has [set](crate::RunHandle::set) it, or a new build does, [`retry_step`](crate::RunHandle::retry_step) goes on.
    #[expect(clippy::needless_pass_by_value, reason = "a handle is written where it is used")]
    pub fn require<A: AttributeHandle<F>>(&self, attribute: A) -> Result<A::Value, StepError> {
        Ok(self.core.require(&attribute.slot()?)?)
    }

    /// Sets the attribute.
    ///
    /// # Errors
    ///
    /// If the value cannot be encoded or is over 1 MiB, or a map's key cannot be one. No repetition mends that: the step is parked.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is stored is given away: the caller need not borrow"
    )]
    pub fn set<A: AttributeHandle<F>>(&mut self, attribute: A, value: A::Value) -> Result<(), StepError> {
        Ok(self.core.set(attribute.slot()?, &value)?)
    }

    /// Unsets the attribute.
    ///
    /// # Errors
    ///
    /// If a map's key cannot be one. No repetition mends that: the step is parked.
    #[expect(clippy::needless_pass_by_value, reason = "a handle is written where it is used")]
    pub fn delete<A: AttributeHandle<F>>(&mut self, attribute: A) -> Result<(), StepError> {
        self.core.delete(attribute.slot()?);
        Ok(())
    }

    /// Puts a message at the end of a channel of this run.
    ///
    /// # Errors
    ///
    /// If the message cannot be encoded or is over 1 MiB, or a map's key cannot be one. No repetition mends that: the step is parked.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is stored is given away: the caller need not borrow"
    )]
    pub fn publish<C: ChannelHandle<F>>(&mut self, channel: C, message: C::Value) -> Result<(), StepError> {
        Ok(self.core.publish(channel.slot()?, &message)?)
    }

    /// Takes a message that no wait has taken out of a channel, by its
    /// [number](Self::numbered_messages). Gives whether it was there; one that is not is left alone.
    ///
    /// It goes together with what this handler decides. A message that a wait takes meanwhile stays taken: the step that
    /// waited is given it.
    #[expect(clippy::needless_pass_by_value, reason = "a handle is written where it is used")]
    pub fn delete_message<C: ChannelHandle<F>>(
        &mut self,
        channel: C,
        number: u64,
    ) -> Result<bool, StepError> {
        Ok(self.core.delete_message(channel.slot()?, number))
    }

    /// Notes a value under a name, for those who read the run's [history](crate::RunHandle::history). No flow ever
    /// reads it.
    ///
    /// It is kept with what this handler decides, or not at all. Several notes may have one name; their order is kept.
    ///
    /// # Errors
    ///
    /// If the name is empty or longer than 128 bytes, if the value cannot be stored, or if this is the 1,001st note of
    /// this call.
    pub fn note<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), StepError> {
        Ok(self.core.add_note(name, value)?)
    }

    /// Puts an item at the end of a stream of this run, now: whatever becomes of this attempt, the item stays, with
    /// this execution and attempt beside it. It is a sign of life, too.
    ///
    /// It returns before the item is on disk. It gets there with the next sync, within 50 ms and before the outcome
    /// of this attempt does; callers see it from then on. An attempt that is made again appends again.
    ///
    /// # Errors
    ///
    /// - [`StreamError::Full`]: the disk does not keep up; it may be tried again in a moment.
    /// - [`StreamError::TooLarge`], [`StreamError::InvalidValue`]: it can never be appended.
    /// - [`StreamError::Over`], [`StreamError::Stopped`]: nobody wants it any more.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is stored is given away: the caller need not borrow"
    )]
    pub fn append<T: Value>(&self, stream: Stream<F, T>, item: T) -> Result<(), StreamError> {
        let stream = stream.key();
        let item = Payload::encode(&item)
            .map_err(|error| error.of(format_args!("the item for stream `{}`", stream.name)))?;
        self.info.live.streams.append(stream, item)
    }

    /// A writer that collects text for a stream: each token need not be an item of its own.
    ///
    /// Several writers for one stream collect the same text.
    pub fn text(&self, stream: Stream<F, String>) -> TextWriter {
        TextWriter::new(&self.info.live.streams, stream.key())
    }

    /// What the attempt appends to streams.
    pub(crate) fn streams(&self) -> &Arc<super::stream::Streams> {
        &self.info.live.streams
    }
}

impl<F> fmt::Debug for StepContext<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StepContext").field("core", &self.core).field("info", &self.info).finish()
    }
}
