//! The order of the stages, and which of them fit into the available time.
//!
//! The whole of section 5 as in the paper would take most of a day with this suite. The selection
//! is such that no answer depends on what is left out:
//! 1. Two runs of each policy are made for every program.
//! 2. Further runs, up to ten and up to fifty, are made for those programs that have a planted pair
//!    not found yet. In the others no run can find more. Further runs continue with the trap file
//!    of the previous run.
//! 3. A sample of one program in four shows what ten runs cost. It is run ten times whatever it
//!    finds. This applies to the policies that learn. A randomised policy has no memory, so its
//!    first two runs show what any two cost.
//! 4. Without one technique, every program is run once, which shows the cost, and again where a
//!    pair is missing.
//! 5. The same is done for the parameters, on the sample.
//! 6. The paper's algorithm without raddle's additions is run twice on every program. Raddle's
//!    algorithm without one addition, and with other seeds, is run twice on the sample.
//!
//! A stage that would not end in the remaining time is left out completely, so that the results can
//! be compared. A later call with the same record makes it.

use std::time::Duration;

use super::figures;
use super::program::PlantedProgram;
use super::record::TsvdRecord;
use super::series::{POLICIES, Series, is_shared};

/// The programs of a stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProgramSelection {
    All,
    Sample,
    /// The programs with a pair that was not found yet.
    Unsettled,
    /// These, and the sample.
    UnsettledAndSample,
}

/// A series, for some programs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeriesStage {
    pub series: Series,
    pub which: ProgramSelection,
}

/// All programs.
pub fn whole(series: Vec<Series>) -> Vec<SeriesStage> {
    stages(series, |_| ProgramSelection::All)
}

/// The sample.
pub fn sampled(series: Vec<Series>) -> Vec<SeriesStage> {
    stages(series, |_| ProgramSelection::Sample)
}

/// More runs where a pair is missing. If `cost`, also more runs of the sample, to measure the cost.
pub fn more(series: Vec<Series>, cost: bool) -> Vec<SeriesStage> {
    stages(series, |name| match cost && is_shared(name) {
        true => ProgramSelection::UnsettledAndSample,
        false => ProgramSelection::Unsettled,
    })
}

fn stages(series: Vec<Series>, which: impl Fn(&str) -> ProgramSelection) -> Vec<SeriesStage> {
    series.into_iter().map(|series| SeriesStage { which: which(&series.name), series }).collect()
}

impl SeriesStage {
    /// The programs that still have to be run in this stage.
    pub fn programs<'a>(
        &self,
        programs: &'a [PlantedProgram],
        record: &TsvdRecord,
    ) -> Vec<&'a PlantedProgram> {
        programs.iter().filter(|program| self.is_due(&program.name, record)).collect()
    }

    fn is_due(&self, program: &str, record: &TsvdRecord) -> bool {
        let row = record.row(program, Some(&self.series.name));
        if row.is_some_and(|row| row.runs.len() as u32 >= self.series.runs) {
            return false;
        }
        let unsettled = || row.is_some_and(|row| !row.is_settled(record.pairs(program)));
        match self.which {
            ProgramSelection::All => true,
            ProgramSelection::Sample => record.samples(program),
            ProgramSelection::Unsettled => unsettled(),
            ProgramSelection::UnsettledAndSample => unsettled() || record.samples(program),
        }
    }

    /// About how long the stage will take.
    pub fn expected(&self, programs: &[&PlantedProgram], record: &TsvdRecord) -> Duration {
        let ratio = figures::price(record, &self.series.name).unwrap_or(first_guess(&self.series.name));
        let seconds = programs.iter().map(|program| {
            let done = record.row(&program.name, Some(&self.series.name)).map_or(0, |row| row.runs.len());
            let runs = f64::from(self.series.runs) - done as f64;
            figures::native(record, &program.name).unwrap_or(1.0) * runs * ratio
        });
        Duration::from_secs_f64(seconds.sum::<f64>().max(0.0))
    }
}

/// An estimate, before any measurement, of the time including raddle's own divided by the native
/// time: the value on an idle machine, rounded up.
fn first_guess(series: &str) -> f64 {
    match POLICIES.contains(&series) && !is_shared(series) {
        true => 4.0,
        false => 1.8,
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::{add, sample};
    use super::super::series;
    use super::*;
    use std::path::Path;

    /// The programs of the sample record, as far as a stage needs them.
    fn programs() -> Vec<PlantedProgram> {
        let program = |name: &str| PlantedProgram::parse(Path::new(name), "// expect: nothing\n").unwrap();
        ["a_bad.cc", "b_bad.c", "c_ok.rs"].map(program).to_vec()
    }

    fn due(stage: &SeriesStage, record: &TsvdRecord) -> Vec<String> {
        stage.programs(&programs(), record).iter().map(|program| program.name.clone()).collect()
    }

    #[test]
    fn runs_go_on_where_a_pair_is_missing_and_in_the_sample() {
        let mut record = sample();
        for program in ["a_bad.cc", "b_bad.c", "c_ok.rs"] {
            add(&mut record, program, Some("tsvd"), &[1.0, 1.0], &[(1, 1), (2, 1)]);
            add(&mut record, program, Some("static-random"), &[1.0, 1.0], &[]);
        }
        let stage = |name: &str, runs, cost| {
            more(series::policies(runs), cost).into_iter().find(|stage| stage.series.name == name).unwrap()
        };
        assert_eq!(due(&stage("tsvd", 10, true), &record), ["a_bad.cc"], "the sample");
        assert!(due(&stage("tsvd", 50, false), &record).is_empty(), "all is found");
        assert_eq!(due(&stage("static-random", 10, true), &record), ["a_bad.cc", "b_bad.c"]);
        assert!(due(&whole(series::policies(2))[0], &record).is_empty(), "it was run");
        assert_eq!(due(&sampled(series::sensitivity(2))[0], &record), ["a_bad.cc"]);
    }

    #[test]
    fn a_program_that_was_never_run_does_not_go_on() {
        assert!(due(&more(series::policies(50), false)[0], &sample()).is_empty());
    }

    #[test]
    fn the_time_is_told_by_what_runs_took_so_far() {
        let (mut record, programs) = (sample(), programs());
        add(&mut record, "a_bad.cc", None, &[2.0], &[]);
        let stage = &whole(series::policies(2))[2];
        let all: Vec<&PlantedProgram> = programs.iter().collect();
        let guess = stage.expected(&all, &record).as_secs_f64();
        assert!((guess - 4.0 * 2.0 * (2.0 + 1.0 + 1.0)).abs() < 1e-6, "{guess}");
        add(&mut record, "a_bad.cc", Some("dynamic-random"), &[3.0, 3.0], &[]);
        let rest = stage.expected(&all[1..], &record).as_secs_f64();
        assert!((rest - 1.5 * 2.0 * 2.0).abs() < 1e-6, "{rest}");
    }
}
