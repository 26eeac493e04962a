//! What a run holds, read and written from outside: attributes, messages, the places of its steps.

use super::change::Changed;
use super::handle::RunHandle;
use super::reply::Reply;
use super::untyped::UntypedRun;
use super::waiting::Waiting;
use crate::definition::{AttributeHandle, ChannelHandle, Flow, Step};
use crate::engine::{Command, Read, RunState, Staged, WriteReport};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::Slot;
use crate::value::{Payload, Value, ValueError};

impl<F: Flow> RunHandle<F> {
    /// The attribute's value, if it is set; also of a run that has ended.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidValue`] if the stored value does not fit the type.
    #[expect(clippy::needless_pass_by_value, reason = "a handle is written where it is used")]
    pub fn get<A: AttributeHandle<F>>(&self, attribute: A) -> Reply<'_, Option<A::Value>> {
        let (run, slot) = (&self.run, attribute.slot());
        Reply::new(async move {
            let slot = slot?;
            let stored = run.attribute(&slot).await?;
            let decoded = stored.map(|(value, _)| value.decode()).transpose();
            decoded.map_err(|error| run.misfit("attribute", &slot, &error))
        })
    }

    /// Sets the attribute, whatever it was. Once it returns the value is on disk.
    ///
    /// A step that runs at this moment may overwrite it with what it decided on before. To change a value that
    /// depends on the old one, use [`update`](Self::update).
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::Closed`]: the run has ended; nothing was written.
    /// - [`ErrorKind::InvalidValue`]: the value cannot be stored.
    #[expect(clippy::needless_pass_by_value, reason = "a handle is written where it is used")]
    pub fn set<A: AttributeHandle<F>>(&self, attribute: A, value: A::Value) -> Reply<'_, ()> {
        let (run, slot) = (&self.run, attribute.slot());
        Reply::new(async move {
            let slot = slot?;
            let value = attribute_value(&slot, &value)?;
            run.write_attribute(slot, Some(value)).await
        })
    }

    /// Unsets the attribute.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Closed`] if the run has ended; nothing was written.
    #[expect(clippy::needless_pass_by_value, reason = "a handle is written where it is used")]
    pub fn delete<A: AttributeHandle<F>>(&self, attribute: A) -> Reply<'_, ()> {
        let (run, slot) = (&self.run, attribute.slot());
        Reply::new(async move { run.write_attribute(slot?, None).await })
    }

    /// Sets the attribute to what `change` makes of its value, and gives the new one.
    ///
    /// No write of others is lost: if somebody else writes the attribute meanwhile, `change` is called again
    /// with what they wrote. A repetition of a [request](Self::request_id) calls it, too, but gives the value that
    /// the first one wrote.
    ///
    /// ```
    /// # use dex_runtime::definition::{Attribute, Flow};
    /// # use dex_runtime::{Result, RunHandle};
    /// # async fn example<F: Flow>(run: RunHandle<F>, total: Attribute<F, u64>) -> Result<()> {
    /// let total = run.update(total, |old| old.unwrap_or(0) + 1).await?;
    /// assert!(total >= 1);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::Timeout`]: others were faster in each of
    ///   [`rpc_attempts_max`](crate::Options::rpc_attempts_max) attempts; nothing was written.
    /// - [`ErrorKind::Closed`]: the run has ended; nothing was written.
    /// - [`ErrorKind::InvalidValue`]: the old value does not fit the type, or the new one cannot be stored.
    #[expect(clippy::needless_pass_by_value, reason = "a handle is written where it is used")]
    pub fn update<'a, A: AttributeHandle<F>>(
        &'a self,
        attribute: A,
        change: impl FnMut(Option<A::Value>) -> A::Value + Send + 'a,
    ) -> Reply<'a, A::Value> {
        let slot = attribute.slot();
        Reply::new(async move { self.update_slot(&slot?, change).await })
    }

    async fn update_slot<T: Value>(&self, slot: &Slot, mut change: impl FnMut(Option<T>) -> T) -> Result<T> {
        let request = self.run.request("update", &[slot.to_string().as_bytes()]);
        let attempts = self.run.core.options().rpc_attempts_max;
        for _ in 0..attempts {
            let (old, version) = self.run.attribute(slot).await?.unzip();
            let old = old.map(|old: Payload| old.decode()).transpose();
            let new = change(old.map_err(|error| self.run.misfit("attribute", slot, &error))?);
            let value = attribute_value(slot, &new)?;
            let attributes = vec![(slot.clone(), Some(value.clone()))];
            let staged = Staged { attributes, ..Staged::default() };
            let write =
                Command::Write(WriteReport { reads: vec![Read::Attribute(slot.clone(), version)], staged });
            match self.run.transact(request.clone(), value, write).await? {
                Changed::Done => return Ok(new),
                Changed::Before(answer) => {
                    let before = answer.decode();
                    return before
                        .map_err(|error| self.run.misfit("the remembered value of attribute", slot, &error));
                }
                Changed::Conflict => {}
            }
        }
        let message = format!(
            "attribute `{slot}` of run `{}` was written by others in each of {attempts} attempts to update it; \
             nothing was written",
            self.flow_id(),
        );
        Err(Error::new(ErrorKind::Timeout, message))
    }

    /// The messages of a channel that no wait has taken yet, oldest first. They stay where they are.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidValue`] if a stored message does not fit the type.
    #[expect(clippy::needless_pass_by_value, reason = "a handle is written where it is used")]
    pub fn messages<C: ChannelHandle<F>>(&self, channel: C) -> Reply<'_, Vec<C::Value>> {
        let (run, slot) = (&self.run, channel.slot());
        Reply::new(async move {
            let slot = slot?;
            let messages = run.messages(&slot).await?;
            let decoded: Result<_, _> = messages.iter().map(|(_, message)| message.decode()).collect();
            decoded.map_err(|error| run.misfit("a message of channel", &slot, &error))
        })
    }

    /// Waits until `predicate` holds for the attribute's value, and gives the value; `None` is an attribute
    /// that is not set.
    ///
    /// It is asked at once, and then whenever the run has changed. No state that stays is missed; of values
    /// that follow one another quickly, it may see only the last. It sees what is on disk only.
    ///
    /// ```
    /// # use dex_runtime::definition::{Attribute, Flow};
    /// # use dex_runtime::{Result, RunHandle};
    /// # async fn example<F: Flow>(run: RunHandle<F>, total: Attribute<F, u64>) -> Result<()> {
    /// let total = run.wait_until(total, |total| total.is_some_and(|total| *total >= 100)).await?;
    /// assert!(total.is_some());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::Closed`]: the run has ended, and with the last value the predicate does not hold.
    /// - [`ErrorKind::Timeout`]: a budget was given with [`timeout`](Waiting::timeout), and is used up.
    /// - [`ErrorKind::InvalidValue`]: a stored value does not fit the type.
    #[expect(clippy::needless_pass_by_value, reason = "a handle is written where it is used")]
    pub fn wait_until<A: AttributeHandle<F>>(
        &self,
        attribute: A,
        mut predicate: impl FnMut(Option<&A::Value>) -> bool + Send + 'static,
    ) -> Waiting<Option<A::Value>> {
        let (run, slot) = (self.run.clone(), attribute.slot());
        let what = match &slot {
            Ok(slot) => format!("the awaited value of attribute `{slot}`"),
            Err(_) => "the awaited value of an attribute".to_owned(),
        };
        Waiting::new(&self.run, &what, |looked| async move {
            let slot = slot?;
            let look =
                |state: &RunState| state.attributes.get(&slot).map(|attribute| attribute.value.clone());
            let judge = |value: Option<Payload>| {
                let value = value.map(|value| value.decode()).transpose();
                let value: Option<A::Value> =
                    value.map_err(|error| run.misfit("attribute", &slot, &error))?;
                Ok(predicate(value.as_ref()).then_some(value))
            };
            run.until(&looked, look, judge).await
        })
    }

    /// Waits until the `n`-th execution of `step`, counted from 1, has ended: completed, failed for good or
    /// canceled. One that ended long ago is no wait.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::Closed`]: the run has ended without so many executions of the step.
    /// - [`ErrorKind::Timeout`]: a budget was given with [`timeout`](Waiting::timeout), and is used up.
    /// - [`ErrorKind::InvalidValue`]: `n` is 0.
    pub fn wait_for_step<I>(&self, step: Step<F, I>, n: u32) -> Waiting<()> {
        let (run, step) = (self.run.clone(), step.name());
        let what = format!("the end of step execution `{step}-{n}`");
        Waiting::new(&self.run, &what, |looked| async move {
            if n == 0 {
                let message =
                    format!("executions of step `{step}` are counted from 1: there is no `{step}-0`");
                return Err(Error::new(ErrorKind::InvalidValue, message));
            }
            run.until(&looked, |state| has_ended(state, step, n), |ended| Ok(ended.then_some(()))).await
        })
    }
}

impl UntypedRun {
    /// The error of a stored value that does not fit the type it was asked for as.
    pub(super) fn misfit(&self, what: &str, slot: &Slot, error: &ValueError) -> Error {
        let what = format!("{what} `{slot}` of run `{}`", self.flow_id);
        Error::new(ErrorKind::InvalidValue, error.clone().of(what).to_string())
    }
}

/// The encoded value for an attribute.
pub(super) fn attribute_value<T: Value>(slot: &Slot, value: &T) -> Result<Payload, ValueError> {
    Payload::encode(value).map_err(|error| error.of(format_args!("the value for attribute `{slot}`")))
}

/// The encoded message for a channel.
pub(super) fn message<T: Value>(slot: &Slot, message: &T) -> Result<Payload, ValueError> {
    Payload::encode(message).map_err(|error| error.of(format_args!("the message for channel `{slot}`")))
}

fn has_ended(state: &RunState, step: &str, n: u32) -> bool {
    let scheduled = state.step_counts.get(step).is_some_and(|count| *count >= n);
    let open = || state.executions.values().any(|open| open.number == n && open.step.as_str() == step);
    scheduled && !open()
}
