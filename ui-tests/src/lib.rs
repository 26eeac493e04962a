//! Compile-fail and compile-pass cases of the macros of dex; see `tests/`.
