//! A run, as its callers see it.

use std::fmt;
use std::marker::PhantomData;

use crate::definition::Flow;
use crate::error::Error;
use crate::value::Value;

/// A run of flow `F`.
pub struct RunHandle<F> {
    flow: PhantomData<fn() -> F>,
}

impl<F> Clone for RunHandle<F> {
    fn clone(&self) -> Self {
        Self { flow: PhantomData }
    }
}

impl<F> fmt::Debug for RunHandle<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunHandle").finish_non_exhaustive()
    }
}

impl<F: Flow> RunHandle<F> {
    /// Calls an RPC by its stored name. The generated methods call this.
    #[doc(hidden)]
    pub async fn call<I: Value, O: Value>(&self, rpc: &'static str, input: &I) -> Result<O, Error> {
        let _ = (rpc, input);
        std::future::pending().await
    }
}
