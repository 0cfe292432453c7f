//! Where and when to delay a thread so that a thread-safety violation shows itself, after TSVD
//! (*Efficient and scalable thread-safety-violation detection: finding thousands of concurrency
//! bugs during testing*, SOSP 2019).
//!
//! A *point* is a call of a thread-unsafe API that is about to be made: by a thread, from a call
//! site, on an object, reading or writing. Each point is told to [`Tsvd::on_call`]. Now and then
//! the answer is to hold the thread: it sets a *trap* and sleeps. Another thread that comes to a
//! conflicting point on the same object meanwhile has sprung the trap: two threads are at calls
//! that must not be made at once, and neither is a guess.
//!
//! Which points are worth a delay is what the paper is about (section 3.4): pairs of sites that had
//! a *near miss* (3.4.2) of which at least one was in a *concurrent phase* (3.4.3), unless delays
//! have shown them to be *ordered* (3.4.4) or have failed too often (3.4.5). Planning and delaying
//! happen in the same run (3.4.6), and what was learned goes on to the next ([`Tsvd::pairs`],
//! [`Tsvd::seed`]).
//!
//! # What is guaranteed
//! - A violation is told only if the two points were there at the same time: the one thread between
//!   [`Tsvd::trap_set`] and [`Tsvd::delay_done`], the other inside [`Tsvd::on_call`] or [`Tsvd::trap_set`]. Everything
//!   else here may be approximate, and some of it is.
//! - No cap on delays is ever exceeded.
//! - The crate reads no clock, starts no thread, allocates nothing and calls nobody but the caller's [`Host`]: it runs
//!   inside the target as it does in a simulation.
//! - The same points at the same times with the same seed give the same answers.
//!
//! # Deviations from the paper
//! 1. The buffer of recent points is one word; it answers as the buffer would (see `phase`).
//! 2. The table of objects has a fixed size: of very many objects in use at once, some histories are lost (see
//!    `objects`). Without windowing, "the entire history" is the last [`MAX_HISTORY`] accesses.
//! 3. A delay that has not ended takes no blame for a gap (see `inference`).
//! 4. Probabilities belong to pairs, and that of a location is the greatest of its pairs. The paper gives them to
//!    locations; then a pair that can not meet takes chances from another that shares a location with it.
//! 5. A pair that left the trap set does not enter it again in the same run (see `trap_set`).
//! 6. A thread that has just sprung a trap is not delayed at that point, as in the published implementation.
//! 7. What a thread did before it created another is no near miss of what that one does ([`Tsvd::on_fork`]). The paper
//!    looks at no synchronisation at all, and so takes every table that is filled before its users start for dangerous:
//!    the first points of a new thread look like a concurrent phase, and the filling never comes again, so that nothing
//!    but ten failed delays would end it. Creating threads is rare and seen by the runtime for nothing.
//! 8. The policies of 3.4 and 3.5 do not delay the only thread there is ([`Tsvd::watch_threads`]): nobody can come. The
//!    buffer of 3.4.3 still holds the points of threads that were joined just before, and a pair of an earlier run is
//!    dangerous before the first thread is created.
//! 9. A point that taught nothing gives its thread a pass for the next ones like it, which then are not looked at while
//!    nothing can come of it, so that hot code costs little; nor is anything that the only thread of a process does. See
//!    `passes`, which says what that may lose.
//!
//! # Extensions
//! The policy `tsvd` has these beside the paper's rules; [`Params::paper`] is without, and so are
//! the other policies. None has a say in what is reported.
//! 1. **Joins.** What a thread did is no near miss of what its joiner does afterwards, nor of what a thread does that the
//!    joiner creates afterwards: deviation 7 from the other side, at the same price. Main reads what its threads have
//!    made in nearly every test, and what it reads last is near to what they did last, so that a second run begins with ten
//!    delays for nothing. `technique::JOINS`.
//! 2. **Renewal.** One near miss is worth one delay at each end of the pair. In the paper a pair is delayed until its
//!    probability is gone, although its partner has not come by since: a table that is filled once costs every reader ten
//!    delays. A pair that does meet has near misses all the time. An end of a pair from an earlier run is delayed again, at
//!    doubling times, while the other end has not been reached. And one end is held at a time. See `trap_set`.
//!    `technique::RENEWAL`.
//! 3. **Short first delays.** The first delay of a pair is δ·delay, without which inference sees nothing, and twice as
//!    long as the two were apart, for the partner to come; later ones are whole. Inference asks for the same gap as ever.
//!    `technique::SHORT_FIRST`.
//! 4. **Widening.** A stretch without a delay widens the window to a part of its length: where nothing nearer
//!    is to be tried, what is further apart is. The next delay ends that, so that far pairs can not take more than their
//!    part of the time. `Params::widening`.
//! 5. **Patience.** A pair that came no nearer than half a delay is delayed for twice as long as it was apart, up to so many
//!    delays. It pays for it: the caps count time, and so does decay. `Params::patience`.
//! 6. **Prompt ends.** A gap is blamed on a delay only if the access follows its end within δ·delay, as that of a thread
//!    does that has waited, and a patient delay must have made a gap of δ of its own length. In the paper a thread whose calls
//!    are far apart anyway is taken to wait for every delay. `technique::PROMPT`.
//! 7. **Rest.** A pair that left the trap set as ordered or decayed is left alone in the next runs too. That is for the
//!    caller: [`Tsvd::seed`] takes pairs in any state.
//! 8. **Work.** A gap that is blamed on a delay begins no earlier than the piece of work that the thread is at, where the caller
//!    tells of those ([`Tsvd::work_begins`]). In the paper a thread of a pool that had nothing to do while another was held is
//!    taken to have waited for it, and two short tasks that meet once a round are taken to be ordered.
//!
//! # Example
//! Two threads use a map: a near miss, a delay, a catch.
//! ```
//! use raddle_tsvd::{Host, Params, Point, Tsvd, Violation};
//!
//! struct Log(Vec<Violation>);
//! impl Host for Log {
//!     fn violation(&mut self, violation: &Violation) { self.0.push(*violation) }
//! }
//!
//! const MS: u64 = 1_000_000;
//! let (tsvd, mut log) = (Tsvd::boxed(&Params::default()), Log(Vec::new()));
//! let add = Point { thread: 0, site: 0, object: 0x7000, write: true };
//! let find = Point { thread: 1, site: 1, object: 0x7000, write: false };
//! assert!(tsvd.on_call(1 * MS, &add, &mut log).is_none());
//! let delay = tsvd.on_call(3 * MS, &find, &mut log).expect("2 ms later: a near miss");
//! assert!(tsvd.trap_set(&delay, 0, &mut log));
//! tsvd.on_call(50 * MS, &add, &mut log);
//! assert!(tsvd.delay_done(103 * MS, &delay, &mut log), "somebody came while we slept");
//! assert_eq!((log.0[0].trapped, log.0[0].caller), (find, add));
//! ```
#![warn(missing_docs)]
#![cfg_attr(not(any(feature = "std", test)), no_std)]

mod budget;
mod clocks;
mod inference;
mod memory;
mod objects;
mod order;
mod params;
mod passes;
mod phase;
mod point;
mod sampler;
mod sites;
mod spin;
mod threads;
mod trap;
mod trap_set;
mod tsvd;

pub use memory::{ALIGN, SIZE};
pub use params::{MAX_HISTORY, ONE, Params, Policy, technique};
pub use passes::layout;
pub use point::{Delay, Host, Point, Violation};
pub use sites::{Coverage, MAX_SITES};
pub use trap_set::{PairState, TrapPair};
pub use tsvd::{Stats, Tsvd};
