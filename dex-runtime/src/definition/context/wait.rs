//! The context of a `wait_for`.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;

use super::call::{CallInfo, StepSource};
use super::core::Core;
use crate::definition::access::{AttributeHandle, ChannelHandle};
use crate::definition::error::StepError;
use crate::engine::Recovery;
use crate::ids::{FlowId, RunId};
use crate::signal::Signal;
use crate::time::Timestamp;

/// What a `wait_for` can see of its run. With `&mut` it may also write and publish.
///
/// Writes take effect together with the wait or not at all.
pub struct WaitContext<F> {
    pub(crate) core: Core,
    info: WaitInfo,
    flow: PhantomData<fn() -> F>,
}

/// What a call of a `wait_for` knows beside the run.
#[derive(Debug)]
pub(crate) struct WaitInfo {
    pub(crate) call: CallInfo,
    /// Says that the call is to stop.
    pub(crate) signal: Arc<Signal>,
}

impl<F> WaitContext<F> {
    pub(crate) fn new(core: Core, info: WaitInfo) -> Self {
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

    /// This step execution: `<step>-<n>`, n from 1 for each step of the run. Its step has the same.
    pub fn execution_id(&self) -> String {
        self.info.call.execution_id()
    }

    /// Which attempt this is, from 1. Attempts of the step that follows are counted from 1 again.
    pub fn attempt(&self) -> u32 {
        self.info.call.attempt
    }

    /// When the first attempt of this call started: of the `wait_for`, not of the execution as a whole. It stays the same in
    /// all attempts, also after a restart. An attempt that was lost with its process before it had failed is not
    /// counted, here as in [`attempt`](Self::attempt).
    pub fn first_attempt_at(&self) -> Timestamp {
        self.info.call.first_attempt_at
    }

    /// What scheduled this execution.
    pub fn source(&self) -> StepSource {
        self.info.call.source()
    }

    /// What the step is to recover from, if it runs because another one failed for good.
    pub fn recovery(&self) -> Option<&Recovery> {
        self.info.call.recovery.as_ref()
    }

    /// Whether the `wait_for` is to stop: its run is being cancelled, or the engine shuts down.
    ///
    /// One that does not ask is dropped when the grace period is over.
    pub fn is_cancelled(&self) -> bool {
        self.info.signal.is_told()
    }

    /// Completes when the `wait_for` [is to stop](Self::is_cancelled); never, if it is not.
    ///
    /// What it gives does not borrow the context, so that it can be awaited beside other work.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + 'static {
        Arc::clone(&self.info.signal).told()
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
    /// It goes together with the wait. A message that a wait takes meanwhile stays taken: the step that
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
    /// It is kept with the wait, or not at all. Several notes may have one name; their order is kept.
    ///
    /// # Errors
    ///
    /// If the name is empty or longer than 128 bytes, if the value cannot be stored, or if this is the 1,001st note of
    /// this call.
    pub fn note<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), StepError> {
        Ok(self.core.add_note(name, value)?)
    }
}

impl<F> fmt::Debug for WaitContext<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitContext").field("core", &self.core).field("info", &self.info).finish()
    }
}
