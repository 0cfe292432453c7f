//! What is run: the policies of Table 2 and Figure 8, the ablation of Table 3, the parameters of
//! Figure 9, and raddle's additions to the paper.

use serde::{Deserialize, Serialize};

/// One way to run the tool.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Series {
    /// The name in tables and in the record.
    pub name: String,
    pub options: Vec<String>,
    pub runs: u32,
    /// The version of the algorithm that it ran: see [`version`].
    #[serde(default)]
    pub version: u32,
}

/// The version of the algorithm that a series of this name measures. Results of different versions
/// must not be compared. The version goes up when the algorithm changes: 1 since there are
/// extensions of the paper, and since a settled pair is not taken from the trap file again; 2 since
/// reads leave an object's last write in its history. The two randomised policies have none of
/// this.
pub fn version(name: &str) -> u32 {
    match POLICIES.contains(&name) && !is_shared(name) {
        true => 0,
        false => 2,
    }
}

impl Series {
    fn new(name: impl Into<String>, options: &[&str], runs: u32) -> Series {
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        let name = name.into();
        Series { version: version(&name), name, options, runs }
    }
}

pub const POLICIES: [&str; 4] = ["tsvd", "tsvd-hb", "dynamic-random", "static-random"];

/// raddle's own cap on the share of a process's time that may be delays is not part of the paper.
const NO_SHARE: [&str; 2] = ["--share", "1000"];

/// Whether a policy is run with that cap. The two random policies rely on delays everywhere, as in
/// the paper. They run without the cap, and only the caps for a thread and for a test limit them.
pub fn is_shared(policy: &str) -> bool {
    policy.starts_with("tsvd")
}

/// Table 2 and Figure 8.
pub fn policies(runs: u32) -> Vec<Series> {
    let one = |policy: &str| {
        let mut options = vec!["--policy", policy];
        options.extend(NO_SHARE.iter().filter(|_| !is_shared(policy)));
        Series::new(policy, &options, runs)
    };
    POLICIES.map(one).to_vec()
}

/// The techniques that Table 3 removes: the option, and the name in the table.
pub const TECHNIQUES: [(&str, &str); 5] = [
    ("hb-inference", "No HB-inference"),
    ("window", "No windowing in near-miss"),
    ("phase", "No concurrent phase detection"),
    ("parallel", "No parallel delays"),
    ("share", "No cap by share of time (not of the paper)"),
];

/// Table 3. The complete `tsvd` is among the policies.
pub fn ablation(runs: u32) -> Vec<Series> {
    let without = |(technique, _): (&str, &str)| {
        let options = if technique == "share" { NO_SHARE } else { ["--without", technique] };
        Series::new(format!("without {technique}"), &options, runs)
    };
    TECHNIQUES.map(without).to_vec()
}

/// The paper's algorithm alone, and raddle's with all additions except one: the options, and the
/// names in the table.
pub const EXTENSIONS: [(&str, &[&str], &str); 9] = [
    ("paper", &["--paper"], "The paper's algorithm"),
    ("without joins", &["--without", "joins"], "No joins"),
    ("without renewal", &["--without", "renewal"], "No renewal"),
    ("without short-first", &["--without", "short-first"], "No short first delays"),
    ("widening 0", &["--widening", "0"], "No widening"),
    ("patience 0", &["--patience", "0"], "No patience"),
    ("without prompt", &["--without", "prompt"], "No prompt ends of gaps"),
    ("without last-write", &["--without", "last-write"], "No last write in the history"),
    ("rest 0", &["--rest", "0"], "No rest"),
];

/// [`EXTENSIONS`]. The first of them is the paper's.
pub fn extensions(runs: u32) -> Vec<Series> {
    EXTENSIONS.map(|(name, options, _)| Series::new(name, options, runs)).to_vec()
}

/// A parameter of Figure 9: its panel, its name, its option, and the values tried. The default is
/// among them and is not run again, because it is the policy `tsvd`.
pub struct Parameter {
    pub panel: char,
    pub title: &'static str,
    pub option: &'static str,
    pub values: &'static [&'static str],
    pub default: &'static str,
}

#[rustfmt::skip]
pub const PARAMETERS: [Parameter; 7] = [
    Parameter { panel: 'b', title: "accesses kept for an object", option: "history", values: &["1", "2", "5", "10", "20"], default: "5" },
    Parameter { panel: 'c', title: "near-miss window, ms", option: "window", values: &["1", "10", "100", "1000"], default: "100" },
    Parameter { panel: 'd', title: "blocking threshold", option: "gap", values: &["0", "0.2", "0.5", "0.8"], default: "0.5" },
    Parameter { panel: 'e', title: "inference size", option: "inferred", values: &["0", "2", "5", "10", "20"], default: "5" },
    Parameter { panel: 'f', title: "buffer size", option: "phase", values: &["2", "8", "16", "64"], default: "16" },
    Parameter { panel: 'g', title: "decay", option: "decay", values: &["0", "0.05", "0.1", "0.3", "0.5"], default: "0.1" },
    Parameter { panel: 'h', title: "delay, ms", option: "delay", values: &["10", "50", "100", "200"], default: "100" },
];

impl Parameter {
    /// The name of the series for a value.
    pub fn series(&self, value: &str) -> String {
        if value == self.default { "tsvd".to_owned() } else { format!("{} {value}", self.option) }
    }
}

/// Figure 9(b) to (h). For each parameter, the values next to the default come first, then the
/// others, so that an interrupted bench has something of each.
pub fn sensitivity(runs: u32) -> Vec<Series> {
    let values = PARAMETERS.iter().flat_map(|parameter| {
        let at = |value: &str| parameter.values.iter().position(|other| *other == value);
        let default = at(parameter.default);
        let other = parameter.values.iter().filter(|value| **value != parameter.default);
        other.map(move |value| {
            let series =
                Series::new(parameter.series(value), &[&format!("--{}", parameter.option), value], runs);
            (at(value).zip(default).map_or(0, |(at, default)| at.abs_diff(default)), series)
        })
    });
    let mut values: Vec<(usize, Series)> = values.collect();
    values.sort_by_key(|(far, _)| *far);
    values.into_iter().map(|(_, series)| series).collect()
}

/// Figure 9(a): the same with other seeds.
pub fn tries(count: u32, runs: u32) -> Vec<Series> {
    let one = |n: u32| Series::new(format!("try {n}"), &["--seed", &(1000 * n).to_string()], runs);
    (1..=count).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_series_have_one_name() {
        let all = [policies(10), ablation(2), extensions(2), sensitivity(2), tries(12, 2)].concat();
        let names: BTreeSet<&str> = all.iter().map(|series| series.name.as_str()).collect();
        assert_eq!(names.len(), all.len());
    }

    #[test]
    fn each_parameter_is_tried_below_and_above_its_default() {
        for parameter in &PARAMETERS {
            let at = parameter.values.iter().position(|value| *value == parameter.default).unwrap();
            assert!(at > 0 && at + 1 < parameter.values.len(), "{}", parameter.option);
            assert_eq!(parameter.series(parameter.default), "tsvd");
        }
        let values = sensitivity(2);
        assert!(values.iter().all(|series| series.options.len() == 2 && series.runs == 2));
        let first: BTreeSet<&str> = values[..14].iter().map(|series| series.options[0].as_str()).collect();
        assert_eq!(first.len(), PARAMETERS.len(), "both neighbours of each default come first");
    }

    #[test]
    fn each_extension_of_the_paper_can_be_taken_away() {
        let all = extensions(2);
        assert_eq!(all[0].options, ["--paper"]);
        assert!(all[1..].iter().all(|series| series.options.len() == 2 && series.version == 2));
        assert_eq!(["tsvd", "tsvd-hb", "window 10", "static-random"].map(version), [2, 2, 2, 0]);
    }

    #[test]
    fn what_draws_lots_is_not_held_by_the_share_of_time() {
        let capped = |name: &str| {
            let all = [policies(1), ablation(1)].concat();
            !all.iter().find(|s| s.name == name).unwrap().options.contains(&"--share".to_owned())
        };
        let names = ["tsvd", "tsvd-hb", "without phase", "dynamic-random", "static-random", "without share"];
        assert_eq!(names.map(capped), [true, true, true, false, false, false]);
    }
}
