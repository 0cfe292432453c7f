//! The C front end: text to intermediate code, for text that is complete and for text that is not.

mod ast;
pub mod commands;
mod front;
mod lex;
mod literal;
mod lower;
pub mod models;
mod parse;
mod pp;
mod token;
mod types;

pub use front::{Lowered, lower_file, lower_file_with};
pub use pp::{Includes, Limits, NoIncludes};
