//! Options are judged in two places, at compile time and for one movement at run time: by the same rules.

use std::time::Duration;

use dex_runtime::definition::{Durability, OnExhausted, Step, StepDefinition, StepOptions};
use dex_runtime::engine::RetryPolicy;

use super::{expansion, messages};

type Options = StepOptions<(), ()>;

const OPTIONS: Options = StepOptions::new();

/// The mistakes in `#[step(start, options)]`.
fn at_compile_time(options: &str) -> Vec<String> {
    let shop = format!(
        "impl Shop {{
            #[step(start, {options})]
            async fn sell(&self, ctx: &mut StepContext<Self>) -> StepResult<Self> {{
                ctx.heartbeat();
                Self::MEND;
                Next::complete(())
            }}
            #[step]
            async fn mend(&self) -> StepResult<Self> {{}}
        }}"
    );
    messages(expansion("", &shop))
}

/// The mistake in the same options of a movement.
fn at_run_time(options: &Options) -> Option<String> {
    static PLAIN: StepDefinition = StepDefinition::DEFAULT;
    options.check(&PLAIN).err().map(|wrong| wrong.to_string())
}

fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

#[test]
fn what_is_a_mistake_of_a_step_is_one_of_a_movement() {
    let century = secs(36_500 * 24 * 3600);
    let mend = Step::new("mend");
    let rows: &[(&str, Options)] = &[
        ("timeout = \"1ms\"", OPTIONS.timeout(Duration::from_millis(1))),
        ("timeout = \"0s\"", OPTIONS.timeout(Duration::ZERO)),
        ("heartbeat = \"0s\"", OPTIONS.heartbeat(Duration::ZERO)),
        ("timeout = \"36500d\"", OPTIONS.timeout(century)),
        ("timeout = \"36500d 1ms\"", OPTIONS.timeout(century + Duration::from_millis(1))),
        ("timeout = \"30s\", heartbeat = \"30s\"", OPTIONS.timeout(secs(30)).heartbeat(secs(30))),
        ("timeout = \"30s\", heartbeat = \"29s\"", OPTIONS.timeout(secs(30)).heartbeat(secs(29))),
        ("retry(initial = \"0s\")", OPTIONS.initial(Duration::ZERO)),
        ("retry(total = \"0s\")", OPTIONS.total(Duration::ZERO)),
        ("retry(max_interval = \"0s\")", OPTIONS.max_interval(Duration::ZERO)),
        ("retry(initial = \"100s\")", OPTIONS.initial(secs(100))),
        ("retry(initial = \"101s\")", OPTIONS.initial(secs(101))),
        ("retry(initial = \"9s\", max_interval = \"8s\")", OPTIONS.initial(secs(9)).max_interval(secs(8))),
        ("retry(factor = 1)", OPTIONS.factor(1.0)),
        ("retry(factor = 0.99)", OPTIONS.factor(0.99)),
        ("retry(factor = 1000)", OPTIONS.factor(1000.0)),
        ("retry(factor = 1000.5)", OPTIONS.factor(1000.5)),
        ("retry(attempts = 0)", OPTIONS.attempts(0)),
        ("retry(attempts = 1)", OPTIONS.attempts(1)),
        ("on_failure = mend", OPTIONS.on_failure(mend)),
        ("on_failure = mend, on_exhausted = park", OPTIONS.on_failure(mend).on_exhausted(OnExhausted::Park)),
        ("on_failure = mend, durability = async", OPTIONS.on_failure(mend).durability(Durability::Async)),
        ("on_failure = mend, durability = sync", OPTIONS.on_failure(mend).durability(Durability::Sync)),
    ];
    for (text, options) in rows {
        let (compiled, ran) = (at_compile_time(text), at_run_time(options));
        assert_eq!(compiled.is_empty(), ran.is_none(), "{text}: {compiled:?}, {ran:?}");
        assert!(compiled.len() <= 1, "one mistake, one message: {compiled:?}");
    }
}

#[test]
fn what_is_not_said_is_taken_alike() {
    // The rules over pairs know the pauses of a step that says nothing.
    let RetryPolicy { initial, max_interval, .. } = RetryPolicy::DEFAULT;
    assert_eq!((initial, max_interval), (secs(1), secs(100)));
    assert!(at_compile_time("retry(max_interval = \"1s\")").is_empty());
    assert_eq!(at_compile_time("retry(max_interval = \"999ms\")").len(), 1);
    // A movement may cut short what its step says.
    assert_eq!(at_run_time(&OPTIONS.max_interval(Duration::from_millis(999))), None);
}
