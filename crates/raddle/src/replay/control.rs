//! Makes the executions of a control experiment: see [`raddle_hunt::control`].

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use clap::Parser;
use raddle_explore::{Order, Outcome};
use raddle_hunt::control::{Followed, PATTERN, decides};

use super::{Made, once, other_schedules, recipe};
use crate::cli::{Cli, Command};
use raddle_harness::crew::Notes;
use raddle_harness::schedule::Schedule;
use raddle_harness::worker::Recipe;

/// How many random schedules are tried to find one that passes.
const SAMPLES: u64 = 12;

/// Whether the schedule in the file decides how the program ends: it fails whenever it is followed,
/// and another schedule passes whenever that is followed. `round` says which random schedules are
/// tried as the other one. Gives up at `end`.
///
/// Sets the surroundings of the program to those in the file.
pub fn schedule_decides(file: &Path, round: u64, end: Instant) -> Result<bool> {
    let line = ["raddle".as_ref(), "replay".as_ref(), "--trust".as_ref(), file.as_os_str()];
    let Command::Replay(args) = Cli::try_parse_from(line)?.command else {
        anyhow::bail!("{} cannot be replayed", file.display())
    };
    let schedule = Schedule::read(file)?;
    let recipe = Recipe { end_at: Some(end), ..recipe(&args, &schedule)? };
    let notes = Notes::quiet();
    let made = |order: Order| once(&recipe, &schedule, order, &notes).ok().map(|(made, _)| made);
    let first = round * SAMPLES + 1;
    let passes = |made: &Made| made.trace.outcome == Outcome::Passed;
    let mut tails = other_schedules(first..=first + SAMPLES - 1);
    let Some(passing) = tails.find_map(|tail| {
        let is_over = Instant::now() >= end || raddle_harness::interrupt::came();
        if is_over { None } else { made(Order::free(0, tail)).filter(passes) }
    }) else {
        return Ok(false);
    };
    let mut failed = Vec::new();
    for followed in PATTERN {
        let order = match followed {
            Followed::Failing => Order::replay(schedule.choices()),
            Followed::Passing => Order::replay(passing.trace.view().choices()),
        };
        let ended = made(order).and_then(|made| match made.again {
            true => Some(true),
            false => passes(&made).then_some(false),
        });
        failed.push(ended);
        if ended != Some(followed == Followed::Failing) {
            break;
        }
    }
    Ok(decides(&failed))
}
