//! `#[flow]` on an `impl` block: tokens in, the block and what makes it a flow out.
//!
//! ```text
//! tokens ─ parse ─▶ model ─ check ─▶ the same model, known to be sound ─ expand ─▶ tokens
//! ```
//!
//! Each phase notes mistakes and carries on. The block is always given back; if there was a mistake, the
//! type is a flow all the same, only one that cannot be run, so that the rest of the program compiles.
//! This folder knows names of the runtime, and none of its rules.

mod check;
mod expand;
mod graph;
mod handle;
mod handle_type;
mod handler;
mod member;
mod mistaken;
mod model;
mod parse;
mod signature;
mod step;

use proc_macro2::TokenStream;

use self::expand::Soundness;
pub(crate) use self::member::complete_alone;
use crate::diagnostics::Diagnostics;

/// Expands `#[flow(args)] item`.
pub(crate) fn expand(args: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Diagnostics::default();
    let parse::Parsed { item: mut tokens, flow } = parse::flow(args, item, &mut errors);
    if let Some(mut flow) = flow {
        let repeated = check::flow(&mut flow, &mut errors);
        let sound = errors.is_empty() && !repeated;
        if sound {
            // Another mistake may have hidden a path. These hide nothing: the flow is whole without them.
            check::lead_everywhere(&flow, &mut errors);
            check::mean_something(&flow, &mut errors);
        }
        tokens.extend(expand::flow(&flow, if sound { Soundness::Sound } else { Soundness::Unsound }));
    }
    tokens.extend(errors.into_compile_errors());
    tokens
}
