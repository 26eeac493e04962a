//! The page names tests that there are.

use std::fs;

use crate::names::{case_is_there, cases, is_there, named, read, root};

#[test]
fn every_test_that_the_page_of_field_cases_names_is_there() {
    let page = read("field-cases.md");
    let named = named(&page);
    assert!(named.len() > 80, "{} tests are named", named.len());
    let missing: Vec<_> = named.iter().filter(|test| !is_there(test)).collect();
    assert!(missing.is_empty(), "{missing:#?}");
    let cases = cases(&page);
    assert!(cases.len() > 30, "{} cases are named", cases.len());
    let missing: Vec<_> = cases.into_iter().filter(|case| !case_is_there(case)).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn every_field_case_that_is_tested_here_is_on_the_page() {
    let named = named(&read("field-cases.md"));
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
