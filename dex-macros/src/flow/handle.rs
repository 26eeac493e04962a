//! `#[attribute]`, `#[channel]` and `#[stream]` on constants without a value.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::Parser as _;
use syn::spanned::Spanned as _;
use syn::{Attribute, LitStr, Meta, PathArguments};

use super::handle_type::{Typed, declared, mark_word, type_word, typed};
use super::member::{Raw, RawKind};
use super::model::{Handle, HandleKind, Member};
use crate::attributes::{self, Mark};
use crate::crate_path::CratePath;
use crate::diagnostics::Diagnostics;
use crate::names::{StoredName, generated_at};
use crate::options::{self, Given};

/// Reads a handle. The first part is the constant as it is given back, with the flow in its type and a value.
pub(crate) fn read(
    mark: Mark,
    attr: &Attribute,
    raw: Raw,
    krate: &CratePath,
    errors: &mut Diagnostics,
) -> (TokenStream, Option<Handle>) {
    let raw = not_static(raw, errors);
    let RawKind::Const { ident, rest } = &raw.kind else {
        errors.error(
            attr.path(),
            format_args!(
                "`#[{0}]` goes on a constant: `const NAME: {1}<T>;`",
                mark_word(mark),
                type_word(mark)
            ),
        );
        return (raw.into_token_stream(), None);
    };
    let options = read_options(mark, attr, errors);
    let declared = declared.parse2(rest.clone()).map_err(|_| {
        let message = format!("expected `const {ident}: {}<T>;`", type_word(mark));
        syn::Error::new(ident.span(), message)
    });
    match errors.note(declared).and_then(|ty| typed(mark, ty, errors)) {
        None => (TokenStream::new(), None),
        Some(typed) => complete(&options, &raw, ident, typed, krate, errors),
    }
}

/// A constant, where a `static` was written: that cannot stand in a block, as the compiler would say four times.
fn not_static(mut raw: Raw, errors: &mut Diagnostics) -> Raw {
    let RawKind::Other(tokens) = &raw.kind else { return raw };
    let mut tokens = tokens.clone().into_iter();
    if let (Some(TokenTree::Ident(word)), Some(TokenTree::Ident(ident))) = (tokens.next(), tokens.next())
        && word == "static"
    {
        errors.error(&word, format_args!("a handle is a constant: write `const {ident}`"));
        raw.kind = RawKind::Const { ident, rest: tokens.collect() };
    }
    raw
}

#[derive(Default)]
struct Options {
    indexed: Option<Span>,
    name: Option<LitStr>,
    alias: Option<LitStr>,
    capacity: Option<Given<u64>>,
}

fn read_options(mark: Mark, attr: &Attribute, errors: &mut Diagnostics) -> Options {
    let mut options = Options::default();
    let legal: &[&str] = match mark {
        Mark::Attribute => &["index", "name", "alias"],
        Mark::Stream => &["capacity", "name", "alias"],
        _ => &["name", "alias"],
    };
    let owner = format!("#[{}]", mark_word(mark));
    options::read_list(arguments(attr, errors), &owner, legal, errors, |name, setting, _| {
        match name {
            "index" => options.indexed = Some(setting.flag()?),
            "capacity" => options.capacity = Some(setting.size("1 MiB")?),
            "alias" => options.alias = Some(setting.text()?),
            _ => options.name = Some(setting.text()?),
        }
        Ok(())
    });
    options
}

/// What stands in the parentheses of an attribute.
pub(crate) fn arguments(attr: &Attribute, errors: &mut Diagnostics) -> TokenStream {
    match &attr.meta {
        Meta::Path(_) => TokenStream::new(),
        Meta::List(list) => list.tokens.clone(),
        Meta::NameValue(pair) => {
            let path = pair.path.to_token_stream();
            errors.error(pair, format_args!("options go in parentheses: `#[{path}(…)]`"));
            TokenStream::new()
        }
    }
}

fn complete(
    options: &Options,
    raw: &Raw,
    ident: &Ident,
    typed: Typed,
    krate: &CratePath,
    errors: &mut Diagnostics,
) -> (TokenStream, Option<Handle>) {
    let name = StoredName::of(ident, options.name.as_ref(), errors);
    let alias = options.alias.as_ref().map(|alias| StoredName::given(alias, errors));
    let capacity = options.capacity.map_or(CAPACITY_DEFAULT, |capacity| stream_capacity(capacity, errors));
    let Typed { mut path, is_of_the_value, kind, key, value } = typed;
    if let (Some(index), Some(_)) = (options.indexed, &key) {
        let message =
            "a map cannot have `index`: runs are searched by one value each, and a map has many; remove it";
        errors.error_at(index, message);
    }
    if !is_of_the_value
        && let Some(segment) = path.path.segments.last_mut()
        && let PathArguments::AngleBracketed(arguments) = &mut segment.arguments
    {
        arguments.args.insert(0, syn::parse_quote!(Self));
    }
    // What an alias stands for is known to the compiler alone, which tells at the type.
    let private = krate.private_at(generated_at(path.span()));
    let map = if key.is_some() { "Map" } else { "" };
    let ty = Ident::new(&format!("{}{map}", type_word(kind)), generated_at(ident.span()));
    let (attrs, vis, text) = (&raw.attrs, &raw.vis, &name.text);
    let more = (kind == Mark::Stream).then(|| {
        let alias = alias.iter().map(|alias| &alias.text);
        quote!(, &[#(#alias),*], #capacity)
    });
    let declared = if is_of_the_value { quote!(#private::#ty<Self, #value>) } else { quote!(#path) };
    let item = quote_spanned! {ident.span()=>
        #(#attrs)*
        #vis const #ident: #declared = #private::#ty::new(#text #more);
    };
    let member = Member {
        ident: ident.clone(),
        name,
        alias,
        vis: raw.vis.clone(),
        doc_attrs: attributes::doc_attrs(&raw.attrs),
        docs: attributes::docs(&raw.attrs),
        cfgs: attributes::cfgs(&raw.attrs),
    };
    let kind = match kind {
        Mark::Channel => HandleKind::Channel,
        Mark::Stream => HandleKind::Stream { capacity },
        _ => HandleKind::Attribute { indexed: options.indexed.is_some() },
    };
    (item, Some(Handle { member, kind, key, value }))
}

/// Bytes that a stream may hold if nothing is said: a long answer of a language model many times over, and a thousand
/// runs together fill a GiB at most.
const CAPACITY_DEFAULT: u64 = 1 << 20;

/// A smaller stream would have no room for an item of ordinary size.
const CAPACITY_MIN: u64 = 1 << 10;

/// As much as the state of a run may take: what is larger belongs in a blob store.
const CAPACITY_MAX: u64 = 64 << 20;

fn stream_capacity(capacity: Given<u64>, errors: &mut Diagnostics) -> u64 {
    if capacity.value < CAPACITY_MIN {
        errors
            .error_at(capacity.span, "a stream this small has no room for an item: give at least \"1 KiB\"");
    } else if capacity.value > CAPACITY_MAX {
        let message =
            "the stream of one run has at most \"64 MiB\": make it smaller, and keep larger output elsewhere";
        errors.error_at(capacity.span, message);
    }
    capacity.value
}
