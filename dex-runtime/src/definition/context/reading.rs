//! What all contexts can list: the entries of maps, and the messages of channels.

use super::rpc::RpcContext;
use super::step::StepContext;
use super::wait::WaitContext;
use crate::definition::RpcError;
use crate::definition::access::{ChannelHandle, MapHandle};
use crate::definition::error::StepError;
use crate::definition::handle::{AttributeMap, stored};
use crate::definition::key::{Key, typed_keys};
use crate::value::Value;

macro_rules! reading {
    ($context:ident, $error:ty) => {
        impl<F> $context<F> {
            /// The keys of a map, in their order: those of an attribute map that have a value, or those of a
            /// channel map that have messages which nobody has taken. What this handler wrote is seen.
            ///
            /// # Errors
            ///
            /// If a stored key does not fit the type of the map's keys.
            #[expect(clippy::needless_pass_by_value, reason = "a handle is written where it is used")]
            pub fn keys<M: MapHandle<F>>(&self, map: M) -> Result<Vec<M::Key>, $error> {
                let (name, kind) = map.map();
                let keys = self.core.keys(&name, kind).into_iter().map(|key| (key, ()));
                let keys = typed_keys(name.as_str(), keys, |()| Ok(()))?;
                Ok(keys.into_iter().map(|(key, ())| key).collect())
            }

            /// The entries of an attribute map that have a value, in the order of the keys. What this handler
            /// wrote is seen.
            ///
            /// # Errors
            ///
            /// If a stored key or value does not fit its type.
            pub fn entries<K: Key, T: Value>(
                &self,
                map: AttributeMap<F, K, T>,
            ) -> Result<Vec<(K, T)>, $error> {
                let entries = self.core.entries(&stored(map.name()));
                Ok(typed_keys(map.name(), entries, |value| value.decode())?)
            }

            /// How many messages of the channel nobody has taken, those that this handler published included.
            #[expect(clippy::needless_pass_by_value, reason = "a handle is written where it is used")]
            pub fn size<C: ChannelHandle<F>>(&self, channel: C) -> Result<usize, $error> {
                Ok(self.core.size(&channel.slot()?))
            }

            /// The messages of the channel that nobody has taken, oldest first, those that this handler published
            /// included. They stay where they are.
            ///
            /// # Errors
            ///
            /// If a stored message does not fit its type.
            #[expect(clippy::needless_pass_by_value, reason = "a handle is written where it is used")]
            pub fn messages<C: ChannelHandle<F>>(&self, channel: C) -> Result<Vec<C::Value>, $error> {
                Ok(self.core.messages(&channel.slot()?)?)
            }
        }
    };
}

reading!(StepContext, StepError);
reading!(WaitContext, StepError);
reading!(RpcContext, RpcError);
