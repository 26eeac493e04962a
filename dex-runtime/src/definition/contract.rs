//! The rules over types that generated code asks the compiler to check, with the words for those who break them.
//!
//! A bound that is said once, in an associated type, is reported once; the calls of a handler rely on it.

use std::future::{Pending, pending};
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use super::call::{RpcCall, RpcEnd, RpcFuture, StepCall, StepEnd, StepFuture, WaitCall, WaitEnd, WaitFuture};
use super::error::{RpcError, RpcResult, StepError};
use super::flow::Flow;
use super::next::Next;
use super::wait::Wait;
use crate::client::RunHandle;
use crate::error::Result;
use crate::value::{Payload, Value, ValueError};

/// The types of one RPC.
pub trait Rpc {
    /// The flow that has it. Without a bound: what its type lacks is told where it is made a flow.
    type Flow;

    /// The argument, `()` without one.
    type Input: Value;

    /// What it answers.
    type Answer: Value;
}

/// Calls an RPC of the run; the generated methods do.
///
/// # Errors
///
/// As [`RunHandle::call`].
pub async fn call_rpc<R: Rpc<Flow: Flow>>(
    run: &RunHandle<R::Flow>,
    rpc: &'static str,
    input: &R::Input,
) -> Result<R::Answer> {
    run.call(rpc, input).await
}

/// What a step is declared to return.
#[diagnostic::on_unimplemented(
    message = "a step of `{F}` returns `StepResult<Self>`, this one returns `{Self}`",
    label = "not the `StepResult` of this flow",
    note = "write `-> StepResult<Self>`"
)]
pub trait StepReturn<F> {
    /// Ends the call with the step's result.
    fn end(self, call: StepCall<F>) -> std::result::Result<StepEnd, StepError>;
}

#[diagnostic::do_not_recommend]
impl<F: Flow> StepReturn<F> for std::result::Result<Next<F>, StepError> {
    fn end(self, call: StepCall<F>) -> std::result::Result<StepEnd, StepError> {
        call.end(self)
    }
}

/// The answer's type in what an RPC is declared to return.
#[diagnostic::on_unimplemented(
    message = "an RPC returns `RpcResult<T>`, this one returns `{Self}`",
    label = "not an `RpcResult`",
    note = "write `-> RpcResult<T>`, where `T` is the type of the answer"
)]
pub trait RpcReturn {
    /// The answer's type.
    type Answer;

    /// Ends the call of RPC `R` with its result.
    fn end<R: Rpc<Flow: Flow, Answer = Self::Answer>>(self, call: RpcCall<R::Flow>) -> RpcResult<RpcEnd>;
}

#[diagnostic::do_not_recommend]
impl<T> RpcReturn for RpcResult<T> {
    type Answer = T;

    fn end<R: Rpc<Flow: Flow, Answer = T>>(self, call: RpcCall<R::Flow>) -> RpcResult<RpcEnd> {
        call.answer::<R>(self)
    }
}

/// The outcome's type in what a `wait_for` is declared to return.
#[diagnostic::on_unimplemented(
    message = "a `wait_for` of `{F}` returns `WaitResult<Self, O>`, this one returns `{Self}`",
    label = "not the `WaitResult` of this flow",
    note = "write `-> WaitResult<Self, O>`, where `O` is what the step is given"
)]
pub trait WaitReturn<F> {
    /// What the step is given.
    type Outcome: Value;

    /// Ends the call with the wait's result.
    fn end(self, call: WaitCall<F>) -> std::result::Result<WaitEnd, StepError>;
}

#[diagnostic::do_not_recommend]
impl<F: Flow, O: Value> WaitReturn<F> for std::result::Result<Wait<F, O>, StepError> {
    type Outcome = O;

    fn end(self, call: WaitCall<F>) -> std::result::Result<WaitEnd, StepError> {
        call.end(self)
    }
}

/// A step's argument that is what the step's `wait_for` gives.
#[diagnostic::on_unimplemented(
    message = "the step's `wait_for` gives `{O}`, but the step takes `{Self}`",
    label = "the step is given `{O}`",
    note = "the type of this argument and the `O` of the wait's `WaitResult<Self, O>` must be the same"
)]
pub trait GivenBy<O> {
    /// The argument.
    fn given(outcome: O) -> Self;
}

#[diagnostic::do_not_recommend]
impl<O> GivenBy<O> for O {
    fn given(outcome: O) -> Self {
        outcome
    }
}

/// The input of a recovery step that is the input of the step that fails.
#[diagnostic::on_unimplemented(
    message = "this step takes `{Self}`, but the step that fails has the input `{I}`",
    label = "takes `{Self}`",
    note = "the recovery step is given the input of the step that failed: give both the same input type"
)]
pub trait Takes<I> {
    /// Naming it asks whether the trait is there.
    const SAME_TYPE: () = ();
}

#[diagnostic::do_not_recommend]
impl<I> Takes<I> for I {}

/// The input of a step that fails, where the recovery step takes an `R`. As [`Takes`], from the other side:
/// asked so, the compiler does not take the one for the other before both are known.
#[diagnostic::on_unimplemented(
    message = "this step takes `{R}`, but the step that fails has the input `{Self}`",
    label = "takes `{R}`",
    note = "the recovery step is given the input of the step that failed: give both the same input type"
)]
pub trait RecoveredBy<R> {}

#[diagnostic::do_not_recommend]
impl<I> RecoveredBy<I> for I {}

/// A flow that begins with a step, and so can be a sub-flow.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a sub-flow: it has no start step",
    label = "has no start step",
    note = "a sub-flow begins, and ends, by itself: mark the step of `{Self}` that comes first `#[step(start)]`"
)]
pub trait StartsWithStep: Flow {}

/// What generated code says of a flow that begins with a step. Apart from [`StartsWithStep`], so that the compiler
/// names none of the flows that have it to those who ask it of another.
pub trait HasStart {}

#[diagnostic::do_not_recommend]
impl<F: Flow + HasStart> StartsWithStep for F {}

/// A [`Value`], asked for by generated code.
///
/// Where a function asks for a `Value`, the compiler quotes its bound below the error; a path through this trait
/// is told in few lines.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be stored: a flow's values need `Serialize` and `Deserialize`",
    label = "cannot be stored",
    note = "add `#[derive(serde::Serialize, serde::Deserialize)]` to it, or to the type inside it that lacks them"
)]
pub trait Stored: Sized {
    /// The stored value.
    fn decoded(payload: &Payload) -> std::result::Result<Self, ValueError>;

    /// Whether what is stored is a value of this type.
    fn fits(payload: &Payload) -> Fit;
}

#[diagnostic::do_not_recommend]
impl<T: Value> Stored for T {
    fn decoded(payload: &Payload) -> std::result::Result<Self, ValueError> {
        payload.decode()
    }

    fn fits(payload: &Payload) -> Fit {
        payload.decode::<T>().map(drop)
    }
}

/// Whether a stored value fits a type.
pub type Fit = std::result::Result<(), ValueError>;

/// Whether `value` fits the type at `place` of a flow's table.
pub fn fits_at(table: &[fn(&Payload) -> Fit], place: usize, value: &Payload) -> Fit {
    match table.get(place) {
        Some(fits) => fits(value),
        None => Err(ValueError::misfit("unknown", UNKNOWN_HANDLE)),
    }
}

const UNKNOWN_HANDLE: &str = "this build of the flow has no such attribute, channel or stream";

/// A call of a handler of any kind.
pub trait Call: Sized {
    /// What the call gives.
    type Future;

    /// What a call of a handler gives that the flow does not have.
    fn unknown(self) -> Self::Future;
}

const UNKNOWN: &str = "this build of the flow has no such handler";

impl<F: Flow> Call for StepCall<F> {
    type Future = StepFuture;

    fn unknown(self) -> StepFuture {
        Box::pin(std::future::ready(Err(StepError::unworkable(UNKNOWN))))
    }
}

impl<F: Flow> Call for WaitCall<F> {
    type Future = WaitFuture;

    fn unknown(self) -> WaitFuture {
        Box::pin(std::future::ready(Err(StepError::unworkable(UNKNOWN))))
    }
}

impl<F: Flow> Call for RpcCall<F> {
    type Future = RpcFuture;

    fn unknown(self) -> RpcFuture {
        Box::pin(std::future::ready(Err(RpcError::new(UNKNOWN))))
    }
}

/// What a flow's table holds for each handler.
pub type Handler<F, C> = fn(Arc<F>, C) -> <C as Call>::Future;

/// Asks whether a flow `F` is shared between threads, before its handlers' futures are.
///
/// One that is not has been refused as a flow, in words about the field that is at fault. That none of the futures which
/// borrow it can be sent is the same mistake, and would be told again for each handler.
#[derive(Debug)]
pub struct Futures<F>(Unasked, PhantomData<fn() -> F>);

/// The futures of a type that cannot be a flow.
#[derive(Debug)]
pub struct Unasked(());

impl<F: 'static> Futures<F> {
    /// The question: `OF.checked(…)` finds the method of [`Unasked`] where the flow's own is not there.
    pub const OF: &'static Self = &Self(Unasked(()), PhantomData);
}

impl<F: Send + Sync> Futures<F> {
    /// The future as it is.
    pub fn checked<C: Future>(&self, future: C) -> C {
        future
    }
}

impl<F> Deref for Futures<F> {
    type Target = Unasked;

    fn deref(&self) -> &Unasked {
        &self.0
    }
}

impl Unasked {
    /// Another future, which nobody will ask: the program does not compile.
    pub fn checked<C: Future>(&self, future: C) -> Pending<C::Output> {
        drop(future);
        pending()
    }
}

/// Calls the handler at `place` of a flow's table.
pub fn dispatch<F, C: Call>(table: &[Handler<F, C>], place: usize, flow: Arc<F>, call: C) -> C::Future {
    match table.get(place) {
        Some(handler) => handler(flow, call),
        None => call.unknown(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Question;

    impl Call for Question {
        type Future = &'static str;

        fn unknown(self) -> &'static str {
            "no such handler"
        }
    }

    #[test]
    fn a_place_outside_of_the_table_is_an_answer_and_no_panic() {
        let table: &[fn(Arc<()>, Question) -> &'static str] = &[|_, _| "first", |_, _| "second"];
        let ask = |place| dispatch(table, place, Arc::new(()), Question);
        assert_eq!((ask(0), ask(1), ask(2)), ("first", "second", "no such handler"));
    }
}
