//! What people see of it: side effects once for each attempt, hints once.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dex::prelude::*;

use crate::support::{IN_MEMORY, each_way, seconds};

/// Writes a line in each attempt of each step, to a log that outlives engines.
#[derive(Clone, Default)]
struct Logs {
    lines: Arc<Mutex<Vec<String>>>,
}

impl Logs {
    fn log(&self, ctx: &StepContext<Self>) {
        let line = format!("{} {} attempt {}", ctx.flow_id(), ctx.execution_id(), ctx.attempt());
        self.lines.lock().unwrap().push(line);
    }
}

#[flow(output = ())]
impl Logs {
    #[step(start)]
    async fn one(&self, ctx: &mut StepContext<Self>, _input: ()) -> StepResult<Self> {
        self.log(ctx);
        Ok(Next::to(Self::TWO, ()))
    }

    #[step]
    async fn two(&self, ctx: &mut StepContext<Self>, _input: ()) -> StepResult<Self> {
        self.log(ctx);
        match ctx.attempt() {
            1 => Err(StepError::retry_after(seconds(7), "busy")),
            2 => Err(StepError::new("once more")),
            _ => Ok(Next::to(Self::THREE, ())),
        }
    }

    #[step]
    async fn three(&self, ctx: &mut StepContext<Self>, _input: ()) -> StepResult<Self> {
        self.log(ctx);
        Ok(Next::complete(()))
    }
}

/// U1
#[tokio::test]
async fn a_step_writes_one_line_an_attempt_wherever_the_engine_restarts() {
    for way in IN_MEMORY {
        let flow = Logs::default();
        each_way(
            &[*way],
            || flow.clone(),
            async |t| {
                t.client().start("r", ()).await.unwrap();
                for _ in 0..5 {
                    t.phase().await;
                    t.advance(seconds(4)).await;
                }
                t.run().await.output().await.unwrap();
                t.phase().await;
            },
        )
        .await;
        let lines = flow.lines.lock().unwrap().clone();
        let expected =
            ["one-1 attempt 1", "two-1 attempt 1", "two-1 attempt 2", "two-1 attempt 3", "three-1 attempt 1"];
        let expected: Vec<_> = expected.iter().map(|line| format!("r {line}")).collect();
        assert_eq!(lines, expected, "{way:?}");
    }
}

/// U3
#[tokio::test]
async fn a_hint_when_to_come_back_holds_for_one_pause() {
    each_way(IN_MEMORY, Logs::default, async |t| {
        t.client().start("r", ()).await.unwrap();
        t.phase().await;
        let due = t.run().await.describe().await.unwrap().steps[0].due.unwrap();
        assert_eq!(due.since(t.now()), seconds(7));
        t.advance(seconds(7)).await;
        t.phase().await;
        let info = t.run().await.describe().await.unwrap();
        let step = &info.steps[0];
        let pause = step.due.unwrap().since(t.now());
        // The second pause of the default policy, give or take a tenth.
        assert!(pause >= Duration::from_millis(1_800) && pause <= Duration::from_millis(2_200), "{pause:?}");
        let failure = step.last_failure.as_ref().unwrap();
        assert_eq!((step.failures, failure.message.as_str()), (2, "once more"));
        assert!(info.explain().contains("two-1 failed 2 times (once more)"), "{}", info.explain());
    })
    .await;
}
