//! Streams: what steps and callers append, and what readers see of it.
#![cfg(test)]

#[path = "../support/mod.rs"]
mod support;

mod back_pressure;
mod faults;
mod readers;
mod text;
mod tools;
mod unit_tests;

use dex::prelude::*;
use dex::{ErrorKind, FailureKind, Status, StreamError, StreamItem, StreamSource};
use support::{ALL, Counter, IN_MEMORY, each_way, engine, seconds};

/// Appends numbers and fails on purpose now and then.
#[derive(Default)]
struct Numbers {
    attempts: Counter,
}

#[flow(output = u32)]
impl Numbers {
    #[stream]
    const NUMBERS: Stream<u32>;

    /// Room for a dozen short items.
    #[stream(capacity = "1 KiB")]
    const SMALL: Stream<String>;

    #[channel]
    const GO: Channel<u32>;

    #[step(start)]
    async fn first(&self, ctx: &mut StepContext<Self>, count: u32) -> StepResult<Self> {
        for number in 0..count {
            ctx.append(Self::NUMBERS, number)?;
        }
        Ok(Next::to(Self::SECOND, count))
    }

    #[wait_for(second)]
    fn go(&self, _count: &u32) -> WaitResult<Self, u32> {
        Ok(Wait::one(Self::GO.one()))
    }

    /// Fails in its first attempt, after it has appended.
    #[step(retry(initial = "1s"))]
    async fn second(&self, ctx: &mut StepContext<Self>, count: u32, more: u32) -> StepResult<Self> {
        ctx.append(Self::NUMBERS, count + more)?;
        if ctx.attempt() == 1 {
            return Err(StepError::new("on purpose"));
        }
        self.attempts.add();
        Ok(Next::complete(more))
    }

    #[step(entry, retry(attempts = 3))]
    async fn too_large(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        let large = "x".repeat(1024);
        let refused = ctx.append(Self::SMALL, large.clone());
        assert!(matches!(refused, Err(StreamError::TooLarge { bytes: 1026, .. })), "{refused:?}");
        ctx.append(Self::SMALL, large)?;
        Ok(Next::dead_end())
    }

    #[rpc]
    async fn append_too_much(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        ctx.start_step(Self::TOO_LARGE, ())
    }
}

/// Reads until the run has ended.
async fn read_all<T: dex::Value>(mut reader: dex::StreamReader<T>) -> Vec<StreamItem<T>> {
    let mut items = Vec::new();
    while let Some(item) = reader.next().await.unwrap() {
        items.push(item);
    }
    items
}

fn values<T: Clone>(items: &[StreamItem<T>]) -> Vec<T> {
    items.iter().map(|item| item.value.clone()).collect()
}

fn offsets<T>(items: &[StreamItem<T>]) -> Vec<u64> {
    items.iter().map(|item| item.offset).collect()
}

#[tokio::test]
async fn items_of_steps_and_callers_stay_in_order_and_say_where_they_are_from() {
    each_way(ALL, Numbers::default, async |t| {
        let run = t.client().start("r", 2).await.unwrap();
        let started = t.now();
        t.phase().await;
        let run_again = t.run().await;
        assert_eq!(run_again.append(Numbers::NUMBERS, 7).await.unwrap(), 3);
        t.advance(seconds(1)).await;
        run_again.publish(Numbers::GO, 40).await.unwrap();
        t.phase().await;
        t.advance(seconds(5)).await;
        let run = if t.way == support::Way::Closed { t.run().await } else { run };
        assert_eq!(run.output().await.unwrap(), 40);
        t.phase().await;

        let run = t.run().await;
        let items = read_all(run.read(Numbers::NUMBERS)).await;
        assert_eq!(values(&items), [0, 1, 7, 42, 42], "{:?}", t.way);
        assert_eq!(offsets(&items), [1, 2, 3, 4, 5]);
        let step = |execution: &str, attempt| StreamSource::Step { execution: execution.into(), attempt };
        let sources: Vec<_> = items.iter().map(|item| item.source.clone()).collect();
        let first = step("first-1", 1);
        let expected = [first.clone(), first, StreamSource::Client, step("second-1", 1), step("second-1", 2)];
        assert_eq!(sources, expected);
        assert!(items.iter().all(|item| item.at >= started) && items.is_sorted_by_key(|item| item.at));

        let rest = read_all(run.read(Numbers::NUMBERS).after(3)).await;
        assert_eq!(rest, items[3..]);
        let newest = run.newest(Numbers::NUMBERS, None, 2).await.unwrap();
        assert_eq!(offsets(&newest), [5, 4]);
        let before = run.newest(Numbers::NUMBERS, Some(4), 9).await.unwrap();
        assert_eq!(offsets(&before), [3, 2, 1]);
        assert!(run.newest(Numbers::NUMBERS, Some(1), 9).await.unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_run_that_has_ended_takes_no_more_items() {
    each_way(IN_MEMORY, Numbers::default, async |t| {
        let run = t.client().start("r", 1).await.unwrap();
        t.settle().await;
        run.terminate().await.unwrap();
        t.phase().await;
        let error = run.append(Numbers::NUMBERS, 7).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
        assert_eq!(values(&read_all(run.read(Numbers::NUMBERS)).await), [0]);
    })
    .await;
}

#[tokio::test]
async fn the_oldest_items_go_when_the_stream_is_full_and_readers_see_the_gap() {
    each_way(ALL, Numbers::default, async |t| {
        t.client().start("r", 0).await.unwrap();
        t.phase().await;
        let run = t.run().await;
        let mut reader = run.read(Numbers::SMALL);
        for number in 1..=20 {
            assert_eq!(run.append(Numbers::SMALL, format!("{number:03}")).await.unwrap(), number);
        }
        let first = reader.next().await.unwrap().unwrap();
        assert!(first.offset > 5 && first.value == format!("{:03}", first.offset), "{first:?}");
        t.phase().await;
        let run = t.run().await;
        assert_eq!(run.append(Numbers::SMALL, "021".into()).await.unwrap(), 21);
        let all = run.newest(Numbers::SMALL, None, 99).await.unwrap();
        assert_eq!(all.len() as u64, 21 - first.offset, "one came and one went");
        assert_eq!(values(&all)[0], "021");
        run.terminate().await.unwrap();
        let items = read_all(run.read(Numbers::SMALL).after(2)).await;
        assert_eq!(offsets(&items), (first.offset + 1..=21).collect::<Vec<_>>());
    })
    .await;
}

#[tokio::test]
async fn an_item_that_never_fits_is_refused_and_its_step_parked() {
    let t = engine(Numbers::default()).await;
    let run = t.client::<Numbers>().start("r", 0).await.unwrap();
    let error = run.append(Numbers::SMALL, "x".repeat(1000)).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidValue);
    assert!(error.to_string().contains("does not fit into stream `SMALL`"), "{error}");
    let error = run.append(Numbers::SMALL, "x".repeat(2 << 20)).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidValue);
    run.append_too_much().await.unwrap();
    t.settle().await;
    let info = run.describe().await.unwrap();
    assert_eq!(info.status, Status::Running);
    assert!(info.explain().contains("does not fit into stream"), "{}", info.explain());
    assert!(run.newest(Numbers::SMALL, None, 9).await.unwrap().is_empty());
    let parked = info.steps.iter().find(|step| step.id == "too_large-1").unwrap();
    assert!(format!("{parked:?}").contains(&format!("{:?}", FailureKind::Unworkable)), "{parked:?}");
}

#[tokio::test]
async fn a_request_id_is_refused_since_streams_do_not_remember_requests() {
    let t = engine(Numbers::default()).await;
    let run = t.client::<Numbers>().start("r", 0).await.unwrap();
    let error = run.request_id("q").unwrap().append(Numbers::NUMBERS, 1).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidSetup);
    assert!(run.newest(Numbers::NUMBERS, None, 9).await.unwrap().is_empty());
}

/// The same flow before and after its stream was renamed.
struct Before;
struct After;

#[flow(name = "renamed")]
impl Before {
    #[stream(name = "old")]
    const LOG: Stream<u8>;
    #[channel]
    const NEVER: Channel<u8>;
    #[step(start)]
    async fn begin(&self) -> StepResult<Self> {
        Ok(Next::to(Self::END, ()))
    }
    #[wait_for(end)]
    fn never(&self) -> WaitResult<Self, u8> {
        Ok(Wait::one(Self::NEVER.one()))
    }
    #[step]
    async fn end(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

#[flow(name = "renamed")]
impl After {
    #[stream(name = "new", alias = "old")]
    const LOG: Stream<u8>;
    #[channel]
    const NEVER: Channel<u8>;
    #[step(start)]
    async fn begin(&self) -> StepResult<Self> {
        Ok(Next::to(Self::END, ()))
    }
    #[wait_for(end)]
    fn never(&self) -> WaitResult<Self, u8> {
        Ok(Wait::one(Self::NEVER.one()))
    }
    #[step]
    async fn end(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

#[tokio::test]
async fn a_stream_that_was_renamed_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let t = dex::testing::engine_in(folder.path()).flow(Before).start().await.unwrap();
    let run = t.client::<Before>().start("r", ()).await.unwrap();
    run.append(Before::LOG, 1).await.unwrap();
    t.shutdown(seconds(1)).await.unwrap();

    let t = dex::testing::engine_in(folder.path()).flow(After).start().await.unwrap();
    let run = t.client::<After>().run("r").await.unwrap();
    assert_eq!(run.append(After::LOG, 2).await.unwrap(), 2);
    let run_of_now = t.client::<After>().start("s", ()).await.unwrap();
    assert_eq!(run_of_now.append(After::LOG, 9).await.unwrap(), 1);
    assert_eq!(values(&run.newest(After::LOG, None, 9).await.unwrap()), [2, 1]);
    let by_old_name = t.dex().dynamic().run("r").await.unwrap();
    assert_eq!(by_old_name.append("old", serde_json::json!(3)).await.unwrap(), 3);
}
