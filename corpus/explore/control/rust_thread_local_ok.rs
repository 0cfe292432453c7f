// expect: nothing
// thread_local! values are each thread's own; their destructors run before join returns.
use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

static DROPPED: AtomicUsize = AtomicUsize::new(0);

struct Log(Vec<u32>);
impl Drop for Log {
    fn drop(&mut self) {
        DROPPED.fetch_add(self.0.len(), SeqCst);
    }
}

thread_local! {
    static LOG: RefCell<Log> = const { RefCell::new(Log(Vec::new())) };
}

fn work(n: u32) {
    LOG.with_borrow_mut(|log| {
        assert!(log.0.is_empty());
        log.0.push(n);
    });
    thread::yield_now();
    LOG.with_borrow(|log| assert_eq!(log.0, [n]));
}

fn main() {
    let threads: Vec<_> = (1..=2).map(|n| thread::spawn(move || work(n))).collect();
    for t in threads {
        t.join().unwrap();
    }
    assert_eq!(DROPPED.load(SeqCst), 2);
    LOG.with_borrow(|log| assert!(log.0.is_empty()));
}
