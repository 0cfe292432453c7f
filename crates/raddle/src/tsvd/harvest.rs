//! What the processes of a run have left behind: the core's tables, which are read where they lie.

use std::path::Path;

use raddle_tsvd::{SIZE, Stats, TrapPair, Tsvd};
use raddle_wire::tsvd::STATE_SUFFIX;

use super::coverage::Covered;

/// The sum over all processes of a run.
#[derive(Debug, Default)]
pub struct Harvest {
    pub stats: Stats,
    pub pairs: Vec<TrapPair>,
    pub processes: usize,
}

impl Harvest {
    /// Reads all tables in `dir`, and adds to what is covered.
    pub fn read(dir: &Path, covered: &mut [Covered]) -> Harvest {
        let mut harvest = Harvest::default();
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|e| e == STATE_SUFFIX) {
                harvest.add(&path, covered);
            }
        }
        harvest
    }

    fn add(&mut self, path: &Path, covered: &mut [Covered]) {
        let Ok(file) = std::fs::File::open(path) else { return };
        // SAFETY: a process of the session may still write to it, in atomics only; nobody truncates it.
        let Ok(map) = (unsafe { memmap2::Mmap::map(&file) }) else { return };
        if map.len() != SIZE {
            return;
        }
        // SAFETY: that long, aligned as mappings are, and written by the same version of the core: the session is this
        // process's own.
        let tsvd = unsafe { &*map.as_ptr().cast::<Tsvd>() };
        let stats = tsvd.stats();
        self.stats.points += stats.points;
        self.stats.concurrent += stats.concurrent;
        self.stats.delays += stats.delays;
        self.stats.delayed += stats.delayed;
        self.stats.refused += stats.refused;
        self.pairs.extend(tsvd.pairs());
        self.processes += 1;
        for (number, site) in covered.iter_mut().enumerate() {
            let seen = tsvd.coverage(number as u32);
            site.hit |= seen.hit;
            site.concurrent |= seen.concurrent;
        }
    }
}
