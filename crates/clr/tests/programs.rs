//! C# programs, compared with their comments: `// expect: nothing` in the first line, or `//
//! expect: thread-safety-violation` at the line of each call that may be an end of a finding.
//! Without a .NET SDK they say so and end.

mod support;

use std::path::{Path, PathBuf};

use raddle_clr::record::{ClrRecord, KnownState};
use support::{Program, Run, Sdk, Way, learned};

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Runs a program and looks at what it said and at every violation.
fn run_and_check(sdk: &Sdk, assembly: &Path, program: &Program, session: &Path) -> Run {
    let run = sdk.run(&[path(assembly), &program.name], session, &Way::default());
    let name = &program.name;
    assert!(run.output.status.success() && run.said() == "done\n", "{name}: {:?}", run.output);
    assert!(run.sites() > 0, "{name}: nothing is watched");
    for violation in run.violations() {
        assert!(program.expects(violation), "{name}: {violation:#?}");
        assert!(!violation.rule.is_empty() && !violation.class.is_empty(), "{name}: {violation:#?}");
    }
    run
}

/// A quarter of them, or all if `RADDLE_ALL_PROGRAMS` is set. Whether a violation is caught is
/// luck: a wrong program is run up to ten times. `cargo bench -p raddle-clr --bench programs` says
/// how often the first run is enough.
#[test]
fn programs_are_as_their_comments_say() {
    let Some(sdk) = Sdk::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut all = Program::all();
    assert!(all.len() > 60);
    // Whether these are caught is too much luck for a test.
    all.retain(|program| !program.name.starts_with("rare_"));
    let assembly = sdk.compile_programs(&all, folder.path());
    let session = folder.path().join("session");
    let step = if std::env::var_os("RADDLE_ALL_PROGRAMS").is_some() { 1 } else { 4 };
    // What depends on the layout of the framework's objects, and what would hang or break, is
    // always among them.
    let breaks = ["locked_wait_ok", "complete_source_ok", "suppressed_flow_ok"];
    let always = |program: &Program| {
        let name = &*program.name;
        let is_resized = name.starts_with("resized_") || name == "array_resize_bad";
        let is_in_scope = name.starts_with("transaction_");
        breaks.contains(&name) || is_resized || is_in_scope || name.ends_with("_enumerator_bad")
    };
    for (_, program) in all.iter().enumerate().filter(|(n, program)| n % step == 0 || always(program)) {
        let tries = if program.is_right() { 1 } else { 10 };
        let caught =
            (0..tries).any(|_| run_and_check(&sdk, &assembly, program, &session).violations().count() > 0);
        assert_eq!(caught, !program.is_right(), "{}", program.name);
    }
}

#[test]
fn without_a_session_the_program_runs_as_if_nothing_were_there() {
    let Some(sdk) = Sdk::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("plain.dll");
    sdk.compile(&[source("programs/filled_before_ok.cs")], &program, &[]);
    let mut command = sdk.dotnet();
    command.arg(&program).env_remove("RADDLE_SESSION").env("CORECLR_ENABLE_PROFILING", "1");
    command.env("CORECLR_PROFILER", raddle_clr::CLASS).env("CORECLR_PROFILER_PATH", &sdk.profiler);
    let output = command.output().unwrap();
    assert!(output.status.success() && output.stdout == b"done\n", "{output:?}");
}

/// All argument kinds, generics over value types, exception filters, iterators, contexts that are
/// unloaded, …: the same output with and without.
#[test]
fn what_is_hard_to_rewrite_does_what_it_did() {
    let Some(sdk) = Sdk::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    for (name, least) in [("torture", 20), ("odd", 10), ("order", 5), ("own_locks", 15)] {
        let program = folder.path().join(format!("{name}.dll"));
        sdk.compile(&[source(&format!("{name}.cs"))], &program, &[]);
        let plain = sdk.dotnet().arg(&program).output().unwrap();
        assert!(plain.status.success() && plain.stdout.len() > 100, "{plain:?}");
        for force_async in [false, true] {
            let way = Way { force_async, ..Way::default() };
            let run = sdk.run(&[path(&program)], &folder.path().join("session"), &way);
            assert_eq!(run.said(), String::from_utf8_lossy(&plain.stdout), "{name} {:?}", run.output);
            assert_eq!(run.output.status.code(), plain.status.code());
            assert!(run.sites() > least, "{} sites", run.sites());
            let expected = |why: &str| why.contains("run time") || why.contains("reflection");
            let failed = |r: &&ClrRecord| matches!(r, ClrRecord::Unseen { why, .. } if !expected(why));
            let failed: Vec<&ClrRecord> = run.records.iter().filter(failed).collect();
            assert!(failed.is_empty(), "{failed:?}");
            assert_eq!(run.violations().count(), 0);
        }
    }
}

/// Whether the violation is caught is luck, so the program is run up to ten times.
#[test]
fn callers_have_the_lines_that_were_written() {
    let Some(sdk) = Sdk::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("callers.dll");
    sdk.compile(&[source("callers.cs")], &program, &[]);
    let text = std::fs::read_to_string(source("callers.cs")).unwrap();
    let marked: Vec<Option<u32>> =
        text.lines().zip(1..).filter(|(line, _)| line.ends_with("// frame")).map(|(_, n)| Some(n)).collect();
    assert_eq!(marked.len(), 3);
    let session = folder.path().join("session");
    let caught = (0..10).find_map(|_| {
        let run = sdk.run(&[path(&program)], &session, &Way::default());
        run.violations().next().cloned()
    });
    for end in caught.expect("caught in ten runs").ends {
        let lines: Vec<Option<u32>> = end.stack.iter().take(3).map(|place| place.line).collect();
        assert_eq!(lines, marked, "{:?}", end.stack);
    }
}

/// No delay is made for calls that the program's own synchronisation keeps apart.
#[test]
fn ordered_calls_are_not_delayed() {
    let Some(sdk) = Sdk::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    // Where a task or a part of an asynchronous method is told of only after it was started, it may
    // have come to its calls by then: that is luck.
    const TRIES: u32 = 10;
    let programs = [
        "thread_join_ok",
        "nested_locks_ok",
        "countdown_ok",
        "task_wait_ok",
        "sequential_async_ok",
        "awaited_call_ok",
        "semaphore_ok",
        "reader_writer_ok",
        "completion_source_ok",
        "barrier_ok",
        "run_async_ok",
        "static_constructor_ok",
    ];
    let mut all = Program::all();
    all.retain(|program| programs.contains(&&*program.name));
    assert_eq!(all.len(), programs.len());
    let assembly = sdk.compile_programs(&all, folder.path());
    let session = folder.path().join("session");
    for name in programs {
        let program = all.iter().find(|program| program.name == name).unwrap();
        let is_quiet = (0..TRIES).any(|_| run_and_check(&sdk, &assembly, program, &session).delays() == 0);
        assert!(is_quiet, "{name}: delays in each of {TRIES} runs");
    }
}

/// That one thread alone has set an event or a source when another has waited is no order: a second
/// one may set it later, and in another run before. Neither is a lock that is released unseen, nor
/// a continuation that is cancelled. Whether a violation is caught is luck, so each program is run
/// up to ten times.
#[test]
fn what_only_looks_like_order_hides_nothing() {
    let Some(sdk) = Sdk::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut all = Program::all();
    let kinds = ["late_", "signal_and_wait_", "unseen_", "cancelled_"];
    let is_among = |name: &str| kinds.iter().any(|kind| name.starts_with(kind));
    all.retain(|program| is_among(&program.name) && !program.is_right());
    assert_eq!(all.len(), 13);
    let assembly = sdk.compile_programs(&all, folder.path());
    let session = folder.path().join("session");
    for program in &all {
        let caught =
            (0..10).any(|_| run_and_check(&sdk, &assembly, program, &session).violations().count() > 0);
        assert!(caught, "{}", program.name);
    }
}

/// Each `await` of the mocked store finds a task that is done, so one thread does it all, unless
/// `await` is made to wait.
#[test]
fn synchronous_mocks_are_asynchronous_unless_that_is_not_wanted() {
    let Some(sdk) = Sdk::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("mock.dll");
    sdk.compile(&[source("synchronous_mock.cs")], &program, &[]);
    let session = folder.path().join("session");
    let run = |force_async| sdk.run(&[path(&program)], &session, &Way { force_async, ..Way::default() });
    assert_eq!(run(false).violations().count(), 0);
    let caught = (0..5).any(|_| run(true).violations().count() > 0);
    assert!(caught, "five runs and nothing was caught");
}

/// What a call through `dynamic` or by reflection does is not seen, which is counted.
#[test]
fn what_is_not_seen_is_counted() {
    const UNSEEN: &str = "
        using System; using System.Collections.Generic;
        class Program {
            static void Main() {
                var list = new List<int> { 1 };
                dynamic unknown = list;
                unknown.Add(2);
                typeof(List<int>).GetMethod(\"Add\").Invoke(list, new object[] { 3 });
                Console.WriteLine(list.Count);
            }
        }";
    let Some(sdk) = Sdk::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("unseen.cs"), folder.path().join("unseen.dll"));
    std::fs::write(&source, UNSEEN).unwrap();
    sdk.compile(&[source], &program, &[]);
    let run = sdk.run(&[path(&program)], &folder.path().join("session"), &Way::default());
    assert_eq!(run.said(), "3\n", "{:?}", run.output);
    for reason in ["`dynamic`", "reflection"] {
        let is_it = |r: &&ClrRecord| matches!(r, ClrRecord::Unseen { why, .. } if why.contains(reason));
        assert_eq!(run.records.iter().filter(is_it).count(), 1, "{:?}", run.records);
    }
}

/// A module of the user's may have a name like those of the framework. With a PDB it is looked
/// into.
#[test]
fn a_name_like_the_frameworks_does_not_hide_a_module() {
    let Some(sdk) = Sdk::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("System.Of.Mine.dll");
    for (option, seen) in [("-debug:portable", true), ("-debug:embedded", true), ("-debug-", false)] {
        let _ = std::fs::remove_file(program.with_extension("pdb"));
        sdk.compile(&[source("programs/filled_before_ok.cs")], &program, &[option]);
        let run = sdk.run(&[path(&program)], &folder.path().join("session"), &Way::default());
        assert_eq!((run.said().as_str(), run.sites() > 0), ("done\n", seen), "{option}");
    }
}

/// Lines come from a PDB in the assembly or from the one beside it that is of the same build, and
/// without any there are methods all the same.
#[test]
fn lines_come_from_the_pdb_of_the_build() {
    let Some(sdk) = Sdk::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other.dll");
    sdk.compile(&[source("programs/handed_over_ok.cs")], &other, &["-debug:portable"]);
    // How it is compiled, whether the PDB beside it is replaced by the other's, whether there are
    // lines.
    for (option, replaced, expected) in [
        ("-debug:embedded", true, true),
        ("-debug:portable", false, true),
        ("-debug:portable", true, false),
        ("-debug-", true, false),
    ] {
        let program = folder.path().join("lines.dll");
        sdk.compile(&[source("programs/filled_before_ok.cs")], &program, &[option]);
        if replaced {
            std::fs::copy(other.with_extension("pdb"), program.with_extension("pdb")).unwrap();
        }
        let run = sdk.run(&[path(&program)], &folder.path().join("session"), &Way::default());
        assert_eq!(run.said(), "done\n");
        let place = run.records.iter().find_map(|record| match record {
            ClrRecord::Site { place, .. } => Some(place.clone()),
            _ => None,
        });
        let place = place.expect("it has sites");
        assert_eq!((place.line.is_some(), place.method.is_empty()), (expected, false), "{place:?}");
        assert!(place.file.is_none_or(|file| file.ends_with("filled_before_ok.cs")));
    }
}

/// What a run has learned of its pairs is known to the next one, by names that hold from run to
/// run.
#[test]
fn pairs_go_from_run_to_run() {
    let Some(sdk) = Sdk::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = Program::all().into_iter().find(|program| program.name == "dictionary_keys_bad").unwrap();
    let assembly = sdk.compile_programs(std::slice::from_ref(&program), folder.path());
    let session = folder.path().join("session");
    // Caught by luck, in one of a few runs.
    let run = (0..5)
        .map(|_| run_and_check(&sdk, &assembly, &program, &session))
        .find(|run| run.violations().count() > 0);
    let pairs = learned(&run.expect("five runs and nothing was caught"));
    let found = |pairs: &[raddle_clr::record::KnownPair]| {
        let mut found: Vec<_> = pairs
            .iter()
            .filter(|pair| pair.state == KnownState::Found)
            .map(|pair| pair.sites.clone())
            .collect();
        found.sort();
        found
    };
    assert!(
        !found(&pairs).is_empty() && found(&pairs)[0].iter().all(|name| name.starts_with("programs.dll: "))
    );
    let again =
        sdk.run(&[path(&assembly), &program.name], &session, &Way { pairs: pairs.clone(), ..Way::default() });
    let known = found(&learned(&again));
    assert!(found(&pairs).iter().all(|pair| known.contains(pair)), "{known:?}");
    assert!(again.violations().all(|violation| program.expects(violation)));
    assert!(again.delays() < 1000, "the caps hold");
}

/// Objects move all the time while threads are held. What is reported is one object that two
/// threads use, and not two that have been at one place or have one hash; and no collection waits
/// for a thread that is held.
#[test]
fn collections_go_on_while_threads_are_held() {
    let Some(sdk) = Sdk::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("gc.dll");
    sdk.compile(&[source("gc.cs")], &program, &[]);
    let marked = std::fs::read_to_string(source("gc.cs")).unwrap();
    let line = marked.lines().position(|line| line.contains("// expect:")).unwrap() as u32 + 1;
    // Whether anything is caught is luck.
    let caught = (0..5).any(|_| {
        let run = sdk.run(&[path(&program)], &folder.path().join("session"), &Way::default());
        assert!(run.output.status.success(), "{:?}", run.output);
        let collections: u32 = run.said().split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0);
        // A thread is held for some 100 ms, ten times and more: collections that waited for that
        // would be few.
        assert!(collections > 50, "{}", run.said());
        for violation in run.violations() {
            assert!(violation.ends.iter().all(|end| end.stack[0].line == Some(line)), "{violation:#?}");
        }
        run.violations().count() > 0
    });
    assert!(caught, "five runs and nothing was caught");
}
