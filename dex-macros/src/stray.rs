//! `#[step]` and its like where there is no `#[flow]` around them.

use proc_macro2::{Span, TokenStream};

use crate::diagnostics::Diagnostics;
use crate::flow;

/// Gives the item back, with the one mistake that it stands alone.
pub(crate) fn expand(word: &str, item: TokenStream) -> TokenStream {
    let mut errors = Diagnostics::default();
    errors.error_at(
        Span::call_site(),
        format_args!("`#[{word}]` means something only inside an `impl` block with `#[flow]`: put `#[flow]` on the block"),
    );
    let mut tokens = flow::complete_alone(word, item);
    tokens.extend(errors.into_compile_errors());
    tokens
}
