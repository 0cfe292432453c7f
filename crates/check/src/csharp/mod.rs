//! The C# front end: the only part that knows C#.
//!
//! # What is shared with C, and what is not
//!
//! The whole machine ([`crate::interp`]) is shared: simulated memory and its access history,
//! threads and their schedules, vector clocks, locks, conditions, semaphores, barriers, timers, the
//! search for cycles of waits, unknown values with the assumptions of branches, budgets
//! ([`crate::explore`]), findings ([`crate::report`]). So are the session and all formats. C# adds
//! a layer that knows classes but no language, and that C never uses:
//!
//! - [`crate::ir::objects`]: tables of classes; `interp/objects.rs`: members and methods found
//!   through an object's class, delegates, arrays; `interp/exceptions.rs`: unwinding;
//!   `interp/tasks.rs`: waiting for tasks, and functions that continue elsewhere;
//!   `interp/collector.rs`: finalizers.
//!
//! Only C has the preprocessor with includes, bytes and pointers, unions, signals, OpenMP, and
//! models written in C.
//!
//! # How C# lowers
//!
//! - object: a block: a word that names its class, then eight bytes for each field.
//! - field, property: `GetMember`, `SetMember`: looked up by name in the class of the object. So a
//!   property, an override or an interface's member is found without its static type.
//! - method: `CallMethod`: by name and parameter types, else by the number of arguments, in the
//!   class of the object.
//! - static field: a global. Initialisers run once, at the first use from outside, as `Once`.
//! - local: a local of the machine. A local that a lambda mentions or whose address is taken is an
//!   object of its own, made where it is declared. So each round of a `foreach` has one, and a
//!   `for` has one for all rounds.
//! - lambda, local function, method group: a delegate: function, bound object, captured variables.
//! - generic: erased; objects keep their class.
//! - array: a block with its length; elements of eight bytes.
//! - structure: an object that is copied where C# copies it.
//! - exception: `Throw`, and handlers by ranges of code; `finally` is lowered once for each exit.
//! - `async`: a task that the function makes first. `Await` moves the function's frame to a thread
//!   of its own when it has to wait.
//! - iterator: run to its end into a list.
//! - `lock`: a recursive lock at the object's address.
//! - a call of a library that nobody models: an unknown.
//!
//! # The library
//!
//! The behaviour of .NET's own classes is written in C# (`models/*.cs`), over instructions written
//! as `__raddle.Name(…)`, and lowered with the program. The models' own accesses are not recorded.
//! A collection that is not thread-safe says which of its methods read and which write it as a
//! whole (`__raddle.Reads(this)`), and two threads in these are a thread-safety violation. An
//! unmodelled function is unknown: it returns unknowns, changes nothing visible, and makes a stuck
//! run prove nothing if it was given a delegate or an object of the program.
//!
//! # Deviations from the paper
//!
//! 1. A variable has only runtime types; static types decide arithmetic, overloads, extension
//!    methods and copies.
//! 2. Iterators and the modelled part of LINQ run at once, not on demand (the paper leaves both
//!    uninterpreted).
//! 3. The UI thread is a lock: its holder is the UI thread (`models/ui.cs`). The paper has a thread
//!    with a queue. Here messages are not handled in the order in which they were posted.
//! 4. There is no other synchronisation context: elsewhere, the code after an `await` runs on any
//!    thread.
//! 5. The ticks of a timer do not overlap, except with one that disposes of the timer.

mod declare;
mod directives;
mod lower;
mod models;
mod programs;
pub mod project;
mod syntax;
mod text;
mod types;
mod unclosed;
mod world;

use std::sync::Arc;

use crate::ir::Unit;
pub use programs::Programs;
pub use syntax::File;
pub use text::is_utf16;

/// Whether a file is C#, judged by its name.
pub fn is_csharp(path: &str) -> bool {
    path.rsplit('.').next().is_some_and(|e| e.eq_ignore_ascii_case("cs")) && path.contains('.')
}

/// Parses a file. `symbols` are those that the project defines for `#if`.
pub fn parse(path: &str, bytes: &[u8], symbols: &[String]) -> Option<File> {
    File::parse(path, directives::apply(&text::decode(bytes), symbols), false)
}

/// A lowered program.
pub struct LoweredProgram {
    pub unit: Arc<Unit>,
    /// One sentence for each reason why something was left out.
    pub left_out: Vec<String>,
}

/// Lowers files to one program, together with the models.
pub fn lower_program(files: Vec<Arc<File>>) -> LoweredProgram {
    let all: Vec<Arc<File>> = models::files().iter().cloned().chain(files).collect();
    let world = declare::declare(&all);
    let (unit, left_out) = lower::lower(&world, &all);
    LoweredProgram { unit: Arc::new(unit), left_out: left_out.sentences() }
}

#[cfg(test)]
mod tests;
