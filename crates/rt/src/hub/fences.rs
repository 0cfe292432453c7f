//! Whether the program uses fences at all.
//!
//! An acquire fence turns every earlier relaxed load into an acquire. So a thread must remember
//! what its relaxed loads have seen, and for that it must look up the object of each atomic that it
//! loads. Most programs have no fence and do not pay for this. A fence is a call of one function of
//! the runtime. The call comes from the executable's own code if the runtime is part of it, or
//! through a relocation that names the function. A jump that only looks like such a call costs time
//! but does no harm.
//!
//! A library that is loaded later may contain the first fence. The runtime does not know what
//! relaxed loads saw before that. So this first fence acquires everything that was ever released,
//! which can hide a race but cannot invent one.

use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::tsan_abi::fence;

/// True until `look` has run, and if looking would take too long.
static USED: AtomicBool = AtomicBool::new(true);
/// With more code than this, the search takes too long at start.
const MOST_CODE: usize = 64 << 20;

#[inline(always)]
pub fn are_used() -> bool {
    USED.load(Relaxed)
}

fn entry() -> usize {
    fence as *const () as usize
}

#[repr(C)]
struct Info {
    base: usize,
    name: *const c_char,
    headers: *const libc::Elf64_Phdr,
    count: u16,
}

unsafe extern "C" {
    fn dl_iterate_phdr(
        f: extern "C" fn(*const Info, usize, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
}

/// Searches all modules, at start.
pub fn look() {
    // SAFETY: the callback reads only what the loader hands it.
    let found = unsafe { dl_iterate_phdr(has_fence, core::ptr::null_mut()) } != 0;
    USED.store(found, Relaxed);
}

/// Called at a fence. True: it is the first fence that is known.
pub fn is_news() -> bool {
    !USED.swap(true, Relaxed)
}

extern "C" fn has_fence(info: *const Info, _: usize, _: *mut c_void) -> c_int {
    // SAFETY: the loader's description of a module, which stays loaded meanwhile.
    unsafe {
        let info = &*info;
        let headers = core::slice::from_raw_parts(info.headers, info.count as usize);
        let at = |h: &libc::Elf64_Phdr| info.base + h.p_vaddr as usize;
        let is_code = |h: &&libc::Elf64_Phdr| h.p_type == libc::PT_LOAD && h.p_flags & libc::PF_X != 0;
        let has_entry = |h: &libc::Elf64_Phdr| (at(h)..at(h) + h.p_memsz as usize).contains(&(entry()));
        let mut found = false;
        for code in headers.iter().filter(is_code).filter(|h| has_entry(h)) {
            found |= calls(core::slice::from_raw_parts(at(code) as *const u8, code.p_memsz as usize));
        }
        for dynamic in headers.iter().filter(|h| h.p_type == libc::PT_DYNAMIC) {
            found |= names_fence(info.base, at(dynamic) as *const [usize; 2]);
        }
        found as c_int
    }
}

/// Whether the code has a call of, or a jump to, the fence.
fn calls(code: &[u8]) -> bool {
    if code.len() > MOST_CODE {
        return true;
    }
    let target = entry();
    let start = code.as_ptr() as usize;
    let mut from = 0;
    while let Some(n) = code[from..].iter().position(|b| b & 0xfe == 0xe8) {
        let at = from + n;
        let Some(offset) = code.get(at + 1..at + 5) else { return false };
        let offset = i32::from_le_bytes([offset[0], offset[1], offset[2], offset[3]]);
        if (start + at + 5).wrapping_add(offset as isize as usize) == target {
            return true;
        }
        from = at + 1;
    }
    false
}

/// The entries of a dynamic section that are needed here, by tag.
const STRINGS: usize = 5;
const SYMBOLS: usize = 6;
const RELOCATIONS: usize = 7;
const RELOCATIONS_SIZE: usize = 8;
const JUMPS_SIZE: usize = 2;
const JUMPS: usize = 23;
const RELATIVE: u64 = 8;

/// Whether a relocation of the module names the fence, or is its address.
///
/// SAFETY: `dynamic` is a module's dynamic section.
unsafe fn names_fence(base: usize, mut dynamic: *const [usize; 2]) -> bool {
    let mut of = [0usize; 24];
    // SAFETY: the section ends in a zero tag. Its addresses are the loader's, or relative where the
    // loader could not write (the vdso).
    unsafe {
        while (*dynamic)[0] != 0 {
            let [tag, value] = *dynamic;
            if tag < of.len() {
                of[tag] = value;
            }
            dynamic = dynamic.add(1);
        }
        let address = |tag: usize| if of[tag] < base { of[tag] + base } else { of[tag] };
        if of[STRINGS] == 0 || of[SYMBOLS] == 0 {
            return false;
        }
        let (symbols, strings) = (address(SYMBOLS) as *const libc::Elf64_Sym, address(STRINGS) as *const u8);
        let is_fence = |r: &libc::Elf64_Rela| {
            let (symbol, kind) = ((r.r_info >> 32) as usize, r.r_info & 0xffff_ffff);
            if symbol == 0 {
                return kind == RELATIVE && base.wrapping_add(r.r_addend as usize) == entry();
            }
            let name = c"__tsan_atomic_thread_fence".to_bytes_with_nul();
            let symbol = &*symbols.add(symbol);
            // A module that defines the fence is a runtime: this one, or a second copy that was
            // preloaded.
            if symbol.st_shndx != 0 {
                return false;
            }
            let at = strings.add(symbol.st_name as usize);
            name.iter().enumerate().all(|(i, b)| *at.add(i) == *b)
        };
        [(RELOCATIONS, of[RELOCATIONS_SIZE]), (JUMPS, of[JUMPS_SIZE])].into_iter().any(|(tag, size)| {
            of[tag] != 0 && {
                let n = size / size_of::<libc::Elf64_Rela>();
                core::slice::from_raw_parts(address(tag) as *const libc::Elf64_Rela, n).iter().any(is_fence)
            }
        })
    }
}
