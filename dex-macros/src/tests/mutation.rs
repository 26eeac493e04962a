//! Every flow of the examples and of the cases that must compile, with one token missing, doubled, or all after
//! it gone: what somebody has before them while typing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use super::messages;

/// One use of a macro: the options in the attribute, and the item.
struct Use {
    file: String,
    args: TokenStream,
    item: TokenStream,
}

/// Places in the tree where flows are.
const FOLDERS: [&str; 2] = ["ui-tests/tests/pass", "examples"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn uses() -> Vec<Use> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut paths = Vec::new();
    for folder in FOLDERS {
        sources(&root.join(folder), &mut paths);
    }
    let mut uses = Vec::new();
    for path in paths {
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        // Without the feature its one option is a mistake.
        if file == "schemas.rs" && !cfg!(feature = "schemars") {
            continue;
        }
        collect(&file, fs::read_to_string(&path).unwrap().parse().unwrap(), &mut uses);
    }
    assert!(uses.len() > 15, "{} flows were found", uses.len());
    for word in ["AttributeMap", "ChannelMap", "Stream", "SubFlow", "StepOptions"] {
        let is_used = |each: &Use| has_word(each.item.clone(), word);
        assert!(uses.iter().any(is_used), "no flow has `{word}`");
    }
    uses
}

fn has_word(tokens: TokenStream, word: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == word,
        TokenTree::Group(group) => has_word(group.stream(), word),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// Every `#[flow(…)]` with the block that follows, also inside modules.
fn collect(file: &str, tokens: TokenStream, uses: &mut Vec<Use>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else { continue };
        match group.delimiter() {
            // What a `macro_rules!` makes is a flow only when its parameters are filled in.
            Delimiter::Brace if group.to_string().contains('$') => {}
            Delimiter::Brace => collect(file, group.stream(), uses),
            Delimiter::Bracket => {
                let Some(args) = flow_args(group.stream()) else { continue };
                let is_block = |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
                let length = tokens[at + 1..].iter().position(is_block).unwrap() + 1;
                let item = tokens[at + 1..=at + length].iter().cloned().collect();
                uses.push(Use { file: file.to_owned(), args, item });
            }
            Delimiter::Parenthesis | Delimiter::None => {}
        }
    }
}

fn flow_args(attribute: TokenStream) -> Option<TokenStream> {
    let mut path = attribute.into_iter().skip_while(|token| token.to_string() != "flow");
    path.next()?;
    match path.next() {
        None => Some(TokenStream::new()),
        Some(TokenTree::Group(group)) => Some(group.stream()),
        Some(_) => None,
    }
}

/// What becomes of the tokens if there is one mistake at one place, at any depth outside of bodies.
fn with_one_mistake(tokens: &TokenStream, depth: usize) -> Vec<TokenStream> {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let mut wrong = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let (before, after) = (&tokens[..at], &tokens[at + 1..]);
        let with = |replaced: &[TokenTree], after: &[TokenTree]| -> TokenStream {
            before.iter().chain(replaced).chain(after).cloned().collect()
        };
        let one = std::slice::from_ref(token);
        wrong.push(with(&[], after));
        wrong.push(with(&[token.clone(), token.clone()], after));
        wrong.push(with(one, &[]));
        if let TokenTree::Group(group) = token
            && !(group.delimiter() == Delimiter::Brace && depth > 0)
        {
            let inside = |stream| [TokenTree::from(Group::new(group.delimiter(), stream))];
            let mistakes = with_one_mistake(&group.stream(), depth + 1);
            wrong.extend(mistakes.into_iter().map(|stream| with(&inside(stream), after)));
        }
    }
    wrong
}

/// The names after `fn` and `const`, at any depth.
fn named(tokens: TokenStream, word: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut is_next = false;
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => {
                if is_next && ident != "fn" {
                    names.insert(ident.to_string());
                }
                is_next = ident == word;
            }
            TokenTree::Group(group) => {
                is_next = false;
                names.extend(named(group.stream(), word));
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => is_next = false,
        }
    }
    names
}

/// Of so many mistakes one is tried, another one of each flow: there are thousands, and a test takes seconds.
const STRIDE: usize = 9;

#[test]
fn one_mistake_gives_one_error_and_everything_else_stays() {
    let (mut tried, mut told) = (0, 0);
    for (place, each) in uses().iter().enumerate() {
        let whole = crate::flow::expand(each.args.clone(), &each.item);
        assert_eq!(messages(whole), Vec::<String>::new(), "{}", each.file);
        let items = with_one_mistake(&each.item, 0).into_iter().map(|item| (each.args.clone(), item));
        let options = with_one_mistake(&each.args, 0).into_iter().map(|args| (args, each.item.clone()));
        for (args, item) in items.chain(options).skip(place % STRIDE).step_by(STRIDE) {
            tried += 1;
            told += usize::from(try_out(&args, &item));
        }
    }
    assert!(tried > 700 && told * 2 > tried, "{told} of {tried} mistakes were told");
}

/// Expands the mistake and looks at what comes of it. Gives whether it was told.
fn try_out(args: &TokenStream, item: &TokenStream) -> bool {
    let expanded = crate::flow::expand(args.clone(), item);
    let messages = messages(expanded.clone());
    let seen = format!("#[flow({args})] {item}\ngives\n{expanded}\nand says {messages:#?}");
    assert!(messages.len() <= 1, "one mistake is told more than once: {seen}");
    for message in &messages {
        let is_of_the_parser = message.contains("expected one of") || message.starts_with("unexpected");
        assert!(!is_of_the_parser, "this says nothing about flows: {seen}");
    }
    if syn::parse2::<syn::Item>(item.clone()).is_ok() {
        assert!(syn::parse2::<syn::File>(expanded.clone()).is_ok(), "these are no items: {seen}");
    }
    // An editor completes what it can find, while the rest is being written.
    let lost = |word| &named(item.clone(), word) - &named(expanded.clone(), word);
    assert!(lost("fn").is_empty(), "{:?} are lost: {seen}", lost("fn"));
    assert!(lost("const").len() <= 1, "{:?} are lost: {seen}", lost("const"));
    !messages.is_empty()
}

#[test]
fn a_keyword_with_one_mistake_gives_one_error() {
    let whole = "#[doc = \"Where it stands.\"] pub enum Status { Open, #[cfg(unix)] r#final, Closed }";
    for item in with_one_mistake(&whole.parse().unwrap(), 0) {
        let expanded = crate::keyword::expand(item.clone());
        assert!(messages(expanded.clone()).len() <= 1, "{item}\ngives\n{expanded}");
        assert!(syn::parse2::<syn::File>(expanded.clone()).is_ok(), "{item}\ngives\n{expanded}");
    }
}

const WORDS: [&str; 8] =
    ["attribute", "channel", "stream", "step", "wait_for", "rpc", "on_timeout", "on_cancel"];

#[test]
fn a_stray_member_with_one_mistake_is_given_back_with_one_error() {
    let members = [
        "#[doc = \"What came in.\"] pub const ORDERS: Channel<Vec<u8>>;",
        "#[cfg(unix)] pub(crate) const SCORES: AttributeMap<(Size, u64), Vec<u8>>;",
        "async fn sell(&self, ctx: &mut StepContext<Self>, order: Order) -> StepResult<Self> { body() }",
    ];
    for member in members {
        for item in with_one_mistake(&member.parse().unwrap(), 0) {
            for word in WORDS {
                let expanded = crate::stray::expand(word, item.clone());
                assert_eq!(messages(expanded.clone()).len(), 1, "#[{word}] {item}\ngives\n{expanded}");
                let lost = &named(item.clone(), "fn") - &named(expanded.clone(), "fn");
                assert!(lost.is_empty(), "#[{word}] {item}\ngives\n{expanded}");
            }
        }
    }
}
