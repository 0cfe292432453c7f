//! Instructions. Eight bytes each, so that a cache line holds eight.

/// The layout of a scalar in memory, and how arithmetic on it wraps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Scalar {
    pub const fn size(self) -> u32 {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    pub const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    pub const fn is_signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// Brings a 64-bit result back into the type's range, extended as convention 1 demands.
    #[inline(always)]
    pub const fn wrap(self, v: u64) -> u64 {
        match self {
            Self::I8 => v as i8 as i64 as u64,
            Self::U8 => v as u8 as u64,
            Self::I16 => v as i16 as i64 as u64,
            Self::U16 => v as u16 as u64,
            Self::I32 => v as i32 as i64 as u64,
            Self::U32 | Self::F32 => v as u32 as u64,
            Self::I64 | Self::U64 | Self::F64 => v,
        }
    }
}

/// What kind of memory access an instruction makes, for the race rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum AccessClass {
    Plain,
    /// May be shared with a signal handler on the same program without a race.
    Volatile,
    /// Initialisation of fresh storage or the front end's own bookkeeping. It is not checked for
    /// races.
    Hidden,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Bin {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Un {
    Neg,
    /// Bitwise complement.
    Not,
    /// 1 if zero, else 0.
    IsZero,
    /// 0 if zero, else 1.
    Truth,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum MemoryOrdering {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

impl MemoryOrdering {
    pub const fn acquires(self) -> bool {
        matches!(self, Self::Acquire | Self::AcqRel | Self::SeqCst)
    }
    pub const fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcqRel | Self::SeqCst)
    }
}

/// The comments give the stack effect, with the top of the stack on the right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum AtomicInstr {
    /// `addr -> value`
    Load,
    /// `addr value -> `
    Store,
    /// `addr value -> old`
    Swap,
    /// `addr value -> old`
    Rmw(Bin),
    /// `~(old & value)`: `addr value -> old`
    Nand,
    /// `addr expected desired -> old`; the store happens if `old == expected`.
    CompareSwap,
}

/// Operations on threads and synchronisation objects. Objects are named by their address and are
/// created on first use. The comments give the stack effect; every operation pushes exactly one
/// value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum SyncOp {
    /// `function argument -> handle`
    Start,
    /// `function argument id size -> handle`: a member of a team.
    StartMember,
    /// `handle -> result`; blocks.
    Join,
    /// `handle -> 0|1`: joins the thread and gives 0 if it has ended, else gives 1.
    TryJoin,
    /// `handle -> 0`
    Detach,
    /// `handle function -> 0`: at the next operation that blocks or sleeps, the thread calls the
    /// function with 0 instead.
    Cancel,
    /// `result -> 0`; the thread ends.
    ExitThread,
    /// `status -> 0`; the run ends.
    ExitProcess,
    /// ` -> handle`
    Current,
    /// ` -> id`
    TeamId,
    /// ` -> size`
    TeamSize,
    /// `lock flags -> 0`: (re)initialises the lock. Flag 1: recursive; flag 2: errors are returned,
    /// not reported; flag 4: robust, its owner may end while holding it.
    LockInit,
    /// `lock flags -> 0`: applies a static initialiser, unless the lock was initialised or used
    /// before.
    LockStatic,
    /// `lock -> 0`
    LockDestroy,
    /// `lock -> 0|1|2`: 1 if it failed, 2 if its last owner ended while holding it.
    Lock,
    /// `lock -> 0|1`: 0 if taken.
    TryLock,
    /// `lock -> 0|1`: blocks, but may give up.
    TimedLock,
    /// `lock -> 0`
    Unlock,
    /// `lock -> 0`
    ReadLock,
    TryReadLock,
    TimedReadLock,
    /// `lock -> 0`
    WriteLock,
    TryWriteLock,
    TimedWriteLock,
    /// `lock -> 0`: releases whichever side this thread holds.
    RwUnlock,
    /// `condition lock -> 0`
    Wait,
    /// `condition lock -> 0|1`: 1 when timed out.
    TimedWait,
    /// `condition -> 0`
    NotifyOne,
    NotifyAll,
    /// `semaphore count -> 0`
    SemInit,
    /// `semaphore -> 0`
    SemWait,
    /// `semaphore -> 0|1`
    SemTryWait,
    SemTimedWait,
    /// `semaphore -> 0`
    SemPost,
    /// `semaphore -> count`
    SemValue,
    /// `barrier count -> 0`
    BarrierInit,
    /// `barrier -> 0|1`: 1 for one of the waiters.
    BarrierWait,
    /// `once function -> 0`: the function takes no argument and runs at most once.
    Once,
    /// ` -> 0`
    Yield,
    /// ` -> 0`: lets others run for longer than `Yield` does.
    Sleep,
    /// `destructor -> key`
    KeyCreate,
    /// `key -> value`
    KeyGet,
    /// `key value -> 0`
    KeySet,
    /// `function argument -> 0`: from now on, the function may interrupt any thread at any time.
    Interrupt,
    /// `argument -> 0`: the function that was set up with this argument no longer interrupts.
    InterruptOff,
    /// ` -> 0`: blocks until an interrupt was handled, or gives up.
    Pause,
    /// `set -> old set`: the interrupts that this thread blocks, one bit each, counted from 1. An
    /// unknown set blocks all.
    SetMask,
    /// ` -> set`
    GetMask,
    /// `place -> 0`, and again with another value whenever `Jump` comes back to it. The place
    /// remembers the position.
    SetJump,
    /// `place value -> `: goes back to where the place was set, if that function has not returned.
    Jump,
    /// `timer function argument periodic -> 0`: calls the function on a thread of its own, any time
    /// from now, once or repeatedly.
    TimerStart,
    /// `timer -> 0`
    TimerStop,
    /// `timer -> 0`: stops it for good. Within a tick of the timer, another tick may already have
    /// begun.
    TimerEnd,
    /// `object -> 0`: everything this thread has done happens before what follows a later `Learn`
    /// of the object.
    Publish,
    /// `object -> 0`
    Learn,
    /// `addr size -> 0`: races on the range are not reported.
    Benign,
    /// `0|1 n -> 0`: stops checking the reads, or writes, of this thread. With a negative `n` they
    /// are checked again.
    Ignore,
}

impl SyncOp {
    /// Whether a thread with a pending cancellation ends here.
    pub const fn is_cancellation_point(self) -> bool {
        matches!(
            self,
            Self::Join
                | Self::Wait
                | Self::TimedWait
                | Self::SemWait
                | Self::SemTimedWait
                | Self::Sleep
                | Self::Pause
                | Self::Yield
        )
    }

    /// The number of values it pops.
    pub const fn arity(self) -> u32 {
        match self {
            Self::Current
            | Self::TeamId
            | Self::TeamSize
            | Self::Yield
            | Self::Sleep
            | Self::Pause
            | Self::GetMask => 0,
            Self::Start
            | Self::Cancel
            | Self::LockInit
            | Self::LockStatic
            | Self::Benign
            | Self::Ignore
            | Self::Wait
            | Self::TimedWait
            | Self::SemInit
            | Self::BarrierInit
            | Self::Once
            | Self::KeySet
            | Self::Jump
            | Self::Interrupt => 2,
            Self::StartMember | Self::TimerStart => 4,
            _ => 1,
        }
    }
}

/// Operations on ranges of memory. Every operation pushes exactly one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Intrinsic {
    /// `size -> addr`: content unknown.
    Alloc,
    /// `size -> addr`: content zero.
    AllocZero,
    /// `addr size -> addr`
    Realloc,
    /// `addr -> 0`
    Free,
    /// `size -> addr`: freed when the calling function returns.
    AllocFrame,
    /// `dst src size -> dst`
    Copy,
    /// `dst byte size -> dst`
    Fill,
    /// `a b size -> <0, 0, >0`
    Compare,
    /// `text -> length`
    TextLength,
    /// `a b max -> <0, 0, >0`
    TextCompare,
    /// `dst src max -> length`: with the terminator.
    TextCopy,
    /// `text byte -> addr or 0`
    TextFind,
    /// `addr size -> 0`: a read of the range.
    ReadRange,
    /// `addr size -> 0`: a write of unknown content.
    WriteRange,
    /// `addr size -> 0`: the content becomes unknown; no access is recorded.
    Havoc,
    /// `format arguments -> 0`: reads the texts that a `printf`-like format names.
    ReadFormat,
    /// ` -> value`: a fresh unknown.
    Unknown,
    /// `lo hi -> value`: a fresh concrete choice from the range. The runs together cover the range.
    Choose,
    /// `condition -> 0`: the run ends quietly if it is false.
    Assume,
    /// `addr -> size of the block it lies in`
    BlockSize,
    /// `value -> 0|1`: 0 if the value is uninterpreted.
    IsKnown,
    /// ` -> 0|1`: 1 if no thread was started yet.
    IsAlone,
    /// ` -> 0|1`: 1 if the calling function is its thread's outermost one.
    IsOutermost,
    /// `lock -> 0|1`: 1 if the calling thread holds the lock.
    Holds,
    /// `addr -> the 32 bits there`; no access is recorded.
    Peek,
}

impl Intrinsic {
    pub const fn arity(self) -> u32 {
        match self {
            Self::Unknown | Self::IsAlone | Self::IsOutermost => 0,
            Self::Alloc
            | Self::AllocZero
            | Self::Free
            | Self::AllocFrame
            | Self::TextLength
            | Self::Assume
            | Self::IsKnown
            | Self::Holds
            | Self::Peek
            | Self::BlockSize => 1,
            Self::Copy | Self::Fill | Self::Compare | Self::TextCompare | Self::TextCopy => 3,
            _ => 2,
        }
    }
}

/// The member that stands for an element of an array whose elements have an unknown type.
pub const UNKNOWN_ELEMENT: u32 = 2;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Instr {
    Nop,
    /// ` -> value`
    Int(i32),
    /// ` -> constants[n]`
    Const(u32),
    /// ` -> unknown`
    Unknown,
    /// ` -> address`. In a unit the operand is a symbol, in a program it is the address itself.
    GlobalAddr(u32),
    FuncAddr(u32),
    TlsAddr(u32),
    /// ` -> address` of a byte of this frame's memory.
    FrameAddr(u32),
    Get(u16),
    Set(u16),
    Tee(u16),
    /// `addr -> value`
    Load(Scalar, AccessClass),
    /// `addr value -> `
    Store(Scalar, AccessClass),
    /// `addr value -> value`
    StoreTee(Scalar, AccessClass),
    /// `addr -> value`: bits `.1 .. .1 + .2` of the scalar.
    LoadBits(Scalar, u8, u8),
    /// `addr value -> value`
    StoreBits(Scalar, u8, u8),
    /// `dst src -> `
    Copy(u32),
    /// Like `Copy`, for an object that is atomic as a whole.
    CopyAtomic(u32),
    /// `addr -> `: zeroes fresh storage.
    Zero(u32),
    Bin(Bin, Scalar),
    Un(Un, Scalar),
    Conv(Scalar, Scalar),
    /// `addr index -> addr + index * n`
    Index(u32),
    /// `addr -> addr + n`
    Field(u32),
    /// `addr -> address of a member at an unknown place`. [`UNKNOWN_ELEMENT`] is an array's element
    /// of an unknown type.
    UnknownField(u32),
    /// `a b -> (a - b) / n`
    PtrDiff(u32),
    Dup,
    Drop,
    Swap,
    Jump(u32),
    JumpIf(u32),
    JumpIfNot(u32),
    /// `value -> `
    Switch(u32),
    /// `args -> result`. The operand is a symbol in a unit, and a function's index in a program.
    Call(u32, u8),
    /// `args function -> result`
    CallPtr(u8),
    /// `value -> `
    Return,
    Sync(SyncOp),
    Atomic(AtomicInstr, Scalar, MemoryOrdering),
    Fence(MemoryOrdering),
    /// Assembly that may load and store. The accesses after it may be ordered.
    Assembly,
    Intrinsic(Intrinsic),
    /// ` -> address` of the arguments beyond the declared ones, eight bytes each.
    VarArgs,
    /// The front end could not make sense of the source here.
    Gap,
    /// ` -> object` of a class.
    New(u32),
    /// `length -> array`
    NewArray,
    /// `length length -> array` of two dimensions.
    NewGrid,
    /// `function target captured… -> delegate`
    NewDelegate(u8),
    /// `object -> value`: a field, or the result of its getter, by the class of the object. With
    /// `Hidden` it is not checked for races.
    GetMember(u32, AccessClass),
    /// `object value -> `
    SetMember(u32, AccessClass),
    /// `object -> address` of a field.
    MemberAddr(u32),
    /// `array index -> address`
    ElementAddr,
    /// `array i j -> address`
    GridAddr,
    /// `array -> length`
    ArrayLength,
    /// `object args -> result`: calls the method that the object's class has for a call site. The
    /// operand is the number of the site. Its upper eight bits are the number of arguments,
    /// including the object.
    CallMethod(u32),
    /// `delegate args -> result`
    CallDelegate(u8),
    /// `args -> unknown`: a call of an unknown function.
    CallNothing(u8),
    /// `object -> 0|1`: whether it is of a class or of one derived from it. With `u32::MAX`,
    /// whether it is an object at all.
    IsInstance(u32),
    /// `object -> `: a library method reads it, or writes it, as a whole.
    Touch(bool),
    /// ` -> unknown` that is not null.
    SomeObject,
    /// `exception -> `
    Throw,
    /// `task -> task`, which is done now. Only the function whose task is in this local waits: its
    /// caller goes on with that task. With `u16::MAX` the thread waits.
    Await(u16),
    /// `object -> 0|1`: waits until it is done, or until a timeout.
    AwaitTimed,
    /// ` -> 0`: finalizes unreachable objects.
    Collect,
    /// `object -> `: suppresses its finalizer.
    SuppressFinalizer,
}

impl Instr {
    /// The numbers of values it pops and pushes.
    pub const fn effect(self) -> (u32, u32) {
        match self {
            Self::Nop | Self::Jump(_) | Self::Fence(_) | Self::Assembly | Self::Gap => (0, 0),
            Self::Int(_)
            | Self::Const(_)
            | Self::Unknown
            | Self::GlobalAddr(_)
            | Self::FuncAddr(_)
            | Self::TlsAddr(_)
            | Self::FrameAddr(_)
            | Self::Get(_)
            | Self::VarArgs => (0, 1),
            Self::Set(_) | Self::Zero(_) | Self::Drop | Self::Return => (1, 0),
            Self::JumpIf(_) | Self::JumpIfNot(_) | Self::Switch(_) => (1, 0),
            Self::Tee(_) | Self::Load(..) | Self::LoadBits(..) | Self::Un(..) | Self::Conv(..) => (1, 1),
            Self::Field(_) | Self::UnknownField(_) => (1, 1),
            Self::Store(..) | Self::Copy(_) | Self::CopyAtomic(_) => (2, 0),
            Self::StoreTee(..) | Self::StoreBits(..) | Self::Bin(..) => (2, 1),
            Self::Index(_) | Self::PtrDiff(_) => (2, 1),
            Self::Dup => (1, 2),
            Self::Swap => (2, 2),
            Self::New(_) | Self::SomeObject | Self::Collect => (0, 1),
            Self::NewArray | Self::MemberAddr(_) | Self::GetMember(..) | Self::ArrayLength => (1, 1),
            Self::IsInstance(_) | Self::Await(_) | Self::AwaitTimed => (1, 1),
            Self::NewGrid | Self::ElementAddr => (2, 1),
            Self::GridAddr => (3, 1),
            Self::NewDelegate(n) => (n as u32 + 2, 1),
            Self::SetMember(..) => (2, 0),
            Self::Touch(_) | Self::Throw | Self::SuppressFinalizer => (1, 0),
            Self::CallMethod(site) => (site >> 24, 1),
            Self::CallDelegate(n) => (n as u32 + 1, 1),
            Self::CallNothing(n) => (n as u32, 1),
            Self::Call(_, n) => (n as u32, 1),
            Self::CallPtr(n) => (n as u32 + 1, 1),
            Self::Sync(op) => (op.arity(), 1),
            Self::Intrinsic(op) => (op.arity(), 1),
            Self::Atomic(op, ..) => match op {
                AtomicInstr::Load => (1, 1),
                AtomicInstr::Store => (2, 0),
                AtomicInstr::Swap | AtomicInstr::Rmw(_) | AtomicInstr::Nand => (2, 1),
                AtomicInstr::CompareSwap => (3, 1),
            },
        }
    }

    /// Its jump target, if it has one. The targets of a switch are in its table.
    pub const fn jump_target(self) -> Option<u32> {
        match self {
            Self::Jump(t) | Self::JumpIf(t) | Self::JumpIfNot(t) => Some(t),
            _ => None,
        }
    }

    /// True when the next instruction is not reached by falling through.
    pub const fn ends_block(self) -> bool {
        matches!(self, Self::Jump(_) | Self::Switch(_) | Self::Return | Self::Throw)
    }
}

const _: () = assert!(size_of::<Instr>() == 8);
