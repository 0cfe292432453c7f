//! Which pages have been written to since the snapshot was taken. A copy of the process makes this
//! visible.
//!
//! A process and its fork share each page until one of them writes to it. Here the copy does
//! nothing but exist. So the first write to a page is a page fault, which the kernel counts. From
//! then on the page belongs only to this process, and `/proc/self/pagemap` says so. This includes
//! writes by the kernel itself, and costs nothing after the first time. A program may have much
//! memory when it creates its first thread, but its executions write to little of it: only that is
//! restored.
//!
//! The copy ends with the process. It has no descriptor open, so that nobody waits for it to close
//! one, and it is not a child that the program could wait for.

use crate::sys;

/// Makes a copy and returns its process id, or None if that fails.
pub fn begin() -> Option<u32> {
    let mask = sys::block_signals();
    let parent = sys::pid();
    // No flags, and no signal when it ends.
    let child = sys::syscall(libc::SYS_clone, [0; 6]);
    if child == 0 {
        stand_by(parent);
    }
    sys::set_blocked_signals(mask);
    (child > 0).then_some(child as u32)
}

/// Ends the copy.
pub fn end(child: u32) {
    sys::syscall(libc::SYS_kill, [child as usize, libc::SIGKILL as usize, 0, 0, 0, 0]);
    // Waiting for a child that sends no signal requires this flag.
    sys::syscall(libc::SYS_wait4, [child as usize, 0, libc::__WCLONE as usize, 0, 0, 0]);
}

/// The copy's life. All signals are blocked except the one that cannot be.
fn stand_by(parent: u32) -> ! {
    sys::syscall(libc::SYS_prctl, [libc::PR_SET_PDEATHSIG as usize, libc::SIGKILL as usize, 0, 0, 0, 0]);
    sys::syscall(libc::SYS_close_range, [0, u32::MAX as usize, 0, 0, 0, 0]);
    while sys::syscall(libc::SYS_getppid, [0; 6]) == parent as isize {
        sys::syscall(libc::SYS_pause, [0; 6]);
    }
    loop {
        sys::syscall(libc::SYS_exit_group, [0; 6]);
    }
}

/// True if the page is mapped here and nowhere else, or was swapped out, where one cannot tell.
pub fn is_written(entry: u64) -> bool {
    const PRESENT: u64 = 1 << 63;
    const SWAPPED: u64 = 1 << 62;
    const EXCLUSIVE: u64 = 1 << 56;
    entry & SWAPPED != 0 || entry & (PRESENT | EXCLUSIVE) == PRESENT | EXCLUSIVE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_one_process_alone_are_written_to() {
        let (present, swapped, exclusive) = (1 << 63, 1 << 62, 1 << 56);
        assert!(is_written(present | exclusive) && is_written(swapped));
        assert!(!is_written(present) && !is_written(exclusive) && !is_written(0));
    }
}
