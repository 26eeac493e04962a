//! Theme C5: the clock is set back.

use std::time::Duration;

use dex::inspect::StepPhase;
use dex::prelude::*;
use dex::{FailureKind, Status};

use crate::support::{ALL, IN_MEMORY, each_way, hours, seconds};

/// Waits for so many seconds, or for a message.
struct Naps;

#[flow(output = String)]
impl Naps {
    #[channel]
    const WAKE: Channel<String>;
    #[stream]
    const NOTES: Stream<u32>;

    #[wait_for(nap)]
    fn so_long(
        &self,
        _ctx: &WaitContext<Self>,
        length: &u64,
    ) -> WaitResult<Self, OneOf2<String, TimerFired>> {
        Ok(Wait::any((Self::WAKE.one(), Timer::after(seconds(*length)))))
    }

    #[step(start)]
    async fn nap(&self, _length: u64, got: OneOf2<String, TimerFired>) -> StepResult<Self> {
        Ok(Next::complete(match got {
            OneOf2::First(message) => message,
            OneOf2::Second(TimerFired) => "slept".into(),
        }))
    }
}

/// C5
#[tokio::test]
async fn a_clock_that_is_set_back_makes_timers_as_much_later_and_loses_none() {
    each_way(
        ALL,
        || Naps,
        async |t| {
            let begun = t.now();
            t.client().start("r", 600).await.unwrap();
            t.phase().await;
            t.run().await.append(Naps::NOTES, 1).await.unwrap();
            t.advance(seconds(300)).await;
            t.set_back(hours(1)).await;
            t.phase().await;
            // What is set from now on counts from now, and nothing waits for the old time to come again.
            t.client().start("short", 60).await.unwrap();
            let woken = t.client().start("woken", 600).await.unwrap();
            woken.publish(Naps::WAKE, "woken".into()).await.unwrap();
            assert_eq!(woken.output().await.unwrap(), "woken");
            t.run().await.append(Naps::NOTES, 2).await.unwrap();
            t.phase().await;
            t.advance(seconds(60)).await;
            t.phase().await;
            let short = t.client().run("short").await.unwrap();
            assert_eq!(short.output().await.unwrap(), "slept", "{:?}", t.way);
            assert_eq!(t.run().await.describe().await.unwrap().status, Status::Running);

            t.advance(begun.since(t.now()) + seconds(599)).await;
            t.phase().await;
            assert_eq!(t.run().await.describe().await.unwrap().status, Status::Running, "{:?}", t.way);
            t.advance(seconds(1)).await;
            let run = t.run().await;
            assert_eq!(run.output().await.unwrap(), "slept", "{:?}", t.way);
            let closed = run.describe().await.unwrap().closed.unwrap();
            assert_eq!(closed.at.since(begun), seconds(600), "a timer is an instant");
            let notes = run.newest(Naps::NOTES, None, 9).await.unwrap();
            assert_eq!(
                notes.iter().map(|note| (note.offset, note.value)).collect::<Vec<_>>(),
                [(2, 2), (1, 1)]
            );
        },
    )
    .await;
}

/// Fails, hangs, and then does its work.
struct Struggles;

#[flow(output = u32)]
impl Struggles {
    #[step(start, retry(initial = "10s", max_interval = "10s"), timeout = "30s")]
    async fn work(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
        match ctx.attempt() {
            1 => Err(StepError::new("not yet")),
            2 => std::future::pending().await,
            attempt => Ok(Next::complete(attempt)),
        }
    }
}

/// C5
#[tokio::test]
async fn pauses_and_timeouts_end_at_their_instants_also_when_the_clock_was_set_back() {
    each_way(
        IN_MEMORY,
        || Struggles,
        async |t| {
            let hour = hours(1);
            t.client().start("r", ()).await.unwrap();
            t.phase().await;
            t.set_back(hour).await;
            t.phase().await;
            let step = async || t.run().await.describe().await.unwrap().steps.remove(0);
            let pause = step().await.due.unwrap().since(t.now());
            assert!(pause > hour + seconds(8) && pause < hour + seconds(12), "{pause:?}");
            t.advance(hour + seconds(12)).await;
            // The second attempt hangs, for as long as it may and as the clock was set back.
            t.set_back(hour).await;
            t.advance(hour).await;
            assert_eq!(step().await.phase, StepPhase::Running, "{:?}", t.way);
            t.advance(seconds(31)).await;
            let failure = step().await.last_failure.unwrap();
            assert_eq!(failure.kind, FailureKind::Timeout, "{:?}", t.way);
            t.advance(Duration::from_secs(12)).await;
            assert_eq!(t.run().await.output().await.unwrap(), 3, "{:?}", t.way);
        },
    )
    .await;
}
