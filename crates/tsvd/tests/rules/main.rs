//! Each rule of section 3.4, with the paper's figure as the scenario where it has one; one rule a file. Time is simulated.

mod caps;
mod decay;
mod inference;
mod near_misses;
mod phases;
mod policies;
mod traps;
mod when;
mod world;
