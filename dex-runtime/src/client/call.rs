//! Calling an RPC.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio::sync::oneshot;

use super::request::Request;
use super::untyped::UntypedRun;
use crate::commit::Ticket;
use crate::definition::call::RpcEnd;
use crate::definition::{Core as ContextCore, MemberKind, Place, Registered, RpcDefinition, StepError};
use crate::dex::written;
use crate::engine::{Command, Failure, FailureKind, Rejection, RpcReport, RunState, View};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::Slot;
use crate::registry::{Refused, Resident, Submit, Submitted};
use crate::shard::{Found, Shard};
use crate::time::Timestamp;
use crate::value::{Payload, Value, ValueError};
use crate::worker::{self, Deadline, Ended, Leash};

impl UntypedRun {
    /// Calls an RPC by its stored name, and gives its encoded answer.
    pub(super) async fn call(&self, flow: &Arc<Registered>, rpc: &str, input: Payload) -> Result<Payload> {
        if let Some(noted) = &self.noted {
            return noted.call(rpc, input, self.request.as_ref()).await;
        }
        let call = |shard: Arc<Shard>| {
            let input = input.clone();
            let request = self.request("rpc", &[rpc.as_bytes(), input.as_bytes()]);
            async move { self.call_in(&shard, flow, Asked { rpc, input, request }).await }
        };
        self.core.with_shard(call).await
    }

    async fn call_in(&self, shard: &Arc<Shard>, flow: &Arc<Registered>, asked: Asked<'_>) -> Result<Payload> {
        let rpc = asked.rpc;
        let place = flow.rpc(rpc).ok_or_else(|| unknown(flow, rpc))?;
        let limit = place.definition.timeout.unwrap_or(Duration::MAX).min(shard.options.rpc_timeout);
        let deadline = shard.clock.now().saturating_add(limit);
        for _ in 0..shard.options.rpc_attempts_max {
            let Seen { run, view, unwritten, before } = self.view(shard, place.locks, &asked).await?;
            if let Some(answer) = before {
                shard.durable(unwritten).await?;
                return Ok(answer);
            }
            let handler = invoke(shard, flow, place, asked.input.clone(), view, (deadline, limit));
            let end = unless(handler, self.in_vain(shard, flow, rpc, run.is_some())).await?;
            let answer = end.answer.clone();
            match self.apply(shard, flow, &asked, run.as_ref(), unwritten, end).await? {
                Applied::Done => return Ok(answer),
                Applied::Before(answer) => return Ok(answer),
                // What it read has changed: it runs again on what is there now, after the others who try. At once it
                // would use up its attempts against those who have just begun.
                Applied::Again => {
                    shard.check()?;
                    tokio::task::yield_now().await;
                }
            }
        }
        let message = format!(
            "RPC `{rpc}` on `{}`: what it reads changed in each of {} attempts; nothing was changed",
            self.flow_id, shard.options.rpc_attempts_max,
        );
        Err(Error::new(ErrorKind::Timeout, message))
    }

    /// The run as it is now.
    ///
    /// Fails at once if a step has one of `locks` for itself.
    async fn view(&self, shard: &Arc<Shard>, locks: &[Slot], asked: &Asked<'_>) -> Result<Seen> {
        let look = |state: &RunState| {
            let before = asked.request.as_ref().map(|request| request.answered(state)).transpose()?.flatten();
            let locked = state.locked(locks).filter(|_| before.is_none()).cloned();
            Ok::<_, Error>((View::of(state), before, locked))
        };
        loop {
            match self.find(shard).await? {
                Found::Closed(state) => {
                    let (view, before, _) = look(&state)?;
                    return Ok(Seen { run: None, view, unwritten: None, before });
                }
                Found::Open(run) => match run.read(look) {
                    Ok((Ok((_, _, Some(slot))), _)) => {
                        let locked = Refused::Rejected(Rejection::Locked { slot });
                        return Err(shard.refusal(&run, locked).await);
                    }
                    Ok((looked, unwritten)) => {
                        let (view, before, _) = looked?;
                        return Ok(Seen { run: Some(run), view, unwritten, before });
                    }
                    Err(Refused::Passivated) => shard.check()?,
                    Err(refused) => return Err(refused.into_error(run.identity())),
                },
            }
        }
    }

    /// Completes with the reason when a handler that still runs can do no more good: the engine stops, or
    /// the run that it may write to has ended.
    async fn in_vain(&self, shard: &Arc<Shard>, flow: &Registered, rpc: &str, open: bool) -> Error {
        let writes = open && flow.rpc(rpc).is_some_and(|place| place.definition.writes);
        // First the watcher, then the look: a change between the two is not missed.
        let mut watcher = shard.watchers.watch(self.run_id);
        loop {
            if writes {
                match self.look(shard, RunState::status).await {
                    Ok(status) if status.is_closed() => return self.closed(shard).await,
                    Ok(_) => {}
                    Err(error) => return error,
                }
            }
            if !watcher.changed().await {
                let stopping = || Error::new(ErrorKind::Unavailable, "the engine is stopping");
                return shard.check().err().unwrap_or_else(stopping);
            }
        }
    }

    async fn apply(
        &self,
        shard: &Arc<Shard>,
        flow: &Registered,
        asked: &Asked<'_>,
        run: Option<&Arc<Resident>>,
        seen: Option<Ticket>,
        end: RpcEnd,
    ) -> Result<Applied> {
        let place = flow.rpc(asked.rpc).ok_or_else(|| unknown(flow, asked.rpc))?;
        let changes = !(end.staged.is_empty() && end.movements.is_empty() && end.cancels.is_empty());
        if !changes && !place.definition.writes {
            shard.durable(seen).await?;
            return Ok(Applied::Done);
        }
        let Some(run) = run else {
            return if changes { Err(self.closed(shard).await) } else { Ok(Applied::Done) };
        };
        let (report, given) = report(flow, place, end)?;
        let command = match asked.request.clone() {
            Some(request) => request.once(given, Command::ApplyRpc(report)),
            None => Command::ApplyRpc(report),
        };
        let (reply, answer) = oneshot::channel();
        match shard.writer.submit(run, command, Submit::called(reply)) {
            Ok(Submitted::Enqueued) => written(answer).await.map(|()| Applied::Done),
            Ok(Submitted::Nothing { unwritten }) => shard.durable(unwritten).await.map(|()| Applied::Done),
            Err(Refused::Rejected(Rejection::Answered { answer, .. })) => {
                shard.settled(run).await.map(|()| Applied::Before(answer))
            }
            Err(Refused::Passivated | Refused::Rejected(Rejection::Conflict { .. })) => Ok(Applied::Again),
            Err(refused) => Err(shard.refusal(run, refused).await),
        }
    }
}

/// What an RPC did, and what it answered.
fn report(flow: &Registered, place: Place<'_, RpcDefinition>, end: RpcEnd) -> Result<(RpcReport, Payload)> {
    let RpcEnd { staged, reads, movements, cancels, answer } = end;
    let wrong = |error: StepError| failed(place.definition.name, error.into_parts().0);
    let movements = movements.into_iter().map(|goal| worker::movement(flow, goal));
    let movements = movements.collect::<Result<_, _>>().map_err(wrong)?;
    let cancels = worker::cancels(flow, cancels).map_err(wrong)?;
    let (rpc, locks) = (place.name.clone(), place.locks.to_vec());
    Ok((RpcReport { rpc, reads, staged, movements, cancels, locks }, answer))
}

/// Calls an RPC on a run that begins as `view` shows it, and that nobody else knows of.
pub(super) async fn call_first(
    shard: &Arc<Shard>,
    flow: &Registered,
    rpc: &str,
    input: Payload,
    view: View,
) -> Result<(RpcReport, Payload)> {
    let place = flow.rpc(rpc).ok_or_else(|| unknown(flow, rpc))?;
    let limit = place.definition.timeout.unwrap_or(Duration::MAX).min(shard.options.rpc_timeout);
    let handler = invoke(shard, flow, place, input, view, (shard.clock.now().saturating_add(limit), limit));
    let stopping = async {
        drop(shard.ended().await);
        let stopping = || Error::new(ErrorKind::Unavailable, "the engine is stopping");
        shard.check().err().unwrap_or_else(stopping)
    };
    report(flow, place, unless(handler, stopping).await?)
}

/// The outcome of `call`, or the reason with which `in_vain` completes first. It is asked only while `call`
/// awaits something.
async fn unless<T>(call: impl Future<Output = Result<T>>, in_vain: impl Future<Output = Error>) -> Result<T> {
    let (mut call, mut in_vain) = (pin!(call), pin!(in_vain));
    poll_fn(|cx| match call.as_mut().poll(cx) {
        Poll::Ready(done) => Poll::Ready(done),
        Poll::Pending => in_vain.as_mut().poll(cx).map(Err),
    })
    .await
}

/// What a caller asks for.
#[derive(Debug)]
struct Asked<'a> {
    rpc: &'a str,
    input: Payload,
    request: Option<Request>,
}

/// A run as an RPC finds it.
struct Seen {
    /// Its writer, if it is open.
    run: Option<Arc<Resident>>,
    view: View,
    /// The commit that must be on disk before this is true.
    unwritten: Option<Ticket>,
    /// What was answered to the same request before.
    before: Option<Payload>,
}

enum Applied {
    Done,
    /// The same request was carried out meanwhile, with this answer.
    Before(Payload),
    Again,
}

async fn invoke(
    shard: &Arc<Shard>,
    flow: &Registered,
    place: Place<'_, RpcDefinition>,
    input: Payload,
    view: View,
    (deadline, limit): (Timestamp, Duration),
) -> Result<RpcEnd> {
    let rpc = place.definition.name;
    let handler = flow.flow.call_rpc(place.index, ContextCore::new(view), input);
    let deadline = Box::new(Deadline::new(&shard.clock, deadline));
    match worker::call(handler, Leash { deadline: Some(deadline), ..Leash::default() }).await {
        Ended::Returned(Ok(end)) => Ok(end),
        Ended::Returned(Err(error)) => Err(refused(rpc, error.into_failure())),
        Ended::Panicked(failure) => Err(failed(rpc, failure)),
        Ended::TimedOut | Ended::Silent | Ended::CalledOff => {
            let message = format!("RPC `{rpc}` took longer than {limit:?}; nothing was changed");
            Err(Error::new(ErrorKind::Timeout, message))
        }
    }
}

fn refused(rpc: &str, failure: Failure) -> Error {
    // The handler was not called: its argument does not fit.
    if failure.kind == FailureKind::Unworkable {
        let message = format!("RPC `{rpc}` was not called: {}", failure.message);
        return Error::with_failure(ErrorKind::InvalidValue, message, failure);
    }
    failed(rpc, failure)
}

fn failed(rpc: &str, failure: Failure) -> Error {
    let message = format!("RPC `{rpc}` failed and changed nothing: {}: {}", failure.kind, failure.message);
    Error::with_failure(ErrorKind::RpcFailed, message, failure)
}

/// The encoded argument of an RPC.
pub(super) fn argument<I: Value>(rpc: &str, input: &I) -> Result<Payload, ValueError> {
    Payload::encode(input).map_err(|error| error.of(format_args!("the argument of RPC `{rpc}`")))
}

/// What an RPC answered, as the type that its caller wants.
pub(super) fn decode_answer<O: Value>(rpc: &str, answer: &Payload) -> Result<O, ValueError> {
    answer.decode().map_err(|error| error.of(format_args!("the answer of RPC `{rpc}`")))
}

fn unknown(flow: &Registered, rpc: &str) -> Error {
    flow.flow.definition().unknown(MemberKind::Rpc, rpc)
}
