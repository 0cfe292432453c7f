//! Units (one lowered file) and programs (units linked together).

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Instr;
use super::objects::Classes;

/// A place in the source. `line` and `col` count from 1; `line` 0 is "nowhere".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Pos {
    pub file: u16,
    pub col: u16,
    pub line: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SourceFile {
    pub path: Arc<str>,
    /// Part of raddle's models, not of the user's source. Reports skip its frames.
    pub builtin: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Linkage {
    /// One for the whole program.
    External,
    /// Visible in its unit only.
    Internal,
    /// Gives way to any other definition.
    Weak,
}

/// What the instruction operands of a unit refer to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SymbolRef {
    /// A function or global of this unit, by index.
    OwnFunction(u32),
    OwnGlobal(u32),
    /// By name, anywhere. Calling a function that nobody defines gives an unknown.
    Function(Arc<str>),
    /// By name. It has this size if nobody defines it.
    Global(Arc<str>, u64),
}

#[derive(Debug, Clone)]
pub struct SwitchTable {
    /// `lo..=hi` and its target.
    pub cases: Vec<(i64, i64, u32)>,
    pub default: u32,
}

/// A function with symbolic operands; jump targets are indices into its own code.
#[derive(Debug, Clone)]
pub struct UnitFunction {
    pub name: Arc<str>,
    pub linkage: Linkage,
    pub pos: Pos,
    pub end_line: u32,
    pub params: u32,
    /// For each parameter, the size of its pointee if that is a complete record. Entries
    /// instantiate it.
    pub param_objects: Vec<u32>,
    pub variadic: bool,
    pub locals: u32,
    pub frame_size: u32,
    pub code: Vec<Instr>,
    pub pos_of: Vec<Pos>,
    pub switches: Vec<SwitchTable>,
    /// An outlined parallel region. To the reader it is part of another function.
    pub outlined: bool,
    /// It runs when the program or library is loaded or unloaded.
    pub load_hook: bool,
    /// The exception handlers, innermost first.
    pub handlers: Vec<Handler>,
    /// Before which instruction the top of the stack is the address of which member. Sorted by
    /// instruction; several members of one instruction stand from the outermost to the innermost.
    pub members: Vec<(u32, MemberId)>,
}

/// A member of a record: equal for records with the same tag and members, whichever file declares
/// them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemberId(pub u64);

/// An exception thrown in `start..end` continues at `target`, with the exception alone on the
/// operand stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handler {
    pub start: u32,
    pub end: u32,
    pub target: u32,
}

/// A function that a front end itself names as an entry, with everything that must be set up
/// before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryPoint {
    pub kind: crate::entries::EntryKind,
    pub function: u32,
    /// The function whose thread starts this entry is there to reach. For a start in the middle it
    /// is another function.
    pub about: u32,
    /// Entries of one assembly share a budget.
    pub assembly: u32,
}

/// A place in a global's initial bytes that holds an address.
#[derive(Debug, Clone)]
pub struct Reloc {
    pub offset: u32,
    pub symbol: u32,
    pub addend: i64,
}

/// The parts of a global, so that a report can name the part it is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GlobalShape {
    /// The size of an element if it is an array, else 0.
    pub stride: u32,
    /// The offset and name of each member of it or of its elements, in order of offset.
    pub members: Vec<(u32, Arc<str>)>,
    /// Its bit-fields, which share bytes and so cannot be told apart by their offset.
    pub bits: Vec<BitField>,
}

/// A bit-field of a global or of its elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BitField {
    /// The offset of the scalar that holds it, and the first of its bits there.
    pub offset: u32,
    pub at: u8,
    pub width: u8,
    pub name: Arc<str>,
}

impl GlobalShape {
    /// The element and member at an offset, as the source would write them after the name.
    pub fn part(&self, offset: u32) -> String {
        let (index, rest) = match self.stride {
            0 => (None, offset),
            n => (Some(offset / n), offset % n),
        };
        let member = self.members.iter().rev().find(|m| m.0 <= rest);
        let index = index.map(|i| format!("[{i}]")).unwrap_or_default();
        index + &member.filter(|m| !m.1.is_empty()).map(|m| format!(".{}", m.1)).unwrap_or_default()
    }

    /// The same for an access to a bit-field, of which one byte lies at `offset`.
    pub fn bit_field(&self, offset: u32, at: u8, width: u8) -> Option<String> {
        let (index, rest) = match self.stride {
            0 => (String::new(), offset),
            n => (format!("[{}]", offset / n), offset % n),
        };
        let covers = |b: &&BitField| {
            let first = b.offset + u32::from(b.at) / 8;
            let last = b.offset + u32::from(b.at + b.width.max(1) - 1) / 8;
            b.at == at && b.width == width && first <= rest && rest <= last
        };
        self.bits.iter().find(covers).map(|b| format!("{index}.{}", b.name))
    }

    /// Equal for the same member of different elements.
    pub fn member_at(&self, offset: u32) -> usize {
        let rest = if self.stride == 0 { offset } else { offset % self.stride };
        self.members.partition_point(|m| m.0 <= rest)
    }
}

/// A global of a program.
#[derive(Debug, Clone)]
pub struct GlobalInfo {
    pub name: Arc<str>,
    pub address: u32,
    pub size: u32,
    pub pos: Pos,
    pub shape: GlobalShape,
}

#[derive(Debug, Clone)]
pub struct Global {
    pub name: Arc<str>,
    pub linkage: Linkage,
    pub pos: Pos,
    pub size: u32,
    /// May be shorter than `size`: the rest is zero. `None`: a mere declaration or a tentative
    /// definition.
    pub init: Option<Vec<u8>>,
    pub relocs: Vec<Reloc>,
    pub thread_local: bool,
    /// Never written, so a start in the middle may rely on its content.
    pub constant: bool,
    /// Declared only; another unit should define it.
    pub declared_only: bool,
    pub shape: GlobalShape,
}

/// One lowered file.
#[derive(Debug, Clone, Default)]
pub struct Unit {
    pub files: Vec<SourceFile>,
    pub functions: Vec<UnitFunction>,
    pub globals: Vec<Global>,
    pub symbols: Vec<SymbolRef>,
    pub constants: Vec<u64>,
    pub member_names: FxHashMap<MemberId, Arc<str>>,
    /// The bytes from a member to the next one, or to the end of its record.
    pub member_sizes: FxHashMap<MemberId, u32>,
    /// The classes, in a language that has them. Such a unit is a program of its own.
    pub classes: Option<Arc<Classes>>,
    pub entry_points: Vec<EntryPoint>,
}

/// A function in a program; `entry..end` is its code.
#[derive(Debug, Clone)]
pub struct Function {
    pub name: Arc<str>,
    pub pos: Pos,
    pub end_line: u32,
    pub entry: u32,
    pub end: u32,
    pub params: u32,
    pub param_objects: Vec<u32>,
    pub variadic: bool,
    pub locals: u32,
    pub frame_size: u32,
    pub external: bool,
    pub outlined: bool,
    pub load_hook: bool,
    pub handlers: Vec<Handler>,
    /// False if nobody defines it. A call then gives an unknown.
    pub defined: bool,
    pub builtin: bool,
}

/// What the interpreter runs.
#[derive(Debug, Clone, Default)]
pub struct Program {
    pub files: Vec<SourceFile>,
    pub functions: Vec<Function>,
    pub code: Vec<Instr>,
    pub pos_of: Vec<Pos>,
    pub switches: Vec<SwitchTable>,
    pub constants: Vec<u64>,
    /// As [`UnitFunction::members`], for all code.
    pub members: Vec<(u32, MemberId)>,
    pub member_names: FxHashMap<MemberId, Arc<str>>,
    /// As [`Unit::member_sizes`].
    pub member_sizes: FxHashMap<MemberId, u32>,
    /// Sorted by address.
    pub globals: Vec<GlobalInfo>,
    /// Initial bytes from [`Program::GLOBALS_BASE`] on.
    pub image: Vec<u8>,
    /// Ranges (address, size) of the image whose content is known only outside the program.
    pub image_unknown: Vec<(u32, u32)>,
    /// Ranges that a start in the middle may not rely on.
    pub image_mutable: Vec<(u32, u32)>,
    /// Initial bytes of each thread's own storage.
    pub tls: Vec<u8>,
    pub classes: Arc<Classes>,
    pub entry_points: Vec<EntryPoint>,
}

impl Program {
    /// Lower addresses are never valid, so a null pointer plus a field offset is caught.
    pub const GLOBALS_BASE: u32 = 0x1_0000;
    /// A function's address is this plus 16 times its index, far from all data.
    pub const CODE_BASE: u64 = 0x4000_0000_0000;

    pub fn function_address(index: u32) -> u64 {
        Self::CODE_BASE + u64::from(index) * 16
    }

    /// The function at an address, if there is one.
    pub fn function_at(&self, address: u64) -> Option<u32> {
        let offset = address.checked_sub(Self::CODE_BASE)?;
        let index = offset / 16;
        (offset % 16 == 0 && index < self.functions.len() as u64).then_some(index as u32)
    }

    /// The function whose code holds `pc`. Functions are laid out in order of index.
    pub fn function_of(&self, pc: u32) -> u32 {
        let after = self.functions.partition_point(|f| f.entry <= pc);
        // Undefined functions share their entry with the next defined one and have no code.
        let mut i = after.saturating_sub(1);
        while i > 0 && !(self.functions[i].entry <= pc && pc < self.functions[i].end) {
            i -= 1;
        }
        i as u32
    }

    pub fn is_builtin(&self, pos: Pos) -> bool {
        self.files.get(usize::from(pos.file)).is_some_and(|f| f.builtin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_named_as_the_source_would() {
        let members = vec![(0, "a".into()), (4, "b.c".into())];
        let record = GlobalShape { members: members.clone(), ..GlobalShape::default() };
        assert_eq!(record.part(0), ".a");
        assert_eq!(record.part(6), ".b.c");
        let array = GlobalShape { stride: 8, members, ..GlobalShape::default() };
        assert_eq!(array.part(12), "[1].b.c");
        assert_eq!(array.member_at(4), array.member_at(12));
        assert_eq!(GlobalShape { stride: 4, ..GlobalShape::default() }.part(8), "[2]");
        assert_eq!(GlobalShape::default().part(0), "");
        let cut = GlobalShape { members: vec![(0, "a".into()), (4, "".into())], ..GlobalShape::default() };
        assert_eq!((cut.part(3), cut.part(9)), (".a".into(), String::new()));
    }

    #[test]
    fn a_bit_field_is_named_by_its_bits() {
        let bit = |offset, at, width, name: &str| BitField { offset, at, width, name: name.into() };
        let bits = vec![bit(4, 0, 1, "open"), bit(4, 1, 1, "dirty"), bit(4, 6, 10, "count")];
        let shape = GlobalShape { stride: 8, bits, ..GlobalShape::default() };
        assert_eq!(shape.bit_field(4, 1, 1).as_deref(), Some("[0].dirty"));
        assert_eq!(shape.bit_field(13, 6, 10).as_deref(), Some("[1].count"));
        assert_eq!(shape.bit_field(14, 6, 10), None);
        assert_eq!(shape.bit_field(4, 2, 1), None);
    }
}
