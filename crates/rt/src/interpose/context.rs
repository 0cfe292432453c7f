//! User-level contexts: each has its own shadow call stack.

use core::arch::naked_asm;
use core::ffi::c_int;

use super::{Real, interpose};
use crate::detect::thread::{Current, current};
use crate::detect::{handlers, trace};
use crate::sys::{Shared, Spin};

const MOST: usize = 1024;
const STACK: usize = 1 << 20;

#[derive(Clone, Copy)]
struct Context {
    at: usize,
    stack: *mut usize,
    sp: *mut usize,
}

static LOCK: Spin = Spin::new();
static CONTEXTS: Shared<[Context; MOST]> =
    Shared::new([Context { at: 0, stack: core::ptr::null_mut(), sp: core::ptr::null_mut() }; MOST]);

fn with(at: usize, f: impl FnOnce(&mut Context)) {
    let _guard = LOCK.lock();
    // SAFETY: under LOCK.
    let contexts = unsafe { &mut *CONTEXTS.get() };
    let found = contexts.iter().position(|c| c.at == at).or_else(|| contexts.iter().position(|c| c.at == 0));
    if let Some(i) = found {
        contexts[i].at = at;
        f(&mut contexts[i]);
    }
}

/// `makecontext`: the context begins with an empty stack, in new memory or in that of an earlier
/// use.
extern "C" fn made(context: usize) -> usize {
    static REAL: Real = Real::new(c"makecontext", None);
    if crate::hub::is_active() {
        with(context, |c| {
            if c.stack.is_null() || c.stack == current().trace.stack {
                c.stack = trace::shadow_stack(STACK);
            }
            c.sp = c.stack;
        });
    }
    REAL.get()
}

/// `makecontext` takes any number of arguments, so they stay where they are.
#[unsafe(export_name = "__interpose_makecontext")]
#[unsafe(naked)]
unsafe extern "C" fn makecontext() {
    naked_asm!(
        "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9", "push rax",
        "call {made}",
        "mov r11, rax",
        "pop rax", "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
        "jmp r11",
        made = sym made,
    )
}

/// The thread continues in `context`, on its shadow stack.
fn enter(mut t: Current, context: usize) {
    // It is not known which handlers run there.
    handlers::left(&mut t, 0);
    with(context, |c| {
        if c.stack.is_null() {
            // Its creation or a switch away from it was not seen: it uses the current stack.
            (c.stack, c.sp) = (t.trace.stack, t.sp);
        }
        t.trace.switch_stack(c.stack, c.sp);
        t.sp = c.sp;
    });
}

interpose! {
    fn swapcontext(from: usize, to: usize) -> c_int, |t, pc, real| {
        let (stack, sp) = (t.trace.stack, t.sp);
        with(from, |c| (c.stack, c.sp) = (stack, sp));
        enter(t, to);
        let r = real(from, to);
        // The thread is back, by another swap or because the context ended, perhaps in another
        // thread.
        let mut t = current();
        t.trace.switch_stack(stack, sp);
        t.sp = sp;
        r
    } record as detect, tsvd real, explore real
    fn setcontext(to: usize) -> c_int, |t, pc, real| {
        enter(t, to);
        real(to)
    } record as detect, tsvd real, explore real
    fn getcontext(into: usize) -> c_int, |t, pc, real| {
        let (stack, sp) = (t.trace.stack, t.sp);
        with(into, |c| (c.stack, c.sp) = (stack, sp));
        real(into)
    } record as detect, tsvd real, explore real
}

pub fn reset_lock() {
    LOCK.reset();
}
