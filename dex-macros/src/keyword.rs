//! `#[derive(Keyword)]` on enums of unit variants.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt as _;
use syn::{Data, DeriveInput, Fields};

use crate::attributes;
use crate::crate_path::CratePath;
use crate::diagnostics::Diagnostics;

/// Expands `#[derive(Keyword)] item`.
pub(crate) fn expand(item: TokenStream) -> TokenStream {
    let mut errors = Diagnostics::default();
    let input: Option<DeriveInput> = errors.note(syn::parse2(item));
    let mut tokens = input.map(|input| implementation(&input, &mut errors)).unwrap_or_default();
    tokens.extend(errors.into_compile_errors());
    tokens
}

fn implementation(input: &DeriveInput, errors: &mut Diagnostics) -> TokenStream {
    let Data::Enum(data) = &input.data else {
        errors.error(
            &input.ident,
            "`Keyword` is for enums of unit variants, whose names are what is searched by",
        );
        return TokenStream::new();
    };
    let (mut arms, mut back) = (Vec::new(), Vec::new());
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            errors.error(&variant.fields, "a keyword is a name alone: remove the variant's fields");
        }
        let (cfgs, ident, fields) =
            (attributes::cfgs(&variant.attrs), &variant.ident, pattern(&variant.fields));
        let text = ident.unraw().to_string();
        if fields.is_empty() {
            back.push(quote!(#(#cfgs)* #text => ::core::option::Option::Some(Self::#ident),));
        }
        arms.push(quote!(#(#cfgs)* Self::#ident #fields => #text,));
    }
    let private = CratePath::default().private();
    let ident = &input.ident;
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #impl_generics #private::Keyword for #ident #type_generics #where_clause {
            fn keyword(&self) -> &'static ::core::primitive::str {
                match *self { #(#arms)* }
            }

            fn from_keyword(
                keyword: &::core::primitive::str,
            ) -> ::core::option::Option<Self> {
                match keyword {
                    #(#back)*
                    _ => ::core::option::Option::None,
                }
            }
        }

        #[automatically_derived]
        impl #impl_generics #private::Indexable for #ident #type_generics #where_clause {}
    }
}

// A variant with fields is reported; the implementation is written all the same, for those who use it.
fn pattern(fields: &Fields) -> TokenStream {
    match fields {
        Fields::Unit => TokenStream::new(),
        Fields::Named(_) | Fields::Unnamed(_) => quote!({ .. }),
    }
}
