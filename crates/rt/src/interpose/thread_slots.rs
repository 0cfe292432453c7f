//! The running thread's slot of a key. A task of OpenMP that asks for it finds memory that belongs to
//! the thread it runs on: see rule 3 of [`contexts`](crate::detect::contexts).
//!
//! These are called often and matter to nobody else, so they do not go through `interpose!`: a
//! program without OpenMP pays a test, and an explored one makes no step here.

use core::arch::naked_asm;

use super::Real;
use crate::detect::contexts;
use crate::detect::thread::current;
use crate::hub::modules;

/// The program asks at `pc`. The OpenMP library asks for itself, which says nothing of the task.
fn asked(pc: usize) {
    let openmp = &mut current().openmp;
    if !openmp.asked && (openmp.is_in_region() || contexts::any()) {
        openmp.asked = modules::is_instrumented(pc);
    }
}

/// Exports `$name`, whose argument is in rdi.
macro_rules! slots {
    ($($name:literal $real:literal)*) => {$(
        const _: () = {
            extern "C" fn body(key: usize, pc: usize) -> usize {
                static REAL: Real = Real::new($real, None);
                asked(pc);
                // SAFETY: the C library's function takes a key and returns a word.
                unsafe { core::mem::transmute::<usize, extern "C" fn(usize) -> usize>(REAL.get())(key) }
            }
            #[unsafe(export_name = concat!("__interpose_", $name))]
            #[unsafe(naked)]
            unsafe extern "C" fn entry() {
                naked_asm!("mov rsi, qword ptr [rsp]", "jmp {body}", body = sym body)
            }
        };
    )*};
}
slots! {
    "pthread_getspecific" c"pthread_getspecific"
    "tss_get" c"tss_get"
}
