//! Where a start that is known by its name only leaves the handle of the thread.
//!
//! `start(&id, work, data)` stores a handle behind `&id`, but `start(&pool, work, data)` must not
//! overwrite the first member of `pool`. No type says which of the two it is, since nobody declares
//! the function. So there is room for a handle in a variable that holds nothing else, and in an
//! element of an array whose elements have the size of a handle: `start(&ids[i], work, data)`. The
//! code that computes the argument tells an element, so the length of the array does not matter. If
//! the type of the elements is unknown, too, nobody knows where the element lies. Then nothing is
//! stored, and the call only has the shape of one that leaves a handle there.
//!
//! A wrong guess stores a number where the called function would not, in an object that the caller
//! passed to be changed. It makes no access that could race.

use super::Machine;
use super::value::is_unknown;
use crate::ir::{Instr, Scalar, UNKNOWN_ELEMENT};

const HANDLE: u64 = Scalar::U64.size() as u64;

/// What an argument of a call says of the object that it leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartArgument {
    /// The address of an array's element that has the size of a handle.
    Element,
    /// The address of an array's element of an unknown type.
    UnknownElement,
    Other,
}

/// A place for a handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandleRoom {
    Known(usize),
    Unknown,
}

/// Each of the `n` arguments of a call whose code follows `before`. Arguments whose code has a
/// branch, and those before them, are not looked at.
pub fn arguments(before: &[Instr], n: usize) -> Vec<StartArgument> {
    let mut out = vec![StartArgument::Other; n];
    let mut end = before.len();
    for argument in out.iter_mut().rev() {
        let Some(start) = start_of_value(&before[..end]) else { break };
        let last = before[start..end].iter().rfind(|i| !matches!(i, Instr::Nop | Instr::Conv(..)));
        *argument = match last {
            Some(Instr::Index(size)) if u64::from(*size) == HANDLE => StartArgument::Element,
            Some(Instr::UnknownField(UNKNOWN_ELEMENT)) => StartArgument::UnknownElement,
            _ => StartArgument::Other,
        };
        end = start;
    }
    out
}

/// The beginning of the straight code at the end of `code` that leaves one value.
pub(super) fn start_of_value(code: &[Instr]) -> Option<usize> {
    let mut wanted = 1;
    for (at, instr) in code.iter().enumerate().rev() {
        if instr.jump_target().is_some() || matches!(instr, Instr::Switch(_) | Instr::Return | Instr::Throw) {
            return None;
        }
        let (pops, pushes) = instr.effect();
        // A value that is used and left there, as by `Dup`, belongs to the code before it.
        if pushes > wanted {
            return None;
        }
        wanted = wanted - pushes + pops;
        if wanted == 0 {
            return Some(at);
        }
    }
    None
}

impl Machine<'_> {
    /// Where a handle is left, if the address is that of a variable that holds nothing else, or of
    /// an element of an array of handles.
    pub(super) fn room_for_handle(
        &self,
        ti: usize,
        address: u64,
        argument: StartArgument,
    ) -> Option<HandleRoom> {
        if is_unknown(address) {
            return (argument == StartArgument::UnknownElement).then_some(HandleRoom::Unknown);
        }
        if self.is_constant(address) {
            return None;
        }
        let is_alone = argument == StartArgument::Element
            || self.object_around(address) == Some((address, address + HANDLE))
            || self.size_in_frame(ti, address) == Some(HANDLE);
        self.memory.index(address, HANDLE).ok().filter(|_| is_alone).map(HandleRoom::Known)
    }

    /// Whether an address lies in a global that nobody writes: a text of seven letters has the size
    /// of a handle.
    pub(super) fn is_constant(&self, address: u64) -> bool {
        let holds = |(start, size): &(u32, u32)| {
            let start = u64::from(*start);
            start <= address && address < start + u64::from(*size)
        };
        let globals = &self.program.globals;
        let is_global = globals.last().is_some_and(|g| address < u64::from(g.address) + u64::from(g.size));
        let mut written = self.program.image_mutable.iter().chain(&self.program.image_unknown);
        is_global && !written.any(holds)
    }

    /// The room that a variable of the function that runs has in its frame: up to the next one that
    /// its code names.
    fn size_in_frame(&self, ti: usize, address: u64) -> Option<u64> {
        let frame = self.threads[ti].frames.last()?;
        let at = address.checked_sub(u64::from(frame.memory)).filter(|_| frame.memory != 0)?;
        let end = u64::from(frame.memory_size);
        let function = &self.program.functions[frame.function as usize];
        let code = &self.program.code[function.entry as usize..function.end as usize];
        let named = code.iter().filter_map(|i| match i {
            Instr::FrameAddr(n) => Some(u64::from(*n)),
            _ => None,
        });
        (at < end).then(|| named.filter(|n| *n > at).min().unwrap_or(end) - at)
    }
}

#[cfg(test)]
mod tests {
    use super::StartArgument::{Element, Other, UnknownElement};
    use super::*;

    #[test]
    fn only_elements_of_the_size_of_a_handle_are_rooms() {
        let of_size = |size| [Instr::FrameAddr(0), Instr::Get(1), Instr::Index(size), Instr::FuncAddr(3)];
        assert_eq!(arguments(&of_size(8), 2), [Element, Other]);
        assert_eq!(arguments(&of_size(16), 2), [Other, Other]);
    }

    #[test]
    fn elements_of_an_unknown_type_may_be_handles_and_members_may_not() {
        let of = |field| {
            let code = [Instr::FrameAddr(0), Instr::Get(1), Instr::Drop, Instr::UnknownField(field)];
            arguments(&code, 1)
        };
        assert_eq!(of(UNKNOWN_ELEMENT), [UnknownElement]);
        assert_eq!(of(UNKNOWN_ELEMENT + 20), [Other]);
    }

    #[test]
    fn an_index_within_another_value_is_none() {
        let field = [Instr::GlobalAddr(0), Instr::Get(1), Instr::Index(8), Instr::Field(4)];
        assert_eq!(arguments(&field, 1), [Other]);
    }

    #[test]
    fn a_branch_ends_the_search() {
        let code = [Instr::Get(0), Instr::Get(1), Instr::Index(8), Instr::JumpIf(9), Instr::FuncAddr(3)];
        assert_eq!(arguments(&code, 2), [Other, Other]);
    }
}
