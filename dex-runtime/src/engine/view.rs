//! A run as a handler or a reader sees it: what it was at one moment.

use std::sync::Arc;

use super::shared::SharedMap;
use super::state::{Attribute, ChannelState, Closed, Output, RunIdentity, RunState};
use crate::ids::Slot;

/// A run as it was at one moment. Cheap to make: it shares the run's data.
#[derive(Clone, Debug)]
pub struct View {
    /// What never changes about the run.
    pub identity: Arc<RunIdentity>,
    /// The attributes that were set.
    pub attributes: SharedMap<Slot, Attribute>,
    /// The channels that ever held a message or had a waiter.
    pub channels: SharedMap<Slot, ChannelState>,
}

impl View {
    /// The run as it is.
    pub fn of(state: &RunState) -> Self {
        Self {
            identity: Arc::clone(&state.identity),
            attributes: state.attributes.clone(),
            channels: state.channels.clone(),
        }
    }
}

/// A run that has ended, with what it gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEnd {
    /// What never changes about the run.
    pub identity: Arc<RunIdentity>,
    /// How it ended.
    pub closed: Closed,
    /// What completing decisions gave, in order.
    pub outputs: Vec<Output>,
}

impl RunEnd {
    /// The end of the run, if it has ended.
    pub fn of(state: &RunState) -> Option<Self> {
        let closed = state.closed.clone()?;
        Some(Self { identity: Arc::clone(&state.identity), closed, outputs: state.outputs.clone() })
    }
}
