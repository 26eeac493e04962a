//! What can happen to a store on disk, and that nothing acknowledged is lost without a word.

mod damage;
mod journal;
mod kill;
mod opening;
mod support;
mod tombstones;
