//! Function entry and exit, start-up, and the memory functions that clang and rustc call by their
//! own names.

use core::arch::naked_asm;
use core::mem::offset_of;

use super::access::with_pc;
use crate::detect::atomics::{OrderNumber, fence};
use crate::detect::range;
use crate::detect::thread::{Thread, current};
use crate::explore;

/// Pushes the return address onto the shadow call stack, which exists once the thread is known.
#[unsafe(export_name = "__tsan_func_entry")]
#[unsafe(naked)]
unsafe extern "C" fn func_entry() {
    naked_asm!(
        "mov rax, qword ptr [rip + raddle_thread@GOTTPOFF]",
        "mov rcx, qword ptr fs:[rax + {sp}]",
        "test rcx, rcx",
        "jz 2f",
        "mov qword ptr [rcx], rdi",
        "add rcx, 8",
        "mov qword ptr fs:[rax + {sp}], rcx",
        "2: ret",
        sp = const offset_of!(Thread, sp),
    )
}

/// Pops the shadow call stack. A thread that became known inside a function returns below its
/// bottom entry, so the bottom entry is never popped.
#[unsafe(export_name = "__tsan_func_exit")]
#[unsafe(naked)]
unsafe extern "C" fn func_exit() {
    naked_asm!(
        "mov rax, qword ptr [rip + raddle_thread@GOTTPOFF]",
        "mov rcx, qword ptr fs:[rax + {sp}]",
        "cmp rcx, qword ptr fs:[rax + {bottom}]",
        "jbe 2f",
        "sub rcx, 8",
        "mov qword ptr fs:[rax + {sp}], rcx",
        "2: ret",
        sp = const offset_of!(Thread, sp),
        bottom = const offset_of!(Thread, trace.stack),
    )
}

extern "C" fn init(pc: usize) {
    crate::hub::init::module_calls_in(pc);
}
with_pc!("__tsan_init" => init in "rdi");

macro_rules! memory {
    ($($name:literal $imp:ident $reads:literal $function:ident),*) => {$(
        unsafe extern "C" fn $imp(to: usize, from: usize, n: usize, pc: usize) -> usize {
            let t = current();
            if $reads {
                range::access::<false>(t, from, n, pc);
            }
            range::access::<true>(t, to, n, pc);
            // SAFETY: the compiler's call, passed on.
            unsafe { crate::interpose::memory::$function(to, from, n) }
        }
        with_pc!($name => $imp in "rcx");
    )*};
}
memory!(
    "__tsan_memcpy" tsan_memcpy true real_memcpy,
    "__tsan_memmove" tsan_memmove true real_memmove,
    "__tsan_memset" tsan_memset false real_memset
);

/// Functions that a program calls itself to access unaligned words
/// (`sanitizer/common_interface_defs.h`).
macro_rules! unaligned {
    ($($load:literal $get:ident $store:literal $put:ident $word:ty),*) => {$(
        unsafe extern "C" fn $get(from: *const $word, pc: usize) -> $word {
            range::access::<false>(current(), from as usize, size_of::<$word>(), pc);
            // SAFETY: the program's pointer.
            unsafe { from.read_unaligned() }
        }
        with_pc!($load => $get in "rsi");
        unsafe extern "C" fn $put(to: *mut $word, value: $word, pc: usize) {
            range::access::<true>(current(), to as usize, size_of::<$word>(), pc);
            // SAFETY: the program's pointer.
            unsafe { to.write_unaligned(value) }
        }
        with_pc!($store => $put in "rdx");
    )*};
}
unaligned!(
    "__sanitizer_unaligned_load16" load16 "__sanitizer_unaligned_store16" store16 u16,
    "__sanitizer_unaligned_load32" load32 "__sanitizer_unaligned_store32" store32 u32,
    "__sanitizer_unaligned_load64" load64 "__sanitizer_unaligned_store64" store64 u64
);

#[unsafe(no_mangle)]
#[unsafe(naked)]
pub extern "C" fn __tsan_atomic_thread_fence(order: i32) {
    naked_asm!("mov rsi, qword ptr [rsp]", "jmp {to}", to = sym thread_fence)
}

extern "C" fn thread_fence(order: i32, pc: usize) {
    core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
    if explore::is_on() {
        return explore::memory::fence(order, pc);
    }
    fence(&mut current(), OrderNumber(order));
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_atomic_signal_fence(_order: i32) {
    core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_ignore_thread_begin() {
    crate::annotate::ignore(1, 1);
}
#[unsafe(no_mangle)]
extern "C" fn __tsan_ignore_thread_end() {
    crate::annotate::ignore(-1, -1);
}
