//! What a step decided and what a `wait_for` asked for, for a test to look at.

use super::staged::decode;
use crate::definition::{Choice, Flow, Goal, Next, Part, PartKind, Step, StepOptions, Wait};
use crate::engine::{ChildRequest, Condition, Decision, ParentEnd};
use crate::time::Timestamp;
use crate::value::Value;

impl<F: Flow> Next<F> {
    /// The stored names of the steps that come next, in order, for a unit test.
    ///
    /// # Panics
    ///
    /// If the decision cannot be stored.
    #[track_caller]
    pub fn steps(&self) -> Vec<&'static str> {
        self.goals().iter().map(|goal| goal.step).collect()
    }

    /// The inputs with which `step` comes next, in order, for a unit test.
    ///
    /// # Panics
    ///
    /// If the decision cannot be stored, or an input does not read back as its own type.
    #[track_caller]
    pub fn inputs<I: Value>(&self, step: Step<F, I>) -> Vec<I> {
        let of_step = self.goals().iter().filter(|goal| goal.step == step.name());
        of_step.map(|goal| decode(&goal.input)).collect()
    }

    /// The options with which `step` comes next, in order, for a unit test. Where the decision gives none, they
    /// set nothing.
    ///
    /// # Panics
    ///
    /// If the decision cannot be stored.
    #[track_caller]
    pub fn options<I: Value>(&self, step: Step<F, I>) -> Vec<StepOptions<F, I>> {
        let of_step = self.goals().iter().filter(|goal| goal.step == step.name());
        of_step.map(|goal| StepOptions::of(goal.given())).collect()
    }

    /// The output, if the decision completes the run or its branch, for a unit test.
    ///
    /// # Panics
    ///
    /// If the decision cannot be stored, or the output does not read back as its own type.
    #[track_caller]
    pub fn output(&self) -> Option<F::Output> {
        match self.choice() {
            Choice::IfEmpty { output, .. }
            | Choice::Other(Decision::Complete(output) | Decision::CompleteNow(output)) => {
                Some(decode(output))
            }
            Choice::Continue(_) | Choice::Other(_) => None,
        }
    }

    /// The reason, if the decision fails the run, for a unit test.
    ///
    /// # Panics
    ///
    /// If the decision cannot be stored.
    #[track_caller]
    pub fn failure(&self) -> Option<&str> {
        match self.choice() {
            Choice::Other(Decision::Fail { reason }) => Some(reason),
            Choice::Continue(_) | Choice::IfEmpty { .. } | Choice::Other(_) => None,
        }
    }

    /// Whether the decision ends its branch and nothing else, for a unit test.
    ///
    /// # Panics
    ///
    /// If the decision cannot be stored.
    #[track_caller]
    pub fn is_dead_end(&self) -> bool {
        matches!(self.choice(), Choice::Other(Decision::DeadEnd))
    }

    /// Where it goes on, or may.
    #[track_caller]
    fn goals(&self) -> &[Goal] {
        match self.choice() {
            Choice::Continue(goals) => goals,
            Choice::IfEmpty { otherwise, .. } => std::slice::from_ref(otherwise),
            Choice::Other(_) => &[],
        }
    }

    #[track_caller]
    fn choice(&self) -> &Choice {
        match self.as_choice() {
            Ok(choice) => choice,
            Err(error) => panic!("the decision cannot be stored: {error}"),
        }
    }
}

impl<F: Flow, O: Value> Wait<F, O> {
    /// What is waited for, as it is written in a flow: `any(APPROVAL.one(), Timer::after(86400s))`; for a unit
    /// test.
    ///
    /// # Panics
    ///
    /// If the wait cannot be stored.
    #[track_caller]
    pub fn in_words(self) -> String {
        match self.into_part() {
            Ok(part) => words(&part),
            Err(error) => panic!("the wait cannot be stored: {error}"),
        }
    }
}

fn words(Part(kind): &Part) -> String {
    let list = |parts: &[Part]| parts.iter().map(words).collect::<Vec<_>>().join(", ");
    match kind {
        PartKind::At(at) => format!("Timer::at({})", Timestamp::from(*at)),
        PartKind::After(pause) => format!("Timer::after({pause:?})"),
        PartKind::Fixed(condition) => fixed(condition),
        PartKind::Child(request) => child(request),
        PartKind::Any { of, .. } => format!("any({})", list(of)),
        PartKind::All(parts) => format!("all({})", list(parts)),
        PartKind::With(inner, local) => format!("{}.with({local:?})", words(inner)),
    }
}

fn child(request: &ChildRequest) -> String {
    let ChildRequest { flow, start, on_parent_end } = request;
    let attributes = start.attributes.iter().map(|(slot, value)| format!(".with({slot}, {value:?})"));
    let timeout = start.timeout.map(|timeout| format!(".timeout({timeout:?})"));
    let policy = (*on_parent_end != ParentEnd::default())
        .then(|| format!(".on_parent_end(ParentEnd::{on_parent_end:?})"));
    let options: String = attributes.chain(timeout).chain(policy).collect();
    format!("SubFlow::<{flow}>::run({:?}){options}", start.input)
}

fn fixed(condition: &Condition) -> String {
    match condition {
        Condition::Messages { slot, single: true, .. } => format!("{slot}.one()"),
        Condition::Messages { slot, min, max: u32::MAX, .. } => format!("{slot}.at_least({min})"),
        Condition::Messages { slot, min, max, .. } if min == max => format!("{slot}.n({min})"),
        Condition::Messages { slot, min: 0, max, .. } => format!("{slot}.up_to({max})"),
        Condition::Messages { slot, min, max, .. } => format!("{slot}.between({min}, {max})"),
        Condition::Ready(value) => format!("ready({value:?})"),
        // A condition that a flow cannot write.
        other => format!("{other:?}"),
    }
}
