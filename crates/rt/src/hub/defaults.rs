//! `__tsan_default_options` and `__tsan_default_suppressions`, which a program may define to set
//! options for ThreadSanitizer. The driver reads what they return.

use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::log;
use crate::mode::{Mode, mode};
use raddle_wire::record::Record;

type Text = unsafe extern "C" fn() -> *const c_char;

// Weak symbols are null if the program does not define them. Rust has no stable syntax for them.
core::arch::global_asm!(
    ".weak __tsan_default_options",
    ".weak __tsan_default_suppressions",
    ".section .data.rel.ro.raddle_defaults,\"aw\"",
    ".hidden raddle_default_options",
    ".globl raddle_default_options",
    ".p2align 3",
    "raddle_default_options: .quad __tsan_default_options",
    ".hidden raddle_default_suppressions",
    ".globl raddle_default_suppressions",
    "raddle_default_suppressions: .quad __tsan_default_suppressions",
    ".text",
);

unsafe extern "C" {
    static raddle_default_options: Option<Text>;
    static raddle_default_suppressions: Option<Text>;
}

/// Longer texts are cut off.
const LONGEST: usize = 1 << 16;

fn text(function: Option<Text>) -> &'static [u8] {
    // SAFETY: the program's function returns null or a string that stays.
    unsafe {
        let at = function.map_or(core::ptr::null(), |f| f());
        if at.is_null() {
            return &[];
        }
        let whole = CStr::from_ptr(at).to_bytes();
        &whole[..whole.len().min(LONGEST)]
    }
}

/// Called once in a process, from a constructor of the program: its own code may run.
pub fn tell() {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if mode() != Mode::Detect || TOLD.swap(true, Relaxed) {
        return;
    }
    // SAFETY: the loader has filled in both words before constructors run.
    let (options, suppressions) =
        unsafe { (text(raddle_default_options), text(raddle_default_suppressions)) };
    if !options.is_empty() || !suppressions.is_empty() {
        log::write(&Record::Defaults { options, suppressions });
    }
}
