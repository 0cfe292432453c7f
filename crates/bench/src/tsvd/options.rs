//! The command line of `raddle-bench tsvd`.

use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, value_parser};

use super::plan::{self, SeriesStage};
use super::record::WHOLE;
use super::series::{self, PARAMETERS};
use crate::options::{OutputOptions, named};

#[derive(Clone, PartialEq, Debug)]
pub struct TsvdOptions {
    pub suite: PathBuf,
    /// Parts of program names. All programs if empty.
    pub only: Vec<String>,
    pub stages: Vec<SeriesStage>,
    /// The number of native runs of each program.
    pub reps: u32,
    /// The number of programs to run at a time.
    pub jobs: u32,
    /// Stages that would not end within this time are left out.
    pub budget: Duration,
    /// Run nothing, and make the tables and plots of this record.
    pub from: Option<PathBuf>,
    /// The folder for the plots. Without it, none are drawn.
    pub plots: Option<PathBuf>,
    pub output: OutputOptions,
    pub command: String,
}

const PARTS: [&str; 6] = ["policies", "ablation", "extensions", "sensitivity", "runs", "tries"];

/// The most runs of Figure 8.
const MOST: u32 = 50;

/// The options of `tsvd`.
#[derive(Args)]
pub(crate) struct TsvdArgs {
    /// The programs
    #[arg(long, value_name = "FOLDER", default_value = "corpus/tsvd")]
    suite: PathBuf,
    /// Programs with A or B in their names
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    only: Vec<String>,
    /// What to measure [default: all but tries]
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = PARTS)]
    parts: Vec<String>,
    /// Only these policies
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = series::POLICIES)]
    policies: Vec<String>,
    /// Of each policy [default: 10]; other series have two
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    runs: Option<u32>,
    /// Native runs of each program [default: 2]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    reps: Option<u32>,
    /// Programs at a time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u32).range(1..))]
    jobs: u32,
    /// Leave out what will not end by then; the same command later makes it
    #[arg(long, value_name = "SECONDS", value_parser = value_parser!(u32).range(1..))]
    time_limit: Option<u32>,
    /// Run nothing: the tables and plots of this record
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Draw the figures there
    #[arg(long, value_name = "FOLDER")]
    plots: Option<PathBuf>,
    #[command(flatten)]
    output: OutputOptions,
}

impl TsvdArgs {
    pub(crate) fn options(self, command: String) -> TsvdOptions {
        let usual = if self.output.quick { &PARTS[..1] } else { &PARTS[..5] };
        let (runs, reps) = if self.output.quick { (1, 1) } else { (10, 2) };
        let parts = match self.parts.as_slice() {
            [] => usual.iter().map(|part| (*part).to_owned()).collect(),
            parts => parts.to_vec(),
        };
        let mut stages = stages(&parts, self.runs.unwrap_or(runs));
        let left_out = |name: &String| {
            let is_policy = series::POLICIES.contains(&name.as_str());
            is_policy && !self.policies.is_empty() && !self.policies.contains(name)
        };
        stages.retain(|stage| !left_out(&stage.series.name));
        TsvdOptions {
            suite: self.suite,
            only: named(self.only),
            stages,
            reps: self.reps.unwrap_or(reps),
            jobs: self.jobs,
            budget: self.time_limit.map_or(Duration::MAX, |limit| Duration::from_secs(limit.into())),
            from: self.from,
            plots: self.plots,
            output: self.output,
            command,
        }
    }
}

/// In order of importance: a short budget leaves out the last ones.
fn stages(parts: &[String], runs: u32) -> Vec<SeriesStage> {
    let wanted = |part: &str| parts.iter().any(|wanted| wanted == part);
    let mut stages = Vec::new();
    if wanted("policies") {
        stages.extend(plan::whole(series::policies(runs.min(WHOLE))));
    }
    if wanted("ablation") {
        stages.extend(plan::whole(series::ablation(1)));
        stages.extend(plan::more(series::ablation(WHOLE), false));
    }
    if wanted("policies") && runs > WHOLE {
        stages.extend(plan::more(series::policies(runs), true));
    }
    if wanted("extensions") {
        let (paper, others) =
            (series::extensions(WHOLE)[..1].to_vec(), series::extensions(WHOLE)[1..].to_vec());
        stages.extend(plan::whole(paper));
        stages.extend(plan::sampled(others));
    }
    let near = 2 * PARAMETERS.len();
    let values = |range: Range<usize>| {
        let some = |runs| series::sensitivity(runs)[range.clone()].to_vec();
        [plan::sampled(some(1)), plan::more(some(WHOLE), false)].concat()
    };
    if wanted("sensitivity") {
        stages.extend(values(0..near));
    }
    if wanted("runs") {
        stages.extend(plan::more(series::policies(MOST), false));
    }
    if wanted("sensitivity") {
        stages.extend(values(near..series::sensitivity(1).len()));
    }
    if wanted("tries") {
        stages.extend(plan::sampled(series::tries(12, WHOLE)));
    }
    stages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::BenchError;
    use crate::options::{BenchCommand, parse};

    fn options(line: &str) -> Result<TsvdOptions, BenchError> {
        match parse(["tsvd"].into_iter().chain(line.split_whitespace()).map(Into::into))? {
            BenchCommand::Tsvd(options) => Ok(*options),
            other => panic!("{other:?}"),
        }
    }

    fn told(options: &TsvdOptions) -> Vec<(&str, u32)> {
        options.stages.iter().map(|stage| (stage.series.name.as_str(), stage.series.runs)).collect()
    }

    #[test]
    fn without_options_all_but_the_tries_is_run_in_order_of_worth() {
        let options = options("").unwrap();
        let told = told(&options);
        let at = |what| told.iter().position(|stage| *stage == what).unwrap();
        assert_eq!((at(("tsvd", 2)), options.reps, options.jobs), (0, 2, 1));
        let order = [
            ("static-random", 2),
            ("without share", 2),
            ("tsvd", 10),
            ("paper", 2),
            ("window 10", 2),
            ("tsvd", 50),
        ];
        assert!(order.windows(2).all(|two| at(two[0]) < at(two[1])), "{told:?}");
        assert!(at(("window 1", 2)) > at(("static-random", 50)), "far values come last");
        assert!(!told.iter().any(|(name, _)| name.starts_with("try")));
    }

    #[test]
    fn every_option_is_taken() {
        let options = options(
            "--suite s --only a,b --parts policies --policies tsvd,tsvd-hb --runs 50 --reps 3 --jobs 2 --time-limit 60 \
             --plots p --json j --markdown m --work w --raddle r --from f",
        )
        .unwrap();
        assert_eq!(told(&options), [("tsvd", 2), ("tsvd-hb", 2), ("tsvd", 50), ("tsvd-hb", 50)]);
        assert_eq!((options.suite, options.only.len(), options.plots), ("s".into(), 2, Some("p".into())));
        assert_eq!((options.reps, options.jobs, options.budget.as_secs()), (3, 2, 60));
        assert_eq!((options.output.json, options.from), (Some("j".into()), Some("f".into())));
    }

    #[test]
    fn quick_is_one_run_of_each_policy() {
        let options = options("--quick").unwrap();
        assert_eq!((options.stages.len(), told(&options)[0], options.reps), (4, ("tsvd", 1), 1));
    }

    #[test]
    fn mistakes_are_named() {
        let message = |line| options(line).unwrap_err().to_string();
        assert!(message("--parts x").contains("[possible values: policies, ablation"));
        assert!(message("--policies x").contains("invalid value 'x' for '--policies <A,B>'"));
        assert!(message("--runs 0").contains("invalid value '0' for '--runs <N>'"));
    }
}
