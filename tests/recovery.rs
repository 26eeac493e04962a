//! The engine dies in every phase of a step and goes on as if it had not; nothing counts twice.
#![cfg(test)]

mod support;

use dex::inspect::StepPhase;
use dex::prelude::*;
use support::{ALL, Counter, Way, each_way, hours, seconds};
use tokio::sync::watch;

/// Goes through every phase, and counts how often its handlers run and how often that counts.
struct Phases {
    begun: Counter,
    /// Handlers return once this is `true`.
    open: watch::Sender<bool>,
    mended: watch::Sender<bool>,
}

fn phases() -> Phases {
    Phases { begun: Counter::default(), open: watch::Sender::new(true), mended: watch::Sender::new(false) }
}

#[flow(output = (u32, String))]
impl Phases {
    #[attribute]
    const COUNTED: Attribute<u32>;
    #[channel]
    const MESSAGES: Channel<String>;

    #[step(start)]
    async fn begin(&self, ctx: &mut StepContext<Self>, _input: ()) -> StepResult<Self> {
        self.begun.add();
        let _ = self.open.subscribe().wait_for(|open| *open).await;
        count(ctx)?;
        Ok(Next::to(Self::FAIL_ONCE, ()))
    }

    #[step(retry(initial = "1h", max_interval = "1h"))]
    async fn fail_once(&self, ctx: &mut StepContext<Self>, _input: ()) -> StepResult<Self> {
        count(ctx)?;
        if ctx.attempt() == 1 {
            return Err(StepError::new("once"));
        }
        Ok(Next::to(Self::PARK, ()))
    }

    #[step]
    async fn park(&self, ctx: &mut StepContext<Self>, _input: ()) -> StepResult<Self> {
        count(ctx)?;
        if *self.mended.borrow() {
            return Ok(Next::to(Self::TAKE, ()));
        }
        Ok(Next::each(Self::TAKE, Vec::<()>::new()))
    }

    #[wait_for(take)]
    fn a_message(&self) -> WaitResult<Self, String> {
        Ok(Wait::one(Self::MESSAGES.one()))
    }

    #[step]
    async fn take(&self, ctx: &mut StepContext<Self>, _input: (), message: String) -> StepResult<Self> {
        count(ctx)?;
        let counted = ctx.get(Self::COUNTED)?.unwrap_or_default();
        Ok(Next::complete((counted, message)))
    }
}

fn count(ctx: &mut StepContext<Phases>) -> Result<(), StepError> {
    let counted = ctx.get(Phases::COUNTED)?.unwrap_or_default();
    ctx.set(Phases::COUNTED, counted + 1)
}

/// Where the run stands, after the engine was opened again.
async fn stands(t: &mut support::World<'_, Phases>, step: &str, phase: StepPhase) {
    for _ in 0..2 {
        t.settle().await;
        let info = t.run().await.describe().await.unwrap();
        assert_eq!(info.steps.len(), 1, "{:?}: {info:?}", t.way);
        assert_eq!((info.steps[0].id.as_str(), info.steps[0].phase), (step, phase), "{:?}", t.way);
        t.reopen().await;
    }
}

#[tokio::test]
async fn a_run_goes_on_from_every_phase_and_each_step_counts_once() {
    each_way(ALL, phases, async |t| {
        t.client().start("r", ()).await.unwrap();
        stands(t, "fail_once-1", StepPhase::Retrying).await;
        t.advance(hours(2)).await;
        stands(t, "park-1", StepPhase::Parked).await;
        t.flow::<Phases>().mended.send_replace(true);
        t.run().await.retry_step("park-1").await.unwrap();
        stands(t, "take-1", StepPhase::Waiting).await;
        t.run().await.publish(Phases::MESSAGES, "m".into()).await.unwrap();
        t.reopen().await;
        assert_eq!(t.run().await.output().await.unwrap(), (4, "m".into()));
    })
    .await;
}

#[tokio::test]
async fn a_handler_that_was_cut_off_runs_again_and_counts_once() {
    let begun = Counter::default();
    let open = watch::Sender::new(false);
    let flow = || Phases { begun: begun.clone(), open: open.clone(), ..phases() };
    each_way(&[Way::Restarted, Way::OnDisk], flow, async |t| {
        open.send_replace(false);
        let before = begun.get();
        t.client().start("r", ()).await.unwrap();
        for run in 1..=3 {
            t.settle().await;
            assert_eq!(begun.get() - before, run, "{:?}", t.way);
            t.restart().await.unwrap();
        }
        open.send_replace(true);
        t.settle().await;
        let info = t.run().await.describe().await.unwrap();
        assert_eq!(info.steps[0].id, "fail_once-1");
        // The start, one step, and one failed attempt: what was cut off wrote nothing.
        assert_eq!(info.transitions, 3);
    })
    .await;
}

#[tokio::test]
async fn a_message_that_was_accepted_right_before_the_crash_is_there() {
    each_way(&[Way::Restarted, Way::OnDisk, Way::Closed], phases, async |t| {
        t.client().start("r", ()).await.unwrap();
        for number in 0..10 {
            t.run().await.publish(Phases::MESSAGES, number.to_string()).await.unwrap();
            t.reopen().await;
            let info = t.run().await.describe().await.unwrap();
            assert_eq!(info.channels[0].waiting, number + 1, "{:?}", t.way);
        }
    })
    .await;
}

#[tokio::test]
async fn handles_and_waiting_callers_outlive_a_crash() {
    each_way(&[Way::Restarted, Way::OnDisk], phases, async |t| {
        t.flow::<Phases>().mended.send_replace(true);
        let run = t.client().start("r", ()).await.unwrap();
        let waiting = tokio::spawn({
            let run = run.clone();
            async move { run.output().await }
        });
        for _ in 0..3 {
            t.settle().await;
            t.restart().await.unwrap();
            t.advance(hours(1)).await;
        }
        run.publish(Phases::MESSAGES, "m".into()).await.unwrap();
        assert_eq!(waiting.await.unwrap().unwrap(), (4, "m".into()));
    })
    .await;
}

#[tokio::test]
async fn a_parked_step_that_does_not_exist_is_told_so() {
    each_way(&[Way::Straight, Way::Restarted], phases, async |t| {
        t.client().start("r", ()).await.unwrap();
        t.phase().await;
        for (step, text) in
            [("take-1", "no open step execution"), ("fail_once-1", "not parked"), ("", "no open")]
        {
            let error = t.run().await.retry_step(step).await.err().unwrap();
            assert!(error.is_not_found(), "{error:?}");
            assert!(error.to_string().contains(text), "{error}");
        }
        t.advance(seconds(1)).await;
    })
    .await;
}

#[tokio::test]
async fn a_hundred_runs_in_all_phases_survive_a_crash_together() {
    each_way(&[Way::Restarted, Way::OnDisk], phases, async |t| {
        t.flow::<Phases>().mended.send_replace(true);
        for number in 0..100 {
            t.client().start(format!("r{number}"), ()).await.unwrap();
            if number % 10 == 0 {
                t.advance(seconds(400)).await;
                t.reopen().await;
            }
        }
        t.advance(hours(2)).await;
        for number in 0..100 {
            let run = t.client().run(format!("r{number}")).await.unwrap();
            run.publish(Phases::MESSAGES, number.to_string()).await.unwrap();
        }
        t.reopen().await;
        for number in 0..100 {
            let run = t.client().run(format!("r{number}")).await.unwrap();
            assert_eq!(run.output().await.unwrap(), (4, number.to_string()));
        }
    })
    .await;
}
