//! Stores to do harm to, and a way to say what is in one.

use std::fs;
use std::path::{Path, PathBuf};

use dex_runtime::engine::Status;
use dex_runtime::store::fjall::{FjallOptions, FjallStore};
use dex_runtime::store::{Due, LiveRun, RunCommit, RunSummary, Store, StoreError, StoredRun};
use dex_runtime::{ExecutionNo, FlowId, Name, RunId, Timestamp};

pub(crate) fn open(path: &Path) -> Result<FjallStore, StoreError> {
    FjallStore::open(path, FjallOptions::default())
}

pub(crate) fn run_id(n: u64) -> RunId {
    RunId::from_bytes((u128::from(n) << 64).to_be_bytes())
}

fn flow_id(n: u64) -> FlowId {
    FlowId::new(format!("order-{n}")).unwrap()
}

pub(crate) fn step(store: &dyn Store, run: u64, sequence: u64) -> RunCommit {
    RunCommit {
        run: run_id(run),
        sequence,
        epoch: store.epoch(),
        record: format!("transition {sequence} of run {run}").into(),
        snapshot: None,
        summary: None,
        ready: None,
        timers_set: Vec::new(),
        timers_cleared: Vec::new(),
    }
}

/// The start of a run, which touches every keyspace.
pub(crate) fn start(store: &dyn Store, run: u64) -> RunCommit {
    let summary = RunSummary {
        run: run_id(run),
        flow_id: flow_id(run),
        flow: Name::new("orders").unwrap(),
        status: Status::Running,
        started_at: Timestamp::from_micros(5),
        closed_at: None,
    };
    RunCommit {
        snapshot: Some(format!("state of run {run}").into()),
        summary: Some(summary),
        ready: Some(true),
        timers_set: vec![(Timestamp::from_micros(7 + run.cast_signed()), ExecutionNo(1))],
        ..step(store, run, 1)
    }
}

/// Everything that a store answers about runs up to `runs`.
#[derive(Debug, PartialEq)]
pub(crate) struct Content {
    summaries: Vec<RunSummary>,
    ready: Vec<RunId>,
    due: Vec<Due>,
    flows: Vec<Name>,
    stored: Vec<Option<StoredRun>>,
    live: Vec<Option<LiveRun>>,
    lengths: Vec<usize>,
}

pub(crate) fn content(store: &dyn Store, runs: u64) -> Result<Content, StoreError> {
    let all = usize::MAX;
    Ok(Content {
        summaries: store.runs(None, all)?,
        ready: store.ready(None, all)?,
        due: store.due(None, Timestamp::MAX, all)?,
        flows: store.flows()?,
        stored: (1..=runs).map(|run| store.load(run_id(run))).collect::<Result<_, _>>()?,
        live: (1..=runs).map(|run| store.live(&flow_id(run))).collect::<Result<_, _>>()?,
        lengths: (1..=runs)
            .map(|run| store.history(run_id(run), 1, all).map(|history| history.len()))
            .collect::<Result<_, _>>()?,
    })
}

pub(crate) const RUNS: u64 = 20;

/// Makes a store with [`RUNS`] runs whose journal is as short as its content; `close`: its tables have it all.
pub(crate) fn fill(path: &Path, close: bool) -> Content {
    {
        let store = open(path).unwrap();
        for run in 1..=RUNS {
            store.commit(&[start(&store, run)], true).unwrap();
        }
        if close {
            store.close().unwrap();
        }
    }
    // The second opening cuts the space off that the journal was given beforehand.
    let store = open(path).unwrap();
    for run in 1..=RUNS {
        store.commit(&[step(&store, run, 2), step(&store, run, 3)], true).unwrap();
    }
    let content = content(&store, RUNS).unwrap();
    if close {
        store.close().unwrap();
    }
    content
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(path, target).unwrap();
        }
    }
}

/// All files below `folder`, by their path in it.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    fn visit(root: &Path, folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                visit(root, &path, found);
            } else {
                found.push(path.strip_prefix(root).unwrap().into());
            }
        }
    }
    let mut found = Vec::new();
    visit(folder, folder, &mut found);
    found.sort();
    found
}

/// The journals, oldest first.
pub(crate) fn journals(folder: &Path) -> Vec<PathBuf> {
    let number = |path: &PathBuf| path.file_stem().unwrap().to_str().unwrap().parse::<u64>().unwrap();
    let is_journal = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "jnl");
    let mut journals: Vec<_> = files(folder).into_iter().filter(is_journal).collect();
    journals.sort_by_key(number);
    journals.into_iter().map(|path| folder.join(path)).collect()
}

pub(crate) fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}
