//! The order of the runs.
//!
//! A round visits each kernel once, and runs it with each compiler and tool in turn, so that a slow
//! minute of the machine affects all sides of a ratio. Native runs are short and every ratio
//! depends on them, so there are more of them. Rounds continue until there are enough, or until the
//! budget, including builds, would be exceeded.

use std::collections::HashMap;
use std::env;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, Instant};

use crate::compile::Workshop;
use crate::error::BenchError;
use crate::kernel::{Kernel, Scale};
use crate::machine::{self, MachineInfo};
use crate::measure::{Broken, MeasureJob, MeasuredJob, Meter};
use crate::options::RunOptions;
use crate::results::{Absent, BenchResults, SCHEMA, Sample, Series, SeriesFailure, SeriesKey};
use crate::tool::{CCompiler, CompilerFamily, Flavour, Tool};

/// The number of native runs for each run of a tool.
const NATIVE_RUNS: u32 = 3;

/// The exit status of `raddle run` with findings.
const RADDLE_FOUND: i32 = 66;

/// Turns off the peers' symboliser and their sleep of one second at the end, which are not
/// measured.
const QUIET_TSAN: &str = "report_bugs=0:atexit_sleep_ms=0";

/// Measures everything that the options request. `launcher` is a `raddle-bench` binary.
pub fn run(options: &RunOptions, launcher: PathBuf) -> Result<BenchResults, BenchError> {
    let deadline = Instant::now() + options.budget;
    let folder = WorkFolder::new(options.output.work.as_deref())?;
    let present = Present::look(options)?;
    let programs = present.programs();
    let mut bench = Bench {
        workshop: Workshop::new(&folder.path, present.raddle.clone())?,
        meter: Meter { launcher, folder: folder.path.clone(), limit: options.limit },
        raddle: present.raddle.clone().unwrap_or_default(),
        binaries: HashMap::new(),
        checksums: HashMap::new(),
        series: Vec::new(),
        failures: Vec::new(),
    };
    let machine = MachineInfo::look(programs.iter().map(PathBuf::as_path));
    let keys = |kernel: &Kernel| plan(&kernel.name, &present.compilers, &present.tools, options.output.quick);
    let plans: Vec<(&Kernel, Vec<SeriesKey>)> =
        options.kernels.iter().map(|kernel| (kernel, keys(kernel))).collect();
    bench.build(&plans)?;
    let rounds = bench.rounds(&plans, if options.output.quick { 1 } else { options.reps }, deadline);
    Ok(BenchResults {
        schema: SCHEMA.to_owned(),
        date: machine::today(),
        command: options.command.clone(),
        machine,
        rounds,
        kernels: options.kernels.iter().map(|kernel| kernel.name.clone()).collect(),
        compilers: present.compilers,
        series: bench.series,
        failures: bench.failures,
        absent: present.absent,
    })
}

/// The folder for binaries and output. It is removed at the end unless the user named it.
pub struct WorkFolder {
    pub path: PathBuf,
    temporary: bool,
}

impl WorkFolder {
    pub fn new(wanted: Option<&Path>) -> Result<WorkFolder, BenchError> {
        let temporary = || env::temp_dir().join(format!("raddle-bench-{}", process::id()));
        let path = wanted.map_or_else(temporary, Path::to_owned);
        fs::create_dir_all(&path).map_err(BenchError::file("create", &path))?;
        // Other programs run the launcher, from any current folder.
        let path = path.canonicalize().map_err(BenchError::file("find", &path))?;
        Ok(WorkFolder { path, temporary: wanted.is_none() })
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        if self.temporary {
            // A file left in the temporary folder is no reason to lose the results.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// The wanted tools and compilers that this machine has.
struct Present {
    tools: Vec<Tool>,
    compilers: Vec<CCompiler>,
    raddle: Option<PathBuf>,
    absent: Vec<Absent>,
}

impl Present {
    fn look(options: &RunOptions) -> Result<Present, BenchError> {
        let mut absent = Vec::new();
        let mut missing = |what: String, program: &str, remedy: &str, fatal: bool| {
            if fatal {
                return Err(BenchError::MissingProgram {
                    program: program.to_owned(),
                    remedy: remedy.to_owned(),
                });
            }
            absent.push(Absent { what, reason: format!("`{program}` was not found; {remedy}") });
            Ok(())
        };
        let mut compilers = Vec::new();
        for compiler in &options.compilers {
            if machine::find_program(Path::new(compiler.c())).is_some() {
                compilers.push(compiler.clone());
            } else {
                let fatal = options.compilers_named || compiler.family() == CompilerFamily::Gcc;
                missing(format!("all with {compiler}"), compiler.c(), "install it", fatal)?;
            }
        }
        let valgrind = machine::find_program(Path::new("valgrind"));
        let raddle = machine::find_program(options.output.raddle.as_deref().unwrap_or(Path::new("raddle")));
        let mut tools = Vec::new();
        for &tool in &options.tools {
            if tool.is_valgrind() && valgrind.is_none() {
                missing(tool.to_string(), "valgrind", "install it", options.tools_named)?;
            } else if tool.is_raddle() && raddle.is_none() {
                let fatal = options.tools_named || options.output.raddle.is_some();
                missing(tool.to_string(), "raddle", "build it and give --raddle PATH", fatal)?;
            } else {
                tools.push(tool);
            }
        }
        let raddle = raddle.filter(|_| tools.iter().any(|tool| tool.is_raddle()));
        Ok(Present { tools, compilers, raddle, absent })
    }

    /// The programs whose versions go into the record.
    fn programs(&self) -> Vec<PathBuf> {
        let mut programs: Vec<PathBuf> = self.compilers.iter().map(|compiler| compiler.c().into()).collect();
        programs.extend(self.tools.iter().any(|tool| tool.is_valgrind()).then(|| "valgrind".into()));
        programs.extend(self.raddle.clone());
        programs
    }
}

/// The series of one kernel. Native runs come before the runs that are compared with them.
fn plan(kernel: &str, compilers: &[CCompiler], tools: &[Tool], quick: bool) -> Vec<SeriesKey> {
    let (full, reduced) = if quick { (Scale::Quick, Scale::Quick) } else { (Scale::Full, Scale::Reduced) };
    let key = |compiler: &CCompiler, tool, scale| SeriesKey {
        kernel: kernel.to_owned(),
        compiler: compiler.clone(),
        tool,
        scale,
    };
    let mut keys = Vec::new();
    for compiler in compilers {
        let rest = tools.iter().filter(|tool| !tool.is_valgrind() && tool.takes(compiler));
        keys.extend(rest.map(|&tool| key(compiler, tool, full)));
    }
    let valgrind: Vec<Tool> = tools.iter().copied().filter(|tool| tool.is_valgrind()).collect();
    // One compiler is enough: valgrind's cost is that of its own translation, and it is the most
    // expensive to measure.
    if let (Some(first), false) = (compilers.first(), valgrind.is_empty()) {
        let native = (!quick).then_some(Tool::Native);
        keys.extend(native.into_iter().chain(valgrind).map(|tool| key(first, tool, reduced)));
    }
    keys
}

/// Identifies a binary.
type Slot = (String, CCompiler, Flavour);

fn slot(key: &SeriesKey) -> Slot {
    (key.kernel.clone(), key.compiler.clone(), key.tool.flavour())
}

struct Bench {
    workshop: Workshop,
    meter: Meter,
    raddle: PathBuf,
    /// None if the build failed.
    binaries: HashMap<Slot, Option<PathBuf>>,
    checksums: HashMap<(String, CCompiler, Scale), String>,
    series: Vec<Series>,
    failures: Vec<SeriesFailure>,
}

impl Bench {
    /// Builds each binary once. If a kernel does not build natively, the bench ends. If a tool
    /// cannot build it, that is the tool's failure.
    fn build(&mut self, plans: &[(&Kernel, Vec<SeriesKey>)]) -> Result<(), BenchError> {
        for (kernel, key) in plans.iter().flat_map(|(kernel, keys)| keys.iter().map(move |key| (kernel, key)))
        {
            self.series.push(Series { key: key.clone(), samples: Vec::new(), reported: false });
            let slot = slot(key);
            if !self.binaries.contains_key(&slot) {
                progress(&format!("building {} for {} ({})", kernel.name, key.tool, key.compiler));
                let built = match self.workshop.build(kernel, &key.compiler, key.tool.flavour()) {
                    Ok(binary) => Some(binary),
                    Err(error) if key.tool.flavour() == Flavour::Plain => return Err(error),
                    Err(error) => {
                        eprintln!("raddle-bench: {error}");
                        None
                    }
                };
                self.binaries.insert(slot.clone(), built);
            }
            if self.binaries[&slot].is_none() {
                self.failures
                    .push(SeriesFailure { key: key.clone(), reason: "it does not build".to_owned() });
            }
        }
        Ok(())
    }

    /// Returns the number of complete rounds. The first is always complete. Later ones leave out a
    /// kernel that would likely end after the deadline.
    fn rounds(&mut self, plans: &[(&Kernel, Vec<SeriesKey>)], most: u32, deadline: Instant) -> u32 {
        let mut expected = HashMap::new();
        let mut whole = 0;
        for round in 1..=most {
            let mut left_out = false;
            for (kernel, keys) in plans {
                let time = expected.entry(&kernel.name).or_insert(Duration::ZERO);
                if round > 1 && Instant::now() + *time > deadline {
                    left_out = true;
                    continue;
                }
                *time = self.visit(kernel, keys, round);
            }
            if left_out {
                break;
            }
            whole = round;
        }
        progress("");
        whole
    }

    /// Runs one kernel under everything in turn. Returns how long a later visit will likely take.
    /// Valgrind runs only in the first round. Otherwise half of a bench would go to it, for a
    /// figure that is far from its target.
    fn visit(&mut self, kernel: &Kernel, keys: &[SeriesKey], round: u32) -> Duration {
        let mut again = Duration::ZERO;
        for key in keys.iter().filter(|key| round == 1 || !key.tool.is_valgrind()) {
            progress(&format!("round {round}: {} under {} ({})", kernel.name, key.tool, key.compiler));
            let begin = Instant::now();
            self.sample(kernel, key);
            if !key.tool.is_valgrind() {
                again += begin.elapsed();
            }
        }
        again
    }

    fn sample(&mut self, kernel: &Kernel, key: &SeriesKey) {
        let times = if key.tool == Tool::Native { NATIVE_RUNS } else { 1 };
        for _ in 0..times {
            let failed = |failure: &SeriesFailure| failure.key == *key;
            let Some(binary) = &self.binaries[&slot(key)] else { return };
            if self.failures.iter().any(failed) {
                return;
            }
            let job = job(kernel, key, binary, &self.raddle);
            let result = match self.meter.run(&job) {
                Ok(outcome) => self.accept(key, &outcome),
                Err(broken) => Err(explain(broken)),
            };
            if let Err(reason) = result {
                // Figures of a tool that breaks a program, even occasionally, are worth nothing.
                self.series
                    .iter_mut()
                    .filter(|series| series.key == *key)
                    .for_each(|series| series.samples.clear());
                self.failures.push(SeriesFailure { key: key.clone(), reason });
            }
        }
    }

    /// Accepts the figures of a run with the same result as the native one.
    fn accept(&mut self, key: &SeriesKey, outcome: &MeasuredJob) -> Result<(), String> {
        let usage = &outcome.usage;
        if usage.status != 0 {
            return Err(format!("the kernel ended with status {}", usage.status));
        }
        let found = key.tool.is_raddle() && outcome.command_status == RADDLE_FOUND;
        if outcome.command_status != 0 && !found {
            return Err(format!("the command ended with status {}", outcome.command_status));
        }
        let checksum = outcome.stdout.lines().find_map(|line| line.strip_prefix("checksum "));
        let checksum = checksum.ok_or("it printed no checksum")?;
        let slot = (key.kernel.clone(), key.compiler.clone(), key.scale);
        match self.checksums.get(&slot) {
            Some(expected) if expected != checksum => {
                return Err("its checksum differs from the native one".into());
            }
            Some(_) => {}
            None if key.tool == Tool::Native => drop(self.checksums.insert(slot, checksum.to_owned())),
            None => return Err("the native run failed, so there is nothing to compare with".to_owned()),
        }
        let series =
            self.series.iter_mut().find(|series| series.key == *key).expect("build() made one for each key");
        series.reported |= found;
        series.samples.push(Sample {
            seconds: usage.seconds,
            cpu_seconds: usage.cpu_seconds,
            command_seconds: outcome.command_seconds,
            peak_kib: usage.peak_kib,
        });
        Ok(())
    }
}

fn job(kernel: &Kernel, key: &SeriesKey, binary: &Path, raddle: &Path) -> MeasureJob {
    let mut job = MeasureJob::default();
    match key.tool {
        Tool::Native => {}
        Tool::GccTsan | Tool::ClangTsan => job.environment.push(("TSAN_OPTIONS", QUIET_TSAN.to_owned())),
        Tool::Helgrind | Tool::Drd => {
            let tool = format!("--tool={}", key.tool);
            job.program.extend(["valgrind", "-q", "--log-file=/dev/null", &tool].map(Into::into));
        }
        Tool::Raddle { mode, history } => {
            let history = history.to_string();
            let words =
                ["run", "--no-store", "--mode", mode.name(), "--history", &history, "-o", "/dev/null", "--"];
            job.before.push(raddle.into());
            job.before.extend(words.map(Into::into));
        }
    }
    job.program.push(binary.into());
    job.program.extend(kernel.arguments(key.scale).map(Into::into));
    job
}

/// The reason for the record. It contains no output of the target, which may have paths in it; that
/// output goes to the terminal.
fn explain(broken: Broken) -> String {
    match broken {
        Broken::TimedOut(limit) => format!("it ran longer than {} s", limit.as_secs()),
        Broken::NoUsage { status, stderr } => {
            let tail: Vec<&str> = stderr.lines().rev().take(10).collect();
            tail.iter().rev().for_each(|line| eprintln!("    {line}"));
            format!("the target was never measured, and the command ended with status {status}")
        }
        Broken::Io(error) => format!("it could not be run: {error}"),
    }
}

/// Prints one line that replaces the last, on a terminal. Prints nothing into a log.
pub(crate) fn progress(what: &str) {
    let mut stderr = io::stderr();
    if stderr.is_terminal() {
        let _ = write!(stderr, "\r\x1b[K{what}");
        let _ = stderr.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel;
    use crate::tool::RunMode;

    fn compilers() -> Vec<CCompiler> {
        ["gcc", "clang-19"].map(|name| CCompiler::new(name).unwrap()).to_vec()
    }

    fn shown(keys: &[SeriesKey]) -> Vec<String> {
        keys.iter().map(|key| format!("{} {} {:?}", key.compiler, key.tool, key.scale)).collect()
    }

    #[test]
    fn each_tool_meets_its_compilers_and_valgrind_its_own_native_size() {
        let tools = [Tool::Native, Tool::GccTsan, Tool::ClangTsan, Tool::Helgrind];
        assert_eq!(
            shown(&plan("lu", &compilers(), &tools, false)),
            [
                "gcc native Full",
                "gcc gcc-tsan Full",
                "clang-19 native Full",
                "clang-19 clang-tsan Full",
                "gcc native Reduced",
                "gcc helgrind Reduced",
            ]
        );
    }

    #[test]
    fn a_quick_run_has_one_size_and_one_native_a_compiler() {
        let tools = [Tool::Native, Tool::Drd];
        let keys = plan("lu", &compilers(), &tools, true);
        assert_eq!(shown(&keys), ["gcc native Quick", "clang-19 native Quick", "gcc drd Quick"]);
    }

    #[test]
    fn raddle_runs_with_both_compilers() {
        let raddle = Tool::Raddle { mode: RunMode::Hybrid, history: 0 };
        let keys = plan("lu", &compilers(), &[raddle], false);
        assert_eq!(shown(&keys), ["gcc raddle-hybrid/0 Full", "clang-19 raddle-hybrid/0 Full"]);
    }

    fn line(tool: Tool) -> (String, String, Vec<(&'static str, String)>) {
        let kernel = &kernel::select(&["lu".to_owned()]).unwrap()[0];
        let key =
            SeriesKey { kernel: "lu".to_owned(), compiler: compilers().remove(0), tool, scale: Scale::Quick };
        let job = job(kernel, &key, Path::new("/b/lu"), Path::new("/r/raddle"));
        let join = |words: &[std::ffi::OsString]| {
            words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        (join(&job.before), join(&job.program), job.environment)
    }

    #[test]
    fn the_commands_of_the_tools() {
        assert_eq!(line(Tool::Native), (String::new(), "/b/lu 96 1".to_owned(), vec![]));
        let (_, program, environment) = line(Tool::ClangTsan);
        assert_eq!((program.as_str(), environment.len()), ("/b/lu 96 1", 1));
        assert_eq!(environment[0].1, "report_bugs=0:atexit_sleep_ms=0");
        assert_eq!(line(Tool::Drd).1, "valgrind -q --log-file=/dev/null --tool=drd /b/lu 96 1");
        let (before, program, _) = line(Tool::Raddle { mode: RunMode::Fast, history: 1 });
        assert_eq!(before, "/r/raddle run --no-store --mode fast --history 1 -o /dev/null --");
        assert_eq!(program, "/b/lu 96 1");
    }
}
