//! The values that the accesses of a failing execution read and wrote, for the picture of the
//! finding.
//!
//! Steps carry no values. So the schedule is executed once more with a trace of the accesses at its
//! own sites ([`raddle_wire::trace`]). Only the picture depends on that execution. Where it comes
//! out differently, or two accesses cannot be told apart, the picture has no value.

use std::collections::HashMap;

use raddle_explore::{Order, Step};
use raddle_finding::{Kind, Timeline};
use raddle_wire::trace::{self, Decoder, Recording};

use super::steps::pc_of;
use crate::crew::{Crew, Notes};
use crate::monitors::Observation;
use crate::places::Mapped;
use crate::verdict::Failure;
use crate::watch::{Traced, Watch};
use crate::worker::Recipe;

/// Room for the accesses of the execution.
const ROOM: u64 = 8 << 20;

/// A place in a thread's execution: the thread's number and the low half of the program counter.
type Site = (u16, u32);

/// The accesses at each site, in order.
type Seens = HashMap<Site, Vec<trace::TracedAccess>>;

/// Adds values to the steps of a timeline.
pub fn add(
    timeline: &mut Timeline,
    failure: &Failure,
    recipe: &Recipe,
    modules: &[Mapped],
    notes: &Notes,
    is_over: &(dyn Fn() -> bool + Sync),
) {
    // Each execution of these failures takes long.
    let slow = matches!(failure.kind, Kind::Hang | Kind::Livelock | Kind::Starvation);
    let steps = &failure.trace.steps;
    let ends = ends(failure);
    let sites = steps.iter().filter(|s| s.op.is_memory()).map(|s| s.op.site).chain(ends.iter().map(|e| e.1));
    let mut sites: Vec<u64> = sites.filter_map(|site| pc_of(modules, site)).collect();
    sites.sort_unstable();
    sites.dedup();
    if slow || sites.is_empty() || is_over() {
        return;
    }
    if let Some(seen) = traced(failure, recipe, sites, notes, is_over) {
        write(timeline, steps, &ends, &seen);
    }
}

/// The accesses of a race, the earlier one first.
fn ends(failure: &Failure) -> Vec<Site> {
    match &failure.facts.seen {
        Some(Observation::Race(race)) => {
            race.access.iter().rev().map(|a| (a.thread, a.frames[0] as u32)).collect()
        }
        _ => Vec::new(),
    }
}

/// Executes the schedule once more. `None` if it comes out differently.
fn traced(
    failure: &Failure,
    recipe: &Recipe,
    sites: Vec<u64>,
    notes: &Notes,
    is_over: &(dyn Fn() -> bool + Sync),
) -> Option<Seens> {
    let watch = Watch { trace: Some(Traced { mode: Recording::Table, sites, room: ROOM }), output: true };
    let points = failure.points.as_deref().unwrap_or(&recipe.points).to_vec();
    let flags = recipe.flags | failure.flags;
    let mut crew = Crew::new(Recipe { slots: 1, flags, points, watch, ..recipe.clone() }, notes, is_over);
    crew.post(Order::replay(failure.trace.view().choices()));
    let mut seen = None;
    while crew.in_flight() > 0 {
        let turn = crew.turn(&mut |_, e| {
            let same = |(a, b): (&Step, &Step)| {
                (a.thread, a.op.kind(), a.op.site) == (b.thread, b.op.kind(), b.op.site)
            };
            let steps = &failure.trace.steps;
            let alike = e.steps.len() == steps.len() && e.steps.iter().zip(steps).all(same);
            seen = e.watched.filter(|_| alike).map(|watched| accesses(watched.events().0));
        });
        if turn.is_err() {
            break;
        }
    }
    crew.stop();
    seen
}

fn accesses(stream: Decoder<'_>) -> Seens {
    let mut seen = Seens::new();
    let mut thread = 0;
    for event in stream {
        match event {
            trace::RecordedEvent::Thread(number) => thread = number,
            trace::RecordedEvent::Access(access) => {
                seen.entry((thread, access.site)).or_default().push(access)
            }
            trace::RecordedEvent::Shared(_) | trace::RecordedEvent::Step(_) => {}
        }
    }
    seen
}

/// Gives each step the value of its access: the nth step at a site is the nth access, if there are
/// as many steps as accesses.
fn write(timeline: &mut Timeline, steps: &[Step], ends: &[Site], seen: &Seens) {
    let mut number: HashMap<Site, usize> = HashMap::new();
    let mut values: Vec<Option<String>> = Vec::new();
    let count =
        |site: Site| steps.iter().filter(|s| s.op.is_memory() && (s.thread.0, s.op.site) == site).count();
    let mut counts: HashMap<Site, usize> = HashMap::new();
    for step in steps {
        let site = (step.thread.0, step.op.site);
        let of_site = seen.get(&site).filter(|_| step.op.is_memory() && !step.is_value());
        let of_site = of_site.filter(|all| *counts.entry(site).or_insert_with(|| count(site)) == all.len());
        values.push(of_site.and_then(|all| {
            let nth = number.entry(site).or_default();
            *nth += 1;
            all.get(*nth - 1).map(told)
        }));
    }
    let mut ends = ends.iter();
    for step in &mut timeline.steps {
        step.value = match step.step {
            Some(at) => values.get_mut(at as usize).and_then(Option::take),
            // An access that is not a step and happened once.
            None => ends.next().and_then(|site| match seen.get(site).map(Vec::as_slice) {
                Some([access]) => Some(told(access)),
                _ => None,
            }),
        };
    }
}

/// `3`, or `2 → 3` if the value before is known.
fn told(access: &trace::TracedAccess) -> String {
    let now = digits(access.value, access.size);
    match access.before.filter(|_| access.write) {
        Some(before) => format!("{} → {now}", digits(before, access.size)),
        None => now,
    }
}

/// The value as a reader would write it: small numbers with their sign, addresses in hexadecimal.
fn digits(value: u64, size: u8) -> String {
    const ADDRESSES: u64 = 1 << 32;
    match (value, size) {
        (value, 4) => (value as u32 as i32).to_string(),
        (value, 8) if (value as i64) < 0 && value as i64 > -(ADDRESSES as i64) => (value as i64).to_string(),
        (value, 8) if value > ADDRESSES => format!("{value:#x}"),
        (value, _) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_explore::{LogicalThread, Op, OpKind};
    use raddle_finding::TimelineStep;

    fn access(site: u32, value: u64, before: Option<u64>) -> trace::TracedAccess {
        let (write, size) = (before.is_some(), 4);
        trace::TracedAccess { site, address: 64, size, write, atomic: false, updates: false, value, before }
    }

    fn values(steps: &[Step], ends: &[Site], seen: &Seens) -> Vec<Option<String>> {
        let told = (0..steps.len()).map(|i| TimelineStep { step: Some(i as u64), ..Default::default() });
        let mut timeline = Timeline { steps: told.collect(), ..Timeline::default() };
        timeline.steps.extend(ends.iter().map(|_| TimelineStep::default()));
        write(&mut timeline, steps, ends, seen);
        timeline.steps.into_iter().map(|s| s.value).collect()
    }

    #[test]
    fn the_nth_step_at_a_site_has_the_nth_value() {
        let step = |thread, site| Step::bare(LogicalThread(thread), Op::new(OpKind::DataWrite, 64, site));
        let steps = [step(1, 7), step(2, 7), step(1, 7)];
        let seen = Seens::from([
            ((1, 7), vec![access(7, 1, Some(0)), access(7, 2, Some(1))]),
            ((2, 7), vec![access(7, u64::MAX, None)]),
            ((3, 9), vec![access(9, 5, None)]),
        ]);
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(values(&steps, &[(3, 9)], &seen), [some("0 → 1"), some("-1"), some("1 → 2"), some("5")]);
        let fewer = Seens::from([((1, 7), vec![access(7, 1, None)])]);
        assert_eq!(values(&steps, &[(3, 9)], &fewer), [None, None, None, None]);
    }

    #[test]
    fn numbers_are_written_as_their_reader_would() {
        assert_eq!(digits(0xffff_ffff, 4), "-1");
        assert_eq!(digits(u64::MAX, 8), "-1");
        assert_eq!(digits(0x7a00_0000_0010, 8), "0x7a0000000010");
        assert_eq!(digits(3, 1), "3");
    }
}
