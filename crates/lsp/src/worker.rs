//! The thread that checks.
//!
//! It keeps one [`Session`], and so the lowered code of every file it has seen. After an edit it
//! lowers only that file again, or the files that include it. It answers a job twice: first within
//! a small budget, then thoroughly. Both answers are about the same program, unless the program is
//! large or not lowered yet; then the quick answer is about the file alone. A cancelled job gives
//! no further answer.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::{Receiver, Sender, unbounded};
use raddle_check::{Budget, CheckOptions, CheckOutcome, Session, Source};

use crate::documents::BufferText;
use crate::project::{Folders, Overlay, ProgramFile, Projects, is_header};
use crate::settings::EditorSettings;

/// The quick check covers a whole program of up to this many bytes …
const SMALL: usize = 1 << 20;
/// … if no more than this many bytes of the other files still have to be lowered.
const LITTLE: usize = 128 << 10;

/// One file to check, in a state of all buffers.
pub struct CheckJob {
    pub generation: u64,
    pub focus: PathBuf,
    pub overlay: Overlay,
    pub settings: Arc<EditorSettings>,
    pub cancel: Arc<AtomicBool>,
    /// New files have appeared, so an include that was not found may exist now.
    pub fresh: bool,
}

#[derive(Debug)]
pub enum WorkerEvent {
    Checked {
        generation: u64,
        focus: PathBuf,
        outcome: Box<CheckOutcome>,
    },
    /// The job has ended, completely or not.
    Ended {
        generation: u64,
        problem: Option<String>,
    },
}

/// A running thread. Dropping this ends the thread. Cancelling the job ends what the thread is
/// doing.
pub struct CheckWorker {
    pub jobs: Sender<CheckJob>,
    pub events: Receiver<WorkerEvent>,
}

impl CheckWorker {
    pub fn start() -> std::io::Result<CheckWorker> {
        let (jobs, todo) = unbounded::<CheckJob>();
        let (done, events) = unbounded();
        // The parser recurses. Nesting is bounded, but it still needs more than a small stack.
        let thread = std::thread::Builder::new().name("checker".into()).stack_size(64 << 20);
        thread.spawn(move || {
            let mut checker = Checker::new(done);
            todo.into_iter().for_each(|job| checker.run(&job));
        })?;
        Ok(CheckWorker { jobs, events })
    }
}

struct Checker {
    session: Session,
    projects: Projects,
    /// The buffers of the last job, to see which of them have changed.
    overlay: Overlay,
    /// The headers that each lowered file includes.
    headers: HashMap<Arc<str>, HashSet<Arc<str>>>,
    events: Sender<WorkerEvent>,
}

impl Checker {
    fn new(events: Sender<WorkerEvent>) -> Checker {
        Checker {
            session: Session::new(CheckOptions::default()),
            projects: Projects::new(),
            overlay: Overlay::default(),
            headers: HashMap::new(),
            events,
        }
    }

    fn run(&mut self, job: &CheckJob) {
        let problem = catch_unwind(AssertUnwindSafe(|| self.check(job))).err().map(|panic| {
            // A panic may have left the state inconsistent.
            *self = Checker::new(self.events.clone());
            let why = panic.downcast_ref::<String>().map(String::as_str);
            let why = why.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("for no stated reason");
            format!("raddle's checker failed on {}: {why}", job.focus.display())
        });
        let _ = self.events.send(WorkerEvent::Ended { generation: job.generation, problem });
    }

    fn check(&mut self, job: &CheckJob) {
        if job.fresh {
            *self = Checker::new(self.events.clone());
        }
        self.notice_changes(job);
        self.session.options.largest_file = job.settings.largest_file;
        if let Some(BufferText::TooLarge(size)) = job.overlay.get(&job.focus) {
            return self.answer(job, too_large(&job.focus, *size, &job.settings));
        }
        let program = self.projects.program(&job.focus, &job.overlay, &job.settings);
        if program.is_empty() {
            return self.answer(job, CheckOutcome::default());
        }
        let alone = self.is_hurried(&program);
        let first = if alone { &program[..1] } else { &program[..] };
        let Some(quick) = self.stage(job, first, job.settings.quick()) else { return };
        let more = alone || quick.checked.iter().any(|c| c.threads > 1 || c.note.is_some());
        self.answer(job, quick);
        let budget = job.settings.full();
        if more
            && budget.steps > 0
            && let Some(full) = self.stage(job, &program, budget)
        {
            self.answer(job, full);
        }
    }

    /// Marks the includers of changed files as stale: files that changed on disk, and buffers that
    /// changed, opened or closed.
    fn notice_changes(&mut self, job: &CheckJob) {
        let same = |a: Option<&BufferText>, b: Option<&BufferText>| match (a, b) {
            (Some(BufferText::Here(a)), Some(BufferText::Here(b))) => Arc::ptr_eq(a, b) || a == b,
            (Some(BufferText::TooLarge(_)), Some(BufferText::TooLarge(_))) | (None, None) => true,
            _ => false,
        };
        let buffers = self.overlay.keys().chain(job.overlay.keys());
        let changed = buffers.filter(|path| !same(self.overlay.get(*path), job.overlay.get(*path)));
        let changed: HashSet<PathBuf> = changed.cloned().chain(self.projects.files.changed()).collect();
        for path in &changed {
            self.session.forget(&path.to_string_lossy());
        }
        self.overlay = job.overlay.clone();
    }

    /// Whether a check of the whole program would take too long for the quick answer.
    fn is_hurried(&self, program: &[ProgramFile]) -> bool {
        let size = |members: &mut dyn Iterator<Item = &ProgramFile>| {
            members.map(|m| m.source.text.len()).sum::<usize>()
        };
        let mut stale = program[1..].iter().filter(|member| self.session.is_stale(&member.source));
        size(&mut program.iter()) > SMALL || size(&mut stale) > LITTLE
    }

    /// Lowers what has changed and checks it. Returns None if cancelled.
    fn stage(&mut self, job: &CheckJob, members: &[ProgramFile], budget: Budget) -> Option<CheckOutcome> {
        if !self.lower(job, members) {
            return None;
        }
        let mut members = members.to_vec();
        self.drop_included(&job.focus, &mut members);
        let sources: Vec<Source> = members.iter().map(|member| member.source.clone()).collect();
        self.session.options.budget = budget;
        self.session.options.focus = Some(job.focus.to_string_lossy().as_ref().into());
        let outcome = self.session.check(&sources, Some(&job.cancel));
        (!job.is_cancelled()).then_some(outcome)
    }

    /// Lowers what has changed, each file with its own include folders. Returns false if cancelled.
    fn lower(&mut self, job: &CheckJob, members: &[ProgramFile]) -> bool {
        for member in members {
            if job.is_cancelled() {
                return false;
            }
            if !self.session.is_stale(&member.source) {
                continue;
            }
            let folders = Folders {
                folders: member.folders.clone(),
                overlay: job.overlay.clone(),
                files: self.projects.files.clone(),
            };
            let options = CheckOptions { includes: Arc::new(folders), ..self.session.options.clone() };
            let lowered = member.source.lower(&options);
            let included = lowered.unit.files.iter().map(|file| file.path.clone()).collect();
            self.headers.insert(member.source.path.clone(), included);
            self.session.adopt(&member.source, lowered);
        }
        !job.is_cancelled()
    }

    /// Removes headers that other files include: they are part of those files.
    fn drop_included(&self, focus: &Path, members: &mut Vec<ProgramFile>) {
        let Some(own) = members.first().map(|member| member.source.path.clone()) else { return };
        let includes =
            |member: &ProgramFile| self.headers.get(&member.source.path).is_some_and(|h| h.contains(&own));
        if is_header(focus) && members[1..].iter().any(includes) {
            members.remove(0);
        }
    }

    fn answer(&self, job: &CheckJob, outcome: CheckOutcome) {
        if !job.is_cancelled() {
            let outcome = Box::new(outcome);
            let checked =
                WorkerEvent::Checked { generation: job.generation, focus: job.focus.clone(), outcome };
            let _ = self.events.send(checked);
        }
    }
}

impl CheckJob {
    fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

fn too_large(focus: &Path, size: usize, settings: &EditorSettings) -> CheckOutcome {
    let why = format!("is {} MB; files above {} MB are left out", size >> 20, settings.largest_file >> 20);
    CheckOutcome { left_out: vec![(focus.to_string_lossy().as_ref().into(), why)], ..CheckOutcome::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::time::Duration;

    const RACE: &str = "#include <pthread.h>\nint n;\nvoid *f(void *a) { n++; return 0; }\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); n++; pthread_join(t, 0); }\n";

    struct Bench {
        worker: CheckWorker,
        overlay: BTreeMap<PathBuf, BufferText>,
        generation: u64,
        folder: tempfile::TempDir,
    }

    impl Bench {
        fn new() -> Bench {
            let worker = CheckWorker::start().unwrap();
            Bench { worker, overlay: BTreeMap::new(), generation: 0, folder: tempfile::tempdir().unwrap() }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().canonicalize().unwrap().join(name)
        }

        fn buffer(&mut self, name: &str, text: &str) {
            self.overlay.insert(self.path(name), BufferText::Here(text.as_bytes().into()));
        }

        fn job(&mut self, name: &str) -> CheckJob {
            self.generation += 1;
            CheckJob {
                generation: self.generation,
                focus: self.path(name),
                overlay: Arc::new(self.overlay.clone()),
                settings: Arc::default(),
                cancel: Arc::default(),
                fresh: false,
            }
        }

        /// All answers to a job, which must end without an error.
        fn run(&self, job: CheckJob) -> Vec<CheckOutcome> {
            let generation = job.generation;
            self.worker.jobs.send(job).unwrap();
            let mut out = Vec::new();
            loop {
                match self.worker.events.recv_timeout(Duration::from_secs(120)).unwrap() {
                    WorkerEvent::Checked { outcome, .. } => out.push(*outcome),
                    WorkerEvent::Ended { generation: of, problem } => {
                        assert_eq!((of, problem), (generation, None));
                        return out;
                    }
                }
            }
        }

        fn check(&mut self, name: &str) -> Vec<CheckOutcome> {
            let job = self.job(name);
            self.run(job)
        }
    }

    #[test]
    fn a_quick_answer_and_a_thorough_one() {
        let mut bench = Bench::new();
        bench.buffer("a.c", RACE);
        let answers = bench.check("a.c");
        assert_eq!(answers.iter().map(|o| o.findings.len()).collect::<Vec<_>>(), [1, 1]);
        bench.buffer("a.c", "int main(void) { return 0; }\n");
        assert_eq!(bench.check("a.c").len(), 1, "without threads there is no more to be said");
    }

    #[test]
    fn only_what_changed_is_lowered_again() {
        let mut bench = Bench::new();
        bench.buffer("a.c", &RACE.replace("int n;", "#include \"n.h\""));
        std::fs::write(bench.path("n.h"), "extern int n;\n").unwrap();
        std::fs::write(bench.path("b.c"), "int n;\n").unwrap();
        let stale = |bench: &mut Bench| {
            // A checker that has already done a job, like the worker's: a job leaves nothing stale
            // behind.
            let (done, events) = unbounded();
            let mut checker = Checker::new(done);
            let job = bench.job("a.c");
            checker.check(&job);
            (checker, events)
        };
        let (mut checker, _events) = stale(&mut bench);
        let job = bench.job("a.c");
        let names = |checker: &mut Checker, job: &CheckJob| {
            checker.notice_changes(job);
            let program = checker.projects.program(&job.focus, &job.overlay, &job.settings);
            let stale = program.iter().filter(|m| checker.session.is_stale(&m.source));
            stale.map(|m| m.source.path.rsplit('/').next().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert!(names(&mut checker, &job).is_empty());
        std::fs::write(bench.path("b.c"), "int n = 1;\n").unwrap();
        assert_eq!(names(&mut checker, &job), ["b.c"]);
        checker.check(&job);
        std::fs::write(bench.path("n.h"), "extern int n; \n").unwrap();
        assert_eq!(names(&mut checker, &job), ["a.c"], "its header changed");
        checker.check(&job);
        bench.buffer("n.h", "extern int n;  \n");
        let job = bench.job("a.c");
        assert_eq!(names(&mut checker, &job), ["a.c"], "its header is open, with another text");
    }

    #[test]
    fn a_cancelled_job_says_nothing_more() {
        let mut bench = Bench::new();
        bench.buffer("a.c", RACE);
        let job = bench.job("a.c");
        job.cancel.store(true, Ordering::Relaxed);
        assert!(bench.run(job).is_empty());
    }

    #[test]
    fn files_are_checked_as_one_program() {
        let mut bench = Bench::new();
        std::fs::write(bench.path("n.c"), "int n;\n").unwrap();
        std::fs::write(bench.path("other.c"), "int main(void) { return 1; }\n").unwrap();
        bench.buffer("a.c", &RACE.replace("int n;", "extern int n;"));
        let answers = bench.check("a.c");
        assert_eq!(answers.last().unwrap().findings.len(), 1);
        assert!(answers.last().unwrap().checked.iter().all(|c| !c.path.ends_with("other.c")));
    }

    #[test]
    fn a_header_is_checked_with_who_includes_it() {
        let mut bench = Bench::new();
        std::fs::write(
            bench.path("a.c"),
            RACE.replace("n++; return 0;", "bump(); return 0;").replace("int n;", "#include \"n.h\""),
        )
        .unwrap();
        bench.buffer("n.h", "static int n;\nstatic void bump(void) { n++; }\n");
        let answers = bench.check("n.h");
        let race = &answers.last().unwrap().findings;
        assert_eq!(race.len(), 1);
        let files: Vec<_> = race[0].accesses.iter().filter_map(|a| a.stack[0].file.clone()).collect();
        assert!(
            files.iter().any(|f| f.ends_with("n.h")) && files.iter().any(|f| f.ends_with("a.c")),
            "{files:?}"
        );
    }

    #[test]
    fn what_is_left_out_is_said() {
        let mut bench = Bench::new();
        bench.overlay.insert(bench.path("big.c"), BufferText::TooLarge(50 << 20));
        let answers = bench.check("big.c");
        assert_eq!(answers[0].left_out[0].1, "is 50 MB; files above 4 MB are left out");
        bench.buffer("binary.c", "int\0x;");
        assert_eq!(bench.check("binary.c")[0].left_out[0].1, "is a binary file");
        assert!(bench.check("not_there.c")[0].findings.is_empty());
    }
}
