//! One call of a user's handler: encoded values in, an untyped outcome out.
//!
//! The macros write the code between: decode the input, call the method, hand over what it returned.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use super::context::{RpcContext, StepContext, WaitContext};
use super::contract::{Rpc, WaitReturn};
use super::error::{RpcError, RpcResult, StepError, StepResult, WaitResult};
use super::flow::Flow;
use super::next::{Cancel, Choice, Goal};
use super::wait::Part;
use crate::engine::{Reads, Staged};
use crate::value::{Payload, Value, ValueError};

/// How a stored value becomes an `I`: `Stored::decoded` of that type.
pub type Decode<I> = fn(&Payload) -> Result<I, ValueError>;

/// A future of a handler call.
pub type CallFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// What calling a step gives.
pub type StepFuture = CallFuture<Result<StepEnd, StepError>>;
/// What calling a `wait_for` gives.
pub type WaitFuture = CallFuture<Result<WaitEnd, StepError>>;
/// What calling an RPC gives.
pub type RpcFuture = CallFuture<Result<RpcEnd, RpcError>>;

/// A call of a step.
#[derive(Debug)]
pub struct StepCall<F> {
    pub(crate) input: Payload,
    pub(crate) outcome: Option<Payload>,
    pub(crate) context: StepContext<F>,
}

/// A step that returned a decision. It passes through many hands on its way to the engine, hence the box.
#[derive(Debug)]
pub struct StepEnd(pub(crate) Box<Returned>);

/// What a step that returned a decision wants.
#[derive(Debug)]
pub(crate) struct Returned {
    pub(crate) choice: Choice,
    pub(crate) cancels: Vec<Cancel>,
    pub(crate) staged: Staged,
}

impl<F: Flow> StepCall<F> {
    /// The input of the start step: the flow's own.
    ///
    /// # Errors
    ///
    /// Fails, without a retry, if the stored value does not fit.
    pub fn start_input(&self) -> Result<F::Input, StepError> {
        self.input()
    }

    /// The step's input.
    ///
    /// # Errors
    ///
    /// Fails, without a retry, if the stored value does not fit `I`.
    pub fn input<I: Value>(&self) -> Result<I, StepError> {
        self.input_by(Payload::decode)
    }

    /// The step's input, decoded by `decode`.
    ///
    /// # Errors
    ///
    /// Fails, without a retry, if `decode` does.
    pub fn input_by<I>(&self, decode: Decode<I>) -> Result<I, StepError> {
        decode(&self.input).map_err(|e| StepError::unworkable(format_args!("the step's input: {e}")))
    }

    /// What the step's wait gave.
    ///
    /// # Errors
    ///
    /// Fails, without a retry, if the stored value does not fit `O`.
    pub fn outcome<O: Value>(&self) -> Result<O, StepError> {
        let outcome = self.outcome.clone().unwrap_or(Payload::NULL);
        outcome.decode().map_err(|e| StepError::unworkable(format_args!("the outcome of the wait: {e}")))
    }

    /// What the step's wait gave, where `W` is what the `wait_for` returns.
    ///
    /// # Errors
    ///
    /// Fails, without a retry, if the stored value does not fit.
    pub fn outcome_of<W: WaitReturn<F>>(&self) -> Result<W::Outcome, StepError> {
        self.outcome()
    }

    /// The context to call the step with.
    pub fn context(&mut self) -> &mut StepContext<F> {
        &mut self.context
    }

    /// What the step returned.
    ///
    /// # Errors
    ///
    /// The step's own error, or that its decision cannot be encoded.
    pub fn end(self, result: StepResult<F>) -> Result<StepEnd, StepError> {
        let (choice, cancels) = result?.into_parts()?;
        Ok(StepEnd(Box::new(Returned { choice, cancels, staged: self.context.core.into_parts().0 })))
    }
}

/// A call of a `wait_for`.
#[derive(Debug)]
pub struct WaitCall<F> {
    pub(crate) input: Payload,
    pub(crate) context: WaitContext<F>,
}

/// A `wait_for` that returned a condition.
#[derive(Debug)]
pub struct WaitEnd {
    pub(crate) part: Part,
    pub(crate) staged: Staged,
}

impl<F: Flow> WaitCall<F> {
    /// The input of the start step: the flow's own.
    ///
    /// # Errors
    ///
    /// Fails, without a retry, if the stored value does not fit.
    pub fn start_input(&self) -> Result<F::Input, StepError> {
        self.input()
    }

    /// The step's input.
    ///
    /// # Errors
    ///
    /// Fails, without a retry, if the stored value does not fit `I`.
    pub fn input<I: Value>(&self) -> Result<I, StepError> {
        self.input_by(Payload::decode)
    }

    /// The step's input, decoded by `decode`.
    ///
    /// # Errors
    ///
    /// Fails, without a retry, if `decode` does.
    pub fn input_by<I>(&self, decode: Decode<I>) -> Result<I, StepError> {
        decode(&self.input).map_err(|e| StepError::unworkable(format_args!("the step's input: {e}")))
    }

    /// The context to call the `wait_for` with.
    pub fn context(&mut self) -> &mut WaitContext<F> {
        &mut self.context
    }

    /// What the `wait_for` returned.
    ///
    /// # Errors
    ///
    /// The method's own error, or that its condition cannot be encoded.
    pub fn end<O: Value>(self, result: WaitResult<F, O>) -> Result<WaitEnd, StepError> {
        let part = result?.into_part()?;
        Ok(WaitEnd { part, staged: self.context.core.into_parts().0 })
    }
}

/// A call of an RPC.
#[derive(Debug)]
pub struct RpcCall<F> {
    pub(crate) input: Payload,
    pub(crate) context: RpcContext<F>,
}

/// An RPC that returned an answer.
pub struct RpcEnd {
    pub(crate) answer: Payload,
    pub(crate) staged: Staged,
    pub(crate) reads: Reads,
    pub(crate) movements: Vec<Goal>,
    pub(crate) cancels: Vec<Cancel>,
}

impl fmt::Debug for RpcEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RpcEnd")
            .field("answer", &self.answer)
            .field("staged", &self.staged)
            .finish_non_exhaustive()
    }
}

impl<F: Flow> RpcCall<F> {
    /// The RPC's input.
    ///
    /// # Errors
    ///
    /// Fails if the value does not fit `I`.
    pub fn input<I: Value>(&self) -> Result<I, RpcError> {
        self.input.decode().map_err(|e| RpcError::unworkable(e.of_given("the argument")))
    }

    /// The input of RPC `R`.
    ///
    /// # Errors
    ///
    /// Fails if the value does not fit.
    pub fn argument<R: Rpc<Flow = F>>(&self) -> Result<R::Input, RpcError> {
        self.input()
    }

    /// The context to call the RPC with.
    pub fn context(&mut self) -> &mut RpcContext<F> {
        &mut self.context
    }

    /// What the RPC returned.
    ///
    /// # Errors
    ///
    /// The RPC's own error, or that its answer cannot be encoded.
    pub fn end<O: Value>(self, result: RpcResult<O>) -> Result<RpcEnd, RpcError> {
        let answer = Payload::encode(&result?).map_err(|error| error.of("the answer"))?;
        let RpcContext { core, movements, cancels, .. } = self.context;
        let (staged, reads) = core.into_parts();
        Ok(RpcEnd { answer, staged, reads, movements, cancels })
    }

    /// What RPC `R` returned.
    ///
    /// # Errors
    ///
    /// As [`end`](Self::end).
    pub fn answer<R: Rpc<Flow = F>>(self, result: RpcResult<R::Answer>) -> Result<RpcEnd, RpcError> {
        self.end(result)
    }
}
