//! What a machine reports: a race has two ends.
//!
//! REPORT-RACE (paper, 4.2) prints the current access and every concurrent one, each with its
//! context and its locks. Here these are values; symbols and wording are another crate's work.

use crate::event::{ByteRange, EventSource};
use crate::lockset::LockSet;
use crate::segment::Segment;
use crate::segment_set::SegmentAccess;
use raddle_base::clock::ThreadId;

/// One access that takes part in a race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RacingAccess {
    /// Who made the access.
    pub thread: ThreadId,
    /// Where. Always known of the current access. Of an earlier one it is the context of its
    /// segment's first access: exact with [`History::EachAccess`](crate::History), exact or in the
    /// same context with `Contexts`, and left out with `SyncOnly`, where it would mislead (paper,
    /// 4.3).
    pub context: Option<EventSource>,
    /// Whether it wrote. A free is a write.
    pub is_write: bool,
    /// Whether it was atomic. Two atomic accesses never race.
    pub atomic: bool,
    /// LS_Wr at the access.
    pub writer_locks: LockSet,
    /// LS_Rd at the access. Contains all of `writer_locks`.
    pub reader_locks: LockSet,
}

impl RacingAccess {
    pub(crate) fn current(member: &SegmentAccess, is_write: bool, context: EventSource) -> Self {
        Self::of(&member.segment, is_write, member.atomic, Some(context))
    }

    pub(crate) fn earlier(member: &SegmentAccess, is_write: bool, context_known: bool) -> Self {
        let context = context_known.then_some(member.segment.context);
        Self::of(&member.segment, is_write, member.atomic, context)
    }

    fn of(segment: &Segment, is_write: bool, atomic: bool, context: Option<EventSource>) -> Self {
        Self {
            thread: segment.thread,
            context,
            is_write,
            atomic,
            writer_locks: segment.writer_locks.clone(),
            reader_locks: segment.reader_locks.clone(),
        }
    }
}

/// A data race: the current access, and the earlier ones it is concurrent with (at least one).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The bytes of the current access on which exactly these accesses race.
    pub bytes: ByteRange,
    /// The access that completes the race, the last in the order of observation.
    pub current: RacingAccess,
    /// The accesses it races with, oldest first among writes and then among reads. Never empty.
    pub earlier: Vec<RacingAccess>,
}
