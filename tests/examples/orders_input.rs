//! What `orders` makes of its input and its command line.

use std::path::PathBuf;
use std::time::Duration;

use crate::arguments::{Arguments, Source};
use crate::intake::{Incoming, Intake, LINE_BYTES_MAX, Seller, read_orders};
use crate::shop::{Conduct, Fate, Order};

const ONE: &str = r#"{"id": "17", "email": "a@example.com", "cents": 4200, "items": ["tea"]}"#;

fn read(text: impl AsRef<[u8]>) -> Intake {
    read_orders(text.as_ref()).unwrap()
}

fn only_reason(text: impl AsRef<[u8]>) -> String {
    let intake = read(text);
    assert_eq!(intake.orders, []);
    let [bad] = &intake.bad_lines[..] else { panic!("{:?}", intake.bad_lines) };
    bad.reason.to_string()
}

#[test]
fn a_line_without_fate_and_seller_is_an_ordinary_order() {
    let order = Order { id: "17".into(), email: "a@example.com".into(), cents: 4200 };
    let expected = Incoming { order, fate: Fate::default(), seller: Seller::ApprovesAfterMs(100) };
    assert_eq!(read(ONE).orders, [expected]);
}

#[test]
fn the_fate_of_an_order_stands_in_its_line() {
    let line = r#"{"id": "17", "email": "a@example.com", "cents": 1, "items": ["tea"],
        "card": {"flaky": 2}, "shipment": "refused", "seller": {"declines_after_ms": 9}}"#;
    let intake = read(line.replace('\n', ""));
    let [incoming] = &intake.orders[..] else { panic!("{intake:?}") };
    assert_eq!(incoming.fate, Fate { card: Conduct::Flaky(2), shipment: Conduct::Refused });
    assert_eq!(incoming.seller, Seller::DeclinesAfterMs(9));
}

#[test]
fn the_shipped_orders_are_all_good() {
    let intake = read(include_str!("../../examples/data/orders.jsonl"));
    assert_eq!(intake.orders.len(), 200);
    assert!(intake.bad_lines.is_empty(), "{:?}", intake.bad_lines);
}

#[test]
fn bad_lines_keep_their_numbers_and_leave_the_others_alone() {
    let intake = read(format!("nonsense\n\n{ONE}\r\n\u{feff}\n{}", ONE.replace("17", "18")));
    let ids: Vec<_> = intake.orders.iter().map(|incoming| incoming.order.id.as_str()).collect();
    assert_eq!(ids, ["17", "18"]);
    let numbers: Vec<_> = intake.bad_lines.iter().map(|bad| bad.number).collect();
    assert_eq!(numbers, [1, 4]);
}

#[test]
fn the_second_line_of_an_id_is_refused_and_the_first_kept() {
    let intake = read(format!("{ONE}\n{ONE}\n"));
    assert_eq!(intake.orders.len(), 1);
    assert_eq!(intake.bad_lines[0].number, 2);
    assert_eq!(intake.bad_lines[0].reason.to_string(), r#"`id` "17" was given in line 1 already"#);
}

#[test]
fn ids_that_cannot_be_flow_ids_are_refused() {
    assert!(only_reason(ONE.replace("17", "")).contains("flow id is empty"));
    assert!(only_reason(ONE.replace("17", &"x".repeat(513))).contains("513 bytes"));
    assert!(only_reason(ONE.replace("17", r"a\u0007b")).contains("U+0007"));
}

#[test]
fn amounts_that_cannot_be_charged_are_refused() {
    assert!(only_reason(ONE.replace("4200", "-1")).contains("integer `-1`"));
    assert!(only_reason(ONE.replace("4200", "0")).contains("nothing to charge"));
    assert!(only_reason(ONE.replace("4200", "1e30")).contains("floating point"));
    assert!(only_reason(ONE.replace(r#"["tea"]"#, "[]")).contains("nothing to ship"));
}

#[test]
fn text_that_is_not_utf_8_is_not_an_order() {
    let mut bytes = ONE.as_bytes().to_vec();
    bytes[9] = 0xff;
    assert!(only_reason(bytes).starts_with("not an order"));
}

#[test]
fn a_line_over_the_limit_is_skipped_as_a_whole() {
    let long = "x".repeat(3 * LINE_BYTES_MAX);
    let intake = read(format!("{long}\n{ONE}\n"));
    assert_eq!(intake.orders.len(), 1);
    assert_eq!(intake.bad_lines.len(), 1);
    assert_eq!(intake.bad_lines[0].reason.to_string(), format!("longer than {LINE_BYTES_MAX} bytes"));
    assert_eq!(only_reason(&long), format!("longer than {LINE_BYTES_MAX} bytes"));
}

#[test]
fn a_line_one_byte_over_the_limit_does_not_take_the_next_one_with_it() {
    let line_with_end = format!("{}\n", "x".repeat(LINE_BYTES_MAX));
    let intake = read(format!("{line_with_end}{ONE}\n"));
    assert_eq!((intake.orders.len(), intake.bad_lines.len()), (1, 1));
}

#[test]
fn the_command_line_says_where_and_how_long() {
    let words = ["--data", "d", "--patience", "5", "--each", "in.jsonl"].map(str::to_owned);
    let expected = Arguments {
        data: PathBuf::from("d"),
        patience: Duration::from_millis(5),
        each: true,
        orders: Source::File(PathBuf::from("in.jsonl")),
    };
    assert_eq!(Arguments::parse(words), Ok(expected));
    assert_eq!(Arguments::parse(["-".to_owned()]).unwrap().orders, Source::StandardInput);
}

#[test]
fn a_source_that_cannot_be_opened_is_named() {
    let error = Source::File("nowhere.jsonl".into()).open().err().unwrap();
    assert!(error.to_string().starts_with("nowhere.jsonl cannot be read: "), "{error}");
}

#[test]
fn a_command_line_that_makes_no_sense_is_refused_with_the_word() {
    let refused = |words: &[&str]| Arguments::parse(words.iter().map(|&w| w.to_owned())).unwrap_err();
    assert_eq!(refused(&["--data"]), "--data needs a value");
    assert_eq!(refused(&["--patience", "soon"]), "--patience soon: invalid digit found in string");
    assert_eq!(refused(&["--what"]), "unknown option --what");
}
