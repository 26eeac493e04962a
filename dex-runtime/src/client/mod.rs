//! What callers do.
mod handle;
pub use self::handle::RunHandle;
