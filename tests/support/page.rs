//! Pages in `docs/` that name tests: what they name, and whether it is there.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the package.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The text of `docs/<name>.md`.
pub(crate) fn read(name: &str) -> String {
    fs::read_to_string(root().join(format!("docs/{name}.md"))).unwrap()
}

/// A test, as a page names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) module: String,
    pub(crate) test: String,
}

impl Named {
    /// Whether the test is in its file.
    pub(crate) fn is_there(&self) -> bool {
        let texts = sources(&self.module).into_iter().filter_map(|path| fs::read_to_string(path).ok());
        texts.into_iter().any(|text| text.contains(&format!("fn {}(", self.test)))
    }
}

/// The tests that a page names. `…` is the module named before it.
pub(crate) fn named(page: &str) -> Vec<Named> {
    let mut named: Vec<Named> = Vec::new();
    for text in quoted(page) {
        let Some((module, test)) = text.rsplit_once("::") else { continue };
        // Names of tests are sentences; names of methods are mostly one word.
        if !is_name(test) || !test.contains('_') {
            continue;
        }
        let module = match named.last() {
            Some(last) if module == "…" => last.module.clone(),
            _ => module.to_owned(),
        };
        named.push(Named { module, test: test.to_owned() });
    }
    named
}

/// What stands between backticks.
fn quoted(page: &str) -> impl Iterator<Item = &str> {
    page.split('`').skip(1).step_by(2)
}

/// Whether it could be the name of a function or a file.
fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Where the tests of `module`, as pages name it, are.
fn sources(module: &str) -> Vec<PathBuf> {
    let (folder, module) = match module.split_once('/') {
        Some(("runtime", module)) => ("dex-runtime/src", module),
        Some(("macros", module)) => ("dex-macros/src", module),
        _ => ("tests", module),
    };
    let folder = root().join(folder);
    vec![folder.join(format!("{module}.rs")), folder.join(format!("{module}/mod.rs"))]
}

/// The tests of the program in `tests/<program>`: all that take part in tokio's runtime, whose modules are not
/// `page`.
pub(crate) fn tests_of(program: &str) -> Vec<Named> {
    let mut tests = Vec::new();
    for entry in fs::read_dir(root().join("tests").join(program)).unwrap() {
        let path = entry.unwrap().path();
        let module = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        let functions = text.split("#[tokio::test").skip(1).filter_map(|rest| rest.split("async fn ").nth(1));
        let names = functions.filter_map(|rest| rest.split('(').next());
        let of_page = module == "page";
        tests.extend(
            names
                .filter(|_| !of_page)
                .map(|test| Named { module: format!("{program}/{module}"), test: test.to_owned() }),
        );
    }
    tests
}

/// The cases of `ui-tests` that a page names: `folder/name`.
pub(crate) fn cases(page: &str) -> Vec<&str> {
    let is_case = |text: &&str| {
        let Some((folder, name)) = text.split_once('/') else { return false };
        let is_source = folder == "tests" || folder == "field_cases";
        is_name(folder) && is_name(name) && !name.is_empty() && !is_source
    };
    quoted(page).filter(is_case).collect()
}

/// Whether the case is there, with its message unless it compiles.
pub(crate) fn case_is_there(case: &str) -> bool {
    let file = |extension| root().join(format!("ui-tests/tests/{case}.{extension}"));
    file("rs").exists() && (case.starts_with("pass/") || file("stderr").exists())
}
