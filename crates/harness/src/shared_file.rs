//! A file in the session's folder that the driver and the target map.
//!
//! It is in memory where possible. On a disk, the first touch of each page costs more than what is
//! written there, and a trace of a million events has thousands of pages. The folder then has a
//! link through the driver's file descriptor, so nobody has to remove the file.

use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Result;

pub struct SharedFile {
    memory: Arc<memmap2::MmapRaw>,
    /// The target finds the file through this descriptor.
    _file: File,
}

impl SharedFile {
    /// Makes a file of `len` zero bytes.
    pub fn make(path: &Path, len: u64) -> Result<SharedFile> {
        let file = match in_memory(path) {
            Some(file) => file,
            None => OpenOptions::new().read(true).write(true).create_new(true).open(path)?,
        };
        file.set_len(len)?;
        Ok(SharedFile { memory: Arc::new(memmap2::MmapRaw::map_raw(&file)?), _file: file })
    }

    pub fn as_ptr(&self) -> *const u8 {
        self.memory.as_ptr()
    }

    pub fn as_mut_ptr(&self) -> *mut u8 {
        self.memory.as_mut_ptr()
    }
}

/// A thread that prepares memory ahead of a process that fills a file from its front. Clearing a
/// page takes as long as writing a hundred events, and the processor of the waiting driver is idle.
/// The thread ends when this is dropped.
pub struct Ahead {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Ahead {
    /// `filled` returns how many bytes from `begin` on are filled.
    pub fn of(
        file: &SharedFile,
        begin: usize,
        filled: impl Fn(&memmap2::MmapRaw) -> usize + Send + 'static,
    ) -> Ahead {
        const NAP: Duration = Duration::from_micros(500);
        let (memory, over) = (file.memory.clone(), Arc::new(AtomicBool::new(false)));
        // The request must begin at a page.
        let begin = begin & !4095;
        let is_over = over.clone();
        // Without the thread, everything just takes a little longer.
        let thread = std::thread::Builder::new().spawn(move || {
            let mut ready = begin;
            while !is_over.load(Relaxed) {
                let wanted = (begin + ahead_of(filled(&memory))).min(memory.len());
                if wanted > ready {
                    populate(&memory, ready, wanted);
                    ready = wanted;
                }
                std::thread::sleep(NAP);
            }
        });
        Ahead { over, thread: thread.ok() }
    }
}

/// Allocates the pages of a part of the file and keeps their content. Returns false on a kernel
/// that does not support the request.
fn populate(memory: &memmap2::MmapRaw, from: usize, to: usize) -> bool {
    // SAFETY: within the mapping.
    unsafe { libc::madvise(memory.as_mut_ptr().add(from).cast(), to - from, libc::MADV_POPULATE_WRITE) == 0 }
}

/// How much must be ready when `filled` bytes are filled.
fn ahead_of(filled: usize) -> usize {
    const LEAST: usize = 1 << 20;
    const MOST: usize = 16 << 20;
    (filled + filled.clamp(LEAST, MOST)).next_multiple_of(LEAST)
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.over.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// `None`: there is no `/proc` through which others could find it.
fn in_memory(path: &Path) -> Option<File> {
    // SAFETY: the name ends in zero.
    let fd = unsafe { libc::memfd_create(c"raddle".as_ptr(), libc::MFD_CLOEXEC) };
    // SAFETY: nobody else has this descriptor yet.
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

    #[test]
    fn what_is_there_stays_when_memory_is_made_ready() {
        let folder = tempfile::tempdir().unwrap();
        let file = SharedFile::make(&folder.path().join("file"), 3 << 20).unwrap();
        // SAFETY: within the file.
        unsafe { file.as_mut_ptr().add(1 << 20).write(7) };
        let (asked, answer) = std::sync::mpsc::channel();
        let ahead = Ahead::of(&file, 5000, move |_| {
            let _ = asked.send(());
            2 << 20
        });
        // The second question comes after the effects of the first.
        answer.recv().unwrap();
        answer.recv().unwrap();
        drop(ahead);
        // SAFETY: as above.
        assert_eq!(unsafe { file.as_ptr().add(1 << 20).read() }, 7);
    }

    #[test]
    fn twice_as_much_is_ready_as_is_filled_within_limits() {
        assert_eq!([0, 1 << 20, 4 << 20, 64 << 20].map(ahead_of), [1 << 20, 2 << 20, 8 << 20, 80 << 20]);
    }
}
