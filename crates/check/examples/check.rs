//! Checks C files and prints what is found: `cargo run -p raddle-check --example check -- file.c …`
//! `RADDLE_STEPS` and `RADDLE_SEED` change the budget and the seed.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use raddle_check::c::Includes;
use raddle_check::{Budget, CheckOptions, Session, Source};

/// Looks beside the including file, then where it is told to.
struct Beside;

impl Includes for Beside {
    fn find(&self, from: &str, name: &str, angled: bool) -> Option<(Arc<str>, Arc<[u8]>)> {
        if angled {
            return None;
        }
        let path = Path::new(from).parent()?.join(name);
        let text = std::fs::read(&path).ok()?;
        Some((path.to_string_lossy().as_ref().into(), text.into()))
    }
}

/// The nearest C# project above a file.
fn project_of(file: &str) -> Option<String> {
    Path::new(file).ancestors().skip(1).find_map(|folder| {
        let entries = std::fs::read_dir(folder).ok()?;
        let projects =
            entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "csproj"));
        projects.min().map(|p| p.to_string_lossy().into_owned())
    })
}

fn main() {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let sources: Vec<Source> = files
        .iter()
        .filter_map(|f| match std::fs::read(f) {
            Ok(text) => Some(Source::new(f, text).with_group(project_of(f).as_deref())),
            Err(e) => {
                eprintln!("{f}: {e}");
                None
            }
        })
        .collect();
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u64>().ok());
    let mut options = CheckOptions { includes: Arc::new(Beside), ..CheckOptions::default() };
    if let Some(steps) = number("RADDLE_STEPS") {
        options.budget = Budget { steps, runs: u32::MAX, quiet: 2500, ..options.budget };
    }
    options.budget.seed = number("RADDLE_SEED").unwrap_or(options.budget.seed);
    let started = Instant::now();
    let out = Session::new(options).check(&sources, None);
    for f in &out.findings {
        println!("{:?}: {}", f.kind, f.message);
        for a in &f.accesses {
            println!("  {:?} by {} holding {:?}", a.op, a.thread, a.locks);
            for frame in &a.stack {
                let name = frame.function.as_deref().unwrap_or("?");
                println!(
                    "    {name} at {}:{}",
                    frame.file.as_deref().unwrap_or("?"),
                    frame.line.unwrap_or(0)
                );
            }
        }
        for t in f.threads.iter().filter(|t| t.created_by.is_some()) {
            let at = t.stack.first().map_or(0, |s| s.line.unwrap_or(0));
            println!("  {} was started by {} at line {at}", t.label, t.created_by.as_deref().unwrap_or("?"));
        }
        f.notes.iter().for_each(|n| println!("  {n}"));
    }
    out.starts_not_reached.iter().for_each(|(path, line)| println!("not reached: {path}:{line}"));
    out.left_out.iter().for_each(|(path, why)| println!("{path}: {why}"));
    out.checked.iter().for_each(|c| println!("{}:{} {}: {}", c.path, c.line, c.function, c.lens()));
    println!("{:?} in {:?}", out.stats, started.elapsed());
}
