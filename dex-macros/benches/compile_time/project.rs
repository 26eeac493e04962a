//! The crate that is checked: its folder, its manifest, and the calls of cargo.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Name of the crate.
const NAME: &str = "flow-under-measure";

/// Why nothing could be measured.
#[derive(Debug)]
pub(crate) enum Failed {
    /// A file could not be written or cargo not be started.
    Io { what: String, error: io::Error },
    /// The crate does not compile.
    Check { stderr: String },
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Io { what, error } => write!(f, "{what}: {error}"),
            Self::Check { stderr } => write!(f, "the generated crate could not be checked:\n{stderr}"),
        }
    }
}

/// A crate in a temporary folder, which goes away with it.
pub(crate) struct Project {
    folder: TempDir,
}

impl Project {
    /// A crate without a flow.
    pub(crate) fn create() -> Result<Self, Failed> {
        let workspace = workspace();
        let folder = tempfile::tempdir().map_err(|error| io_failed("a temporary folder", error))?;
        // As text: it is to be quoted as TOML does, which is how Rust does.
        let path = workspace.display().to_string();
        let manifest = format!(
            "[package]\nname = \"{NAME}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             [dependencies]\ndex = {{ path = {path:?} }}\nserde = {{ version = \"1\", features = [\"derive\"] }}\n\n\
             # The program's own workspace has nothing to do with it.\n[workspace]\n"
        );
        let project = Self { folder };
        project.put("Cargo.toml", &manifest)?;
        let lock = fs::read_to_string(workspace.join("Cargo.lock"));
        project.put("Cargo.lock", &lock.map_err(|error| io_failed("the workspace's Cargo.lock", error))?)?;
        let src = project.folder.path().join("src");
        fs::create_dir(&src).map_err(|error| io_failed("the folder `src`", error))?;
        project.write("")?;
        Ok(project)
    }

    /// Checks the dependencies, of which nothing is built yet.
    pub(crate) fn dependencies(&self) -> Result<Duration, Failed> {
        self.check()
    }

    /// Replaces the crate's source.
    pub(crate) fn write(&self, source: &str) -> Result<(), Failed> {
        self.put("src/lib.rs", source)
    }

    /// How long `cargo check` takes.
    pub(crate) fn check(&self) -> Result<Duration, Failed> {
        let begun = Instant::now();
        self.cargo(&["check", "--quiet", "--offline"])?;
        Ok(begun.elapsed())
    }

    /// Removes what was kept of checks of the crate itself.
    pub(crate) fn forget(&self) -> Result<(), Failed> {
        self.cargo(&["clean", "--quiet", "--offline", "--package", NAME])
    }

    /// How long the compiler takes until macros are expanded and names resolved, of a crate with this source.
    ///
    /// A compiler that is asked for nothing but the list of files stops there. What is measured is therefore the
    /// macro as users have it, with all that the compiler does to call it and to read what it wrote.
    pub(crate) fn expand(&self, source: &str) -> Result<Duration, Failed> {
        self.put("expanded.rs", source)?;
        let rustc = cargo().with_file_name("rustc");
        let built = self.folder.path().join("target/debug/deps");
        let mut command = Command::new(rustc);
        command.args(["--edition=2024", "--crate-type=lib", "--emit=dep-info", "expanded.rs"]);
        command.arg("-L").arg(&built);
        for library in ["dex", "serde"] {
            command.arg("--extern").arg(format!("{library}={}", Self::built(&built, library)?.display()));
        }
        let begun = Instant::now();
        self.run(command)?;
        Ok(begun.elapsed())
    }

    /// The file that the check of a dependency left.
    fn built(folder: &Path, library: &str) -> Result<PathBuf, Failed> {
        let is_it = |name: &str| {
            let hash =
                name.strip_prefix("lib").and_then(|name| name.strip_prefix(library)?.strip_prefix('-'));
            hash.is_some_and(|hash| hash.strip_suffix(".rmeta").is_some())
        };
        let list = || -> io::Result<Option<PathBuf>> {
            for entry in fs::read_dir(folder)? {
                let entry = entry?;
                if entry.file_name().to_str().is_some_and(is_it) {
                    return Ok(Some(entry.path()));
                }
            }
            Ok(None)
        };
        let found = list().and_then(|found| found.ok_or_else(|| io::ErrorKind::NotFound.into()));
        found.map_err(|error| io_failed(format!("what was built of `{library}`"), error))
    }

    fn cargo(&self, arguments: &[&str]) -> Result<(), Failed> {
        let mut command = Command::new(cargo());
        command.args(arguments);
        self.run(command)
    }

    fn run(&self, mut command: Command) -> Result<(), Failed> {
        command.current_dir(self.folder.path());
        // As a user's checks are, whatever this program was built with.
        command.env_remove("CARGO_TARGET_DIR").env("CARGO_INCREMENTAL", "1");
        let started = command.output();
        let output =
            started.map_err(|error| io_failed(command.get_program().display().to_string(), error))?;
        if output.status.success() {
            return Ok(());
        }
        Err(Failed::Check { stderr: String::from_utf8_lossy(&output.stderr).into_owned() })
    }

    fn put(&self, file: &str, text: &str) -> Result<(), Failed> {
        fs::write(self.folder.path().join(file), text).map_err(|error| io_failed(file, error))
    }
}

fn io_failed(what: impl Into<String>, error: io::Error) -> Failed {
    Failed::Io { what: what.into(), error }
}

/// The cargo that runs this program; its compiler is beside it.
fn cargo() -> PathBuf {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()).into()
}

/// The folder of dex itself.
fn workspace() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_owned()
}
