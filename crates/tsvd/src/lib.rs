//! Where and when to delay a thread so that a thread-safety violation shows itself, after TSVD
//! (*Efficient and scalable thread-safety-violation detection: finding thousands of concurrency
//! bugs during testing*, SOSP 2019).
//!
//! A *point* is an imminent call of a thread-unsafe API: by a thread, from a call site, on an
//! object, reading or writing. The caller reports each point to [`Tsvd::on_call`]. Now and then the
//! answer is a delay: the thread sets a *trap* and sleeps. If another thread comes to a conflicting
//! point on the same object meanwhile, the trap is sprung: both threads are at calls that must not
//! overlap, and nothing about that is a guess.
//!
//! The paper is about which points are worth a delay (section 3.4): pairs of sites that had a *near
//! miss* (3.4.2), at least one of them in a *concurrent phase* (3.4.3), unless delays have shown
//! that they are *ordered* (3.4.4) or have failed too often (3.4.5). Planning and delaying happen
//! in the same run (3.4.6), and the next run starts with what this one learned ([`Tsvd::pairs`],
//! [`Tsvd::seed`]).
//!
//! # What is guaranteed
//! - A violation is reported only if both threads were at their points at the same time: one
//!   between [`Tsvd::trap_set`] and [`Tsvd::delay_done`], the other inside [`Tsvd::on_call`] or
//!   [`Tsvd::trap_set`]. Everything else may be approximate, and some of it is.
//! - No cap on delays is ever exceeded.
//! - The crate reads no clock, starts no thread, allocates nothing and calls only the caller's
//!   [`Host`]. It runs the same way inside the target and in a simulation.
//! - The same points at the same times with the same seed give the same answers.
//!
//! # Deviations from the paper
//! 1. The buffer of recent points is one word, which gives the same answers (see `phase`).
//! 2. The table of objects has a fixed size. If very many objects are in use at once, some
//!    histories are lost (see `objects`). Without windowing, "the entire history" is the last
//!    [`MAX_HISTORY`] accesses.
//! 3. A delay that has not ended is never blamed for a gap (see `inference`).
//! 4. Probabilities belong to pairs; that of a location is the greatest of its pairs. The paper
//!    gives them to locations, where a pair that cannot meet lowers the chances of another pair
//!    that shares a location with it.
//! 5. A pair that left the trap set does not enter it again in the same run (see `trap_set`).
//! 6. A thread that has just sprung a trap is not delayed at that point, as in the published
//!    implementation.
//! 7. What a thread did before it created another is no near miss of what the new thread does
//!    ([`Tsvd::on_fork`]). The paper ignores all synchronisation, so every table that is filled
//!    before its users start looks dangerous: the first points of a new thread look like a
//!    concurrent phase, and because the filling never recurs, only ten failed delays would end it.
//!    Thread creation is rare, and the runtime sees it anyway.
//! 8. The policies of 3.4 and 3.5 do not delay the only running thread ([`Tsvd::watch_threads`]):
//!    no other thread can come. Without this rule they would: the buffer of 3.4.3 still holds the
//!    points of threads that were joined just before, and a pair of an earlier run is dangerous
//!    before the first thread is created.
//! 9. A point that taught nothing gives its thread a pass for the next points like it. These are
//!    skipped while nothing can come of them, so hot code costs little. The points of a process's
//!    only thread are skipped, too. `passes` says what this may lose.
//!
//! # Extensions
//! The policy `tsvd` adds these to the paper's rules; [`Params::paper`] and the other policies do
//! not have them. None of them influences what is reported.
//! 1. **Joins.** What a thread did is no near miss of what its joiner does afterwards, nor of what
//!    threads do that the joiner creates afterwards. This mirrors deviation 7, at the same price.
//!    In nearly every test, main reads what its threads have made, and its reads are near to their
//!    last accesses. So a second run would begin with ten useless delays. `technique::JOINS`.
//! 2. **Renewal.** One near miss is worth one delay at each end of the pair. In the paper a pair is
//!    delayed until its probability is used up, although its partner has not come by since: a table
//!    that is filled once costs every reader ten delays. A pair that does meet has near misses all
//!    the time. An end of a pair from an earlier run is delayed again, at doubling intervals, while
//!    the other end has not been reached. Only one end is held at a time. See `trap_set`.
//!    `technique::RENEWAL`.
//! 3. **Short first delays.** The first delay of a pair is δ·delay, which inference needs, plus
//!    twice the distance of the two accesses, so that the partner can come. Later delays have the
//!    full length. Inference requires the same gap as before. `technique::SHORT_FIRST`.
//! 4. **Widening.** A period without a delay widens the window to a part of its length: if no
//!    nearer pair is left to try, more distant ones are. The next delay ends this, so distant pairs
//!    take no more than their part of the time. `Params::widening`.
//! 5. **Patience.** A pair that came no nearer than half a delay is delayed for twice its distance,
//!    up to a limit. Longer delays cost more: the caps count time, and so does decay.
//!    `Params::patience`.
//! 6. **Prompt ends.** A gap is blamed on a delay only if the access follows the end of the delay
//!    within δ·delay, as that of a waiting thread does, and a patient delay must have caused a gap
//!    of δ of its own length. In the paper, a thread whose calls are far apart anyway seems to wait
//!    for every delay. `technique::PROMPT`.
//! 7. **Rest.** A pair that left the trap set as ordered or decayed stays out of it in the next
//!    runs. This is the caller's part: [`Tsvd::seed`] takes pairs in any state.
//! 8. **Work.** If the caller reports pieces of work ([`Tsvd::work_begins`]), a gap that is blamed
//!    on a delay begins no earlier than the thread's current piece. In the paper, a thread of a
//!    pool that had nothing to do while another was held seems to have waited for it, and two short
//!    tasks that meet once a round seem to be ordered.
//! 9. **Known order.** The caller may know that two calls can never be under way at once: both hold
//!    one lock, or a task was waited for in between. Then they are no near miss
//!    ([`Host::is_ordered`]). In the paper inference learns this, at the price of a delay a pair.
//!    [`Past`] is what a caller needs for that. Inference and phases still decide about all other
//!    pairs, and a gap that a known wait explains infers nothing; one that a wait explains which
//!    need not be there the next time makes a pair less likely (see `inference`).
//!    `technique::KNOWN_ORDER`.
//! 10. **Last write.** Reads do not push an object's last write out of its history. In the paper a
//!     table that one thread fills once and then reads in a loop has nothing but reads in its
//!     history when the next thread comes, and two reads are no near miss.
//!     `technique::LAST_WRITE`.
//!
//! # Example
//! Two threads use a map: a near miss, a delay, a catch.
//! ```
//! use raddle_tsvd::{Host, Params, ApiPoint, Tsvd, Violation};
//!
//! struct Log(Vec<Violation>);
//! impl Host for Log {
//!     fn violation(&mut self, violation: &Violation) { self.0.push(*violation) }
//! }
//!
//! const MS: u64 = 1_000_000;
//! let (tsvd, mut log) = (Tsvd::boxed(&Params::default()), Log(Vec::new()));
//! let add = ApiPoint { thread: 0, site: 0, object: 0x7000, write: true };
//! let find = ApiPoint { thread: 1, site: 1, object: 0x7000, write: false };
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
mod past;
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
pub use past::{Past, Span};
pub use point::{ApiPoint, Delay, Host, Violation};
pub use sites::{MAX_SITES, SiteCoverage};
pub use trap_set::{PairState, TrapPair};
pub use tsvd::{Stats, Tsvd};
