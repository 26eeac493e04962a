//! How the parts of a description that are no names look when they are serialised.

use std::time::Duration;

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use crate::engine::RetryPolicy;

/// Whole milliseconds, since that is what every tool can read.
#[expect(clippy::ref_option, reason = "serde gives the field as it is")]
pub(super) fn milliseconds<S: Serializer>(
    duration: &Option<Duration>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    duration.map(to_milliseconds).serialize(serializer)
}

/// `initial_ms`, `factor`, `max_interval_ms`, `attempts`, `total_ms`; `null` for no limit.
pub(super) fn retry<S: Serializer>(retry: &RetryPolicy, serializer: S) -> Result<S::Ok, S::Error> {
    let RetryPolicy { initial, factor, max_interval, attempts, total } = retry;
    let mut fields = serializer.serialize_struct("RetryPolicy", 5)?;
    fields.serialize_field("initial_ms", &to_milliseconds(*initial))?;
    fields.serialize_field("factor", factor)?;
    fields.serialize_field("max_interval_ms", &to_milliseconds(*max_interval))?;
    fields.serialize_field("attempts", attempts)?;
    fields.serialize_field("total_ms", &total.map(to_milliseconds))?;
    fields.end()
}

fn to_milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
