//! How to watch a function at its entry: which of its first instructions can give way to a jump.
//!
//! A call through a pointer has no operand that could be changed, and programs that compare
//! pointers would notice a different pointer. So the callee itself gets a five-byte jump, and the
//! instructions that the jump replaces run elsewhere. Not all instructions can move. A call cannot,
//! because its return address would lie where no unwind table applies. Nothing in the module may
//! branch into the moved instructions. An `endbr64` stays in place, for processors that check for
//! it.
//!
//! Short branches become long ones. Operands relative to the instruction pointer are listed,
//! because only the code that moves them knows the distance.

use std::collections::HashMap;
use std::ops::Range;

use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};
use object::{Object as _, ObjectSymbol as _, SymbolFlags, elf};

use crate::module::Module;

/// A jump with an operand of four bytes.
const JUMP: usize = 5;
/// The longest instruction may begin in the last byte of the jump. Rounded up to whole words.
pub const MOST_MOVED: usize = (JUMP - 1 + 15usize).next_multiple_of(8);

/// Room for the same code with short branches made long.
pub const MOST_CODE: usize = 27;

/// The first instructions of a function, which will run elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Movable {
    /// The address of the first instruction that moves.
    pub address: u64,
    /// The bytes in place.
    pub bytes: [u8; MOST_MOVED],
    pub len: u8,
    /// The code that runs elsewhere.
    pub code: [u8; MOST_CODE],
    pub code_len: u8,
    /// Where in the code there are four-byte distances, which are correct for code that runs at
    /// `address`. 0: none.
    pub relative: [u8; 3],
}

impl Movable {
    fn range(&self) -> Range<u64> {
        self.address..self.address + u64::from(self.len)
    }

    /// Adds an instruction. Returns None if there is no room for it.
    fn add(&mut self, bytes: &[u8], relative: Relative, instruction: &Instruction) -> Option<()> {
        let long;
        let (bytes, operand_at) = match relative {
            Relative::No => (bytes, None),
            Relative::At(at) => (bytes, Some(at)),
            Relative::Short => {
                long = long_branch(bytes[0])?;
                (long.as_slice(), Some(long.len() as u8 - 4))
            }
        };
        let start = usize::from(self.code_len);
        let room = self.code.get_mut(start..start + bytes.len())?;
        room.copy_from_slice(bytes);
        self.len += instruction.len() as u8;
        self.code_len += bytes.len() as u8;
        let Some(at) = operand_at.map(usize::from) else { return Some(()) };
        let named = match relative {
            Relative::Short => instruction.near_branch_target(),
            _ if instruction.memory_base() == Register::RIP => instruction.ip_rel_memory_address(),
            _ => instruction.near_branch_target(),
        };
        let end = self.address + u64::from(self.code_len);
        let distance = i32::try_from(named.wrapping_sub(end) as i64).ok()?;
        room[at..at + 4].copy_from_slice(&distance.to_le_bytes());
        *self.relative.iter_mut().find(|at| **at == 0)? = start as u8 + at as u8;
        Some(())
    }
}

/// Which part of an instruction depends on its address.
#[derive(Clone, Copy)]
enum Relative {
    No,
    /// Four bytes, beginning at this byte.
    At(u8),
    /// A branch with an operand of one byte.
    Short,
}

/// The same branch with an operand of four bytes, by its first byte.
fn long_branch(short: u8) -> Option<Vec<u8>> {
    match short {
        0xeb => Some(vec![0xe9, 0, 0, 0, 0]),
        0x70..=0x7f => Some(vec![0x0f, short + 0x10, 0, 0, 0, 0]),
        _ => None,
    }
}

impl Module {
    /// All addresses that raw names stand for in this module: versions of a symbol may be different
    /// functions. `local` says for which names to include functions that are not exported. The
    /// result has the order of the names. One pass over the symbols serves all of them.
    pub fn definitions(&self, names: &[&str], local: impl Fn(&str) -> bool) -> Vec<Vec<u64>> {
        let numbers: HashMap<&[u8], usize> = names.iter().map(|n| n.as_bytes()).zip(0..).collect();
        let local: Vec<bool> = names.iter().map(|name| local(name)).collect();
        let exported = self.elf.dynamic_symbols().map(|s| (s, true));
        // Most files have many symbols, but no local ones that are wanted.
        let own = local.contains(&true).then(|| self.elf.symbols().map(|s| (s, false)));
        let mut found = vec![Vec::new(); names.len()];
        for (symbol, is_exported) in exported.chain(own.into_iter().flatten()) {
            if let Some(&number) = symbol.name_bytes().ok().and_then(|name| numbers.get(name))
                && (is_exported || local[number])
                && !symbol.is_undefined()
                && !is_chosen_when_loaded(symbol.flags())
                && self.is_code(symbol.address())
            {
                found[number].push(symbol.address());
            }
        }
        for addresses in &mut found {
            addresses.sort_unstable();
            addresses.dedup();
        }
        found
    }

    /// The raw names of the functions that it exports.
    pub fn exported_functions(&self) -> impl Iterator<Item = &str> {
        let defined = self.elf.dynamic_symbols().filter(|s| !s.is_undefined() && self.is_code(s.address()));
        defined.filter_map(|s| s.name().ok())
    }

    /// Which instructions can move, for each of these functions.
    pub fn movable(&self, functions: &[u64]) -> Vec<Option<Movable>> {
        let mut found: Vec<Option<Movable>> = functions.iter().map(|at| self.first_bytes(*at)).collect();
        // A branch to the first byte is allowed, because the jump is there.
        let mut inner: Vec<Range<u64>> =
            found.iter().flatten().map(|m| m.address + 1..m.range().end).collect();
        inner.sort_by_key(|range| range.start);
        let reached = self.long_branches_into(&inner);
        for place in &mut found {
            if place.is_some_and(|m| reached.contains(&(m.address + 1))) {
                *place = None;
            }
        }
        found
    }

    fn first_bytes(&self, function: u64) -> Option<Movable> {
        let end = self.function_end(function)?;
        let code = self.code_from(function)?;
        let mut decoder = Decoder::with_ip(64, code, function, DecoderOptions::NONE);
        let mut instruction = decoder.decode();
        let skipped = if instruction.code() == Code::Endbr64 { instruction.len() } else { 0 };
        let address = function + skipped as u64;
        if skipped > 0 {
            instruction = decoder.decode();
        }
        let mut moved = Movable {
            address,
            bytes: [0; MOST_MOVED],
            len: 0,
            code: [0; MOST_CODE],
            code_len: 0,
            relative: [0; 3],
        };
        let mut over = false;
        loop {
            let fits = if over { is_padding(&instruction) } else { instruction.next_ip() <= end };
            if !fits || instruction.is_invalid() {
                return None;
            }
            let bytes = code.get((instruction.ip() - function) as usize..)?.get(..instruction.len())?;
            moved.add(bytes, relative_operand(&decoder, &instruction)?, &instruction)?;
            over = over || ends(&instruction)?;
            if usize::from(moved.len) >= JUMP {
                break;
            }
            decoder.decode_out(&mut instruction);
        }
        let len = usize::from(moved.len);
        moved.bytes[..len].copy_from_slice(code.get(skipped..skipped + len)?);
        let inner = address + 1..moved.range().end;
        (!self.is_entered(&inner) && !self.branches_within(function..end, &inner)).then_some(moved)
    }

    /// Where a function ends, by its symbol or its unwind table.
    fn function_end(&self, function: u64) -> Option<u64> {
        let symbol = self.symbols().function_at(function).filter(|s| s.address == function && s.size > 0);
        symbol.map(|s| s.end()).or_else(|| {
            let known = self.raw_functions().into_iter().find(|(range, _)| range.start == function)?;
            Some(known.0.end)
        })
    }

    /// Whether a function begins in this range.
    fn is_entered(&self, inner: &Range<u64>) -> bool {
        let functions = self.symbols().functions();
        let at = functions.partition_point(|s| s.address < inner.start);
        functions.get(at).is_some_and(|s| inner.contains(&s.address))
    }

    /// Whether a function branches into its own first bytes.
    fn branches_within(&self, function: Range<u64>, inner: &Range<u64>) -> bool {
        let Some(code) = self.code_from(function.start) else { return true };
        let code = &code[..code.len().min((function.end - function.start) as usize)];
        Decoder::with_ip(64, code, function.start, DecoderOptions::NONE)
            .iter()
            .any(|i| i.op0_kind() == OpKind::NearBranch64 && inner.contains(&i.near_branch_target()))
    }

    /// The starts of those ranges that are the target of any jump with a four-byte operand. Jumps
    /// are decoded at every possible place, because the cold part of a function may lie far from
    /// it.
    fn long_branches_into(&self, inner: &[Range<u64>]) -> Vec<u64> {
        let mut reached = Vec::new();
        if inner.is_empty() {
            return reached;
        }
        for range in self.executable_ranges() {
            let Some(code) = self.code_from(range.start) else { continue };
            for (at, bytes) in code.windows(6).enumerate() {
                let operand = match bytes {
                    [0xe9, a, b, c, d, _] => [*a, *b, *c, *d],
                    [0x0f, 0x80..=0x8f, a, b, c, d] => [*a, *b, *c, *d],
                    _ => continue,
                };
                let len = if bytes[0] == 0xe9 { 5 } else { 6 };
                let behind = range.start + at as u64 + len;
                let target = behind.wrapping_add_signed(i64::from(i32::from_le_bytes(operand)));
                let before = inner.partition_point(|r| r.start <= target);
                if let Some(range) = inner[..before].last().filter(|r| r.contains(&target)) {
                    reached.push(range.start);
                }
            }
        }
        reached
    }
}

/// An indirect function: its symbol is that of the code that chooses the implementation.
fn is_chosen_when_loaded<S, T>(flags: SymbolFlags<S, T>) -> bool {
    matches!(flags, SymbolFlags::Elf { st_info, .. } if st_info & 15 == elf::STT_GNU_IFUNC)
}

fn is_padding(instruction: &Instruction) -> bool {
    matches!(instruction.mnemonic(), Mnemonic::Nop | Mnemonic::Int3)
        || instruction.mnemonic() == Mnemonic::Xchg && instruction.op0_register() == Register::AX
}

/// Whether control does not continue after the instruction. None: it cannot be moved.
fn ends(instruction: &Instruction) -> Option<bool> {
    match instruction.flow_control() {
        FlowControl::Next | FlowControl::ConditionalBranch => Some(false),
        FlowControl::Return | FlowControl::IndirectBranch | FlowControl::UnconditionalBranch => Some(true),
        FlowControl::Interrupt if is_padding(instruction) => Some(false),
        _ => None,
    }
}

/// Returns None if the operand cannot be adjusted.
fn relative_operand(decoder: &Decoder, instruction: &Instruction) -> Option<Relative> {
    let offsets = decoder.get_constant_offsets(instruction);
    if instruction.op0_kind() == OpKind::NearBranch64 {
        let at = offsets.immediate_offset() as u8;
        return match (offsets.immediate_size(), instruction.len()) {
            (4, _) => Some(Relative::At(at)),
            (1, 2) => Some(Relative::Short),
            _ => None,
        };
    }
    match instruction.memory_base() {
        Register::RIP if offsets.displacement_size() == 4 => {
            Some(Relative::At(offsets.displacement_offset() as u8))
        }
        Register::RIP | Register::EIP => None,
        _ => Some(Relative::No),
    }
}
