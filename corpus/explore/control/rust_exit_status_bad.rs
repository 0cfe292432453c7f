// expect: exit-status
//@ bound: 0
// main returns an ExitCode that depends on who was first.
// Fails when: the second thread swaps first.
use std::process::ExitCode;
use std::sync::atomic::{AtomicU8, Ordering::SeqCst};
use std::thread;

static FIRST: AtomicU8 = AtomicU8::new(0);

fn main() -> ExitCode {
    let threads: Vec<_> = (1..=2)
        .map(|n| {
            thread::spawn(move || {
                let _ = FIRST.compare_exchange(0, n, SeqCst, SeqCst);
            })
        })
        .collect();
    for t in threads {
        t.join().unwrap();
    }
    if FIRST.load(SeqCst) == 1 { ExitCode::SUCCESS } else { ExitCode::from(3) }
}
