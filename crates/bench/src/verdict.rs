//! Raddle's targets, and whether a record reaches them.
//!
//! A target is a geometric mean over all kernels of the record. A target without all kernels does
//! not count as reached, however good the others are: leaving out the worst kernel is the easiest
//! way to look fast.

use crate::results::{BenchResults, Quantity};
use crate::stats;
use crate::tool::{CCompiler, CompilerFamily, RunMode, Tool};

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Bound {
    fn holds(self, value: f64) -> bool {
        match self {
            Bound::AtMost(bound) => value <= bound,
            Bound::AtLeast(bound) => value >= bound,
        }
    }
}

/// The quotient of the costs of `over` and `under`, both as ratios to native.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CostTarget {
    pub statement: &'static str,
    pub compiler: CompilerFamily,
    pub over: Tool,
    pub under: Tool,
    pub quantity: Quantity,
    pub bound: Bound,
}

const fn raddle(mode: RunMode) -> Tool {
    Tool::Raddle { mode, history: 1 }
}

const fn against_clang(
    statement: &'static str,
    mode: RunMode,
    quantity: Quantity,
    at_most: f64,
) -> CostTarget {
    let bound = Bound::AtMost(at_most);
    CostTarget {
        statement,
        compiler: CompilerFamily::Clang,
        over: raddle(mode),
        under: Tool::ClangTsan,
        quantity,
        bound,
    }
}

/// All targets are for runs with stacks, that is with history 1.
pub const TARGETS: [CostTarget; 8] = [
    against_clang("time of hb to clang's tsan", RunMode::Hb, Quantity::Time, 0.9),
    CostTarget {
        statement: "time of hb to gcc's tsan",
        compiler: CompilerFamily::Gcc,
        over: raddle(RunMode::Hb),
        under: Tool::GccTsan,
        quantity: Quantity::Time,
        bound: Bound::AtMost(0.6),
    },
    against_clang("time of hybrid to clang's tsan", RunMode::Hybrid, Quantity::Time, 1.0),
    against_clang("time of fast to clang's tsan", RunMode::Fast, Quantity::Time, 0.8),
    against_clang("peak memory of hb to clang's tsan", RunMode::Hb, Quantity::Memory, 0.6),
    against_clang("peak memory of hybrid to clang's tsan", RunMode::Hybrid, Quantity::Memory, 0.6),
    against_clang("peak memory of fast to clang's tsan", RunMode::Fast, Quantity::Memory, 0.6),
    CostTarget {
        statement: "time of helgrind to hb",
        compiler: CompilerFamily::Gcc,
        over: Tool::Helgrind,
        under: raddle(RunMode::Hb),
        quantity: Quantity::Time,
        bound: Bound::AtLeast(10.0),
    },
];

#[derive(Clone, PartialEq, Debug)]
pub enum TargetVerdict {
    Reached { value: f64 },
    Missed { value: f64, worst: String },
    Incomplete { value: f64, kernels: usize },
    NotMeasured,
}

impl CostTarget {
    pub fn judge(&self, results: &BenchResults) -> TargetVerdict {
        let Some(compiler) = results.compilers.iter().find(|compiler| compiler.family() == self.compiler)
        else {
            return TargetVerdict::NotMeasured;
        };
        let quotients = self.quotients(results, compiler);
        let Some(value) = stats::geometric_mean(quotients.iter().map(|(_, quotient)| *quotient)) else {
            return TargetVerdict::NotMeasured;
        };
        if !self.bound.holds(value) {
            return TargetVerdict::Missed { value, worst: self.worst(&quotients) };
        }
        if quotients.len() < results.kernels.len() {
            return TargetVerdict::Incomplete { value, kernels: quotients.len() };
        }
        TargetVerdict::Reached { value }
    }

    fn quotients<'a>(&self, results: &'a BenchResults, compiler: &CCompiler) -> Vec<(&'a str, f64)> {
        results.quotients(compiler, (self.over, self.under), self.quantity)
    }

    /// The kernel that misses the target by most: where to look with a profiler.
    fn worst(&self, quotients: &[(&str, f64)]) -> String {
        let by_value = |a: &&(&str, f64), b: &&(&str, f64)| a.1.total_cmp(&b.1);
        let worst = match self.bound {
            Bound::AtMost(_) => quotients.iter().max_by(by_value),
            Bound::AtLeast(_) => quotients.iter().min_by(by_value),
        };
        worst.map_or(String::new(), |(kernel, _)| (*kernel).to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Scale;
    use crate::results::Series;
    use crate::results::tests::{HB, results, series};

    fn clang(kernel: &str, tool: Tool, seconds: f64, kib: u64) -> Series {
        series(kernel, "clang-19", tool, Scale::Full, &[(seconds, kib)])
    }

    fn judge_hb_time(hb: &[f64]) -> TargetVerdict {
        let names = ["a", "b"];
        let mut all = Vec::new();
        for (index, kernel) in names.into_iter().enumerate() {
            all.push(clang(kernel, Tool::Native, 1.0, 100));
            all.push(clang(kernel, Tool::ClangTsan, 10.0, 500));
            all.extend(hb.get(index).map(|&seconds| clang(kernel, HB, seconds, 250)));
        }
        TARGETS[0].judge(&results(&names, all))
    }

    #[test]
    fn a_mean_at_the_bound_is_reached_though_one_kernel_is_above() {
        assert!(matches!(judge_hb_time(&[12.0, 6.0]), TargetVerdict::Reached { value } if value < 0.9));
    }

    #[test]
    fn a_missed_target_says_where_to_look() {
        match judge_hb_time(&[9.0, 20.0]) {
            TargetVerdict::Missed { value, worst } => assert!(worst == "b" && value > 1.0),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_good_mean_over_some_of_the_kernels_is_not_called_reached() {
        assert_eq!(judge_hb_time(&[5.0]), TargetVerdict::Incomplete { value: 0.5, kernels: 1 });
    }

    #[test]
    fn without_raddle_or_the_compiler_nothing_is_claimed() {
        assert_eq!(judge_hb_time(&[]), TargetVerdict::NotMeasured);
        let mut gcc_only = results(&["a"], Vec::new());
        gcc_only.compilers.truncate(1);
        assert_eq!(TARGETS[0].judge(&gcc_only), TargetVerdict::NotMeasured);
    }

    #[test]
    fn helgrind_is_compared_through_each_sides_own_native_size() {
        let gcc = |tool, scale, seconds| series("a", "gcc", tool, scale, &[(seconds, 100)]);
        let helgrind = TARGETS.iter().find(|target| target.over == Tool::Helgrind).unwrap();
        let record = |helgrind_seconds| {
            let all = vec![
                gcc(Tool::Native, Scale::Full, 1.0),
                gcc(HB, Scale::Full, 6.0),
                gcc(Tool::Native, Scale::Reduced, 0.1),
                gcc(Tool::Helgrind, Scale::Reduced, helgrind_seconds),
            ];
            results(&["a"], all)
        };
        assert!(
            matches!(helgrind.judge(&record(12.0)), TargetVerdict::Reached { value } if (value - 20.0).abs() < 1e-9)
        );
        assert!(
            matches!(helgrind.judge(&record(3.0)), TargetVerdict::Missed { value, .. } if (value - 5.0).abs() < 1e-9)
        );
    }

    #[test]
    fn the_targets_are_those_of_the_issue() {
        let bound =
            |statement: &str| TARGETS.iter().find(|target| target.statement == statement).unwrap().bound;
        assert_eq!(bound("time of hb to clang's tsan"), Bound::AtMost(0.9));
        assert_eq!(bound("time of hb to gcc's tsan"), Bound::AtMost(0.6));
        assert_eq!(bound("time of hybrid to clang's tsan"), Bound::AtMost(1.0));
        assert_eq!(bound("time of fast to clang's tsan"), Bound::AtMost(0.8));
        assert_eq!(bound("peak memory of hb to clang's tsan"), Bound::AtMost(0.6));
        assert_eq!(bound("time of helgrind to hb"), Bound::AtLeast(10.0));
    }
}
