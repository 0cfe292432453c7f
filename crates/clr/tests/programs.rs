//! C# programs, compiled here and run with the profiler, compared with their comments: `// expect: nothing` in the first line,
//! or `// expect: thread-safety-violation` at the line of each call that may be an end of a finding.
//!
//! They need .NET Core 3.1 with its compiler, which `./test setup` puts into `target/dotnet`. Without it they say so and end.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use raddle_clr::record::{Record, Violation};
use raddle_tsvd::Params;

const MARK: &str = "// expect: thread-safety-violation";

/// A .NET SDK, and OpenSSL 1.1, which the compiler wants.
struct Sdk {
    folder: PathBuf,
    openssl: PathBuf,
}

impl Sdk {
    fn find() -> Option<Sdk> {
        let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/dotnet");
        let sdk = Sdk { folder: target.join("sdk"), openssl: target.join("openssl") };
        let found = sdk.folder.join("dotnet").is_file();
        if !found {
            eprintln!("no .NET SDK in target/dotnet: `./test setup` gets one; nothing was tested");
        }
        found.then_some(sdk)
    }

    fn dotnet(&self) -> Command {
        let mut dotnet = Command::new(self.folder.join("dotnet"));
        dotnet.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1").env("DOTNET_CLI_TELEMETRY_OPTOUT", "1");
        dotnet.env("LD_LIBRARY_PATH", &self.openssl);
        dotnet
    }

    /// The only folder that matches.
    fn only(&self, below: &str) -> PathBuf {
        let all = std::fs::read_dir(self.folder.join(below)).unwrap();
        all.map(|entry| entry.unwrap().path()).next().unwrap_or_else(|| panic!("{below} is empty"))
    }

    fn compile(&self, source: &Path, to: &Path) {
        let framework = self.only("shared/Microsoft.NETCore.App");
        let version = framework.file_name().unwrap().to_string_lossy().into_owned();
        let references = std::fs::read_dir(&framework).unwrap().filter_map(|entry| {
            let name = entry.unwrap().file_name().to_string_lossy().into_owned();
            let managed = name.ends_with(".dll") && !name.contains("Native");
            let wanted = managed && (name.starts_with("System") || name == "Microsoft.CSharp.dll");
            wanted.then(|| format!("-r:{}", framework.join(name).display()))
        });
        let mut compile = self.dotnet();
        compile.arg(self.only("sdk").join("Roslyn/bincore/csc.dll"));
        compile.args(["-nologo", "-langversion:8", "-debug:portable", "-optimize+"]).args(references);
        let output = compile.arg(format!("-out:{}", to.display())).arg(source).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        let settings = format!(
            r#"{{"runtimeOptions":{{"tfm":"netcoreapp3.1","framework":{{"name":"Microsoft.NETCore.App","version":"{version}"}}}}}}"#
        );
        std::fs::write(to.with_extension("runtimeconfig.json"), settings).unwrap();
    }
}

/// What a run with the profiler said and left.
struct Run {
    output: Output,
    records: Vec<Record>,
}

impl Run {
    fn violations(&self) -> impl Iterator<Item = &Violation> {
        self.records.iter().filter_map(|record| match record {
            Record::Violation(violation) => Some(violation),
            _ => None,
        })
    }
}

/// Cargo builds it beside the tests.
fn profiler() -> PathBuf {
    let library = std::env::current_exe().unwrap().with_file_name("libraddle_clr.so");
    assert!(library.is_file(), "{} is not there", library.display());
    library
}

/// As `raddle tsvd` makes the folder of a session.
fn run(sdk: &Sdk, program: &Path, folder: &Path, force_async: bool) -> Run {
    let _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir(folder).unwrap();
    let params = Params::default();
    // SAFETY: plain data of that size, of which every byte is one of a number.
    let bytes = unsafe { std::slice::from_raw_parts((&raw const params).cast::<u8>(), size_of::<Params>()) };
    std::fs::write(folder.join("params"), bytes).unwrap();
    let mut shared = [0; 48];
    shared[12] = u8::from(force_async);
    std::fs::write(folder.join("tsvd"), shared).unwrap();
    let mut command = sdk.dotnet();
    command.arg(program).env("RADDLE_SESSION", folder).env("CORECLR_ENABLE_PROFILING", "1");
    command.env("CORECLR_PROFILER", raddle_clr::CLASS).env("CORECLR_PROFILER_PATH", profiler());
    let output = command.output().unwrap();
    let mut records = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "clr") {
            let text = std::fs::read_to_string(path).unwrap();
            records.extend(text.lines().map(|line| serde_json::from_str::<Record>(line).unwrap()));
        }
    }
    Run { output, records }
}

fn is_expected(violation: &Violation, marked: &[u32]) -> bool {
    violation.ends.iter().all(|end| end.stack[0].line.is_some_and(|line| marked.contains(&line)))
}

#[test]
fn programs_are_as_their_comments_say() {
    let Some(sdk) = Sdk::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    for entry in std::fs::read_dir(programs).unwrap() {
        let source = entry.unwrap().path();
        let text = std::fs::read_to_string(&source).unwrap();
        let marked: Vec<u32> =
            text.lines().zip(1..).filter(|(line, _)| line.contains(MARK)).map(|(_, n)| n).collect();
        let right = text.starts_with("// expect: nothing");
        assert_eq!(right, marked.is_empty(), "{}: what is expected?", source.display());
        let program = folder.path().join(source.with_extension("dll").file_name().unwrap());
        sdk.compile(&source, &program);
        let mut caught = false;
        // A violation is caught by luck; a few runs are enough of it.
        for _ in 0..if right { 1 } else { 3 } {
            let run = run(&sdk, &program, &folder.path().join("session"), false);
            let said = String::from_utf8_lossy(&run.output.stdout).into_owned();
            assert!(run.output.status.success() && said == "done\n", "{source:?}: {:?}", run.output);
            assert!(run.records.iter().any(|r| matches!(r, Record::Site { .. })), "nothing is watched");
            for violation in run.violations() {
                assert!(is_expected(violation, &marked), "{source:?}: {violation:#?}");
                assert!(!violation.rule.is_empty() && !violation.class.is_empty());
            }
            caught |= run.violations().count() > 0;
            if caught {
                break;
            }
        }
        assert_eq!(caught, !right, "{}", source.display());
    }
}

#[test]
fn without_a_session_the_program_runs_as_if_nothing_were_there() {
    let Some(sdk) = Sdk::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/filled_before_ok.cs");
    let program = folder.path().join("plain.dll");
    sdk.compile(&source, &program);
    let mut command = sdk.dotnet();
    command.arg(&program).env_remove("RADDLE_SESSION").env("CORECLR_ENABLE_PROFILING", "1");
    command.env("CORECLR_PROFILER", raddle_clr::CLASS).env("CORECLR_PROFILER_PATH", profiler());
    let output = command.output().unwrap();
    assert!(output.status.success() && output.stdout == b"done\n", "{output:?}");
}

/// All argument kinds, generics over value types, exception filters, iterators, …: the same output with and without.
#[test]
fn what_is_hard_to_rewrite_does_what_it_did() {
    let Some(sdk) = Sdk::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("torture.dll");
    sdk.compile(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/torture.cs"), &program);
    let plain = sdk.dotnet().arg(&program).output().unwrap();
    assert!(plain.status.success() && plain.stdout.len() > 100, "{plain:?}");
    for force_async in [false, true] {
        let run = run(&sdk, &program, &folder.path().join("session"), force_async);
        assert_eq!(String::from_utf8_lossy(&run.output.stdout), String::from_utf8_lossy(&plain.stdout));
        let count = |is: fn(&Record) -> bool| run.records.iter().filter(|record| is(record)).count();
        assert!(count(|r| matches!(r, Record::Site { .. })) > 20, "{:?}", run.records);
        let failed = |r: &Record| matches!(r, Record::Unseen { why, .. } if !why.contains("constrained"));
        assert!(!run.records.iter().any(failed), "{:?}", run.records);
    }
}

/// Each `await` of the mocked store finds a task that is done, so one thread does it all, unless `await` is made to wait.
#[test]
fn synchronous_mocks_are_asynchronous_if_that_is_asked_for() {
    let Some(sdk) = Sdk::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("mock.dll");
    sdk.compile(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/synchronous_mock.cs"), &program);
    let session = folder.path().join("session");
    assert_eq!(run(&sdk, &program, &session, false).violations().count(), 0);
    let caught = (0..3).any(|_| run(&sdk, &program, &session, true).violations().count() > 0);
    assert!(caught, "three runs and nothing was caught");
}
