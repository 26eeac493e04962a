//! Collects the mistakes of one macro call, so that a user sees all of them in one compile.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// The mistakes found so far in one macro call.
///
/// Phases push here and carry on. Turning the collector into tokens is the only way to read it.
#[must_use = "an error nobody emits is a bug the user never sees"]
#[derive(Default)]
pub(crate) struct Diagnostics(Option<syn::Error>);

impl Diagnostics {
    /// Records a mistake that underlines all of `at`.
    pub(crate) fn error(&mut self, at: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(at, message));
    }

    /// Records a mistake at one token.
    pub(crate) fn error_at(&mut self, at: Span, message: impl Display) {
        self.push(syn::Error::new(at, message));
    }

    pub(crate) fn push(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(all) => all.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// The value, or nothing and the error noted.
    pub(crate) fn note<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Takes over what another one has collected.
    pub(crate) fn extend(&mut self, other: Self) {
        if let Some(errors) = other.0 {
            self.push(errors);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// One `compile_error!` for each mistake. They are legal beside any item, also inside an `impl`.
    pub(crate) fn into_compile_errors(self) -> TokenStream {
        self.0.map(|all| all.to_compile_error()).unwrap_or_default()
    }
}
