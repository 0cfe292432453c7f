//! Records of the log.
//!
//! A record is a sequence of words. The first word is `kind << 32 | words that follow`. While the
//! runtime writes the rest, the first word has [`PENDING`] in place of the kind. So a reader skips
//! a record that the death of its process cut short.
//!
//! Program counters are absolute and belong to the [`Record::Module`]s logged before them.

/// Stands in place of the kind: the record is reserved but not finished.
pub const PENDING: u64 = 1 << 63;

/// A destination for records.
pub trait Sink {
    fn word(&mut self, w: u64);

    fn words(&mut self, words: &[u64]) {
        words.iter().for_each(|w| self.word(*w));
    }

    /// A length, then the bytes, padded.
    fn bytes(&mut self, b: &[u8]) {
        self.word(b.len() as u64);
        for c in b.chunks(8) {
            let mut w = [0; 8];
            w[..c.len()].copy_from_slice(c);
            self.word(u64::from_le_bytes(w));
        }
    }
}

/// Counts the words of a record before room is reserved for it.
#[derive(Default)]
pub struct Count(pub usize);

impl Sink for Count {
    fn word(&mut self, _: u64) {
        self.0 += 1;
    }
}

#[cfg(any(feature = "std", test))]
impl Sink for Vec<u64> {
    fn word(&mut self, w: u64) {
        self.push(w);
    }
}

/// What an access did. The runtime's trace stores it in three bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum AccessKind {
    #[default]
    Read = 0,
    Write = 1,
    AtomicRead = 2,
    AtomicWrite = 3,
    Free = 4,
    Allocate = 5,
}

impl AccessKind {
    pub fn from_number(n: u64) -> Option<AccessKind> {
        use AccessKind::*;
        [Read, Write, AtomicRead, AtomicWrite, Free, Allocate].into_iter().find(|k| *k as u64 == n)
    }
}

/// A lock that a thread held, and the stack at which it took the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HeldLock {
    pub lock: u64,
    /// 1: held for reading only.
    pub read: u64,
    pub stack: u64,
}

/// How many words a set of lock-order edges has.
pub const EDGE_SETS: usize = 4;

/// When a lock-order edge was made, in the order that OpenMP makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moment {
    /// The number of the edge, plus 1. 0: it has none.
    pub number: u64,
    /// The task or section that made it; 0: the thread itself.
    pub context: u64,
    /// A bit for each edge that comes before it.
    pub knows: [u64; EDGE_SETS],
}

/// One end of a race.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessEnd<'a> {
    pub thread: u64,
    pub kind: AccessKind,
    pub address: u64,
    pub size: u64,
    /// 0: no longer known.
    pub stack: u64,
    pub locks: &'a [HeldLock],
}

/// What an address is, as far as the runtime can tell. The driver identifies globals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressKind {
    Unknown,
    Heap {
        start: u64,
        size: u64,
        thread: u64,
        stack: u64,
    },
    Stack {
        thread: u64,
    },
    Tls {
        thread: u64,
    },
    /// No memory: the file descriptor of this number.
    Descriptor {
        number: u64,
    },
}

/// A record as the runtime writes it.
#[derive(Debug, Clone, Copy)]
pub enum Record<'a> {
    /// The executable of this process.
    Process {
        executable: &'a [u8],
    },
    /// The command that started this process: arguments and variables, each terminated by a zero,
    /// and the folder.
    Command {
        words: &'a [u8],
        environment: &'a [u8],
        folder: &'a [u8],
    },
    /// A file mapped at `low..high`, its first byte at `low - offset`.
    Module {
        low: u64,
        high: u64,
        offset: u64,
        path: &'a [u8],
    },
    /// Return addresses, innermost first. The first is the place of the access itself.
    Stack {
        id: u64,
        pcs: &'a [u64],
    },
    Thread {
        thread: u64,
        parent: u64,
        stack: u64,
    },
    ThreadName {
        thread: u64,
        name: &'a [u8],
    },
    ThreadEnd {
        thread: u64,
    },
    /// `joiner` has waited for `thread` to end.
    ThreadJoin {
        joiner: u64,
        thread: u64,
    },
    /// A lock seen for the first time.
    Lock {
        lock: u64,
        address: u64,
        what: LockKind,
    },
    /// The later access first.
    Race {
        now: AccessEnd<'a>,
        before: AccessEnd<'a>,
        place: AddressKind,
    },
    /// The access `now` is to a block that `before` has freed. Something orders the two; otherwise
    /// it would be a race.
    UseAfterFree {
        now: AccessEnd<'a>,
        before: AccessEnd<'a>,
        place: AddressKind,
    },
    /// `thread` acquired `acquired` while holding `held`. `segment` is the number of its creates
    /// and joins so far.
    LockEdge {
        thread: u64,
        segment: u64,
        moment: Moment,
        acquired: HeldLock,
        held: &'a [HeldLock],
    },
    /// `ANNOTATE_EXPECT_RACE`.
    ExpectRace {
        address: u64,
        size: u64,
        stack: u64,
        description: &'a [u8],
    },
    /// What the program returns from `__tsan_default_options` and `__tsan_default_suppressions`.
    Defaults {
        options: &'a [u8],
        suppressions: &'a [u8],
    },
    /// A race on an address that the program expected.
    ExpectedSeen {
        address: u64,
    },
    /// The runtime could not start: a code of [`crate::log::fatal`].
    Fatal {
        code: u64,
        detail: &'a [u8],
    },
    /// A copy of the code of an object that is loaded with this bias is mapped at `start`. Its file
    /// and its object are known by their modules.
    Copy {
        start: u64,
        bias: u64,
    },
    /// A library that is not watched, though it could be: a reason of [`crate::relocated::left`].
    Left {
        why: u64,
        path: &'a [u8],
    },
    /// Misuse of a lock, a thread or a signal handler. `lock` is 0 if
    /// there is no lock, and the address of the handler for an unsafe call in one. For a thread,
    /// `stack` is where it was created. `taken` is where the thread itself took the lock, or 0 if it
    /// did not.
    Misuse {
        what: MisuseKind,
        thread: u64,
        lock: u64,
        stack: u64,
        taken: u64,
    },
    /// Two threads are in calls that must not overlap. `now` ran into the trap that `before` had
    /// set.
    Violation {
        object: u64,
        now: CaughtThread<'a>,
        before: CaughtThread<'a>,
    },
}

/// A thread caught inside a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaughtThread<'a> {
    pub thread: u64,
    /// The number of its call site in this run.
    pub site: u64,
    pub name: &'a [u8],
    /// [`REGISTERS`], as they would be if the callee returned at once.
    pub registers: [u64; REGISTERS],
    /// The stack from the stack pointer upwards, for the driver to unwind.
    pub stack: &'a [u8],
}

/// rip, rsp, rbp, rbx, r12, r13, r14, r15: the registers that unwinding starts from.
pub const REGISTERS: usize = 8;

numbered! {
    /// What a lock is.
    pub enum LockKind: u64 {
        Mutex = 1,
        Rwlock = 2,
        Spinlock = 3,
        StdMutex = 4,
        StdRwlock = 5,
        Annotated = 6,
        /// A critical section, or a lock of `omp.h`.
        OpenMp = 7,
    }
}

numbered! {
    /// What is wrong with the use of a lock, a thread or a signal handler.
    pub enum MisuseKind: u64 {
        DoubleLock = 1,
        UnlockUnlocked = 2,
        UnlockOfAnothers = 3,
        ReadAsWrite = 4,
        DestroyedLocked = 5,
        ThreadLeak = 6,
        /// A signal handler changes `errno`. `stack` ends in the handler.
        SignalErrno = 7,
        /// A signal handler allocates or frees memory.
        SignalUnsafe = 8,
        /// Annotations say that a lock was taken which another thread holds.
        TakenFromAnother = 9,
        /// Annotations say that a lock was taken for reading which is held for writing.
        ReadWhileWritten = 10,
        /// A mutex is used after it was destroyed.
        UsedDestroyed = 11,
        /// A thread ends and holds a lock. `stack` is where it took the lock.
        EndedHolding = 12,
        /// A mutex is taken or tried whose memory is filled with ones: it was never made, or was
        /// overwritten.
        UsedUninitialised = 13,
    }
}

mod kind {
    pub const PROCESS: u64 = 1;
    pub const MODULE: u64 = 2;
    pub const STACK: u64 = 3;
    pub const THREAD: u64 = 4;
    pub const THREAD_NAME: u64 = 5;
    pub const THREAD_END: u64 = 6;
    pub const THREAD_JOIN: u64 = 7;
    pub const LOCK: u64 = 8;
    pub const RACE: u64 = 9;
    pub const LOCK_EDGE: u64 = 10;
    pub const EXPECT_RACE: u64 = 11;
    pub const EXPECTED_SEEN: u64 = 12;
    pub const FATAL: u64 = 13;
    pub const VIOLATION: u64 = 14;
    pub const COMMAND: u64 = 15;
    pub const USE_AFTER_FREE: u64 = 24;
    pub const DEFAULTS: u64 = 25;
    pub const MISUSE: u64 = 16;
    pub const LEFT: u64 = 26;
    pub const COPY: u64 = 27;
}

impl Record<'_> {
    /// The first word of a record whose body has `words` words.
    pub fn head(&self, words: usize) -> u64 {
        let kind = match self {
            Record::Process { .. } => kind::PROCESS,
            Record::Command { .. } => kind::COMMAND,
            Record::Module { .. } => kind::MODULE,
            Record::Stack { .. } => kind::STACK,
            Record::Thread { .. } => kind::THREAD,
            Record::ThreadName { .. } => kind::THREAD_NAME,
            Record::ThreadEnd { .. } => kind::THREAD_END,
            Record::ThreadJoin { .. } => kind::THREAD_JOIN,
            Record::Lock { .. } => kind::LOCK,
            Record::Race { .. } => kind::RACE,
            Record::UseAfterFree { .. } => kind::USE_AFTER_FREE,
            Record::LockEdge { .. } => kind::LOCK_EDGE,
            Record::ExpectRace { .. } => kind::EXPECT_RACE,
            Record::Defaults { .. } => kind::DEFAULTS,
            Record::ExpectedSeen { .. } => kind::EXPECTED_SEEN,
            Record::Fatal { .. } => kind::FATAL,
            Record::Copy { .. } => kind::COPY,
            Record::Left { .. } => kind::LEFT,
            Record::Violation { .. } => kind::VIOLATION,
            Record::Misuse { .. } => kind::MISUSE,
        };
        kind << 32 | words as u64
    }

    /// Everything but the first word.
    pub fn body(&self, to: &mut impl Sink) {
        match *self {
            Record::Process { executable } => to.bytes(executable),
            Record::Command { words, environment, folder } => {
                to.bytes(words);
                to.bytes(environment);
                to.bytes(folder);
            }
            Record::Module { low, high, offset, path } => {
                to.words(&[low, high, offset]);
                to.bytes(path);
            }
            Record::Stack { id, pcs } => {
                to.word(id);
                to.word(pcs.len() as u64);
                to.words(pcs);
            }
            Record::Thread { thread, parent, stack } => {
                to.words(&[thread, parent, stack]);
            }
            Record::ThreadName { thread, name } => {
                to.word(thread);
                to.bytes(name);
            }
            Record::ThreadEnd { thread } => to.word(thread),
            Record::ThreadJoin { joiner, thread } => {
                to.word(joiner);
                to.word(thread);
            }
            Record::Lock { lock, address, what } => {
                to.words(&[lock, address, what.number()]);
            }
            Record::Race { now, before, place } | Record::UseAfterFree { now, before, place } => {
                end(to, &now);
                end(to, &before);
                let (tag, w) = match place {
                    AddressKind::Unknown => (0, [0; 4]),
                    AddressKind::Heap { start, size, thread, stack } => (1, [start, size, thread, stack]),
                    AddressKind::Stack { thread } => (2, [thread, 0, 0, 0]),
                    AddressKind::Tls { thread } => (3, [thread, 0, 0, 0]),
                    AddressKind::Descriptor { number } => (4, [number, 0, 0, 0]),
                };
                to.word(tag);
                to.words(&w);
            }
            Record::LockEdge { thread, segment, moment, acquired, held } => {
                to.words(&[thread, segment, moment.number, moment.context]);
                to.words(&moment.knows);
                locks(to, &[acquired]);
                locks(to, held);
            }
            Record::ExpectRace { address, size, stack, description } => {
                to.words(&[address, size, stack]);
                to.bytes(description);
            }
            Record::Defaults { options, suppressions } => {
                to.bytes(options);
                to.bytes(suppressions);
            }
            Record::ExpectedSeen { address } => to.word(address),
            Record::Fatal { code, detail } => {
                to.word(code);
                to.bytes(detail);
            }
            Record::Copy { start, bias } => to.words(&[start, bias]),
            Record::Left { why, path } => {
                to.word(why);
                to.bytes(path);
            }
            Record::Misuse { what, thread, lock, stack, taken } => {
                to.words(&[what.number(), thread, lock, stack, taken])
            }
            Record::Violation { object, now, before } => {
                to.word(object);
                caught(to, &now);
                caught(to, &before);
            }
        }
    }
}

fn caught(to: &mut impl Sink, c: &CaughtThread) {
    to.words(&[c.thread, c.site]);
    to.bytes(c.name);
    to.words(&c.registers);
    to.bytes(c.stack);
}

fn end(to: &mut impl Sink, e: &AccessEnd) {
    to.words(&[e.thread, e.kind as u64, e.address, e.size, e.stack]);
    locks(to, e.locks);
}

fn locks(to: &mut impl Sink, held: &[HeldLock]) {
    to.word(held.len() as u64);
    for h in held {
        to.words(&[h.lock, h.read, h.stack]);
    }
}

#[cfg(any(feature = "std", test))]
pub use decode::{Decoded, DecodedCaught, DecodedEnd, decode_all};

#[cfg(any(feature = "std", test))]
mod decode;
