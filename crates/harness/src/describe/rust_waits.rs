//! What a Rust thread waits for. Rust's locks and condition variables are atomics and futexes of
//! std, so a thread that waits for a `Mutex` appears to wait at a word in memory. Its stack tells
//! which primitive it is, and the steps tell who holds a `Mutex`.

use raddle_explore::{LogicalThread, OpKind, Step};
use raddle_finding::Frame;
use raddle_wire::explore::End;

use super::locks::TakenLock;

/// What a thread waits for at a futex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RustWait {
    Mutex,
    RwLock,
    Condvar,
    Channel,
    Park,
}

/// Derives it from the functions of a stack, innermost first.
pub fn of(stack: &[Frame]) -> Option<RustWait> {
    let names = || stack.iter().filter_map(|f| f.function.as_deref());
    let any = |part: &str| names().any(|name| name.contains(part));
    if any("sync::condvar::") || any("sync::poison::condvar::Condvar") {
        // The wait for the mutex, when the condition variable returns, happens inside its function.
        return Some(if any("mutex::futex::Mutex") { RustWait::Mutex } else { RustWait::Condvar });
    }
    if any("mutex::futex::Mutex") {
        return Some(RustWait::Mutex);
    }
    if any("rwlock::futex::RwLock") {
        return Some(RustWait::RwLock);
    }
    if any("sync::mpmc::") || any("sync::mpsc::") {
        return Some(RustWait::Channel);
    }
    (any("thread::park") || any("thread_parking::") || any("Parker")).then_some(RustWait::Park)
}

/// The words at which threads wait for a `Mutex`.
pub fn mutexes(waits: &[(End, Option<RustWait>)]) -> Vec<u64> {
    let is = |(end, wait): &&(End, Option<RustWait>)| is_futex(end) && *wait == Some(RustWait::Mutex);
    let mut words: Vec<u64> = waits.iter().filter(is).map(|(end, _)| end.pending.object).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// Whether a thread waits at a futex.
pub fn is_futex(end: &End) -> bool {
    matches!(end.pending.kind(), OpKind::FutexWait | OpKind::Spurious)
}

/// Who holds these mutexes: the thread whose last step on one took it, and which does not wait for
/// it. `takes` returns whether a step is part of locking (true) or unlocking (false).
pub fn held(
    mutexes: &[u64],
    steps: &[Step],
    ends: &[End],
    takes: &mut dyn FnMut(usize) -> Option<bool>,
) -> Vec<TakenLock> {
    let mut held = Vec::new();
    for lock in mutexes {
        let waits = |t: LogicalThread| ends.iter().any(|e| e.thread == t && e.pending.object == *lock);
        let is_change =
            |s: &Step| matches!(s.op.kind(), OpKind::AtomicRmw | OpKind::AtomicStore) && s.op.object == *lock;
        let last = steps.iter().enumerate().rev().filter(|(_, s)| is_change(s) && !waits(s.thread));
        for (step, s) in last {
            match takes(step) {
                Some(true) => {
                    held.push(TakenLock { thread: s.thread, lock: *lock, step: Some(step), read: false });
                    break;
                }
                Some(false) => break,
                None => {}
            }
        }
    }
    held
}

/// Whether these frames lock a `Mutex` (true) or unlock it (false). `None`: neither.
pub fn takes(stack: &[Frame]) -> Option<bool> {
    let mut names = stack.iter().filter_map(|f| f.function.as_deref());
    names.find_map(|name| {
        let is_mutex = name.contains("mutex::futex::Mutex") || name.contains("mutex::Mutex");
        if is_mutex && name.contains("unlock") || name.contains("MutexGuard") && name.contains("drop") {
            Some(false)
        } else if is_mutex && name.contains("lock") {
            Some(true)
        } else {
            None
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_explore::Op;
    use raddle_wire::explore::FRAMES;

    fn stack(names: &[&str]) -> Vec<Frame> {
        names.iter().map(|n| Frame { function: Some((*n).into()), ..Frame::default() }).collect()
    }

    #[test]
    fn the_stack_says_what_is_waited_for() {
        let futex = "std::sys::pal::unix::futex::futex_wait";
        let lock = "<std::sys::sync::mutex::futex::Mutex>::lock_contended";
        let wait = "<std::sys::sync::condvar::futex::Condvar>::wait_optional_timeout";
        assert_eq!(of(&stack(&[futex, lock, "a::main"])), Some(RustWait::Mutex));
        assert_eq!(of(&stack(&[futex, wait, "a::main"])), Some(RustWait::Condvar));
        assert_eq!(of(&stack(&[futex, lock, wait, "a::main"])), Some(RustWait::Mutex));
        let write = "<std::sys::sync::rwlock::futex::RwLock>::write_contended";
        assert_eq!(of(&stack(&[futex, write, "a::main"])), Some(RustWait::RwLock));
        let park = "std::thread::park";
        assert_eq!(
            of(&stack(&[futex, park, "<std::sync::mpmc::list::Channel<i32>>::recv"])),
            Some(RustWait::Channel)
        );
        assert_eq!(of(&stack(&[futex, park, "a::main"])), Some(RustWait::Park));
        assert_eq!(of(&stack(&["read_file"])), None);
    }

    #[test]
    fn a_mutex_is_held_by_who_took_it_last_and_does_not_wait() {
        let rmw = |thread: u16, at: u64| Step::bare(LogicalThread(thread), Op::new(OpKind::AtomicRmw, at, 0));
        let end = |thread: u16, at: u64| End {
            thread: LogicalThread(thread),
            ended: 0,
            depth: 0,
            holder: 0,
            pending: Op::new(OpKind::FutexWait, at, 0),
            frames: [0; FRAMES],
        };
        // T1 takes 0x10 and T2 takes 0x20; then each tries the other.
        let steps = [rmw(1, 0x10), rmw(2, 0x20), rmw(1, 0x20), rmw(2, 0x10)];
        let ends = [end(1, 0x20), end(2, 0x10)];
        let waits: Vec<_> = ends.iter().map(|e| (*e, Some(RustWait::Mutex))).collect();
        let words = mutexes(&waits);
        let who = |held: Vec<TakenLock>| held.iter().map(|h| (h.lock, h.thread.0)).collect::<Vec<_>>();
        assert_eq!(who(held(&words, &steps, &ends, &mut |_| Some(true))), [(0x10, 1), (0x20, 2)]);
        assert!(held(&words, &steps, &ends, &mut |_| Some(false)).is_empty());
    }
}
