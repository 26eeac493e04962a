//! A run, as its callers see it.

use std::marker::PhantomData;

use crate::definition::Flow;
use crate::error::Error;
use crate::value::Value;

/// A run of flow `F`.
#[derive(Debug)]
pub struct RunHandle<F> {
    flow: PhantomData<fn() -> F>,
}

impl<F: Flow> RunHandle<F> {
    /// Calls an RPC by its stored name. The generated methods call this.
    #[doc(hidden)]
    pub async fn call<I: Value, O: Value>(&self, rpc: &'static str, input: &I) -> Result<O, Error> {
        let _ = (rpc, input);
        std::future::pending().await
    }
}
