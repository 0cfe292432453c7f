// expect: use-after-free
// A thread sends through a copy of a sender that the channel does not count.
// BUG: the channel is freed when all handles that it knows are gone, while the thread may use it.

use std::mem::ManuallyDrop;
use std::sync::mpsc::channel;
use std::thread;

fn main() {
    let (sender, receiver) = channel::<u32>();
    // SAFETY: none, the sender may be dropped first.
    let own = ManuallyDrop::new(unsafe { std::ptr::read(&sender) });
    let thread = thread::spawn(move || own.send(1).is_ok());
    drop(sender);
    drop(receiver);
    thread.join().unwrap();
}
