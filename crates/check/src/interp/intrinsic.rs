//! Operations on ranges of memory: allocation, copies, texts.

use super::history::{FREE, WRITE};
use super::memory::Block;
use super::value::{is_unknown, mix, unknown};
use super::{Machine, RunEnd};
use crate::ir::{Intrinsic, Scalar};

/// The maximum length of a text.
const LONGEST: usize = 1 << 16;

/// A text, as far as it is known.
enum Text {
    Known(Vec<u8>),
    /// It has an unknown byte, or no end.
    Vague(usize),
    Nowhere,
}

impl Machine<'_> {
    pub(super) fn intrinsic(&mut self, ti: usize, pc: u32, op: Intrinsic) {
        let n = op.arity() as usize;
        let at = self.threads[ti].stack.len() - n;
        let mut args = [0u64; 4];
        args[..n].copy_from_slice(&self.threads[ti].stack[at..]);
        self.threads[ti].stack.truncate(at);
        let v = self.perform_intrinsic(ti, pc, op, args);
        self.push(ti, v);
    }

    fn perform_intrinsic(&mut self, ti: usize, pc: u32, op: Intrinsic, [a, b, c, _]: [u64; 4]) -> u64 {
        match op {
            Intrinsic::Alloc => self.allocate(ti, pc, a, false),
            Intrinsic::AllocZero => self.allocate(ti, pc, a, true),
            Intrinsic::AllocFrame => self.allocate_in_frame(ti, a),
            Intrinsic::Realloc => self.reallocate(ti, pc, a, b),
            Intrinsic::Free => self.free(ti, pc, a),
            Intrinsic::Copy => {
                let size = self.size_or(c, 0);
                self.copy(ti, pc, a, b, size, 0);
                a
            }
            Intrinsic::Fill => self.fill(ti, pc, a, b, c),
            Intrinsic::Compare => self.compare(ti, pc, a, b, c),
            Intrinsic::TextLength => match self.text(ti, pc, a, LONGEST) {
                Text::Known(t) => t.len() as u64,
                _ => unknown(mix(310, a, 0)),
            },
            Intrinsic::TextCompare => self.compare_texts(ti, pc, a, b, c),
            Intrinsic::TextCopy => self.copy_text(ti, pc, a, b, c),
            Intrinsic::TextFind => match self.text(ti, pc, a, LONGEST) {
                Text::Known(t) if !is_unknown(b) => {
                    let mut whole = t;
                    whole.push(0);
                    whole.iter().position(|x| *x == b as u8).map_or(0, |i| a + i as u64)
                }
                _ => unknown(mix(311, a, b)),
            },
            Intrinsic::ReadRange => {
                self.range(ti, pc, a, b, 0);
                0
            }
            Intrinsic::WriteRange => {
                if let Some((at, size)) = self.range(ti, pc, a, b, WRITE) {
                    self.fresh = self.fresh.wrapping_add(1);
                    self.make_unknown(at, size, u64::from(self.fresh));
                }
                0
            }
            Intrinsic::Havoc => {
                let size = self.size_or(b, 0);
                if !is_unknown(a)
                    && let Ok(at) = self.memory.index(a, size)
                {
                    self.fresh = self.fresh.wrapping_add(1);
                    self.make_unknown(at, size as usize, u64::from(self.fresh));
                    self.pay_for(size);
                }
                0
            }
            Intrinsic::ReadFormat => self.read_format(ti, pc, a, b),
            Intrinsic::Unknown => self.fresh_unknown(),
            Intrinsic::Choose => self.choose(a, b),
            Intrinsic::Assume => {
                if !self.assume_if_possible(a) {
                    self.end = Some(RunEnd::Finished);
                }
                0
            }
            Intrinsic::IsAlone => u64::from(self.threads.len() == 1),
            Intrinsic::IsOutermost => u64::from(self.threads[ti].frames.len() == 1),
            Intrinsic::Holds => u64::from(self.threads[ti].held.iter().any(|h| h.lock == a)),
            Intrinsic::IsKnown => u64::from(!is_unknown(a)),
            Intrinsic::Peek => match self.memory.index(a, 4) {
                Ok(at) if !is_unknown(a) => self.memory.load(at, Scalar::U32),
                _ => self.fresh_unknown(),
            },
            Intrinsic::BlockSize => self.memory.block(a).map_or(0, |b| u64::from(b.size)),
        }
    }

    fn size_or(&self, size: u64, otherwise: u64) -> u64 {
        if is_unknown(size) { otherwise } else { size }
    }

    fn allocate(&mut self, ti: usize, pc: u32, size: u64, zero: bool) -> u64 {
        /// The size of an allocation of unknown size. It has room for the few elements that a loop
        /// with an unknown bound reaches, so that they do not reach into other objects.
        const USUAL: u64 = 8192;
        /// A block that would fill the simulated memory gets only its beginning. The elements after
        /// that are unknown.
        const LARGEST: u64 = 256 << 10;
        /// No program gets this much.
        const ABSURD: u64 = 1 << 40;
        let size = self.size_or(size, USUAL);
        let size = if size > LARGEST && size < ABSURD { LARGEST } else { size };
        let context = self.context(ti);
        let block = Block { address: 0, size: 0, freed: false, thread: ti as u8, pc, context };
        match self.memory.allocate(size, zero, block) {
            Some(address) => u64::from(address),
            // An allocation that could never succeed fails; one that meets the bound ends the run.
            None if size > self.bounds.heap as u64 => 0,
            None => {
                self.end = Some(RunEnd::Memory);
                0
            }
        }
    }

    fn allocate_in_frame(&mut self, ti: usize, size: u64) -> u64 {
        let size = self.size_or(size, 256).min(u64::from(u32::MAX / 2)) as u32;
        let Some(address) = self.memory.allocate_frame(size.max(1)) else {
            self.end = Some(RunEnd::Memory);
            return 0;
        };
        let depth = self.threads[ti].frames.len() as u32;
        self.threads[ti].frame_blocks.push((depth, address, size.max(1)));
        u64::from(address)
    }

    fn reallocate(&mut self, ti: usize, pc: u32, old: u64, size: u64) -> u64 {
        let new = self.allocate(ti, pc, size, false);
        if new == 0 || is_unknown(old) {
            return new;
        }
        let had = self.memory.block(old).map_or(0, |b| u64::from(b.size));
        let keep = had.min(self.size_or(size, had));
        self.copy(ti, pc, new, old, keep, 0);
        self.free(ti, pc, old);
        new
    }

    fn free(&mut self, ti: usize, pc: u32, address: u64) -> u64 {
        if is_unknown(address) {
            return 0;
        }
        let Some(block) = self.memory.block_mut(address) else { return 0 };
        if std::mem::replace(&mut block.freed, true) {
            return 0;
        }
        let size = u64::from(block.size);
        if let Ok(at) = self.memory.index(address, size) {
            self.watch_range(ti, pc, at, size as usize, WRITE | FREE);
        }
        0
    }

    /// Records an access to a range. Returns the range if it exists.
    fn range(&mut self, ti: usize, pc: u32, address: u64, size: u64, flags: u8) -> Option<(usize, usize)> {
        if is_unknown(address) || is_unknown(size) {
            return None;
        }
        let size = self.within_object(address, size);
        let at = self.memory.index(address, size).ok()?;
        self.watch_range(ti, pc, at, size as usize, flags);
        self.pay_for(size);
        Some((at, size as usize))
    }

    /// Counts the work on many bytes as steps. A loop that clears a buffer of a megabyte would
    /// otherwise take minutes within its bound on steps.
    pub(super) fn pay_for(&mut self, bytes: u64) {
        const BYTES_IN_A_STEP: u64 = 4096;
        self.steps += bytes / BYTES_IN_A_STEP;
    }

    /// Makes a range unknown, and counts the work as steps: a number is computed for each word.
    pub(super) fn make_unknown(&mut self, at: usize, size: usize, salt: u64) {
        const BYTES_IN_A_STEP: u64 = 256;
        self.steps += size as u64 / BYTES_IN_A_STEP;
        self.memory.havoc(at, size, salt);
    }

    fn fill(&mut self, ti: usize, pc: u32, to: u64, byte: u64, size: u64) -> u64 {
        if let Some((at, size)) = self.range(ti, pc, to, size, WRITE) {
            if is_unknown(byte) {
                self.make_unknown(at, size, byte);
            } else {
                self.memory.fill(at, size, byte as u8);
            }
        }
        to
    }

    fn compare(&mut self, ti: usize, pc: u32, a: u64, b: u64, size: u64) -> u64 {
        let ranges = self.range(ti, pc, a, size, 0).zip(self.range(ti, pc, b, size, 0));
        let Some(((x, n), (y, m))) = ranges else { return unknown(mix(312, a, b)) };
        for i in 0..n.min(m) {
            match (self.memory.byte(x + i), self.memory.byte(y + i)) {
                (Some(p), Some(q)) if p == q => {}
                (Some(p), Some(q)) => return (i64::from(p) - i64::from(q)) as u64,
                _ => return unknown(mix(312, a, b)),
            }
        }
        // An object may end before `size` does. Nobody knows what follows it.
        if n.min(m) as u64 == size { 0 } else { unknown(mix(312, a, b)) }
    }

    /// Reads a text, recording the read.
    fn text(&mut self, ti: usize, pc: u32, address: u64, most: usize) -> Text {
        let Ok(at) = self.memory.index(address, 1) else { return Text::Nowhere };
        if is_unknown(address) {
            return Text::Nowhere;
        }
        let mut bytes = Vec::new();
        let end = at + self.within_object(address, most as u64) as usize;
        let end = self.memory.extent().min(end);
        let mut i = at;
        let result = loop {
            if i >= end {
                break Text::Vague(i - at);
            }
            match self.memory.byte(i) {
                None => break Text::Vague(i - at + 1),
                Some(0) => break Text::Known(bytes),
                Some(b) => bytes.push(b),
            }
            i += 1;
        };
        let read = match &result {
            Text::Known(t) => (t.len() + 1).min(most),
            Text::Vague(n) => *n,
            Text::Nowhere => 0,
        };
        self.watch_range(ti, pc, at, read, 0);
        result
    }

    fn compare_texts(&mut self, ti: usize, pc: u32, a: u64, b: u64, most: u64) -> u64 {
        let most = self.size_or(most, LONGEST as u64).min(LONGEST as u64) as usize;
        match (self.text(ti, pc, a, most), self.text(ti, pc, b, most)) {
            (Text::Known(x), Text::Known(y)) => {
                let (x, y) = (&x[..x.len().min(most)], &y[..y.len().min(most)]);
                x.cmp(y) as i64 as u64
            }
            _ => unknown(mix(313, a, b)),
        }
    }

    /// Copies a text of at most `max` bytes with its terminator. Returns its length.
    fn copy_text(&mut self, ti: usize, pc: u32, to: u64, from: u64, most: u64) -> u64 {
        let most = self.size_or(most, LONGEST as u64).min(LONGEST as u64) as usize;
        match self.text(ti, pc, from, most) {
            Text::Known(t) => {
                let size = (t.len() as u64 + 1).min(most as u64);
                // A text that is too long ends where the object does.
                if let Some((at, room)) = self.range(ti, pc, to, size, WRITE) {
                    for (i, b) in t.iter().chain(&[0]).take(room).enumerate() {
                        self.memory.store(at + i, Scalar::U8, u64::from(*b));
                    }
                }
                t.len() as u64
            }
            _ => {
                // At least something is written.
                if let Some((at, _)) = self.range(ti, pc, to, 1, WRITE) {
                    self.make_unknown(at, 1, from);
                }
                unknown(mix(310, from, 0))
            }
        }
    }

    fn read_format(&mut self, ti: usize, pc: u32, format: u64, arguments: u64) -> u64 {
        let Text::Known(format) = self.text(ti, pc, format, LONGEST) else { return 0 };
        let mut next = arguments;
        let mut bytes = format.iter().copied().peekable();
        while let Some(b) = bytes.next() {
            if b != b'%' {
                continue;
            }
            let mut bounded = false;
            while let Some(c) = bytes.peek().copied() {
                bytes.next();
                match c {
                    b'%' => break,
                    b'*' => next += 8,
                    b'.' => bounded = true,
                    b'-'
                    | b'+'
                    | b' '
                    | b'#'
                    | b'0'..=b'9'
                    | b'l'
                    | b'h'
                    | b'z'
                    | b'j'
                    | b't'
                    | b'L'
                    | b'q' => {}
                    conversion => {
                        if conversion == b's'
                            && !bounded
                            && let Ok(at) = self.memory.index(next, 8)
                        {
                            let pointer = self.memory.load(at, Scalar::U64);
                            self.text(ti, pc, pointer, LONGEST);
                        }
                        next += 8;
                        break;
                    }
                }
            }
        }
        0
    }

    fn choose(&mut self, lo: u64, hi: u64) -> u64 {
        if is_unknown(lo) || is_unknown(hi) {
            return self.fresh_unknown();
        }
        self.approximate = true;
        let span = (hi as i64).saturating_sub(lo as i64).max(0) as u64;
        lo.wrapping_add(self.rng.below(span.saturating_add(1)))
    }
}
