//! What probes announce, and which reads they do not.

use std::ops::Range;

use iced_x86::Register;

use super::Walk;
use super::numbers::{Number, Root};
use crate::flow::announced;

/// Probes announce at most this many bytes if their length is not a constant.
pub(super) const ANY_LENGTH: i64 = i64::MAX / 4;

/// A load follows its probe soon. Earlier announcements are dropped, and loads of theirs are
/// silent.
pub(super) const MOST_ANNOUNCED: usize = 128;

/// What a probe of a read announces.
pub(super) struct Announcement {
    pub(super) at: Number,
    pub(super) length: i64,
    /// Bytes of it were read, from the first to the last one.
    pub(super) read: Option<Range<i64>>,
    /// It is the pointer to a virtual table.
    pub(super) is_vptr: bool,
}

impl Announcement {
    pub(super) fn end(&self) -> i64 {
        self.at.offset.saturating_add(self.length)
    }

    pub(super) fn has(&self, place: Number, size: usize) -> bool {
        let end = place.offset.saturating_add(size as i64);
        self.at.root == place.root && self.at.offset <= place.offset && end <= self.end()
    }
}

impl Walk<'_> {
    /// A probe. Those of plain accesses keep what others have announced: the probes of a copy come
    /// before its loads and stores. An atomic operation is done inside its probe.
    pub(super) fn announce(&mut self, name: &str) {
        let Some(probe) = announced(name).filter(|probe| !probe.atomic) else {
            if !name.starts_with("func_") {
                self.announced.clear();
                self.announced_writes.clear();
            }
            return;
        };
        let (at, length) = (self.register(Register::RDI), self.register(Register::RSI));
        let length = match (probe.size, length.root) {
            (0, Root::Zero) => length.offset,
            (0, _) => ANY_LENGTH,
            (size, _) => i64::from(size),
        };
        if name.contains("write") || name.starts_with("vptr_update") {
            if self.announced_writes.len() == MOST_ANNOUNCED {
                self.announced_writes.pop_front();
            }
            self.announced_writes.push_back((at, length));
        }
        if !probe.reads {
            return;
        }
        self.unread = matches!(at.root, Root::Value(_)).then_some(length);
        if self.announced.len() == MOST_ANNOUNCED {
            self.announced.pop_front();
        }
        let is_vptr = name.starts_with("vptr");
        self.announced.push_back(Announcement { at, length, read: None, is_vptr });
    }

    /// Whether a read of `size` bytes there is neither announced nor of memory that nobody writes.
    pub(super) fn reads_silently(&mut self, place: Number, size: usize) -> bool {
        place.root != Root::Frame && !self.is_constant(place) && !self.takes_announced(place, size)
    }

    /// Whether these bytes are announced, and some of them not yet read. Several probes may
    /// announce the parts of one load, and the loads of a copy may overlap.
    pub(super) fn takes_announced(&mut self, place: Number, size: usize) -> bool {
        let end = place.offset.saturating_add(size as i64);
        let mut reached = place.offset;
        let mut is_new = false;
        let mut parts: Vec<&mut Announcement> = self
            .announced
            .iter_mut()
            .filter(|a| a.at.root == place.root && a.at.offset < end && a.end() > place.offset)
            .collect();
        parts.sort_by_key(|part| part.at.offset);
        for part in parts {
            if part.at.offset <= reached {
                reached = reached.max(part.end());
            }
            let bytes = part.at.offset.max(place.offset)..part.end().min(end);
            let read = part.read.get_or_insert(bytes.start..bytes.start);
            is_new |= bytes.start < read.start || bytes.end > read.end;
            *read = read.start.min(bytes.start)..read.end.max(bytes.end);
        }
        is_new && reached >= end
    }

    pub(super) fn is_constant(&self, place: Number) -> bool {
        let address = place.offset as u64;
        let ranges = match place.root {
            Root::Image => &self.constant.words,
            Root::Value(id) if self.elements.contains(&id) => &self.constant.tables,
            Root::Value(id) => return self.vtables.contains(&id),
            Root::Zero | Root::Frame => return false,
        };
        !self.module.is_writable(address) || ranges.iter().any(|range| range.contains(&address))
    }

    /// Whether it is the pointer to a virtual table that a probe announced.
    pub(super) fn is_vptr(&self, place: Number, size: usize) -> bool {
        size == 8 && self.announced.iter().any(|a| a.is_vptr && a.at == place)
    }
}
