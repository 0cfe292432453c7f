//! What a search has covered: whether it is complete, and if not, why.
//!
//! A strategy with nothing left to do has executed every schedule up to equivalence, *among those
//! that its scheduling points allow*. These are all executions if no execution had a [hidden
//! race](raddle_explore::hidden) and nothing else happened that no schedule represents. Each such
//! thing is a [`gap`](raddle_harness::gaps::gap) and has a sentence here. A search with a gap is
//! not complete, even if nothing is left to do.

use raddle_explore::{Limits, Progress};
use raddle_harness::gaps::{gap, is_known};
use raddle_harness::unseen::{self, Calls};
use raddle_harness::worker::Recipe;
use raddle_wire::explore::flag;

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
        (gaps & gap::DIED != 0, "a process died or was ended, and what it did last is not known".into()),
        (
            gaps & gap::UNORDERED != 0,
            "accesses race that are no scheduling points, and cannot be made some".into(),
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
            "files, folders, descriptors, signal handlers or limits were changed, and not all that threads can see of that is known".into(),
        ),
        (
            gaps & gap::REUSE != 0,
            "atomics held addresses of memory that was freed, and new memory at the same address was not tried".into(),
        ),
        (gaps & gap::PROCESS != 0, "the program makes other processes, in which nothing was explored".into()),
        (
            gaps & gap::MAPPED_FILE != 0,
            "a file or shared memory is mapped, which may be accessed by another address or by calls".into(),
        ),
        (
            gaps & gap::SYSTEM_CALL != 0,
            "system calls were made by `syscall`, and what they do was not followed".into(),
        ),
        (
            gaps & gap::CLOCK != 0,
            "threads looked at clocks for longer than a wait with a time-out, which did not time out meanwhile".into(),
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
        (
            progress.lost > 0 || gaps & gap::DIVERGED != 0,
            "the program did not follow some schedules".into(),
        ),
        (search.scoped.is_some(), "--only and --skip leave out where a thread may be preempted".into()),
        (search.broke_off.is_some(), "the search broke off".into()),
        (
            gaps & gap::UNREPEATED != 0,
            "a failure was seen and did not come back when the same choices were made again".into(),
        ),
        (gaps & gap::AWAITS != 0, "executions waited for something outside, and did not end".into()),
        (gaps & gap::SLOW != 0, "a thread computed for too long between two scheduling points".into()),
        (gaps & gap::OTHER_PROGRAM != 0, "the program becomes another by `exec`, which was not explored".into()),
        (
            recipe.flags & flag::PLAIN != 0,
            "the program is not instrumented, and its accesses to memory were not seen".into(),
        ),
    ];
    let mut said: Vec<String> = said.into_iter().filter(|(is, _)| *is).map(|(_, text)| text).collect();
    let calls = match gaps & gap::MANY_CALLED != 0 {
        true => Calls::Unknown,
        false => Calls::Known(&search.called),
    };
    let unseen = unseen::functions(&search.modules, &calls);
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
