//! Writes whose store came after the next probe.
//!
//! The runtime takes the value of a write at the thread's next event, when the store is usually
//! done. gcc may announce a write and a read together and store afterwards:
//!
//! ```text
//! call __tsan_write8(to); call __tsan_read8(from); mov (from), %rax; mov $0, (from)
//! mov %rax, (to)
//! ```
//!
//! It does so when a `std::unique_ptr` is moved. Such a write is recorded as if it had left the old
//! value. The next read gets what the write really left: one thread runs at a time, and another
//! write would be in the trace.

use rustc_hash::FxHashMap;

use crate::event::{TraceEvent, What};

/// What is known about a piece of memory.
#[derive(Clone, Copy)]
struct Known {
    size: u8,
    value: u64,
    /// The last write, if it seems to have changed nothing.
    unchanged: Option<usize>,
}

/// Gives writes that were recorded too early the value that the next read got.
pub fn correct(events: &mut [TraceEvent]) {
    let mut known: FxHashMap<u64, Known> = FxHashMap::default();
    for i in 0..events.len() {
        let (cell, was, writes) = match events[i].what {
            What::Read(cell) => (cell, Some(cell.value), false),
            What::Write { cell, before, .. } => (cell, before, true),
            What::Free { from, to } => {
                // What is there afterwards has not been written yet.
                if to - from < 1 << 12 {
                    (from..to).for_each(|at| _ = known.remove(&at));
                } else {
                    known.retain(|at, _| !(from..to).contains(at));
                }
                continue;
            }
            _ => continue,
        };
        let before = known.get(&cell.address).copied().filter(|k| k.size == cell.size);
        if let Some((k, value)) = before.zip(was)
            && k.value != value
            && let Some(at) = k.unchanged
            && let What::Write { cell, .. } = &mut events[at].what
        {
            cell.value = value;
        }
        let was = was.or(before.map(|k| k.value));
        let unchanged = (writes && was == Some(cell.value)).then_some(i);
        known.insert(cell.address, Known { size: cell.size, value: cell.value, unchanged });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Cell;

    fn cell(value: u64) -> Cell {
        Cell { address: 64, size: 8, value, atomic: false }
    }

    fn read(value: u64) -> TraceEvent {
        TraceEvent { thread: 2, site: 1, what: What::Read(cell(value)) }
    }

    fn write(before: Option<u64>, value: u64) -> TraceEvent {
        TraceEvent { thread: 1, site: 2, what: What::Write { cell: cell(value), before, reads: false } }
    }

    /// The recorded value of the first write.
    fn written(mut events: Vec<TraceEvent>) -> u64 {
        correct(&mut events);
        let value = |e: &TraceEvent| match e.what {
            What::Write { cell, .. } => Some(cell.value),
            _ => None,
        };
        events.iter().find_map(value).unwrap_or_else(|| panic!("no write"))
    }

    #[test]
    fn what_the_next_read_gets_was_written() {
        assert_eq!(written(vec![write(Some(0), 0), read(7), read(9)]), 7);
        assert_eq!(written(vec![read(3), write(None, 3), read(7)]), 7);
        assert_eq!(written(vec![write(Some(0), 0), write(Some(7), 8)]), 7);
    }

    #[test]
    fn a_value_that_is_right_stays() {
        assert_eq!(written(vec![write(Some(0), 0), read(0), read(7)]), 0);
        // The write has changed something: another write made the later value.
        assert_eq!(written(vec![write(Some(0), 5), read(7)]), 5);
        // The value before is unknown.
        assert_eq!(written(vec![write(None, 0), read(7)]), 0);
        // Another object.
        let free = TraceEvent { thread: 1, site: 3, what: What::Free { from: 64, to: 72 } };
        assert_eq!(written(vec![write(Some(0), 0), free, read(7)]), 0);
    }
}
