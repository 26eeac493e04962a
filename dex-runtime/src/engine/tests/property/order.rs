//! That messages go to the waits that a look at all of them would find, the longest one first.

use proptest::prelude::*;

use super::commands::{Draw, condition};
use super::world::first_that_can;
use crate::engine::tests::words::{at, entry, scheduled, slot, started, to_wait, value, wait_started};
use crate::engine::tests::{Given, given};
use crate::engine::{Command, Condition, Event, Phase, RunState, Staged, WriteReport, evolve};
use crate::ids::Slot;

/// Waits of a run. Enough for some of them to be alike and others not.
const WAITS: u64 = 14;

/// A condition that needs messages, perhaps more than there ever are.
fn needs_messages(draw: &mut Draw) -> Condition {
    std::iter::repeat_with(|| condition(draw, at(1_000), 2))
        .find(|condition| {
            let (mut children, mut counts) = (false, false);
            condition.each_child(&mut |_| children = true);
            condition.each_channel(&mut |_| counts = true);
            let sound = !condition.has_empty_group() && condition.impossible_count(9).is_none();
            sound && counts && !children && condition.meet(|_| 0, |_| false, at(0)).is_none()
        })
        .unwrap()
}

fn waits(draw: &mut Draw) -> Given {
    let conditions: Vec<_> = (0..WAITS).map(|_| needs_messages(draw)).collect();
    let all = (1..).zip(conditions);
    let scheduled = (1..=WAITS).map(|number| scheduled(number, to_wait("ask")));
    let waiting = all.map(|(number, condition)| wait_started(number, condition));
    given(std::iter::once(started()).chain(scheduled).chain(waiting).collect::<Vec<_>>())
}

/// One message, or some of several channels at once.
fn messages(draw: &mut Draw) -> Vec<Slot> {
    let any = |draw: &mut Draw| {
        let name = ["a", "b", "c"][usize::try_from(draw.below(3)).unwrap()];
        if draw.below(3) == 0 { entry(name, "k") } else { slot(name) }
    };
    (0..=draw.below(4)).map(|_| any(draw)).collect()
}

/// What is met once these messages are there, found by looking at every wait again and again.
fn met_by_looking(run: &RunState, messages: &[Slot]) -> Vec<Event> {
    let mut run = run.clone();
    let mut fold = |event: Event| {
        evolve(&mut run, &event, at(0)).unwrap();
        first_that_can(&run).map(|no| {
            let Phase::Waiting { condition, fired_until } = &run.executions[&no].phase else {
                unreachable!()
            };
            let matched = condition.meet(|slot| run.available(slot), |_| false, *fired_until).unwrap();
            Event::WaitMet { execution: no, matched }
        })
    };
    let published =
        messages.iter().map(|slot| Event::MessagePublished { slot: slot.clone(), value: value(1) });
    let mut next = published.map(&mut fold).last().flatten();
    std::iter::from_fn(|| {
        let met = next.take()?;
        next = fold(met.clone());
        Some(met)
    })
    .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn messages_go_to_those_that_a_look_at_all_waits_finds(seed: u64) {
        let draw = &mut Draw::new(seed);
        let mut run = waits(draw);
        for _ in 0..12 {
            let messages = messages(draw);
            let expected = met_by_looking(run.run(), &messages);
            let staged = messages.iter().map(|slot| (slot.clone(), value(1))).collect();
            let staged = Staged { messages: staged, ..Staged::default() };
            let after = run.when(Command::Write(WriteReport { staged, ..WriteReport::default() }));
            let mut met = after.result.as_ref().unwrap().events.clone();
            met.retain(|event| matches!(event, Event::WaitMet { .. }));
            prop_assert_eq!(met, expected);
            run = after.fine();
        }
    }
}
