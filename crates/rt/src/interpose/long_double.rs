//! Functions that take or return a `long double`, which Rust does not have.
//!
//! Such an argument is on the stack and such a result in a register of the x87. So the runtime
//! looks at the pointers, which are in registers, and then jumps to the C library's function, which
//! finds the stack as its caller left it. What the function is about to write must be known before.

use core::ffi::c_int;

use super::access::{Call, Text};
use crate::detect::thread::current;
use crate::mode::{Mode, mode};

/// The ten bytes that a `long double` has; six more pad it.
type LongDouble = [u8; 10];

/// `fn NAME(POINTERS), |c| { … }`: what the call is about to read and write, by those of its
/// arguments that are pointers. There are always two here, used or not.
macro_rules! long_doubles {
    ($(fn $name:ident($a:ident: $first:ty, $b:ident: $second:ty), |$c:ident| $before:block)*) => {$(
        const _: () = {
            $crate::entry::entry!(concat!("__interpose_", stringify!($name)), jump);

            #[unsafe(naked)]
            unsafe extern "C-unwind" fn jump() {
                core::arch::naked_asm!(
                    "push rdi",
                    "push rsi",
                    "push rdx",
                    "call {body}",
                    "pop rdx",
                    "pop rsi",
                    "pop rdi",
                    "jmp rax",
                    body = sym body,
                )
            }

            /// Returns the C library's function.
            unsafe extern "C-unwind" fn body($a: $first, $b: $second) -> usize {
                static REAL: $crate::interpose::Real = $crate::interpose::Real::new(
                    match core::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                        Ok(name) => name,
                        Err(_) => panic!(),
                    },
                    None,
                );
                let t = current();
                let pc = t.caller;
                let real = REAL.get();
                if mode() == Mode::Explore {
                    use crate::explore::states;
                    states::calls(states::Listed::Not, 0);
                }
                if !matches!(mode(), Mode::Off | Mode::Tsvd) {
                    let mut $c = Call::new(t, pc);
                    #[allow(unused_unsafe, clippy::macro_metavars_in_unsafe)]
                    // SAFETY: only what the function itself may touch.
                    unsafe { $before }
                }
                real
            }
        };
    )*};
}

long_doubles! {
    fn frexpl(to: *mut c_int, _b: usize), |c| { c.writes_one(to) }
    fn modfl(to: *mut LongDouble, _b: usize), |c| { c.writes_one(to) }
    fn remquol(to: *mut c_int, _b: usize), |c| { c.writes_one(to) }
    fn sincosl(sine: *mut LongDouble, cosine: *mut LongDouble), |c| { c.writes_one(sine); c.writes_one(cosine) }
    fn lgammal_r(to: *mut c_int, _b: usize), |c| { c.writes_one(to) }
    fn strtold(s: Text, end: *mut Text), |c| { super::string::number_with_fraction(&mut c, s); c.writes_one(end) }
    fn strtold_l(s: Text, end: *mut Text), |c| { super::string::number_with_fraction(&mut c, s); c.writes_one(end) }
}
