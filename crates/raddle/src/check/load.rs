//! Reads, preprocesses and lowers files, on several threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use raddle_check::c::commands::CompileCommand;
use raddle_check::c::{self, Lowered, NoIncludes, PreprocessorLimits};
use raddle_check::{CheckOptions, Session, Source};

use raddle_lsp::csharp_project::{self, Projects};

use super::args::Args;
use super::database::Databases;
use super::deadline::Deadline;
use super::includes::{Headers, IncludeSearch, read_bounded};
use super::left_out::LeftOut;
use super::preprocess::CompilerPreprocessor;

/// The most bytes of source in all files together.
const MOST_BYTES: u64 = 512 << 20;

/// How files were read.
#[derive(Debug, Default, Clone, Copy)]
pub struct FilesRead {
    /// The number read through a compiler's preprocessor.
    pub preprocessed: u64,
}

pub struct Loaded {
    pub session: Session,
    pub sources: Vec<Source>,
    pub read: FilesRead,
}

/// A file to read, and its build command.
struct Job<'a> {
    path: &'a Path,
    real: PathBuf,
    command: Option<Arc<CompileCommand>>,
}

struct Done {
    source: Source,
    lowered: Option<Lowered>,
    preprocessed: bool,
}

pub fn load(
    files: &[PathBuf],
    args: &Args,
    mut databases: Databases,
    preprocessor: Option<&CompilerPreprocessor>,
    deadline: &Deadline,
    left_out: &mut LeftOut,
) -> Loaded {
    let mut jobs = Vec::with_capacity(files.len());
    for path in files {
        let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        let command = databases.entry(&real, left_out);
        jobs.push(Job { path, real, command });
    }
    let options = CheckOptions {
        budget: args.budget(),
        guards: args.all,
        largest_file: usize::try_from(args.largest_file).unwrap_or(usize::MAX),
        ..CheckOptions::default()
    };
    let worker = Worker {
        jobs: &jobs,
        preprocessor,
        deadline: Some(deadline),
        largest: args.largest_file,
        named: &args.paths,
        root: common_root(&jobs, &args.paths),
        headers: Headers::below(&args.paths),
        ..Worker::default()
    };
    let parts = raddle_harness::threads::in_parallel(args.jobs().min(jobs.len()), || worker.work());
    let mut done: Vec<(usize, Result<Done, String>)> = parts.into_iter().flatten().collect();
    done.sort_by_key(|d| d.0);
    for (path, why) in worker.projects.left_out() {
        left_out.note(&path.display().to_string(), &why);
    }
    collect(&jobs, done, options, left_out)
}

/// The folder that contains all files and all folders of the command line.
fn common_root(jobs: &[Job<'_>], named: &[PathBuf]) -> PathBuf {
    let named = named.iter().filter(|p| p.is_dir()).filter_map(|p| std::fs::canonicalize(p).ok());
    let mut folders = jobs.iter().filter_map(|j| j.real.parent()).map(Path::to_path_buf).chain(named);
    let Some(first) = folders.next() else { return PathBuf::from("/") };
    let common = |root: PathBuf, folder: PathBuf| {
        let both = root.components().zip(folder.components()).take_while(|(a, b)| a == b);
        both.map(|(a, _)| a).collect()
    };
    folders.fold(first, common)
}

fn collect(
    jobs: &[Job<'_>],
    done: Vec<(usize, Result<Done, String>)>,
    options: CheckOptions,
    left_out: &mut LeftOut,
) -> Loaded {
    let mut out = Loaded { session: Session::new(options), sources: Vec::new(), read: FilesRead::default() };
    let mut raw = 0;
    for (i, done) in done {
        match done {
            Ok(done) => {
                out.read.preprocessed += u64::from(done.preprocessed);
                raw += u64::from(jobs[i].command.is_some() && !done.preprocessed && done.lowered.is_some());
                if let Some(lowered) = done.lowered {
                    out.session.adopt(&done.source, lowered);
                }
                out.sources.push(done.source);
            }
            Err(why) => left_out.file(jobs[i].path, &why),
        }
    }
    if raw > 0 && out.read.preprocessed > 0 {
        left_out.note(
            "compile_commands.json",
            &format!(
                "{} could not be preprocessed, so what was read is the source itself",
                raddle_harness::say::count(raw, "file", "files")
            ),
        );
    } else if raw > 0 {
        left_out.note("compile_commands.json", "no file could be preprocessed; all were read as they are");
    }
    out
}

#[derive(Default)]
struct Worker<'a> {
    jobs: &'a [Job<'a>],
    preprocessor: Option<&'a CompilerPreprocessor>,
    deadline: Option<&'a Deadline>,
    largest: u64,
    /// The paths of the command line.
    named: &'a [PathBuf],
    /// Projects above this folder are not considered.
    root: PathBuf,
    headers: Headers,
    projects: Projects,
    next: AtomicUsize,
    bytes: AtomicU64,
}

impl Worker<'_> {
    fn work(&self) -> Vec<(usize, Result<Done, String>)> {
        let mut out = Vec::new();
        loop {
            let i = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = self.jobs.get(i) else { return out };
            let failed = || "makes raddle itself fail: please report it".to_string();
            out.push((i, catch_unwind(AssertUnwindSafe(|| self.one(job))).unwrap_or_else(|_| Err(failed()))));
        }
    }

    fn one(&self, job: &Job<'_>) -> Result<Done, String> {
        if self.deadline.is_some_and(Deadline::is_past) {
            return Err("was not read: the time limit (--seconds) had passed".into());
        }
        if let Some(why) = self.not_compiled(job) {
            return Err(why);
        }
        let text = read_bounded(job.path, self.largest)?;
        if self.bytes.fetch_add(text.len() as u64, Ordering::Relaxed) > MOST_BYTES {
            return Err(format!("is beyond the first {} MB of source", MOST_BYTES >> 20));
        }
        let command = job.command.as_deref();
        if raddle_check::csharp::is_csharp(&job.path.to_string_lossy()) {
            return Ok(self.csharp(job, text));
        }
        let source = Source::new(&job.path.to_string_lossy(), text)
            .with_macros(command.map(|c| c.macros.clone()).unwrap_or_default())
            // Without a target name, everything that is built belongs together.
            .with_group(command.map(|c| c.target().unwrap_or_default()));
        if !raddle_check::session::is_text(&source.text) {
            return Ok(Done { source, lowered: None, preprocessed: false });
        }
        let preprocessed = command.zip(self.preprocessor).and_then(|(c, p)| p.run(&job.real, job.path, c));
        let lowered = match &preprocessed {
            Some(text) => c::lower_file(&source.path, text, &NoIncludes, PreprocessorLimits::default()),
            None => {
                let search = IncludeSearch::new(&self.headers, job.path, command);
                c::lower_file_with(
                    &source.path,
                    &source.text,
                    &source.macros,
                    &search,
                    PreprocessorLimits::default(),
                )
            }
        };
        Ok(Done { source, lowered: Some(lowered), preprocessed: preprocessed.is_some() })
    }

    /// Why a C# file does not belong to its project. A file that the user named is checked anyway.
    fn not_compiled(&self, job: &Job<'_>) -> Option<String> {
        let is_csharp = raddle_check::csharp::is_csharp(&job.path.to_string_lossy());
        let is_asked = is_csharp && !self.named.iter().any(|p| p == job.path);
        is_asked.then(|| self.projects.not_compiled(&job.real, &self.root)).flatten()
    }

    /// The meaning of a C# file depends on all others, so the session lowers them together.
    fn csharp(&self, job: &Job<'_>, text: Vec<u8>) -> Done {
        let project = csharp_project::project_of(&job.real, &self.root);
        let symbols = project.as_deref().map(|p| self.projects.read(p).symbols.clone()).unwrap_or_default();
        let macros = symbols.into_iter().map(|s| (s, Some(String::new()))).collect();
        let group = project.map(|p| p.to_string_lossy().into_owned());
        let source = Source::new(&job.path.to_string_lossy(), text).with_macros(macros);
        Done { source: source.with_group(group.as_deref()), lowered: None, preprocessed: false }
    }
}
