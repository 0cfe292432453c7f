// std::sync::Barrier over many phases and a plain array. It is made of a Mutex and a Condvar, and the last to arrive never waits: the
// case of 6.4.1, so hybrid and fast may report unless they know the type. hb is silent.
// expect(hb): nothing
// expect(hybrid fast): anything
use std::cell::UnsafeCell;
use std::sync::Barrier;
use std::thread;

struct Cells(UnsafeCell<[u64; 4]>);
unsafe impl Sync for Cells {}

fn main() {
    let cells = Cells(UnsafeCell::new([0; 4]));
    let barrier = Barrier::new(4);
    let leaders: usize = thread::scope(|s| {
        let threads: Vec<_> = (0..4usize)
            .map(|id| {
                let (cells, barrier) = (&cells, &barrier);
                s.spawn(move || {
                    let mut led = 0;
                    for phase in 0..150 {
                        unsafe { (*cells.0.get())[(id + phase) % 4] += 1 };
                        led += barrier.wait().is_leader() as usize;
                        let sum: u64 = unsafe { (*cells.0.get()).iter().sum() };
                        assert_eq!(sum, 4 * (phase as u64 + 1));
                        barrier.wait();
                    }
                    led
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).sum()
    });
    assert_eq!(leaders, 150);
}
