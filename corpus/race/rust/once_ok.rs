// Once, OnceLock and LazyLock raced for by many threads, also a Once whose first attempt panics. The completion is a release, every
// later use an acquire: arcs in every mode.
// expect: nothing
use std::cell::UnsafeCell;
use std::sync::{LazyLock, Once, OnceLock};
use std::thread;

struct Table(UnsafeCell<Vec<u64>>);
unsafe impl Sync for Table {}
static TABLE: Table = Table(UnsafeCell::new(Vec::new()));
static TABLE_ONCE: Once = Once::new();
static LAZY: LazyLock<Vec<u64>> = LazyLock::new(|| (0..500).collect());
static LOCK: OnceLock<String> = OnceLock::new();

fn table(i: usize) -> u64 {
    TABLE_ONCE.call_once_force(|_| unsafe { (*TABLE.0.get()).extend(0..100) });
    unsafe { (&*TABLE.0.get())[i] }
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let failed = thread::spawn(|| TABLE_ONCE.call_once(|| panic!("first attempt")));
    assert!(failed.join().is_err());
    thread::scope(|s| {
        for id in 0..4usize {
            s.spawn(move || {
                for i in 0..200usize {
                    assert_eq!(table((i + id) % 100), ((i + id) % 100) as u64);
                    assert_eq!(LAZY[i], i as u64);
                    assert_eq!(LOCK.get_or_init(|| "x".repeat(100)).len(), 100);
                }
            });
        }
    });
    let fresh = OnceLock::new();
    let winners: usize = thread::scope(|s| {
        let tries: Vec<_> = (0..4).map(|i| s.spawn({ let fresh = &fresh; move || fresh.set(vec![i; 10]).is_ok() as usize })).collect();
        tries.into_iter().map(|t| t.join().unwrap()).sum()
    });
    assert_eq!((winners, fresh.get().unwrap().len()), (1, 10));
}
