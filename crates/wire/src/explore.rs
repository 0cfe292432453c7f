//! Orders in, traces out: the memory that the driver of `explore` and one worker process share.
//!
//! The file `explore` of the session's folder has a [`Header`], then [`Header::slots`] slots of
//! [`Header::slot_bytes`] each, used in turn. The driver writes an order into slot `n % slots` and
//! increments [`Header::posted`]. The worker executes orders in that sequence and increments
//! [`Header::done`]. A side that has nothing to do sets `worker_sleeps` or `driver_sleeps` and
//! waits on the count as a futex.
//!
//! Nothing is copied: the driver reads traces where the worker wrote them, and traces survive
//! whatever ends the worker.

use core::sync::atomic::{AtomicU32, AtomicU64};

use raddle_explore::hidden::Touch;
use raddle_explore::races::{CALLERS, GranuleAccess};
use raddle_explore::{
    Choice, Constraint, LogicalThread, MAX_CONSTRAINTS, MAX_THREADS, Op, StateKey, Step, TailWords, Weight,
};

pub const MAGIC: u64 = u64::from_le_bytes(*b"raddlexp");

/// The name of the file in the session's folder.
pub const FILE: &str = "explore";

#[repr(C)]
pub struct Header {
    pub magic: u64,
    pub version: u32,
    pub slots: u32,
    /// The number of steps that a slot has room for.
    pub steps_room: u32,
    pub prefix_room: u32,
    pub wide_room: u32,
    /// [`flag`]s.
    pub flags: u32,
    /// An execution is cut off after this many steps. At most `steps_room`.
    pub max_steps: u32,
    /// The number of threads to prepare, in addition to the first.
    pub donors: u32,
    /// The number of program counters in the table behind the header: see [`Header::points_at`].
    pub points: u32,
    /// With [`flag::TRAP_AT_FAILURE`]: the number of the data race at which to stop. 0: none.
    pub wanted: u32,
    /// The number of entries in the table behind the points: see [`site`].
    pub quiet: u32,
    pub reserved: u32,

    pub posted: AtomicU32,
    pub done: AtomicU32,
    pub worker_sleeps: AtomicU32,
    pub driver_sleeps: AtomicU32,
    /// Not 0: the worker ends before its next order.
    pub stop: AtomicU32,
    /// One of [`status`].
    pub status: AtomicU32,
    /// Details about the status.
    pub detail: AtomicU64,
    /// The number of bytes that are restored between two executions.
    pub snapshot_bytes: AtomicU64,
    /// The process that executes orders. 0: none yet. A process that it starts may be instrumented
    /// too, and runs unscheduled.
    pub owner: AtomicU64,
    pub reserved2: [u64; 3],
}

/// [`Header::flags`].
pub mod flag {
    /// Each order runs in a process of its own. Otherwise memory is restored in place.
    pub const FORK: u32 = 1 << 0;
    /// A sleep does not count as a yield (5.2).
    pub const SLEEP_IS_NOT_YIELD: u32 = 1 << 1;
    /// Waits may wake spuriously.
    pub const SPURIOUS: u32 = 1 << 2;
    /// Use real threads that hand over by futex, with one execution per process.
    pub const OS_THREADS: u32 = 1 << 3;
    /// Trap at the failure, for a debugger.
    pub const TRAP_AT_FAILURE: u32 = 1 << 4;
    /// With [`FORK`]: the process is copied before `main`, so that each execution has its own copy
    /// of what the program opens.
    pub const FORK_AT_START: u32 = 1 << 6;
    /// A load may choose among the values that the C11 model allows.
    pub const C11: u32 = 1 << 7;
    /// When an execution ends, flush what the program has printed and not yet written: the driver
    /// reads it.
    pub const FLUSH: u32 = 1 << 16;
    /// Each data access is a scheduling point, not only those in the table.
    pub const ALL_DATA: u32 = 1 << 5;
    /// Record the data races of each execution in its slot.
    pub const RACES: u32 = 1 << 8;
    /// Record in the slot the heap blocks of the execution that nothing points to at its end.
    pub const LEAKS: u32 = 1 << 9;
    /// Record in the slot what the program prints on descriptor 1, which is a file of the session.
    pub const OUTPUT: u32 = 1 << 10;
    /// The program is not instrumented: the runtime is preloaded and sees only calls.
    pub const PLAIN: u32 = 1 << 11;
    /// The program is not instrumented, and executes a copy of its code that has probes
    /// ([`crate::relocated`]).
    pub const MACHINE_CODE: u32 = 1 << 17;
    /// Record the call stack of each step too.
    pub const STACKS: u32 = 1 << 12;
    /// The program uses Rust's libtest, which would run its test in a thread of its own. The
    /// runtime tells libtest that threads are not available, so it runs the test in the first
    /// thread.
    pub const LIBTEST: u32 = 1 << 13;
    /// Record in the slot the hidden races of each execution, and what keeps the search from being
    /// complete: see [`super::gap`].
    pub const HIDDEN: u32 = 1 << 14;
    /// Report threads that spin without letting others run.
    pub const SPINS: u32 = 1 << 15;
    /// Slots have room for the keys of states, which some orders ask for.
    pub const STATES: u32 = 1 << 18;
}

/// [`Slot::gaps`]: why executions like this one may exist that no schedule leads to. Add numbers,
/// but never change one.
pub mod gap {
    /// There was more memory, or more objects or threads, than the detector of hidden races has
    /// room for.
    pub const FORGOT: u32 = 1 << 0;
    /// The execution failed while other threads were still running, so it is not known what they
    /// would have done.
    pub const EARLY: u32 = 1 << 1;
    /// An access of many bytes that races with others is one step.
    pub const WIDE: u32 = 1 << 2;
    /// A thread read the same place repeatedly, and not every read was a step.
    pub const REPEATED: u32 = 1 << 3;
    /// A signal or a cancellation arrived. These arrive only at steps.
    pub const SIGNAL: u32 = 1 << 4;
    /// Files, folders, descriptors or limits were changed, and the calls that do this are not
    /// steps.
    pub const OUTSIDE: u32 = 1 << 5;
    /// Memory was freed, other memory allocated, and atomics held addresses of such blocks: an
    /// address that comes back was not tried.
    pub const REUSE: u32 = 1 << 6;
    /// The program made another process, in which nothing is explored.
    pub const PROCESS: u32 = 1 << 7;
    /// Memory may have two addresses: a file, or an object of shared memory, is mapped.
    pub const MAPPED_FILE: u32 = 1 << 8;
    /// A system call was made by `syscall`, and what it does was not followed.
    pub const SYSTEM_CALL: u32 = 1 << 9;
    /// Threads looked at clocks for longer than another waits with a time-out, and its time-out did
    /// not come.
    pub const CLOCK: u32 = 1 << 10;
    /// More imported functions were called than [`Slot::called_names`](super::Slot) has room for.
    pub const MANY_CALLED: u32 = 1 << 11;
    /// Threads read clocks, which is no step, while others read them or made time pass.
    pub const CLOCKS: u32 = 1 << 12;
    /// The program asked for something that differs from run to run: random numbers, the processor
    /// that it runs on, the load, free memory.
    pub const CHANCE: u32 = 1 << 13;
    /// The locale of the program was changed. Most functions that depend on it are not steps.
    pub const LOCALE: u32 = 1 << 14;
    /// A thread made steps while it held a lock of the C library (`flockfile`, functions of
    /// `fopencookie`), and was not interrupted there.
    pub const UNINTERRUPTED: u32 = 1 << 15;
}

/// A scheduling point in the header's table: a program counter, and what else is known about the
/// access.
pub mod point {
    const ADDRESS: u64 = (1 << 56) - 1;
    const READS_FIRST: u64 = 1 << 63;
    const WIDTH_AT: u32 = 56;

    /// The program counter.
    pub fn address(point: u64) -> u64 {
        point & ADDRESS
    }

    /// A write at `pc` that first reads a word of this many bytes (a power of two), as for a
    /// bit-field.
    pub fn reads_first(pc: u64, log2_width: u32) -> u64 {
        pc | READS_FIRST | u64::from(log2_width) << WIDTH_AT
    }

    /// The number of bytes that the access reads before it writes; none if it does not.
    pub fn width_read_first(point: u64) -> Option<usize> {
        (point & READS_FIRST != 0).then(|| 1 << (point >> WIDTH_AT & 7))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_point_keeps_what_it_was_made_of() {
            let point = reads_first(0x5555_5555_1234, 2);
            assert_eq!((address(point), width_read_first(point)), (0x5555_5555_1234, Some(4)));
            assert_eq!(width_read_first(0x5555_5555_1234), None);
        }
    }
}

numbered! {
    /// [`Header::status`].
    pub enum Status: u32 {
        /// The program has not created a thread yet.
        Starting = 0,
        /// The worker executes orders.
        Ready = 1,
        /// The worker ends because the driver asked it to.
        Stopped = 2,
        /// The program ended without creating a thread; `detail` is its status.
        NoThreads = 3,
        /// The program creates more threads than there are donors. `detail` is a lower bound for
        /// the number.
        MoreDonors = 4,
        /// The program does something that cannot be undone in place. `detail` is an [`Outside`].
        /// Use [`flag::FORK`], and [`flag::FORK_AT_START`] for what is
        /// [shared](Outside::is_shared_with_forks).
        NeedsFork = 5,
        /// This machine does not support it. `detail` is a [`Cannot`].
        Cannot = 6,
    }
}

/// [`Slot::awaits`]: what may arrive from outside the program.
pub mod awaits {
    /// A thread waits for a signal that another process can send.
    pub const SIGNAL: u32 = 1 << 0;
    /// A thread waits on a listening socket.
    pub const CONNECTION: u32 = 1 << 1;
    /// The program handles a signal that people send to end it, or to make it reread its files.
    pub const HANDLER: u32 = 1 << 2;
    /// The process became another program by `exec`, and ended as that program did.
    pub const OTHER_PROGRAM: u32 = 1 << 3;
    /// A thread waits for an object in shared memory while a child process runs, or for a System V
    /// queue or semaphore that other processes can find.
    pub const PROCESS: u32 = 1 << 4;
}

numbered! {
    /// Why restoring memory does not undo an execution.
    pub enum Outside: u64 {
        File = 1,
        PipeOrSocket = 2,
        SharedMemory = 3,
        Process = 4,
        Timer = 5,
        Signal = 6,
        Mapping = 7,
        Library = 8,
        /// It writes to files, or makes, renames or removes them.
        Changes = 9,
    }
}

impl Outside {
    /// Whether a process forked at the first thread shares it with earlier ones. Then the process
    /// must be forked at the start of the program.
    pub fn is_shared_with_forks(self) -> bool {
        use Outside::*;
        matches!(self, PipeOrSocket | Timer | SharedMemory | Changes)
    }
}

numbered! {
    /// What a worker cannot do.
    pub enum Cannot: u64 {
        /// The program becomes another one by `exec` before its first thread, in a process made for
        /// one order.
        Exec = 3,
        /// No FSGSBASE.
        NoFsgsbase = 1,
        /// OpenMP constructs that are not scheduled.
        OpenMp = 2,
        /// Operations of the system call `futex` other than to wait and to wake.
        Futex = 4,
        /// The program sends itself a signal that it reads from a descriptor (`signalfd`).
        SignalDescriptor = 5,
    }
}

numbered! {
    /// How an execution ended, as the worker saw it.
    pub enum ExecutionEnd: u32 {
        /// It is still running, or the worker died in it.
        Unfinished = 0,
        /// The process ended by `exit`; `detail` is the status.
        Exit = 1,
        /// `abort`, but not by an assertion or an exception.
        Abort = 2,
        /// `message` has expression, file, line and function.
        Assertion = 3,
        /// An uncaught C++ exception.
        Exception = 4,
        /// `detail` is the signal, `address` what was accessed.
        Signal = 5,
        Deadlock = 6,
        StepLimit = 7,
        /// A freed block was accessed at `address`.
        UseAfterFree = 8,
        DoubleFree = 9,
        /// The worker could not continue in place. The driver must repeat the order after it
        /// changes the worker.
        Retry = 10,
        /// The process has become another program by `exec`, and that program is still running.
        Exec = 11,
    }
}

pub const FRAMES: usize = 24;
pub const ENDS: usize = 64;
pub const MESSAGE: usize = 512;

/// Program counters of a step, innermost first; 0: no further caller.
pub type Stack = [u64; 12];

/// Where a thread was when the execution ended.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct End {
    pub thread: LogicalThread,
    /// 1: it had ended.
    pub ended: u16,
    pub depth: u16,
    /// One more than the number of the thread that holds the mutex it waits for; 0: not known.
    pub holder: u16,
    /// What it was about to do, or was waiting for.
    pub pending: Op,
    /// Program counters, innermost first.
    pub frames: [u64; FRAMES],
}

/// The number of data races of one execution that there is room for.
pub const RACES: usize = 4;

/// Two unordered accesses, the later one first.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RacingPair {
    /// By [`raddle_explore::races::number`].
    pub number: u32,
    pub reserved: u32,
    /// The granule of 8 bytes in which they meet.
    pub granule: u64,
    pub access: [GranuleAccess; 2],
}

/// The number of hidden races of one execution that there is room for. The next search shows those
/// that are left out.
pub const HIDDEN: usize = 16;
/// The maximum number of function names that an execution reports.
pub const CALLED: usize = 128;

/// Two accesses that no scheduling points order, by [`raddle_explore::hidden`].
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hidden {
    pub access: [Touch; 2],
    /// The callers of the later access. 0: no further caller.
    pub callers: [u64; CALLERS],
}

/// The number of places of leaked blocks that there is room for, and how many bytes of output.
pub const LEAKS: usize = 4;
pub const OUTPUT: usize = 2048;

/// Heap blocks that were allocated at one place and that nothing points to any more.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Leak {
    /// Equal for equal places.
    pub number: u32,
    /// The number of blocks, and their total size in bytes.
    pub blocks: u32,
    pub bytes: u64,
    /// The thread that allocated the first block.
    pub thread: u64,
    /// Where the blocks were allocated: program counters, innermost first. 0: no further caller.
    pub frames: [u64; 1 + CALLERS],
}

/// The fixed part of a slot.
#[repr(C)]
pub struct Slot {
    // The order.
    pub tail: TailWords,
    pub prefix: u32,
    pub weights: u32,
    pub constraints: u32,
    /// The low half of a program counter at which a thread of the execution spun for long without
    /// `pause` or yield. 0: none.
    pub spins_at: u32,
    /// The thread that spun.
    pub spins_by: u32,
    /// An [`Unknowable`](raddle_explore::Unknowable), if the order asked for the keys of states and
    /// they cannot be known. 0: they are known, as far as there are keys.
    pub unknowable: u32,
    pub constraint: [Constraint; MAX_CONSTRAINTS],
    // The execution.
    pub steps: u32,
    pub wide: u32,
    /// An [`ExecutionEnd`].
    outcome: u32,
    /// The step at which the prefix could not be followed, plus 1; 0: it was followed.
    pub diverged: u32,
    /// The thread that failed.
    pub thread: u32,
    pub threads: u32,
    pub panics: u32,
    pub ends: u32,
    pub detail: u64,
    /// Not 0: the keys of the steps from the end of the prefix on are valid.
    pub keyed: u64,
    /// What was accessed or freed. If Rust threads panicked and the process ended by `exit`: a
    /// digest of the place where the first one panicked, with that thread's number in the lowest 16
    /// bits.
    pub address: u64,
    /// The number of steps at the end in which each thread only returned to a state in which it had
    /// been before.
    pub unchanged: u32,
    /// [`awaits`] of the program and of the threads that waited when no thread could continue.
    pub awaits: u32,
    pub message_len: u64,
    pub message: [u8; MESSAGE],
    pub end: [End; ENDS],
    /// The number of valid entries in `race`.
    pub races: u64,
    pub race: [RacingPair; RACES],
    /// The number of valid entries in `hidden`, and [`gap`]s.
    pub hiddens: u32,
    pub gaps: u32,
    pub hidden: [Hidden; HIDDEN],
    /// The number of valid entries in `called_names`: hashes of the names of imported functions
    /// that were called while there were several threads.
    pub called: u64,
    pub called_names: [u64; CALLED],
    /// The number of valid entries in `leak`.
    pub leaks: u64,
    pub leak: [Leak; LEAKS],
    /// A hash of everything that was printed, its length, and its beginning.
    pub output_hash: u64,
    pub output_len: u64,
    pub output: [u8; OUTPUT],
    pub weight: [Weight; MAX_THREADS],
}

impl Slot {
    /// How the execution ended. None: the target has written over it.
    pub fn outcome(&self) -> Option<ExecutionEnd> {
        ExecutionEnd::from_number(self.outcome)
    }

    pub fn set_outcome(&mut self, end: ExecutionEnd) {
        self.outcome = end.number();
    }
}

impl Header {
    pub fn new(slots: u32, steps_room: u32, flags: u32, donors: u32, max_steps: u32) -> Header {
        Header {
            magic: MAGIC,
            version: crate::VERSION,
            slots,
            steps_room,
            prefix_room: steps_room,
            wide_room: steps_room * 2,
            flags,
            max_steps,
            donors,
            points: 0,
            wanted: 0,
            quiet: 0,
            reserved: 0,
            posted: AtomicU32::new(0),
            done: AtomicU32::new(0),
            worker_sleeps: AtomicU32::new(0),
            driver_sleeps: AtomicU32::new(0),
            stop: AtomicU32::new(0),
            status: AtomicU32::new(Status::Starting.number()),
            detail: AtomicU64::new(0),
            snapshot_bytes: AtomicU64::new(0),
            owner: AtomicU64::new(0),
            reserved2: [0; 3],
        }
    }

    const fn keys_room(&self) -> usize {
        if self.flags & flag::STATES != 0 { self.steps_room as usize } else { 0 }
    }

    const fn stacks_room(&self) -> usize {
        if self.flags & flag::STACKS != 0 { self.steps_room as usize } else { 0 }
    }

    pub const fn slot_bytes(&self) -> usize {
        let variable = self.steps_room as usize * size_of::<Step>()
            + self.wide_room as usize * 8
            + self.prefix_room as usize * size_of::<Choice>()
            + self.keys_room() * size_of::<StateKey>()
            + self.stacks_room() * size_of::<Stack>();
        (size_of::<Slot>() + variable).next_multiple_of(4096)
    }

    /// The points of the header's table come first: the sorted program counters at which an access
    /// is a scheduling point.
    pub const fn points_at(&self) -> usize {
        size_of::<Header>().next_multiple_of(4096)
    }

    /// Then comes what is known about the executable's atomic operations and frees, sorted: see
    /// [`site`].
    pub const fn quiet_at(&self) -> usize {
        self.points_at() + (self.points as usize * 8).next_multiple_of(4096)
    }

    pub const fn slot_at(&self, order: u32) -> usize {
        let quiet = (self.quiet as usize * 8).next_multiple_of(4096);
        self.quiet_at() + quiet + (order % self.slots) as usize * self.slot_bytes()
    }

    pub const fn bytes(&self) -> usize {
        self.slot_at(0) + self.slots as usize * self.slot_bytes()
    }
}

/// What is known about places in the executable. An entry is an address in its file, that of the
/// instruction after a call, with one of the first three. Without any of them, the operation there
/// is not a scheduling point.
pub mod site {
    /// The operation takes a mutex whose word is 0 when it is free, and waits until it has it.
    pub const LOCK: u64 = 1 << 62;
    /// The operation releases a mutex.
    pub const UNLOCK: u64 = 2 << 62;
    /// The operation takes a mutex if it is free.
    pub const TRY_LOCK: u64 = 3 << 62;
    /// The call is not that of the operation, but of a function that consists of it: unoptimised
    /// Rust has such functions.
    pub const WRAPPED: u64 = 1 << 61;
}

/// The parts of a slot.
pub struct Parts<'a> {
    pub slot: &'a mut Slot,
    pub prefix: &'a mut [Choice],
    pub steps: &'a mut [Step],
    pub wide: &'a mut [u64],
    /// One for each step, if stacks were requested.
    pub stacks: &'a mut [Stack],
    /// One for each step, if there is room for them.
    pub keys: &'a mut [StateKey],
}

/// The parts of the slot at `at`.
///
/// # Safety
/// `at` is the place that [`Header::slot_at`] gives, in a mapping of the whole file, and nobody
/// else uses the slot at the same time.
pub unsafe fn parts<'a>(header: &Header, at: *mut u8) -> Parts<'a> {
    let (steps, wide) = (header.steps_room as usize, header.wide_room as usize);
    // SAFETY: the caller guarantees the memory; any bits are a valid value of each of the types.
    unsafe {
        let steps_at = at.add(size_of::<Slot>());
        let wide_at = steps_at.add(steps * size_of::<Step>());
        // The parts with the widest alignment come first.
        let stacks_at = wide_at.add(wide * 8);
        let keys_at = stacks_at.add(header.stacks_room() * size_of::<Stack>());
        let prefix_at = keys_at.add(header.keys_room() * size_of::<StateKey>());
        Parts {
            slot: &mut *at.cast(),
            prefix: core::slice::from_raw_parts_mut(prefix_at.cast(), header.prefix_room as usize),
            steps: core::slice::from_raw_parts_mut(steps_at.cast(), steps),
            wide: core::slice::from_raw_parts_mut(wide_at.cast(), wide),
            stacks: core::slice::from_raw_parts_mut(stacks_at.cast(), header.stacks_room()),
            keys: core::slice::from_raw_parts_mut(keys_at.cast(), header.keys_room()),
        }
    }
}

const _: () = assert!(size_of::<Slot>().is_multiple_of(8) && size_of::<End>() == 224);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_lie_one_behind_the_other_and_come_round() {
        let mut header = Header::new(4, 1000, 0, 8, 1000);
        (header.points, header.quiet) = (1000, 2000);
        assert!(header.quiet_at() >= header.points_at() + 8000);
        assert!(header.slot_at(0) >= header.quiet_at() + 16_000);
        assert_eq!(header.slot_at(1) - header.slot_at(0), header.slot_bytes());
        assert_eq!(header.slot_at(4), header.slot_at(0));
        assert_eq!(header.bytes(), header.slot_at(3) + header.slot_bytes());
    }

    #[test]
    fn the_parts_of_a_slot_do_not_overlap() {
        let header = Header::new(2, 100, flag::STACKS | flag::STATES, 8, 100);
        let mut memory = vec![0u64; header.slot_bytes() / 8];
        // SAFETY: the memory is one slot, and only this code uses it.
        let parts = unsafe { parts(&header, memory.as_mut_ptr().cast()) };
        parts.prefix.fill(Choice::value(1));
        parts.wide.fill(7);
        parts.stacks.fill([9; 12]);
        parts.keys.fill(StateKey([5; 2]));
        parts.steps.fill(Step::default());
        parts.slot.set_outcome(ExecutionEnd::Exit);
        assert!(parts.prefix.iter().all(|c| *c == Choice::value(1)));
        assert_eq!(parts.stacks, [[9; 12]; 100]);
        assert_eq!(parts.keys, [StateKey([5; 2]); 100]);
        assert!(parts.wide.iter().all(|w| *w == 7) && parts.slot.outcome() == Some(ExecutionEnd::Exit));
    }
}
