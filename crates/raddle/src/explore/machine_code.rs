//! A program that was not built with raddle: it executes a copy of its machine code in which each
//! access is announced, as the calls that compilers add do (`rt::relocated::scheduled`).
//!
//! What differs for the user:
//! - Libraries are not copied. What a search says of calls into them is the same as for a program
//!   that was built with raddle.
//! - Machine code does not say which plain loads and stores are atomic. Where such accesses race,
//!   they are scheduling points, and a failure that is found is one of the program. But other
//!   results of atomics than interleavings have are not tried.
//! - Which memory of its frame a function shares, and which of its instructions belong together, is
//!   guessed from the instructions. So no search of machine code is ever complete.
//! - For the same reason `--memory c11` is refused, and `--races` reports what a run under the
//!   detector shows, as suspected.

use std::path::PathBuf;

use anyhow::Result;
use raddle_wire::explore::flag;

use super::args::{MemoryModel, SearchArgs};
use raddle_harness::crew::Notes;
use raddle_harness::relocated::{self, Probes};
use raddle_harness::worker::Recipe;

/// Adds the copy, if the program is one to be watched in a copy.
pub fn prepare(recipe: Recipe, options: &SearchArgs, notes: &Notes) -> Result<Recipe> {
    let name = recipe.program.path.display().to_string();
    let copy = match relocated::prepare(&recipe.program, false, Probes::Scheduled) {
        Ok(Some(copy)) => copy,
        Ok(None) => {
            if relocated::is_left_alone(&recipe.program) {
                notes.say(&format!("`{name}` can start other programs, so its machine code is not copied"));
            }
            return Ok(recipe);
        }
        Err(why) => {
            notes.say(&format!("{why:#}"));
            return Ok(recipe);
        }
    };
    anyhow::ensure!(
        options.memory != MemoryModel::C11,
        "`{name}` is not instrumented, and machine code does not say which loads are atomic: --memory c11 needs a program that \
         was built with `raddle cc`, `raddle c++`, `raddle rustc` or `cargo raddle`"
    );
    notes.say(&format!("`{name}` is not instrumented: {}", relocated::coverage(copy.counts)));
    let flags = recipe.flags & !flag::RACES | flag::MACHINE_CODE;
    Ok(Recipe { copy: Some(copy.into()), flags, ..recipe })
}

/// The program that executes a copy, by the path of its mappings.
pub fn mapped_as(recipe: &Recipe) -> Option<PathBuf> {
    recipe.copy.as_ref()?;
    let path = &recipe.program.path;
    Some(path.canonicalize().unwrap_or_else(|_| path.clone()))
}

/// Why no search of machine code is complete, whatever else is known of it.
const NEVER_COMPLETE: &str = "machine code does not tell all of a program: which memory of a stack frame is shared, and which \
     accesses are atomic or were merged by the compiler, is only guessed";

/// Why a search that nothing is left to try of is not complete. Never empty for machine code.
pub fn shortcomings(recipe: &Recipe, has_points: bool, overtakes: bool) -> Vec<String> {
    let Some(copy) = &recipe.copy else { return Vec::new() };
    let mut said = vec![NEVER_COMPLETE.to_owned()];
    if !relocated::is_whole(copy.counts) {
        said.push(
            "some of the program's machine code could not be copied, and its memory accesses were not seen"
                .into(),
        );
    }
    if has_points {
        said.push(
            "threads access the same memory without synchronisation, machine code does not say whether by atomic operations, and \
             results that no interleaving has were not tried"
                .into(),
        );
    }
    if overtakes && !has_points {
        said.push("on real machines an atomic load may come before an earlier store of its thread".into());
    }
    said
}
