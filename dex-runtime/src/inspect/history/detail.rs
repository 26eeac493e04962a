//! What is to be said about an event, as a JSON object.

use serde_json::{Map, Value as Json, json};

use super::Teller;
use crate::engine::{
    Closing, Condition, Event, Failure, Matched, PatchedEnd, Recovery, Source, StepPatch, StepTarget,
    TimeoutAction,
};
use crate::ids::Slot;
use crate::value::Payload;

impl Teller {
    /// What is to be said about `event`. Values are shown as they are stored.
    pub(super) fn detail(&self, event: &Event) -> Json {
        match event {
            Event::RunStarted { identity, timeout } => json!({
                "flow": identity.flow.as_str(),
                "flow_id": identity.flow_id.as_str(),
                "run_id": identity.run_id.to_string(),
                "parent": identity.parent.as_ref().map(|parent| parent.flow_id.as_str()),
                "timeout": timeout.as_ref().map(|timeout| json!({
                    "at": timeout.at.to_string(),
                    "then": timeout_action(&timeout.then),
                })),
            }),
            Event::AttributeSet { slot, value } => {
                json!({ "attribute": slot.to_string(), "value": plain(value) })
            }
            Event::AttributeDeleted { slot } => json!({ "attribute": slot.to_string() }),
            Event::MessagePublished { slot, value } => {
                json!({ "channel": slot.to_string(), "message": plain(value) })
            }
            Event::MessageDeleted { slot, number } => {
                json!({ "channel": slot.to_string(), "number": number })
            }
            Event::ChannelForgotten { slot } => json!({ "channel": slot.to_string() }),
            Event::Noted { name, value, .. } => json!({ "name": name.as_str(), "value": plain(value) }),
            Event::RpcApplied { rpc } => json!({ "rpc": rpc.as_str() }),
            Event::StepScheduled { step, source, input, waits, recovery, locks, patch, .. } => json!({
                "step": step.as_str(),
                "source": self.source(source),
                "input": plain(input),
                "waits": waits,
                "recovery": recovery.as_ref().map(recovers),
                "locks": locks.iter().map(Slot::to_string).collect::<Vec<_>>(),
                "options": patch.as_deref().map(options),
            }),
            Event::CheckpointStored { value, .. } => json!({ "value": plain(value) }),
            Event::HandedOut { lost, .. } => json!({ "lost": lost }),
            Event::ChildRequested { child, flow_id, request } => json!({
                "flow_id": flow_id.as_str(),
                "flow": request.flow.as_str(),
                "input": plain(&request.start.input),
                "of": self.id(child.execution),
                "index": child.index,
                "on_parent_end": format!("{:?}", request.on_parent_end),
            }),
            Event::ChildStarted { child, run } => {
                json!({ "of": self.id(child.execution), "index": child.index, "run_id": run.to_string() })
            }
            Event::ChildEnded { child, result } => {
                json!({ "of": self.id(child.execution), "index": child.index, "result": plain(result) })
            }
            Event::ChildStopped { child } => {
                json!({ "of": self.id(child.execution), "index": child.index })
            }
            Event::WaitStarted { condition, .. } => json!({ "condition": waits_for(condition) }),
            Event::TimerFired { until, .. } => json!({ "until": until.to_string() }),
            Event::WaitMet { matched, .. } => json!({ "taken": taken(matched) }),
            Event::AttemptFailed { failure, started_at, retry_at, .. } => json!({
                "failure": failed(failure),
                "started_at": started_at.to_string(),
                "retry_at": retry_at.to_string(),
            }),
            Event::StepParked { failure, .. } | Event::StepFailed { failure, .. } => {
                json!({ "failure": failed(failure) })
            }
            Event::CancelRequested { reason, until, cleanup } => json!({
                "reason": reason,
                "until": until.to_string(),
                "cleanup": cleanup.as_ref().map(goes_to),
            }),
            Event::RequestAnswered { request, answer, .. } => {
                json!({ "request": request.as_str(), "answer": plain(answer) })
            }
            Event::OutputProduced { step, number, value } => {
                json!({ "execution": format!("{step}-{number}"), "output": plain(value) })
            }
            Event::RunClosed { closing } => ends(closing),
            Event::ParentTold
            | Event::LocksTaken { .. }
            | Event::RetryStarted { .. }
            | Event::StepResumed { .. }
            | Event::StepSkipped { .. }
            | Event::StepCompleted { .. }
            | Event::StepCanceled { .. }
            | Event::TimeoutReached
            | Event::GraceEnded
            | Event::RunPaused
            | Event::RunResumed => json!({}),
        }
    }

    fn source(&self, source: &Source) -> Json {
        match source {
            Source::Start => json!({ "kind": "start" }),
            Source::Step(no) => json!({ "kind": "step", "execution": self.id(*no) }),
            Source::Recovery(no) => json!({ "kind": "recovery", "execution": self.id(*no) }),
            Source::Timeout => json!({ "kind": "timeout" }),
            Source::Cancel => json!({ "kind": "cancel" }),
            Source::Rpc(rpc) => json!({ "kind": "rpc", "rpc": rpc.as_str() }),
        }
    }
}

/// A stored value as it is; one that is no JSON is shown as text.
fn plain(value: &Payload) -> Json {
    value.decode().unwrap_or_else(|_| String::from_utf8_lossy(value.as_bytes()).into())
}

fn failed(failure: &Failure) -> Json {
    let Failure { kind, type_name, message, chain, place } = failure;
    json!({ "kind": kind.to_string(), "type": type_name, "message": message, "causes": chain, "place": place })
}

fn recovers(recovery: &Recovery) -> Json {
    let Recovery { step, failure, attempts, may_have_run } = recovery;
    json!({
        "step": step.as_str(),
        "failure": failed(failure),
        "attempts": attempts,
        "may_have_run": may_have_run,
    })
}

fn goes_to(target: &StepTarget) -> Json {
    json!(target.step.as_str())
}

fn timeout_action(then: &TimeoutAction) -> Json {
    match then {
        TimeoutAction::Fail => json!("fail"),
        TimeoutAction::Cancel(_) => json!("cancel"),
        TimeoutAction::Step(target) => json!({ "step": goes_to(target) }),
    }
}

fn ends(closing: &Closing) -> Json {
    let status = closing.status().to_string();
    match closing {
        Closing::Completed => json!({ "status": status }),
        Closing::Failed { reason } => json!({ "status": status, "reason": reason }),
        Closing::StepFailed { step, number, failure } => json!({
            "status": status,
            "execution": format!("{step}-{number}"),
            "failure": failed(failure),
        }),
        Closing::TimedOut => json!({ "status": status, "reason": "the run's time was up" }),
        Closing::Stopped { reason, .. } => json!({ "status": status, "reason": reason }),
    }
}

fn waits_for(condition: &Condition) -> Json {
    let all = |of: &[Condition]| of.iter().map(waits_for).collect::<Vec<_>>();
    match condition {
        Condition::Messages { slot, min, max, .. } => {
            let most = (*max != u32::MAX).then_some(max);
            json!({ "channel": slot.to_string(), "min": min, "max": most })
        }
        Condition::Timer { at } => json!({ "timer": at.to_string() }),
        Condition::Child { index } => json!({ "child": index }),
        Condition::Ready(value) => json!({ "ready": plain(value) }),
        Condition::Any { of, .. } => json!({ "any": all(of) }),
        Condition::All(of) => json!({ "all": all(of) }),
        Condition::With(inner, value) => json!({ "of": waits_for(inner), "with": plain(value) }),
    }
}

fn taken(matched: &Matched) -> Json {
    match matched {
        Matched::Messages(count) => json!({ "messages": count }),
        Matched::Plain => json!({}),
        Matched::Any(index, inner) => json!({ "index": index, "of": taken(inner) }),
        Matched::All(all) => json!({ "all": all.iter().map(taken).collect::<Vec<_>>() }),
        Matched::With(inner) => taken(inner),
    }
}

/// The options that are changed, each in the words of the macro's options.
fn options(patch: &StepPatch) -> Json {
    let StepPatch {
        initial,
        factor,
        max_interval,
        attempts,
        total,
        timeout,
        heartbeat,
        exhausted,
        durability,
    } = patch;
    let mut changed = Map::new();
    let durations = [
        ("initial", initial),
        ("max_interval", max_interval),
        ("total", total),
        ("timeout", timeout),
        ("heartbeat", heartbeat),
    ];
    for (name, duration) in durations {
        changed.extend(duration.map(|duration| (name.to_owned(), json!(format!("{duration:?}")))));
    }
    changed.extend(factor.map(|factor| ("factor".to_owned(), json!(factor.get()))));
    changed.extend(attempts.map(|attempts| ("attempts".to_owned(), json!(attempts))));
    changed.extend(durability.map(|durability| ("durability".to_owned(), json!(format!("{durability:?}")))));
    changed.extend(exhausted.as_ref().map(|end| match end {
        PatchedEnd::Of(end) => ("on_exhausted".to_owned(), json!(format!("{end:?}"))),
        PatchedEnd::Recover(step) => ("on_failure".to_owned(), json!(step.as_str())),
    }));
    Json::Object(changed)
}
