// expect: nothing
// RwLock: readers together, a writer alone; try_read and try_write answer according to the schedule.
use std::sync::RwLock;
use std::thread;

static PAIR: RwLock<(u32, u32)> = RwLock::new((0, 0));

fn main() {
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut pair = PAIR.write().unwrap();
            pair.0 += 1;
            pair.1 += 1;
        });
        scope.spawn(|| {
            let pair = PAIR.read().unwrap();
            assert_eq!(pair.0, pair.1);
        });
        scope.spawn(|| {
            if let Ok(pair) = PAIR.try_read() {
                assert_eq!(pair.0, pair.1);
            }
        });
    });
    assert_eq!(*PAIR.read().unwrap(), (1, 1));
    assert!(PAIR.try_write().is_ok());
}
