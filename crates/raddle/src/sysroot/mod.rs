//! An overlay of the installed Rust sysroot whose std, core and alloc are instrumented.
//!
//! An uninstrumented std causes false reports: the synchronisation inside `OnceLock`, channels or a
//! contended `Mutex` is not seen. Its sources are not installed. But rustup's rlibs contain their
//! LLVM bitcode (for link-time optimisation), and the toolchain contains `rust-lld`, which runs any
//! pass pipeline over bitcode. So raddle compiles each object of each rlib again from its bitcode
//! with LLVM's own ThreadSanitizer passes ([`rlib`]). Everything else in the overlay is a symbolic
//! link into the installed sysroot.
//!
//! The metadata in the rlibs stays the same, so crates compiled against either sysroot agree on
//! every hash. `std`'s shared library is *not* instrumented, which is why `raddle rustc` refuses
//! `-C prefer-dynamic`.
//!
//! An overlay is made once per toolchain, under a lock, in a staging folder that is renamed into
//! place. It takes seconds.

mod rlib;
mod toolchain;

pub use rlib::has_bitcode;
pub use toolchain::{Toolchain, ToolchainError};

use crate::report::{TextTo, terminal};
use raddle_harness::install::cache;
use raddle_harness::{say, threads};
use rustix::fs::FlockOperation;
use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Raise this when the way to make an overlay changes.
const RECIPE: u32 = 1;

/// The only target whose programs raddle can watch.
pub const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Crates that stay uninstrumented.
///
/// `compiler_builtins` and `profiler_builtins` replace C libraries that the instrumentation itself
/// may call. The others symbolise backtraces: std calls them under its own lock, they share nothing
/// with the program, and with instrumentation they would make a panic many times slower.
const LEFT_PLAIN: &[&str] =
    &["compiler_builtins", "profiler_builtins", "addr2line", "adler2", "gimli", "miniz_oxide", "object"];

/// Why there is no overlay.
#[derive(Debug, thiserror::Error)]
pub enum SysrootError {
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    #[error(transparent)]
    Cache(#[from] cache::CacheError),
    #[error(transparent)]
    Rlib(#[from] rlib::RlibError),
    #[error("cannot write the instrumented Rust library to {path}")]
    Write { path: PathBuf, source: std::io::Error },
}

/// The overlay for this toolchain; makes it first if necessary.
pub fn ensure(toolchain: &Toolchain) -> Result<PathBuf, SysrootError> {
    let root = cache::root()?;
    let key = toolchain.key(RECIPE);
    let overlay = root.join(format!("sysroot-{key}"));
    if overlay.is_dir() {
        cache::check_private(&overlay)?;
        return Ok(overlay);
    }
    let write = |source| SysrootError::Write { path: overlay.clone(), source };
    let lock = File::create(root.join(format!("sysroot-{key}.lock"))).map_err(write)?;
    rustix::fs::flock(&lock, FlockOperation::LockExclusive).map_err(|e| write(e.into()))?;
    // Another process may have made it while this one waited.
    if !overlay.is_dir() {
        build(toolchain, &root, &overlay)?;
    }
    Ok(overlay)
}

fn build(toolchain: &Toolchain, root: &Path, overlay: &Path) -> Result<(), SysrootError> {
    let write = |source| SysrootError::Write { path: overlay.to_owned(), source };
    let lld = toolchain.lld()?;
    let staging = cache::staging("staging-", root).map_err(write)?;
    let work = cache::staging("work-", root).map_err(write)?;
    let rlibs = link_overlay(&toolchain.sysroot, staging.path()).map_err(write)?;

    let progress = Progress::new(rlibs.len());
    let next = AtomicUsize::new(0);
    let failure = Mutex::new(None);
    let jobs = std::thread::available_parallelism().map_or(1, |n| n.get()).min(rlibs.len());
    threads::in_parallel(jobs, || {
        while let Some((from, to)) = rlibs.get(next.fetch_add(1, Ordering::Relaxed)) {
            progress.begin(from);
            if let Err(error) = rlib::instrument(from, to, &lld, work.path()) {
                failure.lock().unwrap_or_else(|e| e.into_inner()).get_or_insert(error);
                // Leaves nothing for the other threads to take.
                next.store(rlibs.len(), Ordering::Relaxed);
            }
        }
    });
    progress.finish();
    if let Some(error) = failure.into_inner().unwrap_or_else(|e| e.into_inner()) {
        return Err(error.into());
    }
    std::fs::rename(staging.path(), overlay).map_err(write)?;
    let _ = staging.keep();
    Ok(())
}

/// Links everything except the rlibs to be instrumented. Returns those, largest first, with their
/// places in the overlay.
fn link_overlay(sysroot: &Path, overlay: &Path) -> std::io::Result<Vec<(PathBuf, PathBuf)>> {
    let rustlib = Path::new("lib/rustlib");
    let target = rustlib.join(TARGET);
    let lib = target.join("lib");
    std::fs::create_dir_all(overlay.join(&lib))?;
    for (folder, opened) in [(rustlib, TARGET), (&target, "lib")] {
        for entry in std::fs::read_dir(sysroot.join(folder))? {
            let entry = entry?;
            if entry.file_name() != opened {
                symlink(entry.path(), overlay.join(folder).join(entry.file_name()))?;
            }
        }
    }
    let mut rlibs = Vec::new();
    for entry in std::fs::read_dir(sysroot.join(&lib))? {
        let entry = entry?;
        let place = overlay.join(&lib).join(entry.file_name());
        if is_instrumented(&entry.file_name().to_string_lossy()) {
            rlibs.push((std::fs::metadata(entry.path())?.len(), entry.path(), place));
        } else {
            symlink(entry.path(), place)?;
        }
    }
    rlibs.sort_by(|a, b| b.cmp(a));
    Ok(rlibs.into_iter().map(|(_, from, to)| (from, to)).collect())
}

/// Whether the file `libNAME-HASH.rlib` is one to instrument.
fn is_instrumented(file: &str) -> bool {
    let Some(stem) = file.strip_prefix("lib").and_then(|f| f.strip_suffix(".rlib")) else {
        return false;
    };
    let name = stem.rsplit_once('-').map_or(stem, |(name, _)| name);
    !LEFT_PLAIN.contains(&name)
}

/// One line on a terminal, rewritten as crates are finished. Without a terminal, nothing.
struct Progress {
    total: usize,
    begun: AtomicUsize,
    shown: bool,
}

impl Progress {
    fn new(total: usize) -> Progress {
        Progress { total, begun: AtomicUsize::new(0), shown: terminal::has_live_line() && !say::is_quiet() }
    }

    fn begin(&self, rlib: &Path) {
        let count = self.begun.fetch_add(1, Ordering::Relaxed) + 1;
        if self.shown {
            let name = rlib.file_stem().unwrap_or_default().to_string_lossy();
            let name = name.trim_start_matches("lib").split('-').next().unwrap_or_default();
            let total = self.total;
            let line = format!("raddle: instrumenting Rust's standard library, once: {count}/{total} {name}");
            // A line that the terminal wraps cannot be rewritten.
            let room = terminal::width(TextTo::Stderr).saturating_sub(1);
            say::error(&format!("\r\x1b[K{}", line.chars().take(room).collect::<String>()));
        }
    }

    fn finish(&self) {
        if self.shown {
            say::error("\r\x1b[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_rlibs() {
        for file in ["libstd-d1237.rlib", "libcore-1.rlib", "libtest-3.rlib", "libstd_detect-e.rlib"] {
            assert!(is_instrumented(file), "{file}");
        }
        for file in [
            "libstd-d1237.rmeta",
            "libstd-d1237.so",
            "libcompiler_builtins-2.rlib",
            "libgimli-4.rlib",
            "librustc-stable_rt.tsan.a",
        ] {
            assert!(!is_instrumented(file), "{file}");
        }
    }

    #[test]
    fn all_else_is_linked() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let lib = from.path().join("lib/rustlib").join(TARGET).join("lib");
        std::fs::create_dir_all(&lib).unwrap();
        std::fs::create_dir_all(from.path().join("lib/rustlib").join(TARGET).join("bin")).unwrap();
        std::fs::create_dir_all(from.path().join("lib/rustlib/etc")).unwrap();
        for (name, size) in
            [("libcore-1.rlib", 9), ("libstd-1.rlib", 90), ("libgimli-1.rlib", 5), ("libstd-1.so", 3)]
        {
            std::fs::write(lib.join(name), vec![0; size]).unwrap();
        }
        let rlibs = link_overlay(from.path(), to.path()).unwrap();
        let names: Vec<_> = rlibs.iter().map(|(f, _)| f.file_name().unwrap().to_owned()).collect();
        assert_eq!(names, ["libstd-1.rlib", "libcore-1.rlib"], "largest first");
        let made = to.path().join("lib/rustlib").join(TARGET);
        for link in ["bin", "../etc", "lib/libgimli-1.rlib", "lib/libstd-1.so"] {
            assert!(made.join(link).is_symlink() && made.join(link).exists(), "{link}");
        }
        assert!(!made.join("lib/libstd-1.rlib").exists());
    }
}
