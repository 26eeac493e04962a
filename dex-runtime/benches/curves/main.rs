//! What a transition costs as one run grows: more open steps, messages, waiters, attributes, history.
//!
//! `cargo bench -p dex-runtime --bench curves`. Each figure is the mean of one round's transitions, in the best of
//! several rounds, since others use the machine too: deciding, encoding and committing to a store in memory, with
//! the snapshots that fall due. The ratio is to the smallest run of the curve; the design asks for at most 3.
#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a program that prints, and whose own commands are right"
)]

mod run;

use std::hint::black_box;
use std::time::{Duration, Instant};

use dex_runtime::engine::{Condition, Decision};
use run::{Run, messages, movement, news, one_of_each, two_or_other};

/// How much more than in a small run a transition may cost.
const RATIO_MAX: f64 = 3.0;

/// Rounds of each figure.
const ROUNDS: usize = 15;

fn main() {
    println!("| curve | size | a transition | ratio | |\n|---|---|---|---|---|");
    curve("open steps: one ends, one follows", &[1, 10, 100, 1_000, 10_000], open_steps);
    curve("pending messages: publish, take, complete", &[1, 100, 10_000, 100_000], pending_messages);
    curve("history: append", &[1_000, 10_000, 100_000, 1_000_000], history);
    curve("history: load", &[1_000, 10_000, 100_000, 1_000_000], load);
    curve("attributes: write one from outside", &[1, 100, 1_000, 10_000], attributes);
    curve("attributes: write one while a handler runs", &[1, 100, 1_000, 10_000], attributes_in_view);
    curve("waiters for one message: publish, complete, wait", &[1, 100, 1_000, 10_000], waiters);
    curve("waiters for two messages: publish", &[1, 100, 1_000, 10_000], waiters_for_two);
    curve(
        "waiters for two messages: publish while a handler runs",
        &[1, 100, 1_000, 10_000],
        waiters_in_view,
    );
    curve("waiters for one of each of two channels: publish", &[1, 100, 1_000, 10_000], waiters_for_both);
    curve("waiters for two or one of another channel: publish", &[1, 100, 1_000, 10_000], waiters_for_either);
}

/// Prints a row for each size.
fn curve(what: &str, sizes: &[usize], measure: fn(usize) -> Duration) {
    let mut small = None;
    for size in sizes {
        let cost = measure(*size);
        let small = *small.get_or_insert(cost);
        let ratio = cost.as_secs_f64() / small.as_secs_f64();
        let verdict = if ratio <= RATIO_MAX { "" } else { "beyond 3" };
        println!("| {what} | {size} | {cost:.2?} | {ratio:.1} | {verdict} |");
    }
}

/// The mean time of one of `transitions` that `round` makes, in the best of several rounds.
fn best(transitions: u32, mut round: impl FnMut()) -> Duration {
    let time = |()| {
        let begun = Instant::now();
        round();
        begun.elapsed()
    };
    // The first one warms up.
    let best = std::iter::repeat_n((), ROUNDS + 1).map(time).skip(1).min();
    best.unwrap_or_default() / transitions
}

/// Steps that are handed out at the same time; one of them completes and goes on to a next one.
fn open_steps(size: usize) -> Duration {
    let mut run = Run::start(false);
    run.complete(Decision::Continue(vec![movement(false); size]));
    best(500, || (0..500).for_each(|_| run.complete(Decision::Continue(vec![movement(false)]))))
}

/// A queue that stays as long as it is: a message comes, a step takes the oldest, completes, and waits again.
fn pending_messages(size: usize) -> Duration {
    let mut run = Run::start(true);
    run.publish(size);
    best(3 * 200, || {
        for _ in 0..200 {
            run.publish(1);
            run.wait(messages(1));
            run.complete(Decision::Continue(vec![movement(true)]));
        }
    })
}

fn with_history(size: usize) -> Run {
    let mut run = Run::start(false);
    let size = u64::try_from(size).unwrap_or(u64::MAX);
    while run.version() < size {
        run.set(0);
    }
    run
}

fn history(size: usize) -> Duration {
    let mut run = with_history(size);
    best(500, || (0..500).for_each(|_| run.set(0)))
}

/// What was not in memory is read: the snapshot, and the records after it, of which there are most just before the next one.
fn load(size: usize) -> Duration {
    let mut run = with_history(size);
    while !run.snapshot_is_next() {
        run.set(0);
    }
    best(1, || run.reload())
}

fn with_attributes(size: usize) -> Run {
    let mut run = Run::start(false);
    (0..size).for_each(|key| run.set(key));
    run
}

fn attributes(size: usize) -> Duration {
    let mut run = with_attributes(size);
    best(500, || (0..500).for_each(|turn| run.set(turn * 7 % size)))
}

/// A handler sees the attributes as they were when it was handed out, also while others write.
fn attributes_in_view(size: usize) -> Duration {
    let mut run = with_attributes(size);
    best(50, || {
        for turn in 0..50 {
            let view = run.view();
            run.set(turn * 7 % size);
            black_box(view);
        }
    })
}

fn with_waiters(size: usize, condition: &Condition) -> Run {
    let mut run = Run::start(false);
    run.complete(Decision::Continue(vec![movement(true); size]));
    (0..size).for_each(|_| run.wait(condition.clone()));
    run
}

/// The first waiter's step completes, and another one comes to wait at the end.
fn again(run: &mut Run, condition: &Condition) {
    run.complete(Decision::Continue(vec![movement(true)]));
    run.wait(condition.clone());
}

/// The first waiter gets the message, completes, and another one comes to wait at the end.
fn waiters(size: usize) -> Duration {
    let mut run = with_waiters(size, &messages(1));
    best(3 * 50, || {
        for _ in 0..50 {
            run.publish(1);
            again(&mut run, &messages(1));
        }
    })
}

/// Every second message is enough for a waiter; the others are enough for none of them.
fn waiters_for_two(size: usize) -> Duration {
    let mut run = with_waiters(size, &messages(2));
    best(4 * 50, || {
        for _ in 0..50 {
            run.publish(1);
            run.publish(1);
            again(&mut run, &messages(2));
        }
    })
}

/// The same, and a handler sees all the waits as they were.
fn waiters_in_view(size: usize) -> Duration {
    let mut run = with_waiters(size, &messages(2));
    best(4 * 50, || {
        for _ in 0..50 {
            let view = run.view();
            run.publish(1);
            run.publish(1);
            again(&mut run, &messages(2));
            black_box(view);
        }
    })
}

/// What comes to one channel is enough for nobody before something comes to the other.
fn waiters_for_both(size: usize) -> Duration {
    let mut run = with_waiters(size, &one_of_each());
    best(4 * 50, || {
        for _ in 0..50 {
            run.publish(1);
            run.publish_to(news(), 1);
            again(&mut run, &one_of_each());
        }
    })
}

/// The first message is enough for nobody.
fn waiters_for_either(size: usize) -> Duration {
    let mut run = with_waiters(size, &two_or_other());
    best(4 * 50, || {
        for _ in 0..50 {
            run.publish(1);
            run.publish(1);
            again(&mut run, &two_or_other());
        }
    })
}
