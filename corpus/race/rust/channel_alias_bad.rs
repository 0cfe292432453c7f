// A pointer is sent through a channel and the sender goes on writing through its own copy. The channel orders what came before the
// send. Every mode reports. (The receiver polls, so that hybrid has none of the channel's own locks to think about.)
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

static STEP: AtomicUsize = AtomicUsize::new(0); // relaxed: fixes the order of the run, synchronises nothing
fn reached(n: usize) {
    STEP.store(n, Relaxed);
}
fn until(n: usize) {
    while STEP.load(Relaxed) < n {
        thread::sleep(Duration::from_micros(100));
    }
}

/// Both threads run before either goes on: inside std, the end of one thread may come before the start of another.
fn both_started() {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    static STARTED: AtomicUsize = AtomicUsize::new(0);
    STARTED.fetch_add(1, Relaxed);
    while STARTED.load(Relaxed) < 2 {
        std::thread::yield_now();
    }
}

fn main() {
    let block = Box::into_raw(Box::new([0u64; 8])) as usize;
    let (tx, rx) = mpsc::channel::<usize>();
    let sender = thread::spawn(move || {
        both_started();
        let p = block as *mut u64;
        unsafe { *p = 1 };
        tx.send(block).unwrap();
        unsafe { *p.add(4) = 2 };                       // expect: data-race write #1
        reached(1);
        tx // dropped here, it would be seen by the receiver, which orders the two
    });
    let receiver = thread::spawn(move || {
        both_started();
        until(1);
        let p = rx.try_recv().unwrap() as *mut u64;
        assert_eq!(unsafe { *p + *p.add(4) }, 3);       // expect: data-race read #1
    });
    receiver.join().unwrap();
    drop(sender.join().unwrap());
    drop(unsafe { Box::from_raw(block as *mut [u64; 8]) });
}
