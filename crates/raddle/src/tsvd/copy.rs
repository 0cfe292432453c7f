//! `raddle instrument` makes a copy of a program that watches itself; `raddle tsvd --collect`
//! reports what its runs caught.
//!
//! ```text
//! COPY           the program, changed to load a library from the folder beside it first
//! COPY.raddle/
//!   libraddle_tsvd.so, config, tsvd,   what a session would give it (`raddle_wire::tsvd`)
//!   params, plan, names
//!   libraries, plan.N, names.N         the same for libraries: its own, and those with
//!                                      functions that it has pointers to
//!   places, places.N                   calls that may be through pointers
//!   about.json                         how it was made
//!   PID.N.log, PID.N.state, callers    what its runs leave
//! ```
//!
//! The code of the copy is the program's, byte for byte. It is redirected in memory at run time, as
//! under `raddle tsvd`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use raddle_binary::Module;
use raddle_finding::Stat;
use raddle_wire::tsvd::{
    Contents, FIXED_CALLERS, FIXED_LIBRARIES, FIXED_NAMES, FIXED_OWN, FIXED_PLACES, FIXED_PLAN, Hook,
    LIBRARIES, PlannedLibrary, RedirectSite, STATE_SUFFIX, site_flag,
};
use serde::{Deserialize, Serialize};

use super::Runs;
use super::api::Catalogue;
use super::args::{DelayOptions, InstrumentArgs, Parameters};
use super::experiment::{Experiment, PaperVariant};
use super::libraries::{self, CopiedLibrary};
use super::pointers::{self, OperationsByName};
use super::session::{self, Common};
use super::site_cache;
use super::sites::{AnalysedFile, CallRole, FileAnalysis, Registry};
use super::traps::Traps;
use super::{Outputs, messages};
use crate::report::{Settler, TextTo};
use raddle_harness::say::{count, say};

const SCHEMA: &str = "raddle.instrumented/1";
const ABOUT: &str = "about.json";

/// How a copy was made.
#[derive(Debug, Serialize, Deserialize)]
struct About {
    schema: String,
    /// The runtime that wrote it: the folder's layout belongs to one build of raddle.
    runtime: String,
    policy: String,
    force_async: bool,
    /// The project's own lists at that time.
    lists: Vec<(PathBuf, String)>,
    /// Copies of earlier builds have none.
    #[serde(default)]
    libraries: Vec<CopiedLibrary>,
    /// Functions that are hooked at their entries, by raw name, with the operation of each.
    #[serde(default)]
    hooks: Vec<(String, usize)>,
}

fn folder(copy: &Path) -> PathBuf {
    let mut name = copy.as_os_str().to_owned();
    name.push(".raddle");
    name.into()
}

/// Writes the copy and its folder.
pub fn instrument(args: &InstrumentArgs) -> Result<ExitCode> {
    let runtime = raddle_harness::install::Runtime::open()?;
    let experiment = Experiment::from_environment()?;
    let policy = experiment.policy;
    let parameters = Parameters { experiment, ..args.parameters.clone() };
    let shown = args.program.display();
    let program = std::fs::read(&args.program).with_context(|| format!("cannot read {shown}"))?;
    ensure!(
        !program.starts_with(b"MZ"),
        "{shown} is a .NET assembly, which needs no copy: `raddle tsvd -- dotnet {shown}` watches it as it is"
    );
    let lists = messages::lists(&args.api)?;
    let common = common(&lists, args.parameters.force_async, runtime.folder())?;
    let library = LIBRARIES[usize::from(policy == PaperVariant::TsvdHb)];
    let dir = folder(&args.output);
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let copy = raddle_binary::with_needed(&args.program, &program, &format!("$ORIGIN/{name}{library}"))?;

    let libraries = libraries::of(&args.program, &args.library)?;
    let mut plans = vec![fixed_plan(&args.program, &common, true)];
    plans.extend(libraries.iter().map(|l| fixed_plan(&l.path, &common, false)));
    let mut hooked = libraries::of_system(&args.program);
    add_hooks(&common, &mut plans, &mut hooked);
    let registry = common.registry.lock().expect("nobody panics with the registry");
    let points = registry.sites.len();
    ensure!(
        registry.has_points(&common.catalogue),
        "{shown} calls no function of the lists: for C++ that was optimised build with `raddle c++ --tsvd`"
    );
    if dir.exists() {
        ensure!(dir.join(ABOUT).is_file(), "{} is there, and raddle has not made it", dir.display());
        std::fs::remove_dir_all(&dir).with_context(|| format!("cannot replace {}", dir.display()))?;
    }
    std::fs::create_dir(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let params = parameters.params(0);
    // A run's budget has no meaning if nobody says when a run ends. The budgets of threads and
    // tests apply.
    let flags = [(args.parameters.force_async, raddle_wire::tsvd::flag::FORCE_ASYNC)];
    session::write_files(&dir, &params, args.parameters.share, &flags, u64::MAX)?;
    let about = About {
        schema: SCHEMA.into(),
        runtime: runtime_name(&runtime),
        policy: raddle_tsvd::Policy::from(policy).name().into(),
        force_async: args.parameters.force_async,
        lists,
        libraries,
        hooks: registry.hooks.iter().map(|hook| (hook.callee.clone(), hook.operation)).collect(),
    };
    let write = |name: &str, bytes: &[u8]| {
        let path = dir.join(name);
        std::fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))
    };
    let records: Vec<_> = about.libraries.iter().chain(&hooked).map(CopiedLibrary::record).collect();
    let records = records.into_iter().map(|r| r.map_or([0; PlannedLibrary::LEN], |r| r.encode()));
    write(FIXED_LIBRARIES, &records.flatten().collect::<Vec<u8>>())?;
    for (plan, number) in plans.iter().zip(0..) {
        // The program's files have no number.
        let named = |name: &str| if number == 0 { name.into() } else { format!("{name}.{number}") };
        write(&named(FIXED_PLAN), &plan.encode())?;
        write(&named(FIXED_NAMES), &plan.encode_names())?;
        if !registry.hooks.is_empty() && !plan.watched.is_empty() {
            write(&named(FIXED_PLACES), &pointers::places(&plan.file, &common.catalogue))?;
        }
    }
    if let Some(callers) = pointers::callers(&registry).filter(|_| !registry.hooks.is_empty()) {
        write(FIXED_CALLERS, &callers)?;
    }
    write(ABOUT, serde_json::to_string_pretty(&about)?.as_bytes())?;
    let from = runtime.tsvd_library(policy == PaperVariant::TsvdHb);
    write(&library[1..], &std::fs::read(&from).with_context(|| format!("cannot read {}", from.display()))?)?;
    std::fs::write(&args.output, copy).with_context(|| format!("cannot write {}", args.output.display()))?;
    std::fs::set_permissions(&args.output, std::fs::metadata(&args.program)?.permissions())?;
    let with: Vec<String> = about.libraries.iter().map(|l| l.path.display().to_string()).collect();
    let with =
        if with.is_empty() { String::new() } else { format!(" and its libraries: {}", with.join(", ")) };
    say!("{} in {}{with}", count(points as u64, "point", "points"), args.output.display());
    messages::say_unwatched(&registry);
    Ok(ExitCode::from(crate::exit::CLEAN))
}

fn runtime_name(runtime: &raddle_harness::install::Runtime) -> String {
    runtime.folder().file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn common(lists: &[(PathBuf, String)], force_async: bool, own: &Path) -> Result<Arc<Common>> {
    Ok(Arc::new(Common {
        catalogue: Catalogue::load(lists)?,
        registry: Mutex::default(),
        traps: Mutex::new(Traps::default()),
        modules: Vec::new(),
        own: own.into(),
        force_async,
        synchronous_await: false,
        share: 1.0,
    }))
}

/// A plan that is valid wherever the program is loaded.
struct Fixed {
    sites: Vec<RedirectSite>,
    hooks: Vec<Hook>,
    /// The code whose calls count.
    watched: Vec<std::ops::Range<u64>>,
    names: Vec<String>,
    exempt: Vec<u64>,
    path: PathBuf,
    file: AnalysedFile,
}

impl Fixed {
    fn encode(&self) -> Vec<u8> {
        let Fixed { sites, hooks, watched, exempt, .. } = self;
        Contents { sites, exempt, hooks, watched, pairs: &[] }.encode()
    }

    fn encode_names(&self) -> Vec<u8> {
        self.names.iter().flat_map(|n| n.bytes().chain([0])).collect()
    }
}

/// The sites of a file by its own addresses; functions and variables by name. `exempts`: this is
/// the program, whose exempt objects apply to all files.
fn fixed_plan(program: &Path, common: &Common, exempts: bool) -> Fixed {
    let file = site_cache::look(program, &common.catalogue);
    let mut named = Named { module: file.module(), names: Vec::new() };
    let mut registry: std::sync::MutexGuard<'_, Registry> =
        common.registry.lock().expect("nobody panics with the registry");
    let mut helper = |name: &Option<String>| name.as_deref().map_or(0, |name| named.function(name));
    let mut plan = Vec::new();
    for site in &file.found.sites {
        plan.extend(match site.what {
            CallRole::Point(operation) => common.point(&mut registry, program, site, operation, &mut helper),
            CallRole::Async => common.force_async.then(|| session::special_site(site, site_flag::ASYNC)),
            CallRole::Lookup => None,
        });
    }
    let exempt = common.catalogue.classes.iter().filter(|_| exempts).flat_map(|c| &c.exempt);
    let exempt = exempt.map(|name| named.variable(name)).collect();
    let watched = file.module().map(Module::executable_ranges).unwrap_or_default();
    let names = named.names;
    Fixed { sites: plan, hooks: Vec::new(), watched, names, exempt, path: program.into(), file }
}

/// Hooks the functions whose addresses the program and its libraries take. `system` keeps only the
/// system libraries that define some of them, and their plans are added.
fn add_hooks(common: &Common, plans: &mut Vec<Fixed>, system: &mut Vec<CopiedLibrary>) {
    let taken: OperationsByName = plans.iter().flat_map(|plan| plan.file.found.taken.clone()).collect();
    if taken.is_empty() {
        return system.clear();
    }
    let mut registry = common.registry.lock().expect("nobody panics with the registry");
    let mut hooks = |path: &Path, file: &AnalysedFile, counts: bool, names: &mut Vec<String>| {
        let Some(module) = file.module() else { return Vec::new() };
        let mut named = Named { module: Some(module), names: std::mem::take(names) };
        let mut helper = |name: &Option<String>| name.as_deref().map_or(0, |name| named.function(name));
        let file = counts.then_some(file);
        let hooks = pointers::hooks(common, &mut registry, (path, module), file, &taken, &mut helper);
        *names = named.names;
        hooks
    };
    for plan in plans.iter_mut() {
        plan.hooks = hooks(&plan.path, &plan.file, true, &mut plan.names);
    }
    system.retain(|library| {
        let file = AnalysedFile::new(&library.path, FileAnalysis::default());
        let mut names = Vec::new();
        let hooks = hooks(&library.path, &file, false, &mut names);
        let any = !hooks.is_empty();
        if any {
            let (sites, watched, exempt) = Default::default();
            plans.push(Fixed { sites, hooks, watched, names, exempt, path: library.path.clone(), file });
        }
        any
    });
}

/// Functions and variables: the program's own by address, those of libraries by number.
struct Named<'a> {
    module: Option<&'a Module>,
    names: Vec<String>,
}

impl Named<'_> {
    fn function(&mut self, name: &str) -> u64 {
        let own = self.module.and_then(|m| m.function_address(name));
        own.map_or_else(|| self.number(name), |address| address | FIXED_OWN)
    }

    fn variable(&mut self, name: &str) -> u64 {
        let own = self.module.and_then(|m| m.variable_address(name));
        own.map_or_else(|| self.number(name), |address| address | FIXED_OWN)
    }

    fn number(&mut self, name: &str) -> u64 {
        let known = self.names.iter().position(|n| n == name);
        known.unwrap_or_else(|| {
            self.names.push(name.to_string());
            self.names.len() - 1
        }) as u64
            + 1
    }
}

/// Reports what runs of a copy caught, and makes room for the next runs.
pub fn collect(copy: &Path, options: &DelayOptions) -> Result<ExitCode> {
    let begun = Instant::now();
    let settler = Settler::new(&options.report, TextTo::Stderr)?;
    let outputs = Outputs::new(options)?;
    let dir = folder(copy);
    let shown = copy.display();
    let about = std::fs::read_to_string(dir.join(ABOUT))
        .with_context(|| format!("{shown} is not a copy that `raddle instrument` made"))?;
    let about: About =
        serde_json::from_str(&about).with_context(|| format!("{}/{ABOUT} is damaged", dir.display()))?;
    let runtime = raddle_harness::install::Runtime::open()?;
    ensure!(
        about.schema == SCHEMA && about.runtime == runtime_name(&runtime),
        "{shown} was made by another build of raddle: make it anew"
    );
    let common = common(&about.lists, about.force_async, runtime.folder())?;
    // The same numbers as when the copy was made.
    let mut files = vec![(copy.to_path_buf(), fixed_plan(copy, &common, true).file)];
    for library in &about.libraries {
        library.check(copy)?;
        files.push((library.path.clone(), fixed_plan(&library.path, &common, false).file));
    }
    let seen = std::fs::read(dir.join(FIXED_CALLERS)).unwrap_or_default();
    let mut registry = common.registry.lock().expect("nobody panics with the registry");
    pointers::number_callers(&seen, &mut registry, &common.catalogue, &about.hooks, &files);
    drop(registry);
    let mut all = Runs::new(&common, super::clr::Clr::default());
    let delays = all.gather(&dir, None)?;
    all.delays.push(delays.to_string());
    outputs.write(&common, &mut all)?;
    for entry in std::fs::read_dir(&dir)?.flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|e| e == "log" || e == STATE_SUFFIX) {
            let _ = std::fs::remove_file(path);
        }
    }
    let policy =
        [PaperVariant::Tsvd, PaperVariant::TsvdHb, PaperVariant::DynamicRandom, PaperVariant::StaticRandom]
            .into_iter()
            .find(|p| raddle_tsvd::Policy::from(*p).name() == about.policy);
    let runs = all.processes as u32;
    let mut report = all.report(vec![shown.to_string()], runs, policy.unwrap_or(PaperVariant::Tsvd));
    report.stats.insert("seconds".into(), Stat::Float(begun.elapsed().as_secs_f64()));
    settler.settle(report, crate::exit::CLEAN)
}
