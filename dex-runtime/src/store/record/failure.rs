//! How attempts fail and how runs end.

use super::bytes::{ReadError, Reader, Writer};
use super::tag;
use crate::engine::{Closing, Failure, FailureKind, Recovery, Source, Stop};

impl Writer {
    pub(super) fn failure(&mut self, failure: &Failure) {
        self.byte(match failure.kind {
            FailureKind::Error => tag::failure::ERROR,
            FailureKind::Fatal => tag::failure::FATAL,
            FailureKind::Panic => tag::failure::PANIC,
            FailureKind::Timeout => tag::failure::TIMEOUT,
            FailureKind::Unworkable => tag::failure::UNWORKABLE,
            FailureKind::HeartbeatTimeout => tag::failure::HEARTBEAT_TIMEOUT,
            FailureKind::Crash => tag::failure::CRASH,
        });
        self.text(&failure.type_name);
        self.text(&failure.message);
        self.list(&failure.chain, |out, text| out.text(text));
        self.option(failure.place.as_deref(), Self::text);
    }

    /// What an execution recovers from, if it is a recovery.
    pub(super) fn recovery(&mut self, recovery: Option<&Recovery>) {
        let Some(recovery) = recovery else { return self.byte(tag::recovery::NONE) };
        self.byte(if recovery.may_have_run { tag::recovery::OF_STEP } else { tag::recovery::OF_WAIT });
        self.name(&recovery.step);
        self.failure(&recovery.failure);
        self.number(recovery.attempts.into());
    }

    pub(super) fn source(&mut self, source: &Source) {
        match source {
            Source::Start => self.byte(tag::source::START),
            Source::Step(execution) => {
                self.byte(tag::source::STEP);
                self.execution(*execution);
            }
            Source::Recovery(execution) => {
                self.byte(tag::source::RECOVERY);
                self.execution(*execution);
            }
            Source::Timeout => self.byte(tag::source::TIMEOUT),
            Source::Cancel => self.byte(tag::source::CANCEL),
            Source::Rpc(rpc) => {
                self.byte(tag::source::RPC);
                self.name(rpc);
            }
        }
    }

    pub(super) fn closing(&mut self, closing: &Closing) {
        match closing {
            Closing::Completed => self.byte(tag::closing::COMPLETED),
            Closing::Failed { reason } => {
                self.byte(tag::closing::FAILED);
                self.text(reason);
            }
            Closing::StepFailed { step, number, failure } => {
                self.byte(tag::closing::STEP_FAILED);
                self.name(step);
                self.number((*number).into());
                self.failure(failure);
            }
            Closing::TimedOut => self.byte(tag::closing::TIMED_OUT),
            Closing::Stopped { stop, reason } => {
                self.byte(tag::closing::STOPPED);
                self.byte(match stop {
                    Stop::Cancel => tag::stop::CANCEL,
                    Stop::Terminate => tag::stop::TERMINATE,
                    Stop::Fail => tag::stop::FAIL,
                });
                self.option(reason.as_deref(), Self::text);
            }
        }
    }
}

impl Reader<'_> {
    pub(super) fn failure(&mut self) -> Result<Failure, ReadError> {
        Ok(Failure {
            kind: self.failure_kind()?,
            type_name: self.text()?.to_owned(),
            message: self.text()?.to_owned(),
            chain: self.list(|input| input.text().map(str::to_owned))?,
            place: self.option(|input| input.text().map(str::to_owned))?,
        })
    }

    fn failure_kind(&mut self) -> Result<FailureKind, ReadError> {
        Ok(match self.byte()? {
            tag::failure::ERROR => FailureKind::Error,
            tag::failure::FATAL => FailureKind::Fatal,
            tag::failure::PANIC => FailureKind::Panic,
            tag::failure::TIMEOUT => FailureKind::Timeout,
            tag::failure::UNWORKABLE => FailureKind::Unworkable,
            tag::failure::HEARTBEAT_TIMEOUT => FailureKind::HeartbeatTimeout,
            tag::failure::CRASH => FailureKind::Crash,
            other => return Err(self.unknown_tag("failure", other)),
        })
    }

    pub(super) fn recovery(&mut self) -> Result<Option<Recovery>, ReadError> {
        let may_have_run = match self.byte()? {
            tag::recovery::NONE => return Ok(None),
            tag::recovery::OF_STEP => true,
            tag::recovery::OF_WAIT => false,
            other => return Err(self.unknown_tag("recovery", other)),
        };
        let (step, failure, attempts) = (self.name()?, self.failure()?, self.small_number()?);
        Ok(Some(Recovery { step, failure, attempts, may_have_run }))
    }

    pub(super) fn source(&mut self) -> Result<Source, ReadError> {
        Ok(match self.byte()? {
            tag::source::START => Source::Start,
            tag::source::STEP => Source::Step(self.execution()?),
            tag::source::RECOVERY => Source::Recovery(self.execution()?),
            tag::source::TIMEOUT => Source::Timeout,
            tag::source::CANCEL => Source::Cancel,
            tag::source::RPC => Source::Rpc(self.name()?),
            other => return Err(self.unknown_tag("source", other)),
        })
    }

    pub(super) fn closing(&mut self) -> Result<Closing, ReadError> {
        Ok(match self.byte()? {
            tag::closing::COMPLETED => Closing::Completed,
            tag::closing::FAILED => Closing::Failed { reason: self.text()?.to_owned() },
            tag::closing::STEP_FAILED => Closing::StepFailed {
                step: self.name()?,
                number: self.small_number()?,
                failure: self.failure()?,
            },
            tag::closing::TIMED_OUT => Closing::TimedOut,
            tag::closing::STOPPED => Closing::Stopped {
                stop: self.stop()?,
                reason: self.option(|input| input.text().map(str::to_owned))?,
            },
            other => return Err(self.unknown_tag("closing", other)),
        })
    }

    fn stop(&mut self) -> Result<Stop, ReadError> {
        Ok(match self.byte()? {
            tag::stop::CANCEL => Stop::Cancel,
            tag::stop::TERMINATE => Stop::Terminate,
            tag::stop::FAIL => Stop::Fail,
            other => return Err(self.unknown_tag("stop", other)),
        })
    }
}
