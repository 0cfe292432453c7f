//! A file of the session's folder that the driver and the target map.
//!
//! It has no disk behind it where that can be had: on a disk the first touch of each page costs
//! more than what is written there, and a trace of a million events has thousands of pages. The
//! folder has a link to it then, which leads through the driver's descriptor, so nobody has to
//! remove it.

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
        Ok(SharedFile { memory: Arc::new(memmap2::MmapRaw::map_raw(&file)?), _file: file })
    }

    pub fn as_ptr(&self) -> *const u8 {
        self.memory.as_ptr()
    }

    pub fn as_mut_ptr(&self) -> *mut u8 {
        self.memory.as_mut_ptr()
    }
}

/// A thread that gets memory ready ahead of somebody who fills a file from its front: to clear a
/// page takes as long as to write a hundred events, and the processor that waits for them has
/// nothing else to do. Ends with this.
pub struct Ahead {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Ahead {
    /// `filled` says how far the part of the file from `begin` on is filled.
    pub fn of(
        file: &SharedFile,
        begin: usize,
        filled: impl Fn(&memmap2::MmapRaw) -> usize + Send + 'static,
    ) -> Ahead {
        const NAP: Duration = Duration::from_micros(500);
        let (memory, over) = (file.memory.clone(), Arc::new(AtomicBool::new(false)));
        // What is asked for begins with a page.
        let begin = begin & !4095;
        let is_over = over.clone();
        // Without the thread it all takes a little longer.
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

/// Whether there are pages now for a part of the file. They keep what they have. A kernel that does
/// not know the request does without.
fn populate(memory: &memmap2::MmapRaw, from: usize, to: usize) -> bool {
    // SAFETY: within the mapping.
    unsafe { libc::madvise(memory.as_mut_ptr().add(from).cast(), to - from, libc::MADV_POPULATE_WRITE) == 0 }
}

/// How much is to be ready when so much is filled.
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
        // The second question comes after what followed from the first.
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
