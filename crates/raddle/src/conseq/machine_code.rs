//! A program that was not built with raddle executes a copy of its machine code in which each
//! access is announced (`rt::relocated::scheduled`), as under `raddle explore`.
//!
//! The static half reads machine code in any case. What differs:
//! - A read is known by its instruction, and the copy's probe by the place just behind the
//!   beginning of that instruction ([`BEHIND`]).
//! - Machine code does not say which plain loads and stores are atomic, so a data race or a lost
//!   update may be none. What needs one to be certainly wrong is never confirmed
//!   ([`super::certainty`]), and no search is complete ([`super::completeness`]).
//! - The copy's probes serve the scheduler only. A program that cannot be scheduled is refused, and
//!   so are delays.
//! - Locks that Rust's library inlines look like other atomics, and order nothing.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use raddle_wire::explore::flag;

use super::args::{Args, Means};
use crate::explore::machine_code::mapped_as;
use raddle_harness::crew::Notes;
use raddle_harness::relocated::{self, Probes};
use raddle_harness::worker::Recipe;

/// How far behind the address of a read the program counter of its probe is.
pub const BEHIND: u64 = 1;

/// What to do about all that a copy cannot do.
pub const REMEDY: &str = "build it with `raddle cc`, `raddle c++`, `raddle rustc` or `cargo raddle`";

/// The recipe with a copy. `None`: the program starts no threads, or can start other programs,
/// which may be what is to be looked at.
pub fn prepare(args: &Args, recipe: &Recipe, notes: &Notes) -> Result<Option<Recipe>> {
    let name = recipe.program.path.display();
    let Some(copy) = relocated::prepare(&recipe.program, false, Probes::Scheduled).context(REMEDY)? else {
        return Ok(None);
    };
    if args.tester == Means::Delays {
        bail!(
            "`{name}` is not instrumented, and its machine code is not watched in ordinary runs, as --tester delays needs: {REMEDY}"
        );
    }
    notes.say(&format!(
        "`{name}` is not instrumented: {}. What only a data race or a lost update makes wrong is not confirmed, because machine \
         code does not say which accesses are atomic",
        relocated::coverage(copy.counts)
    ));
    let flags = recipe.flags | flag::MACHINE_CODE;
    Ok(Some(Recipe { copy: Some(copy.into()), flags, ..recipe.clone() }))
}

/// The file whose code is copied.
pub fn copied(recipe: &Recipe) -> Option<PathBuf> {
    mapped_as(recipe)
}

/// The error for a program that can only be watched under the scheduler, which refuses it.
pub fn cannot_be_scheduled(recipe: &Recipe, why: anyhow::Error) -> anyhow::Error {
    let name = recipe.program.path.display();
    why.context(format!(
        "`{name}` is not instrumented, and its machine code is watched under the scheduler only: {REMEDY}"
    ))
}
