//! The session of one run: the folder through which the runtimes ask for their plans, and who answers.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use anyhow::{Context, Result};
use raddle_tsvd::{Params, TrapPair};
use raddle_wire::config::{Config, Mode};
use raddle_wire::tsvd::{
    self, Object, PARAMS_FILE, Pair, Question, SHARED_FILE, Shared, Site, flag, site_flag,
};

use super::api::Catalogue;
use super::sites::{self, Numbered, Registry, What};
use super::traps::Traps;
use crate::run::session::{make_fifo, open_fifo, wait_readable};

/// What is the same for all runs of a command.
pub struct Common {
    pub catalogue: Catalogue,
    pub registry: Mutex<Registry>,
    pub traps: Mutex<Traps>,
    /// Patterns of system files to look into.
    pub modules: Vec<String>,
    /// Raddle's own files.
    pub own: PathBuf,
    pub force_async: bool,
    /// What delays of a process may take of the time it runs.
    pub share: f64,
}

impl Common {
    /// A site as the runtime wants it, but for the bias. None: it can not be one.
    pub fn point(
        &self,
        registry: &mut Registry,
        path: &Path,
        site: &sites::FileSite,
        operation: usize,
        helper: &mut dyn FnMut(&Option<String>) -> u64,
    ) -> Option<Site> {
        let op = &self.catalogue.operations[operation];
        let class = &self.catalogue.classes[op.class];
        let (via, safe_if) = (helper(&op.via), helper(&class.safe_if));
        // Where the library can not be asked, nothing can be said of its objects.
        if op.via.is_some() && via == 0 || class.safe_if.is_some() && safe_if == 0 {
            return None;
        }
        let id = registry.number(path, site.address, || Numbered {
            path: path.into(),
            address: site.address,
            len: site.len,
            operation,
            tail: site.tail,
            callee: site.callee.clone(),
            name: format!("{}: {}", path.file_name().unwrap_or_default().to_string_lossy(), site.name),
        })?;
        let chosen = [
            (op.write, site_flag::WRITE),
            (site.tail, site_flag::TAIL),
            (site.slot, site_flag::SLOT),
            (class.often_local, site_flag::OFTEN_LOCAL),
            (!class.exempt.is_empty(), site_flag::EXEMPTS),
            (op.is_destructor(), site_flag::ENDS),
        ];
        Some(Site {
            address: site.address,
            bytes: site.bytes,
            len: site.len,
            flags: chosen.iter().filter(|(on, _)| *on).fold(0, |f, (_, bit)| f | bit),
            object: match op.object {
                Object::Argument(n @ 0..=4) if site.by_memory => Object::Argument(n + 1),
                object => object,
            },
            class: op.class as u32,
            id,
            field: op.field,
            via,
            safe_if,
        })
    }
}

pub struct Session {
    dir: tempfile::TempDir,
    stop: Arc<AtomicBool>,
    planner: JoinHandle<Files>,
}

/// Files that were looked at, kept from run to run.
pub type Files = HashMap<sites::Version, sites::File>;

impl Session {
    pub fn open(common: &Arc<Common>, params: &Params, files: Files) -> Result<Session> {
        let dir = tempfile::Builder::new()
            .prefix("raddle-")
            .permissions(std::fs::Permissions::from_mode(0o700))
            .tempdir()
            .context("cannot make a folder for the session: set TMPDIR to a folder that is writable")?;
        crate::run::session::check_limits(dir.path())?;
        write_files(dir.path(), params, common.share, common.force_async, params.run_cap)?;
        make_fifo(&dir.path().join("ask"))?;
        let stop = Arc::new(AtomicBool::new(false));
        let planner = Planner {
            dir: dir.path().into(),
            questions: open_fifo(&dir.path().join("ask"))?,
            common: common.clone(),
            files,
        };
        let stopped = stop.clone();
        let planner =
            std::thread::Builder::new().name("plans".into()).spawn(move || planner.serve(&stopped))?;
        Ok(Session { dir, stop, planner })
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The target is over: what is left are its logs, and the files that were looked at.
    pub fn close(self) -> (tempfile::TempDir, Files) {
        self.stop.store(true, Ordering::Release);
        // Whoever sleeps on the FIFO wakes by a byte too few for a question.
        let _ = OpenOptions::new()
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(self.dir.path().join("ask"))
            .map(|mut fifo| std::io::Write::write(&mut fifo, &[0]));
        let files = self.planner.join().unwrap_or_default();
        (self.dir, files)
    }
}

/// What every process of a session reads first. `budget`: nanoseconds of delay for all of them.
pub fn write_files(dir: &Path, params: &Params, share: f64, force_async: bool, budget: u64) -> Result<()> {
    let chosen =
        [(force_async, flag::FORCE_ASYNC), (params.policy == raddle_tsvd::Policy::TsvdHb, flag::SYNC_EVENTS)];
    let flags = chosen.iter().filter(|(on, _)| *on).fold(0, |f, (_, bit)| f | bit);
    // A few delays are always possible, however short a test is.
    const AT_LEAST: u64 = 10;
    let slack = u32::try_from(params.delay.saturating_mul(AT_LEAST) / 1_000_000).unwrap_or(u32::MAX);
    // Whole pages, since the runtime maps them.
    let page = |bytes: &[u8]| {
        let mut page = bytes.to_vec();
        page.resize(4096, 0);
        page
    };
    let write = |name: &str, bytes: &[u8]| {
        let path = dir.join(name);
        std::fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))
    };
    write("config", &page(Config::new(Mode::Tsvd, 0, 0).as_bytes()))?;
    write(SHARED_FILE, &page(Shared::new(flags, budget, (share * 1e6) as u32, slack).as_bytes()))?;
    write(PARAMS_FILE, params_bytes(params))
}

fn params_bytes(params: &Params) -> &[u8] {
    const { assert!(size_of::<Params>() == 6 * 8 + 10 * 4, "no padding, and nothing forgotten") };
    // SAFETY: repr(C) of numbers without padding, as just checked, so all its bytes are initialised.
    unsafe { std::slice::from_raw_parts((&raw const *params).cast(), size_of::<Params>()) }
}

/// Answers each process that asks with the sites of what it has mapped.
struct Planner {
    dir: PathBuf,
    questions: File,
    common: Arc<Common>,
    files: Files,
}

impl Planner {
    fn serve(mut self, stop: &AtomicBool) -> Files {
        while !stop.load(Ordering::Acquire) {
            let mut bytes = [0; Question::LEN];
            match self.questions.read_exact(&mut bytes) {
                Ok(()) => self.answer(Question::decode(bytes)),
                Err(_) => wait_readable(&self.questions),
            }
        }
        self.files
    }

    fn answer(&mut self, question: Question) {
        let plan = self.plan(question.pid);
        let name = format!("plan.{}.{}", question.pid, question.number);
        let (new, path) = (self.dir.join(format!("{name}.new")), self.dir.join(name));
        // By a rename, so that the runtime sees all of it or nothing.
        if std::fs::write(&new, plan).is_ok() {
            let _ = std::fs::rename(new, path);
        }
    }

    fn plan(&mut self, pid: u32) -> Vec<u8> {
        let mapped = mapped_files(pid);
        let versions: Vec<(sites::Version, u64, u64)> = mapped
            .iter()
            .filter(|m| self.is_looked_at(&m.path))
            .filter_map(|m| Some((version(&m.path)?, m.start, m.offset)))
            .collect();
        for (version, ..) in &versions {
            if !self.files.contains_key(version) {
                let file = sites::look(&version.0, &self.common.catalogue);
                self.files.insert(version.clone(), file);
            }
        }
        let helpers = Helpers::new(&mapped);
        let mut found: HashMap<String, u64> = HashMap::new();
        let mut helper = |name: &Option<String>| match name {
            Some(name) => *found.entry(name.clone()).or_insert_with(|| helpers.function(name)),
            None => 0,
        };
        let mut plan = Vec::new();
        let mut registry = self.common.registry.lock().expect("nobody panics with the registry");
        for (version, start, offset) in &versions {
            let file = &self.files[version];
            let Some(bias) = file.module.as_ref().and_then(|m| m.load_bias(*start, *offset)) else {
                continue;
            };
            registry.files.insert(version.0.clone(), (file.sites.len(), file.has_symbols));
            for site in &file.sites {
                let site = match site.what {
                    What::Point(operation) => {
                        self.common.point(&mut registry, &version.0, site, operation, &mut helper)
                    }
                    What::Async if self.common.force_async => Some(async_site(site)),
                    What::Async => None,
                };
                plan.extend(site.map(|s| Site { address: s.address.wrapping_add(bias), ..s }));
            }
        }
        let pairs = self.common.traps.lock().expect("nobody panics with the traps").pairs(&registry);
        let exempt = self.common.catalogue.classes.iter().flat_map(|c| &c.exempt);
        let exempt: Vec<u64> = exempt.filter_map(|name| helpers.variable(name)).collect();
        tsvd::encode(&plan, &pairs.iter().map(pair).collect::<Vec<_>>(), &exempt)
    }

    /// Programs and libraries of the system are left alone unless they are asked for, and so is raddle.
    fn is_looked_at(&self, path: &Path) -> bool {
        if path.starts_with(&self.common.own) {
            return false;
        }
        let text = path.to_string_lossy();
        !is_system(&text) || self.common.modules.iter().any(|p| raddle_binary::matches_glob(p, &text))
    }
}

pub fn is_system(path: &str) -> bool {
    const SYSTEM: [&str; 6] = ["/usr/", "/lib/", "/lib32/", "/lib64/", "/bin/", "/sbin/"];
    SYSTEM.iter().any(|prefix| path.starts_with(prefix)) && !path.starts_with("/usr/local/")
}

pub fn async_site(site: &sites::FileSite) -> Site {
    let slot = if site.slot { site_flag::SLOT } else { 0 };
    Site {
        address: site.address,
        bytes: site.bytes,
        len: site.len,
        flags: site_flag::ASYNC | slot,
        object: Object::Argument(1),
        class: 0,
        id: 0,
        field: None,
        via: 0,
        safe_if: 0,
    }
}

fn pair(pair: &TrapPair) -> Pair {
    let TrapPair { site_a: a, site_b: b, probability, state, gap } = *pair;
    Pair { a, b, probability, state: state as u32, gap }
}

/// The first mapping of a file in a process.
struct MappedFile {
    path: PathBuf,
    start: u64,
    offset: u64,
}

/// The files that a process has mapped to run, each by its first mapping.
fn mapped_files(pid: u32) -> Vec<MappedFile> {
    let maps = std::fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    let maps = String::from_utf8_lossy(&maps);
    let mut files: Vec<(MappedFile, bool)> = Vec::new();
    for line in maps.lines() {
        let Some(at) = line.find('/') else { continue };
        let mut fields = line.split(' ');
        let (Some(range), Some(perms), Some(offset)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let hex = |text: &str| u64::from_str_radix(text, 16).ok();
        let (Some(start), Some(offset)) = (range.split('-').next().and_then(hex), hex(offset)) else {
            continue;
        };
        let (path, runs) = (PathBuf::from(&line[at..]), perms.contains('x'));
        match files.iter_mut().find(|(f, _)| f.path == path) {
            Some((_, any)) => *any |= runs,
            None => files.push((MappedFile { path, start, offset }, runs)),
        }
    }
    files.into_iter().filter(|(_, runs)| *runs).map(|(file, _)| file).collect()
}

fn version(path: &Path) -> Option<sites::Version> {
    let meta = std::fs::metadata(path).ok()?;
    Some((path.to_path_buf(), meta.ino(), meta.mtime_nsec() + meta.mtime() * 1_000_000_000))
}

/// Functions that are asked about objects, and variables that are exempt, by their addresses in a process.
struct Helpers {
    modules: Vec<(raddle_binary::Module, u64)>,
}

impl Helpers {
    fn new(mapped: &[MappedFile]) -> Helpers {
        let open = |file: &MappedFile| {
            let module = raddle_binary::Module::open(&file.path).ok()?;
            let bias = module.load_bias(file.start, file.offset)?;
            Some((module, bias))
        };
        Helpers { modules: mapped.iter().filter_map(open).collect() }
    }

    /// 0: nothing has it.
    fn function(&self, name: &str) -> u64 {
        let address = |(module, bias): &(raddle_binary::Module, u64)| {
            Some(module.function_address(name)?.wrapping_add(*bias))
        };
        self.modules.iter().find_map(address).unwrap_or(0)
    }

    /// The executable, which comes first, may have a copy of its own.
    fn variable(&self, name: &str) -> Option<u64> {
        let address = |(module, bias): &(raddle_binary::Module, u64)| {
            Some(module.variable_address(name)?.wrapping_add(*bias))
        };
        self.modules.iter().find_map(address)
    }
}
