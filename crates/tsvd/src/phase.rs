//! Concurrent phases (3.4.3): whether the last points came from more than one thread.
//!
//! The paper keeps a buffer of the last points. The only question is whether it holds a point of
//! another thread. It does exactly when the current thread's uninterrupted run of points is shorter
//! than the buffer and another thread came before it. So the last thread and the length of its run
//! are enough: one word instead of a buffer that every thread writes to. A sequential phase only
//! reads it.
//!
//! A store may overwrite another thread's. The run is then one point too long or too short.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

/// `thread + 1` in the upper half, the run in the lower.
#[derive(Default)]
#[repr(transparent)]
pub(crate) struct Phase(AtomicU64);

impl Phase {
    /// Records a point. Returns whether the last `buffer` points, this one included, are of several
    /// threads.
    #[inline]
    pub(crate) fn enter(&self, thread: u32, buffer: u32) -> bool {
        let (who, seen) = (u64::from(thread) + 1, self.0.load(Relaxed));
        let (last, run) = (seen >> 32, seen as u32);
        let run = match last {
            // No thread came before: as if the run filled the buffer.
            0 => buffer,
            _ if last != who => 1,
            _ if run >= buffer => return false,
            _ => run + 1,
        };
        self.0.store(who << 32 | u64::from(run), Relaxed);
        run < buffer
    }

    /// Records points of the thread that came just before this one and were not examined.
    #[inline]
    pub(crate) fn skip(&self, thread: u32, points: u32, buffer: u32) {
        let seen = self.0.load(Relaxed);
        let (who, run) = (seen >> 32, seen as u32);
        if who == u64::from(thread) + 1 && run < buffer {
            let run = run.saturating_add(points).min(buffer);
            self.0.store(who << 32 | u64::from(run), Relaxed);
        }
    }

    /// Records that the thread had the process for itself.
    pub(crate) fn fill(&self, thread: u32, buffer: u32) {
        self.0.store((u64::from(thread) + 1) << 32 | u64::from(buffer), Relaxed);
    }

    /// Forgets the last points.
    pub(crate) fn forget(&self) {
        self.0.store(0, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    fn phases(threads: &[u32], buffer: u32) -> Vec<bool> {
        let phase = Phase::default();
        threads.iter().map(|thread| phase.enter(*thread, buffer)).collect()
    }

    #[test]
    fn one_thread_alone_is_never_concurrent() {
        assert_eq!(phases(&[7; 40], 16), [false; 40]);
    }

    #[test]
    fn a_thread_that_has_filled_the_buffer_is_alone_again() {
        let mut threads = vec![0];
        threads.extend([1; 20]);
        let concurrent = phases(&threads, 16);
        // The sixteenth point of thread 1 pushes the one of thread 0 out.
        assert_eq!(concurrent.iter().filter(|c| **c).count(), 15);
        assert!(concurrent[1] && concurrent[15] && !concurrent[16]);
    }

    #[test]
    fn points_that_were_not_looked_at_fill_the_buffer_as_well() {
        let phase = Phase::default();
        assert!(!phase.enter(0, 16) && phase.enter(1, 16));
        phase.skip(0, 100, 16);
        assert!(phase.enter(1, 16), "the last run is of thread 1");
        phase.skip(1, 13, 16);
        assert!(!phase.enter(1, 16), "the sixteenth");
    }

    #[test]
    fn it_is_the_buffer_of_the_paper() {
        let mut rng = raddle_base::rng::Rng::new(3);
        for buffer in [1, 2, 3, 5, 16, 32] {
            // Occasional long runs, so that the buffer does fill up.
            let threads: Vec<u32> =
                (0..400).flat_map(|_| vec![rng.below(3); 1 + rng.below(24) as usize]).collect();
            let mut history = VecDeque::new();
            let told: Vec<bool> = threads
                .iter()
                .map(|thread| {
                    history.push_back(*thread);
                    if history.len() > buffer as usize {
                        history.pop_front();
                    }
                    history.iter().any(|other| other != thread)
                })
                .collect();
            assert_eq!(phases(&threads, buffer), told, "buffer of {buffer}");
        }
    }
}
