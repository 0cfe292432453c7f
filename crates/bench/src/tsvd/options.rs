//! The command line of `raddle-bench tsvd`.

use std::ffi::OsString;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use super::plan::{self, Stage};
use super::record::WHOLE;
use super::series::{self, PARAMETERS};
use crate::error::Error;
use crate::explore::options::{Output, each};
use crate::options::{list, number, shown};

#[derive(Clone, PartialEq, Debug)]
pub struct TsvdOptions {
    pub suite: PathBuf,
    /// Parts of program names. All programs if empty.
    pub only: Vec<String>,
    pub stages: Vec<Stage>,
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
    pub output: Output,
    pub command: String,
}

const PARTS: [&str; 6] = ["policies", "ablation", "extensions", "sensitivity", "runs", "tries"];

/// The most runs of Figure 8.
const MOST: u32 = 50;

pub fn parse(arguments: &[OsString]) -> Result<TsvdOptions, Error> {
    let mut options = TsvdOptions {
        suite: PathBuf::from("corpus/tsvd"),
        only: Vec::new(),
        stages: Vec::new(),
        reps: 2,
        jobs: 1,
        budget: Duration::MAX,
        from: None,
        plots: None,
        output: Output::default(),
        command: shown("tsvd", arguments),
    };
    let (mut parts, mut runs, mut policies) =
        (PARTS[..5].iter().map(|part| (*part).to_owned()).collect(), 10, Vec::new());
    if arguments.iter().any(|argument| argument == "--quick") {
        (parts, runs, options.reps) = (vec![PARTS[0].to_owned()], 1, 1);
    }
    each(arguments, &mut options.output, |name, value| {
        match name {
            "--suite" => options.suite = value.into(),
            "--only" => options.only = list(value),
            "--parts" => parts = list(value),
            "--policies" => policies = list(value),
            "--runs" => runs = number(name, value)?,
            "--reps" => options.reps = number(name, value)?,
            "--jobs" => options.jobs = number(name, value)?,
            "--from" => options.from = Some(value.into()),
            "--time-limit" => options.budget = Duration::from_secs(number(name, value)?.into()),
            "--plots" => options.plots = Some(value.into()),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    if let Some(unknown) = parts.iter().find(|part| !PARTS.contains(&part.as_str())) {
        let known = PARTS.join(", ");
        return Err(Error::Usage(format!("no part is called `{unknown}`; there are {known}")));
    }
    if let Some(unknown) = policies.iter().find(|policy| !series::POLICIES.contains(&policy.as_str())) {
        return Err(Error::Usage(format!("no policy is called `{unknown}`")));
    }
    options.stages = stages(&parts, runs);
    let left_out = |name: &String| {
        series::POLICIES.contains(&name.as_str()) && !policies.is_empty() && !policies.contains(name)
    };
    options.stages.retain(|stage| !left_out(&stage.series.name));
    Ok(options)
}

/// In order of importance: a short budget leaves out the last ones.
fn stages(parts: &[String], runs: u32) -> Vec<Stage> {
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

    fn options(line: &str) -> Result<TsvdOptions, Error> {
        parse(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
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
        assert!(message("--parts x").contains("no part is called `x`; there are policies"));
        assert!(message("--policies x").contains("no policy is called `x`"));
        assert!(message("--runs 0").contains("a number above zero"));
    }
}
