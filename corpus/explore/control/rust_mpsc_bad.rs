// expect: deadlock
//@ bound: 0
//@ always
// main keeps a sender of its own while it waits for the channel to end.
use std::sync::mpsc::channel;
use std::thread;

fn main() {
    let (sender, receiver) = channel();
    let theirs = sender.clone();
    let t = thread::spawn(move || theirs.send(1).unwrap());
    let sum: i32 = receiver.iter().sum(); // expect: deadlock here
    t.join().unwrap();
    drop(sender);
    assert_eq!(sum, 1);
}
