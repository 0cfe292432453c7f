//! The human-readable report of the speed bench.

use std::fmt::Write as _;

use super::peer::Peer;
use super::speed::{Engine, STRATEGIES, Sample, Speed, SpeedKey, jobs_key, peer_key, raddle_key};
use super::subject::Language;
use crate::table::{self, NONE, Table};

const LANGUAGES: [Language; 2] = [Language::C, Language::Rust];
/// Scaling counts as linear if each further job adds this share.
const LINEAR: f64 = 0.9;

pub fn markdown(speed: &Speed) -> String {
    let mut text = head(speed);
    let parts = [
        ("Targets", targets(speed)),
        ("Schedules a second, one core", rates(speed, true)),
        ("Schedules a second, not pinned", rates(speed, false)),
        ("Growth with jobs", jobs(speed)),
        ("Start-up", start_up(speed)),
        ("Hand-over", hand_over(speed)),
    ];
    for (title, table) in parts {
        let _ = write!(text, "\n### {title}\n\n{table}");
    }
    text + &left_out(speed)
}

fn head(speed: &Speed) -> String {
    let machine = &speed.machine;
    let mut text = format!(
        "Measured on {} with `{}`: {} round(s) of {} s for each figure, the best counts; {}, {} cores, {} GiB, load {} at the start.\n",
        speed.date,
        speed.command,
        speed.rounds,
        speed.seconds,
        machine.cpu,
        machine.cores,
        machine.memory_gib,
        machine.load
    );
    for (program, version) in &machine.versions {
        let _ = writeln!(text, "- {program}: {version}");
    }
    text
}

struct Target {
    what: String,
    wanted: String,
    measured: Option<f64>,
    met: fn(f64) -> bool,
}

fn targets(speed: &Speed) -> String {
    let mut table = Table::new(["target (test `mutex`, one core)", "wanted", "measured", "verdict"]);
    for target in all_targets(speed) {
        let verdict = match target.measured {
            None => "not measured",
            Some(value) if (target.met)(value) => "met",
            Some(_) => "**missed**",
        };
        table.row([target.what, target.wanted, number(target.measured), verdict.to_owned()]);
    }
    table.render()
}

fn all_targets(speed: &Speed) -> Vec<Target> {
    let mut targets = Vec::new();
    let mut add = |what: String, wanted: &str, measured, met| {
        targets.push(Target { what, wanted: wanted.to_owned(), measured, met });
    };
    let shuttle = speed.rate(&peer_key("mutex", Peer::ShuttleRandom));
    for language in LANGUAGES {
        for strategy in STRATEGIES {
            let rate = |engine| speed.rate(&raddle_key("mutex", language, engine, strategy, true));
            let of = |what: &str| format!("{what}, {strategy}, {}", language.name());
            add(of("fork"), "≥ 2,500", rate(Engine::Fork), |v| v >= 2500.0);
            let in_place = rate(Engine::InPlace);
            add(of("in place"), "≥ 50,000", in_place, |v| v >= 50_000.0);
            let times = in_place.zip(shuttle).map(|(raddle, shuttle)| raddle / shuttle);
            add(of("in place, times shuttle's random"), "> 1", times, |v| v > 1.0);
            add(
                of("two jobs, times one (not pinned)"),
                "≥ 1.8",
                growth(speed, language, strategy, 2),
                |v| v >= 2.0 * LINEAR,
            );
        }
    }
    let hand_over = speed.hand_over().map(|(_, hand_over)| hand_over);
    add("one hand-over, ns".to_owned(), "< 100", hand_over, |v| v < 100.0);
    targets
}

/// The share that each further job adds.
fn growth(speed: &Speed, language: Language, strategy: &str, jobs: u16) -> Option<f64> {
    let rate = |jobs| speed.rate(&jobs_key(first(speed), language, strategy, jobs));
    Some(rate(jobs)? / rate(1)?)
}

fn first(speed: &Speed) -> &str {
    speed.tests.first().map(String::as_str).unwrap_or_default()
}

/// A row for each engine, a column for each test.
fn rates(speed: &Speed, pinned: bool) -> String {
    let mut header = vec![String::new()];
    header.extend(speed.tests.iter().cloned());
    let mut table = Table::new(header);
    for language in LANGUAGES {
        for engine in [Engine::InPlace, Engine::Fork] {
            for strategy in STRATEGIES {
                let key = |test: &String| raddle_key(test, language, engine, strategy, pinned);
                let how = if engine == Engine::Fork { "fork" } else { "in place" };
                let name = format!("raddle, {}, {how}, {strategy}", language.name());
                table.row([name].into_iter().chain(speed.tests.iter().map(|test| cell(speed, &key(test)))));
            }
        }
    }
    if pinned {
        for peer in Peer::ALL {
            let cells = speed.tests.iter().map(|test| cell(speed, &peer_key(test, peer)));
            table.row([format!("{peer}, rewritten")].into_iter().chain(cells));
        }
    }
    table.render() + "\n`all N`: the search was complete after N schedules, which is no time for a rate.\n"
}

fn cell(speed: &Speed, key: &SpeedKey) -> String {
    match speed.best(key) {
        None => NONE.to_owned(),
        Some(sample) if is_too_short(sample, key, speed.seconds) => {
            format!("all {}", thousands(sample.schedules as f64))
        }
        Some(sample) => number(Some(sample.rate())),
    }
}

/// Raddle's search ends when it is complete; a peer is restarted.
fn is_too_short(sample: &Sample, key: &SpeedKey, seconds: f64) -> bool {
    let raddle = !matches!(key.engine, Engine::Peer(_));
    raddle && sample.exhausted && sample.seconds < seconds / 2.0
}

fn jobs(speed: &Speed) -> String {
    let mut counts: Vec<u16> = speed.series.iter().map(|series| series.key.jobs).collect();
    counts.sort_unstable();
    counts.dedup();
    let mut header = vec![format!("`{}`, in place, not pinned", first(speed))];
    header.extend(counts.iter().map(|jobs| format!("{jobs} job(s)")));
    let mut table = Table::new(header);
    for language in LANGUAGES {
        for strategy in STRATEGIES {
            let cells = counts.iter().map(|&jobs| {
                let rate = speed.rate(&jobs_key(first(speed), language, strategy, jobs));
                match growth(speed, language, strategy, jobs).filter(|_| jobs > 1) {
                    Some(growth) => format!("{} ({})", number(rate), table::ratio(Some(growth))),
                    None => number(rate),
                }
            });
            table.row([format!("{}, {strategy}", language.name())].into_iter().chain(cells));
        }
    }
    table.render()
}

fn start_up(speed: &Speed) -> String {
    let mut table = Table::new(["a search of one schedule, s", "C", "Rust"]);
    for test in &speed.tests {
        let cells = LANGUAGES.map(|language| table::seconds(speed.start_up(test, language)));
        table.row([test.clone()].into_iter().chain(cells));
    }
    table.render() + "\nIt is in all figures above.\n"
}

fn hand_over(speed: &Speed) -> String {
    match speed.hand_over() {
        None => "Not measured.\n".to_owned(),
        Some((step, hand_over)) => format!(
            "One step without a hand-over, with the driver's share: {step:.0} ns. One hand-over on top of it: {hand_over:.0} ns.\n"
        ),
    }
}

fn left_out(speed: &Speed) -> String {
    let mut lines: Vec<String> =
        speed.absent.iter().map(|absent| format!("- {}: {}.\n", absent.what, absent.reason)).collect();
    lines.extend(speed.failures.iter().map(|f| format!("- **Failed**: {}: {}.\n", f.key.label(), f.reason)));
    match lines.is_empty() {
        true => String::new(),
        false => format!("\n### Left out, or failed\n\n{}", lines.concat()),
    }
}

fn number(value: Option<f64>) -> String {
    match value {
        Some(value) if value >= 1000.0 => thousands(value),
        other => table::ratio(other),
    }
}

/// 61,234
pub fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::speed::tests::speed;
    use super::*;

    fn measured(in_place: u64, shuttle: u64) -> String {
        markdown(&speed(&[
            (raddle_key("mutex", Language::C, Engine::InPlace, "random", true), in_place, 1.0),
            (raddle_key("mutex", Language::C, Engine::InPlace, "random", false), 100, 1.0),
            (jobs_key("mutex", Language::C, "random", 2), 190, 1.0),
            (peer_key("mutex", Peer::ShuttleRandom), shuttle, 1.0),
        ]))
    }

    fn line<'a>(text: &'a str, begin: &str) -> &'a str {
        text.lines().find(|line| line.starts_with(begin)).unwrap_or_else(|| panic!("no {begin} in {text}"))
    }

    #[test]
    fn targets_are_met_or_missed_or_not_measured() {
        let text = measured(60_000, 50_000);
        assert!(line(&text, "| in place, random, C").contains("60,000 |          met"), "{text}");
        assert!(line(&text, "| in place, times shuttle's random, random, C").contains("1.20"));
        assert!(line(&text, "| two jobs, times one (not pinned), random, C").contains("1.90"));
        assert!(line(&text, "| fork, random, Rust").contains("not measured"));
        let text = measured(49_000, 50_000);
        assert!(line(&text, "| in place, random, C").contains("**missed**"), "{text}");
        assert!(line(&text, "| in place, times shuttle's random, random, C").contains("**missed**"));
    }

    #[test]
    fn a_search_that_was_complete_at_once_has_no_rate() {
        let key = raddle_key("mutex", Language::C, Engine::InPlace, "portfolio", true);
        let mut speed = speed(&[(key.clone(), 20, 0.1)]);
        assert_eq!(cell(&speed, &key), "200");
        speed.series[0].samples[1].exhausted = true;
        assert_eq!(cell(&speed, &key), "all 20");
    }

    #[test]
    fn what_failed_is_named() {
        let key = raddle_key("abba", Language::Rust, Engine::Fork, "random", true);
        let mut speed = speed(&[]);
        speed.failures.push(super::super::speed::SpeedFailure { key, reason: "it broke".to_owned() });
        let text = markdown(&speed);
        assert!(text.contains("- **Failed**: abba in Rust, fork random, one core: it broke."), "{text}");
    }

    #[test]
    fn large_numbers_have_commas() {
        assert_eq!([1.0, 999.6, 61_234.4, 1e6].map(thousands), ["1", "1,000", "61,234", "1,000,000"]);
    }
}
