//! The command line of `raddle-bench tsvd`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::series::{self, Series};
use crate::error::Error;
use crate::explore::options::{Output, each};
use crate::options::{list, number, shown};

#[derive(Clone, PartialEq, Debug)]
pub struct TsvdOptions {
    pub suite: PathBuf,
    /// Parts of names; all programs if there are none.
    pub only: Vec<String>,
    pub series: Vec<Series>,
    /// Native runs of each program.
    pub reps: u32,
    /// Programs at a time.
    pub jobs: u32,
    /// Nothing is started later than this.
    pub budget: Duration,
    /// Where the plots go; none are drawn without it.
    pub plots: Option<PathBuf>,
    pub output: Output,
    pub command: String,
}

const PARTS: [&str; 4] = ["policies", "ablation", "sensitivity", "tries"];

/// Runs of a series that is not about how many there are, as in the paper.
const TWO: u32 = 2;

pub fn parse(arguments: &[OsString]) -> Result<TsvdOptions, Error> {
    let mut options = TsvdOptions {
        suite: PathBuf::from("corpus/tsvd"),
        only: Vec::new(),
        series: Vec::new(),
        reps: 2,
        jobs: 1,
        budget: Duration::MAX,
        plots: None,
        output: Output::default(),
        command: shown("tsvd", arguments),
    };
    let (mut parts, mut runs, mut policies) =
        (PARTS[..3].to_vec().into_iter().map(str::to_owned).collect(), 10, Vec::new());
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
            "--budget" => options.budget = Duration::from_secs(number(name, value)?.into()),
            "--plots" => options.plots = Some(value.into()),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    for part in &parts {
        options.series.extend(match part.as_str() {
            "policies" => series::policies(runs),
            "ablation" => series::ablation(TWO),
            "sensitivity" => series::sensitivity(TWO),
            "tries" => series::tries(12, TWO),
            _ => {
                return Err(Error::Usage(format!(
                    "no part is called `{part}`; there are {}",
                    PARTS.join(", ")
                )));
            }
        });
    }
    if let Some(unknown) = policies.iter().find(|policy| !series::POLICIES.contains(&policy.as_str())) {
        return Err(Error::Usage(format!("no policy is called `{unknown}`")));
    }
    let left_out = |series: &Series| {
        series::POLICIES.contains(&series.name.as_str())
            && !policies.is_empty()
            && !policies.contains(&series.name)
    };
    options.series.retain(|series| !left_out(series));
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> Result<TsvdOptions, Error> {
        parse(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn without_options_policies_ablation_and_sensitivity_are_run() {
        let options = options("").unwrap();
        assert_eq!(
            (options.series[0].name.as_str(), options.series[0].runs, options.reps, options.jobs),
            ("tsvd", 10, 2, 1)
        );
        assert!(options.series.len() > 20 && options.series[4..].iter().all(|series| series.runs == 2));
    }

    #[test]
    fn every_option_is_taken() {
        let options = options(
            "--suite s --only a,b --parts policies --policies tsvd,tsvd-hb --runs 50 --reps 3 --jobs 2 --budget 60 \
             --plots p --json j --markdown m --work w --raddle r",
        )
        .unwrap();
        assert_eq!(
            options.series.iter().map(|s| (s.name.as_str(), s.runs)).collect::<Vec<_>>(),
            [("tsvd", 50), ("tsvd-hb", 50)]
        );
        assert_eq!((options.suite, options.only.len(), options.plots), ("s".into(), 2, Some("p".into())));
        assert_eq!((options.reps, options.jobs, options.budget.as_secs()), (3, 2, 60));
        assert_eq!(options.output.json, Some("j".into()));
    }

    #[test]
    fn quick_is_one_run_of_each_policy() {
        let options = options("--quick").unwrap();
        assert_eq!((options.series.len(), options.series[0].runs, options.reps), (4, 1, 1));
    }

    #[test]
    fn mistakes_are_named() {
        let message = |line| options(line).unwrap_err().to_string();
        assert!(message("--parts x").contains("no part is called `x`; there are policies"));
        assert!(message("--policies x").contains("no policy is called `x`"));
        assert!(message("--runs 0").contains("a number above zero"));
    }
}
