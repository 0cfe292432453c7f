//! Races that are internal to the C++ library.
//!
//! Two classes of libstdc++ do things in their headers, and so in the program's instrumented code,
//! that C++ calls a race but that are harmless on every processor. A program that uses them
//! according to the standard cannot avoid these races and has no bug:
//!
//! 1. `std::atomic<std::shared_ptr>` (`_Sp_atomic`): `load` releases its lock bit with a relaxed
//!    operation, so its read of the pointer is not ordered before the next `store`. gcc 13
//!    annotates this for ThreadSanitizer, older headers do not.
//! 2. `std::ctype<char>`: `narrow` and `widen` cache their results in tables without a lock; every
//!    thread writes the same byte (GCC bug 77704). Streams and regular expressions of all threads
//!    share the facet.
//!
//! A data race is left out if both ends are in such a function. Construction and destruction are
//! not among them: destroying what others still load is a race of the program.

use crate::model::{Access, Finding, Frame, Kind};

/// A class, and its functions that any number of threads may call at once.
const SAFE: [(&str, &[&str]); 2] = [
    ("std::_Sp_atomic<", &["load", "swap", "compare_exchange_strong"]),
    ("std::ctype<char>::", &["narrow", "_M_narrow_init", "widen", "_M_widen_init"]),
];

/// Whether this is a race within the C++ library, between calls that may overlap.
pub fn is_its_own(finding: &Finding) -> bool {
    finding.kind == Kind::DataRace && finding.accesses.len() == 2 && finding.accesses.iter().all(is_within)
}

/// Whether the program reached this end only through such a function.
fn is_within(end: &Access) -> bool {
    end.stack.iter().take_while(|f| is_of_headers(f)).filter_map(|f| f.function.as_deref()).any(is_safe)
}

fn is_of_headers(frame: &Frame) -> bool {
    frame.file.as_deref().is_some_and(|file| file.contains("/include/c++/"))
}

fn is_safe(function: &str) -> bool {
    SAFE.iter().any(|(class, names)| {
        function.strip_prefix(class).is_some_and(|rest| {
            let name = rest.split('(').next().unwrap_or(rest);
            names.contains(&name.rsplit("::").next().unwrap_or(name))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::AccessOp;
    use crate::sample::{access, finding, frame};

    const HEADER: &str = "/usr/include/c++/12/bits/shared_ptr_atomic.h";

    fn end(op: AccessOp, inner: &[&str]) -> Access {
        let mut stack: Vec<Frame> = inner.iter().map(|f| frame(f, HEADER, 5, 1)).collect();
        stack.push(frame("worker", "main.cc", 9, 3));
        access(op, "T1", stack)
    }

    fn race(a: &[&str], b: &[&str]) -> Finding {
        finding(Kind::DataRace, vec![end(AccessOp::Read, a), end(AccessOp::Write, b)])
    }

    const LOAD: &str = "std::_Sp_atomic<std::shared_ptr<Config> >::load(std::memory_order) const";
    const SWAP: &str =
        "std::_Sp_atomic<std::shared_ptr<Config> >::swap(std::shared_ptr<Config>&, std::memory_order)";

    #[test]
    fn a_load_and_a_store_of_an_atomic_pointer() {
        assert!(is_its_own(&race(&[LOAD], &["std::swap<Config*>(Config*&, Config*&)", SWAP])));
        let narrow = "std::ctype<char>::narrow(char, char) const";
        assert!(is_its_own(&race(&[narrow], &[narrow])));
    }

    #[test]
    fn the_end_of_the_pointer_is_the_programs_affair() {
        assert!(!is_its_own(&race(&[LOAD], &["std::_Sp_atomic<std::shared_ptr<Config> >::~_Sp_atomic()"])));
        assert!(!is_its_own(&race(&[LOAD], &["std::_Sp_atomic<std::shared_ptr<Config> >::_Sp_atomic()"])));
    }

    #[test]
    fn what_the_program_does_itself_is_not_left_out() {
        assert!(!is_its_own(&race(&[LOAD], &[])), "one end is elsewhere");
        assert!(!is_its_own(&race(&["std::map<int, int>::find(int const&)"], &[SWAP])), "in another class");
        // The program's own code compares what is pointed to; a function of the library calls it.
        let mut called = race(&[LOAD], &[SWAP]);
        called.accesses[0].stack.insert(0, frame("compare", "main.cc", 30, 20));
        assert!(!is_its_own(&called));
        let mut other = race(&[LOAD], &[SWAP]);
        other.kind = Kind::UseAfterFree;
        assert!(!is_its_own(&other));
    }
}
