//! What an operator does to a run that does not go on by itself.
#![cfg(test)]

mod support;

use std::time::Duration;

use dex::ErrorKind;
use dex::inspect::StepPhase;
use dex::prelude::*;
use serde_json::json;
use support::{IN_MEMORY, World, each_way, hours};

const DAY: Duration = hours(24);

/// A step that cannot succeed, beside one that can.
struct Stuck;

#[flow(output = String)]
impl Stuck {
    #[channel]
    const PARCELS: Channel<String>;

    #[step(start)]
    async fn begin(&self, _input: ()) -> StepResult<Self> {
        Ok(Next::to(Self::SHIP, 7).and(Self::BILL, ()))
    }

    #[wait_for(ship)]
    fn a_parcel(&self, _ctx: &WaitContext<Self>, _number: &u32) -> WaitResult<Self, String> {
        Ok(Wait::one(Self::PARCELS.one()))
    }

    #[step(retry(attempts = 1), on_exhausted = park)]
    async fn ship(&self, _ctx: &mut StepContext<Self>, number: u32, parcel: String) -> StepResult<Self> {
        Err(StepError::fatal(format!("nobody takes {parcel} of order {number}")))
    }

    #[step]
    async fn bill(&self, _input: ()) -> StepResult<Self> {
        Ok(Next::complete("billed".into()))
    }

    /// An operator comes here when `ship` cannot go on.
    #[step(entry)]
    async fn collect(&self, place: String) -> StepResult<Self> {
        Ok(Next::complete(format!("to collect from {place}")))
    }
}

/// The run `r`, whose step `ship` is parked with a parcel in its hands.
async fn parked(t: &mut World<'_, Stuck>) -> <Stuck as Flow>::Run {
    let run = t.client().start("r", ()).await.unwrap();
    run.publish(Stuck::PARCELS, "a parcel".into()).await.unwrap();
    t.phase().await;
    let run = t.run().await;
    let info = run.describe().await.unwrap();
    assert_eq!((info.steps[0].id.as_str(), info.steps[0].phase), ("ship-1", StepPhase::Parked), "{info:?}");
    assert_eq!(info.channels[0].reserved, 1);
    assert!(info.explain().contains("skip_step"), "{}", info.explain());
    run
}

#[tokio::test]
async fn a_parked_step_that_is_skipped_ends_its_branch_and_the_run_completes_without_it() {
    each_way(
        IN_MEMORY,
        || Stuck,
        async |t| {
            let run = parked(t).await;
            run.skip_step("ship-1").await.unwrap();
            t.phase().await;
            let result = t.run().await.result().await.unwrap();
            assert_eq!(result.output().unwrap(), "billed");
            // Its parcel was given back, and nobody has taken it since.
            assert_eq!(result.unconsumed_messages(), 1);
        },
    )
    .await;
}

#[tokio::test]
async fn a_parked_step_that_is_redirected_goes_on_as_another_one() {
    each_way(
        IN_MEMORY,
        || Stuck,
        async |t| {
            let run = parked(t).await;
            run.redirect_step("ship-1", Stuck::COLLECT, "shelf 3".into()).await.unwrap();
            t.phase().await;
            let outputs = t.run().await.result().await.unwrap().outputs().unwrap();
            let outputs: Vec<_> =
                outputs.iter().map(|(step, output)| (step.as_str(), output.as_str())).collect();
            assert_eq!(outputs, [("bill-1", "billed"), ("collect-1", "to collect from shelf 3")]);
        },
    )
    .await;
}

#[tokio::test]
async fn skipping_twice_under_one_request_is_skipping_once() {
    each_way(
        IN_MEMORY,
        || Stuck,
        async |t| {
            let run = parked(t).await.request_id("fix-1").unwrap();
            run.redirect_step("ship-1", Stuck::COLLECT, "shelf 3".into()).await.unwrap();
            t.phase().await;
            // The execution is gone, and its repetition is answered all the same.
            let again = t.run().await.request_id("fix-1").unwrap();
            again.redirect_step("ship-1", Stuck::COLLECT, "shelf 3".into()).await.unwrap();
            let error = again.skip_step("ship-1").await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::RequestMismatch);
            assert_eq!(t.run().await.result().await.unwrap().outputs().unwrap().len(), 2);
        },
    )
    .await;
}

#[tokio::test]
async fn by_names_and_json_it_is_the_same() {
    each_way(
        IN_MEMORY,
        || Stuck,
        async |t| {
            parked(t).await;
            let run = t.dex().dynamic().run("r").await.unwrap();
            let error = run.redirect_step("ship-1", "colect", json!("shelf 3")).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnknownName);
            assert!(error.to_string().contains("did you mean `collect`"), "{error}");
            let error = run.redirect_step("ship-1", "PARCELS", json!("shelf 3")).await.unwrap_err();
            assert!(error.to_string().contains("it is the name of a channel"), "{error}");

            // An input of another type stops the step that gets it, with the reason.
            run.redirect_step("ship-1", "collect", json!(3)).await.unwrap();
            t.settle().await;
            let info = run.describe().await.unwrap();
            assert!(info.explain().contains("collect-1 is parked"), "{}", info.explain());
            run.retry_step("collect-1").await.unwrap();
            t.settle().await;
            run.skip_step("collect-1").await.unwrap();
            assert_eq!(run.output().await.unwrap(), json!("billed"));
        },
    )
    .await;
}

#[tokio::test]
async fn what_is_not_parked_is_not_moved() {
    each_way(
        IN_MEMORY,
        || Stuck,
        async |t| {
            let run = t.client().start("r", ()).await.unwrap();
            t.settle().await;
            for (step, text) in
                [("ship-1", "not parked"), ("ship-2", "no open step execution"), ("", "no open")]
            {
                for error in [
                    run.skip_step(step).await.unwrap_err(),
                    run.redirect_step(step, Stuck::COLLECT, "shelf".into()).await.unwrap_err(),
                ] {
                    assert!(error.is_not_found(), "{error:?}");
                    assert!(error.to_string().contains(text), "{error}");
                }
            }
            run.terminate().await.unwrap();
            assert!(run.skip_step("ship-1").await.is_err());
        },
    )
    .await;
}

/// Waits for two timers, then for a message or a year.
struct Patient;

#[flow(output = String)]
impl Patient {
    #[channel]
    const CALLS: Channel<String>;

    #[wait_for(rest)]
    fn a_week(&self, _ctx: &WaitContext<Self>, _input: &()) -> WaitResult<Self, (TimerFired, TimerFired)> {
        Ok(Wait::all((Timer::after(7 * DAY), Timer::after(DAY))))
    }

    #[step(start)]
    async fn rest(
        &self,
        _ctx: &mut StepContext<Self>,
        _input: (),
        _rested: (TimerFired, TimerFired),
    ) -> StepResult<Self> {
        Ok(Next::to(Self::LISTEN, ()))
    }

    #[wait_for(listen)]
    fn a_call_or_a_year(
        &self,
        _ctx: &WaitContext<Self>,
        _input: &(),
    ) -> WaitResult<Self, OneOf2<String, TimerFired>> {
        Ok(Wait::any((Self::CALLS.one(), Timer::after(365 * DAY))))
    }

    #[step]
    async fn listen(
        &self,
        _ctx: &mut StepContext<Self>,
        _input: (),
        heard: OneOf2<String, TimerFired>,
    ) -> StepResult<Self> {
        Ok(Next::complete(match heard {
            OneOf2::First(call) => call,
            OneOf2::Second(TimerFired) => "silence".into(),
        }))
    }
}

#[tokio::test]
async fn timers_are_skipped_one_after_the_other() {
    each_way(
        IN_MEMORY,
        || Patient,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            t.phase().await;
            for left in ["rest-1", "rest-1", "listen-1"] {
                let run = t.run().await;
                assert_eq!(run.describe().await.unwrap().steps[0].id, left);
                run.skip_timer(left).await.unwrap();
                t.phase().await;
            }
            assert_eq!(t.run().await.output().await.unwrap(), "silence");
        },
    )
    .await;
}

#[tokio::test]
async fn a_wait_whose_first_timer_was_skipped_still_waits_for_the_second() {
    each_way(
        IN_MEMORY,
        || Patient,
        async |t| {
            t.client().start("r", ()).await.unwrap();
            t.settle().await;
            t.run().await.skip_timer("rest-1").await.unwrap();
            t.phase().await;
            t.advance(6 * DAY).await;
            assert_eq!(t.run().await.describe().await.unwrap().steps[0].id, "rest-1");
            t.advance(DAY).await;
            let run = t.run().await;
            assert_eq!(run.describe().await.unwrap().steps[0].id, "listen-1");
            run.publish(Patient::CALLS, "hello".into()).await.unwrap();
            assert_eq!(run.output().await.unwrap(), "hello");
        },
    )
    .await;
}

#[tokio::test]
async fn what_waits_for_no_timer_is_told_so() {
    each_way(
        IN_MEMORY,
        || Stuck,
        async |t| {
            let run = t.client().start("r", ()).await.unwrap();
            t.settle().await;
            let error = run.skip_timer("ship-1").await.unwrap_err();
            assert!(error.is_not_found(), "{error:?}");
            assert!(error.to_string().contains("waits for no timer"), "{error}");
            let error = t.dex().dynamic().run("r").await.unwrap().skip_timer("bill-1").await.unwrap_err();
            assert!(error.to_string().contains("no open step execution"), "{error}");
        },
    )
    .await;
}
