//! Rows 1 to 15: inputs, outputs, ids, steps with and without a wait.

use dex::prelude::*;
use dex::{Closing, ErrorKind, FailureKind, Reuse, Status};
use serde::{Deserialize, Serialize};

use crate::support::{ALL, IN_MEMORY, each_way, each_way_beside, seconds};

/// Adds one in each of two steps; the first computes its number before it.
struct TwoSteps;

#[flow(output = u32)]
impl TwoSteps {
    #[wait_for(first)]
    fn no_wait(&self, _ctx: &WaitContext<Self>, input: &u32) -> WaitResult<Self, u32> {
        Ok(Wait::ready(input + 1))
    }

    #[step(start)]
    async fn first(&self, _input: u32, local: u32) -> StepResult<Self> {
        Ok(Next::to(Self::SECOND, local))
    }

    #[step]
    async fn second(&self, number: u32) -> StepResult<Self> {
        Ok(Next::complete(number + 1))
    }
}

/// Row 1
#[tokio::test]
async fn two_steps_pass_a_number_on_and_the_id_is_taken_afterwards() {
    each_way(
        ALL,
        || TwoSteps,
        async |t| {
            let run = t.client().start("r", 0).reuse(Reuse::Reject).await.unwrap();
            t.phase().await;
            assert_eq!(t.run().await.output().await.unwrap(), 2);
            let error = t.client().start("r", 0).reuse(Reuse::Reject).await.unwrap_err();
            assert!(error.is_already_started(), "{error:?}");
            assert_eq!(error.existing_run(), Some((run.run_id(), Status::Completed)));
        },
    )
    .await;
}

/// Row 9
#[tokio::test]
async fn the_end_of_a_step_is_waited_for_before_the_end_of_the_run() {
    each_way(
        IN_MEMORY,
        || TwoSteps,
        async |t| {
            t.client().start("r", 5).await.unwrap();
            t.reopen().await;
            let run = t.run().await;
            run.wait_for_step(TwoSteps::SECOND, 1).await.unwrap();
            run.wait_for_step(TwoSteps::SECOND, 1).timeout(seconds(30)).await.unwrap();
            assert_eq!(run.output().await.unwrap(), 7);
        },
    )
    .await;
}

/// Its only step always fails.
struct Fails;

#[flow(output = ())]
impl Fails {
    #[step(start, retry(attempts = 1))]
    async fn only(&self, fail: bool) -> StepResult<Self> {
        if fail { Err(StepError::new("out of order")) } else { Ok(Next::complete(())) }
    }
}

/// Row 2
#[tokio::test]
async fn an_id_whose_run_failed_may_go_to_a_run_of_another_flow() {
    each_way_beside(
        ALL,
        || Fails,
        |engine| engine.flow(TwoSteps),
        async |t| {
            let run = t.client().start("r", true).reuse(Reuse::AllowIfFailed).await.unwrap();
            assert_eq!(run.result().await.unwrap().status(), Status::Failed);
            t.phase().await;
            let client = t.dex().client::<TwoSteps>();
            let next = client.start("r", 0).reuse(Reuse::AllowIfFailed).await.unwrap();
            assert_eq!(next.output().await.unwrap(), 2);
            t.phase().await;
            // The id is the second run's now, which did not fail.
            assert_eq!(t.client().run("r").await.unwrap_err().kind(), ErrorKind::WrongFlow);
            let error = t.client().start("r", true).reuse(Reuse::AllowIfFailed).await.unwrap_err();
            assert_eq!(error.existing_run(), Some((next.run_id(), Status::Completed)));
        },
    )
    .await;
}

/// Two steps with nothing to say, under a name of its own.
struct Nothing;

#[flow(name = "nothing/at-all")]
impl Nothing {
    #[step(start)]
    async fn first(&self) -> StepResult<Self> {
        Ok(Next::to(Self::SECOND, ()))
    }

    #[step]
    async fn second(&self) -> StepResult<Self> {
        Ok(Next::complete(()))
    }
}

/// Row 3
// A `()` is an output like any other.
#[tokio::test]
async fn a_flow_with_a_name_of_its_own_takes_nothing_and_gives_nothing() {
    each_way(
        IN_MEMORY,
        || Nothing,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            t.phase().await;
            let run = t.run().await;
            run.output().timeout(seconds(1)).await.unwrap();
            assert_eq!(run.result().await.unwrap().outputs().unwrap(), [("second-1".to_owned(), ())]);
            assert_eq!(run.describe().await.unwrap().flow.as_str(), "nothing/at-all");
            let error = t.client().run("nobody").await.unwrap_err();
            assert!(error.is_not_found() && error.to_string().contains("nobody"), "{error:?}");
        },
    )
    .await;
}

/// Has the name of [`Nothing`], another input, and is registered nowhere.
struct Impostor;

#[flow(name = "nothing/at-all", output = u32)]
impl Impostor {
    #[step(start)]
    async fn first(&self, input: u32) -> StepResult<Self> {
        Ok(Next::complete(input))
    }
}

/// Row 4
#[tokio::test]
async fn a_type_that_has_only_the_name_of_a_registered_flow_starts_and_finds_nothing() {
    each_way(
        IN_MEMORY,
        || Nothing,
        async |t| {
            t.client().start("r", ()).await.unwrap().output().await.unwrap();
            t.phase().await;
            let impostor = t.dex().client::<Impostor>();
            let started = impostor.start("s", 1).await.unwrap_err();
            let found = impostor.run("r").await.unwrap_err();
            for error in [started, found, t.dex().flow::<Impostor>().err().unwrap()] {
                assert_eq!(error.kind(), ErrorKind::InvalidSetup);
                assert!(error.to_string().contains("another type is registered"), "{error}");
            }
            assert!(t.client().run("s").await.unwrap_err().is_not_found());
        },
    )
    .await;
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Order {
    value: u32,
}

/// Takes a struct apart.
struct Orders;

#[flow(output = u32)]
impl Orders {
    #[step(start)]
    async fn only(&self, order: Order) -> StepResult<Self> {
        Ok(Next::complete(order.value))
    }
}

/// Row 5
#[tokio::test]
async fn an_input_may_be_a_struct() {
    each_way(
        IN_MEMORY,
        || Orders,
        async |t| {
            t.client().start("r", Order { value: 10 }).await.unwrap();
            t.phase().await;
            assert_eq!(t.run().await.output().await.unwrap(), 10);
        },
    )
    .await;
}

/// Waits for a word.
struct Listener;

#[flow(output = String)]
impl Listener {
    #[channel]
    const WORDS: Channel<String>;

    #[wait_for(listen)]
    fn a_word(&self) -> WaitResult<Self, String> {
        Ok(Wait::one(Self::WORDS.one()))
    }

    #[step(start)]
    async fn listen(&self, _input: (), word: String) -> StepResult<Self> {
        Ok(Next::complete(word))
    }
}

/// Row 8
#[tokio::test]
async fn a_run_that_waits_is_running_until_it_is_canceled() {
    each_way(
        IN_MEMORY,
        || Listener,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            t.phase().await;
            assert_eq!(t.run().await.describe().await.unwrap().status, Status::Running);
            t.run().await.cancel().await.unwrap();
            t.phase().await;
            assert_eq!(t.run().await.result().await.unwrap().status(), Status::Canceled);
        },
    )
    .await;
}

/// Its wait never succeeds; by its input the step has a recovery or not.
struct BadWait;

#[flow(output = String)]
impl BadWait {
    #[step(start)]
    async fn begin(&self, mend: bool) -> StepResult<Self> {
        Ok(if mend { Next::to(Self::MENDED, "input".into()) } else { Next::to(Self::BROKEN, 5) })
    }

    #[wait_for(mended)]
    fn never(&self) -> WaitResult<Self, ()> {
        Err(StepError::new("condition `x` is not known"))
    }

    #[step(retry(attempts = 2, initial = "1s"), on_failure = without)]
    async fn mended(&self, _input: String, _outcome: ()) -> StepResult<Self> {
        Ok(Next::fail("it ran without its wait"))
    }

    #[step]
    async fn without(&self, ctx: &mut StepContext<Self>, input: String) -> StepResult<Self> {
        let recovery = ctx.recovery().ok_or_else(|| StepError::fatal("nothing to recover from"))?;
        if recovery.attempts != 2 || recovery.may_have_run || recovery.step.as_str() != "mended" {
            return Ok(Next::fail(format!("{recovery:?}")));
        }
        Ok(Next::complete(format!("{input}-recovered")))
    }

    #[wait_for(broken)]
    fn never_either(&self) -> WaitResult<Self, ()> {
        Err(StepError::new("condition `x` is not known"))
    }

    #[step(retry(attempts = 1))]
    async fn broken(&self, _input: u32, _outcome: ()) -> StepResult<Self> {
        Ok(Next::fail("it ran without its wait"))
    }
}

/// Row 10
// A step never runs without the outcome that it takes: its recovery step goes on in its place.
#[tokio::test]
async fn a_step_whose_wait_fails_for_good_hands_its_input_to_its_recovery() {
    each_way(
        IN_MEMORY,
        || BadWait,
        async |t| {
            t.client().start("r", true).await.unwrap();
            t.phase().await;
            t.advance(seconds(2)).await;
            t.phase().await;
            assert_eq!(t.run().await.output().await.unwrap(), "input-recovered");
        },
    )
    .await;
}

/// Rows 15 and 42
#[tokio::test]
async fn a_wait_that_fails_for_good_fails_the_run_with_its_text() {
    each_way(
        IN_MEMORY,
        || BadWait,
        async |t| {
            let run = t.client().start("r", false).await.unwrap();
            t.phase().await;
            let result = t.run().await.result().await.unwrap();
            let Closing::StepFailed { step, number: 1, failure } = result.closing() else {
                panic!("{result:?}")
            };
            assert_eq!((step.as_str(), failure.kind), ("broken", FailureKind::Error));
            assert_eq!(failure.message, "condition `x` is not known");
            assert!(result.outputs().unwrap().is_empty());
            let info = t.run().await.describe().await.unwrap();
            assert_eq!((info.run_id, info.status), (run.run_id(), Status::Failed));
        },
    )
    .await;
}

/// A step without a wait, then one with a timer.
struct Mixed;

#[flow(output = u32)]
impl Mixed {
    #[step(start, timeout = "5s")]
    async fn first(&self, number: u32) -> StepResult<Self> {
        Ok(Next::to(Self::SECOND, number + 1))
    }

    #[wait_for(second)]
    fn a_second(&self) -> WaitResult<Self, TimerFired> {
        Ok(Wait::one(Timer::after(seconds(1))))
    }

    #[step]
    async fn second(&self, number: u32, _fired: TimerFired) -> StepResult<Self> {
        Ok(Next::complete(number + 1))
    }
}

/// Row 11
#[tokio::test]
async fn steps_with_and_without_a_wait_mix() {
    each_way(
        IN_MEMORY,
        || Mixed,
        async |t| {
            t.client().start("r", 0).await.unwrap();
            t.phase().await;
            assert_eq!(t.run().await.describe().await.unwrap().steps[0].id, "second-1");
            t.advance(seconds(1)).await;
            assert_eq!(t.run().await.output().await.unwrap(), 2);
        },
    )
    .await;
}

/// Two steps, none of which waits.
struct Plain;

#[flow(output = u32)]
impl Plain {
    #[step(start)]
    async fn first(&self, number: u32) -> StepResult<Self> {
        Ok(Next::to(Self::SECOND, number + 1))
    }

    #[step]
    async fn second(&self, number: u32) -> StepResult<Self> {
        Ok(Next::complete(number + 1))
    }
}

/// Row 13
#[tokio::test]
async fn steps_without_a_wait_follow_one_another_at_once() {
    each_way(
        IN_MEMORY,
        || Plain,
        async |t| {
            let start = t.now();
            t.client().start("r", 0).await.unwrap();
            t.phase().await;
            assert_eq!(t.run().await.output().await.unwrap(), 2);
            // The start and one transition for each step, and no time.
            let info = t.run().await.describe().await.unwrap();
            assert_eq!((info.transitions, info.closed.unwrap().at), (3, start));
        },
    )
    .await;
}

/// What the branches of [`TwoKinds`] complete with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Part {
    Text(String),
    Number(u32),
}

/// Two branches, each with an output of its own kind.
struct TwoKinds;

#[flow(output = Part)]
impl TwoKinds {
    #[step(start)]
    async fn begin(&self) -> StepResult<Self> {
        Ok(Next::to(Self::TEXT, ()).and(Self::NUMBER, ()))
    }

    #[step]
    async fn text(&self) -> StepResult<Self> {
        Ok(Next::complete(Part::Text("branch-one".into())))
    }

    #[step]
    async fn number(&self) -> StepResult<Self> {
        Ok(Next::complete(Part::Number(42)))
    }
}

/// Row 14
// A flow has one output type: outputs of several kinds are an enum.
#[tokio::test]
async fn two_branches_give_outputs_of_two_kinds_each_with_its_execution() {
    each_way(
        IN_MEMORY,
        || TwoKinds,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            t.phase().await;
            let mut outputs = t.run().await.result().await.unwrap().outputs().unwrap();
            outputs.sort_by(|a, b| a.0.cmp(&b.0));
            let expected = [
                ("number-1".to_owned(), Part::Number(42)),
                ("text-1".to_owned(), Part::Text("branch-one".into())),
            ];
            assert_eq!(outputs, expected);
        },
    )
    .await;
}
