//! What raddle knows about ELF files, x86-64 code and DWARF.
//!
//! The crate knows nothing of raddle's processes. It takes a path, or bytes, and answers questions
//! about one file. [`Module`] is the façade.
//!
//! | question | answer |
//! |---|---|
//! | what is this file, who instrumented it? | [`inspect()`], [`inspect_bytes`] |
//! | which functions and lines are at this pc? | [`Symbolizer::frames`], [`Module::frames`] |
//! | which variable is at an address? | [`Module::data_symbol`], [`Module::thread_local_symbol`] |
//! | where are the functions? | [`Module::functions`] |
//! | which code is to be ignored? | [`Module::match_ranges`] |
//! | who calls this function? | [`Module::call_sites`] |
//! | … and which functions may be called through a pointer? | [`Module::calls`] |
//! | … and which of its calls are inlined? | [`Module::inlined_calls`] |
//! | how can a function be watched at its entry? | [`Module::movable`] |
//! | how large is its result? | [`Module::result_sizes`] |
//! | where does Rust code take its locks? | [`Module::lock_sites`] |
//! | who called the function that a thread was caught in? | [`Module::caller`] |
//! | how can a program be made to load another library? | [`with_needed`] |
//! | which atomics are internal to Rust's std? | [`Module::quiet_sites`] |
//! | does this probe stand before a write to a bit-field? | [`bit_field_write`] |
//! | do these two probes stand before a copy? | [`CopyFinder`] |
//! | is `rbp` the frame pointer here? | [`Module::has_frame_pointer`] |
//! | which calls get a struct by value that no probe announces? | [`Module::silent_arguments`] |
//! | which instructions give another result in each run? | [`Module::unrepeatable_instructions`] |
//! | what does this instruction depend on? | [`flow::slice`] |
//! | which values make this jump go there? | [`flow::tested`] |
//!
//! Addresses are *virtual*, in the numbering of the ELF file, unless they are called file offsets.
//! A run-time address minus the module's load bias is a virtual address.
//!
//! Invariants:
//! - No input makes the crate panic. A file that cannot be understood is an [`Error`]; debug
//!   information that cannot be understood counts as absent.
//! - Nothing is read before it is needed. Debug information is parsed once and kept.
//! - Only `image` has unsafe code.

mod address_taken;
mod atomic_calls;
mod bit_fields;
mod by_value;
mod calls;
mod cold_paths;
mod copies;
mod debug_file;
mod demangle;
mod dwarf;
mod entries;
mod error;
pub mod flow;
mod functions;
mod globals;
mod image;
mod inlined_calls;
mod inspect;
mod lock_sites;
mod module;
mod needed;
mod patterns;
mod results;
mod std_atomics;
mod symbolize;
mod symbols;
mod unrepeatable;
mod unwind;

pub use address_taken::{CallBefore, Calls};
pub use bit_fields::bit_field_write;
pub use calls::CallSite;
pub use copies::CopyFinder;
pub use demangle::{demangle, plain_path};
pub use entries::{MOST_CODE, MOST_MOVED, Movable};
pub use error::{Error, Result};
pub use functions::FunctionRange;
pub use globals::DataSymbol;
pub use inlined_calls::InlinedCall;
pub use inspect::{
    AddressWidth, Architecture, FileKind, Inspection, Instrumentation, RUNTIME_NOTE, RUNTIME_SYMBOL, inspect,
    inspect_bytes,
};
pub use lock_sites::{Effect, LockClass, LockSite, LockSites, Patience};
pub use module::{Address, Module};
pub use needed::with_needed;
pub use patterns::{Patterns, matches_glob};
pub use std_atomics::{QuietSite, is_std_own_affair};
pub use symbolize::{Lookup, SourceFrame, Symbolizer};
pub use unwind::{ReadWord, Registers};
