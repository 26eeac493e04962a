//! One mistake a file in `flow/`, `step/`, `wait/`, `sub_flow/`, `rpc/`, `handle/`, `stream/` and `options/`, named by the mistake, with
//! the reviewed message beside it; shapes that must go on compiling in `pass/`.

use std::fs;

#[test]
fn mistakes_are_reported_and_shapes_compile() {
    let cases = trybuild::TestCases::new();
    for theme in ["flow", "step", "wait", "sub_flow", "rpc", "handle", "stream", "options"] {
        cases.compile_fail(format!("tests/{theme}/*.rs"));
    }
    cases.pass("tests/pass/*.rs");
}

/// Longest message of all, in lines. Those that are so long are the compiler's own, about types.
const LINES_MAX: usize = 25;

/// What a message should take.
const LINES_RIGHT: usize = 12;

#[test]
fn messages_are_short() {
    let mut messages = Vec::new();
    for folder in
        fs::read_dir("tests").unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir())
    {
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        for file in files.filter(|path| path.extension().is_some_and(|extension| extension == "stderr")) {
            let text = fs::read_to_string(&file).unwrap();
            let each = text.trim_end().split("\n\nerror").map(|message| message.lines().count());
            messages.extend(each.map(|lines| (lines, file.clone())));
        }
    }
    assert!(messages.len() > 150, "{} messages were found", messages.len());
    let (longest, file) = messages.iter().max().unwrap();
    assert!(*longest <= LINES_MAX, "{longest} lines in {}", file.display());
    let long = messages.iter().filter(|(lines, _)| *lines > LINES_RIGHT).count();
    assert!(
        long * 4 <= messages.len(),
        "{long} of {} messages have more than {LINES_RIGHT} lines",
        messages.len()
    );
}
