//! Large values, long histories, errors with much in them.

use dex::prelude::*;
use dex::testing::{self, TestEngine};
use dex::{Closing, ErrorKind, Options, Status};
use dex_runtime::store::Store;

use crate::support::{Counter, IN_MEMORY, each_way, engine, hours};

/// One byte more than a value may have, once it is in quotes.
const OVERSIZE: usize = 1024 * 1024 - 1;

fn oversize() -> String {
    "x".repeat(OVERSIZE)
}

/// Keeps what it is given.
#[derive(Default)]
struct Keeps {
    calls: Counter,
}

#[derive(Debug, thiserror::Error)]
enum Nested {
    #[error("outermost")]
    One(#[source] Box<Nested>),
    #[error("in the middle")]
    Two(#[source] Box<Nested>),
    #[error("{0}")]
    Three(String),
}

#[flow(output = u64)]
impl Keeps {
    #[attribute]
    const TEXT: Attribute<String>;
    #[channel]
    const TEXTS: Channel<String>;
    #[channel]
    const GO: Channel<u64>;

    #[step(start)]
    async fn begin(&self, place: String) -> StepResult<Self> {
        Ok(match place.as_str() {
            "nested" => Next::to(Self::NESTED, ()),
            "big reason" => Next::fail(oversize()),
            _ => Next::to(Self::COUNT, 0),
        })
    }

    #[step(retry(attempts = 1))]
    async fn nested(&self, _input: ()) -> StepResult<Self> {
        self.calls.add();
        let three = Nested::Three(oversize());
        Err(Nested::One(Box::new(Nested::Two(Box::new(three)))).into())
    }

    #[wait_for(count)]
    fn a_number(&self, _ctx: &WaitContext<Self>, _sum: &u64) -> WaitResult<Self, u64> {
        Ok(Wait::one(Self::GO.one()))
    }

    #[step]
    async fn count(&self, sum: u64, number: u64) -> StepResult<Self> {
        Ok(if number == 0 { Next::complete(sum) } else { Next::to(Self::COUNT, sum + number) })
    }
}

/// I1
#[tokio::test]
async fn an_oversize_value_is_refused_at_every_door_that_callers_have() {
    let t = engine(Keeps::default()).await;
    let client = t.client::<Keeps>();
    let run = client.start("r", "count".into()).await.unwrap();
    t.settle().await;
    let before = t.store().commits();
    let typed = [
        client.start("s", oversize()).await.err(),
        client.start("s", String::new()).with(Keeps::TEXT, oversize()).await.err(),
        client.start("s", String::new()).publish(Keeps::TEXTS, oversize()).await.err(),
        run.publish(Keeps::TEXTS, oversize()).await.err(),
        run.set(Keeps::TEXT, oversize()).await.err(),
        run.update(Keeps::TEXT, |_| oversize()).await.err(),
    ];
    let dynamic = t.dex().dynamic();
    let by_name = dynamic.run("r").await.unwrap();
    let big = || serde_json::Value::from(oversize());
    let named = [
        dynamic.start("Keeps", "s", big()).await.err(),
        dynamic.start("Keeps", "s", "".into()).with("TEXT", big()).await.err(),
        dynamic.start("Keeps", "s", "".into()).publish("TEXTS", big()).await.err(),
        by_name.publish("TEXTS", big()).await.err(),
        by_name.set("TEXT", big()).await.err(),
    ];
    for (place, error) in typed.into_iter().chain(named).enumerate() {
        let error = error.unwrap_or_else(|| panic!("door {place} let it in"));
        assert_eq!(error.kind(), ErrorKind::InvalidValue, "door {place}: {error:?}");
        let text = error.to_string();
        assert!(text.contains("1048577 bytes") && text.contains("1048576"), "door {place}: {text}");
    }
    assert_eq!(t.store().commits(), before, "something was written");
    assert!(client.run("s").await.err().unwrap().is_not_found());
}

/// I1, I5
#[tokio::test]
async fn an_error_keeps_its_type_and_the_chain_of_its_causes_and_is_cut_with_a_mark() {
    each_way(IN_MEMORY, Keeps::default, async |t| {
        t.client().start("r", "nested".into()).await.unwrap();
        t.phase().await;
        let result = t.run().await.result().await.unwrap();
        let Closing::StepFailed { failure, .. } = result.closing() else {
            panic!("the run ended with {:?}", result.closing())
        };
        assert!(failure.type_name.ends_with("Nested"), "{}", failure.type_name);
        assert_eq!(failure.message, "outermost");
        assert_eq!((failure.chain.len(), failure.chain[0].as_str()), (2, "in the middle"));
        assert!(failure.chain[1].ends_with(&format!("(cut from {OVERSIZE} bytes)")), "no mark");
        assert!(failure.chain[1].len() < 5 * 1024);
    })
    .await;
}

/// I1
#[tokio::test]
async fn a_reason_to_fail_is_cut_with_a_mark() {
    let t = engine(Keeps::default()).await;
    let run = t.client::<Keeps>().start("failed", "big reason".into()).await.unwrap();
    let stopped = t.client::<Keeps>().start("stopped", "count".into()).await.unwrap();
    stopped.stop(dex::Stop::Fail, oversize()).await.unwrap();
    for run in [run, stopped] {
        assert_eq!(run.result().await.unwrap().status(), Status::Failed);
        let text = run.output().await.err().unwrap().to_string();
        assert!(text.len() < 5 * 1024, "a reason of {} bytes is kept for ever", text.len());
        assert!(text.contains(&format!("(cut from {OVERSIZE} bytes)")), "no mark");
    }
}

/// Bytes and records that an opening reads to go on with the run.
fn read_back(t: &TestEngine, run: dex::RunId) -> (usize, usize) {
    let stored = t.store().load(run).unwrap().unwrap();
    let records: usize = stored.records.iter().map(|stored| stored.record.len()).sum();
    (records + stored.snapshot.map_or(0, |(_, bytes)| bytes.len()), stored.records.len())
}

/// I3
#[tokio::test]
async fn an_opening_reads_nothing_of_a_large_run_that_waits_and_little_more_than_its_state_later() {
    const MESSAGES: usize = 500;
    const SIZE: usize = 64 * 1024;
    let t = engine(Keeps::default()).await;
    let run = t.client::<Keeps>().start("large", "count".into()).await.unwrap();
    for _ in 0..MESSAGES {
        run.publish(Keeps::TEXTS, "x".repeat(SIZE - 2)).await.unwrap();
    }
    t.settle().await;
    t.restart().await.unwrap();
    t.settle().await;
    assert_eq!(t.dex().inspect().resident().await.unwrap(), []);
    let (bytes, _) = read_back(&t, run.run_id());
    let state = MESSAGES * SIZE;
    assert!(bytes >= state && bytes < state * 5 / 2, "{bytes} bytes are read for a state of {state}");
    run.publish(Keeps::GO, 5).await.unwrap();
    run.publish(Keeps::GO, 0).await.unwrap();
    assert_eq!(run.output().await.unwrap(), 5);
}

/// I4
#[tokio::test]
async fn a_run_of_many_steps_costs_the_same_at_its_end_as_at_its_beginning() {
    let t = engine(Keeps::default()).await;
    let run = t.client::<Keeps>().start("long", "count".into()).await.unwrap();
    let written = |t: &TestEngine, from: u64| -> (usize, usize) {
        let history = t.store().history(run.run_id(), from, usize::MAX).unwrap();
        (history.len(), history.iter().map(|stored| stored.record.len()).sum())
    };
    let mut per_step = Vec::new();
    let (mut from, mut most_read) = (1, (0, 0));
    for part in 0..10 {
        for _ in 0..300 {
            run.publish(Keeps::GO, 1).await.unwrap();
        }
        t.settle().await;
        let (records, bytes) = written(&t, from);
        from += records as u64;
        per_step.push((bytes / 300, records / 300));
        let read = read_back(&t, run.run_id());
        if part > 1 {
            most_read = (read.0.max(most_read.0), read.1.max(most_read.1));
        }
        t.restart().await.unwrap();
    }
    let (first, last) = (per_step[1], per_step[9]);
    assert_eq!(first.1, last.1, "records per step: {per_step:?}");
    assert!(last.0 <= first.0 * 11 / 10, "bytes per step: {per_step:?}");
    // A snapshot follows each 64 KiB of records, so this is all that is ever read.
    assert!(most_read.0 < 80 * 1024, "{most_read:?} bytes and records are read");
    run.publish(Keeps::GO, 0).await.unwrap();
    assert_eq!(run.output().await.unwrap(), 3_000);
}

/// I4
#[tokio::test]
async fn a_long_run_leaves_memory_as_small_as_it_came() {
    let options = Options { idle_runs_max: 1, ..Options::default() };
    let t = testing::engine().options(options).flow(Keeps::default()).start().await.unwrap();
    for number in 0..3 {
        let run = t.client::<Keeps>().start(format!("r{number}"), "count".into()).await.unwrap();
        for _ in 0..100 {
            run.publish(Keeps::GO, 1).await.unwrap();
        }
    }
    t.advance(hours(1)).await;
    assert!(t.dex().inspect().resident().await.unwrap().len() <= 1);
}
