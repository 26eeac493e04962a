//! Every file of a stopped store, damaged in every plain way.

use std::fs;
use std::path::Path;

use dex_runtime::store::StoreError;

use super::support::{RUNS, content, copy, files, fill, open};

/// A way to damage a file.
type Damage = (&'static str, fn(&Path));

const DAMAGES: [Damage; 5] = [
    ("cut to nothing", |path| cut(path, |_| 0)),
    ("cut to a byte", |path| cut(path, |_| 1)),
    ("cut to its half", |path| cut(path, |length| length / 2)),
    ("filled with zeros", |path| {
        let length = fs::metadata(path).unwrap().len();
        cut(path, |_| 0);
        cut(path, |_| length);
    }),
    ("deleted", |path| fs::remove_file(path).unwrap()),
];

fn cut(path: &Path, length: impl FnOnce(u64) -> u64) {
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_len(length(file.metadata().unwrap().len())).unwrap();
}

/// Damages each file in turn: the store opens with everything in it, or says what is wrong and where.
fn damage_every_file(close: bool) {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole");
    let before = fill(&whole, close);
    let mut refused = 0;
    for file in files(&whole) {
        for (damage, harm) in DAMAGES {
            let case = format!("{} {damage}", file.display());
            let copied = folder.path().join("copy");
            copy(&whole, &copied);
            harm(&copied.join(&file));
            // An error in a table's middle shows when it is read.
            match open(&copied).and_then(|store| content(&store, RUNS)) {
                Ok(after) => assert_eq!(after, before, "{case}"),
                Err(StoreError::Damaged { path, reason }) => {
                    assert!(path.starts_with(copied.canonicalize().unwrap()), "{case}: {}", path.display());
                    assert!(reason.contains("repair"), "{case}: {reason}");
                    refused += 1;
                }
                Err(StoreError::Unreadable { reason, .. }) => {
                    assert!(reason.contains("repair"), "{case}: {reason}");
                    refused += 1;
                }
                Err(other) => panic!("{case}: {other}"),
            }
            fs::remove_dir_all(&copied).unwrap();
        }
    }
    assert!(refused > 50, "{refused} of the damages were noticed");
}

#[test]
fn a_damaged_file_of_a_closed_store_is_harmless_or_named() {
    damage_every_file(true);
}

#[test]
fn a_damaged_file_of_a_store_that_was_not_closed_is_harmless_or_named() {
    damage_every_file(false);
}

#[test]
fn a_refused_store_is_refused_again() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path(), false);
    let journal = super::support::journals(folder.path()).pop().unwrap();
    cut(&journal, |length| length / 2);
    for _ in 0..3 {
        let error = open(folder.path()).unwrap_err();
        assert!(
            matches!(&error, StoreError::Damaged { reason, .. } if reason.contains("lost commits")),
            "{error}"
        );
    }
}
