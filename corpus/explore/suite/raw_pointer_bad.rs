// expect: use-after-free
//@ bound: 1
// A node behind an AtomicPtr is freed by whoever swaps it out, while a reader may still have its address.
// Fails when: the reader has loaded the pointer; the other swaps and drops the Box; the reader reads the freed block.
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering::SeqCst};
use std::ptr;
use std::thread;

static NODE: AtomicPtr<AtomicU64> = AtomicPtr::new(ptr::null_mut());

fn main() {
    NODE.store(Box::into_raw(Box::new(AtomicU64::new(7))), SeqCst);
    let reader = thread::spawn(|| {
        // SAFETY: none, this is the bug.
        let node = unsafe { NODE.load(SeqCst).as_ref() };
        node.map_or(0, |n| n.load(SeqCst)) // expect: use-after-free here
    });
    let remover = thread::spawn(|| {
        let node = NODE.swap(ptr::null_mut(), SeqCst);
        // SAFETY: it came from a Box, and nobody else can swap it out. Readers are forgotten.
        drop(unsafe { Box::from_raw(node) });
    });
    reader.join().unwrap();
    remover.join().unwrap();
}
