//! What the disk, and the store alone, allow for the same bytes.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use fjall::{Database, KeyspaceCreateOptions, PersistMode};
use tokio::sync::oneshot;

use crate::figures::percentile;

/// Time of one append of `bytes` and its fdatasync: the median of `count`.
pub(crate) fn sync(folder: &Path, bytes: usize, count: usize) -> io::Result<Duration> {
    let path = folder.join("floor");
    let mut file = File::create(&path)?;
    let record = vec![7_u8; bytes];
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let start = Instant::now();
        file.write_all(&record)?;
        file.sync_data()?;
        times.push(start.elapsed());
    }
    std::fs::remove_file(path)?;
    Ok(percentile(&mut times, 0.5))
}

/// What is appended, and who waits for it.
type Waiting = (Vec<u8>, oneshot::Sender<()>);

/// Records in one batch at most, as many as the engine's own bound.
const BATCH_MAX: usize = 1_024;

/// Records a second of the store's bare group commit: `producers` tasks each write `each` records of `bytes` under
/// one key, one after the other; one thread makes a batch of all that wait and syncs once.
pub(crate) async fn group_commit(
    folder: &Path,
    producers: usize,
    each: usize,
    bytes: usize,
) -> Result<f64, Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir_in(folder)?;
    let database = Database::builder(folder.path()).open()?;
    let records = database.keyspace("records", KeyspaceCreateOptions::default)?;
    let (sender, receiver) = mpsc::channel::<Waiting>();
    let writer = std::thread::spawn(move || -> Result<(), fjall::Error> {
        let mut key = 0_u64;
        while let Ok(first) = receiver.recv() {
            let waiting: Vec<Waiting> =
                std::iter::once(first).chain(receiver.try_iter().take(BATCH_MAX - 1)).collect();
            let mut batch = database.batch().durability(Some(PersistMode::SyncData));
            let mut done = Vec::with_capacity(waiting.len());
            for (record, written) in waiting {
                key += 1;
                batch.insert(&records, key.to_be_bytes(), record);
                done.push(written);
            }
            batch.commit()?;
            for written in done {
                // Whoever waits has not gone.
                let _ = written.send(());
            }
        }
        Ok(())
    });
    let start = Instant::now();
    let tasks: Vec<_> = (0..producers)
        .map(|_| {
            let sender = sender.clone();
            tokio::spawn(async move {
                for _ in 0..each {
                    let (done, written) = oneshot::channel();
                    sender.send((vec![7; bytes], done)).unwrap();
                    written.await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await?;
    }
    let seconds = start.elapsed().as_secs_f64();
    drop(sender);
    writer.join().map_err(|_| "the writing thread panicked")??;
    Ok((producers * each) as f64 / seconds)
}
