//! `setjmp` and `longjmp`: a jump leaves functions without their exits, so the shadow call stack is put back.

use core::arch::naked_asm;
use core::ffi::c_int;

use super::{Real, interpose};
use crate::detect::handlers;
use crate::detect::thread::{Thread, current};

const REMEMBERED: usize = 16;

/// Jump buffers this thread has filled, how high its shadow stack was, and how many signal handlers ran.
#[repr(C)]
pub struct Jumps {
    of: [(usize, *mut usize, u32); REMEMBERED],
    next: usize,
}

impl Jumps {
    fn set(&mut self, buffer: usize, sp: *mut usize, handlers: u32) {
        let at = self.of.iter().position(|j| j.0 == buffer).unwrap_or_else(|| {
            self.next = (self.next + 1) % REMEMBERED;
            self.next
        });
        self.of[at] = (buffer, sp, handlers);
    }
}

fn land(t: &mut Thread, buffer: usize) {
    let mut still = 0;
    if let Some((_, sp, handlers)) = t.jumps.of.iter().find(|j| j.0 == buffer) {
        (t.sp, still) = (*sp, *handlers);
    }
    handlers::left(t, still);
}

/// Notes the buffer in rdi, and goes on into the real function as if nothing had been in between: `setjmp` saves the
/// registers of its caller.
macro_rules! set {
    ($($name:literal $real:literal),*) => {$(
        const _: () = {
            static REAL: Real = Real::new($real, None);
            extern "C" fn note(buffer: usize) -> usize {
                let t = current();
                t.jumps.set(buffer, t.sp, handlers::running(t));
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
    "setjmp" c"setjmp",
    "_setjmp" c"_setjmp",
    "__sigsetjmp" c"__sigsetjmp"
);

interpose! {
    fn longjmp(buffer: usize, value: c_int), |t, pc, real| {
        land(t, buffer);
        real(buffer, value)
    } record as detect, tsvd real, explore real
    fn _longjmp(buffer: usize, value: c_int), |t, pc, real| {
        land(t, buffer);
        real(buffer, value)
    } record as detect, tsvd real, explore real
    fn siglongjmp(buffer: usize, value: c_int), |t, pc, real| {
        land(t, buffer);
        real(buffer, value)
    } record as detect, tsvd real, explore real
    fn __longjmp_chk(buffer: usize, value: c_int), |t, pc, real| {
        land(t, buffer);
        real(buffer, value)
    } record as detect, tsvd real, explore real
}
