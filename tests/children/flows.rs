//! A flow to be a child, and one to be its parent.

use dex::ParentEnd;
use dex::prelude::*;
use serde::{Deserialize, Serialize};

use crate::support::{hours, seconds};
use dex::testing::TestBuilder;

/// What a [`Parcel`] does.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Way {
    /// Arrives at once.
    Arrive(u64),
    /// Arrives when it is told to go.
    OnGo(u64),
    /// Is refused by a decision.
    Refuse,
    /// Breaks, with a cause below the error.
    Break,
    /// Arrives by two branches.
    Twice,
    /// Takes an hour.
    Slow,
}

/// A child: completes with twice its number.
pub(crate) struct Parcel;

#[derive(Debug, thiserror::Error)]
#[error("the parcel broke")]
struct Broke(#[source] std::num::ParseIntError);

#[flow(output = u64)]
impl Parcel {
    #[attribute]
    pub(crate) const LABEL: Attribute<u64>;
    #[channel]
    pub(crate) const GO: Channel<()>;

    #[step(start)]
    async fn send(&self, ctx: &mut StepContext<Self>, way: Way) -> StepResult<Self> {
        let label = ctx.get(Self::LABEL)?.unwrap_or_default();
        Ok(match way {
            Way::Arrive(number) => Next::complete(number * 2 + label),
            Way::OnGo(number) => Next::to(Self::ON_GO, number),
            Way::Refuse => Next::fail("nobody is at home"),
            Way::Break => Next::to(Self::BREAK_IT, ()),
            Way::Twice => Next::each(Self::BRANCH, [1, 2]),
            Way::Slow => Next::to(Self::SLOW, ()),
        })
    }

    #[wait_for(on_go)]
    fn go(&self, _ctx: &WaitContext<Self>, _number: &u64) -> WaitResult<Self, ()> {
        Ok(Wait::one(Self::GO.one()))
    }

    #[step]
    async fn on_go(&self, number: u64, _go: ()) -> StepResult<Self> {
        Ok(Next::complete(number * 2))
    }

    #[step(retry(attempts = 1))]
    async fn break_it(&self, _input: ()) -> StepResult<Self> {
        Err(Broke("x".parse::<u8>().unwrap_err()).into())
    }

    #[step]
    async fn branch(&self, number: u64) -> StepResult<Self> {
        Ok(Next::complete(number))
    }

    #[wait_for(slow)]
    fn an_hour(&self) -> WaitResult<Self, TimerFired> {
        Ok(Wait::one(Timer::after(hours(1))))
    }

    #[step]
    async fn slow(&self, _input: (), _fired: TimerFired) -> StepResult<Self> {
        Ok(Next::complete(0))
    }
}

/// What a [`Sender`] waits for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Plan {
    /// All of these, and gives what each came to.
    All(Vec<Way>),
    /// A parcel, or a minute.
    OrAMinute(Way, u8),
    /// A parcel with a label and not more than ten seconds.
    Labelled(Way),
    /// A parcel that is to have no time at all.
    NoTime,
    /// As many parcels one after the other, each from an execution of its own.
    Loop(u32),
    /// A parcel whose result is turned into an error of the step.
    Strict(Way),
    /// A parcel that is asked for when a message has come.
    Later,
}

/// A parent: completes with what its wait gave, as text.
pub(crate) struct Sender;

fn policy(number: u8) -> ParentEnd {
    [ParentEnd::Leave, ParentEnd::Cancel, ParentEnd::Terminate][usize::from(number)]
}

type Sent = Vec<ChildResult<Parcel>>;

#[flow(output = String)]
impl Sender {
    #[channel]
    pub(crate) const READY: Channel<()>;
    /// The ids of the children that there were.
    #[attribute]
    pub(crate) const SEEN: Attribute<Vec<String>>;

    #[step(start)]
    async fn begin(&self, plan: Plan) -> StepResult<Self> {
        Ok(match plan {
            Plan::All(ways) => Next::to(Self::ALL, ways),
            Plan::OrAMinute(..) => Next::to(Self::EITHER, plan),
            Plan::Labelled(way) => Next::to(Self::LABELLED, (way, 10)),
            Plan::NoTime => Next::to(Self::LABELLED, (Way::Refuse, 0)),
            Plan::Loop(times) => Next::to(Self::AGAIN, times),
            Plan::Strict(way) => Next::to(Self::STRICT, way),
            Plan::Later => Next::to(Self::LATER, ()),
        })
    }

    #[wait_for(all)]
    fn every_one(&self, _ctx: &WaitContext<Self>, ways: &Vec<Way>) -> WaitResult<Self, Sent> {
        Ok(Wait::all(ways.iter().cloned().map(SubFlow::<Parcel>::run).collect::<Vec<_>>()))
    }

    #[step]
    async fn all(&self, ctx: &mut StepContext<Self>, _ways: Vec<Way>, sent: Sent) -> StepResult<Self> {
        // Its own run is not told in texts, since it is another one each time.
        let prefix = format!("{}/", ctx.run_id());
        let texts =
            sent.iter().map(|one| format!("{}: {}", one.id().as_str().replace(&prefix, ""), told(one)));
        Ok(Next::complete(texts.collect::<Vec<_>>().join("; ")))
    }

    #[wait_for(either)]
    fn parcel_or_a_minute(
        &self,
        _ctx: &WaitContext<Self>,
        plan: &Plan,
    ) -> WaitResult<Self, OneOf2<TimerFired, ChildResult<Parcel>>> {
        let Plan::OrAMinute(way, number) = plan else { return Err(StepError::fatal("another plan")) };
        let parcel = SubFlow::run(way.clone()).on_parent_end(policy(*number));
        Ok(Wait::any((Timer::after(seconds(60)), parcel)))
    }

    #[step]
    async fn either(&self, _plan: Plan, got: OneOf2<TimerFired, ChildResult<Parcel>>) -> StepResult<Self> {
        Ok(Next::complete(match got {
            OneOf2::First(TimerFired) => "too late".to_owned(),
            OneOf2::Second(parcel) => told(&parcel),
        }))
    }

    #[wait_for(labelled)]
    fn a_label(
        &self,
        _ctx: &WaitContext<Self>,
        (way, time): &(Way, u64),
    ) -> WaitResult<Self, ChildResult<Parcel>> {
        let parcel = SubFlow::<Parcel>::run(way.clone()).timeout(seconds(*time));
        Ok(Wait::one(parcel.with(Parcel::LABEL, 100)))
    }

    #[step]
    async fn labelled(&self, _input: (Way, u64), parcel: ChildResult<Parcel>) -> StepResult<Self> {
        Ok(Next::complete(told(&parcel)))
    }

    #[wait_for(again)]
    fn one_more(&self, _ctx: &WaitContext<Self>, left: &u32) -> WaitResult<Self, ChildResult<Parcel>> {
        Ok(Wait::one(SubFlow::run(Way::Arrive(u64::from(*left)))))
    }

    #[step]
    async fn again(
        &self,
        ctx: &mut StepContext<Self>,
        left: u32,
        parcel: ChildResult<Parcel>,
    ) -> StepResult<Self> {
        let mut seen = ctx.get(Self::SEEN)?.unwrap_or_default();
        seen.push(parcel.id().to_string());
        ctx.set(Self::SEEN, seen)?;
        Ok(if left == 1 { Next::complete("done".into()) } else { Next::to(Self::AGAIN, left - 1) })
    }

    #[wait_for(strict)]
    fn it(&self, _ctx: &WaitContext<Self>, way: &Way) -> WaitResult<Self, ChildResult<Parcel>> {
        Ok(Wait::one(SubFlow::run(way.clone())))
    }

    #[step]
    async fn strict(&self, _way: Way, parcel: ChildResult<Parcel>) -> StepResult<Self> {
        Ok(Next::complete(parcel.into_result()?.to_string()))
    }

    #[wait_for(later)]
    fn word(&self) -> WaitResult<Self, ()> {
        Ok(Wait::one(Self::READY.one()))
    }

    #[step]
    async fn later(&self, _input: (), _word: ()) -> StepResult<Self> {
        Ok(Next::to(Self::ALL, vec![Way::Arrive(1)]))
    }
}

/// How a parcel ended, in words.
pub(crate) fn told(parcel: &ChildResult<Parcel>) -> String {
    match parcel.end() {
        ChildEnd::Completed { output, more } if more.is_empty() => format!("arrived as {output}"),
        end => end.to_string(),
    }
}

/// Adds the child's flow to an engine.
pub(crate) fn parcels(builder: TestBuilder) -> TestBuilder {
    builder.flow(Parcel)
}
