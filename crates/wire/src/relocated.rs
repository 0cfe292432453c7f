//! The copy of an uninstrumented object's code, with probes in it. An object is the executable or a
//! shared library.
//!
//! The driver writes that of the executable before the target starts, and that of a library when a
//! runtime asks for it. The runtime maps it near the object, fills [`RelocatedHeader::slots`] and
//! makes each function begin with a jump into the copy. All addresses in the file are offsets. At
//! [`RelocatedHeader::distance`] from the object it can be used as it is; at another distance the
//! runtime corrects what `moved` lists.
//!
//! To ask about a library, a runtime writes two numbers to `ask`: its process's and the question's.
//! The path is in the file [`QUESTION`], and the answer in the plan of that number: the name of the
//! copy in the session's folder, or nothing.
//!
//! The file begins with a [`RelocatedHeader`]. Behind it are tables of `u32`, at the offsets that
//! the header names, and then the code:
//!
//! | table | entries | what |
//! |---|---|---|
//! | `map` | one for each byte of the text | where the copy of the instruction that begins there is in the code, plus one; 0: nowhere |
//! | `short` | one for each loop that is checked as it is left | how often it touched little; behind `map` |
//! | `back` | pairs, sorted | offset in the code, offset in the text of the instruction that it is a copy of |
//! | `patches` | pairs | offset in the text of a function, offset of its copy in the code |
//! | `loads` | pairs, sorted | offset in the code behind the probe of a load, offset of the way that acquires after the load |
//! | `atomics` | one each | distance of a variable that an atomic instruction names from the text |
//! | `relaxed` | one each | the same of a variable that is atomic by its type only |
//! | `poisoned` | one each | offset in the text of an instruction to overwrite with a trap; for tests |
//! | `moved` | one each | offset in the code of a 32-bit distance to something in the object; behind the code |

/// The file's name in the session's folder.
pub const FILE: &str = "relocated";
/// Copies of libraries: this and a number.
pub const LIBRARY: &str = "relocated.";
/// The path of the library that process *p* asks about in its question *n*: this, *p*, a dot, *n*.
pub const QUESTION: &str = "library.";
/// Another one for each layout of the file or of its slots: copies are kept between versions.
pub const MAGIC: u64 = u64::from_le_bytes(*b"raddler8");

/// What the code calls, by its place in [`RelocatedHeader::slots`].
pub mod slot {
    /// Reads and writes of 1, 2, 4, 8 and 16 bytes: this and the base-2 logarithm of the size; of
    /// other sizes: this and [`RANGE`]. These two are added where they hold: nobody looks at the
    /// flags any more; the program uses neither xmm14 nor xmm15.
    pub const READ: usize = 0;
    pub const WRITE: usize = 6;
    pub const FLAGS_DEAD: usize = 12;
    pub const VECTORS_FREE: usize = 24;
    /// rdi: address, rsi: length.
    pub const RANGE: usize = 5;
    /// Before and after an atomic instruction.
    pub const RELEASE: usize = 48;
    pub const ACQUIRE: usize = 49;
    /// Before and after a call.
    pub const ENTER: usize = 50;
    pub const LEAVE: usize = 51;
    /// rax: an address of the object, which becomes that of its copy. The function is in the file
    /// itself, at [`super::RelocatedHeader::translate`].
    pub const TRANSLATE: usize = 52;
    /// `movs` and `stos`; rsi: a [`super::string`] operation.
    pub const STRING: usize = 53;
    /// After a load of a variable that synchronises.
    pub const ACQUIRE_LOADED: usize = 54;
    /// Before a load that is known to be atomic.
    pub const LOAD: usize = 55;
    /// Before an atomic instruction that is known to order nothing.
    pub const RELAXED: usize = 56;
    /// The slow half of a probe whose check is in the code: this and the base-2 logarithm of the
    /// size, and five more for a write.
    pub const SLOW: usize = 57;
    pub const SLOW_WRITE: usize = SLOW + 5;
    /// No functions: where, seen from the thread pointer, a thread keeps the slots that its writes
    /// and its reads of eight bytes leave, in four lanes each.
    pub const OWN_WRITE: usize = 67;
    pub const OWN_READ: usize = 68;
    /// No function: not 0 if the program uses one of xmm8 to xmm15. The driver has set it.
    pub const HIGH_VECTORS: usize = 69;
    /// What a loop has touched, as it is left: rdi: address; rsi: from the first to the last
    /// iteration, negative if there was none; pushed: the length of an iteration's part, and the
    /// number of the loop in `short`, plus one, above [`super::LOOP_LENGTH_BITS`]; 0: it does not
    /// count.
    pub const LOOP_READ: usize = 70;
    pub const LOOP_WRITE: usize = 71;
    /// No functions: not 0 if loops may be checked as they are left, whatever they access, and if
    /// all their accesses are of 16 bytes or more.
    pub const LATE: usize = 72;
    pub const LATE_VECTORS: usize = 73;
    /// No function: not 0 if the code has atomic operations, or the program atomic variables. The
    /// driver has set it.
    pub const ATOMICS: usize = 74;
    /// As [`SLOW`], in the copy of such a loop, which keeps values in registers that the program
    /// does not use.
    pub const SLOW_LATE: usize = 75;
    pub const SLOW_LATE_WRITE: usize = SLOW_LATE + 5;
    /// In a copy that is scheduled: before each access; rsi: a [`super::scheduled`] access.
    pub const SCHEDULED: usize = 85;
    pub const COUNT: usize = 86;
}

/// What an instruction of a copy that is scheduled does: the number of bytes, and these bits.
pub mod scheduled {
    pub const BYTES: u32 = 0xff;
    pub const WRITES: u32 = 1 << 8;
    /// It also reads what it writes, before, in a step that others may come after.
    pub const READS_FIRST: u32 = 1 << 9;
    /// It is an atomic operation.
    pub const ATOMIC: u32 = 1 << 10;
}

/// The shadow, as the checks in the code read it: see `rt::layout`, which is held to this.
pub mod shadow {
    /// Granules of eight bytes have sixteen bytes here, in their order.
    pub const START: u64 = 0x1000_0000_0000;
    /// The bits of an address that count.
    pub const ADDRESS_BITS: u32 = 44;
    /// Set in the slot of a read. The lowest eight bits are the bytes that were accessed.
    pub const READ: u32 = 1 << 30;
}

/// What a string instruction does: the base-2 logarithm of the size of an element, and these bits.
pub mod string {
    pub const LOADS: u32 = 1 << 4;
    pub const REPEATS: u32 = 1 << 5;
}

/// Why a library has no copy that could have one ([`crate::record::Record::Left`]).
pub mod left {
    /// Libraries that are loaded later cannot be noticed.
    pub const NO_HOOK: u64 = 1;
    /// The driver did not answer.
    pub const NO_ANSWER: u64 = 2;
    /// The file is no longer the one that was copied.
    pub const CHANGED: u64 = 3;
    /// No place near the library was free.
    pub const NO_PLACE: u64 = 4;
    /// There are too many libraries.
    pub const TOO_MANY: u64 = 5;
    /// The runtime was started when there were threads already.
    pub const THREADS: u64 = 6;
}

/// The length of an iteration's part has so many bits, where a loop is left.
pub const LOOP_LENGTH_BITS: u32 = 12;
/// A loop that has touched little so often is checked in each iteration instead.
pub const SHORT_LOOPS: u32 = 64;

/// The largest distance between what `ENTER` and `LEAVE` return to around one call. Two calls are
/// further apart.
pub const CALL_LENGTH: u64 = 21;

/// Which file the copy was made from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Identity {
    pub device: u64,
    pub inode: u64,
    pub size: u64,
    /// Nanoseconds.
    pub modified: i64,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct RelocatedHeader {
    pub magic: u64,
    pub version: u32,
    pub pad: u32,
    /// The object's file.
    pub object: Identity,
    /// From the load bias of the object to the beginning of the file.
    pub distance: i64,
    /// The first address of the object in its file, and the one behind its last.
    pub image: [u64; 2],
    /// The text's address in the object's file.
    pub text: u64,
    pub text_len: u64,
    /// The file's length; the code begins at a page.
    pub len: u64,
    pub code: u64,
    pub code_len: u64,
    pub map: u64,
    /// Offset and number of entries.
    pub back: [u64; 2],
    pub patches: [u64; 2],
    pub loads: [u64; 2],
    pub atomics: [u64; 2],
    pub relaxed: [u64; 2],
    pub poisoned: [u64; 2],
    pub moved: [u64; 2],
    /// The offset in the code of what `slot::TRANSLATE` calls.
    pub translate: u64,
    pub counts: CopyCounts,
    pub slots: [u64; slot::COUNT],
    pub end: u64,
}

/// How much of a program was copied and is watched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct CopyCounts {
    pub functions: u64,
    pub functions_copied: u64,
    /// Instructions that may touch memory that threads share.
    pub accesses: u64,
    pub accesses_probed: u64,
    /// Not 0: there is code that belongs to no known function.
    pub unknown_code: u64,
}

/// The entry of a sorted table of pairs with the largest first number that is at most `key`.
pub fn at_most(pairs: &[[u32; 2]], key: u32) -> Option<[u32; 2]> {
    let behind = pairs.partition_point(|p| p[0] <= key);
    Some(*pairs.get(behind.checked_sub(1)?)?)
}

/// The header's bytes, for writing it to a file.
impl RelocatedHeader {
    /// Where the table `short` is.
    pub fn short(&self) -> u64 {
        self.map + 4 * self.text_len
    }

    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: Header is repr(C) with no padding (checked below), so all its bytes are
        // initialised.
        unsafe { core::slice::from_raw_parts((&raw const *self).cast(), size_of::<RelocatedHeader>()) }
    }
}

const _: () = assert!(size_of::<RelocatedHeader>() == 16 + 32 + 8 * (9 + 12 + 3 + 5 + slot::COUNT + 1));
