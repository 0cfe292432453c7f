//! Call sites, and names and lines for people.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{LazyLock, Mutex};

use crate::com::IID_METADATA_IMPORT2;
use crate::metadata::Import;
use crate::pdb::Pdb;
use crate::profiling::{ClassId, ModuleId, RawFrame, Token};
use crate::record::{Place, Record};
use crate::rewrite::{lock, written_offset};
use crate::session::session;

/// A call site.
#[derive(Clone)]
pub struct Site {
    pub module: ModuleId,
    pub method: Token,
    /// In the code as it was written.
    pub offset: u32,
    pub callee: String,
    pub write: bool,
}

static SITES: Mutex<Vec<Site>> = Mutex::new(Vec::new());

/// Gives a site its number, and tells of it.
pub fn add(site: Site) -> u32 {
    let place = place(site.module, site.method, Some(site.offset));
    let (callee, write) = (site.callee.clone(), site.write);
    let mut sites = lock(&SITES);
    sites.push(site);
    let number = sites.len() as u32 - 1;
    session().write(&Record::Site { number, callee, write, place });
    number
}

pub fn note_unseen(what: &str, why: &str) {
    session().write(&Record::Unseen { what: what.into(), why: why.into() });
}

fn import(module: ModuleId) -> Option<Import> {
    static ALL: LazyLock<Mutex<HashMap<ModuleId, Option<Import>>>> = LazyLock::new(Mutex::default);
    let new = || session().info.metadata(module, false, &IID_METADATA_IMPORT2).map(Import);
    *lock(&ALL).entry(module).or_insert_with(new)
}

/// `Class.Method`. A compiler puts a lambda into a class of its own, and an asynchronous method into one that has its name
/// in brackets: what the user wrote is told.
pub fn method_name(import: Import, method: Token) -> String {
    let name = || {
        let member = import.method(method)?;
        Some(as_written(&import.type_def(member.parent)?, &member.name))
    };
    name().unwrap_or_else(|| format!("{method:#x}"))
}

/// `App/<Run>d__3.MoveNext` is `App.Run`, `App/<>c.<Main>b__0_1` is a lambda in `App.Main`.
fn as_written(class: &str, method: &str) -> String {
    let in_brackets = |name: &str| {
        let inside = name.strip_prefix('<')?.split_once('>')?.0;
        (!inside.is_empty()).then(|| inside.to_owned())
    };
    let is_made = |part: &&str| part.starts_with('<');
    let outer = class.split('/').take_while(|part| !is_made(part)).collect::<Vec<_>>().join(".");
    let state_machine = class.rsplit('/').next().and_then(in_brackets);
    match (state_machine, in_brackets(method)) {
        (Some(name), _) => format!("{outer}.{name}"),
        (None, Some(name)) if method.contains(">b__") => format!("{outer}.{name} (lambda)"),
        (None, Some(name)) => format!("{outer}.{name} (local function)"),
        (None, None) => format!("{outer}.{method}"),
    }
}

/// File and line of an instruction, from the PDB beside the module.
fn line(module: &str, method: Token, offset: u32) -> Option<(String, u32)> {
    static PDBS: LazyLock<Mutex<HashMap<String, Option<Pdb>>>> = LazyLock::new(Mutex::default);
    let mut pdbs = lock(&PDBS);
    let read = || Pdb::parse(&std::fs::read(Path::new(module).with_extension("pdb")).ok()?);
    let pdb = pdbs.entry(module.into()).or_insert_with(read);
    pdb.as_ref()?.line(method, offset).map(|(file, line)| (file.to_owned(), line))
}

fn place(module: ModuleId, method: Token, offset: Option<u32>) -> Place {
    let path = session().info.module_path(module).unwrap_or_default();
    let found = offset.and_then(|offset| line(&path, method, offset)).unzip();
    let name = import(module).map_or_else(String::new, |import| method_name(import, method));
    Place { method: name, module: path, file: found.0, line: found.1 }
}

/// The places of a stack, whose innermost is the call of a site.
pub fn places(site: u32, stack: &[RawFrame]) -> Vec<Place> {
    let of_site = lock(&SITES).get(site as usize).cloned();
    let Some(of_site) = of_site else { return Vec::new() };
    let mut all = vec![place(of_site.module, of_site.method, Some(of_site.offset))];
    let mut is_inside = true;
    for (function, at) in stack.iter().filter(|(function, _)| *function != 0) {
        let Some((module, method)) = session().info.function(*function) else { continue };
        if is_inside {
            // The probe's own frames, and then that of the call, which is there already.
            is_inside = (module, method) != (of_site.module, of_site.method) && is_probe(module, method);
            continue;
        }
        let offset = il_offset(*function, *at).map(|now| written_offset(module, method, now));
        all.push(place(module, method, offset));
    }
    all
}

fn is_probe(module: ModuleId, method: Token) -> bool {
    import(module).is_some_and(|import| method_name(import, method).starts_with("Raddle.Probe."))
}

/// The offset in the code as it is that a return address belongs to.
fn il_offset(function: usize, at: usize) -> Option<u32> {
    /// Above are marks for code that belongs to no instruction.
    const LAST: u32 = 0xFFFF_FFF0;
    let (start, len) = session().info.code(function)?;
    let at = at.checked_sub(start + 1).filter(|at| *at < len)? as u32;
    let map = session().info.il_to_native(function);
    map.iter().rfind(|[il, from, to]| *il < LAST && (*from..*to).contains(&at)).map(|range| range[0])
}

/// The listed class that a class is or is derived from.
pub fn listed_class(mut class: ClassId) -> Option<String> {
    while class != 0 {
        let (module, token, base) = session().info.class(class)?;
        let name = import(module)?.type_def(token)?;
        if crate::rewrite::catalogue().contract(&name).is_some() {
            return Some(name);
        }
        class = base;
    }
    None
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
        ] {
            assert_eq!(as_written(class, method), expected);
        }
    }
}
