//! `#[attribute]` and `#[channel]` on constants without a value.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, GenericArgument, LitStr, Meta, PathArguments, Result, Token, Type, TypePath};

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
    let declared = declared.parse2(rest.clone()).map_err(|_| {
        let message = format!("expected `const {ident}: {}<T>;`", type_word(mark));
        syn::Error::new(ident.span(), message)
    });
    match errors.note(declared).and_then(|ty| typed(mark, ty, errors)) {
        None => (TokenStream::new(), None),
        Some(typed) => complete(&options, &raw, ident, typed, krate, errors),
    }
}

fn mark_word(mark: Mark) -> &'static str {
    if mark == Mark::Channel { "channel" } else { "attribute" }
}

fn type_word(mark: Mark) -> &'static str {
    if mark == Mark::Channel { "Channel" } else { "Attribute" }
}

#[derive(Default)]
struct Options {
    indexed: bool,
    name: Option<LitStr>,
}

fn read_options(mark: Mark, attr: &Attribute, errors: &mut Diagnostics) -> Options {
    let mut options = Options::default();
    let legal: &[&str] = if mark == Mark::Attribute { &["index", "name"] } else { &["name"] };
    let owner = format!("#[{}]", mark_word(mark));
    options::read_list(arguments(attr, errors), &owner, legal, errors, |name, setting, _| {
        match name {
            "index" => options.indexed = setting.flag().map(|_| true)?,
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

/// `: Attribute<T>;`, and the value that should not be there.
struct Declared {
    ty: Type,
    value: Option<TokenStream>,
}

fn declared(input: ParseStream<'_>) -> Result<Declared> {
    input.parse::<Token![:]>()?;
    let ty = input.parse()?;
    let value = if input.peek(Token![=]) { Some(input.parse()?) } else { None };
    if value.is_none() {
        input.parse::<Token![;]>()?;
    }
    Ok(Declared { ty, value })
}

/// The type as the user wrote it, the kind that it names, and the `T`.
struct Typed {
    path: TypePath,
    is_channel: bool,
    value: Type,
}

fn typed(mark: Mark, declared: Declared, errors: &mut Diagnostics) -> Option<Typed> {
    let (word, right) = (mark_word(mark), type_word(mark));
    if let Some(value) = &declared.value {
        errors.error(
            value,
            format_args!("`#[{word}]` gives the constant its value: end it after the type, with `;`"),
        );
    }
    let Type::Path(path) = declared.ty else {
        errors.error(&declared.ty, format_args!("expected `{right}<T>`, where `T` is the type of the value"));
        return None;
    };
    let segment = path.path.segments.last()?;
    let written = segment.ident.to_string();
    // The import may have any name, so only a name that is certainly the other kind is wrong.
    let (a, other) = if mark == Mark::Channel { ("a", "Attribute") } else { ("an", "Channel") };
    let is_other = written == other;
    if is_other {
        let other_word = if mark == Mark::Channel { "attribute" } else { "channel" };
        errors.error(
            &segment.ident,
            format_args!(
                "`#[{word}]` makes {a} `{right}`: write `{right}<T>` here, or `#[{other_word}]` above"
            ),
        );
    }
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        errors.error(segment, format_args!("expected `{written}<T>`, where `T` is the type of the value"));
        return None;
    };
    let mut types = arguments.args.iter();
    let (Some(GenericArgument::Type(value)), None) = (types.next(), types.next()) else {
        errors.error(
            &arguments.args,
            format_args!("expected one type, that of the value: `{written}<T>`; the macro adds the flow"),
        );
        return None;
    };
    let value = value.clone();
    Some(Typed { path, is_channel: is_other != (mark == Mark::Channel), value })
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
    let Typed { mut path, is_channel, value } = typed;
    if let Some(segment) = path.path.segments.last_mut()
        && let PathArguments::AngleBracketed(arguments) = &mut segment.arguments
    {
        arguments.args.insert(0, syn::parse_quote!(Self));
    }
    let private = krate.private();
    let kind = Ident::new(if is_channel { "Channel" } else { "Attribute" }, generated_at(ident.span()));
    let (attrs, vis, text) = (&raw.attrs, &raw.vis, &name.text);
    let item = quote_spanned! {ident.span()=>
        #(#attrs)*
        #vis const #ident: #path = #private::#kind::new(#text);
    };
    let member = Member {
        ident: ident.clone(),
        name,
        alias: None,
        vis: raw.vis.clone(),
        doc_attrs: attributes::doc_attrs(&raw.attrs),
        docs: attributes::docs(&raw.attrs),
        cfgs: attributes::cfgs(&raw.attrs),
    };
    let kind =
        if is_channel { HandleKind::Channel } else { HandleKind::Attribute { indexed: options.indexed } };
    (item, Some(Handle { member, kind, value }))
}
