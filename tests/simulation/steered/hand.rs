//! A hand that steers runs.

use dex::Run;
use dex::inspect::{RunInfo, StepPhase};

use super::ledger::{Call, Deed, Told};
use super::plant::Plant;
use super::{IDS, World};
use crate::plan::Random;

impl World {
    /// Does something to a run.
    pub(super) async fn steer(&self, random: &mut Random) {
        let id = random.place(IDS);
        let Some(run) = self.find(id).await else { return self.start(id, random).await };
        let deed = match random.below(100) {
            0..46 => Deed::Publish,
            46..56 => Deed::Add,
            56..66 => Deed::Pause,
            66..77 => Deed::Resume,
            77..80 => Deed::Cancel,
            80..82 => Deed::Terminate,
            82..85 => Deed::SkipTimer,
            85..88 => Deed::Retry,
            88..91 => Deed::Skip,
            91..94 => Deed::Redirect,
            94..96 => Deed::Mend,
            _ => return self.start(id, random).await,
        };
        let phase = if matches!(deed, Deed::SkipTimer) { StepPhase::Waiting } else { StepPhase::Parked };
        let steps = match deed {
            Deed::SkipTimer | Deed::Retry | Deed::Skip | Deed::Redirect => self.steps(&run, phase).await,
            _ => vec![String::new()],
        };
        if !steps.is_empty() {
            let step = steps[random.place(steps.len())].clone();
            self.act(&run, deed, step).await;
        }
    }

    /// The step executions of a run that are in this phase.
    pub(super) async fn steps(&self, run: &Run<Plant>, phase: StepPhase) -> Vec<String> {
        let describe = || -> Call<RunInfo> {
            let run = run.clone();
            Box::pin(async move { run.describe().await })
        };
        let Told::Done(info) = self.surely(describe).await else { return Vec::new() };
        info.steps.into_iter().filter(|step| step.phase == phase).map(|step| step.id).collect()
    }

    /// Does this to a run, for certain and once.
    pub(super) async fn act(&self, run: &Run<Plant>, deed: Deed, step: String) {
        let (request, number) = {
            let mut ledger = self.ledger.lock().await;
            (ledger.next_request(), ledger.next_number())
        };
        let of = run.run_id();
        let run = run.request_id(&request).unwrap();
        let call = || -> Call<()> {
            let (run, step) = (run.clone(), step.clone());
            Box::pin(async move {
                match deed {
                    Deed::Publish => run.publish(Plant::WORK, number).await,
                    Deed::Add => run.add().await.map(drop),
                    Deed::Mend => run.mend().await,
                    Deed::Pause => run.pause().await,
                    Deed::Resume => run.resume().await,
                    Deed::Cancel => run.cancel().await,
                    Deed::Terminate => run.terminate().await,
                    Deed::SkipTimer => run.skip_timer(&step).await,
                    Deed::Retry => run.retry_step(&step).await,
                    Deed::Skip => run.skip_step(&step).await,
                    Deed::Redirect => run.redirect_step(&step, Plant::SCRAP, number).await,
                }
            })
        };
        let told = self.surely(call).await;
        self.ledger.lock().await.note(of, deed, number, &told);
    }
}
