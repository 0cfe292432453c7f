//! What the machine code says about scheduling points: writes to bit-fields, of which the runtime
//! makes two steps, copies, of which it makes one, reads that cannot be points, and instructions
//! whose results no schedule decides.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use raddle_binary::{Address, CopyFinder, Lookup, Module};
use raddle_wire::explore::point;

use crate::gaps;
use crate::places::Mapped;

/// How much code after a probe is examined.
const CODE: usize = 160;

/// The program counters of points, marked or not.
pub fn unmarked(points: &[u64]) -> Vec<u64> {
    points.iter().map(|p| point::address(*p)).collect()
}

/// The same points, with those marked that write to bit-fields.
pub fn marked(points: &[u64], modules: &[Mapped]) -> Vec<u64> {
    let mut files = Files::new(modules);
    let mut mark = |pc: u64| {
        let width = files.bit_field_write(pc)?;
        (width.is_power_of_two() && width <= 8).then(|| point::reads_first(pc, width.trailing_zeros()))
    };
    points.iter().map(|pc| point::address(*pc)).map(|pc| mark(pc).unwrap_or(pc)).collect()
}

/// True if some point writes to a bit-field.
pub fn have_bit_field(points: &[u64], modules: &[Mapped]) -> bool {
    let mut files = Files::new(modules);
    points.iter().any(|pc| files.bit_field_write(point::address(*pc)).is_some())
}

/// True if some variable that is a scheduling point is copied to another one. The program reads the
/// one and writes to the other after both points, so no other thread runs in between.
pub fn have_copy(points: &[u64], modules: &[Mapped]) -> bool {
    let mut files = Files::new(modules);
    let mut pcs = unmarked(points);
    pcs.sort_unstable();
    pcs.windows(2).any(|pair| files.has_copy(pair[0], pair[1]))
}

/// A function of the program that reads a struct to pass it by value, without a probe. Nothing sees
/// that read.
pub fn silent_argument(modules: &[Mapped]) -> Option<String> {
    static KNOWN: Known = Known::new(None);
    first_function(modules, &KNOWN, Module::silent_arguments)
}

/// A function of the program that writes a struct that a call has returned, without a probe.
pub fn silent_result(modules: &[Mapped]) -> Option<String> {
    static KNOWN: Known = Known::new(None);
    first_function(modules, &KNOWN, Module::silent_results)
}

/// A function of the program with an access of a size that has no probe.
pub fn odd_access(modules: &[Mapped]) -> Option<String> {
    static KNOWN: Known = Known::new(None);
    first_function(modules, &KNOWN, Module::odd_accesses)
}

/// What a search of machine code found in each file.
type Known = Mutex<Option<HashMap<PathBuf, Option<String>>>>;

/// The function with the first of the places that are found in the files that are instrumented.
fn first_function(modules: &[Mapped], known: &Known, find: fn(&Module) -> Vec<u64>) -> Option<String> {
    let mut known = known.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let known = known.get_or_insert_default();
    let look = |path: &Path| {
        if !gaps::is_instrumented(path) {
            return None;
        }
        let module = Module::open(path).ok()?;
        let frames = module.frames(Address::Virtual(*find(&module).first()?), Lookup::Exact);
        Some(frames.into_iter().find_map(|frame| frame.function).unwrap_or_else(|| "a function".into()))
    };
    modules.iter().find_map(|m| known.entry(m.path.clone()).or_insert_with(|| look(&m.path)).clone())
}

/// A function of the program with an instruction that reads the time stamp counter, the number of
/// the processor or random numbers, whether it is executed or not, in words. Nothing sees what it
/// reads.
pub fn unrepeatable_instruction(modules: &[Mapped]) -> Option<String> {
    static KNOWN: Mutex<Option<HashMap<PathBuf, Option<String>>>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let known = known.get_or_insert_default();
    modules.iter().find_map(|m| {
        known.entry(m.path.clone()).or_insert_with(|| first_unrepeatable_instruction(&m.path)).clone()
    })
}

fn first_unrepeatable_instruction(path: &Path) -> Option<String> {
    first_in_words(path, Module::unrepeatable_instructions)
}

/// A function of the program with a fence that is written as assembly, in words. Nothing sees it.
pub fn fence_instruction(path: &Path) -> Option<String> {
    first_in_words(path, Module::fence_instructions)
}

/// Addresses of instructions, each with the name of its function.
type Instructions = Vec<(u64, Option<String>)>;

fn first_in_words(path: &Path, all: fn(&Module) -> Instructions) -> Option<String> {
    if !gaps::is_instrumented(path) {
        return None;
    }
    let found = all(&Module::open(path).ok()?);
    let mut names = found.into_iter().map(|(_, name)| name);
    // The runtime is a part of the file. In one without symbols it cannot be told from the program.
    let name = names.find(|name| !name.as_ref().is_some_and(|n| n.starts_with("raddle_rt::")))?;
    Some(name.map_or_else(|| "a function of the program".into(), |name| format!("`{name}`")))
}

/// The files of modules, read when they are needed.
struct Files<'a> {
    modules: &'a [Mapped],
    contents: HashMap<PathBuf, Vec<u8>>,
    opened: HashMap<PathBuf, Option<(CopyFinder, Module)>>,
}

impl<'a> Files<'a> {
    fn new(modules: &'a [Mapped]) -> Self {
        Files { modules, contents: HashMap::new(), opened: HashMap::new() }
    }

    /// The size of the word that the code after the probe reads and writes, if it does.
    fn bit_field_write(&mut self, pc: u64) -> Option<usize> {
        raddle_binary::bit_field_write(self.code(pc, CODE)?, pc)
    }

    /// Whether the points at these two places are the two probes of a copy.
    fn has_copy(&mut self, first: u64, second: u64) -> bool {
        let Some((module, finder, [first, second])) = self.module([first, second]) else { return false };
        finder.is_copy(module, first, second)
    }

    /// The file that is mapped at both places, and the places in it.
    fn module(&mut self, pcs: [u64; 2]) -> Option<(&Module, &CopyFinder, [Address; 2])> {
        let holds = |m: &&Mapped| pcs.iter().all(|pc| (m.low..m.high).contains(pc));
        let mapped = self.modules.iter().find(holds)?;
        let open = || Module::open(&mapped.path).ok().map(|module| (CopyFinder::of(&module), module));
        let (finder, module) = self.opened.entry(mapped.path.clone()).or_insert_with(open).as_ref()?;
        Some((module, finder, pcs.map(|pc| Address::FileOffset(pc - mapped.low + mapped.offset))))
    }

    /// At most `len` bytes of code from `pc` on.
    fn code(&mut self, pc: u64, len: usize) -> Option<&[u8]> {
        let module = self.modules.iter().find(|m| (m.low..m.high).contains(&pc))?;
        let load = || std::fs::read(&module.path).unwrap_or_default();
        let content = self.contents.entry(module.path.clone()).or_insert_with(load);
        let at = (pc - module.low + module.offset) as usize;
        content.get(at..content.len().min(at + len))
    }
}
