//! A run without the types of its flow: what typed and dynamic handles do alike.

use std::sync::Arc;

use super::start_call::Noted;
use super::waiting::Looked;
use crate::dex::Core;
use crate::engine::{MapKind, RunEnd, RunState, View, attribute_keys, channel_keys};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::{FlowId, MapKey, Name, RunId, Slot};
use crate::inspect::RunInfo;
use crate::registry::Refused;
use crate::shard::{Found, Shard};
use crate::value::Payload;

/// A run, wherever its engine keeps it.
#[derive(Clone, Debug)]
pub(super) struct UntypedRun {
    pub(super) core: Arc<Core>,
    pub(super) flow_id: FlowId,
    pub(super) run_id: RunId,
    /// Set if all changes by this handle are one request.
    pub(super) request: Option<Name>,
    /// Set if there is no run yet: the one RPC that is called by this handle is called with the start.
    pub(super) noted: Option<Arc<Noted>>,
}

impl UntypedRun {
    pub(super) fn new(core: Arc<Core>, flow_id: FlowId, run_id: RunId) -> Self {
        Self { core, flow_id, run_id, request: None, noted: None }
    }

    /// The newest run of an id, open or closed, with the stored name of its flow.
    pub(super) async fn newest(core: Arc<Core>, flow_id: FlowId) -> Result<(Self, Name)> {
        let find = |shard: Arc<Shard>| {
            let flow_id = flow_id.clone();
            async move { shard.live(&flow_id).await }
        };
        let Some(live) = core.with_shard(find).await? else {
            let message = format!("no run was ever started under `{flow_id}`");
            return Err(Error::new(ErrorKind::NotFound, message));
        };
        Ok((Self::new(core, flow_id, live.run), live.flow))
    }

    /// Reads the run's newest state that is written, and on disk unless its step is asynchronous.
    pub(super) async fn look<R>(&self, shard: &Arc<Shard>, look: impl Fn(&RunState) -> R) -> Result<R> {
        self.look_first(shard, look, &Looked::default()).await
    }

    /// As [`look`](Self::look), for a call that has a budget: what is not on disk yet is not there.
    async fn look_first<R>(
        &self,
        shard: &Arc<Shard>,
        look: impl Fn(&RunState) -> R,
        looked: &Looked,
    ) -> Result<R> {
        loop {
            match self.find(shard).await? {
                Found::Closed(state) => return Ok(look(&state)),
                Found::Open(run) => match run.read(&look) {
                    Ok((seen, unwritten)) => {
                        if unwritten.is_some() {
                            looked.in_vain();
                        }
                        shard.durable(unwritten).await?;
                        return Ok(seen);
                    }
                    Err(Refused::Passivated) => shard.check()?,
                    Err(refused) => return Err(refused.into_error(run.identity())),
                },
            }
        }
    }

    /// As [`look`](Self::look), in the opening of the store that works now.
    pub(super) async fn read<R>(&self, look: impl Fn(&RunState) -> R) -> Result<R> {
        let look = &look;
        self.core.with_shard(|shard| async move { self.look(&shard, look).await }).await
    }

    pub(super) async fn find(&self, shard: &Arc<Shard>) -> Result<Found> {
        shard.run(&self.flow_id, self.run_id).await?.ok_or_else(|| self.missing())
    }

    /// Says that the run is not in the store.
    pub(super) fn missing(&self) -> Error {
        let message = match &self.noted {
            Some(_) => {
                format!("run `{}` is not started yet: a start calls one RPC and nothing else", self.flow_id)
            }
            None => format!("run {} of `{}` is not in the store", self.run_id, self.flow_id),
        };
        Error::new(ErrorKind::NotFound, message)
    }

    pub(super) async fn describe(&self) -> Result<RunInfo> {
        self.read(|state| RunInfo::in_build(state, self.core.flows())).await
    }

    /// The encoded value of an attribute and the version that wrote it.
    pub(super) async fn attribute(&self, slot: &Slot) -> Result<Option<(Payload, u64)>> {
        let look = |state: &RunState| {
            state.attributes.get(slot).map(|attribute| (attribute.value.clone(), attribute.version))
        };
        self.read(look).await
    }

    /// The messages of a channel that nobody has taken yet, oldest first, with their numbers.
    pub(super) async fn messages(&self, slot: &Slot) -> Result<Vec<(u64, Payload)>> {
        // Shared under the run's lock, copied outside of it.
        let look = |state: &RunState| state.channels.get(slot).map(|channel| channel.queue.clone());
        let waiting = self.read(look).await?.unwrap_or_default();
        Ok(waiting.iter().map(|(number, message)| (*number, message.clone())).collect())
    }

    /// The keys of a map, in the order of their texts.
    pub(super) async fn keys(&self, map: &Name, kind: MapKind) -> Result<Vec<MapKey>> {
        let view = self.read(View::of).await?;
        Ok(match kind {
            MapKind::Attribute => attribute_keys(&view.attributes, map).map(|(key, _)| key.clone()).collect(),
            MapKind::Channel => channel_keys(&view.channels, map).map(|(key, _)| key.clone()).collect(),
        })
    }

    /// The entries of an attribute map, in the order of the keys' texts.
    pub(super) async fn entries(&self, map: &Name) -> Result<Vec<(MapKey, Payload)>> {
        let view = self.read(View::of).await?;
        let entries = attribute_keys(&view.attributes, map);
        Ok(entries.map(|(key, attribute)| (key.clone(), attribute.value.clone())).collect())
    }

    /// Waits for the run to end, in whatever way.
    pub(super) async fn end(&self, looked: &Looked) -> Result<Arc<RunEnd>> {
        loop {
            let shard = self.shard_to_look_at(looked).await?;
            if let Some(end) = self.end_in(&shard, looked).await? {
                return Ok(end);
            }
            self.core.after(&shard).await?;
        }
    }

    /// The shard that works now, or the next one if the store is being opened again: nobody can look meanwhile.
    async fn shard_to_look_at(&self, looked: &Looked) -> Result<Arc<Shard>> {
        if self.core.shard().is_err() {
            looked.in_vain();
        }
        self.core.shard_or_wait().await
    }

    /// The run's end, if this opening of the store sees it.
    async fn end_in(&self, shard: &Arc<Shard>, looked: &Looked) -> Result<Option<Arc<RunEnd>>> {
        // First the waiter, then the look: an end between the two is not missed.
        let mut waiter = shard.waiters.register(self.run_id);
        match self.look_first(shard, RunEnd::of, looked).await {
            Ok(Some(end)) => Ok(Some(Arc::new(end))),
            Ok(None) => {
                looked.in_vain();
                Ok(waiter.end().await)
            }
            Err(error) if error.kind() == ErrorKind::Unavailable => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Looks at the run, and again after each of its changes, until `judge` says what was waited for.
    ///
    /// What `judge` calls is the caller's, so it is called where no lock is held.
    pub(super) async fn until<S, R>(
        &self,
        looked: &Looked,
        look: impl Fn(&RunState) -> S,
        mut judge: impl FnMut(S) -> Result<Option<R>>,
    ) -> Result<R> {
        loop {
            let shard = self.shard_to_look_at(looked).await?;
            if let Some(found) = self.until_in(&shard, looked, &look, &mut judge).await? {
                return Ok(found);
            }
            self.core.after(&shard).await?;
        }
    }

    /// What was waited for, if it comes in this opening of the store.
    async fn until_in<S, R>(
        &self,
        shard: &Arc<Shard>,
        looked: &Looked,
        look: impl Fn(&RunState) -> S,
        judge: &mut impl FnMut(S) -> Result<Option<R>>,
    ) -> Result<Option<R>> {
        // First the watcher, then the look: a change between the two is not missed.
        let mut watcher = shard.watchers.watch(self.run_id);
        loop {
            let look = |run: &RunState| (look(run), run.closed.is_some());
            let (seen, closed) = match self.look_first(shard, look, looked).await {
                Ok(seen) => seen,
                Err(error) if error.kind() == ErrorKind::Unavailable => return Ok(None),
                Err(error) => return Err(error),
            };
            if let Some(found) = judge(seen)? {
                return Ok(Some(found));
            }
            if closed {
                return Err(self.closed(shard).await);
            }
            looked.in_vain();
            if !watcher.changed().await {
                return Ok(None);
            }
        }
    }
}
