//! placeholder
/// placeholder
#[derive(Debug, Clone, thiserror::Error)]
#[error("x")]
pub struct Error {}
/// What calls of the client return.
pub type Result<T> = std::result::Result<T, Error>;
