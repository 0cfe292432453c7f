//! The path from a redirected call to its point and on to the intended function.
//!
//! A stub is 128 bytes: `push SITE; jmp *WAY(%rip)`. For a point, the code of [`super::near`]
//! precedes that. At the end are the stub's own address, for instructions whose operand is a slot,
//! and the target. WAY is one of [`WAYS`]: most let calls of hot loops pass, and send the rest to
//! `raddle_tsvd_way`. That saves all registers that code may have in use: more than the calling
//! convention says, since compilers that see a callee's code know which registers it leaves alone.
//! Then it calls [`super::point::arrive`], and jumps to the target with everything restored. The
//! halves of vector registers above 128 bits are not touched: the runtime is compiled for SSE2,
//! whose instructions leave them alone.

use super::near;
use super::pass::{self, WAYS};
use super::redirect::RedirectedSite;
use crate::sys;

/// The registers of a call, as `raddle_tsvd_way` leaves them on the stack.
#[repr(C)]
pub struct CallRegisters {
    pub vectors: [u128; 16],
    /// rdi, rsi, rdx, rcx, r8, r9.
    pub arguments: [u64; 6],
    pub r11: u64,
    pub r10: u64,
    pub rax: u64,
    pub rbx: u64,
    pub rbp: u64,
    pub r12: u64,
    pub r13: u64,
    pub r14: u64,
    pub r15: u64,
    /// The number of the site on entry, the target's address on exit.
    pub word: u64,
    /// The callee's return address; the stack pointer of the call points here.
    pub return_address: u64,
}

const VECTORS: usize = core::mem::offset_of!(CallRegisters, arguments);
const _: () = assert!(VECTORS == 256 && core::mem::offset_of!(CallRegisters, word) == VECTORS + 15 * 8);

core::arch::global_asm!(
    ".globl raddle_tsvd_way",
    ".hidden raddle_tsvd_way",
    ".type raddle_tsvd_way, @function",
    "raddle_tsvd_way:",
    ".cfi_startproc",
    ".cfi_def_cfa_offset 16", // The site's number is above the return address.
    "push r15",
    "push r14",
    "push r13",
    "push r12",
    "push rbp",
    "push rbx",
    "push rax",
    "push r10",
    "push r11",
    "push r9",
    "push r8",
    "push rcx",
    "push rdx",
    "push rsi",
    "push rdi",
    ".cfi_def_cfa_offset 136",
    ".cfi_offset r15, -24",
    ".cfi_offset r14, -32",
    ".cfi_offset r13, -40",
    ".cfi_offset r12, -48",
    ".cfi_offset rbp, -56",
    ".cfi_offset rbx, -64",
    "sub rsp, 256",
    ".cfi_adjust_cfa_offset 256",
    "movups [rsp], xmm0",
    "movups [rsp + 16], xmm1",
    "movups [rsp + 32], xmm2",
    "movups [rsp + 48], xmm3",
    "movups [rsp + 64], xmm4",
    "movups [rsp + 80], xmm5",
    "movups [rsp + 96], xmm6",
    "movups [rsp + 112], xmm7",
    "movups [rsp + 128], xmm8",
    "movups [rsp + 144], xmm9",
    "movups [rsp + 160], xmm10",
    "movups [rsp + 176], xmm11",
    "movups [rsp + 192], xmm12",
    "movups [rsp + 208], xmm13",
    "movups [rsp + 224], xmm14",
    "movups [rsp + 240], xmm15",
    "mov rdi, rsp",
    "mov rbx, rsp",
    ".cfi_def_cfa_register rbx",
    "and rsp, -16",
    "cld",
    "call {arrive}",
    "mov rsp, rbx",
    ".cfi_def_cfa_register rsp",
    "movups xmm0, [rsp]",
    "movups xmm1, [rsp + 16]",
    "movups xmm2, [rsp + 32]",
    "movups xmm3, [rsp + 48]",
    "movups xmm4, [rsp + 64]",
    "movups xmm5, [rsp + 80]",
    "movups xmm6, [rsp + 96]",
    "movups xmm7, [rsp + 112]",
    "movups xmm8, [rsp + 128]",
    "movups xmm9, [rsp + 144]",
    "movups xmm10, [rsp + 160]",
    "movups xmm11, [rsp + 176]",
    "movups xmm12, [rsp + 192]",
    "movups xmm13, [rsp + 208]",
    "movups xmm14, [rsp + 224]",
    "movups xmm15, [rsp + 240]",
    "add rsp, 256",
    ".cfi_adjust_cfa_offset -256",
    "pop rdi",
    "pop rsi",
    "pop rdx",
    "pop rcx",
    "pop r8",
    "pop r9",
    "pop r11",
    "pop r10",
    "pop rax",
    "pop rbx",
    "pop rbp",
    "pop r12",
    "pop r13",
    "pop r14",
    "pop r15",
    ".cfi_def_cfa_offset 16",
    // No register is free for the jump. Memory just below the stack pointer is safe from signal
    // handlers.
    "lea rsp, [rsp + 8]",
    ".cfi_def_cfa_offset 8",
    "jmp qword ptr [rsp - 8]",
    ".cfi_endproc",
    ".size raddle_tsvd_way, . - raddle_tsvd_way",
    arrive = sym super::point::arrive,
);

unsafe extern "C" {
    pub fn raddle_tsvd_way();
}

pub const SIZE: usize = 128;
/// The head of an area holds the addresses of all paths, and that of the pointer to the core's
/// epoch.
const HEAD: usize = SIZE;
const EPOCH_AT: usize = WAYS.len() * 8;
const _: () = assert!(EPOCH_AT + 8 <= HEAD);

/// Stubs that were mapped together.
pub struct Area {
    at: usize,
    room: usize,
    used: usize,
}

/// The offsets of the stub's own address and of its target.
const OWN_ADDRESS: usize = SIZE - 16;
const TARGET: usize = SIZE - 8;

impl Area {
    /// Room for `count` stubs that code around `near` reaches. None if there is no free memory
    /// within two gigabytes.
    pub fn near(near: usize, count: usize) -> Option<Area> {
        let len = (HEAD + count * SIZE).next_multiple_of(4096);
        let at = map_near(near, len)?;
        for (i, way) in WAYS.iter().enumerate() {
            // SAFETY: the beginning of fresh memory, which has room for all of them.
            unsafe { *(at as *mut usize).add(i) = *way as *const () as usize };
        }
        // SAFETY: as above.
        unsafe { *((at + EPOCH_AT) as *mut usize) = &raw const super::state::EPOCH_AT as usize };
        Some(Area { at, room: count, used: 0 })
    }

    /// True if code at `site` reaches all of it.
    pub fn reaches(&self, site: usize) -> bool {
        reach(self.at, site) && reach(self.stub(self.room), site)
    }

    /// The address of the stub that was added as number `i`.
    pub fn stub(&self, i: usize) -> usize {
        self.at + HEAD + i * SIZE
    }

    /// Writes the next stub, for entry number `site`.
    pub fn add(&mut self, site: u32, entry: &RedirectedSite) {
        let at = self.stub(self.used);
        self.used += 1;
        let head = self.at as i64 - at as i64;
        let mut code = near::StubCode::<SIZE>::new();
        if entry.near != 0 {
            near::write(&mut code, entry, (head + EPOCH_AT as i64) as i32, TARGET as i32);
            code.bytes[TARGET..].copy_from_slice(&(near::target(entry) as u64).to_le_bytes());
        }
        code.put(&[0x68]);
        code.put(&site.to_le_bytes());
        code.put(&[0xff, 0x25]);
        code.put_word((head + 8 * pass::way_of(entry) as i64) as i32 - (code.len() as i32 + 4));
        debug_assert!(code.len() <= OWN_ADDRESS);
        let mut code = code.bytes;
        code[OWN_ADDRESS..OWN_ADDRESS + 8].copy_from_slice(&(at as u64).to_le_bytes());
        // SAFETY: inside the area, which is writable until `close`.
        unsafe { core::ptr::copy_nonoverlapping(code.as_ptr(), at as *mut u8, SIZE) };
    }

    /// Writes code in place of the next stub.
    pub fn add_code(&mut self, code: &[u8; SIZE]) {
        let at = self.stub(self.used);
        self.used += 1;
        // SAFETY: inside the area, which is writable until `close`.
        unsafe { core::ptr::copy_nonoverlapping(code.as_ptr(), at as *mut u8, SIZE) };
    }

    /// The slot of the stub at `stub`.
    pub fn slot(stub: usize) -> usize {
        stub + OWN_ADDRESS
    }

    /// Makes the stubs executable and no longer writable.
    pub fn close(&self) {
        let len = (HEAD + self.room * SIZE).next_multiple_of(4096);
        sys::protect(self.at, len, libc::PROT_READ | libc::PROT_EXEC);
    }
}

/// An operand is a signed 32-bit distance; the length of the instruction needs some of it.
fn reach(a: usize, b: usize) -> bool {
    a.abs_diff(b) < (1 << 31) - 4096
}

/// Searches below first: an executable's heap grows above it.
fn map_near(near: usize, len: usize) -> Option<usize> {
    const STEP: usize = 16 << 20;
    const FARTHEST: usize = (1 << 31) - (64 << 20);
    let base = near & !4095;
    let below = (1..FARTHEST / STEP).filter_map(|n| base.checked_sub(n * STEP + len));
    // An executable at a fixed address has less than a step below it.
    let lowest = [0x10000_usize, 0x100000, 0x200000].into_iter().filter(|at| *at + len < base);
    let above = (1..FARTHEST / STEP).rev().map(|n| base + n * STEP);
    let fits = |at: &usize| reach(*at, near) && reach(*at + len, near);
    below.chain(lowest).chain(above).filter(fits).find(|at| sys::map_at(at & !4095, len)).map(|at| at & !4095)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tsvd::redirect::tests::entry;
    use raddle_wire::tsvd::site_flag;

    fn here() -> usize {
        here as *const () as usize
    }

    #[test]
    fn stubs_are_near_enough_and_name_their_site() {
        let mut area = Area::near(here(), 300).unwrap();
        assert!(area.reaches(here()));
        for site in 0..300 {
            area.add(site, &entry(site_flag::HOOK));
        }
        area.close();
        for (i, stub) in (0..300).map(|i| (i, area.stub(i))) {
            // SAFETY: a stub, which can be read.
            let code = unsafe { core::slice::from_raw_parts(stub as *const u8, SIZE) };
            assert_eq!((code[0], &code[1..5]), (0x68, &(i as u32).to_le_bytes()[..]));
            assert_eq!(code[5..7], [0xff, 0x25]);
            let distance = i32::from_le_bytes(code[7..11].try_into().unwrap());
            // SAFETY: the head of the area.
            let way = unsafe { *((stub + 11).wrapping_add_signed(distance as isize) as *const usize) };
            assert_eq!(way, raddle_tsvd_way as *const () as usize);
            // SAFETY: inside the stub.
            assert_eq!(unsafe { *(Area::slot(stub) as *const usize) }, stub);
        }
    }

    #[test]
    fn memory_is_found_beside_what_is_there_already() {
        let first = map_near(here(), 4096).unwrap();
        let second = map_near(here(), 4096).unwrap();
        assert!(first != second && reach(first, here()) && reach(second, here()));
        // At the bottom of memory there is nothing below.
        let low = map_near(0x400000, 4096).unwrap();
        assert!(reach(low, 0x400000));
        for at in [first, second, low] {
            sys::unmap(at, 4096);
        }
    }

    #[test]
    fn operands_reach_two_gigabytes() {
        let at = 1usize << 40;
        assert!(reach(at, at + (1 << 31) - 8192) && reach(at + (1 << 31) - 8192, at));
        assert!(!reach(at, at + (1 << 31)));
    }
}
