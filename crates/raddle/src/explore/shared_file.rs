//! A file of the session's folder that the driver and the target map.
//!
//! It has no disk behind it where that can be had: on a disk the first touch of each page costs more than what is written there, and
//! a trace of a million events has thousands of pages. The folder has a link to it then, which leads through the driver's descriptor, so
//! nobody has to remove it.

use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::Path;

use anyhow::Result;

pub struct SharedFile {
    memory: memmap2::MmapRaw,
    /// By its descriptor the target finds it.
    _file: File,
}

impl SharedFile {
    /// A new one of so many bytes, all zero.
    pub fn make(path: &Path, len: u64) -> Result<SharedFile> {
        let file = match in_memory(path) {
            Some(file) => file,
            None => OpenOptions::new().read(true).write(true).create_new(true).open(path)?,
        };
        file.set_len(len)?;
        Ok(SharedFile { memory: memmap2::MmapRaw::map_raw(&file)?, _file: file })
    }

    pub fn as_ptr(&self) -> *const u8 {
        self.memory.as_ptr()
    }

    pub fn as_mut_ptr(&self) -> *mut u8 {
        self.memory.as_mut_ptr()
    }
}

/// None: there is no `/proc` by which others would find it.
fn in_memory(path: &Path) -> Option<File> {
    // SAFETY: a name that ends in zero.
    let fd = unsafe { libc::memfd_create(c"raddle".as_ptr(), libc::MFD_CLOEXEC) };
    // SAFETY: a descriptor that is nobody else's yet.
    let file = (fd >= 0).then(|| unsafe { File::from_raw_fd(fd) })?;
    let target = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
    std::os::unix::fs::symlink(target, path).ok()?;
    if OpenOptions::new().read(true).write(true).open(path).is_err() {
        let _ = std::fs::remove_file(path);
        return None;
    }
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_writes_the_other_reads_by_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let file = SharedFile::make(&path, 8192).unwrap();
        // SAFETY: within the file.
        unsafe { file.as_mut_ptr().add(5000).write(7) };
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!((bytes.len(), bytes[5000], bytes[0]), (8192, 7, 0));
    }
}
