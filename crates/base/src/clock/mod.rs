//! Logical time: epochs, vector clocks, and persistent vector clocks.
//!
//! A vector clock (Fidge 1988, Mattern 1989) maps each thread to a count. Clocks form a
//! join-semilattice. `join` takes the greater count of each thread. The empty clock (all counts
//! zero) is the least element. `leq` is the corresponding order: `a.leq(b)` exactly when `a` joined
//! with `b` is `b`. An event with epoch `c@t` happens before an event whose thread holds the clock
//! `V` exactly when `V[t] >= c`.
//!
//! - [`Epoch`]: the thread and time of one event. A copy costs one word pair.
//! - [`VectorClock`]: for the race state machines, with few copies and many look-ups. A copy and a
//!   join cost O(threads).
//! - [`PersistentClock`]: for happens-before inference and fork/join order, with a copy at each
//!   event and long-lived versions. A copy costs O(1). A join costs O(1) if both are the same node,
//!   and O(difference) if they share nodes.
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
