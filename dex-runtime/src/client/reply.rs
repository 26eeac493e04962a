//! Calls about one attribute or channel.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::error::Result;

/// A call about an attribute, a channel or a map of a run, such as [`get`](crate::RunHandle::get). Await it.
///
/// Once it was polled, dropping it leaves open whether what it was to change is changed.
// An `async fn` over handles would tell a handle of another flow three times: at the handle, at the call and at the `.await`.
#[must_use = "nothing happens until this is awaited"]
pub struct Reply<'a, T>(Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>);

impl<'a, T> Reply<'a, T> {
    pub(super) fn new(call: impl Future<Output = Result<T>> + Send + 'a) -> Self {
        Self(Box::pin(call))
    }
}

impl<T> Future for Reply<'_, T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<T>> {
        self.0.as_mut().poll(cx)
    }
}

impl<T> fmt::Debug for Reply<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply").finish_non_exhaustive()
    }
}
