//! How much of an object an unknown function may change that got the address of a member.
//!
//! `uv_timer_stop(&pool->timer)` may change the timer, but not the flag behind it that says who
//! owns the pool: a function that knows only the member's type cannot name the rest. Nobody
//! declares the function, so its argument has no type to go by. The code that computes it tells the
//! member.
//!
//! A first member that is a record may be the base of a larger object, which the called function
//! knows: `stream_close(&connection->base)`. There the rest of the object counts as changed.

use std::sync::Arc;

use super::Machine;
use super::handle_room::start_of_value;
use crate::ir::{Instr, MemberId, Program};

impl Machine<'_> {
    /// For each of the `n` arguments of the call at `pc`, how many bytes behind it the called
    /// function may change. Those that are missing have no limit.
    pub(super) fn sizes_of_arguments(&mut self, pc: u32, n: usize) -> Arc<[u64]> {
        if let Some(known) = self.argument_sizes.get(&pc) {
            return known.clone();
        }
        let sizes: Arc<[u64]> = sizes_of_arguments(self.program, pc, n).into();
        self.argument_sizes.insert(pc, sizes.clone());
        sizes
    }
}

fn sizes_of_arguments(program: &Program, pc: u32, n: usize) -> Vec<u64> {
    let mut out = vec![u64::MAX; n];
    let by_pointer = match program.code.get(pc as usize) {
        Some(Instr::Call(_, count)) if usize::from(*count) == n => false,
        Some(Instr::CallPtr(count)) if usize::from(*count) == n => true,
        _ => return Vec::new(),
    };
    let code = &program.code[..pc as usize];
    let mut end = code.len();
    if by_pointer {
        match start_of_value(code) {
            Some(start) => end = start,
            None => return Vec::new(),
        }
    }
    for size in out.iter_mut().rev() {
        let Some(start) = start_of_value(&code[..end]) else { break };
        let is_address = |i: &Instr| !matches!(i, Instr::Nop | Instr::Conv(..));
        if let Some(last) = code[start..end].iter().rposition(is_address)
            && let Some(member) = member_before(program, (start + last) as u32 + 1)
        {
            *size = program.member_sizes.get(&member).map_or(u64::MAX, |size| u64::from(*size));
        }
        end = start;
    }
    out
}

/// The outermost member whose address is on the top of the stack before an instruction.
fn member_before(program: &Program, pc: u32) -> Option<MemberId> {
    let at = program.members.partition_point(|m| m.0 < pc);
    program.members.get(at).filter(|m| m.0 == pc).map(|m| m.1)
}
