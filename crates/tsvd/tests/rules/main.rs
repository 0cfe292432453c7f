//! Each rule of section 3.4, with the paper's figure as the scenario where it has one; one rule a
//! file. Time is simulated.

mod caps;
mod decay;
mod inference;
mod joins;
mod known_order;
mod near_misses;
mod passes;
mod patience;
mod phases;
mod policies;
mod prompt;
mod renewal;
mod short_first;
mod traps;
mod when;
mod widening;
mod world;
