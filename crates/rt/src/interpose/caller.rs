//! The site of a call that the C++ library makes for the program. `std::thread` starts and joins
//! threads in library code, which is not instrumented. Its address means nothing to the reader of a
//! report, and the shadow call stack does not know where the program called it.

use crate::detect::thread::{Thread, current};
use crate::explore::called_imports;
use crate::hub::modules;
use crate::sys;

/// The maximum number of words in the frame of a library function, with its return address.
const FRAME: usize = 8;

const PAGE: usize = 4096;

/// The maximum offset at which a library function calls the C library.
const FUNCTION: usize = 512;

/// Where the program called the function of the C++ library that called the running interposed
/// function, which returns to `pc`. Returns `pc` itself if it is not in the C++ library, or if this
/// is not certain. Must be called before any other interposed function.
pub fn in_program(t: &Thread, pc: usize) -> usize {
    if !modules::is_of_cxx_library(pc) {
        return pc;
    }
    let slot = t.kept[0] as *const usize;
    // A program may have made the stack itself, and the memory above it may be unreadable.
    let in_page = (PAGE - t.kept[0] % PAGE) / size_of::<usize>();
    let words = if in_page < FRAME && !is_readable(slot.wrapping_add(in_page)) { in_page } else { FRAME };
    // SAFETY: the return address of the running call, and readable memory above it.
    let above = |words: usize| unsafe { *slot.add(words) };
    if above(0) != pc {
        return pc;
    }
    // The function that was called distinguishes the return address from words that earlier calls
    // left in the frame.
    let is_inside = |function: usize| function <= pc && pc - function < FUNCTION;
    let is_caller = |word: &usize| {
        modules::is_instrumented(*word)
            && called(*word).is_some_and(|function| is_inside(called_imports::behind_stub(function)))
    };
    let found = (1..words).map(above).find(is_caller).unwrap_or(pc);
    current().made_for = [pc, found];
    found
}

/// True if the word can be read. Asks the kernel, since an access could fault.
fn is_readable(word: *const usize) -> bool {
    let mut value = 0_usize;
    let to = libc::iovec { iov_base: (&raw mut value).cast(), iov_len: size_of::<usize>() };
    let from = libc::iovec { iov_base: word as *mut _, iov_len: size_of::<usize>() };
    let process = sys::syscall(libc::SYS_getpid, [0; 6]) as usize;
    let args = [process, &raw const to as usize, 1, &raw const from as usize, 1, 0];
    sys::syscall(libc::SYS_process_vm_readv, args) as usize == size_of::<usize>()
}

/// The function that the call before `pc` calls, through the procedure linkage table or directly
/// through the global offset table.
fn called(pc: usize) -> Option<usize> {
    const JUMP: &[u8] = &[0xff, 0x25];
    // SAFETY: `pc` is in the code of a loaded module, after a call or at least in its text, which
    // does not begin with it; a table's entry has the 16 bytes.
    unsafe {
        let before = core::slice::from_raw_parts((pc - 6) as *const u8, 6);
        if before[..2] == [0xff, 0x15] {
            return Some(*(pc.wrapping_add_signed(offset(&before[2..])) as *const usize));
        }
        if before[1] != 0xe8 {
            return None;
        }
        let at = pc.wrapping_add_signed(offset(&before[2..]));
        if !modules::is_instrumented(at) {
            return None;
        }
        let mut entry = core::slice::from_raw_parts(at as *const u8, 16);
        // endbr64; mold: mov r11d, NUMBER; bnd
        entry = entry.strip_prefix(&[0xf3, 0x0f, 0x1e, 0xfa]).unwrap_or(entry);
        if entry.starts_with(&[0x41, 0xbb]) {
            entry = &entry[6..];
        }
        entry = entry.strip_prefix(&[0xf2]).unwrap_or(entry);
        let jump = entry.strip_prefix(JUMP)?;
        let behind = jump.as_ptr() as usize + 4;
        Some(*(behind.wrapping_add_signed(offset(jump.get(..4)?)) as *const usize))
    }
}

fn offset(bytes: &[u8]) -> isize {
    i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as isize
}
