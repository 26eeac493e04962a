//! Giving memory back in a quiet moment.
//!
//! Rows wait in memory until there are enough of them for a table. While much is written that is right; once little
//! is, they would stay there for as long as it stays quiet, however many runs wait on disk. So they are written then.
//!
//! The database lets go of what it has written with the next table that it begins: there is one more, of a row, for
//! that alone.

/// Bytes of rows that stay in memory in any case: too few to be worth a table.
const KEPT_MAX: u64 = 1024 * 1024;

/// Bytes written between two looks, a second apart, up to which it is quiet.
///
/// A store that is written at this rate and no faster makes a table of [`KEPT_MAX`] every few seconds instead of a
/// larger one every minute. Merging these costs a fraction of what the commits do.
const QUIET_MAX: u64 = 128 * 1024;

/// Watches how much is written.
#[derive(Debug, Default)]
pub(super) struct Settling {
    /// Bytes written since the last look.
    written: u64,
    /// Tables are being written for a quiet moment.
    flushing: bool,
    /// Nothing was written since they were begun. What is said to be in memory then is not a matter of more tables.
    done: bool,
}

/// What is to be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Nothing, before something is written.
    Nothing,
    /// Another look, in a moment.
    Look,
    /// To write what is in memory into tables.
    Flush,
    /// To let go of what was written into them.
    LetGo,
}

/// What a database has in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct InMemory {
    /// Bytes of rows that are in no table.
    pub(super) rows: u64,
    /// Some of them are being written into one.
    pub(super) is_flushing: bool,
}

impl Settling {
    /// Counts what was written.
    pub(super) fn wrote(&mut self, bytes: u64) {
        self.written = self.written.saturating_add(bytes);
        self.done = false;
    }

    /// To be called about a second after the last look.
    pub(super) fn look(&mut self, memory: InMemory) -> Next {
        let written = std::mem::take(&mut self.written);
        if memory.is_flushing {
            return Next::Look;
        }
        if std::mem::take(&mut self.flushing) {
            return Next::LetGo;
        }
        if self.done || memory.rows <= KEPT_MAX {
            return Next::Nothing;
        }
        if written > QUIET_MAX {
            return Next::Look;
        }
        (self.flushing, self.done) = (true, true);
        Next::Flush
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: InMemory = InMemory { rows: KEPT_MAX + 1, is_flushing: false };
    const FEW: InMemory = InMemory { rows: KEPT_MAX, is_flushing: false };
    const FLUSHING: InMemory = InMemory { rows: KEPT_MAX + 1, is_flushing: true };

    #[test]
    fn what_is_in_memory_gets_into_tables_once_it_is_quiet() {
        let mut settling = Settling::default();
        settling.wrote(QUIET_MAX + 1);
        assert_eq!(settling.look(SOME), Next::Look);
        settling.wrote(QUIET_MAX);
        assert_eq!(settling.look(SOME), Next::Flush);
    }

    #[test]
    fn what_was_written_is_let_go_of_once_it_is_in_tables() {
        let mut settling = Settling::default();
        assert_eq!(settling.look(SOME), Next::Flush);
        assert_eq!(settling.look(FLUSHING), Next::Look);
        settling.wrote(QUIET_MAX + 1);
        assert_eq!(settling.look(FEW), Next::LetGo);
        assert_eq!(settling.look(FEW), Next::Nothing);
    }

    #[test]
    fn no_table_is_begun_of_which_nothing_was_written() {
        let mut settling = Settling::default();
        assert_eq!(settling.look(SOME), Next::Flush);
        assert_eq!(settling.look(SOME), Next::LetGo);
        assert_eq!(settling.look(SOME), Next::Nothing);
        settling.wrote(1);
        assert_eq!(settling.look(SOME), Next::Flush);
    }

    #[test]
    fn little_stays_in_memory() {
        assert_eq!(Settling::default().look(FEW), Next::Nothing);
    }

    #[test]
    fn a_table_that_is_being_written_anyway_is_waited_for() {
        let mut settling = Settling::default();
        assert_eq!(settling.look(FLUSHING), Next::Look);
        assert_eq!(settling.look(SOME), Next::Flush);
    }
}
