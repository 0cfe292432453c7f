//! Entry points: exported functions that need to know where they were called from.

/// Stores the registers of the caller in the thread, whose offset is in r10: the callee-saved ones,
/// by which `explore::circle` recognises a thread that has returned to an earlier state, and those
/// with arguments, which `explore::states` needs too. All keep their values.
macro_rules! store_registers {
    () => {
        concat!(
            "mov qword ptr fs:[r10 + {kept} + 8], rbx\n",
            "mov qword ptr fs:[r10 + {kept} + 16], rbp\n",
            "mov qword ptr fs:[r10 + {kept} + 24], r12\n",
            "mov qword ptr fs:[r10 + {kept} + 32], r13\n",
            "mov qword ptr fs:[r10 + {kept} + 40], r14\n",
            "mov qword ptr fs:[r10 + {kept} + 48], r15\n",
            "mov qword ptr fs:[r10 + {arguments}], rdi\n",
            "mov qword ptr fs:[r10 + {arguments} + 8], rsi\n",
            "mov qword ptr fs:[r10 + {arguments} + 16], rdx\n",
            "mov qword ptr fs:[r10 + {arguments} + 24], rcx\n",
            "mov qword ptr fs:[r10 + {arguments} + 32], r8\n",
            "mov qword ptr fs:[r10 + {arguments} + 40], r9\n",
        )
    };
}
pub(crate) use store_registers;

/// Exports `$name` as a jump to `$to`. It stores the caller's address and stack pointer in the
/// thread, and in an explored program its registers, which the detector does not pay for. All
/// argument registers keep their values.
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
                $crate::entry::store_registers!(),
                "2: jmp {to}",
                mode = sym $crate::mode::MODE,
                explore = const $crate::mode::Mode::Explore as u8,
                kept = const core::mem::offset_of!($crate::detect::thread::Thread, kept),
                arguments = const core::mem::offset_of!($crate::detect::thread::Thread, arguments),
                caller = const core::mem::offset_of!($crate::detect::thread::Thread, caller),
                to = sym $to,
            )
        }
    };
}
pub(crate) use entry;

/// Part of `Thread::arity` if a probe, not an interposed function, has stored the registers.
pub const PROBE: usize = 1 << 16;

/// A function that jumps to `$to`, which a probe calls with its caller's address on top of the
/// stack. In an explored program it stores the caller's registers first. `$arity` of the arguments
/// are still needed after the access.
macro_rules! storing {
    ($name:ident, $to:path, $arity:literal) => {
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                "cmp byte ptr [rip + {mode}], {explore}",
                "jne 2f",
                "mov r10, qword ptr [rip + raddle_thread@GOTTPOFF]",
                "mov qword ptr fs:[r10 + {kept}], rsp",
                $crate::entry::store_registers!(),
                "mov qword ptr fs:[r10 + {arity}], {n}",
                "2: jmp {to}",
                mode = sym $crate::mode::MODE,
                explore = const $crate::mode::Mode::Explore as u8,
                kept = const core::mem::offset_of!($crate::detect::thread::Thread, kept),
                arguments = const core::mem::offset_of!($crate::detect::thread::Thread, arguments),
                arity = const core::mem::offset_of!($crate::detect::thread::Thread, arity),
                n = const $arity | $crate::entry::PROBE,
                to = sym $to,
            )
        }
    };
}
pub(crate) use storing;
