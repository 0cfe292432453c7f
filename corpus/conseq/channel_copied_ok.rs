// expect: nothing
// A thread sends through a sender of its own. Who drops the last handle frees the channel, and comes
// after all others have dropped theirs.

use std::sync::mpsc::channel;
use std::thread;

fn main() {
    let (sender, receiver) = channel::<u32>();
    let own = sender.clone();
    let thread = thread::spawn(move || own.send(1).is_ok());
    drop(sender);
    drop(receiver);
    thread.join().unwrap();
}
