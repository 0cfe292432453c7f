//! What is recorded of an execution besides its steps: the values its accesses read and wrote, and
//! its output.
//!
//! A watched worker has one slot: the trace and the output belong to the last execution.

use std::fs::{File, OpenOptions};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use anyhow::{Context, Result};
use raddle_wire::trace::{self, Decoder, Recording, TraceHeader};

use crate::shared_file::{Ahead, SharedFile};

/// What to record.
#[derive(Clone, Default)]
pub struct Watch {
    pub trace: Option<Traced>,
    /// What the program writes to its standard output and standard error.
    pub output: bool,
}

/// Which accesses are recorded.
#[derive(Clone)]
pub struct Traced {
    pub mode: Recording,
    /// Sorted program counters: see [`TraceHeader::reads`].
    pub sites: Vec<u64>,
    /// Bytes for the stream. The file is sparse: unwritten parts take no disk space.
    pub room: u64,
}

/// An execution from some step on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecutionTail {
    /// It begins after this many steps.
    pub begins: u64,
    /// A digest of those steps.
    pub way: u64,
}

/// The files of a watched worker.
pub struct Watched {
    trace: Option<SharedFile>,
    /// Prepares memory for the trace.
    ahead: Option<Ahead>,
    output: Option<[File; 2]>,
}

impl Watch {
    /// Makes the files in the session's folder and points the process to them. `None` if nothing is
    /// watched.
    pub fn open(&self, folder: &Path, command: &mut Command) -> Result<Option<Watched>> {
        if self.trace.is_none() && !self.output {
            return Ok(None);
        }
        let trace = self.trace.as_ref().map(|t| t.make(&folder.join(trace::FILE))).transpose()?;
        let output = if self.output {
            let (out, err) = (folder.join("stdout"), folder.join("stderr"));
            command.stdout(append(&out)?).stderr(append(&err)?);
            Some([append(&out)?, append(&err)?])
        } else {
            None
        };
        let learns = self.trace.as_ref().is_some_and(|t| t.mode == Recording::Learn);
        let ahead = trace.as_ref().filter(|_| learns).map(ahead);
        Ok(Some(Watched { trace, ahead, output }))
    }
}

/// For executions that are recorded whole and may be long.
fn ahead(file: &SharedFile) -> Ahead {
    // SAFETY: the mapping begins with a header, whose changing fields are atomics.
    let begin = unsafe { (*file.as_ptr().cast::<TraceHeader>()).stream_at() };
    Ahead::of(file, begin, |memory| {
        // SAFETY: as above.
        unsafe { (*memory.as_ptr().cast::<TraceHeader>()).used.load(Relaxed) as usize }
    })
}

fn append(path: &Path) -> Result<File> {
    let file = OpenOptions::new().read(true).append(true).create(true).open(path);
    file.with_context(|| format!("cannot make {}", path.display()))
}

impl Traced {
    /// The file alone, for a run without a worker.
    pub fn open(&self, folder: &Path) -> Result<Watched> {
        Ok(Watched { trace: Some(self.make(&folder.join(trace::FILE))?), ahead: None, output: None })
    }

    fn make(&self, path: &Path) -> Result<SharedFile> {
        let header = TraceHeader::new(self.room, self.sites.len() as u64, self.mode);
        let memory = SharedFile::make(path, header.bytes() as u64)
            .context("cannot make the file of the trace: `ulimit -f`, `ulimit -v` or a full disk")?;
        // SAFETY: the file is as long as the header says; nobody else has it yet.
        unsafe {
            let table = memory.as_mut_ptr().add(header.table_at()).cast::<u64>();
            std::ptr::copy_nonoverlapping(self.sites.as_ptr(), table, self.sites.len());
            memory.as_mut_ptr().cast::<TraceHeader>().write(header);
        }
        Ok(memory)
    }
}

impl Watched {
    /// Prepares for the next execution.
    pub fn begin(&self) {
        for file in self.output.iter().flatten() {
            // The process appends, so the next byte is the first. If the file cannot be truncated,
            // it is read in full and says more.
            let _ = file.set_len(0);
        }
    }

    /// Whether memory is prepared for executions that may be long.
    pub fn is_ahead(&self) -> bool {
        self.ahead.is_some()
    }

    /// Sets what later executions record.
    pub fn set_mode(&self, mode: Recording) {
        if let Some(header) = self.header() {
            header.set_mode(mode);
        }
    }

    /// Makes later executions end where `part` begins, if they take the same steps to it. `None`:
    /// they do not end early.
    pub fn end_at(&self, part: Option<ExecutionTail>) {
        if let Some(header) = self.header() {
            let (begins, way) = part.map_or((trace::NEVER, 0), |p| (p.begins, p.way));
            header.until_way.store(way, Relaxed);
            header.until.store(begins, Release);
        }
    }

    /// Whether the last execution ended as [`Watched::end_at`] asked.
    pub fn was_cut(&self) -> bool {
        self.header().is_some_and(|h| h.was_cut.load(Acquire) != 0)
    }

    /// What was recorded of the last execution while the runtime learned what is shared. `None`:
    /// nothing.
    pub fn part(&self) -> Option<ExecutionTail> {
        let header = self.header()?;
        let begins = header.begins.load(Acquire);
        (begins != trace::NEVER).then(|| ExecutionTail { begins, way: header.way.load(Relaxed) })
    }

    /// Whether the recording has all accesses, with events for what turns out to be shared.
    pub fn has_all(&self) -> bool {
        self.header().is_some_and(|h| h.has_all.load(Acquire) != 0)
    }

    /// How much the worker has found to be shared so far.
    pub fn discoveries(&self) -> u64 {
        self.header().map_or(0, |h| h.discoveries.load(Acquire))
    }

    fn header(&self) -> Option<&TraceHeader> {
        // SAFETY: the mapping begins with a header, whose changing fields are atomics.
        self.trace.as_ref().map(|m| unsafe { &*m.as_ptr().cast::<TraceHeader>() })
    }

    /// The events of the last execution, and whether some did not fit.
    pub fn events(&self) -> (Decoder<'_>, bool) {
        let (Some(header), Some(memory)) = (self.header(), &self.trace) else {
            return (Decoder::new(&[]), false);
        };
        let used = (header.used.load(Acquire)).min(header.room) as usize;
        // SAFETY: within the file; the execution is over, so nobody writes there.
        let bytes = unsafe { std::slice::from_raw_parts(memory.as_ptr().add(header.stream_at()), used) };
        (Decoder::new(bytes), header.lost.load(Relaxed) > 0)
    }

    /// The process that an unscheduled run was traced in.
    pub fn process(&self) -> u64 {
        self.header().map_or(0, |h| h.process.load(Acquire))
    }

    /// The bytes of the stream, and the number of accesses seen.
    pub fn size(&self) -> (u64, u64) {
        self.header().map_or((0, 0), |h| (h.used.load(Acquire), h.accesses.load(Relaxed)))
    }

    /// What the last execution wrote to its standard output (0) or standard error (1).
    pub fn output(&self, which: usize) -> Vec<u8> {
        use std::os::unix::fs::FileExt;
        let Some(file) = self.output.as_ref().and_then(|o| o.get(which)) else { return Vec::new() };
        const MOST: u64 = 16 << 20;
        let len = file.metadata().map_or(0, |m| m.len().min(MOST)) as usize;
        let mut bytes = vec![0; len];
        let mut got = 0;
        while got < len {
            match file.read_at(&mut bytes[got..], got as u64) {
                Ok(n) if n > 0 => got += n,
                _ => break,
            }
        }
        bytes.truncate(got);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn an_execution_begins_with_nothing_printed() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("true");
        let watch = Watch { trace: None, output: true };
        let watched = watch.open(folder.path(), &mut command).unwrap().unwrap();
        let mut target = append(&folder.path().join("stdout")).unwrap();
        target.write_all(b"one\n").unwrap();
        assert_eq!(watched.output(0), b"one\n");
        watched.begin();
        target.write_all(b"2\n").unwrap();
        assert_eq!((watched.output(0), watched.output(1)), (b"2\n".to_vec(), Vec::new()));
    }

    #[test]
    fn nothing_is_made_where_nothing_is_watched() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Watch::default().open(folder.path(), &mut Command::new("true")).unwrap().is_none());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_file_of_a_trace_has_its_table() {
        let folder = tempfile::tempdir().unwrap();
        let traced = Traced { mode: Recording::Table, sites: vec![5, 9], room: 4096 };
        let watch = Watch { trace: Some(traced), output: false };
        let watched = watch.open(folder.path(), &mut Command::new("true")).unwrap().unwrap();
        assert_eq!((watched.events().0.count(), watched.size()), (0, (0, 0)));
        let bytes = std::fs::read(folder.path().join(trace::FILE)).unwrap();
        let at = watched.header().unwrap().table_at();
        assert_eq!(bytes[at..at + 16], [[5u64.to_le_bytes(), 9u64.to_le_bytes()].concat()][0]);
        watched.set_mode(Recording::Learn);
        assert_eq!(watched.header().unwrap().mode(), Recording::Learn);
    }
}
