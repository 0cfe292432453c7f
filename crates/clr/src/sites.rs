//! Call sites, and names and lines for people.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{LazyLock, Mutex};

use raddle_tsvd::{Host, TrapPair, Violation};

use crate::classes::ClassKind;
use crate::com::IID_METADATA_IMPORT2;
use crate::embedded_pdb::{build, embedded};
use crate::lists::Contract;
use crate::metadata::Import;
use crate::pdb::Pdb;
use crate::profiling::{ClassId, MetadataToken, ModuleId, RawFrame};
use crate::record::{ClrRecord, UserFrame};
use crate::rewrite::{lock, written_offset};
use crate::session::session;
use crate::signature::is_reference;

/// A call site.
#[derive(Clone)]
pub struct ClrSite {
    pub module: ModuleId,
    pub method: MetadataToken,
    /// In the method's own code, without the points that raddle adds.
    pub offset: u32,
    pub callee: String,
    /// The class whose contract the call follows.
    pub class: String,
    pub write: bool,
    /// Counts the method's points at calls of the same callee, from one.
    pub ordinal: u32,
}

static SITES: Mutex<Vec<ClrSite>> = Mutex::new(Vec::new());
/// The numbers of sites that earlier runs know of, by name.
static NUMBERS: LazyLock<Mutex<HashMap<String, u32>>> = LazyLock::new(Mutex::default);

/// Gives a site its number and writes it to the record.
pub fn add(site: ClrSite) -> u32 {
    let place = place(site.module, site.method, Some(site.offset));
    let name = name(&site, &place.module);
    let (callee, write) = (site.callee.clone(), site.write);
    let mut sites = lock(&SITES);
    sites.push(site);
    let number = sites.len() as u32 - 1;
    session().write(&ClrRecord::Site { number, name: name.clone(), callee, write, place });
    drop(sites);
    seed(name, number);
    number
}

/// `App.dll: App/<Run>d__3.MoveNext~1a2b calls System.Collections.Generic.List`1.Add #1`; the part
/// after the tilde distinguishes overloads.
fn name(site: &ClrSite, module: &str) -> String {
    let file = module.rsplit('/').next().unwrap_or(module);
    let method = import(site.module).and_then(|import| {
        let member = import.method(site.method)?;
        let overload =
            member.signature.iter().fold(0_u16, |sum, byte| sum.wrapping_mul(31) + u16::from(*byte));
        Some(format!("{}.{}~{overload:04x}", import.type_def(member.parent)?, member.name))
    });
    format!("{file}: {} calls {} #{}", method.unwrap_or_default(), site.callee, site.ordinal)
}

/// Passes on to the core what earlier runs learned about pairs, once both sites have numbers.
fn seed(name: String, number: u32) {
    let pairs = || session().pairs.iter().filter(|pair| pair.sites.contains(&name));
    if pairs().next().is_none() {
        return;
    }
    let mut numbers = lock(&NUMBERS);
    numbers.insert(name.clone(), number);
    for pair in pairs() {
        let [Some(&a), Some(&b)] = pair.sites.each_ref().map(|name| numbers.get(name)) else { continue };
        let (site_a, site_b) = (a.min(b), a.max(b));
        let (probability, gap, state) = (pair.probability, pair.gap, pair.state.into());
        session().core.seed(&TrapPair { site_a, site_b, probability, state, gap }, &mut Waits);
    }
}

/// For calls of the core that cannot report a violation.
struct Waits;

impl Host for Waits {
    fn violation(&mut self, _: &Violation) {}

    fn relax(&mut self) {
        std::thread::yield_now();
    }
}

pub fn note_unseen(what: &str, why: &str) {
    session().write(&ClrRecord::Unseen { what: what.into(), why: why.into() });
}

static IMPORTS: LazyLock<Mutex<HashMap<ModuleId, Option<Import>>>> = LazyLock::new(Mutex::default);

fn import(module: ModuleId) -> Option<Import> {
    let new = || session().info.metadata(module, false, &IID_METADATA_IMPORT2).map(Import);
    *lock(&IMPORTS).entry(module).or_insert_with(new)
}

/// `Class.Method`, as the user wrote it: a compiler puts a lambda into a class of its own, and an
/// asynchronous method into one that has its name in brackets.
pub fn method_name(import: Import, method: MetadataToken) -> String {
    let name = || {
        let member = import.method(method)?;
        Some(as_written(&import.type_def(member.parent)?, &member.name))
    };
    name().unwrap_or_else(|| format!("{method:#x}"))
}

/// `App/<Run>d__3.MoveNext` is `App.Run`, `App/<>c.<Main>b__0_1` and
/// `App/<>c/<<Main>b__0_1>d.MoveNext` are lambdas in `App.Main`.
fn as_written(class: &str, method: &str) -> String {
    let in_brackets = |name: &str| {
        let inside = name.strip_prefix('<')?.split_once('>')?.0;
        (!inside.is_empty()).then(|| inside.to_owned())
    };
    let is_made = |part: &&str| part.starts_with('<');
    let outer = class.split('/').take_while(|part| !is_made(part)).collect::<Vec<_>>().join(".");
    let innermost = class.rsplit('/').next().unwrap_or_default();
    // `<<Main>b__0>d`: an asynchronous lambda.
    if let Some((method, _)) = innermost.strip_prefix('<').and_then(|name| name.rsplit_once(">d"))
        && method.starts_with('<')
    {
        return as_written(&outer, method);
    }
    let state_machine = in_brackets(innermost);
    match (state_machine, in_brackets(method)) {
        (Some(name), _) => format!("{outer}.{name}"),
        (None, Some(name)) if method.contains(">b__") => format!("{outer}.{name} (lambda)"),
        (None, Some(name)) => format!("{outer}.{name} (local function)"),
        (None, None) => format!("{outer}.{method}"),
    }
}

/// File and line of an instruction, from the PDB beside the module or in it.
fn line(module: &str, method: MetadataToken, offset: u32) -> Option<(String, u32)> {
    static PDBS: LazyLock<Mutex<HashMap<String, Option<Pdb>>>> = LazyLock::new(Mutex::default);
    let mut pdbs = lock(&PDBS);
    let read = || {
        let assembly = std::fs::read(module).ok()?;
        let beside = || Pdb::parse(&std::fs::read(Path::new(module).with_extension("pdb")).ok()?);
        let of_this_build = |pdb: &Pdb| build(&assembly).is_some_and(|build| pdb.is_of(build));
        beside().filter(of_this_build).or_else(|| Pdb::parse(&embedded(&assembly)?))
    };
    let pdb = pdbs.entry(module.into()).or_insert_with(read);
    pdb.as_ref()?.line(method, offset).map(|(file, line)| (file.to_owned(), line))
}

fn place(module: ModuleId, method: MetadataToken, offset: Option<u32>) -> UserFrame {
    let path = session().info.module_path(module).unwrap_or_default();
    let found = offset.and_then(|offset| line(&path, method, offset)).unzip();
    let name = import(module).map_or_else(String::new, |import| method_name(import, method));
    UserFrame { method: name, module: path, file: found.0, line: found.1 }
}

/// The places of a stack whose innermost frame is the call of a site.
pub fn places(site: u32, stack: &[RawFrame]) -> Vec<UserFrame> {
    let of_site = lock(&SITES).get(site as usize).cloned();
    let Some(of_site) = of_site else { return Vec::new() };
    let mut all = vec![place(of_site.module, of_site.method, Some(of_site.offset))];
    let mut is_inside = true;
    for (function, at) in stack.iter().filter(|(function, _)| *function != 0) {
        let Some((module, method)) = session().info.function(*function) else { continue };
        // The probe's own frames: above the call, and where it calls the delegate of a task.
        if is_probe(module, method) {
            continue;
        }
        if is_inside {
            // The place of the call is in the list already.
            is_inside = false;
            if (module, method) == (of_site.module, of_site.method) {
                continue;
            }
        }
        let offset = il_offset(*function, *at).map(|(at, map)| written_offset(module, method, at, &map));
        all.push(place(module, method, offset));
    }
    all
}

fn is_probe(module: ModuleId, method: MetadataToken) -> bool {
    import(module).is_some_and(|import| method_name(import, method).starts_with("Raddle.Probe."))
}

/// The offset in the method's code that a return address belongs to, and all offsets that the
/// runtime knows of this method.
fn il_offset(function: usize, at: usize) -> Option<(u32, Vec<u32>)> {
    /// Larger numbers mark code that belongs to no instruction.
    const LAST: u32 = 0xFFFF_FFF0;
    let (start, len) = session().info.code(function)?;
    let at = at.checked_sub(start + 1).filter(|at| *at < len)? as u32;
    let map = session().info.il_to_native(function);
    let known: Vec<&[u32; 3]> = map.iter().filter(|[il, ..]| *il < LAST).collect();
    let range = known.iter().rfind(|[_, from, to]| (*from..*to).contains(&at))?;
    Some((range[0], known.iter().map(|range| range[0]).collect()))
}

/// Name and contract of an object's class. Without a contract of its own, the class has that of a
/// base class, or else of the function that the site calls.
pub fn contract(mut class: ClassId, site: u32) -> (String, Option<Contract>) {
    let catalogue = &session().catalogue;
    while class != 0 {
        let Some((name, base)) = class_name(class) else { break };
        if let Some(contract) = catalogue.contract(&name) {
            return (name, Some(contract.clone()));
        }
        class = base;
    }
    let callee = lock(&SITES).get(site as usize).map(|site| site.class.clone()).unwrap_or_default();
    let contract = catalogue.function_contract(&callee).or_else(|| catalogue.contract(&callee)).cloned();
    (callee, contract)
}

/// The name of a class, and its base.
fn class_name(class: ClassId) -> Option<(String, ClassId)> {
    let (module, token, base) = session().info.class(class)?;
    Some((import(module)?.type_def(token)?, base))
}

/// What a class is by itself, whatever its base classes are: listed, a wrapper of another object,
/// or neither.
pub fn kind_of(class: ClassId) -> ClassKind {
    let Some((name, _)) = class_name(class) else { return ClassKind::Other };
    let catalogue = &session().catalogue;
    if catalogue.contract(&name).is_some() {
        return ClassKind::Listed;
    }
    let offset = catalogue.wrapper(&name).and_then(|wrapper| reference_at(class, &wrapper.field));
    offset.map_or(ClassKind::Other, ClassKind::Wrapper)
}

/// The offset of a field in objects of a class, if the field is a reference.
fn reference_at(class: ClassId, field: &str) -> Option<u32> {
    let (module, ..) = session().info.class(class)?;
    let import = import(module)?;
    let fields = session().info.fields(class);
    fields.into_iter().find_map(|(token, at)| {
        let (name, kind) = import.field(token)?;
        (name == field && is_reference(kind) && at >= size_of::<usize>() as u32).then_some(at)
    })
}

/// Drops what is cached about a module that was unloaded.
pub fn forget(module: ModuleId) {
    lock(&IMPORTS).remove(&module);
    crate::classes::forget_all();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_the_user_wrote() {
        for (class, method, expected) in [
            ("App", "Main", "App.Main"),
            ("App/Inner", "Run", "App.Inner.Run"),
            ("App/<Run>d__3", "MoveNext", "App.Run"),
            ("App/<>c", "<Main>b__0_1", "App.Main (lambda)"),
            ("App/<>c__DisplayClass1_0", "<Main>b__0", "App.Main (lambda)"),
            ("App", "<Main>g__Add|0_0", "App.Main (local function)"),
            ("App/<>c__DisplayClass1_0/<<Main>b__0>d", "MoveNext", "App.Main (lambda)"),
            ("App/Inner/<<Main>g__Add|0_0>d", "MoveNext", "App.Inner.Main (local function)"),
        ] {
            assert_eq!(as_written(class, method), expected);
        }
    }
}
