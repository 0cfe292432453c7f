// expect: nothing
// OnceLock, LazyLock and Once: initialised once, seen by all.
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{LazyLock, Once, OnceLock};
use std::thread;

static CALLS: AtomicUsize = AtomicUsize::new(0);
static CELL: OnceLock<u32> = OnceLock::new();
static LAZY: LazyLock<String> = LazyLock::new(|| {
    CALLS.fetch_add(1, SeqCst);
    "lazy".to_string()
});
static ONCE: Once = Once::new();

fn main() {
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let value = CELL.get_or_init(|| {
                    CALLS.fetch_add(1, SeqCst);
                    42
                });
                assert_eq!(*value, 42);
                assert_eq!(LAZY.len(), 4);
                ONCE.call_once(|| {
                    CALLS.fetch_add(1, SeqCst);
                });
                assert!(ONCE.is_completed());
            });
        }
    });
    assert_eq!(CALLS.load(SeqCst), 3);
}
