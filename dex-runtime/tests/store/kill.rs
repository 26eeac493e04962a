//! Processes that end in the middle of their work: killed, or by a disk that takes no more.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use dex_runtime::store::fjall::{FjallOptions, FjallStore};
use dex_runtime::store::{RunCommit, Store, StoreError};

use super::support::{files, open, run_id, start, step};

/// The store's folder, for a test of this binary that is to be the process that ends.
const FOLDER: &str = "DEX_TEST_STORE_FOLDER";

/// Set if it is to make tables all the time: small ones, and those of quiet moments.
const TABLES: &str = "DEX_TEST_STORE_TABLES";

/// An open and a first commit after a kill take no longer than this.
const DEADLINE: Duration = Duration::from_secs(5);

const RUNS: u64 = 8;

/// Writes until it is killed or may not, and says each acknowledged transition. Nothing unless started by
/// another test.
#[test]
fn the_process_that_ends() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let tables = std::env::var_os(TABLES).is_some();
    let mut options = FjallOptions::default();
    if tables {
        options.memtable_bytes = 1536 * 1024;
    }
    let store = FjallStore::open(&folder, options).unwrap();
    let mut last: BTreeMap<u64, u64> = (1..=RUNS)
        .map(|run| (run, store.history(run_id(run), 1, usize::MAX).unwrap().len() as u64))
        .collect();
    let record = bytes::Bytes::from(vec![b'x'; 3000]);
    for round in 0_u64.. {
        let batch: Vec<_> = (1..=1 + round % RUNS)
            .map(|run| match last[&run] + 1 {
                1 => start(&store, run),
                sequence => RunCommit { record: record.clone(), ..step(&store, run, sequence) },
            })
            .collect();
        if let Err(error) = store.commit(&batch, true) {
            return say_how_it_failed(&store, &error, &batch);
        }
        for commit in &batch {
            let run = commit.run.as_bytes()[7];
            *last.get_mut(&run.into()).unwrap() = commit.sequence;
            println!("acknowledged {run} {}", commit.sequence);
        }
        // For the other half of the time tables come from what has been written.
        if tables && round % 200 < 100 {
            store.settle();
        }
    }
}

/// The end of a process whose disk takes no more: reads go on, commits do not.
fn say_how_it_failed(store: &dyn Store, error: &StoreError, batch: &[RunCommit]) {
    assert!(!error.wrote_nothing(), "{error}");
    let again = store.commit(batch, true).unwrap_err();
    assert!(matches!(again, StoreError::Unavailable { .. }), "{again}");
    assert!(store.fault().is_some());
    assert!(!store.history(run_id(1), 1, 9).unwrap().is_empty());
    println!("refused");
}

fn spawn(command: &mut Command, folder: &Path) -> Child {
    command.env(FOLDER, folder).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

const CHILD: [&str; 3] = ["kill::the_process_that_ends", "--exact", "--nocapture"];

/// The last transition of each run that a line of the child acknowledges.
fn note(line: &str, acknowledged: &mut BTreeMap<u64, u64>) {
    if let Some(said) = line.split("acknowledged ").nth(1)
        && let Some((run, sequence)) = said.split_once(' ')
    {
        acknowledged.insert(run.parse().unwrap(), sequence.trim().parse().unwrap());
    }
}

/// Opens within the deadline, finds everything acknowledged, and commits.
fn check(folder: &Path, acknowledged: &mut BTreeMap<u64, u64>) {
    let begun = Instant::now();
    let store = open(folder).unwrap();
    for (run, last) in acknowledged.iter_mut() {
        let history = store.history(run_id(*run), 1, usize::MAX).unwrap();
        let there = history.len() as u64;
        assert!(there >= *last, "run {run}: {last} transitions were acknowledged, {there} are there");
        store.load(run_id(*run)).unwrap().unwrap();
        store.commit(&[step(&store, *run, there + 1)], true).unwrap();
        *last = there + 1;
    }
    assert!(begun.elapsed() < DEADLINE, "{:?}", begun.elapsed());
}

#[test]
fn a_process_that_is_killed_loses_nothing_acknowledged_and_opens_soon() {
    kill_again_and_again(|_| {});
}

#[test]
fn a_process_that_is_killed_while_it_makes_tables_loses_nothing_either() {
    let folder = kill_again_and_again(|child| {
        child.env(TABLES, "1");
    });
    let tables: Vec<_> = files(folder.path()).iter().filter_map(|file| table(file)).collect();
    // They are numbered; what was merged is gone.
    assert!(tables.iter().any(|(_, number)| *number > 5), "{tables:?}");
    // Those with a handful of rows get one in a quiet moment only.
    let keyspaces: BTreeSet<_> = tables.iter().map(|(keyspace, _)| keyspace).collect();
    assert!(keyspaces.len() > 4, "{tables:?}");
}

/// The keyspace and the number of a table, if `file` is one.
fn table(file: &Path) -> Option<(String, u64)> {
    let mut parts = file.iter().map(|part| part.to_str().unwrap());
    let (keyspaces, keyspace, tables) = (parts.nth(1)?, parts.next()?, parts.next()?);
    (keyspaces == "keyspaces" && tables == "tables")
        .then(|| (keyspace.into(), parts.next().unwrap().parse().unwrap()))
}

/// Kills a child that writes, later each time, and gives the store that it leaves.
fn kill_again_and_again(prepare: impl Fn(&mut Command)) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut acknowledged = BTreeMap::new();
    for round in 0..6 {
        let mut command = Command::new(std::env::current_exe().unwrap());
        prepare(command.args(CHILD));
        let mut child = spawn(&mut command, folder.path());
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        for line in lines.by_ref().take(40 + round * 700) {
            note(&line.unwrap(), &mut acknowledged);
        }
        child.kill().unwrap();
        // What it said before it was killed counts; the last line may be torn.
        let said: Vec<_> = lines.map_while(Result::ok).collect();
        for line in said.iter().take(said.len().saturating_sub(1)) {
            note(line, &mut acknowledged);
        }
        child.wait().unwrap();
        assert!(!acknowledged.is_empty(), "round {round}");
        check(folder.path(), &mut acknowledged);
    }
    folder
}

#[test]
fn a_second_process_is_refused_while_the_first_one_works() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = spawn(Command::new(std::env::current_exe().unwrap()).args(CHILD), folder.path());
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let working = lines.by_ref().map_while(Result::ok).any(|line| line.contains("acknowledged"));
    assert!(working);
    // It goes on saying what it does, and must not stand still for want of a listener.
    let listener = std::thread::spawn(move || lines.map_while(Result::ok).count());
    let refused = open(folder.path()).unwrap_err();
    assert!(matches!(refused, StoreError::InUse { .. }), "{refused}");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(listener.join().unwrap() > 0, "the first one worked on");
    open(folder.path()).unwrap();
}

/// A limit on the size of files stands for a disk that takes no more: the write of the journal fails.
#[cfg(unix)]
#[test]
fn after_a_failed_write_the_store_takes_no_commits_until_it_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    // The second opening cuts the journal to its content, so that it can grow up to the limit.
    for _ in 0..2 {
        drop(open(folder.path()).unwrap());
    }
    // 4000 blocks of 512 bytes; a shell that counts in other units only makes it later.
    let script = "trap '' XFSZ; ulimit -f 4000; exec \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(std::env::current_exe().unwrap()).args(CHILD);
    let mut child = spawn(&mut command, folder.path());
    let lines: Vec<_> = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok).collect();
    assert!(child.wait().unwrap().success(), "{:?}", lines.last());
    assert!(lines.iter().any(|line| line == "refused"), "{:?}", lines.last());
    let mut acknowledged = BTreeMap::new();
    for line in &lines {
        note(line, &mut acknowledged);
    }
    assert_eq!(acknowledged.len() as u64, RUNS);
    check(folder.path(), &mut acknowledged);
}
