//! Which functions of other files the program calls while it has several threads.
//!
//! Raddle does not see the memory accesses of an uninstrumented library. So a search of a program
//! that calls one is not complete, but a search of a program that only links to it may be.
//! Therefore the calls of imports in an instrumented file go through stubs, which mark the import
//! and jump on. A stub is two instructions that change neither a register nor a flag. The driver
//! gets the marked names as hashes, and knows which of them do no harm.
//!
//! A program may compare addresses of functions, and a stub has a different one. So stubs replace
//! only slots that are used for nothing but calls. A slot that can be read as an address stays
//! unchanged, and its import counts as called: with `-fno-plt` all slots are like this, in other
//! programs those of functions whose address they take.
//!
//! Calls by the only thread do not count: nothing can come in between, and creation and join order
//! what comes before and after.

use core::cell::Cell;
use libc::{Elf64_Ehdr, Elf64_Phdr, Elf64_Rela, Elf64_Sym};
use raddle_base::hash::fnv64;
use raddle_wire::explore::{CALLED, flag, gap};

use super::{has, state};
use crate::hub::modules;
use crate::sys;

const MOST: usize = 4096;
const FILES: usize = 256;
/// The size of a stub in bytes.
const STUB: usize = 16;

/// The import was called since the marks were last cleared.
const CALLED_NOW: u8 = 1;
/// The program can get the address of the function, through which anybody may call it.
const ALWAYS: u8 = 2;

/// The stubs and what they use, in separate memory.
#[repr(C, align(4096))]
struct Table {
    stubs: [[u8; STUB]; MOST],
    targets: [usize; MOST],
    names: [u64; MOST],
    marks: [u8; MOST],
}

/// All zero: no table yet.
pub struct Imports {
    table: *mut Table,
    count: usize,
    /// There are more imports than the table can hold.
    full: bool,
}

/// Called before the first execution, once the program's files are loaded.
pub fn prepare() {
    if !has(flag::HIDDEN) || has(flag::PLAIN) {
        return;
    }
    let mut s = state();
    s.imports.table = sys::pages(size_of::<Table>()).cast();
    let (mut files, mut n) = ([0; FILES], 0);
    modules::each_beginning(|start, _| {
        if n < FILES {
            files[n] = start;
        }
        n += 1;
    });
    s.imports.full = n > FILES;
    for start in &files[..n.min(FILES)] {
        // SAFETY: a file that the loader has mapped and relocated.
        unsafe { redirect(*start) };
    }
    let stubs =
        [s.imports.table as usize, MOST * STUB, (libc::PROT_READ | libc::PROT_EXEC) as usize, 0, 0, 0];
    sys::syscall(libc::SYS_mprotect, stubs);
}

/// Clears the marks when a thread is created and there was only one before.
pub fn begin() {
    for mark in marks() {
        mark.set(mark.get() & ALWAYS);
    }
}

/// Records what was called. Called when there is only one thread again, or the execution ends.
pub fn settle() {
    let mut s = state();
    let (table, full) = (s.imports.table, s.imports.full);
    if table.is_null() {
        return;
    }
    let slot = s.serve.slot();
    for (i, mark) in marks().iter().enumerate() {
        // SAFETY: set by `prepare`; within the table.
        let name = unsafe { (*table).names[i] };
        let known = slot.called as usize;
        if mark.get() == 0 || slot.called_names[..known].contains(&name) {
            continue;
        }
        if known < CALLED {
            slot.called_names[known] = name;
            slot.called += 1;
        } else {
            slot.gaps |= gap::MANY_CALLED;
        }
    }
    if full {
        slot.gaps |= gap::MANY_CALLED;
    }
}

/// The function that a stub leads to, or `function` itself if it is not a stub.
pub fn behind_stub(function: usize) -> usize {
    if !super::is_on() {
        return function;
    }
    let imports = &state().imports;
    let into = function.wrapping_sub(imports.table as usize);
    if imports.table.is_null() || into >= imports.count * STUB {
        return function;
    }
    // SAFETY: set by `prepare`; within the table, which begins with the stubs.
    unsafe { (*imports.table).targets[into / STUB] }
}

fn marks() -> &'static [Cell<u8>] {
    let imports = &state().imports;
    if imports.table.is_null() {
        return &[];
    }
    // SAFETY: set by `prepare`; one thread runs at a time.
    unsafe { core::slice::from_raw_parts((&raw const (*imports.table).marks).cast(), imports.count) }
}

/// The dynamic section of a file, as the loader reads it.
struct File {
    bias: usize,
    image: core::ops::Range<usize>,
    symbols: *const Elf64_Sym,
    strings: *const u8,
    /// Two tables of relocations.
    relocations: [&'static [Elf64_Rela]; 2],
    /// Written by the loader, and read-only afterwards.
    sealed: core::ops::Range<usize>,
}

impl File {
    /// None if it is not such a file, or not instrumented.
    unsafe fn at(start: usize) -> Option<File> {
        /// Tags of the dynamic section.
        const JUMPS_LEN: u64 = 2;
        const STRINGS: u64 = 5;
        const SYMBOLS: u64 = 6;
        const RELA: u64 = 7;
        const RELA_LEN: u64 = 8;
        const JUMPS: u64 = 23;
        // SAFETY: the loader has accepted the file, so its headers describe it correctly.
        unsafe {
            let header = &*(start as *const Elf64_Ehdr);
            if header.e_ident[..4] != *b"\x7fELF"
                || usize::from(header.e_phentsize) != size_of::<Elf64_Phdr>()
            {
                return None;
            }
            let at = (start + header.e_phoff as usize) as *const Elf64_Phdr;
            let headers = core::slice::from_raw_parts(at, header.e_phnum.into());
            let loaded = || headers.iter().filter(|h| h.p_type == libc::PT_LOAD);
            let bias = start.wrapping_sub(loaded().next()?.p_vaddr as usize & !4095);
            let place = |vaddr: u64| bias.wrapping_add(vaddr as usize);
            let code = loaded().find(|h| h.p_flags & libc::PF_X != 0)?;
            if !modules::is_instrumented(place(code.p_vaddr)) {
                return None;
            }
            let dynamic = headers.iter().find(|h| h.p_type == libc::PT_DYNAMIC)?;
            let entries = place(dynamic.p_vaddr) as *const [u64; 2];
            let entry = |tag: u64| {
                (0..dynamic.p_memsz as usize / 16)
                    .map(|i| *entries.add(i))
                    .find(|e| e[0] == tag)
                    .map(|e| e[1])
            };
            // The loader replaces offsets with addresses.
            let pointer = |tag: u64| {
                entry(tag).map(|value| if value as usize >= start { value as usize } else { place(value) })
            };
            let table = |at: u64, len: u64| match (pointer(at), entry(len)) {
                (Some(at), Some(len)) => core::slice::from_raw_parts(
                    at as *const Elf64_Rela,
                    len as usize / size_of::<Elf64_Rela>(),
                ),
                _ => &[],
            };
            let sealed = headers.iter().find(|h| h.p_type == libc::PT_GNU_RELRO);
            let sealed = sealed.map_or(0..0, |h| {
                place(h.p_vaddr) & !4095..place(h.p_vaddr).wrapping_add(h.p_memsz as usize) & !4095
            });
            Some(File {
                bias,
                image: start..loaded().map(|h| place(h.p_vaddr + h.p_memsz)).max()?,
                symbols: pointer(SYMBOLS)? as *const Elf64_Sym,
                strings: pointer(STRINGS)? as *const u8,
                relocations: [table(JUMPS, JUMPS_LEN), table(RELA, RELA_LEN)],
                sealed,
            })
        }
    }

    fn protect(&self, how: i32) {
        if !self.sealed.is_empty() {
            let args = [self.sealed.start, self.sealed.len(), how as usize, 0, 0, 0];
            sys::syscall(libc::SYS_mprotect, args);
        }
    }
}

/// Redirects the calls of the file's imports to stubs.
///
/// # Safety
/// A file that the loader has mapped and relocated begins at `start`.
unsafe fn redirect(start: usize) {
    /// Kinds of relocations.
    const DATA: u64 = 1;
    const ADDRESS: u64 = 6;
    const JUMP: u64 = 7;
    const FUNCTION: u8 = 2;
    // SAFETY: by the contract.
    let Some(file) = (unsafe { File::at(start) }) else { return };
    file.protect(libc::PROT_READ | libc::PROT_WRITE);
    for relocation in file.relocations.iter().copied().flatten() {
        // SAFETY: the tables that the loader has used.
        unsafe {
            let symbol = &*file.symbols.add((relocation.r_info >> 32) as usize);
            if relocation.r_info >> 32 == 0 || symbol.st_shndx != 0 {
                continue;
            }
            let is_function = symbol.st_info & 15 == FUNCTION;
            let slot = file.bias.wrapping_add(relocation.r_offset as usize) as *mut usize;
            let name = file.strings.add(symbol.st_name as usize).cast();
            // Code that is not position-independent uses the address of its own `.plt` entry for
            // the function, and then all files use that one: replacing the slot behind it is not
            // enough.
            let has_address = symbol.st_value != 0;
            match relocation.r_info & 0xffff_ffff {
                JUMP if !has_address => lead(slot, name, &file),
                ADDRESS if !has_address && (*slot == 0 || modules::is_instrumented(*slot)) => {}
                JUMP | ADDRESS | DATA if is_function => _ = add(name, 0, ALWAYS),
                _ => {}
            }
        }
    }
    file.protect(libc::PROT_READ);
}

/// Redirects one import to a stub.
///
/// # Safety
/// The slot holds the address of the function of that name, or of the code that resolves it.
unsafe fn lead(slot: *mut usize, name: *const core::ffi::c_char, file: &File) {
    // SAFETY: by the contract; the caller has made the slot writable.
    unsafe {
        let mut target = *slot;
        if file.image.contains(&target) {
            // Not resolved yet: the loader would overwrite the slot with the function itself.
            target = sys::dlsym(libc::RTLD_DEFAULT, name) as usize;
            if target == 0 {
                add(name, 0, ALWAYS);
                return;
            }
        }
        if target != 0
            && !modules::is_instrumented(target)
            && let Some(stub) = add(name, target, 0)
        {
            *slot = stub;
        }
    }
}

/// Adds an import. Returns the address of its stub, if there is room for it.
unsafe fn add(name: *const core::ffi::c_char, target: usize, mark: u8) -> Option<usize> {
    let imports = &mut state().imports;
    let i = imports.count;
    if i == MOST {
        imports.full = true;
        return None;
    }
    // SAFETY: the table is being filled; the name ends in zero.
    let (table, name) = unsafe { (&mut *imports.table, core::ffi::CStr::from_ptr(name)) };
    (table.names[i], table.targets[i], table.marks[i]) = (fnv64(name.to_bytes()), target, mark);
    imports.count += 1;
    let stub = &raw const table.stubs[i] as usize;
    let from = |at: usize, to: usize| (to.wrapping_sub(stub + at) as u32).to_le_bytes();
    let (marks, jumps) = (&raw const table.marks[i] as usize, &raw const table.targets[i] as usize);
    let code = &mut table.stubs[i];
    // mov byte ptr [rip + mark], CALLED_NOW
    code[..2].copy_from_slice(&[0xc6, 0x05]);
    code[2..6].copy_from_slice(&from(7, marks));
    code[6] = CALLED_NOW;
    // jmp qword ptr [rip + target]
    code[7..9].copy_from_slice(&[0xff, 0x25]);
    code[9..13].copy_from_slice(&from(13, jumps));
    Some(stub)
}
