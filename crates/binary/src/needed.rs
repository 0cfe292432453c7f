//! A copy of a program that loads one more library, before all others.
//!
//! The dynamic section and its strings have no room to grow in place. Both are rewritten at the end
//! of the file, in a segment of their own. A note gives up its program header for this segment. No
//! byte of code or data moves, so addresses, debug information and checks of the program's own text
//! stay valid. If there is a note that says the same as `PT_GNU_PROPERTY`, that note is the one
//! that goes.

use object::elf;
use object::read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _};
use object::{LittleEndian, pod};
use std::path::Path;

use crate::error::{Error, Result};

type Header = elf::FileHeader64<LittleEndian>;
type Segment = elf::ProgramHeader64<LittleEndian>;
type Entry = elf::Dyn64<LittleEndian>;

const PAGE: u64 = 4096;
const LE: LittleEndian = LittleEndian;

/// The program in `bytes` with `library` as the first library that it needs. `path` names it in
/// errors.
pub fn with_needed(path: &Path, bytes: &[u8], library: &str) -> Result<Vec<u8>> {
    let refuse = |why: &'static str| Error::NotExtensible { path: path.to_path_buf(), why };
    let header = Header::parse(bytes).map_err(|_| refuse("it is no ELF file"))?;
    let segments =
        header.program_headers(LE, bytes).map_err(|_| refuse("its program headers are damaged"))?;
    let dynamic = segments.iter().find(|s| s.p_type(LE) == elf::PT_DYNAMIC);
    let dynamic = dynamic.ok_or_else(|| refuse("it is statically linked"))?;
    let entries: &[Entry] =
        dynamic.data_as_array(LE, bytes).map_err(|()| refuse("its dynamic section is damaged"))?;
    let strings =
        old_strings(segments, entries, bytes).ok_or_else(|| refuse("its dynamic strings are damaged"))?;
    let spare = spare_header(segments).ok_or_else(|| refuse("it has no note whose header could be used"))?;

    let mut copy = bytes.to_vec();
    copy.resize(copy.len().next_multiple_of(PAGE as usize), 0);
    let offset = copy.len() as u64;
    let highest = segments
        .iter()
        .filter(|s| s.p_type(LE) == elf::PT_LOAD)
        .map(|s| s.p_vaddr(LE).saturating_add(s.p_memsz(LE)))
        .max()
        .unwrap_or(0);
    let address = highest.next_multiple_of(PAGE);
    let (block, dynamic_size) = new_block(entries, strings, library, address);
    copy.extend_from_slice(&block);

    let new_load = Placed { kind: elf::PT_LOAD, offset, address, size: block.len() as u64, align: PAGE };
    let new_dynamic = Placed { kind: elf::PT_DYNAMIC, offset, address, size: dynamic_size, align: 8 };
    let dynamic = segments.iter().position(|s| s.p_type(LE) == elf::PT_DYNAMIC).unwrap_or(0);
    let table = header.e_phoff.get(LE) as usize;
    new_load.write(&mut copy, table + spare * size_of::<Segment>());
    new_dynamic.write(&mut copy, table + dynamic * size_of::<Segment>());
    Ok(copy)
}

/// The dynamic entries, then the strings; and the size of the first.
fn new_block(entries: &[Entry], strings: &[u8], library: &str, address: u64) -> (Vec<u8>, u64) {
    let used = entries.iter().take_while(|e| e.d_tag.get(LE) != u64::from(elf::DT_NULL)).count();
    let dynamic_size = (used + 2) * size_of::<Entry>();
    let strings_at = address + dynamic_size as u64;
    let size = strings.len() + library.len() + 1;
    let mut block = Vec::new();
    let mut put = |tag: u64, value: u64| {
        block.extend_from_slice(&tag.to_le_bytes());
        block.extend_from_slice(&value.to_le_bytes());
    };
    put(elf::DT_NEEDED.into(), strings.len() as u64);
    for entry in &entries[..used] {
        let (tag, value) = (entry.d_tag.get(LE), entry.d_val.get(LE));
        match u32::try_from(tag) {
            Ok(elf::DT_STRTAB) => put(tag, strings_at),
            Ok(elf::DT_STRSZ) => put(tag, size as u64),
            _ => put(tag, value),
        }
    }
    put(elf::DT_NULL.into(), 0);
    block.extend_from_slice(strings);
    block.extend_from_slice(library.as_bytes());
    block.push(0);
    (block, dynamic_size as u64)
}

fn old_strings<'a>(segments: &[Segment], entries: &[Entry], bytes: &'a [u8]) -> Option<&'a [u8]> {
    let value = |tag: u32| entries.iter().find(|e| e.tag32(LE) == Some(tag)).map(|e| e.d_val.get(LE));
    let (address, size) = (value(elf::DT_STRTAB)?, value(elf::DT_STRSZ)?);
    let load = segments.iter().filter(|s| s.p_type(LE) == elf::PT_LOAD);
    load.filter_map(|s| s.data_range(LE, bytes, address, size).ok().flatten()).next()
}

/// A note behind all loaded segments, because those must stay in the order of their addresses.
fn spare_header(segments: &[Segment]) -> Option<usize> {
    let last_load = segments.iter().rposition(|s| s.p_type(LE) == elf::PT_LOAD)?;
    let property = segments.iter().find(|s| s.p_type(LE) == elf::PT_GNU_PROPERTY).map(|s| s.p_offset(LE));
    let note = |(i, s): &(usize, &Segment)| *i > last_load && s.p_type(LE) == elf::PT_NOTE;
    let notes = || segments.iter().enumerate().filter(note);
    let double = notes().find(|(_, s)| Some(s.p_offset(LE)) == property);
    double.or_else(|| notes().next()).map(|(i, _)| i)
}

/// A program header to be written.
struct Placed {
    kind: u32,
    offset: u64,
    address: u64,
    size: u64,
    align: u64,
}

impl Placed {
    fn write(&self, file: &mut [u8], at: usize) {
        use object::endian::{U32, U64};
        let segment = Segment {
            p_type: U32::new(LE, self.kind),
            p_flags: U32::new(LE, elf::PF_R | elf::PF_W),
            p_offset: U64::new(LE, self.offset),
            p_vaddr: U64::new(LE, self.address),
            p_paddr: U64::new(LE, self.address),
            p_filesz: U64::new(LE, self.size),
            p_memsz: U64::new(LE, self.size),
            p_align: U64::new(LE, self.align),
        };
        file[at..at + size_of::<Segment>()].copy_from_slice(pod::bytes_of(&segment));
    }
}
