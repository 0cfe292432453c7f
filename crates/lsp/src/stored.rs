//! The findings of other commands, at their current lines.
//!
//! A stored finding refers to lines as they were when the program was built. It also has the text
//! of these lines, so a line that has moved can be found again: it is the line with the same text,
//! nearest to the old place. If the line of an end is gone, the finding is about a program that no
//! longer exists and is not shown; another run will tell. Lines with `raddle: ignore` count here
//! too.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use raddle_check::ignore::ignored_lines;
use raddle_finding::{Finding, Frame, Location};
use raddle_store::home::real;
use raddle_store::{Stamp, Store, Stored};

use crate::diagnostics::FilePlaces;
use crate::server::StoreOf;
use crate::text::Lines;

/// How many lines away a moved line is searched for.
const FAR: u32 = 2000;

/// The command whose findings the editor computes itself.
const OWN: &str = "check";

/// The stores of all projects with an open buffer.
pub struct Stores {
    folder: StoreOf,
    /// For each buffer: the folder of its store, and the store's stamp before it was read.
    seen: BTreeMap<PathBuf, (PathBuf, Stamp)>,
    /// The findings of each buffer.
    found: BTreeMap<PathBuf, Vec<Stored>>,
}

impl Stores {
    pub fn new(folder: StoreOf) -> Stores {
        Stores { folder, seen: BTreeMap::new(), found: BTreeMap::new() }
    }

    /// Reads the findings of a buffer. Returns a sentence if the store cannot be read.
    pub fn open(&mut self, path: &Path) -> Result<(), String> {
        self.found.remove(path);
        let Some(folder) = (self.folder)(path) else { return Ok(()) };
        // Take the stamp before reading, so that a concurrent write counts as a change.
        self.seen.insert(path.to_path_buf(), (folder.clone(), Stamp::of(&folder)));
        let store = match Store::open_existing(&folder) {
            Ok(Some(store)) => store,
            Ok(None) => return Ok(()),
            Err(why) => return Err(format!("stored findings are not shown: {why}")),
        };
        let found =
            store.findings_for_file(path).map_err(|why| format!("stored findings are not shown: {why}"))?;
        self.found.insert(path.to_path_buf(), found.into_iter().filter(|s| s.command != OWN).collect());
        Ok(())
    }

    pub fn close(&mut self, path: &Path) {
        self.found.remove(path);
        self.seen.remove(path);
    }

    /// The buffers whose store has changed since it was read.
    pub fn changed(&self) -> Vec<PathBuf> {
        let changed = self.seen.iter().filter(|(_, (folder, stamp))| Stamp::of(folder) != *stamp);
        changed.map(|(path, _)| path.clone()).collect()
    }

    /// The findings of all buffers at their current lines, with the command that found each.
    pub fn findings(&self, places: &mut FilePlaces<'_>) -> Vec<(Finding, String)> {
        let mut out: Vec<(Finding, String)> = Vec::new();
        for stored in self.found.values().flatten() {
            let source = format!("raddle {}", stored.command);
            let is_known = out.iter().any(|(f, s)| f.id == stored.finding.id && *s == source);
            if !is_known && let Some(finding) = at_present(stored, places) {
                out.push((finding, source));
            }
        }
        out
    }
}

/// The finding with its current lines. None if an end is gone or ignored.
fn at_present(stored: &Stored, places: &mut FilePlaces<'_>) -> Option<Finding> {
    let mut now: HashMap<(PathBuf, u32), Option<u32>> = HashMap::new();
    for place in &stored.places {
        let line = match (places.lines(&place.file), &place.text) {
            (Some(lines), Some(text)) => nearest(lines, place.line, text),
            (Some(lines), None) => Some(place.line).filter(|line| *line <= lines.count()),
            (None, _) => Some(place.line),
        };
        let ignored = line.is_some_and(|line| is_ignored(places, &place.file, line));
        if place.is_end && (line.is_none() || ignored) {
            return None;
        }
        now.insert((place.file.clone(), place.line), line);
    }
    let mut finding = stored.finding.clone();
    for_each_frame(&mut finding, &mut |frame| {
        let (Some(file), Some(line)) = (&frame.file, frame.line) else { return };
        // Absolute, as the store spells it.
        let file = real(&stored.folder.join(file));
        // A step whose line is gone loses its line. The finding has other steps.
        frame.line = now.get(&(file.clone(), line)).copied().unwrap_or(Some(line));
        frame.file = Some(file.to_string_lossy().into_owned());
    });
    Some(finding)
}

fn is_ignored(places: &mut FilePlaces<'_>, file: &Path, line: u32) -> bool {
    let text = places.lines(file).and_then(|lines| lines.line(line));
    text.is_some_and(|text| !ignored_lines(text).is_empty())
}

/// The line with this `text` that is nearest to where it was.
fn nearest(lines: &Lines, line: u32, text: &str) -> Option<u32> {
    let says = |line: u32| lines.line(line).is_some_and(|l| l.trim_ascii() == text.as_bytes());
    (0..FAR).flat_map(|by| [line.checked_sub(by), line.checked_add(by)]).flatten().find(|line| says(*line))
}

fn for_each_frame(finding: &mut Finding, f: &mut dyn FnMut(&mut Frame)) {
    finding.accesses.iter_mut().flat_map(|access| &mut access.stack).for_each(&mut *f);
    finding.threads.iter_mut().flat_map(|thread| &mut thread.stack).for_each(&mut *f);
    let taken = finding.locks.iter_mut().flat_map(|lock| &mut lock.taken);
    taken.flat_map(|taken| &mut taken.stack).for_each(&mut *f);
    match &mut finding.location {
        Some(Location::Heap { stack, .. }) => stack.iter_mut().for_each(f),
        Some(Location::Global { file, line, .. }) => {
            let mut frame = Frame { file: file.clone(), line: *line, ..Frame::default() };
            f(&mut frame);
            (*file, *line) = (frame.file, frame.line);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::Documents;
    use crate::project::DiskFiles;
    use raddle_finding::{Access, AccessOp, Confidence, Kind};
    use raddle_store::StoredPlace;
    use std::time::UNIX_EPOCH;

    /// A race with both ends in a file, at lines 2 and 4, as a run found it in `was`.
    fn race(file: &Path, was: &str) -> Stored {
        let place = |line: u32, is_end| StoredPlace {
            file: file.into(),
            line,
            text: was.lines().nth(line as usize - 1).map(|l| l.trim().into()),
            is_end,
        };
        let access = |line| Access {
            op: AccessOp::Write,
            size: 4,
            thread: "T1".into(),
            locks: vec![],
            lock: None,
            stack: vec![
                Frame { file: Some("a.c".into()), line: Some(line), ..Frame::default() },
                Frame { file: Some("a.c".into()), line: Some(5), ..Frame::default() },
            ],
        };
        let mut finding = Finding::new(Kind::DataRace, Confidence::Confirmed, "a race");
        finding.accesses = vec![access(2), access(4)];
        let places = vec![place(2, true), place(4, true), place(5, false)];
        let folder = file.parent().unwrap().into();
        Stored { command: "run".into(), at: UNIX_EPOCH, folder, finding, places }
    }

    const WAS: &str = "int n;\n  n = 1;\n}\n  n = 2;\nmain\n";

    /// The lines of the two ends and of their caller, in the current text.
    fn lines_in(now: &str) -> Option<Vec<Option<u32>>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("a.c");
        std::fs::write(&path, now).unwrap();
        let (mut documents, files) = (Documents::default(), DiskFiles::default());
        let finding = at_present(&race(&path, WAS), &mut FilePlaces::new(&mut documents, &files))?;
        assert_eq!(finding.accesses[0].stack[0].file.as_deref(), path.to_str());
        let stacks = finding.accesses.iter().flat_map(|a| &a.stack);
        Some(stacks.map(|frame| frame.line).collect())
    }

    #[test]
    fn lines_are_where_they_have_moved_to() {
        assert_eq!(lines_in(WAS).unwrap(), [Some(2), Some(5), Some(4), Some(5)]);
        assert_eq!(lines_in(&format!("// new\n{WAS}")).unwrap(), [Some(3), Some(6), Some(5), Some(6)]);
        assert_eq!(lines_in(&WAS.replace("int n;\n", "")).unwrap(), [Some(1), Some(4), Some(3), Some(4)]);
        let indented = WAS.replace("  n = 1", "\tn = 1");
        assert_eq!(lines_in(&indented).unwrap()[0], Some(2), "space around it does not count");
        assert_eq!(
            lines_in(&WAS.replace("main", "other")).unwrap(),
            [Some(2), None, Some(4), None],
            "a step is gone"
        );
    }

    #[test]
    fn a_finding_whose_end_is_gone_or_ignored_is_not_shown() {
        assert_eq!(lines_in(&WAS.replace("n = 2", "n = 3")), None);
        assert_eq!(lines_in(""), None);
        assert_eq!(lines_in(&WAS.replace("n = 2;", "n = 2; // raddle: ignore old")), None);
    }
}
