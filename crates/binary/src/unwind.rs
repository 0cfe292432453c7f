//! From the registers in a function to those of its caller, by the exception tables.
//!
//! The stack is a copy: the runtime that caught the thread has saved its registers and some of its
//! memory. Every function of an x86-64 program has an entry in `.eh_frame`, optimised or not, so
//! this needs neither frame pointers nor debug information. Rules that are expressions (signal
//! frames, stubs of the linkage table) are not evaluated. There, and where a module has no table,
//! the frame pointer is used.

use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, LittleEndian, Register, RegisterRule, UnwindContext,
    UnwindSection as _, UnwindTableRow, X86_64,
};
use object::{Object as _, ObjectSection as _};

use crate::module::{Address, Module};

/// The registers that a call preserves, and where the caller continues.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Registers {
    pub rip: u64,
    pub rsp: u64,
    pub rbp: u64,
    pub rbx: u64,
    pub r12: u64,
    pub r13: u64,
    pub r14: u64,
    pub r15: u64,
}

impl Registers {
    fn get(&self, register: Register) -> Option<u64> {
        Some(match register {
            X86_64::RSP => self.rsp,
            X86_64::RBP => self.rbp,
            X86_64::RBX => self.rbx,
            X86_64::R12 => self.r12,
            X86_64::R13 => self.r13,
            X86_64::R14 => self.r14,
            X86_64::R15 => self.r15,
            _ => return None,
        })
    }
}

/// Reads a word of the stack by its address.
pub type ReadWord<'a> = &'a dyn Fn(u64) -> Option<u64>;

impl Module {
    /// The registers of the caller. `rip` is a return address or that of an instruction about to
    /// run. `bias` is the load bias of this module. None: this is the outermost function, or the
    /// stack is invalid.
    pub fn caller(&self, registers: &Registers, bias: u64, read: ReadWord<'_>) -> Option<Registers> {
        // A call may be the last instruction of its function.
        let address = registers.rip.wrapping_sub(bias).checked_sub(1)?;
        let caller = match self.by_table(address, registers, read) {
            Some(caller) => caller,
            None => by_frame_pointer(registers, read)?,
        };
        // The stack of a caller is above, so a damaged table cannot cause an endless loop.
        (caller.rip != 0 && caller.rsp > registers.rsp).then_some(caller)
    }

    fn by_table(&self, address: u64, registers: &Registers, read: ReadWord<'_>) -> Option<Registers> {
        let mut context = UnwindContext::new();
        let row = self.row(address, &mut context)?;
        let CfaRule::RegisterAndOffset { register, offset } = *row.cfa() else { return None };
        let frame = registers.get(register)?.wrapping_add_signed(offset);
        let saved = |register, now: u64| match row.register(register) {
            RegisterRule::Undefined | RegisterRule::SameValue => Some(now),
            RegisterRule::Offset(offset) => read(frame.wrapping_add_signed(offset)),
            RegisterRule::ValOffset(offset) => Some(frame.wrapping_add_signed(offset)),
            RegisterRule::Register(other) => registers.get(other),
            _ => None,
        };
        // The outermost function leaves its return address undefined.
        let rip = match row.register(X86_64::RA) {
            RegisterRule::Undefined => 0,
            _ => saved(X86_64::RA, 0)?,
        };
        Some(Registers {
            rip,
            rsp: frame,
            rbp: saved(X86_64::RBP, registers.rbp)?,
            rbx: saved(X86_64::RBX, registers.rbx)?,
            r12: saved(X86_64::R12, registers.r12)?,
            r13: saved(X86_64::R13, registers.r13)?,
            r14: saved(X86_64::R14, registers.r14)?,
            r15: saved(X86_64::R15, registers.r15)?,
        })
    }
}

impl Module {
    /// Whether `rbp` is the frame pointer at this place: the exception tables compute the frame of
    /// the caller from it. Also true if there is no entry for the place, or one that is not
    /// understood.
    pub fn has_frame_pointer(&self, at: Address) -> bool {
        let frame = |address| match *self.row(address, &mut UnwindContext::new())?.cfa() {
            CfaRule::RegisterAndOffset { register, .. } => Some(register),
            CfaRule::Expression(_) => None,
        };
        self.virtual_address(at).and_then(frame) != Some(X86_64::RSP)
    }

    /// The rules for a place.
    fn row<'c>(
        &self,
        address: u64,
        context: &'c mut UnwindContext<usize>,
    ) -> Option<&'c UnwindTableRow<usize>> {
        let section = self.elf.section_by_name(".eh_frame")?;
        let header = self.elf.section_by_name(".eh_frame_hdr")?;
        let text = self.elf.section_by_name(".text").map_or(0, |text| text.address());
        let bases = BaseAddresses::default()
            .set_eh_frame(section.address())
            .set_eh_frame_hdr(header.address())
            .set_text(text);
        let frames = EhFrame::new(self.image.section(&self.elf, ".eh_frame"), LittleEndian);
        let header = EhFrameHdr::new(self.image.section(&self.elf, ".eh_frame_hdr"), LittleEndian);
        let header = header.parse(&bases, 8).ok()?;
        let entry =
            header.table()?.fde_for_address(&frames, &bases, address, EhFrame::cie_from_offset).ok()?;
        entry.unwind_info_for_address(&frames, &bases, context, address).ok()
    }
}

/// `push %rbp; mov %rsp, %rbp` leaves the caller's rbp and the return address where rbp points.
fn by_frame_pointer(registers: &Registers, read: ReadWord<'_>) -> Option<Registers> {
    if registers.rbp < registers.rsp || !registers.rbp.is_multiple_of(8) {
        return None;
    }
    let (rbp, rip) = (read(registers.rbp)?, read(registers.rbp + 8)?);
    Some(Registers { rip, rsp: registers.rbp + 16, rbp, ..*registers })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_pointers_serve_where_there_is_no_table() {
        let stack = [(0x7f00_u64, 0x7f40_u64), (0x7f08, 0x1234)];
        let read = |at: u64| stack.iter().find(|w| w.0 == at).map(|w| w.1);
        let here = Registers { rip: 1, rsp: 0x7ef0, rbp: 0x7f00, rbx: 7, ..Registers::default() };
        let caller = by_frame_pointer(&here, &read).unwrap();
        assert_eq!(
            caller,
            Registers { rip: 0x1234, rsp: 0x7f10, rbp: 0x7f40, rbx: 7, ..Registers::default() }
        );
        let below = Registers { rbp: 0x10, ..here };
        assert_eq!(by_frame_pointer(&below, &read), None);
        let beyond = Registers { rbp: 0x8000, ..here };
        assert_eq!(by_frame_pointer(&beyond, &read), None);
    }
}
