//! One access to one granule, by the two ways there are: the general one and that of the probes
//! where only the accesses themselves count. Both are held against the rules of `check`, written
//! down plainly, on random granules: the same races, and the same slots afterwards.

use raddle_base::rng::Rng;
use raddle_rt::detect::check::{access, plain_access};
use raddle_rt::detect::range;
use raddle_rt::detect::testing::{self, ATOMIC, READ, SLOTS, epoch, sid};
use raddle_rt::detect::thread::{Thread, new_card};

use crate::{HB, HYBRID, isolated};

const GRANULES: usize = 200_000;
/// Epochs that each thread has come to.
const EPOCHS: u32 = 6;
const AT: usize = 0x5000_6000_0000;
const PC: usize = 0x5000_5000_0000;

type Slots = [u32; SLOTS];

#[derive(Clone, Copy, Debug)]
struct Access {
    write: bool,
    size: usize,
    byte: usize,
}

impl Access {
    fn any(random: &mut Rng) -> Access {
        let size = 1 << random.below(4);
        Access { write: random.one_in(2), size, byte: random.below(8) as usize / size * size }
    }

    fn slot(self, state: u32) -> u32 {
        let bytes = ((1u32 << self.size) - 1) << self.byte;
        state | bytes | if self.write { 0 } else { READ }
    }
}

fn thread() -> Box<Thread> {
    let mut t = testing::blank();
    t.start(new_card(0, 0), (0, 0));
    while epoch(t.state) < EPOCHS {
        t.publish();
        t.advance();
    }
    t
}

/// Slots of all threads and kinds; often those that an access to whole words would leave.
fn any_slots(random: &mut Rng, threads: &[u32]) -> Slots {
    let filled = random.below(SLOTS as u32 + 1) as usize;
    let words = random.one_in(2);
    core::array::from_fn(|lane| {
        if lane >= filled && !random.one_in(8) {
            return 0;
        }
        let state = threads[random.below(threads.len() as u32) as usize] & 0xff00;
        let kind = [0, READ, READ, ATOMIC, READ | ATOMIC][random.below(5) as usize];
        let bytes = if words { 0xff } else { 1 + random.below(0xff) };
        kind | state | (1 + random.below(EPOCHS)) << 16 | bytes
    })
}

/// What the rules say: the slots that race with `current`, and the granule afterwards. `None`: any
/// slot may have to go.
fn expected(t: &Thread, slots: Slots, current: u32) -> (Vec<u32>, Option<Slots>) {
    let before = |o: u32| t.clock.get(sid(o)) >= epoch(o);
    let own = |o: u32| sid(o) == sid(current);
    let within = |o: u32| o & !current & 0xff == 0;
    let (write, whole) = (current & READ == 0, current & 0xff == 0xff);
    let conflicts = |o: u32| o & current & 0xff != 0 && !own(o) && (write || o & READ == 0);
    let races: Vec<u32> = slots.into_iter().filter(|o| conflicts(*o) && !before(*o)).collect();
    if write && whole && races.is_empty() {
        return (races, Some([current, 0, 0, 0]));
    }
    let (mut slots, alone, mut current) = (slots, current, current);
    for slot in slots.iter_mut().filter(|o| **o != 0) {
        let is_twin = (*slot ^ current) & !0xff == 0;
        if is_twin {
            current |= *slot & 0xff;
        }
    }
    for slot in slots.iter_mut().filter(|o| **o != 0) {
        let is_twin = (*slot ^ current) & !0xff == 0;
        let is_weaker = own(*slot) && *slot & !alone & 0xff == 0 && (write || *slot & READ != 0);
        if is_twin || is_weaker {
            *slot = 0;
        }
    }
    let choices: [&dyn Fn(u32) -> bool; 4] =
        [&|o| o == 0, &|o| before(o) && within(o), &|o| o & ATOMIC != 0, &before];
    for wanted in choices {
        let of = |kind: u32| slots.iter().position(|o| wanted(*o) && *o & kind == kind);
        if let Some(lane) = of(READ).or_else(|| of(0)) {
            slots[lane] = current;
            return (races, Some(slots));
        }
    }
    (races, None)
}

fn by<const SIZE: usize>(t: &mut Thread, a: Access, plain: bool) {
    let (address, slots) = (AT + a.byte, testing::slots_at(AT));
    match (a.write, plain) {
        (true, true) => plain_access::<true, SIZE>(t, address, PC, slots),
        (false, true) => plain_access::<false, SIZE>(t, address, PC, slots),
        (true, false) => access::<true, SIZE>(testing::handle(t), address, PC),
        (false, false) => access::<false, SIZE>(testing::handle(t), address, PC),
    }
}

/// The slots that were told of, and the granule afterwards.
fn found(t: &mut Thread, slots: Slots, a: Access, plain: bool) -> (Vec<u32>, Slots) {
    testing::set_slots(AT, slots);
    testing::take_races();
    match a.size {
        1 => by::<1>(t, a, plain),
        2 => by::<2>(t, a, plain),
        4 => by::<4>(t, a, plain),
        _ => by::<8>(t, a, plain),
    }
    (testing::take_races().iter().map(|race| race.other).collect(), testing::slots(AT))
}

fn both_ways_keep_the_rules() {
    let (mut t, others) = (thread(), [thread(), thread()]);
    let states = [t.state, t.state, others[0].state, others[1].state];
    let mut random = Rng::new(17);
    let (mut racy, mut own, mut full) = (0, 0, 0);
    for _ in 0..GRANULES {
        for other in &others {
            t.clock.set(other.sid(), [0, EPOCHS, random.below(EPOCHS + 1)][random.below(3) as usize]);
        }
        let (slots, a) = (any_slots(&mut random, &states), Access::any(&mut random));
        let (races, after) = expected(&t, slots, a.slot(t.state));
        for plain in [true, false] {
            let (found, is) = found(&mut t, slots, a, plain);
            assert_eq!(found, races, "{a:?} on {slots:08x?}, plain: {plain}");
            if let Some(after) = after {
                assert_eq!(is, after, "{a:?} on {slots:08x?}, plain: {plain}");
            }
        }
        racy += u32::from(!races.is_empty());
        own += u32::from(slots.iter().all(|o| *o == 0 || sid(*o) == t.sid()));
        full += u32::from(slots.iter().all(|o| *o != 0));
    }
    assert!([racy, own, full].iter().all(|n| *n > 1000), "{racy} {own} {full}");
}

#[test]
fn probes_and_the_general_way_keep_the_rules() {
    isolated("granule::probes_and_the_general_way_keep_the_rules", HB, both_ways_keep_the_rules);
}

/// A range leaves in each granule what an access to its part of it leaves.
fn a_range_is_its_granules() {
    const LONGEST: u32 = 6;
    let (mut t, other) = (thread(), thread());
    let states = [t.state, t.state, other.state];
    let mut random = Rng::new(18);
    t.clock.set(other.sid(), EPOCHS);
    for _ in 0..GRANULES / 10 {
        let granules = 1 + random.below(LONGEST) as usize;
        let mut before: Vec<Slots> = (0..granules).map(|_| any_slots(&mut random, &states)).collect();
        let whole = Access { write: random.one_in(2), size: 8, byte: 0 }.slot(t.state);
        // Some that say so already.
        before.iter_mut().for_each(|slots| {
            if random.one_in(2) {
                slots[random.below(4) as usize] = whole & !(if random.one_in(4) { READ } else { 0 });
            }
        });
        let write = whole & READ == 0;
        let at = |i: usize| AT + 8 * i;
        let put = || before.iter().enumerate().for_each(|(i, slots)| testing::set_slots(at(i), *slots));
        let all = || (0..granules).map(|i| testing::slots(at(i))).collect::<Vec<Slots>>();
        put();
        for (i, slots) in before.iter().enumerate() {
            let is_recorded = slots.iter().any(|o| *o | whole & READ == whole);
            match write {
                _ if is_recorded => {}
                true => access::<true, 8>(testing::handle(&mut t), at(i), PC),
                false => access::<false, 8>(testing::handle(&mut t), at(i), PC),
            }
        }
        let singly = all();
        put();
        match write {
            true => range::access::<true>(testing::handle(&mut t), AT, 8 * granules, PC),
            false => range::access::<false>(testing::handle(&mut t), AT, 8 * granules, PC),
        }
        assert_eq!(all(), singly, "{before:08x?}, write: {write}");
    }
}

#[test]
fn a_range_leaves_what_its_granules_leave() {
    isolated("granule::a_range_leaves_what_its_granules_leave", HYBRID, a_range_is_its_granules);
}
