//! Sub-flows: runs of other flows that a step waits for.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use super::access::AttributeHandle;
use super::contract::StartsWithStep;
use super::flow::Flow;
use super::sub_flow_result::ChildResult;
use super::wait::{Condition, Part, PartKind};
use crate::engine::{ChildRequest, ChildStart, ParentEnd};
use crate::ids::Name;
use crate::value::{Payload, ValueError};

/// A run of flow `G` as something to wait for: the wait starts it, and the step is given how it ended.
///
/// ```
/// # use std::time::Duration;
/// # use dex_runtime::definition::{ChildResult, Flow, SubFlow, Wait, contract::StartsWithStep};
/// # fn wait<F: Flow, Order: Flow<Input = u32> + StartsWithStep>(orders: &[u32]) -> Wait<F, Vec<ChildResult<Order>>> {
/// let children = orders.iter().map(|order| SubFlow::<Order>::run(*order).timeout(Duration::from_secs(3600)));
/// Wait::all(children.collect::<Vec<_>>())
/// # }
/// ```
///
/// It is an ordinary run, called `<run id of the parent>/<step>-<n>/<place in the wait, from 0>`: so its id is
/// the same in every attempt, and nothing else in the store has it. It begins when the wait does, in whatever
/// part of the wait it stands. Its failure does not fail the parent, and nothing but
/// [`on_parent_end`](Self::on_parent_end) stops it: not that it lost against another alternative of an `any`,
/// nor that the step which waits is cancelled.
///
/// A run has at most [`children_max`](crate::engine::Limits::children_max) children at once.
#[must_use = "a sub-flow is started by the wait that it is part of: `Wait::one`, `any` or `all`"]
pub struct SubFlow<G> {
    request: Result<Box<ChildRequest>, ValueError>,
    flow: PhantomData<fn() -> G>,
}

impl<G: Flow> SubFlow<G> {
    /// A run that is started with `input`.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is stored is given away: the caller need not borrow"
    )]
    pub fn run(input: G::Input) -> Self
    where
        G: StartsWithStep,
    {
        Self { request: request::<G>(&input), flow: PhantomData }
    }

    /// Gives the run so long. The default is what its flow says.
    ///
    /// At the end of its time it does what its flow's timeout does, which is to fail, unless it has a step
    /// for that. At least 1 ms, or the wait cannot be stored.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.change(|request| {
            if timeout < Duration::from_millis(1) {
                let reason = format!("a run cannot end within {timeout:?}: give it a millisecond at least");
                let what = "a sub-flow".to_owned();
                return Err(ValueError::Encode { what, type_name: "SubFlow", reason });
            }
            request.start.timeout = Some(timeout);
            Ok(())
        })
    }

    /// Gives the run an attribute from the beginning: it is set in the commit that creates the run.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is stored is given away: the caller need not borrow"
    )]
    pub fn with<A: AttributeHandle<G>>(self, attribute: A, value: A::Value) -> Self {
        self.change(|request| {
            let slot = attribute.slot()?;
            let value = Payload::encode(&value)
                .map_err(|error| error.of(format_args!("the value for attribute `{slot}` of a sub-flow")))?;
            request.start.attributes.push((slot, value));
            Ok(())
        })
    }

    /// Says what happens to the run if it still goes on when its parent's run ends, in whatever way. The
    /// default leaves it alone.
    pub fn on_parent_end(self, policy: ParentEnd) -> Self {
        self.change(|request| {
            request.on_parent_end = policy;
            Ok(())
        })
    }

    fn change(mut self, change: impl FnOnce(&mut ChildRequest) -> Result<(), ValueError>) -> Self {
        self.request = self.request.and_then(|mut request| change(&mut request).map(|()| request));
        self
    }
}

fn request<G: Flow>(input: &G::Input) -> Result<Box<ChildRequest>, ValueError> {
    let unnamed = |error: crate::ids::IdError| ValueError::Encode {
        what: "a sub-flow".to_owned(),
        type_name: std::any::type_name::<G>(),
        reason: error.to_string(),
    };
    let flow = Name::new(G::definition().name).map_err(unnamed)?;
    let input =
        Payload::encode(input).map_err(|error| error.of(format_args!("the input for sub-flow `{flow}`")))?;
    let start = ChildStart { input, attributes: Vec::new(), timeout: None };
    Ok(Box::new(ChildRequest { flow, start, on_parent_end: ParentEnd::default() }))
}

#[diagnostic::do_not_recommend]
impl<F, G: Flow> Condition<F> for SubFlow<G> {
    type Output = ChildResult<G>;

    fn part(self) -> Result<Part, ValueError> {
        Ok(Part(PartKind::Child(self.request?)))
    }
}

impl<G> fmt::Debug for SubFlow<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SubFlow").field(&self.request).finish()
    }
}
