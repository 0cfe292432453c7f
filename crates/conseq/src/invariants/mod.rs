//! Likely invariants of what reads return, in the manner of Daikon (Ernst et al., *The Daikon
//! system for dynamic detection of likely invariants*, 2007); section 5.2 of the paper. A read at
//! which one holds in all training runs is an error site: a run in which it does not hold has gone
//! wrong in a way that nobody wrote an assertion for.
//!
//! - [`shape`]: what an invariant can say: of the value itself, or of it and other variables or sums over arrays.
//! - [`sample`]: the values of all variables at each read, from the traces.
//! - [`mod@infer`]: candidates that no sample has contradicted, and how likely each is to be more than chance.
//!
//! As in Daikon an invariant is told only if it is *justified*: that it holds in all samples must
//! be unlikely if there were nothing to it. A flag that was 0 in six runs says little; two counters
//! that agreed while both went through five values say much. So with few runs only relations are
//! told, and with many constants, sets and ranges as well.

pub mod infer;
pub mod sample;
pub mod shape;

pub use infer::{Invariant, infer};
pub use sample::{Memory, Samples};
pub use shape::{Shape, Term, Variable};
