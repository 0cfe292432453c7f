//! The id of a finding: the same bug gets the same id in every run, on every machine, and after
//! edits elsewhere.
//!
//! An id is `<kind>-<16 hex digits>`, the digits a hash of the finding's **signature**: a line of
//! text made of
//!
//! 1. the kind;
//! 2. the variable, if it has a name that is the same in every run: a global's name, or for a heap
//!    block the place that allocated it. Offsets are left out: the next run races on another index
//!    of an array;
//! 3. the ends, each as its operation and the place that represents its stack (see
//!    [`crate::place`]), **sorted**: which thread came first is chance. Reads and writes, plain or
//!    atomic, are one class, because which half of `x++` meets the other thread is chance as well.
//!    Freeing, locking and calling are separate classes.
//! 4. the broken contract, if the finding names it ([`Finding::contract`]): two of them on one line
//!    are two bugs.
//!
//! A place is the function and the line relative to the function's first line, so that edits above
//! it change nothing. If that is unknown: function, file name and line; function alone; file name
//! and line; module and offset. Names are stripped of what differs between builds. Addresses,
//! thread numbers, lock numbers, columns, directories and absolute lines are never part of it,
//! except as the fallback just named.
//!
//! **A data race on a known variable leaves the lines out.** A counter raced from five lines of two
//! functions is one bug (see [`crate::group`]). One run sees three pairs of lines, and the next run
//! another two. An id made of those lines would be new each time, and a baseline would never hold.
//! If the variable is unknown, the lines stay in, since nothing else tells two bugs apart.
//!
//! If no end has a place (the program exited with 3), the message takes their place, without its
//! numbers.
//!
//! Signatures are a format: ids are stored in baselines and in other people's trackers. Golden
//! tests may be added below, but never changed.

use crate::model::{Access, AccessOp, Finding, Frame, Kind, Location};
use crate::place::{file_name, place, stable_name};
use raddle_base::hash::fnv64;

/// The id of `finding`, computed without reading [`Finding::id`].
pub fn id(finding: &Finding) -> String {
    format!("{}-{:016x}", finding.kind, fnv64(signature(finding).as_bytes()))
}

/// Fills in the id of each finding.
pub fn assign(findings: &mut [Finding]) {
    for finding in findings {
        finding.id = id(finding);
    }
}

/// What [`id`] hashes.
pub fn signature(finding: &Finding) -> String {
    let variable = variable(finding);
    let coarse = finding.kind == Kind::DataRace && variable.is_some();
    let mut ends: Vec<String> = finding.accesses.iter().map(|access| end(access, coarse)).collect();
    ends.sort_unstable();
    let mut signature = finding.kind.name().to_owned();
    if let Some(variable) = &variable {
        signature.push_str(" on ");
        signature.push_str(variable);
    }
    if let Some(contract) = &finding.contract {
        signature.push_str(" of ");
        signature.push_str(contract);
    }
    for end in &ends {
        signature.push_str(" | ");
        signature.push_str(end);
    }
    if variable.is_none() && finding.accesses.iter().all(|access| access.stack.is_empty()) {
        signature.push_str(" : ");
        signature.push_str(&without_numbers(&finding.message));
    }
    signature
}

/// The variable of the finding, by a name that is the same in every run.
pub fn variable(finding: &Finding) -> Option<String> {
    match finding.location.as_ref()? {
        Location::Global { name, .. } => Some(format!("global {}", stable_name(name))),
        Location::Heap { stack, .. } => place(stack).map(|frame| format!("heap {}", line_place(frame))),
        // A thread's stack or TLS has only the thread's name, which is chance.
        Location::Stack { .. } | Location::Tls { .. } | Location::Mapped { .. } => None,
        // The number is chance, too.
        Location::Descriptor { .. } => None,
    }
}

/// One end of a signature: `access bump+2`, or `access bump` if lines are left out.
pub(crate) fn end(access: &Access, coarse: bool) -> String {
    let class = match access.op {
        AccessOp::Read | AccessOp::Write | AccessOp::AtomicRead | AccessOp::AtomicWrite => "access",
        AccessOp::Free => "free",
        AccessOp::Allocate => "allocate",
        AccessOp::Lock => "lock",
        AccessOp::Unlock => "unlock",
        AccessOp::Call => "call",
    };
    match place(&access.stack) {
        None => format!("{class} ?"),
        Some(frame) => match &frame.function {
            Some(function) if coarse => format!("{class} {}", stable_name(function)),
            _ => format!("{class} {}", line_place(frame)),
        },
    }
}

/// The place of a frame with its line, by the best means that is the same in every run.
fn line_place(frame: &Frame) -> String {
    let file_line = match (&frame.file, frame.line) {
        (Some(file), Some(line)) => Some(format!("{}:{line}", file_name(file))),
        _ => None,
    };
    match (&frame.function, frame.line, frame.function_line, file_line) {
        (Some(function), Some(line), Some(first), _) => {
            format!("{}+{}", stable_name(function), i64::from(line) - i64::from(first))
        }
        (Some(function), _, _, Some(file_line)) => format!("{} {file_line}", stable_name(function)),
        (Some(function), _, _, None) => stable_name(function).to_owned(),
        (None, _, _, Some(file_line)) => file_line,
        (None, _, _, None) => {
            let module = frame.module.as_deref().map_or("?", file_name);
            frame.offset.map_or_else(|| module.to_owned(), |offset| format!("{module}+{offset:#x}"))
        }
    }
}

/// Replaces runs of digits, hexadecimal after `0x`, by `#`: process ids, addresses and sizes differ
/// from run to run.
fn without_numbers(message: &str) -> String {
    let mut blanked = String::new();
    let mut rest = message;
    while let Some(first) = rest.chars().next() {
        let digits = match rest.strip_prefix("0x") {
            Some(hex) => 2 + hex.bytes().take_while(u8::is_ascii_hexdigit).count(),
            None => rest.bytes().take_while(u8::is_ascii_digit).count(),
        };
        if digits > 0 {
            blanked.push('#');
            rest = &rest[digits..];
        } else {
            blanked.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    blanked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{access, finding, frame, global};

    fn race() -> Finding {
        finding(
            Kind::DataRace,
            vec![
                access(
                    AccessOp::Write,
                    "T2",
                    vec![frame("bump", "src/a.c", 12, 10), frame("worker", "src/a.c", 30, 25)],
                ),
                access(AccessOp::Read, "T1", vec![frame("show", "src/b.c", 7, 5)]),
            ],
        )
    }

    /// Ids are stored in other people's files. If this fails, the code is wrong, not the test.
    #[test]
    fn golden() {
        assert_eq!(signature(&race()), "data-race | access bump+2 | access show+2");
        assert_eq!(id(&race()), "data-race-3b140ee238330318");

        let mut on_global = race();
        on_global.location = Some(global("counter"));
        assert_eq!(signature(&on_global), "data-race on global counter | access bump | access show");
        assert_eq!(id(&on_global), "data-race-d2bc4fa2c7561274");

        let mut on_heap = race();
        let stack = vec![frame("malloc", "", 0, 0), frame("make", "src/a.c", 44, 40)];
        on_heap.location = Some(Location::Heap { offset: 8, size: 16, thread: "T0 (main)".into(), stack });
        assert_eq!(signature(&on_heap), "data-race on heap make+4 | access bump | access show");
        assert_eq!(id(&on_heap), "data-race-a9d14951768711c0");

        let cycle = finding(
            Kind::LockOrder,
            vec![
                access(
                    AccessOp::Lock,
                    "T1",
                    vec![frame("pthread_mutex_lock", "", 0, 0), frame("b", "a.c", 5, 4)],
                ),
                access(AccessOp::Lock, "T2", vec![frame("a", "a.c", 9, 8)]),
            ],
        );
        assert_eq!(signature(&cycle), "lock-order | lock a+1 | lock b+1");
        assert_eq!(id(&cycle), "lock-order-dd4d3de36fead246");
    }

    #[test]
    fn golden_contract() {
        let mut violation = race();
        violation.kind = Kind::ThreadSafetyViolation;
        let without = "thread-safety-violation | access bump+2 | access show+2";
        assert_eq!(signature(&violation), without);
        violation.contract = Some("std::map".into());
        let with = "thread-safety-violation of std::map | access bump+2 | access show+2";
        assert_eq!(signature(&violation), with);
    }

    #[test]
    fn which_end_came_first_is_luck() {
        let mut swapped = race();
        swapped.accesses.reverse();
        assert_eq!(id(&swapped), id(&race()));
    }

    #[test]
    fn which_half_of_an_increment_was_met_is_luck() {
        let mut other = race();
        other.accesses[1].op = AccessOp::Write;
        assert_eq!(id(&other), id(&race()));
        other.accesses[1].op = AccessOp::Free;
        assert_ne!(id(&other), id(&race()));
    }

    #[test]
    fn edits_above_threads_addresses_and_directories_change_nothing() {
        let mut moved = race();
        for access in &mut moved.accesses {
            access.thread = "T9 (late)".into();
            access.locks = vec!["L7".into()];
            for frame in &mut access.stack {
                frame.line = frame.line.map(|line| line + 100);
                frame.function_line = frame.function_line.map(|line| line + 100);
                frame.column = Some(40);
                frame.file = frame.file.as_ref().map(|file| format!("/elsewhere/{file}"));
                frame.module = Some("rebuilt".into());
                frame.offset = Some(0x9999);
                frame.function = frame.function.as_ref().map(|name| format!("{name}::h0123456789abcdef"));
            }
        }
        moved.message = "otherwise worded".into();
        moved.occurrences = 7;
        assert_eq!(id(&moved), id(&race()));
    }

    #[test]
    fn another_line_kind_or_variable_is_another_bug() {
        let mut line = race();
        line.accesses[0].stack[0].line = Some(13);
        assert_ne!(id(&line), id(&race()));
        let mut kind = race();
        kind.kind = Kind::AtomicityViolation;
        assert_ne!(id(&kind), id(&race()));
        let (mut a, mut b) = (race(), race());
        a.location = Some(global("a"));
        b.location = Some(global("b"));
        assert_ne!(id(&a), id(&b));
    }

    #[test]
    fn lines_are_left_out_of_a_race_on_a_known_variable_only() {
        let (mut one, mut two) = (race(), race());
        two.accesses[0].stack[0].line = Some(13);
        for finding in [&mut one, &mut two] {
            finding.location = Some(global("counter"));
        }
        assert_eq!(id(&one), id(&two));
        for finding in [&mut one, &mut two] {
            finding.kind = Kind::UseAfterFree;
        }
        assert_ne!(id(&one), id(&two));
    }

    #[test]
    fn the_fallbacks_in_their_order() {
        let mut f = frame("f", "/src/a.c", 12, 10);
        assert_eq!(line_place(&f), "f+2");
        f.function_line = None;
        assert_eq!(line_place(&f), "f a.c:12");
        f.file = None;
        assert_eq!(line_place(&f), "f");
        f = Frame { function: None, ..frame("f", "/src/a.c", 12, 10) };
        assert_eq!(line_place(&f), "a.c:12");
        f = Frame { module: Some("/lib/libx.so".into()), offset: Some(0x1f0), ..Frame::default() };
        assert_eq!(line_place(&f), "libx.so+0x1f0");
    }

    #[test]
    fn a_finding_without_places_goes_by_its_message() {
        let mut exit = finding(Kind::ExitStatus, vec![]);
        exit.message = "process 4711 exited with 3 at 0xdeadBEEF, said “no”".into();
        assert_eq!(signature(&exit), "exit-status : process # exited with # at #, said “no”");
        let mut unseen = exit.clone();
        unseen.accesses = vec![access(AccessOp::Call, "T1", vec![])];
        assert_eq!(signature(&unseen), "exit-status | call ? : process # exited with # at #, said “no”");
    }
}
