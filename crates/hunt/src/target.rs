//! A target: a suspicion in a form that a search can aim at and recognise.

use std::collections::BTreeSet;

use raddle_finding::identity;
use raddle_finding::place::{file_name, place, stable_name};
use raddle_finding::{Access, AccessOp, Confidence, Finding, Frame, Kind, Location};
use serde::{Deserialize, Serialize};

use crate::ledger::Verdict;

/// A detector, which suspects something or has seen it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Detector {
    Run,
    Check,
    Conseq,
    Tsvd,
    Explore,
}

impl Detector {
    /// The name of its command.
    pub fn name(self) -> &'static str {
        match self {
            Detector::Run => "run",
            Detector::Check => "check",
            Detector::Conseq => "conseq",
            Detector::Tsvd => "tsvd",
            Detector::Explore => "explore",
        }
    }
}

/// What an execution must reach to show the suspicion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Goal {
    /// Two threads at two unordered accesses to one variable.
    Race,
    /// Each thread of a cycle waiting for a lock that the next one holds.
    Deadlock,
    /// A use of memory outside its lifetime.
    Lifetime,
    /// A failed assertion, a crash, a wrong exit status.
    Failure,
    /// Threads that loop without progress.
    Progress,
    /// Two threads inside a library that allows one.
    Misuse,
    /// A wrong value: an error message, an output, an invariant.
    Value,
    /// A broken rule of an API, whatever its consequence.
    Rule,
}

impl Goal {
    pub fn of(kind: Kind) -> Goal {
        match kind {
            Kind::DataRace => Goal::Race,
            Kind::LockOrder | Kind::Deadlock => Goal::Deadlock,
            Kind::UseAfterFree | Kind::DoubleFree => Goal::Lifetime,
            Kind::Assertion | Kind::Crash | Kind::ExitStatus => Goal::Failure,
            Kind::Hang | Kind::Livelock | Kind::Starvation => Goal::Progress,
            Kind::ThreadSafetyViolation => Goal::Misuse,
            Kind::ErrorMessage
            | Kind::Output
            | Kind::Invariant
            | Kind::NonDeterminism
            | Kind::AtomicityViolation
            | Kind::UninitializedRead => Goal::Value,
            Kind::Leak
            | Kind::DoubleLock
            | Kind::UnlockNotHeld
            | Kind::LockLeak
            | Kind::SignalUnsafeCall
            | Kind::SignalSpoilsErrno
            | Kind::ExpectedRaceMissing => Goal::Rule,
        }
    }
}

/// What a detector says against its own suspicion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "argument", content = "why", rename_all = "kebab-case")]
pub enum Argument {
    /// It rules the suspicion out in every execution of the program.
    Refutes(String),
    /// It holds in the executions that were made. Others may be different, so it proves nothing.
    Explains(String),
}

impl Argument {
    /// The argument against two suspicions, given one against each of them.
    pub fn and(self, other: Argument) -> Argument {
        use Argument::{Explains, Refutes};
        let both = |a: String, b: String| if a.contains(&b) { a } else { format!("{a}; {b}") };
        match (self, other) {
            (Refutes(a), Refutes(b)) => Refutes(both(a, b)),
            (Refutes(a) | Explains(a), Refutes(b) | Explains(b)) => Explains(both(a, b)),
        }
    }
}

/// All suspicions with one cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// The suspicion as its first detector worded it, with its id.
    pub finding: Finding,
    pub by: BTreeSet<Detector>,
    pub verdict: Verdict,
    /// What speaks against every one of the suspicions, if there is something against each.
    #[serde(default)]
    pub argument: Option<Argument>,
    /// The lines that the source alone brought up.
    #[serde(default)]
    from_source: BTreeSet<Line>,
    /// The lines of suspicions that come from executions.
    #[serde(default)]
    executed: BTreeSet<Line>,
    /// An ordinary run has raised it, and those after the search have not.
    #[serde(default)]
    pub(crate) is_gone: bool,
    /// An ordinary run has raised it, and its object cannot be recognised in a search.
    #[serde(default)]
    is_unnamed: bool,
}

impl Target {
    pub fn new(by: Detector, finding: Finding) -> Target {
        Target::argued(by, finding, None)
    }

    /// A suspicion against which its detector says something, or nothing.
    pub fn argued(by: Detector, mut finding: Finding, argument: Option<Argument>) -> Target {
        finding.id = identity::id(&finding);
        let verdict = Verdict::Open { tried: Vec::new() };
        let (from_source, executed) = (BTreeSet::new(), BTreeSet::new());
        let by_one = BTreeSet::from([by]);
        let mut target = Target {
            finding,
            by: by_one,
            verdict,
            argument,
            from_source,
            executed,
            is_gone: false,
            is_unnamed: false,
        };
        target.is_unnamed = by == Detector::Run && is_unnamed(&target.finding);
        target.add_lines(by, lines(&target.finding));
        target
    }

    fn add_lines(&mut self, by: Detector, lines: BTreeSet<Line>) {
        match by {
            Detector::Check => self.from_source.extend(lines),
            _ => self.executed.extend(lines),
        }
    }

    /// Whether the schedules of the program come to its places, as far as is known. What only the
    /// source shows may be about code that the program does not reach with these arguments. What
    /// only runs before the search have raised may depend on something that has changed since, such
    /// as a file that the first run made. A search may come to the same code for another object, so
    /// the object must be one that it can recognise.
    pub fn is_reached(&self) -> bool {
        let is_executed = !self.from_source.is_empty() && self.from_source.is_subset(&self.executed);
        !self.is_gone && !self.is_unnamed && (!self.by.contains(&Detector::Check) || is_executed)
    }

    /// Whether an execution has shown it, which need not have been repeated.
    pub fn was_seen(&self) -> bool {
        let is_executed = self.by.iter().any(|by| *by != Detector::Check);
        self.by.contains(&Detector::Explore)
            || is_executed && self.finding.confidence == Confidence::Confirmed
    }

    pub fn goal(&self) -> Goal {
        Goal::of(self.finding.kind)
    }

    /// The functions of its ends, to which a search can be confined.
    pub fn functions(&self) -> Vec<String> {
        let mut names: Vec<String> = self.finding.accesses.iter().filter_map(function).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// What speaks against it, if it is neither confirmed nor refuted.
    pub fn explanation(&self) -> Option<&str> {
        match (&self.verdict, &self.argument) {
            (Verdict::Open { .. }, Some(Argument::Explains(why) | Argument::Refutes(why))) => Some(why),
            _ => None,
        }
    }

    /// Takes over what an earlier hunt has found out about the same cause.
    pub fn recall(&mut self, mut old: Target) {
        self.by.append(&mut old.by);
        self.from_source.append(&mut old.from_source);
        self.executed.append(&mut old.executed);
        self.is_unnamed |= old.is_unnamed;
        (self.verdict, self.argument) = (old.verdict, old.argument);
    }

    /// Takes in another suspicion with the same cause. An argument against one of the two says
    /// nothing about the other.
    pub fn join(&mut self, by: Detector, finding: &Finding, argument: Option<Argument>) {
        let was_refuted = matches!(self.argument, Some(Argument::Refutes(_)));
        self.argument = self.argument.take().zip(argument).map(|(a, b)| a.and(b));
        let is_refuted = matches!(self.argument, Some(Argument::Refutes(_)));
        if was_refuted && !is_refuted && matches!(self.verdict, Verdict::Refuted { .. }) {
            self.verdict = Verdict::Open { tried: Vec::new() };
        }
        self.by.insert(by);
        self.is_gone &= by != Detector::Run;
        self.is_unnamed |= by == Detector::Run && is_unnamed(finding);
        self.add_lines(by, lines(finding));
        // What was seen says more than what was inferred.
        if finding.confidence > self.finding.confidence {
            self.finding = Finding { id: identity::id(finding), ..finding.clone() };
        }
        self.finding.confidence = self.finding.confidence.max(Confidence::Suspected);
    }
}

/// A line of source, by which findings of different detectors are compared. Detectors disagree on
/// columns and folders.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Line {
    file: String,
    line: u32,
}

/// Whether a search cannot tell that it has come to the object of a suspicion. It knows globals and
/// locks by their addresses; blocks of the heap and stacks have other addresses there.
fn is_unnamed(finding: &Finding) -> bool {
    let is_known = match Goal::of(finding.kind) {
        Goal::Race => matches!(finding.location, Some(Location::Global { .. })),
        Goal::Deadlock => true,
        _ => false,
    };
    !is_known || finding.also.iter().any(is_unnamed)
}

fn frame(access: &Access) -> Option<&Frame> {
    place(&access.stack)
}

fn function(access: &Access) -> Option<String> {
    frame(access)?.function.as_deref().map(|f| stable_name(f).to_owned())
}

fn line(access: &Access) -> Option<Line> {
    let frame = frame(access)?;
    Some(Line { file: file_name(frame.file.as_deref()?).to_owned(), line: frame.line? })
}

fn lines(finding: &Finding) -> BTreeSet<Line> {
    finding.accesses.iter().filter_map(line).collect()
}

/// The lines at which the threads of a cycle request their locks.
fn lock_lines(finding: &Finding) -> BTreeSet<Line> {
    finding.accesses.iter().filter(|a| a.op == AccessOp::Lock || a.lock.is_some()).filter_map(line).collect()
}

/// The lines at which threads of a deadlock wait for something other than the end of a thread.
/// Which threads are being joined at that moment is chance.
fn wait_lines(finding: &Finding) -> BTreeSet<Line> {
    let deeds = finding.interleaving.as_ref().map_or(&[][..], |i| &i.deeds);
    let joins =
        |i: usize| deeds.get(i).is_some_and(|d| d.starts_with("waits for T") && d.ends_with(" to end"));
    let ends = finding.accesses.iter().enumerate().filter(|(i, _)| !joins(*i));
    ends.filter_map(|(_, access)| line(access)).collect()
}

/// Whether threads go round in circles, and one of them at the loop that goes on for ever.
fn goes_round_at_loop(circle: &Finding, endless: &Finding) -> bool {
    let at = endless.accesses.first().and_then(line);
    let kinds = (circle.kind, endless.kind);
    kinds == (Kind::Livelock, Kind::Hang) && at.is_some_and(|at| wait_lines(circle).contains(&at))
}

/// Whether it is an unordered use and free of memory, seen as a race or as a use after free.
fn is_use_and_free(finding: &Finding) -> bool {
    let has = |free: bool| finding.accesses.iter().any(|a| (a.op == AccessOp::Free) == free);
    matches!(finding.kind, Kind::DataRace | Kind::UseAfterFree) && has(true) && has(false)
}

fn functions(finding: &Finding) -> BTreeSet<String> {
    finding.accesses.iter().filter_map(function).collect()
}

/// The variables that hold the locks of a cycle: `alice` for `alice`, `alice.lock` and `alice+8`.
/// `None` unless at least two are known.
fn lock_names(finding: &Finding) -> Option<BTreeSet<&str>> {
    let variable = |name: &'_ str| name.find(['.', '+', '[', '-']).unwrap_or(name.len());
    let names = finding.locks.iter().filter_map(|l| l.name.as_deref()).map(|n| &n[..variable(n)]);
    let names: BTreeSet<&str> = names.collect();
    (names.len() > 1).then_some(names)
}

/// Whether two findings, of any detectors, have one cause, so that fixing it settles both.
///
/// - Races: the same variable and an end in the same function. Without a variable: the same lines,
///   as far as they are known; a detector may have forgotten the place of an earlier access.
/// - Deadlocks: the same named locks, or the same lines that request a lock, or two such lines in
///   common.
/// - Wrong exit statuses: always. One command has one reason to fail, whatever the number.
/// - Deadlocks without locks, such as a lost wake-up: a line in common at which a thread waits,
///   whoever joins whom.
/// - A race between a use and a free, and the use after that free: the same lines.
/// - A loop that goes on for ever and threads that go round in circles: the line of the loop is one
///   at which a thread goes round.
/// - Everything else: the same kind and the same line at which it goes wrong; without lines, the
///   same id.
pub fn same_cause(a: &Finding, b: &Finding) -> bool {
    let goal = Goal::of(a.kind);
    if a.kind != b.kind && is_use_and_free(a) && is_use_and_free(b) {
        let part = |f: &Finding, free: bool| -> BTreeSet<Line> {
            f.accesses.iter().filter(|a| (a.op == AccessOp::Free) == free).filter_map(line).collect()
        };
        let same = |free: bool| !part(a, free).is_empty() && part(a, free) == part(b, free);
        return same(true) && same(false);
    }
    if goal != Goal::of(b.kind) {
        return false;
    }
    if identity::id(a) == identity::id(b) {
        return true;
    }
    let (here, there) = (lines(a), lines(b));
    match goal {
        Goal::Race => match (identity::variable(a), identity::variable(b)) {
            (Some(x), Some(y)) => x == y && !functions(a).is_disjoint(&functions(b)),
            _ => {
                let is_half = |f: &Finding| f.accesses.iter().any(|a| line(a).is_none());
                let is_part = |half: &Finding, x: &BTreeSet<Line>, y: &BTreeSet<Line>| {
                    is_half(half) && !x.is_empty() && x.is_subset(y)
                };
                !here.is_empty() && here == there || is_part(a, &here, &there) || is_part(b, &there, &here)
            }
        },
        Goal::Deadlock => {
            if let (Some(x), Some(y)) = (lock_names(a), lock_names(b)) {
                return x.is_subset(&y) || y.is_subset(&x);
            }
            let (x, y) = (lock_lines(a), lock_lines(b));
            if x.is_empty() && y.is_empty() {
                return !wait_lines(a).is_disjoint(&wait_lines(b));
            }
            !x.is_empty() && x == y || x.intersection(&y).count() > 1
        }
        Goal::Failure if a.kind == Kind::ExitStatus => b.kind == Kind::ExitStatus,
        Goal::Misuse => !here.is_empty() && here == there,
        Goal::Progress if a.kind != b.kind => goes_round_at_loop(a, b) || goes_round_at_loop(b, a),
        _ => {
            let first = |f: &Finding| f.accesses.first().and_then(line);
            a.kind == b.kind && first(a).is_some() && first(a) == first(b)
        }
    }
}

/// The id of a confirmed finding, whichever detector confirms it.
///
/// `conseq` adds the read and the write behind a failure to its accesses, and a run knows of an
/// access what a search knows as a call. So a failure is identified by the place at which it shows,
/// and a use of freed memory by that and the free. For other findings it is [`identity::id`].
pub fn lasting_id(finding: &Finding) -> String {
    let frees = match Goal::of(finding.kind) {
        Goal::Failure => 0,
        Goal::Lifetime => 1,
        _ => return identity::id(finding),
    };
    let Some((first, further)) = finding.accesses.split_first() else { return identity::id(finding) };
    let shown = Access { op: AccessOp::Call, ..first.clone() };
    let freed = further.iter().filter(|a| a.op == AccessOp::Free).take(frees).cloned();
    let accesses = std::iter::once(shown).chain(freed).collect();
    identity::id(&Finding { accesses, ..finding.clone() })
}

/// Whether a suspicion of `conseq` is about the two accesses of a race: the read that would get
/// another value, and the write that it would get it from. Neither settles the other: ordered
/// accesses can be in the wrong order, too.
pub fn comes_of(suspicion: &Finding, race: &Finding) -> bool {
    let [.., read, write] = &suspicion.accesses[..] else { return false };
    let is_read_of_write = read.op == AccessOp::Read && matches!(write.op, AccessOp::Write | AccessOp::Free);
    let excluded = read.locks.iter().any(|lock| write.locks.contains(lock));
    if race.kind != Kind::DataRace || suspicion.kind == Kind::DataRace || !is_read_of_write || excluded {
        return false;
    }
    let is_other = match (identity::variable(suspicion), identity::variable(race)) {
        (Some(x), Some(y)) => x != y,
        _ => false,
    };
    let (Some(read), Some(write)) = (line(read), line(write)) else { return false };
    let writes =
        race.accesses.iter().filter(|a| matches!(a.op, AccessOp::Write | AccessOp::Free)).filter_map(line);
    !is_other && writes.into_iter().any(|w| w == write) && lines(race) == BTreeSet::from([read, write])
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use raddle_finding::{Location, Lock};

    pub fn access(op: AccessOp, function: &str, at: u32) -> Access {
        let frame = Frame {
            function: Some(function.into()),
            file: Some("/src/a.c".into()),
            line: Some(at),
            ..Frame::default()
        };
        Access { op, size: 4, thread: "T1".into(), locks: vec![], lock: None, stack: vec![frame] }
    }

    pub fn race(variable: Option<&str>, ends: [(&str, u32); 2]) -> Finding {
        let mut finding = Finding::new(Kind::DataRace, Confidence::Suspected, "a race");
        finding.accesses =
            vec![access(AccessOp::Write, ends[0].0, ends[0].1), access(AccessOp::Read, ends[1].0, ends[1].1)];
        finding.location = variable.map(|name| Location::Global {
            name: name.into(),
            offset: 0,
            size: 4,
            module: "a".into(),
            file: None,
            line: None,
        });
        finding
    }

    pub fn cycle(kind: Kind, names: [Option<&str>; 2], at: [u32; 2]) -> Finding {
        let mut finding = Finding::new(kind, Confidence::Suspected, "a cycle");
        for i in 0..2 {
            let label = format!("L{i}");
            let mut end = access(AccessOp::Lock, "f", at[i]);
            end.lock = Some(label.clone());
            finding.accesses.push(end);
            let name = names[i].map(str::to_owned);
            finding.locks.push(Lock { label, what: "mutex".into(), name, taken: vec![] });
        }
        finding
    }

    pub fn failure(kind: Kind, at: u32) -> Finding {
        let mut finding = Finding::new(kind, Confidence::Suspected, "it fails");
        finding.accesses = vec![access(AccessOp::Call, "f", at)];
        finding
    }

    #[test]
    fn races_on_one_variable_with_a_common_function_have_one_cause() {
        let a = race(Some("x"), [("f", 1), ("g", 2)]);
        assert!(same_cause(&a, &race(Some("x"), [("h", 9), ("g", 4)])));
        assert!(!same_cause(&a, &race(Some("x"), [("h", 9), ("i", 4)])));
        assert!(!same_cause(&a, &race(Some("y"), [("f", 1), ("g", 2)])));
        assert!(same_cause(&race(None, [("f", 1), ("g", 2)]), &race(None, [("g", 2), ("f", 1)])));
        assert!(!same_cause(&race(None, [("f", 1), ("g", 2)]), &race(None, [("f", 1), ("g", 3)])));
    }

    #[test]
    fn a_loop_for_ever_and_threads_that_go_round_in_it_have_one_cause() {
        let mut circle = failure(Kind::Livelock, 4);
        circle.accesses.push(access(AccessOp::Call, "g", 9));
        let hang = |at| {
            let mut hang = failure(Kind::Hang, at);
            hang.accesses.push(access(AccessOp::Write, "f", 4));
            hang
        };
        assert!(same_cause(&circle, &hang(9)) && same_cause(&hang(4), &circle));
        assert!(!same_cause(&circle, &hang(5)), "the write is not where it goes round");
        assert!(!same_cause(&failure(Kind::Starvation, 4), &hang(4)), "a loop without a pause may end");
        assert!(!same_cause(&failure(Kind::Deadlock, 4), &hang(4)));
        circle.accesses.clear();
        assert!(!same_cause(&circle, &failure(Kind::Hang, 4)));
    }

    #[test]
    fn a_failure_has_one_id_whichever_detector_confirms_it() {
        let with = |kind, accesses: Vec<Access>| {
            let mut finding = failure(kind, 1);
            finding.accesses = accesses;
            lasting_id(&finding)
        };
        let (call, free) = (access(AccessOp::Call, "f", 9), access(AccessOp::Free, "g", 3));
        let behind = [access(AccessOp::Read, "f", 9), access(AccessOp::Write, "h", 5)];
        let by_conseq = |own: &[Access]| [own, &behind].concat();
        for kind in [Kind::Assertion, Kind::Crash] {
            let own = vec![call.clone()];
            assert_eq!(with(kind, own.clone()), with(kind, by_conseq(&own)));
            assert_eq!(with(kind, own.clone()), identity::id(&failure(kind, 9)));
            assert_ne!(with(kind, own), with(kind, vec![access(AccessOp::Call, "other", 9)]));
        }
        let (own, kind) = (vec![call, free.clone()], Kind::UseAfterFree);
        let by_run = vec![access(AccessOp::Read, "f", 9), free];
        assert_eq!(with(kind, own.clone()), with(kind, by_conseq(&own)));
        assert_eq!(with(kind, own.clone()), with(kind, by_run));
        assert_ne!(
            with(kind, own.clone()),
            with(kind, vec![own[0].clone(), access(AccessOp::Free, "other", 3)])
        );
        assert_eq!(
            lasting_id(&race(None, [("f", 1), ("g", 2)])),
            identity::id(&race(None, [("f", 1), ("g", 2)]))
        );
    }

    #[test]
    fn a_race_of_which_one_end_was_forgotten_is_known_by_the_other() {
        let whole = race(None, [("f", 1), ("g", 2)]);
        let mut half = whole.clone();
        half.accesses[0].stack.clear();
        assert!(same_cause(&whole, &half) && same_cause(&half, &whole));
        assert!(!same_cause(&half, &race(None, [("f", 1), ("g", 3)])));
        let mut nothing = half.clone();
        nothing.accesses[1].stack.clear();
        nothing.accesses[1].op = AccessOp::Free;
        assert!(!same_cause(&whole, &nothing), "nothing known is nothing in common");
    }

    #[test]
    fn a_cycle_and_its_deadlock_have_one_cause() {
        let suspected = cycle(Kind::LockOrder, [Some("a"), Some("b")], [1, 2]);
        assert!(same_cause(&suspected, &cycle(Kind::Deadlock, [Some("b"), Some("a")], [8, 9])));
        assert!(!same_cause(&suspected, &cycle(Kind::Deadlock, [Some("b"), Some("c")], [1, 2])));
        assert!(same_cause(&suspected, &cycle(Kind::Deadlock, [Some("b.lock"), Some("a+8")], [8, 9])));
        let nameless = cycle(Kind::Deadlock, [None, None], [2, 1]);
        assert!(same_cause(&suspected, &nameless));
        assert!(!same_cause(&suspected, &cycle(Kind::Deadlock, [None, None], [2, 3])));
    }

    #[test]
    fn a_lost_wake_up_is_one_cause_whoever_joins_whom() {
        let stuck = |main: u32, waits: &[u32]| {
            let mut finding = Finding::new(Kind::Deadlock, Confidence::Confirmed, "no thread can go on");
            let mut deeds = vec!["waits for T1 (w) to end".to_owned()];
            finding.accesses = vec![access(AccessOp::Call, "main", main)];
            for at in waits {
                finding.accesses.push(access(AccessOp::Call, "w", *at));
                deeds.push("waits for a signal on `c`".into());
            }
            finding.interleaving = Some(raddle_finding::Interleaving { deeds, ..Default::default() });
            finding
        };
        assert!(same_cause(&stuck(7, &[4]), &stuck(8, &[4])));
        assert!(same_cause(&stuck(7, &[4]), &stuck(8, &[4, 5])));
        assert!(!same_cause(&stuck(7, &[4]), &stuck(7, &[5])), "the join alone is none");
    }

    #[test]
    fn a_race_with_the_free_and_the_use_after_it_have_one_cause() {
        let with = |kind: Kind, used: u32| {
            let mut finding = Finding::new(kind, Confidence::Confirmed, "freed");
            finding.accesses = vec![access(AccessOp::Write, "f", used), access(AccessOp::Free, "g", 2)];
            finding
        };
        assert!(same_cause(&with(Kind::DataRace, 1), &with(Kind::UseAfterFree, 1)));
        assert!(!same_cause(&with(Kind::DataRace, 1), &with(Kind::UseAfterFree, 3)));
        let mut race = with(Kind::DataRace, 1);
        race.accesses[1].op = AccessOp::Read;
        assert!(!same_cause(&race, &with(Kind::UseAfterFree, 1)));
    }

    #[test]
    fn a_suspicion_about_the_accesses_of_a_race_comes_of_it() {
        let about = |read: u32, write: u32| {
            let mut finding = failure(Kind::Assertion, 9);
            finding.accesses.extend([access(AccessOp::Read, "g", read), access(AccessOp::Write, "f", write)]);
            finding
        };
        let race = race(Some("x"), [("f", 1), ("g", 2)]);
        assert!(comes_of(&about(2, 1), &race));
        assert!(!comes_of(&about(2, 3), &race), "another write");
        assert!(!comes_of(&about(1, 2), &race), "the race has no write there");
        assert!(!comes_of(&failure(Kind::Assertion, 1), &race), "nothing is known of its cause");
        assert!(!comes_of(&race, &about(2, 1)));
        let mut locked = about(2, 1);
        locked.accesses[1..].iter_mut().for_each(|a| a.locks.push("L1".into()));
        assert!(!comes_of(&locked, &race), "a lock keeps its two ends apart");
    }

    #[test]
    fn a_failure_is_known_by_its_line_and_kind() {
        let a = failure(Kind::Assertion, 3);
        assert!(same_cause(&a, &failure(Kind::Assertion, 3)));
        assert!(!same_cause(&a, &failure(Kind::Assertion, 4)));
        assert!(!same_cause(&a, &failure(Kind::Crash, 3)));
        assert!(!same_cause(&a, &race(None, [("f", 3), ("f", 3)])));
        let ends = |text: &str| Finding::new(Kind::ExitStatus, Confidence::Suspected, text);
        assert!(same_cause(
            &ends("the program ends with status 1"),
            &ends("the program ends with status 1: x is 3")
        ));
    }

    #[test]
    fn the_functions_of_a_target_are_named_once() {
        let target = Target::new(Detector::Run, race(Some("x"), [("f", 1), ("f", 2)]));
        assert_eq!(target.functions(), ["f"]);
    }
}
