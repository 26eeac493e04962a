//! Strategies that make any event and any run state, for property tests here and elsewhere.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;

use crate::engine::{
    Answered, Attribute, CancelPlan, Canceling, ChannelState, Child, ChildNo, ChildRequest, ChildStage,
    ChildStart, Children, Closed, Closing, Condition, Durability, Event, Execution, Factor, Failure,
    FailureKind, HandedOut, Matched, Message, Method, OnExhausted, Outcome, Output, Parent, ParentEnd,
    PatchedEnd, Phase, Recovery, RunIdentity, RunState, RunTimeout, SharedMap, Source, Status, StepId,
    StepPatch, StepTarget, Stop, TimeoutAction,
};
use crate::ids::{Epoch, ExecutionNo, FlowId, MapKey, Name, RunId, Slot};
use crate::store::record::{ItemOrigin, ItemRecord};
use crate::store::{LiveRun, RunSummary};
use crate::time::Timestamp;
use crate::value::Payload;

pub(crate) fn timestamp() -> impl Strategy<Value = Timestamp> {
    (0..=Timestamp::MAX.as_micros()).prop_map(Timestamp::from_micros)
}

pub(crate) fn name() -> impl Strategy<Value = Name> {
    "[a-zä_]{1,8}".prop_map(|text| Name::new(text).unwrap())
}

pub(crate) fn flow_id() -> impl Strategy<Value = FlowId> {
    "[a-z0-9☃-]{1,12}".prop_map(|text| FlowId::new(text).unwrap())
}

pub(crate) fn run_id() -> impl Strategy<Value = RunId> {
    any::<[u8; 16]>().prop_map(RunId::from_bytes)
}

pub(crate) fn slot() -> impl Strategy<Value = Slot> {
    let key = "[a-z]{1,4}".prop_map(|text| MapKey::new(text).unwrap());
    (name(), option::of(key)).prop_map(|(name, key)| Slot { name, key })
}

pub(crate) fn payload() -> impl Strategy<Value = Payload> {
    prop_oneof![
        any::<i64>().prop_map(|number| Payload::encode(&number).unwrap()),
        ".{0,40}".prop_map(|text| Payload::encode(&text).unwrap()),
        Just(Payload::NULL),
    ]
}

fn execution_no() -> impl Strategy<Value = ExecutionNo> {
    any::<u64>().prop_map(ExecutionNo)
}

fn identity() -> impl Strategy<Value = RunIdentity> {
    let ids = (name(), flow_id(), run_id());
    (ids, timestamp(), option::of(parent())).prop_map(|((flow, flow_id, run_id), started_at, parent)| {
        RunIdentity { flow, flow_id, run_id, started_at, parent }
    })
}

pub(crate) fn failure() -> impl Strategy<Value = Failure> {
    let kind = prop_oneof![
        Just(FailureKind::Error),
        Just(FailureKind::Fatal),
        Just(FailureKind::Panic),
        Just(FailureKind::Timeout),
        Just(FailureKind::Unworkable),
        Just(FailureKind::HeartbeatTimeout),
        Just(FailureKind::Crash),
    ];
    (kind, ".{0,9}", ".{0,9}", vec(".{0,9}", 0..3), option::of(".{0,9}")).prop_map(
        |(kind, type_name, message, chain, place)| Failure { kind, type_name, message, chain, place },
    )
}

fn recovery() -> impl Strategy<Value = Recovery> {
    (name(), failure(), any::<u32>(), any::<bool>()).prop_map(|(step, failure, attempts, may_have_run)| {
        Recovery { step, failure, attempts, may_have_run }
    })
}

fn source() -> impl Strategy<Value = Source> {
    prop_oneof![
        Just(Source::Start),
        Just(Source::Timeout),
        Just(Source::Cancel),
        execution_no().prop_map(Source::Step),
        execution_no().prop_map(Source::Recovery),
        name().prop_map(Source::Rpc),
    ]
}

pub(crate) fn condition() -> impl Strategy<Value = Condition> {
    let leaf = prop_oneof![
        (slot(), any::<u32>(), any::<u32>(), any::<bool>())
            .prop_map(|(slot, min, max, single)| Condition::Messages { slot, min, max, single }),
        timestamp().prop_map(|at| Condition::Timer { at }),
        any::<u32>().prop_map(|index| Condition::Child { index }),
        payload().prop_map(Condition::Ready),
    ];
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            (vec(inner.clone(), 0..3), any::<bool>()).prop_map(|(of, tagged)| Condition::Any { of, tagged }),
            vec(inner.clone(), 0..3).prop_map(Condition::All),
            (inner, payload()).prop_map(|(inner, value)| Condition::With(Box::new(inner), value)),
        ]
    })
}

fn matched() -> impl Strategy<Value = Matched> {
    let leaf = prop_oneof![any::<u32>().prop_map(Matched::Messages), Just(Matched::Plain)];
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            (any::<u32>(), inner.clone()).prop_map(|(index, inner)| Matched::Any(index, Box::new(inner))),
            vec(inner.clone(), 0..3).prop_map(Matched::All),
            inner.prop_map(|inner| Matched::With(Box::new(inner))),
        ]
    })
}

fn closing() -> impl Strategy<Value = Closing> {
    let stop = prop_oneof![Just(Stop::Cancel), Just(Stop::Terminate), Just(Stop::Fail)];
    prop_oneof![
        Just(Closing::Completed),
        Just(Closing::TimedOut),
        ".{0,9}".prop_map(|reason| Closing::Failed { reason }),
        (name(), any::<u32>(), failure()).prop_map(|(step, number, failure)| Closing::StepFailed {
            step,
            number,
            failure
        }),
        (stop, option::of(".{0,9}")).prop_map(|(stop, reason)| Closing::Stopped { stop, reason }),
    ]
}

/// Any event of any kind. Events that follow one another need not make sense together.
pub(crate) fn event() -> impl Strategy<Value = Event> {
    prop_oneof![run_event(), step_event(), attempt_event(), child_event()]
}

fn child_no() -> impl Strategy<Value = ChildNo> {
    (execution_no(), any::<u32>()).prop_map(|(execution, index)| ChildNo { execution, index })
}

fn parent() -> impl Strategy<Value = Parent> {
    (run_id(), flow_id(), child_no()).prop_map(|(run_id, flow_id, child)| Parent { run_id, flow_id, child })
}

fn parent_end() -> impl Strategy<Value = ParentEnd> {
    prop_oneof![Just(ParentEnd::Leave), Just(ParentEnd::Cancel), Just(ParentEnd::Terminate)]
}

fn child_start() -> impl Strategy<Value = ChildStart> {
    let timeout = option::of(any::<u32>().prop_map(|micros| Duration::from_micros(micros.into())));
    (payload(), vec((slot(), payload()), 0..3), timeout).prop_map(|(input, attributes, timeout)| ChildStart {
        input,
        attributes,
        timeout,
    })
}

fn child_request() -> impl Strategy<Value = ChildRequest> {
    (name(), child_start(), parent_end()).prop_map(|(flow, start, on_parent_end)| ChildRequest {
        flow,
        start,
        on_parent_end,
    })
}

fn child() -> impl Strategy<Value = Child> {
    let stage = prop_oneof![
        child_start().prop_map(|start| ChildStage::Wanted(Box::new(start))),
        run_id().prop_map(ChildStage::Open),
        payload().prop_map(ChildStage::Ended),
    ];
    (name(), flow_id(), parent_end(), stage).prop_map(|(flow, flow_id, on_parent_end, stage)| Child {
        flow,
        flow_id,
        on_parent_end,
        stage,
    })
}

fn child_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (child_no(), flow_id(), child_request()).prop_map(|(child, flow_id, request)| {
            Event::ChildRequested { child, flow_id, request: Box::new(request) }
        }),
        (child_no(), run_id()).prop_map(|(child, run)| Event::ChildStarted { child, run }),
        (child_no(), payload()).prop_map(|(child, result)| Event::ChildEnded { child, result }),
        child_no().prop_map(|child| Event::ChildStopped { child }),
        Just(Event::ParentTold),
    ]
}

fn run_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (identity(), option::of(run_timeout()))
            .prop_map(|(identity, timeout)| Event::RunStarted { identity, timeout }),
        (option::of(".{0,9}"), timestamp(), option::of(target()))
            .prop_map(|(reason, until, cleanup)| Event::CancelRequested { reason, until, cleanup }),
        Just(Event::TimeoutReached),
        Just(Event::GraceEnded),
        Just(Event::RunPaused),
        Just(Event::RunResumed),
        answered().prop_map(|Answered { request, digest, answer }| Event::RequestAnswered {
            request,
            digest,
            answer
        }),
        (slot(), payload()).prop_map(|(slot, value)| Event::AttributeSet { slot, value }),
        slot().prop_map(|slot| Event::AttributeDeleted { slot }),
        (slot(), payload()).prop_map(|(slot, value)| Event::MessagePublished { slot, value }),
        (slot(), any::<u64>()).prop_map(|(slot, number)| Event::MessageDeleted { slot, number }),
        slot().prop_map(|slot| Event::ChannelForgotten { slot }),
        name().prop_map(|rpc| Event::RpcApplied { rpc }),
        (option::of(execution_no()), name(), payload()).prop_map(|(execution, name, value)| Event::Noted {
            execution,
            name,
            value
        }),
        (name(), any::<u32>(), payload()).prop_map(|(step, number, value)| Event::OutputProduced {
            step,
            number,
            value
        }),
        closing().prop_map(|closing| Event::RunClosed { closing }),
    ]
}

fn step_event() -> impl Strategy<Value = Event> {
    let entry = (execution_no(), name(), source(), payload(), any::<bool>());
    let scheduled = (entry, option::of(recovery()), locks(), option::of(patch()));
    prop_oneof![
        scheduled.prop_map(|((execution, step, source, input, waits), recovery, locks, patch)| {
            Event::StepScheduled { locks, execution, step, source, input, waits, recovery, patch }
        }),
        (execution_no(), condition())
            .prop_map(|(execution, condition)| Event::WaitStarted { execution, condition }),
        (execution_no(), timestamp()).prop_map(|(execution, until)| Event::TimerFired { execution, until }),
        (execution_no(), matched()).prop_map(|(execution, matched)| Event::WaitMet { execution, matched }),
        execution_no().prop_map(|execution| Event::StepCompleted { execution }),
        execution_no().prop_map(|execution| Event::StepCanceled { execution }),
        execution_no().prop_map(|execution| Event::LocksTaken { execution }),
        (execution_no(), payload())
            .prop_map(|(execution, value)| Event::CheckpointStored { execution, value }),
        (execution_no(), handed_out()).prop_map(|(execution, HandedOut { opening, lost })| {
            Event::HandedOut { execution, opening, lost }
        }),
    ]
}

fn attempt_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (execution_no(), failure(), timestamp(), timestamp()).prop_map(
            |(execution, failure, started_at, retry_at)| Event::AttemptFailed {
                execution,
                failure,
                started_at,
                retry_at
            }
        ),
        execution_no().prop_map(|execution| Event::RetryStarted { execution }),
        (execution_no(), failure()).prop_map(|(execution, failure)| Event::StepParked { execution, failure }),
        execution_no().prop_map(|execution| Event::StepResumed { execution }),
        execution_no().prop_map(|execution| Event::StepSkipped { execution }),
        (execution_no(), failure()).prop_map(|(execution, failure)| Event::StepFailed { execution, failure }),
    ]
}

fn message() -> impl Strategy<Value = Message> {
    (any::<u64>(), payload()).prop_map(|(number, value)| Message { number, value })
}

fn phase() -> impl Strategy<Value = Phase> {
    let method = || prop_oneof![Just(Method::WaitFor), Just(Method::Execute)];
    prop_oneof![
        method().prop_map(Phase::Ready),
        Just(Phase::Blocked),
        (condition(), timestamp())
            .prop_map(|(condition, fired_until)| Phase::Waiting { condition, fired_until }),
        (method(), timestamp()).prop_map(|(method, until)| Phase::Backoff { method, until }),
        method().prop_map(Phase::Parked),
    ]
}

fn outcome() -> impl Strategy<Value = Outcome> {
    (condition(), matched(), vec((slot(), message()), 0..3))
        .prop_map(|(condition, matched, reserved)| Outcome { condition, matched, reserved })
}

fn locks() -> impl Strategy<Value = Vec<Slot>> {
    vec(slot(), 0..3)
}

fn patch() -> impl Strategy<Value = Arc<StepPatch>> {
    let time = || option::of(any::<u64>().prop_map(Duration::from_micros));
    let factor = option::of((1.0..=Factor::MAX).prop_map(|factor| Factor::new(factor).unwrap()));
    let end = prop_oneof![
        Just(PatchedEnd::Of(OnExhausted::Fail)),
        Just(PatchedEnd::Of(OnExhausted::Park)),
        Just(PatchedEnd::Of(OnExhausted::Proceed)),
        name().prop_map(PatchedEnd::Recover),
    ];
    let durability = option::of(prop_oneof![Just(Durability::Sync), Just(Durability::Async)]);
    let retry = (time(), factor, time(), option::of(any::<u32>()), time());
    (retry, time(), time(), option::of(end), durability).prop_map(
        |((initial, factor, max_interval, attempts, total), timeout, heartbeat, exhausted, durability)| {
            Arc::new(StepPatch {
                initial,
                factor,
                max_interval,
                attempts,
                total,
                timeout,
                heartbeat,
                exhausted,
                durability,
            })
        },
    )
}

fn target() -> impl Strategy<Value = StepTarget> {
    (name(), any::<bool>(), locks()).prop_map(|(step, waits, locks)| StepTarget { step, waits, locks })
}

fn run_timeout() -> impl Strategy<Value = RunTimeout> {
    let plan = (any::<u32>(), option::of(target()))
        .prop_map(|(grace, cleanup)| CancelPlan { grace: Duration::from_micros(grace.into()), cleanup });
    let then = prop_oneof![
        Just(TimeoutAction::Fail),
        plan.prop_map(TimeoutAction::Cancel),
        target().prop_map(TimeoutAction::Step),
    ];
    (timestamp(), then).prop_map(|(at, then)| RunTimeout { at, then })
}

fn canceling() -> impl Strategy<Value = Canceling> {
    (option::of(".{0,9}"), option::of(timestamp()), option::of(target()), any::<bool>())
        .prop_map(|(reason, until, cleanup, cleaning)| Canceling { reason, until, cleanup, cleaning })
}

fn answered() -> impl Strategy<Value = Answered> {
    (name(), any::<u64>(), payload()).prop_map(|(request, digest, answer)| Answered {
        request,
        digest,
        answer,
    })
}

fn handed_out() -> impl Strategy<Value = HandedOut> {
    (any::<u64>(), any::<u32>()).prop_map(|(opening, lost)| HandedOut { opening: Epoch(opening), lost })
}

fn execution() -> impl Strategy<Value = Execution> {
    let step_id = (name(), any::<u32>()).prop_map(|(step, number)| StepId { step, number });
    let source = (source(), option::of(step_id));
    let entry = (name(), any::<u32>(), source, payload(), option::of(recovery()));
    let standing = (phase(), timestamp(), any::<u32>(), any::<u32>());
    let past = (option::of(timestamp()), option::of(failure()), option::of(outcome()));
    let kept = (locks(), option::of(patch()), option::of(payload()), option::of(handed_out()));
    (entry, standing, past, kept).prop_map(
        |(
            (step, number, (source, source_id), input, recovery),
            (phase, since, attempt, failures),
            (first_attempt_at, last_failure, outcome),
            (locks, patch, checkpoint, handed_out),
        )| Execution {
            step,
            number,
            source,
            source_id,
            input,
            phase,
            since,
            attempt,
            failures,
            first_attempt_at,
            last_failure,
            recovery,
            locks,
            patch,
            checkpoint,
            handed_out,
            outcome,
        },
    )
}

fn channels() -> impl Strategy<Value = SharedMap<Slot, ChannelState>> {
    let queue = vec((any::<u64>(), payload()), 0..3);
    let channel = (queue, any::<u64>()).prop_map(|(queue, published)| ChannelState {
        queue: queue.into_iter().collect(),
        published,
        ..ChannelState::default()
    });
    btree_map(slot(), channel, 0..3).prop_map(|channels| channels.into_iter().collect())
}

/// Any run state whose derived fields fit the rest. Its history need not be possible.
pub(crate) fn run_state() -> impl Strategy<Value = RunState> {
    let attribute = (payload(), any::<u64>()).prop_map(|(value, version)| Attribute { value, version });
    let output =
        (name(), any::<u32>(), payload()).prop_map(|(step, number, value)| Output { step, number, value });
    let closed = (timestamp(), closing(), any::<u64>()).prop_map(|(at, closing, unconsumed)| Closed {
        at,
        closing,
        unconsumed,
    });
    let head = (identity(), any::<u64>(), any::<u64>(), btree_map(name(), any::<u32>(), 0..3));
    let body = (
        btree_map(execution_no(), execution(), 0..3),
        btree_map(slot(), attribute, 0..3),
        channels(),
        any::<bool>(),
        vec(output, 0..2),
        option::of(closed),
    );
    let ending = (any::<bool>(), option::of(run_timeout()), option::of(canceling()), vec(answered(), 0..3));
    let family = (btree_map(child_no(), child(), 0..3), any::<bool>());
    (head, body, ending, family).prop_map(
        |(
            (identity, version, scheduled, step_counts),
            (executions, attributes, channels, completion_requested, outputs, closed),
            (paused, timeout, canceling, requests),
            (children, told),
        )| {
            let parent_told = told && identity.parent.is_some();
            let mut state = RunState {
                identity: Arc::new(identity),
                version,
                scheduled,
                step_counts,
                executions: executions.into_iter().map(|(no, open)| (no, Box::new(open))).collect(),
                ready: 0,
                attributes: attributes.into_iter().collect(),
                channels,
                numbered: scheduled,
                completion_requested,
                outputs,
                paused,
                locks: BTreeMap::new(),
                blocked: BTreeMap::new(),
                timeout,
                canceling,
                requests: requests.into(),
                children: Children { all: children, ..Children::default() },
                parent_told,
                closed,
                ended: None,
                bytes: 0,
            };
            super::state::derive(&mut state);
            state
        },
    )
}

pub(crate) fn summary() -> impl Strategy<Value = RunSummary> {
    let status = prop_oneof![
        Just(Status::Running),
        Just(Status::Paused),
        Just(Status::Completed),
        Just(Status::Failed),
        Just(Status::Canceled),
        Just(Status::Terminated),
    ];
    (run_id(), flow_id(), name(), status, timestamp(), option::of(timestamp())).prop_map(
        |(run, flow_id, flow, status, started_at, closed_at)| RunSummary {
            run,
            flow_id,
            flow,
            status,
            started_at,
            closed_at,
        },
    )
}

pub(crate) fn live() -> impl Strategy<Value = LiveRun> {
    (run_id(), name()).prop_map(|(run, flow)| LiveRun { run, flow })
}

pub(crate) fn item() -> impl Strategy<Value = ItemRecord> {
    let step = (name(), any::<u32>(), any::<u32>());
    let step = step.prop_map(|(step, number, attempt)| ItemOrigin::Step { step, number, attempt });
    let origin = prop_oneof![Just(ItemOrigin::Client), step];
    (origin, timestamp(), payload()).prop_map(|(origin, at, value)| ItemRecord { origin, at, value })
}
