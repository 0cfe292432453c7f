//! Whether a search of the tester has executed every interleaving.
//!
//! A strategy with nothing left to do has executed every interleaving of its scheduling points. A
//! suspect is impossible only if these are all interleavings of the program: every racing access is
//! a scheduling point, and nothing happened that no schedule represents ([`gaps`]). If an access
//! that is not a point turns out to race, it becomes one, and the search restarts.

use std::collections::{HashMap, HashSet};

use raddle_explore::{Outcome, Progress};
use raddle_wire::explore::flag;

use raddle_harness::gaps::{self, Affair, gap};
use raddle_harness::places::{Mapped, Places};
use raddle_harness::point_code;
use raddle_harness::unseen::{self, CalledImports};
use raddle_harness::worker::{Execution, Recipe};

/// What keeps a search from being complete.
pub struct Completeness {
    gaps: u32,
    /// Hashes of the names of imported functions that were called.
    called: HashSet<u64>,
    affairs: HashMap<[u64; 2], Affair>,
    places: Places,
}

impl Completeness {
    pub fn new() -> Completeness {
        Completeness { gaps: 0, called: HashSet::new(), affairs: HashMap::new(), places: Places::new() }
    }

    /// Takes in an execution. Returns its racing accesses that are not scheduling points yet.
    pub fn observe(&mut self, e: &Execution<'_>, points: &[u64], modules: &[Mapped]) -> Vec<u64> {
        self.gaps |= gaps::gaps(e, e.view(Outcome::Passed));
        let called = (e.slot.called as usize).min(e.slot.called_names.len());
        self.called.extend(&e.slot.called_names[..called]);
        let mut new = Vec::new();
        for hidden in &e.slot.hidden[..(e.slot.hiddens as usize).min(e.slot.hidden.len())] {
            let (places, pcs) = (&mut self.places, hidden.access.map(|a| a.pc));
            // The order in which threads print decides nothing that a read could get.
            let affair = *self.affairs.entry(pcs).or_insert_with(|| gaps::affair(hidden, places, modules));
            if affair != Affair::TheProgram {
                continue;
            }
            let before = new.len();
            new.extend(gaps::new_points(hidden, points));
            if new.len() == before {
                self.gaps |= gap::UNORDERED;
            }
        }
        new
    }

    /// The search restarts with other points.
    pub fn begin_anew(&mut self) {
        self.gaps &= gap::LASTING;
    }

    /// Whether a search that got this far has executed every interleaving.
    pub fn holds(&self, progress: &Progress, recipe: &Recipe, modules: &[Mapped]) -> bool {
        let is_all = progress.exhausted && !progress.bounded && progress.lost == 0;
        is_all
            && self.gaps == 0
            // Machine code does not tell all of a program.
            && recipe.copy.is_none()
            // These were executed as one step.
            && !point_code::have_bit_field(&recipe.points, modules)
            && !point_code::have_copy(&recipe.points, modules)
            && point_code::silent_argument(modules).is_none()
            && recipe.flags & (flag::C11 | flag::PLAIN) == 0
            && modules.iter().all(gaps::is_known)
            && unseen::functions(modules, &CalledImports::Known(&self.called), None).is_empty()
    }
}
