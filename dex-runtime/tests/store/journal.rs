//! Damage in journals: what is harmless, what is noticed, and what a repair makes of it.

use std::fs;
use std::path::{Path, PathBuf};

use dex_runtime::store::fjall::{FjallOptions, FjallStore, RepairReport, repair};
use dex_runtime::store::{RunCommit, Store, StoreError};

use super::support::{RUNS, change, content, fill, journals, open, run_id, start, step};

/// The only journal of a store that was not closed, which has everything.
fn journal(folder: &Path) -> PathBuf {
    let [journal] = journals(folder).try_into().expect("one journal");
    journal
}

/// Makes a store and commits that each put `marker` and a number into the journal.
fn fill_with_markers(folder: &Path, marker: &str, commits: u64) {
    let store = open(folder).unwrap();
    for run in 1..=commits {
        let commit = RunCommit { record: format!("{marker} {run};").into(), ..start(&store, run) };
        store.commit(&[commit], true).unwrap();
    }
    drop(store);
    // Cuts the space off that the journal was given beforehand.
    drop(open(folder).unwrap());
}

/// Where the record of `run` is in the journal.
fn find(journal: &Path, marker: &str, run: u64) -> usize {
    let (bytes, text) = (fs::read(journal).unwrap(), format!("{marker} {run};"));
    bytes.windows(text.len()).position(|window| window == text.as_bytes()).unwrap()
}

fn damaged(folder: &Path) -> String {
    match open(folder).unwrap_err() {
        StoreError::Damaged { reason, .. } => reason,
        other => panic!("{other}"),
    }
}

#[test]
fn an_unfinished_batch_at_the_end_is_harmless_however_it_looks() {
    let tails: [&[u8]; 5] = [&[0; 5000], &[255; 700], b"garbage", &[1, 3, 0, 0, 0, 9, 0], &[3; 100]];
    for tail in tails {
        let folder = tempfile::tempdir().unwrap();
        let before = fill(folder.path(), false);
        change(&journal(folder.path()), |bytes| bytes.extend_from_slice(tail));
        let store = open(folder.path()).unwrap();
        assert_eq!(content(&store, RUNS).unwrap(), before);
        store.commit(&[step(&store, 1, 4)], true).unwrap();
    }
}

#[test]
fn a_cut_that_takes_an_acknowledged_batch_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    fill_with_markers(folder.path(), "marker", 10);
    let journal = journal(folder.path());
    let cut = find(&journal, "marker", 10);
    change(&journal, |bytes| bytes.truncate(cut));
    let reason = damaged(folder.path());
    assert!(reason.contains("lost commits") && reason.contains("events"), "{reason}");
}

/// Starts two runs, the second one as `durable` says, and loses the second's batch from the journal.
fn lose_the_last_commit(folder: &Path, durable: bool) {
    let store = open(folder).unwrap();
    store.commit(&[start(&store, 1)], true).unwrap();
    let last = RunCommit { record: "marker 2;".into(), ..start(&store, 2) };
    store.commit(&[last], durable).unwrap();
    drop(store);
    let journal = journal(folder);
    let place = find(&journal, "marker", 2);
    let file = fs::File::options().write(true).open(&journal).unwrap();
    file.set_len(place as u64).unwrap();
}

#[test]
fn the_very_last_durable_commit_is_missed_at_the_next_opening() {
    let folder = tempfile::tempdir().unwrap();
    lose_the_last_commit(folder.path(), true);
    let reason = damaged(folder.path());
    assert!(reason.contains("lost commits 3..=3"), "{reason}");
}

#[test]
fn a_commit_that_was_not_durable_may_be_gone_after_the_end_of_power() {
    let folder = tempfile::tempdir().unwrap();
    lose_the_last_commit(folder.path(), false);
    let store = open(folder.path()).unwrap();
    assert_eq!(store.runs(None, 9).unwrap().len(), 1);
    store.commit(&[start(&store, 2)], true).unwrap();
}

#[test]
fn a_flipped_byte_in_the_last_batch_is_named_and_repaired() {
    let folder = tempfile::tempdir().unwrap();
    fill_with_markers(folder.path(), "marker", 10);
    let journal = journal(folder.path());
    // The begin of the second epoch is the last batch: 11 starts and beginnings are before it.
    let place = find(&journal, "marker", 10);
    change(&journal, |bytes| bytes[place] ^= 1);
    let reason = damaged(folder.path());
    assert!(reason.contains("ChecksumMismatch") && reason.contains("repair"), "{reason}");

    let report = repair(folder.path()).unwrap();
    assert_eq!(report.lost.map(Iterator::count), Some(2), "the last start and the second opening");
    assert!(report.actions.iter().any(|action| action.contains("cut journal 0")), "{:?}", report.actions);
    check_repaired(folder.path(), 9);
}

#[test]
fn a_flipped_byte_in_the_middle_is_repaired_up_to_it() {
    let folder = tempfile::tempdir().unwrap();
    fill_with_markers(folder.path(), "marker", 10);
    let journal = journal(folder.path());
    let place = find(&journal, "marker", 5);
    change(&journal, |bytes| bytes[place] ^= 1);
    damaged(folder.path());
    let report = repair(folder.path()).unwrap();
    assert_eq!(report.last + 7, *report.lost.unwrap().end(), "six starts and an opening are gone");
    check_repaired(folder.path(), 4);
    assert!(report.backup.join("0.jnl").is_file());
}

#[test]
fn damage_to_the_structure_in_the_middle_is_refused_instead_of_cut_away() {
    let folder = tempfile::tempdir().unwrap();
    fill_with_markers(folder.path(), "marker", 10);
    let journal = journal(folder.path());
    let place = find(&journal, "marker", 5);
    // Over the beginning of a batch, a page of zeros.
    change(&journal, |bytes| bytes[place..place + 400].fill(0));
    let reason = damaged(folder.path());
    let again = damaged(folder.path());
    assert!(again.contains("lost commits"), "{reason}, then {again}");

    let report = repair(folder.path()).unwrap();
    assert!(report.lost.is_some());
    check_repaired(folder.path(), 4);
}

/// The store opens with the first `runs` runs, takes commits, and stays so.
fn check_repaired(folder: &Path, runs: u64) {
    for sequence in 2..4 {
        let store = open(folder).unwrap();
        let listed: Vec<_> = store.runs(None, 99).unwrap().iter().map(|summary| summary.run).collect();
        assert_eq!(listed, (1..=runs).map(run_id).collect::<Vec<_>>());
        store.commit(&[step(&store, 1, sequence)], true).unwrap();
        assert_eq!(store.history(run_id(1), 1, 99).unwrap().len() as u64, sequence);
    }
}

#[test]
fn repairing_a_sound_store_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let before = fill(folder.path(), false);
    let RepairReport { lost, actions, .. } = repair(folder.path()).unwrap();
    assert_eq!((lost, actions), (None, vec![]));
    assert_eq!(content(&open(folder.path()).unwrap(), RUNS).unwrap(), before);
}

#[test]
fn a_lost_marker_watermark_or_journal_is_made_anew_by_a_repair() {
    for file in ["dex-store", "data/dex-watermark", "data/0.jnl"] {
        let folder = tempfile::tempdir().unwrap();
        let before = fill(folder.path(), true);
        fs::remove_file(folder.path().join(file)).unwrap();
        open(folder.path()).unwrap_err();
        let report = repair(folder.path()).unwrap();
        assert_eq!(report.lost, None, "{file}");
        assert_eq!(report.actions.len(), 1, "{file}: {:?}", report.actions);
        let store = open(folder.path()).unwrap();
        assert_eq!(content(&store, RUNS).unwrap(), before, "{file}");
        store.commit(&[step(&store, 1, 4)], true).unwrap();
        assert_eq!(store.history(run_id(1), 1, 99).unwrap().len(), 4, "{file}");
    }
}

#[test]
fn what_cannot_be_repaired_is_left_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path(), true);
    fs::remove_file(folder.path().join("data/keyspaces/1/current")).unwrap();
    let before = super::support::files(folder.path());
    let error = repair(folder.path()).unwrap_err();
    assert!(
        matches!(&error, StoreError::Damaged { reason, .. } if reason.contains("does not help")),
        "{error}"
    );
    assert_eq!(super::support::files(folder.path()), before);
}

#[test]
fn a_store_that_is_open_or_none_is_not_repaired() {
    let folder = tempfile::tempdir().unwrap();
    let error = repair(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
    let _open = open(folder.path()).unwrap();
    let error = repair(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::InUse { .. }), "{error}");
}

/// Makes a store with a journal that is full and another one behind it. Gives the length of run 1's history.
fn fill_two_journals(folder: &Path) -> u64 {
    let mut options = FjallOptions::default();
    // So that nothing forces the first journal's rows into tables.
    options.journal_bytes = 1 << 30;
    let store = FjallStore::open(folder, options).unwrap();
    store.commit(&[start(&store, 1)], true).unwrap();
    let record = bytes::Bytes::from(vec![7; 1 << 20]);
    let mut sequence = 1;
    while journals(folder).len() < 2 {
        sequence += 1;
        assert!(sequence < 1000, "the journal is not rotated");
        store.commit(&[RunCommit { record: record.clone(), ..step(&store, 1, sequence) }], true).unwrap();
    }
    store.commit(&[step(&store, 1, sequence + 1)], true).unwrap();
    sequence + 1
}

/// Run 1's transitions are all there, because tables had them, or it is refused: never fewer without a word.
fn is_whole_or_refused(folder: &Path, length: u64) {
    match open(folder).unwrap().load(run_id(1)) {
        Ok(stored) => {
            let run = stored.unwrap();
            assert_eq!(run.snapshot.map_or(0, |(sequence, _)| sequence) + run.records.len() as u64, length);
        }
        Err(error) => assert!(error.to_string().contains("is missing"), "{error}"),
    }
}

fn damage_to_a_full_journal(harm: fn(&mut Vec<u8>)) {
    let folder = tempfile::tempdir().unwrap();
    let length = fill_two_journals(folder.path());
    change(&journals(folder.path())[0], harm);
    damaged(folder.path());
    damaged(folder.path());
    let report = repair(folder.path()).unwrap();
    let actions = report.actions.join("; ");
    assert!(actions.contains("is not known"), "{actions}");
    is_whole_or_refused(folder.path(), length);
}

#[test]
fn a_full_journal_that_was_cut_is_noticed_although_later_commits_are_there() {
    damage_to_a_full_journal(|bytes| bytes.truncate(bytes.len() / 2));
}

#[test]
fn a_full_journal_that_was_zeroed_is_noticed_although_later_commits_are_there() {
    damage_to_a_full_journal(|bytes| bytes.fill(0));
}

#[test]
fn a_full_journal_with_a_hole_is_noticed_although_later_commits_are_there() {
    damage_to_a_full_journal(|bytes| {
        let middle = bytes.len() / 2;
        bytes[middle..middle + 3_000_000].fill(0);
    });
}
