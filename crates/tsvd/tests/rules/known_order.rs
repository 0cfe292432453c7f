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

/// Figure 6: thread 1 is held from 100 to 200 ms, and thread 2 goes on at 201 ms. If it is known that
/// it has waited for thread 1, that is no reason to take all calls at the two sites for ordered.
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
