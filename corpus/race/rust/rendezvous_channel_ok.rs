// A channel without room hands each message over from the sender's stack: the receiver finds its address in a list,
// under the lock under which the sender has put it there. `channel_alias_bad.rs` is the twin.
// expect(hb hybrid): nothing
// expect(fast): anything
use std::sync::mpsc::sync_channel;
use std::thread;

fn main() {
    let (sender, receiver) = sync_channel::<Box<[u64; 2]>>(0);
    let threads: Vec<_> = (0..2u64)
        .map(|id| {
            let sender = sender.clone();
            thread::spawn(move || (0..20).for_each(|i| sender.send(Box::new([id, i])).unwrap()))
        })
        .collect();
    drop(sender);
    let sum: u64 = receiver.iter().map(|mut message| {
        message[0] += message[1];
        message[0]
    }).sum();
    threads.into_iter().for_each(|t| t.join().unwrap());
    assert_eq!(sum, 20 + 2 * 190);
}
