//! How to make a shard.

use std::sync::Arc;

use super::Opener;
use crate::activity::Activity;
use crate::definition::Flows;
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::shard::{AfterCommit, Parts, Shard};
use crate::store::Store;
use crate::time::Clock;

/// Why a store is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// A process begins.
    Process,
    /// A commit failed in a process that goes on.
    AfterFault,
}

/// How to make a shard.
pub(super) struct Recipe {
    pub(super) opener: Opener,
    pub(super) flows: Arc<Flows>,
    pub(super) options: Options,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) activity: Activity,
    pub(super) after_commit: AfterCommit,
}

impl Recipe {
    /// Opens the store. After a fault the process goes on, and with it the handlers that hold no blame.
    pub(super) async fn open(&self, why: Opening) -> Result<Arc<Shard>> {
        let (opener, flows) = (Arc::clone(&self.opener), Arc::clone(&self.flows));
        let opening = tokio::task::spawn_blocking(move || {
            let store = opener()?;
            check_flows(&*store, &flows)?;
            Ok::<_, Error>(store)
        });
        let store = opening
            .await
            .map_err(|e| Error::new(ErrorKind::DamagedStore, format!("opening the store: {e}")))??;
        let after_crash = why == Opening::Process && !store.was_closed();
        Shard::start(Parts {
            store,
            flows: Arc::clone(&self.flows),
            options: self.options.clone(),
            clock: Arc::clone(&self.clock),
            activity: self.activity.clone(),
            after_commit: self.after_commit,
            after_crash,
        })
    }
}

/// Refuses a store with open runs of a flow that is not registered: they would stand without a word.
fn check_flows(store: &dyn Store, flows: &Flows) -> Result<()> {
    const PAGE: usize = 1_024;
    let unknown: Vec<_> = store.flows()?.into_iter().filter(|name| flows.get(name).is_none()).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let mut after = None;
    loop {
        let page = store.runs(after, PAGE)?;
        let Some(last) = page.last() else { return Ok(()) };
        after = Some(last.run);
        let open = page.iter().find(|run| !run.status.is_closed() && unknown.contains(&run.flow));
        if let Some(run) = open {
            let message = format!(
                "the store has open runs of flow `{}` (`{}` is one), which is not registered: add `.flow(..)` for it",
                run.flow, run.flow_id,
            );
            return Err(Error::new(ErrorKind::UnknownFlow, message));
        }
    }
}
