//! C# programs: compiled here, all into one assembly, and run with the profiler.
//!
//! They need .NET Core 3.1 with its compiler, which `./test setup` puts into `target/dotnet`.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Output;

use raddle_clr::record::{ClrRecord, ClrViolation, KnownPair};
use raddle_tsvd::{ALIGN, Params, SIZE, TrapPair, Tsvd};
use raddle_wire::tsvd::{SharedMapping, flag};

const MARK: &str = "// expect: thread-safety-violation";

/// [`raddle_testing::dotnet::Sdk`], with the profiler.
pub struct Sdk {
    sdk: raddle_testing::dotnet::Sdk,
    pub profiler: PathBuf,
}

impl Deref for Sdk {
    type Target = raddle_testing::dotnet::Sdk;

    fn deref(&self) -> &raddle_testing::dotnet::Sdk {
        &self.sdk
    }
}

/// A program of `tests/programs`.
pub struct Program {
    pub name: String,
    /// Lines that may be an end of a finding; a right program has none.
    pub marked: Vec<u32>,
}

impl Program {
    /// All of them, by name.
    pub fn all() -> Vec<Program> {
        let mut all: Vec<Program> =
            std::fs::read_dir(folder()).unwrap().map(|e| Program::read(&e.unwrap().path())).collect();
        all.sort_by(|x, y| x.name.cmp(&y.name));
        all
    }

    fn read(path: &Path) -> Program {
        let text = std::fs::read_to_string(path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let marked: Vec<u32> =
            text.lines().zip(1..).filter(|(line, _)| line.contains(MARK)).map(|(_, n)| n).collect();
        let right = text.starts_with("// expect: nothing");
        assert_eq!(right, marked.is_empty(), "{name}: what is expected?");
        assert_eq!(right, name.ends_with("_ok"), "{name}: its name says something else");
        Program { name, marked }
    }

    pub fn is_right(&self) -> bool {
        self.marked.is_empty()
    }

    /// Whether both ends of a violation are at lines that are marked.
    pub fn expects(&self, violation: &ClrViolation) -> bool {
        let marked = |line: Option<u32>| line.is_some_and(|line| self.marked.contains(&line));
        violation.ends.iter().all(|end| end.stack.first().is_some_and(|place| marked(place.line)))
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// How a program is run.
#[derive(Clone)]
pub struct Way {
    pub params: Params,
    pub force_async: bool,
    /// What earlier runs have learned.
    pub pairs: Vec<KnownPair>,
}

impl Default for Way {
    fn default() -> Way {
        Way { params: Params::default(), force_async: true, pairs: Vec::new() }
    }
}

/// What a run with the profiler said and left.
pub struct Run {
    pub output: Output,
    pub records: Vec<ClrRecord>,
    /// The files of the core's tables.
    states: Vec<PathBuf>,
}

impl Run {
    pub fn violations(&self) -> impl Iterator<Item = &ClrViolation> {
        self.records.iter().filter_map(|record| match record {
            ClrRecord::Violation(violation) => Some(violation),
            _ => None,
        })
    }

    pub fn sites(&self) -> usize {
        self.records.iter().filter(|record| matches!(record, ClrRecord::Site { .. })).count()
    }

    /// How many delays there were.
    pub fn delays(&self) -> u64 {
        self.tables(|core| core.stats().delays).iter().sum()
    }

    /// How long all threads were held.
    #[allow(dead_code, reason = "benchmarks and the tests share this file")]
    pub fn delay_nanos(&self) -> u64 {
        self.tables(|core| core.stats().delayed).iter().sum()
    }

    /// What the core's tables of each process say.
    fn tables<T>(&self, mut read: impl FnMut(&Tsvd) -> T) -> Vec<T> {
        let mut all = Vec::new();
        for path in &self.states {
            let bytes = std::fs::read(path).unwrap();
            assert_eq!(bytes.len(), SIZE);
            let mut memory = vec![0_u8; SIZE + ALIGN];
            let at = memory.as_mut_ptr();
            // SAFETY: there is room for it behind its alignment, and the tables were written by the
            // same build.
            let core = unsafe {
                let at = at.add(at.align_offset(ALIGN));
                at.copy_from(bytes.as_ptr(), SIZE);
                &*at.cast::<Tsvd>()
            };
            all.push(read(core));
        }
        all
    }

    pub fn said(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }
}

impl Sdk {
    pub fn find() -> Option<Sdk> {
        raddle_testing::dotnet::Sdk::find().map(|sdk| Sdk { sdk, profiler: profiler() })
    }

    /// One assembly of all programs, each in a namespace of its name: the compiler takes longer to
    /// start than to compile.
    pub fn compile_programs(&self, programs: &[Program], folder: &Path) -> PathBuf {
        const CHOOSE: &str = "
            class Choose {
                static void Main(string[] words) {
                    var flags = System.Reflection.BindingFlags.Static | System.Reflection.BindingFlags.NonPublic;
                    var main = typeof(Choose).Assembly.GetType(words[0] + \".Program\").GetMethod(\"Main\", flags);
                    (main.Invoke(null, null) as System.Threading.Tasks.Task)?.GetAwaiter().GetResult();
                }
            }";
        let mut sources = vec![folder.join("choose.cs")];
        std::fs::write(&sources[0], CHOOSE).unwrap();
        for program in programs {
            let file = format!("{}.cs", program.name);
            let text = std::fs::read_to_string(self::folder().join(&file)).unwrap();
            // In the first line, so that lines keep their numbers.
            std::fs::write(folder.join(&file), format!("namespace {} {{ {text}\n}}\n", program.name))
                .unwrap();
            sources.push(folder.join(file));
        }
        let to = folder.join("programs.dll");
        self.compile(&sources, &to, &["-main:Choose"]);
        to
    }

    /// With a session as `raddle tsvd` makes it.
    pub fn run(&self, words: &[&str], session: &Path, way: &Way) -> Run {
        let _ = std::fs::remove_dir_all(session);
        std::fs::create_dir(session).unwrap();
        // SAFETY: plain data of that size, of which every byte is one of a number.
        let bytes =
            unsafe { std::slice::from_raw_parts((&raw const way.params).cast::<u8>(), size_of::<Params>()) };
        std::fs::write(session.join("params"), bytes).unwrap();
        let flags = if way.force_async { 0 } else { flag::SYNCHRONOUS_AWAIT };
        let shared = SharedMapping::new(flags, way.params.run_cap, 400_000, 1000);
        std::fs::write(session.join("tsvd"), shared.as_bytes()).unwrap();
        let pairs = serde_json::to_vec(&way.pairs).unwrap();
        std::fs::write(session.join(raddle_clr::session::PAIRS), pairs).unwrap();
        let mut command = self.dotnet();
        command.args(words).env("RADDLE_SESSION", session).env("CORECLR_ENABLE_PROFILING", "1");
        command.env("CORECLR_PROFILER", raddle_clr::CLASS).env("CORECLR_PROFILER_PATH", &self.profiler);
        let output = command.output().unwrap();
        let (mut records, mut states) = (Vec::new(), Vec::new());
        for entry in std::fs::read_dir(session).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "clr-state") {
                states.push(path);
            } else if path.extension().is_some_and(|e| e == "clr") {
                let text = std::fs::read_to_string(path).unwrap();
                records.extend(text.lines().map(|line| serde_json::from_str::<ClrRecord>(line).unwrap()));
            }
        }
        Run { output, records, states }
    }
}

/// Cargo builds it beside the tests.
fn profiler() -> PathBuf {
    let library = std::env::current_exe().unwrap().with_file_name("libraddle_clr.so");
    assert!(library.is_file(), "{} is not there", library.display());
    library
}

/// The pairs that a run has left, as the driver hands them to the next one.
pub fn learned(run: &Run) -> Vec<KnownPair> {
    let names: Vec<&String> = run
        .records
        .iter()
        .filter_map(|record| match record {
            ClrRecord::Site { name, .. } => Some(name),
            _ => None,
        })
        .collect();
    let name = |site: u32| names.get(site as usize).map(|name| (*name).clone());
    let known = |pair: TrapPair| {
        let sites = [name(pair.site_a)?, name(pair.site_b)?];
        let (probability, gap, state) = (pair.probability, pair.gap, pair.state.into());
        Some(KnownPair { sites, probability, gap, state })
    };
    run.tables(|core| core.pairs().filter_map(known).collect::<Vec<_>>()).concat()
}

/// Seconds that processes which were waited for have used.
#[allow(dead_code, reason = "benchmarks and the tests share this file")]
pub fn processor_time() -> f64 {
    // SAFETY: numbers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: a place for the answer.
    unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage) };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
