//! The word to a handler that it is to stop.

use tokio::sync::watch;

/// How a handler hears that it is to stop.
#[derive(Debug)]
pub(crate) struct StopWord {
    told: watch::Receiver<bool>,
    /// Kept where no engine would say so: that nobody is left who could would be such a word.
    _teller: Option<watch::Sender<bool>>,
}

impl StopWord {
    pub(crate) fn new(told: watch::Receiver<bool>) -> Self {
        Self { told, _teller: None }
    }

    /// One that was said from the start, or never is.
    pub(crate) fn fixed(said: bool) -> Self {
        let (teller, told) = watch::channel(said);
        Self { told, _teller: Some(teller) }
    }

    /// Whether the handler is to stop.
    pub(super) fn is_said(&self) -> bool {
        // Who would have said so is gone: nobody wants the result.
        *self.told.borrow() || self.told.has_changed().is_err()
    }

    /// Completes when the handler is to stop.
    pub(super) fn said(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut told = self.told.clone();
        async move {
            // An error says that who would have said so is gone.
            let _ = told.wait_for(|told| *told).await;
        }
    }
}
