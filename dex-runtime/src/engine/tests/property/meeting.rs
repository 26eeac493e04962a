//! That a wait is met exactly when there is a way, and by the way that was written first.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::commands::{Draw, condition};
use crate::engine::tests::words::{at, slot};
use crate::engine::{Condition, Matched};
use crate::ids::Slot;
use crate::time::Timestamp;

/// All ways to choose alternatives, those written first first: minimums per channel and the choices.
fn ways(condition: &Condition, now: Timestamp) -> Vec<(BTreeMap<&Slot, u32>, Vec<u32>)> {
    match condition {
        Condition::Messages { slot, min, .. } => vec![(BTreeMap::from([(slot, *min)]), vec![])],
        Condition::Timer { at } if *at > now => vec![],
        Condition::Timer { .. } | Condition::Ready(_) => vec![Default::default()],
        Condition::With(inner, _) => ways(inner, now),
        Condition::Any { of, .. } => {
            let numbered = of.iter().zip(0..);
            numbered
                .flat_map(|(part, index)| {
                    let of_part = ways(part, now).into_iter();
                    of_part.map(move |(needs, choices)| (needs, [vec![index], choices].concat()))
                })
                .collect()
        }
        Condition::All(parts) => parts.iter().fold(vec![Default::default()], |before, part| {
            let of_part = ways(part, now);
            before.iter().flat_map(|left| of_part.iter().map(move |right| join(left, right))).collect()
        }),
    }
}

type Way<'a> = (BTreeMap<&'a Slot, u32>, Vec<u32>);

fn join<'a>((needs, choices): &Way<'a>, (more, further): &Way<'a>) -> Way<'a> {
    let mut needs = needs.clone();
    for (slot, min) in more {
        *needs.entry(*slot).or_default() += min;
    }
    (needs, [choices.as_slice(), further].concat())
}

/// The choices in `matched`, and the messages it takes of each channel.
fn read<'a>(
    condition: &'a Condition,
    matched: &Matched,
    choices: &mut Vec<u32>,
    taken: &mut BTreeMap<&'a Slot, u32>,
) {
    match (condition, matched) {
        (Condition::Messages { slot, min, max, .. }, Matched::Messages(count)) => {
            assert!(min <= count && count <= max, "{min}..={max} does not have {count}");
            *taken.entry(slot).or_default() += count;
        }
        (Condition::Timer { .. } | Condition::Ready(_), Matched::Plain) => {}
        (Condition::With(inner, _), Matched::With(matched)) => read(inner, matched, choices, taken),
        (Condition::Any { of, .. }, Matched::Any(index, matched)) => {
            choices.push(*index);
            read(&of[*index as usize], matched, choices, taken);
        }
        (Condition::All(parts), Matched::All(all)) => {
            assert_eq!(parts.len(), all.len());
            parts.iter().zip(all).for_each(|(part, matched)| read(part, matched, choices, taken));
        }
        _ => panic!("{matched:?} is not of the shape of {condition:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_wait_is_met_by_the_first_way_there_is(seed: u64, a in 0..4_u32, b in 0..4_u32, c in 0..4_u32) {
        let condition = condition(&mut Draw::new(seed), at(10), 3);
        prop_assume!(condition.impossible_count(9).is_none());
        let there = BTreeMap::from([(slot("a"), a), (slot("b"), b), (slot("c"), c)]);
        let now = at(20);
        let first = ways(&condition, now)
            .into_iter()
            .find(|(needs, _)| needs.iter().all(|(slot, min)| there[*slot] >= *min));
        let matched = condition.meet(|slot| there[slot] as usize, now);
        prop_assert_eq!(matched.is_some(), first.is_some());
        let (Some(matched), Some((_, expected))) = (matched, first) else { return Ok(()) };
        let (mut choices, mut taken) = (Vec::new(), BTreeMap::new());
        read(&condition, &matched, &mut choices, &mut taken);
        prop_assert_eq!(choices, expected);
        prop_assert!(taken.iter().all(|(slot, count)| there[*slot] >= *count), "no message is taken twice");
    }
}
