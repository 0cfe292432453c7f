//! What is kept of an analysis between builds, per function.
//!
//! A function's fingerprint, which does not depend on addresses, is the key to its sites. An entry
//! also has the fingerprints of the callees and callers that the analysis looked at, and is used
//! only if all of them are unchanged. Addresses are stored as instructions of those functions and
//! converted back to where these are now. A result with an address that cannot be expressed in this
//! way is not stored, and is computed anew each time.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};

use raddle_binary::flow::{AnalysisRequest, Expression, Fingerprint, MachineProgram};
use serde::{Deserialize, Serialize};

use crate::analysis::{Condition, CriticalRead, FunctionName, Relation, Site};
use crate::options::Options;

/// Changes whenever the stored data or the results of the analysis change.
const VERSION: u32 = 6;

/// Sites with their reads.
pub(crate) type SitesWithReads = Vec<(Site, Vec<CriticalRead>)>;

/// The results for one program. The caller serialises and stores them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cache {
    version: u32,
    options: Option<Options>,
    entries: HashMap<Fingerprint, Entry>,
    /// How many functions the last analysis took from here.
    pub reused: u32,
    /// How many it had to analyse.
    pub looked_at: u32,
}

/// What is known about one function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Entry {
    /// The functions that were examined; the first is this one.
    functions: Vec<Dependence>,
    /// Functions whose callers were examined, with the calls: by index in `functions` and
    /// instruction.
    callers: Vec<(u32, Vec<(u32, u32)>)>,
    /// Addresses are replaced by their index in `addresses`.
    found: SitesWithReads,
    addresses: Vec<StableAddress>,
}

/// A function that was examined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Dependence {
    fingerprint: Fingerprint,
    /// The call that reaches it from an earlier one in the list; `None` for callers, which must be
    /// unique in the program.
    call: Option<(u32, u32)>,
}

/// An address that does not depend on where code and data are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum StableAddress {
    /// An instruction of a function, or what follows it.
    Code { function: u32, index: u32, after: bool },
    /// This far from what an instruction of a function refers to.
    Data { function: u32, index: u32, distance: u64 },
}

impl Cache {
    /// Prepares for an analysis: forgets the results of other options or versions.
    pub(crate) fn begin(&mut self, options: &Options) {
        if self.version != VERSION || self.options.as_ref() != Some(options) {
            *self = Self { version: VERSION, options: Some(options.clone()), ..Self::default() };
        }
        (self.reused, self.looked_at) = (0, 0);
    }

    /// Whether nothing is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Forgets the functions that the program no longer has, if it is known which it has.
    pub(crate) fn end(&mut self, present: &Present) {
        if let Some(program) = present.entries.get() {
            self.entries.retain(|fingerprint, _| program.contains_key(fingerprint));
        }
    }

    /// What is known about the function at `entry`, at the addresses of this program.
    pub(crate) fn get(
        &mut self,
        program: &MachineProgram,
        present: &Present,
        entry: u64,
    ) -> Option<SitesWithReads> {
        if self.entries.len() > program.outlines().len() {
            // Most are of earlier builds, and would become ever more.
            let functions = present.entries(program);
            self.entries.retain(|fingerprint, _| functions.contains_key(fingerprint));
        }
        let kept = self.entries.get(&program.fingerprint(entry)?)?;
        let restored = kept.restored(program, present, entry)?;
        self.reused += 1;
        Some(restored)
    }

    /// Stores what was found in the function at `entry` by examining `looked`.
    pub(crate) fn put(
        &mut self,
        program: &MachineProgram,
        entry: u64,
        looked: &[AnalysisRequest],
        found: &SitesWithReads,
    ) {
        self.looked_at += 1;
        let kept = Entry::of(program, entry, looked, found);
        if let (Some(fingerprint), Some(kept)) = (program.fingerprint(entry), kept) {
            self.entries.insert(fingerprint, kept);
        }
    }
}

/// Where the functions of a program are, by fingerprint; `None` for those that occur twice. It
/// takes a look at every function of the program, and is made when it is first asked.
#[derive(Default)]
pub(crate) struct Present {
    entries: OnceCell<HashMap<Fingerprint, Option<u64>>>,
}

impl Present {
    fn entries(&self, program: &MachineProgram) -> &HashMap<Fingerprint, Option<u64>> {
        self.entries.get_or_init(|| {
            let mut entries = HashMap::new();
            for outline in program.outlines().iter().filter(|outline| !outline.cold) {
                if let Some(fingerprint) = program.fingerprint(outline.range.start) {
                    let place = entries.entry(fingerprint).or_insert(Some(outline.range.start));
                    *place = place.filter(|other| *other == outline.range.start);
                }
            }
            entries
        })
    }
}

impl Entry {
    fn of(
        program: &MachineProgram,
        entry: u64,
        looked: &[AnalysisRequest],
        found: &SitesWithReads,
    ) -> Option<Self> {
        let ordered = ordered(program, entry, looked);
        let list: Vec<u64> = ordered.iter().map(|(entry, _)| *entry).collect();
        let dependence = |(entry, call): &(u64, Option<(u32, u32)>)| {
            Some(Dependence { fingerprint: program.fingerprint(*entry)?, call: *call })
        };
        let functions = ordered.iter().map(dependence).collect::<Option<_>>()?;
        let number = |entry: u64| list.iter().position(|other| *other == entry).map(|at| at as u32);
        let mut callers = Vec::new();
        for callee in looked.iter().filter_map(|looked| match looked {
            AnalysisRequest::Callers(callee) => Some(*callee),
            AnalysisRequest::Function(_) => None,
        }) {
            callers.push((number(callee)?, calls(program, &list, callee)?));
        }
        let references = references(program, &list);
        let mut addresses = Vec::new();
        let mut found = found.clone();
        let mut lost = false;
        each_address(&mut found, |address, kind| {
            let place = match kind {
                AddressKind::Code => code_address(program, &list, *address),
                AddressKind::Data => data_address(&references, *address),
            };
            match place {
                Some(place) => {
                    *address = addresses.len() as u64;
                    addresses.push(place);
                }
                None => lost = true,
            }
        });
        (!lost).then_some(Self { functions, callers, found, addresses })
    }

    /// Where the examined functions are now, if they are unchanged.
    fn present(&self, program: &MachineProgram, present: &Present, entry: u64) -> Option<Vec<u64>> {
        let mut list = vec![entry];
        for dependence in &self.functions[1..] {
            let now = match dependence.call {
                Some((caller, index)) => {
                    let callee = program.function(*list.get(caller as usize)?)?.callee_entry(index)?;
                    (program.fingerprint(callee)? == dependence.fingerprint).then_some(callee)?
                }
                None => present.entries(program).get(&dependence.fingerprint).copied().flatten()?,
            };
            list.push(now);
        }
        Some(list)
    }

    fn restored(&self, program: &MachineProgram, present: &Present, entry: u64) -> Option<SitesWithReads> {
        let list = self.present(program, present, entry)?;
        for (callee, calls_then) in &self.callers {
            let calls_now = calls(program, &list, *list.get(*callee as usize)?)?;
            if calls_now != *calls_then {
                return None;
            }
        }
        let mut found = self.found.clone();
        let mut lost = false;
        each_address(&mut found, |address, _| {
            let place = self.addresses.get(*address as usize);
            match place.and_then(|place| address_of(program, &list, *place)) {
                Some(now) => *address = now,
                None => lost = true,
            }
        });
        (!lost).then_some(found)
    }
}

/// The examined functions, each after the one whose call reaches it, if there is one.
fn ordered(
    program: &MachineProgram,
    entry: u64,
    looked: &[AnalysisRequest],
) -> Vec<(u64, Option<(u32, u32)>)> {
    let functions = looked.iter().filter_map(|looked| match looked {
        AnalysisRequest::Function(function) => Some(*function),
        AnalysisRequest::Callers(_) => None,
    });
    // A function that cannot be examined is no dependence.
    let mut left: BTreeSet<u64> = functions.filter(|entry| program.function(*entry).is_some()).collect();
    left.remove(&entry);
    let mut list = vec![(entry, None)];
    let mut next = 0;
    loop {
        while let Some((entry, _)) = list.get(next).copied() {
            let calls = program.function(entry).map(|function| function.local_calls()).unwrap_or_default();
            for (index, callee) in calls {
                if left.remove(&callee) {
                    list.push((callee, Some((next as u32, index))));
                }
            }
            next += 1;
        }
        match left.pop_first() {
            Some(other) => list.push((other, None)),
            None => return list,
        }
    }
}

/// The calls of a function, by the callers' indexes in the list; `None` if a caller is not in it.
fn calls(program: &MachineProgram, list: &[u64], callee: u64) -> Option<Vec<(u32, u32)>> {
    let mut calls = Vec::new();
    for (caller, call) in program.callers(callee) {
        // A caller that cannot be examined, or whose call is unreachable, adds nothing.
        let Some(function) = program.function(*caller) else { continue };
        let Some(index) = function.index_of(*call) else { continue };
        calls.push((list.iter().position(|entry| entry == caller)? as u32, index));
    }
    calls.sort_unstable();
    Some(calls)
}

fn code_address(program: &MachineProgram, list: &[u64], address: u64) -> Option<StableAddress> {
    list.iter().zip(0..).find_map(|(entry, number)| {
        let function = program.function(*entry)?;
        if let Some(index) = function.index_of(address) {
            return Some(StableAddress::Code { function: number, index, after: false });
        }
        let index = function.index_before(address)?;
        Some(StableAddress::Code { function: number, index, after: true })
    })
}

/// What the listed functions refer to, sorted by address: address, index in the list, instruction.
fn references(program: &MachineProgram, list: &[u64]) -> Vec<(u64, u32, u32)> {
    let mut all = Vec::new();
    for (entry, number) in list.iter().zip(0..) {
        let own = program.function(*entry).map(|function| function.references(program)).unwrap_or_default();
        all.extend(own.into_iter().map(|(index, target)| (target, number, index)));
    }
    all.sort_unstable();
    all
}

/// The nearest reference at or below the address.
fn data_address(references: &[(u64, u32, u32)], address: u64) -> Option<StableAddress> {
    let after = references.partition_point(|(target, ..)| *target <= address);
    let (target, function, index) = *references[..after].last()?;
    let distance = address - target;
    (distance < 1 << 16).then_some(StableAddress::Data { function, index, distance })
}

fn address_of(program: &MachineProgram, list: &[u64], place: StableAddress) -> Option<u64> {
    match place {
        StableAddress::Code { function, index, after } => {
            let function = program.function(*list.get(function as usize)?)?;
            Some(if after { function.return_address(index) } else { function.address_of(index) })
        }
        StableAddress::Data { function, index, distance } => {
            let function = program.function(*list.get(function as usize)?)?;
            function.reference(program, index)?.checked_add(distance)
        }
    }
}

#[derive(Clone, Copy)]
enum AddressKind {
    Code,
    Data,
}

/// Visits every address in a result.
fn each_address(found: &mut SitesWithReads, mut visit: impl FnMut(&mut u64, AddressKind)) {
    for (site, reads) in found {
        let Site { address, function: FunctionName { address: entry, .. }, condition, .. } = site;
        visit(address, AddressKind::Code);
        visit(entry, AddressKind::Code);
        if let Some(condition) = condition {
            each_of_condition(condition, &mut visit);
        }
        for read in reads {
            visit(&mut read.address, AddressKind::Code);
            if let Some(variable) = &mut read.variable {
                visit(variable, AddressKind::Data);
            }
            if let Relation::Tested(condition) = &mut read.relation {
                each_of_condition(condition, &mut visit);
            }
            read.also.iter_mut().for_each(|condition| each_of_condition(condition, &mut visit));
        }
    }
}

fn each_of_condition(condition: &mut Condition, visit: &mut impl FnMut(&mut u64, AddressKind)) {
    visit(&mut condition.branch, AddressKind::Code);
    each_of_expression(&mut condition.test, visit);
}

fn each_of_expression(expression: &mut Expression, visit: &mut impl FnMut(&mut u64, AddressKind)) {
    match expression {
        Expression::Read { address, .. } => visit(address, AddressKind::Code),
        Expression::Constant(_) => {}
        Expression::SignExtended { of, .. } | Expression::Part { of, .. } => each_of_expression(of, visit),
        Expression::Operation { left, right, .. } | Expression::Comparison { left, right, .. } => {
            each_of_expression(left, visit);
            each_of_expression(right, visit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_binary::Module;
    use std::path::Path;

    #[test]
    fn functions_of_earlier_builds_do_not_pile_up() {
        let module = Module::open(Path::new("/bin/true")).unwrap();
        let program = MachineProgram::new(&module);
        let whole = program.outlines().iter().find(|outline| !outline.cold);
        let entry = whole.unwrap().range.start;
        let own = program.fingerprint(entry).unwrap();
        let nothing = Entry {
            functions: vec![Dependence { fingerprint: own, call: None }],
            callers: Vec::new(),
            found: Vec::new(),
            addresses: Vec::new(),
        };
        let mut cache = Cache::default();
        cache.entries.insert(own, nothing.clone());
        let strangers = 0..program.outlines().len() as u128;
        cache.entries.extend(strangers.map(|n| (n.to_le_bytes(), nothing.clone())));
        cache.get(&program, &Present::default(), entry);
        assert_eq!(cache.entries.keys().collect::<Vec<_>>(), [&own]);
    }
}
