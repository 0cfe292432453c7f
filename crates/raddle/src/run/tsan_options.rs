//! `TSAN_OPTIONS`: the keys that mean something here, so that a pipeline made for ThreadSanitizer
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
//! | `log_path=FILE` | `-o FILE` (not `stderr` or `stdout`) |
//! | `color=always\|never\|auto` | `--color …` |
//! | `memory_limit_mb=N` | `--memory-limit NM` |
//! | `history_size=0` | nothing: raddle's history is not a size |
//!
//! The command line wins where it says something other than its default. Other keys are for a
//! runtime that is not there, and are passed over.

use super::args::Options;
use crate::report::args::Color;

pub fn merge(mut options: Options, value: Option<&str>) -> Options {
    let Some(value) = value else { return options };
    for word in value.split([' ', ':', ',', '\t', '\n']) {
        let Some((key, value)) = word.split_once('=') else { continue };
        let value = value.trim_matches(['"', '\'']);
        match key {
            "suppressions" => options.report.suppressions.push(value.into()),
            "exitcode" if options.report.exit_code == crate::exit::FINDINGS => {
                // As the system cuts it off, so that the status stays what it was.
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
        options: Options,
    }

    fn options(words: &[&str], tsan: &str) -> Options {
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
}
