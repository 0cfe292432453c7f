//! Functions by which a task finds memory that belongs to the thread it runs on: its slot of a key,
//! or whatever a program keeps by the thread's id. See rule 3 of
//! [`contexts`](crate::detect::contexts).
//!
//! They are called often and matter to nobody else, so they do not go through `interpose!`: a
//! program without OpenMP pays a test, and an explored one makes no step here.

use core::arch::naked_asm;

use super::super::Real;
use crate::detect::thread::current;
use crate::hub::modules;

/// The program asks at `pc`. The OpenMP library asks for itself, which says nothing of the task.
pub fn asked(pc: usize) {
    let openmp = &mut current().openmp;
    if !openmp.asked && (openmp.is_in_region() || crate::detect::contexts::any()) {
        openmp.asked = modules::is_instrumented(pc);
    }
}

/// Exports `$name`, whose argument, if it has one, is in rdi.
macro_rules! asks {
    ($($name:literal $real:literal)*) => {$(
        const _: () = {
            extern "C" fn body(key: usize, pc: usize) -> usize {
                static REAL: Real = Real::new($real, None);
                asked(pc);
                // SAFETY: the C library's function takes a key, or nothing, and returns a word.
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
asks! {
    "pthread_getspecific" c"pthread_getspecific"
    "tss_get" c"tss_get"
    "pthread_self" c"pthread_self"
    "thrd_current" c"thrd_current"
}
