//! What copied code calls. All registers and the flags keep their values, but for rdi (and rsi), of
//! which the caller has a copy, and the flags around calls, which nobody looks at.
//!
//! The runtime is compiled for the vector registers that every x86-64 has, and never touches the
//! upper parts of larger ones.

use core::arch::naked_asm;
use core::mem::offset_of;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::accesses;
use crate::detect::thread::Thread;
use crate::layout;
use crate::tsan_abi::access::{BYTES1, BYTES2, BYTES4, BYTES8, Masks};
use raddle_wire::relocated::{CALL_LENGTH, shadow, slot};

// What the checks in copied code take for granted.
const _: () = {
    let highest = (1 << shadow::ADDRESS_BITS) - 8;
    assert!(layout::READ == shadow::READ);
    assert!(layout::SHADOW.start as u64 == shadow::START);
    assert!(layout::SHADOW.end as u64 == shadow::START + 2 * (highest + 8));
};

/// Pushes what the quick half of a probe changes.
macro_rules! save {
    () => {
        concat!(
            "push rax\n lahf\n seto al\n push rax\n push rcx\n push rdx\n lea rsp, [rsp - 32]\n",
            "movups xmmword ptr [rsp], xmm0\n movups xmmword ptr [rsp + 16], xmm1\n",
        )
    };
}

macro_rules! restore_and_return {
    () => {
        concat!(
            "movups xmm0, xmmword ptr [rsp]\n movups xmm1, xmmword ptr [rsp + 16]\n lea rsp, [rsp + 32]\n",
            "pop rdx\n pop rcx\n pop rax\n add al, 0x7f\n sahf\n pop rax\n ret\n",
        )
    };
}

/// Whether copied code uses one of xmm8 to xmm15. If not, nobody misses them: they are neither
/// arguments nor results, and what is not copied does not call here.
static HIGH_VECTORS: AtomicBool = AtomicBool::new(false);

/// Behind `save!`: calls the function in rax with rdi, rsi, the return address, the caller's rcx,
/// and what the caller has pushed last. If it returns an address, the probe returns there. $keeps:
/// jumps to 2 if nobody misses xmm8 to xmm15.
macro_rules! slow {
    ($name:ident, $keeps:expr) => {
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            naked_asm!(
                "push rsi\n push r8\n push r9\n push r10\n push r11\n push rbp\n mov rbp, rsp",
                "sub rsp, 224\n and rsp, -16",
                "movaps [rsp], xmm2\n movaps [rsp + 16], xmm3\n movaps [rsp + 32], xmm4",
                "movaps [rsp + 48], xmm5\n movaps [rsp + 64], xmm6\n movaps [rsp + 80], xmm7",
                $keeps,
                "movaps [rsp + 96], xmm8\n movaps [rsp + 112], xmm9\n movaps [rsp + 128], xmm10",
                "movaps [rsp + 144], xmm11\n movaps [rsp + 160], xmm12\n movaps [rsp + 176], xmm13",
                "movaps [rsp + 192], xmm14\n movaps [rsp + 208], xmm15",
                "2: mov rdx, [rbp + 112]\n mov rcx, [rbp + 88]\n mov r8, [rbp + 120]",
                "call rax",
                "test rax, rax\n jz 2f\n mov [rbp + 112], rax\n 2:",
                "movaps xmm2, [rsp]\n movaps xmm3, [rsp + 16]\n movaps xmm4, [rsp + 32]",
                "movaps xmm5, [rsp + 48]\n movaps xmm6, [rsp + 64]\n movaps xmm7, [rsp + 80]",
                $keeps,
                "movaps xmm8, [rsp + 96]\n movaps xmm9, [rsp + 112]\n movaps xmm10, [rsp + 128]",
                "movaps xmm11, [rsp + 144]\n movaps xmm12, [rsp + 160]\n movaps xmm13, [rsp + 176]",
                "movaps xmm14, [rsp + 192]\n movaps xmm15, [rsp + 208]",
                "2: mov rsp, rbp\n pop rbp\n pop r11\n pop r10\n pop r9\n pop r8\n pop rsi",
                restore_and_return!(),
                "/* {high} */",
                high = sym HIGH_VECTORS,
            )
        }
    };
}
slow!(slow, "cmp byte ptr [rip + {high}], 0\n je 2f");
// Copies of loops keep values in registers that the program does not use.
slow!(slow_keeping_all, "");

/// The same check as in `tsan_abi::access`, for addresses of any alignment.
macro_rules! quick {
    ($name:ident, $slow:path, $masks:ident, $counts:ident, $size:literal, $save:expr, $restore:expr, $spill:expr,
     $x:literal, $y:literal) => {
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            naked_asm!(
                $save,
                "mov ecx, edi\n and ecx, 7\n cmp ecx, {last}\n ja 2f",
                "mov rax, qword ptr [rip + raddle_thread@GOTTPOFF]",
                "movabs rcx, 0x0ffffffffff8\n and rcx, rdi\n movabs rdx, 0x100000000000",
                concat!("movdqa ", $x, ", xmmword ptr [rdx + 2*rcx]"),
                "mov ecx, edi\n and ecx, 7\n shl ecx, 4\n lea rdx, [rip + {masks}]",
                concat!("movdqa ", $y, ", xmmword ptr [rdx + rcx]"),
                concat!("pxor ", $x, ", ", $y),
                concat!("pxor ", $x, ", xmmword ptr fs:[rax + {hot}]"),
                concat!("por ", $y, ", xmmword ptr [rdx + {counts}]"),
                concat!("pand ", $x, ", ", $y, "\n pxor ", $y, ", ", $y, "\n pcmpeqd ", $x, ", ", $y),
                concat!("movmskps ecx, ", $x, "\n test ecx, ecx\n jz 2f"),
                $restore,
                "2:",
                $spill,
                "lea rax, [rip + {function}]\n jmp {slow}",
                last = const 8 - $size,
                masks = sym $masks,
                hot = const offset_of!(Thread, hot),
                counts = const offset_of!(Masks, $counts),
                function = sym $slow,
                slow = sym super::slow,
            )
        }
    };
}

/// The shadow of the address in rdi is at rax + rcx. Addresses that are no multiple of 8 go to the
/// slow half.
macro_rules! shadow_of_aligned {
    () => {
        concat!(
            "test dil, 7\n jnz 2f\n mov rcx, rdi\n shl rcx, 20\n shr rcx, 19\n",
            "movabs rax, 0x100000000000\n",
        )
    };
}

/// 8 bytes: all bits of a slot count, so that one comparison will do, and rdx stays as it is.
macro_rules! quick8 {
    ($name:ident, $slow:path, $hot:ident, $pre:expr, $save:expr, $restore:expr, $spill:expr, $x:literal) => {
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            naked_asm!(
                $save,
                shadow_of_aligned!(),
                concat!("movdqa ", $x, ", xmmword ptr [rax + rcx]"),
                $pre,
                "mov rax, qword ptr [rip + raddle_thread@GOTTPOFF]",
                concat!("pcmpeqd ", $x, ", xmmword ptr fs:[rax + {hot}]"),
                concat!("movmskps ecx, ", $x, "\n test ecx, ecx\n jz 2f"),
                $restore,
                "2:",
                $spill,
                "lea rax, [rip + {function}]\n jmp {slow}",
                "/* {masks} {read_bit} */",
                masks = sym BYTES8,
                read_bit = const offset_of!(Masks, read_bit),
                hot = const offset_of!(Thread, $hot),
                function = sym $slow,
                slow = sym super::slow,
            )
        }
    };
}

/// 16 bytes: two granules, both of which must say so already.
macro_rules! quick16 {
    ($name:ident, $slow:path, $hot:ident, $pre:expr, $save:expr, $restore:expr, $spill:expr,
     $x:literal, $y:literal) => {
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            naked_asm!(
                $save,
                shadow_of_aligned!(),
                concat!("movdqa ", $x, ", xmmword ptr [rax + rcx]"),
                concat!("movdqa ", $y, ", xmmword ptr [rax + rcx + 16]"),
                $pre,
                "mov rax, qword ptr [rip + raddle_thread@GOTTPOFF]",
                concat!("pcmpeqd ", $x, ", xmmword ptr fs:[rax + {hot}]"),
                concat!("pcmpeqd ", $y, ", xmmword ptr fs:[rax + {hot}]"),
                concat!("movmskps ecx, ", $x, "\n movmskps eax, ", $y),
                "test ecx, ecx\n jz 2f\n test eax, eax\n jz 2f",
                $restore,
                "2:",
                $spill,
                "lea rax, [rip + {function}]\n jmp {slow}",
                "/* {masks} {read_bit} */",
                masks = sym BYTES8,
                read_bit = const offset_of!(Masks, read_bit),
                hot = const offset_of!(Thread, $hot),
                function = sym $slow,
                slow = sym super::slow,
            )
        }
    };
}

/// Whole granules, at most eight: as many bytes as rsi says.
macro_rules! quick_range {
    ($name:ident, $slow:path, $hot:ident, $pre:expr, $save:expr, $restore:expr, $spill:expr,
     $x:literal, $y:literal) => {
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            naked_asm!(
                $save,
                "test sil, 7\n jnz 2f\n cmp esi, 64\n ja 2f",
                shadow_of_aligned!(),
                "add rcx, rax\n lea rdx, [rcx + 2*rsi]",
                "mov rax, qword ptr [rip + raddle_thread@GOTTPOFF]",
                concat!("movdqa ", $y, ", xmmword ptr fs:[rax + {hot}]"),
                "3:",
                concat!("movdqa ", $x, ", xmmword ptr [rcx]"),
                $pre,
                concat!("pcmpeqd ", $x, ", ", $y, "\n movmskps eax, ", $x),
                "test eax, eax\n jz 2f\n add rcx, 16\n cmp rcx, rdx\n jb 3b",
                $restore,
                "2:",
                $spill,
                "lea rax, [rip + {function}]\n jmp {slow}",
                "/* {masks} {read_bit} */",
                masks = sym BYTES8,
                read_bit = const offset_of!(Masks, read_bit),
                hot = const offset_of!(Thread, $hot),
                function = sym $slow,
                slow = sym super::slow,
            )
        }
    };
}

/// An own write stands for a read.
macro_rules! as_read {
    ($($x:literal),*) => {
        concat!($("por ", $x, ", xmmword ptr [rip + {masks} + {read_bit}]\n"),*)
    };
}

/// The twelve probes of one kind. The first three say what keeps what the check changes, and bring
/// the stack to the form that `slow` expects; the next three are those of 8 bytes; then two vector
/// registers.
macro_rules! quick_probes {
    ($kind:ident, $save:expr, $restore:expr, $spill:expr, $save8:expr, $restore8:expr, $spill8:expr,
     $x:literal, $y:literal) => {
        mod $kind {
            use super::*;
            quick!(read1, accesses::read::<1>, BYTES1, read, 1, $save, $restore, $spill, $x, $y);
            quick!(read2, accesses::read::<2>, BYTES2, read, 2, $save, $restore, $spill, $x, $y);
            quick!(read4, accesses::read::<4>, BYTES4, read, 4, $save, $restore, $spill, $x, $y);
            quick8!(read8, accesses::read::<8>, hot_read8, as_read!($x), $save8, $restore8, $spill8, $x);
            quick16!(read16, accesses::read16, hot_read8, as_read!($x, $y), $save, $restore, $spill, $x, $y);
            quick_range!(
                range_read,
                accesses::read_range,
                hot_read8,
                as_read!($x),
                $save,
                $restore,
                $spill,
                $x,
                $y
            );
            quick!(write1, accesses::write::<1>, BYTES1, write, 1, $save, $restore, $spill, $x, $y);
            quick!(write2, accesses::write::<2>, BYTES2, write, 2, $save, $restore, $spill, $x, $y);
            quick!(write4, accesses::write::<4>, BYTES4, write, 4, $save, $restore, $spill, $x, $y);
            quick8!(write8, accesses::write::<8>, hot_write8, "", $save8, $restore8, $spill8, $x);
            quick16!(write16, accesses::write16, hot_write8, "", $save, $restore, $spill, $x, $y);
            quick_range!(range_write, accesses::write_range, hot_write8, "", $save, $restore, $spill, $x, $y);
            pub const ALL: [unsafe extern "C" fn(); 12] = [
                read1,
                read2,
                read4,
                read8,
                read16,
                range_read,
                write1,
                write2,
                write4,
                write8,
                write16,
                range_write,
            ];
        }
    };
}

macro_rules! spill_vectors {
    () => {
        "lea rsp, [rsp - 32]\n movups xmmword ptr [rsp], xmm0\n movups xmmword ptr [rsp + 16], xmm1"
    };
}
quick_probes!(
    keeps_all,
    save!(),
    restore_and_return!(),
    "",
    concat!(
        "push rax\n lahf\n seto al\n push rax\n push rcx\n lea rsp, [rsp - 40]\n",
        "movups xmmword ptr [rsp], xmm0\n",
    ),
    concat!(
        "movups xmm0, xmmword ptr [rsp]\n lea rsp, [rsp + 40]\n",
        "pop rcx\n pop rax\n add al, 0x7f\n sahf\n pop rax\n ret\n",
    ),
    "mov qword ptr [rsp + 32], rdx\n movups xmmword ptr [rsp + 16], xmm1",
    "xmm0",
    "xmm1"
);
quick_probes!(
    flags_dead,
    // The second is where the flags would be.
    concat!("push rax\n push rax\n push rcx\n push rdx\n", spill_vectors!()),
    concat!(
        "movups xmm0, xmmword ptr [rsp]\n movups xmm1, xmmword ptr [rsp + 16]\n lea rsp, [rsp + 32]\n",
        "pop rdx\n pop rcx\n pop rax\n pop rax\n ret\n",
    ),
    "",
    "push rax\n push rax\n push rcx\n lea rsp, [rsp - 40]\n movups xmmword ptr [rsp], xmm0",
    "movups xmm0, xmmword ptr [rsp]\n lea rsp, [rsp + 40]\n pop rcx\n pop rax\n pop rax\n ret",
    "mov qword ptr [rsp + 32], rdx\n movups xmmword ptr [rsp + 16], xmm1",
    "xmm0",
    "xmm1"
);
quick_probes!(
    vectors_free,
    "push rax\n lahf\n seto al\n push rax\n push rcx\n push rdx",
    "pop rdx\n pop rcx\n pop rax\n add al, 0x7f\n sahf\n pop rax\n ret",
    spill_vectors!(),
    "push rax\n lahf\n seto al\n push rax\n push rcx",
    "pop rcx\n pop rax\n add al, 0x7f\n sahf\n pop rax\n ret",
    concat!("push rdx\n", spill_vectors!()),
    "xmm14",
    "xmm15"
);
quick_probes!(
    flags_dead_vectors_free,
    "push rax\n push rax\n push rcx\n push rdx",
    "pop rdx\n pop rcx\n pop rax\n pop rax\n ret",
    spill_vectors!(),
    "push rax\n push rax\n push rcx",
    "pop rcx\n pop rax\n pop rax\n ret",
    concat!("push rdx\n", spill_vectors!()),
    "xmm14",
    "xmm15"
);

macro_rules! always_slow {
    ($($name:ident => $function:path),* $(,)?) => {$(
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            naked_asm!(
                save!(), "lea rax, [rip + {function}]\n jmp {slow}",
                function = sym $function, slow = sym slow,
            )
        }
    )*};
}
always_slow! {
    before_atomic => accesses::before_atomic,
    after_atomic => accesses::after_atomic,
    after_load => accesses::after_load,
    before_load => accesses::before_load,
    before_relaxed => accesses::before_relaxed,
    string => accesses::string,
}

/// Before an access in a copy that is scheduled. `explore::circle` compares what is kept, and all
/// that lies above the stack pointer: the other registers, as `slow_keeping_all` is about to put
/// them there.
#[unsafe(naked)]
unsafe extern "C" fn scheduled() {
    naked_asm!(
        save!(),
        "mov rax, qword ptr [rip + raddle_thread@GOTTPOFF]",
        "lea rcx, [rsp - 6*8 - 224]\n and rcx, -16",
        "mov qword ptr fs:[rax + {kept}], rcx",
        "mov qword ptr fs:[rax + {kept} + 8], rbx",
        "mov qword ptr fs:[rax + {kept} + 16], rbp",
        "mov qword ptr fs:[rax + {kept} + 24], r12",
        "mov qword ptr fs:[rax + {kept} + 32], r13",
        "mov qword ptr fs:[rax + {kept} + 40], r14",
        "mov qword ptr fs:[rax + {kept} + 48], r15",
        "lea rax, [rip + {function}]\n jmp {slow}",
        kept = const offset_of!(Thread, kept),
        function = sym super::scheduled::before,
        slow = sym slow_keeping_all,
    )
}

macro_rules! keeping_all {
    ($($name:ident => $function:path),* $(,)?) => {$(
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            naked_asm!(
                save!(), "lea rax, [rip + {function}]\n jmp {slow}",
                function = sym $function, slow = sym slow_keeping_all,
            )
        }
    )*};
}
keeping_all! {
    loop_read => accesses::loop_read,
    loop_write => accesses::loop_write,
    late_read1 => accesses::read::<1>,
    late_read2 => accesses::read::<2>,
    late_read4 => accesses::read::<4>,
    late_read8 => accesses::read::<8>,
    late_read16 => accesses::read16,
    late_write1 => accesses::write::<1>,
    late_write2 => accesses::write::<2>,
    late_write4 => accesses::write::<4>,
    late_write8 => accesses::write::<8>,
    late_write16 => accesses::write16,
}

/// What the inline check calls if it fails. It takes unaligned addresses for failures, which the
/// probe with a check then looks at.
macro_rules! after_inline_check {
    ($($name:ident $probe:ident $size:literal => $function:path),* $(,)?) => {$(
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            naked_asm!(
                save!(),
                "test dil, {unaligned}\n jnz 2f",
                "lea rax, [rip + {function}]\n jmp {slow}",
                "2: lea rsp, [rsp + 32]\n pop rdx\n pop rcx\n pop rax\n add al, 0x7f\n sahf\n pop rax",
                "jmp {probe}",
                unaligned = const if $size < 8 { $size - 1 } else { 7 },
                function = sym $function,
                slow = sym slow,
                probe = sym keeps_all::$probe,
            )
        }
    )*};
}
after_inline_check! {
    slow_read1 read1 1 => accesses::read::<1>,
    slow_read2 read2 2 => accesses::read::<2>,
    slow_read4 read4 4 => accesses::read::<4>,
    slow_read8 read8 8 => accesses::read::<8>,
    slow_read16 read16 16 => accesses::read16,
    slow_write1 write1 1 => accesses::write::<1>,
    slow_write2 write2 2 => accesses::write::<2>,
    slow_write4 write4 4 => accesses::write::<4>,
    slow_write8 write8 8 => accesses::write::<8>,
    slow_write16 write16 16 => accesses::write16,
}

/// Pushes the place of the call that follows onto the shadow call stack.
#[unsafe(naked)]
unsafe extern "C" fn enter() {
    naked_asm!(
        "push rax\n push rcx\n push rdx",
        "mov rax, qword ptr [rip + raddle_thread@GOTTPOFF]",
        "mov rcx, qword ptr fs:[rax + {sp}]\n test rcx, rcx\n jz 2f",
        "mov rdx, [rsp + 24]\n mov [rcx], rdx\n add rcx, 8\n mov qword ptr fs:[rax + {sp}], rcx",
        "2: pop rdx\n pop rcx\n pop rax\n ret",
        sp = const offset_of!(Thread, sp),
    )
}

/// Pops until and with the entry of the call that has just returned: an exception may have left
/// others above it. Without such an entry the stack stays.
#[unsafe(naked)]
unsafe extern "C" fn leave() {
    naked_asm!(
        "push rax\n push rcx\n push rdx\n push rsi",
        "mov rax, qword ptr [rip + raddle_thread@GOTTPOFF]",
        "mov rsi, qword ptr fs:[rax + {sp}]",
        "2: cmp rsi, qword ptr fs:[rax + {bottom}]\n jbe 3f",
        "sub rsi, 8\n mov rdx, [rsi]\n btr rdx, 63",
        "mov rcx, [rsp + 32]\n sub rcx, rdx\n cmp rcx, {length}\n ja 2b",
        "mov qword ptr fs:[rax + {sp}], rsi",
        "3: pop rsi\n pop rdx\n pop rcx\n pop rax\n ret",
        sp = const offset_of!(Thread, sp),
        bottom = const offset_of!(Thread, trace.stack),
        length = const CALL_LENGTH,
    )
}

/// For the header of a file, which has `slots` as the driver wrote them; without `TRANSLATE`, which
/// the file has itself.
pub fn all(slots: &[u64; slot::COUNT]) -> [u64; slot::COUNT] {
    if slots[slot::HIGH_VECTORS] != 0 {
        HIGH_VECTORS.store(true, Relaxed);
    }
    let mut slots = *slots;
    let mut set = |at: usize, thunk: unsafe extern "C" fn()| slots[at] = thunk as usize as u64;
    let kinds = [keeps_all::ALL, flags_dead::ALL, vectors_free::ALL, flags_dead_vectors_free::ALL];
    for (at, thunk) in kinds.into_iter().flatten().enumerate() {
        set(slot::READ + at, thunk);
    }
    set(slot::RELEASE, before_atomic);
    set(slot::ACQUIRE, after_atomic);
    set(slot::ENTER, enter);
    set(slot::LEAVE, leave);
    set(slot::STRING, string);
    set(slot::ACQUIRE_LOADED, after_load);
    set(slot::LOAD, before_load);
    set(slot::RELAXED, before_relaxed);
    let slow = [slow_read1, slow_read2, slow_read4, slow_read8, slow_read16];
    let slow_writes = [slow_write1, slow_write2, slow_write4, slow_write8, slow_write16];
    for (at, thunk) in slow.into_iter().chain(slow_writes).enumerate() {
        set(slot::SLOW + at, thunk);
    }
    let late = [late_read1, late_read2, late_read4, late_read8, late_read16];
    let late_writes = [late_write1, late_write2, late_write4, late_write8, late_write16];
    for (at, thunk) in late.into_iter().chain(late_writes).enumerate() {
        set(slot::SLOW_LATE + at, thunk);
    }
    set(slot::SCHEDULED, scheduled);
    set(slot::LOOP_READ, loop_read);
    set(slot::LOOP_WRITE, loop_write);
    slots[slot::OWN_WRITE] = thread_offset() + offset_of!(Thread, hot_write8) as u64;
    slots[slot::OWN_READ] = thread_offset() + offset_of!(Thread, hot_read8) as u64;
    slots
}

/// From the thread pointer to the thread's [`Thread`]: a negative number.
fn thread_offset() -> u64 {
    let offset: u64;
    // SAFETY: reads what the dynamic linker has written.
    unsafe {
        core::arch::asm!(
            "mov {}, qword ptr [rip + raddle_thread@GOTTPOFF]",
            out(reg) offset, options(pure, readonly, nostack, preserves_flags),
        );
    }
    offset
}
