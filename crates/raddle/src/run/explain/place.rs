//! What an address is.

use raddle_finding::Location;
use raddle_wire::record::Place;

use super::{Cast, Explain};
use crate::run::collect::Race;

/// A variable of the program, and where in it an address lies.
pub struct Global {
    pub name: String,
    pub offset: u64,
    pub size: u64,
    pub module: String,
    pub file: Option<String>,
    pub line: Option<u32>,
}

pub fn name_of(global: &Global) -> String {
    if global.offset == 0 { global.name.clone() } else { format!("{}+{}", global.name, global.offset) }
}

/// The .bss of a module lies behind its last mapping, by no more than this.
const BSS: u64 = 1 << 32;

impl Explain<'_> {
    pub fn location(&mut self, race: &Race, cast: &mut Cast) -> Option<Location> {
        let address = race.now.address.max(race.before.address);
        match race.place {
            Place::Heap { start, size, thread, stack } => {
                cast.thread(thread);
                let offset = address.saturating_sub(start);
                Some(Location::Heap {
                    offset,
                    size,
                    thread: self.thread_label(thread),
                    stack: self.stack(stack),
                })
            }
            Place::Stack { thread } => {
                cast.thread(thread);
                Some(Location::Stack { thread: self.thread_label(thread) })
            }
            Place::Tls { thread } => {
                cast.thread(thread);
                Some(Location::Tls { thread: self.thread_label(thread) })
            }
            Place::Unknown => self.global(address, race.modules).map(|g| Location::Global {
                name: g.name,
                offset: g.offset,
                size: g.size,
                module: g.module,
                file: g.file,
                line: g.line,
            }),
        }
    }

    /// The global variable at `address`, given the modules known at the time.
    pub fn global(&mut self, address: u64, modules: usize) -> Option<Global> {
        let known = &self.process.modules[..modules.min(self.process.modules.len())];
        // The nearest mapping below: its own, or the one its .bss follows.
        let mapped =
            known.iter().filter(|m| m.low <= address && address - m.low < BSS).max_by_key(|m| m.low)?;
        let bias = self.bias(mapped, modules)?;
        let found = self.symbols.module(&mapped.path).ok()?.data_symbol(address.wrapping_sub(bias))?;
        Some(Global {
            name: found.name,
            offset: found.offset,
            size: found.size,
            module: mapped.path.file_name()?.to_string_lossy().into_owned(),
            file: found.file.map(|f| self.relative(f)),
            line: found.line,
        })
    }
}
