//! What a traced execution of `raddle conseq` did: accesses with their values, and synchronising
//! steps, as bytes.
//!
//! The file `trace` of the session's folder has a [`TraceHeader`], a table of program counters, and
//! the *stream*, which each execution starts anew. One thread runs at a time, under the scheduler
//! of `explore`. So one stream holds the events of all threads in the order in which they happened,
//! without contention.
//!
//! An event is a byte that says what it is, followed by its numbers. Program counters and addresses
//! are written as differences from the previous ones, so an access takes about five bytes:
//!
//! ```text
//! bits 0-1  0: the thread changes (its number)
//!              with bit 2: memory turns out to be shared (its address)
//!           1: a step (its kind, site, object, other)
//!           2: a read (site, address, value)
//!           3: a write (site, address, value after, value before if bit 5)
//! bits 2-3  of an access: 1, 2, 4 or 8 bytes
//! bit 4     of an access: atomic
//! bit 5     of a write: the value before follows
//! bit 6     of a write: it read the value before, in the same instant
//! ```
//!
//! There are millions of accesses, so their numbers have an encoding of their own. A second byte
//! holds the lengths: two bits for the site (0, 1, 2 or 4 bytes), three for the address and three
//! for the value (0 to 6, or 8). Each number is one store of eight bytes, of which only the needed
//! ones count. No loop has to look for the end of a number. All other events use seven bits at a
//! time (LEB128).
//!
//! In a run without a scheduler (`rt::trace::plain`) threads contend for the stream, and a write's
//! event comes before its store. The value then always takes eight bytes ([`Encoder::write_later`])
//! and is filled in after the store. Such a stream belongs to one process, the first that created a
//! thread ([`TraceHeader::process`]).
//!
//! Reading ends at a number that extends past the end of the stream, or at an event of an unknown
//! kind. So a trace that a crash cut short is good up to that point.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{Acquire, Release};

pub const MAGIC: u64 = u64::from_le_bytes(*b"raddletr");

/// The name of the file in the session's folder.
pub const FILE: &str = "trace";

#[repr(C)]
pub struct TraceHeader {
    pub magic: u64,
    pub version: u32,
    /// A [`Recording`]; the driver changes it between executions.
    mode: core::sync::atomic::AtomicU32,
    /// The maximal size of the stream in bytes.
    pub room: u64,
    /// The number of program counters in the table. Reads are recorded only at these. 0: reads are
    /// recorded everywhere.
    pub reads: u64,
    /// The size of the stream in bytes, updated after each event.
    pub used: AtomicU64,
    /// The number of events for which there was no room.
    pub lost: AtomicU64,
    /// The number of accesses that were seen, recorded or not. Where the mode learns which memory
    /// is shared, accesses to a thread's own memory are not counted.
    pub accesses: AtomicU64,
    /// The process that the stream belongs to, where several could write to it. 0: none yet.
    pub process: AtomicU64,
    /// The number of granules found to be shared, in all executions of the process.
    pub discoveries: AtomicU64,
    /// The execution's stream begins after this many steps, with [`TraceHeader::way`] as the digest
    /// so far. [`NEVER`]: nothing is recorded.
    pub begins: AtomicU64,
    /// A digest of the steps up to that point.
    pub way: AtomicU64,
    /// The execution ends after this many steps, if its digest is `until_way`. The driver sets
    /// both. [`NEVER`]: it does not end early.
    pub until: AtomicU64,
    pub until_way: AtomicU64,
    /// The execution ended at that point.
    pub was_cut: AtomicU64,
    /// Not 0: the stream has all accesses, including those to a thread's own memory, and says what
    /// turns out to be shared ([`RecordedEvent::Shared`]).
    pub has_all: AtomicU64,
}

/// Stands for no number of steps.
pub const NEVER: u64 = u64::MAX;

numbered! {
    /// What an execution records.
    pub enum Recording: u32 {
        /// Everything is recorded.
        All = 0,
        /// Learn which memory more than one thread touches. At first everything is recorded
        /// ([`TraceHeader::has_all`]). When that becomes too much, only accesses to memory known to
        /// be shared are recorded, while nothing new is learned ([`TraceHeader::begins`]).
        Learn = 1,
        /// Record accesses to memory that was learned to be shared.
        Shared = 2,
        /// Record only the accesses in the table, reads and writes.
        Table = 3,
    }
}

impl TraceHeader {
    pub fn new(room: u64, reads: u64, mode: Recording) -> TraceHeader {
        TraceHeader {
            magic: MAGIC,
            version: crate::VERSION,
            mode: mode.number().into(),
            room,
            reads,
            used: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            accesses: AtomicU64::new(0),
            process: AtomicU64::new(0),
            discoveries: AtomicU64::new(0),
            begins: AtomicU64::new(0),
            way: AtomicU64::new(0),
            until: AtomicU64::new(NEVER),
            until_way: AtomicU64::new(0),
            was_cut: AtomicU64::new(0),
            has_all: AtomicU64::new(0),
        }
    }

    /// What the next execution records.
    pub fn mode(&self) -> Recording {
        // The driver stores no other number.
        Recording::from_number(self.mode.load(Acquire)).unwrap_or(Recording::All)
    }

    pub fn set_mode(&self, mode: Recording) {
        self.mode.store(mode.number(), Release);
    }

    pub const fn table_at(&self) -> usize {
        size_of::<TraceHeader>().next_multiple_of(64)
    }

    pub const fn stream_at(&self) -> usize {
        (self.table_at() + self.reads as usize * 8).next_multiple_of(4096)
    }

    pub const fn bytes(&self) -> usize {
        self.stream_at() + self.room as usize
    }
}

/// A [`SyncStep::kind`] that is no operation of `explore`: the allocator hands out a block, from
/// `object` up to `other`.
pub const ALLOCATED: u8 = u8::MAX;

/// The maximal size of an event in bytes.
pub const LONGEST: usize = 48;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedEvent {
    /// The following events belong to this thread.
    Thread(u16),
    Step(SyncStep),
    Access(TracedAccess),
    /// A second thread touches the granule at this address.
    Shared(u64),
}

/// A synchronising step: an operation of `explore`, with its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncStep {
    pub kind: u8,
    pub site: u32,
    pub object: u64,
    /// The second object of the operation. For a barrier: its number of threads, or 0 when a
    /// waiting thread continues.
    pub other: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedAccess {
    /// The low half of the program counter to which the probe returns.
    pub site: u32,
    pub address: u64,
    /// 1, 2, 4 or 8.
    pub size: u8,
    pub write: bool,
    pub atomic: bool,
    /// The write also read `before`, atomically.
    pub updates: bool,
    /// The value that was read, or that is there after the write.
    pub value: u64,
    /// The value before the write, where it is recorded.
    pub before: Option<u64>,
}

/// The kind of an access, as in its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessByte(u8);

impl AccessByte {
    /// A plain access of 1, 2, 4 or 8 bytes.
    #[inline(always)]
    pub const fn new(write: bool, size: usize) -> AccessByte {
        AccessByte(if write { WRITE } else { READ } | (size.trailing_zeros() as u8 & 3) << 2)
    }

    #[inline(always)]
    pub const fn with(self, atomic: bool, updates: bool) -> AccessByte {
        AccessByte(self.0 | (atomic as u8) << 4 | (updates as u8) << 6)
    }

    #[inline(always)]
    pub const fn size(self) -> usize {
        1 << (self.0 >> 2 & 3)
    }

    /// Whether it reads what it replaces.
    #[inline(always)]
    pub const fn updates(self) -> bool {
        self.0 & 1 << 6 != 0
    }
}

/// The values from which differences are taken.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    site: u32,
    address: u64,
}

/// Writes events.
#[derive(Clone, Copy, Debug, Default)]
pub struct Encoder(Last);

const THREAD: u8 = 0;
const SHARED: u8 = 4;
const STEP: u8 = 1;
const READ: u8 = 2;
const WRITE: u8 = 3;

/// The number of bytes of a site, by its code.
const SITE_BYTES: [usize; 4] = [0, 1, 2, 4];

#[inline]
fn site_code(n: u32) -> u8 {
    let bytes = (39 - n.leading_zeros()) / 8;
    // 0, 1, 2, 3 or 4 bytes.
    bytes.min(3) as u8
}

/// Masks for numbers of 0 to 8 bytes.
const MASKS: [u64; 9] =
    [0, 0xff, 0xffff, 0xff_ffff, 0xffff_ffff, 0xff_ffff_ffff, 0xffff_ffff_ffff, !0 >> 8, !0];

/// The code for the number of bytes that a number needs. 7 stands for 7 and 8.
#[inline]
fn code(n: u64) -> u8 {
    ((71 - n.leading_zeros()) / 8).min(7) as u8
}

/// The number of bytes of a number with this code.
#[inline]
fn bytes(code: u8) -> usize {
    usize::from(code) + usize::from(code == 7)
}

/// Writes eight bytes, of which `n` count. No number begins behind the 23rd byte of an access.
/// Stating this with a mask avoids a bounds check.
#[inline(always)]
fn put(to: &mut [u8; LONGEST], at: &mut usize, number: u64, n: usize) {
    let from = *at & 31;
    to[from..from + 8].copy_from_slice(&number.to_le_bytes());
    *at += n;
}

#[inline]
fn zigzag(d: u64) -> u64 {
    d << 1 ^ ((d as i64) >> 63) as u64
}

#[inline]
fn zigzag32(d: u32) -> u32 {
    d << 1 ^ ((d as i32) >> 31) as u32
}

#[inline]
fn unzigzag(n: u64) -> u64 {
    (n >> 1) ^ (n & 1).wrapping_neg()
}

struct Out<'a> {
    to: &'a mut [u8; LONGEST],
    len: usize,
}

impl Out<'_> {
    fn byte(&mut self, b: u8) {
        // No event is longer than the buffer, because five numbers of at most ten bytes do not
        // occur together.
        if let Some(at) = self.to.get_mut(self.len) {
            *at = b;
            self.len += 1;
        }
    }

    fn number(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.byte(n as u8 | 0x80);
            n >>= 7;
        }
        self.byte(n as u8);
    }

    fn difference(&mut self, from: u64, to: u64) {
        self.number(zigzag(to.wrapping_sub(from)));
    }
}

impl Encoder {
    pub const NEW: Encoder = Encoder(Last { site: 0, address: 0 });

    /// Encodes the event. Returns the number of bytes used.
    pub fn write(&mut self, event: &RecordedEvent, to: &mut [u8; LONGEST]) -> usize {
        let mut out = Out { to, len: 0 };
        match event {
            RecordedEvent::Thread(t) => {
                out.byte(THREAD);
                out.number(u64::from(*t));
            }
            RecordedEvent::Shared(address) => {
                out.byte(SHARED);
                out.number(*address);
            }
            RecordedEvent::Step(s) => {
                out.byte(STEP);
                out.byte(s.kind);
                self.place(&mut out, s.site, s.object);
                out.number(s.other);
            }
            RecordedEvent::Access(a) => {
                let kind = AccessByte::new(a.write, a.size as usize).with(a.atomic, a.updates);
                return self.access(kind, (a.site, a.address), a.value, a.before, to);
            }
        }
        out.len
    }

    /// Encodes a write whose value is not known yet, with the value before in its place. Returns
    /// the number of bytes used, and where the bytes for [`fill_in`] begin.
    pub fn write_later(&mut self, a: &TracedAccess, to: &mut [u8; LONGEST]) -> (usize, usize) {
        let before = a.before.unwrap_or(a.value);
        // The largest value takes all bytes.
        let len = self.access(
            AccessByte::new(true, usize::from(a.size)),
            (a.site, a.address),
            u64::MAX,
            Some(before),
            to,
        );
        let at = len - bytes(code(before)) - 1 - VALUE;
        to[at..at + VALUE].copy_from_slice(&before.to_le_bytes());
        (len, at)
    }

    /// Like [`Encoder::write`], for events that occur by the million. The parts are separate
    /// arguments: a struct would be stored in pieces and loaded as a whole, and the processor would
    /// stall on that.
    #[inline(always)]
    pub fn access(
        &mut self,
        kind: AccessByte,
        (site, address): (u32, u64),
        value: u64,
        before: Option<u64>,
        to: &mut [u8; LONGEST],
    ) -> usize {
        let from = core::mem::replace(&mut self.0, Last { site, address });
        let site = zigzag32(site.wrapping_sub(from.site));
        let address = zigzag(address.wrapping_sub(from.address));
        let codes = (site_code(site), code(address), code(value));
        to[0] = kind.0 | u8::from(before.is_some()) << 5;
        to[1] = codes.0 | codes.1 << 2 | codes.2 << 5;
        let mut at = 2;
        put(to, &mut at, u64::from(site), SITE_BYTES[codes.0 as usize]);
        put(to, &mut at, address, bytes(codes.1));
        put(to, &mut at, value, bytes(codes.2));
        if let Some(before) = before {
            let code = code(before);
            to[at & 31] = code;
            at += 1;
            put(to, &mut at, before, bytes(code));
        }
        at
    }

    fn place(&mut self, out: &mut Out<'_>, site: u32, address: u64) {
        out.difference(u64::from(self.0.site), u64::from(site));
        out.difference(self.0.address, address);
        self.0 = Last { site, address };
    }
}

/// The number of bytes of a value that is filled in later.
pub const VALUE: usize = 8;

/// Fills in the value of a write that was encoded without it.
pub fn fill_in(bytes: &mut [u8; VALUE], value: u64) {
    *bytes = value.to_le_bytes();
}

/// Decodes events until the stream ends or an event is invalid.
pub struct Decoder<'a> {
    bytes: &'a [u8],
    at: usize,
    last: Last,
}

impl<'a> Decoder<'a> {
    pub fn new(bytes: &'a [u8]) -> Decoder<'a> {
        Decoder { bytes, at: 0, last: Last::default() }
    }

    /// Whether the whole stream has been read.
    pub fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    fn byte(&mut self) -> Option<u8> {
        let b = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(b)
    }

    fn number(&mut self) -> Option<u64> {
        let mut n = 0u64;
        for shift in (0..70).step_by(7) {
            let b = self.byte()?;
            n |= u64::from(b & 0x7f) << shift.min(63);
            if b & 0x80 == 0 {
                return Some(n);
            }
        }
        None
    }

    fn difference(&mut self, from: u64) -> Option<u64> {
        let n = self.number()?;
        Some(from.wrapping_add(unzigzag(n)))
    }

    fn place(&mut self) -> Option<(u32, u64)> {
        let site = self.difference(u64::from(self.last.site))? as u32;
        let address = self.difference(self.last.address)?;
        self.last = Last { site, address };
        Some((site, address))
    }

    fn event(&mut self) -> Option<RecordedEvent> {
        let bits = self.byte()?;
        Some(match bits & 3 {
            THREAD if bits == THREAD => RecordedEvent::Thread(u16::try_from(self.number()?).ok()?),
            STEP if bits == STEP => {
                let kind = self.byte()?;
                let (site, object) = self.place()?;
                RecordedEvent::Step(SyncStep { kind, site, object, other: self.number()? })
            }
            THREAD if bits == SHARED => RecordedEvent::Shared(self.number()?),
            THREAD | STEP => return None,
            _ => RecordedEvent::Access(self.access(bits)?),
        })
    }

    #[inline]
    fn access(&mut self, bits: u8) -> Option<TracedAccess> {
        let codes = self.byte()?;
        let site = self.fixed(SITE_BYTES[usize::from(codes & 3)])?;
        let address = self.fixed(bytes(codes >> 2 & 7))?;
        let value = self.fixed(bytes(codes >> 5))?;
        let before = match bits & 1 << 5 != 0 {
            true => {
                let code = self.byte().filter(|code| *code <= 7)?;
                Some(self.fixed(bytes(code))?)
            }
            false => None,
        };
        let site = self.last.site.wrapping_add(unzigzag(site) as u32);
        let address = self.last.address.wrapping_add(unzigzag(address));
        self.last = Last { site, address };
        Some(TracedAccess {
            site,
            address,
            size: 1 << (bits >> 2 & 3),
            write: bits & 3 == WRITE,
            atomic: bits & 1 << 4 != 0,
            updates: bits & 1 << 6 != 0,
            value,
            before,
        })
    }

    /// A number of `n` bytes, at most eight.
    #[inline]
    fn fixed(&mut self, n: usize) -> Option<u64> {
        let rest = self.bytes.get(self.at..)?;
        let number = match rest.first_chunk::<8>() {
            Some(whole) => u64::from_le_bytes(*whole) & MASKS[n],
            None => {
                let mut number = [0; 8];
                number[..n].copy_from_slice(rest.get(..n)?);
                u64::from_le_bytes(number)
            }
        };
        self.at += n;
        Some(number)
    }
}

impl Iterator for Decoder<'_> {
    type Item = RecordedEvent;

    fn next(&mut self) -> Option<RecordedEvent> {
        let begun = self.at;
        let event = self.event();
        if event.is_none() {
            // An invalid event is not consumed, so `is_at_end` returns false.
            self.at = begun;
        }
        event
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(events: &[RecordedEvent]) -> Vec<u8> {
        let (mut encoder, mut bytes, mut buffer) = (Encoder::default(), Vec::new(), [0; LONGEST]);
        for event in events {
            let n = encoder.write(event, &mut buffer);
            bytes.extend_from_slice(&buffer[..n]);
        }
        bytes
    }

    fn access() -> impl Strategy<Value = RecordedEvent> {
        let flags = (any::<bool>(), any::<bool>(), any::<bool>(), 0u8..4);
        (any::<u32>(), any::<u64>(), any::<u64>(), any::<Option<u64>>(), flags).prop_map(
            |(site, address, value, before, (write, atomic, updates, size))| {
                RecordedEvent::Access(TracedAccess {
                    site,
                    address,
                    size: 1 << size,
                    write,
                    atomic,
                    updates,
                    value,
                    before,
                })
            },
        )
    }

    fn event() -> impl Strategy<Value = RecordedEvent> {
        let step = (any::<u8>(), any::<u32>(), any::<u64>(), any::<u64>());
        prop_oneof![
            any::<u16>().prop_map(RecordedEvent::Thread),
            any::<u64>().prop_map(RecordedEvent::Shared),
            step.prop_map(|(kind, site, object, other)| RecordedEvent::Step(SyncStep {
                kind,
                site,
                object,
                other
            })),
            access(),
        ]
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(events in proptest::collection::vec(event(), 0..50)) {
            let bytes = encoded(&events);
            let mut decoder = Decoder::new(&bytes);
            prop_assert_eq!(decoder.by_ref().collect::<Vec<_>>(), events);
            prop_assert!(decoder.is_at_end());
        }

        #[test]
        fn a_stream_cut_short_gives_its_beginning(events in proptest::collection::vec(event(), 1..20), cut in 0usize..400) {
            let bytes = encoded(&events);
            let mut decoder = Decoder::new(&bytes[..cut.min(bytes.len())]);
            let read: Vec<RecordedEvent> = decoder.by_ref().collect();
            prop_assert_eq!(&read[..], &events[..read.len()]);
            prop_assert!(read.len() == events.len() || cut < bytes.len());
        }

        #[test]
        fn any_bytes_come_to_an_end(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(Decoder::new(&bytes).count() <= bytes.len());
        }
    }

    #[test]
    fn an_access_near_the_last_takes_few_bytes() {
        let at = |site, address, value| {
            RecordedEvent::Access(TracedAccess {
                site,
                address,
                size: 4,
                write: false,
                atomic: false,
                updates: false,
                value,
                before: None,
            })
        };
        let first = at(0x5555_5293, 0x5555_5555_80a0, 1);
        let one = encoded(&[first]).len();
        assert!(one <= 14, "{one}");
        assert_eq!(encoded(&[first, at(0x5555_52a0, 0x5555_5555_80a8, 7)]).len() - one, 5);
        assert_eq!(encoded(&[first, at(0x5555_5293, 0x5555_5555_80a0, 0)]).len() - one, 2);
    }

    #[test]
    fn a_number_takes_the_bytes_that_it_needs() {
        let needs =
            [(0, 0), (1, 1), (0xff, 1), (0x100, 2), (0xff_ffff, 3), (1 << 47, 6), (1 << 48, 8), (!0, 8)];
        for (number, len) in needs {
            assert_eq!(bytes(code(number)), len, "{number:#x}");
        }
        let sites = [(0, 0), (0xff, 1), (0xffff, 2), (0x1_0000, 4), (!0, 4)];
        for (site, len) in sites {
            assert_eq!(SITE_BYTES[usize::from(site_code(site))], len, "{site:#x}");
        }
    }

    #[test]
    fn a_value_is_filled_in_later() {
        let write = |value, before| TracedAccess {
            site: 7,
            address: 0x5555_0000_1008,
            size: 8,
            write: true,
            atomic: false,
            updates: false,
            value,
            before: Some(before),
        };
        for value in [0, 1, 0x80, u64::MAX, 1 << 63] {
            let mut bytes = [0; LONGEST];
            let (len, at) = Encoder::default().write_later(&write(0, 3), &mut bytes);
            let untouched: Vec<RecordedEvent> = Decoder::new(&bytes[..len]).collect();
            assert_eq!(untouched, [RecordedEvent::Access(write(3, 3))], "until then what was there before");
            fill_in(bytes[at..].first_chunk_mut().unwrap(), value);
            let read: Vec<RecordedEvent> = Decoder::new(&bytes[..len]).collect();
            assert_eq!(read, [RecordedEvent::Access(write(value, 3))]);
        }
    }

    #[test]
    fn the_parts_of_the_file_do_not_overlap() {
        let header = TraceHeader::new(1 << 20, 100, Recording::All);
        assert!(header.table_at() >= size_of::<TraceHeader>());
        assert!(header.stream_at() >= header.table_at() + 800);
        assert_eq!(header.bytes(), header.stream_at() + (1 << 20));
    }
}
