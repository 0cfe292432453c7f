//! How fast `raddle explore` searches, and how soon it finds a failure.
//!
//! There are two benches. *Speed* ([`speed`]) counts schedules a second on small tests: an
//! unmodified program in C and in Rust under raddle, and the same tests rewritten for shuttle and
//! for loom (the feature `peers`), in one run. *Effect* ([`effect`]) counts executions to the first
//! failure, after Thomson, Donaldson and Betts (*Concurrency testing using controlled schedulers:
//! an empirical study*, TOPC 2016): each wrong program of the effect suite under each strategy.
//!
//! What the figures promise:
//!
//! 1. **The whole search counts.** A rate is schedules divided by seconds, as
//!    `raddle explore --format json` states them, from the moment the command line has been parsed.
//!    It includes the first runs under the race detector and the start of the worker. Their time is
//!    stated beside it, from a search of one schedule. Minimising a failure comes after the search
//!    and is in no figure.
//! 2. **One core means one core.** In a pinned series the driver and the worker share one
//!    processor, as do the peers. The same series without a pin is given beside it, because users
//!    do not pin.
//! 3. **A test that fails continues.** Raddle has `--keep-going`. Shuttle and loom end at a
//!    failure, so the bench restarts them, with another seed where there is one, until their time
//!    is over.
//! 4. **Every execution counts.** Executions to the first failure include those in which raddle
//!    looks for racy accesses. `first_failure` includes these except for the one under the race
//!    detector, which is added here.
//! 5. **Noise only lowers rates.** Series take turns, and the best rate of the rounds counts.
//! 6. **Nothing is left out silently**, as in the bench of the race detector.

pub mod effect;
pub mod effect_report;
pub mod options;
pub mod peer;
pub mod search;
pub mod speed;
pub mod speed_report;
pub mod subject;
