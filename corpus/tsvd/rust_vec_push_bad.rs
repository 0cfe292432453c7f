//@ pair 1: parallel-loop often
// A parallel loop that collects into one vector through a raw pointer.
#[path = "work.rs"]
mod work;

#[derive(Clone, Copy)]
struct Results(*mut Vec<u64>);
unsafe impl Send for Results {}

fn part(results: Results, from: u64) {
    for i in 0..240 {
        work::work(4);
        let results = unsafe { &mut *results.0 };
        results.push(from + i); // expect: thread-safety-violation write write #1
    }
}

fn main() {
    let mut results = Vec::with_capacity(1000);
    let shared = Results(&mut results);
    std::thread::scope(|scope| {
        for from in [0, 1000] {
            scope.spawn(move || part(shared, from));
        }
    });
    assert!(results.len() > 100);
}
