//! The copies that this process executes, and which address belongs to which.

use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering::*};

use super::table as entries;
use raddle_wire::relocated::{RelocatedHeader, at_most};

/// An object and its copy.
pub struct CopiedObject {
    pub header: &'static RelocatedHeader,
    pub text: Range<usize>,
    pub code: Range<usize>,
}

/// 0: the entry is free. Those that look read without a lock; nobody looks for an address of a
/// library while that is unloaded.
struct Entry {
    header: AtomicUsize,
    text: AtomicUsize,
    code: AtomicUsize,
}

const MOST: usize = 512;
static ENTRIES: [Entry; MOST] =
    [const { Entry { header: AtomicUsize::new(0), text: AtomicUsize::new(0), code: AtomicUsize::new(0) } };
        MOST];
/// No entry behind these was ever used.
static USED: AtomicUsize = AtomicUsize::new(0);

pub fn all() -> impl Iterator<Item = CopiedObject> {
    ENTRIES[..USED.load(Acquire)].iter().filter_map(|e| {
        // SAFETY: 0, or a mapped file that stays until the entry is removed.
        let header = unsafe { (e.header.load(Acquire) as *const RelocatedHeader).as_ref()? };
        let (text, code) = (e.text.load(Relaxed), e.code.load(Relaxed));
        let text = text..text + header.text_len as usize;
        Some(CopiedObject { header, text, code: code..code + header.code_len as usize })
    })
}

pub fn is_full() -> bool {
    USED.load(Relaxed) == MOST && !ENTRIES.iter().any(|e| e.header.load(Relaxed) == 0)
}

/// By one thread at a time.
pub fn add(header: &RelocatedHeader, text: usize, code: usize) {
    let used = USED.load(Relaxed);
    let free = ENTRIES[..used].iter().position(|e| e.header.load(Relaxed) == 0).unwrap_or(used);
    let Some(entry) = ENTRIES.get(free) else { return };
    entry.text.store(text, Relaxed);
    entry.code.store(code, Relaxed);
    entry.header.store(&raw const *header as usize, Release);
    USED.store(used.max(free + 1), Release);
}

/// The object is no longer there.
pub fn remove(header: &RelocatedHeader) {
    let at = &raw const *header as usize;
    ENTRIES.iter().filter(|e| e.header.load(Relaxed) == at).for_each(|e| e.header.store(0, Release));
}

/// Whose copy `pc` is in.
pub fn with_code(pc: usize) -> Option<CopiedObject> {
    all().find(|o| o.code.contains(&pc))
}

/// The original instruction whose copy `pc` is in.
pub fn original(pc: usize) -> Option<usize> {
    let object = with_code(pc)?;
    let [_, text] = at_most(entries(object.header, object.header.back), (pc - object.code.start) as u32)?;
    Some(object.text.start + text as usize)
}

/// The copy of the instruction at `address`, or the address itself.
pub fn copy(address: usize) -> usize {
    let Some(object) = all().find(|o| o.text.contains(&address)) else { return address };
    let map: &[u32] = entries(object.header, [object.header.map, object.header.text_len]);
    match map[address - object.text.start] {
        0 => address,
        n => object.code.start + n as usize - 1,
    }
}
