//! `raddle instrument`: a copy of a program that watches itself, and `raddle tsvd --collect`: what its runs have caught.
//!
//! ```text
//! COPY           the program, made to load a library from the folder beside it first of all
//! COPY.raddle/
//!   libraddle_tsvd.so, config, tsvd, params, plan, names      what a session would give it (`raddle_wire::tsvd`)
//!   libraries, plan.N, names.N                                the same for its own libraries
//!   about.json                                                how it was made
//!   PID.N.log, PID.N.state                                    what its runs leave
//! ```
//!
//! The code of the copy is the program's, byte for byte: it is redirected in memory when it runs, as under `raddle tsvd`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use raddle_binary::Module;
use raddle_finding::Stat;
use raddle_wire::tsvd::{
    Contents, FIXED_LIBRARIES, FIXED_NAMES, FIXED_OWN, FIXED_PLAN, LIBRARIES, Library, STATE_SUFFIX, Site,
    site_flag,
};
use serde::{Deserialize, Serialize};

use super::Runs;
use super::api::Catalogue;
use super::args::{InstrumentArgs, Options, Policy};
use super::libraries::{self, Watched};
use super::looked;
use super::session::{self, Common};
use super::sites::{Registry, What};
use super::traps::Traps;
use super::{Outputs, words};
use crate::report::{Settler, TextTo};

const SCHEMA: &str = "raddle.instrumented/1";
const ABOUT: &str = "about.json";

/// How a copy was made.
#[derive(Debug, Serialize, Deserialize)]
struct About {
    schema: String,
    /// Who wrote it: the layouts of the folder are those of one build of raddle.
    runtime: String,
    policy: String,
    force_async: bool,
    /// The project's own lists, as they were.
    lists: Vec<(PathBuf, String)>,
    /// Copies of earlier builds have none.
    #[serde(default)]
    libraries: Vec<Watched>,
}

fn folder(copy: &Path) -> PathBuf {
    let mut name = copy.as_os_str().to_owned();
    name.push(".raddle");
    name.into()
}

/// Writes the copy and its folder.
pub fn instrument(args: &InstrumentArgs) -> Result<ExitCode> {
    let runtime = crate::install::Runtime::open()?;
    let shown = args.program.display();
    let program = std::fs::read(&args.program).with_context(|| format!("cannot read {shown}"))?;
    let lists = words::lists(&args.api)?;
    let common = common(&lists, args.parameters.force_async, runtime.folder())?;
    let library = LIBRARIES[usize::from(args.parameters.policy == Policy::TsvdHb)];
    let dir = folder(&args.output);
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let copy = raddle_binary::with_needed(&args.program, &program, &format!("$ORIGIN/{name}{library}"))?;

    let libraries = libraries::of(&args.program, &args.library)?;
    let plan = fixed_plan(&args.program, &common, true);
    let plans: Vec<Fixed> = libraries.iter().map(|l| fixed_plan(&l.path, &common, false)).collect();
    let points = common.registry.lock().expect("nobody panics with the registry").sites.len();
    ensure!(
        points > 0,
        "{shown} calls no function of the lists: for C++ that was optimised build with `raddle c++ --tsvd`"
    );
    if dir.exists() {
        ensure!(dir.join(ABOUT).is_file(), "{} is there, and raddle has not made it", dir.display());
        std::fs::remove_dir_all(&dir).with_context(|| format!("cannot replace {}", dir.display()))?;
    }
    std::fs::create_dir(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let params = args.parameters.params(0);
    // The budget of a run has no meaning where nobody says when a run ends; those of threads and tests hold.
    session::write_files(&dir, &params, args.parameters.share, args.parameters.force_async, u64::MAX)?;
    let about = About {
        schema: SCHEMA.into(),
        runtime: runtime_name(&runtime),
        policy: raddle_tsvd::Policy::from(args.parameters.policy).name().into(),
        force_async: args.parameters.force_async,
        lists,
        libraries,
    };
    let write = |name: &str, bytes: &[u8]| {
        let path = dir.join(name);
        std::fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))
    };
    write(FIXED_PLAN, &plan.encode())?;
    write(FIXED_NAMES, &plan.encode_names())?;
    let records: Vec<_> = about.libraries.iter().map(Watched::record).collect();
    let records = records.into_iter().map(|r| r.map_or([0; Library::LEN], |r| r.encode()));
    write(FIXED_LIBRARIES, &records.flatten().collect::<Vec<u8>>())?;
    for (plan, number) in plans.iter().zip(1..) {
        write(&format!("{FIXED_PLAN}.{number}"), &plan.encode())?;
        write(&format!("{FIXED_NAMES}.{number}"), &plan.encode_names())?;
    }
    write(ABOUT, serde_json::to_string_pretty(&about)?.as_bytes())?;
    let from = runtime.tsvd_library(args.parameters.policy == Policy::TsvdHb);
    write(&library[1..], &std::fs::read(&from).with_context(|| format!("cannot read {}", from.display()))?)?;
    std::fs::write(&args.output, copy).with_context(|| format!("cannot write {}", args.output.display()))?;
    std::fs::set_permissions(&args.output, std::fs::metadata(&args.program)?.permissions())?;
    let with: Vec<String> = about.libraries.iter().map(|l| l.path.display().to_string()).collect();
    let with =
        if with.is_empty() { String::new() } else { format!(" and its libraries: {}", with.join(", ")) };
    eprintln!("raddle: {points} points in {}{with}", args.output.display());
    Ok(ExitCode::from(crate::exit::CLEAN))
}

fn runtime_name(runtime: &crate::install::Runtime) -> String {
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
        share: 1.0,
    }))
}

/// A plan that holds wherever the program is loaded.
struct Fixed {
    sites: Vec<Site>,
    names: Vec<String>,
    exempt: Vec<u64>,
}

impl Fixed {
    fn encode(&self) -> Vec<u8> {
        Contents { sites: &self.sites, exempt: &self.exempt, ..Contents::default() }.encode()
    }

    fn encode_names(&self) -> Vec<u8> {
        self.names.iter().flat_map(|n| n.bytes().chain([0])).collect()
    }
}

/// The sites of a file by its own addresses; functions and variables by name. `exempts`: it is the program, whose exempt objects
/// are those of all.
fn fixed_plan(program: &Path, common: &Common, exempts: bool) -> Fixed {
    let file = looked::look(program, &common.catalogue);
    let mut named = Named { module: file.module(), names: Vec::new() };
    let mut registry: std::sync::MutexGuard<'_, Registry> =
        common.registry.lock().expect("nobody panics with the registry");
    let mut helper = |name: &Option<String>| name.as_deref().map_or(0, |name| named.function(name));
    let mut plan = Vec::new();
    for site in &file.found.sites {
        plan.extend(match site.what {
            What::Point(operation) => common.point(&mut registry, program, site, operation, &mut helper),
            What::Async => common.force_async.then(|| session::special_site(site, site_flag::ASYNC)),
            What::Lookup => None,
        });
    }
    let exempt = common.catalogue.classes.iter().filter(|_| exempts).flat_map(|c| &c.exempt);
    let exempt = exempt.map(|name| named.variable(name)).collect();
    Fixed { sites: plan, names: named.names, exempt }
}

/// Functions and variables: the program's own by their addresses, those of libraries by number.
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

/// Reports what runs of a copy have caught, and makes room for the next ones.
pub fn collect(copy: &Path, options: &Options) -> Result<ExitCode> {
    let begun = Instant::now();
    let settler = Settler::new(&options.report, TextTo::Stderr)?;
    let outputs = Outputs::new(options)?;
    let dir = folder(copy);
    let shown = copy.display();
    let about = std::fs::read_to_string(dir.join(ABOUT))
        .with_context(|| format!("{shown} is no copy that `raddle instrument` has made"))?;
    let about: About =
        serde_json::from_str(&about).with_context(|| format!("{}/{ABOUT} is damaged", dir.display()))?;
    let runtime = crate::install::Runtime::open()?;
    ensure!(
        about.schema == SCHEMA && about.runtime == runtime_name(&runtime),
        "{shown} was made by another build of raddle: make it anew"
    );
    let common = common(&about.lists, about.force_async, runtime.folder())?;
    // The same numbers as when it was made.
    fixed_plan(copy, &common, true);
    for library in &about.libraries {
        library.check(copy)?;
        fixed_plan(&library.path, &common, false);
    }
    let mut all = Runs::new(&common);
    all.gather(&dir, None)?;
    outputs.write(&common, &all.covered, &mut all.places)?;
    for entry in std::fs::read_dir(&dir)?.flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|e| e == "log" || e == STATE_SUFFIX) {
            let _ = std::fs::remove_file(path);
        }
    }
    let policy = [Policy::Tsvd, Policy::TsvdHb, Policy::DynamicRandom, Policy::StaticRandom]
        .into_iter()
        .find(|p| raddle_tsvd::Policy::from(*p).name() == about.policy);
    let runs = all.processes as u32;
    let mut report = all.report(vec![shown.to_string()], runs, policy.unwrap_or(Policy::Tsvd));
    report.stats.insert("seconds".into(), Stat::Float(begun.elapsed().as_secs_f64()));
    settler.settle(report, crate::exit::CLEAN)
}
