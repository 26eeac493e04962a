//! Starting a run and calling one of its RPCs, in one commit.
//!
//! The methods of RPCs are those of the flow's run handle. So whoever starts a run with a call is lent a handle of a run
//! that is not there yet: it notes the call, the start is made with it, and then the call gets its answer.

use std::fmt;
use std::future::{Future, IntoFuture, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use tokio::sync::oneshot;

use super::beginning::Called;
use super::handle::RunHandle;
use super::start::Start;
use super::untyped::UntypedRun;
use crate::definition::Flow;
use crate::dex::Core;
use crate::error::{Error, ErrorKind, Result};
use crate::ids::{FlowId, Name, RunId};
use crate::value::Payload;

/// A run that is about to be started with an RPC; made by [`Start::call`]. Await it: it gives the run and the answer.
#[must_use = "a run is not started until this is awaited"]
pub struct StartCall<F: Flow, C> {
    start: Start<F>,
    call: C,
}

impl<F: Flow, C> StartCall<F, C> {
    pub(super) fn new(start: Start<F>, call: C) -> Self {
        Self { start, call }
    }

    async fn run<A, R>(self) -> Result<(F::Run, A)>
    where
        C: FnOnce(F::Run) -> R,
        R: Future<Output = Result<A>>,
    {
        let (core, beginning) = self.start.into_parts();
        let mut beginning = beginning?;
        let flow = Arc::clone(core.flows().of::<F>()?);
        let noted = Arc::new(Noted::default());
        let handle = UntypedRun::not_yet(Arc::clone(&core), beginning.flow_id.clone(), Arc::clone(&noted));
        let mut call = pin!((self.call)(RunHandle::of(handle).into()));
        let asked = poll_fn(|cx| match (call.as_mut().poll(cx), noted.take()) {
            (Poll::Ready(Err(error)), _) => Poll::Ready(Err(error)),
            (Poll::Ready(Ok(_)), None) => Poll::Ready(Err(no_call(&beginning.flow_id))),
            // It does not wait for the answer.
            (Poll::Ready(Ok(given)), Some(asked)) => Poll::Ready(Ok((asked, Some(given)))),
            (Poll::Pending, Some(asked)) => Poll::Ready(Ok((asked, None))),
            (Poll::Pending, None) => Poll::Pending,
        });
        let ((called, reply), given) = asked.await?;
        beginning.call = Some(called);
        let (run, answer) = beginning.begin(core, &flow).await?;
        // Whoever does not wait for it does not mind.
        drop(reply.send(answer));
        let given = match given {
            Some(given) => given,
            None => call.await?,
        };
        Ok((RunHandle::of(run).into(), given))
    }
}

impl<F, C, R, A> IntoFuture for StartCall<F, C>
where
    F: Flow,
    C: FnOnce(F::Run) -> R + Send + 'static,
    R: Future<Output = Result<A>> + Send + 'static,
    A: Send + 'static,
{
    type Output = Result<(F::Run, A)>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<F: Flow, C> fmt::Debug for StartCall<F, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StartCall").field("start", &self.start).finish_non_exhaustive()
    }
}

/// The one call of a run that is not there yet.
#[derive(Debug, Default)]
pub(super) struct Noted(Mutex<Call>);

#[derive(Debug, Default)]
enum Call {
    #[default]
    None,
    Asked(Called, oneshot::Sender<Payload>),
    Taken,
}

impl Noted {
    /// Notes a call, and gives its answer once the run has begun with it.
    pub(super) async fn call(&self, rpc: &str, input: Payload, request: Option<&Name>) -> Result<Payload> {
        if let Some(id) = request {
            let message =
                format!("the call of a start cannot be request `{id}`: give the request id to the start");
            return Err(Error::new(ErrorKind::InvalidSetup, message));
        }
        let answer = self.note(Called { rpc: rpc.to_owned(), input })?;
        let ended = |_| Error::new(ErrorKind::Unavailable, "the run was not started");
        answer.await.map_err(ended)
    }

    fn note(&self, called: Called) -> Result<oneshot::Receiver<Payload>> {
        let mut call = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !matches!(*call, Call::None) {
            let message = format!(
                "a start calls one RPC, and `{}` is a second one, which was not called: call it once the run is there",
                called.rpc,
            );
            return Err(Error::new(ErrorKind::InvalidSetup, message));
        }
        let (reply, answer) = oneshot::channel();
        *call = Call::Asked(called, reply);
        Ok(answer)
    }

    /// The call, the first time that it is there.
    fn take(&self) -> Option<(Called, oneshot::Sender<Payload>)> {
        let mut call = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::take(&mut *call) {
            Call::None => None,
            Call::Asked(called, reply) => {
                *call = Call::Taken;
                Some((called, reply))
            }
            Call::Taken => {
                *call = Call::Taken;
                None
            }
        }
    }
}

impl UntypedRun {
    /// A run that is not there yet.
    fn not_yet(core: Arc<Core>, flow_id: FlowId, noted: Arc<Noted>) -> Self {
        Self { noted: Some(noted), ..Self::new(core, flow_id, RunId::from_bytes([0; 16])) }
    }
}

fn no_call(flow_id: &FlowId) -> Error {
    let message = format!(
        "the start of `{flow_id}` is to call an RPC and calls none: call one on the run that it is lent, or leave out \
         `.call(..)`; nothing was started"
    );
    Error::new(ErrorKind::InvalidSetup, message)
}
