//! What a running step gives before its end: items of streams at once, text that is collected first, checkpoints,
//! and signs of life.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use super::live::Pulse;
use crate::definition::call::CallFuture;
use crate::definition::error::StepError;
use crate::definition::stream::{StreamError, StreamKey};
use crate::time::{Clock, Timestamp};
use crate::value::Payload;

/// Text is written once so many bytes have come together. A chunk is never split, so it may be more.
const TEXT_BYTES: usize = 16 * 1024;

/// Text is written so long after its first chunk came: a person who reads along does not mind a second.
const TEXT_AFTER: Duration = Duration::from_secs(1);

/// Where items and checkpoints of an attempt go.
pub(crate) trait Outlet: Any + Send + Sync {
    /// Appends an item, at once or not at all; with room it is taken for certain while the attempt goes on.
    fn append(&self, stream: StreamKey, value: Payload, room: Option<Room>) -> Result<(), StreamError>;

    /// Waits until there is room for an item whose value has so many bytes.
    fn room(&self, stream: StreamKey, bytes: usize) -> CallFuture<Result<Room, StreamError>>;

    /// Bytes of the largest value that fits into the stream.
    fn largest(&self, stream: StreamKey) -> usize;

    /// Writes down how far the step has come.
    fn keep(&self, checkpoint: Payload) -> Result<(), StepError>;
}

/// Room for an item, until it is dropped: something of the outlet's own.
pub(crate) type Room = Box<dyn Any + Send>;

/// The streams that an attempt of a step appends to, and what else it gives before its end.
pub(crate) type Streams = StreamsOf<dyn Outlet>;

/// One allocation for all of it, with the outlet at its end: every step call makes one, and few use it.
pub(crate) struct StreamsOf<O: ?Sized> {
    clock: Arc<dyn Clock>,
    pulse: Pulse,
    texts: Mutex<Texts>,
    outlet: O,
}

#[derive(Debug, Default)]
struct Texts {
    buffers: Vec<Buffer>,
    /// Who writes text when its time has come.
    waker: Option<Waker>,
    /// The attempt is over.
    over: bool,
}

/// Text of one stream that was not written yet.
#[derive(Debug)]
struct Buffer {
    stream: StreamKey,
    text: String,
    /// Bytes of the text when it is encoded, or a little more.
    encoded: usize,
    /// When it is to be written.
    due: Option<Timestamp>,
    /// Why text was lost, for whoever comes next.
    lost: Option<StreamError>,
}

/// What became of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pushed {
    /// It waits for more.
    Kept,
    /// It was kept, and there is enough to be written.
    Enough,
    /// It was not kept: what is there has to be written first.
    WriteFirst,
}

impl Streams {
    /// Those of an attempt that starts at `start`.
    pub(crate) fn new(outlet: impl Outlet + 'static, clock: &Arc<dyn Clock>, start: Timestamp) -> Arc<Self> {
        let (clock, pulse, texts) = (Arc::clone(clock), Pulse::new(start), Mutex::default());
        Arc::new(StreamsOf { clock, pulse, texts, outlet })
    }

    /// Notes a sign of life.
    pub(super) fn beat(&self) {
        self.pulse.beat(self.clock.now());
    }

    /// When the last sign of life was.
    pub(crate) fn last_beat(&self) -> Timestamp {
        self.pulse.last()
    }

    /// Writes down how far the step has come, which is a sign of life, too.
    pub(super) fn keep(&self, checkpoint: Payload) -> Result<(), StepError> {
        self.beat();
        self.outlet.keep(checkpoint)
    }

    fn lock(&self) -> MutexGuard<'_, Texts> {
        // The buffers are whole at every point where a panic could happen.
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the items go, for who knows what it is.
    pub(crate) fn outlet(&self) -> &dyn Any {
        &self.outlet
    }

    /// The text of the stream that was not written yet, as the item that it will be.
    pub(crate) fn pending(&self, stream: StreamKey) -> Option<Payload> {
        let texts = self.lock();
        let buffer = texts.buffers.iter().find(|buffer| buffer.stream.name == stream.name);
        let text = buffer.map(|buffer| &buffer.text).filter(|text| !text.is_empty())?;
        Payload::encode(text).ok()
    }

    /// Appends an item, behind the text that was pushed before it.
    pub(super) fn append(&self, stream: StreamKey, value: Payload) -> Result<(), StreamError> {
        self.beat();
        self.check(stream, value.as_bytes().len())?;
        let mut texts = self.lock();
        texts.check(stream)?;
        if let Some(buffer) = texts.buffers.iter_mut().find(|buffer| buffer.stream.name == stream.name) {
            buffer.write(&self.outlet, None)?;
        }
        self.outlet.append(stream, value, None)
    }

    fn check(&self, stream: StreamKey, bytes: usize) -> Result<(), StreamError> {
        let max = self.outlet.largest(stream);
        if bytes > max {
            return Err(StreamError::TooLarge { stream: stream.name, bytes, max });
        }
        Ok(())
    }

    /// Adds a chunk to the text of the stream.
    fn push(&self, stream: StreamKey, chunk: &str) -> Result<Pushed, StreamError> {
        self.beat();
        let encoded = Payload::encode(chunk)
            .map_err(|error| error.of(format_args!("the text for stream `{}`", stream.name)))?;
        let encoded = encoded.as_bytes().len();
        self.check(stream, encoded)?;
        let max = self.outlet.largest(stream);
        let mut texts = self.lock();
        texts.check(stream)?;
        if chunk.is_empty() {
            return Ok(Pushed::Kept);
        }
        let due = self.clock.now().saturating_add(TEXT_AFTER);
        let buffer = texts.buffer(stream)?;
        let is_enough = |buffer: &Buffer| buffer.text.len() >= TEXT_BYTES;
        if is_enough(buffer) || !buffer.text.is_empty() && buffer.encoded + encoded > max {
            return Ok(Pushed::WriteFirst);
        }
        buffer.text.push_str(chunk);
        buffer.encoded += encoded;
        let is_first = buffer.due.is_none();
        buffer.due.get_or_insert(due);
        let enough = is_enough(buffer);
        // Whoever is to write it has to know when; not at each chunk.
        if is_first && let Some(waker) = texts.waker.take() {
            waker.wake();
        }
        Ok(if enough { Pushed::Enough } else { Pushed::Kept })
    }

    /// Writes the text of the stream, at once or not at all.
    fn try_write(&self, stream: StreamKey) -> Result<(), StreamError> {
        self.lock().buffer(stream)?.write(&self.outlet, None)
    }

    /// Writes the text of the stream as soon as there is room for it. Dropped before, it leaves the text where it is.
    async fn write(&self, stream: StreamKey) -> Result<(), StreamError> {
        let bytes = self.lock().buffer(stream)?.encoded;
        if bytes == 0 {
            return Ok(());
        }
        let room = self.outlet.room(stream, bytes).await?;
        self.lock().buffer(stream)?.write(&self.outlet, Some(room))
    }

    /// When the next text is to be written. Whoever asks is woken if there is one later.
    pub(crate) fn due(&self, waker: &Waker) -> Option<Timestamp> {
        let mut texts = self.lock();
        let due = texts.buffers.iter().filter_map(|buffer| buffer.due).min();
        if due.is_none() && !texts.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            texts.waker = Some(waker.clone());
        }
        due
    }

    /// Writes the texts whose time has come. Those for which there is no room get a little more time.
    pub(crate) fn write_due(&self) {
        let now = self.clock.now();
        let mut texts = self.lock();
        for buffer in texts.buffers.iter_mut().filter(|buffer| buffer.due.is_some_and(|due| due <= now)) {
            match buffer.write(&self.outlet, None) {
                Err(StreamError::Full { .. }) => buffer.due = Some(now.saturating_add(TEXT_AFTER)),
                Err(error) => buffer.lost = Some(error),
                Ok(()) => {}
            }
        }
    }

    /// Ends the attempt's part: nothing more is taken. Gives the streams whose text [is left](Self::write_left).
    pub(crate) fn end(&self) -> Vec<StreamKey> {
        let mut texts = self.lock();
        texts.over = true;
        texts.buffers.iter().map(|buffer| buffer.stream).collect()
    }

    /// Writes all text that is left.
    pub(crate) async fn write_left(&self, left: Vec<StreamKey>) -> Result<(), StreamError> {
        let mut first = Ok(());
        for stream in left {
            let lost = self.lock().buffer(stream).map(drop);
            let written = self.write(stream).await;
            first = first.and(lost).and(written);
        }
        first
    }
}

impl Texts {
    fn check(&self, stream: StreamKey) -> Result<(), StreamError> {
        if self.over { Err(StreamError::Over { stream: stream.name }) } else { Ok(()) }
    }

    /// The text of the stream; an error if some of it was lost since the last look.
    fn buffer(&mut self, stream: StreamKey) -> Result<&mut Buffer, StreamError> {
        let place = self.buffers.iter().position(|buffer| buffer.stream.name == stream.name);
        let place = place.unwrap_or_else(|| {
            self.buffers.push(Buffer::new(stream));
            self.buffers.len() - 1
        });
        let buffer = self.buffers.get_mut(place).ok_or(StreamError::Over { stream: stream.name })?;
        buffer.lost.take().map_or(Ok(buffer), Err)
    }
}

impl Buffer {
    fn new(stream: StreamKey) -> Self {
        Self { stream, text: String::new(), encoded: 0, due: None, lost: None }
    }

    /// Writes the text as one item. It stays if there is no room for it at this moment, and is gone otherwise.
    fn write(&mut self, outlet: &dyn Outlet, room: Option<Room>) -> Result<(), StreamError> {
        if self.text.is_empty() {
            return Ok(());
        }
        let written = Payload::encode(&self.text)
            .map_err(StreamError::from)
            .and_then(|value| outlet.append(self.stream, value, room));
        if !matches!(written, Err(StreamError::Full { .. })) {
            self.text.clear();
            (self.encoded, self.due) = (0, None);
        }
        written
    }
}

impl<O: ?Sized> fmt::Debug for StreamsOf<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streams").field("texts", &self.texts).finish_non_exhaustive()
    }
}

/// Collects text for a stream, so that each token need not be an item of its own; made by
/// [`StepContext::text`](super::StepContext::text).
///
/// What has come together is written as one item: once it has 16 KiB, one second after its first chunk, and in any
/// case before the outcome of the attempt, also if that is an error. It is lost if the attempt is called off before, or
/// with its process.
///
/// It does not borrow the context. After the attempt it takes nothing more.
#[derive(Clone, Debug)]
pub struct TextWriter {
    streams: Arc<Streams>,
    stream: StreamKey,
}

impl TextWriter {
    pub(super) fn new(streams: &Arc<Streams>, stream: StreamKey) -> Self {
        Self { streams: Arc::clone(streams), stream }
    }

    /// Adds a chunk to the text. It is never split; an empty one is nothing. It is a sign of life of the step.
    ///
    /// If there is enough to be written and the disk does not keep up, it waits until there is room.
    ///
    /// # Errors
    ///
    /// - [`StreamError::TooLarge`], [`StreamError::InvalidValue`]: the chunk alone is larger than an item can be.
    /// - [`StreamError::Over`], [`StreamError::Stopped`]: nobody wants it any more, or text before it is lost.
    pub async fn push(&mut self, chunk: impl AsRef<str>) -> Result<(), StreamError> {
        let chunk = chunk.as_ref();
        loop {
            match self.streams.push(self.stream, chunk)? {
                Pushed::Kept => return Ok(()),
                Pushed::Enough => return self.streams.write(self.stream).await,
                Pushed::WriteFirst => self.streams.write(self.stream).await?,
            }
        }
    }

    /// As [`push`](Self::push), for a step that is a plain `fn`: it does not wait.
    ///
    /// # Errors
    ///
    /// As [`push`](Self::push), and [`StreamError::Full`]: there is no room at this moment, and the chunk was not kept.
    pub fn try_push(&mut self, chunk: impl AsRef<str>) -> Result<(), StreamError> {
        let chunk = chunk.as_ref();
        loop {
            match self.streams.push(self.stream, chunk)? {
                Pushed::Kept => return Ok(()),
                Pushed::Enough => {
                    return match self.streams.try_write(self.stream) {
                        // It is kept; the next chunk will not be.
                        Err(StreamError::Full { .. }) => Ok(()),
                        written => written,
                    };
                }
                Pushed::WriteFirst => self.streams.try_write(self.stream)?,
            }
        }
    }

    /// Writes what has come together now.
    ///
    /// # Errors
    ///
    /// As [`push`](Self::push).
    pub async fn flush(&mut self) -> Result<(), StreamError> {
        self.streams.write(self.stream).await
    }
}
