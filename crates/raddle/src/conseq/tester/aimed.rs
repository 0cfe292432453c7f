//! The executions that are aimed at suspects.
//!
//! Suspects of one write and one read differ only in the error site that they lead to, and share
//! their executions. The rounds go over all suspects, so that if time is short each was tried
//! before one is tried twice. The first rounds combine suspects of different memory in one
//! execution: in most programs their threads do not wait for each other, and all of them come
//! about. What such executions do not bring about is tried by itself. Before all that, chance decides
//! for as long as it brings about many suspects at once (`by_chance`).

use std::collections::BTreeMap;

use anyhow::Result;
use raddle_conseq::suspects::{Instead, Suspect};
use raddle_explore::{Constraint, Order, Tail};

use super::realized::bytes;
use super::{AIMED, HARMLESS, Tester};

/// How many pairs one execution of the first rounds is aimed at.
const TOGETHER: usize = 8;
/// The most executions that are aimed at nothing.
const MOST_BY_CHANCE: u64 = 64;
/// How many aims such an execution must bring about for the first time to be worth it.
const MUCH: usize = TOGETHER / 2;
/// How many in a row may bring about fewer.
const POOR: u32 = 1;
/// How many such rounds there are. Each takes an eighth of the executions of a round of single
/// pairs.
const ROUNDS_TOGETHER: u64 = 4;

/// A write, or a release, that executions bring to a read.
#[derive(Debug, PartialEq, Eq)]
struct Aim {
    constraint: Constraint,
    frees: bool,
    suspects: Vec<usize>,
}

impl Aim {
    fn all(suspects: &[Suspect]) -> Vec<Aim> {
        let mut known: BTreeMap<(u64, u32, u32, u64, bool), usize> = BTreeMap::new();
        let mut aims: Vec<Aim> = Vec::new();
        for (i, s) in suspects.iter().enumerate() {
            let (c, frees) = (constraint(s), matches!(s.instead, Instead::Freed(_)));
            let key = (c.object, c.write, c.read, c.bytes.into(), frees);
            let at = *known.entry(key).or_insert(aims.len());
            match aims.get_mut(at) {
                Some(aim) => aim.suspects.push(i),
                None => aims.push(Aim { constraint: c, frees, suspects: vec![i] }),
            }
        }
        aims
    }

    fn order(&self, seed: u64) -> Order {
        // If one lock is around both, holding the access back keeps the release away. Then chance
        // may succeed.
        let by_chance = self.frees && seed.is_multiple_of(2);
        let tail = if by_chance { Tail::Pos { seed } } else { Tail::Constrained { seed } };
        together(&[self], tail)
    }
}

fn together(aims: &[&Aim], tail: Tail) -> Order {
    let mut order = Order::free(0, tail);
    order.constraints = aims.iter().map(|a| a.constraint).collect();
    order
}

/// The aims in groups for one execution each. No group has two of one piece of memory: their
/// threads would hold each other back.
fn groups<'a>(aims: impl Iterator<Item = &'a Aim>) -> Vec<Vec<&'a Aim>> {
    let mut groups: Vec<Vec<&Aim>> = Vec::new();
    for aim in aims {
        let fits = |g: &&mut Vec<&Aim>| {
            g.len() < TOGETHER && g.iter().all(|a| a.constraint.object != aim.constraint.object)
        };
        match groups.iter_mut().find(fits) {
            Some(group) => group.push(aim),
            None => groups.push(vec![aim]),
        }
    }
    groups
}

impl Tester<'_> {
    /// Executions that bring each suspect's write to its read.
    pub(super) fn aim(&mut self) -> Result<()> {
        let mut aims = Aim::all(self.suspects);
        self.by_chance(&aims)?;
        for seed in 0..ROUNDS_TOGETHER {
            // In another order, so that each is combined with others.
            aims.reverse();
            let left: Vec<&Aim> = aims.iter().filter(|aim| !self.has_come_about(aim)).collect();
            for group in groups(left.into_iter()).into_iter().filter(|g| g.len() > 1) {
                if !self.is_over() {
                    self.try_order(together(&group, Tail::Constrained { seed }))?;
                }
            }
        }
        for seed in 1..=AIMED {
            // Those that have not come about yet first.
            aims.sort_by_key(|aim| self.has_come_about(aim));
            for aim in &aims {
                if self.is_over() {
                    return Ok(());
                }
                if aim.suspects.iter().all(|i| self.is_shown(*i) || self.harmless(*i) >= HARMLESS) {
                    continue;
                }
                aim.suspects.iter().for_each(|i| self.tried[*i] += 1);
                // What was cut off, or failed, says nothing about what would have come after.
                if self.try_order(aim.order(seed))? {
                    aim.suspects.iter().for_each(|i| self.tried_to_end[*i] += 1);
                }
            }
        }
        Ok(())
    }

    /// Executions that are aimed at nothing, as long as each brings about much that is new. If many
    /// suspects are about one piece of memory, their aims do not go together, and chance brings
    /// about more of them at once.
    fn by_chance(&mut self, aims: &[Aim]) -> Result<()> {
        let (mut left, mut poor) = (self.left(aims), 0);
        for seed in 0..MOST_BY_CHANCE {
            if poor > POOR || left < MUCH || self.is_over() {
                break;
            }
            self.try_order(Order::free(0, Tail::Pos { seed }))?;
            let now = self.left(aims);
            poor = if left - now < MUCH { poor + 1 } else { 0 };
            left = now;
        }
        Ok(())
    }

    /// How many aims have not come about.
    fn left(&self, aims: &[Aim]) -> usize {
        aims.iter().filter(|aim| !self.has_come_about(aim)).count()
    }

    fn has_come_about(&self, aim: &Aim) -> bool {
        aim.suspects.iter().all(|i| self.harmless(*i) > 0 || self.is_shown(*i))
    }

    /// Returns whether the execution came to the program's end.
    fn try_order(&mut self, order: Order) -> Result<bool> {
        let Some(seen) = self.execute(order)? else { return Ok(false) };
        let has_ended = seen.has_ended();
        self.take(seen);
        Ok(has_ended)
    }
}

/// The constraint for the scheduler. Freeing memory counts as writing to it.
fn constraint(s: &Suspect) -> Constraint {
    let write = match s.instead {
        Instead::Write(w) | Instead::Freed(w) => w.site,
        Instead::Initial => 0,
    };
    let object = s.read.cell.address & !7;
    Constraint { object, write, read: s.read.site, wanted: 1, bytes: bytes(s).into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_conseq::event::{Cell, TraceEvent, What};
    use raddle_conseq::history::History;
    use raddle_conseq::suspects::{ErrorSite, Everything, find};

    /// A reader of each of `n` words, which another thread writes twice.
    fn suspects(n: u64) -> Vec<Suspect> {
        let cell = |i, value| Cell { address: 64 + 8 * i, size: 4, value, atomic: false };
        let write = |i, value| What::Write { cell: cell(i, value), before: Some(0), reads: false };
        let events = (0..n).flat_map(|i| {
            let event = |thread, site, what| TraceEvent { thread, site, what };
            [event(1, 1, write(i, 5)), event(1, 2, write(i, 6)), event(2, 3, What::Read(cell(i, 6)))]
        });
        let events: Vec<TraceEvent> = events.collect();
        let history = History::of(&events, &|_| false);
        let mut found = find(&history, &Everything, &|| false).suspects;
        // Places are the same for all words, and a list has each pair once.
        let first = found.clone();
        for i in 1..n {
            found.extend(first.iter().cloned().map(|mut s| {
                s.read.cell.address += 8 * i;
                s
            }));
        }
        found
    }

    #[test]
    fn error_sites_of_one_pair_share_their_executions() {
        let one = suspects(1);
        let sites = [None, Some(ErrorSite::Code(1)), Some(ErrorSite::Code(2))];
        let all: Vec<Suspect> =
            sites.iter().flat_map(|site| one.iter().cloned().map(|s| Suspect { site: *site, ..s })).collect();
        let aims = Aim::all(&all);
        assert_eq!(aims.len(), one.len());
        assert_eq!(aims[0].suspects, [0, one.len(), 2 * one.len()]);
    }

    #[test]
    fn one_execution_is_aimed_at_different_memory() {
        let all = suspects(TOGETHER as u64 + 1);
        let aims = Aim::all(&all);
        assert_eq!(aims.len(), 2 * (TOGETHER + 1), "two values for each word");
        let groups = groups(aims.iter());
        assert_eq!(groups.iter().map(Vec::len).sum::<usize>(), aims.len());
        assert_eq!(groups[0].len(), TOGETHER);
        for group in groups {
            let mut objects: Vec<u64> = group.iter().map(|a| a.constraint.object).collect();
            objects.dedup();
            assert_eq!(objects.len(), group.len());
        }
    }
}
