//! The bytes of a file, and how long they live.
//!
//! DWARF readers borrow the bytes that they read and keep what they have parsed, so a module that
//! owns both would borrow from itself. Two alternatives were rejected: reference-counted readers
//! (each small read of a string clones an `Arc`) and leaking the file (a language server runs for
//! days). So an [`Image`] hands out slices that claim to be `'static`. This crate upholds the
//! claim: an image lives in the same private struct as everything borrowed from it and is never
//! replaced there, and every public function returns owned values or slices bound to `&self`.

use std::cell::RefCell;
use std::fs::File;
use std::ops::Deref;
use std::path::Path;

use memmap2::Mmap;
use object::read::elf::ElfFile64;
use object::{LittleEndian, Object, ObjectSection};

use crate::error::{Error, Result};

/// An ELF file of the only kind whose code this crate reads.
pub(crate) type Elf = ElfFile64<'static, LittleEndian>;

enum Owner {
    Mapped(Mmap),
    Held(Vec<u8>),
}

impl Deref for Owner {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match self {
            Owner::Mapped(map) => map,
            Owner::Held(bytes) => bytes,
        }
    }
}

/// A file in memory, with the sections that had to be decompressed.
pub(crate) struct Image {
    owner: Owner,
    inflated: RefCell<Vec<Vec<u8>>>,
}

impl Image {
    /// Maps a file, so that only the accessed pages are ever read.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|e| Error::from_io(path, e))?;
        let metadata = file.metadata().map_err(|e| Error::from_io(path, e))?;
        if !metadata.is_file() {
            return Err(Error::NotAFile { path: path.to_path_buf() });
        }
        if metadata.len() == 0 {
            return Err(Error::Empty { path: path.to_path_buf() });
        }
        // SAFETY: a private read-only mapping of a regular file. If another process truncates the
        // file while we read, we can fault. But linkers and package managers replace files by
        // renaming, and the kernel keeps the text of a running target busy.
        let map = unsafe { Mmap::map(&file) }.map_err(|e| Error::from_io(path, e))?;
        Ok(Self { owner: Owner::Mapped(map), inflated: RefCell::default() })
    }

    /// Takes bytes that the caller has read.
    pub(crate) fn from_bytes(path: &Path, bytes: Vec<u8>) -> Result<Self> {
        if bytes.is_empty() {
            return Err(Error::Empty { path: path.to_path_buf() });
        }
        Ok(Self { owner: Owner::Held(bytes), inflated: RefCell::default() })
    }

    /// The bytes, for a borrower that does not outlive the image.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.owner
    }

    /// The bytes, for a field of the same struct (see the module's documentation).
    pub(crate) fn lasting(&self) -> &'static [u8] {
        // SAFETY: neither a mapping nor a vector's heap block moves when its owner moves, the
        // owner is never written to, and callers keep the image beside what they borrow.
        unsafe { std::slice::from_raw_parts(self.owner.as_ptr(), self.owner.len()) }
    }

    /// Parses the file; the result borrows from this image.
    pub(crate) fn elf(&self, path: &Path) -> Result<Elf> {
        Elf::parse(self.lasting()).map_err(|e| Error::damaged(path, e))
    }

    /// A section's content, decompressed if necessary. Empty if the section is absent or damaged,
    /// because a program without debug information is not an error.
    pub(crate) fn section(&self, elf: &Elf, name: &str) -> &'static [u8] {
        let Some(section) = elf.section_by_name(name) else { return &[] };
        let Ok(compressed) = section.compressed_data() else { return &[] };
        if compressed.format == object::CompressionFormat::None {
            return compressed.data;
        }
        let Ok(plain) = compressed.decompress() else { return &[] };
        let plain = plain.into_owned();
        // SAFETY: as for `lasting`; the vector is only ever moved into the list of inflated
        // sections, which grows and never drops an element before the image is dropped.
        let lasting: &'static [u8] = unsafe { std::slice::from_raw_parts(plain.as_ptr(), plain.len()) };
        self.inflated.borrow_mut().push(plain);
        lasting
    }
}
