//! What an address is.

use raddle_finding::Location;
use raddle_wire::record::AddressKind;

use super::{Cast, Explain};
use crate::collect::LoggedRace;

impl Explain<'_> {
    pub fn location(&mut self, race: &LoggedRace, cast: &mut Cast) -> Option<Location> {
        let address = race.now.address.max(race.before.address);
        match race.place {
            AddressKind::Heap { start, size, thread, stack } => {
                cast.thread(thread);
                let offset = address.saturating_sub(start);
                Some(Location::Heap {
                    offset,
                    size,
                    thread: self.thread_label(thread),
                    stack: self.stack(stack),
                })
            }
            AddressKind::Stack { thread } => {
                cast.thread(thread);
                Some(Location::Stack { thread: self.thread_label(thread) })
            }
            AddressKind::Tls { thread } => {
                cast.thread(thread);
                Some(Location::Tls { thread: self.thread_label(thread) })
            }
            AddressKind::Descriptor { number } => Some(Location::Descriptor { number }),
            AddressKind::Unknown => self.global(address, race.modules).map(|g| Location::Global {
                name: g.name,
                offset: g.offset,
                size: g.size,
                module: g.module,
                file: g.file,
                line: g.line,
            }),
        }
    }
}
