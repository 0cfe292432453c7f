//! Explores programs of `corpus/explore` and compares what is found with what their comments expect.
//!
//! One test a program and compiler; `corpus/README.md` is the format. A fixed part is run by default, so that a test run stays short;
//! `RADDLE_CORPUS=all` runs every program. `cargo test --test explore_corpus -- NAME` runs those whose path contains NAME.

mod expect;
mod explored;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use expect::Program;
use libtest_mimic::{Arguments, Failed, Trial};

/// Run by default: each kind of finding, each language, each primitive, and right twins.
const PART: &[&str] = &[
    "suite/check_then_act_bad.c",
    "suite/check_then_act_ok.c",
    "suite/deadlock_3_locks_bad.c",
    "suite/double_free_bad.c",
    "suite/exit_status_bad.c",
    "suite/lost_update_bad.c",
    "suite/lost_update_bad.rs",
    "suite/lost_update_ok.rs",
    "suite/lost_wakeup_bad.c",
    "suite/lost_wakeup_ok.c",
    "suite/philosophers_3_bad.c",
    "suite/reorder_3_bad.c",
    "suite/reorder_3_ok.c",
    "suite/refcount_bad.c",
    "suite/bank_transfer_bad.cc",
];

/// Built with clang as well.
const CLANG: &[&str] = &["suite/check_then_act_bad.c", "suite/reorder_3_bad.c", "suite/bank_transfer_bad.cc"];

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/explore");
    let all = std::env::var_os("RADDLE_CORPUS").is_some_and(|v| v == "all");
    let mut trials = Vec::new();
    for file in programs(&root) {
        let name = file.strip_prefix(&root).unwrap_or(&file).display().to_string();
        if all || PART.contains(&name.as_str()) {
            trials.extend(trials_of(&file, &name, all || CLANG.contains(&name.as_str())));
        }
    }
    libtest_mimic::run(&args, trials).exit_code()
}

fn programs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in
            std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())).flatten()
        {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| ["c", "cc", "rs"].iter().any(|known| e == *known)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn trials_of(file: &Path, name: &str, clang: bool) -> Vec<Trial> {
    let text = std::fs::read_to_string(file).unwrap();
    let program = match Program::parse(&text) {
        Ok(program) => program,
        Err(e) => return vec![Trial::test(name, move || Err(Failed::from(e)))],
    };
    // What C11 allows beyond sequential consistency is `explore_weak`'s.
    if program.expected.is_none() {
        return Vec::new();
    }
    let is_rust = file.extension().is_some_and(|e| e == "rs");
    let compilers: Vec<&str> = match (is_rust, clang) {
        (true, _) => vec!["rustc"],
        (false, true) => program.compilers.iter().map(String::as_str).collect(),
        (false, false) => vec!["gcc"],
    };
    let trial = |compiler: &str| {
        let (file, program, compiler) = (file.to_path_buf(), program.clone(), compiler.to_owned());
        Trial::test(format!("{name} ({compiler})"), move || explored::check(&file, &program, &compiler))
    };
    compilers.into_iter().map(trial).collect()
}
