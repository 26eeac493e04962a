//! Figures, as one line of JSON.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::arguments::{StoreKind, Workload};

/// What came out of one workload.
pub(crate) struct Figures(Map<String, Value>);

impl Figures {
    pub(crate) fn of(workload: Workload, store: StoreKind) -> Self {
        let mut figures = Self(Map::new());
        figures.0.insert("workload".into(), workload.to_string().into());
        figures.0.insert("store".into(), store.name().into());
        figures
    }

    /// A count.
    pub(crate) fn count(mut self, name: &str, count: usize) -> Self {
        self.0.insert(name.into(), count.into());
        self
    }

    /// A figure, to three digits or so.
    pub(crate) fn figure(mut self, name: &str, figure: f64) -> Self {
        let scale = if figure.abs() >= 100.0 { 1.0 } else { 1_000.0 };
        self.0.insert(name.into(), ((figure * scale).round() / scale).into());
        self
    }

    /// A time, in microseconds.
    pub(crate) fn micros(self, name: &str, time: Duration) -> Self {
        self.figure(name, time.as_secs_f64() * 1e6)
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Value::Object(self.0.clone()))
    }
}

/// The value below which `share` of all are. Sorts them.
pub(crate) fn percentile(times: &mut [Duration], share: f64) -> Duration {
    times.sort_unstable();
    let place = (times.len() as f64 * share).ceil() as usize;
    times[place.clamp(1, times.len()) - 1]
}
