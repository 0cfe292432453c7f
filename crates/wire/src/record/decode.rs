//! The driver's side: decodes the records in the bytes of a log.

use super::{AccessKind, AddressKind, HeldLock, LockKind, MisuseKind, Moment, REGISTERS, kind};

/// A [`super::Record`] that owns what it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decoded {
    Process {
        executable: Vec<u8>,
    },
    Command {
        words: Vec<u8>,
        environment: Vec<u8>,
        folder: Vec<u8>,
    },
    Module {
        low: u64,
        high: u64,
        offset: u64,
        path: Vec<u8>,
    },
    Stack {
        id: u64,
        pcs: Vec<u64>,
    },
    Thread {
        thread: u64,
        parent: u64,
        stack: u64,
    },
    ThreadName {
        thread: u64,
        name: Vec<u8>,
    },
    ThreadEnd {
        thread: u64,
    },
    ThreadJoin {
        joiner: u64,
        thread: u64,
    },
    /// `what` is None if the runtime knows more kinds.
    Lock {
        lock: u64,
        address: u64,
        what: Option<LockKind>,
    },
    Race {
        now: DecodedEnd,
        before: DecodedEnd,
        place: AddressKind,
    },
    UseAfterFree {
        now: DecodedEnd,
        before: DecodedEnd,
        place: AddressKind,
    },
    LockEdge {
        thread: u64,
        segment: u64,
        moment: Moment,
        acquired: HeldLock,
        held: Vec<HeldLock>,
    },
    ExpectRace {
        address: u64,
        size: u64,
        stack: u64,
        description: Vec<u8>,
    },
    Defaults {
        options: Vec<u8>,
        suppressions: Vec<u8>,
    },
    ExpectedSeen {
        address: u64,
    },
    /// `what` is None if the runtime knows more kinds.
    Misuse {
        what: Option<MisuseKind>,
        thread: u64,
        lock: u64,
        stack: u64,
        taken: u64,
    },
    Fatal {
        code: u64,
        detail: Vec<u8>,
    },
    Copy {
        start: u64,
        bias: u64,
    },
    Left {
        why: u64,
        path: Vec<u8>,
    },
    Violation {
        object: u64,
        now: DecodedCaught,
        before: DecodedCaught,
    },
}

/// [`super::CaughtThread`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodedCaught {
    pub thread: u64,
    pub site: u64,
    pub name: Vec<u8>,
    pub registers: [u64; REGISTERS],
    pub stack: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodedEnd {
    pub thread: u64,
    pub kind: AccessKind,
    pub address: u64,
    pub size: u64,
    pub stack: u64,
    pub locks: Vec<HeldLock>,
}

/// All complete records of a log's body (the bytes after its header). Decoding never fails; it
/// stops at the first record that it cannot read.
pub fn decode_all(body: &[u8]) -> Vec<Decoded> {
    let words: Vec<u64> = body.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().unwrap())).collect();
    let mut out = Vec::new();
    let mut rest = &words[..];
    while let Some((&head, tail)) = rest.split_first() {
        let len = (head & 0xffff_ffff) as usize;
        if head == 0 || len > tail.len() {
            break;
        }
        let (record, next) = tail.split_at(len);
        // A pending record has no kind and decodes to nothing.
        out.extend(decode(head >> 32, &mut WordReader(record)));
        rest = next;
    }
    out
}

struct WordReader<'a>(&'a [u64]);

impl WordReader<'_> {
    fn word(&mut self) -> Option<u64> {
        let (&w, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(w)
    }

    fn bytes(&mut self) -> Option<Vec<u8>> {
        let len = self.word()? as usize;
        let (words, rest) = self.0.split_at_checked(len.div_ceil(8))?;
        self.0 = rest;
        let mut bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        bytes.truncate(len);
        Some(bytes)
    }

    fn words(&mut self) -> Option<Vec<u64>> {
        let len = self.word()? as usize;
        let (words, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(words.to_vec())
    }

    fn locks(&mut self) -> Option<Vec<HeldLock>> {
        let len = self.word()?;
        (0..len)
            .map(|_| Some(HeldLock { lock: self.word()?, read: self.word()?, stack: self.word()? }))
            .collect()
    }

    fn moment(&mut self) -> Option<Moment> {
        let mut moment = Moment { number: self.word()?, context: self.word()?, ..Moment::default() };
        for word in &mut moment.knows {
            *word = self.word()?;
        }
        Some(moment)
    }

    fn caught(&mut self) -> Option<DecodedCaught> {
        let (thread, site, name) = (self.word()?, self.word()?, self.bytes()?);
        let mut registers = [0; REGISTERS];
        for register in &mut registers {
            *register = self.word()?;
        }
        Some(DecodedCaught { thread, site, name, registers, stack: self.bytes()? })
    }

    fn end(&mut self) -> Option<DecodedEnd> {
        Some(DecodedEnd {
            thread: self.word()?,
            kind: AccessKind::from_number(self.word()?)?,
            address: self.word()?,
            size: self.word()?,
            stack: self.word()?,
            locks: self.locks()?,
        })
    }
}

fn decode(kind: u64, w: &mut WordReader) -> Option<Decoded> {
    Some(match kind {
        kind::PROCESS => Decoded::Process { executable: w.bytes()? },
        kind::COMMAND => Decoded::Command { words: w.bytes()?, environment: w.bytes()?, folder: w.bytes()? },
        kind::MODULE => {
            Decoded::Module { low: w.word()?, high: w.word()?, offset: w.word()?, path: w.bytes()? }
        }
        kind::STACK => Decoded::Stack { id: w.word()?, pcs: w.words()? },
        kind::THREAD => Decoded::Thread { thread: w.word()?, parent: w.word()?, stack: w.word()? },
        kind::THREAD_NAME => Decoded::ThreadName { thread: w.word()?, name: w.bytes()? },
        kind::THREAD_END => Decoded::ThreadEnd { thread: w.word()? },
        kind::THREAD_JOIN => Decoded::ThreadJoin { joiner: w.word()?, thread: w.word()? },
        kind::LOCK => {
            Decoded::Lock { lock: w.word()?, address: w.word()?, what: LockKind::from_number(w.word()?) }
        }
        kind::RACE => Decoded::Race { now: w.end()?, before: w.end()?, place: place(w)? },
        kind::USE_AFTER_FREE => Decoded::UseAfterFree { now: w.end()?, before: w.end()?, place: place(w)? },
        kind::LOCK_EDGE => Decoded::LockEdge {
            thread: w.word()?,
            segment: w.word()?,
            moment: w.moment()?,
            acquired: *w.locks()?.first()?,
            held: w.locks()?,
        },
        kind::EXPECT_RACE => Decoded::ExpectRace {
            address: w.word()?,
            size: w.word()?,
            stack: w.word()?,
            description: w.bytes()?,
        },
        kind::MISUSE => Decoded::Misuse {
            what: MisuseKind::from_number(w.word()?),
            thread: w.word()?,
            lock: w.word()?,
            stack: w.word()?,
            taken: w.word()?,
        },
        kind::DEFAULTS => Decoded::Defaults { options: w.bytes()?, suppressions: w.bytes()? },
        kind::EXPECTED_SEEN => Decoded::ExpectedSeen { address: w.word()? },
        kind::FATAL => Decoded::Fatal { code: w.word()?, detail: w.bytes()? },
        kind::COPY => Decoded::Copy { start: w.word()?, bias: w.word()? },
        kind::LEFT => Decoded::Left { why: w.word()?, path: w.bytes()? },
        kind::VIOLATION => Decoded::Violation { object: w.word()?, now: w.caught()?, before: w.caught()? },
        _ => return None,
    })
}

fn place(w: &mut WordReader) -> Option<AddressKind> {
    let tag = w.word()?;
    let [start, size, thread, stack] = [w.word()?, w.word()?, w.word()?, w.word()?];
    Some(match tag {
        0 => AddressKind::Unknown,
        1 => AddressKind::Heap { start, size, thread, stack },
        2 => AddressKind::Stack { thread: start },
        3 => AddressKind::Tls { thread: start },
        4 => AddressKind::Descriptor { number: start },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{AccessEnd, CaughtThread, Record};
    use super::*;
    use proptest::prelude::*;

    fn log(records: &[Record]) -> Vec<u8> {
        let mut words = Vec::new();
        for r in records {
            let mut body = Vec::new();
            r.body(&mut body);
            words.push(r.head(body.len()));
            words.append(&mut body);
        }
        words.iter().flat_map(|w: &u64| w.to_le_bytes()).collect()
    }

    #[test]
    fn a_race_comes_back_whole() {
        let locks = [HeldLock { lock: 1, read: 1, stack: 9 }, HeldLock { lock: 2, read: 0, stack: 10 }];
        let end = |kind, locks| AccessEnd { thread: 3, kind, address: 0x1000, size: 4, stack: 7, locks };
        let place = AddressKind::Heap { start: 0xff8, size: 32, thread: 1, stack: 5 };
        let bytes = log(&[
            Record::Process { executable: b"/bin/a" },
            Record::Race { now: end(AccessKind::Write, &locks), before: end(AccessKind::Free, &[]), place },
        ]);
        let owned = |kind, locks: &[HeldLock]| DecodedEnd {
            thread: 3,
            kind,
            address: 0x1000,
            size: 4,
            stack: 7,
            locks: locks.to_vec(),
        };
        assert_eq!(
            decode_all(&bytes),
            [
                Decoded::Process { executable: b"/bin/a".to_vec() },
                Decoded::Race {
                    now: owned(AccessKind::Write, &locks),
                    before: owned(AccessKind::Free, &[]),
                    place
                },
            ]
        );
    }

    #[test]
    fn a_command_comes_back_whole() {
        let bytes = log(&[Record::Command { words: b"./a\0-v\0", environment: b"", folder: b"/home/x" }]);
        let (words, folder) = (b"./a\0-v\0".to_vec(), b"/home/x".to_vec());
        assert_eq!(decode_all(&bytes), [Decoded::Command { words, environment: Vec::new(), folder }]);
    }

    #[test]
    fn a_violation_comes_back_whole() {
        let registers = [1, 2, 3, 4, 5, 6, 7, 8];
        let now = CaughtThread { thread: 2, site: 9, name: b"worker", registers, stack: b"the stack" };
        let before = CaughtThread { thread: 1, site: 8, name: b"", registers: [0; REGISTERS], stack: b"" };
        let owned = |c: CaughtThread| DecodedCaught {
            thread: c.thread,
            site: c.site,
            name: c.name.to_vec(),
            registers: c.registers,
            stack: c.stack.to_vec(),
        };
        let bytes = log(&[Record::Violation { object: 0x40, now, before }]);
        let expected = Decoded::Violation { object: 0x40, now: owned(now), before: owned(before) };
        assert_eq!(decode_all(&bytes), [expected]);
    }

    #[test]
    fn a_record_that_was_never_finished_is_skipped() {
        let mut bytes = log(&[1, 2, 3].map(|thread| Record::ThreadEnd { thread }));
        bytes[16..24].copy_from_slice(&(super::super::PENDING | 1).to_le_bytes());
        assert_eq!(decode_all(&bytes), [Decoded::ThreadEnd { thread: 1 }, Decoded::ThreadEnd { thread: 3 }]);
    }

    #[test]
    fn zeroes_end_the_log() {
        let mut bytes = log(&[Record::ThreadEnd { thread: 1 }, Record::ThreadEnd { thread: 2 }]);
        bytes[16..24].fill(0);
        assert_eq!(decode_all(&bytes), [Decoded::ThreadEnd { thread: 1 }]);
    }

    proptest! {
        #[test]
        fn any_bytes_decode_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            decode_all(&bytes);
        }

        #[test]
        fn names_and_stacks_of_any_length(name in prop::collection::vec(any::<u8>(), 0..40), pcs in prop::collection::vec(any::<u64>(), 0..20)) {
            let bytes = log(&[Record::ThreadName { thread: 5, name: &name }, Record::Stack { id: 8, pcs: &pcs }]);
            prop_assert_eq!(decode_all(&bytes), [Decoded::ThreadName { thread: 5, name }, Decoded::Stack { id: 8, pcs }]);
        }
    }
}
