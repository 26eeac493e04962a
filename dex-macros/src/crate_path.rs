//! Where generated code finds the crate: `::dex`, or what `crate = …` says.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
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
        match &self.0 {
            Some(path) => {
                let path = path.to_token_stream();
                quote!(#path::__private)
            }
            None => quote!(::dex::__private),
        }
    }

    /// The last name of the path, with which attributes may be written out: `#[dex::step]`.
    pub(crate) fn name(&self) -> String {
        let last = self.0.as_ref().and_then(|path| path.segments.last());
        last.map_or_else(|| "dex".to_owned(), |segment| segment.ident.to_string())
    }
}
