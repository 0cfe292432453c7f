//! The arithmetic: what was found, and what it cost.

use super::program::Meets;
use super::record::{Planted, ProgramRun, TsvdRecord, TsvdRow, WHOLE};
use super::series::TECHNIQUES;
use crate::stats;

/// A part of a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Fraction {
    pub found: usize,
    pub of: usize,
}

impl Fraction {
    pub fn part(self) -> Option<f64> {
        (self.of > 0).then(|| self.found as f64 / self.of as f64)
    }
}

/// The planted pairs found within the first `runs` runs of a series. Programs for which this is not
/// known are left out on both sides.
pub fn found(record: &TsvdRecord, series: &str, runs: u32, which: impl Fn(&Planted) -> bool) -> Fraction {
    let mut share = Fraction::default();
    for row in rows(record, series) {
        let pairs = record.pairs(&row.program);
        for pair in pairs.iter().filter(|pair| row.tells(pairs, runs) && which(pair)) {
            share.of += 1;
            share.found += usize::from(row.found.iter().any(|f| f.pair == pair.number && f.run <= runs));
        }
    }
    share
}

/// Any pair.
pub fn any(_: &Planted) -> bool {
    true
}

pub fn often(pair: &Planted) -> bool {
    pair.meets == Meets::Often
}

pub fn rare(pair: &Planted) -> bool {
    pair.meets == Meets::Rare
}

pub fn false_reports(record: &TsvdRecord, series: &str) -> usize {
    rows(record, series).map(|row| row.false_reports.len()).sum()
}

fn rows<'a>(record: &'a TsvdRecord, series: &'a str) -> impl Iterator<Item = &'a TsvdRow> {
    record.rows.iter().filter(move |row| row.series.as_deref() == Some(series))
}

/// The number of programs for which it is known what this many runs of the series find.
pub fn programs(record: &TsvdRecord, series: &str, runs: u32) -> usize {
    rows(record, series).filter(|row| row.tells(record.pairs(&row.program), runs)).count()
}

/// Whether it is known what this many runs of the series find, for all programs that it was run on.
pub fn is_known(record: &TsvdRecord, series: &str, runs: u32) -> bool {
    let all = rows(record, series).count();
    all > 0 && programs(record, series, runs) == all
}

/// The programs on which all these series were run.
pub fn common(record: &TsvdRecord, series: &[String]) -> TsvdRecord {
    record.only(|program| series.iter().all(|series| record.row(program, Some(series)).is_some()))
}

/// The programs that show what this many runs of a series cost: all programs, or the sample if only
/// some were run further. Programs that were run further because a pair was still missing resemble
/// each other, but not the suite.
pub fn timed(record: &TsvdRecord, series: &str, runs: u32) -> TsvdRecord {
    let so_often = |row: &TsvdRow| row.runs.len() >= runs as usize;
    let common = record.only(|program| record.row(program, Some(series)).is_some_and(so_often));
    match runs <= WHOLE || common.subjects.len() == record.subjects.len() {
        true => common,
        false => common.only(|program| record.samples(program)),
    }
}

/// The time of all runs of a series so far, including raddle's own, divided by the native time of
/// as many runs.
pub fn price(record: &TsvdRecord, series: &str) -> Option<f64> {
    let (mut with, mut without) = (0.0, 0.0);
    for row in rows(record, series) {
        without += native(record, &row.program)? * row.runs.len() as f64;
        with += row.command_seconds;
    }
    (without > 0.0).then(|| with / without)
}

/// The native time of a program.
pub fn native(record: &TsvdRecord, program: &str) -> Option<f64> {
    stats::median(record.row(program, None)?.runs.iter().map(|run| run.seconds))
}

/// The time that the first `runs` runs of a series add to the time of the whole suite, as a
/// fraction of it.
pub fn overhead(record: &TsvdRecord, series: &str, runs: u32) -> Option<f64> {
    let (mut with, mut without) = (0.0, 0.0);
    for row in rows(record, series).filter(|row| row.runs.len() >= runs as usize) {
        let taken = &row.runs[..runs as usize];
        without += native(record, &row.program)? * f64::from(runs);
        with += taken.iter().map(|run| run.seconds).sum::<f64>();
    }
    (without > 0.0).then(|| with / without - 1.0)
}

/// The number of delays in the first `runs` runs, on average for each run of a program.
pub fn delays(record: &TsvdRecord, series: &str, runs: u32) -> Option<f64> {
    let (mut delays, mut made) = (0, 0);
    for row in rows(record, series).filter(|row| row.runs.len() >= runs as usize) {
        delays += row.delays.iter().take(runs as usize).sum::<u64>();
        made += runs;
    }
    (made > 0).then(|| delays as f64 / f64::from(made))
}

/// The average total delay of all threads in one run of the whole suite, divided by half of its
/// native processor time. Most programs keep two processors busy, so this is an upper bound for
/// what delays add on an idle machine. It does not depend on what else the machine did during the
/// measurement.
pub fn delay_bound(record: &TsvdRecord, series: &str) -> Option<f64> {
    let (mut delayed, mut native) = (0.0, 0.0);
    for row in rows(record, series).filter(|row| !row.runs.is_empty()) {
        let plain = record.row(&row.program, None)?;
        delayed += row.delayed_seconds / row.runs.len() as f64;
        native += stats::median(plain.runs.iter().map(|run| run.cpu_seconds))? / 2.0;
    }
    (native > 0.0).then(|| delayed / native)
}

/// The median over programs of what a series adds to a figure of a run, as a fraction of it.
pub fn median_increase(
    record: &TsvdRecord,
    series: &str,
    figure: impl Fn(&ProgramRun) -> f64,
) -> Option<f64> {
    let of = |row: &TsvdRow| stats::median(row.runs.iter().map(&figure)).filter(|value| *value > 0.0);
    let increases = rows(record, series).filter_map(|row| {
        let native = of(record.row(&row.program, None)?)?;
        Some(of(row)? / native - 1.0)
    });
    stats::median(increases)
}

/// Why a planted pair was missed (5.3).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Miss {
    /// The calls did not come close: the pair is found without the window, or with a wider one; or
    /// its calls seldom come close by design.
    NearMiss,
    /// The pair was taken to be ordered: it is found without inference.
    Inference,
    /// The calls meet once in a run, and there was only one run, which can only learn of the pair.
    OneRun,
    /// None of these: the delays did not make the two calls meet.
    Delay,
}

/// The pairs that `tsvd` missed in `runs` runs: program, number, and the reason as far as other
/// series show it.
pub fn misses(record: &TsvdRecord, runs: u32) -> Vec<(String, u32, Miss)> {
    let mut misses = Vec::new();
    for subject in &record.subjects {
        let Some(row) = record.row(&subject.program, Some("tsvd")) else { continue };
        let in_time = |row: &TsvdRow, pair: u32| row.found.iter().any(|f| f.pair == pair && f.run <= runs);
        let by = |series: &str, pair| {
            record.row(&subject.program, Some(series)).is_some_and(|row| in_time(row, pair))
        };
        for pair in subject.pairs.iter().filter(|pair| !in_time(row, pair.number)) {
            let (inference, window) =
                (format!("without {}", TECHNIQUES[0].0), format!("without {}", TECHNIQUES[1].0));
            let near =
                pair.meets == Meets::Rare || by("window 1000", pair.number) || by(&window, pair.number);
            let miss = match (near, by(&inference, pair.number)) {
                (true, _) => Miss::NearMiss,
                (false, _) if runs == 1 && pair.meets == Meets::Once => Miss::OneRun,
                (false, true) => Miss::Inference,
                (false, false) => Miss::Delay,
            };
            misses.push((subject.program.clone(), pair.number, miss));
        }
    }
    misses
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::{add, sample};
    use super::*;

    fn record() -> TsvdRecord {
        let mut record = sample();
        for program in ["a_bad.cc", "b_bad.c", "c_ok.rs"] {
            add(&mut record, program, None, &[1.0, 1.2, 0.8], &[]);
        }
        add(&mut record, "a_bad.cc", Some("tsvd"), &[1.4, 1.2], &[(1, 1), (2, 2)]);
        add(&mut record, "b_bad.c", Some("tsvd"), &[1.1, 1.1], &[]);
        record
    }

    #[test]
    fn what_was_found_in_so_many_runs() {
        let record = record();
        assert_eq!(found(&record, "tsvd", 1, any), Fraction { found: 1, of: 3 });
        assert_eq!(found(&record, "tsvd", 2, any), Fraction { found: 2, of: 3 });
        assert_eq!(found(&record, "tsvd", 2, often), Fraction { found: 1, of: 1 });
        assert_eq!(found(&record, "tsvd-hb", 2, any).part(), None, "it was not run");
    }

    #[test]
    fn overhead_is_of_the_whole_suite() {
        let record = record();
        assert!((overhead(&record, "tsvd", 1).unwrap() - 0.25).abs() < 1e-9);
        assert!((overhead(&record, "tsvd", 2).unwrap() - 0.2).abs() < 1e-9);
        assert_eq!(overhead(&record, "tsvd", 3), None, "no program was run three times");
        assert_eq!(delays(&record, "tsvd", 2), Some(2.0));
        assert_eq!(delays(&record, "tsvd", 3), None);
        assert_eq!((programs(&record, "tsvd", 2), programs(&record, "tsvd", 3)), (2, 1), "one is settled");
        assert!(
            (delay_bound(&record, "tsvd").unwrap() - 0.4).abs() < 1e-9,
            "0.2 s a run, and half a second natively"
        );
        assert!((median_increase(&record, "tsvd", |run| run.seconds).unwrap() - 0.2).abs() < 1e-9);
    }

    #[test]
    fn what_is_settled_counts_for_more_runs_and_what_was_cut_short_does_not() {
        let record = record();
        assert_eq!(found(&record, "tsvd", 10, any), Fraction { found: 2, of: 2 }, "b_bad.c had no ten runs");
        assert_eq!(programs(&record, "tsvd", 10), 1);
    }

    #[test]
    fn series_are_compared_over_programs_that_all_of_them_had() {
        let mut record = record();
        add(&mut record, "a_bad.cc", Some("tsvd-hb"), &[1.0, 1.0], &[]);
        let both = ["tsvd".to_owned(), "tsvd-hb".to_owned()];
        let names = |record: TsvdRecord| record.subjects.into_iter().map(|s| s.program).collect::<Vec<_>>();
        assert_eq!(names(common(&record, &both)), ["a_bad.cc"]);
        assert!(names(common(&record, &["window 1".to_owned()])).is_empty());
        assert_eq!([2, 3].map(|runs| is_known(&record, "tsvd", runs)), [true, false]);
        assert!(!is_known(&record, "window 1", 1));
        assert_eq!(names(timed(&record, "tsvd", 2)), ["a_bad.cc", "b_bad.c"]);
        for program in ["a_bad.cc", "b_bad.c"] {
            add(&mut record, program, Some("window 1"), &[1.0; 10], &[]);
        }
        assert_eq!(names(timed(&record, "window 1", 10)), ["a_bad.cc"], "not all were run on, so the sample");
        add(&mut record, "c_ok.rs", Some("window 1"), &[1.0; 10], &[]);
        assert_eq!(names(timed(&record, "window 1", 10)).len(), 3);
        assert!((price(&record, "tsvd-hb").unwrap() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn misses_are_classed_by_what_would_have_found_them() {
        let mut record = record();
        assert_eq!(misses(&record, 2), [("b_bad.c".to_owned(), 1, Miss::NearMiss)]);
        let class = |record: &TsvdRecord| misses(record, 1)[0].2;
        assert_eq!(class(&record), Miss::OneRun, "pair 2, which meets once");
        record.subjects[0].pairs[1].meets = Meets::Often;
        assert_eq!(class(&record), Miss::Delay);
        add(&mut record, "a_bad.cc", Some("without hb-inference"), &[1.0], &[(2, 1)]);
        assert_eq!(class(&record), Miss::Inference);
        add(&mut record, "a_bad.cc", Some("window 1000"), &[1.0], &[(2, 1)]);
        assert_eq!(class(&record), Miss::NearMiss);
    }
}
