// thread::park and unpark as the only order there is: a token is left with release and taken with acquire. A cell goes to and fro.
// Silent in every mode. (The flag against spurious returns is relaxed on purpose.)
// expect: nothing
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

struct Cell(UnsafeCell<u64>);
unsafe impl Sync for Cell {}
static BALL: Cell = Cell(UnsafeCell::new(0));
static TURN: AtomicUsize = AtomicUsize::new(0);

fn play(me: usize, other: thread::Thread) {
    for round in 0..300 {
        // The first turn is main's. Later ones begin with a token, never with the flag alone, which would order nothing.
        while me + round > 0 {
            thread::park();
            if TURN.load(Relaxed) == me {
                break;
            }
        }
        unsafe { *BALL.0.get() += 1 };
        TURN.store(1 - me, Relaxed);
        other.unpark();
    }
}

fn main() {
    let main = thread::current();
    let partner = thread::spawn(move || play(1, main));
    play(0, partner.thread().clone());
    partner.join().unwrap();
    thread::park(); // the partner's last token
    thread::park_timeout(Duration::from_millis(1)); // and none is left
    assert_eq!(unsafe { *BALL.0.get() }, 600);
}
