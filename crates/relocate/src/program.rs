//! What is read of the object's file.

use std::collections::HashSet;
use std::ops::Range;

use gimli::{BaseAddresses, CieOrFde, EhFrame, EndianSlice, LittleEndian, NativeEndian, UnwindSection};
use object::elf;
use object::read::elf::{Dyn, ElfFile64, ProgramHeader};
use object::{Endianness, Object, ObjectKind, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind};

use crate::atomic_calls::{self, Operations};
use crate::{Refusal, atomic_types};

/// Addresses are those of the file.
pub struct RelocatedProgram<'a> {
    pub text: u64,
    pub code: &'a [u8],
    /// Sorted; they do not overlap.
    pub functions: Vec<Range<u64>>,
    /// Where functions with landing pads begin.
    pub handlers: HashSet<u64>,
    /// Memory that is not written once the program runs.
    pub read_only: Vec<Range<u64>>,
    /// Where the kernel begins: this function has no caller.
    pub entry: u64,
    /// All of it in memory, from page to page.
    pub image: Range<u64>,
    /// It is loaded where the file says.
    pub is_fixed: bool,
    /// See `unknown`.
    pub has_unknown_code: bool,
    /// Variables that the compiler tests without a lock: guards of C++ statics.
    pub guards: Vec<u64>,
    /// Variables that are atomic by their types.
    pub atomics: Vec<u64>,
    /// Code that is atomic by its source; sorted.
    pub atomic_calls: Vec<Operations>,
}

/// The copy and the object must be within 2 GiB of each other, and it is about sixteen times as
/// large as the code.
const MOST_CODE: u64 = 64 << 20;

impl<'a> RelocatedProgram<'a> {
    pub fn read(bytes: &'a [u8], is_library: bool) -> Result<Self, Refusal> {
        let unreadable = |e: object::Error| Refusal::Unreadable(e.to_string());
        let file: ElfFile64<'a> = match ElfFile64::parse(bytes) {
            Ok(file) => file,
            Err(_) if bytes.starts_with(b"\x7fELF\x01") => return Err(Refusal::NotX86_64),
            Err(e) => return Err(unreadable(e)),
        };
        let little = Endianness::Little;
        if file.architecture() != object::Architecture::X86_64 {
            return Err(Refusal::NotX86_64);
        }
        let headers = file.elf_program_headers();
        if !is_library && !headers.iter().any(|h| h.p_type(little) == elf::PT_INTERP) {
            return Err(Refusal::Static);
        }
        if is_library && has_written_text(&file) {
            return Err(Refusal::WrittenText);
        }
        if file.section_by_name(".gopclntab").is_some() || file.section_by_name(".note.go.buildid").is_some()
        {
            return Err(Refusal::Go);
        }
        if has_own_unwinder(&file) {
            return Err(Refusal::OwnUnwinder);
        }
        let text = file.section_by_name(".text").ok_or(Refusal::NoText)?;
        let code = text.data().map_err(unreadable)?;
        if code.len() as u64 > MOST_CODE {
            return Err(Refusal::TooLarge(code.len() as u64 >> 20));
        }
        let range = text.address()..text.address() + code.len() as u64;
        let (atomics, atomic_calls) = atomics(&file);
        let (functions, handlers) = functions(&file, &range);
        let unknown_code = crate::unknown::has(&file, code, range.start, &functions);
        Ok(RelocatedProgram {
            text: range.start,
            code,
            functions,
            handlers,
            read_only: read_only(&file),
            entry: file.entry(),
            image: image(&file),
            is_fixed: file.kind() == ObjectKind::Executable,
            guards: guards(&file),
            atomics,
            atomic_calls,
            has_unknown_code: unknown_code,
        })
    }

    pub fn text_end(&self) -> u64 {
        self.text + self.code.len() as u64
    }

    /// The atomic operation that the instruction at `address` belongs to.
    pub fn atomic_call(&self, address: u64) -> Option<&Operations> {
        let after = self.atomic_calls.partition_point(|o| o.range.start <= address);
        self.atomic_calls[..after].last().filter(|o| o.range.contains(&address))
    }

    pub fn is_read_only(&self, address: u64) -> bool {
        self.read_only.iter().any(|r| r.contains(&address))
    }
}

fn image(file: &ElfFile64) -> Range<u64> {
    const PAGE: u64 = 4096;
    let little = Endianness::Little;
    let loaded = file.elf_program_headers().iter().filter(|h| h.p_type(little) == elf::PT_LOAD);
    let ranges = loaded.map(|h| (h.p_vaddr(little), h.p_vaddr(little) + h.p_memsz(little)));
    let (start, end) =
        ranges.fold((u64::MAX, 0), |(low, high), (start, end)| (low.min(start), high.max(end)));
    start.min(end) & !(PAGE - 1)..end.next_multiple_of(PAGE)
}

fn has_written_text(file: &ElfFile64) -> bool {
    let little = Endianness::Little;
    let dynamic = file.elf_section_table().dynamic(little, file.data()).ok().flatten();
    dynamic.is_some_and(|(entries, _)| {
        entries.iter().any(|e| match e.d_tag(little) as u32 {
            elf::DT_TEXTREL => true,
            elf::DT_FLAGS => e.d_val(little) & u64::from(elf::DF_TEXTREL) != 0,
            _ => false,
        })
    })
}

/// What the debug information says of atomics: variables, and code.
fn atomics(file: &ElfFile64) -> (Vec<u64>, Vec<Operations>) {
    let load = |id: gimli::SectionId| -> Result<Vec<u8>, gimli::Error> {
        let section = file.section_by_name(id.name());
        Ok(section.and_then(|s| s.uncompressed_data().ok()).map(|d| d.into_owned()).unwrap_or_default())
    };
    let Ok(sections) = gimli::DwarfSections::load(load) else { return Default::default() };
    let dwarf = sections.borrow(|section| EndianSlice::new(section, LittleEndian));
    (atomic_types::variables(&dwarf).into_iter().collect(), atomic_calls::find(&dwarf))
}

/// By its symbols, if it has some: raddle's runtime inside of a program brings a table of handlers
/// and some functions of the interface, but not what looks for frames in libgcc or in LLVM's
/// libunwind.
pub fn has_own_unwinder_in(bytes: &[u8]) -> bool {
    let Ok(file) = ElfFile64::<Endianness>::parse(bytes) else { return false };
    match file.symbols().next() {
        None => has_own_unwinder(&file),
        Some(_) => file.symbols().any(|s| {
            let looks = ["_Unwind_Find_FDE", "__unw_init_local"];
            !s.is_undefined() && s.name().is_ok_and(|name| looks.contains(&name))
        }),
    }
}

/// It handles exceptions and takes the unwinder from no library: the runtime cannot translate the
/// addresses that such an unwinder finds on the stack.
fn has_own_unwinder(file: &ElfFile64) -> bool {
    let handles = file.section_by_name(".gcc_except_table").is_some_and(|s| s.size() > 0);
    // C, as with OpenMP or `__attribute__((cleanup))`, may import no more than the personality.
    let parts = ["_Unwind_", "__gxx_personality", "__gcc_personality"];
    let is_unwinder = |name: &str| parts.iter().any(|part| name.starts_with(part));
    handles && !file.dynamic_symbols().any(|s| s.is_undefined() && s.name().is_ok_and(is_unwinder))
}

/// From `.eh_frame`, and by symbols where that says nothing; and where those with landing pads
/// begin.
fn functions(file: &ElfFile64, text: &Range<u64>) -> (Vec<Range<u64>>, HashSet<u64>) {
    let (mut found, handlers) = unwindable(file, text).unwrap_or_default();
    found.sort_by_key(|r| (r.start, r.end));
    found.dedup_by(|b, a| b.start < a.end);
    let mut named: Vec<Range<u64>> = file
        .symbols()
        .filter(|s| s.kind() == SymbolKind::Text && s.size() > 0)
        .map(|s| s.address()..s.address() + s.size())
        .filter(|r| r.start >= text.start && r.end <= text.end)
        .filter(|r| {
            let next = found.partition_point(|f| f.end <= r.start);
            found.get(next).is_none_or(|f| f.start >= r.end)
        })
        .collect();
    found.append(&mut named);
    found.sort_by_key(|r| (r.start, r.end));
    found.dedup_by(|b, a| b.start < a.end);
    (found, handlers)
}

fn unwindable(file: &ElfFile64, text: &Range<u64>) -> Option<(Vec<Range<u64>>, HashSet<u64>)> {
    let section = file.section_by_name(".eh_frame")?;
    let frames = EhFrame::new(section.data().ok()?, NativeEndian);
    let bases = BaseAddresses::default().set_eh_frame(section.address()).set_text(text.start);
    let mut entries = frames.entries(&bases);
    let (mut found, mut handlers) = (Vec::new(), HashSet::new());
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(part) = entry else { continue };
        let Ok(fde) = part.parse(|s, b, o| s.cie_from_offset(b, o)) else { continue };
        let range = fde.initial_address()..fde.initial_address().wrapping_add(fde.len());
        if range.start >= text.start && range.end <= text.end && range.start < range.end {
            if fde.lsda().is_some() {
                handlers.insert(range.start);
            }
            found.push(range);
        }
    }
    Some((found, handlers))
}

/// Sections that are not writable, and those that the linker makes read-only after relocation.
fn read_only(file: &ElfFile64) -> Vec<Range<u64>> {
    let little = Endianness::Little;
    let relro = file.elf_program_headers().iter().filter(|h| h.p_type(little) == elf::PT_GNU_RELRO);
    let relro = relro.map(|h| h.p_vaddr(little)..h.p_vaddr(little) + h.p_memsz(little));
    let constant = file.sections().filter(|s| match s.flags() {
        SectionFlags::Elf { sh_flags } => {
            sh_flags & u64::from(elf::SHF_ALLOC) != 0 && sh_flags & u64::from(elf::SHF_WRITE) == 0
        }
        _ => false,
    });
    relro.chain(constant.map(|s| s.address()..s.address() + s.size())).collect()
}

fn guards(file: &ElfFile64) -> Vec<u64> {
    let is_guard = |s: &object::read::elf::ElfSymbol64<'_, '_>| s.name().is_ok_and(|n| n.starts_with("_ZGV"));
    file.symbols()
        .chain(file.dynamic_symbols())
        .filter(is_guard)
        .map(|s| s.address())
        .filter(|a| *a != 0)
        .collect()
}
