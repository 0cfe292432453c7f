//! The way in: exported functions that want to know where they were called from.

/// Exports `$name` as a jump to `$to` that leaves the caller's address with the thread. Keeps all argument registers.
macro_rules! entry {
    ($name:expr, $to:path) => {
        #[unsafe(export_name = $name)]
        #[unsafe(naked)]
        unsafe extern "C-unwind" fn entry() {
            core::arch::naked_asm!(
                "mov r10, qword ptr [rip + raddle_thread@GOTTPOFF]",
                "mov r11, qword ptr [rsp]",
                "mov qword ptr fs:[r10 + {caller}], r11",
                "jmp {to}",
                caller = const core::mem::offset_of!($crate::detect::thread::Thread, caller),
                to = sym $to,
            )
        }
    };
}
pub(crate) use entry;
