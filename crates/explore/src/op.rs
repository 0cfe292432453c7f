//! What a thread is about to do, and when the order of two such operations matters.

/// The kind of an operation. The numbers cross the process boundary: new ones are added, old ones
/// never change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "std", derive(serde::Serialize, serde::Deserialize))]
#[repr(u8)]
pub enum OpKind {
    /// The first step of a thread; `object` is its own id.
    Start = 0,
    /// The last step of a thread; `object` is its own id.
    Exit = 1,
    /// `object` is the id of the new thread.
    Create = 2,
    /// `object` is the id of the thread waited for; enabled when it has exited.
    Join = 3,
    /// Takes the mutex or spinlock `object`; enabled when nobody holds it.
    Lock = 4,
    /// Takes the lock `object` if nobody holds it, and otherwise fails; always enabled.
    TryLock = 5,
    /// Takes the lock `object`, with a deadline that may pass instead as a [`OpKind::TimeOut`].
    TimedLock = 6,
    /// Releases the lock `object`, however it was taken.
    Unlock = 7,
    /// Takes the lock `object` for reading.
    ReadLock = 8,
    /// Takes the lock `object` for writing.
    WriteLock = 9,
    /// Releases the mutex (`other`) and begins to wait on the condition variable (`object`).
    CondWait = 10,
    /// Takes the mutex (`other`) again after a signal on the condition variable (`object`).
    CondWake = 11,
    /// Wakes one waiter of the condition variable `object`, if there is one.
    CondSignal = 12,
    /// Wakes all waiters of the condition variable `object`.
    CondBroadcast = 13,
    /// Decrements the semaphore `object`; enabled when it is above zero.
    SemWait = 14,
    /// Increments the semaphore `object`.
    SemPost = 15,
    /// Arrives at the barrier `object`, or continues after it.
    Barrier = 16,
    /// Runs the initialiser of `object`, or waits until it has run.
    Once = 17,
    /// Begins or ends a wait on the futex `object`.
    FutexWait = 18,
    /// Wakes waiters of the futex `object`.
    FutexWake = 19,
    /// Reads the granule `object` atomically.
    AtomicLoad = 20,
    /// Writes the granule `object` atomically.
    AtomicStore = 21,
    /// Reads and writes the granule `object` in one atomic operation.
    AtomicRmw = 22,
    /// A fence that is a separate step; depends on everything.
    Fence = 23,
    /// A plain read of the granule `object`.
    DataRead = 24,
    /// A plain write of the granule `object`.
    DataWrite = 25,
    /// The thread says that it cannot make progress.
    Yield = 26,
    /// A pause; a yield unless `--sleep-is-not-yield` is given.
    Sleep = 27,
    /// A timed wait that times out; `object` and `other` are those of what it would have done
    /// (`CondWake`, `TimedLock` …).
    TimeOut = 28,
    /// A spurious wake-up; `object` and `other` are those of the `CondWake`.
    Spurious = 29,
    /// `object` is the channel: two operations on one channel stay in order.
    Io = 30,
    /// `object` is the thread it is sent to.
    Signal = 31,
    /// The block from `object` to `other` (exclusive) is freed.
    Free = 32,
    /// A choice of a value, not of a thread: which waiter of `object`; or, with `other`, which of
    /// the last stores to `object` a load reads.
    Choose = 33,
    /// Anything else; depends on everything.
    Other = 34,
    /// A timer is set, stopped or queried; its expiry is a `TimeOut` on the same `object`.
    Timer = 35,
    /// A lock, a condition variable, a semaphore or a barrier is initialised or destroyed.
    Reset = 36,
}

const KINDS: [OpKind; 37] = {
    use OpKind::*;
    [
        Start,
        Exit,
        Create,
        Join,
        Lock,
        TryLock,
        TimedLock,
        Unlock,
        ReadLock,
        WriteLock,
        CondWait,
        CondWake,
        CondSignal,
        CondBroadcast,
        SemWait,
        SemPost,
        Barrier,
        Once,
        FutexWait,
        FutexWake,
        AtomicLoad,
        AtomicStore,
        AtomicRmw,
        Fence,
        DataRead,
        DataWrite,
        Yield,
        Sleep,
        TimeOut,
        Spurious,
        Io,
        Signal,
        Free,
        Choose,
        Other,
        Timer,
        Reset,
    ]
};

impl OpKind {
    /// An unknown number, from another version, is `Other`.
    pub fn from_number(n: u8) -> OpKind {
        KINDS.get(n as usize).copied().unwrap_or(OpKind::Other)
    }
}

/// An operation, as data that crosses the process boundary. `object` and `other` are canonical: the
/// same object has the same number in every schedule. Memory is named by granules of 8 bytes, and a
/// plain access that spans several granules names the last in `other`. 0 is no object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "std", derive(serde::Serialize, serde::Deserialize))]
#[repr(C)]
pub struct Op {
    kind: u8,
    flags: u8,
    /// Which bytes of the granule `object` are accessed, one bit each; 0 is unknown. For a
    /// `TimeOut` and a `Sleep`: the digits of its duration.
    bytes: u8,
    /// For a `TimeOut` and a `Sleep`: the number of zeros of its duration in nanoseconds, plus 1; 0
    /// is unknown.
    zeros: u8,
    /// The location in the program: a number that is the same in every schedule. 0 is unknown.
    pub site: u32,
    /// What is operated on; see each [`OpKind`].
    pub object: u64,
    /// The second object, if the kind has one.
    pub other: u64,
}

/// [`Op::flags`]: the thread says that it cannot make progress (section 4.3).
const YIELDS: u8 = 1;
/// [`Op::flags`]: a seq_cst fence lies between the thread's last step and this.
const FENCED: u8 = 2;
/// [`Op::flags`]: a seq_cst store, which no later load of its thread overtakes.
const DRAINS: u8 = 4;
/// [`Op::flags`]: its place among all steps matters, whatever they do.
const GLOBAL: u8 = 8;

/// How an operation relates to others, besides program order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Dependent on nothing: only its own thread can tell.
    Local,
    /// Reads its objects.
    Reads,
    /// Changes its objects.
    Writes,
    /// Dependent on everything.
    Global,
}

impl Op {
    /// An operation on one object. `Yield` and `Sleep` are marked as yields.
    pub const fn new(kind: OpKind, object: u64, site: u32) -> Op {
        let flags = if matches!(kind, OpKind::Yield | OpKind::Sleep) { YIELDS } else { 0 };
        Op { kind: kind as u8, flags, bytes: 0, zeros: 0, site, object, other: 0 }
    }

    /// The operation with a second object.
    pub const fn with_other(self, other: u64) -> Op {
        Op { other, ..self }
    }

    /// All of it, for a hash.
    pub fn words(&self) -> [u64; 3] {
        let Op { kind, flags, bytes, zeros, site, object, other } = *self;
        let what = [kind, flags, bytes, zeros].iter().fold(0, |word, b| word << 8 | u64::from(*b));
        [what << 32 | u64::from(site), object, other]
    }

    /// Sets whether fair scheduling treats this operation as a yield. By default `Yield` and
    /// `Sleep` are yields (`--sleep-is-not-yield` and detected spin loops change that).
    pub const fn with_yields(self, yields: bool) -> Op {
        let flags = if yields { self.flags | YIELDS } else { self.flags & !YIELDS };
        Op { flags, ..self }
    }

    /// Sets whether its place among all steps matters: it ends the process, or accesses more than
    /// its objects name.
    pub const fn with_global(self, global: bool) -> Op {
        Op { flags: if global { self.flags | GLOBAL } else { self.flags }, ..self }
    }

    /// Sets whether a seq_cst fence comes right before this: see `relaxed`.
    pub const fn with_fence(self, fenced: bool) -> Op {
        Op { flags: if fenced { self.flags | FENCED } else { self.flags }, ..self }
    }

    /// Sets whether this store is seq_cst: see `relaxed`.
    pub const fn with_drain(self, drains: bool) -> Op {
        Op { flags: if drains { self.flags | DRAINS } else { self.flags }, ..self }
    }

    /// The operation with the bytes that it accesses: `size` of them, from `address` on.
    pub const fn with_bytes(self, address: u64, size: usize) -> Op {
        let low = if size >= 8 { 0xff } else { (1u8 << size) - 1 };
        Op { bytes: low << (address & 7), ..self }
    }

    /// Which bytes of its granule are accessed, one bit each; 0 is unknown.
    pub fn bytes(&self) -> u8 {
        self.bytes
    }

    /// The operation with the time waited before the time-out, or slept, to two digits.
    pub fn with_duration(self, nanoseconds: u64) -> Op {
        let (mut digits, mut zeros) = (nanoseconds, 0);
        while digits > 99 {
            // Rounded up: what a deadline of 5 ms leaves after reading the clock is 5 ms.
            digits = if digits > 999 { digits / 10 } else { digits.div_ceil(10).min(100) };
            zeros += 1;
        }
        Op { bytes: digits as u8, zeros: zeros + 1, ..self }
    }

    /// The nanoseconds waited before the time-out, or slept, if known.
    pub fn duration(&self) -> Option<u64> {
        let zeros = u32::from(self.zeros.checked_sub(1)?);
        Some(u64::from(self.bytes) * 10u64.checked_pow(zeros)?)
    }

    /// The first byte that is accessed, if known: two variables may share a granule.
    #[inline]
    pub fn first_byte(&self) -> Option<u64> {
        (self.bytes != 0).then(|| self.object + u64::from(self.bytes.trailing_zeros()))
    }

    /// Whether any of these bytes of its granule, one bit each, are accessed, as far as is known.
    #[inline]
    pub fn touches(&self, bytes: u8) -> bool {
        self.bytes == 0 || bytes == 0 || self.bytes & bytes != 0
    }

    /// Whether this accesses any of these bytes of the granule, one bit each, or frees it, as far
    /// as is known.
    #[inline]
    pub fn covers(&self, granule: u64, bytes: u8) -> bool {
        match self.kind() {
            OpKind::Free => self.object <= granule && granule < self.other,
            _ if self.object == granule => self.touches(bytes),
            OpKind::DataRead | OpKind::DataWrite => self.object < granule && granule <= self.other,
            _ => false,
        }
    }

    /// Whether this is one plain access to several granules, like that of `memset`.
    #[inline]
    fn is_wide(&self) -> bool {
        self.other != 0 && matches!(self.kind(), OpKind::DataRead | OpKind::DataWrite)
    }

    /// The first byte, or else the granule.
    #[inline]
    pub fn address(&self) -> u64 {
        self.first_byte().unwrap_or(self.object)
    }

    /// Whether [`Op::with_fence`] was set.
    #[inline]
    pub fn is_fenced(&self) -> bool {
        self.flags & FENCED != 0
    }

    /// Whether [`Op::with_drain`] was set.
    #[inline]
    pub fn drains(&self) -> bool {
        self.flags & DRAINS != 0
    }

    /// An unknown kind, from another version, is `Other`: dependent on everything, so never wrong.
    #[inline]
    pub fn kind(&self) -> OpKind {
        OpKind::from_number(self.kind)
    }

    /// Whether fair scheduling treats it as a yield.
    #[inline]
    pub fn yields(&self) -> bool {
        self.flags & YIELDS != 0
    }

    /// Which other operations it depends on; see [`dependent`].
    #[inline]
    pub fn class(&self) -> Class {
        use OpKind::*;
        match self.kind() {
            _ if self.flags & GLOBAL != 0 => Class::Global,
            Choose => Class::Local,
            Yield | Sleep => Class::Local,
            AtomicLoad | DataRead | ReadLock => Class::Reads,
            Fence | Other => Class::Global,
            // The object of a time-out of a join, or of a wait for a signal or several descriptors,
            // does not say what it was about.
            TimeOut if self.object < FIRST_ADDRESS => Class::Global,
            _ => Class::Writes,
        }
    }

    /// Whether this is an access to memory, which a `Free` of the block conflicts with.
    #[inline]
    pub fn is_memory(&self) -> bool {
        use OpKind::*;
        matches!(self.kind(), AtomicLoad | AtomicStore | AtomicRmw | DataRead | DataWrite | Free)
    }

    /// Whether its object is memory that could be freed: an access, or a synchronisation object.
    #[inline]
    fn lies_in_memory(&self) -> bool {
        use OpKind::*;
        self.is_memory()
            || matches!(
                self.kind(),
                Lock | TryLock
                    | TimedLock
                    | Unlock
                    | ReadLock
                    | WriteLock
                    | CondWait
                    | CondWake
                    | CondSignal
                    | CondBroadcast
                    | SemWait
                    | SemPost
                    | Barrier
                    | Once
                    | FutexWait
                    | FutexWake
                    | Reset
            )
    }

    /// Whether a later read of the object can read from this.
    #[inline]
    pub fn is_memory_write(&self) -> bool {
        use OpKind::*;
        matches!(self.kind(), AtomicStore | AtomicRmw | DataWrite)
    }

    /// Whether this reads memory.
    #[inline]
    pub fn is_memory_read(&self) -> bool {
        use OpKind::*;
        matches!(self.kind(), AtomicLoad | AtomicRmw | DataRead)
    }

    /// The objects as keys of one space: thread ids do not collide with addresses. 0 is none.
    #[inline]
    pub fn keys(&self) -> [u64; 2] {
        use OpKind::*;
        match self.kind() {
            Start | Exit | Create | Join | Signal => [self.object | THREAD_SPACE, 0],
            // The descriptor, and the channel that it shares with the other end.
            Io => [self.object | IO_SPACE, self.other],
            _ => [self.object, self.other],
        }
    }
}

/// The objects of timers: [`TIMER_STEP`] apart, where there is no memory. The first three are those
/// of `setitimer`.
pub const TIMERS: core::ops::Range<u64> = 0x4a00_0000_0000..0x4a00_0001_0000;
/// The distance from one timer to the next in [`TIMERS`].
pub const TIMER_STEP: u64 = 16;

/// The object of [`OpKind::Other`] if that uses a System V queue or semaphore. Their ids differ
/// from execution to execution.
pub const SYSTEM_V: u64 = 0x4a00_0002_0000;

/// The object of [`OpKind::Other`] if a function of the C library uses what it keeps in memory from
/// call to call.
pub const LIBRARY_STATE: u64 = 0x4a00_0003_0000;
/// The other object of such a step that sees what is outside memory, such as files.
pub const SEES_OUTSIDE: u64 = 1;

/// Thread numbers are below this.
const FIRST_ADDRESS: u64 = 1 << 16;

const THREAD_SPACE: u64 = 1 << 63;
const IO_SPACE: u64 = 1 << 62;

/// Whether the order of two operations of different threads can matter: they touch a common object
/// and do not both read it. This is conservative: fences, and unknown operations, depend on
/// everything.
///
/// `ReadLock` counts as a read: two readers commute. An `Unlock` ends a read lock. It does not
/// commute with a `WriteLock` that it lets in, nor (conservatively) with another reader.
#[inline]
pub fn dependent(a: &Op, b: &Op) -> bool {
    match (a.class(), b.class()) {
        (Class::Local, _) | (_, Class::Local) => false,
        (Class::Global, _) | (_, Class::Global) => true,
        (Class::Reads, Class::Reads) => false,
        _ => share_object(a, b),
    }
}

#[inline]
fn share_object(a: &Op, b: &Op) -> bool {
    let is_range = |op: &Op| op.kind() == OpKind::Free || op.is_wide();
    if is_range(a) || is_range(b) {
        return a.lies_in_memory() && b.lies_in_memory() && overlap(a, b);
    }
    let (x, y) = (a.keys(), b.keys());
    let shared = |k: u64| k != 0 && (k == y[0] || k == y[1]);
    shared(x[0]) || shared(x[1])
}

#[cold]
fn overlap(a: &Op, b: &Op) -> bool {
    let range = |op: &Op| {
        let end =
            if op.kind() == OpKind::Free { op.other.max(op.object + 1) } else { op.object.max(op.other) + 1 };
        (op.object, end)
    };
    let ((a0, a1), (b0, b1)) = (range(a), range(b));
    a0 < b1 && b0 < a1
}

/// [`dependent`] for sleep sets under fair scheduling. What the fair scheduler lets run depends on
/// which steps lie between two yields of a thread, so a yield keeps its place among all steps. Then
/// equivalent executions have the same priorities, and leaving one of them out loses nothing.
#[inline]
pub fn dependent_when_fair(a: &Op, b: &Op) -> bool {
    a.yields() || b.yields() || dependent(a, b)
}
