//! The code in a stub that lets a call in a hot loop pass at once: see [`super::pass`].
//!
//! ```text
//!       push rax                      only for classes whose objects are often in frames:
//!       lea rax, [OBJECT - 8]         an object above the stack pointer, and near, is no point
//!       sub rax, rsp
//!       cmp rax, 65536
//!       pop rax
//!       jb go
//!       push rax
//!       mov rax, [rip + EPOCH_AT]     a pointer to a pointer: a fork changes where the core is
//!       mov rax, [rax]
//!       mov eax, [rax]
//!       cmp eax, fs:[near_epoch]
//!       pop rax
//!       jne whole
//!       cmp OBJECT, fs:[object]       of the site's own place in the thread's storage
//!       jne whole
//!       cmp dword ptr fs:[site], SITE
//!       jne whole
//!       dec dword ptr fs:[left]
//!       js whole
//! go:   jmp [rip + TARGET]
//! whole:
//! ```

use core::mem::offset_of;

use super::pass::{NEAR, Near};
use super::redirect::{LIBRARY, RedirectedSite};
use crate::detect::thread::current;
use raddle_wire::tsvd::site_flag;

/// Code under construction.
pub struct StubCode<const N: usize> {
    pub bytes: [u8; N],
    len: usize,
    /// The positions of the operands of jumps to `whole`.
    to_whole: [usize; 4],
    jumps: usize,
}

impl<const N: usize> StubCode<N> {
    pub const fn new() -> StubCode<N> {
        StubCode { bytes: [0xcc; N], len: 0, to_whole: [0; 4], jumps: 0 }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    pub fn put_word(&mut self, word: i32) {
        self.put(&word.to_le_bytes());
    }

    /// Adds a conditional jump to what follows the code.
    fn jump_to_whole(&mut self, condition: u8) {
        self.put(&[condition, 0]);
        self.to_whole[self.jumps] = self.len - 1;
        self.jumps += 1;
    }

    fn end(&mut self) {
        for at in &self.to_whole[..self.jumps] {
            self.bytes[*at] = (self.len - at - 1) as u8;
        }
    }
}

const JNE: u8 = 0x75;
const JS: u8 = 0x78;
const JB: u8 = 0x72;

/// The numbers of rdi, rsi, rdx, rcx, r8, r9 in an instruction; those from 8 on need another
/// prefix.
const REGISTERS: [u8; 6] = [7, 6, 2, 1, 8, 9];

/// The offset of a field of the running thread's block from the thread pointer, which is the same
/// for all threads.
fn from_thread_pointer(field: *const u8) -> i32 {
    let pointer: usize;
    // SAFETY: the first word of a thread's control block is its own address.
    unsafe { core::arch::asm!("mov {}, fs:[0]", out(reg) pointer, options(pure, readonly, nostack)) };
    (field as usize).wrapping_sub(pointer) as i32
}

/// True if the stub of an entry has such code.
pub fn is_for(entry: &RedirectedSite) -> bool {
    let unfit = site_flag::HOOK | site_flag::ASYNC | site_flag::ENDS;
    entry.flags & unfit == 0 && entry.field < 0 && entry.via | entry.safe_if == 0 && target(entry) != 0
}

/// The target of the call. The loader has filled a slot and does not write it again.
pub fn target(entry: &RedirectedSite) -> usize {
    let is_slot = entry.flags & site_flag::SLOT != 0;
    // SAFETY: the slot of an instruction that calls through it.
    if is_slot { unsafe { *(entry.target as *const usize) } } else { entry.target }
}

/// Writes the code. The pointer to [`super::state::EPOCH_AT`] and the target are at these distances
/// from its own beginning.
pub fn write<const N: usize>(code: &mut StubCode<N>, entry: &RedirectedSite, epoch_at: i32, target: i32) {
    let own = &current().tsvd;
    let place = (&raw const own.near[entry.id as usize % NEAR]).cast::<u8>();
    let field = |offset: usize| from_thread_pointer(place.wrapping_add(offset));
    let register = REGISTERS.get(usize::from(entry.object)).copied();
    let mut to_go = None;
    if let Some(register) = register.filter(|_| entry.flags & site_flag::OFTEN_LOCAL != 0) {
        code.put(&[0x50, if register < 8 { 0x48 } else { 0x49 }, 0x8d, 0x40 | register & 7, 0xf8]);
        code.put(&[0x48, 0x29, 0xe0, 0x48, 0x3d]);
        code.put_word(65536);
        code.put(&[0x58, JB, 0]);
        to_go = Some(code.len() - 1);
    }
    code.put(&[0x50, 0x48, 0x8b, 0x05]);
    code.put_word(epoch_at - (code.len() as i32 + 4));
    code.put(&[0x48, 0x8b, 0x00, 0x8b, 0x00, 0x64, 0x3b, 0x04, 0x25]);
    code.put_word(from_thread_pointer((&raw const own.near_epoch).cast()));
    code.put(&[0x58]);
    code.jump_to_whole(JNE);
    if let Some(register) = register {
        let prefix = if register < 8 { 0x48 } else { 0x4c };
        code.put(&[0x64, prefix, 0x3b, (register & 7) << 3 | 4, 0x25]);
        code.put_word(field(offset_of!(Near, object)));
        code.jump_to_whole(JNE);
    } else {
        debug_assert!(entry.object == LIBRARY);
    }
    code.put(&[0x64, 0x81, 0x3c, 0x25]);
    code.put_word(field(offset_of!(Near, site)));
    code.put_word(entry.id as i32);
    code.jump_to_whole(JNE);
    code.put(&[0x64, 0xff, 0x0c, 0x25]);
    code.put_word(field(offset_of!(Near, left)));
    code.jump_to_whole(JS);
    if let Some(at) = to_go {
        code.bytes[at] = (code.len() - at - 1) as u8;
    }
    code.put(&[0xff, 0x25]);
    code.put_word(target - (code.len() as i32 + 4));
    code.end();
}
