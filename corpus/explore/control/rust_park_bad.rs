// expect: deadlock
//@ bound: 1
// Two conditions, one token: a second park swallows the token that was meant for the first.
// Fails when: the sleeper is preempted before it parks for as long as main sleeps: one token is left for two parks.
use std::thread;

fn main() {
    let sleeper = thread::spawn(|| {
        thread::park();
        thread::park(); // expect: deadlock here
    });
    sleeper.thread().unpark();
    thread::sleep(std::time::Duration::from_millis(10)); // by now it has parked again, usually
    sleeper.thread().unpark();
    sleeper.join().unwrap(); // expect: deadlock here
}
