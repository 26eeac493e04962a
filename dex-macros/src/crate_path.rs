//! Where generated code finds the crate: `::dex`, or what `crate = …` says.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::Path;

/// The path of the facade crate.
#[derive(Clone, Default)]
pub(crate) struct CratePath(Option<Path>);

impl CratePath {
    pub(crate) fn given(path: Path) -> Self {
        Self(Some(path))
    }

    /// The module that has all that generated code may name.
    pub(crate) fn private(&self) -> TokenStream {
        self.private_at(Span::call_site())
    }

    /// The same with a place, so that errors about what is named are shown there.
    pub(crate) fn private_at(&self, place: Span) -> TokenStream {
        let Some(path) = &self.0 else { return quote_spanned!(place=> ::dex::__private) };
        quote_spanned!(place=> #path::__private)
    }

    /// The last name of the path, with which attributes may be written out: `#[dex::step]`.
    pub(crate) fn name(&self) -> String {
        let last = self.0.as_ref().and_then(|path| path.segments.last());
        last.map_or_else(|| "dex".to_owned(), |segment| segment.ident.to_string())
    }
}
