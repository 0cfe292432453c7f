//! Switches from one logical thread to another on the carrier: the callee-saved registers, the
//! stack, the thread pointer, and the floating-point control words, which are separate for each
//! thread.

use core::arch::naked_asm;

/// Where a thread continues.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Context {
    sp: usize,
    fs: usize,
    float: FloatControl,
}

/// The control words of SSE and of the x87, which `fesetround` and the like set.
#[repr(C)]
#[derive(Clone, Copy)]
struct FloatControl {
    mxcsr: u32,
    x87: u16,
}

impl FloatControl {
    /// The values at process start.
    const INITIAL: FloatControl = FloatControl { mxcsr: 0x1f80, x87: 0x37f };

    fn word(&self) -> u64 {
        // The lowest bits of MXCSR are flags of past exceptions, which a program may read.
        u64::from(self.mxcsr) << 16 | u64::from(self.x87)
    }

    fn of_running_thread() -> FloatControl {
        let mut float = FloatControl::INITIAL;
        // SAFETY: two words are written, each of the size that the instruction writes.
        unsafe {
            core::arch::asm!(
                "stmxcsr [{0}]",
                "fnstcw [{0} + 4]",
                in(reg) &raw mut float,
                options(nostack, preserves_flags)
            )
        };
        float
    }
}

impl Context {
    /// The running thread, somewhere in a call. Must not be switched to.
    pub fn here() -> Context {
        let fs: usize;
        // SAFETY: the first word of a thread descriptor is its own address.
        unsafe { core::arch::asm!("mov {}, fs:[0]", out(reg) fs, options(nostack, pure, readonly)) };
        Context { sp: 0, fs, float: FloatControl::INITIAL }
    }

    pub const NONE: Context = Context { sp: 0, fs: 0, float: FloatControl::INITIAL };

    /// The same context with the floating-point control of the running thread: a new thread
    /// inherits its creator's.
    pub fn created_here(self) -> Context {
        Context { float: FloatControl::of_running_thread(), ..self }
    }

    /// Its floating-point control words.
    pub fn float_control(&self) -> u64 {
        self.float.word()
    }

    /// The top of its stack: everything above is in use.
    pub fn stack(&self) -> usize {
        self.sp
    }

    /// The same thread, about to begin `entry` on the stack that ends at `top`.
    pub fn moved_to(&self, top: usize, entry: extern "C" fn() -> !) -> Context {
        // Six registers, the return address, and padding that aligns the stack as a call does.
        let sp = (top & !15) - 8 * 8;
        // SAFETY: the end of a stack that nobody uses yet.
        unsafe {
            core::ptr::write_bytes(sp as *mut u8, 0, 64);
            *((sp + 48) as *mut usize) = entry as *const () as usize;
        }
        Context { sp, ..*self }
    }

    pub fn thread_pointer(&self) -> usize {
        self.fs
    }
}

/// Saves the running thread in `from` and continues in `to`. Returns when somebody switches back.
///
/// # Safety
/// `to` was left by this function or [`park`], on a stack that has not been used since.
#[unsafe(naked)]
pub unsafe extern "C" fn switch(from: *mut Context, to: *const Context) {
    naked_asm!(
        // Debuggers unwind through here. Both stacks look alike, so a rule holds on either.
        ".cfi_startproc",
        "push rbp",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_rel_offset rbp, 0",
        "push rbx",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_rel_offset rbx, 0",
        "push r12",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_rel_offset r12, 0",
        "push r13",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_rel_offset r13, 0",
        "push r14",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_rel_offset r14, 0",
        "push r15",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_rel_offset r15, 0",
        "mov [rdi], rsp",
        "rdfsbase rax",
        "mov [rdi + 8], rax",
        "stmxcsr [rdi + 16]",
        "fnstcw [rdi + 20]",
        "mov rax, [rsi + 8]",
        "wrfsbase rax",
        "ldmxcsr [rsi + 16]",
        "fldcw [rsi + 20]",
        "mov rsp, [rsi]",
        "pop r15",
        ".cfi_adjust_cfa_offset -8",
        ".cfi_restore r15",
        "pop r14",
        ".cfi_adjust_cfa_offset -8",
        ".cfi_restore r14",
        "pop r13",
        ".cfi_adjust_cfa_offset -8",
        ".cfi_restore r13",
        "pop r12",
        ".cfi_adjust_cfa_offset -8",
        ".cfi_restore r12",
        "pop rbx",
        ".cfi_adjust_cfa_offset -8",
        ".cfi_restore rbx",
        "pop rbp",
        ".cfi_adjust_cfa_offset -8",
        ".cfi_restore rbp",
        "ret",
        ".cfi_endproc",
    )
}

/// Saves the running thread in `from` and continues in `then(argument)`, which does not return, on
/// the stack that ends at `stack`, with the same thread pointer.
///
/// # Safety
/// The stack is large enough and unused.
#[unsafe(naked)]
pub unsafe extern "C" fn park(
    from: *mut Context,
    stack: usize,
    then: extern "C" fn(usize) -> !,
    argument: usize,
) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov [rdi], rsp",
        "rdfsbase rax",
        "mov [rdi + 8], rax",
        "stmxcsr [rdi + 16]",
        "fnstcw [rdi + 20]",
        "mov rsp, rsi",
        "and rsp, -16",
        "mov rdi, rcx",
        "call rdx",
        "ud2",
    )
}

/// Continues in `to` without saving the running thread: the end of an execution.
///
/// # Safety
/// As for [`switch`].
#[unsafe(naked)]
pub unsafe extern "C" fn jump(to: *const Context) -> ! {
    naked_asm!(
        "mov rax, [rdi + 8]",
        "wrfsbase rax",
        "ldmxcsr [rdi + 16]",
        "fldcw [rdi + 20]",
        "mov rsp, [rdi]",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// The floating-point control words of the running thread.
pub fn float_control() -> u64 {
    FloatControl::of_running_thread().word()
}

/// True if the kernel lets user code change the thread pointer.
pub fn is_possible() -> bool {
    const FSGSBASE: libc::c_ulong = 2;
    // SAFETY: a plain query.
    unsafe { libc::getauxval(libc::AT_HWCAP2) & FSGSBASE != 0 }
}
