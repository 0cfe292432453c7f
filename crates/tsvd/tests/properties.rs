//! What holds for all programs: random ones in simulated time, and real threads without any clock
//! at all.

mod simulation;

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};

use proptest::prelude::*;
use raddle_tsvd::{ApiPoint, Host, Params, Policy, Tsvd, Violation};
use simulation::{MS, Op, US, run};

fn policy() -> impl Strategy<Value = Policy> {
    prop::sample::select(&Policy::ALL[..])
}

/// A step of a program that keeps to locks: site, object and lock go together unless it is a wrong
/// program.
#[derive(Clone, Copy, Debug)]
struct Step {
    object: u64,
    write: bool,
    work: u64,
    site: u32,
    times: u8,
}

fn step() -> impl Strategy<Value = Step> {
    (1..5u64, any::<bool>(), 0..3000u64, 0..6u32, 1..8u8)
        .prop_map(|(object, write, work, site, times)| Step { object, write, work: work * US, site, times })
}

fn program(steps: &[Step], locked: bool) -> Vec<Op> {
    let mut ops = Vec::new();
    for step in steps {
        for _ in 0..step.times {
            let lock = step.object as usize;
            // A site always calls one operation.
            let write = step.write;
            let site = step.site * 2 + u32::from(write);
            ops.push(Op::Work(step.work));
            ops.extend(locked.then_some(Op::Lock(lock)));
            ops.push(Op::Call { site, object: step.object, write });
            ops.extend(locked.then_some(Op::Unlock(lock)));
        }
    }
    ops
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_report_is_of_a_thread_that_was_held_and_one_that_came(
        policy in policy(),
        seed in any::<u64>(),
        threads in prop::collection::vec(prop::collection::vec(step(), 1..12), 2..5),
    ) {
        let programs: Vec<Vec<Op>> = threads.iter().map(|steps| program(steps, false)).collect();
        let tsvd = Tsvd::boxed(&Params { seed, ..Params::new(policy) });
        let outcome = run(&tsvd, &programs);
        prop_assert_eq!(outcome.untrue, 0);
    }

    #[test]
    fn programs_that_lock_are_never_reported(
        policy in policy(),
        seed in any::<u64>(),
        threads in prop::collection::vec(prop::collection::vec(step(), 1..12), 2..5),
    ) {
        let programs: Vec<Vec<Op>> = threads.iter().map(|steps| program(steps, true)).collect();
        let tsvd = Tsvd::boxed(&Params { seed, ..Params::new(policy) });
        let outcome = run(&tsvd, &programs);
        prop_assert!(outcome.violations.is_empty());
    }

    #[test]
    fn no_cap_is_exceeded(
        policy in policy(),
        seed in any::<u64>(),
        caps in (0..10u64, 0..15u64, 0..20u64),
        threads in prop::collection::vec(prop::collection::vec(step(), 1..12), 2..5),
    ) {
        let programs: Vec<Vec<Op>> = threads.iter().map(|steps| program(steps, false)).collect();
        let params = Params {
            seed,
            decay: 0,
            chance: raddle_tsvd::ONE / 2,
            thread_cap: caps.0 * 100 * MS,
            test_cap: caps.1 * 100 * MS,
            run_cap: caps.2 * 100 * MS,
            ..Params::new(policy)
        };
        let outcome = run(&Tsvd::boxed(&params), &programs);
        prop_assert!(outcome.longest_held <= params.thread_cap);
        prop_assert!(outcome.held <= params.test_cap.min(params.run_cap));
    }

    #[test]
    fn the_same_program_and_seed_give_the_same_run(
        policy in policy(),
        seed in any::<u64>(),
        threads in prop::collection::vec(prop::collection::vec(step(), 1..12), 2..4),
    ) {
        let programs: Vec<Vec<Op>> = threads.iter().map(|steps| program(steps, false)).collect();
        let params = Params { seed, ..Params::new(policy) };
        let (one, two) = (run(&Tsvd::boxed(&params), &programs), run(&Tsvd::boxed(&params), &programs));
        prop_assert_eq!((one.violations, one.time), (two.violations, two.time));
    }
}

/// Two threads that each call every 3 ms, 200 times: `f` makes the body from the thread's number.
fn loops(body: impl Fn(u32) -> Vec<Op>) -> Vec<Vec<Op>> {
    (0..2)
        .map(|thread| {
            let mut ops = vec![Op::Work(u64::from(thread) * MS)];
            for _ in 0..200 {
                ops.push(Op::Work(3 * MS));
                ops.extend(body(thread));
            }
            ops
        })
        .collect()
}

#[test]
fn different_keys_of_one_map_are_caught_in_the_first_run() {
    let programs = loops(|thread| vec![Op::Call { site: thread, object: 7, write: thread == 0 }]);
    let outcome = run(&Tsvd::boxed(&Params::default()), &programs);
    assert_eq!(outcome.violations.iter().filter(|violation| !violation.repeated).count(), 1);
    assert!(outcome.time < 800 * MS, "600 ms and one delay: {} ms", outcome.time / MS);
}

#[test]
fn a_lock_costs_few_delays_with_inference_and_more_without() {
    let programs = loops(|_| vec![Op::Lock(1), Op::Call { site: 0, object: 7, write: true }, Op::Unlock(1)]);
    let with = Tsvd::boxed(&Params::default());
    run(&with, &programs);
    let params = Params {
        techniques: raddle_tsvd::technique::ALL & !raddle_tsvd::technique::HB_INFERENCE,
        ..Params::default()
    };
    let without = Tsvd::boxed(&params);
    run(&without, &programs);
    assert_eq!((with.stats().delays, without.stats().delays), (1, 10));
}

/// Three threads with hot loops on objects of their own and, now and then, a few calls on one that
/// they share: each call takes a microsecond.
fn hot_loops(seed: u64) -> Vec<Vec<Op>> {
    const SHARED: u64 = 0x7000;
    let mut state = seed;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % n
    };
    let mut thread = |number: u64| {
        let mut ops = vec![Op::Work(below(2000) * US)];
        let own = 0x1000 * (number + 1);
        for _ in 0..30 {
            for _ in 0..200 + below(1000) {
                ops.push(Op::Call { site: number as u32, object: own, write: true });
            }
            ops.push(Op::Work(below(20_000) * US));
            let site = 10 + (number * 2 + below(2)) as u32;
            for _ in 0..1 + below(50) {
                ops.push(Op::Call { site, object: SHARED, write: site.is_multiple_of(2) });
            }
        }
        ops
    };
    (0..3).map(&mut thread).collect()
}

#[test]
fn hot_code_hides_nothing() {
    let (mut passed, mut calls) = (0, 0);
    for seed in 0..20 {
        let programs = hot_loops(seed);
        let found = |all: bool| {
            let tsvd = Tsvd::boxed(&Params { seed, ..Params::default() });
            tsvd.want_all(all);
            let outcome = run(&tsvd, &programs);
            let all_calls = programs.iter().flatten().filter(|op| matches!(op, Op::Call { .. })).count();
            assert_eq!(tsvd.stats().points, all_calls as u64, "each call is counted once");
            let first = outcome.violations.iter().filter(|violation| !violation.repeated).count();
            (first, outcome.passed, all_calls)
        };
        let ((with, went_by, all_calls), (without, none, _)) = (found(false), found(true));
        assert!(none == 0 && without > 0);
        assert!(with >= without, "seed {seed}: {with} of {without}");
        (passed, calls) = (passed + went_by, calls + all_calls);
    }
    assert!(passed * 10 > calls * 9, "{passed} of {calls}");
}

/// Real threads without sleeping: what each thread says of itself is compared with what is reported
/// of it.
#[test]
fn threads_at_once_are_reported_only_while_they_are_held() {
    const THREADS: u32 = 4;
    /// The object each thread is held at; zero: none.
    static HELD: [AtomicU64; THREADS as usize] = [const { AtomicU64::new(0) }; THREADS as usize];
    static SEEN: AtomicU32 = AtomicU32::new(0);
    struct Witness;
    impl Host for Witness {
        fn violation(&mut self, violation: &Violation) {
            SEEN.fetch_add(1, SeqCst);
            let held = HELD[violation.trapped.thread as usize].load(SeqCst);
            assert_eq!(held, violation.trapped.object, "it cannot leave while this is looked at");
        }
        fn relax(&mut self) {
            std::thread::yield_now();
        }
    }
    let params = Params { delay: 1000, chance: raddle_tsvd::ONE / 3, ..Params::new(Policy::DynamicRandom) };
    let tsvd = Tsvd::boxed(&params);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let tsvd = &tsvd;
            scope.spawn(move || {
                for i in 0..20_000u64 {
                    let point = ApiPoint { thread, site: thread, object: 1 + i % 3, write: i % 2 == 0 };
                    let Some(delay) = tsvd.on_call(i + 1, &point, &mut Witness) else { continue };
                    HELD[thread as usize].store(point.object, SeqCst);
                    assert!(tsvd.trap_set(&delay, 0, &mut Witness));
                    std::thread::yield_now();
                    tsvd.delay_done(i + 1001, &delay, &mut Witness);
                    HELD[thread as usize].store(0, SeqCst);
                }
            });
        }
    });
    let stats = tsvd.stats();
    assert_eq!(stats.points, u64::from(THREADS) * 20_000);
    let found = tsvd.pairs().count() as u32;
    assert!(SEEN.load(SeqCst) >= found && found <= THREADS * (THREADS - 1) / 2);
}
