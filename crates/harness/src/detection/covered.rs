//! A cache of the probes of an executable that need not be called.
//!
//! The user's cache folder has one file per program, named by its build id, size and modification
//! time. The runtime compares each call with the list before it leaves one out.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use raddle_binary::Module;
use raddle_wire::plan::CoveredProbe;

use crate::install::{cache, results};
use crate::program::build_id;

/// The most files in the cache, and their most bytes in all.
const MOST: usize = 256;
const MOST_BYTES: u64 = 64 << 20;
/// Analysing less code than this is faster than reading the list from a file.
const SMALL: u64 = 1 << 20;

/// The covered probes of an executable.
pub fn covered_probes(exe: &Path, module: &Module) -> Vec<CoveredProbe> {
    let code: u64 = module.executable_ranges().iter().map(|range| range.end - range.start).sum();
    let folder = if code < SMALL { None } else { cache::root().ok().map(|root| root.join("covered")) };
    covered_in(folder.as_deref(), exe, module).into_iter().map(CoveredProbe::from_word).collect()
}

fn covered_in(folder: Option<&Path>, exe: &Path, module: &Module) -> Vec<u64> {
    // Otherwise a suppression of the covering line would hide races of the covered access.
    if module.function_address("__tsan_default_suppressions").is_some() {
        return Vec::new();
    }
    let kept = folder.and_then(|folder| name(folder, exe));
    if let Some(known) = kept.as_deref().and_then(results::read) {
        return known;
    }
    let found: Vec<u64> = module.covered_probes().iter().map(|probe| to_plan(probe).to_word()).collect();
    // The file may have been replaced while it was being read.
    if let (Some(folder), Some(kept)) = (folder, kept)
        && name(folder, exe).as_ref() == Some(&kept)
    {
        let _ = std::fs::create_dir_all(folder);
        results::write(Some(&kept), &found);
        results::trim(folder, MOST, MOST_BYTES);
    }
    found
}

fn name(folder: &Path, exe: &Path) -> Option<PathBuf> {
    let meta = std::fs::metadata(exe).ok()?;
    let numbers = [meta.len(), meta.mtime() as u64, meta.mtime_nsec() as u64].map(u64::to_le_bytes).concat();
    Some(results::file(folder, &[build_id(exe).as_bytes(), &numbers], "probes"))
}

fn to_plan(probe: &raddle_binary::flow::CoveredCall) -> CoveredProbe {
    CoveredProbe {
        address: probe.address,
        length: probe.length,
        write: probe.write,
        log2: probe.size.trailing_zeros() as u8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_found_again_and_a_broken_file_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let exe = Path::new("/bin/true");
        let module = Module::open(exe).unwrap();
        let look = || covered_in(Some(folder.path()), exe, &module);
        assert_eq!(look(), Vec::<u64>::new(), "it has no probes");
        let kept = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        results::write(Some(&kept), &vec![1_u64, 2]);
        assert_eq!(look(), [1, 2]);
        std::fs::write(&kept, "").unwrap();
        assert_eq!(look(), Vec::<u64>::new());
    }
}
