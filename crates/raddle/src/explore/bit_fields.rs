//! Marks scheduling points that write to bit-fields. The runtime makes two steps of each.

use std::collections::HashMap;
use std::path::PathBuf;

use raddle_wire::explore::point;

use raddle_harness::places::Mapped;

/// How much code after a probe is examined.
const CODE: usize = 160;

/// The program counters of points, marked or not.
pub fn unmarked(points: &[u64]) -> Vec<u64> {
    points.iter().map(|p| point::address(*p)).collect()
}

/// The same points, with those marked that write to bit-fields.
pub fn marked(points: &[u64], modules: &[Mapped]) -> Vec<u64> {
    let mut files: HashMap<PathBuf, Vec<u8>> = HashMap::new();
    let mut mark = |pc: u64| {
        let module = modules.iter().find(|m| (m.low..m.high).contains(&pc))?;
        let load = || std::fs::read(&module.path).unwrap_or_default();
        let content = files.entry(module.path.clone()).or_insert_with(load);
        let at = (pc - module.low + module.offset) as usize;
        let code = content.get(at..content.len().min(at + CODE))?;
        let width = raddle_binary::bit_field_write(code, pc)?;
        (width.is_power_of_two() && width <= 8).then(|| point::reads_first(pc, width.trailing_zeros()))
    };
    points.iter().map(|pc| point::address(*pc)).map(|pc| mark(pc).unwrap_or(pc)).collect()
}
