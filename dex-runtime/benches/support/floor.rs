//! What the disk alone allows: the same bytes appended to a plain file, with one sync for each batch.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

/// Time of one append of `bytes` and its fdatasync: the median of `count`.
pub(crate) fn lone_sync(folder: &Path, bytes: usize, count: usize) -> io::Result<Duration> {
    let mut file = File::create(folder.join("floor-lone"))?;
    let record = vec![7_u8; bytes];
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let start = Instant::now();
        file.write_all(&record)?;
        file.sync_data()?;
        times.push(start.elapsed());
    }
    times.sort();
    Ok(times[count / 2])
}

type Waiting = (Mutex<Option<Vec<(Vec<u8>, oneshot::Sender<()>)>>>, Condvar);

/// Records per second that a bare group commit acknowledges: `producers` tasks each append `each` records of
/// `bytes` one after another, one thread writes what waits and syncs once for each batch.
pub(crate) async fn group_commit(
    folder: &Path,
    producers: usize,
    each: usize,
    bytes: usize,
) -> io::Result<f64> {
    let waiting: Arc<Waiting> = Arc::new((Mutex::new(Some(Vec::new())), Condvar::new()));
    let mut file = File::create(folder.join("floor-group"))?;
    let queue = Arc::clone(&waiting);
    let writer = std::thread::spawn(move || -> io::Result<()> {
        loop {
            let mut guard = queue.0.lock().unwrap();
            while guard.as_ref().is_some_and(Vec::is_empty) {
                guard = queue.1.wait(guard).unwrap();
            }
            let Some(waiting) = guard.as_mut() else { return Ok(()) };
            let batch = std::mem::take(waiting);
            drop(guard);
            let bytes: Vec<u8> = batch.iter().flat_map(|(record, _)| record).copied().collect();
            file.write_all(&bytes)?;
            file.sync_data()?;
            for (_, done) in batch {
                let _ = done.send(());
            }
        }
    });
    let start = Instant::now();
    let tasks: Vec<_> = (0..producers)
        .map(|_| {
            let queue = Arc::clone(&waiting);
            tokio::spawn(async move {
                for _ in 0..each {
                    let (done, written) = oneshot::channel();
                    if let Some(waiting) = queue.0.lock().unwrap().as_mut() {
                        waiting.push((vec![7; bytes], done));
                    }
                    queue.1.notify_one();
                    written.await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let seconds = start.elapsed().as_secs_f64();
    *waiting.0.lock().unwrap() = None;
    waiting.1.notify_one();
    writer.join().unwrap()?;
    Ok((producers * each) as f64 / seconds)
}
