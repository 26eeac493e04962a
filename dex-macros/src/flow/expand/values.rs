//! The types of the flow's handles: that their keys and values can be stored, and whether stored ones fit.
//!
//! As with calls, a place in a table is the place in the definition.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::flow::model::{Flow, Handle, HandleKind};

/// A method, and whether it is about the handles of a kind.
type Method = (&'static str, fn(HandleKind) -> bool);

const VALUES: [Method; 3] = [
    ("fits_attribute", |kind| matches!(kind, HandleKind::Attribute { .. })),
    ("fits_channel", |kind| matches!(kind, HandleKind::Channel)),
    ("fits_stream", |kind| matches!(kind, HandleKind::Stream { .. })),
];

const KEYS: [Method; 2] = [
    ("fits_attribute_key", |kind| matches!(kind, HandleKind::Attribute { .. })),
    ("fits_channel_key", |kind| matches!(kind, HandleKind::Channel)),
];

/// The methods that say whether a value fits, and whether a key does if there are maps. They also are where a type
/// that cannot be stored is told.
pub(super) fn all(flow: &Flow) -> TokenStream {
    let of = |is_its: fn(HandleKind) -> bool| flow.handles.iter().filter(move |handle| is_its(handle.kind));
    let values = VALUES.iter().map(|(name, is_its)| method(flow, name, of(*is_its)));
    let keys = KEYS.iter().filter_map(|(name, is_its)| keys(flow, name, of(*is_its)));
    values.chain(keys).collect()
}

/// The methods about values for a flow that cannot be run.
pub(super) fn none(flow: &Flow) -> TokenStream {
    VALUES.iter().map(|(name, _)| method(flow, name, std::iter::empty())).collect()
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
                quote!(#(#cfgs)* ::core::option::Option::Some(<#key as #private::StoredKey>::fits))
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
