// expect: nothing
// The node is in an Arc behind a Mutex: a reader holds it as long as it needs it.
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;

static NODE: Mutex<Option<Arc<AtomicU64>>> = Mutex::new(None);

fn main() {
    *NODE.lock().unwrap() = Some(Arc::new(AtomicU64::new(7)));
    let reader = thread::spawn(|| {
        let node = NODE.lock().unwrap().clone();
        node.map_or(0, |n| n.load(SeqCst))
    });
    let remover = thread::spawn(|| {
        *NODE.lock().unwrap() = None;
    });
    reader.join().unwrap();
    remover.join().unwrap();
}
