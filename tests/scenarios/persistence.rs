//! Rows 26 to 35: attributes, what is read of them from outside, and waiting for their values.

use std::time::{Duration, SystemTime};

use dex::prelude::*;
use dex::{ErrorKind, Status};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::support::{ALL, IN_MEMORY, each_way, hours, seconds};

#[derive(Clone, Debug, PartialEq, Keyword, Serialize, Deserialize)]
enum Colour {
    Red,
    Green,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Note {
    text: String,
    lines: Vec<u32>,
}

fn note(text: &str) -> Note {
    Note { text: text.into(), lines: vec![1, 2] }
}

fn a_day() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)
}

/// Writes attributes of several kinds in a wait and in its step.
struct Writes;

#[flow(output = String)]
impl Writes {
    #[attribute]
    const GIVEN: Attribute<String>;
    #[attribute]
    const FROM_WAIT: Attribute<String>;
    #[attribute(index)]
    const COLOUR: Attribute<Colour>;
    #[attribute(index)]
    const NUMBER: Attribute<i64>;
    #[attribute(index)]
    const DAY: Attribute<SystemTime>;
    #[attribute]
    const NOTE: Attribute<Note>;

    #[wait_for(only)]
    fn writes(&self, ctx: &mut WaitContext<Self>, input: &String) -> WaitResult<Self, String> {
        ctx.set(Self::FROM_WAIT, input.clone())?;
        Ok(Wait::ready(input.clone()))
    }

    #[step(start)]
    async fn only(&self, ctx: &mut StepContext<Self>, input: String, local: String) -> StepResult<Self> {
        if local != input || ctx.get(Self::GIVEN)?.as_deref() != Some("given") {
            return Ok(Next::fail("what was set before is not there"));
        }
        ctx.set(Self::COLOUR, Colour::Green)?;
        ctx.set(Self::NUMBER, 7)?;
        ctx.set(Self::DAY, a_day())?;
        ctx.set(Self::NOTE, note("written"))?;
        ctx.delete(Self::GIVEN)?;
        Ok(Next::complete(ctx.get(Self::FROM_WAIT)?.unwrap_or_default()))
    }
}

/// Row 26
#[tokio::test]
async fn what_the_start_and_the_wait_wrote_is_there_for_the_step() {
    each_way(
        IN_MEMORY,
        || Writes,
        async |t| {
            t.client().start("r", "input".into()).with(Writes::GIVEN, "given".into()).await.unwrap();
            t.phase().await;
            let run = t.run().await;
            assert_eq!(run.output().await.unwrap(), "input");
            assert_eq!(run.get(Writes::GIVEN).await.unwrap(), None);
            assert_eq!(run.get(Writes::COLOUR).await.unwrap(), Some(Colour::Green));
            assert_eq!(run.get(Writes::NUMBER).await.unwrap(), Some(7));
            assert_eq!(run.get(Writes::DAY).await.unwrap(), Some(a_day()));
            assert_eq!(run.get(Writes::NOTE).await.unwrap(), Some(note("written")));
        },
    )
    .await;
}

/// Attributes of every kind, written from outside.
struct Kinds;

#[flow(output = String)]
impl Kinds {
    #[attribute(index)]
    const COLOUR: Attribute<Colour>;
    #[attribute(index)]
    const TEXT: Attribute<String>;
    #[attribute(index)]
    const SHARE: Attribute<f64>;
    #[attribute(index)]
    const NUMBER: Attribute<i64>;
    #[attribute(index)]
    const DONE: Attribute<bool>;
    #[attribute(index)]
    const TAGS: Attribute<Vec<String>>;
    #[attribute(index)]
    const DAY: Attribute<SystemTime>;
    #[attribute]
    const NOTE: Attribute<Note>;
    #[attribute]
    const BYTES: Attribute<Vec<u8>>;
    #[attribute]
    const NOTHING: Attribute<()>;
    #[channel]
    const PROCEED: Channel<()>;

    #[wait_for(end)]
    fn told_to(&self) -> WaitResult<Self, ()> {
        Ok(Wait::one(Self::PROCEED.one()))
    }

    #[step(start)]
    async fn end(&self, _input: (), _proceed: ()) -> StepResult<Self> {
        Ok(Next::complete("test-result".into()))
    }

    #[rpc]
    async fn set_all(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        ctx.set(Self::COLOUR, Colour::Red)?;
        ctx.set(Self::TEXT, "a text".into())?;
        ctx.set(Self::SHARE, 0.5)?;
        ctx.set(Self::NUMBER, -3)?;
        ctx.set(Self::DONE, false)?;
        ctx.set(Self::TAGS, vec!["a".into(), String::new()])?;
        ctx.set(Self::DAY, a_day())
    }

    #[rpc]
    async fn set_text(&self, ctx: &mut RpcContext<Self>, text: String) -> RpcResult<()> {
        ctx.set(Self::TEXT, text)
    }

    #[rpc]
    async fn complete(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        ctx.publish(Self::PROCEED, ())
    }
}

/// Row 27
#[tokio::test]
async fn attributes_of_every_kind_that_can_be_indexed_are_set_by_a_call() {
    each_way(
        IN_MEMORY,
        || Kinds,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            t.phase().await;
            t.run().await.set_all().await.unwrap();
            t.phase().await;
            t.run().await.complete().await.unwrap();
            let run = t.run().await;
            assert_eq!(run.output().await.unwrap(), "test-result");
            assert_eq!(run.get(Kinds::COLOUR).await.unwrap(), Some(Colour::Red));
            assert_eq!(run.get(Kinds::TEXT).await.unwrap().as_deref(), Some("a text"));
            assert_eq!(run.get(Kinds::SHARE).await.unwrap(), Some(0.5));
            assert_eq!(run.get(Kinds::NUMBER).await.unwrap(), Some(-3));
            assert_eq!(run.get(Kinds::DONE).await.unwrap(), Some(false));
            assert_eq!(run.get(Kinds::TAGS).await.unwrap(), Some(vec!["a".into(), String::new()]));
            assert_eq!(run.get(Kinds::DAY).await.unwrap(), Some(a_day()));
        },
    )
    .await;
}

/// Row 28
// A wait is for whatever a closure says: there is no type whose values cannot be waited for.
#[tokio::test]
async fn values_of_any_kind_are_waited_for() {
    each_way(
        IN_MEMORY,
        || Kinds,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            t.phase().await;
            let run = t.run().await;
            let is = |text: &'static str| move |seen: Option<&String>| seen.is_some_and(|seen| seen == text);
            let never = tokio::spawn(run.wait_until(Kinds::TEXT, is("never")).timeout(seconds(1)));
            t.advance(seconds(1)).await;
            assert_eq!(never.await.unwrap().unwrap_err().kind(), ErrorKind::Timeout);

            let awaited = tokio::spawn(run.wait_until(Kinds::TEXT, is("query-start")));
            t.run().await.set_text("query-start".into()).await.unwrap();
            assert_eq!(awaited.await.unwrap().unwrap().as_deref(), Some("query-start"));

            run.set(Kinds::NUMBER, 3).await.unwrap();
            let positive = |number: Option<&i64>| number.is_some_and(|number| *number > 0);
            assert_eq!(run.wait_until(Kinds::NUMBER, positive).await.unwrap(), Some(3));
            run.set(Kinds::NOTE, note("here")).await.unwrap();
            let here = |note: Option<&Note>| note.is_some_and(|note| note.text == "here");
            assert_eq!(run.wait_until(Kinds::NOTE, here).await.unwrap(), Some(note("here")));
            run.set(Kinds::BYTES, vec![0, 255]).await.unwrap();
            let two = |bytes: Option<&Vec<u8>>| bytes.is_some_and(|bytes| bytes.len() == 2);
            assert_eq!(run.wait_until(Kinds::BYTES, two).await.unwrap(), Some(vec![0, 255]));
            run.set(Kinds::NOTHING, ()).await.unwrap();
            assert_eq!(run.wait_until(Kinds::NOTHING, |nothing| nothing.is_some()).await.unwrap(), Some(()));

            run.complete().await.unwrap();
            assert_eq!(run.output().await.unwrap(), "test-result");
        },
    )
    .await;
}

/// Has no steps: it is only written and read.
struct Shelf;

#[flow(endless)]
impl Shelf {
    #[attribute]
    const LABEL: Attribute<String>;
    #[attribute]
    const EMPTY: Attribute<String>;
    #[attribute]
    const COUNT: Attribute<u32>;
    #[attribute]
    const ZERO: Attribute<u32>;
    #[attribute]
    const UNSET: Attribute<u32>;
    #[attribute]
    const NOTE: Attribute<Note>;
    #[attribute]
    const LARGE: Attribute<String>;

    #[rpc]
    async fn rotate(&self, ctx: &mut RpcContext<Self>, label: String) -> RpcResult<Option<String>> {
        let before = ctx.get(Self::LABEL)?;
        ctx.set(Self::LABEL, label)?;
        Ok(before)
    }

    #[rpc]
    async fn delete_label(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        ctx.delete(Self::LABEL)?;
        Ok(())
    }

    /// All of one moment.
    #[rpc]
    async fn read(&self, ctx: &RpcContext<Self>) -> RpcResult<(Option<String>, Option<u32>, Option<u32>)> {
        Ok((ctx.get(Self::LABEL)?, ctx.get(Self::COUNT)?, ctx.get(Self::UNSET)?))
    }
}

/// Row 31
// Values of one moment are read by a query; a large one is a value like any other.
#[tokio::test]
async fn values_are_read_as_they_were_written_also_after_the_end() {
    let large = "x".repeat(200_000);
    each_way(
        ALL,
        || Shelf,
        async |t| {
            let start = t
                .client()
                .start("r", ())
                .with(Shelf::LABEL, "ready".into())
                .with(Shelf::EMPTY, String::new());
            let start = start.with(Shelf::COUNT, 7).with(Shelf::ZERO, 0).with(Shelf::NOTE, note("a note"));
            start.with(Shelf::LARGE, large.clone()).await.unwrap();
            t.phase().await;
            let run = t.run().await;
            assert_eq!(run.read().await.unwrap(), (Some("ready".into()), Some(7), None));
            assert_eq!(run.get(Shelf::EMPTY).await.unwrap().as_deref(), Some(""));
            assert_eq!(run.get(Shelf::ZERO).await.unwrap(), Some(0));
            assert_eq!(run.get(Shelf::UNSET).await.unwrap(), None);
            assert_eq!(run.get(Shelf::NOTE).await.unwrap(), Some(note("a note")));
            assert_eq!(run.rotate("rotated".into()).await.unwrap().as_deref(), Some("ready"));
            t.phase().await;
            let run = t.run().await;
            assert_eq!(run.get(Shelf::LABEL).await.unwrap().as_deref(), Some("rotated"));
            run.cancel().await.unwrap();
            assert_eq!(run.result().await.unwrap().status(), Status::Canceled);
            t.phase().await;
            let run = t.run().await;
            assert_eq!(run.read().await.unwrap(), (Some("rotated".into()), Some(7), None));
            assert_eq!(run.get(Shelf::LARGE).await.unwrap().as_ref(), Some(&large));
            assert!(t.client().run("nobody").await.unwrap_err().is_not_found());
        },
    )
    .await;
}

/// Row 33
#[tokio::test]
async fn an_attribute_that_was_deleted_is_not_set() {
    each_way(
        IN_MEMORY,
        || Shelf,
        async |t| {
            let start = t.client().start("r", ()).with(Shelf::LABEL, "ready".into());
            let run = start.with(Shelf::COUNT, 7).await.unwrap();
            assert_eq!(run.get(Shelf::LABEL).await.unwrap().as_deref(), Some("ready"));
            run.delete_label().await.unwrap();
            t.phase().await;
            assert_eq!(t.run().await.get(Shelf::LABEL).await.unwrap(), None);
            assert_eq!(t.run().await.read().await.unwrap(), (None, Some(7), None));
        },
    )
    .await;
}

/// [`Shelf`] in a later build, in which two types have changed.
struct Renumbered;

#[flow(endless, name = "Shelf")]
impl Renumbered {
    #[attribute]
    const LABEL: Attribute<u32>;
    #[attribute]
    const COUNT: Attribute<u32>;
}

/// Row 32
// Handles of another flow do not compile; what is left is a build that has changed its mind.
#[tokio::test]
async fn a_stored_value_that_does_not_fit_is_told_with_its_attribute_and_run() {
    let folder = TempDir::new().unwrap();
    let t = dex::testing::engine_in(folder.path()).flow(Shelf).start().await.unwrap();
    let start = t.client::<Shelf>().start("r", ()).with(Shelf::LABEL, "ready".into());
    start.with(Shelf::COUNT, 7).await.unwrap();
    t.shutdown(seconds(1)).await.unwrap();
    let t = dex::testing::engine_in(folder.path()).flow(Renumbered).start().await.unwrap();
    let run = t.client::<Renumbered>().run("r").await.unwrap();
    let read = run.get(Renumbered::LABEL).await.unwrap_err();
    let awaited = run.wait_until(Renumbered::LABEL, |label| label.is_some()).await.unwrap_err();
    let updated = run.update(Renumbered::LABEL, Option::unwrap_or_default).await.unwrap_err();
    for error in [read, awaited, updated] {
        assert_eq!(error.kind(), ErrorKind::InvalidValue);
        let text = error.to_string();
        assert!(text.contains("attribute `LABEL` of run `r` does not fit type `u32`"), "{text}");
    }
    assert_eq!(run.get(Renumbered::COUNT).await.unwrap(), Some(7));
}

/// Reads in each method what the one before it wrote.
struct RoundTrip;

#[flow(output = String)]
impl RoundTrip {
    #[attribute]
    const DATA: Attribute<Note>;
    #[attribute(index)]
    const COLOUR: Attribute<Colour>;
    #[attribute(index)]
    const TEXT: Attribute<String>;
    #[attribute(index)]
    const DONE: Attribute<bool>;
    #[attribute(index)]
    const DAY: Attribute<SystemTime>;
    #[attribute(index)]
    const NUMBER: Attribute<i64>;
    #[attribute(index)]
    const SHARE: Attribute<f64>;

    #[wait_for(first)]
    fn checks_the_start(&self, ctx: &mut WaitContext<Self>, input: &Note) -> WaitResult<Self, ()> {
        let told = (ctx.get(Self::COLOUR)?, ctx.get(Self::TEXT)?, ctx.get(Self::DONE)?, ctx.get(Self::DAY)?);
        let given = (Some(Colour::Red), Some("start".to_owned()), Some(false), Some(SystemTime::UNIX_EPOCH));
        if told != given || (ctx.get(Self::NUMBER)?, ctx.get(Self::SHARE)?) != (Some(0), Some(0.0)) {
            return Err(StepError::fatal(format!("{told:?}")));
        }
        ctx.set(Self::DATA, input.clone())?;
        ctx.set(Self::TEXT, "from the wait".into())?;
        ctx.set(Self::NUMBER, 1)?;
        Ok(Wait::ready(()))
    }

    #[step(start)]
    async fn first(&self, ctx: &mut StepContext<Self>, input: Note, _outcome: ()) -> StepResult<Self> {
        if (ctx.get(Self::NUMBER)?, ctx.get(Self::DATA)?) != (Some(1), Some(input)) {
            return Ok(Next::fail("the step does not see what its wait wrote"));
        }
        ctx.set(Self::DAY, a_day())?;
        ctx.set(Self::DONE, true)?;
        Ok(Next::to(Self::SECOND, ()))
    }

    #[wait_for(second)]
    fn checks_the_first(&self, ctx: &mut WaitContext<Self>) -> WaitResult<Self, ()> {
        if (ctx.get(Self::DAY)?, ctx.get(Self::DONE)?) != (Some(a_day()), Some(true)) {
            return Err(StepError::fatal("the wait does not see what the step before wrote"));
        }
        ctx.set(Self::SHARE, 1.5)?;
        ctx.set(Self::TEXT, "from the second wait".into())?;
        Ok(Wait::ready(()))
    }

    #[step]
    async fn second(&self, ctx: &mut StepContext<Self>, _input: (), _outcome: ()) -> StepResult<Self> {
        if ctx.get(Self::TEXT)?.as_deref() != Some("from the second wait") {
            return Ok(Next::fail("the step does not see what its wait wrote"));
        }
        ctx.set(Self::COLOUR, Colour::Green)?;
        Ok(Next::complete("done".into()))
    }
}

/// Row 35
#[tokio::test]
async fn each_method_reads_what_the_one_before_it_wrote() {
    each_way(
        ALL,
        || RoundTrip,
        async |t| {
            let start = t.client().start("r", note("input")).with(RoundTrip::COLOUR, Colour::Red);
            let start = start.with(RoundTrip::TEXT, "start".into()).with(RoundTrip::DONE, false);
            let start = start.with(RoundTrip::DAY, SystemTime::UNIX_EPOCH).with(RoundTrip::NUMBER, 0);
            start.with(RoundTrip::SHARE, 0.0).await.unwrap();
            t.phase().await;
            t.advance(hours(1)).await;
            let run = t.run().await;
            assert_eq!(run.output().await.unwrap(), "done", "{:?}", t.way);
            assert_eq!(run.get(RoundTrip::COLOUR).await.unwrap(), Some(Colour::Green));
            assert_eq!(run.get(RoundTrip::SHARE).await.unwrap(), Some(1.5));
            assert_eq!(run.get(RoundTrip::DATA).await.unwrap(), Some(note("input")));
        },
    )
    .await;
}
