//! How a run ended, as its callers see it.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::definition::Flow;
use crate::engine::{Closing, Output, RunEnd, Status};
use crate::error::{Error, ErrorKind, Result};
use crate::value::{Value, ValueError};

/// How a run of flow `F` ended.
pub struct RunResult<F> {
    end: Ended,
    flow: PhantomData<fn() -> F>,
}

impl<F: Flow> RunResult<F> {
    pub(super) fn new(end: Arc<RunEnd>) -> Self {
        Self { end: Ended(end), flow: PhantomData }
    }

    /// How it ended.
    pub fn status(&self) -> Status {
        self.end.closing().status()
    }

    /// How it ended, in detail.
    pub fn closing(&self) -> &Closing {
        self.end.closing()
    }

    /// Messages that no step had consumed when it ended. None of them was dropped silently: this is where
    /// they are told.
    pub fn unconsumed_messages(&self) -> u64 {
        self.end.unconsumed()
    }

    /// What the completing branches gave, in order, each with its step execution.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidValue`] if a stored output does not fit the flow's output type.
    pub fn outputs(&self) -> Result<Vec<(String, F::Output)>> {
        self.end.outputs()
    }

    /// The one output of a completed run.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::RunFailed`]: the run did not complete.
    /// - [`ErrorKind::InvalidValue`]: it has several outputs, or one that does not fit.
    pub fn output(&self) -> Result<F::Output> {
        self.end.output()
    }
}

/// How a run ended, whatever its flow.
#[derive(Clone, Debug)]
pub(super) struct Ended(pub(super) Arc<RunEnd>);

impl Ended {
    pub(super) fn closing(&self) -> &Closing {
        &self.0.closed.closing
    }

    pub(super) fn unconsumed(&self) -> u64 {
        self.0.closed.unconsumed
    }

    pub(super) fn outputs<T: Value>(&self) -> Result<Vec<(String, T)>> {
        let outputs = self.0.outputs.iter();
        outputs.map(|output| Ok((execution(output), self.decode(output)?))).collect()
    }

    pub(super) fn output<T: Value>(&self) -> Result<T> {
        let flow_id = &self.0.identity.flow_id;
        let status = self.closing().status();
        if status != Status::Completed {
            let message = format!("run `{flow_id}` gave no output: {}", explain(&self.0));
            return Err(Error::with_run(ErrorKind::RunFailed, message, self.0.identity.run_id, status));
        }
        match self.0.outputs.as_slice() {
            [output] => Ok(self.decode(output)?),
            outputs => {
                let count = outputs.len();
                let message = format!("run `{flow_id}` has {count} outputs: ask for `result().outputs()`");
                Err(Error::new(ErrorKind::InvalidValue, message))
            }
        }
    }
}

impl Ended {
    fn decode<T: Value>(&self, output: &Output) -> Result<T, ValueError> {
        let flow_id = &self.0.identity.flow_id;
        let named = |error: ValueError| {
            error.of(format_args!("the output of {} of run `{flow_id}`", execution(output)))
        };
        output.value.decode().map_err(named)
    }
}

/// What people call the execution that has given it.
fn execution(output: &Output) -> String {
    format!("{}-{}", output.step, output.number)
}

fn explain(end: &RunEnd) -> String {
    let closing = &end.closed.closing;
    match closing {
        Closing::Completed => "it completed".into(),
        Closing::Failed { reason } => format!("it failed: {reason}"),
        Closing::StepFailed { step, number, failure } => {
            format!("it failed at {step}-{number}: {}", failure.message)
        }
        Closing::TimedOut => {
            format!("its time was up after {:?}", end.closed.at.since(end.identity.started_at))
        }
        Closing::Stopped { reason: None, .. } => format!("it was {}", closing.status()),
        Closing::Stopped { reason: Some(reason), .. } => format!("it was {}: {reason}", closing.status()),
    }
}

impl<F> Clone for RunResult<F> {
    fn clone(&self) -> Self {
        Self { end: self.end.clone(), flow: PhantomData }
    }
}

impl<F> fmt::Debug for RunResult<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunResult").field("end", &self.end).finish()
    }
}
