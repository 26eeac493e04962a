//! The pages that the facade puts on the macros, beside what the macros take: the options are asked of the macros
//! themselves, by a mistake that makes them list them.

use std::fs;
use std::path::Path;

use super::{expansion, messages};

/// One place where options stand: its page, the heading of its table there, and the block that gives it one.
struct Place {
    page: &'static str,
    heading: &'static str,
    block: fn(&str) -> (String, String),
}

const PLACES: &[Place] = &[
    Place { page: "flow", heading: "option", block: |option| (option.to_owned(), "impl F {}".to_owned()) },
    Place {
        page: "flow",
        heading: "in `steps(…)`",
        block: |option| (format!("steps({option})"), "impl F {}".to_owned()),
    },
    Place { page: "step", heading: "option", block: |option| method(&format!("step({option})")) },
    Place {
        page: "step",
        heading: "in `retry(…)`",
        block: |option| method(&format!("step(retry({option}))")),
    },
    Place { page: "rpc", heading: "option", block: |option| method(&format!("rpc({option})")) },
    Place {
        page: "attribute",
        heading: "option",
        block: |option| constant("attribute", option, "Attribute"),
    },
    Place { page: "channel", heading: "option", block: |option| constant("channel", option, "Channel") },
    Place { page: "stream", heading: "option", block: |option| constant("stream", option, "Stream") },
];

/// Steps that the runtime starts: their pages say in a sentence which options of `#[step]` they do without.
const STARTED_BY_THE_RUNTIME: &[&str] = &["on_timeout", "on_cancel"];

fn method(attribute: &str) -> (String, String) {
    let block = format!("impl F {{ #[{attribute}] async fn a(&self) -> StepResult<Self> {{ todo }} }}");
    (String::new(), block)
}

fn constant(attribute: &str, option: &str, ty: &str) -> (String, String) {
    (String::new(), format!("impl F {{ #[{attribute}({option})] const A: {ty}<u8>; }}"))
}

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../src/docs/{name}.md"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What the macro says of this option there.
fn told((args, block): (String, String)) -> Vec<String> {
    messages(expansion(&args, &block))
}

/// The options that the macro lists when it is given one that it does not have.
fn accepted(block: fn(&str) -> (String, String)) -> Vec<String> {
    let messages = told(block("no_such_option"));
    let message = messages.iter().find(|message| message.contains("has no option `no_such_option`"));
    let message = message.unwrap_or_else(|| panic!("no list of options in {messages:?}"));
    let mut words = in_backticks(message.lines().last().unwrap());
    words.sort();
    words
}

fn in_backticks(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The rows of the one table with this heading: the option's name and the rest of the row.
fn rows(page: &str, heading: &str) -> Vec<(String, String)> {
    let text = self::page(page);
    let head = format!("| {heading} | type | default | meaning |");
    let mut lines = text.lines().skip_while(|line| **line != *head);
    assert!(lines.next().is_some(), "{page}.md has no table `{head}`");
    let table = lines.skip(1).take_while(|line| line.starts_with('|'));
    let row = |line: &str| {
        let (name, rest) = line[1..].split_once('|').unwrap();
        (name.trim().trim_matches('`').trim_end_matches("(…)").to_owned(), rest.to_owned())
    };
    table.map(row).collect()
}

#[test]
fn every_option_has_a_row_on_its_page_and_every_row_is_an_option() {
    for Place { page, heading, block } in PLACES {
        let mut documented: Vec<_> = rows(page, heading).into_iter().map(|(name, _)| name).collect();
        documented.sort();
        assert_eq!(documented, accepted(*block), "{page}.md, the table of `{heading}`");
    }
}

#[test]
fn every_row_has_a_type_a_default_and_a_meaning() {
    for Place { page, heading, .. } in PLACES {
        for (name, rest) in rows(page, heading) {
            let cells: Vec<_> = rest.split('|').map(str::trim).collect();
            assert_eq!(cells.len(), 4, "{page}.md, `{name}`: {rest}");
            assert!(cells[..3].iter().all(|cell| !cell.is_empty()), "{page}.md, `{name}`: {rest}");
        }
    }
}

#[test]
fn options_with_a_duration_or_a_size_lead_to_its_grammar() {
    let mut found = 0;
    for Place { page, heading, block } in PLACES {
        for (name, rest) in rows(page, heading) {
            let messages = told(block(&format!("{name} = \"?\"")));
            let takes = |example: &str| messages.iter().any(|message| message.contains(example));
            for (example, anchor) in [("\"1h 30m\"", "#durations)"), ("\"64 KiB\"", "#sizes)")] {
                let type_ = rest.split('|').next().unwrap();
                assert_eq!(type_.contains(anchor), takes(example), "{page}.md, `{name}`: {type_}");
                found += usize::from(takes(example));
            }
        }
    }
    // So many when this was written: a message with other words must not make the test empty.
    assert!(found >= 10, "only {found} options were seen to take a duration or a size");
}

#[test]
fn the_units_on_the_page_are_those_that_are_read() {
    let text = page("flow");
    let section = |title: &str| {
        let section = text.split(&format!("\n# {title}\n")).nth(1).unwrap();
        section.split("\n# ").next().unwrap().to_owned()
    };
    let table = |section: &str| -> Vec<String> {
        let rows = section.lines().filter(|line| line.starts_with("| `"));
        rows.flat_map(|row| in_backticks(row.split('|').nth(1).unwrap())).collect()
    };
    let durations: Vec<_> = crate::duration::UNITS.iter().map(|(unit, _)| (*unit).to_owned()).collect();
    assert_eq!(table(&section("Durations")), durations);
    let sizes: Vec<_> = crate::size::UNITS.iter().map(|(unit, _)| (*unit).to_owned()).collect();
    assert_eq!(table(&section("Sizes")), sizes);
}

#[test]
fn steps_that_the_runtime_starts_take_what_their_pages_leave_of_a_steps_options() {
    let of_steps = rows("step", "option").into_iter().map(|(name, _)| name);
    for name in STARTED_BY_THE_RUNTIME {
        let text = page(name);
        let exception = text.lines().find(|line| line.contains("mean nothing for it"));
        let without = in_backticks(exception.unwrap_or_else(|| panic!("{name}.md names no exceptions")));
        let mut left: Vec<_> = of_steps.clone().filter(|option| !without.contains(option)).collect();
        left.sort();
        let block: fn(&str) -> (String, String) = match *name {
            "on_timeout" => |option| method(&format!("on_timeout({option})")),
            _ => |option| method(&format!("on_cancel({option})")),
        };
        assert_eq!(left, accepted(block), "{name}.md");
    }
}
