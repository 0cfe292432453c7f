//! `TSAN_OPTIONS`: the keys that raddle understands, so that a pipeline made for ThreadSanitizer
//! keeps its settings.
//!
//! | key | as if |
//! |---|---|
//! | `suppressions=FILE` | `--suppressions FILE` |
//! | `exitcode=N` | `--exit-code N` |
//! | `detect_deadlocks=0` | `--no-lock-order` |
//! | `report_mutex_bugs=0` | `--no-mutex-bugs` |
//! | `report_thread_leaks=0` | `--no-thread-leaks` |
//! | `report_signal_unsafe=0` | `--no-signal-bugs` |
//! | `report_destroy_locked=0` | a destroyed lock that is held is no finding |
//! | `report_atomic_races=0` | a race with an atomic access is no finding |
//! | `report_bugs=0` | nothing is a finding |
//! | `log_path=FILE` | `-o FILE` (not `stderr` or `stdout`) |
//! | `color=always\|never\|auto` | `--color …` |
//! | `memory_limit_mb=N` | `--memory-limit NM` |
//! | `history_size=0` | nothing: raddle's history is not a size |
//!
//! The command line wins where it differs from its default. Other keys are for another runtime and
//! are ignored.
//!
//! A program's own `__tsan_default_options` come before `TSAN_OPTIONS`, which come later and win.
//! They are known only after the program has run, so only their keys about what is reported count.

use raddle_finding::{AccessOp, Finding, Kind};
use raddle_harness::collect::Process;

use super::args::DetectorOptions;
use crate::report::args::Color;

fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let words = text.split([' ', ':', ',', '\t', '\n']);
    words.filter_map(|w| w.split_once('=')).map(|(k, v)| (k, v.trim_matches(['"', '\''])))
}

/// What `TSAN_OPTIONS` and the defaults of programs leave out of a report.
pub struct Unwanted {
    text: String,
}

impl Unwanted {
    /// `by_user`: the value of `TSAN_OPTIONS`.
    pub fn new(processes: &[Process], by_user: Option<&str>) -> Unwanted {
        let mut text: String = processes.iter().map(|p| format!("{}\n", p.default_options)).collect();
        text.push_str(by_user.unwrap_or_default());
        Unwanted { text }
    }

    /// The last word on `key`.
    fn is_off(&self, key: &str) -> bool {
        pairs(&self.text).filter(|(k, _)| *k == key).last().is_some_and(|(_, v)| is_off(v))
    }

    pub fn nothing_is_wanted(&self) -> bool {
        self.is_off("report_bugs")
    }

    pub fn is_wanted(&self, finding: &Finding) -> bool {
        let is_atomic = |op: &AccessOp| matches!(op, AccessOp::AtomicRead | AccessOp::AtomicWrite);
        let key = match finding.kind {
            _ if self.nothing_is_wanted() => return false,
            Kind::DataRace if finding.accesses.iter().any(|a| is_atomic(&a.op)) => "report_atomic_races",
            Kind::LockLeak if self.is_off("report_destroy_locked") => return false,
            Kind::LockOrder => "detect_deadlocks",
            Kind::DoubleLock | Kind::UnlockNotHeld | Kind::LockLeak => "report_mutex_bugs",
            Kind::Leak => "report_thread_leaks",
            Kind::SignalUnsafeCall | Kind::SignalSpoilsErrno => "report_signal_unsafe",
            _ => return true,
        };
        !self.is_off(key)
    }
}

pub fn merge(mut options: DetectorOptions, value: Option<&str>) -> DetectorOptions {
    let Some(value) = value else { return options };
    for (key, value) in pairs(value) {
        match key {
            "suppressions" => options.report.suppressions.push(value.into()),
            "exitcode" if options.report.exit_code == crate::exit::FINDINGS => {
                // Truncated as the system does it, so that the status stays the same.
                options.report.exit_code = value.parse::<i32>().map_or(options.report.exit_code, |n| n as u8);
            }
            "report_mutex_bugs" => options.no_mutex_bugs |= is_off(value),
            "report_signal_unsafe" => options.no_signal_bugs |= is_off(value),
            "report_thread_leaks" => options.no_thread_leaks |= is_off(value),
            "detect_deadlocks" => options.no_lock_order |= is_off(value),
            "log_path" if options.report.output.is_none() && !matches!(value, "stderr" | "stdout") => {
                options.report.output = Some(value.into());
            }
            "color" if options.report.color == Color::Auto => match value {
                "always" => options.report.color = Color::Always,
                "never" => options.report.color = Color::Never,
                _ => {}
            },
            "memory_limit_mb" if options.memory_limit.is_none() => {
                options.memory_limit = value.parse::<u64>().ok().filter(|n| *n > 0).map(|n| n << 20);
            }
            _ => {}
        }
    }
    options
}

fn is_off(value: &str) -> bool {
    matches!(value, "0" | "no" | "false")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: DetectorOptions,
    }

    fn options(words: &[&str], tsan: &str) -> DetectorOptions {
        let line = Line::parse_from(std::iter::once("run").chain(words.iter().copied()));
        merge(line.options, Some(tsan))
    }

    #[test]
    fn keys_with_a_meaning_are_taken() {
        let o = options(
            &[],
            "suppressions=s.txt:exitcode=7 detect_deadlocks=0,memory_limit_mb=512:color=never:log_path=r.txt",
        );
        assert_eq!(o.report.suppressions, [std::path::PathBuf::from("s.txt")]);
        assert_eq!((o.report.exit_code, o.no_lock_order, o.memory_limit), (7, true, Some(512 << 20)));
        assert_eq!((o.report.color, o.report.output), (Color::Never, Some("r.txt".into())));
        let o = options(&[], "report_mutex_bugs=0:report_thread_leaks=1:report_signal_unsafe=0");
        assert_eq!((o.no_mutex_bugs, o.no_thread_leaks, o.no_signal_bugs), (true, false, true));
    }

    #[test]
    fn the_command_line_wins_and_strangers_are_passed_over() {
        let o = options(
            &["--exit-code", "5", "-o", "mine"],
            "exitcode=7:log_path=r.txt:halt_on_error=1:nonsense",
        );
        assert_eq!((o.report.exit_code, o.report.output), (5, Some("mine".into())));
        assert_eq!(options(&[], "log_path=stderr").report.output, None);
        assert_eq!(options(&[], "exitcode=999").report.exit_code, 231);
        assert_eq!(options(&[], "exitcode=many").report.exit_code, crate::exit::FINDINGS);
    }

    fn finding(kind: Kind, op: AccessOp) -> Finding {
        let mut finding = Finding::new(kind, raddle_finding::Confidence::Confirmed, String::new());
        let thread = "T1".to_string();
        finding.accesses =
            vec![raddle_finding::Access { op, size: 4, thread, locks: vec![], stack: vec![], lock: None }];
        finding
    }

    #[test]
    fn a_program_chooses_what_is_reported_and_its_user_may_choose_otherwise() {
        let program = |text: &str| vec![Process { default_options: text.into(), ..Process::default() }];
        let wanted = |program: &[Process], user, f: &Finding| Unwanted::new(program, user).is_wanted(f);
        let (plain, atomic) =
            (finding(Kind::DataRace, AccessOp::Write), finding(Kind::DataRace, AccessOp::AtomicWrite));
        let destroyed = finding(Kind::LockLeak, AccessOp::Call);
        for f in [&plain, &atomic, &destroyed] {
            assert!(wanted(&[], None, f));
            assert!(!wanted(&program("report_bugs=0"), None, f));
            assert!(wanted(&program("report_bugs=0"), Some("report_bugs=1"), f));
        }
        assert!(!wanted(&program("report_atomic_races=0"), None, &atomic));
        assert!(wanted(&program("report_atomic_races=0"), None, &plain));
        assert!(!wanted(&[], Some("report_destroy_locked=0"), &destroyed));
        assert!(!wanted(&program("report_mutex_bugs=0"), None, &destroyed));
    }
}
