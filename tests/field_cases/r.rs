//! Macros, compiler messages, builds. What is told by the compiler is tested in `ui-tests`.

use std::fs;

use crate::support::page::root;

/// What needs more than a Rust toolchain: a compiler for C, its build tools, or code generators.
const TOOLS: &[&str] = &["cc", "cmake", "bindgen", "pkg-config", "prost-build", "protobuf", "openssl-sys"];

/// All crates together, also those that only tests need.
const CRATES_MAX: usize = 120;

#[test]
fn a_build_needs_rust_and_few_crates() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let crates: Vec<&str> = lock.lines().filter_map(|line| line.strip_prefix("name = ")).collect();
    let crates: Vec<&str> = crates.into_iter().map(|name| name.trim_matches('"')).collect();
    assert!(crates.contains(&"fjall") && crates.len() < CRATES_MAX, "{} crates", crates.len());
    let tools: Vec<_> = crates.iter().filter(|name| TOOLS.contains(name)).collect();
    assert!(tools.is_empty(), "{tools:?}");
}
