//! `#[attribute]`, `#[channel]` and `#[stream]` on constants without a value.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, GenericArgument, LitStr, Meta, PathArguments, Result, Token, Type, TypePath};

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
    match errors.note(declared.parse2(rest.clone())).and_then(|ty| typed(mark, ty, errors)) {
        None => (TokenStream::new(), None),
        Some(typed) => complete(&options, &raw, ident, typed, krate, errors),
    }
}

/// The kinds of handles: the mark, its word, and the type with its article.
const KINDS: [(Mark, &str, &str, &str); 3] = [
    (Mark::Attribute, "attribute", "an", "Attribute"),
    (Mark::Channel, "channel", "a", "Channel"),
    (Mark::Stream, "stream", "a", "Stream"),
];

fn mark_word(mark: Mark) -> &'static str {
    KINDS.iter().find(|kind| kind.0 == mark).map_or("attribute", |kind| kind.1)
}

fn type_word(mark: Mark) -> &'static str {
    KINDS.iter().find(|kind| kind.0 == mark).map_or("Attribute", |kind| kind.3)
}

#[derive(Default)]
struct Options {
    indexed: bool,
    name: Option<LitStr>,
    alias: Option<LitStr>,
    capacity: Option<Given<u64>>,
}

fn read_options(mark: Mark, attr: &Attribute, errors: &mut Diagnostics) -> Options {
    let mut options = Options::default();
    let legal: &[&str] = match mark {
        Mark::Attribute => &["index", "name"],
        Mark::Stream => &["capacity", "name", "alias"],
        _ => &["name"],
    };
    let owner = format!("#[{}]", mark_word(mark));
    options::read_list(arguments(attr, errors), &owner, legal, errors, |name, setting, _| {
        match name {
            "index" => options.indexed = setting.flag().map(|_| true)?,
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
    kind: Mark,
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
    // The import may have any name, so only a name that is certainly another kind is wrong.
    let other = KINDS.iter().find(|kind| kind.0 != mark && kind.3 == written);
    if let Some((_, other_word, ..)) = other {
        let a = KINDS.iter().find(|kind| kind.0 == mark).map_or("a", |kind| kind.2);
        errors.error(
            &segment.ident,
            format_args!(
                "`#[{word}]` makes {a} `{right}`: write `{right}<T>` here, or `#[{other_word}]` above"
            ),
        );
    }
    let kind = other.map_or(mark, |kind| kind.0);
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
    Some(Typed { path, kind, value })
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
    let Typed { mut path, kind, value } = typed;
    let alias = options.alias.as_ref().map(|alias| StoredName::given(alias, errors));
    let capacity = options.capacity.map_or(CAPACITY_DEFAULT, |capacity| stream_capacity(capacity, errors));
    if let Some(segment) = path.path.segments.last_mut()
        && let PathArguments::AngleBracketed(arguments) = &mut segment.arguments
    {
        arguments.args.insert(0, syn::parse_quote!(Self));
    }
    let private = krate.private();
    let ty = Ident::new(type_word(kind), generated_at(ident.span()));
    let (attrs, vis, text) = (&raw.attrs, &raw.vis, &name.text);
    let more = (kind == Mark::Stream).then(|| {
        let alias = alias.iter().map(|alias| &alias.text);
        quote!(, &[#(#alias),*], #capacity)
    });
    let item = quote_spanned! {ident.span()=>
        #(#attrs)*
        #vis const #ident: #path = #private::#ty::new(#text #more);
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
        _ => HandleKind::Attribute { indexed: options.indexed },
    };
    (item, Some(Handle { member, kind, value }))
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
