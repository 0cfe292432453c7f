//! Likely invariants of the values that reads return, in the manner of Daikon (Ernst et al., *The
//! Daikon system for dynamic detection of likely invariants*, 2007); section 5.2 of the paper. A
//! read that obeys an invariant in all training runs is an error site: a run that breaks the
//! invariant has gone wrong in a way for which nobody wrote an assertion.
//!
//! - [`shape`]: what an invariant can state, about the value alone or about the value and other
//!   variables or sums over arrays.
//! - [`sample`]: the values of all variables at each read, from the traces.
//! - [`mod@infer`]: candidates that no sample contradicts, and how likely each is to be more than
//!   chance.
//!
//! As in Daikon, an invariant is reported only if it is *justified*: if it had no reason, it would
//! be unlikely to hold in all samples. A flag that was 0 in six runs says little; two counters that
//! agreed while both went through five values say much. So few runs justify only relations, and
//! many runs also constants, sets and ranges.

pub mod infer;
pub mod sample;
pub mod shape;

pub use infer::{Invariant, infer};
pub use sample::{KnownMemory, Samples};
pub use shape::{Shape, Term, Variable};
