//! From a program counter to the functions and lines in the source.
//!
//! If the compiler has inlined functions, one machine address stands for several source functions.
//! The innermost comes first. Without debug information, the symbol tables give only the function's
//! name.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use addr2line::Frame;

use crate::demangle::{demangle, is_mangled};
use crate::dwarf::{DebugInfo, Reader, tidy_path};
use crate::error::{Error, Result};
use crate::module::{Address, Module};

/// One function at one place in the source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceFrame {
    /// The demangled name. `None` only if a line is known but no function.
    pub function: Option<String>,
    pub file: Option<String>,
    pub line: Option<u32>,
    pub column: Option<u32>,
    /// The line on which the function is declared, so that a place can be given relative to it.
    pub function_line: Option<u32>,
    /// Whether this function was inlined into the next frame's function.
    pub inlined: bool,
}

/// What a program counter points at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lookup {
    /// The instruction itself.
    Exact,
    /// The instruction after a call. The lookup uses the call, because the next instruction may
    /// belong to another line or, after a call that never returns, to another function.
    Return,
}

/// Symbolises addresses in many modules. Each is opened on first use and kept.
#[derive(Default)]
pub struct Symbolizer {
    modules: HashMap<PathBuf, Result<Module>>,
}

impl Symbolizer {
    pub fn new() -> Self {
        Self::default()
    }

    /// The functions at a place, innermost first. Empty if nothing is known.
    pub fn frames(&mut self, module: &Path, at: Address, lookup: Lookup) -> Vec<SourceFrame> {
        self.module(module).map(|module| module.frames(at, lookup)).unwrap_or_default()
    }

    /// The module at a path, for other questions. An error is kept too.
    pub fn module(&mut self, path: &Path) -> Result<&Module, &Error> {
        if !self.modules.contains_key(path) {
            self.modules.insert(path.to_path_buf(), Module::open(path));
        }
        self.modules[path].as_ref()
    }
}

impl Module {
    /// The functions at a place in this module, innermost first.
    pub fn frames(&self, at: Address, lookup: Lookup) -> Vec<SourceFrame> {
        let Some(address) = self.virtual_address(at) else { return Vec::new() };
        let probe = match lookup {
            Lookup::Exact => address,
            Lookup::Return => address.saturating_sub(1),
        };
        if !self.is_code(probe) {
            return Vec::new();
        }
        let symbol = self.symbols().function_at(probe).map(|symbol| symbol.name);
        let mut frames = self.debug().map(|debug| debug_frames(debug, probe, symbol)).unwrap_or_default();
        if frames.is_empty() && symbol.is_some() {
            frames.push(SourceFrame { function: symbol.map(demangle), ..SourceFrame::default() });
        }
        frames
    }

    /// The raw (mangled) names of the functions at a place, innermost first, each with the
    /// source file in which the place lies for it.
    pub(crate) fn raw_names(&self, probe: u64) -> Vec<(String, Option<String>)> {
        let symbol = self.symbols().function_at(probe).map(|symbol| symbol.name);
        let mut names = Vec::new();
        if let Some(debug) = self.debug() {
            each_frame(debug, probe, |frame, last| {
                let file = frame.location.as_ref().and_then(|location| location.file).map(str::to_string);
                names.extend(raw_name(&frame, last.then_some(symbol).flatten()).map(|name| (name, file)));
            });
        }
        if names.is_empty() {
            names.extend(symbol.map(|name| (name.to_string(), None)));
        }
        names
    }
}

fn debug_frames(debug: &DebugInfo, probe: u64, symbol: Option<&str>) -> Vec<SourceFrame> {
    let unit = debug.context.find_dwarf_and_unit(probe).skip_all_loads();
    let mut frames = Vec::new();
    each_frame(debug, probe, |frame, last| {
        let line = |offset| debug.declaration(unit?.unit, offset).line;
        let location = frame.location.as_ref();
        frames.push(SourceFrame {
            function: raw_name(&frame, last.then_some(symbol).flatten()).map(|name| demangle(&name)),
            file: location.and_then(|l| l.file).map(tidy_path),
            line: location.and_then(|l| l.line).filter(|&line| line > 0),
            column: location.and_then(|l| l.column).filter(|&column| column > 0),
            function_line: frame.dw_die_offset.and_then(line),
            inlined: !last,
        });
    });
    frames
}

/// Calls `visit` with each frame and whether it is the last one, which is a real function.
fn each_frame(debug: &DebugInfo, probe: u64, mut visit: impl FnMut(Frame<'_, Reader>, bool)) {
    let Ok(mut frames) = debug.context.find_frames(probe).skip_all_loads() else { return };
    let mut held = None;
    while let Ok(Some(frame)) = frames.next() {
        if let Some(earlier) = held.replace(frame) {
            visit(earlier, false);
        }
    }
    if let Some(last) = held {
        visit(last, true);
    }
}

/// The name of a frame's function. Debug information may have only its last word (`operator()` of a
/// lambda, anything under `-gline-tables-only`). The symbol of a real function has the whole name.
fn raw_name(frame: &Frame<'_, Reader>, symbol: Option<&str>) -> Option<String> {
    let name = frame.function.as_ref().and_then(|function| Some(function.raw_name().ok()?.into_owned()));
    match (name, symbol) {
        (Some(name), Some(symbol)) if !is_mangled(&name) && is_mangled(symbol) => Some(symbol.to_string()),
        (None, Some(symbol)) => Some(symbol.to_string()),
        (name, _) => name,
    }
}
