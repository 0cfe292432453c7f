//! Calls through pointers in an instrumented copy, where nobody can be asked about them. The sites
//! that count were stored when the copy was made. A site that is seen for the first time is added
//! to a file that all runs of the copy share; its position there is its number.

use core::ops::Range;
use core::sync::atomic::{AtomicPtr, AtomicU16, AtomicU64, AtomicUsize, Ordering::*};

use super::plans::Given;
use crate::hub::session;
use crate::sys::Shared;
use raddle_wire::tsvd::{EntryCall, FIXED_CALLERS, FixedCaller, Hook, MOST_CALLERS, PointerCall, TsvdPlan};

/// Code of a file that has such sites.
#[derive(Clone)]
struct CodeWithSites {
    code: Range<u64>,
    bias: u64,
    file: u32,
    places: &'static [u64],
}

const MOST_PARTS: usize = 256;
const NONE: CodeWithSites = CodeWithSites { code: 0..0, bias: 0, file: 0, places: &[] };
static PARTS: Shared<[CodeWithSites; MOST_PARTS]> = Shared::new([NONE; MOST_PARTS]);
static PART_COUNT: AtomicUsize = AtomicUsize::new(0);

/// The library (of the lists) that each hook's function belongs to.
static LIBRARIES: [AtomicU16; FixedCaller::MOST_HOOKS as usize] =
    [const { AtomicU16::new(0) }; FixedCaller::MOST_HOOKS as usize];

fn parts() -> &'static [CodeWithSites] {
    let n = PART_COUNT.load(Acquire);
    // SAFETY: entries below the count were written before the count, and do not change.
    unsafe { &(&*PARTS.get())[..n] }
}

/// Adds a plan of the copy. Called under the lock of `redirect`; a library is visited again
/// whenever another one was loaded.
pub fn add(plan: TsvdPlan, given: &Given) {
    let bias = given.bias as u64;
    for range in plan.watched() {
        let code = range.start.wrapping_add(bias)..range.end.wrapping_add(bias);
        let n = PART_COUNT.load(Relaxed);
        if n == MOST_PARTS || parts().iter().any(|part| part.code == code) {
            continue;
        }
        let part = CodeWithSites { code, bias, file: given.file, places: given.places };
        // SAFETY: under the lock, and nobody reads entries beyond the count.
        unsafe { (*PARTS.get())[n] = part };
        PART_COUNT.store(n + 1, Release);
    }
}

/// A hook with its address in this process. Its `site.bytes` holds the library: a function's entry
/// has more bytes than fit there.
pub fn placed(given: &Given, hook: Hook) -> Hook {
    if let Some(library) = LIBRARIES.get(hook.site.id as usize) {
        library.store(hook.site.bytes as u16, Relaxed);
    }
    Hook { site: given.placed(hook.site), ..hook }
}

/// The site of a call that arrived at a hook. None if it is no point.
#[cold]
pub fn site(caller: EntryCall) -> Option<u32> {
    let part = parts().iter().find(|part| part.code.contains(&caller.return_address))?;
    let address = caller.return_address.wrapping_sub(part.bias);
    let library = LIBRARIES.get(caller.hook as usize)?.load(Relaxed);
    if !counts(part.places, address, library) {
        return None;
    }
    let word = FixedCaller { hook: caller.hook, file: part.file, place: address }.encode()?;
    let (first, words) = table()?;
    Some(first + number(words, word)?)
}

fn counts(places: &[u64], address: u64, library: u16) -> bool {
    let at = places.partition_point(|word| PointerCall::decode(*word).address < address);
    let place =
        places.get(at).map(|word| PointerCall::decode(*word)).filter(|place| place.address == address);
    place.is_some_and(|place| library == 0 || !place.libraries.contains(&library))
}

/// The position of a word, which is added if it is missing.
fn number(words: &[AtomicU64], word: u64) -> Option<u32> {
    let is_here = |slot: &AtomicU64| match slot.compare_exchange(0, word, AcqRel, Acquire) {
        Ok(_) => true,
        Err(found) => found == word,
    };
    words.iter().position(is_here).map(|n| n as u32)
}

static TABLE: AtomicPtr<AtomicU64> = AtomicPtr::new(core::ptr::null_mut());

/// The number of the first call in the file, and the words of calls.
fn table() -> Option<(u32, &'static [AtomicU64])> {
    if TABLE.load(Acquire).is_null() {
        let (at, len) = session::map_to_write(FIXED_CALLERS)?;
        if len < (1 + MOST_CALLERS) * 8 {
            return None;
        }
        TABLE.store(at as *mut AtomicU64, Release);
    }
    // SAFETY: a mapping of this many words, which stays.
    let words = unsafe { core::slice::from_raw_parts(TABLE.load(Acquire), 1 + MOST_CALLERS) };
    let (first, calls) = words.split_first()?;
    Some((first.load(Relaxed) as u32, calls))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_library_does_with_itself_does_not_count() {
        let place = |address, libraries| PointerCall { address, libraries }.encode().unwrap();
        let places = [place(0x10, [0, 0]), place(0x20, [3, 0]), place(0x30, [0, 4])];
        assert!(counts(&places, 0x10, 3) && !counts(&places, 0x11, 3) && !counts(&places, 0x40, 3));
        assert!(!counts(&places, 0x20, 3) && counts(&places, 0x20, 4));
        assert!(counts(&places, 0x30, 3) && !counts(&places, 0x30, 4));
        assert!(!counts(&[], 0x10, 0));
    }

    #[test]
    fn calls_have_the_numbers_in_which_they_came() {
        let words = [const { AtomicU64::new(0) }; 2];
        assert_eq!([7, 9, 7, 9].map(|word| number(&words, word)), [Some(0), Some(1), Some(0), Some(1)]);
        assert_eq!(number(&words, 8), None, "there is no room");
    }
}
