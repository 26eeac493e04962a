//! Stored values that do not fit the types of a later build: the step is parked with the reason, callers are told, and
//! nothing is tried again. The reasons say where and which type, and leave the value out.
#![cfg(test)]

mod support;

use std::time::Duration;

use dex::inspect::StepPhase;
use dex::prelude::*;
use dex::testing::{self, TestEngine};
use dex::{ErrorKind, FailureKind, Timestamp};
use support::hours;
use tempfile::TempDir;

const SECRET: &str = "secret";

/// The first build: everything is a text.
mod first {
    use super::*;

    pub(super) struct Typed;

    #[flow(output = String, name = "Typed")]
    impl Typed {
        #[attribute]
        const VALUE: Attribute<String>;
        #[attribute]
        const BY_KEY: AttributeMap<String, String>;
        #[channel]
        const GO: Channel<String>;
        #[channel]
        pub(super) const SIDE: Channel<String>;
        #[stream]
        const ITEMS: Stream<String>;

        #[step(start)]
        async fn begin(&self, ctx: &mut StepContext<Self>, place: String) -> StepResult<Self> {
            ctx.set(Self::VALUE, SECRET.into())?;
            ctx.set(Self::BY_KEY.at("key"), SECRET.into())?;
            ctx.publish(Self::SIDE, SECRET.into())?;
            ctx.append(Self::ITEMS, SECRET.into())?;
            if place == "output" {
                return Ok(Next::complete(SECRET.into()));
            }
            ctx.publish(Self::GO, SECRET.into())?;
            Ok(Next::to(Self::HOLD, place))
        }

        /// Ends in no attempt of this build, and leaves a checkpoint.
        #[step(timeout = "1h")]
        async fn hold(&self, ctx: &mut StepContext<Self>, _place: String) -> StepResult<Self> {
            ctx.checkpoint(&SECRET.to_owned())?;
            std::future::pending().await
        }
    }
}

/// The second: everything is a number, but for what says what to read.
mod second {
    use super::*;

    pub(super) struct Typed;

    #[flow(output = u64, name = "Typed")]
    impl Typed {
        #[attribute]
        pub(super) const VALUE: Attribute<u64>;
        #[attribute]
        pub(super) const BY_KEY: AttributeMap<u64, u64>;
        #[channel]
        const GO: Channel<u64>;
        #[channel]
        pub(super) const SIDE: Channel<u64>;
        #[stream]
        pub(super) const ITEMS: Stream<u64>;

        #[step(start)]
        async fn begin(&self, _place: String) -> StepResult<Self> {
            Ok(Next::dead_end())
        }

        #[step(entry)]
        async fn hold(&self, ctx: &mut StepContext<Self>, place: String) -> StepResult<Self> {
            match place.as_str() {
                "attribute" => drop(ctx.get(Self::VALUE)?),
                "keys" => drop(ctx.keys(Self::BY_KEY)?),
                "entries" => drop(ctx.entries(Self::BY_KEY)?),
                "messages" => drop(ctx.messages(Self::SIDE)?),
                "checkpoint" => drop(ctx.last_checkpoint::<u64>()?),
                "outcome" => return Ok(Next::to(Self::TAKE, ())),
                "wait" => return Ok(Next::to(Self::LOOK, ())),
                other => panic!("{other}"),
            }
            Ok(Next::complete(0))
        }

        #[wait_for(take)]
        fn go(&self) -> WaitResult<Self, u64> {
            Ok(Wait::one(Self::GO.one()))
        }

        #[step]
        async fn take(&self, _input: (), _got: u64) -> StepResult<Self> {
            Ok(Next::complete(0))
        }

        #[wait_for(look)]
        fn reads(&self, ctx: &WaitContext<Self>) -> WaitResult<Self, u64> {
            ctx.get(Self::VALUE)?;
            Ok(Wait::one(Self::GO.one()))
        }

        #[step]
        async fn look(&self, _input: (), _got: u64) -> StepResult<Self> {
            Ok(Next::complete(0))
        }

        #[rpc]
        pub(super) async fn value(&self, ctx: &RpcContext<Self>) -> RpcResult<Option<u64>> {
            ctx.get(Self::VALUE)
        }
    }
}

async fn build<F: Flow>(folder: &TempDir, now: Option<Timestamp>, flow: F) -> TestEngine {
    let builder = testing::engine_in(folder.path()).flow(flow);
    let builder = now.into_iter().fold(builder, testing::TestBuilder::now);
    builder.start().await.unwrap()
}

/// A run that the first build has begun, in the second.
async fn later(folder: &TempDir, place: &str) -> (TestEngine, dex::Run<second::Typed>) {
    let t = build(folder, None, first::Typed).await;
    t.client::<first::Typed>().start("r", place.into()).await.unwrap();
    t.settle().await;
    let now = t.now();
    t.shutdown(Duration::ZERO).await.unwrap();
    let t = build(folder, Some(now), second::Typed).await;
    t.advance(hours(2)).await;
    let run = t.client::<second::Typed>().run("r").await.unwrap();
    (t, run)
}

#[track_caller]
fn tells(text: &str, what: &str) {
    assert!(text.contains(what) && text.contains("u64"), "no `{what}`: {text}");
    assert!(!text.contains(SECRET), "the value is told: {text}");
}

#[tokio::test]
async fn what_a_handler_reads_and_cannot_parks_its_step_at_the_first_attempt() {
    let rows = [
        ("attribute", "attribute `VALUE`", "hold-1"),
        ("keys", "`BY_KEY`", "hold-1"),
        ("entries", "`BY_KEY`", "hold-1"),
        ("messages", "channel `SIDE`", "hold-1"),
        ("checkpoint", "the stored checkpoint", "hold-1"),
        ("outcome", "the outcome of the wait", "take-1"),
        ("wait", "attribute `VALUE`", "look-1"),
    ];
    for (place, what, step) in rows {
        let folder = TempDir::new().unwrap();
        let (_t, run) = later(&folder, place).await;
        let info = run.describe().await.unwrap();
        let parked = &info.steps[0];
        assert_eq!((parked.id.as_str(), parked.phase), (step, StepPhase::Parked), "{place}: {info:?}");
        let failure = parked.last_failure.as_ref().unwrap();
        assert_eq!((failure.kind, parked.failures), (FailureKind::Unworkable, 1), "{place}");
        tells(&failure.message, what);
        tells(&info.explain(), what);
    }
}

#[tokio::test]
async fn callers_are_told_which_stored_value_does_not_fit_and_not_what_it_is() {
    let folder = TempDir::new().unwrap();
    let (_t, run) = later(&folder, "attribute").await;
    let before = run.describe().await.unwrap();
    let errors = [
        (
            run.get(second::Typed::VALUE).await.map(drop),
            "attribute `VALUE` of run `r`",
            ErrorKind::InvalidValue,
        ),
        (
            run.update(second::Typed::VALUE, |_| 1).await.map(drop),
            "attribute `VALUE`",
            ErrorKind::InvalidValue,
        ),
        (
            run.wait_until(second::Typed::VALUE, |_| true).await.map(drop),
            "attribute `VALUE`",
            ErrorKind::InvalidValue,
        ),
        (run.messages(second::Typed::SIDE).await.map(drop), "channel `SIDE`", ErrorKind::InvalidValue),
        (
            run.numbered_messages(second::Typed::SIDE).await.map(drop),
            "channel `SIDE`",
            ErrorKind::InvalidValue,
        ),
        (run.keys(second::Typed::BY_KEY).await.map(drop), "`BY_KEY`", ErrorKind::InvalidValue),
        (run.entries(second::Typed::BY_KEY).await.map(drop), "`BY_KEY`", ErrorKind::InvalidValue),
        (
            run.read(second::Typed::ITEMS).next().await.map(drop),
            "item 1 of stream `ITEMS` of run `r`",
            ErrorKind::InvalidValue,
        ),
        (
            run.newest(second::Typed::ITEMS, None, 1).await.map(drop),
            "item 1 of stream `ITEMS` of run `r`",
            ErrorKind::InvalidValue,
        ),
        (run.value().await.map(drop), "attribute `VALUE`", ErrorKind::RpcFailed),
    ];
    for (result, what, kind) in errors {
        let error = result.err().unwrap_or_else(|| panic!("{what} was read"));
        assert_eq!(error.kind(), kind, "{error:?}");
        tells(&error.to_string(), what);
    }
    assert_eq!(run.describe().await.unwrap(), before, "nothing was changed");

    let folder = TempDir::new().unwrap();
    let (_t, run) = later(&folder, "output").await;
    let error = run.output().await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidValue);
    tells(&error.to_string(), "the output of begin-1 of run `r`");
    let result = run.result().await.unwrap();
    assert_eq!(result.status(), dex::Status::Completed);
    tells(&result.outputs().err().unwrap().to_string(), "the output of begin-1 of run `r`");
}
