//! The page names tests that there are.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where the tests of `module`, as the page names it, are.
fn sources(module: &str) -> Vec<PathBuf> {
    match module.strip_prefix("runtime/") {
        Some(module) => vec![
            root().join(format!("dex-runtime/src/{module}.rs")),
            root().join(format!("dex-runtime/src/{module}/mod.rs")),
        ],
        None => vec![root().join(format!("tests/{module}.rs"))],
    }
}

/// The tests that the page names: module and name. `…` is the module named before it.
fn named(page: &str) -> Vec<(String, String)> {
    let mut named = Vec::new();
    let mut before = "";
    for text in page.split('`').skip(1).step_by(2) {
        let Some((module, name)) = text.rsplit_once("::") else { continue };
        let is_test = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        // Names of tests are sentences; names of methods are mostly one word.
        if !is_test || !name.contains('_') {
            continue;
        }
        before = if module == "…" { before } else { module };
        named.push((before.to_owned(), name.to_owned()));
    }
    named
}

#[test]
fn every_test_that_the_page_of_field_cases_names_is_there() {
    let page = fs::read_to_string(root().join("docs/field-cases.md")).unwrap();
    let named = named(&page);
    assert!(named.len() > 80, "{} tests are named", named.len());
    let is_there = |(module, name): &&(String, String)| {
        let texts = sources(module).into_iter().filter_map(|path| fs::read_to_string(path).ok());
        texts.into_iter().any(|text| text.contains(&format!("fn {name}(")))
    };
    let missing: Vec<_> = named.iter().filter(|test| !is_there(test)).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn every_field_case_that_is_tested_here_is_on_the_page() {
    let page = fs::read_to_string(root().join("docs/field-cases.md")).unwrap();
    let named = named(&page);
    let mut tests = 0;
    for entry in fs::read_dir(root().join("tests/field_cases")).unwrap() {
        let path = entry.unwrap().path();
        let module = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if module == "page" {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let functions = text.split("#[tokio::test").skip(1).filter_map(|rest| rest.split("async fn ").nth(1));
        for name in functions.filter_map(|rest| rest.split('(').next()) {
            tests += 1;
            let here = (format!("field_cases/{module}"), name.to_owned());
            assert!(named.contains(&here), "{here:?} is not on the page");
        }
    }
    assert!(tests > 50, "{tests} tests were found");
}
