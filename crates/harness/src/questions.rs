//! Questions that the processes of a session ask the driver, and its answers.
//!
//! A runtime writes a question of fixed length into a FIFO and waits for the file with the answer.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use raddle_wire::{ASK, PLAN};

/// The driver's end.
pub struct Questions {
    dir: PathBuf,
    fifo: File,
}

impl Questions {
    /// Starts to listen in a session's folder. Call it before the first process starts: a process
    /// that finds no listener gets no answer.
    pub fn listen(dir: &Path) -> Result<Questions> {
        let path = dir.join(ASK);
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, &path, kind, rustix::fs::Mode::RWXU, 0)
            .with_context(|| format!("cannot make {}", path.display()))?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).custom_flags(libc::O_NONBLOCK);
        let fifo = options.open(&path).with_context(|| format!("cannot open {}", path.display()))?;
        Ok(Questions { dir: dir.into(), fifo })
    }

    /// The next question; `None` once `stop` is set.
    pub fn next<const LEN: usize>(&mut self, stop: &AtomicBool) -> Option<[u8; LEN]> {
        let mut question = [0; LEN];
        while !stop.load(Ordering::Acquire) {
            match self.fifo.read_exact(&mut question) {
                Ok(()) => return Some(question),
                Err(_) => wait_readable(&self.fifo),
            }
        }
        None
    }

    /// Answers a process. `number` tells its questions apart if it asks several.
    ///
    /// The answer appears by a rename, so the runtime sees all of it or nothing. An empty file
    /// needs no space on a full disk and is an answer too.
    pub fn answer(&self, pid: u32, number: Option<u32>, plan: &[u8]) {
        let name = match number {
            Some(number) => format!("{PLAN}{pid}.{number}"),
            None => format!("{PLAN}{pid}"),
        };
        let (new, path) = (self.dir.join(format!("{name}.new")), self.dir.join(name));
        let written = std::fs::write(&new, plan).or_else(|_| std::fs::write(&new, []));
        if written.is_ok() {
            let _ = std::fs::rename(new, path);
        }
    }

    /// Wakes the thread in [`next`](Questions::next) with one byte, which is too short for a
    /// question.
    pub fn wake(dir: &Path) {
        let fifo = OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(dir.join(ASK));
        let _ = fifo.map(|mut fifo| fifo.write(&[0]));
    }
}

fn wait_readable(file: &File) {
    let mut fds = [rustix::event::PollFd::new(file, rustix::event::PollFlags::IN)];
    let timeout = rustix::event::Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
    let _ = rustix::event::poll(&mut fds, Some(&timeout));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_answered_and_a_sleeper_is_woken() {
        let folder = tempfile::tempdir().unwrap();
        let mut questions = Questions::listen(folder.path()).unwrap();
        let stop = AtomicBool::new(false);
        let ask = |bytes: &[u8]| {
            OpenOptions::new().write(true).open(folder.path().join(ASK)).unwrap().write_all(bytes).unwrap();
        };
        ask(&7u32.to_le_bytes());
        assert_eq!(questions.next(&stop).map(u32::from_le_bytes), Some(7));
        questions.answer(7, None, b"one");
        questions.answer(7, Some(3), b"two");
        assert_eq!(std::fs::read(folder.path().join("plan.7")).unwrap(), b"one");
        assert_eq!(std::fs::read(folder.path().join("plan.7.3")).unwrap(), b"two");
        std::thread::scope(|scope| {
            let asleep = scope.spawn(|| questions.next::<4>(&stop));
            stop.store(true, Ordering::Release);
            Questions::wake(folder.path());
            assert_eq!(asleep.join().unwrap(), None);
        });
    }
}
