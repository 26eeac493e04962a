//! The types of the flow's handles: that their values can be stored, and whether a stored one fits.
//!
//! As with calls, a place in a table is the place in the definition.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::flow::model::{Flow, Handle, HandleKind};

/// The two methods that say whether a value fits. They also are where a type that cannot be stored is told.
pub(super) fn all(flow: &Flow) -> TokenStream {
    let attributes = flow.handles.iter().filter(|handle| is_attribute(handle));
    let channels = flow.handles.iter().filter(|handle| !is_attribute(handle));
    let attributes = method(flow, "fits_attribute", attributes);
    let channels = method(flow, "fits_channel", channels);
    quote!(#attributes #channels)
}

/// The same two methods for a flow that cannot be run.
pub(super) fn none(flow: &Flow) -> TokenStream {
    let attributes = method(flow, "fits_attribute", std::iter::empty());
    let channels = method(flow, "fits_channel", std::iter::empty());
    quote!(#attributes #channels)
}

fn is_attribute(handle: &Handle) -> bool {
    matches!(handle.kind, HandleKind::Attribute { .. })
}

fn method<'a>(flow: &Flow, name: &str, handles: impl Iterator<Item = &'a Handle>) -> TokenStream {
    let private = flow.krate.private();
    let name = Ident::new(name, Span::call_site());
    let entries = handles.map(|handle| {
        let (cfgs, value) = (&handle.member.cfgs, super::without_self(flow, &handle.value));
        quote!(#(#cfgs)* <#value as #private::Stored>::fits)
    });
    quote! {
        fn #name(__dex_place: usize, __dex_value: &#private::Payload) -> #private::Fit {
            let __dex_table: &[fn(&#private::Payload) -> #private::Fit] = &[#(#entries),*];
            #private::fits_at(__dex_table, __dex_place, __dex_value)
        }
    }
}
