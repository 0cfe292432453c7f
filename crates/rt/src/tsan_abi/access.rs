//! Memory accesses.
//!
//! The fast path of each probe is a naked function of ten instructions (fifteen for a 16-byte
//! access). It needs no frame, so the caller's return address, which identifies the access, is
//! still on top of the stack when the slow path wants it.
//!
//! One 16-byte load fetches the granule's four slots. The thread keeps the slot that this access
//! would write, repeated in each lane. One comparison of the two tells whether the access is
//! recorded already.
//!
//! Each probe starts at a cache line boundary. A probe is as long as one line and would otherwise
//! straddle two. (Alignment within a section aligns the section, and each function has its own.)

use core::arch::naked_asm;
use core::mem::offset_of;

use crate::detect::check::{access, plain_access};
use crate::detect::thread::{Current, Thread, current, gate};
use crate::detect::{is_plain, range};
use crate::entry::storing;
use crate::explore;
use crate::layout::READ;

/// Vectors for the probes of one size: the accessed bytes by address modulo 8, then the bits that
/// count for a write and for a read (which an own write covers), then READ alone.
#[repr(C, align(16))]
pub struct Masks {
    bytes: [[u32; 4]; 8],
    pub write: [u32; 4],
    pub read: [u32; 4],
    pub read_bit: [u32; 4],
}

const fn masks(size: u32) -> Masks {
    let mut bytes = [[0; 4]; 8];
    let mut i = 0;
    while i < 8 {
        bytes[i] = [(((1 << size) - 1) << i) & 0xff; 4];
        i += 1;
    }
    Masks { bytes, write: [!0xff; 4], read: [!(0xff | READ); 4], read_bit: [READ; 4] }
}

pub static BYTES1: Masks = masks(1);
pub static BYTES2: Masks = masks(2);
pub static BYTES4: Masks = masks(4);
pub static BYTES8: Masks = masks(8);

/// True if the program is explored and this access needs no further work.
#[inline(always)]
fn is_explored<const WRITE: bool>(address: usize) -> bool {
    if WRITE {
        explore::writes(address);
    }
    explore::passes(address)
}

#[inline(never)]
fn slow<const WRITE: bool, const SIZE: usize>(t: Current, address: usize, pc: usize) {
    // The gate is never open in an explored program, so a program under detection skips
    // `is_explored`.
    if t.gate == gate::OPEN || !is_explored::<WRITE>(address) {
        access::<WRITE, SIZE>(t, address, pc)
    }
}

/// Every call is in tail position, so these functions need no frame.
macro_rules! slow {
    ($($name:ident $write:literal $size:literal),* $(,)?) => {$(
        mod $name {
            use super::*;

            pub extern "C" fn body(address: usize, pc: usize) {
                slow::<$write, $size>(current(), address, pc);
            }
            storing!(at_gate, body, 0);

            /// The gate is open, so the program is not explored.
            extern "C" fn open(address: usize, pc: usize, slots: *mut u8) {
                let mut t = current();
                if is_plain() {
                    return plain_access::<$write, $size>(&mut t, address, pc, slots);
                }
                slow::<$write, $size>(t, address, pc);
            }

            /// rax is the offset of the thread.
            #[unsafe(naked)]
            pub unsafe extern "C" fn enter() {
                naked_asm!(
                    "cmp byte ptr fs:[rax + {gate}], {is_open}\n jne {at_gate}\n jmp {open}",
                    gate = const offset_of!(Thread, gate),
                    is_open = const gate::OPEN,
                    at_gate = sym at_gate,
                    open = sym open,
                )
            }
        }
        use $name::enter as $name;
    )*};
}
slow!(
    slow_read1 false 1, slow_read2 false 2, slow_read4 false 4, slow_read8 false 8,
    slow_write1 true 1, slow_write2 true 2, slow_write4 true 4, slow_write8 true 8,
);

/// rdi = address → xmm0 = the granule's slots, which are at rdx + 2·r8. See `layout::shadow_of`.
macro_rules! load_slots {
    () => {
        concat!(
            "movabs r8, 0x0ffffffffff8\n and r8, rdi\n movabs rdx, 0x100000000000\n",
            "movdqa xmm0, xmmword ptr [rdx + 2*r8]\n",
        )
    };
}

/// xmm0 has a lane of ones where a slot matched. The slow path gets the addresses of the access and
/// of its slots.
///
/// The test does not use eax. Compilers choose the next node of a tree with `setb al`, which keeps
/// the rest of the register and would so wait for the shadow (a fifth of the kernel `tree`).
macro_rules! return_if_any {
    () => {
        concat!(
            "movmskps ecx, xmm0\n test ecx, ecx\n jz 2f\n ret\n",
            "2: mov rsi, qword ptr [rsp]\n lea rdx, [rdx + 2*r8]\n",
        )
    };
}

macro_rules! probe8 {
    ($name:literal, $slow:path, $hot:ident, $pre:literal) => {
        const _: () = {
            #[unsafe(export_name = $name)]
            #[unsafe(naked)]
            unsafe extern "C" fn probe() {
                naked_asm!(
                    "mov rax, qword ptr [rip + raddle_thread@GOTTPOFF]",
                    load_slots!(),
                    $pre,
                    "pcmpeqd xmm0, xmmword ptr fs:[rax + {hot}]",
                    return_if_any!(),
                    "jmp {slow}\n .p2align 6",
                    "/* {masks} {read_bit} */",
                    hot = const offset_of!(Thread, $hot),
                    slow = sym $slow,
                    masks = sym BYTES8,
                    read_bit = const offset_of!(Masks, read_bit),
                )
            }
        };
    };
}
probe8!("__tsan_write8", slow_write8, hot_write8, "");
probe8!("__tsan_read8", slow_read8, hot_read8, "por xmm0, xmmword ptr [rip + {masks} + {read_bit}]");

macro_rules! probe {
    ($name:literal, $slow:path, $masks:ident, $counts:ident) => {
        const _: () = {
            #[unsafe(export_name = $name)]
            #[unsafe(naked)]
            unsafe extern "C" fn probe() {
                naked_asm!(
                    "mov rax, qword ptr [rip + raddle_thread@GOTTPOFF]",
                    load_slots!(),
                    "mov ecx, edi\n and ecx, 7\n shl ecx, 4\n lea r9, [rip + {masks}]",
                    "movdqa xmm1, xmmword ptr [r9 + rcx]",
                    "pxor xmm0, xmm1",
                    "pxor xmm0, xmmword ptr fs:[rax + {hot}]",
                    // Bytes that are not touched (and, for a read, READ) do not count.
                    "por xmm1, xmmword ptr [r9 + {counts}]",
                    "pand xmm0, xmm1",
                    "pxor xmm1, xmm1",
                    "pcmpeqd xmm0, xmm1",
                    return_if_any!(),
                    "jmp {slow}\n .p2align 6",
                    hot = const offset_of!(Thread, hot),
                    slow = sym $slow,
                    masks = sym $masks,
                    counts = const offset_of!(Masks, $counts),
                )
            }
        };
    };
}
probe!("__tsan_write4", slow_write4, BYTES4, write);
probe!("__tsan_write2", slow_write2, BYTES2, write);
probe!("__tsan_write1", slow_write1, BYTES1, write);
probe!("__tsan_read4", slow_read4, BYTES4, read);
probe!("__tsan_read2", slow_read2, BYTES2, read);
probe!("__tsan_read1", slow_read1, BYTES1, read);

/// Two granules, as vectorised code reads and writes them. The access must be recorded in both. An
/// address that is not a multiple of 8 touches three granules; the slow path handles those.
macro_rules! probe16 {
    ($name:literal, $slow:path, $hot:ident, $pre:literal) => {
        const _: () = {
            #[unsafe(export_name = $name)]
            #[unsafe(naked)]
            unsafe extern "C" fn probe() {
                naked_asm!(
                    "mov rax, qword ptr [rip + raddle_thread@GOTTPOFF]",
                    "test dil, 7\n jnz 2f",
                    load_slots!(),
                    "movdqa xmm1, xmmword ptr [rdx + 2*r8 + 16]",
                    $pre,
                    "movdqa xmm2, xmmword ptr fs:[rax + {hot}]",
                    "pcmpeqd xmm0, xmm2\n pcmpeqd xmm1, xmm2",
                    "movmskps ecx, xmm0\n movmskps esi, xmm1",
                    "test ecx, ecx\n jz 2f\n test esi, esi\n jz 2f\n ret",
                    "2: mov rsi, qword ptr [rsp]\n jmp {slow}\n .p2align 6",
                    "/* {masks} {read_bit} */",
                    hot = const offset_of!(Thread, $hot),
                    slow = sym $slow,
                    masks = sym BYTES8,
                    read_bit = const offset_of!(Masks, read_bit),
                )
            }
        };
    };
}
storing!(storing_write16, write16, 0);
storing!(storing_read16, read16, 0);
probe16!("__tsan_write16", storing_write16, hot_write8, "");
probe16!(
    "__tsan_read16",
    storing_read16,
    hot_read8,
    "movdqa xmm2, xmmword ptr [rip + {masks} + {read_bit}]\n por xmm0, xmm2\n por xmm1, xmm2"
);

unsafe extern "C" {
    fn __tsan_read1();
    fn __tsan_read2();
    fn __tsan_read4();
    fn __tsan_read8();
    fn __tsan_write1();
    fn __tsan_write2();
    fn __tsan_write4();
    fn __tsan_write8();
}

/// The probes above: reads by the logarithm of their size, then writes.
pub static PROBES: [unsafe extern "C" fn(); 8] = [
    __tsan_read1,
    __tsan_read2,
    __tsan_read4,
    __tsan_read8,
    __tsan_write1,
    __tsan_write2,
    __tsan_write4,
    __tsan_write8,
];

/// Exports `$name` as a jump to `$to`, with the caller's address in `$register`.
macro_rules! with_pc {
    ($($name:literal => $to:ident in $register:literal),* $(,)?) => {$(
        const _: () = {
            #[unsafe(export_name = $name)]
            #[unsafe(naked)]
            unsafe extern "C" fn probe() {
                naked_asm!(concat!("mov ", $register, ", qword ptr [rsp]"), "jmp {to}", to = sym stored)
            }
            $crate::entry::storing!(stored, $to, 3);
        };
    )*};
}
pub(crate) use with_pc;

macro_rules! sized {
    ($($name:ident $write:literal $size:literal),* $(,)?) => {$(
        extern "C" fn $name(address: usize, pc: usize) {
            range::access::<$write>(current(), address, $size, pc)
        }
    )*};
}
sized!(
    read2 false 2, read4 false 4, read8 false 8, read16 false 16,
    write2 true 2, write4 true 4, write8 true 8, write16 true 16,
);

extern "C" fn read_range(address: usize, len: usize, pc: usize) {
    range::access::<false>(current(), address, len, pc);
}
extern "C" fn write_range(address: usize, len: usize, pc: usize) {
    range::access::<true>(current(), address, len, pc);
}
extern "C" fn vptr_read(address: usize, pc: usize) {
    access::<false, 8>(current(), address, pc);
}
/// Constructors and destructors store the same pointer repeatedly; only a change is a write
/// (6.3.10).
extern "C" fn vptr_update(address: usize, new: usize, pc: usize) {
    // SAFETY: the compiler is about to store there.
    if unsafe { *(address as *const usize) } != new {
        access::<true, 8>(current(), address, pc);
    }
}

with_pc! {
    "__tsan_unaligned_read2" => read2 in "rsi",
    "__tsan_unaligned_read4" => read4 in "rsi",
    "__tsan_unaligned_read8" => read8 in "rsi",
    "__tsan_unaligned_write2" => write2 in "rsi",
    "__tsan_unaligned_write4" => write4 in "rsi",
    "__tsan_unaligned_write8" => write8 in "rsi",
    "__tsan_unaligned_read_write2" => write2 in "rsi",
    "__tsan_unaligned_read_write4" => write4 in "rsi",
    "__tsan_unaligned_read_write8" => write8 in "rsi",
    "__tsan_unaligned_volatile_read2" => read2 in "rsi",
    "__tsan_unaligned_volatile_read4" => read4 in "rsi",
    "__tsan_unaligned_volatile_read8" => read8 in "rsi",
    "__tsan_unaligned_volatile_write2" => write2 in "rsi",
    "__tsan_unaligned_volatile_write4" => write4 in "rsi",
    "__tsan_unaligned_volatile_write8" => write8 in "rsi",
    "__tsan_read_range" => read_range in "rdx",
    "__tsan_write_range" => write_range in "rdx",
    "__tsan_vptr_read" => vptr_read in "rsi",
    "__tsan_vptr_update" => vptr_update in "rdx",
}

/// A read-modify-write counts as a write: whatever races with its read races with its write.
/// Volatile accesses count as plain ones.
macro_rules! alias {
    ($($name:literal = $target:literal),* $(,)?) => {$(
        core::arch::global_asm!(
            concat!(".globl ", $name),
            concat!(".type ", $name, ", @function"),
            concat!(".set ", $name, ", ", $target),
        );
    )*};
}
alias! {
    "__tsan_read_write1" = "__tsan_write1", "__tsan_read_write2" = "__tsan_write2",
    "__tsan_read_write4" = "__tsan_write4", "__tsan_read_write8" = "__tsan_write8",
    "__tsan_volatile_read1" = "__tsan_read1", "__tsan_volatile_read2" = "__tsan_read2",
    "__tsan_volatile_read4" = "__tsan_read4", "__tsan_volatile_read8" = "__tsan_read8",
    "__tsan_volatile_write1" = "__tsan_write1", "__tsan_volatile_write2" = "__tsan_write2",
    "__tsan_volatile_write4" = "__tsan_write4", "__tsan_volatile_write8" = "__tsan_write8",
    "__tsan_volatile_read16" = "__tsan_read16", "__tsan_volatile_write16" = "__tsan_write16",
    "__tsan_unaligned_read16" = "__tsan_read16", "__tsan_unaligned_write16" = "__tsan_write16",
    "__tsan_unaligned_volatile_read16" = "__tsan_read16",
    "__tsan_unaligned_volatile_write16" = "__tsan_write16",
    "__tsan_read_write16" = "__tsan_write16", "__tsan_unaligned_read_write16" = "__tsan_write16",
}
