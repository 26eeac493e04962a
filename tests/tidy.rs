//! The rules of the tree that no compiler checks: layers, fronts of modules, sizes, links.
#![cfg(test)]

use std::fs;
use std::path::{Path, PathBuf};

/// Production lines in a file, from which on the second concept in it has to move out.
const LINES_MAX: usize = 500;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A source file and its text.
struct File {
    /// Relative to the workspace, with `/`.
    path: String,
    text: String,
}

impl File {
    /// The lines that are code, with their numbers: no comments, no documentation, and nothing below the
    /// module of unit tests.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.text.lines().enumerate();
        lines
            .take_while(|(_, line)| line.trim() != "mod tests {")
            .map(|(number, line)| (number + 1, line))
            .filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    fn is_test(&self) -> bool {
        self.path.contains("/tests/") || self.path.ends_with("/tests.rs")
    }
}

/// All files below `folder` with this extension, if there is such a folder.
fn files(folder: &str, extension: &str) -> Vec<File> {
    let mut paths = Vec::new();
    collect(&root().join(folder), extension, &mut paths);
    paths.sort();
    let read = |path: PathBuf| File {
        text: fs::read_to_string(&path).unwrap(),
        path: path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/"),
    };
    paths.into_iter().map(read).collect()
}

fn collect(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                collect(&path, extension, found);
            }
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
}

fn sources() -> Vec<File> {
    ["src", "dex-macros/src", "dex-runtime/src"].iter().flat_map(|folder| files(folder, "rs")).collect()
}

fn runtime() -> Vec<File> {
    let all = files("dex-runtime/src", "rs");
    assert!(all.len() > 50, "the sources of the runtime were not found");
    all
}

/// Fails with every finding at once.
#[track_caller]
fn none(findings: &[String], rule: &str) {
    assert!(findings.is_empty(), "{rule}:\n{}", findings.join("\n"));
}

/// Lines of code outside `allowed` that contain one of `words`.
fn uses(files: &[File], words: &[&str], allowed: impl Fn(&str) -> bool) -> Vec<String> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| !allowed(&file.path)) {
        for (number, line) in file.code().filter(|(_, line)| words.iter().any(|word| has_word(line, word))) {
            findings.push(format!("{}:{number}: {}", file.path, line.trim()));
        }
    }
    findings
}

/// Whether `line` contains `word` with no letter of a name on either side.
fn has_word(line: &str, word: &str) -> bool {
    let name = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let ends_in_name = word.ends_with(name);
        !(before.is_some_and(name) || ends_in_name && after.is_some_and(name))
    })
}

#[test]
fn the_search_for_words_finds_words() {
    assert!(has_word("let x = keys::RUN;", "keys::"));
    assert!(!has_word("let x = monkeys::RUN;", "keys::"));
    assert!(has_word("    todo!()", "todo!"));
    assert!(!has_word("call_steps()", "call_step"));
}

#[test]
fn the_engine_knows_ids_time_and_values_and_nothing_else() {
    let engine: Vec<_> = files("dex-runtime/src/engine", "rs").into_iter().filter(|f| !f.is_test()).collect();
    assert!(engine.len() > 10, "the sources of the engine were not found");
    let mut findings = Vec::new();
    for file in &engine {
        for (number, line) in file.code() {
            for (at, _) in line.match_indices("crate::") {
                let path = &line[at + "crate::".len()..];
                let known = ["engine", "ids", "time", "value"];
                if !known.iter().any(|module| path.starts_with(module)) {
                    findings.push(format!("{}:{number}: {}", file.path, line.trim()));
                }
            }
        }
    }
    let outside = ["tokio", "tracing", "fjall", "async", "std::fs", "std::io", "std::net", "std::thread"];
    findings.extend(uses(&engine, &outside, |_| false));
    none(&findings, "the engine is pure: it decides from what it is given");
}

#[test]
fn the_format_of_records_is_known_in_one_folder() {
    let findings = uses(&runtime(), &["bincode"], |path| path.starts_with("dex-runtime/src/store/record"));
    none(&findings, "only store/record names the encoding of records");
}

#[test]
fn the_bytes_of_keys_are_known_in_the_store() {
    let findings = uses(&runtime(), &["keys::"], |path| path.starts_with("dex-runtime/src/store/"));
    none(&findings, "only the store names keys");
    let keyspaces: Vec<_> =
        files("dex-runtime/src/store/memory", "rs").into_iter().filter(|file| !file.is_test()).collect();
    none(&uses(&keyspaces, &["keys::", "fjall"], |_| false), "the store in memory has no keys");
}

#[test]
fn handlers_are_called_by_the_worker_and_by_callers_of_rpcs_only() {
    let words = ["call_step", "call_wait", "call_rpc"];
    let findings = uses(&runtime(), &words, |path| {
        let path = path.trim_start_matches("dex-runtime/src/");
        path.starts_with("definition/")
            || path.starts_with("worker/")
            || ["client/call.rs", "private.rs"].contains(&path)
    });
    none(&findings, "user code is called in one place, where its panics are caught");
}

#[test]
fn the_time_comes_from_the_clock() {
    let words = ["SystemTime::now", "Instant::now", "sleep("];
    let findings = uses(&runtime(), &words, |path| {
        // The folder's lock and the database's own threads belong to the system, which knows no test's clock.
        path.starts_with("dex-runtime/src/time/") || path.starts_with("dex-runtime/src/store/fjall/")
    });
    none(&findings, "only time/ asks the system for the time, and only the clock sleeps");
}

#[test]
fn lower_layers_do_not_know_higher_ones() {
    let rules: [(&str, &[&str]); 7] = [
        ("store", &["client", "commit", "definition", "dex", "dispatch", "registry", "shard", "worker"]),
        ("commit", &["client", "definition", "dex", "dispatch", "engine", "registry", "shard", "worker"]),
        ("registry", &["client", "definition", "dex", "dispatch", "shard", "worker"]),
        ("dispatch", &["client", "definition", "dex", "shard", "worker"]),
        ("definition", &["commit", "dispatch", "registry", "shard", "store", "worker"]),
        ("worker", &["client", "commit", "dex", "store"]),
        ("shard", &["client", "dex"]),
    ];
    let mut findings = Vec::new();
    for (folder, higher) in rules {
        let found = files(&format!("dex-runtime/src/{folder}"), "rs");
        let layer: Vec<_> = found.into_iter().filter(|file| !file.is_test()).collect();
        assert!(!layer.is_empty(), "{folder} was not found");
        for module in higher {
            findings.extend(uses(&layer, &[&format!("crate::{module}")], |_| false));
        }
    }
    none(&findings, "a layer knows only what is below it");
}

#[test]
fn nothing_is_left_to_be_done() {
    let mut all = sources();
    for folder in [
        "tests",
        "examples",
        "dex-runtime/tests",
        "dex-macros/benches",
        "dex-runtime/benches",
        "ui-tests/src",
    ] {
        all.extend(files(folder, "rs"));
    }
    let here = |path: &str| path == "tests/tidy.rs";
    none(&uses(&all, &["todo!", "unimplemented!", "#[ignore"], here), "nothing is left half done");
    none(&uses(&all, &["unsafe"], |path| here(path) || path == "src/lib.rs"), "no unsafe code");
}

#[test]
fn every_module_says_what_it_is_for() {
    let mut all = sources();
    for folder in ["tests", "examples", "dex-runtime/tests", "dex-macros/benches", "dex-runtime/benches"] {
        all.extend(files(folder, "rs"));
    }
    // A module of unit tests is told by its name.
    let undocumented = all.iter().filter(|file| !(file.is_test() && file.path.contains("/src/")));
    let undocumented = undocumented.filter(|file| !file.text.starts_with("//!"));
    // What the facade documents at the declaration.
    let undocumented = undocumented.filter(|file| file.path != "src/prelude.rs");
    let findings: Vec<_> = undocumented.map(|file| file.path.clone()).collect();
    none(&findings, "a module's first line says what it is for");
}

#[test]
fn files_stay_small() {
    let mut all = sources();
    all.extend(files("tests", "rs"));
    all.extend(files("examples", "rs"));
    let lines = |file: &File| file.text.lines().take_while(|line| line.trim() != "mod tests {").count();
    let long = all.iter().filter(|file| lines(file) > LINES_MAX);
    let findings: Vec<_> = long.map(|file| format!("{}: {} lines", file.path, lines(file))).collect();
    none(&findings, "a file this long has a second concept in it");
}

#[test]
fn links_in_pages_lead_somewhere() {
    let mut findings = Vec::new();
    for page in files("", "md") {
        let folder = root().join(&page.path);
        let folder = folder.parent().unwrap();
        for (number, line) in page.text.lines().enumerate() {
            for target in targets(line) {
                let file = target.split('#').next().unwrap();
                // Pages that are part of the documentation also link to items, which rustdoc follows.
                let item = page.path.starts_with("src/docs/") && !target.contains('.');
                let outside = item || target.contains("://") || target.starts_with("mailto:");
                if !outside && !file.is_empty() && !folder.join(file).exists() {
                    findings.push(format!("{}:{}: {target}", page.path, number + 1));
                }
            }
        }
    }
    none(&findings, "links lead nowhere");
}

/// What the links of a line of Markdown point at. Paths of Rust items are rustdoc's to check.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split(')').next()).filter(|target| !target.contains("::"))
}

#[test]
fn the_targets_of_links_are_found() {
    let line = "See [one](a.md), [two](b/c.md#d) and [three](https://example.com).";
    assert_eq!(targets(line).collect::<Vec<_>>(), ["a.md", "b/c.md#d", "https://example.com"]);
}

#[test]
fn every_kind_of_error_is_explained() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let source = read("dex-runtime/src/error.rs");
    let kinds = source.split("pub enum ErrorKind {").nth(1).unwrap().split("\n}").next().unwrap();
    let kinds = kinds.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    let page = read("docs/errors.md");
    let missing = kinds.map(|kind| kind.trim_end_matches(','));
    let missing: Vec<_> = missing.filter(|kind| !page.contains(&format!("| `{kind}` |"))).collect();
    none(
        &missing.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "kinds without a row in docs/errors.md",
    );
}

/// What stands on a re-export comes before what the item says of itself, so its first line is what lists of items show.
#[test]
fn pages_begin_with_a_sentence() {
    let facade = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let guide = fs::read_to_string(root().join("src/guide.rs")).unwrap();
    let included = facade.lines().chain(guide.lines());
    let included = included.filter_map(|line| line.strip_prefix("#[doc = include_str!(\"docs/"));
    let pages: Vec<_> = included.map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(pages.len() > 20, "the pages of the facade were not found");
    let mut findings = Vec::new();
    for page in pages {
        let text = fs::read_to_string(root().join("src/docs").join(page)).unwrap();
        let paragraph = text.split("\n\n").next().unwrap();
        if !paragraph.starts_with(char::is_uppercase) || !paragraph.trim_end().ends_with(['.', ':']) {
            findings.push(format!("src/docs/{page}: {paragraph}"));
        }
    }
    none(&findings, "a page begins with a sentence, which stands for it in lists");
}

#[test]
fn examples_on_pages_run() {
    let pages = files("src/docs", "md");
    assert!(pages.len() > 20, "the pages of the facade were not found");
    let still = |line: &str| {
        line.starts_with("```") && ["no_run", "ignore", "rust,"].iter().any(|w| line.contains(w))
    };
    let count = |page: &File| page.text.lines().filter(|line| still(line)).count();
    let findings: Vec<_> =
        pages.iter().filter(|page| count(page) > 0).map(|page| page.path.clone()).collect();
    none(&findings, "an example that only compiles proves less than one that runs and asserts");
}
