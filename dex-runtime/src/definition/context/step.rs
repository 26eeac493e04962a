//! The context of a step.

use std::fmt;
use std::marker::PhantomData;
use std::sync::OnceLock;

use super::core::Core;
use crate::definition::error::StepError;
use crate::definition::handle::{Attribute, Channel};
use crate::engine::Recovery;
use crate::ids::{FlowId, Name, RunId};
use crate::value::Value;

/// What a step can see of its run and do to it.
///
/// Writes and messages take effect together with the step's decision or not at all. The step sees its own
/// writes at once, and otherwise the run as it was when this attempt was handed out.
pub struct StepContext<F> {
    pub(crate) core: Core,
    call: StepInfo,
    flow: PhantomData<fn() -> F>,
}

/// Which execution and attempt a step call belongs to.
#[derive(Debug)]
pub(crate) struct StepInfo {
    pub(crate) step: Name,
    /// The execution's number among those of the step.
    pub(crate) number: u32,
    /// From 1, counted for this method of this execution.
    pub(crate) attempt: u32,
    /// What the step recovers from, if it is a recovery.
    pub(crate) recovery: Option<Recovery>,
    /// Made when it is asked for: most steps do not.
    pub(crate) key: OnceLock<String>,
}

impl<F> StepContext<F> {
    pub(crate) fn new(core: Core, call: StepInfo) -> Self {
        Self { core, call, flow: PhantomData }
    }

    /// What the caller called the run.
    pub fn flow_id(&self) -> &FlowId {
        &self.core.view.identity.flow_id
    }

    /// What the engine called the run.
    pub fn run_id(&self) -> RunId {
        self.core.view.identity.run_id
    }

    /// This step execution: `<step>-<n>`, n from 1 for each step of the run.
    pub fn execution_id(&self) -> String {
        format!("{}-{}", self.call.step, self.call.number)
    }

    /// Which attempt this is, from 1.
    pub fn attempt(&self) -> u32 {
        self.call.attempt
    }

    /// A key that is the same in every attempt of this execution and differs from every other one's.
    ///
    /// Give it to outside services that absorb repeated requests: an attempt may have had its effect
    /// before it failed or its process ended.
    pub fn idempotency_key(&self) -> &str {
        self.call.key.get_or_init(|| format!("{}/{}", self.run_id(), self.execution_id()))
    }

    /// What this step is to recover from, if it runs because another one failed for good.
    pub fn recovery(&self) -> Option<&Recovery> {
        self.call.recovery.as_ref()
    }

    /// The attribute's value, if it is set.
    pub fn get<T: Value>(&self, attribute: Attribute<F, T>) -> Result<Option<T>, StepError> {
        Ok(self.core.get(&attribute.slot())?)
    }

    /// Sets the attribute.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is stored is given away: the caller need not borrow"
    )]
    pub fn set<T: Value>(&mut self, attribute: Attribute<F, T>, value: T) -> Result<(), StepError> {
        Ok(self.core.set(attribute.slot(), &value)?)
    }

    /// Unsets the attribute.
    pub fn delete<T: Value>(&mut self, attribute: Attribute<F, T>) {
        self.core.delete(attribute.slot());
    }

    /// Puts a message at the end of a channel of this run.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is stored is given away: the caller need not borrow"
    )]
    pub fn publish<T: Value>(&mut self, channel: Channel<F, T>, message: T) -> Result<(), StepError> {
        Ok(self.core.publish(channel.slot(), &message)?)
    }
}

impl<F> fmt::Debug for StepContext<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StepContext").field("core", &self.core).field("call", &self.call).finish()
    }
}
