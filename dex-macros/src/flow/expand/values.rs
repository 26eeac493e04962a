//! The types of the flow's handles: that their values can be stored, and whether a stored one fits.
//!
//! As with calls, a place in a table is the place in the definition.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::flow::model::{Flow, Handle, HandleKind};

/// A method, and whether it is about the handles of a kind.
type Method = (&'static str, fn(HandleKind) -> bool);

const METHODS: [Method; 3] = [
    ("fits_attribute", |kind| matches!(kind, HandleKind::Attribute { .. })),
    ("fits_channel", |kind| matches!(kind, HandleKind::Channel)),
    ("fits_stream", |kind| matches!(kind, HandleKind::Stream { .. })),
];

/// The methods that say whether a value fits. They also are where a type that cannot be stored is told.
pub(super) fn all(flow: &Flow) -> TokenStream {
    let methods = METHODS
        .iter()
        .map(|(name, is_its)| method(flow, name, flow.handles.iter().filter(|handle| is_its(handle.kind))));
    methods.collect()
}

/// The same methods for a flow that cannot be run.
pub(super) fn none(flow: &Flow) -> TokenStream {
    METHODS.iter().map(|(name, _)| method(flow, name, std::iter::empty())).collect()
}

fn method<'a>(flow: &Flow, name: &str, handles: impl Iterator<Item = &'a Handle>) -> TokenStream {
    let private = flow.krate.private();
    let name = Ident::new(name, Span::call_site());
    let entries = handles.map(|handle| {
        let (cfgs, value) = (&handle.member.cfgs, super::without_self(flow, &handle.value));
        quote!(#(#cfgs)* #private::fits::<#value>)
    });
    quote! {
        fn #name(__dex_place: usize, __dex_value: &#private::Payload) -> #private::Fit {
            let __dex_table: &[fn(&#private::Payload) -> #private::Fit] = &[#(#entries),*];
            #private::fits_at(__dex_table, __dex_place, __dex_value)
        }
    }
}
