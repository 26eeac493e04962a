//! A process whose runs wait for one another and stream is killed at random moments: no child is lost or counted
//! twice, and no offset of a stream that somebody has seen ever stands for another item.
// SIGKILL is a matter of Unix. The helpers are tests too, for the lints that spare tests.
#![cfg(unix)]
#![cfg(test)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use dex::prelude::*;
use dex::{ErrorKind, Options, Run, StreamSource};

/// Set for the process that is to die; names the folder of its store.
const FOLDER: &str = "DEX_TEST_FAMILIES_FOLDER";

const BOOKS: u32 = 8;
const CHAPTERS: u32 = 20;

/// What a book says of itself once it is bound.
const LINES: u32 = 1_500;

/// Lives that are cut off before one is let live. In the first ones most work is done.
const DEATHS: u32 = 12;

/// A life is cut off this long after it began its work, at the most: too short for most to end it.
const LIFE_MS_MAX: u64 = 250;

/// Every so many lives, the clock runs from the start of the process, so that the opening is cut off as well.
const OPENING_EVERY: u32 = 4;

/// One chapter; it gives its number.
struct Chapter;

#[flow(output = u32)]
impl Chapter {
    #[stream]
    const WORDS: Stream<String>;

    #[step(start)]
    async fn write(&self, ctx: &mut StepContext<Self>, number: u32) -> StepResult<Self> {
        for word in 0..5 {
            ctx.append(Self::WORDS, format!("{number}.{word}"))?;
            tokio::task::yield_now().await;
        }
        Ok(Next::to(Self::END, number))
    }

    #[step]
    async fn end(&self, number: u32) -> StepResult<Self> {
        Ok(Next::complete(number))
    }
}

/// Waits for its chapters and tells what it is.
struct Book {
    /// Differs in each life, so that an item is not like one of another life.
    life: u64,
}

#[flow(output = Vec<u32>)]
impl Book {
    #[stream(capacity = "16 MiB")]
    const LINES: Stream<String>;

    #[wait_for(bind)]
    fn every_chapter(&self, chapters: &Vec<u32>) -> WaitResult<Self, Vec<ChildResult<Chapter>>> {
        Ok(Wait::all(chapters.iter().copied().map(SubFlow::<Chapter>::run).collect::<Vec<_>>()))
    }

    #[step(start)]
    async fn bind(&self, _chapters: Vec<u32>, written: Vec<ChildResult<Chapter>>) -> StepResult<Self> {
        let numbers: Result<Vec<u32>, _> = written.into_iter().map(ChildResult::into_result).collect();
        Ok(Next::to(Self::TELL, numbers?))
    }

    #[step]
    async fn tell(&self, ctx: &mut StepContext<Self>, numbers: Vec<u32>) -> StepResult<Self> {
        for line in 0..LINES {
            ctx.append(Self::LINES, format!("{line} in life {}", self.life))?;
            tokio::task::yield_now().await;
        }
        Ok(Next::complete(numbers))
    }
}

fn chapters_of(book: u32) -> Vec<u32> {
    (0..CHAPTERS).map(|chapter| book * 100 + chapter).collect()
}

async fn open(folder: &Path) -> Dex {
    let book = Book { life: random() };
    // It is made to be killed: no step is to blame for it.
    let options = Options { crash_attempts_max: 1_000, ..Options::default() };
    Dex::open(folder.join("data")).flow(book).flow(Chapter).options(options).start().await.unwrap()
}

/// The process that is to die: starts what is not started, and writes down what it reads of each book.
async fn live(folder: &Path) {
    let dex = open(folder).await;
    let books = dex.client::<Book>();
    let mut readers = Vec::new();
    for number in 0..BOOKS {
        let id = format!("book-{number}");
        let run = match books.start(&id, chapters_of(number)).await {
            Err(error) if error.kind() == ErrorKind::AlreadyStarted => books.run(&id).await.unwrap(),
            started => started.unwrap(),
        };
        let seen = folder.join("seen.txt");
        readers.push(tokio::spawn(async move {
            let mut lines = run.read(Book::LINES);
            while let Some(line) = lines.next().await.unwrap() {
                let mut seen = OpenOptions::new().create(true).append(true).open(&seen).unwrap();
                seen.write_all(format!("{number}\t{}\t{}\n", line.offset, line.value).as_bytes()).unwrap();
            }
        }));
    }
    println!("{BEGUN}");
    for reader in readers {
        reader.await.unwrap();
    }
}

/// What a life says once its work has begun.
const BEGUN: &str = "begun";

fn spawn_life(folder: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", TEST, "--nocapture"]).env(FOLDER, folder);
    command.stdout(Stdio::piped()).spawn().unwrap()
}

/// A number that nobody knows before.
fn random() -> u64 {
    std::hash::RandomState::new().build_hasher().finish()
}

const TEST: &str = "families_and_their_streams_survive_a_dozen_deaths";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn families_and_their_streams_survive_a_dozen_deaths() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return live(Path::new(&folder)).await;
    }
    let folder = tempfile::tempdir().unwrap();
    for death in 0..DEATHS {
        let mut life = spawn_life(folder.path());
        // Open until the life ends, or one that ends by itself would complain.
        let mut said = BufReader::new(life.stdout.take().unwrap()).lines();
        if death % OPENING_EVERY != 0 {
            let has_begun = said.by_ref().map_while(Result::ok).any(|line| line.ends_with(BEGUN));
            assert!(has_begun, "the life begins its work");
        }
        cut_off(&mut life, Duration::from_millis(random() % LIFE_MS_MAX));
    }
    let dex = open(folder.path()).await;
    let books = dex.client::<Book>();
    let mut seen = seen(&folder.path().join("seen.txt"));
    let items = seen.values().flat_map(BTreeMap::values);
    let lives: BTreeSet<&str> =
        items.filter_map(|value| value.split_once(' ')).map(|(_, life)| life).collect();
    println!("readers saw items of {} lives", lives.len());
    assert!(!lives.is_empty(), "no life came so far that its readers saw anything");
    for number in 0..BOOKS {
        let id = format!("book-{number}");
        let run = match books.start(&id, chapters_of(number)).await {
            Err(error) if error.kind() == ErrorKind::AlreadyStarted => books.run(&id).await.unwrap(),
            started => started.unwrap(),
        };
        assert_eq!(run.output().await.unwrap(), chapters_of(number), "each chapter counts once");
        check_lines(&run, seen.remove(&number).unwrap_or_default()).await;
    }
    let runs = dex.inspect().runs(None, 10_000).await.unwrap();
    assert_eq!(runs.len(), (BOOKS * (CHAPTERS + 1)) as usize, "no chapter was started twice");
    assert!(runs.iter().all(|run| run.status.is_closed()));
    dex.shutdown(Duration::from_secs(5)).await.unwrap();
}

/// Kills a process after a while. Some were done before.
fn cut_off(life: &mut Child, after: Duration) {
    // The moment is chance anyway: it need not be the test's clock.
    std::thread::park_timeout(after);
    life.kill().unwrap();
    life.wait().unwrap();
}

/// What earlier lives read of each book: offset and value.
fn seen(path: &Path) -> BTreeMap<u32, BTreeMap<u64, String>> {
    let mut seen: BTreeMap<u32, BTreeMap<u64, String>> = BTreeMap::new();
    for line in std::fs::read_to_string(path).unwrap_or_default().lines() {
        let mut parts = line.splitn(3, '\t');
        let (book, offset) = (parts.next().unwrap().parse().unwrap(), parts.next().unwrap().parse().unwrap());
        let value = parts.next().unwrap().to_owned();
        let before = seen.entry(book).or_default().insert(offset, value.clone());
        assert!(before.is_none_or(|before| before == value), "offset {offset} stood for two items");
    }
    seen
}

/// The stream has every item that was seen, where it was seen, and all lines of the attempt that counted.
async fn check_lines(run: &Run<Book>, mut seen: BTreeMap<u64, String>) {
    let mut lines = run.read(Book::LINES);
    let (mut offset, mut last) = (0, Vec::new());
    while let Some(line) = lines.next().await.unwrap() {
        assert_eq!(line.offset, offset + 1, "offsets have no gaps, as nothing was trimmed");
        offset = line.offset;
        if let Some(before) = seen.remove(&offset) {
            assert_eq!(line.value, before, "offset {offset} stands for another item now");
        }
        assert!(matches!(&line.source, StreamSource::Step { .. }), "{:?}", line.source);
        last.push(line.value);
    }
    assert!(seen.is_empty(), "items that were seen are gone: {seen:?}");
    let counted: Vec<_> = last.split_off(last.len() - LINES as usize);
    let life = counted[0].split_once(' ').unwrap().1.to_owned();
    let whole: Vec<_> = (0..LINES).map(|line| format!("{line} {life}")).collect();
    assert_eq!(counted, whole);
}
