// Atomics by the book: release and acquire, fences on both sides, acquire fence after a relaxed load, a spin lock, a release
// sequence through a relaxed fetch_add. Silent in every mode.
// expect: nothing
use std::cell::UnsafeCell;
use std::sync::atomic::{fence, AtomicBool, AtomicUsize, Ordering::*};
use std::thread;

struct Cell(UnsafeCell<u64>);
unsafe impl Sync for Cell {}

fn publish(way: usize, data: &Cell, flag: &AtomicUsize) {
    unsafe { *data.0.get() = 42 };
    match way {
        0 | 2 => flag.store(1, Release),
        1 => {
            fence(Release);
            flag.store(1, Relaxed);
        }
        _ => {
            flag.fetch_add(1, AcqRel);
        }
    }
}

fn receive(way: usize, data: &Cell, flag: &AtomicUsize) {
    let order = if way == 0 || way == 3 { Acquire } else { Relaxed };
    while flag.load(order) == 0 {
        thread::yield_now();
    }
    fence(Acquire);
    assert_eq!(unsafe { *data.0.get() }, 42);
    flag.fetch_add(1, Relaxed); // goes on with the release sequence for the other reader
}

fn main() {
    for round in 0..120 {
        let (data, flag) = (Cell(UnsafeCell::new(0)), AtomicUsize::new(0));
        thread::scope(|s| {
            s.spawn(|| publish(round % 4, &data, &flag));
            s.spawn(|| receive(round % 4, &data, &flag));
            s.spawn(|| receive(round % 4, &data, &flag));
        });
    }
    let (held, count) = (AtomicBool::new(false), Cell(UnsafeCell::new(0)));
    thread::scope(|s| {
        for _ in 0..3 {
            s.spawn(|| {
                let (held, count) = (&held, &count);
                for _ in 0..500 {
                    while held.compare_exchange_weak(false, true, Acquire, Relaxed).is_err() {
                        thread::yield_now();
                    }
                    unsafe { *count.0.get() += 1 };
                    held.store(false, Release);
                }
            });
        }
    });
    assert_eq!(unsafe { *count.0.get() }, 1500);
}
