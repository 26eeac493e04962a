//! Pages in `docs/` that name tests: what they name, and whether it is there.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
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
    /// Announced with the word PENDING: the test is still to come.
    pub(crate) pending: bool,
}

impl Named {
    /// Whether the test is in its file.
    pub(crate) fn is_there(&self) -> bool {
        let texts = sources(&self.module).into_iter().filter_map(|path| fs::read_to_string(path).ok());
        texts.into_iter().any(|text| text.contains(&format!("fn {}(", self.test)))
    }
}

/// The tests that the page names. `…` is the module named before it.
pub(crate) fn named(page: &str) -> Vec<Named> {
    let mut named: Vec<Named> = Vec::new();
    let parts: Vec<&str> = page.split('`').collect();
    for pair in parts.chunks_exact(2) {
        let [before, name] = pair else { continue };
        let Some((module, test)) = name.rsplit_once("::") else { continue };
        let is_test = test.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        // Names of tests are sentences; names of methods are mostly one word.
        if !is_test || !test.contains('_') {
            continue;
        }
        let module = match named.last() {
            Some(last) if module == "…" => last.module.clone(),
            _ => module.to_owned(),
        };
        let pending = before.ends_with("PENDING ");
        named.push(Named { module, test: test.to_owned(), pending });
    }
    named
}

/// Where the tests of `module`, as pages name it, are.
fn sources(module: &str) -> Vec<PathBuf> {
    match module.strip_prefix("runtime/") {
        Some(module) => vec![
            root().join(format!("dex-runtime/src/{module}.rs")),
            root().join(format!("dex-runtime/src/{module}/mod.rs")),
        ],
        None => vec![root().join(format!("tests/{module}.rs"))],
    }
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
        tests.extend(names.filter(|_| !of_page).map(|test| Named {
            module: format!("{program}/{module}"),
            test: test.to_owned(),
            pending: false,
        }));
    }
    tests
}

/// The programs for the compiler that a page names: `ui/step/wrong_input` is `ui-tests/tests/step/wrong_input.rs`.
pub(crate) fn programs(page: &str) -> Vec<&str> {
    page.split('`').skip(1).step_by(2).filter_map(|text| text.strip_prefix("ui/")).collect()
}

/// Whether there is such a program, with the message that it gets unless it compiles.
pub(crate) fn is_program(program: &str) -> bool {
    let file = |extension| root().join("ui-tests/tests").join(program).with_extension(extension).exists();
    file("rs") && (program.starts_with("pass/") || file("stderr"))
}
