//! Orders as they come in: one JSON object a line, some of them wrong.
//!
//! A wrong line costs only itself. It is kept with its number and the reason, and the others go on.

use std::collections::HashMap;
use std::io::{self, BufRead, Read};

use dex::{FlowId, IdError};
use serde::Deserialize;

use crate::shop::{Conduct, Fate, Order};

/// Longest line, in bytes. Orders take a few hundred; without a bound, one file without line ends would
/// fill the memory.
pub(crate) const LINE_BYTES_MAX: usize = 64 * 1024;

/// What came in.
#[derive(Debug, Default)]
pub(crate) struct Intake {
    pub(crate) orders: Vec<Incoming>,
    pub(crate) bad_lines: Vec<BadLine>,
}

/// One order, and what the make-believe world will do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Incoming {
    pub(crate) order: Order,
    pub(crate) fate: Fate,
    pub(crate) seller: Seller,
}

/// What the seller will do about an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Seller {
    ApprovesAfterMs(u64),
    DeclinesAfterMs(u64),
    NeverAnswers,
}

impl Default for Seller {
    fn default() -> Self {
        Self::ApprovesAfterMs(100)
    }
}

/// A line that is not an order.
#[derive(Debug)]
pub(crate) struct BadLine {
    /// Counted from 1.
    pub(crate) number: usize,
    pub(crate) reason: Reason,
}

/// Why a line is not an order.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Reason {
    #[error("not an order: {what} (column {column})")]
    NotAnOrder { what: String, column: usize },
    #[error("longer than {LINE_BYTES_MAX} bytes")]
    TooLong,
    #[error("`id` cannot be used: {0}")]
    Id(#[from] IdError),
    #[error("`id` {id:?} was given in line {first} already")]
    SecondOfItsId { id: String, first: usize },
    #[error("`cents` is 0: there is nothing to charge")]
    Free,
    #[error("`items` is empty: there is nothing to ship")]
    Empty,
}

impl From<serde_json::Error> for Reason {
    fn from(error: serde_json::Error) -> Self {
        let text = error.to_string();
        // It calls every line "line 1", which would only confuse beside the real number.
        let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what).to_owned();
        Self::NotAnOrder { what, column: error.column() }
    }
}

#[derive(Deserialize)]
struct Line {
    id: String,
    email: String,
    cents: u64,
    items: Vec<String>,
    #[serde(default)]
    card: Conduct,
    #[serde(default)]
    shipment: Conduct,
    #[serde(default)]
    seller: Seller,
}

/// Reads orders up to the end of `source`. Empty lines count, and mean nothing.
///
/// # Errors
///
/// Only if the source itself cannot be read.
pub(crate) fn read_orders(mut source: impl BufRead) -> io::Result<Intake> {
    let mut intake = Intake::default();
    let mut first_lines = HashMap::new();
    let mut bytes = Vec::new();
    for number in 1.. {
        bytes.clear();
        // One more than the limit shows that a line is over it.
        if source.by_ref().take(LINE_BYTES_MAX as u64 + 1).read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
        let order = if bytes.len() > LINE_BYTES_MAX {
            if bytes.last() != Some(&b'\n') {
                source.skip_until(b'\n')?;
            }
            Err(Reason::TooLong)
        } else if bytes.trim_ascii().is_empty() {
            continue;
        } else {
            parse(&bytes).and_then(|order| only_once(order, number, &mut first_lines))
        };
        match order {
            Ok(order) => intake.orders.push(order),
            Err(reason) => intake.bad_lines.push(BadLine { number, reason }),
        }
    }
    Ok(intake)
}

fn parse(bytes: &[u8]) -> Result<Incoming, Reason> {
    let line: Line = serde_json::from_slice(bytes)?;
    // The order's id is the flow's id; the same check is made by `start`, but here the line is known.
    FlowId::new(&line.id)?;
    if line.cents == 0 {
        return Err(Reason::Free);
    }
    if line.items.is_empty() {
        return Err(Reason::Empty);
    }
    Ok(Incoming {
        order: Order { id: line.id, email: line.email, cents: line.cents },
        fate: Fate { card: line.card, shipment: line.shipment },
        seller: line.seller,
    })
}

fn only_once(
    incoming: Incoming,
    number: usize,
    first_lines: &mut HashMap<String, usize>,
) -> Result<Incoming, Reason> {
    let id = &incoming.order.id;
    let first = *first_lines.entry(id.clone()).or_insert(number);
    if first == number { Ok(incoming) } else { Err(Reason::SecondOfItsId { id: id.clone(), first }) }
}
