//! The C front end: lowers complete and incomplete text to intermediate code.

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
pub use pp::{Includes, NoIncludes, PreprocessorLimits};
