//! What is written for a flow that has a mistake: the rest of the program finds what it looks for.

use expect_test::{Expect, expect};

use super::{check_part, part, pretty};

const WRONG: &str = "impl Shop {
    #[attribute(indexed)]
    const STATUS: Attribute<u8>;

    #[step(start, strat)]
    async fn sell(&self, order: Order) -> StepResult<Self> { body(1) }

    #[step]
    async fn ship(&self, order: Order, context: &mut StepContext<Self>) -> StepResult<Self> { body(2) }

    #[rpc]
    async fn ask(&self) -> RpcResult<u8> { body(3) }
}";

fn check(first_line: &str, expected: &Expect) {
    check_part("output = String", WRONG, first_line, expected);
}

#[test]
fn a_flow_with_a_mistake_calls_nothing() {
    check(
        "fn call_step",
        &expect![[r#"
        fn call_step(
            self: ::dex::__private::Arc<Self>,
            __dex_place: usize,
            __dex_call: ::dex::__private::StepCall<Self>,
        ) -> ::dex::__private::StepFuture {
            let __dex_table: &[fn(
                ::dex::__private::Arc<Self>,
                ::dex::__private::StepCall<Self>,
            ) -> ::dex::__private::StepFuture] = &[];
            ::dex::__private::dispatch(__dex_table, __dex_place, self, __dex_call)
        }
    "#]],
    );
    check(
        "fn call_rpc",
        &expect![[r#"
        fn call_rpc(
            self: ::dex::__private::Arc<Self>,
            __dex_place: usize,
            __dex_call: ::dex::__private::RpcCall<Self>,
        ) -> ::dex::__private::RpcFuture {
            let __dex_table: &[fn(
                ::dex::__private::Arc<Self>,
                ::dex::__private::RpcCall<Self>,
            ) -> ::dex::__private::RpcFuture] = &[];
            ::dex::__private::dispatch(__dex_table, __dex_place, self, __dex_call)
        }
    "#]],
    );
    check(
        "fn fits_attribute",
        &expect![[r#"
        fn fits_attribute(
            __dex_place: usize,
            __dex_value: &::dex::__private::Payload,
        ) -> ::dex::__private::Fit {
            let __dex_table: &[fn(
                &::dex::__private::Payload,
            ) -> ::dex::__private::Fit] = &[];
            ::dex::__private::fits_at(__dex_table, __dex_place, __dex_value)
        }
    "#]],
    );
}

#[test]
fn a_flow_with_a_mistake_has_its_types_handles_and_methods() {
    check(
        "type Input = Order",
        &expect![[r#"
        type Input = Order;
    "#]],
    );
    check(
        "type Output",
        &expect![[r#"
        type Output = String;
    "#]],
    );
    check(
        "const SELL",
        &expect![[r#"
        const SELL: ::dex::__private::Step<Self, Order> = ::dex::__private::Step::new(
            "sell",
        );
    "#]],
    );
    check(
        "const STATUS",
        &expect![[r#"
        const STATUS: Attribute<Self, u8> = ::dex::__private::Attribute::new("STATUS");
    "#]],
    );
    check(
        "impl ShopRun<Shop> {",
        &expect![[r#"
        impl ShopRun<Shop> {
            ///Calls the RPC `ask`.
            #[allow(dead_code, reason = "an RPC need not be called from here")]
            async fn ask(&self) -> ::dex::__private::Result<u8> {
                ::dex::__private::call_rpc::<__DexRpc<0usize>>(&self.0, "ask", &()).await
            }
        }
    "#]],
    );
}

#[test]
fn the_bodies_of_what_cannot_be_a_flow_are_hidden_from_the_compiler() {
    let generic = "impl<T> Shop<T> {
        #[step(start)]
        async fn sell(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> { Ok(Next::complete(())) }
        fn helper(&self) -> u8 { 1 }
    }";
    check_part(
        "",
        generic,
        "impl<T> Shop<T> {",
        &expect![[r#"
            impl<T> Shop<T> {
                #[allow(unused_mut, unused_variables, reason = "what uses them is hidden")]
                #[allow(
                    clippy::needless_pass_by_ref_mut,
                    clippy::needless_pass_by_value,
                    clippy::ptr_arg,
                    clippy::trivially_copy_pass_by_ref,
                    clippy::unnecessary_wraps,
                    clippy::unused_async,
                    clippy::unused_self,
                    reason = "the flow fixes the shape of its handlers"
                )]
                async fn sell(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {
                    #[cfg(any())] { Ok(Next::complete(())) }
                    ::core::unreachable!()
                }
                fn helper(&self) -> u8 {
                    1
                }
            }
        "#]],
    );
}

#[test]
fn a_handle_outside_of_a_flow_has_its_value() {
    let check = |item: &str, expected: &Expect| {
        let tokens = crate::stray::expand("channel", item.parse().unwrap());
        let block = quote::quote!(impl Shop { #tokens });
        expected.assert_eq(&part(&pretty(block), "impl Shop {"));
    };
    check(
        "pub const ORDERS: Channel<Order>;",
        &expect![[r#"
        impl Shop {
            pub const ORDERS: Channel<Self, Order> = ::dex::__private::Channel::new("ORDERS");
            ::core::compile_error! {
                "`#[channel]` means something only inside an `impl` block with `#[flow]`: put `#[flow]` on the block"
            }
        }
    "#]],
    );
}

#[test]
fn a_handle_without_its_attribute_has_its_value() {
    check_part(
        "",
        "impl Shop { const ORDERS: Channel<Order>; }",
        "impl Shop {",
        &expect![[r#"
        impl Shop {
            const ORDERS: Channel<Self, Order> = ::dex::__private::Channel::new("ORDERS");
        }
    "#]],
    );
}

#[test]
fn a_wrong_keyword_is_one_all_the_same() {
    let tokens = crate::keyword::expand("enum Status { Open, Closed(u8) }".parse().unwrap());
    expect![[r#"
        impl ::dex::__private::Keyword for Status {
            fn keyword(&self) -> &'static ::core::primitive::str {
                match *self {
                    Self::Open => "Open",
                    Self::Closed { .. } => "Closed",
                }
            }
            fn from_keyword(keyword: &::core::primitive::str) -> ::core::option::Option<Self> {
                match keyword {
                    "Open" => ::core::option::Option::Some(Self::Open),
                    _ => ::core::option::Option::None,
                }
            }
        }
    "#]]
    .assert_eq(&part(&pretty(tokens), "impl ::dex::__private::Keyword for Status {"));
}
