//! What an address is.

use raddle_finding::Location;
use raddle_wire::record::Place;

use super::{Cast, Explain};
use crate::collect::Race;

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
            Place::Descriptor { number } => Some(Location::Descriptor { number }),
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
}
