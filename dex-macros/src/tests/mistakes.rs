use proc_macro2::{Group, TokenStream, TokenTree};

use super::{expansion, messages, pretty};

#[test]
fn all_mistakes_are_told_at_once() {
    let shop = "impl Shop {
        #[attribute(indx)] const A: Attribute<u8>;
        #[step(start, retires = 3, timeout = \"1\")] async fn sell(&mut self) -> StepResult<Self> {}
        #[wait_for(sel)] fn pause(&self) -> WaitResult<Self, u8> {}
        #[rpc] async fn buy(&self, a: u8, b: u8) -> RpcResult<u8> {}
    }";
    assert_eq!(messages(expansion("nam = 1", shop)).len(), 7);
}

#[test]
fn a_flow_with_a_mistake_is_still_a_flow_with_all_that_is_sound() {
    let shop = "impl Shop {
        #[step(start)] async fn sell(&self, order: Order) -> StepResult<Self> {}
        #[step(retires = 3)] async fn ship(&self, order: Order) -> StepResult<Self> {}
        #[rpc] async fn buy(&self, order: Order) -> RpcResult<u8> {}
    }";
    let tokens = expansion("output = String", shop);
    assert_eq!(messages(tokens.clone()).len(), 1);
    let text = pretty(tokens);
    for kept in [
        "const SELL",
        "const SHIP",
        "type Input = Order;",
        "type Output = String;",
        "async fn buy(&self, order: Order)",
    ] {
        assert!(text.contains(kept), "no {kept} in:\n{text}");
    }
    assert!(!text.contains("Self::sell("), "a step with doubtful types is not called:\n{text}");
}

#[test]
fn an_unfinished_body_is_given_back_untouched() {
    let shop = "impl Shop {
        #[step(start)]
        async fn sell(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> { ctx. ; let x = }
    }";
    let tokens = expansion("", shop);
    assert_eq!(messages(tokens.clone()), Vec::<String>::new());
    assert!(tokens.to_string().contains("{ ctx . ; let x = }"), "{tokens}");
}

#[test]
fn an_unfinished_signature_is_given_back_untouched() {
    for unfinished in [
        "#[step] async fn sell(&self, ctx: ) {}",
        "#[step] async fn",
        "#[attribute] const X",
        "#[rpc]",
        "pub",
        "#[attribute] const X: ;",
        "fn sell(&self",
    ] {
        let Ok(item) = format!("impl Shop {{ const KEPT: u8 = 1; {unfinished} }}").parse() else { continue };
        let tokens = crate::flow::expand(proc_macro2::TokenStream::new(), &item).to_string();
        assert!(tokens.contains("KEPT"), "{unfinished} gives {tokens}");
    }
}

#[test]
fn whatever_the_macro_is_put_on_is_given_back() {
    for item in [
        "struct Shop { a: u8 }",
        "fn sell() { 1 }",
        "impl Clone for Shop { fn clone(&self) -> Self {} }",
        "impl [u8] { fn f() {} }",
        "impl<T> Shop<T> { fn f() {} }",
        "impl Shop<u8> { fn f() {} }",
        "mod shop;",
        "",
    ] {
        let tokens = expansion("", item);
        assert_eq!(messages(tokens.clone()).len(), 1, "{item}: {tokens}");
        for word in ["Shop", "sell", "f"] {
            assert!(!item.contains(word) || tokens.to_string().contains(word), "{item} gives {tokens}");
        }
    }
}

#[test]
fn the_members_of_what_cannot_be_a_flow_are_not_told_as_well() {
    for head in ["impl<T> Shop<T>", "impl Shop<'_>", "impl Clone for Shop", "impl [u8]"] {
        let shop =
            format!("{head} {{ #[step] async fn sell(&self) -> StepResult<Self> {{ Ok(Next::here()) }} }}");
        let tokens = expansion("", &shop);
        assert_eq!(messages(tokens.clone()).len(), 1, "{head}: {tokens}");
        let text = pretty(tokens);
        assert!(!text.contains("#[step]") && text.contains("Next::here"), "{head} gives {text}");
    }
}

#[test]
fn a_wait_with_a_mistake_does_not_put_the_blame_on_its_step() {
    let shop = "impl Shop {
        #[wait_for] fn pause(&self) -> WaitResult<Self, u8> {}
        #[step(start)] async fn sell(&self, order: u8, outcome: u8) -> StepResult<Self> {}
    }";
    assert_eq!(messages(expansion("", shop)).len(), 1);
}

#[test]
fn a_stray_member_is_given_back_with_one_message() {
    for (word, item) in [
        ("step", "fn sell(&self) {}"),
        ("attribute", "const A: Attribute<u8>;"),
        ("channel", "const A: Channel;"),
        ("rpc", "struct Shop;"),
    ] {
        let tokens = crate::stray::expand(word, item.parse().unwrap());
        assert_eq!(messages(tokens).len(), 1, "{item}");
    }
}

#[test]
fn options_of_any_shape_give_messages_and_no_panic() {
    for args in [
        "=",
        ",",
        ",,",
        "name",
        "name =",
        "name = ,",
        "name = 1",
        "output = ,",
        "output",
        "crate = 5",
        "crate",
        "name = \"\" \"\"",
        "1",
        "name(\"x\")",
        "output = String output = u8",
        "name = \"a\", name = \"b\"",
    ] {
        let messages = messages(expansion(args, "impl Shop {}"));
        assert!(!messages.is_empty(), "#[flow({args})] is taken");
    }
}

/// The streams that are left when one token is taken out, at any depth.
fn with_one_missing(tokens: &TokenStream) -> Vec<TokenStream> {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let mut left = Vec::new();
    for at in 0..tokens.len() {
        let with = |replaced: Option<TokenTree>| -> TokenStream {
            let before = tokens[..at].iter().cloned();
            before.chain(replaced).chain(tokens[at + 1..].iter().cloned()).collect()
        };
        left.push(with(None));
        if let TokenTree::Group(group) = &tokens[at] {
            for inner in with_one_missing(&group.stream()) {
                left.push(with(Some(Group::new(group.delimiter(), inner).into())));
            }
        }
    }
    left
}

#[test]
fn no_missing_token_makes_the_macro_panic_or_lose_a_body() {
    let shop: TokenStream = "#[doc = \"A shop.\"] impl Shop {
        #[attribute(index, name = \"a\")] pub const A: Attribute<Vec<u8>>;
        #[channel] const C: Channel<u8>;
        const KEPT: u8 = { 1 };
        #[wait_for(ship)] fn pause(&self, ctx: &WaitContext<Self>, order: &u8) -> WaitResult<Self, u8> { body(1) }
        #[step(start, timeout = \"1m 2s\", retry(attempts = 3, factor = 1.5, total = \"1h\"), on_failure = ship)]
        pub(crate) async fn sell(&self, ctx: &mut StepContext<Self>, order: u8) -> StepResult<Self> { body(2) }
        #[step] fn ship(&self, order: u8, outcome: u8) -> StepResult<Self> { body(3) }
        #[rpc(name = \"b\")] async fn buy(&self, (a, b): (u8, u8)) -> RpcResult<u8> { body(4) }
    }"
    .parse()
    .unwrap();
    let count = |text: &str| text.matches("body").count();
    for unfinished in with_one_missing(&shop) {
        let expanded = crate::flow::expand(TokenStream::new(), &unfinished).to_string();
        assert!(count(&expanded) >= count(&unfinished.to_string()), "{unfinished}\ngives\n{expanded}");
    }
}

#[test]
fn paths_are_not_judged_while_a_body_is_being_written() {
    let shop = |body: &str| {
        format!(
            "impl Shop {{
                #[step(start)] async fn sell(&self) -> StepResult<Self> {{ {body} }}
                #[step] async fn ship(&self) -> StepResult<Self> {{ Ok(Next::dead_end()) }}
            }}"
        )
    };
    for unfinished in ["", "todo !()", "Next::", "self.", "let x ="] {
        assert_eq!(messages(expansion("", &shop(unfinished))), Vec::<String>::new(), "{unfinished}");
    }
    assert_eq!(messages(expansion("", &shop("Ok(Next::dead_end())"))).len(), 2);
    assert_eq!(messages(expansion("endless", &shop("Ok(Next::to(Self::SHIP, ()))"))), Vec::<String>::new());
}

#[test]
fn a_flow_whose_paths_lead_nowhere_can_be_run_all_the_same() {
    let shop =
        "impl Shop { #[step(start)] async fn sell(&self) -> StepResult<Self> { Ok(Next::dead_end()) } }";
    let text = expansion("", shop).to_string();
    assert!(text.contains("Self :: sell"), "what the types say is still checked:\n{text}");
}

#[test]
fn a_start_step_without_its_mark_is_not_also_told_to_take_a_lock() {
    let shop = |first: &str, write: &str| {
        format!(
            "impl Shop {{
                #[attribute] const STOCK: AttributeMap<String, u8>;
                #[step{first}] async fn open(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {{
                    ctx.set({write}, 1)?;
                    Ok(Next::to(Self::SELL, ()))
                }}
                #[step(lock(STOCK))] async fn sell(&self) -> StepResult<Self> {{ Ok(Next::complete(())) }}
            }}"
        )
    };
    for write in ["Self::STOCK.at(\"pens\")", "&Self::STOCK.at(\"pens\")"] {
        assert_eq!(messages(expansion("", &shop("(start)", write))), Vec::<String>::new());
        let told = messages(expansion("", &shop("", write)));
        assert!(told.len() == 1 && told[0].starts_with("no path leads to any step"), "{told:?}");
        let told = messages(expansion("", &shop("(entry)", write)));
        assert!(told.len() == 1 && told[0].starts_with("step `sell` locks `STOCK`"), "{told:?}");
    }
}

#[test]
fn a_recovery_step_is_told_to_take_a_lock() {
    let shop = "impl Shop {
        #[attribute] const TOTAL: Attribute<u8>;
        #[step(start, on_failure = undo)] async fn sell(&self) -> StepResult<Self> { Ok(Next::to(Self::COUNT, ())) }
        #[step(lock(TOTAL))] async fn count(&self) -> StepResult<Self> { Ok(Next::complete(())) }
        #[step] async fn undo(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
            ctx.delete(Self::TOTAL)?;
            Ok(Next::dead_end())
        }
    }";
    let told = messages(expansion("", shop));
    assert!(told.len() == 1 && told[0].starts_with("step `count` locks `TOTAL`"), "{told:?}");
}

#[test]
fn an_attribute_that_cannot_be_read_at_the_end_of_a_block_is_one_mistake() {
    for mark in ["#[step]", "#[wait_for(sell)]", "#[rpc]", "#[on_cancel]"] {
        let shop = format!(
            "impl Shop {{
                #[step(start)] async fn sell(&self) -> StepResult<Self> {{ Ok(Next::complete(())) }}
                {mark} #
            }}"
        );
        let told = messages(expansion("", &shop));
        assert!(told.len() == 1 && told[0].starts_with("this attribute cannot be read"), "{told:?}");
    }
}
