//! Waits: what a step waits for before it runs, typed by what the step is then given.

use std::fmt;
use std::marker::PhantomData;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::flow::Flow;
use crate::engine;
use crate::time::Timestamp;
use crate::value::{Payload, Value, ValueError};

/// What a step waits for; `O` is what the step is given when the wait is over.
///
/// ```
/// # use std::time::Duration;
/// # use dex_runtime::definition::{Channel, Flow, OneOf2, Timer, TimerFired, Wait};
/// # fn wait<F: Flow>(approval: Channel<F, String>) -> Wait<F, OneOf2<String, TimerFired>> {
/// // Whichever comes first; the step gets a choice of the two.
/// Wait::any((approval.one(), Timer::after(Duration::from_secs(24 * 3600))))
/// # }
/// ```
#[must_use = "a wait does nothing until `wait_for` returns it: `Ok(Wait::…)`"]
pub struct Wait<F, O> {
    condition: Result<Part, ValueError>,
    types: PhantomData<fn() -> (F, O)>,
}

/// A condition before the runtime has looked at the clock.
#[derive(Debug)]
pub struct Part(pub(crate) PartKind);

#[derive(Debug)]
pub(crate) enum PartKind {
    At(SystemTime),
    After(Duration),
    Fixed(engine::Condition),
    Child(Box<engine::ChildRequest>),
    Any { of: Vec<Part>, tagged: bool },
    All(Vec<Part>),
    With(Box<Part>, Payload),
}

impl Part {
    /// The engine's form, with timers counted from `now`. The children that it names are added to `children`.
    pub(crate) fn lower(self, now: Timestamp, children: &mut Vec<engine::ChildRequest>) -> engine::Condition {
        let lower_all = |parts: Vec<Part>, children: &mut Vec<_>| {
            parts.into_iter().map(|part| part.lower(now, children)).collect()
        };
        match self.0 {
            PartKind::At(at) => engine::Condition::Timer { at: at.into() },
            PartKind::After(pause) => engine::Condition::Timer { at: now.saturating_add(pause) },
            PartKind::Fixed(condition) => condition,
            PartKind::Child(request) => {
                let index = u32::try_from(children.len()).unwrap_or(u32::MAX);
                children.push(*request);
                engine::Condition::Child { index }
            }
            PartKind::Any { of, tagged } => engine::Condition::Any { of: lower_all(of, children), tagged },
            PartKind::All(parts) => engine::Condition::All(lower_all(parts, children)),
            PartKind::With(inner, local) => {
                engine::Condition::With(Box::new(inner.lower(now, children)), local)
            }
        }
    }
}

/// Something that can be waited for in flow `F`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a condition of this flow",
    label = "not something to wait for",
    note = "conditions are `CHANNEL.one()`, `.n(k)`, `.at_least(k)`, `.up_to(k)`, `.between(a, b)` of the flow's own channels, \
            `Timer::after(..)`, `Timer::at(..)`, `SubFlow::<G>::run(..)`, and groups `All((..))`, `Any((..))` of them"
)]
pub trait Condition<F> {
    /// What the step is given when it is met.
    type Output: Value;

    /// The untyped form.
    #[doc(hidden)]
    fn part(self) -> Result<Part, ValueError>;
}

/// Several conditions of which one is enough.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a set of conditions of this flow",
    label = "not something to wait for",
    note = "write a tuple of 2 to 12 conditions, `Wait::any((a, b))`, or an array or a vector of them; \
            conditions are `CHANNEL.one()`, `.n(k)`, `.at_least(k)`, `.up_to(k)`, `.between(a, b)` of the flow's own channels, \
            `Timer::after(..)`, `Timer::at(..)`, `SubFlow::<G>::run(..)`, and groups `All((..))`, `Any((..))` of them"
)]
pub trait AnyOf<F> {
    /// What the step is given: `OneOf…` for a tuple, place and value for an array or vector.
    type Output: Value;

    /// The untyped form.
    #[doc(hidden)]
    fn part(self) -> Result<Part, ValueError>;
}

/// Several conditions of which all are needed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a set of conditions of this flow",
    label = "not something to wait for",
    note = "write a tuple of 2 to 12 conditions, `Wait::all((a, b))`, or an array or a vector of them; \
            conditions are `CHANNEL.one()`, `.n(k)`, `.at_least(k)`, `.up_to(k)`, `.between(a, b)` of the flow's own channels, \
            `Timer::after(..)`, `Timer::at(..)`, `SubFlow::<G>::run(..)`, and groups `All((..))`, `Any((..))` of them"
)]
pub trait AllOf<F> {
    /// What the step is given: the tuple of values, or the vector of them.
    type Output: Value;

    /// The untyped form.
    #[doc(hidden)]
    fn part(self) -> Result<Part, ValueError>;
}

// `O` is a parameter of its own: with `C::Output` in the return type, the compiler tells of a wrong condition twice.
impl<F: Flow> Wait<F, ()> {
    /// Waits for one condition.
    pub fn one<C: Condition<F, Output = O>, O: Value>(condition: C) -> Wait<F, O> {
        Wait::of(condition.part())
    }

    /// Waits for the first of several conditions. Ties go to the first written; only the winner takes messages.
    pub fn any<C: AnyOf<F, Output = O>, O: Value>(of: C) -> Wait<F, O> {
        Wait::of(of.part())
    }

    /// Waits until all of several conditions are met. Conditions on one channel add up.
    pub fn all<C: AllOf<F, Output = O>, O: Value>(of: C) -> Wait<F, O> {
        Wait::of(of.part())
    }
}

impl<F: Flow, O: Value> Wait<F, O> {
    fn of(condition: Result<Part, ValueError>) -> Self {
        Self { condition, types: PhantomData }
    }

    /// Waits for nothing: the step runs next and is given `value`.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is stored is given away: the caller need not borrow"
    )]
    pub fn ready(value: O) -> Self {
        let value = Payload::encode(&value).map_err(|error| error.of("the value that a wait gives"));
        Self::of(value.map(|value| Part(PartKind::Fixed(engine::Condition::Ready(value)))))
    }

    /// Gives the step `value` beside the outcome. It is durable with the wait.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is stored is given away: the caller need not borrow"
    )]
    pub fn with<L: Value>(self, value: L) -> Wait<F, (O, L)> {
        let part = self.condition.and_then(|inner| {
            let local = Payload::encode(&value).map_err(|error| error.of("the value beside a wait"))?;
            Ok(Part(PartKind::With(Box::new(inner), local)))
        });
        Wait::of(part)
    }

    pub(crate) fn into_part(self) -> Result<Part, ValueError> {
        self.condition
    }
}

impl<F, O> fmt::Debug for Wait<F, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Wait").field(&self.condition).finish()
    }
}

/// An instant to wait for, to the microsecond, never early, up to the year 9999.
///
/// It is an instant of the wall clock. If that clock is set forward, the timer fires within a second of it;
/// if it is set back, the timer is as much later.
#[derive(Clone, Copy, Debug)]
#[must_use = "a timer does nothing by itself: wait for it with `Wait::one`, `any` or `all`"]
pub struct Timer(TimerKind);

#[derive(Clone, Copy, Debug)]
enum TimerKind {
    After(Duration),
    At(SystemTime),
}

impl Timer {
    /// The instant `pause` after the wait begins. The wait's end does not move when the process restarts.
    pub const fn after(pause: Duration) -> Self {
        Self(TimerKind::After(pause))
    }

    /// The instant `at` of the wall clock; one in the past has come already.
    pub const fn at(at: SystemTime) -> Self {
        Self(TimerKind::At(at))
    }
}

/// What a step is given for a timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct TimerFired;

#[diagnostic::do_not_recommend]
impl<F> Condition<F> for Timer {
    type Output = TimerFired;

    fn part(self) -> Result<Part, ValueError> {
        Ok(Part(match self.0 {
            TimerKind::After(pause) => PartKind::After(pause),
            TimerKind::At(at) => PartKind::At(at),
        }))
    }
}

/// A group inside another wait: one of these.
#[derive(Clone, Copy, Debug)]
pub struct Any<C>(pub C);

/// A group inside another wait: all of these.
#[derive(Clone, Copy, Debug)]
pub struct All<C>(pub C);

#[diagnostic::do_not_recommend]
impl<F, C: AnyOf<F>> Condition<F> for Any<C> {
    type Output = C::Output;

    fn part(self) -> Result<Part, ValueError> {
        self.0.part()
    }
}

#[diagnostic::do_not_recommend]
impl<F, C: AllOf<F>> Condition<F> for All<C> {
    type Output = C::Output;

    fn part(self) -> Result<Part, ValueError> {
        self.0.part()
    }
}

fn parts<F, C: Condition<F>>(of: impl IntoIterator<Item = C>) -> Result<Vec<Part>, ValueError> {
    of.into_iter().map(Condition::part).collect()
}

#[diagnostic::do_not_recommend]
impl<F, C: Condition<F>> AnyOf<F> for Vec<C> {
    type Output = (usize, C::Output);

    fn part(self) -> Result<Part, ValueError> {
        Ok(Part(PartKind::Any { of: parts(self)?, tagged: false }))
    }
}

#[diagnostic::do_not_recommend]
impl<F, C: Condition<F>, const N: usize> AnyOf<F> for [C; N] {
    type Output = (usize, C::Output);

    fn part(self) -> Result<Part, ValueError> {
        const { assert!(N > 0, "a wait for none of nothing is never over: write at least one condition") };
        Ok(Part(PartKind::Any { of: parts(self)?, tagged: false }))
    }
}

#[diagnostic::do_not_recommend]
impl<F, C: Condition<F>> AllOf<F> for Vec<C> {
    type Output = Vec<C::Output>;

    fn part(self) -> Result<Part, ValueError> {
        Ok(Part(PartKind::All(parts(self)?)))
    }
}

#[diagnostic::do_not_recommend]
impl<F, C: Condition<F>, const N: usize> AllOf<F> for [C; N] {
    type Output = Vec<C::Output>;

    fn part(self) -> Result<Part, ValueError> {
        const { assert!(N > 0, "a wait for all of nothing is no wait: write at least one condition") };
        Ok(Part(PartKind::All(parts(self)?)))
    }
}
