//! Types as they are written, for descriptions and messages.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use syn::{GenericArgument, PathArguments, Type};

/// The tokens as text, spaced as rustfmt would space a type.
pub(crate) fn text(tokens: &TokenStream) -> String {
    let mut text = String::new();
    write(&mut text, tokens);
    text
}

/// The type arguments of a path that ends in `name<…>`; none if it is anything else.
pub(crate) fn arguments<'a>(ty: &'a Type, name: &str) -> Vec<&'a Type> {
    let Type::Path(path) = ty else { return Vec::new() };
    let Some(last) = path.path.segments.last().filter(|last| last.ident == name) else { return Vec::new() };
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return Vec::new() };
    let types = arguments.args.iter().map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    types.collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// Whether the type is `name` and nothing more.
pub(crate) fn is_bare(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident(name))
}

fn write(text: &mut String, tokens: &TokenStream) {
    let mut joined = false;
    for token in tokens.clone() {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{ ", " }"),
                    Delimiter::None => ("", ""),
                };
                text.push_str(open);
                write(text, &group.stream());
                text.push_str(close);
            }
            TokenTree::Punct(punct) => {
                match punct.as_char() {
                    sign @ (',' | ';') => text.extend([sign, ' ']),
                    sign @ ('+' | '=') => text.extend([' ', sign, ' ']),
                    '-' if punct.spacing() == Spacing::Joint => text.push_str(" -"),
                    '>' if joined && text.ends_with('-') => text.push_str("> "),
                    other => text.push(other),
                }
                joined = punct.spacing() == Spacing::Joint;
                continue;
            }
            word @ (TokenTree::Ident(_) | TokenTree::Literal(_)) => {
                if text.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ')') {
                    text.push(' ');
                }
                text.push_str(&word.to_string());
            }
        }
        joined = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_read_as_written() {
        for written in [
            "String",
            "OneOf2<Approval, TimerFired>",
            "Vec<(usize, Option<&'static str>)>",
            "&mut StepContext<Self>",
            "[u8; 4]",
            "Box<dyn Fn(u8) -> ::std::string::String + Send>",
            "<Self as Flow>::Output",
            "()",
        ] {
            assert_eq!(text(&written.parse().unwrap()), written);
        }
    }
}
