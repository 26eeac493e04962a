//! The source of a flow of any size, with what flows have in about the usual proportions.
//!
//! Of every twelve steps four wait (for a message, for a message or a timer, for several messages, for all of two), three have
//! options, every five steps share an input type, an attribute, a channel and an RPC.

use std::fmt::Write as _;

/// A flow to be written out.
#[derive(Clone, Copy)]
pub(crate) struct Flow {
    steps: usize,
    /// A number in one body, which an edit changes.
    edition: usize,
}

/// Steps that have an input type, an attribute, a channel and an RPC together.
const SHARE: usize = 5;

impl Flow {
    pub(crate) fn new(steps: usize) -> Self {
        Self { steps, edition: 0 }
    }

    /// The same flow after an edit in the body of a step.
    pub(crate) fn edited(self, edition: usize) -> Self {
        Self { edition, ..self }
    }

    /// The whole crate.
    pub(crate) fn source(self) -> String {
        self.under("#[flow(output = u64)]")
    }

    /// The whole crate with the flow left out before its macro is asked.
    pub(crate) fn left_out(self) -> String {
        self.under("#[cfg(any())]")
    }

    fn under(self, attribute: &str) -> String {
        let mut text = String::from(HEAD);
        for group in 0..self.groups() {
            text.push_str(&PARTS.replace("{g}", &group.to_string()));
        }
        text + attribute + "\n" + &self.block()
    }

    fn groups(self) -> usize {
        self.steps.div_ceil(SHARE)
    }

    fn block(self) -> String {
        let mut text = String::from("impl Work {\n");
        for group in 0..self.groups() {
            text.push_str(&HANDLES.replace("{g}", &group.to_string()));
        }
        for step in 0..self.steps {
            self.step(step, &mut text);
        }
        text.push_str(LAST);
        text.push_str("}\n");
        text
    }

    fn step(self, step: usize, text: &mut String) {
        let group = step / SHARE;
        let wait = Wait::of(step);
        if let Some(wait) = wait {
            let condition = wait.condition.replace("{g}", &group.to_string());
            let outcome = wait.outcome.replace("{g}", &group.to_string());
            let _ = write!(
                text,
                "\n    #[wait_for(step_{step})]\n    fn before_{step}(&self, _ctx: &WaitContext<Self>, _part: &Part{group}) \
                 -> WaitResult<Self, {outcome}> {{\n        Ok({condition})\n    }}\n"
            );
        }
        let outcome = wait.map_or_else(String::new, |wait| format!(", outcome: {}", wait.outcome));
        let outcome = outcome.replace("{g}", &group.to_string());
        let seen = if wait.is_some() { "        let _ = format!(\"{outcome:?}\");\n" } else { "" };
        // One of them is edited: the one in the middle.
        let limit = 1_000 + if step == self.steps / 2 { self.edition } else { 0 };
        let next = if step + 1 == self.steps {
            "Next::to(Self::FINISH, part.weight)".to_owned()
        } else {
            let (next, group) = (step + 1, (step + 1) / SHARE);
            format!(
                "Next::to(Self::STEP_{next}, Part{group} {{ id: part.id, weight: part.weight + 1, tags: part.tags }})"
            )
        };
        let options = options(step);
        let _ = write!(
            text,
            "\n    /// Does part {step} of the work.\n    #[step{options}]\n    async fn step_{step}(&self, ctx: &mut StepContext<Self>, \
             part: Part{group}{outcome}) -> StepResult<Self> {{\n{seen}        \
             let done = ctx.get(Self::DONE_{group})?.unwrap_or_default();\n        \
             self.service.call(ctx.idempotency_key(), &part.id).await?;\n        \
             if part.weight > {limit} {{\n            return Ok(Next::fail(\"too heavy\"));\n        }}\n        \
             ctx.set(Self::DONE_{group}, done + 1)?;\n        Ok({next})\n    }}\n"
        );
    }
}

fn options(step: usize) -> &'static str {
    match step {
        0 => "(start)",
        _ if step % 12 == 2 => "(retry(attempts = 5, total = \"1h\"))",
        _ if step % 12 == 5 => "(timeout = \"30s\", retry(initial = \"2s\", factor = 2))",
        _ if step % 12 == 8 => "(timeout = \"1m\", on_exhausted = park)",
        _ => "",
    }
}

/// What a step waits for. `{g}` is its group.
#[derive(Clone, Copy)]
struct Wait {
    outcome: &'static str,
    condition: &'static str,
}

impl Wait {
    fn of(step: usize) -> Option<Self> {
        let (outcome, condition) = match step % 12 {
            1 => ("Word{g}", "Wait::one(Self::WORDS_{g}.one())"),
            4 => (
                "OneOf2<Word{g}, TimerFired>",
                "Wait::any((Self::WORDS_{g}.one(), Timer::after(Duration::from_secs(3600))))",
            ),
            7 => ("Vec<Word{g}>", "Wait::one(Self::WORDS_{g}.n(3))"),
            10 => (
                "(Word{g}, TimerFired)",
                "Wait::all((Self::WORDS_{g}.one(), Timer::after(Duration::from_secs(60))))",
            ),
            _ => return None,
        };
        Some(Self { outcome, condition })
    }
}

const HEAD: &str = "//! Made to measure how long it takes to check.

use std::time::Duration;

use dex::prelude::*;
use serde::{Deserialize, Serialize};

pub struct Service;

impl Service {
    async fn call(&self, key: &str, id: &str) -> Result<(), std::io::Error> {
        let _ = (key, id);
        Ok(())
    }
}

pub struct Work {
    pub service: Service,
}

";

const PARTS: &str = "#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Part{g} {
    pub id: String,
    pub weight: u64,
    pub tags: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Word{g} {
    pub by: String,
}

";

const HANDLES: &str = "
    /// How much of group {g} is done.
    #[attribute]
    pub const DONE_{g}: Attribute<u64>;

    #[channel]
    pub const WORDS_{g}: Channel<Word{g}>;

    /// Says a word to group {g}.
    #[rpc]
    pub async fn say_{g}(&self, ctx: &mut RpcContext<Self>, by: String) -> RpcResult<u64> {
        ctx.publish(Self::WORDS_{g}, Word{g} { by })?;
        Ok(ctx.get(Self::DONE_{g})?.unwrap_or_default())
    }
";

const LAST: &str = "
    #[step]
    async fn finish(&self, weight: u64) -> StepResult<Self> {
        Ok(Next::complete(weight))
    }
";
