// thread_local! values with destructors that run at the thread's end, before join returns: plain cells, a lazily made RefCell, and
// one that reports to a shared list. Their storage is used again by later threads. Silent in every mode.
// expect: nothing
use std::cell::{Cell, RefCell};
use std::sync::Mutex;
use std::thread;

static ENDED: Mutex<Vec<u64>> = Mutex::new(Vec::new());

struct Note(u64);
impl Drop for Note {
    fn drop(&mut self) {
        ENDED.lock().unwrap().push(self.0);
    }
}

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static LOG: RefCell<Vec<String>> = RefCell::new(Vec::new());
    static NOTE: RefCell<Option<Note>> = const { RefCell::new(None) };
}

fn main() {
    for round in 0..20 {
        let threads: Vec<_> = (0..4)
            .map(|id| {
                thread::spawn(move || {
                    NOTE.with(|n| *n.borrow_mut() = Some(Note(id)));
                    for i in 0..50 {
                        COUNT.set(COUNT.get() + 1);
                        LOG.with_borrow_mut(|l| l.push(format!("{id}: {i}")));
                    }
                    (COUNT.get(), LOG.with_borrow(|l| l.len()))
                })
            })
            .collect();
        for t in threads {
            assert_eq!(t.join().unwrap(), (50, 50));
        }
        assert_eq!(ENDED.lock().unwrap().len(), (round + 1) * 4);
    }
}
