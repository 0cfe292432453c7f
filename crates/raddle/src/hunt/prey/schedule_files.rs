//! The `.raddle` files of one hunt. A search writes one for each failure that it sees again, and
//! several of these may have one cause. What the report does not name is removed at the end.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use raddle_finding::Finding;
use raddle_hunt::{Ledger, Verdict};

#[derive(Debug, Default)]
pub struct ScheduleFiles {
    folder: PathBuf,
    /// Files that were there before. They are somebody else's, even if this hunt wrote them anew.
    before: BTreeSet<OsString>,
    /// Files that came with findings.
    written: BTreeSet<String>,
}

impl ScheduleFiles {
    pub fn begin(folder: &Path) -> ScheduleFiles {
        let names = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
        ScheduleFiles { folder: folder.to_owned(), before: names.collect(), written: BTreeSet::new() }
    }

    /// Notes the files of these findings.
    pub fn note(&mut self, findings: &[Finding]) {
        self.written.extend(findings.iter().filter_map(|f| f.schedule.clone()));
    }

    /// Removes the files of this hunt that belong neither to a confirmed finding nor to an open
    /// suspicion.
    pub fn remove_unused(&self, ledger: &Ledger) {
        let open = ledger.targets().iter().filter(|t| matches!(t.verdict, Verdict::Open { .. }));
        let named = ledger.confirmed().iter().map(|c| &c.finding).chain(open.map(|t| &t.finding));
        let named: BTreeSet<&String> = named.filter_map(|f| f.schedule.as_ref()).collect();
        for path in self.written.iter().filter(|path| !named.contains(path)).map(Path::new) {
            let is_in_folder = path.parent().is_some_and(|p| {
                p == self.folder || p.as_os_str().is_empty() && self.folder == Path::new(".")
            });
            let is_new = path.file_name().is_some_and(|name| !self.before.contains(name));
            if is_in_folder && is_new {
                // A file that stays does no harm.
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_finding::{Confidence, Kind};
    use raddle_hunt::Detector;

    #[test]
    fn only_files_that_nothing_names_go() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, "").unwrap();
            path.display().to_string()
        };
        let of = |kind: Kind, message: &str, name: &str| Finding {
            schedule: Some(write(name)),
            ..Finding::new(kind, Confidence::Confirmed, message)
        };
        write("old.raddle");
        let mut files = ScheduleFiles::begin(folder.path());
        let findings = [
            of(Kind::ExitStatus, "it ends with 1", "one.raddle"),
            of(Kind::ExitStatus, "it ends with 1", "two.raddle"),
            of(Kind::ExitStatus, "it ends with 1", "old.raddle"),
            of(Kind::Crash, "it crashes", "open.raddle"),
        ];
        files.note(&findings);
        let mut ledger = Ledger::default();
        let [one, two, old, open] = findings;
        for finding in [one, two, old] {
            ledger.confirm(Detector::Explore, finding);
        }
        ledger.suspect(Detector::Explore, open);
        assert_eq!(ledger.confirmed().len(), 1);
        files.remove_unused(&ledger);
        let mut left: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().flatten().map(|e| e.file_name()).collect();
        left.sort();
        assert_eq!(left, ["old.raddle", "one.raddle", "open.raddle"]);
    }
}
