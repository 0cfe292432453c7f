//! Extension 9: what the caller knows to be ordered.

use raddle_tsvd::technique::KNOWN_ORDER;
use raddle_tsvd::{Host, ONE, PairState, Params, Past, Policy, Span, TrapPair, Tsvd, Violation};

use crate::world::{MS, OBJECT, OTHER, read, write};

/// A thread that holds a lock, if not zero, and knows of a past.
#[derive(Default)]
struct Knows {
    lock: u64,
    past: Past,
}

impl Host for Knows {
    fn mark(&mut self) -> u64 {
        self.lock
    }

    fn is_ordered(&mut self, thread: u32, time: u64, mark: u64) -> bool {
        self.past.has(thread, time) || mark != 0 && mark == self.lock
    }

    fn violation(&mut self, _: &Violation) {}
}

/// Thread 1 writes and then thread 2 reads. Whether that is a dangerous pair.
fn is_dangerous(techniques: u32, mut first: Knows, mut second: Knows) -> bool {
    let mut params = Params::paper(Policy::Tsvd);
    params.techniques |= techniques;
    let tsvd = Tsvd::boxed(&params);
    _ = tsvd.on_call(10 * MS, &write(1, 1, OBJECT), &mut first);
    let delay = tsvd.on_call(12 * MS, &read(2, 2, OBJECT), &mut second);
    assert_eq!(delay.is_some(), tsvd.pairs().count() > 0);
    delay.is_some()
}

fn holding(lock: u64) -> Knows {
    Knows { lock, ..Knows::default() }
}

#[test]
fn two_calls_that_hold_one_lock_are_no_near_miss() {
    assert!(!is_dangerous(KNOWN_ORDER, holding(7), holding(7)));
    assert!(is_dangerous(KNOWN_ORDER, holding(7), holding(8)));
    assert!(is_dangerous(KNOWN_ORDER, holding(0), holding(0)));
    assert!(is_dangerous(0, holding(7), holding(7)), "the paper looks at no synchronisation");
}

#[test]
fn what_happened_before_is_no_near_miss() {
    let knows = |since: u64, until: u64| {
        let mut past = Past::default();
        past.add(Span { thread: 1, since: since * MS, until: until * MS });
        Knows { past, ..Knows::default() }
    };
    assert!(!is_dangerous(KNOWN_ORDER, Knows::default(), knows(10, 11)));
    assert!(is_dangerous(KNOWN_ORDER, Knows::default(), knows(5, 9)), "it goes on after the release");
    assert!(is_dangerous(KNOWN_ORDER, Knows::default(), knows(11, 12)), "another piece of work");
}

/// Figure 6: thread 1 is held from 100 to 200 ms, and thread 2 goes on at 201 ms. If it is known
/// that it has waited for thread 1, that is no reason to take all calls at the two sites for
/// ordered.
#[test]
fn a_wait_that_is_known_infers_nothing() {
    let state = |since: u64, until: u64| {
        let mut params = Params::paper(Policy::Tsvd);
        params.techniques |= KNOWN_ORDER;
        let tsvd = Tsvd::boxed(&params);
        let pair = TrapPair { site_a: 1, site_b: 2, probability: ONE, gap: 0, state: PairState::Dangerous };
        let (mut first, mut second) = (Knows::default(), Knows::default());
        assert!(tsvd.seed(&pair, &mut first));
        _ = tsvd.on_call(90 * MS, &read(2, 8, OTHER), &mut second);
        let delay = tsvd.on_call(100 * MS, &write(1, 1, OBJECT), &mut first).expect("it is dangerous");
        assert!(tsvd.trap_set(&delay, 0, &mut first) && !tsvd.delay_done(200 * MS, &delay, &mut first));
        second.past.add(Span { thread: 1, since: since * MS, until: until * MS });
        _ = tsvd.on_call(201 * MS, &write(2, 2, OTHER), &mut second);
        tsvd.pairs().next().unwrap().state
    };
    assert_eq!(state(99, 201), PairState::Dangerous);
    assert_eq!(state(99, 199), PairState::Ordered, "it has waited for something else");
    assert_eq!(state(0, 0), PairState::Ordered);
}

/// A thread that has waited for thread 1 by chance, or not.
struct Waits(bool);

impl Host for Waits {
    fn has_waited_by_chance(&mut self, thread: u32, _: u64) -> bool {
        self.0 && thread == 1
    }

    fn violation(&mut self, _: &Violation) {}
}

/// Thread 1 writes and then thread 2 reads, which has waited for it by chance if `explained`. Then
/// each round thread 1 is held at a new object, and thread 2, which has waited for that, reads it
/// five times. Where the pair stands.
fn wait_by_chance(rounds: u64, explained: bool) -> (PairState, u32) {
    let mut params = Params::paper(Policy::Tsvd);
    params.techniques |= KNOWN_ORDER;
    let tsvd = Tsvd::boxed(&params);
    let (mut first, mut second) = (Waits(false), Waits(true));
    assert!(tsvd.on_call(80 * MS, &write(1, 1, OBJECT), &mut first).is_none());
    let near_miss = tsvd.on_call(81 * MS, &read(2, 2, OBJECT), &mut Waits(explained));
    tsvd.refuse(&near_miss.expect("it is dangerous"));
    let (mut now, mut made) = (90, 0);
    while made < rounds {
        now += 10;
        let object = OTHER + 0x1000 * now;
        if let Some(delay) = tsvd.on_call(now * MS, &write(1, 1, object), &mut first) {
            assert!(tsvd.trap_set(&delay, 0, &mut first));
            now += 100;
            assert!(!tsvd.delay_done(now * MS, &delay, &mut first));
            made += 1;
            for _ in 0..5 {
                now += 1;
                if let Some(delay) = tsvd.on_call(now * MS, &read(2, 2, object), &mut second) {
                    tsvd.refuse(&delay);
                }
            }
        }
    }
    let pair = tsvd.pairs().find(|pair| (pair.site_a, pair.site_b) == (1, 2)).unwrap();
    (pair.state, pair.probability)
}

#[test]
fn a_wait_by_chance_makes_a_pair_less_likely_and_settles_it_only_when_it_recurs() {
    assert_eq!(wait_by_chance(1, true), (PairState::Dangerous, ONE / 2));
    assert_eq!(wait_by_chance(2, true).0, PairState::Decayed);
}

#[test]
fn a_near_miss_that_no_wait_explains_is_not_doubted() {
    assert_eq!(wait_by_chance(1, false), (PairState::Dangerous, ONE / 10 * 9));
    assert_eq!(wait_by_chance(2, false), (PairState::Dangerous, ONE / 10 * 8));
}
