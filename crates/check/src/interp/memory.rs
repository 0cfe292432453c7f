//! The simulated memory: one flat range of bytes with an access history and a map of what is
//! unknown.
//!
//! Addresses are plain numbers, so that unions, casts, copies and pointers into anything work as on
//! a machine. Freed blocks are not reused while there is room, so that an access after the end of a
//! block's life meets the `free` in the history and not a new owner. Frames are reused at once:
//! there are too many calls.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::context::ContextId;
use super::history::AccessHistory;
use super::value::{is_unknown, mix, number, unknown};
use crate::ir::{Program, Scalar};

const BASE: u64 = Program::GLOBALS_BASE as u64;

/// Why an access could not be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bad {
    /// At or near null: a real program ends here.
    Null,
    /// Raddle knows of nothing at this address.
    Elsewhere,
}

/// A heap block.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    pub address: u32,
    pub size: u32,
    pub freed: bool,
    pub thread: u8,
    pub pc: u32,
    pub context: ContextId,
}

/// The granularity in which changes to globals are tracked.
const PAGE: usize = 4096;

/// Distinguishes what is unknown at the start from what becomes unknown later.
const AT_START: u64 = 1;

/// The number of the unknown in a scalar at this address that is unknown at the start.
pub fn unknown_at_start(address: u32) -> u32 {
    mix(302, u64::from(address) - BASE, AT_START)
}

/// The content of globals when a run starts.
#[derive(Debug)]
pub struct Base {
    bytes: Vec<u8>,
    holes: Vec<u8>,
}

impl Base {
    /// Takes the initial bytes, and those ranges (address, size) of them that are unknown.
    pub fn new(image: &[u8], unknown: impl Iterator<Item = (u32, u32)>) -> Self {
        let mut m = Memory { bytes: image.to_vec(), ..Memory::default() };
        m.bytes.resize(image.len().next_multiple_of(8), 0);
        m.holes.resize(m.bytes.len() / 8, 0);
        for (address, size) in unknown {
            if let Ok(at) = m.index(u64::from(address), u64::from(size)) {
                m.havoc(at, size as usize, AT_START);
            }
        }
        Self { bytes: m.bytes, holes: m.holes }
    }
}

#[derive(Debug, Default)]
pub struct Memory {
    bytes: Vec<u8>,
    /// For each granule, one bit for each unknown byte.
    holes: Vec<u8>,
    pub history: AccessHistory,
    /// Sorted by address. Only ever appended to, except when space is reused.
    blocks: Vec<Block>,
    frames: FxHashMap<u32, Vec<u32>>,
    /// Start and end of everything allocated so far, by address.
    extents: Vec<(u32, u32)>,
    /// Unknowns that were stored in fewer bytes than their numbers have.
    narrow: FxHashMap<u32, u64>,
    limit: usize,
    /// Bytes allocated on the heap and for frames.
    used: usize,
    base: Option<Arc<Base>>,
    /// For each page of the globals, whether it or its history has changed.
    touched: Vec<bool>,
}

impl Memory {
    /// Starts over. With the same globals as before, only the touched pages are restored: a program
    /// may have megabytes of globals, and most runs are short.
    pub fn reset(&mut self, base: &Arc<Base>, limit: usize) {
        let granules = base.bytes.len() / 8;
        if self.base.as_ref().is_some_and(|b| Arc::ptr_eq(b, base)) {
            self.bytes.truncate(base.bytes.len());
            self.holes.truncate(granules);
            self.history.truncate(granules);
            for page in 0..self.touched.len() {
                if std::mem::take(&mut self.touched[page]) {
                    let range = page * PAGE..((page + 1) * PAGE).min(base.bytes.len());
                    self.bytes[range.clone()].copy_from_slice(&base.bytes[range.clone()]);
                    let range = range.start / 8..range.end / 8;
                    self.holes[range.clone()].copy_from_slice(&base.holes[range.clone()]);
                    self.history.forget(range.start, range.end);
                }
            }
        } else {
            self.bytes.clone_from(&base.bytes);
            self.holes.clone_from(&base.holes);
            self.history.reset(granules);
            self.touched.clear();
            self.touched.resize(base.bytes.len().div_ceil(PAGE), false);
            self.base = Some(base.clone());
        }
        self.blocks.clear();
        self.extents.clear();
        self.frames.clear();
        self.narrow.clear();
        self.limit = limit;
        self.used = 0;
    }

    /// Records that a range differs from its initial state.
    #[inline(always)]
    pub fn touch(&mut self, at: usize, size: usize) {
        let (first, last) = (at / PAGE, (at + size.max(1) - 1) / PAGE);
        if let Some(t) = self.touched.get_mut(first) {
            *t = true;
        }
        if last != first {
            self.touch_many(first, last);
        }
    }

    #[cold]
    fn touch_many(&mut self, first: usize, last: usize) {
        let end = (last + 1).min(self.touched.len());
        if first < end {
            self.touched[first..end].fill(true);
        }
    }

    /// The index of an address, if `size` bytes are there.
    #[inline(always)]
    pub fn index(&self, address: u64, size: u64) -> Result<usize, Bad> {
        let at = address.wrapping_sub(BASE);
        if at < self.bytes.len() as u64 && size <= self.bytes.len() as u64 - at {
            return Ok(at as usize);
        }
        Err(if address < BASE { Bad::Null } else { Bad::Elsewhere })
    }

    #[inline(always)]
    pub fn load(&self, at: usize, ty: Scalar) -> u64 {
        let size = ty.size() as usize;
        let holes = self.holes_in(at, size);
        if holes != 0 {
            return self.load_unknown(at, ty);
        }
        let mut raw = [0u8; 8];
        raw[..size].copy_from_slice(&self.bytes[at..at + size]);
        ty.wrap(u64::from_le_bytes(raw))
    }

    /// The bits of the unknown bytes in a range of at most eight bytes, at any alignment.
    #[inline(always)]
    fn holes_in(&self, at: usize, size: usize) -> u8 {
        let (granule, shift) = (at / 8, at % 8);
        let mask = (0xFFu16 >> (8 - size)) << shift;
        let low = self.holes[granule] & mask as u8;
        if mask > 0xFF {
            low | self.holes.get(granule + 1).copied().unwrap_or(0) & (mask >> 8) as u8
        } else {
            low
        }
    }

    #[cold]
    fn load_unknown(&self, at: usize, ty: Scalar) -> u64 {
        let size = ty.size() as usize;
        let mut raw = [0u8; 8];
        raw[..size].copy_from_slice(&self.bytes[at..at + size]);
        let whole = (0..size).all(|i| self.is_hole(at + i));
        self.unknown_of_content(at, size, u64::from_le_bytes(raw), whole)
    }

    /// The unknown that these bits stand for, of which some or all are unknown.
    fn unknown_of_content(&self, at: usize, size: usize, bits: u64, whole: bool) -> u64 {
        match size {
            // Never written: the place itself identifies the unknown.
            _ if bits == 0 => unknown(mix(308, at as u64, size as u64)),
            // The number itself was stored; see `store`.
            4 | 8 if whole => unknown(bits as u32),
            _ => {
                let stored = if whole { self.narrow_at(at, bits, size) } else { None };
                stored.unwrap_or_else(|| unknown(mix(301, bits, size as u64)))
            }
        }
    }

    /// The eight bytes of a granule, and which of them are unknown.
    pub fn granule(&self, index: usize) -> ([u8; 8], u8) {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.bytes[index * 8..index * 8 + 8]);
        (bytes, self.holes[index])
    }

    /// What a load within one granule would give if the granule had another content.
    pub fn value_of_content(&self, at: usize, ty: Scalar, (bytes, holes): ([u8; 8], u8)) -> u64 {
        let size = ty.size() as usize;
        let bits = u64::from_le_bytes(bytes) >> (at % 8 * 8) & u64::MAX >> (64 - size * 8);
        let mask = (0xFFu16 >> (8 - size)) as u8;
        match holes >> (at % 8) & mask {
            0 => ty.wrap(bits),
            unknown => self.unknown_of_content(at, size, bits, unknown == mask),
        }
    }

    /// The unknown that was stored here, if the bytes are still those it left.
    fn narrow_at(&self, at: usize, bits: u64, size: usize) -> Option<u64> {
        let mask = u64::MAX >> (64 - size * 8);
        self.narrow.get(&(at as u32)).copied().filter(|v| v & mask == bits)
    }

    fn is_hole(&self, at: usize) -> bool {
        self.holes[at / 8] >> (at % 8) & 1 == 1
    }

    #[inline(always)]
    pub fn store(&mut self, at: usize, ty: Scalar, value: u64) {
        let size = ty.size() as usize;
        self.touch(at, size);
        // An unknown's number is stored in place of the value, so that loading it gives the same
        // unknown.
        let (bits, hole) = if is_unknown(value) { (u64::from(number(value)), true) } else { (value, false) };
        if hole && size < 4 {
            self.narrow.insert(at as u32, value);
        }
        self.bytes[at..at + size].copy_from_slice(&bits.to_le_bytes()[..size]);
        let (granule, shift) = (at / 8, at % 8);
        let mask = (0xFFu16 >> (8 - size)) << shift;
        set_bits(&mut self.holes[granule], mask as u8, hole);
        if mask > 0xFF
            && let Some(next) = self.holes.get_mut(granule + 1)
        {
            set_bits(next, (mask >> 8) as u8, hole);
        }
    }

    pub fn byte(&self, at: usize) -> Option<u8> {
        if self.is_hole(at) { None } else { Some(self.bytes[at]) }
    }

    /// The total number of bytes.
    pub fn extent(&self) -> usize {
        self.bytes.len()
    }

    pub fn copy(&mut self, to: usize, from: usize, size: usize) {
        self.touch(to, size);
        self.bytes.copy_within(from..from + size, to);
        if !self.narrow.is_empty() {
            self.copy_narrow(to, from, size);
        }
        if (to | from | size).is_multiple_of(8) {
            self.holes.copy_within(from / 8..(from + size) / 8, to / 8);
            return;
        }
        let holes: Vec<bool> = (from..from + size).map(|i| self.is_hole(i)).collect();
        for (i, hole) in holes.into_iter().enumerate() {
            set_bits(&mut self.holes[(to + i) / 8], 1 << ((to + i) % 8), hole);
        }
    }

    /// Keeps the identity of unknowns in one or two bytes when they are copied, at least in
    /// records.
    #[cold]
    fn copy_narrow(&mut self, to: usize, from: usize, size: usize) {
        for i in 0..size.min(PAGE) {
            if let Some(v) = self.narrow.get(&((from + i) as u32)).copied() {
                self.narrow.insert((to + i) as u32, v);
            }
        }
    }

    pub fn fill(&mut self, at: usize, size: usize, byte: u8) {
        self.bytes[at..at + size].fill(byte);
        self.mark(at, size, false);
    }

    /// Makes a range unknown. Each place in it becomes an unknown that differs from all others and
    /// from its earlier content.
    pub fn havoc(&mut self, at: usize, size: usize, salt: u64) {
        self.mark(at, size, true);
        for (i, chunk) in self.bytes[at..at + size].chunks_mut(4).enumerate() {
            let n = mix(302, (at + i * 4) as u64, salt).to_le_bytes();
            let len = chunk.len();
            chunk.copy_from_slice(&n[..len]);
        }
    }

    fn mark(&mut self, at: usize, size: usize, hole: bool) {
        self.touch(at, size);
        let end = at + size;
        let (first, last) = (at.div_ceil(8), end / 8);
        if first < last {
            self.holes[first..last].fill(if hole { 0xFF } else { 0 });
        }
        // The bytes before and after the whole granules.
        for i in (at..end.min(first * 8)).chain((last * 8).max(at)..end) {
            set_bits(&mut self.holes[i / 8], 1 << (i % 8), hole);
        }
    }

    /// Appends bytes at the end. `None` if the bound is reached.
    fn extend(&mut self, size: usize) -> Option<u32> {
        let size = size.max(1).checked_next_multiple_of(8)?;
        if self.used.checked_add(size)? > self.limit {
            return None;
        }
        self.used += size;
        let at = self.bytes.len();
        // One granule lies between blocks, so an access just past the end meets nothing.
        self.bytes.resize(at + size + 8, 0);
        self.holes.resize(self.bytes.len() / 8, 0);
        self.history.grow(self.bytes.len() / 8);
        let address = u32::try_from(at as u64 + BASE).ok()?;
        self.extents.push((address, address.checked_add(u32::try_from(size).ok()?)?));
        Some(address)
    }

    /// Allocates a heap block of unknown or zero content.
    pub fn allocate(&mut self, size: u64, zero: bool, block: Block) -> Option<u32> {
        let size = usize::try_from(size).ok()?;
        let address = self.extend(size)?;
        let at = (u64::from(address) - BASE) as usize;
        if !zero {
            // Zero bytes under holes are unknowns that the load numbers. Filling megabytes is not
            // worth it.
            self.mark(at, size, true);
        }
        self.blocks.push(Block { address, size: size as u32, freed: false, ..block });
        Some(address)
    }

    /// The start and end of the block or frame around an address.
    pub fn extent_around(&self, address: u64) -> Option<(u64, u64)> {
        let i = self.extents.partition_point(|e| u64::from(e.0) <= address).checked_sub(1)?;
        let (start, end) = self.extents[i];
        (address <= u64::from(end)).then_some((u64::from(start), u64::from(end)))
    }

    /// Allocates memory for a frame. Its content is whatever is there; its history is cleared.
    pub fn allocate_frame(&mut self, size: u32) -> Option<u32> {
        let size = size.next_multiple_of(8);
        if let Some(address) = self.frames.get_mut(&size).and_then(Vec::pop) {
            let from = (u64::from(address) - BASE) as usize / 8;
            self.history.forget(from, from + size as usize / 8);
            return Some(address);
        }
        let address = self.extend(size as usize)?;
        let at = (u64::from(address) - BASE) as usize;
        self.mark(at, size as usize, true);
        Some(address)
    }

    pub fn free_frame(&mut self, address: u32, size: u32) {
        self.frames.entry(size.next_multiple_of(8)).or_default().push(address);
    }

    /// The heap block that holds an address.
    pub fn block(&self, address: u64) -> Option<&Block> {
        let i = self.blocks.partition_point(|b| u64::from(b.address) <= address);
        let b = self.blocks.get(i.checked_sub(1)?)?;
        (address < u64::from(b.address) + u64::from(b.size.max(1))).then_some(b)
    }

    pub fn block_mut(&mut self, address: u64) -> Option<&mut Block> {
        let i = self.blocks.partition_point(|b| u64::from(b.address) <= address);
        let b = self.blocks.get_mut(i.checked_sub(1)?)?;
        (address == u64::from(b.address)).then_some(b)
    }
}

#[inline(always)]
fn set_bits(byte: &mut u8, mask: u8, on: bool) {
    *byte = if on { *byte | mask } else { *byte & !mask };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> Memory {
        let mut m = Memory::default();
        m.reset(&Arc::new(Base::new(&[0; 64], std::iter::empty())), 1 << 16);
        m
    }

    fn block() -> Block {
        Block { address: 0, size: 0, freed: false, thread: 0, pc: 0, context: 1 }
    }

    #[test]
    fn scalars_keep_their_value_and_sign() {
        let mut m = memory();
        m.store(3, Scalar::I16, -2i64 as u64);
        assert_eq!(m.load(3, Scalar::I16) as i64, -2);
        assert_eq!(m.load(3, Scalar::U16), 0xFFFE);
        m.store(6, Scalar::I32, 0x1234_5678);
        assert_eq!(m.load(6, Scalar::I32), 0x1234_5678);
    }

    #[test]
    fn an_unknown_comes_back_as_itself() {
        let mut m = memory();
        for (at, ty) in [(0, Scalar::I32), (8, Scalar::U64), (22, Scalar::I32)] {
            m.store(at, ty, unknown(77));
            assert_eq!(m.load(at, ty), unknown(77));
        }
        m.store(40, Scalar::I8, unknown(77));
        assert!(is_unknown(m.load(40, Scalar::I8)));
        assert!(is_unknown(m.load(40, Scalar::I32)), "partly unknown is unknown");
        m.store(40, Scalar::I32, 5);
        assert_eq!(m.load(40, Scalar::I32), 5);
    }

    #[test]
    fn what_is_unknown_at_the_start_has_a_number_that_can_be_told() {
        let mut m = Memory::default();
        m.reset(&Arc::new(Base::new(&[0; 64], [(BASE as u32 + 16, 8)].into_iter())), 1 << 16);
        assert_eq!(m.load(16, Scalar::U64), unknown(unknown_at_start(BASE as u32 + 16)));
    }

    #[test]
    fn another_content_gives_the_value_that_a_load_would() {
        let mut m = memory();
        m.store(8, Scalar::I32, -3i64 as u64);
        m.store(12, Scalar::I32, unknown(9));
        let content = m.granule(1);
        m.havoc(8, 8, 1);
        assert_eq!(m.value_of_content(8, Scalar::I32, content) as i64, -3);
        assert_eq!(m.value_of_content(12, Scalar::I32, content), unknown(9));
        assert_eq!(m.value_of_content(9, Scalar::U8, content), 0xFF);
        assert!(is_unknown(m.value_of_content(8, Scalar::U64, content)), "partly unknown is unknown");
        assert!(is_unknown(m.load(8, Scalar::I32)));
    }

    #[test]
    fn copies_take_unknowns_along() {
        let mut m = memory();
        m.store(0, Scalar::I32, unknown(9));
        m.copy(13, 0, 8);
        assert_eq!(m.load(13, Scalar::I32), unknown(9));
        assert_eq!(m.load(17, Scalar::I32), 0);
    }

    #[test]
    fn allocation_is_bounded_and_blocks_are_found() {
        let mut m = memory();
        let a = m.allocate(24, true, block()).expect("room");
        assert_eq!(m.block(u64::from(a) + 23).map(|b| b.size), Some(24));
        assert!(m.block(u64::from(a) + 24).is_none());
        assert!(m.allocate(1 << 20, true, block()).is_none());
        assert!(m.allocate(u64::MAX, true, block()).is_none());
    }

    #[test]
    fn an_address_lies_in_what_was_allocated_around_it() {
        let mut m = memory();
        let first = u64::from(m.allocate(64, true, block()).expect("room"));
        let second = u64::from(m.allocate(60, true, block()).expect("room"));
        assert_eq!(m.extent_around(first + 10), Some((first, first + 64)));
        assert_eq!(m.extent_around(first + 64), Some((first, first + 64)), "just behind it");
        assert_eq!(m.extent_around(first + 65), None);
        assert_eq!(m.extent_around(second), Some((second, second + 64)), "in whole granules");
    }

    #[test]
    fn starting_over_puts_back_what_was_touched_and_no_more() {
        let base = Arc::new(Base::new(&vec![7; 3 * PAGE], [(BASE as u32 + 8, 4)].into_iter()));
        let mut m = Memory::default();
        m.reset(&base, 1 << 16);
        m.store(PAGE - 4, Scalar::U64, 0);
        m.fill(2 * PAGE, 16, 1);
        m.store(8, Scalar::I32, 5);
        let heap = m.allocate(8, true, block()).expect("room");
        m.reset(&base, 1 << 16);
        assert!((0..3 * PAGE).all(|i| m.is_hole(i) == (8..12).contains(&i)));
        assert!((0..3 * PAGE).filter(|i| !m.is_hole(*i)).all(|i| m.byte(i) == Some(7)));
        assert_eq!(m.index(u64::from(heap), 8), Err(Bad::Elsewhere));
    }

    #[test]
    fn null_and_wild_addresses_are_told_apart() {
        let m = memory();
        assert_eq!(m.index(8, 4), Err(Bad::Null));
        assert_eq!(m.index(1 << 40, 4), Err(Bad::Elsewhere));
        assert_eq!(m.index(BASE + 60, 8), Err(Bad::Elsewhere));
        assert!(m.index(BASE, 8).is_ok());
    }
}
