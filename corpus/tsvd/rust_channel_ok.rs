// expect: nothing
// Results go through a channel; one thread collects them.
use std::collections::BTreeMap;
use std::sync::mpsc;

#[path = "work.rs"]
mod work;

fn main() {
    let (send, receive) = mpsc::channel();
    let workers: Vec<_> = (0..2u32)
        .map(|id| {
            let send = send.clone();
            std::thread::spawn(move || {
                let mut own = Vec::new();
                for i in 0..240 {
                    work::work(4);
                    own.push(i);
                    send.send((id * 1000 + i, own.len())).unwrap();
                }
            })
        })
        .collect();
    drop(send);
    let mut all = BTreeMap::new();
    for (key, value) in receive {
        all.insert(key, value);
    }
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    assert_eq!(all.len(), 480);
}
