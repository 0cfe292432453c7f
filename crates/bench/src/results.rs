//! The record of a bench, and the figures computed from it.
//!
//! The record is JSON with a version, so that two records can be compared later. All ratios are
//! computed from the samples, so a record has no figure that could contradict them.

use serde::{Deserialize, Serialize};

use crate::kernel::Scale;
use crate::machine::MachineInfo;
use crate::stats;
use crate::tool::{CCompiler, Tool};

/// Changes when a reader of the older form would misread it.
pub const SCHEMA: &str = "raddle.bench/1";

/// One run of one kernel.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Sample {
    /// The target's own time from start to end.
    pub seconds: f64,
    pub cpu_seconds: f64,
    /// The time including launcher and driver.
    pub command_seconds: f64,
    pub peak_kib: u64,
}

/// Identifies a series. The runs of a series differ only by noise.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct SeriesKey {
    pub kernel: String,
    pub compiler: CCompiler,
    pub tool: Tool,
    pub scale: Scale,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Series {
    pub key: SeriesKey,
    pub samples: Vec<Sample>,
    /// The tool reported something on a correct program.
    pub reported: bool,
}

impl Series {
    pub fn seconds(&self) -> Option<f64> {
        stats::least(self.samples.iter().map(|sample| sample.seconds))
    }

    pub fn cpu_seconds(&self) -> Option<f64> {
        stats::least(self.samples.iter().map(|sample| sample.cpu_seconds))
    }

    pub fn peak_kib(&self) -> Option<f64> {
        stats::median(self.samples.iter().map(|sample| sample.peak_kib as f64))
    }

    /// The time of the command besides the target: the launcher and raddle's driver.
    pub fn driver_seconds(&self) -> Option<f64> {
        stats::median(self.samples.iter().map(|sample| sample.command_seconds - sample.seconds))
    }
}

/// A series that gave no figure, and why.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SeriesFailure {
    pub key: SeriesKey,
    pub reason: String,
}

/// A tool or compiler that could not be measured at all.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Absent {
    pub what: String,
    pub reason: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantity {
    Time,
    /// Processor time of all threads. A busy machine affects it less than elapsed time, but it does
    /// not include waiting.
    Cpu,
    Memory,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct BenchResults {
    pub schema: String,
    pub date: String,
    pub command: String,
    pub machine: MachineInfo,
    /// The number of complete rounds. The budget may have allowed some kernels one more.
    pub rounds: u32,
    /// The names of the kernels, in the order of the report.
    pub kernels: Vec<String>,
    pub compilers: Vec<CCompiler>,
    pub series: Vec<Series>,
    pub failures: Vec<SeriesFailure>,
    pub absent: Vec<Absent>,
}

impl BenchResults {
    pub fn find(&self, kernel: &str, compiler: &CCompiler, tool: Tool) -> Option<&Series> {
        // Every tool except native has one scale; `baseline` finds the native one.
        let is = |key: &SeriesKey| key.kernel == kernel && key.compiler == *compiler && key.tool == tool;
        self.series.iter().find(|series| is(&series.key) && !series.samples.is_empty())
    }

    fn baseline(&self, of: &SeriesKey) -> Option<&Series> {
        let native = SeriesKey { tool: Tool::Native, ..of.clone() };
        self.series.iter().find(|series| series.key == native)
    }

    fn figure(series: &Series, quantity: Quantity) -> Option<f64> {
        match quantity {
            Quantity::Time => series.seconds(),
            Quantity::Cpu => series.cpu_seconds(),
            Quantity::Memory => series.peak_kib(),
        }
    }

    /// The ratio of a tool to native on one kernel, at the size the tool was run with.
    pub fn times_native(
        &self,
        kernel: &str,
        compiler: &CCompiler,
        tool: Tool,
        quantity: Quantity,
    ) -> Option<f64> {
        let series = self.find(kernel, compiler, tool)?;
        let native = Self::figure(self.baseline(&series.key)?, quantity)?;
        Some(Self::figure(series, quantity)? / native)
    }

    /// The quotients of two tools' ratios to native, for each kernel that has both.
    pub fn quotients(
        &self,
        compiler: &CCompiler,
        (tool, peer): (Tool, Tool),
        quantity: Quantity,
    ) -> Vec<(&str, f64)> {
        let ratio = |kernel: &str, tool| self.times_native(kernel, compiler, tool, quantity);
        let quotient = |kernel: &str| Some(ratio(kernel, tool)? / ratio(kernel, peer)?);
        self.kernels.iter().filter_map(|kernel| Some((kernel.as_str(), quotient(kernel)?))).collect()
    }

    /// The geometric mean of [`BenchResults::times_native`] over the kernels that have it.
    pub fn mean_times_native(&self, compiler: &CCompiler, tool: Tool, quantity: Quantity) -> Option<f64> {
        let ratios =
            self.kernels.iter().filter_map(|kernel| self.times_native(kernel, compiler, tool, quantity));
        stats::geometric_mean(ratios)
    }

    /// The tools measured with this compiler, in their usual order.
    pub fn tools(&self, compiler: &CCompiler) -> Vec<Tool> {
        let has =
            |tool: &Tool| self.kernels.iter().any(|kernel| self.find(kernel, compiler, *tool).is_some());
        Tool::all().into_iter().filter(has).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::tool::RunMode;
    use std::collections::BTreeMap;

    pub const HB: Tool = Tool::Raddle { mode: RunMode::Hb, history: 1 };

    pub fn compiler(name: &str) -> CCompiler {
        CCompiler::new(name).unwrap()
    }

    pub fn series(
        kernel: &str,
        compiler_name: &str,
        tool: Tool,
        scale: Scale,
        runs: &[(f64, u64)],
    ) -> Series {
        let sample = |&(seconds, peak_kib): &(f64, u64)| Sample {
            seconds,
            cpu_seconds: seconds,
            command_seconds: seconds + 0.25,
            peak_kib,
        };
        Series {
            key: SeriesKey { kernel: kernel.to_owned(), compiler: compiler(compiler_name), tool, scale },
            samples: runs.iter().map(sample).collect(),
            reported: false,
        }
    }

    pub fn results(kernels: &[&str], series: Vec<Series>) -> BenchResults {
        BenchResults {
            schema: SCHEMA.to_owned(),
            date: "2026-01-31".to_owned(),
            command: "raddle-bench run".to_owned(),
            machine: MachineInfo {
                cpu: "A CPU".to_owned(),
                cores: 2,
                memory_gib: 8,
                load: 0.5,
                versions: BTreeMap::from([("gcc".to_owned(), "gcc 12.2.0".to_owned())]),
            },
            rounds: 2,
            kernels: kernels.iter().map(|&kernel| kernel.to_owned()).collect(),
            compilers: vec![compiler("gcc"), compiler("clang-19")],
            series,
            failures: Vec::new(),
            absent: Vec::new(),
        }
    }

    #[test]
    fn the_least_time_and_the_median_memory_count() {
        let native = series("lu", "gcc", Tool::Native, Scale::Full, &[(2.0, 100), (1.0, 300), (4.0, 200)]);
        assert_eq!((native.seconds(), native.peak_kib()), (Some(1.0), Some(200.0)));
        assert_eq!(native.driver_seconds(), Some(0.25));
    }

    #[test]
    fn a_ratio_is_to_the_native_run_of_the_same_compiler_and_size() {
        let results = results(
            &["lu"],
            vec![
                series("lu", "gcc", Tool::Native, Scale::Full, &[(1.0, 100)]),
                series("lu", "gcc", Tool::Native, Scale::Reduced, &[(0.1, 50)]),
                series("lu", "clang-19", Tool::Native, Scale::Full, &[(2.0, 100)]),
                series("lu", "gcc", Tool::GccTsan, Scale::Full, &[(8.0, 500)]),
                series("lu", "gcc", Tool::Helgrind, Scale::Reduced, &[(5.0, 200)]),
                series("lu", "clang-19", Tool::ClangTsan, Scale::Full, &[(8.0, 300)]),
            ],
        );
        let time = |name, tool| results.times_native("lu", &compiler(name), tool, Quantity::Time);
        assert_eq!(time("gcc", Tool::GccTsan), Some(8.0));
        assert_eq!(time("gcc", Tool::Helgrind), Some(50.0));
        assert_eq!(time("clang-19", Tool::ClangTsan), Some(4.0));
        assert_eq!(time("clang-19", Tool::GccTsan), None);
        assert_eq!(results.times_native("lu", &compiler("gcc"), Tool::Helgrind, Quantity::Memory), Some(4.0));
        assert_eq!(results.tools(&compiler("gcc")), [Tool::Native, Tool::GccTsan, Tool::Helgrind]);
    }

    #[test]
    fn quotients_and_means_use_only_kernels_that_have_both_sides() {
        let full = |kernel, tool, seconds| series(kernel, "gcc", tool, Scale::Full, &[(seconds, 100)]);
        let results = results(
            &["a", "b", "c"],
            vec![
                full("a", Tool::Native, 1.0),
                full("a", Tool::GccTsan, 8.0),
                full("a", HB, 4.0),
                full("b", Tool::Native, 1.0),
                full("b", Tool::GccTsan, 2.0),
                full("c", Tool::Native, 1.0),
                full("c", HB, 9.0),
            ],
        );
        assert_eq!(results.quotients(&compiler("gcc"), (HB, Tool::GccTsan), Quantity::Time), [("a", 0.5)]);
        let mean = results.mean_times_native(&compiler("gcc"), HB, Quantity::Time).unwrap();
        assert!((mean - 6.0).abs() < 1e-9);
    }

    #[test]
    fn a_record_survives_json_and_keeps_its_names() {
        let results = results(&["lu"], vec![series("lu", "gcc", HB, Scale::Full, &[(1.0, 2)])]);
        let text = serde_json::to_string(&results).unwrap();
        assert!(text.contains(r#""schema":"raddle.bench/1""#) && text.contains(r#""tool":"raddle-hb/1""#));
        assert_eq!(serde_json::from_str::<BenchResults>(&text).unwrap(), results);
    }
}
