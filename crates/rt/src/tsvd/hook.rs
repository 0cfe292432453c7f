//! Watches functions at their entries, for calls through pointers: there is no call site to
//! redirect, and a pointer to a stub would not equal other pointers to the same function.
//!
//! A jump to the stub replaces the first instructions of the function. They run after the stub, in
//! the next 32 bytes, from where a jump leads back. The driver has checked that they may be moved
//! (`raddle_binary::Movable`). The stack is that of the call all the time, so a frame looks normal
//! to an unwinder as soon as the function's own code continues.
//!
//! This happens only while the process has one thread: another one could be about to run the second
//! of those instructions.

use super::redirect;
use super::stub::{self, Area};
use crate::sys;
use raddle_wire::tsvd::Hook;

/// A jump with an operand of four bytes.
const JUMP: usize = 5;

/// Makes the entries of functions in one mapping of code lead to their stubs. Called under the lock
/// of `redirect`, with a single thread.
pub fn patch_mapping((start, end): (usize, usize), hooks: impl Iterator<Item = Hook> + Clone) {
    let fits = |h: &Hook| h.site.address as usize + usize::from(h.len) <= end && is_as_read(h);
    let count = hooks.clone().filter(fits).count();
    if count == 0 {
        return;
    }
    let Some(mut area) = Area::near(start, 2 * count).filter(|area| area.reaches(end)) else { return };
    let (read, write) =
        (libc::PROT_READ | libc::PROT_EXEC, libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC);
    if !sys::protect(start, end - start, write) {
        return;
    }
    let mut used = 0;
    for hook in hooks {
        // No longer as read: it overlaps with an earlier one.
        if used == count || !fits(&hook) {
            continue;
        }
        let (stub, elsewhere) = (area.stub(2 * used), area.stub(2 * used + 1));
        let Some(code) = moved(&hook, elsewhere) else { continue };
        let Some(number) = redirect::add(redirect::hook_entry(&hook.site, elsewhere)) else { break };
        area.add(number, redirect::entry(u64::from(number)));
        area.add_code(&code);
        write_jump(hook.site.address as usize, stub);
        used += 1;
    }
    area.close();
    sys::protect(start, end - start, read);
}

/// True if the code in memory is that in the file.
fn is_as_read(hook: &Hook) -> bool {
    let len = usize::from(hook.len);
    // SAFETY: inside a mapping that can be read.
    let found = unsafe { core::slice::from_raw_parts(hook.site.address as *const u8, len) };
    found == &hook.bytes[..len]
}

/// The code that runs at `to` in place of the moved instructions. None if an operand does not reach
/// that far.
fn moved(hook: &Hook, to: usize) -> Option<[u8; stub::SIZE]> {
    const { assert!(raddle_wire::tsvd::MOST_CODE + JUMP <= stub::SIZE) };
    let len = usize::from(hook.code_len);
    let distance = hook.site.address as i64 - to as i64;
    let mut code = [0xcc; stub::SIZE];
    code[..len].copy_from_slice(&hook.code[..len]);
    for at in hook.relative.map(usize::from).into_iter().filter(|at| *at != 0) {
        let operand = &mut code[at..at + 4];
        let old = i32::from_le_bytes([operand[0], operand[1], operand[2], operand[3]]);
        operand.copy_from_slice(&i32::try_from(i64::from(old) + distance).ok()?.to_le_bytes());
    }
    code[len] = 0xe9;
    let back = distance + i64::from(hook.len) - (len + JUMP) as i64;
    code[len + 1..len + JUMP].copy_from_slice(&i32::try_from(back).ok()?.to_le_bytes());
    Some(code)
}

fn write_jump(at: usize, to: usize) {
    let distance = (to as i64 - (at + JUMP) as i64) as i32;
    let mut code = [0xe9; JUMP];
    code[1..].copy_from_slice(&distance.to_le_bytes());
    // SAFETY: code that was made writable, of which at least this much is moved; nobody else runs.
    unsafe { core::ptr::copy_nonoverlapping(code.as_ptr(), at as *mut u8, JUMP) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_wire::tsvd::{MOST_CODE, MOST_MOVED, ObjectOperand, RedirectSite};

    fn hook(address: u64, instructions: &[u8], relative: [u8; 3]) -> Hook {
        let object = ObjectOperand::Argument(0);
        let (mut bytes, mut code) = ([0; MOST_MOVED], [0; MOST_CODE]);
        bytes[..instructions.len()].copy_from_slice(instructions);
        code[..instructions.len()].copy_from_slice(instructions);
        let len = instructions.len() as u8;
        let site = RedirectSite {
            address,
            bytes: 0,
            len: 0,
            flags: 0,
            object,
            class: 0,
            id: 0,
            field: None,
            via: 0,
            safe_if: 0,
        };
        Hook { site, bytes, len, code, code_len: len, relative }
    }

    #[test]
    fn moved_code_leads_back_behind_itself() {
        // push rbp; mov rbp, rsp; sub rsp, 16
        let code = [0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10];
        let moved = moved(&hook(0x50_1000, &code, [0; 3]), 0x40_0000).unwrap();
        assert_eq!(moved[..8], code);
        assert_eq!(moved[8], 0xe9);
        let distance = i32::from_le_bytes(moved[9..13].try_into().unwrap());
        assert_eq!(0x40_0000 + 13 + i64::from(distance), 0x50_1008);
    }

    #[test]
    fn operands_name_the_same_place_from_elsewhere() {
        // mov rax, [rip + 0x100]
        let code = [0x48, 0x8b, 0x05, 0, 1, 0, 0];
        let hook = hook(0x50_1000, &code, [3, 0, 0]);
        let there = moved(&hook, 0x40_0000).unwrap();
        let operand = i32::from_le_bytes(there[3..7].try_into().unwrap());
        assert_eq!(0x40_0000 + 7 + i64::from(operand), 0x50_1000 + 7 + 0x100);
        assert!(moved(&hook, 0x50_1000 + (1 << 33)).is_none(), "out of reach");
    }

    #[test]
    fn only_what_is_as_the_driver_read_it_gives_way() {
        let code = [0x90_u8; 8];
        let at = code.as_ptr() as u64;
        assert!(is_as_read(&hook(at, &code, [0; 3])));
        assert!(!is_as_read(&hook(at, &[0x90, 0x90, 0x90, 0x90, 0x91], [0; 3])));
    }

    /// A function of two instructions in separate memory, and the target of its hook's code.
    #[test]
    fn a_function_runs_as_before_behind_its_jump() {
        let page = Area::near(write_jump as *const () as usize, 64).unwrap();
        let (at, elsewhere) = (page.stub(0), page.stub(8));
        // lea eax, [rdi + 7]; nop; nop; ret
        let code = [0x8d, 0x47, 7, 0x90, 0x90, 0xc3];
        // SAFETY: fresh memory, writable until `close`.
        unsafe { core::ptr::copy_nonoverlapping(code.as_ptr(), at as *mut u8, code.len()) };
        let moved = moved(&hook(at as u64, &code[..5], [0; 3]), elsewhere).unwrap();
        // SAFETY: as above.
        unsafe { core::ptr::copy_nonoverlapping(moved.as_ptr(), elsewhere as *mut u8, moved.len()) };
        write_jump(at, elsewhere);
        page.close();
        // SAFETY: the code that was written above.
        let f = unsafe { core::mem::transmute::<usize, extern "C" fn(u64) -> u64>(at) };
        assert_eq!(f(5), 12);
    }
}
