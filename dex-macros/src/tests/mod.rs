//! What the macros write, one snapshot for each generated thing, and what they do with unfinished code.
//!
//! `UPDATE_EXPECT=1 cargo test -p dex-macros` writes changed snapshots; read the difference.

mod bodies;
mod definition;
mod fallback;
mod handles;
mod hygiene;
mod keyword;
mod mistakes;
mod mutation;
mod pages;
mod rpcs;
mod rules;
mod schemas;
mod steps;

use expect_test::Expect;
use proc_macro2::{TokenStream, TokenTree};

/// The expansion of `#[flow(args)] item`.
fn expansion(args: &str, item: &str) -> TokenStream {
    crate::flow::expand(args.parse().unwrap(), &item.parse().unwrap())
}

/// Compares one item of the expansion, found by a part of its first line, with its snapshot.
fn check_part(args: &str, item: &str, first_line: &str, expected: &Expect) {
    let text = pretty(expansion(args, item));
    expected.assert_eq(&part(&text, first_line));
}

fn pretty(tokens: TokenStream) -> String {
    let text = tokens.to_string();
    match syn::parse2(tokens) {
        Ok(file) => prettyplease::unparse(&file),
        Err(error) => panic!("{error} in {text}"),
    }
}

/// The lines from the first that contains `first_line` to the one that closes it, moved to the left.
fn part(text: &str, first_line: &str) -> String {
    let mut lines = text.lines().skip_while(|line| !line.contains(first_line));
    let Some(first) = lines.next() else { panic!("no line with {first_line} in:\n{text}") };
    let indent = first.len() - first.trim_start().len();
    let mut part = format!("{}\n", &first[indent..]);
    if first.ends_with(';') {
        return part;
    }
    for line in lines {
        part.push_str(line.get(indent..).unwrap_or_default());
        part.push('\n');
        if line.len() > indent && !line[indent..].starts_with(' ') && line.ends_with(['}', ';']) {
            break;
        }
    }
    part
}

/// The messages of all `compile_error!`s in an expansion.
fn messages(tokens: TokenStream) -> Vec<String> {
    let mut messages = Vec::new();
    let mut after_name = false;
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => after_name = ident == "compile_error",
            TokenTree::Group(group) if after_name => {
                let text: syn::LitStr = syn::parse2(group.stream()).unwrap();
                messages.push(text.value());
                after_name = false;
            }
            TokenTree::Group(group) => messages.extend(self::messages(group.stream())),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    messages
}
