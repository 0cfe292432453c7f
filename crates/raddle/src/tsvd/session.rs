//! The session of one run: the folder through which the runtimes ask for their plans.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use anyhow::{Context, Result};
use raddle_tsvd::Params;
use raddle_wire::CONFIG;
use raddle_wire::config::{Config, ConfigMode};
use raddle_wire::tsvd::{
    ObjectOperand, PARAMS_FILE, RedirectSite, SHARED_FILE, SharedMapping, flag, site_flag,
};

use super::api::Catalogue;
use super::planner::{AnalysedFiles, Planner};
use super::sites::{self, Numbered, Registry};
use super::traps::Traps;
use raddle_harness::questions::Questions;
use raddle_harness::session_folder::SessionFolder;

/// What is the same in all runs of a command.
pub struct Common {
    pub catalogue: Catalogue,
    pub registry: Mutex<Registry>,
    pub traps: Mutex<Traps>,
    /// Patterns of system files to analyse.
    pub modules: Vec<String>,
    /// Raddle's own files.
    pub own: PathBuf,
    pub force_async: bool,
    /// .NET: an `await` of a completed task continues at once.
    pub synchronous_await: bool,
    /// The share of a process's time that delays may take.
    pub share: f64,
}

impl Common {
    /// A site for the runtime, without the load bias. `None`: the call cannot be a point.
    pub fn point(
        &self,
        registry: &mut Registry,
        path: &Path,
        site: &sites::FileSite,
        operation: usize,
        helper: &mut dyn FnMut(&Option<String>) -> u64,
    ) -> Option<RedirectSite> {
        let shape = self.shape(operation, site.by_memory, helper)?;
        let id = registry.number(path, site.address, || Numbered {
            path: path.into(),
            address: site.address,
            len: site.len,
            operation,
            tail: site.tail,
            callee: site.callee.clone(),
            name: format!("{}: {}", path.file_name().unwrap_or_default().to_string_lossy(), site.name),
        })?;
        let tail = if site.tail { site_flag::TAIL } else { 0 };
        let slot = if site.slot { site_flag::SLOT } else { 0 };
        let flags = shape.flags | tail | slot;
        Some(RedirectSite { address: site.address, bytes: site.bytes, len: site.len, flags, id, ..shape })
    }

    /// What all calls of a function have in common. `None`: they cannot be points.
    pub fn shape(
        &self,
        operation: usize,
        by_memory: bool,
        helper: &mut dyn FnMut(&Option<String>) -> u64,
    ) -> Option<RedirectSite> {
        let op = &self.catalogue.operations[operation];
        let class = &self.catalogue.classes[op.class];
        let (via, safe_if) = (helper(&op.via), helper(&class.safe_if));
        // If the library cannot be asked, nothing is known about its objects.
        if op.via.is_some() && via == 0 || class.safe_if.is_some() && safe_if == 0 {
            return None;
        }
        let chosen = [
            (op.write, site_flag::WRITE),
            (class.often_local, site_flag::OFTEN_LOCAL),
            (!class.exempt.is_empty(), site_flag::EXEMPTS),
            (op.is_destructor(), site_flag::ENDS),
        ];
        Some(RedirectSite {
            flags: chosen.iter().filter(|(on, _)| *on).fold(0, |f, (_, bit)| f | bit),
            object: match op.object {
                ObjectOperand::Argument(n @ 0..=4) if by_memory => ObjectOperand::Argument(n + 1),
                object => object,
            },
            class: op.class as u32,
            field: op.field,
            via,
            safe_if,
            ..sites::blank_site()
        })
    }
}

pub struct TsvdSession {
    dir: SessionFolder,
    stop: Arc<AtomicBool>,
    planner: JoinHandle<AnalysedFiles>,
}

impl TsvdSession {
    pub fn open(common: &Arc<Common>, params: &Params, files: AnalysedFiles) -> Result<TsvdSession> {
        let dir = SessionFolder::new()?;
        raddle_harness::detection::session::check_limits(dir.path())?;
        let flags =
            [(common.force_async, flag::FORCE_ASYNC), (common.synchronous_await, flag::SYNCHRONOUS_AWAIT)];
        write_files(dir.path(), params, common.share, &flags, params.run_cap)?;
        let stop = Arc::new(AtomicBool::new(false));
        let planner = Planner { questions: Questions::listen(dir.path())?, common: common.clone(), files };
        let stopped = stop.clone();
        let planner = raddle_harness::threads::spawn("plans", move || planner.serve(&stopped))?;
        Ok(TsvdSession { dir, stop, planner })
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Ends the session after the target. Returns the folder with its logs, and the analysed files.
    pub fn close(self) -> (SessionFolder, AnalysedFiles) {
        self.stop.store(true, Ordering::Release);
        Questions::wake(self.dir.path());
        let files = self.planner.join().unwrap_or_default();
        (self.dir, files)
    }
}

/// Writes what every process of a session reads first. `budget`: nanoseconds of delay for all of
/// them.
pub fn write_files(
    dir: &Path,
    params: &Params,
    share: f64,
    flags: &[(bool, u32)],
    budget: u64,
) -> Result<()> {
    let order = (params.policy == raddle_tsvd::Policy::TsvdHb, flag::SYNC_EVENTS);
    let flags = flags.iter().chain([&order]).filter(|(on, _)| *on).fold(0, |f, (_, bit)| f | bit);
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
    write(CONFIG, &page(Config::new(ConfigMode::Tsvd, 0, 0).as_bytes()))?;
    write(SHARED_FILE, &page(SharedMapping::new(flags, budget, (share * 1e6) as u32, slack).as_bytes()))?;
    write(PARAMS_FILE, params_bytes(params))
}

fn params_bytes(params: &Params) -> &[u8] {
    const { assert!(size_of::<Params>() == 6 * 8 + 10 * 4, "no padding, and nothing forgotten") };
    // SAFETY: repr(C) of numbers without padding, as just checked, so all bytes are initialised.
    unsafe { std::slice::from_raw_parts((&raw const *params).cast(), size_of::<Params>()) }
}

/// A call that is not a point but matters: [`site_flag::ASYNC`] or [`site_flag::LOOKUP`].
pub fn special_site(site: &sites::FileSite, kind: u8) -> RedirectSite {
    let slot = if site.slot { site_flag::SLOT } else { 0 };
    RedirectSite {
        address: site.address,
        bytes: site.bytes,
        len: site.len,
        flags: kind | slot,
        object: ObjectOperand::Argument(1),
        ..sites::blank_site()
    }
}
