//! Data races in fixed storage, held against the definition: two accesses that conflict, and
//! neither happened before the other.

use proptest::prelude::*;
use raddle_explore::races::{CALLERS, Deed, GranuleAccess, Races, number};
use raddle_explore::stale::{AtomicObject, AtomicOrder, Model};

/// What a thread of a random execution does.
#[derive(Clone, Copy, Debug)]
enum Event {
    Plain { address: u64, bytes: u8, write: bool },
    Free { address: u64 },
    Release { object: u64 },
    Acquire { object: u64 },
    Store { order: AtomicOrder },
    Load { order: AtomicOrder },
    Rmw { order: AtomicOrder },
}

const FLAG: u64 = 0x1000;

/// The detector with its clocks, as the runtime puts them together.
struct Detector {
    model: Box<Model>,
    races: Box<Races>,
    flag: u128,
}

/// Memory full of zeros, too large for a stack.
///
/// # Safety
/// Zeros are a value of the type.
unsafe fn zeroed<T>() -> Box<T> {
    let layout = std::alloc::Layout::new::<T>();
    // SAFETY: the layout of the type, which has a size.
    unsafe { Box::from_raw(std::alloc::alloc_zeroed(layout).cast()) }
}

impl Detector {
    fn new() -> Detector {
        // SAFETY: zeros are an empty model, and an empty detector.
        let (model, races) = unsafe { (zeroed(), zeroed()) };
        let mut detector = Detector { model, races, flag: 0 };
        detector.begin();
        detector
    }

    fn begin(&mut self) {
        self.model.reset();
        self.races.reset();
        self.flag = 0;
    }

    /// The event of number `id`, and the number of an earlier one that it races with.
    fn event(&mut self, thread: usize, event: Event, id: u64) -> Option<u64> {
        let count = self.model.clock(thread).unwrap().next(thread);
        let flag = AtomicObject { address: FLAG, size: 8, value: self.flag };
        let (deed, address, bytes) = match event {
            Event::Plain { address, bytes, write } => {
                (if write { Deed::Write } else { Deed::Read }, address, bytes)
            }
            Event::Free { address } => (Deed::Free, address, 0xff),
            Event::Release { object } => {
                self.model.release(thread, object);
                return None;
            }
            Event::Acquire { object } => {
                self.model.acquire(thread, object);
                return None;
            }
            Event::Store { order } => {
                self.flag += 1;
                self.model.store(thread, flag, order, self.flag);
                (Deed::Store, FLAG, 0xff)
            }
            Event::Load { order } => {
                self.model.load(thread, flag, order, 0);
                (Deed::Load, FLAG, 0xff)
            }
            Event::Rmw { order } => {
                self.flag += 1;
                self.model.rmw(thread, flag, order, self.flag);
                (Deed::Store, FLAG, 0xff)
            }
        };
        let now = self.model.clock(thread).unwrap();
        let new = GranuleAccess::new(thread, count, id as u32, deed).of(bytes);
        let frames = |to: &mut [u64; 1 + CALLERS]| to[0] = id;
        self.races.access(address, new, now, frames).map(|old| old.frames[0])
    }
}

/// The definition, by sets: what each event comes after.
#[derive(Default)]
struct Definition {
    /// Events before the next one of each thread, by number.
    before: Vec<Vec<bool>>,
    objects: std::collections::HashMap<u64, Vec<bool>>,
    /// What the newest value of the flag carries.
    carried: Vec<bool>,
    done: Vec<(usize, Event)>,
}

fn join(to: &mut Vec<bool>, from: &[bool]) {
    to.resize(to.len().max(from.len()), false);
    to.iter_mut().zip(from).for_each(|(t, f)| *t |= f);
}

/// Address, bytes, whether it writes, whether it is atomic.
fn access_of(event: Event) -> Option<(u64, u8, bool, bool)> {
    match event {
        Event::Plain { address, bytes, write } => Some((address, bytes, write, false)),
        Event::Free { address } => Some((address, 0xff, true, false)),
        Event::Store { .. } | Event::Rmw { .. } => Some((FLAG, 0xff, true, true)),
        Event::Load { .. } => Some((FLAG, 0xff, false, true)),
        Event::Release { .. } | Event::Acquire { .. } => None,
    }
}

impl Definition {
    /// All earlier events with which this one races.
    fn event(&mut self, thread: usize, event: Event) -> Vec<u64> {
        self.before.resize(self.before.len().max(thread + 1), Vec::new());
        let carried = self.carried.clone();
        match event {
            Event::Acquire { object } => {
                let released = self.objects.get(&object).cloned().unwrap_or_default();
                join(&mut self.before[thread], &released);
            }
            Event::Load { order } | Event::Rmw { order } if order.acquires() => {
                join(&mut self.before[thread], &carried);
            }
            _ => {}
        }
        let races = self.races(thread, event);
        self.done.push((thread, event));
        let before = &mut self.before[thread];
        before.resize(self.done.len(), false);
        *before.last_mut().unwrap() = true;
        let before = before.clone();
        match event {
            Event::Release { object } => join(self.objects.entry(object).or_default(), &before),
            Event::Store { order } => self.carried = if order.releases() { before } else { Vec::new() },
            Event::Rmw { order } if order.releases() => join(&mut self.carried, &before),
            _ => {}
        }
        races
    }

    fn races(&self, thread: usize, event: Event) -> Vec<u64> {
        let Some((at, bytes, writes, atomic)) = access_of(event) else { return Vec::new() };
        let conflicts = |other: &(usize, Event)| {
            other.0 != thread
                && access_of(other.1).is_some_and(|(a, b, w, at2)| {
                    a == at && b & bytes != 0 && (w || writes) && !(at2 && atomic)
                })
        };
        let ordered = |i: usize| self.before[thread].get(i).copied().unwrap_or(false);
        (0..self.done.len()).filter(|i| conflicts(&self.done[*i]) && !ordered(*i)).map(|i| i as u64).collect()
    }
}

fn order() -> impl Strategy<Value = AtomicOrder> {
    prop_oneof![
        Just(AtomicOrder::Relaxed),
        Just(AtomicOrder::Acquire),
        Just(AtomicOrder::Release),
        Just(AtomicOrder::AcqRel)
    ]
}

fn event() -> impl Strategy<Value = Event> {
    let address = prop_oneof![Just(0x100u64), Just(0x108), Just(FLAG)];
    let bytes = prop_oneof![Just(0x0fu8), Just(0xf0), Just(0xff)];
    prop_oneof![
        6 => (address.clone(), bytes, any::<bool>())
            .prop_map(|(address, bytes, write)| Event::Plain { address, bytes, write }),
        1 => address.prop_map(|address| Event::Free { address }),
        3 => (1..3u64).prop_map(|object| Event::Release { object }),
        3 => (1..3u64).prop_map(|object| Event::Acquire { object }),
        1 => order().prop_map(|order| Event::Store { order }),
        1 => order().prop_map(|order| Event::Load { order }),
        1 => order().prop_map(|order| Event::Rmw { order }),
    ]
}

proptest! {
    /// Whatever is forgotten, what is reported is a race; and the detector of a second execution
    /// knows nothing of the first.
    #[test]
    fn only_races_are_reported(events in prop::collection::vec((0..4usize, event()), 1..60)) {
        let mut detector = Detector::new();
        for _ in 0..2 {
            detector.begin();
            let mut definition = Definition::default();
            for (id, (thread, event)) in events.iter().enumerate() {
                let races = definition.event(*thread, *event);
                let found = detector.event(*thread, *event, id as u64);
                prop_assert!(found.is_none_or(|f| races.contains(&f)), "{found:?} of {races:?}");
            }
        }
    }

    /// Two threads and whole words: nothing has to be forgotten, and every word that is raced on is
    /// found.
    #[test]
    fn no_racy_word_is_missed(events in prop::collection::vec((0..2usize, event()), 1..60)) {
        let whole = |event| match event {
            Event::Plain { address, write, .. } => Event::Plain { address: address & 0xfff, bytes: 0xff, write },
            Event::Free { address } => Event::Free { address: address & 0xfff },
            other => other,
        };
        let (mut detector, mut definition) = (Detector::new(), Definition::default());
        let (mut racy, mut found) = (Vec::new(), Vec::new());
        for (id, (thread, event)) in events.iter().enumerate() {
            let event = whole(*event);
            let at = access_of(event).map(|a| a.0);
            if !definition.event(*thread, event).is_empty() {
                racy.extend(at);
            }
            if detector.event(*thread, event, id as u64).is_some() {
                found.extend(at);
            }
        }
        for words in [&mut racy, &mut found] {
            words.sort_unstable();
            words.dedup();
        }
        prop_assert_eq!(racy, found);
    }
}

#[test]
fn where_there_is_no_room_races_are_missed_and_none_is_made_up() {
    let mut detector = Detector::new();
    detector.begin();
    let write = |address| Event::Plain { address, bytes: 0xff, write: true };
    for granule in 1..100_000u64 {
        assert_eq!(detector.event(0, write(granule * 8), granule), None);
    }
    // The last is at hand for certain.
    assert_eq!(detector.event(1, write(99_999 * 8), 1), Some(99_999));
}

#[test]
fn a_race_has_one_number_whichever_end_comes_first() {
    assert_eq!(number(0x1000, 0x2000), number(0x2000, 0x1000));
    assert_ne!(number(0x1000, 0x2000), number(0x1000, 0x2008));
}
