//! The bytes of snapshots, for ever.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::golden::{
    AT, child_identity, child_start, condition, entry, failure, flow_id, hex, identity, matched, name, patch,
    slot, target, unhex, value,
};
use super::*;
use crate::engine::{
    Answered, Attribute, Canceling, ChannelState, Child, ChildNo, ChildStage, Children, Closed, Closing,
    Execution, FailureKind, HandedOut, Message, Method, Outcome, Output, ParentEnd, Phase, Recovery,
    RunState, RunTimeout, SharedMap, Source, StepId, StepPatch, TimeoutAction, Waiters,
};
use crate::ids::{Epoch, ExecutionNo};
use crate::time::Timestamp;

fn execution(phase: Phase) -> Execution {
    Execution {
        step: name("p"),
        number: 1,
        source: Source::Start,
        source_id: None,
        input: value(7),
        phase,
        since: AT,
        attempt: 2,
        failures: 0,
        first_attempt_at: None,
        last_failure: None,
        recovery: None,
        locks: vec![],
        patch: None,
        checkpoint: None,
        handed_out: None,
        outcome: None,
    }
}

/// A state in which every field has something and every phase occurs.
fn state() -> RunState {
    let message = |number| Message { number, value: value(5) };
    let outcome =
        Outcome { condition: condition(), matched: matched(), reserved: vec![(entry(), message(1))] };
    let recovery =
        Recovery { step: name("q"), failure: failure(FailureKind::Panic), attempts: 4, may_have_run: true };
    let executions = [
        Execution {
            outcome: Some(outcome),
            recovery: Some(recovery),
            locks: vec![slot()],
            checkpoint: Some(value(4)),
            handed_out: Some(HandedOut { opening: Epoch(3), lost: 1 }),
            ..execution(Phase::Ready(Method::Execute))
        },
        execution(Phase::Waiting { condition: condition(), fired_until: AT }),
        Execution {
            failures: 1,
            first_attempt_at: Some(AT),
            last_failure: Some(failure(FailureKind::Timeout)),
            ..execution(Phase::Backoff { method: Method::WaitFor, until: Timestamp::MAX })
        },
        execution(Phase::Parked(Method::Execute)),
        Execution { locks: vec![slot()], ..execution(Phase::Blocked) },
    ];
    let canceling =
        Canceling { reason: Some("why".into()), until: Some(AT), cleanup: Some(target()), cleaning: false };
    let mut channel = ChannelState {
        queue: [message(2), message(3)].map(|message| (message.number, message.value)).into_iter().collect(),
        published: 3,
        reserved: 1,
        waiting: Waiters::default(),
    };
    condition().each_need(&mut |_, need| channel.waiting.insert(ExecutionNo(2), need));
    let mut state = RunState {
        identity: Arc::new(identity()),
        version: 9,
        scheduled: 300,
        step_counts: BTreeMap::from([(name("p"), 4)]),
        executions: (1..).map(ExecutionNo).zip(executions.into_iter().map(Box::new)).collect(),
        ready: 1,
        attributes: [(slot(), Attribute { value: value(5), version: 8 })].into_iter().collect(),
        channels: [(entry(), channel)].into_iter().collect(),
        numbered: 0,
        completion_requested: true,
        outputs: vec![Output { step: name("p"), number: 1, value: value(6) }],
        paused: true,
        locks: BTreeMap::from([(slot(), ExecutionNo(1))]),
        blocked: BTreeMap::from([(slot(), [ExecutionNo(5)].into())]),
        timeout: Some(RunTimeout { at: Timestamp::MAX, then: TimeoutAction::Fail }),
        canceling: Some(canceling),
        requests: [Answered { request: name("q"), digest: 300, answer: value(5) }].into(),
        children: Children::default(),
        parent_told: false,
        closed: Some(Closed { at: AT, closing: Closing::Completed, unconsumed: 3 }),
        ended: None,
        bytes: 0,
    };
    state.bytes = state.count_bytes();
    state
}

const STATE: &str = concat!(
    "0101fc80841e000166026964abababababababababababababababab0009fb2c01010170040501017001010101370102",
    "0002000000010171030154016d0101630103703a31040101730001010134010301010601013205020401020101730101",
    "6b01fb2c0100020403010131050402030101030201017301016b01010135020170010101013702060101320502040102",
    "01017301016b01fb2c0100020403010131000002000000000000000003017001010101370301fd7e3bc8981988080700",
    "0201010001040154016d0101630103703a31000000000004017001010101370402000200000000000000000501700101",
    "0101370500020000000001017300000000010173000101350801017301016b03020201013503010135010101fd7e3bc8",
    "9819880807010101037768790100010170010101730000010171fb2c010101350101700101013601000103",
);

#[test]
fn a_snapshot_has_its_bytes() {
    assert_eq!(hex(&encode_state(&state())), STATE);
    assert_eq!(decode_state(&unhex(STATE)).unwrap(), state());
}

/// A snapshot with what was added since: it is the one before it and more.
const ADDITIONS: &str =
    "0102010901fbe80303fc40420f0005fc8096980006fc404b4c00070702fd000000000000f83f04030802090204010409";

#[test]
fn what_a_snapshot_has_got_since_follows_it() {
    let mut state = state();
    for (number, patch) in [(1, patch()), (4, StepPatch { attempts: Some(9), ..StepPatch::default() })] {
        state.executions.get_mut(&ExecutionNo(number)).unwrap().patch = Some(Arc::new(patch));
    }
    let found = hex(&encode_state(&state));
    assert_eq!(found.strip_prefix(STATE), Some(ADDITIONS), "\n{found}");
    assert_eq!(decode_state(&unhex(&found)).unwrap(), state);
}

#[test]
fn a_snapshot_of_a_run_with_channels_that_are_gone_has_its_bytes() {
    let state = RunState { numbered: 300, ..state() };
    let found = hex(&encode_state(&state));
    assert_eq!(found.strip_prefix(STATE), Some("14fb2c01"), "\n{found}");
    assert_eq!(decode_state(&unhex(&found)).unwrap(), state);
}

#[test]
fn additions_that_do_not_fit_the_snapshot_are_no_record() {
    // A patch of execution 9, which there is not; an unknown addition; a factor below 1.
    for (more, reason) in
        [("01010900", "a patch of no execution"), ("63", "addition"), ("010101010200", "factor")]
    {
        let error = decode_state(&unhex(&format!("{STATE}{more}"))).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

/// Snapshots of which executions followed from which.
const SOURCES: &str = "0a02010170040403717171fb2c01";

#[test]
fn a_snapshot_says_from_which_steps_executions_follow() {
    let mut state = state();
    for (number, source) in [(1, ("p", 4)), (4, ("qqq", 300))] {
        let source_id = Some(StepId { step: name(source.0), number: source.1 });
        state.executions.get_mut(&ExecutionNo(number)).unwrap().source_id = source_id;
    }
    let found = hex(&encode_state(&state));
    assert_eq!(found.strip_prefix(STATE), Some(SOURCES), "\n{found}");
    assert_eq!(decode_state(&unhex(&found)).unwrap(), state);
    let error = decode_state(&unhex(&format!("{STATE}0a0109017001"))).unwrap_err().to_string();
    assert!(error.contains("a source of no execution"), "{error}");
}

/// A run with children of every stage, which is a child itself.
fn family() -> RunState {
    let child =
        |stage| Child { flow: name("f"), flow_id: flow_id(), on_parent_end: ParentEnd::Cancel, stage };
    let stages = [
        ChildStage::Wanted(Box::new(child_start())),
        ChildStage::Open(identity().run_id),
        ChildStage::Ended(value(5)),
    ];
    let no = |index| ChildNo { execution: ExecutionNo(1), index };
    let children = Children { all: (0..).map(no).zip(stages.map(child)).collect(), ..Children::default() };
    let mut state = RunState {
        identity: Arc::new(child_identity()),
        executions: BTreeMap::new(),
        ready: 0,
        channels: SharedMap::default(),
        locks: BTreeMap::new(),
        blocked: BTreeMap::new(),
        children,
        parent_told: true,
        ..state()
    };
    super::state::derive(&mut state);
    state
}

const FAMILY: &str = concat!(
    "0101fc80841e000166026964abababababababababababababababab0009fb2c01010170040001017300010135080001",
    "0101fd7e3bc89819880807010101037768790100010170010101730000010171fb2c0101013501017001010136010001",
    "030201cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd016302fb2c01010301000166016302010101370101730001013501fc4042",
    "0f000101016601630202abababababababababababababababab0102016601630203010135",
);

#[test]
fn a_snapshot_of_a_parent_and_child_has_its_bytes() {
    assert_eq!(hex(&encode_state(&family())), FAMILY);
    assert_eq!(decode_state(&unhex(FAMILY)).unwrap(), family());
}
