//! The pages about what belongs to no single item, and a table of contents of all pages.
//!
//! # In reading order
//!
//! | Page | What it says |
//! |---|---|
//! | [A tour](tour) | Five minutes: a flow, its run, a crash, a question, a test. |
//! | [Flows](macro@crate::flow) | What the block holds, its options, options for all steps; how durations and sizes are written. |
//! | [Steps](macro@crate::step) | Signature, options, retries; long work, locks, steps that are parked. |
//! | [Contexts](contexts) | What a handler sees of its run and does to it, by kind of handler. |
//! | [Decisions](crate::Next) | What a step can say comes next. |
//! | [Waiting](waiting), with [`#[wait_for]`](macro@crate::wait_for) | Conditions, how they are joined, what the step is then given. |
//! | [Attributes](macro@crate::attribute) | State that is typed and durable, and maps of it; who sees what. |
//! | [Channels](macro@crate::channel) | Queues of messages, and maps of them. |
//! | [Streams](macro@crate::stream) | Output that appears while a step runs. |
//! | [RPCs](macro@crate::rpc) | Typed questions to a run, and changes from outside. |
//! | [Sub-flows](crate::SubFlow) | Runs of other flows, which a step waits for. |
//! | [Time limits](macro@crate::on_timeout) and [cancelling](macro@crate::on_cancel) | The steps that the runtime starts when a run's time is up, and when it is cancelled. |
//! | [Keywords](macro@crate::Keyword) | Enums as keys of maps and to search by. |
//! | [Callers](crate::Client) | Starting and finding runs; then [a run](crate::RunHandle) and [its end](crate::RunResult). |
//! | [Tools](crate::DynClient) | The same by names and JSON. |
//! | [Errors](errors) | What a handler may return, what follows, what callers are told. |
//! | [Testing](crate::testing) | A clock that a test moves, and handlers called as plain methods. |
//! | [Operating](crate::Options) | Bounds; and [repairing](crate::Dex::repair) a store. |

#[doc = include_str!("docs/tour.md")]
pub mod tour {}

#[doc = include_str!("docs/waiting.md")]
pub mod waiting {}

#[doc = include_str!("docs/contexts.md")]
pub mod contexts {}

#[doc = include_str!("docs/errors.md")]
pub mod errors {}
