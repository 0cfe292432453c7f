//! `memcpy` and its kin for the runtime itself. The build renames the runtime's own references to these.

use core::arch::naked_asm;

#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __runtime_memcpy() {
    naked_asm!("mov rax, rdi", "mov rcx, rdx", "rep movsb", "ret")
}

#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __runtime_memset() {
    naked_asm!("mov r8, rdi", "mov eax, esi", "mov rcx, rdx", "rep stosb", "mov rax, r8", "ret")
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __runtime_memmove(to: *mut u8, from: *const u8, n: usize) -> *mut u8 {
    // SAFETY: the caller's, as for memmove. Volatile, so that the compiler does not find a memmove here.
    unsafe {
        if (to as usize).wrapping_sub(from as usize) >= n {
            (0..n).for_each(|i| to.add(i).write_volatile(from.add(i).read_volatile()));
        } else {
            (0..n).rev().for_each(|i| to.add(i).write_volatile(from.add(i).read_volatile()));
        }
    }
    to
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __runtime_memcmp(a: *const u8, b: *const u8, n: usize) -> i32 {
    // SAFETY: the caller's, as for memcmp.
    unsafe {
        for i in 0..n {
            let (x, y) = (a.add(i).read_volatile(), b.add(i).read_volatile());
            if x != y {
                return x as i32 - y as i32;
            }
        }
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __runtime_bcmp(a: *const u8, b: *const u8, n: usize) -> i32 {
    // SAFETY: the caller's.
    unsafe { __runtime_memcmp(a, b, n) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __runtime_strlen(s: *const u8) -> usize {
    let mut n = 0;
    // SAFETY: the caller's, as for strlen.
    while unsafe { s.add(n).read_volatile() } != 0 {
        n += 1;
    }
    n
}

/// Precompiled parts of core name a personality. Nothing of the runtime catches anything: unwinding goes on.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() -> i32 {
    const CONTINUE_UNWIND: i32 = 8;
    CONTINUE_UNWIND
}
