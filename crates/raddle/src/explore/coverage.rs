//! What a search has covered: whether it may be called complete, and if not, why.
//!
//! A strategy that has nothing left to do has made every schedule up to equivalence, *of those that its scheduling points
//! make*. That is every execution there is if no execution had a [hidden race](raddle_explore::hidden) and nothing else
//! happened for which no schedule stands. Each such thing is a [`gap`], and has a sentence here. A search with a gap is
//! not complete, whatever it has left to do.

use raddle_binary::is_std_own_affair;
use raddle_explore::{Limits, Progress, StepFlags, TraceView};
use raddle_wire::explore::{Hidden, flag, outcome};

use super::scope::Scope;
use super::search::{Search, Searcher};
use super::unseen;
use raddle_harness::places::{Mapped, Places};
use raddle_harness::worker::{Ending, Execution, Recipe};

/// What an execution may have: those of the runtime, and those that the driver finds.
pub mod gap {
    pub use raddle_wire::explore::gap::*;

    /// It was cut off after the most steps.
    pub const CUT_OFF: u32 = 1 << 16;
    /// Fair scheduling held a thread back.
    pub const FAIR: u32 = 1 << 17;
    /// Its process died or was ended.
    pub const DIED: u32 = 1 << 18;
    /// A hidden race whose accesses can not be made points.
    pub const UNORDERED: u32 = 1 << 19;
    /// Threads print by Rust's std, whose lock for that is no step.
    pub const PRINTS: u32 = 1 << 20;
}

/// How a search begins anew.
pub struct Fresh {
    pub name: &'static str,
    pub seed: u64,
    pub limits: Limits,
}

impl Fresh {
    pub fn strategy(&self) -> Option<Searcher> {
        Searcher::by_name(self.name, self.seed, self.limits)
    }
}

/// The [`gap`]s of an execution.
pub fn gaps(e: &Execution<'_>, view: TraceView<'_>) -> u32 {
    let mut gaps = e.slot.gaps;
    if e.ending != Ending::Finished {
        gaps |= gap::DIED;
    } else if e.slot.outcome == outcome::STEP_LIMIT {
        gaps |= gap::CUT_OFF;
    }
    if view.steps.iter().any(|s| s.flags.has(StepFlags::HELD_BACK)) {
        gaps |= gap::FAIR;
    }
    gaps
}

/// Whose affair a hidden race is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Affair {
    TheProgram,
    /// Rust's std orders it, by operations that are no steps because who is first makes no difference.
    Std,
    /// The same, but for what is printed.
    Printing,
}

/// Whose affair a hidden race is, by the functions that make its accesses.
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

/// The accesses of a hidden race that are to become points, as far as a scope allows.
pub fn new_points(hidden: &Hidden, points: &[u64], scope: Option<&Scope>, modules: &[Mapped]) -> Vec<u64> {
    let plain = hidden.access.iter().filter(|a| !a.is_step() && !a.is_atomic()).map(|a| a.pc);
    let new = plain.filter(|pc| points.binary_search(pc).is_err()).collect();
    scope.map_or_else(|| Vec::clone(&new), |scope| scope.filter(modules, new.clone()))
}

/// Why a search that has nothing left to do is not complete. Nothing: it is.
pub fn shortcomings(search: &Search, recipe: &Recipe, progress: &Progress) -> Vec<String> {
    let gaps = search.gaps;
    let max_steps = recipe.max_steps;
    let said = [
        (gaps & gap::CUT_OFF != 0, format!("executions were cut off after {max_steps} steps (--max-steps)")),
        (gaps & gap::DIED != 0, "a process died or was ended, and what it did last is not known".into()),
        (
            gaps & gap::UNORDERED != 0,
            "accesses race that are no scheduling points, and can not be made some".into(),
        ),
        (
            gaps & gap::FORGOT != 0,
            "there are more accesses, objects or threads than can be watched for races".into(),
        ),
        (
            gaps & gap::EARLY != 0,
            "an execution failed while other threads were under way, and what they would have done is not known"
                .into(),
        ),
        (gaps & gap::WIDE != 0, "an access of many bytes that races was one step".into()),
        (
            gaps & gap::REPEATED != 0,
            "a thread that read the same again and again was not interrupted each time".into(),
        ),
        (
            gaps & gap::FAIR != 0,
            "a thread that yields or sleeps was held back until others had run: only fair schedules were made".into(),
        ),
        (
            gaps & gap::PRINTS != 0 || recipe.flags & flag::OUTPUT != 0,
            "calls that print are no scheduling points, and not every order of them was tried".into(),
        ),
        (
            gaps & gap::OUTSIDE != 0,
            "calls that change files, folders, descriptors or limits are no scheduling points, and not every order of them was tried".into(),
        ),
        (
            gaps & gap::REUSE != 0,
            "atomics held addresses of memory that was freed, and new memory at the same address was not tried".into(),
        ),
        (gaps & gap::SIGNAL != 0, "signals and cancellations arrive at scheduling points only".into()),
        (
            search.strategy.name() == "aim",
            "the strategy looks where something is promised, and nowhere else".into(),
        ),
        (progress.bounded, format!("schedules beyond bound {} were not made", progress.bound.unwrap_or(0))),
        (
            recipe.flags & flag::C11 != 0,
            "of what C11 allows, load buffering and older values beyond a few were not tried".into(),
        ),
        (progress.lost > 0, "the program did not follow some schedules".into()),
        (search.scoped.is_some(), "--only and --skip leave out where a thread may be preempted".into()),
        (search.broke_off.is_some(), "the search broke off".into()),
        (
            !search.unrepeated.is_empty(),
            "a failure was seen and did not come back when the same choices were made again".into(),
        ),
        (search.awaiting > 0, "executions waited for something outside, and did not end".into()),
        (search.slow > 0, "a thread computed for too long between two scheduling points".into()),
        (search.became_another, "the program becomes another by `exec`, which was not explored".into()),
        (
            recipe.flags & flag::PLAIN != 0,
            "the program is not instrumented, and its accesses to memory were not seen".into(),
        ),
    ];
    let mut said: Vec<String> = said.into_iter().filter(|(is, _)| *is).map(|(_, text)| text).collect();
    let unseen = unseen::functions(&search.modules);
    if !unseen.is_empty() {
        const NAMED: usize = 3;
        let more = if unseen.len() > NAMED { " and others" } else { "" };
        let named = unseen[..unseen.len().min(NAMED)].join("`, `");
        said.push(format!("`{named}`{more}: what is done with memory there was not seen, in libraries that are not instrumented"));
    }
    if let Some(library) = search.modules.iter().find(|m| !is_known(m)) {
        let name = library.path.file_name().unwrap_or_default().to_string_lossy();
        said.push(format!("{name} is not instrumented, and its accesses to memory were not seen"));
    }
    said
}

/// Libraries of the system that come with every program, and what they do with a program's memory is known by their functions.
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

/// Whether a file that is mapped is one of the system's or calls the probes.
pub fn is_known(mapped: &Mapped) -> bool {
    let name = mapped.path.file_name().unwrap_or_default().to_string_lossy();
    if SYSTEM.iter().any(|known| name.starts_with(known)) {
        return true;
    }
    let Ok(content) = std::fs::read(&mapped.path) else { return true };
    // What is mapped beside code (a table of the locale, a memory file) accesses nothing.
    !content.starts_with(b"\x7fELF") || content.windows(7).any(|w| w == b"__tsan_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_explore::{Op, Outcome, Step, ThreadId};
    use raddle_harness::made_up::{exits, with_slot};
    use raddle_harness::verdict::Usual;
    use raddle_wire::explore::Slot;

    fn of(set: impl FnOnce(&mut Slot)) -> u32 {
        with_slot(set, |e| gaps(&e, e.view(Outcome::Passed)))
    }

    #[test]
    fn what_an_execution_lacks_is_known() {
        assert_eq!(of(exits(0, 0)), 0);
        let cut_off = of(|slot| (slot.outcome, slot.gaps) = (outcome::STEP_LIMIT, gap::WIDE));
        assert_eq!(cut_off, gap::CUT_OFF | gap::WIDE);
        let dead = with_slot(exits(0, 0), |e| {
            let e = Execution { ending: Ending::Hung, ..e };
            gaps(&e, e.view(Outcome::Passed))
        });
        assert_eq!(dead, gap::DIED);
        let mut held = Step::bare(ThreadId(1), Op::default());
        held.flags = StepFlags::HELD_BACK;
        let view = TraceView { steps: &[held], wide: &[], outcome: Outcome::Passed, divergence: None };
        assert_eq!(with_slot(exits(0, 0), |e| gaps(&e, view)), gap::FAIR);
    }

    #[test]
    fn a_search_begins_anew_as_it_first_began() {
        let fresh = Fresh { name: "preemption", seed: 1, limits: Limits::default() };
        assert_eq!(fresh.strategy().unwrap().name(), "preemption");
        let mut search = Search::new(fresh.strategy().unwrap(), Usual::default(), None, false);
        search.fresh = Some(fresh);
        search.begin_anew(vec![7, 3, 7]);
        assert_eq!((&search.points[..], search.round), (&[3, 7][..], 1));
    }
}
