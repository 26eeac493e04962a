//! RPCs and attributes beside steps that work.

use dex::inspect::StepPhase;
use dex::prelude::*;
use dex::{ErrorKind, Status};
use tokio::sync::watch;

use crate::support::{Counter, IN_MEMORY, each_way, engine, seconds};

/// Adds one and panics, five times; the sixth attempt succeeds.
struct Adds;

#[flow(output = u32)]
impl Adds {
    #[attribute]
    const NUMBER: Attribute<u32>;

    #[step(start, retry(initial = "1s", max_interval = "1s"))]
    async fn add(&self, ctx: &mut StepContext<Self>, _input: ()) -> StepResult<Self> {
        let number = ctx.get(Self::NUMBER)?.unwrap_or_default() + 1;
        ctx.set(Self::NUMBER, number)?;
        assert!(ctx.attempt() > 5, "an attempt that wrote and failed");
        Ok(Next::complete(number))
    }
}

/// G3
#[tokio::test]
async fn what_failed_attempts_wrote_is_never_read() {
    each_way(
        IN_MEMORY,
        || Adds,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            for _ in 0..6 {
                t.phase().await;
                t.advance(seconds(2)).await;
            }
            assert_eq!(t.run().await.output().await.unwrap(), 1, "{:?}", t.way);
        },
    )
    .await;
}

/// Its step works until it is let go; its RPCs hang or answer.
struct Works {
    go: watch::Sender<bool>,
    hanging: Counter,
}

fn works() -> Works {
    Works { go: watch::Sender::new(false), hanging: Counter::default() }
}

#[flow(output = Vec<u32>)]
impl Works {
    #[attribute]
    const NUMBER: Attribute<u32>;
    #[channel]
    const NUMBERS: Channel<u32>;

    #[step(start)]
    async fn work(&self, _input: ()) -> StepResult<Self> {
        let _ = self.go.subscribe().wait_for(|go| *go).await;
        Ok(Next::to(Self::TAKE, ()))
    }

    #[wait_for(take)]
    fn three(&self) -> WaitResult<Self, Vec<u32>> {
        Ok(Wait::one(Self::NUMBERS.n(3)))
    }

    #[step]
    async fn take(&self, _input: (), got: Vec<u32>) -> StepResult<Self> {
        Ok(Next::complete(got))
    }

    #[rpc]
    async fn add(&self, ctx: &mut RpcContext<Self>, amount: u32) -> RpcResult<u32> {
        let number = ctx.get(Self::NUMBER)?.unwrap_or_default() + amount;
        ctx.set(Self::NUMBER, number)?;
        Ok(number)
    }

    #[rpc]
    async fn write_and_hang(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> {
        ctx.set(Self::NUMBER, 99)?;
        self.hanging.add();
        std::future::pending().await
    }

    #[rpc]
    async fn look_and_hang(&self, _ctx: &RpcContext<Self>) -> RpcResult<()> {
        self.hanging.add();
        std::future::pending().await
    }
}

/// Calls that hang in two kinds of RPC: what each is told in the end.
async fn hanging(run: &dex::Run<Works>, flow: &Works) -> [tokio::task::JoinHandle<ErrorKind>; 2] {
    let writes = tokio::spawn({
        let run = run.clone();
        async move { run.write_and_hang().await.err().unwrap().kind() }
    });
    let looks = tokio::spawn({
        let run = run.clone();
        async move { run.look_and_hang().await.err().unwrap().kind() }
    });
    while flow.hanging.get() < 2 {
        tokio::task::yield_now().await;
    }
    [writes, looks]
}

/// G5
#[tokio::test]
async fn who_calls_an_rpc_of_a_run_that_ends_meanwhile_is_told_at_once() {
    let t = engine(works()).await;
    let run = t.client::<Works>().start("r", ()).await.unwrap();
    let [writes, looks] = hanging(&run, &t.flow::<Works>()).await;
    run.terminate().await.unwrap();
    // The clock stands still, so it is not their time that ends them.
    assert_eq!(writes.await.unwrap(), ErrorKind::Closed);
    assert_eq!(run.get(Works::NUMBER).await.unwrap(), None);
    // A look is as good on a run that has ended; it has its own time.
    t.settle().await;
    assert!(!looks.is_finished());
    looks.abort();
}

/// G5
#[tokio::test]
async fn who_calls_an_rpc_while_the_engine_shuts_down_is_told_at_once() {
    let t = engine(works()).await;
    let run = t.client::<Works>().start("r", ()).await.unwrap();
    let flow = t.flow::<Works>();
    let calls = hanging(&run, &flow).await;
    flow.go.send_replace(true);
    t.shutdown(seconds(1)).await.unwrap();
    for call in calls {
        assert_eq!(call.await.unwrap(), ErrorKind::ShutDown);
    }
}

/// G7
#[tokio::test]
async fn a_step_that_hangs_keeps_nobody_from_its_run() {
    each_way(IN_MEMORY, works, async |t| {
        t.client().start("r", ()).await.unwrap();
        t.phase().await;
        let run = t.run().await;
        assert_eq!(run.add(2).await.unwrap(), 2);
        run.publish(Works::NUMBERS, 1).await.unwrap();
        run.set(Works::NUMBER, 7).await.unwrap();
        assert_eq!(run.get(Works::NUMBER).await.unwrap(), Some(7));
        let explained = run.describe().await.unwrap().explain();
        assert!(explained.contains("work-1 runs since"), "{explained}");
        run.terminate().await.unwrap();
        assert_eq!(run.result().await.unwrap().status(), Status::Terminated);
    })
    .await;
}

/// G10
#[tokio::test]
async fn messages_that_come_while_a_step_works_are_there_for_the_wait_after_it() {
    let go = watch::Sender::new(false);
    for way in IN_MEMORY {
        go.send_replace(false);
        let flow = || Works { go: go.clone(), hanging: Counter::default() };
        each_way(&[*way], flow, async |t| {
            t.client().start("r", ()).await.unwrap();
            t.settle().await;
            for number in 1..=3 {
                t.run().await.publish(Works::NUMBERS, number).await.unwrap();
            }
            assert_eq!(t.run().await.describe().await.unwrap().steps[0].id, "work-1");
            t.reopen().await;
            go.send_replace(true);
            assert_eq!(t.run().await.output().await.unwrap(), [1, 2, 3], "{way:?}");
        })
        .await;
    }
}

/// G9
#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn thirty_two_callers_start_call_list_and_look_at_once() {
    let t = engine(works()).await;
    let callers: Vec<_> = (0..32)
        .map(|caller| {
            let t = t.clone();
            tokio::spawn(async move {
                let client = t.client::<Works>();
                for round in 0..10 {
                    // Half of them are the caller's own, half are everyone's.
                    let own = client.start(format!("{caller}-{round}"), ()).await.unwrap();
                    let _ = client.start(format!("shared-{round}"), ()).await;
                    let shared = client.run(format!("shared-{round}")).await.unwrap();
                    own.add(1).await.unwrap();
                    shared.add(1).await.unwrap();
                    t.dex().inspect().runs(None, 1_000).await.unwrap();
                    t.dex().inspect().resident().await.unwrap();
                    t.dex().dynamic().run(format!("shared-{round}")).await.unwrap().describe().await.unwrap();
                    own.cancel().await.unwrap();
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
    let all = t.dex().inspect().runs(None, 1_000).await.unwrap();
    assert_eq!(all.len(), 32 * 10 + 10);
    for round in 0..10 {
        let shared = t.client::<Works>().run(format!("shared-{round}")).await.unwrap();
        assert_eq!(shared.get(Works::NUMBER).await.unwrap(), Some(32));
    }
}

/// Its step hangs for ever, and is not to be waited for longer than a minute.
struct Hangs;

#[flow(output = String)]
impl Hangs {
    #[attribute]
    const NOTES: AttributeMap<String, String>;

    #[step(start)]
    async fn begin(&self) -> StepResult<Self> {
        Ok(Next::to(Self::HANG, ()).and(Self::END, ()))
    }

    #[step(timeout = "1m", retry(attempts = 1), on_exhausted = park, lock(NOTES))]
    async fn hang(&self) -> StepResult<Self> {
        std::future::pending().await
    }

    #[step(lock(NOTES))]
    async fn end(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        Ok(Next::complete(ctx.get(Self::NOTES.at("ada"))?.unwrap_or_default()))
    }
}

/// G7
#[tokio::test]
async fn a_step_that_hangs_is_parked_when_its_time_is_up_and_an_operator_goes_past_it() {
    each_way(
        IN_MEMORY,
        || Hangs,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            t.settle().await;
            let run = t.run().await;
            // Others read and write meanwhile, but for the step that needs what it has locked.
            run.set(Hangs::NOTES.at("ada"), "was here".into()).await.unwrap();
            assert_eq!(run.skip_step("hang-1").await.unwrap_err().kind(), ErrorKind::NotFound);
            t.advance(seconds(60)).await;
            t.phase().await;
            let steps = t.run().await.describe().await.unwrap().steps;
            let phases: Vec<_> = steps.iter().map(|step| (step.id.as_str(), step.phase)).collect();
            assert_eq!(phases, [("hang-1", StepPhase::Parked), ("end-1", StepPhase::Locked)], "{:?}", t.way);
            t.run().await.skip_step("hang-1").await.unwrap();
            t.phase().await;
            assert_eq!(t.run().await.output().await.unwrap(), "was here");
        },
    )
    .await;
}
