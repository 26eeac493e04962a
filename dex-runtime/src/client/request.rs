//! Requests with an id: carried out once, however often they come.

use super::handle::RunHandle;
use crate::definition::Flow;
use crate::engine::{Command, RunState};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::Name;
use crate::value::Payload;

/// A request's id with what tells its content from another one's.
#[derive(Clone, Debug)]
pub(super) struct Request {
    id: Name,
    digest: u64,
}

impl Request {
    /// The request `id`, which asks for `what` with `content`.
    pub(super) fn new(id: Name, what: &str, content: &[&[u8]]) -> Self {
        let parts = std::iter::once(what.as_bytes()).chain(content.iter().copied());
        Self { id, digest: digest(parts) }
    }

    /// The command that carries `command` out once.
    pub(super) fn once(self, answer: Payload, command: Command) -> Command {
        let Self { id, digest } = self;
        Command::Once { request: id, digest, answer, command: Box::new(command) }
    }

    /// What was answered to it, if it was carried out before.
    pub(super) fn answered(&self, run: &RunState) -> Result<Option<Payload>> {
        match run.answered(&self.id) {
            None => Ok(None),
            Some(before) if before.digest == self.digest => Ok(Some(before.answer.clone())),
            Some(_) => {
                let message = format!(
                    "run `{}`: request `{}` was made before with other content: use a new id for a new request",
                    run.identity.flow_id, self.id,
                );
                Err(Error::new(ErrorKind::RequestMismatch, message))
            }
        }
    }
}

/// A checksum that is the same in every build: FNV-1a, over each part and its length.
fn digest<'a>(parts: impl Iterator<Item = &'a [u8]>) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    parts.fold(0xcbf2_9ce4_8422_2325, |hash, part| {
        let hash = part.iter().fold(hash, mix);
        (part.len() as u64).to_le_bytes().iter().fold(hash, mix)
    })
}

impl<F: Flow> RunHandle<F> {
    /// A handle whose changes are all one request, called `id`: carried out once, however often it comes.
    ///
    /// A repetition gets the first answer, also after a restart and after the run has ended. It is for
    /// callers that repeat a call when they do not know what became of it.
    ///
    /// ```
    /// # use dex_runtime::{RunHandle, definition::{Channel, Flow}};
    /// # async fn pay<F: Flow<Run = RunHandle<F>>>(run: &RunHandle<F>, paid: Channel<F, u32>) -> dex_runtime::Result<()> {
    /// run.request_id("payment-17")?.publish(paid, 4200).await?;
    /// // Nothing is published a second time.
    /// run.request_id("payment-17")?.publish(paid, 4200).await
    /// # }
    /// ```
    ///
    /// The run remembers its last 1,000 requests, and 4 MiB of their answers.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidId`] if `id` cannot be one. The calls on the handle fail with
    /// [`ErrorKind::RequestMismatch`] if something else was asked under it before.
    pub fn request_id(&self, id: impl AsRef<str>) -> Result<F::Run> {
        let id = Name::new(id)?;
        Ok(RunHandle::of(self.run.clone().with_request(id)).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_differ_by_what_is_asked_and_by_where_its_parts_end() {
        let of = |what, content: &[&[u8]]| Request::new(Name::new("r").unwrap(), what, content).digest;
        assert_eq!(of("publish", &[b"a", b"b"]), of("publish", &[b"a", b"b"]));
        assert_ne!(of("publish", &[b"a", b"b"]), of("stop", &[b"a", b"b"]));
        assert_ne!(of("publish", &[b"ab", b""]), of("publish", &[b"a", b"b"]));
    }

    #[test]
    fn the_checksum_never_changes_since_it_is_stored() {
        assert_eq!(digest(std::iter::once(&b"a"[..])), DIGEST_OF_A);
    }

    const DIGEST_OF_A: u64 = 16_059_730_272_186_482_733;
}
