//! Runs that are paused, resumed, cancelled, ended and replaced at any moment, and what has to be true all the same.
//!
//! Everything is asked for under request ids and repeated until the answer is certain, so that what must have happened is
//! known to the last message. `DEX_SIM_SEEDS` and `DEX_SIM_SEED` are those of the other simulation.

mod audit;
mod hand;
mod ledger;
mod plant;

use std::future::IntoFuture;
use std::sync::Arc;
use std::time::Duration;

use dex::inspect::StepPhase;
use dex::testing::{self, FailAt, TestBuilder, TestEngine};
use dex::{Client, Options, Reuse, Run};
use tokio::sync::Mutex;

use crate::plan::Random;
use audit::audit;
use ledger::{Call, Deed, Ledger, Told};
use plant::{Plant, Slow};

/// Enough to meet most pairs of operations, in a few seconds.
const SEEDS: u64 = 24;

/// Flow ids of one simulation.
const IDS: usize = 3;

#[test]
fn runs_that_are_steered_at_any_moment_lose_nothing_and_do_nothing_twice() {
    crate::each_seed(SEEDS, |seed| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(one_after_the_other(seed));
    });
}

#[test]
fn so_it_is_when_many_steer_at_once_on_several_threads() {
    crate::each_seed(SEEDS / 3, |seed| {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
        runtime.block_on(at_once(seed));
    });
}

async fn one_after_the_other(seed: u64) {
    let mut random = Random::new(seed);
    let crashing = random.below(4) == 0;
    let world = World::new(&mut random, crashing).await;
    world.start(0, &mut random).await;
    for _ in 0..80 {
        match random.below(100) {
            0..8 => world.engine.restart().await.unwrap(),
            8..14 => world.fail(&mut random),
            14..17 => world.engine.set_back(Duration::from_secs(random.below(40))).await,
            17..35 => world.advance(&mut random).await,
            _ => world.steer(&mut random).await,
        }
        // So that a seed does the same each time. Many hands meet each other below.
        world.engine.settle().await;
    }
    world.check().await;
}

async fn at_once(seed: u64) {
    let world = Arc::new(World::new(&mut Random::new(seed), false).await);
    world.start(0, &mut Random::new(seed)).await;
    let hands = (0..4).map(|hand| {
        let world = Arc::clone(&world);
        tokio::spawn(async move {
            let mut random = Random::new(seed * 1_000 + hand);
            for _ in 0..40 {
                world.steer(&mut random).await;
            }
        })
    });
    let hands: Vec<_> = hands.collect();
    let mut random = Random::new(seed + 77);
    for _ in 0..12 {
        world.advance(&mut random).await;
        if random.below(4) == 0 {
            world.engine.restart().await.unwrap();
        }
    }
    for hand in hands {
        hand.await.unwrap();
    }
    world.check().await;
}

struct World {
    engine: TestEngine,
    ledger: Mutex<Ledger>,
}

impl World {
    async fn new(random: &mut Random, crashing: bool) -> Self {
        let idle_runs_max = random.place(3);
        let options = Options {
            idle_runs_max,
            timers_max: 1 + random.place(4),
            worker_slots: 1 + random.place(4),
            ..Options::default()
        };
        let builder = testing::engine().flow(Plant { hangs: !crashing }).flow(Slow).options(options);
        let builder = if crashing { builder.crash_after_every_transition() } else { builder };
        let engine = TestBuilder::start(builder).await.unwrap();
        Self { engine, ledger: Mutex::default() }
    }

    fn client(&self) -> Client<Plant> {
        self.engine.client()
    }

    fn fail(&self, random: &mut Random) {
        let at = if random.below(2) == 0 { FailAt::BeforeWriting } else { FailAt::AfterWriting };
        self.engine.store().fail_commit(1 + random.below(3), at);
    }

    async fn advance(&self, random: &mut Random) {
        self.engine.advance(Duration::from_millis(random.below(50_000))).await;
    }

    /// Calls until the answer is certain. If the engine pauses after faults, the clock goes on.
    async fn surely<T>(&self, call: impl Fn() -> Call<T>) -> Told<T> {
        loop {
            let mut asked = call();
            let answer = loop {
                tokio::select! {
                    answer = &mut asked => break answer,
                    () = self.tick_if_it_takes_long() => {}
                }
            };
            if let Some(told) = Told::of(answer) {
                return told;
            }
        }
    }

    async fn tick_if_it_takes_long(&self) {
        let _ = tokio::time::timeout(Duration::from_millis(100), std::future::pending::<()>()).await;
        self.engine.advance(Duration::from_secs(1)).await;
    }

    async fn find(&self, id: usize) -> Option<Run<Plant>> {
        let client = self.client();
        let find = || -> Call<Run<Plant>> {
            let client = client.clone();
            Box::pin(async move { client.run(name(id)).await })
        };
        match self.surely(find).await {
            Told::Done(run) => Some(run),
            Told::Refused => None,
        }
    }

    async fn start(&self, id: usize, random: &mut Random) {
        let reuse = if random.below(3) == 0 { Reuse::TerminateIfRunning } else { Reuse::AllowIfClosed };
        let request = self.ledger.lock().await.next_request();
        let client = self.client();
        let start = || client.start(name(id), ()).reuse(reuse).request_id(&request).into_future();
        if let Told::Done(run) = self.surely(start).await {
            self.ledger.lock().await.started(id, run.run_id(), matches!(reuse, Reuse::TerminateIfRunning));
        }
    }

    /// Lets all go on to where nothing happens by itself, and looks at everything.
    async fn check(&self) {
        self.engine.store().forget_failures();
        self.engine.advance(Duration::from_secs(5)).await;
        for id in 0..IDS {
            // Some were never started, and some have ended.
            let Some(run) = self.find(id).await else { continue };
            self.act(&run, Deed::Resume, String::new()).await;
            self.act(&run, Deed::Mend, String::new()).await;
            self.engine.advance(Duration::from_mins(5)).await;
            for step in self.steps(&run, StepPhase::Parked).await {
                self.act(&run, Deed::Retry, step).await;
            }
        }
        self.engine.advance(Duration::from_mins(10)).await;
        audit(&self.engine, &*self.ledger.lock().await).await;
    }
}

fn name(id: usize) -> String {
    format!("plant-{id}")
}
