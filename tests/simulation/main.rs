//! Random operations and faults against the whole engine, checked against a simple model.
//!
//! `DEX_SIM_SEEDS` sets how many seeds are run, `DEX_SIM_SEED` runs one: the one that a failure names.
#![cfg(test)]

mod faults;
mod flow;
mod model;
mod plan;
mod steered;

use std::env;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dex::testing::{self, TestEngine};
use dex::{Client, Error, ErrorKind, Result, Run};

use faults::Weather;
use flow::{Helper, Machine};
use model::{Answer, Model};
use plan::{Operation, Plan};

/// Enough to meet most pairs of operations, in a few seconds.
const SEEDS: u64 = 50;

/// Seeds at the same time: most of a seed's time is spent waiting to see that a handler which hangs does hang.
const LANES: usize = 4;

#[test]
fn random_operations_and_faults_keep_what_the_model_keeps() {
    each_seed(SEEDS, |seed| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(Simulation::run(seed));
    });
}

/// Runs the simulation of each seed: `seeds` of them, or what the environment says.
fn each_seed(seeds: u64, simulate: fn(u64)) {
    let number = |name: &str| env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let seeds = match number("DEX_SIM_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("DEX_SIM_SEEDS").unwrap_or(seeds),
    };
    let (next, end) = (AtomicU64::new(seeds.start), seeds.end);
    let lane = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= end {
                return;
            }
            let ended = std::panic::catch_unwind(|| simulate(seed));
            assert!(ended.is_ok(), "seed {seed} failed; repeat it with DEX_SIM_SEED={seed}");
        }
    };
    let lanes = LANES.min(usize::try_from(end - seeds.start).unwrap_or(LANES));
    std::thread::scope(|scope| (0..lanes).for_each(|_| drop(scope.spawn(lane))));
}

/// One seed.
struct Simulation {
    engine: TestEngine,
    model: Model,
    weather: Weather,
}

impl Simulation {
    async fn run(seed: u64) {
        let plan = Plan::new(seed);
        let builder = testing::engine().flow(Machine).flow(Helper).options(plan.options.clone());
        let builder = if plan.crashing { builder.crash_after_every_transition() } else { builder };
        let engine = builder.start().await.unwrap();
        let mut simulation = Self { engine, model: Model::default(), weather: Weather::default() };
        for operation in &plan.operations {
            simulation.operate(operation).await;
        }
        simulation.calm_down().await;
        simulation.check_everything().await;
    }

    async fn operate(&mut self, operation: &Operation) {
        eprintln!("{operation:?}");
        match operation {
            Operation::Start { run } => self.start(*run).await,
            Operation::Publish { run, channel, settle } => {
                let number = self.model.next_number();
                let answer = self.on(*run, async |run| run.publish(channel.handle(), number).await).await;
                self.model.published(*run, *channel, number, &answer);
                if *settle {
                    self.engine.settle().await;
                }
            }
            Operation::Add { run } => {
                let answer = self.on(*run, async |run| run.add().await).await;
                self.model.added(*run, &answer);
            }
            Operation::Stop { run } => {
                let answer = self.on(*run, async |run| run.terminate().await).await;
                self.model.stopped(*run, &answer);
            }
            Operation::Look { run } => self.look(*run).await,
            Operation::Advance(by) => self.engine.advance(*by).await,
            Operation::Restart => self.engine.restart().await.unwrap(),
            Operation::Compare => self.compare().await,
            Operation::Fail { nth, at } => self.weather.fail(&self.engine, *nth, *at),
            Operation::FillDisk => self.weather.fill_disk(&self.engine),
            Operation::FreeDisk => self.weather.free_disk(&self.engine).await,
        }
    }

    fn client(&self) -> Client<Machine> {
        self.engine.client()
    }

    async fn start(&mut self, run: usize) {
        let client = self.client();
        let started = self.patiently(async { client.start(id(run), 0).await }).await;
        let answer = self.weather.answer(started.map(|run| run.run_id()));
        self.model.started(run, &answer);
    }

    /// Calls something on a run, if there is one.
    async fn on(&self, run: usize, call: impl AsyncFn(Run<Machine>) -> Result<()>) -> Answer<()> {
        let client = self.client();
        let called = self.patiently(async { call(client.run(id(run)).await?).await }).await;
        self.weather.answer(called)
    }

    async fn look(&mut self, run: usize) {
        let client = self.client();
        let looked = self.patiently(async { client.run(id(run)).await?.describe().await }).await;
        if let Answer::Done(info) = self.weather.answer(looked) {
            self.model.seen(run, info.run_id, info.status);
        }
    }

    /// Waits for a call. If it waits for the clock, as for an engine that pauses after faults, the clock goes on.
    async fn patiently<T>(&self, call: impl Future<Output = Result<T>>) -> Result<T> {
        let mut call = std::pin::pin!(call);
        loop {
            // The call goes on meanwhile: it may hold what the engine waits for.
            tokio::select! {
                answer = &mut call => return answer,
                () = self.tick_if_it_takes_long() => {}
            }
        }
    }

    async fn tick_if_it_takes_long(&self) {
        let never = std::future::pending::<()>();
        let _ = tokio::time::timeout(Duration::from_millis(100), never).await;
        self.engine.advance(Duration::from_secs(1)).await;
    }

    /// An engine that was opened again says the same of every run.
    async fn compare(&mut self) {
        self.calm_down().await;
        let before = self.descriptions().await;
        self.engine.restart().await.unwrap();
        self.engine.settle().await;
        assert_eq!(self.descriptions().await, before, "a restart has changed something");
    }

    async fn descriptions(&self) -> Vec<dex::inspect::RunInfo> {
        let mut all = Vec::new();
        for run in self.model.runs() {
            all.push(self.client().run(id(run)).await.unwrap().describe().await.unwrap());
        }
        all
    }

    async fn calm_down(&mut self) {
        self.weather.clear(&self.engine).await;
        self.engine.settle().await;
    }

    async fn check_everything(&self) {
        for run in self.model.runs() {
            let handle = self.client().run(id(run)).await.unwrap();
            let info = handle.describe().await.unwrap();
            self.model.check(run, &info, &handle.report().await.unwrap());
            assert!(
                self.engine.dex().inspect().verify(info.run_id).await.unwrap(),
                "{} is not what its history says",
                id(run)
            );
        }
        for run in self.model.absent() {
            let found = self.client().run(id(run)).await;
            assert!(found.is_err_and(|error: Error| error.kind() == ErrorKind::NotFound));
        }
    }
}

fn id(run: usize) -> String {
    format!("run-{run}")
}
