// expect: assertion
//@ bound: 0
// A receiver that is gone: send().unwrap() panics in the thread, and main's join().unwrap() passes it on.
// Fails when: main drops the receiver before the thread sends.
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

fn main() {
    let (sender, receiver) = channel();
    let t = thread::spawn(move || {
        sender.send(1).unwrap(); // expect: assertion here
    });
    let got = receiver.recv_timeout(Duration::from_secs(5)).unwrap_or(0);
    drop(receiver);
    t.join().unwrap(); // expect: assertion here
    assert!(got <= 1);
}
