//! Faults that the program handles itself: `SIGSEGV`, `SIGBUS`, `SIGFPE`, `SIGILL` and `abort`,
//! where it has installed a handler.
//!
//! The kernel hands a fault to [`super::fatal`], on the carrier's stack for signals. Where the
//! program has a handler, it must not run there: it may be scheduled away, and another thread may
//! fault meanwhile. So the description of the fault is copied to the thread's own stack (or the one
//! that it has named by `sigaltstack`), and the thread goes on in [`enter`], which calls the
//! handler. When the handler returns, the system call that ends a handler reads the copy: the
//! instruction is tried again, or whatever the handler has made of the registers. A handler that
//! jumps out is taken note of in [`super::signals::jumped`].

use core::ffi::c_int;

use super::{signals, state};

/// What a handler sees of the thread, and what the kernel takes back. The kernel's part is shorter
/// than that of the C library.
#[repr(C, align(16))]
struct Frame {
    context: [u8; size_of::<libc::ucontext_t>()],
    info: libc::siginfo_t,
    signal: c_int,
}

/// So much of a context is the kernel's: flags, link, stack, registers, mask.
const OF_KERNEL: usize = 8 + 8 + 24 + 256 + 8;
/// Below the stack pointer a function may keep something.
const RED_ZONE: usize = 128;
/// `SYS_rt_sigreturn`.
const RETURN: usize = 15;

/// A stack for handlers, as `sigaltstack` has it. Zeros: none.
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

/// A fault whose handler runs: if the handler ends the program by it after all, it is told of this
/// place.
#[derive(Clone, Copy)]
pub struct Fault {
    pub signal: c_int,
    pub pc: usize,
    pub address: usize,
    /// Where the shadow call stack was.
    pub shadow: *mut usize,
}

/// Makes the thread that `context` is of go on in the program's handler. False: it has none that
/// would run.
///
/// # Safety
/// What the kernel hands to a handler, for the running thread.
pub unsafe fn divert(signal: c_int, info: *const libc::siginfo_t, context: *mut libc::ucontext_t) -> bool {
    let mut s = state();
    let me = s.current;
    if !signals::would_handle(me, signal) {
        return false;
    }
    // SAFETY: the kernel's descriptions; the stack below what is in use, which is as large as a
    // handler takes. If it is not, this faults, and `would_handle` says no: the signal is blocked
    // meanwhile.
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
        // No single steps, and strings go upwards.
        registers[libc::REG_EFL as usize] &= !0x500;
    }
    true
}

/// How long the state of the vector registers is: it says so itself.
///
/// # Safety
/// Where the kernel has put it.
unsafe fn extended_len(at: usize) -> usize {
    const PLAIN: usize = 512;
    const SAYS: usize = 464;
    const MAGIC: u32 = 0x4650_5853;
    // SAFETY: the caller's; the plain part has room for it.
    unsafe {
        match *((at + SAYS) as *const u32) == MAGIC {
            true => *((at + SAYS + 4) as *const u32) as usize,
            false => PLAIN,
        }
    }
}

/// The thread goes on here, with the stack pointer at its [`Frame`], whose context is what the
/// kernel expects there at the end.
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

/// How a handler of the kernel's ends.
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
