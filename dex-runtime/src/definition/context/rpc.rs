//! The context of an RPC.

use std::fmt;
use std::marker::PhantomData;

use serde::Serialize;

use super::core::Core;
use crate::definition::access::{AttributeHandle, ChannelHandle};
use crate::definition::error::RpcResult;
use crate::definition::handle::Step;
use crate::definition::next::{Cancel, Goal};
use crate::definition::options::StepOptions;
use crate::ids::{FlowId, RunId};
use crate::time::Timestamp;
use crate::value::Value;

/// What an RPC can see of the run it is called on, and with `&mut`, do to it.
///
/// With `&mut` the RPC is a transaction: if something it read has changed by the time it commits, it runs
/// again on the newest state. It must be free of outside effects for that reason.
pub struct RpcContext<F> {
    pub(crate) core: Core,
    pub(crate) movements: Vec<Goal>,
    pub(crate) cancels: Vec<Cancel>,
    flow: PhantomData<fn() -> F>,
}

impl<F> RpcContext<F> {
    pub(crate) fn new(core: Core) -> Self {
        Self { core, movements: Vec::new(), cancels: Vec::new(), flow: PhantomData }
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

    /// The attribute's value, if it is set.
    ///
    /// # Errors
    ///
    /// If the stored value does not fit the type, or a map's key cannot be one. The RPC then changes nothing.
    #[expect(clippy::needless_pass_by_value, reason = "a handle is written where it is used")]
    pub fn get<A: AttributeHandle<F>>(&self, attribute: A) -> RpcResult<Option<A::Value>> {
        Ok(self.core.get(&attribute.slot()?)?)
    }

    /// The attribute's value, which has to be set.
    ///
    /// # Errors
    ///
    /// [`ValueError::Unset`](crate::ValueError::Unset) if it is not. The RPC then fails and has changed nothing.
    #[expect(clippy::needless_pass_by_value, reason = "a handle is written where it is used")]
    pub fn require<A: AttributeHandle<F>>(&self, attribute: A) -> RpcResult<A::Value> {
        Ok(self.core.require(&attribute.slot()?)?)
    }

    /// Sets the attribute.
    ///
    /// # Errors
    ///
    /// If the value cannot be encoded or is over 1 MiB, or a map's key cannot be one. The RPC then changes nothing.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is stored is given away: the caller need not borrow"
    )]
    pub fn set<A: AttributeHandle<F>>(&mut self, attribute: A, value: A::Value) -> RpcResult<()> {
        Ok(self.core.set(attribute.slot()?, &value)?)
    }

    /// Unsets the attribute.
    ///
    /// # Errors
    ///
    /// If a map's key cannot be one. The RPC then changes nothing.
    #[expect(clippy::needless_pass_by_value, reason = "a handle is written where it is used")]
    pub fn delete<A: AttributeHandle<F>>(&mut self, attribute: A) -> RpcResult<()> {
        self.core.delete(attribute.slot()?);
        Ok(())
    }

    /// Puts a message at the end of a channel of this run.
    ///
    /// # Errors
    ///
    /// If the message cannot be encoded or is over 1 MiB, or a map's key cannot be one. The RPC then changes nothing.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is stored is given away: the caller need not borrow"
    )]
    pub fn publish<C: ChannelHandle<F>>(&mut self, channel: C, message: C::Value) -> RpcResult<()> {
        Ok(self.core.publish(channel.slot()?, &message)?)
    }

    /// Takes a message that no wait has taken out of a channel, by its
    /// [number](Self::numbered_messages). Gives whether it was there; one that is not is left alone.
    ///
    /// It goes together with all that the RPC does. If a wait takes the message meanwhile, the RPC runs again.
    #[expect(clippy::needless_pass_by_value, reason = "a handle is written where it is used")]
    pub fn delete_message<C: ChannelHandle<F>>(&mut self, channel: C, number: u64) -> RpcResult<bool> {
        Ok(self.core.delete_message(channel.slot()?, number))
    }

    /// Notes a value under a name, for those who read the run's [history](crate::RunHandle::history). No flow ever
    /// reads it.
    ///
    /// It is kept with what the RPC changes, and counts as a change. Several notes may have one name; their order is kept.
    ///
    /// # Errors
    ///
    /// If the name is empty or longer than 128 bytes, if the value cannot be stored, or if this is the 1,001st note of
    /// this call.
    pub fn note<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> RpcResult<()> {
        Ok(self.core.add_note(name, value)?)
    }

    /// Starts a step.
    ///
    /// # Errors
    ///
    /// If the input cannot be encoded or is over 1 MiB. The RPC then changes nothing.
    pub fn start_step<I: Value>(&mut self, step: Step<F, I>, input: I) -> RpcResult<()> {
        self.start_step_with(step, input, StepOptions::new())
    }

    /// Starts a step, with other options for this one movement.
    ///
    /// Options that cannot work fail the RPC, which has then changed nothing; [`StepOptionsError`] says which
    /// those are.
    ///
    /// [`StepOptionsError`]: crate::definition::StepOptionsError
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is stored is given away: the caller need not borrow"
    )]
    pub fn start_step_with<I: Value>(
        &mut self,
        step: Step<F, I>,
        input: I,
        options: StepOptions<F, I>,
    ) -> RpcResult<()> {
        self.movements.push(Goal::new(step, &input, &options)?);
        Ok(())
    }

    /// Ends all open executions of `step`, whatever they do, before anything is started.
    pub fn cancel_step<I>(&mut self, step: Step<F, I>) {
        self.cancels.push(Cancel { step: step.name(), siblings: false });
    }
}

impl<F> fmt::Debug for RpcContext<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RpcContext")
            .field("core", &self.core)
            .field("movements", &self.movements)
            .field("cancels", &self.cancels)
            .finish()
    }
}
