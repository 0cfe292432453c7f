//! What the machine code at scheduling points says about them: writes to bit-fields, of which the
//! runtime makes two steps, and copies, of which it makes one.

use std::collections::HashMap;
use std::path::PathBuf;

use raddle_wire::explore::point;

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
    pcs.windows(2).any(|pair| {
        let between = (pair[1] - pair[0]) as usize;
        between <= CODE
            && files
                .code(pair[0], between)
                .is_some_and(|code| raddle_binary::is_between_probes_of_copy(code, pair[0]))
    })
}

/// The files of modules, read when they are needed.
struct Files<'a> {
    modules: &'a [Mapped],
    contents: HashMap<PathBuf, Vec<u8>>,
}

impl<'a> Files<'a> {
    fn new(modules: &'a [Mapped]) -> Self {
        Files { modules, contents: HashMap::new() }
    }

    /// The size of the word that the code after the probe reads and writes, if it does.
    fn bit_field_write(&mut self, pc: u64) -> Option<usize> {
        raddle_binary::bit_field_write(self.code(pc, CODE)?, pc)
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
