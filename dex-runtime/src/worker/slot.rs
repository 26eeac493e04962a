//! A slot: takes handler calls one after another.

use std::sync::Arc;

use super::invoke::{Deadline, Ended, call, run_blocking};
use super::outcome::{self, Failed};
use crate::definition::call::CallFuture;
use crate::definition::{Core, Registered, StepError, StepInfo, StepInput};
use crate::dispatch::Job;
use crate::engine::{Command, Method, Rejection, Task, View};
use crate::registry::{Refused, Resident};
use crate::shard::Shard;
use crate::time::Timestamp;

/// Makes handler calls until none are left.
pub(crate) async fn slot(shard: Arc<Shard>) {
    while let Some(job) = shard.queue.next() {
        make_call(&shard, job).await;
        // Handlers that never await would otherwise keep this thread from everyone else.
        tokio::task::coop::consume_budget().await;
    }
}

async fn make_call(shard: &Arc<Shard>, job: Job) {
    let Job { run, task, view, busy, .. } = job;
    let Some(flow) = shard.flows.get(&run.identity().flow) else {
        tracing::warn!(flow = %run.identity().flow, "a run stands since its flow is not registered");
        return;
    };
    let step = task.step.clone();
    let Some(definition) = flow.step(step.as_str()).map(|found| found.definition) else {
        // No attempt is used up, and nothing is written: a build that has the step goes on from here.
        tracing::warn!(run = %run.identity().run_id, %step, "a run stands since this build has no such step");
        return;
    };
    let (attempt, started_at) = (task.attempt, shard.clock.now());
    let called_off = run.begin_call(attempt.execution);
    // Looked at after registering: a stop between the two would be missed.
    if !run.wants(attempt) {
        run.end_call(attempt.execution);
        return;
    }
    let deadline =
        definition.timeout.map(|limit| Deadline::new(&shard.clock, started_at.saturating_add(limit)));
    let blocking = definition.blocking && task.method == Method::Execute;
    let call = invoke(shard, flow, *task, view, called_off, deadline);
    // What runs on the blocking pool does not await anything.
    let ended = if blocking { call.await } else { busy.handler(call).await };
    run.end_call(attempt.execution);
    let command = match ended {
        Ended::CalledOff => return,
        Ended::Returned(Ok(command)) => Ok(command),
        Ended::Returned(Err(error)) => Err(error),
        Ended::Panicked(failure) => Err(StepError::from_failure(failure)),
        Ended::TimedOut => Err(outcome::timed_out(definition.timeout.unwrap_or_default())),
    };
    let command = command
        .unwrap_or_else(|error| outcome::fail(flow, step.as_str(), Failed { attempt, started_at, error }));
    report(shard, flow, &run, command, started_at);
    drop(busy);
}

async fn invoke(
    shard: &Arc<Shard>,
    flow: &Arc<Registered>,
    task: Task,
    view: View,
    called_off: tokio::sync::oneshot::Receiver<()>,
    deadline: Option<Deadline>,
) -> Ended<Result<Command, StepError>> {
    let core = Core::new(view);
    let Some(found) = flow.step(task.step.as_str()) else { return Ended::CalledOff };
    let tries = task.failures + 1;
    let attempt = task.attempt;
    match task.method {
        Method::WaitFor => {
            let handler = flow.flow.call_wait(found.index, core, tries, task.input);
            let ended = call(handler, Some(called_off), deadline).await;
            map(ended, |end| Ok(outcome::wait(attempt, end, shard.clock.now())))
        }
        Method::Execute => {
            let info = StepInfo {
                step: task.step.clone(),
                number: task.number,
                attempt: tries,
                recovery: task.recovery,
                key: std::sync::OnceLock::new(),
            };
            let input = StepInput { input: task.input, outcome: task.outcome };
            let mut handler = flow.flow.call_step(found.index, core, info, input);
            if found.definition.blocking {
                handler = on_blocking_pool(handler);
            }
            let ended = call(handler, Some(called_off), deadline).await;
            map(ended, |end| outcome::complete(flow, attempt, end))
        }
    }
}

fn map<T>(
    ended: Ended<Result<T, StepError>>,
    command: impl FnOnce(T) -> Result<Command, StepError>,
) -> Ended<Result<Command, StepError>> {
    match ended {
        Ended::Returned(result) => Ended::Returned(result.and_then(command)),
        Ended::Panicked(failure) => Ended::Panicked(failure),
        Ended::TimedOut => Ended::TimedOut,
        Ended::CalledOff => Ended::CalledOff,
    }
}

/// Moves a plain `fn` handler to where it may block.
///
/// Dropping the future does not end the handler, which nothing can; its result is then refused.
fn on_blocking_pool<T: Send + 'static>(
    handler: CallFuture<Result<T, StepError>>,
) -> CallFuture<Result<T, StepError>> {
    Box::pin(async move {
        match tokio::task::spawn_blocking(move || run_blocking(handler)).await {
            Ok(Ended::Returned(result)) => result,
            Ok(Ended::Panicked(failure)) => Err(StepError::from_failure(failure)),
            Ok(Ended::TimedOut | Ended::CalledOff) | Err(_) => {
                Err(StepError::new("the blocking pool was shut down"))
            }
        }
    })
}

/// Submits what a handler call led to.
fn report(
    shard: &Arc<Shard>,
    flow: &Registered,
    run: &Arc<Resident>,
    command: Command,
    started_at: Timestamp,
) {
    let about = match &command {
        Command::CompleteStep(report) => Some(report.attempt),
        Command::StartWait(report) => Some(report.attempt),
        _ => None,
    };
    let Err(refused) = shard.writer.submit(run, command, None) else { return };
    match (refused, about) {
        // The run has moved on without this attempt.
        (Refused::Rejected(Rejection::StaleAttempt { .. } | Rejection::Closed { .. }), _) => {}
        // What the handler wants cannot be, and will not be when it wants it again.
        (Refused::Rejected(rejection), Some(attempt)) => {
            let error = StepError::unworkable(rejection);
            let failed = outcome::fail(flow, "", Failed { attempt, started_at, error });
            if let Err(refused) = shard.writer.submit(run, failed, None) {
                tracing::warn!(run = %run.identity().run_id, ?refused, "a refused step cannot be parked");
            }
        }
        // The engine stops; the store still knows of the attempt.
        (refused, _) => tracing::debug!(run = %run.identity().run_id, ?refused, "a report is dropped"),
    }
}
