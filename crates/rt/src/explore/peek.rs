//! Whether a step would block, found by looking at the object. This relies on glibc's layouts,
//! which have not changed since 2.26.

use super::{Wait, state};

unsafe fn word(at: usize) -> u32 {
    // SAFETY: the caller's object.
    unsafe { (at as *const u32).read_volatile() }
}

const OWNER: usize = 8;
const KIND: usize = 16;
/// The other bits say that others wait, or that the owner died.
const OWNER_BITS: u32 = 0x3fff_ffff;
const TYPE: u32 = 3;
const RECURSIVE: u32 = 1;
const ERRORCHECK: u32 = 2;

/// The kernel id of the mutex's holder; 0: nobody.
pub fn mutex_owner(m: usize) -> u32 {
    // SAFETY: the program's mutex.
    unsafe { if word(m) == 0 { 0 } else { word(m + OWNER) } }
}

/// A mutex that its owner may lock again without blocking: it is recursive, or returns an error.
pub fn is_reentrant(m: usize) -> bool {
    // SAFETY: the program's mutex.
    unsafe { matches!(word(m + KIND) & TYPE, RECURSIVE | ERRORCHECK) }
}

pub fn is_error_checking(m: usize) -> bool {
    // SAFETY: the program's mutex.
    unsafe { word(m + KIND) & TYPE == ERRORCHECK }
}

/// A mutex that is neither robust, nor shared between processes, nor changes priorities.
pub fn is_usual(m: usize) -> bool {
    /// The type, and whether locks may be elided.
    const USUAL: u32 = TYPE | 0x300;
    // SAFETY: the program's mutex.
    unsafe { word(m + KIND) & !USUAL == 0 }
}

/// A reader-writer lock of the kind `PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP`.
pub fn prefers_writers(l: usize) -> bool {
    const FLAGS: usize = 48;
    const PREFERS: u32 = 2;
    // SAFETY: the program's lock.
    unsafe { word(l + FLAGS) == PREFERS }
}

/// True if a writer waits for such a lock; then new readers wait too.
pub fn is_writer_queueing(l: usize) -> bool {
    let s = state();
    s.threads[..s.count].iter().any(|t| t.queues_at == l && !t.ended)
}

impl Wait {
    /// The object in the program's memory that the thread waits for.
    pub fn object(self) -> Option<usize> {
        match self {
            Wait::Mutex(at)
            | Wait::Spin(at)
            | Wait::Word(at)
            | Wait::ReadLock(at)
            | Wait::WriteLock(at)
            | Wait::Semaphore(at)
            | Wait::Told(at)
            | Wait::ToldAndMutex(at, _)
            | Wait::Initialiser(at, _) => Some(at),
            _ => None,
        }
    }

    /// True if `thread`, which waits for this, could go on. Most threads wait for nothing.
    #[inline(always)]
    pub fn is_over(self, thread: usize) -> bool {
        match self {
            Wait::Nothing => true,
            other => other.has_come(thread),
        }
    }

    fn has_come(self, thread: usize) -> bool {
        // SAFETY: objects that the program passed to a function and that exist while it waits for
        // them.
        unsafe {
            match self {
                Wait::Nothing => true,
                Wait::Mutex(m) => {
                    word(m) & OWNER_BITS == 0
                        || (is_reentrant(m) && mutex_owner(m) == state().threads[thread].kernel_id)
                }
                Wait::Word(m) => word(m) == 0,
                // 1: free.
                Wait::Spin(m) => (word(m) as i32) > 0,
                // Bit 1: a writer has it or is next; bits 3 and above count the readers.
                Wait::ReadLock(l) => word(l) & 2 == 0 && !is_writer_queueing(l),
                Wait::WriteLock(l) => word(l) & 2 == 0 && word(l) >> 3 == 0,
                Wait::Semaphore(s) => word(s) != 0,
                Wait::Thread(t) => state().threads[t].ended,
                Wait::Told(_) => state().threads[thread].told,
                Wait::ToldAndMutex(_, m) => state().threads[thread].told && Wait::Mutex(m).is_over(thread),
                Wait::Initialiser(at, bit) => word(at) & bit == 0,
                Wait::Descriptor(fd, events) => super::sync::is_ready(fd, events),
                Wait::Partner(fd, events, readers) => super::fifo::has_partner(fd, events, readers),
                Wait::Handler => state().threads[thread].handled,
                Wait::Signal(set) => (state().threads[thread].arrived | state().arrived) & set != 0,
                Wait::Timer(_) => false,
                Wait::Callback => state().threads[thread].told,
                Wait::Child(which) => super::fork::has_ended(which),
                Wait::Several(which) => super::sync::is_one_ready(which),
                Wait::ById(which) => which.is_ready(),
                Wait::Stream(lock) => super::locks::holder_of_stream(lock, thread).is_none(),
                Wait::Loader(what) => what.holder(thread).is_none(),
            }
        }
    }
}
