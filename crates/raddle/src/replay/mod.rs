//! `raddle replay`: repeats a failure that `raddle explore` has found.
//!
//! There is one worker and one order: the choices of the `.raddle` file. Raddle compares what the
//! program does with the steps in the file and names the first difference, since from there on the
//! choices have another meaning.
//!
//! ```text
//! control     whether the schedule decides how the program ends
//! divergence  the first step that differs, in words
//! gdb         the failure in a debugger
//! trace       the steps for a timeline viewer
//! trust       whether the command in the file may be executed
//! ```

pub mod args;
pub mod control;
mod divergence;
mod gdb;
mod trace;
mod trust;

pub use args::Args;

use std::ops::RangeInclusive;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use raddle_explore::{Next, Order, Outcome, Tail, Trace};
use raddle_finding::{Report, Stat};
use raddle_wire::explore::flag;

use crate::report::output::OutputFile;
use crate::report::{Settler, TextTo};
use raddle_harness::check::Check;
use raddle_harness::crew::{Crew, Notes};
use raddle_harness::describe;
use raddle_harness::install::Runtime;
use raddle_harness::launch::{self, Surroundings};
use raddle_harness::places::{Mapped, Places};
use raddle_harness::program::{build_id, is_rust};
use raddle_harness::relocated;
use raddle_harness::say::say;
use raddle_harness::schedule::Schedule;
use raddle_harness::target;
use raddle_harness::verdict::{Failure, Usual, judge};
use raddle_harness::watch::Watch;
use raddle_harness::worker::Recipe;

pub fn run(args: Args) -> Result<ExitCode> {
    let begun = Instant::now();
    let settler = Settler::new(&args.report, TextTo::Stderr)?;
    let trace_file = args.trace.as_deref().map(|p| OutputFile::new("the trace", p)).transpose()?;
    let schedule = Schedule::read(&args.file)?;
    let recipe = recipe(&args, &schedule)?;
    if !args.trust {
        trust::check(&args.file, &schedule, &recipe.program.path, args.program.is_some())?;
    }
    let changed = build_id(&recipe.program.path) != schedule.head.build_id;
    if changed {
        say!(
            "`{}` was rebuilt after the schedule was made: the failure may not come back",
            recipe.program.path.display()
        );
    }
    if args.gdb {
        return gdb::run(&recipe, &schedule, &args.gdb_arguments);
    }
    let replayed = replay(&args, &recipe, &schedule)?;
    if let (Some(file), Some(made)) = (&trace_file, &replayed.last) {
        let mut places = Places::new();
        file.write(&trace::chrome(&made.trace.steps, &mut places, &replayed.modules))?;
    }
    let report = report(&args, &recipe, &schedule, &replayed, changed, begun);
    settler.settle(report, crate::exit::CLEAN)
}

fn recipe(args: &Args, schedule: &Schedule) -> Result<Recipe> {
    let head = &schedule.head;
    let folder = std::path::PathBuf::from(&head.folder);
    anyhow::ensure!(
        folder.is_dir(),
        "the folder in which the program was run, {}, does not exist any more",
        folder.display()
    );
    let mut words = schedule.words();
    anyhow::ensure!(!words.is_empty(), "{} names no program", args.file.display());
    let here = std::env::current_dir().context("cannot tell the current folder")?;
    let name = match &args.program {
        Some(program) => here.join(program).into_os_string(),
        // A relative path is relative to the folder in which the program was run.
        None if words[0].to_string_lossy().contains('/') => folder.join(&words[0]).into_os_string(),
        None => words[0].clone(),
    };
    let program = target::find(&[name])?;
    if let Some(input) = &head.input {
        let input = std::path::PathBuf::from(input);
        anyhow::ensure!(input.is_file(), "the file on its standard input, {}, is gone", input.display());
        launch::feed(input);
    }
    if words[0].is_empty() {
        words[0] = program.path.clone().into_os_string();
    }
    // The loader's variables are put together again, with the runtime in front.
    let libraries = head.environment.iter().filter(|(name, _)| *name == "LD_LIBRARY_PATH");
    launch::surround(Surroundings {
        folder: None,
        environment: libraries.map(|(name, value)| (name.clone(), value.clone())).collect(),
        unset: head.unset.clone(),
    });
    let copy = match head.flags & flag::MACHINE_CODE != 0 {
        true => relocated::scheduled(&program)?,
        false => None,
    };
    let environment = head.environment.iter().filter(|(k, _)| !k.starts_with("LD_"));
    Ok(Recipe {
        program,
        words,
        runtime: Runtime::open()?,
        folder: Some(folder),
        environment: environment.map(|(k, v)| (k.clone(), v.clone())).collect(),
        flags: head.flags
            | flag::STACKS
            | if args.os_threads { raddle_harness::worker::OS_THREADS } else { 0 },
        donors: head.donors,
        slots: 1,
        max_steps: head.max_steps.clamp(1, 10_000_000),
        points: schedule.points(),
        quiet: schedule.quiet(),
        lazy: false,
        patience: Duration::from_secs(u64::from(args.patience)),
        watch: head.expected.check.as_ref().map_or_else(Watch::default, Check::watch),
        copy,
        end_at: None,
    })
}

/// One execution.
struct Made {
    trace: Trace,
    failure: Option<Failure>,
    /// Whether the failure is the expected one.
    again: bool,
}

#[derive(Default)]
struct Replayed {
    times: u32,
    again: u32,
    /// The last execution that failed as expected, or else the last one.
    last: Option<Made>,
    modules: Vec<Mapped>,
    divergence: Option<String>,
    /// Executions that do not fail, to compare with.
    passing: Vec<Trace>,
}

fn replay(args: &Args, recipe: &Recipe, schedule: &Schedule) -> Result<Replayed> {
    let notes = Notes::default();
    let mut done = Replayed { times: args.times, ..Replayed::default() };
    for _ in 0..args.times {
        let (made, modules) = once(recipe, schedule, Order::replay(schedule.choices()), &notes)?;
        done.again += u32::from(made.again);
        if done.divergence.is_none() {
            let mut places = Places::new();
            done.divergence = divergence::tell(&schedule.steps, &made.trace, &mut places, &modules);
        }
        if made.again || !done.last.as_ref().is_some_and(|l| l.again) {
            done.last = Some(made);
        }
        done.modules = modules;
    }
    if done.again > 0 {
        done.passing = passing(recipe, schedule, &notes);
    }
    Ok(done)
}

/// A few passing executions: what they do in another order explains the failure.
fn passing(recipe: &Recipe, schedule: &Schedule, notes: &Notes) -> Vec<Trace> {
    const SAMPLES: u64 = 16;
    let (never, usual) = (|| false, usual(recipe, schedule));
    let mut crew = Crew::new(recipe.clone(), notes, &never);
    let mut passing = Vec::new();
    for tail in other_schedules(1..=SAMPLES) {
        crew.post(Order::free(0, tail));
        let turn = crew.turn(&mut |_, e| {
            if judge(&e, &usual).outcome == Outcome::Passed {
                passing.push(e.trace(Outcome::Passed));
            }
        });
        if turn.is_err() {
            break;
        }
    }
    crew.stop();
    passing
}

/// The schedules without a preemption, and a random one for each seed.
fn other_schedules(seeds: RangeInclusive<u64>) -> impl Iterator<Item = Tail> {
    let plain = [Next::Lowest, Next::Highest, Next::Round].map(|next| Tail::NonPreemptive { next });
    plain.into_iter().chain(seeds.map(|seed| Tail::Pos { seed }))
}

fn usual(recipe: &Recipe, schedule: &Schedule) -> Usual {
    let expected = &schedule.head.expected;
    let rust = is_rust(&recipe.program.path);
    let output = expected.usual_output.as_deref().and_then(|hash| u64::from_str_radix(hash, 16).ok());
    Usual { status: expected.usual_status, panics: expected.usual_panics, rust, output }
}

/// One execution in a process of its own.
fn once(recipe: &Recipe, schedule: &Schedule, order: Order, notes: &Notes) -> Result<(Made, Vec<Mapped>)> {
    let never = || false;
    let expected = &schedule.head.expected;
    let usual = usual(recipe, schedule);
    let mut crew = Crew::new(recipe.clone(), notes, &never);
    crew.post(order);
    let mut made = None;
    while made.is_none() && crew.in_flight() > 0 {
        crew.turn(&mut |_, e| {
            let mut failure = Failure::wanted(&e, &usual, expected.number);
            let mut outcome = failure.as_ref().map_or(judge(&e, &usual).outcome, |f| f.trace.outcome);
            if outcome == Outcome::Passed
                && let (Some(check), Some(watched)) = (&expected.check, e.watched)
                && check.shows(watched)
            {
                let shown = check.failure(&e);
                outcome = shown.trace.outcome;
                failure = Some(shown);
            }
            let again = failure.as_ref().is_some_and(|f| f.kind.name() == expected.kind);
            made = Some(Made { trace: e.trace(outcome), failure, again });
        })?;
    }
    let modules = crew.modules().to_vec();
    crew.stop();
    Ok((made.context("the program made no execution")?, modules))
}

fn report(
    args: &Args,
    recipe: &Recipe,
    schedule: &Schedule,
    done: &Replayed,
    changed: bool,
    begun: Instant,
) -> Report {
    let mut report = Report::new("replay", schedule.head.command.clone());
    let failure = done.last.as_ref().and_then(|made| made.failure.as_ref());
    let count = format!(
        "{} of {} failed as expected",
        done.again,
        raddle_harness::say::count(done.times, "replay", "replays")
    );
    if let Some(failure) = failure {
        let mut finding = describe::finding(failure, &done.passing, &mut Places::new(), &done.modules);
        if let Some(timeline) = &mut finding.timeline {
            describe::values::add(timeline, failure, recipe, &done.modules, &Notes::default(), &|| false);
        }
        finding.schedule = Some(args.file.display().to_string());
        finding.notes.push(count.clone());
        finding.notes.extend(done.divergence.clone());
        if !done.last.as_ref().is_some_and(|m| m.again) {
            let expected = &schedule.head.expected;
            finding
                .notes
                .push(format!("expected was another failure: {}: {}", expected.kind, expected.message));
        }
        report.findings.push(finding);
    } else {
        say!("the failure did not come back: {}", schedule.head.expected.message);
        if let Some(divergence) = &done.divergence {
            say!("{divergence}");
        }
    }
    if done.times > 1 {
        say!("{count}");
    }
    let mut add = |key: &str, value: Stat| drop(report.stats.insert(key.into(), value));
    add("seconds", Stat::Float(begun.elapsed().as_secs_f64()));
    add("times", Stat::from(u64::from(done.times)));
    add("reproduced", Stat::from(u64::from(done.again)));
    add("diverged", Stat::Bool(done.divergence.is_some()));
    add("binary_changed", Stat::Bool(changed));
    report
}
