// expect: nothing
// Many wait for one std Mutex, some of them behind a Condvar, one gives up at once: who comes late gets it all the same.
use std::sync::{Condvar, Mutex};
use std::thread;

static STATE: Mutex<(u32, bool)> = Mutex::new((0, false));
static OPEN: Condvar = Condvar::new();

fn main() {
    let waiters: Vec<_> = (0..2)
        .map(|_| {
            thread::spawn(|| {
                let mut state = STATE.lock().unwrap();
                while !state.1 {
                    state = OPEN.wait(state).unwrap();
                }
                state.0 += 1;
            })
        })
        .collect();
    let adds = thread::spawn(|| {
        if let Ok(mut state) = STATE.try_lock() {
            state.0 += 10;
        } else {
            STATE.lock().unwrap().0 += 10;
        }
        STATE.lock().unwrap().1 = true;
        OPEN.notify_all();
    });
    waiters.into_iter().for_each(|t| t.join().unwrap());
    adds.join().unwrap();
    assert_eq!(*STATE.lock().unwrap(), (12, true));
}
