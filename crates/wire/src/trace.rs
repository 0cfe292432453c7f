//! What a traced execution of `raddle conseq` did: accesses with their values, and steps that synchronise, as bytes.
//!
//! The file `trace` of the session's folder: a [`Header`], a table of program counters, and the *stream*, which each
//! execution begins anew. One thread runs at a time (the scheduler of `explore` is at work), so one stream holds the events of
//! all threads in the order in which they happened, and nobody contends for it.
//!
//! An event is a byte that says what it is, then numbers of as many bytes as they need (LEB128). Program counters and
//! addresses are written as differences from the last ones, so that an access takes about six bytes:
//!
//! ```text
//! bits 0-1  0: the thread changes (its number)      1: a step (its kind, site, object, other)
//!           2: a read (site, address, value)        3: a write (site, address, value after, value before if bit 5)
//! bits 2-3  of an access: 1, 2, 4 or 8 bytes
//! bit 4     of an access: atomic
//! bit 5     of a write: the value before follows
//! bit 6     of a write: it read the value before, in the same instant
//! ```
//!
//! In a run that nobody schedules (`rt::trace::plain`) threads contend for the stream, and a write's event comes before its store: its
//! value takes ten bytes whatever it is ([`Encoder::write_later`]), and is filled in once it is there. Such a stream is of one
//! process, the first that created a thread ([`Header::process`]).
//!
//! A number that begins before the end of the stream and does not end there, or an event of a kind that is not known, ends what can
//! be read: a trace cut short by a crash is as good as its beginning.

use core::sync::atomic::AtomicU64;

pub const MAGIC: u64 = u64::from_le_bytes(*b"raddletr");

/// The name of the file in the session's folder.
pub const FILE: &str = "trace";

#[repr(C)]
pub struct Header {
    pub magic: u64,
    pub version: u32,
    /// One of [`mode`]; the driver changes it between executions.
    pub mode: core::sync::atomic::AtomicU32,
    /// Bytes that the stream may have.
    pub room: u64,
    /// Program counters in the table: reads are recorded at these. 0: at all.
    pub reads: u64,
    /// Bytes of the stream, after each event.
    pub used: AtomicU64,
    pub events: AtomicU64,
    /// Events for which there was no room.
    pub lost: AtomicU64,
    /// Accesses that were seen, recorded or not. Those to memory of the thread's own are passed by where that is learned.
    pub accesses: AtomicU64,
    /// The process that the stream is of, where several could write to it. 0: none yet.
    pub process: AtomicU64,
}

/// [`Header::mode`].
pub mod mode {
    /// Everything is recorded.
    pub const ALL: u32 = 0;
    /// Nothing is recorded; which memory more than one thread touches is learned.
    pub const LEARN: u32 = 1;
    /// What touches memory that was learned to be shared is recorded.
    pub const SHARED: u32 = 2;
    /// Only the accesses of the table are recorded, reads and writes.
    pub const TABLE: u32 = 3;
}

impl Header {
    pub fn new(room: u64, reads: u64, mode: u32) -> Header {
        Header {
            magic: MAGIC,
            version: crate::VERSION,
            mode: mode.into(),
            room,
            reads,
            used: AtomicU64::new(0),
            events: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            accesses: AtomicU64::new(0),
            process: AtomicU64::new(0),
        }
    }

    pub const fn table_at(&self) -> usize {
        size_of::<Header>().next_multiple_of(64)
    }

    pub const fn stream_at(&self) -> usize {
        (self.table_at() + self.reads as usize * 8).next_multiple_of(4096)
    }

    pub const fn bytes(&self) -> usize {
        self.stream_at() + self.room as usize
    }
}

/// The most bytes that an event takes.
pub const LONGEST: usize = 48;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// What follows is this thread's.
    Thread(u16),
    Step(Step),
    Access(Access),
}

/// A step that synchronises: an operation of `explore`, in its own numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub kind: u8,
    pub site: u32,
    pub object: u64,
    /// The operation's; for a barrier how many it is for, or 0 when one that waited goes on.
    pub other: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The low half of the program counter to which the probe returns.
    pub site: u32,
    pub address: u64,
    /// 1, 2, 4 or 8.
    pub size: u8,
    pub write: bool,
    pub atomic: bool,
    /// It read `before` in the same instant.
    pub updates: bool,
    /// What was read, or is there after the write.
    pub value: u64,
    /// What was there before the write, where that is recorded.
    pub before: Option<u64>,
}

/// What differences are taken from.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    site: u32,
    address: u64,
}

/// Writes events.
#[derive(Clone, Copy, Debug, Default)]
pub struct Encoder(Last);

const THREAD: u8 = 0;
const STEP: u8 = 1;
const READ: u8 = 2;
const WRITE: u8 = 3;

struct Out<'a> {
    to: &'a mut [u8; LONGEST],
    len: usize,
}

impl Out<'_> {
    fn byte(&mut self, b: u8) {
        // No event is longer than the buffer: five numbers of at most ten bytes do not occur together.
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
        let d = to.wrapping_sub(from) as i64;
        self.number((d << 1 ^ d >> 63) as u64);
    }
}

impl Encoder {
    pub const NEW: Encoder = Encoder(Last { site: 0, address: 0 });

    /// The event as bytes, of which so many count.
    pub fn write(&mut self, event: &Event, to: &mut [u8; LONGEST]) -> usize {
        let mut out = Out { to, len: 0 };
        match event {
            Event::Thread(t) => {
                out.byte(THREAD);
                out.number(u64::from(*t));
            }
            Event::Step(s) => {
                out.byte(STEP);
                out.byte(s.kind);
                self.place(&mut out, s.site, s.object);
                out.number(s.other);
            }
            Event::Access(a) => {
                let bits = if a.write { WRITE } else { READ }
                    | (a.size.max(1).ilog2() as u8 & 3) << 2
                    | u8::from(a.atomic) << 4
                    | u8::from(a.before.is_some()) << 5
                    | u8::from(a.updates) << 6;
                out.byte(bits);
                self.place(&mut out, a.site, a.address);
                out.number(a.value);
                if let Some(before) = a.before {
                    out.number(before);
                }
            }
        }
        out.len
    }

    /// A write whose value is not there yet, with the one before in its place. So many bytes count, and from the second number on
    /// are those for [`fill_in`].
    pub fn write_later(&mut self, a: &Access, to: &mut [u8; LONGEST]) -> (usize, usize) {
        let mut out = Out { to, len: 0 };
        out.byte(WRITE | (a.size.max(1).ilog2() as u8 & 3) << 2 | 1 << 5);
        self.place(&mut out, a.site, a.address);
        let at = out.len;
        let before = a.before.unwrap_or(a.value);
        let mut bytes = [0; VALUE];
        fill_in(&mut bytes, before);
        bytes.into_iter().for_each(|b| out.byte(b));
        out.number(before);
        (out.len, at)
    }

    fn place(&mut self, out: &mut Out<'_>, site: u32, address: u64) {
        out.difference(u64::from(self.0.site), u64::from(site));
        out.difference(self.0.address, address);
        self.0 = Last { site, address };
    }
}

/// Bytes of a value that is filled in.
pub const VALUE: usize = 10;

/// The value of a write that was written without it.
pub fn fill_in(bytes: &mut [u8; VALUE], value: u64) {
    for (i, b) in bytes.iter_mut().enumerate() {
        let more = if i + 1 < VALUE { 0x80 } else { 0 };
        *b = (value.checked_shr(7 * i as u32).unwrap_or(0) & 0x7f) as u8 | more;
    }
}

/// Reads events, until there are no more or one makes no sense.
pub struct Decoder<'a> {
    bytes: &'a [u8],
    at: usize,
    last: Last,
}

impl<'a> Decoder<'a> {
    pub fn new(bytes: &'a [u8]) -> Decoder<'a> {
        Decoder { bytes, at: 0, last: Last::default() }
    }

    /// Whether all that there was has been read.
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
        Some(from.wrapping_add((n >> 1) ^ (n & 1).wrapping_neg()))
    }

    fn place(&mut self) -> Option<(u32, u64)> {
        let site = self.difference(u64::from(self.last.site))? as u32;
        let address = self.difference(self.last.address)?;
        self.last = Last { site, address };
        Some((site, address))
    }

    fn event(&mut self) -> Option<Event> {
        let bits = self.byte()?;
        Some(match bits & 3 {
            THREAD if bits == THREAD => Event::Thread(u16::try_from(self.number()?).ok()?),
            STEP if bits == STEP => {
                let kind = self.byte()?;
                let (site, object) = self.place()?;
                Event::Step(Step { kind, site, object, other: self.number()? })
            }
            THREAD | STEP => return None,
            kind => {
                let (site, address) = self.place()?;
                let value = self.number()?;
                let before = if bits & 1 << 5 != 0 { Some(self.number()?) } else { None };
                Event::Access(Access {
                    site,
                    address,
                    size: 1 << (bits >> 2 & 3),
                    write: kind == WRITE,
                    atomic: bits & 1 << 4 != 0,
                    updates: bits & 1 << 6 != 0,
                    value,
                    before,
                })
            }
        })
    }
}

impl Iterator for Decoder<'_> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        let begun = self.at;
        let event = self.event();
        if event.is_none() {
            // What makes no sense is left where it is: `is_at_end` tells.
            self.at = begun;
        }
        event
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(events: &[Event]) -> Vec<u8> {
        let (mut encoder, mut bytes, mut buffer) = (Encoder::default(), Vec::new(), [0; LONGEST]);
        for event in events {
            let n = encoder.write(event, &mut buffer);
            bytes.extend_from_slice(&buffer[..n]);
        }
        bytes
    }

    fn access() -> impl Strategy<Value = Event> {
        let flags = (any::<bool>(), any::<bool>(), any::<bool>(), 0u8..4);
        (any::<u32>(), any::<u64>(), any::<u64>(), any::<Option<u64>>(), flags).prop_map(
            |(site, address, value, before, (write, atomic, updates, size))| {
                Event::Access(Access {
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

    fn event() -> impl Strategy<Value = Event> {
        let step = (any::<u8>(), any::<u32>(), any::<u64>(), any::<u64>());
        prop_oneof![
            any::<u16>().prop_map(Event::Thread),
            step.prop_map(|(kind, site, object, other)| Event::Step(Step { kind, site, object, other })),
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
            let read: Vec<Event> = decoder.by_ref().collect();
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
            Event::Access(Access {
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
        assert_eq!(encoded(&[first, at(0x5555_52a0, 0x5555_5555_80a8, 7)]).len() - one, 4);
    }

    #[test]
    fn a_value_is_filled_in_later() {
        let write = |value, before| Access {
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
            let untouched: Vec<Event> = Decoder::new(&bytes[..len]).collect();
            assert_eq!(untouched, [Event::Access(write(3, 3))], "until then what was there before");
            fill_in(bytes[at..].first_chunk_mut().unwrap(), value);
            let read: Vec<Event> = Decoder::new(&bytes[..len]).collect();
            assert_eq!(read, [Event::Access(write(value, 3))]);
        }
    }

    #[test]
    fn the_parts_of_the_file_do_not_overlap() {
        let header = Header::new(1 << 20, 100, mode::ALL);
        assert!(header.table_at() >= size_of::<Header>());
        assert!(header.stream_at() >= header.table_at() + 800);
        assert_eq!(header.bytes(), header.stream_at() + (1 << 20));
    }
}
