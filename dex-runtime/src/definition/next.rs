//! Decisions: what a step says comes next.

use std::fmt;
use std::marker::PhantomData;

use super::error::cut;
use super::flow::Flow;
use super::handle::Step;
use super::if_empty::{Channels, IfEmpty};
use super::options::{Given, StepOptions};
use crate::engine::Decision;
use crate::ids::Slot;
use crate::value::{Payload, Value, ValueError};

/// What comes after a step.
///
/// ```
/// # use dex_runtime::definition::{Flow, Next, Step};
/// # fn decide<F: Flow<Output = u32>>(ship: Step<F, String>, bill: Step<F, u32>) -> Next<F> {
/// // Both start in one commit, in this order.
/// Next::to(ship, "order-17".into()).and(bill, 4200)
/// # }
/// ```
#[must_use = "a decision does nothing until the step returns it: `Ok(Next::…)`"]
pub struct Next<F> {
    decision: Result<Choice, ValueError>,
    cancels: Vec<Cancel>,
    flow: PhantomData<fn() -> F>,
}

/// A flow's output type, which is `O`.
///
/// Any type is its own output type and no other's; asking it this way has a wrong one told at the value.
#[diagnostic::on_unimplemented(
    message = "this flow completes with `{Self}`, not with `{O}`",
    label = "not a `{Self}`",
    note = "a flow's output type is what `#[flow(output = …)]` says, or else `()`"
)]
pub trait OutputIs<O> {
    /// The encoded output.
    #[doc(hidden)]
    fn encode(output: &O) -> Result<Payload, ValueError>;
}

#[diagnostic::do_not_recommend]
impl<O: Value> OutputIs<O> for O {
    fn encode(output: &O) -> Result<Payload, ValueError> {
        Payload::encode(output).map_err(|error| error.of("the output"))
    }
}

/// A decision before the runtime has looked up what it names.
#[derive(Debug)]
pub(crate) enum Choice {
    Continue(Vec<Goal>),
    IfEmpty { channels: Vec<Slot>, output: Payload, otherwise: Goal },
    Other(Decision),
}

/// A step to go to, with what it is given.
#[derive(Debug)]
pub(crate) struct Goal {
    pub(crate) step: &'static str,
    pub(crate) input: Payload,
    /// In a box, since few movements have any.
    pub(crate) options: Option<Box<Given>>,
}

impl Goal {
    pub(crate) fn new<F, I: Value>(
        step: Step<F, I>,
        input: &I,
        options: &StepOptions<F, I>,
    ) -> Result<Self, ValueError> {
        let input = Payload::encode(input)
            .map_err(|error| error.of(format_args!("the input for step `{}`", step.name())))?;
        let given = options.given();
        let options = (given != Given::NOTHING).then(|| Box::new(given));
        Ok(Self { step: step.name(), input, options })
    }
}

impl Goal {
    /// The options as they were given.
    pub(crate) fn given(&self) -> Given {
        self.options.as_deref().copied().unwrap_or_default()
    }
}

/// Executions that are ended: all of a step, or those with the same source as the one that says so.
#[derive(Debug)]
pub(crate) struct Cancel {
    pub(crate) step: &'static str,
    pub(crate) siblings: bool,
}

impl<F: Flow> Next<F> {
    pub(super) fn of(decision: Result<Choice, ValueError>) -> Self {
        Self { decision, cancels: Vec::new(), flow: PhantomData }
    }

    /// Goes on with `step`.
    pub fn to<I: Value>(step: Step<F, I>, input: I) -> Self {
        Self::each(step, [input])
    }

    /// Goes on with `step`, with other options for this one movement.
    ///
    /// Options that cannot work park the step that decides so; [`StepOptionsError`] says which those are.
    ///
    /// [`StepOptionsError`]: super::StepOptionsError
    pub fn to_with<I: Value>(step: Step<F, I>, input: I, options: StepOptions<F, I>) -> Self {
        Self::each_with(step, [input], options)
    }

    /// Goes on with one execution of `step` for each of `inputs`, all at once, in this order.
    ///
    /// With no inputs at all and nothing added by [`and`](Self::and), there is no next step; the step is
    /// then parked, as no repetition can mend that.
    pub fn each<I: Value>(step: Step<F, I>, inputs: impl IntoIterator<Item = I>) -> Self {
        Self::each_with(step, inputs, StepOptions::new())
    }

    /// As [`each`](Self::each), with other options for these movements.
    pub fn each_with<I: Value>(
        step: Step<F, I>,
        inputs: impl IntoIterator<Item = I>,
        options: StepOptions<F, I>,
    ) -> Self {
        let goals: Result<Vec<_>, _> =
            inputs.into_iter().map(|input| Goal::new(step, &input, &options)).collect();
        Self::of(goals.map(Choice::Continue))
    }

    /// Also goes on with `step`. All parts of a decision start in one commit.
    ///
    /// Only decisions that go on can be added to; after [`complete`](Self::complete) and its like there is
    /// nothing to add, and the step is parked.
    pub fn and<I: Value>(self, step: Step<F, I>, input: I) -> Self {
        self.and_with(step, input, StepOptions::new())
    }

    /// As [`and`](Self::and), with other options for this one movement.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is stored is given away: the caller need not borrow"
    )]
    pub fn and_with<I: Value>(self, step: Step<F, I>, input: I, options: StepOptions<F, I>) -> Self {
        let cancels = self.cancels;
        let decision = self.decision.and_then(|choice| match choice {
            Choice::Continue(mut goals) => {
                goals.push(Goal::new(step, &input, &options)?);
                Ok(Choice::Continue(goals))
            }
            Choice::IfEmpty { .. } | Choice::Other(_) => Err(ValueError::Encode {
                what: "a decision".to_owned(),
                type_name: std::any::type_name::<Self>(),
                reason: "`.and(..)` only goes with `Next::to` and `Next::each`".into(),
            }),
        });
        Self { cancels, ..Self::of(decision) }
    }

    /// Also ends all open executions of `step`, whatever they do, before anything comes next. The one that
    /// decides so is not ended by it.
    ///
    /// A running handler is dropped and its outcome refused; messages that were reserved for it go back.
    pub fn cancel<I>(mut self, step: Step<F, I>) -> Self {
        self.cancels.push(Cancel { step: step.name(), siblings: false });
        self
    }

    /// As [`cancel`](Self::cancel), but only those that were started together with the step that decides so:
    /// by the same decision of the same execution.
    pub fn cancel_siblings<I>(mut self, step: Step<F, I>) -> Self {
        self.cancels.push(Cancel { step: step.name(), siblings: true });
        self
    }

    /// Ends this branch with an output; the run completes once no other branch is left.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is stored is given away: the caller need not borrow"
    )]
    pub fn complete<O>(output: O) -> Self
    where
        F::Output: OutputIs<O>,
    {
        Self::of(F::Output::encode(&output).map(|output| Choice::Other(Decision::Complete(output))))
    }

    /// Completes the run at once; other branches are cancelled.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is stored is given away: the caller need not borrow"
    )]
    pub fn complete_now<O>(output: O) -> Self
    where
        F::Output: OutputIs<O>,
    {
        Self::of(F::Output::encode(&output).map(|output| Choice::Other(Decision::CompleteNow(output))))
    }

    /// Completes the run at once if `channels` are empty, in one atomic check; say with
    /// [`or_to`](IfEmpty::or_to) what follows if they are not.
    ///
    /// What this step has taken counts as consumed, and what it publishes as there. A message that another
    /// step has taken and not yet consumed counts as there, too: that step may fail and give it back.
    ///
    /// ```
    /// # use dex_runtime::definition::{Channel, Flow, Next, Step};
    /// # fn decide<F: Flow<Output = u32>>(jobs: Channel<F, String>, next: Step<F, u32>, done: u32) -> Next<F> {
    /// // No job can slip in between the look and the end.
    /// Next::complete_if_empty(jobs, done).or_to(next, done)
    /// # }
    /// ```
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is stored is given away: the caller need not borrow"
    )]
    pub fn complete_if_empty<O>(channels: impl Channels<F>, output: O) -> IfEmpty<F>
    where
        F::Output: OutputIs<O>,
    {
        IfEmpty::new(channels.slots(), F::Output::encode(&output))
    }

    /// Fails the run at once; other branches are cancelled. Of the reason, the first 4 KiB are kept.
    pub fn fail(reason: impl Into<String>) -> Self {
        Self::of(Ok(Choice::Other(Decision::Fail { reason: cut(reason.into()) })))
    }

    /// Ends this branch and nothing else: the run stays open, if need be for an RPC to go on with.
    pub fn dead_end() -> Self {
        Self::of(Ok(Choice::Other(Decision::DeadEnd)))
    }

    pub(crate) fn into_parts(self) -> Result<(Choice, Vec<Cancel>), ValueError> {
        Ok((self.decision?, self.cancels))
    }

    pub(crate) fn as_choice(&self) -> Result<&Choice, &ValueError> {
        self.decision.as_ref()
    }
}

impl<F> fmt::Debug for Next<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next")
            .field("decision", &self.decision)
            .field("cancels", &self.cancels)
            .finish_non_exhaustive()
    }
}
