//! The same programs, built by a plain compiler and watched in a copy of their machine code: the
//! verdict must be that of a program built with raddle.
//!
//! A slice of them runs with every test, the rest with `cargo test --test corpus -- --ignored
//! "machine code"`. Where a finding is may differ by a line: without probes the compiler merges
//! more. Programs whose verdict must differ, because of what machine code does not say, are in
//! [`DIFFERENT`]; they must run to their own status, if a plain compiler builds them.

use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Failed, Trial};

use crate::build::{self, Built};
use crate::compare::{self, Difference};
use crate::expect::Program;

/// Why a verdict differs.
#[derive(Clone, Copy, Debug)]
enum Why {
    /// C's release stores and acquire loads are plain `mov`s: what they order looks like a race.
    OrdersByMov,
    /// C's relaxed read-modify-writes have LOCK, so they order too much; so do exchanges in
    /// assembly.
    OrdersByLock,
    /// Locks of Rust's standard library count as atomics, which order readers too.
    RustLock,
    /// Atomic and plain accesses of one variable.
    Mixed,
    /// The access is in a library (libatomic).
    InLibrary,
    /// The library itself races: libtirpc decodes the padding of all threads into one buffer.
    LibraryRaces,
    /// It needs the runtime in the program: default suppressions, functions of the sanitizer.
    NeedsRuntime,
}

const DIFFERENT: &[(&str, Why)] = &[
    ("annotations/default_suppressions.c", Why::NeedsRuntime),
    ("annotations/ignore_sync_handler_ok.c", Why::OrdersByMov),
    ("annotations/queue_and_names.c", Why::NeedsRuntime),
    ("annotations/rwlock_absent.c", Why::OrdersByLock),
    ("annotations/tsan_acquire_release.c", Why::NeedsRuntime),
    ("annotations/tsan_mutex.c", Why::NeedsRuntime),
    ("annotations/unaligned_bad.c", Why::NeedsRuntime),
    ("atomics/acquire_fence_ok.c", Why::OrdersByMov),
    ("atomics/fence_published_ok.c", Why::OrdersByMov),
    ("atomics/membarrier_bad.c", Why::OrdersByMov),
    ("atomics/membarrier_ok.c", Why::OrdersByMov),
    ("atomics/mixed_with_plain_bad.c", Why::Mixed),
    ("atomics/publish_consume_ok.c", Why::OrdersByMov),
    ("atomics/publish_release_acquire_ok.c", Why::OrdersByMov),
    ("atomics/release_fence_ok.c", Why::OrdersByMov),
    ("atomics/seq_cst_fence_ok.c", Why::OrdersByMov),
    ("atomics/wide_16_bytes_bad.c", Why::InLibrary),
    ("atomics/worn_out_sids_bad.c", Why::OrdersByMov),
    ("atomics/worn_out_sids_ok.c", Why::OrdersByMov),
    ("libc/external_data_ok.c", Why::LibraryRaces),
    ("openmp/depend_bad.c", Why::OrdersByLock),
    ("openmp/nowait_bad.c", Why::OrdersByLock),
    ("primitives/futex_relaxed_lock_bad.c", Why::OrdersByLock),
    ("rust/after_park_bad.rs", Why::RustLock),
    ("rust/atomic_and_plain_bad.rs", Why::Mixed),
    ("rust/rwlock_read_guard_write_bad.rs", Why::RustLock),
    ("threads/many_alive_bad.c", Why::OrdersByLock),
];

/// Run with every test: each way in which machine code differs from instrumented code.
const SLICE: &[&str] = &[
    "annotations/happens_before.c",
    "condvar/bounded_queue_ok.cc",
    "control/exceptions_bad.cc",
    "cxx/latch_barrier_semaphore_ok.cc",
    "false_positives/s642_atomic_queue_ok.cc",
    "false_positives/s643_relaxed_refcount_bad.cc",
    "memory/loop_halves_bad.c",
    "memory/loop_halves_ok.c",
    "memory/wide_access_bad.c",
    "mutex/forgotten_lock_bad.c",
    "openmp/own_of_thread_ok.c",
    "primitives/thread_local_bad.cc",
    "rust/channel_blocking_ok.rs",
    "signals/errno_bad.c",
];

const MODE: &str = "hb";

pub fn trials(root: &Path, files: &[PathBuf]) -> Vec<Trial> {
    files.iter().map(|file| trial(root, file)).collect()
}

fn trial(root: &Path, file: &Path) -> Trial {
    let short = file.strip_prefix(root.join("race")).unwrap_or(file).display().to_string();
    let name = format!("race/{short} (machine code)");
    let file = file.to_path_buf();
    let is_in_slice = SLICE.contains(&short.as_str());
    let different = DIFFERENT.iter().find(|(name, _)| *name == short).map(|(_, why)| *why);
    let run = move || {
        let program = Program::parse(&std::fs::read_to_string(&file)?)?;
        if matches!(different, Some(Why::NeedsRuntime)) {
            return Ok(());
        }
        // What clang alone compiles is another program without its probes.
        if file.extension().is_some_and(|e| e != "rs") && !program.compilers.iter().any(|c| c == "gcc") {
            return Ok(());
        }
        let built = plainly(&file, &program)?;
        check(&built, &file, &program, different)
    };
    Trial::test(name, run).with_ignored_flag(!is_in_slice)
}

/// Built as anybody would, with debug information; annotations stay in the program.
fn plainly(file: &Path, program: &Program) -> Result<Built, Failed> {
    let folder = tempfile::tempdir()?;
    let executable = folder.path().join(file.file_stem().unwrap());
    let extension = file.extension().unwrap_or_default();
    let mut command = Command::new(if extension == "rs" {
        "rustc"
    } else if extension == "cc" {
        "g++"
    } else {
        "gcc"
    });
    if extension == "rs" {
        let flags = program.flags.iter().filter(|f| !f.starts_with("-O1"));
        command.args(["--edition", "2021", "-g", "-Copt-level=1"]).args(flags);
    } else {
        let include = folder.path().join("raddle");
        std::fs::create_dir(&include)?;
        let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("../harness/include/raddle/annotations.h");
        std::fs::copy(header, include.join("annotations.h"))?;
        command
            .args(["-g", "-pthread", "-DRADDLE_ANNOTATIONS_ON=1", "-I"])
            .arg(folder.path())
            .args(&program.flags);
    }
    command.arg(file).arg("-o").arg(&executable).args(&program.libs);
    build::finish(command)?;
    Ok(Built::new(folder, executable))
}

fn check(built: &Built, file: &Path, program: &Program, different: Option<Why>) -> Result<(), Failed> {
    let mut asked = program.clone();
    asked.run.extend(["--instrument".into(), "yes".into()]);
    for attempt in 1.. {
        let outcome = built.run(&asked, MODE)?;
        if let Some(why) = different {
            let status = outcome.report["stats"]["target_status"].as_i64();
            return match status == Some(program.exit) {
                true => Ok(()),
                false => {
                    Err(format!("{why:?}: the target's status is {status:?}\n{}", outcome.text()).into())
                }
            };
        }
        match compare::verdict(&outcome, file, program, MODE) {
            Ok(()) => break,
            // As for all programs of the corpus: what is missing is looked for again.
            Err(Difference::Missing(what)) if attempt < crate::ATTEMPTS => {
                eprintln!("{}: {what}; once more", file.display());
            }
            Err(Difference::Missing(what) | Difference::Wrong(what)) => {
                return Err(format!("{what}\n{}", outcome.text()).into());
            }
        }
    }
    Ok(())
}
