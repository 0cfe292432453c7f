//! Whether a loaded file imports a function. The answer comes from the file's image in memory,
//! because the loader's own tables are behind a lock that the target may hold.

use libc::{Elf64_Ehdr, Elf64_Phdr, Elf64_Sym};

const HASH: u64 = 0x6fff_fef5;
const STRINGS: u64 = 5;
const SYMBOLS: u64 = 6;

/// Searches the imports of the file whose first page is at `start`.
///
/// # Safety
/// The page can be read, and the loader has mapped and relocated the rest.
pub unsafe fn has(start: usize, name: &[u8]) -> bool {
    // SAFETY: the loader has accepted the file, so its headers describe it correctly.
    unsafe {
        let header = &*(start as *const Elf64_Ehdr);
        if header.e_ident[..4] != *b"\x7fELF" || usize::from(header.e_phentsize) != size_of::<Elf64_Phdr>() {
            return false;
        }
        let at = (start + header.e_phoff as usize) as *const Elf64_Phdr;
        let headers = core::slice::from_raw_parts(at, header.e_phnum.into());
        let Some(dynamic) = headers.iter().find(|h| h.p_type == libc::PT_DYNAMIC) else { return false };
        let first = headers.iter().find(|h| h.p_type == libc::PT_LOAD).map_or(0, |h| h.p_vaddr & !4095);
        let bias = start.wrapping_sub(first as usize);
        let entries = (bias.wrapping_add(dynamic.p_vaddr as usize)) as *const [u64; 2];
        let entry = |tag: u64| {
            (0..dynamic.p_memsz as usize / 16).map(|i| *entries.add(i)).find(|e| e[0] == tag).map(|e| {
                // The loader replaces offsets by addresses.
                if e[1] as usize >= start { e[1] as usize } else { bias.wrapping_add(e[1] as usize) }
            })
        };
        let (Some(hash), Some(strings), Some(symbols)) = (entry(HASH), entry(STRINGS), entry(SYMBOLS)) else {
            return false;
        };
        // Imported symbols have no hash and come before all that have one.
        let imported = *(hash as *const u32).add(1) as usize;
        let symbols = core::slice::from_raw_parts(symbols as *const Elf64_Sym, imported);
        let is_it = |s: &Elf64_Sym| {
            let at = (strings + s.st_name as usize) as *const u8;
            (0..name.len()).all(|i| *at.add(i) == name[i]) && *at.add(name.len()) == 0
        };
        symbols.iter().any(|s| s.st_shndx == 0 && is_it(s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hub::modules;

    #[test]
    fn a_test_program_imports_from_the_c_library() {
        let mut files = 0;
        let (mut imports, mut nonsense) = (false, false);
        modules::each_beginning(|start, _| {
            files += 1;
            // SAFETY: mapped files that are loaded to run.
            unsafe {
                imports |= has(start, b"write");
                nonsense |= has(start, b"there_is_no_such_function");
            }
        });
        assert!(files > 1 && imports && !nonsense);
    }
}
