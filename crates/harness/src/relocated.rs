//! The code of a program that is not instrumented, copied with probes (`raddle_relocate`).

use std::path::Path;

use anyhow::{Context, Result};
use object::{Object, ObjectSymbol};
use raddle_relocate::Relocated;
use raddle_wire::relocated::{CALL_LENGTH, Counts, FILE, Header, Identity, MAGIC, at_most};

use crate::collect::Process;
use crate::say::say;
use crate::target::Program;

/// Functions by which a program starts threads, as their names begin.
const STARTS_THREADS: [&str; 4] =
    ["pthread_create", "thrd_create", "_ZNSt6thread15_M_start_thread", "GOMP_parallel"];
/// Functions by which a program becomes or starts another.
const STARTS_PROGRAMS: [&str; 5] = ["exec", "fexecve", "posix_spawn", "system", "popen"];

/// The copy of a program that has no probes, if it is one to be watched by itself: it starts threads
/// and no other programs. One that does (a shell, `make`, `ctest`, an interpreter) may be there to
/// start what is to be watched, so it is left alone unless `wanted`. Says what it does.
pub fn prepare(program: &Program, wanted: bool) -> Result<Option<Relocated>> {
    if !program.is_plain {
        return Ok(None);
    }
    let name = program.path.display();
    let content = std::fs::read(&program.path).with_context(|| format!("cannot read {name}"))?;
    let meant = imports(&content, &STARTS_THREADS) && !imports(&content, &STARTS_PROGRAMS);
    if !meant && !wanted {
        return Ok(None);
    }
    let Some(identity) = identity(&program.path) else { return Ok(None) };
    let poison = std::env::var_os("RADDLE_POISON").is_some_and(|v| v == "1");
    let relocated = raddle_relocate::relocate(&content, identity, poison)
        .with_context(|| format!("{name} is not instrumented, and cannot be watched as it is"))?;
    say!("{name} is not instrumented: {}", coverage(relocated.counts));
    Ok(Some(relocated))
}

/// How much of the program is watched, in words.
fn coverage(counts: Counts) -> String {
    let part =
        |some: u64, all: u64| format!("{some} of {all} ({}%)", (some * 100).checked_div(all).unwrap_or(100));
    format!(
        "raddle watches a copy of its machine code, {} and {} that may touch shared memory; {}",
        part(counts.functions_copied, counts.functions) + " functions",
        part(counts.accesses_probed, counts.accesses) + " instructions",
        "its libraries are not watched"
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
pub fn translate(dir: &Path, processes: &mut [Process]) {
    if !processes.iter().any(|p| p.relocated) {
        return;
    }
    let path = dir.join(FILE);
    let Some(copy) = Copy::read(&path) else { return };
    for process in processes.iter_mut().filter(|p| p.relocated) {
        let Some(start) = process.modules.iter().find(|m| m.path == path && m.offset == 0).map(|m| m.low)
        else {
            continue;
        };
        for stack in process.stacks.values_mut() {
            // The call of a function of the runtime is its place, and a call on the shadow stack.
            if let [first, second, ..] = stack.pcs[..]
                && first.checked_sub(second).is_some_and(|n| (1..=CALL_LENGTH).contains(&n))
                && copy.original(start, first).is_some()
            {
                stack.pcs.remove(1);
            }
            stack.pcs.iter_mut().for_each(|pc| *pc = copy.original(start, *pc).unwrap_or(*pc));
        }
    }
}

/// What addresses are translated with.
struct Copy {
    header: Header,
    back: Vec<[u32; 2]>,
}

impl Copy {
    fn read(path: &Path) -> Option<Copy> {
        let content = std::fs::read(path).ok()?;
        let first = content.get(..size_of::<Header>())?;
        // SAFETY: as many bytes; the header is numbers, for which all bytes are valid.
        let header = unsafe { first.as_ptr().cast::<Header>().read_unaligned() };
        if header.magic != MAGIC {
            return None;
        }
        let (at, n) = (header.back[0] as usize, header.back[1] as usize);
        let words = content.get(at..at + 8 * n)?.chunks_exact(8);
        let word = |b: &[u8]| u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        Some(Copy { header, back: words.map(|pair| [word(&pair[..4]), word(&pair[4..])]).collect() })
    }

    /// A return address in the copy that is mapped at `start`, as one behind the beginning of the
    /// original instruction.
    fn original(&self, start: u64, pc: u64) -> Option<u64> {
        let offset = pc.checked_sub(1)?.checked_sub(start + self.header.code)?;
        if offset >= self.header.code_len {
            return None;
        }
        let [_, text] = at_most(&self.back, offset as u32)?;
        let bias = start.wrapping_add_signed(-self.header.distance);
        Some(bias + self.header.text + u64::from(text) + 1)
    }
}

/// For the report's statistics.
pub fn share(relocated: &Relocated) -> [(&'static str, u64); 4] {
    let counts = relocated.counts;
    [
        ("functions", counts.functions),
        ("functions_watched", counts.functions_copied),
        ("accesses", counts.accesses),
        ("accesses_watched", counts.accesses_probed),
    ]
}
