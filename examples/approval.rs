//! Approval with reminders and escalation: a step that goes to itself until somebody answers.
//!
//! The program plays eight days in a blink: it runs the flow on the test kit's clock, which it moves. In
//! production the same flow runs on `Dex::open`, and the days are days.
//!
//! What to look at: the wait's outcome is an enum, so "who answered, or did nobody" is a `match`; and the number of
//! reminders is the step's input, so a loop needs no state of its own.
#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use std::time::Duration;

use dex::prelude::*;
use dex::testing;
use serde::{Deserialize, Serialize};

const DAY: Duration = Duration::from_hours(24);

/// Reminders to the one who was asked, before the boss is.
const REMINDERS: u32 = 2;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Answer {
    by: String,
    yes: bool,
}

struct Approval;

#[flow(output = String)]
impl Approval {
    #[channel]
    const ANSWERS: Channel<Answer>;

    #[step(start)]
    async fn ask(&self, what: String) -> StepResult<Self> {
        println!("to kim: {what}?");
        Ok(Next::to(Self::DECIDE, 0))
    }

    #[wait_for(decide)]
    fn an_answer_or_two_days(&self, _reminders: &u32) -> WaitResult<Self, OneOf2<Answer, TimerFired>> {
        Ok(Wait::any((Self::ANSWERS.one(), Timer::after(2 * DAY))))
    }

    #[step]
    async fn decide(&self, reminders: u32, answer: OneOf2<Answer, TimerFired>) -> StepResult<Self> {
        Ok(match answer {
            OneOf2::First(Answer { by, yes: true }) => Next::complete(format!("{by} said yes")),
            OneOf2::First(Answer { by, yes: false }) => Next::fail(format!("{by} said no")),
            OneOf2::Second(TimerFired) if reminders < REMINDERS => {
                println!("to kim: reminder {}", reminders + 1);
                Next::to(Self::DECIDE, reminders + 1)
            }
            OneOf2::Second(TimerFired) => {
                println!("to the boss: kim does not answer");
                Next::to(Self::DECIDE, reminders)
            }
        })
    }

    #[rpc]
    async fn answer(&self, ctx: &mut RpcContext<Self>, answer: Answer) -> RpcResult<()> {
        ctx.publish(Self::ANSWERS, answer)
    }
}

#[tokio::main]
async fn main() -> dex::Result<()> {
    let engine = testing::engine().flow(Approval).start().await?;
    let approvals = engine.client::<Approval>();

    let run = approvals.start("quick", "a day off".into()).await?;
    engine.advance(DAY).await;
    run.answer(Answer { by: "kim".into(), yes: true }).await?;
    println!("{}", run.output().await?);

    let run = approvals.start("slow", "a new chair".into()).await?;
    for _ in 0..7 {
        engine.advance(DAY).await;
    }
    run.answer(Answer { by: "the boss".into(), yes: false }).await?;
    // A decision to fail is an error where an output was expected.
    println!("{}", run.output().await.err().map(|error| error.to_string()).unwrap_or_default());
    engine.shutdown(Duration::from_secs(1)).await
}
