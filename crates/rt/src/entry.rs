//! Entry points: exported functions that need to know where they were called from.

/// Exports `$name` as a jump to `$to`. It stores the caller's address and stack pointer in the
/// thread. In an explored program it also stores the other callee-saved registers, by which
/// `explore::circle` recognises a thread that has returned to an earlier state: six stores that the
/// detector does not pay for. All argument registers keep their values.
macro_rules! entry {
    ($name:expr, $to:path) => {
        #[unsafe(export_name = $name)]
        #[unsafe(naked)]
        unsafe extern "C-unwind" fn entry() {
            core::arch::naked_asm!(
                "mov r10, qword ptr [rip + raddle_thread@GOTTPOFF]",
                "mov r11, qword ptr [rsp]",
                "mov qword ptr fs:[r10 + {caller}], r11",
                "mov qword ptr fs:[r10 + {kept}], rsp",
                "cmp byte ptr [rip + {mode}], {explore}",
                "jne 2f",
                "mov qword ptr fs:[r10 + {kept} + 8], rbx",
                "mov qword ptr fs:[r10 + {kept} + 16], rbp",
                "mov qword ptr fs:[r10 + {kept} + 24], r12",
                "mov qword ptr fs:[r10 + {kept} + 32], r13",
                "mov qword ptr fs:[r10 + {kept} + 40], r14",
                "mov qword ptr fs:[r10 + {kept} + 48], r15",
                "2: jmp {to}",
                mode = sym $crate::mode::MODE,
                explore = const $crate::mode::Mode::Explore as u8,
                kept = const core::mem::offset_of!($crate::detect::thread::Thread, kept),
                caller = const core::mem::offset_of!($crate::detect::thread::Thread, caller),
                to = sym $to,
            )
        }
    };
}
pub(crate) use entry;
