//! How a sub-flow ended, made up for the step of its parent.

use crate::definition::{ChildEnd, ChildFailure, ChildResult, Flow};
use crate::ids::{FlowId, IdError};

impl<G: Flow> ChildResult<G> {
    /// The result of a sub-flow called `id` that ended like this, for a unit test.
    ///
    /// # Errors
    ///
    /// [`IdError`] if `id` cannot be the id of a run.
    pub fn test(id: &str, end: ChildEnd<G::Output>) -> Result<Self, IdError> {
        Ok(Self::made_up(FlowId::new(id)?, end))
    }
}

impl ChildFailure {
    /// A failure with this reason, for a unit test.
    pub fn test(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), step: None, type_name: None, causes: Vec::new() }
    }
}
