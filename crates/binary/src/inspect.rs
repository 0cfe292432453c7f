//! What is this file, and can raddle watch it?
//!
//! The answer comes from the ELF header, the program headers, the dynamic section and the symbol
//! tables, for every class, byte order and machine. A file for another machine is not an error.
//! Only files that contradict themselves are errors.
//!
//! Names tell who instrumented a program, in this order:
//!
//! 1. `__raddle_runtime` defined, or a `.note.raddle` section: raddle's runtime is inside.
//! 2. `libtsan.so.*` needed: gcc's runtime, which raddle's own can replace.
//! 3. `__tsan_init` defined, or `libclang_rt.tsan*` needed: clang's or rustc's runtime. The static
//!    one exports its interface, so `strip` does not hide it.
//! 4. `__tsan_*` undefined: instrumented code that waits for a runtime.
//! 5. None of these.

use std::fmt;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use object::elf;
use object::read::elf::{Dyn as _, FileHeader, ProgramHeader as _, SectionHeader as _, Sym as _};
use object::{Endianness, ReadRef as _};

use crate::error::{Error, Result};
use crate::image::Image;

/// The symbol that identifies raddle's runtime.
pub const RUNTIME_SYMBOL: &str = "__raddle_runtime";
/// The note section that may carry the hash of the runtime inside.
pub const RUNTIME_NOTE: &str = ".note.raddle";

/// The properties of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// Elf32 or Elf64. `None` if this is not an ELF file.
    pub class: Option<AddressWidth>,
    /// The machine whose code it holds. `None` if this is not an ELF file.
    pub machine: Option<Architecture>,
    pub kind: FileKind,
    /// Whether its permission bits let anybody execute it. `None` if only bytes were given.
    pub executable: Option<bool>,
    /// The dynamic loader that an ELF program asks for.
    pub interpreter: Option<String>,
    /// A program without a dynamic loader, so nothing can be preloaded.
    pub static_linked: bool,
    /// The shared libraries it names, in order.
    pub needed: Vec<String>,
    pub build_id: Option<Vec<u8>>,
    pub instrumentation: Instrumentation,
}

/// The width of an ELF file's addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressWidth {
    Elf32,
    Elf64,
}

/// The machine that a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Architecture {
    X86_64,
    X86,
    Aarch64,
    Arm,
    Riscv,
    /// The number in the header.
    Other(u16),
}

impl Architecture {
    fn new(number: u16) -> Self {
        match number {
            elf::EM_X86_64 => Self::X86_64,
            elf::EM_386 => Self::X86,
            elf::EM_AARCH64 => Self::Aarch64,
            elf::EM_ARM => Self::Arm,
            elf::EM_RISCV => Self::Riscv,
            other => Self::Other(other),
        }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::X86_64 => f.write_str("x86-64"),
            Self::X86 => f.write_str("32-bit x86"),
            Self::Aarch64 => f.write_str("64-bit ARM"),
            Self::Arm => f.write_str("32-bit ARM"),
            Self::Riscv => f.write_str("RISC-V"),
            Self::Other(number) => write!(f, "machine number {number}"),
        }
    }
}

/// The kind of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileKind {
    /// A program at fixed addresses.
    Exec,
    /// A program at any address, static-pie too.
    Pie,
    /// A shared library.
    Shared,
    /// An object file before linking.
    Object,
    /// A core dump.
    Core,
    /// Text that begins with `#!`.
    Script { interpreter: String, argument: Option<String> },
    /// Anything else.
    NotElf,
}

/// Who put probes into a file, if anybody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Instrumentation {
    /// raddle's runtime is linked in. `hash` is the description of its note in `.note.raddle`,
    /// or else the bytes of the object `__raddle_runtime` names (64 at most), if it has any.
    Raddle {
        hash: Option<Vec<u8>>,
    },
    /// Built with plain `gcc -fsanitize=thread`.
    GccTsan,
    /// clang's or rustc's own runtime is linked in.
    ForeignRuntime,
    /// Instrumented, without a runtime.
    CallsOnly,
    None,
}

/// Inspects the file at `path`.
pub fn inspect(path: &Path) -> Result<Inspection> {
    let metadata = std::fs::metadata(path).map_err(|e| Error::from_io(path, e))?;
    let image = Image::open(path)?;
    let mut inspection = inspect_bytes(path, image.bytes())?;
    inspection.executable = Some(metadata.permissions().mode() & 0o111 != 0);
    Ok(inspection)
}

/// Inspects bytes. `path` only names them in errors.
pub fn inspect_bytes(path: &Path, bytes: &[u8]) -> Result<Inspection> {
    if bytes.is_empty() {
        return Err(Error::Empty { path: path.to_path_buf() });
    }
    if !bytes.starts_with(&elf::ELFMAG) {
        return Ok(not_elf(bytes));
    }
    match bytes.get(4) {
        Some(&elf::ELFCLASS32) => Headers::<elf::FileHeader32<Endianness>>::new(path, bytes)?.inspect(),
        Some(&elf::ELFCLASS64) => Headers::<elf::FileHeader64<Endianness>>::new(path, bytes)?.inspect(),
        Some(class) => Err(Error::damaged(path, format_args!("class {class} does not exist"))),
        None => Err(Error::Truncated { path: path.to_path_buf(), part: "ELF header" }),
    }
}

fn not_elf(bytes: &[u8]) -> Inspection {
    Inspection {
        class: None,
        machine: None,
        kind: script(bytes).unwrap_or(FileKind::NotElf),
        executable: None,
        interpreter: None,
        static_linked: false,
        needed: Vec::new(),
        build_id: None,
        instrumentation: Instrumentation::None,
    }
}

/// The `#!` line as the kernel reads it: at most 256 bytes, one argument that keeps its spaces.
fn script(bytes: &[u8]) -> Option<FileKind> {
    let mut head = Vec::new();
    bytes.strip_prefix(b"#!")?.take(254).read_to_end(&mut head).ok()?;
    let line = String::from_utf8_lossy(head.split(|&b| b == b'\n').next()?).into_owned();
    let (interpreter, argument) = match line.trim().split_once([' ', '\t']) {
        Some((interpreter, rest)) => (interpreter.to_string(), Some(rest.trim().to_string())),
        None => (line.trim().to_string(), None),
    };
    (!interpreter.is_empty()).then_some(FileKind::Script { interpreter, argument })
}

/// The parts of an ELF file that all questions here need.
struct Headers<'a, E: FileHeader<Endian = Endianness>> {
    path: &'a Path,
    bytes: &'a [u8],
    endian: Endianness,
    header: &'a E,
    segments: &'a [E::ProgramHeader],
}

impl<'a, E: FileHeader<Endian = Endianness>> Headers<'a, E> {
    fn new(path: &'a Path, bytes: &'a [u8]) -> Result<Self> {
        let cut = |part| Error::Truncated { path: path.to_path_buf(), part };
        if bytes.len() < size_of::<E>() {
            return Err(cut("ELF header"));
        }
        let header = E::parse(bytes).map_err(|e| Error::damaged(path, e))?;
        let endian = header.endian().map_err(|e| Error::damaged(path, e))?;
        let length = bytes.len() as u64;
        let table_end = |start: u64, entry: u16, count: u16| {
            start.saturating_add(u64::from(entry).saturating_mul(u64::from(count)))
        };
        let e_phoff: u64 = header.e_phoff(endian).into();
        if table_end(e_phoff, header.e_phentsize(endian), header.e_phnum(endian)) > length {
            return Err(cut("table of segments"));
        }
        let e_shoff: u64 = header.e_shoff(endian).into();
        if table_end(e_shoff, header.e_shentsize(endian), header.e_shnum(endian)) > length {
            return Err(cut("table of sections"));
        }
        let segments = header.program_headers(endian, bytes).map_err(|e| Error::damaged(path, e))?;
        let headers = Self { path, bytes, endian, header, segments };
        if headers.loads().any(|(offset, _, size)| offset.saturating_add(size) > length) {
            return Err(cut("content"));
        }
        Ok(headers)
    }

    /// Offset, address and size in the file of each segment to be loaded.
    fn loads(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let endian = self.endian;
        self.segments
            .iter()
            .filter(move |s| s.p_type(endian) == elf::PT_LOAD)
            .map(move |s| (s.p_offset(endian).into(), s.p_vaddr(endian).into(), s.p_filesz(endian).into()))
    }

    fn inspect(&self) -> Result<Inspection> {
        let interpreter = self.interpreter()?;
        let dynamic = self.dynamic()?;
        let kind = match self.header.e_type(self.endian) {
            elf::ET_EXEC => FileKind::Exec,
            elf::ET_DYN if dynamic.pie || (interpreter.is_some() && !dynamic.soname) => FileKind::Pie,
            elf::ET_DYN => FileKind::Shared,
            elf::ET_REL => FileKind::Object,
            elf::ET_CORE => FileKind::Core,
            other => return Err(Error::damaged(self.path, format_args!("file type {other} does not exist"))),
        };
        let program = matches!(kind, FileKind::Exec | FileKind::Pie);
        Ok(Inspection {
            class: Some(if self.header.is_class_64() { AddressWidth::Elf64 } else { AddressWidth::Elf32 }),
            machine: Some(Architecture::new(self.header.e_machine(self.endian))),
            static_linked: program && interpreter.is_none() && dynamic.needed.is_empty(),
            kind,
            executable: None,
            interpreter,
            build_id: self.note(".note.gnu.build-id", b"GNU", Some(elf::NT_GNU_BUILD_ID)),
            instrumentation: self.instrumentation(&dynamic.needed),
            needed: dynamic.needed,
        })
    }

    fn interpreter(&self) -> Result<Option<String>> {
        for segment in self.segments {
            if let Some(name) =
                segment.interpreter(self.endian, self.bytes).map_err(|e| Error::damaged(self.path, e))?
            {
                return Ok(Some(String::from_utf8_lossy(name).into_owned()));
            }
        }
        Ok(None)
    }

    /// Reads the dynamic section through the segments, as the loader does, so that files without a
    /// section table work too.
    fn dynamic(&self) -> Result<Dynamic> {
        let mut entries: &[E::Dyn] = &[];
        for segment in self.segments {
            if let Some(found) =
                segment.dynamic(self.endian, self.bytes).map_err(|e| Error::damaged(self.path, e))?
            {
                entries = found;
            }
        }
        let mut dynamic = Dynamic::default();
        let (mut strings, mut strings_size) = (0u64, 0u64);
        let mut needed = Vec::new();
        for entry in entries {
            let value: u64 = entry.d_val(self.endian).into();
            let tag: u64 = entry.d_tag(self.endian).into();
            match u32::try_from(tag).unwrap_or(u32::MAX) {
                elf::DT_NULL => break,
                elf::DT_NEEDED => needed.push(value),
                elf::DT_SONAME => dynamic.soname = true,
                elf::DT_STRTAB => strings = value,
                elf::DT_STRSZ => strings_size = value,
                elf::DT_FLAGS_1 => dynamic.pie = value & u64::from(elf::DF_1_PIE) != 0,
                _ => {}
            }
        }
        let table = self.at_address(strings, strings_size);
        dynamic.needed = needed
            .into_iter()
            .filter_map(|at| table?.get(usize::try_from(at).ok()?..)?.split(|&b| b == 0).next())
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .collect();
        Ok(dynamic)
    }

    fn at_address(&self, address: u64, size: u64) -> Option<&'a [u8]> {
        let (offset, start, _) = self
            .loads()
            .find(|&(_, start, length)| (start..start.saturating_add(length)).contains(&address))?;
        self.bytes.read_bytes_at(offset.checked_add(address - start)?, size).ok()
    }

    /// The description of the first note of that owner in a section.
    fn note(&self, section: &str, owner: &[u8], kind: Option<u32>) -> Option<Vec<u8>> {
        let sections = self.header.sections(self.endian, self.bytes).ok()?;
        let (_, found) = sections.section_by_name(self.endian, section.as_bytes())?;
        let mut notes = found.notes(self.endian, self.bytes).ok()??;
        while let Ok(Some(note)) = notes.next() {
            if note.name() == owner && kind.is_none_or(|kind| note.n_type(self.endian) == kind) {
                return Some(note.desc().to_vec());
            }
        }
        None
    }

    fn has_section(&self, name: &str) -> bool {
        self.header
            .sections(self.endian, self.bytes)
            .is_ok_and(|sections| sections.section_by_name(self.endian, name.as_bytes()).is_some())
    }

    fn instrumentation(&self, needed: &[String]) -> Instrumentation {
        let symbols = self.marking_symbols();
        let needs = |prefix: &str| needed.iter().any(|name| name.starts_with(prefix));
        if symbols.raddle || self.has_section(RUNTIME_NOTE) {
            let hash = self.note(RUNTIME_NOTE, b"raddle", None).or(symbols.raddle_bytes);
            Instrumentation::Raddle { hash }
        } else if needs("libtsan.so") {
            Instrumentation::GccTsan
        } else if symbols.defines_tsan || needs("libclang_rt.tsan") {
            Instrumentation::ForeignRuntime
        } else if symbols.wants_tsan {
            Instrumentation::CallsOnly
        } else {
            Instrumentation::None
        }
    }

    /// One pass over both symbol tables. A damaged table counts as absent, because the other
    /// properties do not need it.
    fn marking_symbols(&self) -> MarkingSymbols {
        let mut marks = MarkingSymbols::default();
        let Ok(sections) = self.header.sections(self.endian, self.bytes) else { return marks };
        for table in [elf::SHT_DYNSYM, elf::SHT_SYMTAB] {
            let Ok(symbols) = sections.symbols(self.endian, self.bytes, table) else { continue };
            for symbol in symbols.iter() {
                let Ok(name) = symbol.name(self.endian, symbols.strings()) else { continue };
                let defined = !symbol.is_undefined(self.endian);
                if name == RUNTIME_SYMBOL.as_bytes() && defined {
                    marks.raddle = true;
                    let size: u64 = symbol.st_size(self.endian).into();
                    if symbol.st_type() == elf::STT_OBJECT && (1..=64).contains(&size) {
                        let address = symbol.st_value(self.endian).into();
                        marks.raddle_bytes = self.at_address(address, size).map(<[u8]>::to_vec);
                    }
                } else if name == b"__tsan_init" && defined {
                    marks.defines_tsan = true;
                } else if name.starts_with(b"__tsan_") && !defined {
                    marks.wants_tsan = true;
                }
            }
        }
        marks
    }
}

#[derive(Default)]
struct Dynamic {
    needed: Vec<String>,
    pie: bool,
    soname: bool,
}

#[derive(Default)]
struct MarkingSymbols {
    raddle: bool,
    raddle_bytes: Option<Vec<u8>>,
    defines_tsan: bool,
    wants_tsan: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_read_as_the_kernel_reads_them() {
        let script = |text: &str| inspect_bytes(Path::new("s"), text.as_bytes()).unwrap().kind;
        let shell = |argument: Option<&str>| FileKind::Script {
            interpreter: "/bin/sh".into(),
            argument: argument.map(String::from),
        };
        assert_eq!(script("#!/bin/sh\nexit"), shell(None));
        assert_eq!(script("#! /bin/sh -e -u\n"), shell(Some("-e -u")));
        assert_eq!(script("#!\n/bin/sh"), FileKind::NotElf);
        assert_eq!(script("plain text"), FileKind::NotElf);
    }

    #[test]
    fn headers_that_promise_too_much_are_named() {
        let problem = |bytes: &[u8]| inspect_bytes(Path::new("x"), bytes).unwrap_err().to_string();
        assert_eq!(problem(b""), "x: the file is empty");
        assert!(problem(b"\x7fELF").contains("its ELF header lies beyond its end"));
        assert!(problem(b"\x7fELF\x02\x01\x01").contains("its ELF header lies beyond its end"));
        assert!(problem(b"\x7fELF\x09\x01\x01").contains("class 9 does not exist"));
    }

    #[test]
    fn a_foreign_header_is_a_fact() {
        // An ELF32, big-endian, ET_EXEC header of machine 8 (MIPS) with no tables.
        let mut bytes = vec![0u8; 52];
        bytes[..7].copy_from_slice(b"\x7fELF\x01\x02\x01");
        bytes[17] = 2;
        bytes[19] = 8;
        bytes[23] = 1;
        let inspection = inspect_bytes(Path::new("mips"), &bytes).unwrap();
        assert_eq!(inspection.class, Some(AddressWidth::Elf32));
        assert_eq!(inspection.machine, Some(Architecture::Other(8)));
        assert_eq!(inspection.kind, FileKind::Exec);
        assert!(inspection.static_linked);
    }
}
