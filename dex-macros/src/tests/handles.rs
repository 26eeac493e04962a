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
