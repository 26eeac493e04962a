//! Poison work: panics wherever user code runs, and records that make no sense.

use std::time::Duration;

use dex::prelude::*;
use dex::testing::{self, MemoryStore, TestEngine};
use dex::{Closing, ErrorKind, FailureKind, RunId, Status, Timestamp};
use dex_runtime::engine::Event;
use dex_runtime::store::{RunCommit, Store, record};
use dex_runtime::{ExecutionNo, Name, Slot};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::support::{engine, hours};

/// Panics when it is written.
struct Unwritable;

impl Serialize for Unwritable {
    fn serialize<S: Serializer>(&self, _serializer: S) -> Result<S::Ok, S::Error> {
        panic!("in serialize")
    }
}

/// Panics when it is read.
impl<'de> Deserialize<'de> for Unwritable {
    fn deserialize<D: Deserializer<'de>>(_deserializer: D) -> Result<Self, D::Error> {
        panic!("in deserialize")
    }
}

/// Panics when it is dropped.
struct Undroppable;

impl Drop for Undroppable {
    fn drop(&mut self) {
        panic!("in drop")
    }
}

/// Panics where its input says.
struct Panics;

#[flow(output = String)]
impl Panics {
    #[attribute]
    const BAD: Attribute<Unwritable>;
    #[channel]
    const GO: Channel<String>;

    #[step(start, retry(attempts = 1))]
    async fn begin(&self, ctx: &mut StepContext<Self>, place: String) -> StepResult<Self> {
        match place.as_str() {
            "no text" => std::panic::panic_any(7_u8),
            "serialize" => ctx.set(Self::BAD, Unwritable)?,
            "drop" => {
                let _bad = Undroppable;
                tokio::task::yield_now().await;
            }
            "task" => tokio::spawn(async { panic!("in a task of the step") }).await?,
            "wait" => return Ok(Next::to(Self::BAD_WAIT, ())),
            "deserialize" => return Ok(Next::to(Self::BAD_INPUT, serde_json::Value::Null)),
            _ => return Ok(Next::to(Self::END, ())),
        }
        Ok(Next::complete("went on after a panic".into()))
    }

    #[wait_for(bad_wait)]
    fn panics(&self) -> WaitResult<Self, ()> {
        panic!("in wait_for")
    }

    #[step(retry(attempts = 1))]
    async fn bad_wait(&self, _input: (), _got: ()) -> StepResult<Self> {
        Ok(Next::dead_end())
    }

    #[wait_for(bad_input)]
    fn reads_its_input(&self, _ctx: &WaitContext<Self>, _input: &serde_json::Value) -> WaitResult<Self, ()> {
        Ok(Wait::ready(()))
    }

    #[step(retry(attempts = 1))]
    async fn bad_input(&self, _input: serde_json::Value, _got: ()) -> StepResult<Self> {
        let read: Result<Unwritable, _> = serde_json::from_str("null");
        drop(read);
        Ok(Next::dead_end())
    }

    #[wait_for(end)]
    fn a_message(&self) -> WaitResult<Self, String> {
        Ok(Wait::one(Self::GO.one()))
    }

    #[step]
    async fn end(&self, _input: (), message: String) -> StepResult<Self> {
        Ok(Next::complete(message))
    }

    #[rpc]
    async fn bad_answer(&self, _ctx: &RpcContext<Self>) -> RpcResult<Unwritable> {
        Ok(Unwritable)
    }

    #[rpc]
    async fn bad_write(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        ctx.set(Self::BAD, Unwritable)
    }

    #[rpc]
    async fn bad_drop(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        let _bad = Undroppable;
        ctx.publish(Self::GO, "sent all the same".into())
    }

    #[rpc]
    async fn ping(&self, _ctx: &RpcContext<Self>) -> RpcResult<()> {
        Ok(())
    }
}

/// K2
#[tokio::test]
async fn a_panic_wherever_user_code_runs_ends_an_attempt_and_nothing_else() {
    let t = engine(Panics).await;
    let client = t.client::<Panics>();
    let beside = client.start("beside", "end".into()).await.unwrap();
    let places = [
        ("no text", "a panic whose payload is not a text"),
        ("serialize", "in serialize"),
        ("drop", "in drop"),
        ("wait", "in wait_for"),
        ("deserialize", "in deserialize"),
    ];
    for (place, text) in places {
        let run = client.start(place, place.into()).await.unwrap();
        match run.result().await.unwrap().closing() {
            Closing::StepFailed { failure, .. } => {
                assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Panic, text));
                assert!(failure.place.as_ref().unwrap().contains("k.rs"), "{place}: {failure:?}");
            }
            other => panic!("{place} ended with {other:?}"),
        }
    }
    // A task of one's own is one's own: its end is an error like any other.
    let run = client.start("task", "task".into()).await.unwrap();
    let error = run.output().await.err().unwrap().to_string();
    assert!(error.contains("panicked"), "{error}");
    for error in
        [beside.bad_answer().await.err(), beside.bad_write().await.err(), beside.bad_drop().await.err()]
    {
        let error = error.unwrap();
        assert_eq!(error.kind(), ErrorKind::RpcFailed, "{error:?}");
        assert_eq!(error.failure().unwrap().kind, FailureKind::Panic);
    }
    beside.ping().await.unwrap();
    assert!(beside.messages(Panics::GO).await.unwrap().is_empty());
    beside.publish(Panics::GO, "fine".into()).await.unwrap();
    assert_eq!(beside.output().await.unwrap(), "fine");
}

/// A record that is put into a store by hand.
pub(crate) struct Spoil {
    /// Its events, or `None` for bytes that are no record.
    pub(crate) events: Option<Vec<Event>>,
    /// Whether the run is marked as active and has a timer an hour from now.
    pub(crate) marked: bool,
}

impl Spoil {
    /// Bytes that are no record.
    pub(crate) const NO_RECORD: Self = Self { events: None, marked: true };

    /// An event about an execution that never was.
    pub(crate) fn misfit() -> Self {
        let event = Event::StepCompleted { execution: ExecutionNo(99) };
        Self { events: Some(vec![event]), marked: true }
    }

    /// Puts the record after the run's last one.
    pub(crate) fn put(self, store: &dyn Store, run: RunId, now: Timestamp) {
        let last = store.history(run, 1, usize::MAX).unwrap().last().map_or(0, |stored| stored.sequence);
        let timer = (now.saturating_add(hours(1)), ExecutionNo(1));
        let record = match &self.events {
            Some(events) => record::encode_transition(now, events),
            None => record::encode_transition(now, &[]).slice(0..2),
        };
        let commit = RunCommit {
            run,
            sequence: last + 1,
            epoch: store.epoch(),
            record,
            snapshot: None,
            summary: None,
            ready: self.marked.then_some(true),
            timers_set: self.marked.then_some(timer).into_iter().collect(),
            timers_cleared: Vec::new(),
        };
        store.commit(&[commit], true).unwrap();
    }
}

/// Ends the engine, lets `change` put records into its store, and opens it again.
pub(crate) async fn spoiled<F: Flow>(
    t: &TestEngine,
    flow: F,
    change: impl FnOnce(&MemoryStore),
) -> TestEngine {
    t.settle().await;
    t.shutdown(Duration::ZERO).await.unwrap();
    let store = t.store().reopen();
    change(&store);
    testing::engine_on(store).now(t.now()).flow(flow).start().await.unwrap()
}

/// K3
#[tokio::test]
async fn records_that_make_no_sense_are_set_aside_one_by_one_and_the_rest_works() {
    let t = engine(Panics).await;
    let client = t.client::<Panics>();
    let mut runs = Vec::new();
    for id in ["before", "no-record", "misfit", "marked", "stranger", "after"] {
        runs.push(client.start(id, "end".into()).await.unwrap().run_id());
    }
    let ended = client.start("ended", "end".into()).await.unwrap();
    ended.publish(Panics::GO, "done".into()).await.unwrap();
    ended.output().await.unwrap();
    let now = t.now();
    let t = spoiled(&t, Panics, |store| {
        Spoil::NO_RECORD.put(store, runs[1], now);
        Spoil::misfit().put(store, runs[2], now);
        // A mark and a timer for which there is nothing to do.
        Spoil { events: Some(Vec::new()), marked: true }.put(store, runs[3], now);
        let slot = Slot::single(Name::new("no-such-channel").unwrap());
        let value = dex_runtime::Payload::NULL;
        let stray = Event::MessagePublished { slot, value };
        Spoil { events: Some(vec![stray]), marked: true }.put(store, runs[4], now);
        // A mark and a timer of a run that has ended, and of one that never was.
        Spoil { events: Some(Vec::new()), marked: true }.put(store, ended.run_id(), now);
        Spoil { events: Some(Vec::new()), marked: true }.put(store, RunId::generate(now), now);
    })
    .await;
    let client = t.client::<Panics>();
    // Past all those timers; nothing hangs at them, and each is told once.
    t.advance(hours(2)).await;
    for id in ["before", "marked", "stranger", "after"] {
        let run = client.run(id).await.unwrap();
        run.ping().await.unwrap();
        run.publish(Panics::GO, id.into()).await.unwrap();
        assert_eq!(run.output().await.unwrap(), id);
    }
    assert_eq!(client.run("ended").await.unwrap().output().await.unwrap(), "done");
    for id in ["no-record", "misfit"] {
        let run = client.run(id).await.unwrap();
        let errors = [
            run.ping().await.err(),
            run.publish(Panics::GO, "x".into()).await.err(),
            run.describe().await.err(),
            run.output().await.err(),
        ];
        for error in errors {
            let error = error.unwrap_or_else(|| panic!("{id} was read"));
            assert_eq!(error.kind(), ErrorKind::Quarantined, "{id}: {error:?}");
        }
        // What happened before can be read all the same, and what is no record is told where it is.
        let mut history = run.history();
        let page = history.page(100).await.unwrap();
        assert_eq!(page[0].events[0].name, "RunStarted", "{id}");
        let rest = history.page(100).await;
        match (id, rest) {
            ("misfit", rest) => assert_eq!(rest.unwrap(), []),
            (_, rest) => {
                let error = rest.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Quarantined, "{error:?}");
                let broken = format!("transition {} of run", page.len() + 1);
                assert!(error.to_string().contains(&broken), "{error}");
            }
        }
    }
    // They are listed all the same, and new runs start.
    let listed = t.dex().inspect().runs(None, 100).await.unwrap();
    assert_eq!(listed.iter().filter(|run| run.status == Status::Running).count(), 2);
    let new = client.start("new", "end".into()).await.unwrap();
    new.publish(Panics::GO, "new".into()).await.unwrap();
    assert_eq!(new.output().await.unwrap(), "new");
}
