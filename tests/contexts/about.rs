//! Since when a run and a call go on, what scheduled them, what they need, and the word that they are to stop.

use std::time::SystemTime;

use dex::prelude::*;
use dex::{Status, StepSource, TimeoutPolicy, Timestamp};

use crate::support::{ALL, Counter, IN_MEMORY, Way, each_way, engine, seconds};

/// Each step and `wait_for` says what scheduled it.
struct Sources;

#[flow(endless)]
impl Sources {
    #[channel]
    const SAID: Channel<String>;
    #[channel]
    const GO: Channel<()>;

    #[step(start)]
    async fn begin(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.publish(Self::SAID, format!("{} by {}", ctx.execution_id(), ctx.source()))?;
        Ok(Next::to(Self::BRANCH, 1).and(Self::BRANCH, 2).and(Self::FAILS, ()))
    }

    #[step]
    async fn branch(&self, ctx: &mut StepContext<Self>, number: u32) -> StepResult<Self> {
        ctx.publish(Self::SAID, format!("{} by {}", ctx.execution_id(), ctx.source()))?;
        Ok(if number == 1 { Next::to(Self::LAST, ()) } else { Next::dead_end() })
    }

    #[step(on_failure = mend)]
    async fn fails(&self) -> StepResult<Self> {
        Err(StepError::fatal("no"))
    }

    #[wait_for(mend)]
    fn later(&self, ctx: &mut WaitContext<Self>) -> WaitResult<Self, ()> {
        let failed = ctx.recovery().map(|recovery| recovery.failure.message.clone());
        ctx.publish(Self::SAID, format!("{} waits by {}, {failed:?}", ctx.execution_id(), ctx.source()))?;
        Ok(Wait::one(Self::GO.one()))
    }

    #[step]
    async fn mend(&self, ctx: &mut StepContext<Self>, _i: (), _go: ()) -> StepResult<Self> {
        let failed = ctx.recovery().map(|recovery| recovery.failure.message.clone());
        ctx.publish(Self::SAID, format!("{} runs by {}, {failed:?}", ctx.execution_id(), ctx.source()))?;
        Ok(Next::dead_end())
    }

    #[step]
    async fn last(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.publish(Self::SAID, format!("{} by {}", ctx.execution_id(), ctx.source()))?;
        Ok(Next::dead_end())
    }

    #[on_timeout]
    async fn late(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.publish(Self::SAID, format!("{} by {}", ctx.execution_id(), ctx.source()))?;
        Ok(Next::dead_end())
    }

    #[on_cancel]
    async fn clean(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        ctx.publish(Self::SAID, format!("{} by {}", ctx.execution_id(), ctx.source()))?;
        Ok(Next::dead_end())
    }

    #[rpc]
    async fn again(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        ctx.start_step(Self::LAST, ())
    }
}

#[tokio::test]
async fn a_handler_knows_what_scheduled_it_also_after_a_restart() {
    each_way(
        ALL,
        || Sources,
        async |t| {
            let start = t.client().start("r", ()).timeout(seconds(60)).on_timeout(TimeoutPolicy::Step);
            start.await.unwrap();
            t.phase().await;
            // The recovery waits over the restart; what it is called by has ended long ago.
            t.run().await.publish(Sources::GO, ()).await.unwrap();
            t.phase().await;
            t.run().await.again().await.unwrap();
            t.phase().await;
            t.advance(seconds(60)).await;
            t.phase().await;
            t.run().await.cancel().await.unwrap();
            t.phase().await;
            let run = t.run().await;
            assert_eq!(run.describe().await.unwrap().status, Status::Canceled);
            let mut said = run.messages(Sources::SAID).await.unwrap();
            said.sort();
            let expected = [
                "begin-1 by start",
                "branch-1 by step begin-1",
                "branch-2 by step begin-1",
                "clean-1 by cancel",
                "last-1 by step branch-1",
                "last-2 by RPC again",
                "late-1 by timeout",
                r#"mend-1 runs by recovery of fails-1, Some("no")"#,
                r#"mend-1 waits by recovery of fails-1, Some("no")"#,
            ];
            assert_eq!(said, expected, "{:?}", t.way);
        },
    )
    .await;
}

/// Says in each kind of handler who it is. Its step fails once.
struct Selves;

#[flow(output = ())]
impl Selves {
    #[channel]
    const SAID: Channel<String>;

    #[wait_for(work)]
    fn before(&self, ctx: &mut WaitContext<Self>) -> WaitResult<Self, ()> {
        let said = format!("{} {} {}", ctx.flow_id(), ctx.run_id(), ctx.execution_id());
        ctx.publish(Self::SAID, said)?;
        Ok(Wait::ready(()))
    }

    #[step(start)]
    async fn work(&self, ctx: &mut StepContext<Self>, attempts: u32, _ready: ()) -> StepResult<Self> {
        // What the first attempt keeps is what the second one sees.
        let key = ctx.idempotency_key().to_owned();
        let before = ctx.last_checkpoint::<String>()?;
        ctx.checkpoint(&key)?;
        if ctx.attempt() < attempts {
            return Err(StepError::retry_after(seconds(5), "again"));
        }
        assert!(before.is_none_or(|before| before == key), "the key is that of the execution");
        let said = format!("{} {} {} {key}", ctx.flow_id(), ctx.run_id(), ctx.execution_id());
        ctx.publish(Self::SAID, said)?;
        Ok(if attempts > 1 { Next::to(Self::WORK, 1) } else { Next::complete(()) })
    }

    #[rpc]
    async fn who(&self, ctx: &RpcContext<Self>) -> RpcResult<String> {
        Ok(format!("{} {}", ctx.flow_id(), ctx.run_id()))
    }
}

#[tokio::test]
async fn a_handler_knows_its_run_and_itself() {
    each_way(
        IN_MEMORY,
        || Selves,
        async |t| {
            t.client().start("r", 2).await.unwrap();
            t.phase().await;
            t.advance(seconds(5)).await;
            t.phase().await;
            let run = t.run().await;
            let id = run.run_id();
            let expected = [
                format!("r {id} work-1"),
                format!("r {id} work-1 {id}/work-1"),
                format!("r {id} work-2"),
                format!("r {id} work-2 {id}/work-2"),
            ];
            assert_eq!(run.messages(Selves::SAID).await.unwrap(), expected, "{:?}", t.way);
            assert_eq!(run.who().await.unwrap(), format!("r {id}"));
        },
    )
    .await;
}

/// Its `wait_for` and its step fail twice each, and say when their first attempts started.
#[derive(Default)]
struct Since;

type Times = (SystemTime, SystemTime);

#[flow(endless)]
impl Since {
    #[channel]
    const SAID: Channel<(String, u32, Times)>;

    #[step(start)]
    async fn begin(&self) -> StepResult<Self> {
        Ok(Next::to(Self::WORK, ()))
    }

    #[wait_for(work)]
    fn before(&self, ctx: &mut WaitContext<Self>) -> WaitResult<Self, ()> {
        if ctx.attempt() < 3 {
            return Err(StepError::retry_after(seconds(10), "not yet"));
        }
        let times = (ctx.started_at().into(), ctx.first_attempt_at().into());
        ctx.publish(Self::SAID, ("wait".into(), ctx.attempt(), times))?;
        Ok(Wait::ready(()))
    }

    #[step]
    async fn work(&self, ctx: &mut StepContext<Self>, _i: (), _o: ()) -> StepResult<Self> {
        if ctx.attempt() < 3 {
            return Err(StepError::retry_after(seconds(100), "not yet"));
        }
        let times = (ctx.started_at().into(), ctx.first_attempt_at().into());
        ctx.publish(Self::SAID, ("work".into(), ctx.attempt(), times))?;
        Ok(Next::dead_end())
    }

    #[rpc]
    async fn since(&self, ctx: &RpcContext<Self>) -> RpcResult<SystemTime> {
        Ok(ctx.started_at().into())
    }
}

#[tokio::test]
async fn the_start_of_the_first_attempt_stays_over_attempts_and_restarts_for_each_method() {
    each_way(
        ALL,
        || Since,
        async |t| {
            let started = t.now();
            t.client().start("r", ()).await.unwrap();
            t.phase().await;
            for pause in [10, 10, 100, 100] {
                t.advance(seconds(pause)).await;
                t.phase().await;
            }
            let run = t.run().await;
            let at = |after: u64| SystemTime::from(started.saturating_add(seconds(after)));
            let expected = [
                ("wait".to_owned(), 3, (at(0), at(0))),
                // The step is a call of its own: it began once the wait was over.
                ("work".to_owned(), 3, (at(0), at(20))),
            ];
            assert_eq!(run.messages(Since::SAID).await.unwrap(), expected, "{:?}", t.way);
            assert_eq!(run.since().await.unwrap(), at(0));
            assert_eq!(run.describe().await.unwrap().started_at, started);
        },
    )
    .await;
}

/// Needs an attribute in each kind of handler.
struct Needs;

#[flow(output = String)]
impl Needs {
    #[attribute]
    const NAME: Attribute<String>;

    #[attribute]
    const AGES: AttributeMap<String, u32>;

    #[step(start)]
    async fn begin(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        let name = ctx.require(Self::NAME)?;
        ctx.set(Self::AGES.at(&name), 36)?;
        // What it wrote itself is there.
        let age = ctx.require(Self::AGES.at(&name))?;
        Ok(Next::to(Self::END, format!("{name} is {age}")))
    }

    #[wait_for(end)]
    fn named(&self, ctx: &WaitContext<Self>) -> WaitResult<Self, u32> {
        Ok(Wait::ready(ctx.require(Self::AGES.at("bob"))?))
    }

    #[step]
    async fn end(&self, told: String, bob: u32) -> StepResult<Self> {
        Ok(Next::complete(format!("{told}, bob is {bob}")))
    }

    #[rpc]
    async fn name(&self, ctx: &RpcContext<Self>) -> RpcResult<String> {
        ctx.require(Self::NAME)
    }
}

#[tokio::test]
async fn a_step_that_requires_what_is_not_set_is_parked_and_goes_on_once_it_is() {
    each_way(
        IN_MEMORY,
        || Needs,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            t.phase().await;
            let run = t.run().await;
            let explained = run.describe().await.unwrap().explain();
            assert!(explained.contains("begin-1 is parked"), "{explained}");
            assert!(explained.contains("attribute `NAME` is not set"), "{explained}");
            let error = run.name().await.unwrap_err();
            assert_eq!(error.kind(), dex::ErrorKind::RpcFailed);
            assert!(error.to_string().contains("attribute `NAME` is not set"), "{error}");

            run.set(Needs::NAME, "ada".into()).await.unwrap();
            run.retry_step("begin-1").await.unwrap();
            t.phase().await;
            let run = t.run().await;
            let explained = run.describe().await.unwrap().explain();
            assert!(explained.contains("attribute `AGES[bob]` is not set"), "{explained}");
            run.set(Needs::AGES.at("bob"), 7).await.unwrap();
            run.retry_step("end-1").await.unwrap();
            t.phase().await;
            assert_eq!(t.run().await.output().await.unwrap(), "ada is 36, bob is 7");
            assert_eq!(t.run().await.name().await.unwrap(), "ada");
        },
    )
    .await;
}

/// Its `wait_for` goes on until it is told to stop.
#[derive(Default)]
struct Listens {
    begun: Counter,
    told: Counter,
}

#[flow(output = ())]
impl Listens {
    #[wait_for(end)]
    async fn long(&self, ctx: &WaitContext<Self>) -> WaitResult<Self, ()> {
        self.begun.add();
        assert!(!ctx.is_cancelled());
        ctx.cancelled().await;
        assert!(ctx.is_cancelled());
        self.told.add();
        Ok(Wait::ready(()))
    }

    #[step(start)]
    async fn end(&self, _input: (), _ready: ()) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

#[tokio::test]
async fn a_wait_for_that_takes_long_hears_that_its_run_is_cancelled() {
    each_way(&[Way::Straight, Way::Restarted], Listens::default, async |t| {
        t.client().start("r", ()).await.unwrap();
        t.phase().await;
        let before = t.flow::<Listens>().told.get();
        assert!(t.flow::<Listens>().begun.get() > 0);
        t.run().await.cancel().await.unwrap();
        t.settle().await;
        let status = t.run().await.describe().await.unwrap().status;
        assert_eq!((status, t.flow::<Listens>().told.get()), (Status::Canceled, before + 1), "{:?}", t.way);
    })
    .await;
}

#[tokio::test]
async fn a_context_of_a_unit_test_has_what_the_test_says() {
    let at = |seconds_after| Timestamp::EPOCH.saturating_add(seconds(seconds_after));
    let ctx = StepContext::<Sources>::test().build();
    assert_eq!((ctx.source(), ctx.first_attempt_at()), (StepSource::Start, ctx.started_at()));
    let ctx = StepContext::<Sources>::test().started_at(at(1)).first_attempt_at(at(5)).attempt(2).build();
    assert_eq!((ctx.started_at(), ctx.first_attempt_at(), ctx.attempt()), (at(1), at(5), 2));

    let source = StepSource::Step("begin-3".into());
    let ctx = WaitContext::<Sources>::test().execution(Sources::MEND, 2).source(source.clone()).build();
    assert_eq!((ctx.execution_id().as_str(), ctx.source()), ("mend-2", source));
    assert!(ctx.recovery().is_none() && !ctx.is_cancelled());
    let ctx =
        WaitContext::<Sources>::test().recovery(Sources::FAILS, StepError::new("no"), 2).cancelled().build();
    assert_eq!(ctx.source(), StepSource::Recovery("fails-1".into()));
    assert_eq!(ctx.recovery().unwrap().attempts, 2);
    assert!(ctx.is_cancelled());

    let ctx = RpcContext::<Sources>::test().started_at(at(9)).build();
    assert_eq!(ctx.started_at(), at(9));
    // A real engine gives the same kind of context.
    let t = engine(Sources).await;
    let run = t.client::<Sources>().start("r", ()).await.unwrap();
    t.settle().await;
    assert_eq!(run.messages(Sources::SAID).await.unwrap()[0], "begin-1 by start");
}
