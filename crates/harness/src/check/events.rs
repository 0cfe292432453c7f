//! Converts the events of a traced execution from the wire format to the types of the analyses.

use raddle_conseq::event::{Cell, TraceEvent, What};
use raddle_explore::OpKind;
use raddle_wire::trace::{self, Decoder};

/// The first descriptor of the program's own. The standard streams create no order.
const FIRST_DESCRIPTOR: u64 = 3;
/// All pipes and sockets count as one channel: raddle does not know which descriptors are
/// connected.
const PIPES: u64 = 1;

/// The content of a stream.
pub struct Told {
    pub events: Vec<TraceEvent>,
    /// Granules of memory that turned out to be shared.
    pub shared: Vec<u64>,
    /// Whether the stream could be read to its end.
    pub whole: bool,
}

pub fn of(stream: Decoder<'_>) -> Told {
    until(stream, &|| false)
}

/// Reads a stream until `is_over`, which is called now and then.
pub fn until(mut stream: Decoder<'_>, is_over: &dyn Fn() -> bool) -> Told {
    const EACH: usize = 1 << 13;
    let (mut events, mut shared) = (Vec::new(), Vec::new());
    let mut thread = 0;
    for (i, event) in stream.by_ref().enumerate() {
        if i % EACH == EACH - 1 && is_over() {
            return Told { events, shared, whole: false };
        }
        match event {
            trace::RecordedEvent::Thread(t) => thread = t,
            trace::RecordedEvent::Shared(address) => shared.push(address),
            trace::RecordedEvent::Access(a) => {
                events.push(TraceEvent { thread, site: a.site, what: access(&a) })
            }
            trace::RecordedEvent::Step(s) => {
                let whats = step(&s).into_iter().flatten();
                events.extend(whats.map(|what| TraceEvent { thread, site: s.site, what }));
            }
        }
    }
    Told { events, shared, whole: stream.is_at_end() }
}

fn access(a: &trace::TracedAccess) -> What {
    let cell = Cell { address: a.address, size: a.size, value: a.value, atomic: a.atomic };
    if a.write { What::Write { cell, before: a.before, reads: a.updates } } else { What::Read(cell) }
}

fn step(s: &trace::SyncStep) -> [Option<What>; 2] {
    use OpKind::*;
    let (object, other) = (s.object, s.other);
    let one = |what| [Some(what), None];
    let takes = |lock, shared| What::Acquire { lock, shared };
    if s.kind == trace::ALLOCATED {
        return one(What::Allocate { from: object, to: other });
    }
    match OpKind::from_number(s.kind) {
        Lock | TimedLock | WriteLock => one(takes(object, false)),
        ReadLock => one(takes(object, true)),
        TryLock => one(What::Try { lock: object }),
        Unlock => one(What::Release { lock: object }),
        CondWait => one(What::Release { lock: other }),
        // In an unscheduled run, the mutex has an event of its own.
        CondWake if other == 0 => one(What::Receive { channel: object }),
        CondWake => [Some(What::Receive { channel: object }), Some(takes(other, false))],
        TimeOut | Spurious if other != 0 => one(takes(other, false)),
        CondSignal | CondBroadcast => one(What::Send { channel: object }),
        SemPost => one(What::Post { semaphore: object }),
        SemWait => one(What::Wait { semaphore: object }),
        Barrier if other == 0 => one(What::Leave { barrier: object }),
        Barrier => one(What::Arrive { barrier: object, count: other as u32 }),
        // The same word twice: a word of the runtime, where OpenMP threads hand over work and data.
        FutexWake if other == object => one(What::Send { channel: object }),
        FutexWait if other == object => one(What::Receive { channel: object }),
        Create => one(What::Fork { child: object as u16 }),
        Join => one(What::Join { child: object as u16 }),
        Io if object > FIRST_DESCRIPTOR => {
            [Some(What::Receive { channel: PIPES }), Some(What::Send { channel: PIPES })]
        }
        Free => one(What::Free { from: object, to: other }),
        _ => [None, None],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_wire::trace::{Encoder, LONGEST, SyncStep, TracedAccess};

    fn stream(events: &[trace::RecordedEvent]) -> Vec<u8> {
        let (mut encoder, mut bytes, mut buffer) = (Encoder::default(), Vec::new(), [0; LONGEST]);
        for e in events {
            let n = encoder.write(e, &mut buffer);
            bytes.extend_from_slice(&buffer[..n]);
        }
        bytes
    }

    fn step(kind: OpKind, object: u64, other: u64) -> trace::RecordedEvent {
        trace::RecordedEvent::Step(SyncStep { kind: kind as u8, site: 7, object, other })
    }

    #[test]
    fn a_wait_gives_its_mutex_up_and_takes_it_again() {
        let bytes = stream(&[
            trace::RecordedEvent::Thread(2),
            step(OpKind::CondWait, 80, 16),
            step(OpKind::CondWake, 80, 16),
            step(OpKind::TimeOut, 80, 16),
        ]);
        let Told { events, whole, .. } = of(Decoder::new(&bytes));
        let whats: Vec<What> = events.iter().map(|e| e.what).collect();
        let takes = What::Acquire { lock: 16, shared: false };
        assert_eq!(whats, [What::Release { lock: 16 }, What::Receive { channel: 80 }, takes, takes]);
        assert!(whole && events.iter().all(|e| (e.thread, e.site) == (2, 7)));
    }

    #[test]
    fn accesses_keep_their_values_and_a_broken_stream_its_beginning() {
        let write = TracedAccess {
            site: 5,
            address: 64,
            size: 4,
            write: true,
            atomic: true,
            updates: true,
            value: 9,
            before: Some(8),
        };
        let mut bytes = stream(&[
            trace::RecordedEvent::Thread(1),
            trace::RecordedEvent::Shared(64),
            trace::RecordedEvent::Access(write),
        ]);
        bytes.push(0xff);
        let Told { events, shared, whole } = of(Decoder::new(&bytes));
        let cell = Cell { address: 64, size: 4, value: 9, atomic: true };
        let what = What::Write { cell, before: Some(8), reads: true };
        assert_eq!((events, whole), (vec![TraceEvent { thread: 1, site: 5, what }], false));
        assert_eq!(shared, [64]);
    }

    #[test]
    fn what_openmp_hands_over_is_ordered_and_a_futex_of_the_program_is_not() {
        let bytes = stream(&[
            step(OpKind::FutexWake, 64, 64),
            step(OpKind::FutexWait, 64, 64),
            step(OpKind::FutexWake, 64, 0),
            step(OpKind::FutexWait, 64, 0),
        ]);
        let whats: Vec<What> = of(Decoder::new(&bytes)).events.iter().map(|e| e.what).collect();
        assert_eq!(whats, [What::Send { channel: 64 }, What::Receive { channel: 64 }]);
    }

    #[test]
    fn barriers_tell_arrival_from_departure_and_output_makes_no_order() {
        let bytes = stream(&[
            step(OpKind::Barrier, 8, 3),
            step(OpKind::Barrier, 8, 0),
            step(OpKind::Io, 2, 0),
            step(OpKind::Io, 6, 0),
        ]);
        let whats: Vec<What> = of(Decoder::new(&bytes)).events.iter().map(|e| e.what).collect();
        let pipe = [What::Receive { channel: PIPES }, What::Send { channel: PIPES }];
        assert_eq!(whats[..2], [What::Arrive { barrier: 8, count: 3 }, What::Leave { barrier: 8 }]);
        assert_eq!(whats[2..], pipe);
    }
}
