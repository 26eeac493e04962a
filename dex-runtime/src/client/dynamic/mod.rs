//! Flows by their names and values as JSON: for tools that were not compiled with the flows.
//!
//! What the compiler would refuse for a typed caller is refused here when it is called, before anything is
//! changed: a name that the flow does not have, a name of another kind, a value that does not fit.

mod handle;
mod operate;
mod run;
mod start;

use std::fmt;
use std::sync::Arc;

use serde_json::Value as Json;

pub use self::handle::DynHandle;
pub use self::run::{DynResult, DynRun};
pub use self::start::{DynStart, DynStartCall};

use super::untyped::UntypedRun;
use crate::definition::{FlowDefinition, FlowSchemas, Registered};
use crate::dex::Core;
use crate::error::{Error, ErrorKind, Result};
use crate::ids::FlowId;
use crate::suggest::{did_you_mean, list};
use crate::value::{Payload, ValueError};

/// Starts and finds runs of the flows that are registered, by name; made by
/// [`Dex::dynamic`](crate::Dex::dynamic). Cheap to clone.
///
/// Integers beyond 64 bits lose digits on their way through [`serde_json::Value`].
#[derive(Clone)]
pub struct DynClient {
    core: Arc<Core>,
}

impl DynClient {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core }
    }

    /// The definitions of all registered flows, in the order of their names.
    pub fn definitions(&self) -> Vec<&'static FlowDefinition> {
        self.core.flows().all().map(|flow| flow.flow.definition()).collect()
    }

    /// The definition of a flow.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::UnknownFlow`]: no flow of this name is registered.
    pub fn definition(&self, flow: &str) -> Result<&'static FlowDefinition> {
        Ok(self.flow(flow)?.flow.definition())
    }

    /// The JSON schemas of a flow's values; `None` if the flow does not [have them](crate::definition::Flow::schemas).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::UnknownFlow`]: no flow of this name is registered.
    pub fn schemas(&self, flow: &str) -> Result<Option<FlowSchemas>> {
        Ok(self.flow(flow)?.flow.schemas())
    }

    /// Starts a run of a flow: `client.start("OrderFlow", "order-17", input).await`.
    ///
    /// # Errors
    ///
    /// As [`Client::start`](super::Client::start), and
    ///
    /// - [`ErrorKind::UnknownFlow`]: no flow of this name is registered.
    /// - [`ErrorKind::InvalidValue`]: the input does not fit the flow's input type.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is stored is given away: the caller need not borrow"
    )]
    pub fn start(&self, flow: &str, flow_id: impl AsRef<str>, input: Json) -> DynStart {
        DynStart::new(Arc::clone(&self.core), self.flow(flow), flow_id.as_ref(), &input)
    }

    /// The newest run of an id, open or closed, whatever its flow.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::NotFound`]: no run was ever started under this id.
    /// - [`ErrorKind::UnknownFlow`]: it is a run of a flow that is not registered.
    pub async fn run(&self, flow_id: impl AsRef<str>) -> Result<DynRun> {
        let (run, flow) = UntypedRun::newest(Arc::clone(&self.core), FlowId::new(flow_id)?).await?;
        let flow = self.flow(flow.as_str())?;
        Ok(DynRun::new(run, flow))
    }

    fn flow(&self, name: &str) -> Result<Arc<Registered>> {
        let flows = self.core.flows();
        let found = flows.all().find(|flow| flow.name.as_str() == name);
        found.map(Arc::clone).ok_or_else(|| {
            let legal: Vec<_> = flows.all().map(|flow| flow.name.as_str()).collect();
            let known = match legal.as_slice() {
                [] => "none is".to_owned(),
                [one] => format!("`{one}` is"),
                several => format!("{} are", list(several)),
            };
            let message = format!("flow `{name}` is not registered{}; {known}", did_you_mean(name, &legal));
            Error::new(ErrorKind::UnknownFlow, message)
        })
    }
}

impl fmt::Debug for DynClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flows: Vec<_> = self.definitions().iter().map(|flow| flow.name).collect();
        f.debug_struct("DynClient").field("flows", &flows).finish()
    }
}

/// `value` as it is stored, if `fits` says that it fits.
fn checked(
    value: &Json,
    what: &str,
    fits: impl FnOnce(&Payload) -> Result<(), ValueError>,
) -> Result<Payload> {
    let encoded = Payload::encode(value).map_err(|error| error.of(what))?;
    match fits(&encoded) {
        Ok(()) => Ok(encoded),
        Err(error) => Err(Error::new(ErrorKind::InvalidValue, error.of_given(what))),
    }
}
