//! Timers that are gone must not be walked over again and again.

use std::time::{Duration, Instant};

use dex_runtime::store::{Due, RunCommit, Store};
use dex_runtime::{ExecutionNo, Timestamp};

use super::support::{open, run_id, start, step};

const TIMERS: i64 = 100_000;

fn timer(n: i64) -> (Timestamp, ExecutionNo) {
    (Timestamp::from_micros(n), ExecutionNo(n.unsigned_abs()))
}

fn fastest(times: usize, mut work: impl FnMut()) -> Duration {
    let time = |()| {
        let begun = Instant::now();
        work();
        begun.elapsed()
    };
    std::iter::repeat_n((), times).map(time).min().unwrap()
}

#[test]
fn a_cursor_skips_the_timers_that_are_gone() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    let set = RunCommit { timers_set: (1..=TIMERS).map(timer).collect(), ..start(&store, 1) };
    store.commit(&[set], true).unwrap();
    let cleared = RunCommit { timers_cleared: (1..TIMERS).map(timer).collect(), ..step(&store, 1, 2) };
    store.commit(&[cleared], true).unwrap();

    let (at, execution) = timer(TIMERS);
    let only = Due { at, run: run_id(1), execution };
    let behind = Due { at: timer(TIMERS - 1).0, ..only };
    let from_the_start = fastest(3, || assert_eq!(store.due(None, at, 9).unwrap(), [only]));
    let from_the_cursor = fastest(100, || assert_eq!(store.due(Some(&behind), at, 9).unwrap(), [only]));
    // Steps cannot be counted from outside; walking over 100,000 of them takes thousands of times as long.
    assert!(
        from_the_cursor * 20 < from_the_start,
        "{from_the_cursor:?} from the cursor, {from_the_start:?} from the start",
    );
}
