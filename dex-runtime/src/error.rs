//! The one error of the public API.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use crate::definition::StreamError;
use crate::engine::{Failure, Rejection, Status};
use crate::ids::{IdError, RunId};
use crate::store::StoreError;
use crate::value::ValueError;

/// What calls of the client return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call did not do what was asked.
///
/// Opaque and cheap to clone: [`kind`](Self::kind) and the predicates answer what programs ask, the text
/// says the rest to people, names and next step included.
#[derive(Clone)]
pub struct Error(Arc<Repr>);

#[derive(Debug)]
struct Repr {
    kind: ErrorKind,
    message: String,
    run: Option<(RunId, Status)>,
    failure: Option<Failure>,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

/// The kinds of [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An id or a name that cannot be one.
    InvalidId,
    /// A value that cannot be encoded, does not fit its type, or is over the limit; a map's key that cannot be one.
    InvalidValue,
    /// The engine, or a start, was put together wrongly: a flow registered twice, a name that is not one, a policy
    /// for the end of a time that there is not.
    InvalidSetup,
    /// No run was ever started under this id, or the run has no such step execution or message.
    NotFound,
    /// The id has a run already; see [`Error::existing_run`].
    AlreadyStarted,
    /// The run has ended; nothing was changed.
    Closed,
    /// The id belongs to a run of another flow.
    WrongFlow,
    /// A step has an attribute for itself that the RPC locks. Try again when it has ended.
    Locked,
    /// The request's id was used before, for something else.
    RequestMismatch,
    /// The run is being cancelled and takes nothing new.
    Canceling,
    /// The flow is not registered with this engine.
    UnknownFlow,
    /// The flow has no member of this name and kind; the text lists those that it has.
    UnknownName,
    /// A limit of the run is reached; see the text for which.
    LimitReached,
    /// The RPC's handler refused or failed; nothing was changed.
    RpcFailed,
    /// The run ended without an output: failed, canceled or terminated.
    RunFailed,
    /// The budget of a waiting call is used up. What was waited for may still come.
    Timeout,
    /// Another process has the store open.
    StoreInUse,
    /// The folder holds something else than a store of dex.
    ForeignStore,
    /// A later version of dex wrote the store.
    NewerStore,
    /// The store is damaged.
    DamagedStore,
    /// There is too little free disk space.
    DiskFull,
    /// The engine cannot work now; nothing was changed. Try again later.
    Unavailable,
    /// The engine failed while the change was being written: it may have been made or not.
    OutcomeUnknown,
    /// The engine was shut down.
    ShutDown,
    /// The run's history cannot be read by this build; it was set aside as it is.
    Quarantined,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Arc::new(Repr { kind, message: message.into(), run: None, failure: None, source: None }))
    }

    fn with_source(kind: ErrorKind, source: impl StdError + Send + Sync + 'static) -> Self {
        let message = source.to_string();
        Self(Arc::new(Repr { kind, message, run: None, failure: None, source: Some(Arc::new(source)) }))
    }

    pub(crate) fn with_run(kind: ErrorKind, message: String, run: RunId, status: Status) -> Self {
        Self(Arc::new(Repr { kind, message, run: Some((run, status)), failure: None, source: None }))
    }

    pub(crate) fn with_failure(kind: ErrorKind, message: String, failure: Failure) -> Self {
        Self(Arc::new(Repr { kind, message, run: None, failure: Some(failure), source: None }))
    }

    /// The kind.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Whether the id has a run already.
    pub fn is_already_started(&self) -> bool {
        self.kind() == ErrorKind::AlreadyStarted
    }

    /// Whether no run was ever started under the id.
    pub fn is_not_found(&self) -> bool {
        self.kind() == ErrorKind::NotFound
    }

    /// Whether the run had ended.
    pub fn is_closed(&self) -> bool {
        self.kind() == ErrorKind::Closed
    }

    /// The run that the error is about and its status, for [`AlreadyStarted`](ErrorKind::AlreadyStarted),
    /// [`Closed`](ErrorKind::Closed) and [`RunFailed`](ErrorKind::RunFailed).
    pub fn existing_run(&self) -> Option<(RunId, Status)> {
        self.0.run
    }

    /// How the handler failed, for [`RpcFailed`](ErrorKind::RpcFailed).
    pub fn failure(&self) -> Option<&Failure> {
        self.0.failure.as_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

/// Shown as its text, since this is what `fn main() -> dex::Result<()>` prints.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:?})", self.0.message, self.0.kind)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        // The text of a wrapped error is this error's own, so what is below it comes next.
        self.0.source.as_ref().and_then(|source| source.source())
    }
}

impl From<IdError> for Error {
    fn from(error: IdError) -> Self {
        Self::with_source(ErrorKind::InvalidId, error)
    }
}

impl From<ValueError> for Error {
    fn from(error: ValueError) -> Self {
        Self::with_source(ErrorKind::InvalidValue, error)
    }
}

impl From<StreamError> for Error {
    fn from(error: StreamError) -> Self {
        match error {
            StreamError::InvalidValue(error) => error.into(),
            error @ StreamError::TooLarge { .. } => Self::with_source(ErrorKind::InvalidValue, error),
            error @ StreamError::Over { .. } => Self::with_source(ErrorKind::Closed, error),
            error @ (StreamError::Full { .. } | StreamError::Stopped { .. }) => {
                Self::with_source(ErrorKind::Unavailable, error)
            }
        }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        let kind = match &error {
            StoreError::InUse { .. } => ErrorKind::StoreInUse,
            StoreError::Foreign { .. } => ErrorKind::ForeignStore,
            StoreError::NewerFormat { .. } => ErrorKind::NewerStore,
            StoreError::Damaged { .. } | StoreError::Unreadable { .. } => ErrorKind::DamagedStore,
            StoreError::DiskFull { .. } => ErrorKind::DiskFull,
            StoreError::Conflict { .. }
            | StoreError::Fenced { .. }
            | StoreError::Unavailable { .. }
            | StoreError::Io { .. } => ErrorKind::Unavailable,
        };
        Self::with_source(kind, error)
    }
}

impl Error {
    /// A refused command on the run called `flow_id`.
    pub(crate) fn rejected(rejection: &Rejection, flow_id: &str, run: RunId) -> Self {
        let message = format!("run `{flow_id}`: {rejection}");
        match rejection {
            Rejection::AlreadyStarted { run_id, status } => {
                Self::with_run(ErrorKind::AlreadyStarted, message, *run_id, *status)
            }
            Rejection::Closed { status } => Self::with_run(ErrorKind::Closed, message, run, *status),
            Rejection::ImpossibleCount { .. }
            | Rejection::WaitTooDeep { .. }
            | Rejection::ChannelFull { .. }
            | Rejection::TooManyChildren { .. }
            | Rejection::StateFull { .. }
            | Rejection::TooManySteps { .. } => Self::new(ErrorKind::LimitReached, message),
            Rejection::Conflict { .. } => Self::new(ErrorKind::Timeout, message),
            Rejection::Locked { .. } => Self::new(ErrorKind::Locked, message),
            Rejection::RequestMismatch { .. } => Self::new(ErrorKind::RequestMismatch, message),
            Rejection::Canceling => Self::new(ErrorKind::Canceling, message),
            Rejection::NotFound
            | Rejection::NoSuchMessage { .. }
            | Rejection::Answered { .. }
            | Rejection::Paused
            | Rejection::StaleAttempt { .. }
            | Rejection::NothingDue { .. }
            | Rejection::NotParked { .. }
            | Rejection::NoTimer { .. }
            | Rejection::WrongMethod { .. }
            | Rejection::NoNextStep
            | Rejection::ChildrenUnlike { .. }
            | Rejection::EmptyWait => Self::new(ErrorKind::NotFound, message),
        }
    }
}
