//! What runs can be searched by.

use std::time::{Duration, SystemTime};

/// A value that runs can be searched by: a number, a `bool`, a `char`, text, a time, a list of them, or an enum
/// of unit variants with `#[derive(Keyword)]`.
#[diagnostic::on_unimplemented(
    message = "runs cannot be searched by `{Self}`, so this attribute cannot have `index`",
    label = "not a scalar, text, a time, a list of them or a keyword",
    note = "remove `index`, or derive `Keyword` if it is an enum of unit variants"
)]
pub trait Indexable {
    /// Naming it asks whether the trait is there.
    #[doc(hidden)]
    const INDEXABLE: () = ();
}

macro_rules! indexable {
    ($($ty:ty),* $(,)?) => {
        $(
            #[diagnostic::do_not_recommend]
            impl Indexable for $ty {}
        )*
    };
}

indexable!(bool, char, f32, f64, i8, i16, i32, i64, isize, u8, u16, u32, u64, usize, String);
indexable!(Duration, SystemTime);

#[diagnostic::do_not_recommend]
impl<T: Indexable> Indexable for Vec<T> {}
