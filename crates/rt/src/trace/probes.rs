//! The probes of a traced run, which replace the detector's.
//!
//! The program calls the probes of [`crate::tsan_abi`] by name, and the detector's probes first
//! look at its shadow. In a traced run, other code replaces them when the process starts ([`hot`]),
//! so that the detector's own do not pay for it. It looks at two bytes, and returns if the granule
//! belongs to the running thread ([`super::shared`]): eight instructions, no frame, no vector
//! registers. Anything else continues here. A jump from the detector's probe to a compiled one,
//! instead of the code itself, would be a tenth of what a grid kernel pays.
//!
//! If the code cannot be written, it stays unchanged, and the detector's probes lead to the same
//! functions: slower, with the same result.

use core::arch::naked_asm;

use super::shared::{ME, PASSED};
use crate::layout::OWNERS;
use crate::sys;

macro_rules! probes {
    ($($probe:ident $name:literal $write:literal $size:literal),* $(,)?) => {
        $(
            /// rdi = address, cx = the owner of its granule.
            #[unsafe(naked)]
            unsafe extern "C" fn $probe() {
                extern "C" fn slow(address: usize, pc: usize, owner: u32) {
                    super::probed::<$write, $size>(address, pc, owner as u16)
                }
                naked_asm!(
                    "cmp cx, word ptr [rip + {passed}]\n jne 2f\n ret",
                    "2: mov rsi, qword ptr [rsp]\n mov edx, ecx\n jmp {slow}",
                    passed = sym PASSED,
                    slow = sym slow,
                )
            }
        )*

        mod names {
            unsafe extern "C" {$(
                #[link_name = $name]
                pub fn $probe();
            )*}
        }

        /// Each of the detector's probes, and where the code that replaces it continues.
        fn pairs() -> [(usize, usize); 8] {
            [$((names::$probe as *const () as usize, $probe as *const () as usize)),*]
        }
    };
}
probes!(
    read1 "__tsan_read1" false 1, read2 "__tsan_read2" false 2,
    read4 "__tsan_read4" false 4, read8 "__tsan_read8" false 8,
    write1 "__tsan_write1" true 1, write2 "__tsan_write2" true 2,
    write4 "__tsan_write4" true 4, write8 "__tsan_write8" true 8,
);

const PAGE: usize = 4096;

/// Replaces the detector's probes. Must be called before there is a second thread.
pub fn install() {
    let pairs = pairs();
    let low = pairs.iter().map(|p| p.0).min().unwrap_or(0) & !(PAGE - 1);
    let high = pairs.iter().map(|p| p.0 + LEN).max().unwrap_or(0).next_multiple_of(PAGE);
    let read = libc::PROT_READ | libc::PROT_EXEC;
    if !sys::protect(low, high - low, read | libc::PROT_WRITE) {
        return;
    }
    for (from, to) in pairs {
        // SAFETY: a probe, with others after it.
        let there = unsafe { core::slice::from_raw_parts(from as *const u8, LONGEST) };
        if let Some(code) = hot(from, to, ME.as_ptr() as usize).filter(|_| is_long_enough(there)) {
            // SAFETY: the beginning of a function at least this long, in memory that was just made
            // writable; nobody runs there.
            unsafe { core::ptr::copy_nonoverlapping(code.as_ptr(), from as *mut u8, LEN) };
        }
    }
    sys::protect(low, high - low, read);
}

/// The size of [`hot`] in bytes.
const LEN: usize = 39;
/// Longer than any of the detector's probes.
const LONGEST: usize = 128;

/// True if the detector's probe, which is `there`, has room for [`hot`]. Its last instructions are
/// known: it returns, or fetches its caller's address and that of the slots and jumps.
fn is_long_enough(there: &[u8]) -> bool {
    const LAST: [u8; 10] = [0xc3, 0x48, 0x8b, 0x34, 0x24, 0x4a, 0x8d, 0x14, 0x42, 0xe9];
    there.windows(LAST.len()).position(|w| w == LAST).is_some_and(|at| at + LAST.len() + 4 >= LEN)
}

/// The code at `from`: returns if the granule of the address in rdi belongs to `me`, and continues
/// at `to` otherwise. None if these are out of reach.
#[rustfmt::skip]
fn hot(from: usize, to: usize, me: usize) -> Option<[u8; LEN]> {
    let o = OWNERS.start.to_le_bytes();
    let [m, t] = [reach(from + 32, me)?, reach(from + 38, to)?];
    // As `layout::owner_of`. The load does not use rax, for the reason that `tsan_abi::access`
    // gives.
    Some([
        0x48, 0x89, 0xf9,                                           // mov rcx, rdi
        0x48, 0xc1, 0xe1, 20,                                       // shl rcx, 20
        0x48, 0xc1, 0xe9, 23,                                       // shr rcx, 23
        0x48, 0xb8, o[0], o[1], o[2], o[3], o[4], o[5], o[6], o[7], // movabs rax, owners
        0x0f, 0xb7, 0x0c, 0x48,                                     // movzx ecx, word [rax + 2*rcx]
        0x66, 0x3b, 0x0d, m[0], m[1], m[2], m[3],                   // cmp cx, word [rip + me]
        0x0f, 0x85, t[0], t[1], t[2], t[3],                         // jne to
        0xc3,                                                       // ret
    ])
}

/// The 32-bit distance of `to` from the end of an instruction, if it fits.
fn reach(behind: usize, to: usize) -> Option<[u8; 4]> {
    i32::try_from(to.wrapping_sub(behind) as isize).ok().map(i32::to_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testing;
    use crate::layout::owner_of;

    #[test]
    fn a_distance_is_from_behind_the_instruction() {
        assert_eq!(reach(0x1005, 0x1005), Some([0; 4]));
        assert_eq!(reach(0x1005, 0xff0), Some([0xeb, 0xff, 0xff, 0xff]));
        assert_eq!(reach(0, 1 << 40), None);
        assert_eq!(hot(0x1000, 0x2000, 1 << 40), None);
    }

    #[test]
    fn the_detectors_probes_have_room() {
        for (from, _) in pairs() {
            // SAFETY: code, with more after it.
            assert!(is_long_enough(unsafe { core::slice::from_raw_parts(from as *const u8, LONGEST) }));
        }
        let short = [0x90, 0xc3, 0x48, 0x8b, 0x34, 0x24, 0x4a, 0x8d, 0x14, 0x42, 0xe9, 0, 0, 0, 0];
        assert!(!is_long_enough(&short));
    }

    /// The installed code, called as the program calls it.
    #[test]
    fn what_is_anothers_goes_on_elsewhere() {
        testing::reserve_shadow();
        let page = sys::pages(PAGE) as usize;
        let (me, elsewhere) = (page + 1024, page + 512);
        let code = hot(page, elsewhere, me).unwrap();
        let address = 0x7a00_0004_0000usize;
        // SAFETY: fresh memory, which gets code that touches only rax and rcx: the probe, and `mov
        // eax, 77; ret`.
        let probe = unsafe {
            core::ptr::copy_nonoverlapping(code.as_ptr(), page as *mut u8, LEN);
            core::ptr::copy_nonoverlapping([0xb8, 77, 0, 0, 0, 0xc3].as_ptr(), elsewhere as *mut u8, 6);
            *(me as *mut u16) = 5;
            assert!(sys::protect(page, PAGE, libc::PROT_READ | libc::PROT_EXEC));
            core::mem::transmute::<usize, extern "C" fn(usize) -> usize>(page)
        };
        assert_eq!(probe(address), 77, "nobody's");
        // SAFETY: reserved.
        unsafe { *owner_of(address) = 5 };
        let returned = OWNERS.start;
        assert_eq!((probe(address), probe(address + 7)), (returned, returned), "its own");
        assert_eq!(probe(address + 8), 77);
    }
}
