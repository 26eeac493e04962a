//! Pages that name tests: which they name, and whether those are there.

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The text of a page in `docs/`.
pub(crate) fn read(page: &str) -> String {
    fs::read_to_string(root().join("docs").join(page)).unwrap()
}

/// Where the tests of `module`, as a page names it, are.
fn sources(module: &str) -> Vec<PathBuf> {
    let (folder, module) = match module.split_once('/') {
        Some(("runtime", module)) => ("dex-runtime/src", module),
        Some(("macros", module)) => ("dex-macros/src", module),
        _ => ("tests", module),
    };
    let folder = root().join(folder);
    vec![folder.join(format!("{module}.rs")), folder.join(format!("{module}/mod.rs"))]
}

/// The tests that a page names: module and name. `…` is the module named before it.
pub(crate) fn named(page: &str) -> Vec<(String, String)> {
    let mut named = Vec::new();
    let mut before = "";
    for text in quoted(page) {
        let Some((module, name)) = text.rsplit_once("::") else { continue };
        // Names of tests are sentences; names of methods are mostly one word.
        if !is_name(name) || !name.contains('_') {
            continue;
        }
        before = if module == "…" { before } else { module };
        named.push((before.to_owned(), name.to_owned()));
    }
    named
}

/// What stands between backticks.
pub(crate) fn quoted(page: &str) -> impl Iterator<Item = &str> {
    page.split('`').skip(1).step_by(2)
}

/// Whether it could be the name of a function or a file.
pub(crate) fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Whether the module has a test with this name.
pub(crate) fn is_there((module, name): &(String, String)) -> bool {
    let texts = sources(module).into_iter().filter_map(|path| fs::read_to_string(path).ok());
    texts.into_iter().any(|text| text.contains(&format!("fn {name}(")))
}

/// The cases of `ui-tests` in a text: `folder/name`.
pub(crate) fn cases(text: &str) -> Vec<&str> {
    let is_case = |text: &&str| {
        let Some((folder, name)) = text.split_once('/') else { return false };
        let is_source = folder == "tests" || folder == "field_cases";
        is_name(folder) && is_name(name) && !name.is_empty() && !is_source
    };
    quoted(text).filter(is_case).collect()
}

/// Whether the case is there, with its message unless it compiles.
pub(crate) fn case_is_there(case: &str) -> bool {
    let file = |extension| root().join(format!("ui-tests/tests/{case}.{extension}"));
    file("rs").exists() && (case.starts_with("pass/") || file("stderr").exists())
}
