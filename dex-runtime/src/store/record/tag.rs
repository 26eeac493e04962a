//! The numbers by which records tell the kinds of things apart.
//!
//! They are for ever: a number is never changed, and never given to another kind.

pub(super) mod event {
    pub(in super::super) const RUN_STARTED: u8 = 1;
    pub(in super::super) const ATTRIBUTE_SET: u8 = 2;
    pub(in super::super) const ATTRIBUTE_DELETED: u8 = 3;
    pub(in super::super) const MESSAGE_PUBLISHED: u8 = 4;
    pub(in super::super) const RPC_APPLIED: u8 = 5;
    pub(in super::super) const STEP_SCHEDULED: u8 = 6;
    pub(in super::super) const WAIT_STARTED: u8 = 7;
    pub(in super::super) const TIMER_FIRED: u8 = 8;
    pub(in super::super) const WAIT_MET: u8 = 9;
    pub(in super::super) const ATTEMPT_FAILED: u8 = 10;
    pub(in super::super) const RETRY_STARTED: u8 = 11;
    pub(in super::super) const STEP_PARKED: u8 = 12;
    pub(in super::super) const STEP_RESUMED: u8 = 13;
    pub(in super::super) const STEP_COMPLETED: u8 = 14;
    pub(in super::super) const STEP_FAILED: u8 = 15;
    pub(in super::super) const STEP_CANCELED: u8 = 16;
    pub(in super::super) const OUTPUT_PRODUCED: u8 = 17;
    pub(in super::super) const RUN_CLOSED: u8 = 18;
    pub(in super::super) const LOCKS_TAKEN: u8 = 19;
    pub(in super::super) const CHECKPOINT_STORED: u8 = 20;
    pub(in super::super) const HANDED_OUT: u8 = 21;
    pub(in super::super) const TIMEOUT_REACHED: u8 = 22;
    pub(in super::super) const CANCEL_REQUESTED: u8 = 23;
    pub(in super::super) const GRACE_ENDED: u8 = 24;
    pub(in super::super) const RUN_PAUSED: u8 = 25;
    pub(in super::super) const RUN_RESUMED: u8 = 26;
    pub(in super::super) const REQUEST_ANSWERED: u8 = 27;
    pub(in super::super) const STEP_SKIPPED: u8 = 28;
    pub(in super::super) const STEP_SCHEDULED_WITH: u8 = 32;
    pub(in super::super) const CHILD_RUN_STARTED: u8 = 40;
    pub(in super::super) const CHILD_REQUESTED: u8 = 41;
    pub(in super::super) const CHILD_STARTED: u8 = 42;
    pub(in super::super) const CHILD_ENDED: u8 = 43;
    pub(in super::super) const CHILD_STOPPED: u8 = 44;
    pub(in super::super) const PARENT_TOLD: u8 = 45;
    pub(in super::super) const MESSAGE_DELETED: u8 = 60;
    pub(in super::super) const NOTED: u8 = 61;
    pub(in super::super) const CHANNEL_FORGOTTEN: u8 = 70;
}

pub(super) mod source {
    pub(in super::super) const START: u8 = 1;
    pub(in super::super) const STEP: u8 = 2;
    pub(in super::super) const RECOVERY: u8 = 3;
    pub(in super::super) const RPC: u8 = 4;
    pub(in super::super) const TIMEOUT: u8 = 5;
    pub(in super::super) const CANCEL: u8 = 6;
}

/// What an execution recovers from. The first two are those of an option, which it was once.
pub(super) mod recovery {
    pub(in super::super) const NONE: u8 = 0;
    pub(in super::super) const OF_STEP: u8 = 1;
    pub(in super::super) const OF_WAIT: u8 = 2;
}

pub(super) mod failure {
    pub(in super::super) const ERROR: u8 = 1;
    pub(in super::super) const FATAL: u8 = 2;
    pub(in super::super) const PANIC: u8 = 3;
    pub(in super::super) const TIMEOUT: u8 = 4;
    pub(in super::super) const UNWORKABLE: u8 = 5;
    pub(in super::super) const HEARTBEAT_TIMEOUT: u8 = 6;
    pub(in super::super) const CRASH: u8 = 7;
}

pub(super) mod closing {
    pub(in super::super) const COMPLETED: u8 = 1;
    pub(in super::super) const FAILED: u8 = 2;
    pub(in super::super) const STEP_FAILED: u8 = 3;
    pub(in super::super) const STOPPED: u8 = 4;
    pub(in super::super) const TIMED_OUT: u8 = 5;
}

pub(super) mod stop {
    pub(in super::super) const CANCEL: u8 = 1;
    pub(in super::super) const TERMINATE: u8 = 2;
    pub(in super::super) const FAIL: u8 = 3;
}

pub(super) mod condition {
    pub(in super::super) const MESSAGES: u8 = 1;
    pub(in super::super) const TIMER: u8 = 2;
    pub(in super::super) const READY: u8 = 3;
    pub(in super::super) const ANY: u8 = 4;
    pub(in super::super) const ALL: u8 = 5;
    pub(in super::super) const WITH: u8 = 6;
    pub(in super::super) const CHILD: u8 = 10;
}

pub(super) mod matched {
    pub(in super::super) const MESSAGES: u8 = 1;
    pub(in super::super) const PLAIN: u8 = 2;
    pub(in super::super) const ANY: u8 = 3;
    pub(in super::super) const ALL: u8 = 4;
    pub(in super::super) const WITH: u8 = 5;
}

pub(super) mod method {
    pub(in super::super) const WAIT_FOR: u8 = 1;
    pub(in super::super) const EXECUTE: u8 = 2;
}

pub(super) mod phase {
    pub(in super::super) const READY: u8 = 1;
    pub(in super::super) const WAITING: u8 = 2;
    pub(in super::super) const BACKOFF: u8 = 3;
    pub(in super::super) const PARKED: u8 = 4;
    pub(in super::super) const BLOCKED: u8 = 5;
}

pub(super) mod status {
    pub(in super::super) const RUNNING: u8 = 1;
    pub(in super::super) const COMPLETED: u8 = 2;
    pub(in super::super) const FAILED: u8 = 3;
    pub(in super::super) const CANCELED: u8 = 4;
    pub(in super::super) const TERMINATED: u8 = 5;
    pub(in super::super) const PAUSED: u8 = 6;
}

pub(super) mod timeout {
    pub(in super::super) const FAIL: u8 = 1;
    pub(in super::super) const CANCEL: u8 = 2;
    pub(in super::super) const STEP: u8 = 3;
}

pub(super) mod patch {
    pub(in super::super) const INITIAL: u8 = 1;
    pub(in super::super) const FACTOR: u8 = 2;
    pub(in super::super) const MAX_INTERVAL: u8 = 3;
    pub(in super::super) const ATTEMPTS: u8 = 4;
    pub(in super::super) const TOTAL: u8 = 5;
    pub(in super::super) const TIMEOUT: u8 = 6;
    pub(in super::super) const HEARTBEAT: u8 = 7;
    pub(in super::super) const EXHAUSTED: u8 = 8;
    pub(in super::super) const DURABILITY: u8 = 9;
}

pub(super) mod exhausted {
    pub(in super::super) const FAIL: u8 = 1;
    pub(in super::super) const PARK: u8 = 2;
    pub(in super::super) const PROCEED: u8 = 3;
    pub(in super::super) const RECOVER: u8 = 4;
}

pub(super) mod durability {
    pub(in super::super) const SYNC: u8 = 1;
    pub(in super::super) const ASYNC: u8 = 2;
}

/// What follows the last field of a snapshot, if there is any.
pub(super) mod addition {
    pub(in super::super) const PATCHES: u8 = 1;
    pub(in super::super) const FAMILY: u8 = 2;
    pub(in super::super) const SOURCES: u8 = 10;
    pub(in super::super) const NUMBERED: u8 = 20;
}

pub(super) mod content {
    pub(in super::super) const JSON: u8 = 1;
}

pub(super) mod parent_end {
    pub(in super::super) const LEAVE: u8 = 1;
    pub(in super::super) const CANCEL: u8 = 2;
    pub(in super::super) const TERMINATE: u8 = 3;
}

pub(super) mod stage {
    pub(in super::super) const WANTED: u8 = 1;
    pub(in super::super) const OPEN: u8 = 2;
    pub(in super::super) const ENDED: u8 = 3;
}

pub(super) mod origin {
    pub(in super::super) const CLIENT: u8 = 1;
    pub(in super::super) const STEP: u8 = 2;
}
