//! Names of threads. The kernel has only the carrier's name, so the names are kept here. Threads
//! may race on the memory of a name; accesses to it are scheduling points if they do.

use core::ffi::{CStr, c_char};

use super::{is_running, point, state, threads};
use crate::sys;

/// The kernel's limit, with the zero.
pub const LEN: usize = 16;
/// The bytes of a name that count as accessed: one word stands for it.
const WORD: usize = 8;

/// Names the thread of this handle, or the running one. None if it is not explored.
///
/// # Safety
/// The name ends in zero.
pub unsafe fn set(handle: Option<usize>, name: *const c_char, pc: usize) -> Option<()> {
    let i = thread(handle)?;
    point::data(true, at(i), WORD, false, pc);
    // SAFETY: by the contract.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    let len = name.len().min(LEN - 1);
    let kept = &mut state().threads[i].name;
    *kept = [0; LEN];
    kept[..len].copy_from_slice(&name[..len]);
    Some(())
}

/// The name of the thread, as [`set`] stored it. If it never had one, the name of the process.
pub fn get(handle: Option<usize>, pc: usize) -> Option<[u8; LEN]> {
    let i = thread(handle)?;
    point::data(false, at(i), WORD, false, pc);
    let mut name = state().threads[i].name;
    if name[0] == 0 {
        let to = name.as_mut_ptr() as usize;
        sys::syscall(libc::SYS_prctl, [libc::PR_GET_NAME as usize, to, 0, 0, 0, 0]);
    }
    Some(name)
}

fn thread(handle: Option<usize>) -> Option<usize> {
    match handle {
        _ if !is_running() => None,
        Some(handle) => threads::by_handle(handle),
        None => Some(state().current),
    }
}

fn at(i: usize) -> usize {
    &raw const state().threads[i].name as usize
}
