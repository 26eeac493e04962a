//! Calling an RPC.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use tokio::sync::oneshot;

use super::untyped::UntypedRun;
use crate::commit::Ticket;
use crate::definition::call::RpcEnd;
use crate::definition::{Core as ContextCore, MemberKind, Registered};
use crate::dex::written;
use crate::engine::{Command, Failure, FailureKind, Rejection, RpcReport, RunState, View};
use crate::error::{Error, ErrorKind, Result};
use crate::registry::{Refused, Resident, Submitted};
use crate::shard::{Found, Shard};
use crate::time::Timestamp;
use crate::value::Payload;
use crate::worker::{self, Deadline, Ended};

impl UntypedRun {
    /// Calls an RPC by its stored name, and gives its encoded answer.
    pub(super) async fn call(&self, flow: &Arc<Registered>, rpc: &str, input: Payload) -> Result<Payload> {
        let call = |shard: Arc<Shard>| {
            let input = input.clone();
            async move { self.call_in(&shard, flow, rpc, input).await }
        };
        self.core.with_shard(call).await
    }

    async fn call_in(
        &self,
        shard: &Arc<Shard>,
        flow: &Arc<Registered>,
        rpc: &str,
        input: Payload,
    ) -> Result<Payload> {
        let deadline = shard.clock.now().saturating_add(shard.options.rpc_timeout);
        for _ in 0..shard.options.rpc_attempts_max {
            let (run, view, seen) = self.view(shard).await?;
            let handler = invoke(shard, flow, rpc, input.clone(), view, deadline);
            let end = unless(handler, self.in_vain(shard, flow, rpc, run.is_some())).await?;
            let answer = end.answer.clone();
            match self.apply(shard, flow, rpc, run.as_ref(), seen, end).await? {
                Applied::Done => return Ok(answer),
                // What it read has changed: it runs again on what is there now.
                Applied::Again => shard.check()?,
            }
        }
        let message = format!(
            "RPC `{rpc}` on `{}`: what it reads changed in each of {} attempts; nothing was changed",
            self.flow_id, shard.options.rpc_attempts_max,
        );
        Err(Error::new(ErrorKind::Timeout, message))
    }

    /// The run as it is now; its writer, if it is open; the commit that must be on disk before this is true.
    async fn view(&self, shard: &Arc<Shard>) -> Result<(Option<Arc<Resident>>, View, Option<Ticket>)> {
        loop {
            match self.find(shard).await? {
                Found::Closed(state) => return Ok((None, View::of(&state), None)),
                Found::Open(run) => match run.read(View::of) {
                    Ok((view, seen)) => return Ok((Some(run), view, seen)),
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
        rpc: &str,
        run: Option<&Arc<Resident>>,
        seen: Option<Ticket>,
        end: RpcEnd,
    ) -> Result<Applied> {
        let Some(place) = flow.rpc(rpc) else { return Err(unknown(flow, rpc)) };
        let RpcEnd { staged, reads, movements, .. } = end;
        let changes = !(staged.attributes.is_empty() && staged.messages.is_empty() && movements.is_empty());
        if !changes && !place.definition.writes {
            shard.durable(seen).await?;
            return Ok(Applied::Done);
        }
        let Some(run) = run else {
            return if changes { Err(self.closed(shard).await) } else { Ok(Applied::Done) };
        };
        let movements = movements.into_iter().map(|(step, input)| worker::movement(flow, step, input));
        let movements =
            movements.collect::<Result<_, _>>().map_err(|error| failed(rpc, error.into_parts().0))?;
        let report = RpcReport { rpc: place.name.clone(), reads, staged, movements };
        let (reply, answer) = oneshot::channel();
        match shard.writer.submit(run, Command::ApplyRpc(report), Some(reply)) {
            Ok(Submitted::Enqueued) => written(answer).await.map(|()| Applied::Done),
            Ok(Submitted::Nothing { unwritten }) => shard.durable(unwritten).await.map(|()| Applied::Done),
            Err(Refused::Passivated | Refused::Rejected(Rejection::Conflict { .. })) => Ok(Applied::Again),
            Err(refused) => Err(shard.refusal(run, refused).await),
        }
    }
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

enum Applied {
    Done,
    Again,
}

async fn invoke(
    shard: &Arc<Shard>,
    flow: &Registered,
    rpc: &str,
    input: Payload,
    view: View,
    deadline: Timestamp,
) -> Result<RpcEnd> {
    let Some(place) = flow.rpc(rpc) else { return Err(unknown(flow, rpc)) };
    let handler = flow.flow.call_rpc(place.index, ContextCore::new(view), input);
    let deadline = Deadline::new(&shard.clock, deadline);
    match worker::call(handler, None, Some(deadline)).await {
        Ended::Returned(Ok(end)) => Ok(end),
        Ended::Returned(Err(error)) => Err(refused(rpc, error.into_failure())),
        Ended::Panicked(failure) => Err(failed(rpc, failure)),
        Ended::TimedOut | Ended::CalledOff => {
            let limit = shard.options.rpc_timeout;
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

fn unknown(flow: &Registered, rpc: &str) -> Error {
    flow.flow.definition().unknown(MemberKind::Rpc, rpc)
}
