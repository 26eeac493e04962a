//! An engine with the flows of the workloads, in a folder of its own.

use std::path::Path;
use std::time::Duration;

use dex::{Dex, Options};
use tempfile::TempDir;

use crate::arguments::StoreKind;
use crate::flows::{AsyncSteps, Branches, Doze, Family, Hear, Steps};

pub(crate) struct World {
    pub(crate) dex: Dex,
    folder: TempDir,
}

impl World {
    pub(crate) async fn open(store: StoreKind) -> dex::Result<Self> {
        let folder = scratch();
        let dex = open(store, folder.path()).await?;
        Ok(Self { dex, folder })
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Ends the engine and removes its data.
    pub(crate) async fn close(self) -> dex::Result<()> {
        self.dex.shutdown(Duration::from_secs(10)).await
    }
}

/// A folder on the disk that the checkout is on: the system's own for such may be in memory.
pub(crate) fn scratch() -> TempDir {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("target");
    std::fs::create_dir_all(&target).unwrap();
    TempDir::with_prefix_in("workload-", target).unwrap()
}

pub(crate) async fn open(store: StoreKind, folder: &Path) -> dex::Result<Dex> {
    let builder = match store {
        StoreKind::Fjall => Dex::open(folder),
        StoreKind::Memory => Dex::in_memory(),
    };
    let flows = builder.flow(Steps).flow(AsyncSteps).flow(Hear).flow(Doze).flow(Branches).flow(Family);
    let mut options = Options::default();
    // The widest fan-out has so many branches, and the step that waits for them.
    options.limits.executions_max = 1_000_000;
    options.limits.channel_messages_max = 1_000_000;
    options.limits.children_max = 1_000_000;
    flows.options(options).start().await
}
