//! That a wait is met exactly when there is a way, and by the way that was written first.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::commands::{Draw, condition};
use crate::engine::tests::words::{at, entry, slot};
use crate::engine::{Condition, Matched, Need};
use crate::ids::Slot;
use crate::time::Timestamp;

/// Which children have ended.
fn has_ended(index: u32) -> bool {
    index.is_multiple_of(2)
}

/// All ways to choose alternatives, those written first first: minimums per channel and the choices.
fn ways(condition: &Condition, now: Timestamp) -> Vec<(BTreeMap<&Slot, u32>, Vec<u32>)> {
    match condition {
        Condition::Messages { slot, min, .. } => vec![(BTreeMap::from([(slot, *min)]), vec![])],
        Condition::Timer { at } if *at > now => vec![],
        Condition::Child { index } if !has_ended(*index) => vec![],
        Condition::Timer { .. } | Condition::Child { .. } | Condition::Ready(_) => vec![Default::default()],
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

/// A part that takes messages: its channel, least, most, and how many it takes.
type Taken<'a> = (&'a Slot, u32, u32, u32);

/// The choices in `matched`, and what its parts take, in order.
fn read<'a>(condition: &'a Condition, matched: &Matched, choices: &mut Vec<u32>, taken: &mut Vec<Taken<'a>>) {
    match (condition, matched) {
        (Condition::Messages { slot, min, max, .. }, Matched::Messages(count)) => {
            taken.push((slot, *min, *max, *count));
        }
        (Condition::Timer { .. } | Condition::Child { .. } | Condition::Ready(_), Matched::Plain) => {}
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

/// What the parts are to take: all minimums, then in order what is left, up to each one's maximum.
fn fair<'a>(taken: &[Taken<'a>], mut left: BTreeMap<Slot, u32>) -> Vec<Taken<'a>> {
    for (slot, min, ..) in taken {
        *left.get_mut(*slot).unwrap() -= min;
    }
    let mut extra = |slot: &Slot, room: u32| {
        let left = left.get_mut(slot).unwrap();
        let extra = room.min(*left);
        *left -= extra;
        extra
    };
    taken.iter().map(|(slot, min, max, _)| (*slot, *min, *max, min + extra(slot, max - min))).collect()
}

/// What makes it worth a look at a wait, by channel.
fn needs(condition: &Condition) -> BTreeMap<Slot, Need> {
    let mut needs = BTreeMap::new();
    condition.each_need(&mut |slot, need| {
        assert_eq!(needs.insert(slot.clone(), need), None, "each channel once");
    });
    needs
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_way_that_takes_messages_of_a_channel_is_worth_a_look_there(seed: u64) {
        let condition = condition(&mut Draw::new(seed), at(10), 3);
        let needs = needs(&condition);
        let mut named = BTreeSet::new();
        condition.each_channel(&mut |slot| {
            named.insert(slot.clone());
        });
        prop_assert!(needs.keys().eq(&named));
        for (takes, _) in ways(&condition, at(40)) {
            let available = |slot: &Slot| takes.get(slot).map_or(0, |count| *count as usize);
            for slot in takes.keys().filter(|slot| takes[**slot] > 0) {
                prop_assert!(needs[*slot].is_there(slot, available), "{:?} of {:?}", takes, condition);
            }
        }
    }

    #[test]
    fn a_wait_is_met_by_the_first_way_there_is(seed: u64, a in 0..4_u32, b in 0..4_u32, c in 0..4_u32) {
        let condition = condition(&mut Draw::new(seed), at(10), 3);
        prop_assume!(condition.impossible_count(9).is_none());
        // Each has an entry with a key beside it, with as many messages.
        let each = [("a", a), ("b", b), ("c", c)].into_iter();
        let there: BTreeMap<_, _> =
            each.flat_map(|(name, count)| [(slot(name), count), (entry(name, "k"), count)]).collect();
        let now = at(20);
        let first = ways(&condition, now)
            .into_iter()
            .find(|(needs, _)| needs.iter().all(|(slot, min)| there[*slot] >= *min));
        let matched = condition.meet(|slot| there[slot] as usize, has_ended, now);
        prop_assert_eq!(matched.is_some(), first.is_some());
        let (Some(matched), Some((_, expected))) = (matched, first) else { return Ok(()) };
        let (mut choices, mut taken) = (Vec::new(), Vec::new());
        read(&condition, &matched, &mut choices, &mut taken);
        prop_assert_eq!(choices, expected);
        prop_assert_eq!(&taken, &fair(&taken, there));
    }
}
