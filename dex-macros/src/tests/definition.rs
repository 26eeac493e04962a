use expect_test::expect;

use super::check_part;

#[test]
fn a_step_is_described_with_its_options_and_edges() {
    let shop = "impl Shop {
        /// Takes the money.
        ///
        ///   Once.
        #[step(start, name = \"take\", timeout = \"1m\", retry(initial = \"1s\", factor = 2, max_interval = \"1m\", attempts = 3, total = \"1h\"), on_failure = refund)]
        async fn charge(&self, order: Vec<(u8, &'static str)>) -> StepResult<Self> {
            vec![1].map(|_| dbg!(Self::REFUND, Self :: OTHER, other::REFUND));
            Shop::CHARGE
        }

        #[cfg(unix)]
        #[step]
        fn refund(&self, order: Vec<(u8, &'static str)>) -> StepResult<Self> {}
    }";
    check_part(
        "",
        shop,
        "static DEFINITION",
        &expect![[r#"
            static DEFINITION: ::dex::__private::FlowDefinition = ::dex::__private::FlowDefinition {
                name: "Shop",
                docs: "",
                output: "()",
                steps: &[
                    ::dex::__private::StepDefinition {
                        name: "take",
                        docs: "Takes the money.\n\n  Once.",
                        input: "Vec<(u8, &'static str)>",
                        start: true,
                        blocking: false,
                        wait: ::core::option::Option::None,
                        retry: ::dex::__private::RetryPolicy {
                            initial: ::dex::__private::Duration::from_millis(1000u64),
                            factor: 2f64,
                            max_interval: ::dex::__private::Duration::from_millis(
                                60000u64,
                            ),
                            attempts: ::core::option::Option::Some(3u32),
                            total: ::core::option::Option::Some(
                                ::dex::__private::Duration::from_millis(3600000u64),
                            ),
                            ..::dex::__private::RetryPolicy::DEFAULT
                        },
                        timeout: ::core::option::Option::Some(
                            ::dex::__private::Duration::from_millis(60000u64),
                        ),
                        on_failure: ::core::option::Option::Some("refund"),
                        edges: &[
                            ::dex::__private::Edge {
                                to: "take",
                                kind: ::dex::__private::EdgeKind::Next,
                            },
                            #[cfg(unix)]
                            ::dex::__private::Edge {
                                to: "refund",
                                kind: ::dex::__private::EdgeKind::Next,
                            },
                            #[cfg(unix)]
                            ::dex::__private::Edge {
                                to: "refund",
                                kind: ::dex::__private::EdgeKind::Failure,
                            },
                        ],
                        ..::dex::__private::StepDefinition::DEFAULT
                    },
                    #[cfg(unix)]
                    ::dex::__private::StepDefinition {
                        name: "refund",
                        docs: "",
                        input: "Vec<(u8, &'static str)>",
                        start: false,
                        blocking: true,
                        wait: ::core::option::Option::None,
                        retry: ::dex::__private::RetryPolicy::DEFAULT,
                        timeout: ::core::option::Option::None,
                        on_failure: ::core::option::Option::None,
                        edges: &[],
                        ..::dex::__private::StepDefinition::DEFAULT
                    },
                ],
                attributes: &[],
                channels: &[],
                rpcs: &[],
                ..::dex::__private::FlowDefinition::DEFAULT
            };
        "#]],
    );
}

#[test]
fn a_step_is_described_with_what_the_flow_says_for_all() {
    let shop = "impl Shop {
        #[step(start, timeout = \"1m\", retry(total = \"1h\"))]
        async fn charge(&self) -> StepResult<Self> { Self::REFUND; Next::complete(()) }

        #[step(on_failure = charge)]
        async fn refund(&self) -> StepResult<Self> {}
    }";
    check_part(
        "endless, steps(timeout = \"30s\", retry(attempts = 5), on_exhausted = park, durability = async)",
        shop,
        "static DEFINITION",
        &expect![[r#"
            static DEFINITION: ::dex::__private::FlowDefinition = ::dex::__private::FlowDefinition {
                name: "Shop",
                docs: "",
                output: "()",
                steps: &[
                    ::dex::__private::StepDefinition {
                        name: "charge",
                        docs: "",
                        input: "()",
                        start: true,
                        blocking: false,
                        wait: ::core::option::Option::None,
                        retry: ::dex::__private::RetryPolicy {
                            attempts: ::core::option::Option::Some(5u32),
                            total: ::core::option::Option::Some(
                                ::dex::__private::Duration::from_millis(3600000u64),
                            ),
                            ..::dex::__private::RetryPolicy::DEFAULT
                        },
                        timeout: ::core::option::Option::Some(
                            ::dex::__private::Duration::from_millis(60000u64),
                        ),
                        on_failure: ::core::option::Option::None,
                        edges: &[
                            ::dex::__private::Edge {
                                to: "refund",
                                kind: ::dex::__private::EdgeKind::Next,
                            },
                        ],
                        on_exhausted: ::dex::__private::OnExhausted::Park,
                        durability: ::dex::__private::Durability::Async,
                        ..::dex::__private::StepDefinition::DEFAULT
                    },
                    ::dex::__private::StepDefinition {
                        name: "refund",
                        docs: "",
                        input: "()",
                        start: false,
                        blocking: false,
                        wait: ::core::option::Option::None,
                        retry: ::dex::__private::RetryPolicy {
                            attempts: ::core::option::Option::Some(5u32),
                            ..::dex::__private::RetryPolicy::DEFAULT
                        },
                        timeout: ::core::option::Option::Some(
                            ::dex::__private::Duration::from_millis(30000u64),
                        ),
                        on_failure: ::core::option::Option::Some("charge"),
                        edges: &[
                            ::dex::__private::Edge {
                                to: "charge",
                                kind: ::dex::__private::EdgeKind::Failure,
                            },
                        ],
                        ..::dex::__private::StepDefinition::DEFAULT
                    },
                ],
                attributes: &[],
                channels: &[],
                rpcs: &[],
                endless: true,
                ..::dex::__private::FlowDefinition::DEFAULT
            };
        "#]],
    );
}

#[test]
fn handles_waits_and_rpcs_are_described() {
    let shop = "
    /// A shop.
    impl Shop {
        /// Where it stands.
        #[attribute(index)]
        const STATUS: Attribute<Status>;
        #[channel]
        const ORDERS: Channel<Order>;
        /// A while.
        #[wait_for(sell)]
        fn pause(&self) -> WaitResult<Self, TimerFired> {
            let itself: SubFlow<Self> = f(SubFlow::<_>::run, || SubFlow::<a::Gift<fn(u8) -> u8, [u8; 4]>>::run(1));
            vec![SubFlow :: < a::Gift<fn(u8)->u8, [u8;4]> > :: run(2)]
        }
        #[step]
        async fn sell(&self, _: (), fired: TimerFired) -> StepResult<Self> {}
        #[rpc]
        fn buy(&self, ctx: &mut RpcContext<Self>, goods: [u8; 4]) -> RpcResult<()> { ctx.start_step(Self::SELL, ()) }
    }";
    check_part(
        "output = Receipt, name = \"the shop\"",
        shop,
        "static DEFINITION",
        &expect![[r#"
            static DEFINITION: ::dex::__private::FlowDefinition = ::dex::__private::FlowDefinition {
                name: "the shop",
                docs: "A shop.",
                output: "Receipt",
                steps: &[
                    ::dex::__private::StepDefinition {
                        name: "sell",
                        docs: "",
                        input: "()",
                        start: false,
                        blocking: false,
                        wait: ::core::option::Option::Some(::dex::__private::WaitDefinition {
                            method: "pause",
                            docs: "A while.",
                            outcome: "TimerFired",
                            sub_flows: &["Shop", "a::Gift<fn(u8) -> u8, [u8; 4]>"],
                        }),
                        retry: ::dex::__private::RetryPolicy::DEFAULT,
                        timeout: ::core::option::Option::None,
                        on_failure: ::core::option::Option::None,
                        edges: &[],
                        ..::dex::__private::StepDefinition::DEFAULT
                    },
                ],
                attributes: &[
                    ::dex::__private::AttributeDefinition {
                        name: "STATUS",
                        docs: "Where it stands.",
                        value: "Status",
                        indexed: true,
                        ..::dex::__private::AttributeDefinition::DEFAULT
                    },
                ],
                channels: &[
                    ::dex::__private::ChannelDefinition {
                        name: "ORDERS",
                        docs: "",
                        value: "Order",
                        ..::dex::__private::ChannelDefinition::DEFAULT
                    },
                ],
                rpcs: &[
                    ::dex::__private::RpcDefinition {
                        name: "buy",
                        docs: "",
                        input: "[u8; 4]",
                        output: "()",
                        writes: true,
                        blocking: true,
                        edges: &[
                            ::dex::__private::Edge {
                                to: "sell",
                                kind: ::dex::__private::EdgeKind::Next,
                            },
                        ],
                        ..::dex::__private::RpcDefinition::DEFAULT
                    },
                ],
                ..::dex::__private::FlowDefinition::DEFAULT
            };
        "#]],
    );
}

#[test]
fn rarer_options_are_written_only_if_they_are_given() {
    let shop = "impl Shop {
        #[attribute(name = \"stored balance\")]
        const BALANCE: Attribute<u64>;
        #[step(start, heartbeat = \"10s\", on_exhausted = park, lock(BALANCE), durability = async)]
        async fn sell(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> { ctx.heartbeat(); Ok(Next::complete(())) }
        #[cfg(unix)]
        #[on_cancel(name = \"take back\", alias = \"undo\")]
        async fn undo(&self) -> StepResult<Self> { Ok(Next::dead_end()) }
        #[rpc(lock(BALANCE), timeout = \"5s\")]
        fn pay(&self, ctx: &mut RpcContext<Self>) -> RpcResult<()> { Ok(()) }
    }";
    check_part(
        "timeout = \"1h\"",
        shop,
        "static DEFINITION",
        &expect![[r#"
            static DEFINITION: ::dex::__private::FlowDefinition = ::dex::__private::FlowDefinition {
                name: "Shop",
                docs: "",
                output: "()",
                steps: &[
                    ::dex::__private::StepDefinition {
                        name: "sell",
                        docs: "",
                        input: "()",
                        start: true,
                        blocking: false,
                        wait: ::core::option::Option::None,
                        retry: ::dex::__private::RetryPolicy::DEFAULT,
                        timeout: ::core::option::Option::None,
                        on_failure: ::core::option::Option::None,
                        edges: &[],
                        heartbeat: ::core::option::Option::Some(
                            ::dex::__private::Duration::from_millis(10000u64),
                        ),
                        on_exhausted: ::dex::__private::OnExhausted::Park,
                        locks: &["stored balance"],
                        durability: ::dex::__private::Durability::Async,
                        ..::dex::__private::StepDefinition::DEFAULT
                    },
                    #[cfg(unix)]
                    ::dex::__private::StepDefinition {
                        name: "take back",
                        docs: "",
                        input: "()",
                        start: false,
                        blocking: false,
                        wait: ::core::option::Option::None,
                        retry: ::dex::__private::RetryPolicy::DEFAULT,
                        timeout: ::core::option::Option::None,
                        on_failure: ::core::option::Option::None,
                        edges: &[],
                        aliases: &["undo"],
                        ..::dex::__private::StepDefinition::DEFAULT
                    },
                ],
                attributes: &[
                    ::dex::__private::AttributeDefinition {
                        name: "stored balance",
                        docs: "",
                        value: "u64",
                        indexed: false,
                        ..::dex::__private::AttributeDefinition::DEFAULT
                    },
                ],
                channels: &[],
                rpcs: &[
                    ::dex::__private::RpcDefinition {
                        name: "pay",
                        docs: "",
                        input: "()",
                        output: "()",
                        writes: true,
                        blocking: true,
                        edges: &[],
                        timeout: ::core::option::Option::Some(
                            ::dex::__private::Duration::from_millis(5000u64),
                        ),
                        locks: &["stored balance"],
                        ..::dex::__private::RpcDefinition::DEFAULT
                    },
                ],
                timeout: ::core::option::Option::Some(
                    ::dex::__private::Duration::from_millis(3600000u64),
                ),
                on_cancel: match &[#[cfg(unix)] "take back"]
                    as &[&'static ::core::primitive::str]
                {
                    [__dex_step, ..] => ::core::option::Option::Some(__dex_step),
                    [] => ::core::option::Option::None,
                },
                ..::dex::__private::FlowDefinition::DEFAULT
            };
        "#]],
    );
}
