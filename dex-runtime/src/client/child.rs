//! Starting a run for another run: once, however often it is asked for.

use std::sync::Arc;

use super::begin::Begun;
use super::beginning::{Beginning, Checked};
use crate::definition::Registered;
use crate::engine::{ChildStart, Parent, Staged};
use crate::error::{ErrorKind, Result};
use crate::ids::{FlowId, RunId};
use crate::registry::Submit;
use crate::shard::{Found, Shard};

/// What became of the wish for a child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ChildBegun {
    /// It was started, now or before, as this run.
    Run(RunId),
    /// It cannot be, and will not be when it is asked for again.
    Never(String),
}

impl Shard {
    /// Starts a child of `parent`, unless that was done before. It is on disk when the next commit is.
    pub(crate) async fn start_child(
        self: &Arc<Self>,
        flow: &Registered,
        flow_id: FlowId,
        start: ChildStart,
        parent: Parent,
    ) -> Result<ChildBegun> {
        let ChildStart { input, attributes, timeout } = start;
        let attributes = attributes.into_iter().map(|(slot, value)| (slot, Some(value))).collect();
        let staged = Staged { attributes, ..Staged::default() };
        let beginning = Beginning { staged, timeout, ..Beginning::new(flow_id.as_str(), input)? };
        let begun = match beginning.check(flow, self.options.cancel_grace) {
            Ok(checked) => {
                let checked = Checked { parent: Some(parent), ..checked };
                // Nobody waits for the commit: the queue keeps the order, and what follows is behind it.
                self.begin_run(flow, checked, Submit::URGENT).await
            }
            Err(error) => Err(error),
        };
        match begun {
            Ok(Begun::Now(run, _) | Begun::Before(run, _)) => Ok(ChildBegun::Run(run)),
            Err(error) => match error.kind() {
                ErrorKind::AlreadyStarted
                | ErrorKind::InvalidValue
                | ErrorKind::InvalidSetup
                | ErrorKind::LimitReached => Ok(ChildBegun::Never(error.to_string())),
                _ => Err(error),
            },
        }
    }

    /// The newest run called `flow_id`, if it is this child of `parent`. For who has reserved its id.
    pub(super) async fn child_under_guard(
        self: &Arc<Self>,
        flow_id: &FlowId,
        parent: &Parent,
    ) -> Result<Option<RunId>> {
        let Some(live) = self.live(flow_id).await? else { return Ok(None) };
        let is_child = match self.found_under_guard(live.run).await? {
            None => false,
            Some(Found::Closed(state)) => state.identity.parent.as_ref() == Some(parent),
            Some(Found::Open(run)) => run.identity().parent.as_ref() == Some(parent),
        };
        Ok(is_child.then_some(live.run))
    }
}
