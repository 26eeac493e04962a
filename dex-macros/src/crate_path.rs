//! Where generated code finds the crate: `::dex`, or what `crate = …` says.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::Path;

/// The path of the facade crate.
#[derive(Clone, Default)]
pub(crate) struct CratePath {
    path: Option<Path>,
    /// Whether `crate = …` could not be read, so that the name may be any.
    unread: bool,
}

impl CratePath {
    pub(crate) fn given(path: Path) -> Self {
        Self { path: Some(path), unread: false }
    }

    /// The same of which it is not certain that it was read right.
    pub(crate) fn doubtful(self) -> Self {
        Self { unread: true, ..self }
    }

    /// The module that has all that generated code may name.
    pub(crate) fn private(&self) -> TokenStream {
        self.private_at(Span::call_site())
    }

    /// The same with a place, so that errors about what is named are shown there.
    pub(crate) fn private_at(&self, place: Span) -> TokenStream {
        let Some(path) = &self.path else { return quote_spanned!(place=> ::dex::__private) };
        quote_spanned!(place=> #path::__private)
    }

    /// Whether `#[name::step]` is an attribute of ours, written out.
    pub(crate) fn is_named(&self, name: &Ident) -> bool {
        let last = self.path.as_ref().and_then(|path| path.segments.last());
        self.unread || name == "dex" || last.is_some_and(|last| last.ident == *name)
    }
}
