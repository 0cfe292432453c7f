//! What a point costs that is not delayed: `cargo bench -p raddle-tsvd`. The runtime adds the save
//! of registers and the reading of the clock; all together should stay below 150 ns, of which this
//! is to be less than half. A point in a hot loop, which goes by with a pass, is to cost a few
//! nanoseconds.

use std::hint::black_box;
use std::sync::Barrier;

use raddle_tsvd::{ApiPoint, Host, PairState, Params, Policy, TrapPair, Tsvd, Violation};

struct Silent;

impl Host for Silent {
    fn violation(&mut self, _: &Violation) {}
    fn relax(&mut self) {
        std::thread::yield_now();
    }
}

const POINTS: u64 = 5_000_000;

/// Nanoseconds of a processor that this thread has had: what others do on the machine is not in it.
fn processor_time() -> u64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split(' ').next().and_then(|nanos| nanos.parse().ok()).expect("Linux tells the time of a thread")
}

/// Nanoseconds a point, the most of `threads` threads that make them at once. A point is
/// `point(thread, i)`.
fn cost(policy: Policy, threads: u32, passes: bool, point: impl Fn(u32, u64) -> ApiPoint + Sync) -> f64 {
    let tsvd = Tsvd::boxed(&Params { chance: 0, ..Params::new(policy) });
    // Known pairs: the look-up is made and nothing is delayed.
    for (site_a, site_b) in (0..8).flat_map(|a| (a..8).map(move |b| (a, b))) {
        let pair = TrapPair { site_a, site_b, probability: 0, state: PairState::Found, gap: 0 };
        assert!(tsvd.seed(&pair, &mut Silent));
    }
    let barrier = Barrier::new(threads as usize);
    let took = |thread: u32| {
        barrier.wait();
        let start = processor_time();
        for i in 0..POINTS {
            if passes && tsvd.passes(black_box(&point(thread, i)), false) {
                continue;
            }
            black_box(tsvd.on_call(1 + i, black_box(&point(thread, i)), &mut Silent).is_none());
        }
        (processor_time() - start) as f64 / POINTS as f64
    };
    std::thread::scope(|scope| {
        let took = &took;
        let handles: Vec<_> = (0..threads).map(|thread| scope.spawn(move || took(thread))).collect();
        handles.into_iter().map(|handle| handle.join().expect("it does not fail")).fold(0.0, f64::max)
    })
}

fn main() {
    let own = |thread: u32, i: u64| ApiPoint {
        thread,
        site: thread * 4 + (i % 4) as u32,
        object: 1 + u64::from(thread) * 1000 + i % 100,
        write: i.is_multiple_of(4),
    };
    let shared = |thread: u32, i: u64| ApiPoint { object: 77, ..own(thread, i) };
    println!("nanoseconds a point, none delayed");
    for policy in Policy::ALL {
        let cost =
            |threads, point: &(dyn Fn(u32, u64) -> ApiPoint + Sync)| cost(policy, threads, false, point);
        println!("{:16} one thread, 100 objects        {:6.1}", policy.name(), cost(1, &own));
        println!("{:16} two threads, objects their own {:6.1}", policy.name(), cost(2, &own));
        println!("{:16} two threads, one object        {:6.1}", policy.name(), cost(2, &shared));
    }
    println!("with passes, policy tsvd");
    let few = |thread: u32, i: u64| ApiPoint { object: 0x1000 * (u64::from(thread) + 1), ..own(thread, i) };
    for (what, threads, point) in [
        ("one object each", 2, &few as &(dyn Fn(u32, u64) -> ApiPoint + Sync)),
        ("one object of both, settled", 2, &shared),
    ] {
        println!("{what:47} {:6.1}", cost(Policy::Tsvd, threads, true, point));
    }
}
