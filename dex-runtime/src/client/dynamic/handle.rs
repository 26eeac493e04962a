//! Attributes and channels by their names, and entries of maps by their keys.

use super::checked;
use crate::definition::{MemberKind, Registered};
use crate::engine::MapKind;
use crate::error::{Error, ErrorKind, Result};
use crate::ids::{MapKey, Name, Slot};
use crate::value::{Payload, ValueError};

use serde_json::Value as Json;

/// What a caller by name speaks of: `"STATUS"`, or an entry of a map, `("SCORES", "ada")`.
///
/// The key is the text that the typed key [encodes](crate::definition::Key::encode) to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DynHandle<'a> {
    name: &'a str,
    key: Option<&'a str>,
}

impl<'a> From<&'a str> for DynHandle<'a> {
    fn from(name: &'a str) -> Self {
        Self { name, key: None }
    }
}

impl<'a> From<&'a String> for DynHandle<'a> {
    fn from(name: &'a String) -> Self {
        Self { name, key: None }
    }
}

impl<'a> From<(&'a str, &'a str)> for DynHandle<'a> {
    fn from((name, key): (&'a str, &'a str)) -> Self {
        Self { name, key: Some(key) }
    }
}

impl DynHandle<'_> {
    /// Its place in the definition, and where it is in a run.
    fn find(self, flow: &Registered, kind: MemberKind) -> Result<(usize, Slot)> {
        let (place, name) = flow.flow.definition().member(kind, self.name)?;
        let key = match (self.key, flow.flow.definition().key_type(kind, place)) {
            (None, None) => None,
            (Some(key), Some(key_type)) => Some(checked_key(flow, kind, place, (name, key, key_type))?),
            (None, Some(_)) => {
                let message = format!(
                    "{kind} `{name}` of flow `{}` is a map: say which entry, (`{name}`, key)",
                    flow.name
                );
                return Err(Error::new(ErrorKind::UnknownName, message));
            }
            (Some(key), None) => {
                let message =
                    format!("{kind} `{name}` of flow `{}` is no map: it has no entry `{key}`", flow.name);
                return Err(Error::new(ErrorKind::UnknownName, message));
            }
        };
        Ok((place, Slot { name: Name::new(name)?, key }))
    }

    /// Where it is in a run.
    pub(super) fn slot(self, flow: &Registered, kind: MemberKind) -> Result<Slot> {
        Ok(self.find(flow, kind)?.1)
    }

    /// Where it is in a run, and a value for it, if the flow has the one and the other fits.
    pub(super) fn with(self, flow: &Registered, kind: MemberKind, value: &Json) -> Result<(Slot, Payload)> {
        let (place, slot) = self.find(flow, kind)?;
        let what = match kind {
            MemberKind::Channel => format!("the message for channel `{slot}`"),
            MemberKind::Stream => format!("the item for stream `{slot}`"),
            MemberKind::Attribute | MemberKind::Rpc | MemberKind::Step => {
                format!("the value of {kind} `{slot}`")
            }
        };
        let value = checked(value, &what, |value| flow.flow.fits_member(kind, place, value))?;
        Ok((slot, value))
    }
}

/// The stored name of a map, and what its keys are.
pub(super) fn map(flow: &Registered, kind: MapKind, name: &str) -> Result<Name> {
    let member = match kind {
        MapKind::Attribute => MemberKind::Attribute,
        MapKind::Channel => MemberKind::Channel,
    };
    let (place, name) = flow.flow.definition().member(member, name)?;
    if flow.flow.definition().key_type(member, place).is_none() {
        let message = format!("{member} `{name}` of flow `{}` is no map: it has no keys", flow.name);
        return Err(Error::new(ErrorKind::UnknownName, message));
    }
    Ok(Name::new(name)?)
}

/// The key of an entry, if the map has such keys.
fn checked_key(
    flow: &Registered,
    kind: MemberKind,
    place: usize,
    (map, key, key_type): (&'static str, &str, &str),
) -> Result<MapKey> {
    let checked = MapKey::new(key).map_err(|reason| ValueError::InvalidKey { map, reason })?;
    if flow.flow.fits_key(kind, place, key) == Some(false) {
        let message = format!("the key of an entry of `{map}` does not fit type `{key_type}`: {key:?}");
        return Err(Error::new(ErrorKind::InvalidValue, message));
    }
    Ok(checked)
}
