use proc_macro2::{Spacing, TokenStream, TokenTree};

use super::expansion;

const SHOP: &str = "impl Shop {
    #[attribute] const STATUS: Attribute<u8>;
    #[channel] const ORDERS: Channel<u8>;
    #[wait_for(ship)] fn pause(&self, order: &u8) -> WaitResult<Self, u8> {}
    #[step(start, timeout = \"1m\", retry(attempts = 3, total = \"1h\"), on_failure = ship)]
    async fn sell(&self, ctx: &mut StepContext<Self>, order: u8) -> StepResult<Self> { Self::SHIP }
    #[step] async fn ship(&self, order: u8, outcome: u8) -> StepResult<Self> {}
    #[rpc] async fn buy(&self, order: u8) -> RpcResult<u8> {}
    #[rpc] async fn alias(&self, order: u8) -> Alias {}
}";

/// All options that write code of their own, as far as this build has them.
const ALL: &str = if cfg!(feature = "schemars") { "schemas" } else { "" };

/// All identifiers of the tokens, in order.
fn identifiers(tokens: TokenStream) -> Vec<String> {
    let mut identifiers = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => identifiers.push(ident.to_string()),
            TokenTree::Group(group) => identifiers.extend(self::identifiers(group.stream())),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    identifiers
}

#[test]
fn a_renamed_crate_leaves_no_trace_of_the_usual_name() {
    let renamed = identifiers(expansion(&format!("crate = ::flows, {ALL}"), SHOP));
    assert!(!renamed.contains(&"dex".to_owned()), "{renamed:?}");
    assert!(renamed.contains(&"flows".to_owned()));
    assert!(identifiers(expansion("", SHOP)).contains(&"dex".to_owned()));
}

#[test]
fn a_renamed_crate_leaves_no_trace_in_a_flow_with_mistakes() {
    let wrong = "impl Shop { #[step(start, strat)] async fn sell(&self) -> StepResult<Self> {} #[rpc] fn a(&self) -> A {} }";
    let renamed = identifiers(expansion("crate = ::flows", wrong));
    assert!(!renamed.contains(&"dex".to_owned()), "{renamed:?}");
}

/// The first names of all paths that are neither absolute nor a method's `::<…>`.
fn relative_paths(tokens: TokenStream, found: &mut Vec<String>) {
    // An absolute path may follow these; `Self` and `self` begin one, but not one that a user can take over.
    const NOT_NAMES: &[&str] = &["Self", "self", "impl", "as", "mut", "for", "static"];
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let leads = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == ':' && p.spacing() == Spacing::Joint);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => relative_paths(group.stream(), found),
            TokenTree::Ident(ident) => {
                let begins = at == 0 || !is_punct(&tokens[at - 1], ':') || !leads(at.saturating_sub(2));
                let goes_on = leads(at + 1) && !tokens.get(at + 3).is_some_and(|next| is_punct(next, '<'));
                if begins && goes_on && !NOT_NAMES.contains(&ident.to_string().as_str()) {
                    found.push(ident.to_string());
                }
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

fn is_punct(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

#[test]
fn generated_paths_are_absolute() {
    let mut found = Vec::new();
    relative_paths(expansion(ALL, SHOP), &mut found);
    // The lints that handlers may break are named with their tool.
    found.retain(|name| name != "clippy");
    assert_eq!(found, Vec::<String>::new());
}
