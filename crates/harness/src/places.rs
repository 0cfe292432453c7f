//! What is at an address of a process: code as functions and lines, data as variables.
//!
//! A process is described by its mappings. Files below the current folder get relative names.

use std::path::{Path, PathBuf};

use raddle_binary::{Address, Lookup, Registers, Symbolizer};
use raddle_finding::Frame;

/// A mapped part of a file.
#[derive(Clone, Debug)]
pub struct Mapped {
    pub low: u64,
    pub high: u64,
    pub offset: u64,
    pub path: PathBuf,
}

/// A variable of the program, and the offset of an address in it.
pub struct GlobalPlace {
    pub name: String,
    pub offset: u64,
    pub size: u64,
    pub module: String,
    pub file: Option<String>,
    pub line: Option<u32>,
}

impl GlobalPlace {
    /// `counter`, `table+8`.
    pub fn label(&self) -> String {
        if self.offset == 0 { self.name.clone() } else { format!("{}+{}", self.name, self.offset) }
    }
}

/// The name of an OpenMP construct. gcc has a variable for each named critical section; the runtime
/// has one for each of the others.
fn openmp_name(variable: &str) -> Option<String> {
    if let Some(section) = variable.strip_prefix(".gomp_critical_user_") {
        return Some(format!("critical({section})"));
    }
    let (_, own) = variable.strip_prefix("raddle_rt::")?.split_once("openmp::")?;
    let name = match own {
        "locks::UNNAMED" => "critical",
        "locks::ATOMIC" => "atomic",
        "team::TEAMS" => "OpenMP region",
        "team::WORKERS" => "OpenMP thread",
        "tasks::POOL" | "tasks::ALL_GROUPS" => "OpenMP task",
        _ => return None,
    };
    Some(name.into())
}

/// A module's .bss lies behind its last mapping, at most this far.
const BSS: u64 = 1 << 32;

/// Looks up places; opens each file once.
pub struct Places {
    symbols: Symbolizer,
    root: PathBuf,
}

impl Default for Places {
    fn default() -> Places {
        Places::new()
    }
}

impl Places {
    pub fn new() -> Places {
        Places { symbols: Symbolizer::new(), root: std::env::current_dir().unwrap_or_default() }
    }

    /// The functions at a return address, innermost (inlined) first.
    pub fn frames(&mut self, modules: &[Mapped], pc: u64) -> Vec<Frame> {
        let Some(mapped) = module_at(modules, pc) else {
            return vec![Frame { offset: Some(pc), ..Frame::default() }];
        };
        let module = mapped.path.file_name().map(|n| n.to_string_lossy().into_owned());
        let offset = pc - mapped.low + mapped.offset;
        let bias = self.bias(modules, mapped);
        let address = bias.map_or(Address::FileOffset(offset), |b| Address::Virtual(pc.wrapping_sub(b)));
        let found = self.symbols.frames(&mapped.path, address, Lookup::Return);
        if found.is_empty() {
            return vec![Frame { module, offset: Some(offset), ..Frame::default() }];
        }
        found.into_iter().map(|f| self.frame(f, module.clone())).collect()
    }

    /// The function whose call returns to `pc`, if it is one of C and the call names it.
    pub fn callee(&mut self, modules: &[Mapped], pc: u64) -> Option<String> {
        let mapped = module_at(modules, pc)?;
        let address = pc.wrapping_sub(self.bias(modules, mapped)?);
        let callee = self.symbols.module(&mapped.path).ok()?.call_before(address)?.callee?;
        let is_mangled = callee.starts_with("_Z") || callee.starts_with("_R");
        (!is_mangled).then_some(callee)
    }

    /// The functions at a return address, given as an address in the file.
    pub fn file_frames(&mut self, path: &Path, address: u64) -> Vec<Frame> {
        let module = path.file_name().map(|n| n.to_string_lossy().into_owned());
        let found = self.symbols.frames(path, Address::Virtual(address), Lookup::Return);
        if found.is_empty() {
            return vec![Frame { module, offset: Some(address), ..Frame::default() }];
        }
        found.into_iter().map(|f| self.frame(f, module.clone())).collect()
    }

    fn frame(&self, found: raddle_binary::SourceFrame, module: Option<String>) -> Frame {
        Frame {
            function: found.function,
            file: found.file.map(|file| self.relative(file)),
            line: found.line,
            column: found.column,
            module,
            offset: None,
            function_line: found.function_line,
        }
    }

    /// A whole stack without the frames of the runtime, of Rust's thread start, and of what calls
    /// `main`.
    pub fn stack(&mut self, modules: &[Mapped], pcs: &[u64]) -> Vec<Frame> {
        let is = |f: &Frame, part: &str| f.function.as_deref().is_some_and(|n| n.contains(part));
        let mut stack = Vec::new();
        for (i, pc) in pcs.iter().enumerate() {
            let mut frames = self.frames(modules, *pc);
            // Rust marks where its own machinery begins.
            let own = frames.iter().position(|f| is(f, "__rust_begin_short_backtrace"));
            let is_main = frames.last().is_some_and(|f| f.function.as_deref() == Some("main"));
            frames.truncate(own.unwrap_or(frames.len()));
            // The runtime starts threads in place of the program.
            stack.extend(frames.into_iter().filter(|f| !is(f, "raddle_rt::")));
            // What calls `main` tells nothing, and asking costs more than all the rest of a report
            // if the debug information of the C library is installed.
            if own.is_some() || is_main && pcs.get(i + 1).is_some_and(|pc| is_in_libc(modules, *pc)) {
                break;
            }
        }
        stack
    }

    /// The return addresses of a copied stack, given the registers in its innermost function.
    /// `stack` begins at `registers.rsp`.
    pub fn unwind(&mut self, modules: &[Mapped], registers: &Registers, stack: &[u8]) -> Vec<u64> {
        const MOST: usize = 128;
        let base = registers.rsp;
        let read = |at: u64| {
            let from = usize::try_from(at.checked_sub(base)?).ok()?;
            Some(u64::from_le_bytes(stack.get(from..from.checked_add(8)?)?.try_into().ok()?))
        };
        let mut pcs = vec![registers.rip];
        let mut at = *registers;
        while pcs.len() < MOST
            && let Some(mapped) = module_at(modules, at.rip)
            && let Some(bias) = self.bias(modules, mapped)
            && let Some(caller) =
                self.symbols.module(&mapped.path).ok().and_then(|module| module.caller(&at, bias, &read))
        {
            pcs.push(caller.rip);
            at = caller;
        }
        pcs
    }

    /// The global variable at `address`.
    pub fn global(&mut self, modules: &[Mapped], address: u64) -> Option<GlobalPlace> {
        // The nearest mapping below: the one that contains the address, or the one before its .bss.
        let mapped =
            modules.iter().filter(|m| m.low <= address && address - m.low < BSS).max_by_key(|m| m.low)?;
        let bias = self.bias(modules, mapped)?;
        let found = self.symbols.module(&mapped.path).ok()?.data_symbol(address.wrapping_sub(bias))?;
        let (name, offset) = match openmp_name(&found.name) {
            Some(name) => (name, 0),
            None => (found.name, found.offset),
        };
        Some(GlobalPlace {
            name,
            offset,
            size: found.size,
            module: mapped.path.file_name()?.to_string_lossy().into_owned(),
            file: found.file.map(|f| self.relative(f)),
            line: found.line,
        })
    }

    /// The difference between a module's load addresses and its file's addresses. The mapping of
    /// the first page gives it without doubt; other mappings may share a page of the file.
    fn bias(&mut self, modules: &[Mapped], mapped: &Mapped) -> Option<u64> {
        let first = modules.iter().filter(|m| m.path == mapped.path && m.offset == 0 && m.low <= mapped.low);
        let first = first.max_by_key(|m| m.low).unwrap_or(mapped);
        self.symbols.module(&mapped.path).ok()?.load_bias(first.low, first.offset)
    }

    fn relative(&self, file: String) -> String {
        let below = Path::new(&file).strip_prefix(&self.root).ok().map(|p| p.to_string_lossy().into_owned());
        below.filter(|p| !p.is_empty()).unwrap_or(file)
    }
}

fn is_in_libc(modules: &[Mapped], pc: u64) -> bool {
    module_at(modules, pc).is_some_and(|m| m.path.file_name().is_some_and(|name| name == "libc.so.6"))
}

/// The latest mapping that contains `address`.
pub fn module_at(modules: &[Mapped], address: u64) -> Option<&Mapped> {
    modules.iter().rev().find(|m| m.low <= address && address < m.high)
}
