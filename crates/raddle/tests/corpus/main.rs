//! Runs every program of `corpus/` under `raddle run` and compares what is found with what its
//! comments expect.
//!
//! One test a program and compiler; each builds once and runs in all three modes.
//! `corpus/README.md` is the format. `cargo test --test corpus -- NAME` runs those whose path
//! contains NAME; `RADDLE_BLESS=1` writes golden files anew; `RADDLE_REPEAT=20` runs each program
//! so often in each mode, which shows the ones that depend on timing.

mod build;
mod compare;
mod expect;
mod golden;
mod machine_code;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use compare::Difference;
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut trials = Vec::new();
    let files = programs(&root.join("race"));
    for file in &files {
        trials.extend(trials_of(&root, file));
    }
    trials.extend(machine_code::trials(&root, &files));
    match build::multi_cases(&root.join("multi")) {
        Ok(cases) => trials.extend(
            cases
                .into_iter()
                .map(|case| Trial::test(format!("multi/{}", case.name), move || run_case(&case))),
        ),
        Err(e) => trials.push(Trial::test("multi", move || Err(Failed::from(e)))),
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

fn trials_of(root: &Path, file: &Path) -> Vec<Trial> {
    let name = file.strip_prefix(root).unwrap_or(file).display().to_string();
    let text = std::fs::read_to_string(file).unwrap();
    let program = match expect::Program::parse(&text) {
        Ok(program) => program,
        Err(e) => return vec![Trial::test(name, move || Err(Failed::from(e)))],
    };
    let is_rust = file.extension().is_some_and(|e| e == "rs");
    let compilers = if is_rust { vec!["rustc".to_string()] } else { program.compilers.clone() };
    if let Err(what) = golden::is_compared(&program, &compilers) {
        return vec![Trial::test(name, move || Err(Failed::from(what)))];
    }
    let trial = |compiler: String| {
        let (file, program) = (file.to_path_buf(), program.clone());
        Trial::test(format!("{name} ({compiler})"), move || {
            let built = build::build(&file, &program, &compiler)?;
            check(&built, &[file], &program, &compiler)
        })
    };
    compilers.into_iter().map(trial).collect()
}

fn run_case(case: &build::MultiCase) -> Result<(), Failed> {
    for compiler in ["gcc", "clang"] {
        let built = case.build(compiler)?;
        check(&built, &case.files(), &case.program, compiler)?;
    }
    Ok(())
}

fn repeat() -> u32 {
    std::env::var("RADDLE_REPEAT").map_or(1, |n| n.parse().expect("RADDLE_REPEAT is a number"))
}

/// A detector sees the run it gets: on a machine that stalls, two accesses can be farther apart
/// than it remembers. So a finding that is missing is looked for again, and that is said. A finding
/// too many is wrong at once.
const ATTEMPTS: u32 = 3;

fn run_once(
    built: &build::Built,
    files: &[PathBuf],
    program: &expect::Program,
    mode: &str,
    told: &str,
    attempts: u32,
) -> Result<(), Failed> {
    let outcome = built.run(program, mode)?;
    match compare::compare(&outcome, files, program, mode) {
        Ok(()) => Ok(()),
        Err(Difference::Missing(what)) if attempts > 1 => {
            eprintln!("{}: {told}: {what}; once more", files[0].display());
            run_once(built, files, program, mode, told, attempts - 1)
        }
        Err(Difference::Missing(what) | Difference::Wrong(what)) => {
            Err(Failed::from(format!("{told}: {what}\n{}", outcome.text())))
        }
    }
}

fn check(
    built: &build::Built,
    files: &[PathBuf],
    program: &expect::Program,
    compiler: &str,
) -> Result<(), Failed> {
    for mode in expect::MODES {
        for time in 1..=repeat() {
            let told = format!("{compiler}, --mode {mode}, run {time}");
            run_once(built, files, program, mode, &told, ATTEMPTS)?;
        }
    }
    if program.golden && compiler == golden::COMPILER {
        golden::compare(built, &files[0], program)?;
    }
    Ok(())
}
