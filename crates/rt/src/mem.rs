//! `memcpy` and similar functions for the runtime itself. The build renames the runtime's own
//! references to these.

use core::arch::naked_asm;
use core::arch::x86_64::{__m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8};

/// For longer copies, the processor's own loop is faster. Its start-up is slow, and most copies are
/// a few words.
const LONG: usize = 256;

#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __runtime_memcpy() {
    naked_asm!(
        "mov rax, rdi",
        "cmp rdx, 16",
        "jb 3f",
        "cmp rdx, {long}",
        "ja 7f",
        "movups xmm1, xmmword ptr [rsi + rdx - 16]",
        "lea rcx, [rdi + rdx - 16]",
        "2: movups xmm0, xmmword ptr [rsi]",
        "movups xmmword ptr [rdi], xmm0",
        "add rsi, 16",
        "add rdi, 16",
        "cmp rdi, rcx",
        "jb 2b",
        "movups xmmword ptr [rcx], xmm1",
        "ret",
        // Below 16: two words that may overlap.
        "3: cmp edx, 8",
        "jb 4f",
        "mov rcx, qword ptr [rsi]",
        "mov r8, qword ptr [rsi + rdx - 8]",
        "mov qword ptr [rdi], rcx",
        "mov qword ptr [rdi + rdx - 8], r8",
        "ret",
        "4: cmp edx, 4",
        "jb 5f",
        "mov ecx, dword ptr [rsi]",
        "mov r8d, dword ptr [rsi + rdx - 4]",
        "mov dword ptr [rdi], ecx",
        "mov dword ptr [rdi + rdx - 4], r8d",
        "ret",
        // The first byte, the last, and the one in the middle.
        "5: test edx, edx",
        "jz 6f",
        "movzx ecx, byte ptr [rsi]",
        "movzx r8d, byte ptr [rsi + rdx - 1]",
        "mov r9d, edx",
        "shr r9d, 1",
        "movzx r10d, byte ptr [rsi + r9]",
        "mov byte ptr [rdi], cl",
        "mov byte ptr [rdi + r9], r10b",
        "mov byte ptr [rdi + rdx - 1], r8b",
        "6: ret",
        "7: mov rcx, rdx",
        "rep movsb",
        "ret",
        long = const LONG,
    )
}

#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __runtime_memset() {
    naked_asm!(
        "movzx eax, sil",
        "movabs rcx, 0x0101010101010101",
        "imul rcx, rax",
        "mov rax, rdi",
        "cmp rdx, 16",
        "jb 3f",
        "cmp rdx, {long}",
        "ja 7f",
        "movq xmm0, rcx",
        "punpcklqdq xmm0, xmm0",
        "lea rcx, [rdi + rdx - 16]",
        "2: movups xmmword ptr [rdi], xmm0",
        "add rdi, 16",
        "cmp rdi, rcx",
        "jb 2b",
        "movups xmmword ptr [rcx], xmm0",
        "ret",
        "3: cmp edx, 8",
        "jb 4f",
        "mov qword ptr [rdi], rcx",
        "mov qword ptr [rdi + rdx - 8], rcx",
        "ret",
        "4: cmp edx, 4",
        "jb 5f",
        "mov dword ptr [rdi], ecx",
        "mov dword ptr [rdi + rdx - 4], ecx",
        "ret",
        "5: test edx, edx",
        "jz 6f",
        "mov esi, edx",
        "shr esi, 1",
        "mov byte ptr [rdi], cl",
        "mov byte ptr [rdi + rsi], cl",
        "mov byte ptr [rdi + rdx - 1], cl",
        "6: ret",
        "7: mov r8, rdi",
        "mov eax, ecx",
        "mov rcx, rdx",
        "rep stosb",
        "mov rax, r8",
        "ret",
        long = const LONG,
    )
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __runtime_memmove(to: *mut u8, from: *const u8, n: usize) -> *mut u8 {
    // SAFETY: by the caller's contract, as for memmove. The accesses are volatile, so that the
    // compiler does not turn the loop into a memmove.
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
    // SAFETY: by the caller's contract, as for memcmp.
    unsafe {
        for i in equal_blocks(a, b, n)..n {
            let (x, y) = (a.add(i).read_volatile(), b.add(i).read_volatile());
            if x != y {
                return x as i32 - y as i32;
            }
        }
    }
    0
}

/// How many bytes at the beginning are equal, in whole blocks. Searches compare pages.
///
/// # Safety
/// There are `n` bytes at both addresses.
unsafe fn equal_blocks(a: *const u8, b: *const u8, n: usize) -> usize {
    const BLOCK: usize = size_of::<__m128i>();
    let mut at = 0;
    // SAFETY: below n, by the caller's contract. Every x86-64 has SSE2.
    unsafe {
        while at + BLOCK <= n {
            let (x, y) = (_mm_loadu_si128(a.add(at).cast()), _mm_loadu_si128(b.add(at).cast()));
            if _mm_movemask_epi8(_mm_cmpeq_epi8(x, y)) != 0xffff {
                break;
            }
            at += BLOCK;
        }
    }
    at
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __runtime_bcmp(a: *const u8, b: *const u8, n: usize) -> i32 {
    // SAFETY: by the caller's contract.
    unsafe { __runtime_memcmp(a, b, n) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __runtime_strlen(s: *const u8) -> usize {
    let mut n = 0;
    // SAFETY: by the caller's contract, as for strlen.
    while unsafe { s.add(n).read_volatile() } != 0 {
        n += 1;
    }
    n
}

/// Precompiled parts of core name a personality function. The runtime catches nothing, so unwinding
/// continues.
#[cfg(not(test))]
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() -> i32 {
    const CONTINUE_UNWIND: i32 = 8;
    CONTINUE_UNWIND
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_copied_and_set_and_nothing_beside_it() {
        type Copy = unsafe extern "C" fn(*mut u8, *const u8, usize) -> *mut u8;
        type Set = unsafe extern "C" fn(*mut u8, i32, usize) -> *mut u8;
        // SAFETY: the types of the two functions.
        let (copy, set) = unsafe {
            let at = (__runtime_memcpy as *const (), __runtime_memset as *const ());
            (core::mem::transmute::<*const (), Copy>(at.0), core::mem::transmute::<*const (), Set>(at.1))
        };
        let from: Vec<u8> = (0..600).map(|i| (i % 251) as u8).collect();
        for n in 0..=300 {
            for offset in [0, 1, 7] {
                let (mut to, mut wanted) = (vec![0xee; 600], vec![0xee; 600]);
                wanted[9..9 + n].copy_from_slice(&from[offset..offset + n]);
                // SAFETY: both are longer than that.
                let at = unsafe { copy(to.as_mut_ptr().add(9), from.as_ptr().add(offset), n) };
                assert!(to == wanted && at == unsafe { to.as_mut_ptr().add(9) }, "copy {n} from {offset}");
                wanted[offset..offset + n].fill(0x17);
                // SAFETY: as above. Only the lowest byte of the value counts.
                let at = unsafe { set(to.as_mut_ptr().add(offset), 0xa17, n) };
                assert!(to == wanted && at == unsafe { to.as_mut_ptr().add(offset) }, "set {n} at {offset}");
            }
        }
    }

    #[test]
    fn the_first_difference_decides_wherever_it_is() {
        let (a, mut b) = ([7u8; 80], [7u8; 80]);
        let compare = |a: &[u8], b: &[u8]| {
            // SAFETY: two slices of one length.
            let (order, same) = unsafe {
                let order = __runtime_memcmp(a.as_ptr(), b.as_ptr(), a.len());
                (order, __runtime_bcmp(a.as_ptr(), b.as_ptr(), a.len()) == 0)
            };
            assert_eq!(same, order == 0);
            order.signum()
        };
        for from in 0..3 {
            for to in from..a.len() {
                assert_eq!(compare(&a[from..to], &b[from..to]), 0);
                for at in from..to {
                    for value in [6, 8, 200] {
                        b[at] = value;
                        assert_eq!(compare(&a[from..to], &b[from..to]), (7 - i32::from(value)).signum());
                        // What comes later does not count.
                        b[to - 1] = if at == to - 1 { value } else { !value };
                        assert_eq!(compare(&a[from..to], &b[from..to]), (7 - i32::from(value)).signum());
                        b.fill(7);
                    }
                }
            }
        }
    }
}
