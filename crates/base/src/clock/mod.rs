//! Logical time: epochs, vector clocks, and persistent vector clocks.
//!
//! A vector clock (Fidge 1988, Mattern 1989) maps each thread to a count. Clocks form a
//! join-semilattice. `join` takes the greater count of each thread. The empty clock (all counts
//! zero) is the least element. `leq` is the corresponding order: `a.leq(b)` exactly when `a` joined
//! with `b` is `b`. An event with epoch `c@t` happens before an event whose thread holds the clock
//! `V` exactly when `V[t] >= c`.
//!
//! | type | a copy costs | a join costs | use |
//! |---|---|---|---|
//! | [`Epoch`] | one word pair | – | thread and time of one event |
//! | [`VectorClock`] | O(threads) | O(threads) | the race state machines: few copies, many look-ups |
//! | [`PersistentClock`] | O(1) | O(1) if both are the same node, O(difference) if they share nodes | happens-before inference and fork/join order: a copy at each event, long-lived versions |
//!
//! The module opens nothing, starts nothing, and reads no real clock.

mod dense;
mod epoch;
mod persistent;

pub use dense::VectorClock;
pub use epoch::{Epoch, ThreadId};
pub use persistent::PersistentClock;

use core::cmp::Ordering;

/// How two clocks compare, by whether each is `leq` the other. Concurrent clocks do not.
fn lattice_order(leq: bool, geq: bool) -> Option<Ordering> {
    match (leq, geq) {
        (true, true) => Some(Ordering::Equal),
        (true, false) => Some(Ordering::Less),
        (false, true) => Some(Ordering::Greater),
        (false, false) => None,
    }
}
