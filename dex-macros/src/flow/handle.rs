//! `#[attribute]` and `#[channel]` on constants without a value.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::parse::Parser as _;
use syn::{Attribute, LitStr, Meta, PathArguments};

use super::handle_type::{Declared, Typed, declared, mark_word, type_word, typed};
use super::member::{Raw, RawKind};
use super::model::{Handle, HandleKind, Member};
use crate::attributes::{self, Mark};
use crate::crate_path::CratePath;
use crate::diagnostics::Diagnostics;
use crate::names::{StoredName, generated_at};
use crate::options;

/// Reads a handle. The first part is the constant as it is given back, with the flow in its type and a value.
pub(crate) fn read(
    mark: Mark,
    attr: &Attribute,
    raw: Raw,
    krate: &CratePath,
    errors: &mut Diagnostics,
) -> (TokenStream, Option<Handle>) {
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
    let declared: Option<Declared> = errors.note(declared.parse2(rest.clone()));
    match declared.and_then(|ty| typed(mark, ty, errors)) {
        None => (TokenStream::new(), None),
        Some(typed) => complete(&options, &raw, ident, typed, krate, errors),
    }
}

#[derive(Default)]
struct Options {
    indexed: Option<Span>,
    name: Option<LitStr>,
    alias: Option<LitStr>,
}

fn read_options(mark: Mark, attr: &Attribute, errors: &mut Diagnostics) -> Options {
    let mut options = Options::default();
    let legal: &[&str] =
        if mark == Mark::Attribute { &["index", "name", "alias"] } else { &["name", "alias"] };
    let owner = format!("#[{}]", mark_word(mark));
    options::read_list(arguments(attr, errors), &owner, legal, errors, |name, setting, _| {
        match name {
            "index" => options.indexed = Some(setting.flag()?),
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
    let Typed { mut path, is_channel, key, value } = typed;
    if let (Some(index), Some(_)) = (options.indexed, &key) {
        let message =
            "a map cannot have `index`: runs are searched by one value each, and a map has many; remove it";
        errors.error_at(index, message);
    }
    if let Some(segment) = path.path.segments.last_mut()
        && let PathArguments::AngleBracketed(arguments) = &mut segment.arguments
    {
        arguments.args.insert(0, syn::parse_quote!(Self));
    }
    let private = krate.private();
    let kind = match (is_channel, &key) {
        (false, None) => "Attribute",
        (false, Some(_)) => "AttributeMap",
        (true, None) => "Channel",
        (true, Some(_)) => "ChannelMap",
    };
    let kind = Ident::new(kind, generated_at(ident.span()));
    let (attrs, vis, text) = (&raw.attrs, &raw.vis, &name.text);
    let item = quote_spanned! {ident.span()=>
        #(#attrs)*
        #vis const #ident: #path = #private::#kind::new(#text);
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
    let kind = if is_channel {
        HandleKind::Channel
    } else {
        HandleKind::Attribute { indexed: options.indexed.is_some() }
    };
    (item, Some(Handle { member, kind, key, value }))
}
