//! How many crates a program takes on with dex.
#![cfg(test)]

use std::collections::BTreeSet;
use std::process::Command;

/// Most crates, dex's own three included: what a first build waits for, and what somebody has to trust.
const CRATES_MAX: usize = 120;

#[test]
fn a_program_takes_on_at_most_120_crates() {
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--locked",
            "--package",
            "dex",
            "--edges",
            "normal,build",
            "--prefix",
            "none",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    // `name v1.2.3`, then marks of what kind it is and whether it was listed before.
    let crates: BTreeSet<_> = text.lines().map(|line| line.split(' ').take(2).collect::<Vec<_>>()).collect();
    assert!(
        crates.iter().any(|words| words[0] == "fjall"),
        "the list has what dex is known to need:\n{text}"
    );
    assert!(crates.len() <= CRATES_MAX, "{} crates:\n{text}", crates.len());
}
