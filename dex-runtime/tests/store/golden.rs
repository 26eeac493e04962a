//! Stores that earlier versions wrote open, with every row as it was written.
//!
//! `golden/v<format>` is a closed store, `golden/v<format>.txt` its rows. A fixture is made once, with
//! `DEX_WRITE_GOLDEN=v<format>`, by the version that brings the format, and never again. `golden/streams` is a store
//! of format 1 with streams, which came later.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use dex_runtime::engine::{
    Children, Condition, Event, Output, RunIdentity, RunState, SharedMap, Source, Status,
};
use dex_runtime::store::record::{ItemOrigin, ItemRecord, decode_item, encode_item};
use dex_runtime::store::record::{decode_state, decode_transition, encode_state, encode_transition};
use dex_runtime::store::{
    RunCommit, RunSummary, Store, StreamAppend, StreamFrom, StreamNames, StreamQuery, item_bytes,
};
use dex_runtime::{ExecutionNo, FlowId, Name, Payload, RunId, Slot, Timestamp};

use super::support::{copy, open};

const KEYSPACES: [&str; 7] = ["events", "snapshots", "runs", "live", "ready", "timers", "meta"];

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// Every row of these keyspaces, read past the store.
fn rows_of(folder: &Path, keyspaces: &[&str]) -> String {
    let database = fjall::Database::builder(folder.join("data")).open().unwrap();
    let mut rows = String::new();
    for name in keyspaces.iter().copied() {
        assert!(database.keyspace_exists(name), "{name}");
        writeln!(rows, "[{name}]").unwrap();
        for row in database.keyspace(name, fjall::KeyspaceCreateOptions::default).unwrap().iter() {
            let (key, value) = row.into_inner().unwrap();
            writeln!(rows, "{} = {}", hex(&key), hex(&value)).unwrap();
        }
    }
    rows
}

fn rows(folder: &Path) -> String {
    rows_of(folder, &KEYSPACES)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

const AT: Timestamp = Timestamp::from_micros(1_750_000_000_000_000);

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

fn identity(run: u8) -> RunIdentity {
    RunIdentity {
        flow: name("orders"),
        flow_id: FlowId::new(format!("order-{run}")).unwrap(),
        run_id: RunId::from_bytes([run; 16]),
        started_at: AT,
        parent: None,
    }
}

fn events(run: u8) -> Vec<Event> {
    let execution = ExecutionNo(1);
    let slot = Slot::single(name("answers"));
    let answer = Condition::Messages { slot: slot.clone(), min: 1, max: 1, single: true };
    let timer = Condition::Timer { at: Timestamp::from_micros(AT.as_micros() + 60_000_000) };
    vec![
        Event::RunStarted { identity: identity(run), timeout: None },
        Event::StepScheduled {
            execution,
            step: name("ask"),
            source: Source::Start,
            input: Payload::encode(&17).unwrap(),
            waits: true,
            recovery: None,
            locks: Vec::new(),
            patch: None,
        },
        Event::WaitStarted { execution, condition: Condition::Any { of: vec![answer, timer], tagged: true } },
        Event::MessagePublished { slot, value: Payload::encode("yes").unwrap() },
    ]
}

fn state(run: u8) -> RunState {
    let mut state = RunState {
        identity: identity(run).into(),
        version: 2,
        scheduled: 1,
        step_counts: [(name("ask"), 1)].into(),
        executions: [].into(),
        ready: 0,
        attributes: SharedMap::new(),
        channels: SharedMap::new(),
        numbered: 0,
        completion_requested: true,
        paused: false,
        locks: [].into(),
        blocked: [].into(),
        timeout: None,
        canceling: None,
        requests: [].into(),
        outputs: vec![Output { step: name("ask"), number: 1, value: Payload::encode("sent").unwrap() }],
        children: Children::default(),
        parent_told: false,
        closed: None,
        ended: None,
        bytes: 0,
    };
    state.bytes = state.count_bytes();
    state
}

fn start(store: &dyn Store, run: u8) -> RunCommit {
    let identity = identity(run);
    RunCommit {
        run: identity.run_id,
        sequence: 1,
        epoch: store.epoch(),
        record: encode_transition(AT, &events(run)),
        snapshot: None,
        summary: Some(summary(run)),
        ready: Some(true),
        timers_set: vec![(Timestamp::from_micros(AT.as_micros() + 60_000_000), ExecutionNo(1))],
        timers_cleared: Vec::new(),
    }
}

fn summary(run: u8) -> RunSummary {
    let identity = identity(run);
    RunSummary {
        run: identity.run_id,
        flow_id: identity.flow_id,
        flow: identity.flow,
        status: Status::Running,
        started_at: AT,
        closed_at: None,
    }
}

/// What the fixture is made of: two runs, one of which went on.
fn make(folder: &Path) {
    {
        let store = open(folder).unwrap();
        store.commit(&[start(&store, 1), start(&store, 2)], true).unwrap();
        store.close().unwrap();
    }
    // A second opening cuts the space off that the journal was given beforehand.
    let store = open(folder).unwrap();
    let went_on = RunCommit {
        sequence: 2,
        record: encode_transition(AT, &[Event::StepCompleted { execution: ExecutionNo(1) }]),
        snapshot: Some(encode_state(&state(2))),
        summary: Some(RunSummary { status: Status::Completed, closed_at: Some(AT), ..summary(2) }),
        ready: Some(false),
        timers_set: Vec::new(),
        timers_cleared: start(&store, 2).timers_set,
        ..start(&store, 2)
    };
    store.commit(&[went_on], true).unwrap();
    store.close().unwrap();
}

#[test]
fn a_store_of_format_one_opens_with_all_that_is_in_it() {
    let folder = tempfile::tempdir().unwrap();
    copy(&golden("v1"), folder.path());
    assert_eq!(rows(folder.path()), fs::read_to_string(golden("v1.txt")).unwrap());

    let store = open(folder.path()).unwrap();
    let first = RunId::from_bytes([1; 16]);
    let second = RunId::from_bytes([2; 16]);
    let stored = store.load(first).unwrap().unwrap();
    assert_eq!(stored.snapshot, None);
    assert_eq!(decode_transition(&stored.records[0].record).unwrap(), (AT, events(1)));
    let stored = store.load(second).unwrap().unwrap();
    let (sequence, snapshot) = stored.snapshot.unwrap();
    assert_eq!((sequence, decode_state(&snapshot).unwrap()), (2, state(2)));
    assert_eq!(store.history(second, 1, 9).unwrap().len(), 2);
    assert_eq!(store.ready(None, 9).unwrap(), [first]);
    let due = store.due(None, Timestamp::MAX, 9).unwrap();
    assert_eq!(due.iter().map(|due| due.run).collect::<Vec<_>>(), [first]);
    assert_eq!(store.live(&identity(2).flow_id).unwrap().unwrap().run, second);
    assert_eq!(store.summary(first).unwrap(), Some(summary(1)));
    assert_eq!(store.summary(second).unwrap().unwrap().status, Status::Completed);
    assert_eq!(store.flows().unwrap(), [name("orders")]);
    assert_eq!(store.epoch().0, 3);
    store.commit(&[start(&store, 3)], true).unwrap();
    // There were no streams then.
    assert!(stream(&store, first).is_empty());
    assert_eq!(store.write(&[], &[append(&store, 1, 1)], true).unwrap(), [1]);
    store.close().unwrap();
    assert_eq!(stream(&open(folder.path()).unwrap(), first), [(1, item(1))]);
}

#[test]
fn this_version_writes_the_same_rows() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path());
    let found = rows(folder.path());
    if std::env::var_os("DEX_WRITE_GOLDEN").is_some_and(|which| which == "v1") {
        copy(folder.path(), &golden("v1"));
        fs::write(golden("v1.txt"), &found).unwrap();
    }
    assert_eq!(found, fs::read_to_string(golden("v1.txt")).unwrap());
}

fn item(number: u32) -> ItemRecord {
    let step = ItemOrigin::Step { step: name("ask"), number: 1, attempt: number };
    let origin = if number.is_multiple_of(2) { ItemOrigin::Client } else { step };
    ItemRecord { origin, at: AT, value: Payload::encode(&number).unwrap() }
}

fn append(store: &dyn Store, run: u8, number: u32) -> StreamAppend {
    StreamAppend {
        run: identity(run).run_id,
        stream: StreamNames::new(name("tokens"), []),
        epoch: store.epoch(),
        capacity: 3 * item_bytes(encode_item(&item(1)).len()),
        record: encode_item(&item(number)),
    }
}

fn stream(store: &dyn Store, run: RunId) -> Vec<(u64, ItemRecord)> {
    let all = StreamQuery { from: StreamFrom::After(0), items_max: 99, bytes_max: 9_999 };
    let items = store.stream(run, &StreamNames::new(name("tokens"), []), all).unwrap();
    items.iter().map(|item| (item.offset, decode_item(&item.record).unwrap())).collect()
}

/// What the fixture is made of: two streams, of which one has given up its oldest items.
fn make_streams(folder: &Path) {
    for numbers in [[1, 2, 3], [4, 5, 6]] {
        let store = open(folder).unwrap();
        let mut appends: Vec<_> = numbers.iter().map(|number| append(&store, 1, *number)).collect();
        appends.push(append(&store, 2, 7));
        store.write(&[], &appends, true).unwrap();
        store.close().unwrap();
    }
}

#[test]
fn streams_that_an_earlier_version_wrote_go_on() {
    let folder = tempfile::tempdir().unwrap();
    copy(&golden("streams"), folder.path());
    assert_eq!(rows_of(folder.path(), &["streams"]), fs::read_to_string(golden("streams.txt")).unwrap());
    let store = open(folder.path()).unwrap();
    let [first, second] = [1, 2].map(|run| identity(run).run_id);
    assert_eq!(stream(&store, first), [4, 5, 6].map(|number| (number.into(), item(number))));
    assert_eq!(stream(&store, second), [(1, item(7)), (2, item(7))]);
    assert_eq!(store.write(&[], &[append(&store, 1, 8)], true).unwrap(), [7]);
    assert_eq!(stream(&store, first).len(), 3);
}

#[test]
fn this_version_writes_the_same_streams() {
    let folder = tempfile::tempdir().unwrap();
    make_streams(folder.path());
    let found = rows_of(folder.path(), &["streams"]);
    if std::env::var_os("DEX_WRITE_GOLDEN").is_some_and(|which| which == "streams") {
        copy(folder.path(), &golden("streams"));
        fs::write(golden("streams.txt"), &found).unwrap();
    }
    assert_eq!(found, fs::read_to_string(golden("streams.txt")).unwrap());
}
