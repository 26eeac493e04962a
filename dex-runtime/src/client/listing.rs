//! What the maps and channels of a run hold, listed and tidied from outside.

use super::handle::RunHandle;
use super::reply::Reply;
use crate::definition::{AttributeMap, ChannelHandle, Flow, Key, MapHandle, stored, typed_keys};
use crate::error::Result;
use crate::value::{Payload, Value};

impl<F: Flow> RunHandle<F> {
    /// The keys of a map, in their order: those of an attribute map that have a value, or those of a channel map
    /// that have messages which no wait has taken yet. Also of a run that has ended.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidValue`] if a stored key does not fit the type of the map's keys.
    ///
    /// [`ErrorKind::InvalidValue`]: crate::ErrorKind::InvalidValue
    #[expect(clippy::needless_pass_by_value, reason = "a map is written where it is used")]
    pub fn keys<M: MapHandle<F>>(&self, map: M) -> Reply<'_, Vec<M::Key>> {
        let (run, (name, kind)) = (&self.run, map.map());
        Reply::new(async move {
            let keys = run.keys(&name, kind).await?.into_iter().map(|key| (key, ()));
            let keys = typed_keys(name.as_str(), keys, |()| Ok(()))?;
            Ok(keys.into_iter().map(|(key, ())| key).collect())
        })
    }

    /// The entries of an attribute map that have a value, in the order of the keys; also of a run that has ended.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidValue`] if a stored key or value does not fit its type.
    ///
    /// [`ErrorKind::InvalidValue`]: crate::ErrorKind::InvalidValue
    pub async fn entries<K: Key, T: Value>(&self, map: AttributeMap<F, K, T>) -> Result<Vec<(K, T)>> {
        let entries = self.run.entries(&stored(map.name())).await?;
        Ok(typed_keys(map.name(), entries, |value| value.decode())?)
    }

    /// The messages of a channel that no wait has taken yet, oldest first, each with its number: what
    /// [`delete_message`](Self::delete_message) takes. Numbers grow from message to message and never come again.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidValue`] if a stored message does not fit the type.
    ///
    /// [`ErrorKind::InvalidValue`]: crate::ErrorKind::InvalidValue
    #[expect(clippy::needless_pass_by_value, reason = "a handle is written where it is used")]
    pub fn numbered_messages<C: ChannelHandle<F>>(&self, channel: C) -> Reply<'_, Vec<(u64, C::Value)>> {
        let (run, slot) = (&self.run, channel.slot());
        Reply::new(async move {
            let slot = slot?;
            let messages = run.messages(&slot).await?.into_iter();
            let typed = |(number, message): (u64, Payload)| Ok((number, message.decode()?));
            let typed: Result<_, _> = messages.map(typed).collect();
            typed.map_err(|error| run.misfit("a message of channel", &slot, &error))
        })
    }

    /// Takes a message out of a channel, so that no wait gets it.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::NotFound`]: the channel has no such message, or a step has taken it; nothing was changed.
    /// - [`ErrorKind::Closed`]: the run has ended; nothing was changed.
    ///
    /// [`ErrorKind::NotFound`]: crate::ErrorKind::NotFound
    /// [`ErrorKind::Closed`]: crate::ErrorKind::Closed
    #[expect(clippy::needless_pass_by_value, reason = "a handle is written where it is used")]
    pub fn delete_message<C: ChannelHandle<F>>(&self, channel: C, number: u64) -> Reply<'_, ()> {
        let (run, slot) = (&self.run, channel.slot());
        Reply::new(async move { run.delete_message(slot?, number).await })
    }
}
