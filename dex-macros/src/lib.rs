//! The macros of `dex`: tokens in, tokens out. They are documented where the `dex` crate re-exports them.
//!
//! Everything works on `proc_macro2` tokens and is tested so; the functions here only convert.

#![expect(missing_docs, reason = "the documentation is on the re-exports, where examples can use `dex`")]

mod attributes;
mod crate_path;
mod diagnostics;
mod duration;
mod flow;
mod keyword;
mod names;
mod options;
mod size;
mod source;
mod stray;
mod suggest;
#[cfg(test)]
#[expect(clippy::needless_raw_string_hashes, reason = "the snapshots are written by expect-test")]
mod tests;

use proc_macro::TokenStream;

#[proc_macro_attribute]
pub fn flow(args: TokenStream, item: TokenStream) -> TokenStream {
    crate::flow::expand(args.into(), &item.into()).into()
}

#[proc_macro_attribute]
pub fn attribute(_args: TokenStream, item: TokenStream) -> TokenStream {
    stray::expand("attribute", item.into()).into()
}

#[proc_macro_attribute]
pub fn channel(_args: TokenStream, item: TokenStream) -> TokenStream {
    stray::expand("channel", item.into()).into()
}

#[proc_macro_attribute]
pub fn stream(_args: TokenStream, item: TokenStream) -> TokenStream {
    stray::expand("stream", item.into()).into()
}

#[proc_macro_attribute]
pub fn step(_args: TokenStream, item: TokenStream) -> TokenStream {
    stray::expand("step", item.into()).into()
}

#[proc_macro_attribute]
pub fn wait_for(_args: TokenStream, item: TokenStream) -> TokenStream {
    stray::expand("wait_for", item.into()).into()
}

#[proc_macro_attribute]
pub fn rpc(_args: TokenStream, item: TokenStream) -> TokenStream {
    stray::expand("rpc", item.into()).into()
}

#[proc_macro_attribute]
pub fn on_timeout(_args: TokenStream, item: TokenStream) -> TokenStream {
    stray::expand("on_timeout", item.into()).into()
}

#[proc_macro_attribute]
pub fn on_cancel(_args: TokenStream, item: TokenStream) -> TokenStream {
    stray::expand("on_cancel", item.into()).into()
}

#[proc_macro_derive(Keyword)]
pub fn keyword(item: TokenStream) -> TokenStream {
    keyword::expand(item.into()).into()
}
