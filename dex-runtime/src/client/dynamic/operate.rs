//! What an operator does to step executions, by names and JSON.

use serde_json::Value as Json;

use super::run::DynRun;
use crate::client::operate::movement;
use crate::error::Result;
use crate::value::Payload;

impl DynRun {
    /// Lets a parked step execution (`<step>-<n>`) try again, after what stopped it was mended.
    ///
    /// # Errors
    ///
    /// As [`RunHandle::retry_step`](crate::RunHandle::retry_step).
    pub async fn retry_step(&self, execution: &str) -> Result<()> {
        self.run.retry_step(execution).await
    }

    /// Ends a parked step execution as if it had done nothing, for good.
    ///
    /// # Errors
    ///
    /// As [`RunHandle::skip_step`](crate::RunHandle::skip_step).
    pub async fn skip_step(&self, execution: &str) -> Result<()> {
        self.run.leave_step(execution, None).await
    }

    /// As [`skip_step`](Self::skip_step), and starts `step` in the execution's place. An input that does not fit
    /// the step parks it, as one that was stored by an earlier build would.
    ///
    /// # Errors
    ///
    /// As [`RunHandle::redirect_step`](crate::RunHandle::redirect_step).
    pub async fn redirect_step(&self, execution: &str, step: &str, input: Json) -> Result<()> {
        let to = movement(
            &self.flow,
            step,
            Payload::encode(&input).map_err(|error| error.of(format_args!("the input for step `{step}`")))?,
        )?;
        self.run.leave_step(execution, Some(to)).await
    }

    /// Lets the next timer that a waiting step execution waits for count as fired.
    ///
    /// # Errors
    ///
    /// As [`RunHandle::skip_timer`](crate::RunHandle::skip_timer).
    pub async fn skip_timer(&self, execution: &str) -> Result<()> {
        self.run.skip_timer(execution).await
    }
}
