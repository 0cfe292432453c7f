//! One program or shared library: the façade over everything this crate knows of its code.
//!
//! Opening a module maps the file and reads its headers. Symbols, debug information and the index
//! of variables are each read on first use, and kept. A module without symbols or debug information
//! answers fewer questions, but never fails because of that.

use std::cell::OnceCell;
use std::ops::Range;
use std::path::{Path, PathBuf};

use object::elf;
use object::read::elf::ProgramHeader as _;
use object::{LittleEndian, Object as _, ObjectSection as _};

use crate::debug_file;
use crate::dwarf::DebugInfo;
use crate::error::{Error, Result};
use crate::globals::Variables;
use crate::image::{Elf, Image};
use crate::inspect::{AddressWidth, Architecture, FileKind, inspect_bytes};
use crate::symbols::SymbolIndex;

const PAGE: u64 = 4096;

/// A linked x86-64 ELF file.
pub struct Module {
    path: PathBuf,
    segments: Vec<Segment>,
    symbols: OnceCell<SymbolIndex>,
    debug: OnceCell<Option<DebugInfo>>,
    variables: OnceCell<Variables>,
    pub(crate) elf: Elf,
    // This field comes last, because all fields above borrow from it.
    pub(crate) image: Image,
}

/// A part of the file that is loaded.
#[derive(Debug, Clone, Copy)]
struct Segment {
    offset: u64,
    file_size: u64,
    address: u64,
    memory_size: u64,
    executable: bool,
    writable: bool,
}

/// A place in a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Address {
    /// The byte's offset in the file: `offset + (pc - start)` of a line in `/proc/PID/maps`.
    FileOffset(u64),
    /// The address in the ELF file's own numbering.
    Virtual(u64),
}

impl Module {
    /// Opens the program or library at `path`.
    pub fn open(path: &Path) -> Result<Self> {
        Self::new(path, Image::open(path)?)
    }

    /// Takes a file's bytes. `path` names them, and debug files are searched relative to it.
    pub fn from_bytes(path: &Path, bytes: Vec<u8>) -> Result<Self> {
        Self::new(path, Image::from_bytes(path, bytes)?)
    }

    fn new(path: &Path, image: Image) -> Result<Self> {
        let inspection = inspect_bytes(path, image.bytes())?;
        let path = path.to_path_buf();
        match (inspection.class, inspection.machine) {
            (Some(AddressWidth::Elf64), Some(Architecture::X86_64)) => {}
            (Some(AddressWidth::Elf32), Some(Architecture::X86_64)) => {
                return Err(Error::ForeignMachine { path, machine: "x32".to_string() });
            }
            (_, Some(machine)) => return Err(Error::ForeignMachine { path, machine: machine.to_string() }),
            (_, None) => return Err(Error::NotElf { path }),
        }
        if !matches!(inspection.kind, FileKind::Exec | FileKind::Pie | FileKind::Shared) {
            return Err(Error::NotLinked { path });
        }
        let elf = image.elf(&path)?;
        let segments = elf.elf_program_headers().iter().filter_map(Segment::of).collect();
        Ok(Self {
            path,
            segments,
            symbols: OnceCell::new(),
            debug: OnceCell::new(),
            variables: OnceCell::new(),
            elf,
            image,
        })
    }

    /// The path it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether debug information was found, inside or beside the file.
    pub fn has_debug_info(&self) -> bool {
        self.debug().is_some()
    }

    /// The folders of the files that it was compiled from, without those of headers.
    pub fn source_folders(&self) -> std::collections::BTreeSet<PathBuf> {
        self.debug().map(|debug| debug.source_folders()).unwrap_or_default()
    }

    /// Whether functions that are not exported have names.
    pub fn has_symbols(&self) -> bool {
        self.elf.section_by_name(".symtab").is_some() || self.has_debug_info()
    }

    /// The address of a place, if anything is loaded there.
    pub fn virtual_address(&self, at: Address) -> Option<u64> {
        match at {
            Address::Virtual(address) => Some(address),
            Address::FileOffset(offset) => {
                // Linkers let pages of the file serve two segments, so the first match could be
                // data. Callers ask for code addresses.
                let holds = |s: &&Segment| (s.offset..s.offset.saturating_add(s.file_size)).contains(&offset);
                let code = self.segments.iter().filter(|s| s.executable).find(holds);
                let segment = code.or_else(|| self.segments.iter().find(holds))?;
                segment.address.checked_add(offset - segment.offset)
            }
        }
    }

    /// The load bias of a module: run-time address minus virtual address. `start` and `offset` are
    /// those of its first line in `/proc/PID/maps`, because later segments may begin in a page of
    /// the file that belongs to the previous one. The bias is needed for `.bss`, which is mapped
    /// from no file.
    pub fn load_bias(&self, start: u64, offset: u64) -> Option<u64> {
        let floor = |x: u64| x & !(PAGE - 1);
        let segment = self.segments.iter().filter(|s| s.file_size > 0).find(|s| {
            let end = s.offset.saturating_add(s.file_size);
            (floor(s.offset)..end).contains(&offset)
        })?;
        let page = floor(segment.address).checked_add(offset - floor(segment.offset))?;
        Some(start.wrapping_sub(page))
    }

    /// The address ranges of its code.
    pub fn executable_ranges(&self) -> Vec<Range<u64>> {
        self.segments.iter().filter(|s| s.executable).map(Segment::addresses).collect()
    }

    /// Whether the program may write there: its own data, or memory that the file does not
    /// describe.
    pub(crate) fn is_writable(&self, address: u64) -> bool {
        let segment = self.segments.iter().find(|s| s.addresses().contains(&address));
        segment.is_none_or(|segment| segment.writable)
    }

    pub(crate) fn is_mapped(&self, address: u64) -> bool {
        self.segments.iter().any(|s| s.addresses().contains(&address))
    }

    pub(crate) fn is_code(&self, address: u64) -> bool {
        self.segments.iter().any(|s| s.executable && s.addresses().contains(&address))
    }

    /// The code from an address to the end of its segment.
    pub(crate) fn code_from(&self, address: u64) -> Option<&[u8]> {
        let segment = self.segments.iter().find(|s| s.executable && s.addresses().contains(&address))?;
        let end = usize::try_from(segment.offset.checked_add(segment.file_size)?).ok()?;
        let start = usize::try_from(segment.offset.checked_add(address - segment.address)?).ok()?;
        self.image.bytes().get(start..end)
    }

    /// Bytes of any segment, as the file has them.
    pub(crate) fn bytes_at(&self, address: u64, length: usize) -> Option<&[u8]> {
        let segment = self.segments.iter().find(|s| s.addresses().contains(&address))?;
        let within = address - segment.address;
        let end = within.checked_add(length as u64).filter(|end| *end <= segment.file_size)?;
        let start = usize::try_from(segment.offset.checked_add(within)?).ok()?;
        self.image.bytes().get(start..start.checked_add((end - within) as usize)?)
    }

    /// Whether it is a program that is loaded at the addresses in the file.
    pub(crate) fn is_fixed(&self) -> bool {
        self.elf.kind() == object::ObjectKind::Executable
    }

    /// The global offset table, which nobody writes after loading.
    pub(crate) fn offset_tables(&self) -> Vec<Range<u64>> {
        let tables = [".got", ".got.plt"].into_iter().filter_map(|name| self.elf.section_by_name(name));
        tables.map(|table| table.address()..table.address().saturating_add(table.size())).collect()
    }

    /// The ranges that the loader makes read-only after relocation: virtual tables and other
    /// constants.
    pub(crate) fn relocated_constants(&self) -> Vec<Range<u64>> {
        let headers = self.elf.elf_program_headers().iter();
        let constant = headers.filter(|h| h.p_type(LittleEndian) == elf::PT_GNU_RELRO);
        constant
            .map(|h| {
                let start = h.p_vaddr(LittleEndian);
                start..start.saturating_add(h.p_memsz(LittleEndian))
            })
            .collect()
    }

    /// The sections of the program's own constants among these, such as arrays of pointers.
    pub(crate) fn relocated_tables(&self) -> Vec<Range<u64>> {
        let is_table = |name: &str| name.starts_with(".data.rel.ro");
        let sections = self.elf.sections().filter(|section| section.name().is_ok_and(is_table));
        sections.map(|section| section.address()..section.address().saturating_add(section.size())).collect()
    }

    /// Where the stubs of the procedure linkage table lie.
    pub(crate) fn stub_ranges(&self) -> Vec<Range<u64>> {
        let is_stubs = |name: &str| name.starts_with(".plt");
        let sections = self.elf.sections().filter(|section| section.name().is_ok_and(is_stubs));
        sections.map(|section| section.address()..section.address().saturating_add(section.size())).collect()
    }

    /// The words of a section, with their addresses.
    pub(crate) fn words_of(&self, section: &str) -> Vec<(u64, u64)> {
        let Some(section) = self.elf.section_by_name(section) else { return Vec::new() };
        let words = section.data().unwrap_or(&[]).chunks_exact(8);
        let value = |word: &[u8]| word.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
        words.zip(0..).map(|(word, at)| (section.address().wrapping_add(at * 8), value(word))).collect()
    }

    pub(crate) fn symbols(&self) -> &SymbolIndex {
        self.symbols.get_or_init(|| {
            let beside = self.debug().and_then(DebugInfo::separate_file);
            SymbolIndex::new([Some(&self.elf), beside].into_iter().flatten())
        })
    }

    pub(crate) fn debug(&self) -> Option<&DebugInfo> {
        self.debug.get_or_init(|| self.load_debug()).as_ref()
    }

    fn load_debug(&self) -> Option<DebugInfo> {
        if self.elf.section_by_name(".debug_info").is_some() {
            return DebugInfo::inside(&self.path, &self.elf, &self.image);
        }
        let (path, image) = debug_file::find(&self.path, &self.elf)?;
        DebugInfo::beside(&path, image)
    }

    pub(crate) fn variables(&self) -> &Variables {
        self.variables.get_or_init(|| self.debug().map(Variables::of).unwrap_or_default())
    }
}

impl Segment {
    fn of(header: &elf::ProgramHeader64<LittleEndian>) -> Option<Self> {
        let endian = LittleEndian;
        (header.p_type(endian) == elf::PT_LOAD).then(|| Self {
            offset: header.p_offset(endian),
            file_size: header.p_filesz(endian),
            address: header.p_vaddr(endian),
            memory_size: header.p_memsz(endian),
            executable: header.p_flags(endian) & elf::PF_X != 0,
            writable: header.p_flags(endian) & elf::PF_W != 0,
        })
    }

    fn addresses(&self) -> Range<u64> {
        self.address..self.address.saturating_add(self.memory_size)
    }
}
