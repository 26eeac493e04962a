//! The context of a `wait_for`.

use std::fmt;
use std::marker::PhantomData;

use super::core::Core;
use crate::definition::access::{AttributeHandle, ChannelHandle};
use crate::definition::error::StepError;
use crate::ids::{FlowId, RunId};

/// What a `wait_for` can see of its run. With `&mut` it may also write and publish.
///
/// Writes take effect together with the wait or not at all.
pub struct WaitContext<F> {
    pub(crate) core: Core,
    attempt: u32,
    flow: PhantomData<fn() -> F>,
}

impl<F> WaitContext<F> {
    pub(crate) fn new(core: Core, attempt: u32) -> Self {
        Self { core, attempt, flow: PhantomData }
    }

    /// What the caller called the run.
    pub fn flow_id(&self) -> &FlowId {
        &self.core.view.identity.flow_id
    }

    /// What the engine called the run.
    pub fn run_id(&self) -> RunId {
        self.core.view.identity.run_id
    }

    /// Which attempt this is, from 1.
    pub fn attempt(&self) -> u32 {
        self.attempt
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
}

impl<F> fmt::Debug for WaitContext<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitContext").field("core", &self.core).field("attempt", &self.attempt).finish()
    }
}
