//! The running thread's slot of a key, and its id. A task of OpenMP that asks for them may find
//! memory that belongs to the thread it runs on: see rules 3 and 5 of
//! [`contexts`](crate::detect::contexts).
//!
//! These are called often and matter to nobody else, so they do not go through `interpose!`: a
//! program without OpenMP pays a test, and an explored one makes no step here.

use core::arch::naked_asm;

use super::{OpenMp, Real};
use crate::detect::contexts;
use crate::detect::thread::current;
use crate::hub::modules;

/// True if the program asks at `pc`, where that can matter. The OpenMP library asks for itself,
/// which says nothing of the task.
fn counts(openmp: &OpenMp, pc: usize) -> bool {
    (openmp.is_in_region() || contexts::any()) && modules::is_instrumented(pc)
}

fn asked(pc: usize) {
    let openmp = &mut current().openmp;
    openmp.asked = openmp.asked || counts(openmp, pc);
}

/// The program asks for the thread's id.
pub fn asked_id(pc: usize) {
    let openmp = &mut current().openmp;
    openmp.knows_id = openmp.knows_id || counts(openmp, pc);
}

/// Exports `$name`, whose argument, if it has one, is in rdi.
macro_rules! slots {
    ($($name:literal $real:literal $asked:ident)*) => {$(
        const _: () = {
            extern "C" fn body(key: usize, pc: usize) -> usize {
                static REAL: Real = Real::new($real, None);
                $asked(pc);
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
slots! {
    "pthread_getspecific" c"pthread_getspecific" asked
    "tss_get" c"tss_get" asked
    "pthread_self" c"pthread_self" asked_id
    "thrd_current" c"thrd_current" asked_id
}
