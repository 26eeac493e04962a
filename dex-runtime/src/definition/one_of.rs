//! What a step is given by `any` of a tuple: which alternative won, and what it gave.
//!
//! The enums are written out, as the compiler quotes them to whoever forgets an alternative; a macro would be quoted instead.

#![expect(missing_docs, reason = "the names of the variants say their places in the tuple")]

use serde::{Deserialize, Serialize};

/// Which of two conditions won, and what it gave: the outcome of [`Wait::any`](super::wait::Wait::any) of a tuple.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum OneOf2<A, B> {
    #[serde(rename = "0")]
    First(A),
    #[serde(rename = "1")]
    Second(B),
}

/// Which of three conditions won, and what it gave: the outcome of [`Wait::any`](super::wait::Wait::any) of a tuple.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum OneOf3<A, B, C> {
    #[serde(rename = "0")]
    First(A),
    #[serde(rename = "1")]
    Second(B),
    #[serde(rename = "2")]
    Third(C),
}

/// Which of four conditions won, and what it gave: the outcome of [`Wait::any`](super::wait::Wait::any) of a tuple.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum OneOf4<A, B, C, D> {
    #[serde(rename = "0")]
    First(A),
    #[serde(rename = "1")]
    Second(B),
    #[serde(rename = "2")]
    Third(C),
    #[serde(rename = "3")]
    Fourth(D),
}

/// Which of five conditions won, and what it gave: the outcome of [`Wait::any`](super::wait::Wait::any) of a tuple.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum OneOf5<A, B, C, D, E> {
    #[serde(rename = "0")]
    First(A),
    #[serde(rename = "1")]
    Second(B),
    #[serde(rename = "2")]
    Third(C),
    #[serde(rename = "3")]
    Fourth(D),
    #[serde(rename = "4")]
    Fifth(E),
}

/// Which of six conditions won, and what it gave: the outcome of [`Wait::any`](super::wait::Wait::any) of a tuple.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum OneOf6<A, B, C, D, E, F> {
    #[serde(rename = "0")]
    First(A),
    #[serde(rename = "1")]
    Second(B),
    #[serde(rename = "2")]
    Third(C),
    #[serde(rename = "3")]
    Fourth(D),
    #[serde(rename = "4")]
    Fifth(E),
    #[serde(rename = "5")]
    Sixth(F),
}

/// Which of seven conditions won, and what it gave: the outcome of [`Wait::any`](super::wait::Wait::any) of a tuple.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum OneOf7<A, B, C, D, E, F, G> {
    #[serde(rename = "0")]
    First(A),
    #[serde(rename = "1")]
    Second(B),
    #[serde(rename = "2")]
    Third(C),
    #[serde(rename = "3")]
    Fourth(D),
    #[serde(rename = "4")]
    Fifth(E),
    #[serde(rename = "5")]
    Sixth(F),
    #[serde(rename = "6")]
    Seventh(G),
}

/// Which of eight conditions won, and what it gave: the outcome of [`Wait::any`](super::wait::Wait::any) of a tuple.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum OneOf8<A, B, C, D, E, F, G, H> {
    #[serde(rename = "0")]
    First(A),
    #[serde(rename = "1")]
    Second(B),
    #[serde(rename = "2")]
    Third(C),
    #[serde(rename = "3")]
    Fourth(D),
    #[serde(rename = "4")]
    Fifth(E),
    #[serde(rename = "5")]
    Sixth(F),
    #[serde(rename = "6")]
    Seventh(G),
    #[serde(rename = "7")]
    Eighth(H),
}

/// Which of nine conditions won, and what it gave: the outcome of [`Wait::any`](super::wait::Wait::any) of a tuple.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum OneOf9<A, B, C, D, E, F, G, H, I> {
    #[serde(rename = "0")]
    First(A),
    #[serde(rename = "1")]
    Second(B),
    #[serde(rename = "2")]
    Third(C),
    #[serde(rename = "3")]
    Fourth(D),
    #[serde(rename = "4")]
    Fifth(E),
    #[serde(rename = "5")]
    Sixth(F),
    #[serde(rename = "6")]
    Seventh(G),
    #[serde(rename = "7")]
    Eighth(H),
    #[serde(rename = "8")]
    Ninth(I),
}

/// Which of ten conditions won, and what it gave: the outcome of [`Wait::any`](super::wait::Wait::any) of a tuple.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum OneOf10<A, B, C, D, E, F, G, H, I, J> {
    #[serde(rename = "0")]
    First(A),
    #[serde(rename = "1")]
    Second(B),
    #[serde(rename = "2")]
    Third(C),
    #[serde(rename = "3")]
    Fourth(D),
    #[serde(rename = "4")]
    Fifth(E),
    #[serde(rename = "5")]
    Sixth(F),
    #[serde(rename = "6")]
    Seventh(G),
    #[serde(rename = "7")]
    Eighth(H),
    #[serde(rename = "8")]
    Ninth(I),
    #[serde(rename = "9")]
    Tenth(J),
}

/// Which of eleven conditions won, and what it gave: the outcome of [`Wait::any`](super::wait::Wait::any) of a tuple.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum OneOf11<A, B, C, D, E, F, G, H, I, J, K> {
    #[serde(rename = "0")]
    First(A),
    #[serde(rename = "1")]
    Second(B),
    #[serde(rename = "2")]
    Third(C),
    #[serde(rename = "3")]
    Fourth(D),
    #[serde(rename = "4")]
    Fifth(E),
    #[serde(rename = "5")]
    Sixth(F),
    #[serde(rename = "6")]
    Seventh(G),
    #[serde(rename = "7")]
    Eighth(H),
    #[serde(rename = "8")]
    Ninth(I),
    #[serde(rename = "9")]
    Tenth(J),
    #[serde(rename = "10")]
    Eleventh(K),
}

/// Which of twelve conditions won, and what it gave: the outcome of [`Wait::any`](super::wait::Wait::any) of a tuple.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum OneOf12<A, B, C, D, E, F, G, H, I, J, K, L> {
    #[serde(rename = "0")]
    First(A),
    #[serde(rename = "1")]
    Second(B),
    #[serde(rename = "2")]
    Third(C),
    #[serde(rename = "3")]
    Fourth(D),
    #[serde(rename = "4")]
    Fifth(E),
    #[serde(rename = "5")]
    Sixth(F),
    #[serde(rename = "6")]
    Seventh(G),
    #[serde(rename = "7")]
    Eighth(H),
    #[serde(rename = "8")]
    Ninth(I),
    #[serde(rename = "9")]
    Tenth(J),
    #[serde(rename = "10")]
    Eleventh(K),
    #[serde(rename = "11")]
    Twelfth(L),
}
