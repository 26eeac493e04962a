//! The make-believe shop does what a real provider does, or the crash tests would prove nothing.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::shop::{Conduct, Deed, Fate, Ledger, Order, Shop, ShopError};

fn order() -> Order {
    Order { id: "17".into(), email: "a@example.com".into(), cents: 4200 }
}

fn shop(path: &Path, fate: Fate) -> Shop {
    Shop::open(path, HashMap::from([("17".to_owned(), fate)])).unwrap()
}

fn ledger_in(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("deeper/ledger.jsonl")
}

fn lines(path: &Path) -> usize {
    std::fs::read_to_string(path).unwrap().lines().count()
}

#[tokio::test]
async fn a_repeated_key_is_answered_and_done_once_also_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = ledger_in(&folder);
    for _life in 0..2 {
        let shop = shop(&path, Fate::default());
        shop.charge(&order(), "key").await.unwrap();
        shop.charge(&order(), "key").await.unwrap();
        shop.ship(&order()).await.unwrap();
        shop.refund(&order()).await.unwrap();
    }
    assert_eq!(lines(&path), 3);
}

#[tokio::test]
async fn another_key_is_another_charge() {
    let folder = tempfile::tempdir().unwrap();
    let path = ledger_in(&folder);
    let shop = shop(&path, Fate::default());
    shop.charge(&order(), "one").await.unwrap();
    shop.charge(&order(), "two").await.unwrap();
    assert_eq!(lines(&path), 2);
}

#[tokio::test]
async fn a_refused_card_is_not_charged() {
    let folder = tempfile::tempdir().unwrap();
    let path = ledger_in(&folder);
    let shop = shop(&path, Fate { card: Conduct::Refused, ..Fate::default() });
    let error = shop.charge(&order(), "key").await.unwrap_err();
    assert!(matches!(error, ShopError::Refused { deed: Deed::Charge, .. }), "{error}");
    assert_eq!(error.to_string(), "charge refused for order 17");
    assert!(!shop.has_done(Deed::Charge, &order()).await.unwrap());
}

#[tokio::test]
async fn the_last_request_that_a_flaky_service_fails_has_been_carried_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = ledger_in(&folder);
    let shop = shop(&path, Fate { shipment: Conduct::Flaky(2), ..Fate::default() });
    let mut seen = Vec::new();
    for _request in 0..3 {
        let answered = shop.ship(&order()).await.is_ok();
        seen.push((answered, shop.has_done(Deed::Shipment, &order()).await.unwrap()));
    }
    assert_eq!(seen, [(false, false), (false, true), (true, true)]);
    assert_eq!(lines(&path), 1);
}

#[tokio::test]
async fn a_torn_last_line_is_as_good_as_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = ledger_in(&folder);
    shop(&path, Fate::default()).charge(&order(), "whole").await.unwrap();
    let torn = br#"{"deed":"shipment","order":"17","ce"#;
    OpenOptions::new().append(true).open(&path).unwrap().write_all(torn).unwrap();

    let shop = shop(&path, Fate::default());
    assert!(!shop.has_done(Deed::Shipment, &order()).await.unwrap());
    shop.ship(&order()).await.unwrap();
    assert_eq!(Ledger::open(&path).unwrap().entries().count(), 2);
    assert_eq!(lines(&path), 2);
}

#[test]
fn a_file_that_is_not_a_ledger_is_refused_with_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.jsonl");
    std::fs::write(&path, "my diary\n").unwrap();
    let error = Ledger::open(&path).err().unwrap();
    assert!(error.to_string().starts_with("line 1: "), "{error}");
}
