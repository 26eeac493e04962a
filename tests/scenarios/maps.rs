//! The rows of other sections that are about maps, and row 103: attributes and channels with keys.

use dex::prelude::*;
use dex::{ErrorKind, Status};

use crate::support::{ALL, IN_MEMORY, each_way, hours, seconds};

/// One branch publishes to a channel and under a key of another one, for a branch that takes both or a third.
struct Fork;

#[flow(output = u32)]
impl Fork {
    #[channel]
    const FIRST: Channel<u32>;
    #[channel]
    const KEYED: ChannelMap<String, u32>;
    #[channel]
    const SECOND: Channel<u32>;

    #[step(start)]
    async fn begin(&self, input: u32) -> StepResult<Self> {
        Ok(Next::to(Self::CONSUME, input).and(Self::PUBLISH, ()))
    }

    #[wait_for(consume)]
    fn a_pair_or_the_second(&self) -> WaitResult<Self, OneOf2<(u32, u32), u32>> {
        let pair = All((Self::FIRST.one(), Self::KEYED.at("one").one()));
        Ok(Wait::any((pair, Self::SECOND.one())))
    }

    #[step]
    async fn consume(&self, input: u32, got: OneOf2<(u32, u32), u32>) -> StepResult<Self> {
        Ok(match got {
            OneOf2::First((first, 3)) => Next::complete(input + first),
            other => Next::fail(format!("{other:?}")),
        })
    }

    #[step]
    async fn publish(&self, ctx: &mut StepContext<Self>, _input: ()) -> StepResult<Self> {
        ctx.publish(Self::KEYED.at("two"), 9)?;
        ctx.publish(Self::FIRST, 2)?;
        ctx.publish(Self::KEYED.at("one"), 3)?;
        Ok(Next::dead_end())
    }
}

/// Row 16
#[tokio::test]
async fn a_group_is_met_by_a_message_under_a_key() {
    each_way(
        IN_MEMORY,
        || Fork,
        async |t| {
            t.client().start("r", 1).await.unwrap();
            t.phase().await;
            let result = t.run().await.result().await.unwrap();
            assert_eq!(result.output().unwrap(), 3, "{:?}", t.way);
            // What has another key stays.
            assert_eq!(t.run().await.keys(Fork::KEYED).await.unwrap(), ["two"]);
        },
    )
    .await;
}

/// Needs a message, one under a key and a year, all at once.
struct Combination;

#[flow(output = u32)]
impl Combination {
    #[channel]
    const FIRST: Channel<u32>;
    #[channel]
    const KEYED: ChannelMap<String, u32>;

    #[wait_for(all)]
    fn all_three(&self) -> WaitResult<Self, (u32, u32, TimerFired)> {
        let year = Timer::after(365 * hours(24));
        Ok(Wait::all((Self::FIRST.one(), Self::KEYED.at("one").one(), year)))
    }

    #[step(start)]
    async fn all(&self, input: u32, (first, keyed, _year): (u32, u32, TimerFired)) -> StepResult<Self> {
        Ok(Next::complete(input + first + keyed))
    }
}

/// Row 24
#[tokio::test]
async fn a_combination_takes_a_message_under_a_key() {
    each_way(
        ALL,
        || Combination,
        async |t| {
            t.client().start("r", 1).await.unwrap();
            t.phase().await;
            for (key, number) in [("two", 7), ("one", 4), ("one", 5)] {
                t.run().await.publish(Combination::KEYED.at(key), number).await.unwrap();
                t.phase().await;
            }
            t.run().await.publish(Combination::FIRST, 3).await.unwrap();
            t.phase().await;
            assert_eq!(t.run().await.describe().await.unwrap().status, Status::Running);
            t.run().await.skip_timer("all-1").await.unwrap();
            t.phase().await;
            let run = t.run().await;
            assert_eq!(run.output().await.unwrap(), 8, "{:?}", t.way);
            assert_eq!(run.messages(Combination::KEYED.at("one")).await.unwrap(), [5]);
            assert_eq!(run.messages(Combination::KEYED.at("two")).await.unwrap(), [7]);
        },
    )
    .await;
}

/// Writes and deletes entries in a wait and in its step.
struct Deletes;

#[flow(output = String)]
impl Deletes {
    #[attribute]
    const ENTRIES: AttributeMap<String, String>;

    #[wait_for(only)]
    fn writes(&self, ctx: &mut WaitContext<Self>, input: &String) -> WaitResult<Self, ()> {
        ctx.set(Self::ENTRIES.at("of the wait"), input.clone())?;
        Ok(Wait::ready(()))
    }

    #[step(start)]
    async fn only(&self, ctx: &mut StepContext<Self>, _input: String, _done: ()) -> StepResult<Self> {
        ctx.delete(Self::ENTRIES.at("one"))?;
        ctx.delete(Self::ENTRIES.at("never there"))?;
        Ok(Next::complete(ctx.get(Self::ENTRIES.at("of the wait"))?.unwrap_or_default()))
    }
}

/// Row 26
#[tokio::test]
async fn an_entry_that_was_never_read_is_deleted() {
    each_way(
        IN_MEMORY,
        || Deletes,
        async |t| {
            let start = t.client().start("r", "input".into());
            let start = start.with(Deletes::ENTRIES.at("one"), "1".into());
            start.with(Deletes::ENTRIES.at("two"), "2".into()).await.unwrap();
            t.phase().await;
            let run = t.run().await;
            assert_eq!(run.output().await.unwrap(), "input");
            assert_eq!(run.get(Deletes::ENTRIES.at("one")).await.unwrap(), None);
            assert_eq!(run.keys(Deletes::ENTRIES).await.unwrap(), ["of the wait", "two"], "{:?}", t.way);
        },
    )
    .await;
}

/// Has no steps: its entries are written and read from outside.
struct Shelf;

#[flow(endless)]
impl Shelf {
    #[attribute]
    const TEXTS: AttributeMap<String, String>;
    #[attribute]
    const NUMBERS: AttributeMap<u32, u32>;
    #[channel]
    const NOTES: ChannelMap<String, u32>;
    #[channel]
    const GO: Channel<()>;

    #[rpc]
    async fn write(&self, ctx: &mut RpcContext<Self>, (key, text): (String, String)) -> RpcResult<()> {
        ctx.set(Self::TEXTS.at(&key), text)
    }

    #[rpc(lock(NUMBERS))]
    async fn sum_up(&self, ctx: &mut RpcContext<Self>, by: u32) -> RpcResult<usize> {
        let entries = ctx.entries(Self::NUMBERS)?;
        // Others get their turn between the look and the commit.
        tokio::task::yield_now().await;
        let next = entries.last().map_or(0, |(key, _)| key + 1);
        ctx.set(Self::NUMBERS.at(&next), by)?;
        ctx.publish(Self::GO, ())?;
        Ok(entries.len())
    }

    /// What it sees of what it has itself put on the shelf, step by step.
    #[rpc]
    async fn look(&self, ctx: &mut RpcContext<Self>) -> RpcResult<Vec<(Vec<u32>, Vec<String>, usize)>> {
        let mut seen = Vec::new();
        let note = |ctx: &RpcContext<Self>, seen: &mut Vec<_>| -> RpcResult<()> {
            seen.push((ctx.keys(Self::NUMBERS)?, ctx.keys(Self::NOTES)?, ctx.size(Self::NOTES.at("a"))?));
            Ok(())
        };
        note(ctx, &mut seen)?;
        ctx.set(Self::NUMBERS.at(&3), 3)?;
        ctx.publish(Self::NOTES.at("a"), 1)?;
        note(ctx, &mut seen)?;
        ctx.delete(Self::NUMBERS.at(&10))?;
        ctx.publish(Self::NOTES.at("a"), 2)?;
        ctx.publish(Self::NOTES.at("b"), 3)?;
        note(ctx, &mut seen)?;
        ctx.delete(Self::NUMBERS.at(&3))?;
        note(ctx, &mut seen)?;
        Ok(seen)
    }
}

/// A key with characters that addresses and paths would have to escape.
const SPECIAL: &str = "special % key / with a slash";

/// Row 28
#[tokio::test]
async fn an_entry_under_any_key_is_waited_for() {
    each_way(
        IN_MEMORY,
        || Shelf,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            t.phase().await;
            let run = t.run().await;
            let is = |text: &'static str| move |seen: Option<&String>| seen.is_some_and(|seen| seen == text);
            for key in ["one", SPECIAL] {
                let entry = Shelf::TEXTS.at(key);
                let never = tokio::spawn(run.wait_until(&entry, is("never")).timeout(seconds(1)));
                t.advance(seconds(1)).await;
                assert_eq!(never.await.unwrap().unwrap_err().kind(), ErrorKind::Timeout);
                let awaited = tokio::spawn(run.wait_until(&entry, is("mapped-value")));
                // Neither another entry nor another text ends the wait.
                run.set(Shelf::TEXTS.at("other"), "mapped-value".into()).await.unwrap();
                run.write((key.into(), "not yet".into())).await.unwrap();
                t.settle().await;
                assert!(!awaited.is_finished());
                run.write((key.into(), "mapped-value".into())).await.unwrap();
                assert_eq!(awaited.await.unwrap().unwrap().as_deref(), Some("mapped-value"));
            }
        },
    )
    .await;
}

/// Row 31
#[tokio::test]
async fn entries_are_read_under_any_key() {
    each_way(
        ALL,
        || Shelf,
        async |t| {
            let start = t.client().start("r", ()).with(Shelf::NUMBERS.at(&1), 0);
            start.with(Shelf::TEXTS.at(SPECIAL), String::new()).await.unwrap();
            t.phase().await;
            let run = t.run().await;
            assert_eq!(run.get(Shelf::NUMBERS.at(&1)).await.unwrap(), Some(0));
            assert_eq!(run.get(Shelf::NUMBERS.at(&2)).await.unwrap(), None);
            assert_eq!(run.get(Shelf::TEXTS.at(SPECIAL)).await.unwrap().as_deref(), Some(""));
            let error = run.get(Shelf::TEXTS.at(" ")).await.unwrap_err();
            assert!(error.to_string().contains("`TEXTS`") && error.to_string().contains("empty"), "{error}");
            run.cancel().await.unwrap();
            t.phase().await;
            let run = t.run().await;
            assert_eq!(run.entries(Shelf::TEXTS).await.unwrap(), [(SPECIAL.to_owned(), String::new())]);
            assert_eq!(run.entries(Shelf::NUMBERS).await.unwrap(), [(1, 0)], "{:?}", t.way);
        },
    )
    .await;
}

/// Two steps with waits, each of which reads what the method before it wrote.
struct Chain;

#[flow(output = String)]
impl Chain {
    #[attribute]
    const NUMBERS: AttributeMap<String, u32>;

    #[wait_for(first)]
    fn checks_the_start(&self, ctx: &mut WaitContext<Self>) -> WaitResult<Self, ()> {
        expect(&ctx.entries(Self::NUMBERS)?, &[("given", 1)])?;
        ctx.set(Self::NUMBERS.at("one"), 11)?;
        Ok(Wait::ready(()))
    }

    #[step(start)]
    async fn first(&self, ctx: &mut StepContext<Self>, _input: (), _done: ()) -> StepResult<Self> {
        expect(&ctx.entries(Self::NUMBERS)?, &[("given", 1), ("one", 11)])?;
        ctx.set(Self::NUMBERS.at("two"), 22)?;
        ctx.delete(Self::NUMBERS.at("given"))?;
        Ok(Next::to(Self::SECOND, ()))
    }

    #[wait_for(second)]
    fn checks_the_first(&self, ctx: &mut WaitContext<Self>) -> WaitResult<Self, ()> {
        expect(&ctx.entries(Self::NUMBERS)?, &[("one", 11), ("two", 22)])?;
        ctx.set(Self::NUMBERS.at("one"), 12)?;
        Ok(Wait::ready(()))
    }

    #[step]
    async fn second(&self, ctx: &mut StepContext<Self>, _input: (), _done: ()) -> StepResult<Self> {
        expect(&ctx.entries(Self::NUMBERS)?, &[("one", 12), ("two", 22)])?;
        Ok(Next::complete("done".into()))
    }
}

fn expect(seen: &[(String, u32)], expected: &[(&str, u32)]) -> Result<(), StepError> {
    let is_so = seen.iter().map(|(key, number)| (key.as_str(), *number)).eq(expected.iter().copied());
    if is_so { Ok(()) } else { Err(StepError::fatal(format!("{seen:?} is not {expected:?}"))) }
}

/// Row 35
#[tokio::test]
async fn each_method_reads_the_entries_of_the_one_before_it() {
    each_way(
        ALL,
        || Chain,
        async |t| {
            t.client().start("r", ()).with(Chain::NUMBERS.at("given"), 1).await.unwrap();
            t.phase().await;
            assert_eq!(t.run().await.output().await.unwrap(), "done", "{:?}", t.way);
        },
    )
    .await;
}

/// Row 80
// A lock of a map is one lock for all its entries.
#[tokio::test]
async fn a_call_locks_a_whole_map() {
    each_way(
        IN_MEMORY,
        || Shelf,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            t.phase().await;
            let run = t.run().await;
            let (a, b, c) = tokio::join!(run.sum_up(1), run.sum_up(1), run.sum_up(1));
            let mut seen = [a.unwrap(), b.unwrap(), c.unwrap()];
            seen.sort_unstable();
            assert_eq!(seen, [0, 1, 2], "{:?}", t.way);
            t.phase().await;
            let run = t.run().await;
            assert_eq!(run.entries(Shelf::NUMBERS).await.unwrap(), [(0, 1), (1, 1), (2, 1)]);
            assert_eq!(run.messages(Shelf::GO).await.unwrap().len(), 3);
        },
    )
    .await;
}

/// Row 103
#[tokio::test]
async fn keys_and_sizes_follow_what_was_staged() {
    each_way(
        IN_MEMORY,
        || Shelf,
        async |t| {
            let start = t.client().start("r", ()).with(Shelf::NUMBERS.at(&10), 1);
            start.with(Shelf::NUMBERS.at(&9), 1).await.unwrap();
            t.phase().await;
            let notes = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>();
            let expected = [
                (vec![9, 10], notes(&[]), 0),
                (vec![3, 9, 10], notes(&["a"]), 1),
                (vec![3, 9], notes(&["a", "b"]), 2),
                (vec![9], notes(&["a", "b"]), 2),
            ];
            assert_eq!(t.run().await.look().await.unwrap(), expected);
            t.phase().await;
            let run = t.run().await;
            assert_eq!(run.keys(Shelf::NUMBERS).await.unwrap(), [9]);
            assert_eq!(run.keys(Shelf::NOTES).await.unwrap(), ["a", "b"]);
        },
    )
    .await;
}
