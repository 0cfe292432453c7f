//! What a search has covered: whether it is complete, and if not, why.
//!
//! A strategy with nothing left to do has executed every schedule up to equivalence, *among those
//! that its scheduling points allow*. These are all executions if no execution had a [hidden
//! race](raddle_explore::hidden) and nothing else happened that no schedule represents. Each such
//! thing is a [`gap`](raddle_harness::gaps::gap) and has a sentence here. A search with a gap is
//! not complete, even if nothing is left to do.

use raddle_explore::{Limits, Progress};
use raddle_harness::gaps::{gap, is_known};
use raddle_harness::point_code;
use raddle_harness::unseen::{self, CalledImports};
use raddle_harness::worker::Recipe;
use raddle_wire::explore::flag;

use super::machine_code;
use super::search::{Search, Searcher};

/// How a search restarts.
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

/// Why a search with nothing left to do is not complete. Empty: it is complete.
pub fn shortcomings(search: &Search, recipe: &Recipe, progress: &Progress) -> Vec<String> {
    let gaps = search.gaps;
    let max_steps = recipe.max_steps;
    let said = [
        (gaps & gap::CUT_OFF != 0, format!("executions were cut off after {max_steps} steps (--max-steps)")),
        (gaps & gap::DIED != 0, "a process died or was killed, so what it did last is unknown".into()),
        (
            gaps & gap::UNORDERED != 0,
            "some accesses that race could not be made scheduling points".into(),
        ),
        (
            gaps & gap::FORGOT != 0,
            "there are more accesses, objects or threads than can be watched for races".into(),
        ),
        (
            gaps & gap::EARLY != 0,
            "an execution failed before its other threads were done, so what they would have done next is unknown"
                .into(),
        ),
        (gaps & gap::WIDE != 0, "an access to many bytes that races was executed as one step".into()),
        (
            recipe.copy.is_none() && point_code::have_copy(&search.points, &search.modules),
            "a variable that races is copied to another one that races, which was executed as one step".into(),
        ),
        (
            gaps & gap::REPEATED != 0,
            "a thread that polls a variable was not preempted at every read".into(),
        ),
        (
            gaps & gap::FAIR != 0,
            "only fair schedules were made: a thread that yields or sleeps waited until others had run".into(),
        ),
        (
            gaps & gap::PRINTS != 0 || recipe.flags & flag::OUTPUT != 0,
            "calls that print are not scheduling points, so not every order of them was tried".into(),
        ),
        (
            gaps & gap::OUTSIDE != 0,
            "the program changed files, folders, descriptors, signal handlers or limits, and raddle does not model all that other threads can see of that".into(),
        ),
        (
            gaps & gap::REUSE != 0,
            "atomics held addresses of freed memory, and reuse of such an address by a new block was not tried".into(),
        ),
        (gaps & gap::PROCESS != 0, "the program starts other processes, which were not explored".into()),
        (
            gaps & gap::MAPPED_FILE != 0,
            "the program maps a file or shared memory, which can also be accessed at another address or by system calls".into(),
        ),
        (
            gaps & gap::SYSTEM_CALL != 0,
            "the program makes system calls through `syscall`, whose effects raddle does not model".into(),
        ),
        (
            gaps & gap::CLOCK != 0,
            "threads read clocks for longer than another thread's time-out, which did not expire meanwhile".into(),
        ),
        (
            gaps & gap::CLOCKS != 0,
            "several threads read clocks or wait for a time, and reading a clock is not a scheduling point, so not every order was tried".into(),
        ),
        (
            gaps & gap::CHANCE != 0,
            "the program reads what differs from run to run (random numbers, the number of its processor, the load, free memory, /proc or \
             /sys), and not every value was tried"
                .into(),
        ),
        (
            gaps & gap::LOCALE != 0,
            "the program changes its locale while several threads run, and functions that depend on it are not scheduling points".into(),
        ),
        (
            gaps & gap::UNINTERRUPTED != 0,
            "a thread was not preempted while it held a lock of the C library (of a stream or of the loader), or waited for one".into(),
        ),
        (
            gaps & gap::FIRST_RUN != 0 && search.first_failure.is_none() && search.usual.status == 0,
            "an ordinary run failed before the search, and no schedule did: something that raddle does not vary decides".into(),
        ),
        (gaps & gap::SIGNAL != 0, "signals and cancellations arrive at scheduling points only".into()),
        (
            search.strategy.name() == "aim",
            "this strategy searches only near its targets".into(),
        ),
        (progress.bounded, format!("schedules beyond bound {} were not made", progress.bound.unwrap_or(0))),
        (
            recipe.flags & flag::C11 != 0,
            "load buffering, and all but a few of the older values that C11 lets a load read, were not tried".into(),
        ),
        (
            progress.lost > 0 || gaps & gap::DIVERGED != 0,
            "the program did not follow some schedules".into(),
        ),
        (search.scoped.is_some(), "--only and --skip leave out where a thread may be preempted".into()),
        (search.broke_off.is_some(), "the search broke off".into()),
        (
            gaps & gap::UNREPEATED != 0,
            "a failure was seen once and did not repeat under the same schedule".into(),
        ),
        (gaps & gap::AWAITS != 0, "executions waited for something outside the program and did not end".into()),
        (gaps & gap::SLOW != 0, "a thread computed for too long between two scheduling points".into()),
        (gaps & gap::OTHER_PROGRAM != 0, "the program calls `exec`, and the new program was not explored".into()),
        (
            recipe.flags & flag::PLAIN != 0,
            "the program's memory accesses were not seen, because it is not instrumented".into(),
        ),
    ];
    let mut said: Vec<String> = said.into_iter().filter(|(is, _)| *is).map(|(_, text)| text).collect();
    let calls = match gaps & gap::MANY_CALLED != 0 {
        true => CalledImports::Unknown,
        false => CalledImports::Known(&search.called),
    };
    said.extend(machine_code::shortcomings(recipe, !search.points.is_empty(), search.overtaking.is_some()));
    let copied = machine_code::mapped_as(recipe);
    let unseen = unseen::functions(&search.modules, &calls, copied.as_deref());
    if !unseen.is_empty() {
        const NAMED: usize = 3;
        let more = if unseen.len() > NAMED { " and others" } else { "" };
        let named = unseen[..unseen.len().min(NAMED)].join("`, `");
        said.push(format!("the memory accesses of `{named}`{more} were not seen, because their libraries are not instrumented"));
    }
    if let Some(function) = point_code::silent_argument(&search.modules) {
        said.push(format!(
            "`{function}` may pass a struct by value, and compilers do not report that it is read"
        ));
    }
    if let Some(function) = point_code::silent_result(&search.modules) {
        said.push(format!(
            "`{function}` may write a struct that a call returns, and gcc does not report that it is written"
        ));
    }
    if let Some(function) = point_code::odd_access(&search.modules) {
        said.push(format!(
            "`{function}` accesses 3, 5, 6, 7, 10, 32 or 64 bytes at once, and clang and rustc do not report such accesses"
        ));
    }
    if let Some(function) = point_code::unrepeatable_instruction(&search.modules) {
        said.push(format!(
            "{function} reads the time stamp counter, the number of the processor or random numbers by an instruction, which is not \
             seen, and not every order and not every value was tried"
        ));
    }
    if let Some(library) = search.modules.iter().find(|m| !is_known(m) && copied.as_ref() != Some(&m.path)) {
        let name = library.path.file_name().unwrap_or_default().to_string_lossy();
        said.push(format!("the memory accesses of {name} were not seen, because it is not instrumented"));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_harness::verdict::Usual;

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
