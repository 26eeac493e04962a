//! Whose folder it is, and who has it open.

use std::fs;

use dex_runtime::store::fjall::{FjallOptions, FjallStore};
use dex_runtime::store::{Store, StoreError};

use super::support::{RUNS, content, fill, open, start, step};

#[test]
fn a_second_handle_in_the_same_process_is_refused_and_names_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let first = open(folder.path()).unwrap();
    let error = open(folder.path()).unwrap_err();
    let StoreError::InUse { path } = &error else { panic!("{error}") };
    assert_eq!(*path, folder.path().canonicalize().unwrap());
    first.commit(&[start(&first, 1)], true).unwrap();
}

#[cfg(unix)]
#[test]
fn a_second_handle_through_a_link_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (folder.path().join("real"), folder.path().join("link"));
    let _first = open(&real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let error = open(&link).unwrap_err();
    assert!(matches!(error, StoreError::InUse { .. }), "{error}");
}

#[test]
fn a_folder_is_free_once_the_store_is_dropped_or_closed() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()).unwrap());
    let closed = open(folder.path()).unwrap();
    closed.close().unwrap();
    let last = open(folder.path()).unwrap();
    assert!(last.epoch() > closed.epoch());
}

#[test]
fn a_store_that_is_about_to_be_closed_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let old = open(folder.path()).unwrap();
    std::thread::scope(|scope| {
        let new = scope.spawn(|| open(folder.path()));
        old.close().unwrap();
        new.join().unwrap().unwrap();
    });
}

#[test]
fn a_file_is_not_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    fs::write(&path, "mine").unwrap();
    let error = open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
}

#[test]
fn a_folder_with_other_content_is_not_touched() {
    for name in ["notes.txt", "data", "dex-store.bak"] {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(name)).unwrap();
        let error = open(folder.path()).unwrap_err();
        assert!(matches!(&error, StoreError::Foreign { reason, .. } if reason.contains(name)), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{name}");
    }
}

#[test]
fn a_database_of_someone_else_is_not_a_store() {
    let folder = tempfile::tempdir().unwrap();
    drop(fjall::Database::builder(folder.path()).open().unwrap());
    let before = super::support::files(folder.path());
    let error = open(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
    assert_eq!(super::support::files(folder.path()), before);
}

#[test]
fn a_folder_that_does_not_exist_and_an_empty_one_become_stores() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["", "new/and/deep"] {
        let store = open(&folder.path().join(name));
        if name.is_empty() {
            store.unwrap().close().unwrap();
            fs::remove_dir_all(folder.path()).unwrap();
        } else {
            store.unwrap();
        }
    }
}

#[test]
fn a_newer_format_is_refused_with_both_numbers() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path(), true);
    fs::write(folder.path().join("dex-store"), "dex store, format 2\n").unwrap();
    let error = open(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::NewerFormat { found: 2, known: 1, .. }), "{error}");
}

#[test]
fn a_store_whose_making_was_cut_off_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()).unwrap());
    // As it is just before the making is done.
    fs::rename(folder.path().join("dex-store"), folder.path().join("dex-store.unfinished")).unwrap();
    fs::remove_file(folder.path().join("data/dex-watermark")).unwrap();
    fs::remove_file(folder.path().join("data/version")).unwrap();
    let store = open(folder.path()).unwrap();
    store.commit(&[start(&store, 1)], true).unwrap();
}

#[test]
fn commits_are_refused_while_the_disk_is_nearly_full_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let before = fill(folder.path(), false);
    {
        let mut options = FjallOptions::default();
        options.free_bytes_min = u64::MAX;
        let store = FjallStore::open(folder.path(), options).unwrap();
        for _ in 0..2 {
            let error = store.commit(&[step(&store, 1, 4)], true).unwrap_err();
            assert!(matches!(error, StoreError::DiskFull { needed: u64::MAX, .. }), "{error}");
        }
        assert_eq!(content(&store, RUNS).unwrap(), before);
    }
    let store = open(folder.path()).unwrap();
    store.commit(&[step(&store, 1, 4)], true).unwrap();
}

#[test]
fn a_store_whose_database_other_software_has_open_is_in_use() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path(), true);
    let _other = fjall::Database::builder(folder.path().join("data")).open().unwrap();
    let error = open(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::InUse { .. }), "{error}");
}
