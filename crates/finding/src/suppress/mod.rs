//! Suppression files in ThreadSanitizer's format: findings that somebody has examined and wants to
//! suppress.
//!
//! ```text
//! # a comment
//! race:third_party/zlib
//! race_top:^fast_counter_add$
//! deadlock:libfoo.so
//! ```
//!
//! There is one rule per line, `type:pattern`; for patterns see [`StarPattern`]. This is what each
//! type suppresses, and what the pattern is matched against:
//!
//! | type | kinds | matched against |
//! |---|---|---|
//! | `race` | wrong accesses (see below) | every frame |
//! | `race_top` | the same | the innermost frame of each access |
//! | `deadlock` | lock-order, deadlock | every frame |
//! | `mutex` | double-lock, unlock-not-held, lock-leak | every frame |
//! | `thread` | leak | every frame |
//! | `signal` | signal-unsafe-call, signal-spoils-errno | every frame |
//! | `called_from_lib` | all | the module of the innermost frame that is not interposed |
//!
//! Wrong accesses are data-race, atomicity-violation, use-after-free, double-free,
//! thread-safety-violation and uninitialized-read.
//!
//! "Every frame" is what ThreadSanitizer examines: the stacks of all accesses and those that
//! created the threads, and of each frame the function, the file and the module. For `race`, the
//! name, file and module of a global variable count as well. One match anywhere suppresses the
//! finding, and the first rule that matches is counted.
//!
//! A line that cannot be parsed is an error, never skipped: otherwise a typo would let a known race
//! fail the build, or worse, suppress nothing and be noticed only after months.

mod pattern;

use std::fmt;

pub use self::pattern::StarPattern;
use crate::model::{Access, Finding, Frame, Kind, Location};
use crate::place::{is_interposed, place, stable_name};

/// The rules of one or more files, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Suppressions {
    rules: Vec<Rule>,
}

/// One line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The word before the colon: which findings the rule can suppress.
    pub kind: RuleKind,
    /// The text after the colon.
    pub pattern: StarPattern,
    /// The file's name as it was given to [`Suppressions::parse`].
    pub file: String,
    /// From 1.
    pub line: usize,
}

/// The type of a rule. The table above says which findings each can suppress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RuleKind {
    /// Races and other wrong accesses, by any frame or by the global variable.
    Race,
    /// The same, by the innermost frames only.
    RaceTop,
    /// Leaks.
    Thread,
    /// Misuse of a lock.
    Mutex,
    /// Errors in a signal handler.
    Signal,
    /// Lock-order cycles and deadlocks.
    Deadlock,
    /// All kinds, by the module of the code that made the access.
    CalledFromLib,
}

/// What [`Suppressions::apply`] did.
#[derive(Debug, Clone, PartialEq)]
pub struct Applied {
    /// Findings that no rule matched, in their order.
    pub kept: Vec<Finding>,
    /// Each with the index of its rule in [`Suppressions::rules`].
    pub suppressed: Vec<(Finding, usize)>,
    /// One entry per rule, in order.
    pub usage: Vec<RuleUsage>,
}

/// What one rule has suppressed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RuleUsage {
    /// The number of findings for which it was the first matching rule.
    pub findings: u64,
    /// The sum of the findings' occurrences.
    pub occurrences: u64,
}

/// Why a suppression file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SuppressionError {
    /// No colon in the line.
    NoType {
        /// The name given to [`Suppressions::parse`].
        file: String,
        /// From 1.
        line: usize,
        /// The whole line.
        text: String,
    },
    /// A word before the colon that is not a type.
    UnknownType {
        /// The name given to [`Suppressions::parse`].
        file: String,
        /// From 1.
        line: usize,
        /// The word.
        found: String,
    },
    /// Nothing after the colon, which would match everything.
    NoPattern {
        /// The name given to [`Suppressions::parse`].
        file: String,
        /// From 1.
        line: usize,
        /// The type before the colon.
        kind: RuleKind,
    },
}

impl Suppressions {
    /// Reads one file; `file` is its name, for errors and for [`Rule::file`].
    pub fn parse(file: &str, text: &str) -> Result<Suppressions, SuppressionError> {
        let mut rules = Vec::new();
        for (at, raw) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let line = raw.trim();
            if !line.is_empty() && !line.starts_with('#') {
                rules.push(parse_rule(file, at + 1, line)?);
            }
        }
        Ok(Suppressions { rules })
    }

    /// Appends the rules of another file.
    pub fn extend(&mut self, other: Suppressions) {
        self.rules.extend(other.rules);
    }

    /// In the order of the files and of their lines.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The index of the first rule that suppresses `finding`.
    pub fn matching(&self, finding: &Finding) -> Option<usize> {
        self.rules.iter().position(|rule| rule.matches(finding))
    }

    /// Splits `findings` into those to show and those suppressed.
    pub fn apply(&self, findings: Vec<Finding>) -> Applied {
        let mut applied = Applied {
            kept: Vec::new(),
            suppressed: Vec::new(),
            usage: vec![RuleUsage::default(); self.rules.len()],
        };
        for finding in findings {
            match self.matching(&finding) {
                None => applied.kept.push(finding),
                Some(rule) => {
                    let usage = &mut applied.usage[rule];
                    usage.findings += 1;
                    usage.occurrences = usage.occurrences.saturating_add(finding.occurrences);
                    applied.suppressed.push((finding, rule));
                }
            }
        }
        applied
    }

    /// The rules that suppressed nothing: candidates for deletion.
    pub fn unused<'a>(&'a self, applied: &Applied) -> Vec<&'a Rule> {
        self.rules
            .iter()
            .zip(&applied.usage)
            .filter(|(_, usage)| usage.findings == 0)
            .map(|(rule, _)| rule)
            .collect()
    }
}

/// The narrowest line that suppresses `finding` when it happens again; `None` if no type covers its
/// kind. For a race on a global, that is the variable's name: a function's name would suppress the
/// next race in that function too.
pub fn suggestion(finding: &Finding) -> Option<String> {
    let kind = RuleKind::covering(finding.kind)?;
    let variable = match &finding.location {
        Some(Location::Global { name, .. }) if kind == RuleKind::Race => exactly(name),
        _ => None,
    };
    let function = || {
        // A thread outside the circle of a deadlock, mostly `main` in a join, waits for no lock or
        // holds none. Its function would suppress every deadlock of the program. Without a circle,
        // as after a lost wake-up, any function says more than `main`.
        let is_outside = |access: &Access| access.lock.is_none() || access.locks.is_empty();
        let is_main =
            |access: &Access| place(&access.stack).and_then(|f| f.function.as_deref()).is_some_and(is_main);
        let mut accesses: Vec<&Access> = finding.accesses.iter().collect();
        if kind == RuleKind::Deadlock {
            accesses.sort_by_key(|access| (is_outside(access), is_main(access)));
        }
        let frame = accesses.into_iter().find_map(|access| place(&access.stack))?;
        exactly(frame.function.as_deref()?)
    };
    Some(format!("{kind}:{}", variable.or_else(function)?))
}

/// `main`, or `bank::main` in Rust.
fn is_main(function: &str) -> bool {
    function.rsplit("::").next() == Some("main")
}

/// The pattern for a whole name. A name with a line break cannot be written in the file. A star in
/// it, `f(int*)`, matches itself.
fn exactly(name: &str) -> Option<String> {
    if name.is_empty() || name.contains(char::is_control) {
        return None;
    }
    let stable = stable_name(name);
    let end = if stable == name { "$" } else { "" };
    Some(format!("^{stable}{end}"))
}

impl Rule {
    /// Whether the rule suppresses `finding`.
    pub fn matches(&self, finding: &Finding) -> bool {
        match self.kind {
            RuleKind::CalledFromLib => {
                finding.accesses.iter().filter_map(caller).any(|frame| hit(&self.pattern, &frame.module))
            }
            kind if RuleKind::covering(finding.kind) != Some(kind.family()) => false,
            RuleKind::RaceTop => finding
                .accesses
                .iter()
                .filter_map(|access| access.stack.first())
                .any(|frame| self.hits(frame)),
            kind => {
                let mut frames = finding
                    .accesses
                    .iter()
                    .flat_map(|access| &access.stack)
                    .chain(finding.threads.iter().flat_map(|thread| &thread.stack));
                frames.any(|frame| self.hits(frame)) || (kind == RuleKind::Race && self.hits_global(finding))
            }
        }
    }

    fn hits(&self, frame: &Frame) -> bool {
        hit(&self.pattern, &frame.function)
            || hit(&self.pattern, &frame.file)
            || hit(&self.pattern, &frame.module)
    }

    fn hits_global(&self, finding: &Finding) -> bool {
        match &finding.location {
            Some(Location::Global { name, module, file, .. }) => {
                self.pattern.matches(name) || self.pattern.matches(module) || hit(&self.pattern, file)
            }
            _ => false,
        }
    }
}

impl RuleKind {
    /// In the order of the enum.
    pub const ALL: [RuleKind; 7] = [
        RuleKind::Race,
        RuleKind::RaceTop,
        RuleKind::Thread,
        RuleKind::Mutex,
        RuleKind::Signal,
        RuleKind::Deadlock,
        RuleKind::CalledFromLib,
    ];

    /// The word before the colon.
    pub fn name(self) -> &'static str {
        match self {
            RuleKind::Race => "race",
            RuleKind::RaceTop => "race_top",
            RuleKind::Thread => "thread",
            RuleKind::Mutex => "mutex",
            RuleKind::Signal => "signal",
            RuleKind::Deadlock => "deadlock",
            RuleKind::CalledFromLib => "called_from_lib",
        }
    }

    /// The type under which a kind of finding is suppressed.
    pub fn covering(kind: Kind) -> Option<RuleKind> {
        match kind {
            Kind::DataRace
            | Kind::AtomicityViolation
            | Kind::UseAfterFree
            | Kind::DoubleFree
            | Kind::ThreadSafetyViolation
            | Kind::UninitializedRead => Some(RuleKind::Race),
            Kind::LockOrder | Kind::Deadlock => Some(RuleKind::Deadlock),
            Kind::DoubleLock | Kind::UnlockNotHeld | Kind::LockLeak => Some(RuleKind::Mutex),
            Kind::SignalUnsafeCall | Kind::SignalSpoilsErrno => Some(RuleKind::Signal),
            Kind::Leak => Some(RuleKind::Thread),
            Kind::Livelock
            | Kind::Starvation
            | Kind::Assertion
            | Kind::Crash
            | Kind::Hang
            | Kind::ExitStatus
            | Kind::ErrorMessage
            | Kind::Output
            | Kind::Invariant
            | Kind::NonDeterminism
            | Kind::ExpectedRaceMissing => None,
        }
    }

    fn family(self) -> RuleKind {
        if self == RuleKind::RaceTop { RuleKind::Race } else { self }
    }
}

fn parse_rule(file: &str, line: usize, text: &str) -> Result<Rule, SuppressionError> {
    let file = file.to_owned();
    let Some((word, pattern)) = text.split_once(':') else {
        return Err(SuppressionError::NoType { file, line, text: text.to_owned() });
    };
    let Some(kind) = RuleKind::ALL.into_iter().find(|kind| kind.name() == word) else {
        return Err(SuppressionError::UnknownType { file, line, found: word.to_owned() });
    };
    if pattern.is_empty() {
        return Err(SuppressionError::NoPattern { file, line, kind });
    }
    Ok(Rule { kind, pattern: StarPattern::new(pattern), file, line })
}

/// The frame that called into an interposed function, or made the access itself.
fn caller(access: &Access) -> Option<&Frame> {
    access.stack.iter().find(|frame| !frame.function.as_deref().is_some_and(is_interposed))
}

fn hit(pattern: &StarPattern, text: &Option<String>) -> bool {
    text.as_deref().is_some_and(|text| pattern.matches(text))
}

impl fmt::Display for RuleKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind, self.pattern.as_str())
    }
}

impl fmt::Display for SuppressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types = RuleKind::ALL.map(RuleKind::name).join(", ");
        match self {
            SuppressionError::NoType { file, line, text } => write!(
                f,
                "{file}:{line}: `{}` has no `:`; expected `type:pattern`, type one of {types}",
                text.escape_debug()
            ),
            SuppressionError::UnknownType { file, line, found } => write!(
                f,
                "{file}:{line}: `{}:` is not a suppression type; expected one of {types}",
                found.escape_debug()
            ),
            SuppressionError::NoPattern { file, line, kind } => write!(
                f,
                "{file}:{line}: `{kind}:` has no pattern; expected a part of a function, file or module name, or `*` for all"
            ),
        }
    }
}

impl std::error::Error for SuppressionError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AccessOp, ThreadInfo};
    use crate::sample::{access, finding, frame, global};

    fn race() -> Finding {
        let mut race = finding(
            Kind::DataRace,
            vec![
                access(
                    AccessOp::Write,
                    "T2",
                    vec![frame("memcpy", "", 0, 0), frame("bump", "src/a.c", 12, 10)],
                ),
                access(
                    AccessOp::Read,
                    "T1",
                    vec![frame("show", "src/b.c", 7, 5), frame("main", "src/b.c", 40, 30)],
                ),
            ],
        );
        race.accesses[0].stack[1].module = Some("libplug.so.2".into());
        race.location = Some(global("g_counter"));
        race
    }

    fn of(kind: Kind) -> Finding {
        finding(kind, race().accesses)
    }

    fn silences(line: &str, finding: &Finding) -> bool {
        Suppressions::parse("s", line).unwrap().matching(finding).is_some()
    }

    #[test]
    fn race_looks_at_every_frame_of_both_ends_and_at_the_global() {
        for line in
            ["race:bump", "race:main", "race:src/b.c", "race:libplug", "race:^g_counter$", "race:m*cpy"]
        {
            assert!(silences(line, &race()), "{line}");
        }
        for line in ["race:other", "race:^ain$", "deadlock:bump", "mutex:bump", "thread:bump", "signal:bump"]
        {
            assert!(!silences(line, &race()), "{line}");
        }
    }

    #[test]
    fn race_looks_at_where_threads_were_created() {
        let mut race = race();
        let stack = vec![frame("start_pool", "src/pool.c", 3, 1)];
        race.threads.push(ThreadInfo {
            label: "T1".into(),
            name: None,
            created_by: Some("T0 (main)".into()),
            stack,
            running: true,
        });
        assert!(silences("race:start_pool", &race));
        assert!(!silences("race_top:start_pool", &race));
    }

    #[test]
    fn race_top_looks_at_the_innermost_frame_only() {
        assert!(silences("race_top:show", &race()));
        assert!(silences("race_top:memcpy", &race()));
        assert!(!silences("race_top:bump", &race()));
        assert!(!silences("race_top:g_counter", &race()));
    }

    #[test]
    fn called_from_lib_looks_at_the_caller_of_an_interposed_function() {
        assert!(silences("called_from_lib:libplug.so", &race()));
        assert!(!silences("called_from_lib:bump", &race()));
        assert!(silences("called_from_lib:libplug.so", &of(Kind::Crash)));
    }

    #[test]
    fn each_type_has_its_kinds() {
        for (kind, line) in [
            (Kind::UseAfterFree, "race:bump"),
            (Kind::LockOrder, "deadlock:bump"),
            (Kind::Deadlock, "deadlock:bump"),
            (Kind::DoubleLock, "mutex:bump"),
            (Kind::UnlockNotHeld, "mutex:bump"),
            (Kind::Leak, "thread:bump"),
        ] {
            assert!(silences(line, &of(kind)), "{line} {kind}");
            let others = RuleKind::ALL.iter().filter(|other| **other != RuleKind::CalledFromLib);
            for other in others.filter(|other| !line.starts_with(&format!("{other}:"))) {
                assert!(!silences(&format!("{other}:bump"), &of(kind)), "{other} {kind}");
            }
        }
        assert!(!silences("race:bump", &of(Kind::Assertion)));
    }

    #[test]
    fn comments_blank_lines_and_spaces() {
        let text = "\u{feff}# head\r\n\r\n  race:a b \t\r\n\t# more\nrace_top:x#y\n";
        let parsed = Suppressions::parse("s", text).unwrap();
        let rules: Vec<_> = parsed.rules().iter().map(|rule| (rule.line, rule.to_string())).collect();
        assert_eq!(rules, [(3, "race:a b".to_owned()), (5, "race_top:x#y".to_owned())]);
        assert_eq!(Suppressions::parse("s", "").unwrap(), Suppressions::default());
    }

    #[test]
    fn a_typo_names_file_line_and_remedy() {
        let error = Suppressions::parse("suppressions.txt", "\n\n\n\n\n\nraec:foo\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "suppressions.txt:7: `raec:` is not a suppression type; expected one of race, race_top, thread, mutex, \
             signal, deadlock, called_from_lib"
        );
        let error = Suppressions::parse("s", "race foo").unwrap_err();
        assert!(
            error.to_string().starts_with("s:1: `race foo` has no `:`; expected `type:pattern`"),
            "{error}"
        );
        let error = Suppressions::parse("s", "# x\nrace:  ").unwrap_err();
        assert_eq!(error, SuppressionError::NoPattern { file: "s".into(), line: 2, kind: RuleKind::Race });
        assert!(error.to_string().contains("or `*` for all"));
    }

    #[test]
    fn usage_counts_and_the_unused_are_named() {
        let mut rules = Suppressions::parse("one", "race:nothing\nrace:bump").unwrap();
        rules.extend(Suppressions::parse("two", "race:show").unwrap());
        let mut often = race();
        often.occurrences = 5;
        let applied = rules.apply(vec![race(), often, of(Kind::Crash)]);
        assert_eq!(applied.kept.len(), 1);
        assert_eq!(applied.suppressed.iter().map(|(_, rule)| *rule).collect::<Vec<_>>(), [1, 1]);
        assert_eq!(applied.usage[1], RuleUsage { findings: 2, occurrences: 6 });
        let unused: Vec<_> = rules
            .unused(&applied)
            .iter()
            .map(|rule| format!("{}:{}: {rule}", rule.file, rule.line))
            .collect();
        assert_eq!(unused, ["one:1: race:nothing", "two:1: race:show"]);
    }

    #[test]
    fn the_suggestion_silences_its_finding() {
        for kind in Kind::ALL {
            let finding = of(kind);
            match suggestion(&finding) {
                Some(line) => assert!(silences(&line, &finding), "{line}"),
                None => assert!(RuleKind::covering(kind).is_none()),
            }
        }
        let mut unknown = race();
        unknown.location = None;
        assert_eq!(suggestion(&unknown).unwrap(), "race:^bump$");
        for name in ["bump.isra.0", "f::g::h0123456789abcdef", "f(int*)", "main::$_0"] {
            let mut race = unknown.clone();
            race.accesses[0].stack[1].function = Some(name.into());
            assert!(silences(&suggestion(&race).unwrap(), &race), "{name}");
        }
    }

    #[test]
    fn the_suggestion_for_a_global_leaves_other_variables_of_the_function_alone() {
        let on = |name: &str| {
            let mut race = race();
            race.location = Some(global(name));
            race
        };
        let line = suggestion(&on("served")).unwrap();
        assert_eq!(line, "race:^served$");
        assert!(silences(&line, &on("served")));
        for other in ["served_later", "unserved", "waiting"] {
            assert!(!silences(&line, &on(other)), "{other}");
        }
    }

    #[test]
    fn the_suggestion_for_a_deadlock_names_a_thread_of_the_cycle() {
        let mut deadlock = of(Kind::Deadlock);
        let mut joins = deadlock.accesses[0].clone();
        joins.stack = vec![frame("main", "src/b.c", 40, 30)];
        deadlock.accesses[0].locks = vec!["L1".into()];
        deadlock.accesses[0].lock = Some("L2".into());
        deadlock.accesses.insert(0, joins);
        for held in [vec![], vec!["L3".to_owned()]] {
            deadlock.accesses[0].locks = held;
            let line = suggestion(&deadlock).unwrap();
            assert_eq!(line, "deadlock:^bump$");
            assert!(silences(&line, &deadlock));
        }
        deadlock.accesses.iter_mut().for_each(|a| (a.lock, a.locks) = (None, Vec::new()));
        assert_eq!(suggestion(&deadlock).unwrap(), "deadlock:^bump$", "all wait to be woken");
    }
}
