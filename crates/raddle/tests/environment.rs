//! Where raddle keeps its runtime, and what its programs do without it.

mod common;

use common::{Bench, refused, stderr};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

fn with_cache(bench: &Bench, command: &mut Command) -> String {
    refused(command.env("XDG_CACHE_HOME", bench.path("cache")))
}

#[test]
fn a_cache_that_others_can_write_is_refused() {
    let bench = Bench::with("race");
    let folder = bench.path("cache/raddle");
    std::fs::create_dir_all(&folder).unwrap();
    for mode in [0o777, 0o770, 0o702] {
        std::fs::set_permissions(&folder, PermissionsExt::from_mode(mode)).unwrap();
        let sentence = with_cache(&bench, &mut bench.run_command("-o report.txt", &["./race"]));
        assert!(sentence.contains("cannot be trusted") && sentence.contains("XDG_CACHE_HOME"), "{sentence}");
        with_cache(&bench, &mut bench.raddle("cc race.c -o other"));
    }
    for file in ["started", "report.txt", "other"] {
        assert!(!bench.path(file).exists(), "{file}");
    }
}

#[test]
fn a_cache_that_is_a_link_is_refused() {
    let bench = Bench::with("race");
    std::fs::create_dir_all(bench.path("cache")).unwrap();
    std::fs::create_dir_all(bench.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink(bench.path("elsewhere"), bench.path("cache/raddle")).unwrap();
    with_cache(&bench, &mut bench.run_command("", &["./race"]));
    assert!(!bench.path("started").exists());
}

/// Only root can give a folder away; for others the unit test of the same check has to do.
#[test]
fn a_cache_of_somebody_else_is_refused() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("not root: no folder can be given to another user, so nothing is tested here");
        return;
    }
    let bench = Bench::with("race");
    let folder = bench.path("cache/raddle");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o700)).unwrap();
    std::os::unix::fs::chown(&folder, Some(65534), None).unwrap();
    let sentence = with_cache(&bench, &mut bench.run_command("", &["./race"]));
    assert!(sentence.contains("another user"), "{sentence}");
    assert!(!bench.path("started").exists());
}

/// A changed runtime is not used, whoever changed it.
#[test]
fn a_changed_runtime_is_unpacked_again() {
    let bench = Bench::with("race");
    let run = || {
        let mut run = bench.run_command("--format json -o report.json", &["sh", "-c", "./race"]);
        bench
            .outcome(run.env("XDG_CACHE_HOME", bench.path("cache")).output().unwrap())
            .assert_races(&["counter"]);
    };
    run();
    // Beside the unpacked runtime lie the file that unpacking is locked with, and kept results.
    let entries = std::fs::read_dir(bench.path("cache/raddle")).unwrap();
    let mut libraries = entries.map(|e| e.unwrap().path().join("lib/libraddle_rt.so"));
    let library = libraries.find(|library| library.exists()).unwrap();
    let good = std::fs::read(&library).unwrap();
    std::fs::write(&library, b"something else").unwrap();
    run();
    assert_eq!(std::fs::read(&library).unwrap(), good);
}

/// Nobody watches: the program does what it always did, also where a session of the past is still
/// named.
#[test]
fn without_raddle_a_program_is_itself() {
    let bench = Bench::with("race");
    bench.build("locks");
    for compiler in ["gcc", "clang-19"] {
        bench.ok(&format!("cc --use {compiler} -g -O1 -pthread race.c -o race"));
        for (then, status) in [("silent", 5), ("7", 7), ("_exit", 3)] {
            let output = bench.command("./race").arg(then).env_remove("RADDLE_SESSION").output().unwrap();
            assert_eq!(output.status.code(), Some(status), "{}", stderr(&output));
            assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{}", stderr(&output));
        }
        for session in ["", "/absent", "/dev/null", "/etc"] {
            let output = bench.command("./race").arg("7").env("RADDLE_SESSION", session).output().unwrap();
            assert_eq!(output.status.code(), Some(7), "{session}: {}", stderr(&output));
            assert!(output.stderr.is_empty(), "{}", stderr(&output));
        }
    }
    assert!(bench.command("./locks").status().unwrap().success());
}

/// Where there is no home, a private folder under TMPDIR will do; the line about it comes once.
#[test]
fn without_a_home() {
    let bench = Bench::with("race");
    for lines in [1, 0] {
        let mut run = bench.run_command("--format json -o report.json", &["./race"]);
        let output = run.env_remove("HOME").env_remove("XDG_CACHE_HOME").output().unwrap();
        assert_eq!(output.status.code(), Some(66), "{}", stderr(&output));
        assert_eq!(stderr(&output).lines().count(), lines, "{}", stderr(&output));
    }
}
