//! The example programs, run as a user would run them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A built example, ready to run in `folder`.
///
/// `cargo test` builds the examples before it runs tests; a single test target alone does not.
pub(crate) fn example(name: &str, folder: &Path) -> Command {
    let path = example_path(name);
    assert!(path.exists(), "{} is missing: run `cargo build --examples` first", path.display());
    let mut command = Command::new(path);
    command.current_dir(folder).stdin(Stdio::null());
    command
}

fn example_path(name: &str) -> PathBuf {
    // This test is `target/<profile>/deps/<test>`, the example `target/<profile>/examples/<name>`.
    let this_test = std::env::current_exe().unwrap();
    let profile = this_test.parent().and_then(Path::parent).unwrap();
    profile.join("examples").join(name).with_extension(std::env::consts::EXE_EXTENSION)
}

/// What a program said, as text.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) success: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Self {
            success: output.status.success(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Runs a program to its end.
pub(crate) fn run(command: &mut Command) -> Said {
    command.output().unwrap().into()
}

/// Runs a program to its end, which must be a good one, and gives what it printed.
pub(crate) fn run_well(command: &mut Command) -> String {
    let said = run(command);
    assert!(said.success, "{command:?} failed:\n{}\n{}", said.stdout, said.stderr);
    said.stdout
}
