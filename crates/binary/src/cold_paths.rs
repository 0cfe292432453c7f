//! What an atomic operation leads to on its slow path.
//!
//! Every lock operation of std except the `try_` ones is an atomic operation with a rare slow path:
//! the lock is contended, or a thread waits for it. The slow path leads to a function that is never
//! inlined and whose name identifies the lock. So the code itself identifies the operation where
//! debug information is missing, or where the optimiser has merged two unlocks into one and kept
//! only what both have in common (seen at `-O3`: the two arms of a `match` on `try_lock`):
//!
//! ```text
//! call __tsan_atomic32_exchange
//! cmp  eax, 2
//! je   1f                       ; the other way leads on
//! ...
//! 1: mov rdi, rbx
//!    call std::sys::sync::mutex::futex::Mutex::wake
//! ```
//!
//! The search follows both ways of each jump. It ends at the first call, at a return, or after a
//! few instructions, so that what it finds belongs to this operation and not to a later one.

use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, OpKind, Register};

use crate::calls::Targets;
use crate::demangle::{demangle, rust_path};
use crate::module::Module;

/// The number of instructions to follow, on all paths together. The longest path seen has 14.
const REACH: usize = 48;

/// The functions at the end of the slow paths.
pub(crate) struct ColdFunctions {
    targets: Targets,
}

impl ColdFunctions {
    pub(crate) fn of(module: &Module) -> Self {
        // Demangling every symbol of a large program would cost more than everything else.
        let cold = |raw: &str| raw.contains("futex") && (raw.contains("contended") || raw.contains("wake"));
        Self { targets: module.targets(cold) }
    }

    /// The path of the cold function that the code after `return_address` may call first.
    pub(crate) fn reached_from(&self, module: &Module, return_address: u64) -> Option<String> {
        if self.targets.is_empty() {
            return None;
        }
        let mut ways = vec![return_address];
        let mut seen = Vec::new();
        let mut budget = REACH;
        while let Some(start) = ways.pop() {
            if seen.contains(&start) {
                continue;
            }
            seen.push(start);
            let Some(code) = module.code_from(start) else { continue };
            for instruction in &mut Decoder::with_ip(64, code, start, DecoderOptions::NONE) {
                if budget == 0 {
                    return None;
                }
                budget -= 1;
                if let Some(name) = self.called(&instruction) {
                    return Some(rust_path(&demangle(name)));
                }
                match instruction.flow_control() {
                    FlowControl::Next => {}
                    FlowControl::ConditionalBranch => ways.push(instruction.near_branch_target()),
                    FlowControl::UnconditionalBranch => {
                        ways.push(instruction.near_branch_target());
                        break;
                    }
                    _ => break,
                }
            }
        }
        None
    }

    fn called(&self, instruction: &Instruction) -> Option<&'static str> {
        let transfers = instruction.is_call_near()
            || instruction.is_call_near_indirect()
            || instruction.is_jmp_short_or_near()
            || instruction.is_jmp_near_indirect();
        transfers.then(|| self.targets.of(instruction)).flatten()
    }
}

impl Module {
    /// The constant that the second argument register holds at a call: the amount of a
    /// `fetch_sub`. Only constants set in the same function, with nothing written since, count.
    pub(crate) fn second_argument(&self, call: u64) -> Option<u64> {
        let function = self.symbols().function_at(call)?;
        let code = self.code_from(function.address)?;
        let length = usize::try_from(call - function.address).ok()?;
        let mut value = None;
        let code = code.get(..length)?;
        for instruction in &mut Decoder::with_ip(64, code, function.address, DecoderOptions::NONE) {
            let sets = instruction.op0_kind() == OpKind::Register
                && instruction.op0_register().full_register() == Register::RSI;
            if sets {
                value = match instruction.code() {
                    Code::Mov_r32_imm32 => Some(u64::from(instruction.immediate32())),
                    _ => None,
                };
            } else if instruction.is_call_near() || instruction.is_call_near_indirect() {
                // A call may write any register that carries arguments.
                value = None;
            }
        }
        value
    }
}
