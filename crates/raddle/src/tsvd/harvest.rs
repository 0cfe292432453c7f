//! What the processes of a run left behind: the core's tables.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use raddle_tsvd::{SIZE, Stats, TrapPair, Tsvd};
use raddle_wire::tsvd::STATE_SUFFIX;
use rustix::fs::{SeekFrom, seek};

use super::coverage::Covered;

/// The sum over all processes of a run.
#[derive(Debug, Default)]
pub struct Harvest {
    pub stats: Stats,
    pub pairs: Vec<TrapPair>,
    pub processes: usize,
}

impl Harvest {
    /// Reads all tables in `dir`, and updates what is covered.
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
        let Some(tables) = read_tables(path) else { return };
        // SAFETY: it has that length, is aligned as mappings are, and was written by the same
        // version of the core: the session is this process's own.
        let tsvd = unsafe { &*tables.as_ptr().cast::<Tsvd>() };
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

/// The tables of one process, which numbers its own sites.
pub fn of_process(path: &Path, covered: &mut [Covered]) -> Harvest {
    let mut harvest = Harvest::default();
    harvest.add(path, covered);
    harvest
}

/// A copy of a process's tables. Nearly all of the file is holes. In a mapping of the file,
/// touching them would allocate and clear each page, which took ten times as long as a short
/// process runs.
fn read_tables(path: &Path) -> Option<memmap2::MmapMut> {
    let file = File::open(path).ok()?;
    let len = file.metadata().ok()?.len();
    if len != SIZE as u64 {
        return None;
    }
    let mut copy = memmap2::MmapMut::map_anon(SIZE).ok()?;
    let mut at = 0;
    // An error means that there is no more data.
    while let Ok(start) = seek(&file, SeekFrom::Data(at)) {
        let end = seek(&file, SeekFrom::Hole(start)).ok()?.min(len);
        file.read_exact_at(copy.get_mut(start as usize..end as usize)?, start).ok()?;
        at = end;
    }
    Some(copy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read_around_their_holes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("1.0.state");
        let file = File::create(&path).unwrap();
        file.set_len(SIZE as u64).unwrap();
        file.write_all_at(b"first", 0).unwrap();
        file.write_all_at(b"middle", 1 << 20).unwrap();
        file.write_all_at(b"last", SIZE as u64 - 4).unwrap();
        let copy = read_tables(&path).unwrap();
        assert_eq!(
            (&copy[..5], &copy[1 << 20..(1 << 20) + 6], &copy[SIZE - 4..]),
            (&b"first"[..], &b"middle"[..], &b"last"[..])
        );
        assert!(copy[1 << 16..1 << 17].iter().all(|b| *b == 0));
        file.set_len(SIZE as u64 - 1).unwrap();
        assert!(read_tables(&path).is_none(), "of another layout");
    }
}
