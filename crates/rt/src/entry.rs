//! Entry points: exported functions that need to know where they were called from.

/// Exports `$name` as a jump to `$to`. It stores in the thread the caller's address and the
/// registers that a call preserves. `explore::circle` uses these registers to recognise a thread
/// that has returned to an earlier state. All argument registers keep their values.
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
                "mov qword ptr fs:[r10 + {kept} + 8], rbx",
                "mov qword ptr fs:[r10 + {kept} + 16], rbp",
                "mov qword ptr fs:[r10 + {kept} + 24], r12",
                "mov qword ptr fs:[r10 + {kept} + 32], r13",
                "mov qword ptr fs:[r10 + {kept} + 40], r14",
                "mov qword ptr fs:[r10 + {kept} + 48], r15",
                "jmp {to}",
                kept = const core::mem::offset_of!($crate::detect::thread::Thread, kept),
                caller = const core::mem::offset_of!($crate::detect::thread::Thread, caller),
                to = sym $to,
            )
        }
    };
}
pub(crate) use entry;
