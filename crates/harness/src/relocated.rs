//! The code of a program or a library that is not instrumented, copied with probes
//! (`raddle_relocate`).

pub mod libraries;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use memmap2::Mmap;
use object::{Object, ObjectSymbol};
use raddle_relocate::CopyOptions;
use raddle_wire::relocated::{CALL_LENGTH, CopyCounts, FILE, Identity, MAGIC, RelocatedHeader, at_most};

use crate::collect::{MappedCopy, Process};
use crate::install::{cache, results};
use crate::target::TargetProgram;

/// Functions by which a program starts threads, as their names begin.
const STARTS_THREADS: [&str; 4] =
    ["pthread_create", "thrd_create", "_ZNSt6thread15_M_start_thread", "GOMP_parallel"];
/// Functions by which a program becomes or starts another.
const STARTS_PROGRAMS: [&str; 7] =
    ["exec", "fexecve", "posix_spawn", "system", "popen", "g_spawn", "_ZN8QProcess"];

/// How many copies are kept between runs, and how many bytes of them. One is about sixteen times as
/// large as the program's code.
const MOST_KEPT: usize = 256;
const MOST_BYTES: u64 = 2 << 30;

/// Which accesses have a probe of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probes {
    All,
    /// Those that no other one stands for. A report may name the line of that one.
    Merged,
    /// All, as scheduling points of `explore`.
    Scheduled,
}

/// The copy of an object's code, to be put into a session.
pub struct Prepared {
    pub counts: CopyCounts,
    /// In the cache, from which another raddle may remove it at any time.
    kept: Option<PathBuf>,
    content: Content,
}

enum Content {
    Made(Vec<u8>),
    Kept(Mmap),
}

impl Prepared {
    /// Puts the file into a session's folder.
    pub fn place_in(&self, folder: &Path) -> Result<()> {
        self.place(&folder.join(FILE))
            .context("the temporary folder has no room for the copy of the program's code: set TMPDIR")
    }

    /// Puts the file at `place`.
    pub fn place(&self, place: &Path) -> std::io::Result<()> {
        // The cache may be on another disk.
        if self.kept.as_ref().is_some_and(|path| std::fs::hard_link(path, place).is_ok()) {
            return Ok(());
        }
        match &self.content {
            Content::Made(file) => std::fs::write(place, file),
            Content::Kept(file) => std::fs::write(place, file),
        }
    }
}

/// The copy of a program that has no probes, if it is one to be watched by itself: it or a library
/// of its own starts threads, and it starts no other programs. One that does (a shell, `make`,
/// `ctest`, an interpreter) may be there to start what is to be watched, so it is left alone unless
/// `wanted`.
pub fn prepare(program: &TargetProgram, wanted: bool, probes: Probes) -> Result<Option<Prepared>> {
    if !program.is_plain {
        return Ok(None);
    }
    let name = program.path.display();
    let read = || map(&program.path).with_context(|| format!("cannot read {name}"));
    if !wanted {
        let content = read()?;
        if imports(&content, &STARTS_PROGRAMS) || !starts_threads(program, &content) {
            return Ok(None);
        }
    }
    let prepared = copy(&program.path, probes)
        .with_context(|| format!("{name} is not instrumented, and cannot be watched as it is"))?;
    Ok(Some(prepared))
}

/// Whether such a program is left alone because it can start others.
pub fn is_left_alone(program: &TargetProgram) -> bool {
    program.is_plain && map(&program.path).is_ok_and(|content| imports(&content, &STARTS_PROGRAMS))
}

/// The copy of such a program for `explore`, made whatever else the program does.
pub fn scheduled(program: &TargetProgram) -> Result<Option<Arc<Prepared>>> {
    Ok(prepare(program, true, Probes::Scheduled)?.map(Arc::new))
}

fn starts_threads(program: &TargetProgram, content: &[u8]) -> bool {
    // A library that starts programs too may be an interpreter or a virtual machine.
    let library_does = |library: &PathBuf| {
        let does = |content: Mmap| imports(&content, &STARTS_THREADS) && !imports(&content, &STARTS_PROGRAMS);
        libraries::is_watched_by_default(library) && map(library).is_ok_and(does)
    };
    imports(content, &STARTS_THREADS) || libraries::needed(&program.path).iter().any(library_does)
}

fn map(path: &Path) -> std::io::Result<Mmap> {
    let file = std::fs::File::open(path)?;
    // SAFETY: the file is only read. One that shrinks meanwhile ends this process.
    unsafe { Mmap::map(&file) }
}

/// The copy of the code of the program at `path`.
pub fn copy(path: &Path, probes: Probes) -> Result<Prepared> {
    prepare_object(path, probes, false)
}

/// The copy of the code of the program or library at `path`, from the cache if it was made before.
fn prepare_object(path: &Path, probes: Probes, library: bool) -> Result<Prepared> {
    let content = map(path)?;
    let identity = identity(path).context("it cannot be read")?;
    let poison = std::env::var_os("RADDLE_POISON").is_some_and(|v| v == "1");
    let (keep_probes, scheduled) = (probes == Probes::All, probes == Probes::Scheduled);
    let options = CopyOptions { library, poison, keep_probes, scheduled };
    let folder = cache::root().ok().map(|root| root.join("relocated")).filter(|_| !poison);
    let kept = folder.as_deref().map(|f| kept_as(f, path, identity, options));
    if let Some(path) = &kept
        && let Some(copy) = Copy::read(path).filter(|c| c.header.object == identity)
    {
        return Ok(Prepared { counts: copy.header.counts, kept, content: Content::Kept(copy.file) });
    }
    let made = raddle_relocate::relocate(&content, identity, options)?;
    let kept = kept.zip(folder).filter(|(path, folder)| {
        let _ = std::fs::create_dir_all(folder);
        let is_kept = cache::write_atomically(path, &made.file).is_ok();
        results::trim(folder, MOST_KEPT, MOST_BYTES);
        is_kept
    });
    let kept = kept.map(|(path, _)| path);
    Ok(Prepared { counts: made.counts, kept, content: Content::Made(made.file) })
}

fn kept_as(folder: &Path, object: &Path, identity: Identity, options: CopyOptions) -> PathBuf {
    let numbers = [identity.device, identity.inode, identity.size, identity.modified as u64];
    let numbers = numbers.map(u64::to_le_bytes).concat();
    let kind = [u8::from(options.keep_probes) + 2 * u8::from(options.scheduled), u8::from(options.library)];
    results::file(folder, &[crate::program::build_id(object).as_bytes(), &numbers, &kind], "copy")
}

/// How much of the program is watched, in words.
pub fn coverage(counts: CopyCounts) -> String {
    format!("raddle watches a copy of its machine code, {}", share_in_words(counts))
}

fn share_in_words(counts: CopyCounts) -> String {
    let part =
        |some: u64, all: u64| format!("{some} of {all} ({}%)", (some * 100).checked_div(all).unwrap_or(100));
    format!(
        "{} functions and {} instructions that may touch shared memory",
        part(counts.functions_copied, counts.functions),
        part(counts.accesses_probed, counts.accesses),
    )
}

/// Whether the program imports a function whose name begins in one of these ways.
fn imports(content: &[u8], beginnings: &[&str]) -> bool {
    let Ok(file) = object::File::parse(content) else { return false };
    let is = |name: &str| beginnings.iter().any(|s| name.starts_with(s));
    file.dynamic_symbols().any(|s| s.is_undefined() && s.name().is_ok_and(is))
}

fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    let of = std::fs::metadata(path).ok()?;
    let modified = of.mtime() * 1_000_000_000 + of.mtime_nsec();
    Some(Identity { device: of.dev(), inode: of.ino(), size: of.size(), modified })
}

/// What a report says of each race in such a process.
pub fn caveat() -> &'static str {
    "seen in machine code, where atomic loads and stores look like plain ones: not a race if the variable is atomic, or if an atomic variable orders the accesses"
}

/// Makes addresses in copies those of the original code.
pub fn translate(processes: &mut [Process]) {
    let mut read: HashMap<PathBuf, Option<Copy>> = HashMap::new();
    for copy in processes.iter().flat_map(|p| &p.copies) {
        read.entry(copy.path.clone()).or_insert_with(|| Copy::read(&copy.path));
    }
    for process in processes.iter_mut().filter(|p| !p.copies.is_empty()) {
        for stack in process.stacks.values_mut() {
            // A library may have come where another one was.
            let original = |pc: u64| {
                let known = process.copies.iter().rev().filter(|c| c.modules <= stack.modules);
                known.filter_map(|c| read[&c.path].as_ref()?.original(c, pc)).next()
            };
            // The call of a function of the runtime is its place, and a call on the shadow stack.
            if let [first, second, ..] = stack.pcs[..]
                && first.checked_sub(second).is_some_and(|n| (1..=CALL_LENGTH).contains(&n))
                && original(first).is_some()
            {
                stack.pcs.remove(1);
            }
            let translated: Vec<Option<u64>> = stack.pcs.iter().map(|pc| original(*pc)).collect();
            stack.in_copy = translated.first().is_some_and(Option::is_some);
            stack.pcs.iter_mut().zip(translated).for_each(|(pc, new)| *pc = new.unwrap_or(*pc));
        }
    }
}

/// A file of the runtime's: its header, and what addresses are translated with.
struct Copy {
    header: RelocatedHeader,
    file: Mmap,
}

impl Copy {
    /// None unless it is whole.
    fn read(path: &Path) -> Option<Copy> {
        let file = map(path).ok()?;
        let first = file.get(..size_of::<RelocatedHeader>())?;
        // SAFETY: as many bytes; the header is numbers, for which all bytes are valid.
        let header = unsafe { first.as_ptr().cast::<RelocatedHeader>().read_unaligned() };
        let is_whole = header.magic == MAGIC
            && header.version == raddle_wire::VERSION
            && header.len == file.len() as u64
            && header.back[0] + 8 * header.back[1] <= header.len
            && header.back[0] % 4 == 0;
        is_whole.then_some(Copy { header, file })
    }

    fn back(&self) -> &[[u32; 2]] {
        let (at, n) = (self.header.back[0] as usize, self.header.back[1] as usize);
        // SAFETY: `read` has checked that the table is inside of the file and aligned; the mapping
        // begins at a page.
        unsafe { std::slice::from_raw_parts(self.file.as_ptr().add(at).cast(), n) }
    }

    /// A return address in the copy, as one behind the beginning of the original instruction.
    fn original(&self, mapped: &MappedCopy, pc: u64) -> Option<u64> {
        let offset = pc.checked_sub(1)?.checked_sub(mapped.start + self.header.code)?;
        if offset >= self.header.code_len {
            return None;
        }
        let [_, text] = at_most(self.back(), offset as u32)?;
        Some(mapped.bias + self.header.text + u64::from(text) + 1)
    }
}

/// Whether a search that executes such a copy has seen every access of the program's own code.
pub fn is_whole(counts: CopyCounts) -> bool {
    counts.functions_copied == counts.functions
        && counts.accesses_probed == counts.accesses
        && counts.unknown_code == 0
}

/// For the report's statistics.
pub fn share(relocated: &Prepared) -> [(&'static str, u64); 4] {
    let counts = relocated.counts;
    [
        ("functions", counts.functions),
        ("functions_watched", counts.functions_copied),
        ("accesses", counts.accesses),
        ("accesses_watched", counts.accesses_probed),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_that_left_the_cache_is_placed_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let (kept, place) = (folder.path().join("kept"), folder.path().join("place"));
        std::fs::write(&kept, b"copy").unwrap();
        let content = Content::Kept(map(&kept).unwrap());
        let prepared = Prepared { counts: CopyCounts::default(), kept: Some(kept.clone()), content };
        std::fs::remove_file(kept).unwrap();
        prepared.place(&place).unwrap();
        assert_eq!(std::fs::read(place).unwrap(), b"copy");
    }
}
