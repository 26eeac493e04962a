//! The bytes of every kind of record and event. A change here is a change of what is on disk: it needs a
//! new record version, and old records must go on being read.

use std::sync::Arc;
use std::time::Duration;

use super::super::stream::StreamHead;
use super::super::types::{LiveRun, RunSummary};
use super::*;
use crate::engine::{
    CancelPlan, ChildNo, ChildRequest, ChildStart, Closing, Condition, Durability, Event, Factor, Failure,
    FailureKind, Matched, OnExhausted, Parent, ParentEnd, PatchedEnd, Recovery, RunIdentity, RunTimeout,
    Source, Status, StepPatch, StepTarget, Stop, TimeoutAction,
};
use crate::ids::{Epoch, ExecutionNo, FlowId, MapKey, Name, RunId, Slot};
use crate::time::Timestamp;
use crate::value::Payload;

pub(super) const AT: Timestamp = Timestamp::from_micros(1_000_000);

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

pub(super) fn unhex(text: &str) -> Vec<u8> {
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

pub(super) fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

pub(super) fn slot() -> Slot {
    Slot::single(name("s"))
}

pub(super) fn entry() -> Slot {
    Slot { key: Some(MapKey::new("k").unwrap()), ..slot() }
}

pub(super) fn value(n: u8) -> Payload {
    Payload::encode(&n).unwrap()
}

pub(super) fn failure(kind: FailureKind) -> Failure {
    Failure {
        kind,
        type_name: "T".into(),
        message: "m".into(),
        chain: vec!["c".into()],
        place: Some("p:1".into()),
    }
}

pub(super) fn identity() -> RunIdentity {
    RunIdentity {
        flow: name("f"),
        flow_id: FlowId::new("id").unwrap(),
        run_id: RunId::from_bytes([0xab; 16]),
        started_at: AT,
        parent: None,
    }
}

pub(super) fn condition() -> Condition {
    let messages = Condition::Messages { slot: entry(), min: 1, max: 300, single: false };
    let timer = Condition::Timer { at: Timestamp::from_micros(1_000_002) };
    let any = Condition::Any { of: vec![messages, timer], tagged: true };
    Condition::With(Box::new(Condition::All(vec![any, Condition::Ready(value(1))])), value(2))
}

pub(super) fn matched() -> Matched {
    let any = Matched::Any(1, Box::new(Matched::Messages(3)));
    Matched::With(Box::new(Matched::All(vec![any, Matched::Plain])))
}

pub(super) fn scheduled(source: Source, recovery: Option<Recovery>) -> Event {
    Event::StepScheduled {
        execution: ExecutionNo(2),
        step: name("p"),
        source,
        input: value(7),
        waits: true,
        recovery,
        locks: vec![entry()],
        patch: None,
    }
}

pub(super) fn scheduled_with(patch: StepPatch) -> Event {
    let Event::StepScheduled { execution, step, source, input, waits, recovery, locks, .. } =
        scheduled(Source::Start, None)
    else {
        unreachable!()
    };
    let patch = Some(Arc::new(patch));
    Event::StepScheduled { execution, step, source, input, waits, recovery, locks, patch }
}

/// A patch of every field.
pub(super) fn patch() -> StepPatch {
    StepPatch {
        initial: Some(Duration::from_millis(1)),
        factor: Factor::new(1.5),
        max_interval: Some(Duration::from_secs(1)),
        attempts: Some(3),
        total: Some(Duration::from_secs(10)),
        timeout: Some(Duration::from_secs(5)),
        heartbeat: Some(Duration::from_micros(7)),
        exhausted: Some(PatchedEnd::Of(OnExhausted::Park)),
        durability: Some(Durability::Async),
    }
}

pub(super) fn target() -> StepTarget {
    StepTarget { step: name("p"), waits: true, locks: vec![slot()] }
}

pub(super) fn begun(then: Option<TimeoutAction>) -> Event {
    let timeout = then.map(|then| RunTimeout { at: Timestamp::from_micros(1_000_002), then });
    Event::RunStarted { identity: identity(), timeout }
}

pub(super) fn closed(closing: Closing) -> Event {
    Event::RunClosed { closing }
}

pub(super) fn stopped(stop: Stop, reason: Option<&str>) -> Event {
    closed(Closing::Stopped { stop, reason: reason.map(str::to_owned) })
}

pub(super) fn parked(kind: FailureKind) -> Event {
    Event::StepParked { execution: ExecutionNo(2), failure: failure(kind) }
}

pub(super) fn flow_id() -> FlowId {
    FlowId::new("c").unwrap()
}

pub(super) fn child_no() -> ChildNo {
    ChildNo { execution: ExecutionNo(2), index: 300 }
}

pub(super) fn child_identity() -> RunIdentity {
    let parent = Parent { run_id: RunId::from_bytes([0xcd; 16]), flow_id: flow_id(), child: child_no() };
    RunIdentity { parent: Some(parent), ..identity() }
}

pub(super) fn child_start() -> ChildStart {
    let timeout = Some(Duration::from_secs(1));
    ChildStart { input: value(7), attributes: vec![(slot(), value(5))], timeout }
}

pub(super) fn request(on_parent_end: ParentEnd) -> ChildRequest {
    let start = ChildStart { timeout: None, ..child_start() };
    ChildRequest { flow: name("f"), start, on_parent_end }
}

/// Every kind of event, and every kind of what is in them.
pub(super) fn events() -> Vec<Event> {
    let execution = ExecutionNo(2);
    let recovery =
        Recovery { step: name("q"), failure: failure(FailureKind::Error), attempts: 4, may_have_run: true };
    let of_wait = Recovery { may_have_run: false, ..recovery.clone() };
    let step_failed =
        Closing::StepFailed { step: name("p"), number: 1, failure: failure(FailureKind::Error) };
    let requested =
        |end| Event::ChildRequested { child: child_no(), flow_id: flow_id(), request: request(end).into() };
    vec![
        begun(None),
        begun(Some(TimeoutAction::Fail)),
        begun(Some(TimeoutAction::Cancel(CancelPlan {
            grace: Duration::from_secs(1),
            cleanup: Some(target()),
        }))),
        begun(Some(TimeoutAction::Step(target()))),
        Event::AttributeSet { slot: slot(), value: value(5) },
        Event::AttributeDeleted { slot: entry() },
        Event::MessagePublished { slot: entry(), value: value(5) },
        Event::RpcApplied { rpc: name("r") },
        scheduled(Source::Start, None),
        scheduled(Source::Step(ExecutionNo(1)), None),
        scheduled(Source::Recovery(ExecutionNo(1)), Some(recovery)),
        scheduled(Source::Recovery(ExecutionNo(1)), Some(of_wait)),
        scheduled(Source::Rpc(name("r")), None),
        scheduled(Source::Timeout, None),
        scheduled(Source::Cancel, None),
        Event::LocksTaken { execution },
        Event::CheckpointStored { execution, value: value(5) },
        Event::HandedOut { execution, opening: Epoch(3), lost: 1 },
        Event::TimeoutReached,
        Event::CancelRequested { reason: Some("why".into()), until: AT, cleanup: Some(target()) },
        Event::CancelRequested { reason: None, until: AT, cleanup: None },
        Event::GraceEnded,
        Event::RunPaused,
        Event::RunResumed,
        Event::RequestAnswered { request: name("q"), digest: 300, answer: value(5) },
        Event::WaitStarted { execution, condition: condition() },
        Event::TimerFired { execution, until: AT },
        Event::WaitMet { execution, matched: matched() },
        Event::AttemptFailed {
            execution,
            failure: Failure { place: None, chain: vec![], ..failure(FailureKind::Error) },
            started_at: Timestamp::from_micros(999_999),
            retry_at: Timestamp::from_micros(2_000_000),
        },
        Event::RetryStarted { execution },
        parked(FailureKind::Error),
        parked(FailureKind::Fatal),
        parked(FailureKind::Panic),
        parked(FailureKind::Timeout),
        parked(FailureKind::Unworkable),
        parked(FailureKind::HeartbeatTimeout),
        parked(FailureKind::Crash),
        Event::StepResumed { execution },
        Event::StepSkipped { execution },
        Event::StepCompleted { execution },
        Event::StepFailed { execution, failure: failure(FailureKind::Error) },
        Event::StepCanceled { execution },
        Event::OutputProduced { step: name("p"), number: 1, value: value(9) },
        closed(Closing::Completed),
        closed(Closing::TimedOut),
        closed(Closing::Failed { reason: "no".into() }),
        closed(step_failed),
        stopped(Stop::Cancel, None),
        stopped(Stop::Terminate, Some("why")),
        stopped(Stop::Fail, None),
        scheduled_with(patch()),
        scheduled_with(StepPatch {
            exhausted: Some(PatchedEnd::Recover(name("q"))),
            durability: Some(Durability::Sync),
            ..StepPatch::default()
        }),
        scheduled_with(StepPatch {
            exhausted: Some(PatchedEnd::Of(OnExhausted::Fail)),
            ..StepPatch::default()
        }),
        scheduled_with(StepPatch {
            exhausted: Some(PatchedEnd::Of(OnExhausted::Proceed)),
            ..StepPatch::default()
        }),
        Event::RunStarted { identity: child_identity(), timeout: None },
        requested(ParentEnd::Leave),
        requested(ParentEnd::Cancel),
        requested(ParentEnd::Terminate),
        Event::ChildStarted { child: child_no(), run: identity().run_id },
        Event::ChildEnded { child: child_no(), result: value(5) },
        Event::ChildStopped { child: child_no() },
        Event::ParentTold,
        Event::WaitStarted { execution, condition: Condition::Child { index: 300 } },
        Event::MessageDeleted { slot: entry(), number: 7 },
        Event::Noted { execution: Some(execution), name: name("n"), value: value(5) },
        Event::Noted { execution: None, name: name("n"), value: value(5) },
        Event::ChannelForgotten { slot: entry() },
    ]
}

/// One for each of [`events`].
pub(super) const EVENTS: &[&str] = &[
    "0101fc80841e0001010166026964abababababababababababababababab0000",
    "0101fc80841e0001010166026964abababababababababababababababab00010401",
    "0101fc80841e0001010166026964abababababababababababababababab00010402fc40420f000101700101017300",
    "0101fc80841e0001010166026964abababababababababababababababab0001040301700101017300",
    "0101fc80841e000102017300010135",
    "0101fc80841e000103017301016b",
    "0101fc80841e000104017301016b010135",
    "0101fc80841e0001050172",
    "0101fc80841e00010602017001010137010001017301016b",
    "0101fc80841e0001060201700201010137010001017301016b",
    "0101fc80841e000106020170030101013701010171010154016d0101630103703a310401017301016b",
    "0101fc80841e000106020170030101013701020171010154016d0101630103703a310401017301016b",
    "0101fc80841e000106020170040172010137010001017301016b",
    "0101fc80841e00010602017005010137010001017301016b",
    "0101fc80841e00010602017006010137010001017301016b",
    "0101fc80841e00011302",
    "0101fc80841e00011402010135",
    "0101fc80841e000115020301",
    "0101fc80841e000116",
    "0101fc80841e0001170103776879000101700101017300",
    "0101fc80841e000117000000",
    "0101fc80841e000118",
    "0101fc80841e000119",
    "0101fc80841e00011a",
    "0101fc80841e00011b0171fb2c01010135",
    "0101fc80841e0001070206010132050204010201017301016b01fb2c0100020403010131",
    "0101fc80841e0001080200",
    "0101fc80841e000109020504020301010302",
    "0101fc80841e00010a02010154016d000001fc80841e00",
    "0101fc80841e00010b02",
    "0101fc80841e00010c02010154016d0101630103703a31",
    "0101fc80841e00010c02020154016d0101630103703a31",
    "0101fc80841e00010c02030154016d0101630103703a31",
    "0101fc80841e00010c02040154016d0101630103703a31",
    "0101fc80841e00010c02050154016d0101630103703a31",
    "0101fc80841e00010c02060154016d0101630103703a31",
    "0101fc80841e00010c02070154016d0101630103703a31",
    "0101fc80841e00010d02",
    "0101fc80841e00011c02",
    "0101fc80841e00010e02",
    "0101fc80841e00010f02010154016d0101630103703a31",
    "0101fc80841e00011002",
    "0101fc80841e000111017001010139",
    "0101fc80841e00011201",
    "0101fc80841e00011205",
    "0101fc80841e00011202026e6f",
    "0101fc80841e00011203017001010154016d0101630103703a31",
    "0101fc80841e000112040100",
    "0101fc80841e00011204020103776879",
    "0101fc80841e000112040300",
    "0101fc80841e0001200901fbe80303fc40420f0005fc8096980006fc404b4c00070702fd000000000000f83f04030802090202017001010137010001017301016b",
    "0101fc80841e0001200208040171090102017001010137010001017301016b",
    "0101fc80841e00012001080102017001010137010001017301016b",
    "0101fc80841e00012001080302017001010137010001017301016b",
    "0101fc80841e000128cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd016302fb2c010166026964abababababababababababababababab0000",
    "0101fc80841e00012902fb2c0101630166010101370101730001013500",
    "0101fc80841e00012902fb2c0101630166020101370101730001013500",
    "0101fc80841e00012902fb2c0101630166030101370101730001013500",
    "0101fc80841e00012a02fb2c01abababababababababababababababab",
    "0101fc80841e00012b02fb2c01010135",
    "0101fc80841e00012c02fb2c01",
    "0101fc80841e00012d",
    "0101fc80841e000107020afb2c01",
    "0101fc80841e00013c017301016b07",
    "0101fc80841e00013d0102016e010135",
    "0101fc80841e00013d00016e010135",
    "0101fc80841e000146017301016b",
];

#[test]
fn every_event_has_its_bytes() {
    let found: Vec<_> =
        events().iter().map(|event| hex(&encode_transition(AT, std::slice::from_ref(event)))).collect();
    assert_eq!(found, EVENTS, "\n{found:#?}");
    for (event, bytes) in events().into_iter().zip(EVENTS) {
        assert_eq!(decode_transition(&unhex(bytes)).unwrap(), (AT, vec![event]));
    }
}

pub(super) fn summaries() -> Vec<RunSummary> {
    let summary = |status, closed_at| RunSummary {
        run: identity().run_id,
        flow_id: FlowId::new("id").unwrap(),
        flow: name("f"),
        status,
        started_at: AT,
        closed_at,
    };
    vec![
        summary(Status::Running, None),
        summary(Status::Completed, Some(AT)),
        summary(Status::Failed, Some(Timestamp::EPOCH)),
        summary(Status::Canceled, None),
        summary(Status::Terminated, Some(Timestamp::MAX)),
        summary(Status::Paused, None),
    ]
}

/// One for each of [`summaries`].
pub(super) const SUMMARIES: &[&str] = &[
    "0101026964016601fc80841e0000",
    "0101026964016602fc80841e000100",
    "0101026964016603fc80841e0001fc7f841e00",
    "0101026964016604fc80841e0000",
    "0101026964016605fc80841e0001fd7e3bc89819880807",
    "0101026964016606fc80841e0000",
];
pub(super) const LIVE: &str = "0101abababababababababababababababab0166";
pub(super) const SNAPSHOT_ROW: &str = "00000000000001020102";

#[test]
fn rows_have_their_bytes() {
    let run = identity().run_id;
    let found: Vec<_> = summaries().iter().map(|summary| hex(&encode_summary(summary))).collect();
    assert_eq!(found, SUMMARIES, "\n{found:#?}");
    for (summary, bytes) in summaries().into_iter().zip(SUMMARIES) {
        assert_eq!(decode_summary(run, &unhex(bytes)).unwrap(), summary);
    }
    let live = LiveRun { run, flow: name("f") };
    assert_eq!(hex(&encode_live(&live)), LIVE);
    assert_eq!(decode_live(&unhex(LIVE)).unwrap(), live);
    assert_eq!(hex(&encode_snapshot_row(258, &[1, 2])), SNAPSHOT_ROW);
    assert_eq!(decode_snapshot_row(&unhex(SNAPSHOT_ROW)).unwrap(), (258, vec![1, 2].into()));
}

pub(super) fn items() -> Vec<ItemRecord> {
    let step = ItemOrigin::Step { step: name("p"), number: 2, attempt: 300 };
    [ItemOrigin::Client, step].map(|origin| ItemRecord { origin, at: AT, value: value(7) }).into()
}

/// One for each of [`items`].
pub(super) const ITEMS: &[&str] = &["010101fc80841e00010137", "010102017002fb2c01fc80841e00010137"];
pub(super) const HEAD: &str = "010105fb2c01fc70110100";

#[test]
fn streams_have_their_bytes() {
    let found: Vec<_> = items().iter().map(|item| hex(&encode_item(item))).collect();
    assert_eq!(found, ITEMS, "\n{found:#?}");
    for (item, bytes) in items().into_iter().zip(ITEMS) {
        assert_eq!(decode_item(&unhex(bytes)).unwrap(), item);
    }
    let head = StreamHead { first: 5, next: 300, bytes: 70_000 };
    assert_eq!(hex(&encode_head(&head)), HEAD);
    assert_eq!(decode_head(&unhex(HEAD)).unwrap(), head);
}
