//! Faults that the program handles itself: `SIGSEGV`, `SIGBUS`, `SIGFPE`, `SIGILL` and `abort`, if
//! it has installed a handler.
//!
//! The kernel delivers a fault to [`super::fatal`], on the carrier's signal stack. The program's
//! handler must not run there: it may be scheduled away, and another thread may fault meanwhile. So
//! the description of the fault is copied to the thread's own stack (or its `sigaltstack`), and the
//! thread continues in [`enter`], which calls the handler. When the handler returns, the system
//! call that ends a handler reads the copy: the instruction is tried again, with the registers as
//! the handler has changed them. [`super::signals::jumped`] notes a handler that jumps out.

use core::ffi::c_int;

use super::{signals, state};

/// What a handler sees of the thread, and what the kernel restores. The kernel's part is shorter
/// than that of the C library.
#[repr(C, align(16))]
struct Frame {
    context: [u8; size_of::<libc::ucontext_t>()],
    info: libc::siginfo_t,
    signal: c_int,
}

/// The size of the kernel's part of a context: flags, link, stack, registers, mask.
const OF_KERNEL: usize = 8 + 8 + 24 + 256 + 8;
/// Functions may keep data below the stack pointer.
const RED_ZONE: usize = 128;
/// `SYS_rt_sigreturn`.
const RETURN: usize = 15;

/// A stack for handlers, as set by `sigaltstack`. Zeros: none.
#[derive(Clone, Copy)]
pub struct HandlerStack {
    pub low: usize,
    pub len: usize,
}

impl HandlerStack {
    pub const NONE: HandlerStack = HandlerStack { low: 0, len: 0 };

    pub fn contains(&self, sp: usize) -> bool {
        sp.wrapping_sub(self.low) < self.len
    }
}

/// A fault whose handler runs. If the handler ends the program by it after all, this place is
/// reported.
#[derive(Clone, Copy)]
pub struct Fault {
    pub signal: c_int,
    pub pc: usize,
    pub address: usize,
    /// The position of the shadow call stack.
    pub shadow: *mut usize,
}

/// Makes the thread of `context` continue in the program's handler. False if there is no handler
/// that would run.
///
/// # Safety
/// The arguments are what the kernel passes to a handler, for the running thread.
pub unsafe fn divert(signal: c_int, info: *const libc::siginfo_t, context: *mut libc::ucontext_t) -> bool {
    let mut s = state();
    let me = s.current;
    if !signals::would_handle(me, signal) {
        return false;
    }
    // SAFETY: the kernel's descriptions; the stack below what is in use, which is as large as a
    // handler takes. If it is not, this faults again, and `would_handle` returns false because the
    // signal is blocked meanwhile.
    unsafe {
        let registers = &mut (*context).uc_mcontext.gregs;
        let sp = registers[libc::REG_RSP as usize] as usize;
        let pc = registers[libc::REG_RIP as usize] as usize;
        let before = s.threads[me].mask;
        s.threads[me].mask = u64::MAX;
        let other = s.threads[me].handler_stack;
        let top = match signals::wants_stack(signal) && other.len > 0 && !other.contains(sp) {
            true => other.low + other.len,
            false => sp - RED_ZONE,
        };
        let extended = (*context).uc_mcontext.fpregs as usize;
        let len = extended_len(extended);
        let copy = (top - len) & !63;
        core::ptr::copy_nonoverlapping(extended as *const u8, copy as *mut u8, len);
        let frame = ((copy - size_of::<Frame>()) & !63) as *mut Frame;
        core::ptr::write_bytes(frame, 0, 1);
        core::ptr::copy_nonoverlapping(context.cast::<u8>(), (&raw mut (*frame).context).cast(), OF_KERNEL);
        (*(&raw mut (*frame).context).cast::<libc::ucontext_t>()).uc_mcontext.fpregs = copy as *mut _;
        (*frame).info = *info;
        (*frame).signal = signal;
        s.threads[me].mask = before;
        let shadow = crate::detect::thread::current().sp;
        s.threads[me].fault = Some(Fault { signal, pc, address: (*info).si_addr() as usize, shadow });
        registers[libc::REG_RSP as usize] = frame as i64;
        registers[libc::REG_RIP as usize] = enter as *const () as i64;
        // Clears the trap flag and the direction flag.
        registers[libc::REG_EFL as usize] &= !0x500;
    }
    true
}

/// The length of the vector registers' state, which the state itself contains.
///
/// # Safety
/// The kernel has put the state there.
unsafe fn extended_len(at: usize) -> usize {
    const PLAIN: usize = 512;
    const SAYS: usize = 464;
    const MAGIC: u32 = 0x4650_5853;
    // SAFETY: by the caller's contract; the plain part contains these words.
    unsafe {
        match *((at + SAYS) as *const u32) == MAGIC {
            true => *((at + SAYS + 4) as *const u32) as usize,
            false => PLAIN,
        }
    }
}

/// The thread continues here, with the stack pointer at its [`Frame`]. The frame's context is what
/// the kernel expects there at the end.
#[unsafe(naked)]
unsafe extern "C" fn enter() {
    core::arch::naked_asm!(
        "mov rdi, rsp",
        "call {handle}",
        "mov eax, {back}",
        "syscall",
        "ud2",
        handle = sym handle,
        back = const RETURN,
    )
}

/// How a handler that the kernel called ends.
#[unsafe(naked)]
pub unsafe extern "C" fn end_of_handler() {
    core::arch::naked_asm!("mov eax, {back}", "syscall", "ud2", back = const RETURN)
}

unsafe extern "C-unwind" fn handle(frame: *mut Frame) {
    // SAFETY: the frame made by `divert`.
    unsafe {
        signals::handle_fault((*frame).signal, &raw mut (*frame).info, (&raw mut (*frame).context).cast());
    }
    state().current_thread_mut().fault = None;
}
