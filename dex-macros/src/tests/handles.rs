use expect_test::expect;

use super::check_part;

const SHOP: &str = "impl Shop {
    /// Where it stands.
    #[attribute(index)]
    #[cfg(unix)]
    pub const STATUS: Attribute<Vec<Status>>;

    #[channel(name = \"orders\")]
    const ORDERS: dex::prelude::Channel<Order>;

    const OTHER: u8 = { 1 };
}";

#[test]
fn a_handle_gets_its_flow_and_its_name() {
    check_part(
        "",
        SHOP,
        "impl Shop {",
        &expect![[r#"
        impl Shop {
            /// Where it stands.
            #[cfg(unix)]
            pub const STATUS: Attribute<Self, Vec<Status>> = ::dex::__private::Attribute::new(
                "STATUS",
            );
            const ORDERS: dex::prelude::Channel<Self, Order> = ::dex::__private::Channel::new(
                "orders",
            );
            const OTHER: u8 = { 1 };
        }
    "#]],
    );
}

#[test]
fn the_value_of_a_handle_is_checked() {
    check_part(
        "",
        SHOP,
        "fn fits_attribute",
        &expect![[r#"
            fn fits_attribute(
                __dex_place: usize,
                __dex_value: &::dex::__private::Payload,
            ) -> ::dex::__private::Fit {
                let __dex_table: &[fn(
                    &::dex::__private::Payload,
                ) -> ::dex::__private::Fit] = &[
                    #[cfg(unix)]
                    <Vec<Status> as ::dex::__private::Stored>::fits,
                ];
                ::dex::__private::fits_at(__dex_table, __dex_place, __dex_value)
            }
        "#]],
    );
    check_part(
        "",
        SHOP,
        "fn fits_channel",
        &expect![[r#"
            fn fits_channel(
                __dex_place: usize,
                __dex_value: &::dex::__private::Payload,
            ) -> ::dex::__private::Fit {
                let __dex_table: &[fn(
                    &::dex::__private::Payload,
                ) -> ::dex::__private::Fit] = &[<Order as ::dex::__private::Stored>::fits];
                ::dex::__private::fits_at(__dex_table, __dex_place, __dex_value)
            }
        "#]],
    );
}

#[test]
fn an_indexed_value_is_checked_by_the_compiler() {
    let shop = "impl Shop { #[attribute(index)] const STATUS: Attribute<Vec<Status>>; }";
    check_part(
        "",
        shop,
        "const _: () = <Vec<Status>",
        &expect![[r#"
            const _: () = <Vec<Status> as ::dex::__private::Indexable>::INDEXABLE;
        "#]],
    );
}

#[test]
fn a_stream_gets_its_former_name_and_its_capacity() {
    let chat = "impl Chat {
        #[stream(capacity = \"64 KiB\", alias = \"words\")]
        pub const TOKENS: Stream<String>;
        #[stream]
        const COUNTS: Stream<u32>;
    }";
    check_part(
        "",
        chat,
        "impl Chat {",
        &expect![[r#"
        impl Chat {
            pub const TOKENS: Stream<Self, String> = ::dex::__private::Stream::new(
                "TOKENS",
                &["words"],
                65536u64,
            );
            const COUNTS: Stream<Self, u32> = ::dex::__private::Stream::new(
                "COUNTS",
                &[],
                1048576u64,
            );
        }
    "#]],
    );
    check_part(
        "",
        chat,
        "fn definition",
        &expect![[r#"
        fn definition() -> &'static ::dex::__private::FlowDefinition {
            static DEFINITION: ::dex::__private::FlowDefinition = ::dex::__private::FlowDefinition {
                name: "Chat",
                docs: "",
                output: "()",
                steps: &[],
                attributes: &[],
                channels: &[],
                rpcs: &[],
                streams: &[
                    ::dex::__private::StreamDefinition {
                        name: "TOKENS",
                        docs: "",
                        value: "String",
                        aliases: &["words"],
                        capacity: 65536u64,
                    },
                    ::dex::__private::StreamDefinition {
                        name: "COUNTS",
                        docs: "",
                        value: "u32",
                        aliases: &[],
                        capacity: 1048576u64,
                    },
                ],
                ..::dex::__private::FlowDefinition::DEFAULT
            };
            &DEFINITION
        }
    "#]],
    );
}

const MAPS: &str = "impl Shop {
    #[attribute(alias = \"grades\")]
    const SCORES: AttributeMap<String, u32>;

    #[attribute]
    const STATUS: Attribute<Status>;

    #[channel]
    #[cfg(unix)]
    const ORDERS: dex::ChannelMap<(Size, u64), Order>;

    #[channel]
    const PARCELS: Renamed<Self::Key, Order>;
}";

#[test]
fn the_items_of_streams_are_checked() {
    let streams = "impl Chat {
        #[stream] const TOKENS: Stream<String>;
        #[cfg(unix)] #[stream(capacity = \"2 KiB\")] const COUNTS: Stream<Vec<u8>>;
    }";
    check_part(
        "endless",
        streams,
        "fn fits_stream",
        &expect![[r#"
        fn fits_stream(
            __dex_place: usize,
            __dex_value: &::dex::__private::Payload,
        ) -> ::dex::__private::Fit {
            let __dex_table: &[fn(
                &::dex::__private::Payload,
            ) -> ::dex::__private::Fit] = &[
                <String as ::dex::__private::Stored>::fits,
                #[cfg(unix)]
                <Vec<u8> as ::dex::__private::Stored>::fits,
            ];
            ::dex::__private::fits_at(__dex_table, __dex_place, __dex_value)
        }
    "#]],
    );
}

#[test]
fn a_map_gets_its_flow_and_its_name() {
    check_part(
        "",
        MAPS,
        "impl Shop {",
        &expect![[r#"
            impl Shop {
                const SCORES: AttributeMap<Self, String, u32> = ::dex::__private::AttributeMap::new(
                    "SCORES",
                );
                const STATUS: Attribute<Self, Status> = ::dex::__private::Attribute::new("STATUS");
                #[cfg(unix)]
                const ORDERS: dex::ChannelMap<Self, (Size, u64), Order> = ::dex::__private::ChannelMap::new(
                    "ORDERS",
                );
                const PARCELS: Renamed<Self, Self::Key, Order> = ::dex::__private::ChannelMap::new(
                    "PARCELS",
                );
            }
        "#]],
    );
}

#[test]
fn the_keys_of_maps_are_checked() {
    check_part(
        "",
        MAPS,
        "fn fits_attribute_key",
        &expect![[r#"
            fn fits_attribute_key(
                __dex_place: usize,
                __dex_key: &::core::primitive::str,
            ) -> ::core::option::Option<::core::primitive::bool> {
                let __dex_table: &[::core::option::Option<::dex::__private::KeyFits>] = &[
                    ::core::option::Option::Some(
                        <String as ::dex::__private::StoredKey>::fits,
                    ),
                    ::core::option::Option::None,
                ];
                ::dex::__private::key_fits_at(__dex_table, __dex_place, __dex_key)
            }
        "#]],
    );
    check_part(
        "",
        MAPS,
        "fn fits_channel_key",
        &expect![[r#"
            fn fits_channel_key(
                __dex_place: usize,
                __dex_key: &::core::primitive::str,
            ) -> ::core::option::Option<::core::primitive::bool> {
                let __dex_table: &[::core::option::Option<::dex::__private::KeyFits>] = &[
                    #[cfg(unix)]
                    ::core::option::Option::Some(
                        <(Size, u64) as ::dex::__private::StoredKey>::fits,
                    ),
                    ::core::option::Option::Some(
                        <Shop::Key as ::dex::__private::StoredKey>::fits,
                    ),
                ];
                ::dex::__private::key_fits_at(__dex_table, __dex_place, __dex_key)
            }
        "#]],
    );
}

#[test]
fn the_definition_of_a_map_says_the_type_of_its_keys() {
    check_part(
        "",
        MAPS,
        "static DEFINITION",
        &expect![[r#"
            static DEFINITION: ::dex::__private::FlowDefinition = ::dex::__private::FlowDefinition {
                name: "Shop",
                docs: "",
                output: "()",
                steps: &[],
                attributes: &[
                    ::dex::__private::AttributeDefinition {
                        name: "SCORES",
                        docs: "",
                        value: "u32",
                        indexed: false,
                        aliases: &["grades"],
                        key: ::core::option::Option::Some("String"),
                    },
                    ::dex::__private::AttributeDefinition {
                        name: "STATUS",
                        docs: "",
                        value: "Status",
                        indexed: false,
                        ..::dex::__private::AttributeDefinition::DEFAULT
                    },
                ],
                channels: &[
                    #[cfg(unix)]
                    ::dex::__private::ChannelDefinition {
                        name: "ORDERS",
                        docs: "",
                        value: "Order",
                        key: ::core::option::Option::Some("(Size, u64)"),
                        ..::dex::__private::ChannelDefinition::DEFAULT
                    },
                    ::dex::__private::ChannelDefinition {
                        name: "PARCELS",
                        docs: "",
                        value: "Order",
                        key: ::core::option::Option::Some("Self::Key"),
                        ..::dex::__private::ChannelDefinition::DEFAULT
                    },
                ],
                rpcs: &[],
                ..::dex::__private::FlowDefinition::DEFAULT
            };
        "#]],
    );
}
