use dex::prelude::*;

struct Chat;

impl Chat {
    #[stream(capacity = "1 MiB")]
    const TOKENS: Stream<String>;
}

fn main() {}
