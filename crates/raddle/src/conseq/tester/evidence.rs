//! What the executions say about a suspect that no consequence answers.

use raddle_conseq::SiteKind;

use super::{AIMED, ENOUGH, Reason, Searched};
use raddle_harness::check::Check;

/// What is known about one suspect after all executions.
pub struct Evidence {
    /// In how many executions it came about without harm.
    pub harmless: u32,
    /// It came about, and what became of it is not known: the execution was cut off, or what it
    /// showed does not count.
    pub is_unclear: bool,
    /// It is about a loop that may go on for ever, and an execution in which it came about was cut
    /// off: that may be the harm.
    pub may_hang: bool,
    /// It is about freed memory.
    pub frees: bool,
    /// The number of executions aimed at it that came to the program's end.
    pub tried_to_end: u64,
    /// The number of all executions that did.
    pub ended: u64,
    pub searched: Searched,
    /// See [`super::Tester::is_sound`].
    pub is_sound: bool,
}

impl Evidence {
    /// Why it is refuted; `None` if it is not.
    pub fn reason(&self) -> Option<Reason> {
        let is_long = self.ended >= ENOUGH || self.searched == Searched::AllItCan;
        let was_forced = self.tried_to_end >= AIMED && is_long;
        match self.harmless {
            _ if self.may_hang => None,
            0 if self.is_unclear => None,
            0 if self.searched == Searched::Everything => Some(Reason::Impossible),
            0 if self.frees && self.is_sound => Some(Reason::Impossible),
            0 if was_forced && !self.frees => Some(Reason::Infeasible),
            0 => None,
            _ => Some(Reason::Harmless),
        }
    }
}

/// Whether an execution with this result says that suspects of such a site did no harm in it. The
/// program came to its end, so no assertion failed. Of all that is unusual only the first thing is
/// looked for: lines before invariants, and messages before output.
pub fn is_beside(check: &Check, site: Option<SiteKind>) -> bool {
    let Some(site) = site else { return false };
    let ends_program = matches!(site, SiteKind::Assert | SiteKind::Loop | SiteKind::Memory);
    ends_program || matches!(check, Check::Invariant(_)) && site != SiteKind::Invariant
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried() -> Evidence {
        Evidence {
            harmless: 0,
            is_unclear: false,
            may_hang: false,
            frees: false,
            tried_to_end: AIMED,
            ended: ENOUGH,
            searched: Searched::InPart,
            is_sound: false,
        }
    }

    #[test]
    fn what_never_came_about_is_refuted_if_enough_executions_came_to_their_end() {
        assert_eq!(tried().reason(), Some(Reason::Infeasible));
        let failed_early = [
            Evidence { tried_to_end: AIMED - 1, ..tried() },
            Evidence { ended: ENOUGH - 1, ..tried() },
            Evidence { frees: true, ..tried() },
        ];
        assert!(failed_early.iter().all(|e| e.reason().is_none()));
        let searched = Searched::Everything;
        let all = Evidence { tried_to_end: 0, ended: 9, searched, ..tried() };
        assert_eq!(all.reason(), Some(Reason::Impossible));
    }

    #[test]
    fn a_loop_that_was_cut_off_is_not_harmless_because_it_ended_elsewhere() {
        let ended_once = Evidence { harmless: 3, is_unclear: true, ..tried() };
        assert_eq!(ended_once.reason(), Some(Reason::Harmless));
        assert_eq!(Evidence { may_hang: true, ..ended_once }.reason(), None);
    }

    #[test]
    fn what_came_about_is_never_called_impossible() {
        for searched in [Searched::InPart, Searched::AllItCan, Searched::Everything] {
            assert_eq!(Evidence { is_unclear: true, searched, ..tried() }.reason(), None);
            let harmless = Evidence { is_unclear: true, harmless: 1, searched, ..tried() };
            assert_eq!(harmless.reason(), Some(Reason::Harmless));
        }
    }
}
