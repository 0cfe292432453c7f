//! Each bug that the random scripts have found, as the shortest script that shows it, and beside it
//! one that differs in the point in question and must come out the other way.

use raddle_race::AtomicOp::{self, CompareExchange, Load, Rmw, Store};
use raddle_race::LockMode;
use raddle_race::MemoryOrder::{Acquire, Relaxed, Release};
use raddle_rt::detect::Settings;

use crate::both::play;
use crate::script::Step;
use crate::{HB, HYBRID, isolated};

const FLAG: u64 = 256;

fn read(at: u64) -> Step {
    Step::Access { at, size: 4, write: false }
}

fn write(at: u64) -> Step {
    Step::Access { at, size: 4, write: true }
}

fn flag(op: AtomicOp) -> Step {
    Step::Atomic { at: FLAG, size: 4, op }
}

fn compare_exchange(succeeded: bool) -> Step {
    flag(CompareExchange { success: Relaxed, failure: Relaxed, succeeded })
}

#[track_caller]
fn expect(races: u64, script: &[(usize, Step)]) {
    match play(&script.to_vec()) {
        Ok(tally) => assert_eq!(tally.fast, races, "events with a race"),
        Err(difference) => panic!("{difference}"),
    }
}

macro_rules! regressions {
    ($($(#[$doc:meta])* $name:ident: $settings:expr, $body:expr;)*) => {$(
        $(#[$doc])*
        #[test]
        fn $name() {
            const SETTINGS: Settings = $settings;
            isolated(concat!("regressions::", stringify!($name)), SETTINGS, || $body);
        }
    )*};
}

regressions! {
    /// It counted as a write, and so raced with reads.
    a_compare_exchange_that_fails_is_a_read: HB, {
        expect(0, &[(0, compare_exchange(false)), (1, read(FLAG))]);
        expect(0, &[(1, read(FLAG)), (0, compare_exchange(false))]);
        expect(1, &[(0, compare_exchange(true)), (1, read(FLAG))]);
        expect(1, &[(0, compare_exchange(false)), (1, write(FLAG))]);
    };

    /// Only the first head of an object was known; a later one's own relaxed store took its
    /// sequence for another's.
    every_release_update_heads_a_sequence: HB, {
        let told = |last: AtomicOp| {
            let sequence = [(0, flag(Store(Release))), (1, write(0)), (1, flag(Rmw(Release))), (1, flag(last))];
            sequence.into_iter().chain([(2, flag(Load(Acquire))), (2, read(0))]).collect::<Vec<_>>()
        };
        expect(0, &told(Store(Relaxed)));
        expect(0, &told(Rmw(Relaxed)));
        let mut broken = told(Store(Relaxed));
        broken[3].0 = 3;
        expect(1, &broken);
    };

    /// The fence's clock made the object look as if it had a head already.
    a_release_update_behind_a_fenced_one_heads_a_sequence: HB, expect(0, &[
        (0, Step::Fence(Release)),
        (0, flag(Rmw(Relaxed))),
        (0, write(0)),
        (0, flag(Rmw(Release))),
        (0, flag(Store(Relaxed))),
        (1, flag(Load(Acquire))),
        (1, read(0)),
    ]);

    /// Four threads use a barrier for two. Thread 1 was woken and not yet run when the next but one
    /// phase began, which took the place of its own.
    a_slow_thread_passes_with_the_clock_of_its_phase: HB, {
        let arrive = |thread: usize| (thread, Step::Arrive);
        expect(0, &[(0, write(0)), arrive(0), arrive(1), arrive(2), arrive(3), arrive(2), (1, read(0))]);
        expect(1, &[(0, write(0)), arrive(0), arrive(1), arrive(2), arrive(3), arrive(2), (3, read(0))]);
    };

    /// What the lock knew was replaced by what the stranger had seen.
    a_lock_let_go_by_a_stranger_keeps_what_it_knew: HB, expect(0, &[
        (0, Step::Lock(0, LockMode::Write)),
        (0, write(0)),
        (0, Step::Unlock(0)),
        (1, Step::Lock(0, LockMode::Write)),
        (2, Step::UnlockForAnother(0)),
        (3, Step::Lock(0, LockMode::Write)),
        (3, read(0)),
    ]);

    /// No bug: random scripts seldom come here. Thread 1 has seen all of thread 0 but its last
    /// segment when it ends.
    a_sid_is_not_taken_up_by_a_thread_that_has_not_seen_its_end: HB, {
        let unseen = |written: usize| {
            let mut script = vec![(0, Step::Signal(0)), (1, Step::Wait(0))];
            script.insert(written, (0, write(0)));
            // Numbers move up behind the one that ends, so 0 is thread 1 now, and 3 its child.
            script.extend([(1, Step::End { thread: 0, joined: false }), (0, Step::Create), (3, read(0))]);
            script
        };
        expect(0, &unseen(0));
        expect(1, &unseen(2));
    };

    /// No bug: where the detector finds more. Thread 1's write is superseded by thread 0's, which
    /// holds the lock and comes after; the machine forgets it, and the detector has room for both.
    a_superseded_access_is_found_while_there_is_room: HYBRID, {
        let handed_on = |size: u64| [
            (1, write(0)),
            (1, Step::Signal(0)),
            (0, Step::Wait(0)),
            (0, Step::Lock(0, LockMode::Write)),
            (0, Step::Access { at: 0, size, write: true }),
            (0, Step::Unlock(0)),
            (2, Step::Lock(0, LockMode::Write)),
            (2, write(0)),
        ];
        expect(1, &handed_on(4));
        // A write to the whole granule leaves no other slot.
        expect(0, &handed_on(8));
    };

    /// No bug: where the detector knows more order, because thread 0 has not synchronised since the
    /// flush. Nobody has released anything into what it waits for.
    a_wait_that_learns_nothing_leaves_a_thread_behind: HYBRID, {
        expect(0, &[
            (0, Step::WearOut),
            (4, Step::Flush),
            (2, Step::Create),
            (4, Step::Access { at: 8, size: 9, write: false }),
            (0, Step::Wait(1)),
            (0, Step::Access { at: 15, size: 9, write: true }),
        ]);
    };
}
