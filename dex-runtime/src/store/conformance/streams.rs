//! Streams: offsets, what is kept, what is read.

use super::super::{
    Store, StoreError, StoredItem, StreamAppend, StreamFrom, StreamNames, StreamQuery, item_bytes,
};
use super::build::{commit, run_id, start, step};
use super::{Case, Subject};
use crate::ids::{Epoch, Name};

pub(super) const CASES: &[Case] = &[
    ("items are read in order from behind an offset", reads_in_order),
    ("items are read newest first from before an offset", reads_newest_first),
    ("a read is bounded by items and by bytes", reads_are_bounded),
    ("streams and runs that are called alike are told apart", streams_are_apart),
    ("the oldest items go when a stream is full, and no offset comes again", trims),
    ("items that come and go in one batch leave their offsets behind", trims_in_one_batch),
    ("the last item stays, however large", keeps_the_last),
    ("streams go on after the store was opened again", go_on_after_reopening),
    ("a stream that was renamed goes on under its former name", go_on_under_a_former_name),
    ("appends and commits are written together or not at all", together_or_not_at_all),
    ("a stream or run that is not there has no items", nothing_there),
];

const ROOMY: u64 = 1 << 20;

fn names(name: &str) -> StreamNames {
    StreamNames::new(Name::new(name).expect("a valid name"), [])
}

fn append(store: &dyn Store, run: u64, stream: &str, text: &str) -> StreamAppend {
    StreamAppend {
        run: run_id(run),
        stream: names(stream),
        epoch: store.epoch(),
        capacity: ROOMY,
        record: text.to_owned().into(),
    }
}

fn write(store: &dyn Store, appends: &[StreamAppend]) -> Vec<u64> {
    store.write(&[], appends, true).expect("the appends fit")
}

fn query(from: StreamFrom) -> StreamQuery {
    StreamQuery { from, items_max: usize::MAX, bytes_max: usize::MAX }
}

fn texts(items: &[StoredItem]) -> Vec<(u64, &str)> {
    items.iter().map(|item| (item.offset, std::str::from_utf8(&item.record).expect("a text"))).collect()
}

#[track_caller]
fn expect(store: &dyn Store, run: u64, stream: &str, from: StreamFrom, expected: &[(u64, &str)]) {
    let items = store.stream(run_id(run), &names(stream), query(from)).expect("reads");
    assert_eq!(texts(&items), expected);
}

const START: StreamFrom = StreamFrom::After(0);
const END: StreamFrom = StreamFrom::Before(u64::MAX);

fn reads_in_order(subject: &mut dyn Subject) {
    let store = &*subject.open();
    let [a, b, c] = ["a", "b", "c"].map(|text| append(store, 1, "s", text));
    assert_eq!(write(store, &[a, b]), [1, 2]);
    assert_eq!(write(store, &[c]), [3]);
    expect(store, 1, "s", START, &[(1, "a"), (2, "b"), (3, "c")]);
    expect(store, 1, "s", StreamFrom::After(1), &[(2, "b"), (3, "c")]);
    expect(store, 1, "s", StreamFrom::After(3), &[]);
    expect(store, 1, "s", StreamFrom::After(u64::MAX), &[]);
}

fn reads_newest_first(subject: &mut dyn Subject) {
    let store = &*subject.open();
    write(store, &["a", "b", "c"].map(|text| append(store, 1, "s", text)));
    expect(store, 1, "s", END, &[(3, "c"), (2, "b"), (1, "a")]);
    expect(store, 1, "s", StreamFrom::Before(3), &[(2, "b"), (1, "a")]);
    expect(store, 1, "s", StreamFrom::Before(1), &[]);
    expect(store, 1, "s", StreamFrom::Before(0), &[]);
}

fn reads_are_bounded(subject: &mut dyn Subject) {
    let store = &*subject.open();
    write(store, &["aa", "bb", "cc"].map(|text| append(store, 1, "s", text)));
    let read = |query| {
        let items = store.stream(run_id(1), &names("s"), query).expect("reads");
        items.iter().map(|item| item.offset).collect::<Vec<_>>()
    };
    assert_eq!(read(StreamQuery { items_max: 2, ..query(START) }), [1, 2]);
    assert!(read(StreamQuery { items_max: 0, ..query(START) }).is_empty());
    assert_eq!(read(StreamQuery { bytes_max: 3, ..query(START) }), [1, 2]);
    assert_eq!(read(StreamQuery { bytes_max: 0, ..query(END) }), [3], "one is always read");
}

fn streams_are_apart(subject: &mut dyn Subject) {
    let store = &*subject.open();
    let places = [(1, "s"), (1, "ss"), (1, "s/s"), (1, "S"), (2, "s"), (3, "s")];
    for (run, stream) in places {
        assert_eq!(write(store, &[append(store, run, stream, &format!("{run} {stream}"))]), [1]);
    }
    for (run, stream) in places {
        expect(store, run, stream, START, &[(1, &format!("{run} {stream}"))]);
        expect(store, run, stream, END, &[(1, &format!("{run} {stream}"))]);
    }
}

/// Room for so many items of one byte.
fn room_for(items: u64) -> u64 {
    items * item_bytes(1)
}

fn trims(subject: &mut dyn Subject) {
    let store = &*subject.open();
    for round in 0..50 {
        let small = |text: &str| StreamAppend { capacity: room_for(3), ..append(store, 1, "s", text) };
        assert_eq!(write(store, &[small("a"), small("b")]), [round * 2 + 1, round * 2 + 2]);
    }
    expect(store, 1, "s", START, &[(98, "b"), (99, "a"), (100, "b")]);
    expect(store, 1, "s", StreamFrom::After(98), &[(99, "a"), (100, "b")]);
    expect(store, 1, "s", END, &[(100, "b"), (99, "a"), (98, "b")]);
    expect(store, 1, "s", StreamFrom::Before(98), &[]);
    // A smaller capacity counts from the next item on.
    write(store, &[StreamAppend { capacity: room_for(1), ..append(store, 1, "s", "c") }]);
    expect(store, 1, "s", START, &[(101, "c")]);
}

fn trims_in_one_batch(subject: &mut dyn Subject) {
    let store = &*subject.open();
    write(store, &[append(store, 1, "s", "x"), append(store, 1, "s", "y")]);
    let small = ["a", "b", "c", "d"]
        .map(|text| StreamAppend { capacity: room_for(2), ..append(store, 1, "s", text) });
    assert_eq!(write(store, &small), [3, 4, 5, 6]);
    expect(store, 1, "s", START, &[(5, "c"), (6, "d")]);
}

fn keeps_the_last(subject: &mut dyn Subject) {
    let store = &*subject.open();
    for (offset, text) in [(1, "small"), (2, "large")] {
        let append = StreamAppend { capacity: 1, ..append(store, 1, "s", text) };
        assert_eq!(write(store, &[append]), [offset]);
        expect(store, 1, "s", START, &[(offset, text)]);
    }
}

fn go_on_after_reopening(subject: &mut dyn Subject) {
    for close in [false, true] {
        let store = subject.open();
        for text in ["a", "b"] {
            write(&*store, &[StreamAppend { capacity: room_for(3), ..append(&*store, 1, "s", text) }]);
        }
        if close {
            store.close().expect("closes");
        }
    }
    let store = &*subject.open();
    expect(store, 1, "s", START, &[(2, "b"), (3, "a"), (4, "b")]);
    let next = StreamAppend { capacity: room_for(2), ..append(store, 1, "s", "c") };
    assert_eq!(write(store, &[next]), [5]);
    expect(store, 1, "s", START, &[(4, "b"), (5, "c")]);
}

fn go_on_under_a_former_name(subject: &mut dyn Subject) {
    let store = &*subject.open();
    let [old, new] = ["old", "new"].map(|name| Name::new(name).expect("valid"));
    let renamed = StreamNames::new(new, [old]);
    write(store, &[append(store, 1, "old", "a"), append(store, 2, "new", "x")]);
    let later = |run, text| StreamAppend { stream: renamed.clone(), ..append(store, run, "new", text) };
    assert_eq!(write(store, &[later(1, "b"), later(2, "y"), later(3, "z")]), [2, 2, 1]);
    let read = |run| store.stream(run_id(run), &renamed, query(START)).expect("reads");
    assert_eq!(texts(&read(1)), [(1, "a"), (2, "b")]);
    assert_eq!(texts(&read(2)), [(1, "x"), (2, "y")]);
    assert_eq!(texts(&read(3)), [(1, "z")]);
    expect(store, 3, "new", START, &[(1, "z")]);
}

fn together_or_not_at_all(subject: &mut dyn Subject) {
    let store = &*subject.open();
    let written = store.write(&[start(store, 1)], &[append(store, 1, "s", "a")], true);
    assert_eq!(written.expect("fits"), [1]);
    let refused = store.write(&[step(store, 1, 9)], &[append(store, 1, "s", "b")], true);
    assert!(matches!(refused, Err(StoreError::Conflict { .. })), "{refused:?}");
    let stale = StreamAppend { epoch: Epoch(store.epoch().0 + 1), ..append(store, 1, "s", "c") };
    let refused = store.write(&[], &[stale], true);
    assert!(matches!(refused, Err(StoreError::Fenced { .. })), "{refused:?}");
    expect(store, 1, "s", START, &[(1, "a")]);
    commit(store, &[step(store, 1, 2)]);
    assert_eq!(write(store, &[append(store, 1, "s", "d")]), [2]);
}

fn nothing_there(subject: &mut dyn Subject) {
    let store = &*subject.open();
    expect(store, 1, "s", START, &[]);
    write(store, &[append(store, 1, "s", "a")]);
    expect(store, 1, "t", END, &[]);
    expect(store, 2, "s", START, &[]);
}
