//! Runs in every state, one for each operation.

use std::collections::BTreeMap;
use std::time::Duration;

use dex::prelude::*;
use dex::testing::{self, TestEngine};
use dex::{DynRun, ErrorKind, Stop};
use dex_runtime::ExecutionNo;
use dex_runtime::engine::Event;
use dex_runtime::store::{RunCommit, Store, record};
use serde_json::json;

use crate::calls::{by_name, by_type};
use crate::support::{hours, seconds};

/// Longest that an operation may take, in real time.
const HANGS_AFTER: Duration = Duration::from_secs(20);

/// Has something for every operation: a wait with a timer, a parked step, a step that runs, values of all kinds.
pub(crate) struct Probe;

#[flow(output = String)]
impl Probe {
    #[attribute]
    pub(crate) const TEXT: Attribute<String>;
    #[attribute]
    pub(crate) const NUMBERS: AttributeMap<String, u32>;
    #[channel]
    pub(crate) const TEXTS: Channel<String>;
    #[channel]
    pub(crate) const BY_KEY: ChannelMap<String, String>;
    #[stream]
    pub(crate) const ITEMS: Stream<String>;

    #[step(start)]
    pub(crate) async fn begin(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.append(Self::ITEMS, "first".to_owned())?;
        ctx.set(Self::NUMBERS.at("one"), 1)?;
        Ok(Next::to(Self::WAIT, ()).and(Self::PARKED, ()).and(Self::HANG, ()))
    }

    #[wait_for(wait)]
    fn an_hour(&self) -> WaitResult<Self, TimerFired> {
        Ok(Wait::one(Timer::after(hours(1))))
    }

    #[step]
    async fn wait(&self, _input: (), _fired: TimerFired) -> StepResult<Self> {
        Ok(Next::dead_end())
    }

    #[step(on_exhausted = park)]
    async fn parked(&self) -> StepResult<Self> {
        Err(StepError::fatal("on purpose"))
    }

    /// Runs until it is called off: for a cancel, that is when its grace is over.
    #[step]
    async fn hang(&self) -> StepResult<Self> {
        std::future::pending().await
    }

    #[step(entry)]
    pub(crate) async fn end(&self) -> StepResult<Self> {
        Ok(Next::complete_now("done".to_owned()))
    }

    #[rpc]
    pub(crate) async fn peek(&self, _ctx: &RpcContext<Self>) -> RpcResult<u32> {
        Ok(1)
    }

    #[rpc]
    pub(crate) async fn poke(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        ctx.set(Self::TEXT, "poked".to_owned())?;
        Ok(())
    }

    #[rpc]
    pub(crate) async fn finish(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        ctx.start_step(Self::END, ())
    }
}

/// Another flow.
pub(crate) struct Other;

#[flow(output = ())]
impl Other {
    #[step(start)]
    pub(crate) async fn begin(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

/// In which state a run is, or its engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Open,
    Paused,
    Canceling,
    Completed,
    Failed,
    Canceled,
    Terminated,
    SetAside,
    ShutDown,
}

impl State {
    pub(crate) const ALL: [Self; 9] = [
        Self::Open,
        Self::Paused,
        Self::Canceling,
        Self::Completed,
        Self::Failed,
        Self::Canceled,
        Self::Terminated,
        Self::SetAside,
        Self::ShutDown,
    ];

    /// Its column's title.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Paused => "paused",
            Self::Canceling => "being cancelled",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
            Self::Terminated => "terminated",
            Self::SetAside => "set aside",
            Self::ShutDown => "engine shut down",
        }
    }
}

/// An engine with one run for each operation, all in one state.
pub(crate) struct World {
    engine: TestEngine,
    runs: BTreeMap<&'static str, (dex::Run<Probe>, DynRun)>,
}

impl World {
    pub(crate) async fn new(state: State, operations: &[&'static str]) -> Self {
        let engine = testing::engine().flow(Probe).flow(Other).start().await.unwrap();
        for operation in operations {
            let start = engine.client::<Probe>().start(operation, ()).with(Probe::TEXT, "text".into());
            let start = start.publish(Probe::TEXTS, "message".into());
            start.publish(Probe::BY_KEY.at("a"), "message".into()).await.unwrap();
        }
        engine.settle().await;
        let runs = handles(&engine, operations).await;
        for (run, _) in runs.values() {
            bring(run, state).await;
        }
        match state {
            State::Canceled => engine.advance(seconds(60)).await,
            State::SetAside => return Self::set_aside(&engine, runs).await,
            State::ShutDown => engine.shutdown(Duration::ZERO).await.unwrap(),
            _ => engine.settle().await,
        }
        Self { engine, runs }
    }

    /// Puts an event into the history of each run that cannot be.
    async fn set_aside(before: &TestEngine, runs: BTreeMap<&'static str, (dex::Run<Probe>, DynRun)>) -> Self {
        before.shutdown(Duration::ZERO).await.unwrap();
        let store = before.store().reopen();
        for (run, _) in runs.values() {
            let history = store.history(run.run_id(), 1, usize::MAX).unwrap();
            let misfit = Event::StepCompleted { execution: ExecutionNo(99) };
            let commit = RunCommit {
                run: run.run_id(),
                sequence: history.last().unwrap().sequence + 1,
                epoch: store.epoch(),
                record: record::encode_transition(before.now(), &[misfit]),
                snapshot: None,
                summary: None,
                ready: None,
                timers_set: Vec::new(),
                timers_cleared: Vec::new(),
            };
            store.commit(&[commit], true).unwrap();
        }
        let builder = testing::engine_on(store).now(before.now()).flow(Probe).flow(Other);
        let engine = builder.start().await.unwrap();
        let operations: Vec<_> = runs.into_keys().collect();
        let runs = handles(&engine, &operations).await;
        Self { engine, runs }
    }

    /// What an operation gives: `done`, `waits`, or the kind of its error.
    pub(crate) async fn by_type(&self, operation: &str) -> String {
        given(by_type(&self.engine.client(), &self.runs[operation].0, operation)).await
    }

    pub(crate) async fn by_name(&self, operation: &str) -> String {
        given(by_name(&self.engine.dex().dynamic(), &self.runs[operation].1, operation)).await
    }

    pub(crate) async fn refuses_strangers(&self) {
        self.engine.client::<Other>().start("other", ()).await.unwrap();
        let client = self.engine.client::<Probe>();
        let kind = |error: dex::Error| error.kind();
        assert_eq!(client.run("nobody").await.err().map(kind), Some(ErrorKind::NotFound));
        assert_eq!(client.run("other").await.err().map(kind), Some(ErrorKind::WrongFlow));
        let tools = self.engine.dex().dynamic();
        assert_eq!(tools.run("nobody").await.err().map(kind), Some(ErrorKind::NotFound));
        let other = tools.run("other").await.unwrap();
        assert_eq!(other.get("TEXT").await.err().map(kind), Some(ErrorKind::UnknownName));
        assert_eq!(other.call("peek", json!(null)).await.err().map(kind), Some(ErrorKind::UnknownName));
        let error = client.start("other", ()).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::AlreadyStarted);
    }
}

async fn handles(
    engine: &TestEngine,
    operations: &[&'static str],
) -> BTreeMap<&'static str, (dex::Run<Probe>, DynRun)> {
    let (client, tools) = (engine.client::<Probe>(), engine.dex().dynamic());
    let mut runs = BTreeMap::new();
    for operation in operations {
        let run = client.run(operation).await.unwrap();
        runs.insert(*operation, (run, tools.run(operation).await.unwrap()));
    }
    runs
}

async fn bring(run: &dex::Run<Probe>, state: State) {
    match state {
        State::Open | State::SetAside | State::ShutDown => {}
        State::Paused => run.pause().await.unwrap(),
        State::Canceling | State::Canceled => run.cancel().await.unwrap(),
        State::Completed => run.finish().await.unwrap(),
        State::Failed => run.stop(Stop::Fail, "on purpose").await.unwrap(),
        State::Terminated => run.terminate().await.unwrap(),
    }
}

async fn given(call: impl Future<Output = dex::Result<()>>) -> String {
    match tokio::time::timeout(HANGS_AFTER, call).await {
        Err(_) => "hangs".into(),
        Ok(Ok(())) => "done".into(),
        Ok(Err(error)) if error.kind() == ErrorKind::Timeout => "waits".into(),
        Ok(Err(error)) => format!("{:?}", error.kind()),
    }
}
