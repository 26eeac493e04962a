//! What all contexts can list: the keys and entries of maps, and the messages of channels.
//!
//! Written out for each context: a mistake in a call is then told with three lines and not with ten.

use super::core::Core;
use super::rpc::RpcContext;
use super::step::StepContext;
use super::wait::WaitContext;
use crate::definition::access::{ChannelHandle, MapHandle};
use crate::definition::error::{RpcResult, StepError};
use crate::definition::handle::{AttributeMap, stored};
use crate::definition::key::{Key, typed_keys};
use crate::value::{Value, ValueError};

impl Core {
    fn keys_of<F, M: MapHandle<F>>(&self, map: &M) -> Result<Vec<M::Key>, ValueError> {
        let (name, kind) = map.map();
        let keys = self.keys(&name, kind).into_iter().map(|key| (key, ()));
        let keys = typed_keys(name.as_str(), keys, |()| Ok(()))?;
        Ok(keys.into_iter().map(|(key, ())| key).collect())
    }

    fn entries_of<F, K: Key, T: Value>(&self, map: AttributeMap<F, K, T>) -> Result<Vec<(K, T)>, ValueError> {
        typed_keys(map.name(), self.entries(&stored(map.name())), |value| value.decode())
    }
}

#[expect(clippy::needless_pass_by_value, reason = "a handle is written where it is used")]
impl<F> StepContext<F> {
    /// The keys of a map, in their order: those of an attribute map that have a value, or those of a channel map
    /// that have messages which nobody has taken. What this handler wrote is seen.
    ///
    /// # Errors
    ///
    /// If a stored key does not fit the type of the map's keys.
    pub fn keys<M: MapHandle<F>>(&self, map: M) -> Result<Vec<M::Key>, StepError> {
        Ok(self.core.keys_of(&map)?)
    }

    /// The entries of an attribute map that have a value, in the order of the keys. What this handler wrote is
    /// seen.
    ///
    /// # Errors
    ///
    /// If a stored key or value does not fit its type.
    pub fn entries<K: Key, T: Value>(&self, map: AttributeMap<F, K, T>) -> Result<Vec<(K, T)>, StepError> {
        Ok(self.core.entries_of(map)?)
    }

    /// How many messages of the channel nobody has taken, those that this handler published included.
    pub fn size<C: ChannelHandle<F>>(&self, channel: C) -> Result<usize, StepError> {
        Ok(self.core.size(&channel.slot()?))
    }

    /// The messages of the channel that nobody has taken, oldest first, those that this handler published
    /// included. They stay where they are.
    ///
    /// # Errors
    ///
    /// If a stored message does not fit its type.
    pub fn messages<C: ChannelHandle<F>>(&self, channel: C) -> Result<Vec<C::Value>, StepError> {
        Ok(self.core.messages(&channel.slot()?)?)
    }

    /// As [`messages`](Self::messages), each with its number: what [`delete_message`](Self::delete_message) takes. What
    /// this handler published has no number yet, and is not among them.
    ///
    /// # Errors
    ///
    /// If a stored message does not fit its type.
    pub fn numbered_messages<C: ChannelHandle<F>>(
        &self,
        channel: C,
    ) -> Result<Vec<(u64, C::Value)>, StepError> {
        Ok(self.core.numbered_messages(&channel.slot()?)?)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "a handle is written where it is used")]
impl<F> WaitContext<F> {
    /// The keys of a map, in their order: those of an attribute map that have a value, or those of a channel map
    /// that have messages which nobody has taken. What this handler wrote is seen.
    ///
    /// # Errors
    ///
    /// If a stored key does not fit the type of the map's keys.
    pub fn keys<M: MapHandle<F>>(&self, map: M) -> Result<Vec<M::Key>, StepError> {
        Ok(self.core.keys_of(&map)?)
    }

    /// The entries of an attribute map that have a value, in the order of the keys. What this handler wrote is
    /// seen.
    ///
    /// # Errors
    ///
    /// If a stored key or value does not fit its type.
    pub fn entries<K: Key, T: Value>(&self, map: AttributeMap<F, K, T>) -> Result<Vec<(K, T)>, StepError> {
        Ok(self.core.entries_of(map)?)
    }

    /// How many messages of the channel nobody has taken, those that this handler published included.
    pub fn size<C: ChannelHandle<F>>(&self, channel: C) -> Result<usize, StepError> {
        Ok(self.core.size(&channel.slot()?))
    }

    /// The messages of the channel that nobody has taken, oldest first, those that this handler published
    /// included. They stay where they are.
    ///
    /// # Errors
    ///
    /// If a stored message does not fit its type.
    pub fn messages<C: ChannelHandle<F>>(&self, channel: C) -> Result<Vec<C::Value>, StepError> {
        Ok(self.core.messages(&channel.slot()?)?)
    }

    /// As [`messages`](Self::messages), each with its number: what [`delete_message`](Self::delete_message) takes. What
    /// this handler published has no number yet, and is not among them.
    ///
    /// # Errors
    ///
    /// If a stored message does not fit its type.
    pub fn numbered_messages<C: ChannelHandle<F>>(
        &self,
        channel: C,
    ) -> Result<Vec<(u64, C::Value)>, StepError> {
        Ok(self.core.numbered_messages(&channel.slot()?)?)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "a handle is written where it is used")]
impl<F> RpcContext<F> {
    /// The keys of a map, in their order: those of an attribute map that have a value, or those of a channel map
    /// that have messages which nobody has taken. What this handler wrote is seen.
    ///
    /// # Errors
    ///
    /// If a stored key does not fit the type of the map's keys.
    pub fn keys<M: MapHandle<F>>(&self, map: M) -> RpcResult<Vec<M::Key>> {
        Ok(self.core.keys_of(&map)?)
    }

    /// The entries of an attribute map that have a value, in the order of the keys. What this handler wrote is
    /// seen.
    ///
    /// # Errors
    ///
    /// If a stored key or value does not fit its type.
    pub fn entries<K: Key, T: Value>(&self, map: AttributeMap<F, K, T>) -> RpcResult<Vec<(K, T)>> {
        Ok(self.core.entries_of(map)?)
    }

    /// How many messages of the channel nobody has taken, those that this handler published included.
    pub fn size<C: ChannelHandle<F>>(&self, channel: C) -> RpcResult<usize> {
        Ok(self.core.size(&channel.slot()?))
    }

    /// The messages of the channel that nobody has taken, oldest first, those that this handler published
    /// included. They stay where they are.
    ///
    /// # Errors
    ///
    /// If a stored message does not fit its type.
    pub fn messages<C: ChannelHandle<F>>(&self, channel: C) -> RpcResult<Vec<C::Value>> {
        Ok(self.core.messages(&channel.slot()?)?)
    }

    /// As [`messages`](Self::messages), each with its number: what [`delete_message`](Self::delete_message) takes. What
    /// this handler published has no number yet, and is not among them.
    ///
    /// # Errors
    ///
    /// If a stored message does not fit its type.
    pub fn numbered_messages<C: ChannelHandle<F>>(&self, channel: C) -> RpcResult<Vec<(u64, C::Value)>> {
        Ok(self.core.numbered_messages(&channel.slot()?)?)
    }
}
