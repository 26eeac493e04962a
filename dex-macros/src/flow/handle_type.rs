//! The type of a handle as the user wrote it: which kind it names, and the types in it.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::ParseStream;
use syn::{GenericArgument, Ident, PathArguments, PathSegment, Result, Token, Type, TypePath};

use crate::attributes::Mark;
use crate::diagnostics::Diagnostics;
use crate::source;

pub(super) fn mark_word(mark: Mark) -> &'static str {
    match mark {
        Mark::Channel => "channel",
        Mark::Stream => "stream",
        _ => "attribute",
    }
}

pub(super) fn type_word(mark: Mark) -> &'static str {
    match mark {
        Mark::Channel => "Channel",
        Mark::Stream => "Stream",
        _ => "Attribute",
    }
}

/// `: Attribute<T>;`, and the value that should not be there. Of a semicolon that is missing the compiler has told.
pub(super) struct Declared {
    ty: Type,
    value: Option<TokenStream>,
}

pub(super) fn declared(input: ParseStream<'_>) -> Result<Declared> {
    input.parse::<Token![:]>()?;
    let ty = input.parse()?;
    let value = if input.peek(Token![=]) { Some(input.parse()?) } else { None };
    if value.is_none() {
        input.parse::<Option<Token![;]>>()?;
    }
    Ok(Declared { ty, value })
}

/// The type as the user wrote it, the kind that it names, the `K` of a map, and the `T`.
pub(super) struct Typed {
    pub(super) path: TypePath,
    /// Whether the path is that of the value, where its handle's was meant.
    pub(super) is_of_the_value: bool,
    pub(super) kind: Mark,
    pub(super) key: Option<Type>,
    pub(super) value: Type,
}

/// What a name says by itself. The import may have any name, and then it says nothing.
#[derive(Clone, Copy)]
struct Known {
    kind: Mark,
    is_map: bool,
}

impl Known {
    fn of(name: &Ident) -> Option<Self> {
        let known = |kind, is_map| Some(Self { kind, is_map });
        match name.to_string().as_str() {
            "Attribute" => known(Mark::Attribute, false),
            "AttributeMap" => known(Mark::Attribute, true),
            "Channel" => known(Mark::Channel, false),
            "ChannelMap" => known(Mark::Channel, true),
            "Stream" => known(Mark::Stream, false),
            _ => None,
        }
    }
}

pub(super) fn typed(mark: Mark, declared: Declared, errors: &mut Diagnostics) -> Option<Typed> {
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
    let known = Known::of(&segment.ident);
    if known.is_none() && (segment.arguments.is_none() || is_a_value(&segment.ident)) {
        let written = source::text(&path.to_token_stream());
        errors.error(
            &path,
            format_args!("`#[{word}]` makes a handle for the value: write `{right}<{written}>`"),
        );
        let value = Type::Path(path.clone());
        return Some(Typed { path, is_of_the_value: true, kind: mark, key: None, value });
    }
    let kind = known.map_or(mark, |known| known.kind);
    if let Some(other) = known.filter(|known| known.kind != mark) {
        other_kind(mark, segment, other, errors);
    }
    let (key, value) = arguments(kind, segment, known, errors)?;
    Some(Typed { path, is_of_the_value: false, kind, key, value })
}

/// Whether it is a type that nobody gives a handle by an import. Any other name may be a handle's.
fn is_a_value(name: &Ident) -> bool {
    const VALUES: &[&str] = &[
        "Option", "String", "Vec", "VecDeque", "HashMap", "HashSet", "BTreeMap", "BTreeSet", "Box", "Arc",
        "Mutex",
    ];
    VALUES.iter().any(|value| name == value)
}

fn other_kind(mark: Mark, segment: &PathSegment, other: Known, errors: &mut Diagnostics) {
    let word = mark_word(mark);
    let a = if mark == Mark::Attribute { "an" } else { "a" };
    // There are no maps of streams.
    let (map, types) = if other.is_map && mark != Mark::Stream { ("Map", "<K, T>") } else { ("", "<T>") };
    let other = mark_word(other.kind);
    let right = format!("{}{map}", type_word(mark));
    errors.error(
        &segment.ident,
        format_args!("`#[{word}]` makes {a} `{right}`: write `{right}{types}` here, or `#[{other}]` above"),
    );
}

/// The `K`, if it is a map, and the `T`.
fn arguments(
    kind: Mark,
    segment: &PathSegment,
    known: Option<Known>,
    errors: &mut Diagnostics,
) -> Option<(Option<Type>, Type)> {
    let written = &segment.ident;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        let message = if known.is_some_and(|known| known.is_map) {
            format!(
                "expected `{written}<K, T>`, where `K` is the type of the keys and `T` that of the values"
            )
        } else {
            format!("expected `{written}<T>`, where `T` is the type of the value")
        };
        errors.error(segment, message);
        return None;
    };
    let types: Option<Vec<&Type>> = arguments
        .args
        .iter()
        .map(|argument| if let GenericArgument::Type(ty) = argument { Some(ty) } else { None })
        .collect();
    match (known.map(|known| known.is_map), types.unwrap_or_default().as_slice()) {
        (None | Some(false), [value]) => Some((None, (*value).clone())),
        (None | Some(true), [key, value]) if kind != Mark::Stream => {
            Some((Some((*key).clone()), (*value).clone()))
        }
        (Some(false), [key, _]) if kind != Mark::Stream && !is_self(key) => {
            errors.error(
                &arguments.args,
                format_args!(
                    "expected one type, that of the value: `{written}<T>`; for values with keys write `{written}Map<K, T>`"
                ),
            );
            None
        }
        (Some(true), _) => {
            errors.error(
                &arguments.args,
                format_args!(
                    "expected two types, those of the key and the value: `{written}<K, T>`; the macro adds the flow"
                ),
            );
            None
        }
        _ => {
            errors.error(
                &arguments.args,
                format_args!("expected one type, that of the value: `{written}<T>`; the macro adds the flow"),
            );
            None
        }
    }
}

fn is_self(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident("Self"))
}
