//! The types of the flow's handles: that their keys and values can be stored, and whether stored ones fit.
//!
//! As with calls, a place in a table is the place in the definition.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::flow::model::{Flow, Handle, HandleKind};

/// The methods that say whether a value fits, and whether a key does if there are maps. They also are where a type that cannot be stored is told.
pub(super) fn all(flow: &Flow) -> TokenStream {
    let attributes = flow.handles.iter().filter(|handle| is_attribute(handle));
    let channels = flow.handles.iter().filter(|handle| !is_attribute(handle));
    let keys = [
        keys(flow, "fits_attribute_key", attributes.clone()),
        keys(flow, "fits_channel_key", channels.clone()),
    ];
    let attributes = method(flow, "fits_attribute", attributes);
    let channels = method(flow, "fits_channel", channels);
    quote!(#attributes #channels #(#keys)*)
}

/// The first two methods for a flow that cannot be run.
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
        quote!(#(#cfgs)* #private::fits::<#value>)
    });
    quote! {
        fn #name(__dex_place: usize, __dex_value: &#private::Payload) -> #private::Fit {
            let __dex_table: &[fn(&#private::Payload) -> #private::Fit] = &[#(#entries),*];
            #private::fits_at(__dex_table, __dex_place, __dex_value)
        }
    }
}

/// The method that says whether a key fits. A flow without maps has the trait's own.
fn keys<'a>(
    flow: &Flow,
    name: &str,
    handles: impl Iterator<Item = &'a Handle> + Clone,
) -> Option<TokenStream> {
    handles.clone().find(|handle| handle.key.is_some())?;
    let private = flow.krate.private();
    let name = Ident::new(name, Span::call_site());
    let entries = handles.map(|handle| {
        let cfgs = &handle.member.cfgs;
        match &handle.key {
            None => quote!(#(#cfgs)* ::core::option::Option::None),
            Some(key) => {
                let key = super::without_self(flow, key);
                quote!(#(#cfgs)* ::core::option::Option::Some(#private::key_fits::<#key>))
            }
        }
    });
    Some(quote! {
        fn #name(
            __dex_place: usize,
            __dex_key: &::core::primitive::str,
        ) -> ::core::option::Option<::core::primitive::bool> {
            let __dex_table: &[::core::option::Option<#private::KeyFits>] = &[#(#entries),*];
            #private::key_fits_at(__dex_table, __dex_place, __dex_key)
        }
    })
}
