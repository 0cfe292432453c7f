//! Why a program may have executions that no schedule leads to.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

use raddle_binary::is_std_own_affair;
use raddle_explore::{StepFlags, TraceView};
use raddle_wire::explore::{ExecutionEnd, Hidden, awaits};

use crate::places::{Mapped, Places};
use crate::verdict::waits_for_outside;
use crate::worker::{Ending, Execution};

/// The gaps of an execution: those that the runtime sees, and those that the driver finds.
pub mod gap {
    pub use raddle_wire::explore::gap::*;

    /// It was cut off at the step limit.
    pub const CUT_OFF: u32 = 1 << 16;
    /// Fair scheduling held a thread back.
    pub const FAIR: u32 = 1 << 17;
    /// Its process died or was killed.
    pub const DIED: u32 = 1 << 18;
    /// It has a hidden race whose accesses cannot become scheduling points.
    pub const UNORDERED: u32 = 1 << 19;
    /// Threads print through Rust's std, whose lock for printing is not a step.
    pub const PRINTS: u32 = 1 << 20;
    /// A failure did not come back when the same choices were made again, or there was no time to
    /// try.
    pub const UNREPEATED: u32 = 1 << 21;
    /// Executions did not follow their schedules before the search last restarted.
    pub const DIVERGED: u32 = 1 << 22;
    /// It was still computing when its time was up.
    pub const SLOW: u32 = 1 << 23;
    /// It waited for something outside and did not end.
    pub const AWAITS: u32 = 1 << 24;
    /// It became another program by `exec`.
    pub const OTHER_PROGRAM: u32 = 1 << 25;
    /// The run before the search failed. A gap if no execution fails.
    pub const FIRST_RUN: u32 = 1 << 26;

    /// The gaps that a search keeps when it restarts: they describe the program or the machine, not
    /// the choice of scheduling points.
    pub const LASTING: u32 = UNREPEATED | DIVERGED | SLOW | AWAITS | OTHER_PROGRAM | MANY_CALLED | FIRST_RUN;
}

/// The [`gap`]s of an execution.
pub fn gaps(e: &Execution<'_>, view: TraceView<'_>) -> u32 {
    let mut gaps = e.slot.gaps;
    if e.ending != Ending::Finished {
        gaps |= gap::DIED;
    } else if e.slot.outcome() == Some(ExecutionEnd::StepLimit) {
        gaps |= gap::CUT_OFF;
    }
    if e.ending == Ending::Slow {
        gaps |= gap::SLOW;
    }
    if waits_for_outside(e) {
        gaps |= gap::AWAITS;
    }
    if e.slot.awaits & awaits::OTHER_PROGRAM != 0 {
        gaps |= gap::OTHER_PROGRAM;
    }
    if view.steps.iter().any(|s| s.flags.has(StepFlags::HELD_BACK)) {
        gaps |= gap::FAIR;
    }
    gaps
}

/// Whose code causes a hidden race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Affair {
    TheProgram,
    /// Rust's std orders it, by operations that are no steps because it makes no difference which
    /// comes first.
    Std,
    /// The same, except for the order of what is printed.
    Printing,
}

/// Decides by the functions that make the accesses.
pub fn affair(hidden: &Hidden, places: &mut Places, modules: &[Mapped]) -> Affair {
    let mut frames = |pc: u64| -> Vec<(String, Option<String>)> {
        let frames = places.frames(modules, pc).into_iter();
        frames.map(|f| (f.function.unwrap_or_default(), f.file)).collect()
    };
    let both = hidden.access.map(|access| frames(access.pc));
    let has =
        |frame: &(String, Option<String>), part: &str| frame.1.as_ref().is_some_and(|f| f.contains(part));
    if both.iter().all(|frames| is_std_own_affair(frames)) {
        return Affair::Std;
    }
    if !both.iter().flatten().all(|frame| has(frame, "/library/")) {
        return Affair::TheProgram;
    }
    let callers: Vec<_> =
        hidden.callers.iter().take_while(|pc| **pc != 0).flat_map(|pc| frames(*pc)).collect();
    match both.iter().flatten().chain(&callers).any(|frame| has(frame, "/std/src/io/")) {
        true => Affair::Printing,
        false => Affair::TheProgram,
    }
}

/// The accesses of a hidden race that must become scheduling points.
pub fn new_points(hidden: &Hidden, points: &[u64]) -> Vec<u64> {
    let plain = hidden.access.iter().filter(|a| !a.is_step() && !a.is_atomic()).map(|a| a.pc);
    plain.filter(|pc| points.binary_search(pc).is_err()).collect()
}

/// System libraries that come with every program. Raddle knows how their functions use a program's
/// memory.
const SYSTEM: [&str; 12] = [
    "ld-linux",
    "libc.so",
    "libm.so",
    "libpthread.so",
    "libdl.so",
    "librt.so",
    "libgcc_s.so",
    "libstdc++.so",
    "libc++.so",
    "libc++abi.so",
    "libgomp.so",
    "libraddle",
];

/// Whether a mapped file is a system library or calls the probes.
pub fn is_known(mapped: &Mapped) -> bool {
    is_of_system(&mapped.path) || calls_probes(&mapped.path)
}

/// Libraries that start threads, and whose order raddle knows without probes.
const RUNTIMES: [&str; 3] = ["libomp", "libiomp", "libstd-"];

/// Whether raddle sees how a mapped file orders the threads that it starts.
pub(crate) fn orders_threads(mapped: &Mapped) -> bool {
    let name = mapped.path.file_name().unwrap_or_default().to_string_lossy();
    RUNTIMES.iter().any(|known| name.starts_with(known)) || is_known(mapped)
}

/// Whether a mapped file is no system library and calls the probes.
pub(crate) fn is_instrumented(path: &Path) -> bool {
    !is_of_system(path) && calls_probes(path)
}

fn is_of_system(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    SYSTEM.iter().any(|known| name.starts_with(known))
}

/// Whether a file calls the probes, or has no code that could.
fn calls_probes(path: &Path) -> bool {
    // Files mapped besides code (a locale table, a device, a large data file) access nothing and
    // are not read.
    let mut beginning = [0; 4];
    let has_code = std::fs::metadata(path).is_ok_and(|m| m.is_file())
        && std::fs::File::open(path).and_then(|mut f| f.read_exact(&mut beginning)).is_ok()
        && beginning == *b"\x7fELF";
    if !has_code {
        return true;
    }
    let Ok(content) = std::fs::read(path) else { return true };
    memchr::memmem::find(&content, b"__tsan_").is_some()
}

/// Where a system keeps libraries that nobody would build with raddle.
const INSTALLED: [&str; 7] = ["/usr/", "/lib/", "/lib64/", "/opt/", "/nix/", "/snap/", "/gnu/"];

/// A sentence about the project's own files that watched processes have mapped and that do not call
/// the probes.
pub fn say_own_without_probes<'a>(mapped: impl Iterator<Item = &'a Mapped>) -> Option<String> {
    let unseen = own_without_probes(mapped);
    let (are, them) = if unseen.len() == 1 { ("is", "it") } else { ("are", "them") };
    (!unseen.is_empty()).then(|| {
        format!(
            "{} {are} not instrumented: races in {them} are not seen; build {them} with raddle too",
            unseen.join(", ")
        )
    })
}

fn own_without_probes<'a>(mapped: impl Iterator<Item = &'a Mapped>) -> Vec<String> {
    let is_own =
        |path: &&Path| path.is_absolute() && !INSTALLED.iter().any(|i| path.to_string_lossy().starts_with(i));
    let files: BTreeSet<&Path> = mapped.map(|m| m.path.as_path()).filter(is_own).collect();
    let unseen = files.into_iter().filter(|path| !is_of_system(path) && !calls_probes(path));
    unseen.map(|path| path.file_name().unwrap_or_default().to_string_lossy().into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::{exits, with_slot};
    use raddle_explore::{LogicalThread, Op, Outcome, Step};
    use raddle_wire::explore::Slot;

    fn of(set: impl FnOnce(&mut Slot)) -> u32 {
        with_slot(set, |e| gaps(&e, e.view(Outcome::Passed)))
    }

    #[test]
    fn what_an_execution_lacks_is_known() {
        assert_eq!(of(exits(0, 0)), 0);
        let cut_off = of(|slot| {
            slot.set_outcome(ExecutionEnd::StepLimit);
            slot.gaps = gap::WIDE;
        });
        assert_eq!(cut_off, gap::CUT_OFF | gap::WIDE);
        let dead = with_slot(exits(0, 0), |e| {
            let e = Execution { ending: Ending::Hung, ..e };
            gaps(&e, e.view(Outcome::Passed))
        });
        assert_eq!(dead, gap::DIED);
        let mut held = Step::bare(LogicalThread(1), Op::default());
        held.flags = StepFlags::HELD_BACK;
        let steps = [held];
        let view = TraceView::new(&steps, &[], Outcome::Passed, None);
        assert_eq!(with_slot(exits(0, 0), |e| gaps(&e, view)), gap::FAIR);
    }
}
