//! Limits: each says the field, the size and the limit, in the same words in every direction; nothing is changed, and
//! nothing is tried again.
#![cfg(test)]

#[path = "../support/mod.rs"]
mod support;

mod state;
mod values;

use dex::prelude::*;

/// A child.
struct Small;

#[flow(output = String)]
impl Small {
    #[attribute]
    const TEXT: Attribute<String>;

    #[step(start)]
    async fn begin(&self, input: String) -> StepResult<Self> {
        Ok(Next::complete(input))
    }
}
