//! The page names tests that there are.

use crate::support::page::{case_is_there, cases, named, read, tests_of};

#[test]
fn every_test_that_the_page_of_field_cases_names_is_there() {
    let page = read("field-cases");
    let named = named(&page);
    assert!(named.len() > 80, "{} tests are named", named.len());
    let missing: Vec<_> = named.iter().filter(|test| !test.is_there()).collect();
    assert!(missing.is_empty(), "{missing:#?}");
    let cases = cases(&page);
    assert!(cases.len() > 30, "{} cases are named", cases.len());
    let missing: Vec<_> = cases.into_iter().filter(|case| !case_is_there(case)).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn every_field_case_that_is_tested_here_is_on_the_page() {
    let named = named(&read("field-cases"));
    let tests = tests_of("field_cases");
    assert!(tests.len() > 50, "{} tests were found", tests.len());
    let missing: Vec<_> = tests.iter().filter(|test| !named.contains(test)).collect();
    assert!(missing.is_empty(), "not on the page: {missing:#?}");
}
