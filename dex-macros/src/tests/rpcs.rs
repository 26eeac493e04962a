use expect_test::expect;

use super::check_part;

const SHOP: &str = "impl Shop {
    /// Says yes.
    #[rpc]
    pub async fn approve(&self, ctx: &mut RpcContext<Self>, mut by: String) -> RpcResult<Option<Self>> {}

    #[rpc]
    #[cfg(unix)]
    fn status(&self) -> Answer {}
}";

#[test]
fn the_run_has_a_method_for_each_rpc() {
    check_part(
        "",
        SHOP,
        "impl ShopRun<Shop> {",
        &expect![[r#"
        impl ShopRun<Shop> {
            /// Says yes.
            #[allow(dead_code, reason = "an RPC need not be called from here")]
            pub async fn approve(
                &self,
                by: String,
            ) -> ::dex::__private::Result<Option<Shop>> {
                ::dex::__private::call_rpc::<__DexRpc<0usize>>(&self.0, "approve", &by).await
            }
            #[cfg(unix)]
            ///Calls the RPC `status`.
            #[allow(dead_code, reason = "an RPC need not be called from here")]
            async fn status(
                &self,
            ) -> ::dex::__private::Result<<Answer as ::dex::__private::RpcReturn>::Answer> {
                ::dex::__private::call_rpc::<__DexRpc<1usize>>(&self.0, "status", &()).await
            }
        }
    "#]],
    );
}

#[test]
fn the_run_is_a_run_handle_with_a_name() {
    check_part(
        "",
        SHOP,
        "pub struct ShopRun",
        &expect![[r#"
        pub struct ShopRun<F>(::dex::__private::RunHandle<F>);
    "#]],
    );
    check_part(
        "",
        SHOP,
        "impl ::core::ops::Deref",
        &expect![[r#"
        impl ::core::ops::Deref for ShopRun<Shop> {
            type Target = ::dex::__private::RunHandle<Shop>;
            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }
    "#]],
    );
}

#[test]
fn the_types_of_an_rpc_are_said_once() {
    check_part(
        "",
        SHOP,
        "impl ::dex::__private::Rpc for __DexRpc<0usize>",
        &expect![[r#"
        impl ::dex::__private::Rpc for __DexRpc<0usize> {
            type Flow = Shop;
            type Input = String;
            type Answer = Option<Shop>;
        }
    "#]],
    );
    check_part(
        "",
        SHOP,
        "impl ::dex::__private::Rpc for __DexRpc<1usize>",
        &expect![[r#"
        impl ::dex::__private::Rpc for __DexRpc<1usize> {
            type Flow = Shop;
            type Input = ();
            type Answer = <Answer as ::dex::__private::RpcReturn>::Answer;
        }
    "#]],
    );
}

#[test]
fn an_rpc_is_called_with_its_argument() {
    check_part(
        "",
        SHOP,
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
                ) -> ::dex::__private::RpcFuture] = &[
                    |__dex_flow, mut __dex_call| ::dex::__private::Box::pin(
                        ::dex::__private::Futures::<Self>::OF
                            .checked(async move {
                                let __dex_input = __dex_call.argument::<__DexRpc<0usize>>()?;
                                let __dex_result = Self::approve(
                                        &__dex_flow,
                                        __dex_call.context(),
                                        __dex_input,
                                    )
                                    .await;
                                __dex_call.answer::<__DexRpc<0usize>>(__dex_result)
                            }),
                    ),
                    #[cfg(unix)]
                    |__dex_flow, mut __dex_call| ::dex::__private::Box::pin(
                        ::dex::__private::Futures::<Self>::OF
                            .checked(async move {
                                let __dex_result = Self::status(&__dex_flow);
                                <Answer as ::dex::__private::RpcReturn>::end::<
                                    __DexRpc<1usize>,
                                >(__dex_result, __dex_call)
                            }),
                    ),
                ];
                ::dex::__private::dispatch(__dex_table, __dex_place, self, __dex_call)
            }
        "#]],
    );
}

#[test]
fn the_run_is_made_cloned_and_shown_as_its_handle() {
    check_part(
        "",
        SHOP,
        "impl ::core::convert::From",
        &expect![[r#"
        impl ::core::convert::From<::dex::__private::RunHandle<Shop>> for ShopRun<Shop> {
            fn from(run: ::dex::__private::RunHandle<Shop>) -> Self {
                Self(run)
            }
        }
    "#]],
    );
    check_part(
        "",
        SHOP,
        "impl ::core::clone::Clone",
        &expect![[r#"
        impl ::core::clone::Clone for ShopRun<Shop> {
            fn clone(&self) -> Self {
                Self(::core::clone::Clone::clone(&self.0))
            }
        }
    "#]],
    );
    check_part(
        "",
        SHOP,
        "impl ::core::fmt::Debug",
        &expect![[r#"
        impl ::core::fmt::Debug for ShopRun<Shop> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.debug_tuple("ShopRun").field(&self.0).finish()
            }
        }
    "#]],
    );
}
