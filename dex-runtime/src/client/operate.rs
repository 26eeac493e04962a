//! What an operator does to step executions that do not go on by themselves.

use super::handle::RunHandle;
use super::untyped::UntypedRun;
use crate::definition::{Flow, MemberKind, Registered, Step, StepError};
use crate::engine::{Command, Execution, Failure, Movement, Rejection, RunState, Status, StepTarget};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::ExecutionNo;
use crate::value::{Payload, Value};

impl<F: Flow> RunHandle<F> {
    /// Lets a parked step execution (`<step>-<n>`) try again, after what stopped it was mended.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::NotFound`]: the run has no such parked execution. One whose step this build does not have goes on by
    ///   itself in a build that has it.
    /// - [`ErrorKind::Closed`]: the run has ended.
    pub async fn retry_step(&self, execution: &str) -> Result<()> {
        self.run.retry_step(execution).await
    }

    /// Ends a parked step execution (`<step>-<n>`), or one whose step this build does not have, as if it had done
    /// nothing, for good.
    ///
    /// Its branch ends with it. Messages that it had taken are back at the front of their channels; other
    /// branches go on, and a run that was only to wait for this one completes.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::NotFound`]: the run has no such parked execution.
    /// - [`ErrorKind::Closed`]: the run has ended.
    pub async fn skip_step(&self, execution: &str) -> Result<()> {
        self.run.leave_step(execution, None).await
    }

    /// As [`skip_step`](Self::skip_step), and starts `step` in the execution's place.
    ///
    /// ```
    /// # use dex_runtime::{Result, RunHandle, definition::{Flow, Step}};
    /// # async fn mend<F: Flow>(run: &RunHandle<F>, refund: Step<F, u64>) -> Result<()> {
    /// // `ship-1` is parked and cannot be mended: go on with another step.
    /// run.redirect_step("ship-1", refund, 4200).await
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::NotFound`]: the run has no such parked execution.
    /// - [`ErrorKind::Closed`]: the run has ended.
    /// - [`ErrorKind::LimitReached`]: the run has no room for the input.
    /// - [`ErrorKind::InvalidValue`]: the input cannot be stored.
    /// - [`ErrorKind::Canceling`]: the run is being cancelled and takes no new steps.
    pub async fn redirect_step<I: Value>(&self, execution: &str, step: Step<F, I>, input: I) -> Result<()> {
        let flow = self.run.core.flows().of::<F>()?;
        let input = Payload::encode(&input)
            .map_err(|error| error.of(format_args!("the input for step `{}`", step.name())))?;
        let to = movement(flow, step.name(), input)?;
        self.run.leave_step(execution, Some(to)).await
    }

    /// Lets the next timer that a waiting step execution (`<step>-<n>`) waits for count as fired.
    ///
    /// Of several timers it is the earliest that has not fired; calling it again takes the one after it. Timers of
    /// the same instant count as one. The pause before a failed step is tried again is no timer.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::NotFound`]: the run has no such execution that waits for a timer.
    /// - [`ErrorKind::Closed`]: the run has ended.
    pub async fn skip_timer(&self, execution: &str) -> Result<()> {
        self.run.skip_timer(execution).await
    }
}

/// The entry into a step of `flow`, if it has one with this name.
pub(super) fn movement(flow: &Registered, step: &str, input: Payload) -> Result<Movement> {
    let definition = flow.flow.definition();
    let target = flow.target(step).ok_or_else(|| definition.unknown(MemberKind::Step, step))?;
    let StepTarget { step, waits, locks } = target;
    Ok(Movement { step, input, waits, locks, patch: None })
}

/// An execution that an operator names, or the answer to a request that was carried out before.
enum Named {
    /// With the reason why it stands, if this build does not have its step.
    Open(ExecutionNo, Option<Box<Failure>>),
    Answered,
    Unknown,
    /// The run has ended, and all its executions with it.
    Closed(Status),
}

impl UntypedRun {
    pub(super) async fn retry_step(&self, execution: &str) -> Result<()> {
        let retry = |execution, _| Command::ResumeStep { execution };
        self.operate("retry step", &[execution.as_bytes()], execution, retry).await
    }

    /// Ends a parked execution; `to` follows in its place.
    pub(super) async fn leave_step(&self, execution: &str, to: Option<Movement>) -> Result<()> {
        let (step, input): (&[u8], &[u8]) =
            to.as_ref().map_or((&[], &[]), |to| (to.step.as_str().as_bytes(), to.input.as_bytes()));
        let content = [execution.as_bytes(), step, input];
        let leave = |execution, missing| Command::LeaveStep { execution, missing, to: to.clone() };
        self.operate("leave step", &content, execution, leave).await
    }

    pub(super) async fn skip_timer(&self, execution: &str) -> Result<()> {
        let skip = |execution, _| Command::SkipTimer { execution };
        self.operate("skip timer", &[execution.as_bytes()], execution, skip).await
    }

    /// Why an execution stands whose step this build does not have.
    fn missing_step(&self, state: &RunState, execution: &Execution) -> Option<Box<Failure>> {
        let (flow, step) = (self.core.flows().get(&state.identity.flow)?, &execution.step);
        let missing = flow.step(step.as_str()).is_none();
        let why = || StepError::unworkable(format_args!("flow `{}` has no step `{step}`", flow.name));
        missing.then(|| Box::new(why().into_parts().0))
    }

    /// Submits what `command` makes of the execution that people call `<step>-<n>`.
    async fn operate(
        &self,
        what: &str,
        content: &[&[u8]],
        execution: &str,
        command: impl FnOnce(ExecutionNo, Option<Box<Failure>>) -> Command,
    ) -> Result<()> {
        let request = self.request(what, content);
        let find = |state: &RunState| -> Result<Named> {
            // First the request: what it did may have ended the execution.
            if let Some(request) = &request
                && request.answered(state)?.is_some()
            {
                return Ok(Named::Answered);
            }
            if state.closed.is_some() {
                return Ok(Named::Closed(state.status()));
            }
            let found = state.executions.iter().find(|(_, open)| open.id() == execution);
            Ok(found.map_or(Named::Unknown, |(number, open)| {
                Named::Open(*number, self.missing_step(state, open))
            }))
        };
        match self.read(find).await?? {
            Named::Open(number, missing) => self.change(request.clone(), command(number, missing)).await,
            Named::Answered => Ok(()),
            Named::Closed(status) => {
                Err(Error::rejected(&Rejection::Closed { status }, self.flow_id.as_str(), self.run_id))
            }
            Named::Unknown => {
                let message = format!("run `{}` has no open step execution `{execution}`", self.flow_id);
                Err(Error::new(ErrorKind::NotFound, message))
            }
        }
    }
}
