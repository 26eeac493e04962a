//! What the maps and channels of a run hold, listed and tidied from outside.

use super::handle::RunHandle;
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
    pub async fn keys<M: MapHandle<F>>(&self, map: M) -> Result<Vec<M::Key>> {
        let (name, kind) = map.map();
        let keys = self.run.keys(&name, kind).await?.into_iter().map(|key| (key, ()));
        let keys = typed_keys(name.as_str(), keys, |()| Ok(()))?;
        Ok(keys.into_iter().map(|(key, ())| key).collect())
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
    pub async fn numbered_messages<C: ChannelHandle<F>>(&self, channel: C) -> Result<Vec<(u64, C::Value)>> {
        let slot = channel.slot()?;
        let messages = self.run.messages(&slot).await?.into_iter();
        let typed = |(number, message): (u64, Payload)| Ok((number, message.decode()?));
        let typed: Result<_, _> = messages.map(typed).collect();
        typed.map_err(|error| self.run.misfit("a message of channel", &slot, &error))
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
    pub async fn delete_message<C: ChannelHandle<F>>(&self, channel: C, number: u64) -> Result<()> {
        self.run.delete_message(channel.slot()?, number).await
    }
}
