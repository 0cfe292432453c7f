//! The probes of a traced run, in the place of the detector's.
//!
//! The program calls the probes of [`crate::tsan_abi`] by name, and the detector's look at its shadow first of all. Where a run
//! is traced, each of them begins with a jump to its counterpart here, put there when the process starts; so the detector's
//! own do not pay for it. They look at two bytes, and return where the granule is the running thread's own
//! ([`super::shared`]): eight instructions, no frame, no vector registers.
//!
//! Where the code can not be written to, the jumps are not there, and the detector's probes find the way to the same functions:
//! slower, and with the same result.

use core::arch::naked_asm;

use super::shared::{ME, PASSED};
use crate::layout::OWNERS;
use crate::sys;

macro_rules! probes {
    ($($probe:ident $name:literal $write:literal $size:literal),* $(,)?) => {
        $(
            #[unsafe(naked)]
            unsafe extern "C" fn $probe() {
                extern "C" fn slow(address: usize, pc: usize, owner: u32) {
                    super::probed::<$write, $size>(address, pc, owner as u16)
                }
                naked_asm!(
                    // As `layout::owner_of`.
                    "mov rax, rdi\n shl rax, 20\n shr rax, 23",
                    "movabs rcx, {owners}",
                    "movzx eax, word ptr [rcx + 2*rax]",
                    "cmp ax, word ptr [rip + {me}]\n jne 2f\n ret",
                    "2: cmp ax, word ptr [rip + {passed}]\n jne 3f\n ret",
                    "3: mov rsi, qword ptr [rsp]\n mov edx, eax\n jmp {slow}",
                    owners = const OWNERS.start,
                    me = sym ME,
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

        /// Each probe of the detector's, and the one that takes its place.
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
/// `jmp`, to where is said in four bytes.
const JUMP: u8 = 0xe9;
const LEN: usize = 5;

/// The detector's probes lead here from now on. Before there is a second thread.
pub fn install() {
    let pairs = pairs();
    let low = pairs.iter().map(|p| p.0).min().unwrap_or(0) & !(PAGE - 1);
    let high = pairs.iter().map(|p| p.0 + LEN).max().unwrap_or(0).next_multiple_of(PAGE);
    let read = libc::PROT_READ | libc::PROT_EXEC;
    if !sys::protect(low, high - low, read | libc::PROT_WRITE) {
        return;
    }
    for (from, to) in pairs {
        if let Some(code) = jump(from, to) {
            // SAFETY: the beginning of a function longer than this, in memory that was just made writable; nobody runs there.
            unsafe { core::ptr::copy_nonoverlapping(code.as_ptr(), from as *mut u8, LEN) };
        }
    }
    sys::protect(low, high - low, read);
}

/// The instruction at `from` that goes on at `to`, if it reaches so far.
fn jump(from: usize, to: usize) -> Option<[u8; LEN]> {
    let distance = i32::try_from(to.wrapping_sub(from + LEN) as isize).ok()?.to_le_bytes();
    Some([JUMP, distance[0], distance[1], distance[2], distance[3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_leads_from_behind_itself() {
        assert_eq!(jump(0x1000, 0x1005), Some([0xe9, 0, 0, 0, 0]));
        assert_eq!(jump(0x1000, 0xff0), Some([0xe9, 0xeb, 0xff, 0xff, 0xff]));
        assert_eq!(jump(0, 1 << 40), None);
    }
}
