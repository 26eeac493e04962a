//! Making a store in an empty folder.

use super::super::StoreError;
use super::folder::Folder;
use super::open::{Opened, open_database};
use super::options::FjallOptions;
use super::watermark::{Watermark, WatermarkFile};

/// Makes a store. What a process that ended half way left behind is made anew.
pub(super) fn create(folder: &Folder, options: &FjallOptions) -> Result<Opened, StoreError> {
    folder.begin()?;
    let opened = open_database(&folder.data(), options)?;
    WatermarkFile::create(&folder.data(), &Watermark::default())?;
    folder.finish()?;
    Ok(opened)
}
