//! A function together with its data flow: the questions that slices and conditions ask.

use std::rc::Rc;

use iced_x86::{Instruction, Mnemonic};

use super::data::{DataFlow, Definitions};
use super::effects::Operand;
use super::form::Form;
use super::function::{MachineFunction, is_call};
use super::outlets::Outlets;
use super::places::{RDI, RDX, RSI, Storage};
use super::probes::{Announced, announced};
use super::program::{Callee, MachineProgram};
use super::transfer::{self, is_immediate};

/// A smaller constant in an address counts as the offset of a field, not as a place in the program.
const FIELDS: u64 = 4096;

/// A read of memory that other threads may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SharedRead {
    /// The pc of the access as the runtime sees it, or the load itself if nothing announces it.
    pub(crate) address: u64,
    pub(crate) instrumented: bool,
    pub(crate) size: u8,
    pub(crate) atomic: bool,
    /// The address read, if it is fixed.
    pub(crate) variable: Option<u64>,
    /// A local of the function itself, to which other threads may have a pointer.
    pub(crate) local: bool,
}

/// One function of a program.
pub(crate) struct View<'p, 'm> {
    pub(crate) program: &'p MachineProgram<'m>,
    pub(crate) function: Rc<MachineFunction<'m>>,
}

impl<'p, 'm> View<'p, 'm> {
    pub(crate) fn new(program: &'p MachineProgram<'m>, entry: u64) -> Option<Self> {
        Some(Self { program, function: program.function(entry)? })
    }

    pub(crate) fn data(&self) -> &DataFlow {
        self.function.data(self.program)
    }

    pub(crate) fn instruction(&self, index: u32) -> &Instruction {
        &self.function.code[index as usize]
    }

    pub(crate) fn callee(&self, index: u32) -> Option<&Callee<'m>> {
        self.function.callee(index)
    }

    pub(crate) fn is_call(&self, index: u32) -> bool {
        is_call(self.instruction(index))
    }

    pub(crate) fn reaching(&self, index: u32, place: Storage) -> Definitions {
        self.data().reaching(&self.function, index, place)
    }

    pub(crate) fn only_definition(&self, index: u32, place: Storage) -> Option<u32> {
        self.data().only_definition(&self.function, index, place)
    }

    /// Memory operands with their places.
    pub(crate) fn operands(&self, index: u32) -> impl Iterator<Item = (Operand, Option<Storage>)> + '_ {
        let data = self.data();
        let operands = data.effects[index as usize].operands.iter().copied();
        operands.zip(data.operand_places[index as usize].iter().copied())
    }

    /// The form of a register before an instruction.
    pub(crate) fn form(&self, index: u32, register: u8) -> Form {
        transfer::form_of_number(self.data(), self.program, &self.function, index, register, 0)
    }

    /// The form of the address of an operand.
    pub(crate) fn address(&self, index: u32, operand: &Operand) -> Form {
        self.data().address(self.program, &self.function, index, operand)
    }

    /// The slot that a register points to before an instruction.
    pub(crate) fn pointed_slot(&self, index: u32, register: u8) -> Option<i32> {
        self.data().pointed_slot(self.program, &self.function, index, register)
    }

    /// What the function does with memory to which it was given pointers.
    pub(crate) fn outlets(&self) -> &Outlets {
        self.data().outlets.get_or_init(|| Outlets::of(self))
    }

    /// What a call of a probe announces.
    pub(crate) fn announced(&self, index: u32) -> Option<Announced> {
        self.callee(index)?.probe().and_then(announced)
    }

    /// The shared read that a load performs, if any. The load must not be of the stack,
    /// thread-local or of constants, and must be announced if this program announces its accesses.
    pub(crate) fn shared_read(
        &self,
        index: u32,
        operand: &Operand,
        place: Option<Storage>,
    ) -> Option<SharedRead> {
        if !operand.reads || operand.segment || matches!(place, Some(Storage::Slot { .. })) {
            return None;
        }
        let form = self.address(index, operand);
        let variable = form.terms.is_empty().then_some(form.constant as u64);
        // A table of constants, unless the constant is only the offset of a field.
        let table = form.constant as u64;
        if (variable.is_some() || table >= FIELDS) && !self.program.module().is_writable(table) {
            return None;
        }
        let probes = self.data().probes(self.program, &self.function);
        if let Some(probe) = probes.announcing(&self.function, index, &form, operand.size) {
            let size = operand.size as u8;
            let address = self.function.return_address(probe);
            return Some(SharedRead {
                address,
                instrumented: true,
                size,
                atomic: false,
                variable,
                local: false,
            });
        }
        if self.program.is_instrumented() || self.data().forms.borrow().is_in_frame(&form) {
            return None;
        }
        let size = operand.size.min(255) as u8;
        let address = self.instruction(index).ip();
        Some(SharedRead { address, instrumented: false, size, atomic: false, variable, local: false })
    }

    /// The read of a local to which other threads may have a pointer, if a load performs one. The
    /// compiler announces no others. Often the threads of a test share only its locals.
    pub(crate) fn local_read(
        &self,
        index: u32,
        operand: &Operand,
        place: Option<Storage>,
    ) -> Option<SharedRead> {
        if !operand.reads || !matches!(place, Some(Storage::Slot { .. })) {
            return None;
        }
        let form = self.address(index, operand);
        let probes = self.data().probes(self.program, &self.function);
        let probe = probes.announcing_exactly(&self.function, index, &form)?;
        let address = self.function.return_address(probe);
        Some(SharedRead {
            address,
            instrumented: true,
            size: operand.size as u8,
            atomic: false,
            variable: None,
            local: true,
        })
    }

    /// The shared read that a call performs: an atomic, or a library function that reads memory.
    pub(crate) fn read_by_call(&self, index: u32) -> Option<SharedRead> {
        let callee = self.callee(index)?;
        let announced = match callee.probe() {
            Some(probe) => announced(probe).filter(|announced| announced.atomic && announced.reads)?,
            None => Announced { reads: true, size: 0, atomic: false },
        };
        if callee.probe().is_none() && !callee.name.is_some_and(reads_its_arguments) {
            return None;
        }
        let form = self.form(index, RDI);
        let variable = form.terms.is_empty().then_some(form.constant as u64).filter(|address| *address != 0);
        let address = self.function.return_address(index);
        let instrumented = self.program.is_instrumented();
        let Announced { size, atomic, .. } = announced;
        Some(SharedRead { address, instrumented, size, atomic, variable, local: false })
    }

    /// The copy that a call of `memcpy` or a similar function makes.
    pub(crate) fn copy_by_call(&self, index: u32) -> Option<Copy> {
        let name = self.callee(index)?.name?;
        let name = name.strip_prefix("__tsan_").unwrap_or(name);
        let name = name.split('@').next().unwrap_or(name);
        if !matches!(name, "memcpy" | "memmove" | "__memcpy_chk" | "__memmove_chk" | "mempcpy") {
            return None;
        }
        let length = self.form(index, RDX);
        let length = length.terms.is_empty().then(|| u32::try_from(length.constant).ok()).flatten();
        Some(Copy { to: self.pointed_slot(index, RDI), from: self.pointed_slot(index, RSI), length })
    }

    /// Whether an instruction only moves or tests a value. Such steps cost no distance.
    pub(crate) fn is_free(&self, index: u32) -> bool {
        let instruction = self.instruction(index);
        let mnemonic = instruction.mnemonic();
        // One compiler tests `!flag` where another one jumps on the flag directly.
        let negates =
            mnemonic == Mnemonic::Xor && instruction.op_count() == 2 && is_immediate(instruction, 1);
        is_call(instruction)
            || instruction.is_jcc_short_or_near()
            || is_move_or_test(mnemonic)
            || (negates && matches!(instruction.immediate(1), 1 | 0xff | u64::MAX))
    }
}

/// A block copy, with slots for the ends that lie in the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Copy {
    pub(crate) to: Option<i32>,
    pub(crate) from: Option<i32>,
    pub(crate) length: Option<u32>,
}

/// Functions of the C library whose result is a function of the memory they are given.
fn reads_its_arguments(name: &str) -> bool {
    let name = name.split('@').next().unwrap_or(name);
    matches!(
        name,
        "strlen"
            | "strnlen"
            | "strcmp"
            | "strncmp"
            | "strcasecmp"
            | "strncasecmp"
            | "memcmp"
            | "bcmp"
            | "strchr"
            | "strrchr"
            | "strstr"
            | "memchr"
            | "strspn"
            | "strcspn"
            | "atoi"
            | "atol"
            | "atof"
            | "strtol"
            | "strtoul"
            | "strtod"
            | "wcslen"
            | "wcscmp"
    )
}

#[rustfmt::skip]
fn is_move_or_test(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(mnemonic,
        Mov | Movsx | Movsxd | Movzx | Movd | Movq | Movaps | Movapd | Movss | Movsd | Movups | Movupd | Movdqa
        | Movdqu | Push | Pop | Cmp | Test | Cbw | Cwde | Cdqe | Cwd | Cdq | Cqo | Xchg | Nop | Jmp
        | Seta | Setae | Setb | Setbe | Sete | Setg | Setge | Setl | Setle | Setne | Setno | Setnp | Setns | Seto
        | Setp | Sets | Cmova | Cmovae | Cmovb | Cmovbe | Cmove | Cmovg | Cmovge | Cmovl | Cmovle | Cmovne | Cmovno
        | Cmovnp | Cmovns | Cmovo | Cmovp | Cmovs | Comiss | Comisd | Ucomiss | Ucomisd | Vmovss | Vmovsd | Vmovaps
        | Vmovups | Vmovdqa | Vmovdqu | Vmovq | Vmovd | Vcomiss | Vcomisd | Vucomiss | Vucomisd | Leave | Bt
        | Cvtsi2sd | Cvtsi2ss | Cvttsd2si | Cvttss2si | Cvtss2sd | Cvtsd2ss)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn library_functions_that_read() {
        assert!(reads_its_arguments("strcmp") && reads_its_arguments("strlen@GLIBC_2.2.5"));
        assert!(!reads_its_arguments("strdup") && !reads_its_arguments("printf"));
    }

    #[test]
    fn moves_are_free_and_arithmetic_is_not() {
        assert!(is_move_or_test(Mnemonic::Mov) && is_move_or_test(Mnemonic::Setg));
        assert!(!is_move_or_test(Mnemonic::Add) && !is_move_or_test(Mnemonic::Lea));
    }
}
