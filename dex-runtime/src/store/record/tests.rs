//! Every record reads back, and no bytes do harm.

use proptest::collection::vec;
use proptest::prelude::*;

use super::super::stream::{StreamHead, item_bytes};
use super::arbitrary::{event, item, live, run_state, summary, timestamp};
use super::*;
use crate::engine::{Condition, Event};
use crate::ids::{ExecutionNo, RunId};
use crate::time::Timestamp;

fn read_as_anything(bytes: &[u8]) {
    let _ = decode_transition(bytes);
    let _ = decode_state(bytes);
    let _ = decode_summary(RunId::from_bytes([0; 16]), bytes);
    let _ = decode_live(bytes);
    let _ = decode_snapshot_row(bytes);
    let _ = (decode_item(bytes), decode_head(bytes));
}

proptest! {
    #[test]
    fn a_transition_reads_back(at in timestamp(), events in vec(event(), 0..6)) {
        let record = encode_transition(at, &events);
        prop_assert_eq!(decode_transition(&record).unwrap(), (at, events));
    }

    #[test]
    fn a_state_reads_back_with_what_follows_from_it(state in run_state()) {
        prop_assert_eq!(decode_state(&encode_state(&state)).unwrap(), state);
    }

    #[test]
    fn rows_read_back(summary in summary(), live in live()) {
        prop_assert_eq!(decode_summary(summary.run, &encode_summary(&summary)).unwrap(), summary);
        prop_assert_eq!(decode_live(&encode_live(&live)).unwrap(), live);
    }

    #[test]
    fn streams_read_back(item in item(), (first, next, bytes) in any::<(u64, u64, u64)>()) {
        prop_assert_eq!(&decode_item(&encode_item(&item)).unwrap(), &item);
        let counted = item_bytes(encode_item(&item).len());
        prop_assert!(largest_item(counted, &item.origin) <= item.value.as_bytes().len());
        let head = StreamHead { first, next, bytes };
        prop_assert_eq!(decode_head(&encode_head(&head)).unwrap(), head);
    }

    #[test]
    fn a_longer_or_shorter_record_is_refused(at in timestamp(), events in vec(event(), 1..4), cut in any::<prop::sample::Index>()) {
        let record = encode_transition(at, &events);
        let longer = [&record[..], &[0]].concat();
        prop_assert!(decode_transition(&longer).is_err());
        prop_assert!(decode_transition(&record[..cut.index(record.len())]).is_err());
    }

    #[test]
    fn any_bytes_are_answered_with_a_value_or_an_error(bytes in vec(any::<u8>(), 0..200)) {
        read_as_anything(&bytes);
        read_as_anything(&[&[1, 1], &bytes[..]].concat());
    }

    #[test]
    fn a_damaged_record_is_answered_with_a_value_or_an_error(
        state in run_state(), events in vec(event(), 1..4), at in timestamp(),
        place in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        for record in [encode_state(&state), encode_transition(at, &events)] {
            let mut record = record.to_vec();
            let place = place.index(record.len());
            record[place] = byte;
            read_as_anything(&record);
        }
    }
}

#[test]
fn conditions_up_to_the_limit_read_back_and_deeper_ones_are_refused() {
    let nested = |levels: usize| {
        let innermost = Condition::Timer { at: Timestamp::EPOCH };
        let condition = (1..levels).fold(innermost, |inner, _| Condition::All(vec![inner]));
        encode_transition(Timestamp::EPOCH, &[Event::WaitStarted { execution: ExecutionNo(1), condition }])
    };
    decode_transition(&nested(CONDITION_DEPTH_MAX)).unwrap();
    let error = decode_transition(&nested(CONDITION_DEPTH_MAX + 1)).unwrap_err();
    assert!(error.to_string().contains("nested deeper than 100"), "{error}");
}

#[test]
fn a_million_levels_do_not_take_the_stack() {
    let mut record = vec![1, 1, 0, 1, super::tag::event::WAIT_STARTED, 1];
    record.extend([super::tag::condition::ALL, 1].repeat(1_000_000));
    assert!(decode_transition(&record).is_err());
}

#[test]
fn a_promise_of_more_than_there_is_takes_no_memory() {
    // A transition of 2^64 - 1 events.
    let mut record = vec![1, 1, 0, 253];
    record.extend(u64::MAX.to_le_bytes());
    let error = decode_transition(&record).unwrap_err();
    assert!(error.to_string().contains("items should follow"), "{error}");
}

#[test]
fn a_later_version_is_named_with_what_this_build_knows() {
    let record = encode_transition(Timestamp::EPOCH, &[]);
    let later = [&[1, 9], &record[2..]].concat();
    let error = decode_transition(&later).unwrap_err().to_string();
    assert!(error.contains("record version 9") && error.contains("knows 1"), "{error}");
}
