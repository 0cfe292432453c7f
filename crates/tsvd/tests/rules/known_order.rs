//! Extension 9: what the caller knows to be ordered.

use raddle_tsvd::technique::KNOWN_ORDER;
use raddle_tsvd::{Host, Params, Past, Policy, Span, Tsvd, Violation};

use crate::world::{MS, OBJECT, read, write};

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
