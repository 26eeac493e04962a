//! Longer pages: what belongs to no single item.

#[doc = include_str!("docs/waiting.md")]
pub mod waiting {}

#[doc = include_str!("docs/contexts.md")]
pub mod contexts {}

#[doc = include_str!("docs/errors.md")]
pub mod errors {}
