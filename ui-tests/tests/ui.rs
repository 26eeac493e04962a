//! One mistake a file in `flow/`, `step/`, `wait/`, `sub_flow/`, `rpc/`, `handle/`, `stream/` and `options/`, named by the mistake, with
//! the reviewed message beside it; shapes that must go on compiling in `pass/`.

#[test]
fn mistakes_are_reported_and_shapes_compile() {
    let cases = trybuild::TestCases::new();
    for theme in ["flow", "step", "wait", "sub_flow", "rpc", "handle", "stream", "options"] {
        cases.compile_fail(format!("tests/{theme}/*.rs"));
    }
    cases.pass("tests/pass/*.rs");
}
