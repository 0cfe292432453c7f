//! Copies for `explore`: each access is a call, and may be a scheduling point.
//!
//! The probe comes before its instruction, as a compiler's does, and nobody else runs between the
//! two. So what the scheduler knows of a compiled program holds here, with these differences:
//!
//! 1. *An instruction may read and write.* `add [x], 1` without LOCK is a read and a write to other
//!    processors, so it is two steps. What the first has read is put back before the instruction
//!    executes, if others have written meanwhile: the instruction then does what it would have done
//!    with that value.
//! 2. *All registers live on across a probe*, also those that a call may change. [`super::thunks`]
//!    saves those that the runtime uses. At a step other threads run, and handlers of signals, so
//!    that saves all others too ([`step`]).
//! 3. *Places are those of the original.* Copies may lie elsewhere with another version of raddle,
//!    and reports speak of the program's own code. [`site`] translates where a place enters a step
//!    or a stack.
//! 4. *Which plain loads and stores are atomic is mostly not known.* They are plain accesses, which
//!    become scheduling points where they race, as a compiled program's data does. Instructions
//!    with LOCK, `xchg`, and what the debug information calls atomic are points at once.

use core::arch::naked_asm;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::{table, updates};
use crate::detect::check::access;
use crate::detect::range;
use crate::detect::thread::current;
use crate::explore;
use crate::trace;
use raddle_explore::OpKind;
use raddle_wire::relocated::{CALL_LENGTH, at_most, scheduled, string};

static USED: AtomicBool = AtomicBool::new(false);

pub fn begin() {
    USED.store(true, Relaxed);
}

/// Whether the program executes such a copy.
#[inline(always)]
pub fn are_used() -> bool {
    USED.load(Relaxed)
}

/// The place in the original of a return address in a copy: one behind the beginning of its
/// instruction. Others stay as they are.
#[inline(always)]
pub fn site(pc: usize) -> usize {
    if are_used() { translated(pc).unwrap_or(pc) } else { pc }
}

#[cold]
fn translated(pc: usize) -> Option<usize> {
    let object = table::with_code(pc.wrapping_sub(1))?;
    let offset = (pc - 1 - object.code.start) as u32;
    let [_, text] = at_most(table(object.header, object.header.back), offset)?;
    Some(object.text.start + text as usize + 1)
}

/// The same for a stack, innermost frame first. Gives its new length.
pub fn places(frames: &mut [u64], n: usize) -> usize {
    if !are_used() {
        return n;
    }
    let mut n = n;
    // The call of a function of the runtime is its place, and a call on the shadow stack.
    if n >= 2
        && (1..=CALL_LENGTH).contains(&frames[0].wrapping_sub(frames[1]))
        && translated(frames[0] as usize).is_some()
    {
        frames.copy_within(2..n, 1);
        n -= 1;
        frames[n] = 0;
    }
    frames[..n].iter_mut().for_each(|pc| *pc = site(*pc as usize) as u64);
    n
}

/// Before an instruction that accesses memory; `what` is one of [`scheduled`].
pub extern "C" fn before(address: usize, what: usize, pc: usize) -> usize {
    if explore::is_running() {
        let (is_atomic, pc) = (what & scheduled::ATOMIC as usize != 0, site(pc));
        match is_atomic || explore::is_point(pc) {
            // SAFETY: a call with three numbers.
            true => unsafe { step(address, what, pc) },
            false => announce(address, what, pc),
        }
    }
    0
}

/// [`announce`] where others may run meanwhile: the vector registers in full length and the x87
/// keep their values, and the stack of the x87 is empty, as where a function is called.
#[unsafe(naked)]
unsafe extern "C" fn step(address: usize, what: usize, pc: usize) {
    naked_asm!(
        "push rbp\n mov rbp, rsp\n push rbx\n sub rsp, {size}\n and rsp, -64",
        "mov rbx, rdx",
        // The header behind the legacy area must be zero.
        "pxor xmm0, xmm0",
        "movaps [rsp + 512], xmm0\n movaps [rsp + 528], xmm0",
        "movaps [rsp + 544], xmm0\n movaps [rsp + 560], xmm0",
        "mov eax, {parts}\n xor edx, edx\n xsave64 [rsp]\n emms",
        "mov rdx, rbx\n call {announce}",
        "mov eax, {parts}\n xor edx, edx\n xrstor64 [rsp]",
        "mov rbx, [rbp - 8]\n leave\n ret",
        // At most 2688 bytes with these parts, in the standard form.
        size = const 2752,
        // x87, SSE, AVX and the three of AVX-512.
        parts = const 0xe7,
        announce = sym announce,
    )
}

/// Tells the scheduler and the monitors; `pc` is a [`site`].
extern "C" fn announce(address: usize, what: usize, pc: usize) {
    let len = if what & RANGE != 0 { what >> RANGE_SHIFT } else { what & scheduled::BYTES as usize };
    let what = what as u32;
    let has = |bit: u32| what & bit != 0;
    match (has(scheduled::ATOMIC), has(scheduled::WRITES), has(scheduled::READS_FIRST)) {
        (true, false, _) => atomic(OpKind::AtomicLoad, address, len, pc),
        (true, true, false) => atomic(OpKind::AtomicStore, address, len, pc),
        (true, true, true) => atomic(OpKind::AtomicRmw, address, len, pc),
        (false, true, true) if len <= 8 => updates(address, len, pc),
        (false, true, _) => plain::<true>(address, len, pc),
        (false, false, _) => plain::<false>(address, len, pc),
    }
}

fn atomic(kind: OpKind, address: usize, len: usize, pc: usize) {
    explore::atomic(kind, address, len, false, pc);
    if kind == OpKind::AtomicRmw {
        updates::begins(address, len);
    }
    // What it writes is known when the thread comes by again.
    trace::atomic_before(kind, address, len, pc);
}

fn plain<const WRITE: bool>(address: usize, len: usize, pc: usize) {
    if WRITE {
        explore::writes(address);
    }
    // A long one may reach into freed memory with its last byte only.
    if len <= 8 && explore::passes(address) && explore::passes(address + len - 1) {
        return;
    }
    let t = current();
    match len {
        1 => access::<WRITE, 1>(t, address, pc),
        2 if address % 8 <= 6 => access::<WRITE, 2>(t, address, pc),
        4 if address % 8 <= 4 => access::<WRITE, 4>(t, address, pc),
        8 if address.is_multiple_of(8) => access::<WRITE, 8>(t, address, pc),
        _ => range::access::<WRITE>(t, address, len, pc),
    }
}

/// See difference 1.
fn updates(address: usize, len: usize, pc: usize) {
    plain::<false>(address, len, pc);
    let read = value(address, len);
    plain::<true>(address, len, pc);
    if value(address, len) != read {
        // SAFETY: the bytes that the instruction is about to write to.
        unsafe { core::ptr::copy_nonoverlapping(read.as_ptr(), address as *mut u8, len) };
    }
}

fn value(address: usize, len: usize) -> [u8; 8] {
    let mut bytes = [0; 8];
    // SAFETY: the program is about to read them.
    unsafe { core::ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), len) };
    bytes
}

/// `movs` or `stos`. Its reads and writes are one step each, though others may come between two
/// elements: then the search is not complete.
pub fn string(to: usize, operation: usize, pc: usize, len: usize, from: usize) {
    if !explore::is_running() || len == 0 {
        return;
    }
    let pc = site(pc);
    explore::in_pieces(pc);
    let bytes = [(operation as u32 & string::LOADS != 0).then_some((from, false)), Some((to, true))];
    for (address, writes) in bytes.into_iter().flatten() {
        let ranged = RANGE | if writes { scheduled::WRITES as usize } else { 0 } | len << RANGE_SHIFT;
        match explore::is_point(pc) {
            // SAFETY: a call with three numbers.
            true => unsafe { step(address, ranged, pc) },
            false => announce(address, ranged, pc),
        }
    }
}

/// For [`announce`], instead of a number of bytes: all that is above these bits.
const RANGE: usize = 1 << 11;
const RANGE_SHIFT: u32 = 12;
