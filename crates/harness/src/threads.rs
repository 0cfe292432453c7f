//! Threads of the driver. A limit on processes (`ulimit -u`, a container's limit) may refuse them.

use std::thread::{Builder, JoinHandle};

use anyhow::{Context, Result};

/// A thread that raddle cannot do without.
pub fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>> {
    Builder::new()
        .name(name.into())
        .spawn(work)
        .context("cannot start a thread: raise the limit on processes (`ulimit -u`)")
}

/// Runs `work` on this thread and on up to `most - 1` more, as many as the system grants. Returns
/// all results.
pub fn in_parallel<T: Send>(most: usize, work: impl Fn() -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let more = (1..most).map_while(|_| Builder::new().spawn_scoped(scope, &work).ok());
        let more: Vec<_> = more.collect();
        let mut done = vec![work()];
        for thread in more {
            match thread.join() {
                Ok(result) => done.push(result),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn all_of_the_work_is_done_by_however_many_there_are() {
        for most in [0, 1, 4] {
            let next = AtomicUsize::new(0);
            let take =
                || std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed))).take_while(|n| *n < 100);
            let mut done: Vec<usize> = in_parallel(most, || take().collect::<Vec<_>>()).concat();
            done.sort_unstable();
            assert!(done.into_iter().eq(0..100));
        }
    }
}
