// mpsc::channel with a receiver that polls: slots and blocks of the channel are ordered by acquire and release alone, so that this is
// silent in every mode, with boxes as payload.
// expect: nothing
use std::sync::mpsc::{self, TryRecvError};
use std::thread;

fn main() {
    let (tx, rx) = mpsc::channel::<Box<[u64; 4]>>();
    let senders: Vec<_> = (0..3u64)
        .map(|id| {
            let tx = tx.clone();
            thread::spawn(move || (0..500).for_each(|i| tx.send(Box::new([id, i, id + i, 0])).unwrap()))
        })
        .collect();
    drop(tx);
    let mut received = 0;
    loop {
        match rx.try_recv() {
            Ok(mut message) => {
                assert_eq!(message[0] + message[1], message[2]);
                message[3] = 1;
                received += 1;
            }
            Err(TryRecvError::Empty) => thread::yield_now(),
            Err(TryRecvError::Disconnected) => break,
        }
    }
    assert_eq!(received, 1500);
    senders.into_iter().for_each(|t| t.join().unwrap());
}
