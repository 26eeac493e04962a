//! Starting, reuse of ids, waiting for results.

use dex::prelude::*;
use dex::testing::TestEngine;
use dex::{Reuse, Status, Stop};

use crate::support::{Counter, IN_MEMORY, each_way, each_way_beside, engine, seconds};

/// Ends when and how a message says.
struct Ends;

#[flow(output = bool)]
impl Ends {
    #[channel]
    const WELL: Channel<bool>;

    #[step(start)]
    async fn begin(&self, at_once: bool) -> StepResult<Self> {
        Ok(if at_once { Next::complete(true) } else { Next::to(Self::END, ()) })
    }

    #[wait_for(end)]
    fn a_message(&self) -> WaitResult<Self, bool> {
        Ok(Wait::one(Self::WELL.one()))
    }

    #[step]
    async fn end(&self, _input: (), well: bool) -> StepResult<Self> {
        Ok(if well { Next::complete(true) } else { Next::fail("as told") })
    }
}

/// Brings the run `id` to a status.
async fn bring_to(t: &TestEngine, id: &str, status: Status) {
    let run = t.client::<Ends>().start(id, false).await.unwrap();
    match status {
        Status::Completed => run.publish(Ends::WELL, true).await.unwrap(),
        Status::Failed => run.publish(Ends::WELL, false).await.unwrap(),
        Status::Canceled => run.cancel().await.unwrap(),
        Status::Terminated => run.stop(Stop::Terminate, "as told").await.unwrap(),
        _ => return,
    }
    assert_eq!(run.result().await.unwrap().status(), status);
}

/// E2: which policies start a new run over one of this status.
const STARTS_ANEW: [(Status, [bool; 4]); 5] = [
    // Reject, AllowIfFailed, AllowIfClosed, TerminateIfRunning
    (Status::Running, [false, false, false, true]),
    (Status::Completed, [false, false, true, true]),
    (Status::Failed, [false, true, true, true]),
    (Status::Canceled, [false, true, true, true]),
    (Status::Terminated, [false, true, true, true]),
];

const POLICIES: [Reuse; 4] =
    [Reuse::Reject, Reuse::AllowIfFailed, Reuse::AllowIfClosed, Reuse::TerminateIfRunning];

/// E2
#[tokio::test]
async fn each_reuse_policy_does_what_its_name_says_and_never_attaches() {
    each_way(
        IN_MEMORY,
        || Ends,
        async |t| {
            assert_eq!(Reuse::default(), Reuse::Reject);
            for (status, starts_anew) in STARTS_ANEW {
                for (policy, anew) in POLICIES.into_iter().zip(starts_anew) {
                    let id = format!("{status}-{policy:?}");
                    bring_to(t, &id, status).await;
                    t.phase().await;
                    let before = t.client().run(&id).await.unwrap();
                    // The same input as before: that makes no difference.
                    let again = t.client().start(&id, false).reuse(policy).await;
                    let now = t.client().run(&id).await.unwrap();
                    if anew {
                        let again = again.unwrap_or_else(|error| panic!("{id}: {error:?}"));
                        assert_ne!(again.run_id(), before.run_id(), "{id}");
                        assert_eq!(now.run_id(), again.run_id(), "{id}");
                        assert!(before.describe().await.unwrap().status.is_closed(), "{id}");
                    } else {
                        let error = again.err().unwrap_or_else(|| panic!("{id} was started again"));
                        assert_eq!(error.existing_run(), Some((before.run_id(), status)), "{id}");
                        assert_eq!(now.run_id(), before.run_id(), "{id}");
                    }
                }
            }
        },
    )
    .await;
}

/// E7
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn who_waits_for_a_run_that_ends_at_this_moment_is_told() {
    let t = engine(Ends).await;
    for round in 0..500 {
        let run = t.client::<Ends>().start(format!("r{round}"), true).await.unwrap();
        let waiters: Vec<_> = (0..3)
            .map(|_| {
                let run = run.clone();
                tokio::spawn(async move { run.output().await.unwrap() })
            })
            .collect();
        // One that is given up on takes nobody's place.
        drop(run.output());
        for waiter in waiters {
            assert!(waiter.await.unwrap());
        }
        // And long after the end.
        assert!(run.output().await.unwrap());
    }
}

/// A child of [`Loop`].
struct Turn;

#[flow(output = u32)]
impl Turn {
    #[step(start)]
    async fn take(&self, number: u32) -> StepResult<Self> {
        Ok(Next::complete(number))
    }
}

/// Waits for a child in each of its turns; every wait fails once before it is stored.
struct Loop {
    calls: Counter,
}

#[flow(output = Vec<String>)]
impl Loop {
    #[wait_for(turn)]
    fn child(
        &self,
        _ctx: &WaitContext<Self>,
        (left, _seen): &(u32, Vec<String>),
    ) -> WaitResult<Self, ChildResult<Turn>> {
        if self.calls.add() % 2 == 1 {
            return Err(StepError::retry_after(seconds(1), "not yet"));
        }
        Ok(Wait::one(SubFlow::run(*left)))
    }

    #[step(start)]
    async fn turn(&self, (left, mut seen): (u32, Vec<String>), child: ChildResult<Turn>) -> StepResult<Self> {
        seen.push(child.id().to_string());
        Ok(if left == 1 { Next::complete(seen) } else { Next::to(Self::TURN, (left - 1, seen)) })
    }
}

#[tokio::test]
async fn children_of_a_loop_differ_and_those_of_a_repeated_attempt_do_not() {
    let flow = || Loop { calls: Counter::default() };
    each_way_beside(
        IN_MEMORY,
        flow,
        |builder| builder.flow(Turn),
        async |world| {
            let run = world.client().start("r", (5, Vec::new())).await.unwrap();
            let run_id = run.run_id();
            for _ in 0..5 {
                world.phase().await;
                world.advance(seconds(1)).await;
            }
            world.phase().await;
            let seen = world.run().await.output().await.unwrap();
            let expected: Vec<_> = (1..=5).map(|turn| format!("{run_id}/turn-{turn}/0")).collect();
            assert_eq!(seen, expected);
            assert_eq!(world.dex().inspect().runs(None, 99).await.unwrap().len(), 6);
        },
    )
    .await;
}
