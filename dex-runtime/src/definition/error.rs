//! What handlers return when something goes wrong.

use std::error::Error as StdError;
use std::fmt::{self, Write as _};
use std::panic::Location;
use std::time::Duration;

use super::next::Next;
use super::stream::StreamError;
use super::sub_flow_result::ChildError;
use super::wait::Wait;
use crate::engine::{Failure, FailureKind};
use crate::value::ValueError;

/// What a step returns.
pub type StepResult<F> = Result<Next<F>, StepError>;

/// What a `wait_for` returns: what to wait for, giving the step an `O`.
pub type WaitResult<F, O> = Result<Wait<F, O>, StepError>;

/// What an RPC returns.
pub type RpcResult<T> = Result<T, RpcError>;

/// Longest error text that is kept, in bytes. A failure is part of the run's history, for ever.
const MESSAGE_BYTES_MAX: usize = 4 * 1024;

/// Longest chain of causes that is kept.
const CHAIN_MAX: usize = 8;

/// A failed attempt of a step or of its `wait_for`.
///
/// Any error becomes one through `?` and is tried again by the step's retry policy; the place of the `?` is
/// kept with it. It is not an error type itself, as `anyhow::Error` is not, so that `?` can take every error
/// there is.
///
/// ```
/// use dex_runtime::definition::StepError;
///
/// fn parse(text: &str) -> Result<u32, StepError> {
///     if text.is_empty() {
///         return Err(StepError::fatal("nothing to parse"));
///     }
///     Ok(text.parse::<u32>()?)
/// }
///
/// assert!(parse("").unwrap_err().is_fatal());
/// assert!(!parse("x").unwrap_err().is_fatal());
/// ```
pub struct StepError {
    failure: Box<Failure>,
    retry_after: Option<Duration>,
}

impl StepError {
    /// A failure that is tried again, told in words.
    #[track_caller]
    pub fn new(message: impl fmt::Display) -> Self {
        Self::told(FailureKind::Error, &message, here())
    }

    /// A failure that trying again cannot mend: the step's recovery step takes over, or the run fails.
    #[track_caller]
    pub fn fatal(message: impl fmt::Display) -> Self {
        Self::told(FailureKind::Fatal, &message, here())
    }

    /// A failure that is tried again after `pause`, whatever the retry policy would say.
    ///
    /// It replaces the next pause only; the policy's limits still hold.
    #[track_caller]
    pub fn retry_after(pause: Duration, message: impl fmt::Display) -> Self {
        Self { retry_after: Some(pause), ..Self::new(message) }
    }

    /// A failure that is tried again, from an error in a box, which `?` cannot take as it is: a
    /// `Box<dyn Error + Send + Sync>`, an `anyhow::Error`, a `String`. Its causes are kept; its type is not known any more.
    ///
    /// ```
    /// use dex_runtime::definition::StepError;
    ///
    /// fn fetch() -> Result<u32, Box<dyn std::error::Error + Send + Sync>> {
    ///     Err("the host is away".into())
    /// }
    ///
    /// fn step() -> Result<u32, StepError> {
    ///     Ok(fetch().map_err(StepError::from_boxed)?)
    /// }
    ///
    /// assert_eq!(step().unwrap_err().to_string(), "the host is away");
    /// ```
    #[track_caller]
    pub fn from_boxed(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        let error = error.into();
        let failure = Failure { kind: kind_of(&*error), ..describe(&*error, "") };
        Self { failure: Box::new(failure), retry_after: None }
    }

    fn told(kind: FailureKind, message: &dyn fmt::Display, place: Option<String>) -> Self {
        let failure = Failure {
            kind,
            type_name: String::new(),
            message: cut(message.to_string()),
            chain: Vec::new(),
            place,
        };
        Self { failure: Box::new(failure), retry_after: None }
    }

    /// A failure that no repetition can mend: the step is parked until someone looks at it.
    pub(crate) fn unworkable(message: impl fmt::Display) -> Self {
        Self::told(FailureKind::Unworkable, &message, None)
    }

    pub(crate) fn from_failure(failure: Failure) -> Self {
        Self { failure: Box::new(failure), retry_after: None }
    }

    /// Whether it says "do not try again".
    pub fn is_fatal(&self) -> bool {
        self.failure.kind == FailureKind::Fatal
    }

    pub(crate) fn into_parts(self) -> (Failure, Option<Duration>) {
        (*self.failure, self.retry_after)
    }
}

impl<E: StdError + 'static> From<E> for StepError {
    #[track_caller]
    fn from(error: E) -> Self {
        let failure = Failure { kind: kind_of(&error), ..describe(&error, std::any::type_name::<E>()) };
        Self { failure: Box::new(failure), retry_after: None }
    }
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.failure.message)
    }
}

impl fmt::Debug for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StepError")
            .field("failure", &self.failure)
            .field("retry_after", &self.retry_after)
            .finish()
    }
}

/// A refused or failed RPC. It goes to the caller as it is and is never tried again.
///
/// Any error becomes one through `?`.
pub struct RpcError {
    failure: Box<Failure>,
}

impl RpcError {
    /// A refusal, told in words.
    #[track_caller]
    pub fn new(message: impl fmt::Display) -> Self {
        Self { failure: StepError::new(message).failure }
    }

    /// A refusal from an error in a box; as [`StepError::from_boxed`].
    #[track_caller]
    pub fn from_boxed(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self { failure: Box::new(describe(&*error.into(), "")) }
    }

    /// The handler cannot be called at all, whoever tries it.
    pub(crate) fn unworkable(message: impl fmt::Display) -> Self {
        Self { failure: StepError::unworkable(message).failure }
    }

    pub(crate) fn into_failure(self) -> Failure {
        *self.failure
    }
}

impl<E: StdError + 'static> From<E> for RpcError {
    #[track_caller]
    fn from(error: E) -> Self {
        Self { failure: Box::new(describe(&error, std::any::type_name::<E>())) }
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.failure.message)
    }
}

impl fmt::Debug for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RpcError").field("failure", &self.failure).finish()
    }
}

/// Where the handler made the error, or met it with `?`. `None` if that was in the standard library, such as its `map_err`.
#[track_caller]
fn here() -> Option<String> {
    let place = Location::caller();
    (!place.file().starts_with("/rustc/")).then(|| place.to_string())
}

fn kind_of(error: &(dyn StdError + 'static)) -> FailureKind {
    // A value or a key that cannot be stored cannot be so in every attempt.
    let stream = error.downcast_ref::<StreamError>();
    if error.is::<ValueError>() || stream.is_some_and(StreamError::is_unworkable) {
        FailureKind::Unworkable
    } else if error.is::<ChildError>() {
        // How a child ended is the same in every attempt.
        FailureKind::Fatal
    } else {
        FailureKind::Error
    }
}

#[track_caller]
fn describe(error: &(dyn StdError + 'static), type_name: &str) -> Failure {
    // One about a value comes from inside a context, and its place would be there.
    let place = if error.is::<ValueError>() { None } else { here() };
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    Failure {
        kind: FailureKind::Error,
        type_name: type_name.to_owned(),
        message: cut(error.to_string()),
        chain: causes.take(CHAIN_MAX).map(|cause| cut(cause.to_string())).collect(),
        place,
    }
}

/// Shortens a text to the limit, with a mark that says so.
pub(crate) fn cut(mut text: String) -> String {
    if text.len() > MESSAGE_BYTES_MAX {
        let whole = text.len();
        let mut end = MESSAGE_BYTES_MAX;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        // Writing to a string cannot fail.
        let _ = write!(text, "… (cut from {whole} bytes)");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("the outer part")]
    struct Outer(#[source] std::io::Error);

    #[test]
    fn an_error_keeps_its_type_text_and_causes() {
        let (failure, pause) = StepError::from(Outer(std::io::Error::other("the inner part"))).into_parts();
        assert_eq!(failure.kind, FailureKind::Error);
        assert!(failure.type_name.ends_with("Outer"), "{}", failure.type_name);
        assert_eq!(failure.message, "the outer part");
        assert_eq!(failure.chain, ["the inner part"]);
        assert!(failure.place.is_some_and(|place| place.contains("error.rs:")));
        assert_eq!(pause, None);
    }

    #[test]
    fn an_error_in_a_box_keeps_its_text_its_causes_and_what_kind_of_failure_it_is() {
        let outer: Box<dyn StdError + Send + Sync> = Outer(std::io::Error::other("the inner part")).into();
        let (failure, _) = StepError::from_boxed(outer).into_parts();
        assert_eq!((failure.kind, failure.type_name.as_str()), (FailureKind::Error, ""));
        assert_eq!(
            (failure.message.as_str(), failure.chain),
            ("the outer part", vec!["the inner part".into()])
        );
        assert!(failure.place.is_some_and(|place| place.contains("error.rs:")));

        let value = crate::value::Payload::NULL.decode::<u8>().unwrap_err();
        assert_eq!(StepError::from_boxed(value).into_parts().0.kind, FailureKind::Unworkable);
        assert_eq!(RpcError::from_boxed("no").into_failure().message, "no");
    }

    #[test]
    fn no_place_is_better_than_one_in_the_standard_library() {
        let (failure, _) = "no".parse::<u8>().map_err(StepError::new).unwrap_err().into_parts();
        assert!(failure.place.is_none_or(|place| place.contains("error.rs:")));
    }

    #[test]
    fn a_long_text_is_cut_at_a_character_with_a_mark() {
        let text = cut("é".repeat(MESSAGE_BYTES_MAX));
        assert!(text.len() < MESSAGE_BYTES_MAX + 40);
        assert!(text.ends_with(&format!("(cut from {} bytes)", 2 * MESSAGE_BYTES_MAX)));
    }

    #[test]
    fn a_value_that_cannot_be_stored_is_unworkable() {
        let error = crate::value::Payload::encode(&f64::NAN.to_bits()).and_then(|p| p.decode::<String>());
        let (failure, _) = StepError::from(error.unwrap_err()).into_parts();
        assert_eq!(failure.kind, FailureKind::Unworkable);
    }

    #[test]
    fn the_hint_of_a_pause_is_kept() {
        let (failure, pause) = StepError::retry_after(Duration::from_secs(7), "busy").into_parts();
        assert_eq!((failure.message.as_str(), pause), ("busy", Some(Duration::from_secs(7))));
    }
}
