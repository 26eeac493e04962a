//! Timers and items of streams that are gone must not be walked over again and again.

use std::time::{Duration, Instant};

use dex_runtime::store::{
    Due, RunCommit, Store, StreamAppend, StreamFrom, StreamNames, StreamQuery, item_bytes,
};
use dex_runtime::{ExecutionNo, Name, Timestamp};

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

const ITEMS: usize = 100_000;

#[test]
fn a_stream_skips_the_items_that_are_gone() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    let names = |name| StreamNames::new(Name::new(name).unwrap(), []);
    let item = |stream, kept: u64| StreamAppend {
        run: run_id(1),
        stream: names(stream),
        epoch: store.epoch(),
        capacity: kept * item_bytes(1),
        record: "x".into(),
    };
    let all = u64::MAX / item_bytes(1);
    // In the one everything stays, in the other all but one item goes.
    store.write(&[], &vec![item("kept", all); ITEMS], true).unwrap();
    store.write(&[], &vec![item("gone", all); ITEMS], true).unwrap();
    store.write(&[], &[item("gone", 1)], true).unwrap();

    let oldest = StreamQuery { from: StreamFrom::After(0), items_max: 9, bytes_max: 99 };
    let everything = StreamQuery { items_max: ITEMS, bytes_max: usize::MAX, ..oldest };
    let read = |stream, query| store.stream(run_id(1), &names(stream), query).unwrap();
    assert_eq!(read("gone", oldest)[0].offset, ITEMS as u64 + 1);
    let walking = fastest(3, || assert_eq!(read("kept", everything).len(), ITEMS));
    let skipping = fastest(100, || assert_eq!(read("gone", oldest).len(), 1));
    assert!(skipping * 20 < walking, "{skipping:?} behind the items that are gone, {walking:?} over so many");
    // The next item finds the oldest as quickly.
    let appending = fastest(20, || assert_eq!(store.write(&[], &[item("gone", 1)], false).unwrap().len(), 1));
    assert!(appending * 20 < walking, "{appending:?} to append, {walking:?} to walk");
}
