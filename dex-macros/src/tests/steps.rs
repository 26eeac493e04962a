use expect_test::expect;

use super::{check_part, expansion, pretty};

const SHOP: &str = "impl Shop {
    /// Takes the money.
    #[step(start, on_failure = refund)]
    pub async fn charge(&self, ctx: &mut StepContext<Self>, order: Order) -> StepResult<Self> { a.b }

    #[wait_for(refund)]
    fn pause(&self, order: &Order) -> WaitResult<Self, TimerFired> {}

    #[step]
    #[tracing::instrument]
    fn refund(&self, order: Order, fired: TimerFired) -> StepResult<Self> {}
}";

#[test]
fn a_method_is_given_back_as_written_but_for_our_attribute() {
    check_part(
        "",
        SHOP,
        "impl Shop {",
        &expect![[r#"
        impl Shop {
            /// Takes the money.
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
            pub async fn charge(
                &self,
                ctx: &mut StepContext<Self>,
                order: Order,
            ) -> StepResult<Self> {
                a.b
            }
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
            fn pause(&self, order: &Order) -> WaitResult<Self, TimerFired> {}
            #[tracing::instrument]
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
            fn refund(&self, order: Order, fired: TimerFired) -> StepResult<Self> {}
        }
    "#]],
    );
}

#[test]
fn a_step_has_a_constant() {
    check_part(
        "",
        SHOP,
        "pub const CHARGE",
        &expect![[r#"
        pub const CHARGE: ::dex::__private::Step<Self, Order> = ::dex::__private::Step::new(
            "charge",
        );
    "#]],
    );
    check_part(
        "",
        SHOP,
        "    const REFUND",
        &expect![[r#"
        const REFUND: ::dex::__private::Step<Self, Order> = ::dex::__private::Step::new(
            "refund",
        );
    "#]],
    );
}

#[test]
fn a_step_is_called_with_its_input_and_its_outcome() {
    check_part(
        "",
        SHOP,
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
                ) -> ::dex::__private::StepFuture] = &[
                    |__dex_flow, mut __dex_call| ::dex::__private::Box::pin(
                        ::dex::__private::Futures::<Self>::OF
                            .checked(async move {
                                let __dex_input = __dex_call.start_input()?;
                                let __dex_result = Self::charge(
                                        &__dex_flow,
                                        __dex_call.context(),
                                        __dex_input,
                                    )
                                    .await;
                                <StepResult<
                                    Self,
                                > as ::dex::__private::StepReturn<
                                    Self,
                                >>::end(__dex_result, __dex_call)
                            }),
                    ),
                    |__dex_flow, mut __dex_call| ::dex::__private::Box::pin(
                        ::dex::__private::Futures::<Self>::OF
                            .checked(async move {
                                let __dex_input = __dex_call
                                    .input_by(<Order as ::dex::__private::Stored>::decoded)?;
                                #[allow(
                                    clippy::let_unit_value,
                                    reason = "a wait may give nothing"
                                )]
                                let __dex_outcome = <TimerFired as ::dex::__private::GivenBy<
                                    <WaitResult<
                                        Self,
                                        TimerFired,
                                    > as ::dex::__private::WaitReturn<Self>>::Outcome,
                                >>::given(
                                    __dex_call.outcome_of::<WaitResult<Self, TimerFired>>()?,
                                );
                                let __dex_result = Self::refund(
                                    &__dex_flow,
                                    __dex_input,
                                    __dex_outcome,
                                );
                                <StepResult<
                                    Self,
                                > as ::dex::__private::StepReturn<
                                    Self,
                                >>::end(__dex_result, __dex_call)
                            }),
                    ),
                ];
                ::dex::__private::dispatch(__dex_table, __dex_place, self, __dex_call)
            }
        "#]],
    );
}

#[test]
fn a_wait_borrows_the_input_of_its_step() {
    check_part(
        "",
        SHOP,
        "fn call_wait",
        &expect![[r#"
            fn call_wait(
                self: ::dex::__private::Arc<Self>,
                __dex_place: usize,
                __dex_call: ::dex::__private::WaitCall<Self>,
            ) -> ::dex::__private::WaitFuture {
                let __dex_table: &[fn(
                    ::dex::__private::Arc<Self>,
                    ::dex::__private::WaitCall<Self>,
                ) -> ::dex::__private::WaitFuture] = &[
                    |_, __dex_call| ::dex::__private::Call::unknown(__dex_call),
                    |__dex_flow, mut __dex_call| ::dex::__private::Box::pin(
                        ::dex::__private::Futures::<Self>::OF
                            .checked(async move {
                                let __dex_input = __dex_call
                                    .input_by(<Order as ::dex::__private::Stored>::decoded)?;
                                let __dex_result = Self::pause(&__dex_flow, &__dex_input);
                                <WaitResult<
                                    Self,
                                    TimerFired,
                                > as ::dex::__private::WaitReturn<
                                    Self,
                                >>::end(__dex_result, __dex_call)
                            }),
                    ),
                ];
                ::dex::__private::dispatch(__dex_table, __dex_place, self, __dex_call)
            }
        "#]],
    );
}

#[test]
fn the_flow_is_started_with_the_input_of_the_start_step() {
    check_part(
        "",
        SHOP,
        "type Input",
        &expect![[r#"
        type Input = Order;
    "#]],
    );
    check_part(
        "",
        "impl Shop {}",
        "type Input",
        &expect![[r#"
        type Input = ();
    "#]],
    );
}

#[test]
fn a_recovery_is_checked_to_take_the_same_input() {
    check_part(
        "",
        SHOP,
        "const _: () = <Order",
        &expect![[r#"
        const _: () = <Order as ::dex::__private::Takes<Order>>::SAME_TYPE;
    "#]],
    );
}

#[test]
fn a_flow_with_a_start_step_can_be_a_sub_flow_in_each_build_that_has_one() {
    check_part(
        "",
        "impl Shop { #[step(start)] async fn sell(&self) -> StepResult<Self> { } }",
        "impl ::dex::__private::HasStart",
        &expect![[r#"
            impl ::dex::__private::HasStart for Shop {}

        "#]],
    );
    let conditional = "impl Shop {
        #[cfg(unix)] #[step(start)] async fn sell(&self) -> StepResult<Self> { }
        #[cfg(windows)] #[step(start)] async fn sell(&self) -> StepResult<Self> { }
    }";
    let text = pretty(expansion("", conditional));
    assert_eq!(text.matches("HasStart for Shop").count(), 2, "{text}");
    let without = "impl Shop { #[step] async fn sell(&self) -> StepResult<Self> { } }";
    assert!(!pretty(expansion("", without)).contains("HasStart"));
}

#[test]
fn a_start_step_that_is_written_for_each_cfg_has_an_input_for_each() {
    let shop = "impl Shop {
        #[cfg(unix)]
        #[step(start)]
        async fn sell(&self, order: u8) -> StepResult<Self> {}
        #[cfg(not(unix))]
        #[step(start)]
        async fn sell(&self, order: u16) -> StepResult<Self> {}
    }";
    let text = pretty(expansion("", shop));
    for input in ["#[cfg(unix)]\n        type Input = u8;", "#[cfg(not(unix))]\n        type Input = u16;"] {
        assert!(text.contains(input), "no {input} in:\n{text}");
    }
}

#[test]
fn a_step_that_the_runtime_starts_has_a_constant_and_a_call_as_any_other() {
    let shop = "impl Shop {
        #[on_timeout]
        async fn late(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {}
        #[on_cancel]
        fn undo(&self) -> StepResult<Self> {}
    }";
    check_part(
        "",
        shop,
        "const LATE",
        &expect![[r#"
        const LATE: ::dex::__private::Step<Self, ()> = ::dex::__private::Step::new("late");
    "#]],
    );
    check_part(
        "",
        shop,
        "const UNDO",
        &expect![[r#"
        const UNDO: ::dex::__private::Step<Self, ()> = ::dex::__private::Step::new("undo");
    "#]],
    );
    check_part(
        "",
        shop,
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
                ) -> ::dex::__private::StepFuture] = &[
                    |__dex_flow, mut __dex_call| ::dex::__private::Box::pin(
                        ::dex::__private::Futures::<Self>::OF
                            .checked(async move {
                                let __dex_result = Self::late(
                                        &__dex_flow,
                                        __dex_call.context(),
                                    )
                                    .await;
                                <StepResult<
                                    Self,
                                > as ::dex::__private::StepReturn<
                                    Self,
                                >>::end(__dex_result, __dex_call)
                            }),
                    ),
                    |__dex_flow, mut __dex_call| ::dex::__private::Box::pin(
                        ::dex::__private::Futures::<Self>::OF
                            .checked(async move {
                                let __dex_result = Self::undo(&__dex_flow);
                                <StepResult<
                                    Self,
                                > as ::dex::__private::StepReturn<
                                    Self,
                                >>::end(__dex_result, __dex_call)
                            }),
                    ),
                ];
                ::dex::__private::dispatch(__dex_table, __dex_place, self, __dex_call)
            }
        "#]],
    );
}
