//! `setjmp` and `longjmp`: a jump leaves functions without their exits, so the shadow call stack is
//! restored.

use core::arch::naked_asm;
use core::ffi::c_int;

use super::{Real, interpose};
use crate::detect::handlers;
use crate::detect::thread::{Current, current};
use crate::explore;

const REMEMBERED: usize = 16;

/// A jump buffer that this thread has filled.
#[repr(C)]
#[derive(Clone, Copy)]
struct Jump {
    buffer: usize,
    /// The height of its shadow stack, and the number of running signal handlers.
    sp: *mut usize,
    /// The highest entry; 0 if there is none. In copied machine code it is the call of `setjmp`,
    /// and later calls of the same function overwrite it.
    top: usize,
    handlers: u32,
    /// The signals that the thread blocked, if they were saved and it is explored.
    mask: Option<u64>,
}

/// Jump buffers this thread has filled.
#[repr(C)]
pub struct Jumps {
    of: [Jump; REMEMBERED],
    next: usize,
}

impl Jumps {
    fn set(&mut self, jump: Jump) {
        let at = self.of.iter().position(|j| j.buffer == jump.buffer).unwrap_or_else(|| {
            self.next = (self.next + 1) % REMEMBERED;
            self.next
        });
        self.of[at] = jump;
    }

    fn get(&self, buffer: usize) -> Option<Jump> {
        self.of.iter().find(|j| j.buffer == buffer).copied()
    }
}

fn land(mut t: Current, buffer: usize) {
    let mut still = 0;
    if let Some(jump) = t.jumps.get(buffer) {
        (t.sp, still) = (jump.sp, jump.handlers);
        if jump.top != 0 {
            // SAFETY: an entry of this thread's shadow stack, which was in use when it was noted.
            unsafe { *jump.sp.sub(1) = jump.top };
        }
    }
    handlers::left(&mut t, still);
}

/// [`land`] for an explored thread.
fn land_explored(mut t: Current, buffer: usize) {
    if !explore::is_running() {
        return;
    }
    explore::locks::may_leave();
    match t.jumps.get(buffer) {
        Some(jump) => {
            t.sp = jump.sp;
            explore::signals::jumped(jump.handlers, jump.mask);
        }
        None => explore::signals::jumped(0, None),
    }
}

/// Notes the buffer in rdi, and whether the mask is saved (`$keeps`, or what rsi says). Then
/// continues in the real function as if nothing had been in between: `setjmp` saves the registers
/// of its caller.
macro_rules! set {
    ($($name:literal $real:literal $keeps:expr),*) => {$(
        const _: () = {
            static REAL: Real = Real::new($real, None);
            extern "C" fn note(buffer: usize, asks: c_int) -> usize {
                let mut t = current();
                let keeps: fn(c_int) -> bool = $keeps;
                let (handlers, mask) = match explore::is_running() {
                    true => explore::signals::standing(),
                    false => (handlers::running(&t), 0),
                };
                let mask = (keeps(asks) && explore::is_running()).then_some(mask);
                let sp = t.sp;
                // SAFETY: below the top of this thread's shadow stack.
                let top = if sp > t.trace.stack { unsafe { *sp.sub(1) } } else { 0 };
                t.jumps.set(Jump { buffer, sp, top, handlers, mask });
                REAL.get()
            }
            #[unsafe(export_name = concat!("__interpose_", $name))]
            #[unsafe(naked)]
            unsafe extern "C" fn entry() {
                naked_asm!(
                    "push rdi", "push rsi", "sub rsp, 8",
                    "call {note}",
                    "add rsp, 8", "pop rsi", "pop rdi",
                    "jmp rax",
                    note = sym note,
                )
            }
        };
    )*};
}
set!(
    "setjmp" c"setjmp" |_| true,
    "_setjmp" c"_setjmp" |_| false,
    "__sigsetjmp" c"__sigsetjmp" |asks| asks != 0
);

interpose! {
    fn longjmp(buffer: usize, value: c_int), |t, pc, real| {
        land(t, buffer);
        real(buffer, value)
    } record as detect, tsvd real, explore {
        land_explored(current(), buffer);
        real(buffer, value)
    }
    fn _longjmp(buffer: usize, value: c_int), |t, pc, real| {
        land(t, buffer);
        real(buffer, value)
    } record as detect, tsvd real, explore {
        land_explored(current(), buffer);
        real(buffer, value)
    }
    fn siglongjmp(buffer: usize, value: c_int), |t, pc, real| {
        land(t, buffer);
        real(buffer, value)
    } record as detect, tsvd real, explore {
        land_explored(current(), buffer);
        real(buffer, value)
    }
    fn __longjmp_chk(buffer: usize, value: c_int), |t, pc, real| {
        land(t, buffer);
        real(buffer, value)
    } record as detect, tsvd real, explore {
        land_explored(current(), buffer);
        real(buffer, value)
    }
}
