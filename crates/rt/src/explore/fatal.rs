//! How an execution fails. None of these returns: the scheduler notes what happened, restores
//! memory, and continues with the next order.

use core::ffi::{c_char, c_int, c_void};

use raddle_wire::explore::{ExecutionEnd, flag};

use super::{faults, has, serve, signals, state};
use crate::sys;

/// Ends the execution with `what`; `thread` failed.
#[cold]
pub fn ends(what: ExecutionEnd, thread: usize) -> ! {
    let mut s = state();
    s.serve.slot().thread = thread as u32;
    if has(flag::TRAP_AT_FAILURE) {
        // SAFETY: the user asked for a debugger.
        unsafe { core::arch::asm!("int3") };
    }
    serve::finish(what)
}

#[cold]
pub fn use_after_free(address: usize, pc: usize) -> ! {
    let mut s = state();
    s.current_thread_mut().pc = pc;
    s.serve.slot().address = address as u64;
    ends(ExecutionEnd::UseAfterFree, s.current)
}

/// A thread accesses the stack of another one that has ended. The message is the number of the
/// latter.
#[cold]
pub fn use_of_left_stack(address: usize, whose: usize, pc: usize) -> ! {
    let mut digits = [0u8; 10];
    add(decimal(whose as u32, &mut digits));
    use_after_free(address, pc)
}

#[cold]
pub fn double_free(address: usize, pc: usize) -> ! {
    let mut s = state();
    s.current_thread_mut().pc = pc;
    s.serve.slot().address = address as u64;
    ends(ExecutionEnd::DoubleFree, s.current)
}

fn add(bytes: &[u8]) {
    let mut s = state();
    let slot = s.serve.slot();
    let at = slot.message_len as usize;
    let n = bytes.len().min(slot.message.len() - at);
    slot.message[at..at + n].copy_from_slice(&bytes[..n]);
    slot.message_len += n as u64;
}

fn decimal(mut n: u32, digits: &mut [u8; 10]) -> &[u8] {
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            return &digits[at..];
        }
    }
}

unsafe fn text<'a>(s: *const c_char) -> &'a [u8] {
    if s.is_null() {
        return b"";
    }
    // SAFETY: a string of the program's that ends in zero.
    unsafe { core::ffi::CStr::from_ptr(s) }.to_bytes()
}

/// `__assert_fail`: the message has one line each for expression, file, line and function.
pub unsafe fn assertion(
    expression: *const c_char,
    file: *const c_char,
    line: u32,
    function: *const c_char,
    pc: usize,
) -> ! {
    let mut digits = [0u8; 10];
    let line = decimal(line, &mut digits);
    // SAFETY: the compiler's strings.
    for part in unsafe { [text(expression), text(file), line, text(function)] } {
        add(part);
        add(b"\n");
    }
    signals::handle_abort();
    let mut s = state();
    s.current_thread_mut().pc = pc;
    ends(ExecutionEnd::Assertion, s.current)
}

/// `abort`. Returns only if no execution runs.
pub fn aborts(pc: usize) {
    let s = state();
    if !s.running {
        return;
    }
    signals::handle_abort();
    let mut s = state();
    let thrown = has_exception();
    s.current_thread_mut().pc = if thrown { thrown_at(pc) } else { pc };
    ends(if thrown { ExecutionEnd::Exception } else { ExecutionEnd::Abort }, s.current)
}

/// Where the exception was thrown for which the library ends the program at `pc`: the innermost
/// call of the program below. The stack is intact: nobody catches the exception, so nothing was
/// unwound.
fn thrown_at(pc: usize) -> usize {
    unsafe extern "C" {
        fn backtrace(to: *mut *mut c_void, most: c_int) -> c_int;
    }
    /// No executable is larger, and libraries are further away.
    const NEAR: usize = 1 << 30;
    let mut frames = [core::ptr::null_mut(); 64];
    // SAFETY: room for this many; the unwinder was loaded before the first execution.
    let n = unsafe { backtrace(frames.as_mut_ptr(), frames.len() as c_int) } as usize;
    let outer = frames[..n].iter().map(|f| *f as usize).skip_while(|f| *f != pc);
    let near = |f: &usize| f.abs_diff(super::main_at()) < NEAR;
    outer.skip(1).find(near).unwrap_or(pc)
}

/// True if a C++ exception is in flight that nobody catches.
fn has_exception() -> bool {
    // SAFETY: a look-up by name; the function takes nothing and returns a pointer.
    unsafe {
        let f = sys::dlsym(libc::RTLD_DEFAULT, c"__cxa_current_exception_type".as_ptr());
        !f.is_null() && !core::mem::transmute::<*mut c_void, extern "C" fn() -> *mut c_void>(f)().is_null()
    }
}

const FATAL: [c_int; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT, libc::SIGTRAP];

/// Catches signals that end a process, on a separate stack.
pub fn catch_signals() {
    use_signal_stack();
    for signal in FATAL {
        if signal != libc::SIGTRAP {
            catch(signal);
        }
    }
}

/// Sets the calling thread's signal stack.
pub fn use_signal_stack() {
    const STACK: usize = 64 << 10;
    let stack = libc::stack_t { ss_sp: sys::pages(STACK).cast(), ss_flags: 0, ss_size: STACK };
    sys::syscall(libc::SYS_sigaltstack, [&raw const stack as usize, 0, 0, 0, 0, 0]);
}

fn catch(signal: c_int) {
    const RESTORER: u64 = 0x0400_0000;
    #[repr(C)]
    struct Action {
        handler: usize,
        flags: u64,
        restorer: usize,
        mask: u64,
    }
    let flags = (libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER) as u64 | RESTORER;
    let action = Action {
        handler: caught as *const () as usize,
        flags,
        restorer: faults::end_of_handler as *const () as usize,
        mask: 0,
    };
    sys::syscall(libc::SYS_rt_sigaction, [signal as usize, &raw const action as usize, 0, 8, 0, 0]);
}

extern "C" fn caught(signal: c_int, info: *const libc::siginfo_t, context: *mut libc::ucontext_t) {
    let s = state();
    // A signal sent by another process is not the program's doing: the worker ends by it, and the
    // order is given again.
    // SAFETY: the kernel's description; the sender is filled in if the signal was sent.
    let sent = unsafe { (*info).si_code <= 0 && (*info).si_pid() != sys::pid() as i32 };
    if !s.running || sent {
        let default = [0u64; 4];
        sys::syscall(libc::SYS_rt_sigaction, [signal as usize, default.as_ptr() as usize, 0, 8, 0, 0]);
        let pid = sys::pid() as usize;
        sys::syscall(libc::SYS_tgkill, [pid, sys::thread_id() as usize, signal as usize, 0, 0, 0]);
        return;
    }
    // SAFETY: the kernel's descriptions.
    if unsafe { faults::divert(signal, info, context) } {
        return;
    }
    let mut s = state();
    // SAFETY: as above.
    unsafe {
        s.serve.slot().address = (*info).si_addr() as u64;
        let pc = (*context).uc_mcontext.gregs[libc::REG_RIP as usize] as usize;
        // A crash is located at the instruction itself; everywhere else the location is the
        // instruction after a call.
        s.current_thread_mut().pc = pc + 1;
    }
    s.serve.slot().detail = signal as u64;
    ends(ExecutionEnd::Signal, s.current)
}
