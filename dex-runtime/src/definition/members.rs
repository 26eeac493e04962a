//! Members of a flow, looked up by their stored names.

use std::fmt;

use super::describe::FlowDefinition;
use crate::error::{Error, ErrorKind};
use crate::suggest::{did_you_mean, list};

/// A kind of members that a caller can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemberKind {
    Attribute,
    Channel,
    Stream,
    Rpc,
    Step,
}

impl MemberKind {
    const ALL: [Self; 5] = [Self::Attribute, Self::Channel, Self::Stream, Self::Rpc, Self::Step];
}

impl fmt::Display for MemberKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Attribute => "attribute",
            Self::Channel => "channel",
            Self::Stream => "stream",
            Self::Rpc => "RPC",
            Self::Step => "step",
        })
    }
}

impl FlowDefinition {
    /// The stored names of the members of a kind, in the order written.
    fn names(&self, kind: MemberKind) -> Vec<&'static str> {
        match kind {
            MemberKind::Attribute => self.attributes.iter().map(|attribute| attribute.name).collect(),
            MemberKind::Channel => self.channels.iter().map(|channel| channel.name).collect(),
            MemberKind::Stream => self.streams.iter().map(|stream| stream.name).collect(),
            MemberKind::Rpc => self.rpcs.iter().map(|rpc| rpc.name).collect(),
            MemberKind::Step => self.steps.iter().map(|step| step.name).collect(),
        }
    }

    /// The stored name and the place of a member.
    pub(crate) fn member(&self, kind: MemberKind, name: &str) -> Result<(usize, &'static str), Error> {
        let found = match kind {
            MemberKind::Rpc => self.rpc(name).map(|(place, rpc)| (place, rpc.name)),
            MemberKind::Step => self.step(name).map(|(place, step)| (place, step.name)),
            MemberKind::Stream => self.stream(name).map(|(place, stream)| (place, stream.name)),
            MemberKind::Attribute => self.attribute(name).map(|(place, attribute)| (place, attribute.name)),
            MemberKind::Channel => self.channel(name).map(|(place, channel)| (place, channel.name)),
        };
        found.ok_or_else(|| self.unknown(kind, name))
    }

    /// The Rust type of the keys of the member at this place, if it is a map.
    pub(crate) fn key_type(&self, kind: MemberKind, place: usize) -> Option<&'static str> {
        match kind {
            MemberKind::Attribute => self.attributes.get(place)?.key,
            MemberKind::Channel => self.channels.get(place)?.key,
            MemberKind::Stream | MemberKind::Rpc | MemberKind::Step => None,
        }
    }

    /// Says that the flow has no such member, and which it has.
    pub(crate) fn unknown(&self, kind: MemberKind, name: &str) -> Error {
        let legal = self.names(kind);
        let other = MemberKind::ALL.into_iter().find(|other| self.names(*other).contains(&name));
        let hint = match other {
            Some(other @ (MemberKind::Channel | MemberKind::Stream | MemberKind::Step)) => {
                format!(", it is the name of a {other}")
            }
            Some(other) => format!(", it is the name of an {other}"),
            None => did_you_mean(name, &legal),
        };
        let known = match legal.as_slice() {
            [] => "it has none".to_owned(),
            [one] => format!("it has `{one}`"),
            several => format!("it has {}", list(several)),
        };
        let message = format!("flow `{}` has no {kind} `{name}`{hint}; {known}", self.name);
        Error::new(ErrorKind::UnknownName, message)
    }
}
