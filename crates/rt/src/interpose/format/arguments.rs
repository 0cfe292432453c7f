//! Variable arguments, as the System V ABI of x86-64 passes them.

/// The C library's `va_list`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct VaList {
    general: u32,
    floating: u32,
    overflow: usize,
    saved: usize,
}

/// The saved registers: six general ones of eight bytes, then eight vectors of sixteen.
const GENERAL_END: u32 = 6 * 8;
const FLOATING_END: u32 = GENERAL_END + 8 * 16;

impl VaList {
    /// The next integer or pointer.
    ///
    /// # Safety
    /// There is one.
    pub unsafe fn word(&mut self) -> usize {
        let at = if self.general < GENERAL_END {
            self.general += 8;
            self.saved + self.general as usize - 8
        } else {
            self.on_stack(8)
        };
        // SAFETY: by the contract.
        unsafe { *(at as *const usize) }
    }

    pub fn skip_double(&mut self) {
        if self.floating < FLOATING_END {
            self.floating += 16;
        } else {
            self.on_stack(8);
        }
    }

    pub fn skip_long_double(&mut self) {
        self.overflow = self.overflow.next_multiple_of(16);
        self.on_stack(16);
    }

    fn on_stack(&mut self, size: usize) -> usize {
        self.overflow += size;
        self.overflow - size
    }
}

/// `NAME FIXED => TO`: exports the variadic function NAME, with FIXED arguments before the variable
/// ones, as a call of TO with a `va_list` in their place. Stores the caller's address in the
/// thread.
macro_rules! variadic {
    ($($name:literal $fixed:tt => $to:literal)*) => {$(
        const _: () = {
            #[unsafe(export_name = concat!("__interpose_", $name))]
            #[unsafe(naked)]
            unsafe extern "C-unwind" fn entry() {
                core::arch::naked_asm!(
                    // An unwinder may pass through here: printing is a cancellation point.
                    ".cfi_startproc",
                    "sub rsp, 216",
                    ".cfi_adjust_cfa_offset 216",
                    "mov qword ptr [rsp + 32], rdi",
                    "mov qword ptr [rsp + 40], rsi",
                    "mov qword ptr [rsp + 48], rdx",
                    "mov qword ptr [rsp + 56], rcx",
                    "mov qword ptr [rsp + 64], r8",
                    "mov qword ptr [rsp + 72], r9",
                    // The caller says in al whether there are vector arguments.
                    "test al, al",
                    "je 2f",
                    "movaps xmmword ptr [rsp + 80], xmm0",
                    "movaps xmmword ptr [rsp + 96], xmm1",
                    "movaps xmmword ptr [rsp + 112], xmm2",
                    "movaps xmmword ptr [rsp + 128], xmm3",
                    "movaps xmmword ptr [rsp + 144], xmm4",
                    "movaps xmmword ptr [rsp + 160], xmm5",
                    "movaps xmmword ptr [rsp + 176], xmm6",
                    "movaps xmmword ptr [rsp + 192], xmm7",
                    "2:",
                    "mov dword ptr [rsp], 8 * {fixed}",
                    "mov dword ptr [rsp + 4], 48",
                    "lea rax, [rsp + 224]",
                    "mov qword ptr [rsp + 8], rax",
                    "lea rax, [rsp + 32]",
                    "mov qword ptr [rsp + 16], rax",
                    "mov r10, qword ptr [rip + raddle_thread@GOTTPOFF]",
                    "mov r11, qword ptr [rsp + 216]",
                    "mov qword ptr fs:[r10 + {caller}], r11",
                    concat!("mov ", $crate::interpose::format::arguments::register!($fixed), ", rsp"),
                    concat!("call ", $to),
                    "add rsp, 216",
                    ".cfi_adjust_cfa_offset -216",
                    "ret",
                    ".cfi_endproc",
                    fixed = const $fixed,
                    caller = const core::mem::offset_of!($crate::detect::thread::Thread, caller),
                )
            }
        };
    )*};
}
pub(super) use variadic;

/// The register of the argument with this number.
macro_rules! register {
    (1) => {
        "rsi"
    };
    (2) => {
        "rdx"
    };
    (3) => {
        "rcx"
    };
    (4) => {
        "r8"
    };
    (5) => {
        "r9"
    };
}
pub(super) use register;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_taken_from_registers_and_then_from_the_stack() {
        let saved: Vec<usize> = (0..22).collect();
        // A long double is aligned: it leaves one word of the stack out.
        let stack: [u128; 4] = [101 << 64 | 100, 103 << 64 | 102, 105 << 64 | 104, 0];
        let mut a = VaList {
            general: 8 * 4,
            floating: GENERAL_END,
            overflow: stack.as_ptr() as usize,
            saved: saved.as_ptr() as usize,
        };
        // SAFETY: there are two words in registers and six on the stack.
        unsafe {
            assert_eq!([a.word(), a.word(), a.word()], [4, 5, 100]);
            a.skip_long_double();
            assert_eq!(a.word(), 104);
        }
        (0..8).for_each(|_| a.skip_double());
        let before = a.overflow;
        a.skip_double();
        assert_eq!(a.overflow, before + 8, "eight are in registers");
    }
}
