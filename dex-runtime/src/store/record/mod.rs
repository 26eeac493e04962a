//! Records: the bytes in which a run's transitions, its state and its rows are kept.
//!
//! Every record begins with two bytes, the format (how primitives are written) and the version (which
//! fields there are), and holds nothing after its last field. Enum tags are numbers written down in
//! `tag`, so that source may be reordered; a tag is never used again for something else.
//! Decoding takes any bytes whatever: it answers with a value or an error, and takes no more memory than
//! the bytes' own length calls for.
//!
//! What a record does not know: its key, its run's other records, and whether its events make sense.
//! `docs/on-disk.md` lists every record field by field.

mod bytes;
mod child;
mod condition;
mod ending;
mod event;
mod failure;
mod parts;
mod patch;
mod renamed;
mod row;
mod state;
mod stream;
mod tag;
mod transition;

#[cfg(test)]
pub(crate) mod arbitrary;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod golden_state;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod walk;

pub use self::condition::CONDITION_DEPTH_MAX;
pub use self::state::{decode_state, decode_state_renamed, encode_state};
pub(crate) use self::stream::largest_item;
pub use self::stream::{ItemOrigin, ItemRecord, decode_item, encode_item};
pub use self::transition::{decode_transition, decode_transition_renamed, encode_transition};

pub(super) use self::row::{
    decode_live, decode_snapshot_row, decode_summary, encode_live, encode_snapshot_row, encode_summary,
};
pub(super) use self::stream::{decode_head, encode_head};

use self::bytes::{ReadError, Reader, Writer};
use super::types::StoreError;
use crate::ids::Renamed;

/// Primitives as bincode 2 writes them in its standard configuration: little-endian, variable length.
const FORMAT_BINCODE: u8 = 1;

/// Begins a record.
fn begin(version: u8, capacity: usize) -> Writer {
    let mut out = Writer::with_capacity(capacity);
    out.byte(FORMAT_BINCODE);
    out.byte(version);
    out
}

static AS_WRITTEN: Renamed = Renamed::new();

/// Reads a record of which there is one version so far, from its first byte to its last.
fn read<T>(
    what: &'static str,
    version: u8,
    record: &[u8],
    body: impl FnOnce(&mut Reader<'_>) -> Result<T, ReadError>,
) -> Result<T, StoreError> {
    read_renamed(what, version, (record, &AS_WRITTEN), body)
}

/// As [`read`], with other names for what was written under old ones: they are replaced here, so that nobody else
/// ever sees an old one.
fn read_renamed<T>(
    what: &'static str,
    version: u8,
    (record, renamed): (&[u8], &Renamed),
    body: impl FnOnce(&mut Reader<'_>) -> Result<T, ReadError>,
) -> Result<T, StoreError> {
    let mut input = Reader::new(record, renamed);
    check_header(&mut input, version)
        .and_then(|()| body(&mut input))
        .and_then(|value| input.end().map(|()| value))
        .map_err(|error| StoreError::Unreadable { what: what.into(), reason: error.to_string() })
}

fn check_header(input: &mut Reader<'_>, version: u8) -> Result<(), ReadError> {
    let found = input.byte()?;
    if found != FORMAT_BINCODE {
        return Err(input.error(format!("record format {found} is not known to this build, which knows 1")));
    }
    let found = input.byte()?;
    if found != version {
        return Err(
            input.error(format!("record version {found} is not known to this build, which knows {version}"))
        );
    }
    Ok(())
}
