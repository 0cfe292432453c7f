// Threads that panic: the mutex is poisoned and goes on to be used, the payload travels through join, the guard unlocks while
// unwinding, catch_unwind catches. Silent in every mode.
// expect: nothing
use std::panic;
use std::sync::{Mutex, PoisonError};
use std::thread;

static TOTAL: Mutex<Vec<u64>> = Mutex::new(Vec::new());

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let threads: Vec<_> = (0..6u64)
        .map(|id| {
            thread::spawn(move || {
                let mut total = TOTAL.lock().unwrap_or_else(PoisonError::into_inner);
                total.push(id);
                if id % 3 == 0 {
                    panic!("number {id}");
                }
                drop(total);
                let caught = panic::catch_unwind(|| {
                    let _hold = TOTAL.lock().unwrap_or_else(PoisonError::into_inner);
                    panic::panic_any(id);
                });
                *caught.unwrap_err().downcast::<u64>().unwrap()
            })
        })
        .collect();
    let (ok, failed): (Vec<_>, Vec<_>) = threads.into_iter().map(|t| t.join()).partition(Result::is_ok);
    assert_eq!((ok.len(), failed.len()), (4, 2));
    for f in failed {
        assert!(f.unwrap_err().downcast::<String>().unwrap().starts_with("number"));
    }
    assert!(TOTAL.is_poisoned());
    TOTAL.clear_poison();
    assert_eq!(TOTAL.lock().unwrap().len(), 6);
}
