// Arc: clones dropped by many threads, the last one runs the destructor; Weak upgrades; try_unwrap, get_mut, make_mut. The counts
// are release decrements with an acquire fence, which is an arc in every mode once fences are modelled.
// expect: nothing
use std::sync::Arc;
use std::thread;

struct Node(Vec<u64>);
impl Drop for Node {
    fn drop(&mut self) {
        self.0[0] += 1; // a write: ordered after every other owner's reads
        assert_eq!(self.0.iter().sum::<u64>(), 9);
    }
}

fn main() {
    for round in 0..100 {
        let node = Arc::new(Node(vec![1; 8]));
        let weak = Arc::downgrade(&node);
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let (node, weak) = (node.clone(), weak.clone());
                thread::spawn(move || {
                    assert_eq!(node.0[5], 1);
                    drop(node);
                    if let Some(node) = weak.upgrade() {
                        assert_eq!(node.0[6], 1);
                    }
                })
            })
            .collect();
        drop(node); // whoever is last destroys it
        threads.into_iter().for_each(|t| t.join().unwrap());
        assert!(weak.upgrade().is_none());

        let mut list = Arc::new(vec![round; 4]);
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let list = list.clone();
                thread::spawn(move || match Arc::try_unwrap(list) {
                    Ok(mut mine) => mine.push(1),
                    Err(shared) => assert_eq!(shared.len(), 4),
                })
            })
            .collect();
        Arc::make_mut(&mut list)[0] = 7;
        while Arc::get_mut(&mut list).is_none() {
            thread::yield_now();
        }
        Arc::get_mut(&mut list).unwrap()[1] = 8;
        threads.into_iter().for_each(|t| t.join().unwrap());
        assert_eq!(list[..2], [7, 8]);
    }
}
