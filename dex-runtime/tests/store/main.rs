//! What can happen to a store on disk, and that nothing acknowledged is lost without a word.

#[cfg(test)]
mod damage;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod journal;
#[cfg(test)]
mod kill;
#[cfg(test)]
mod opening;
#[cfg(test)]
mod quiet;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tombstones;
