//! Who calls a function that is watched at its entry. Such sites are not known beforehand: when a
//! return address is first seen, the runtime asks the driver whether it is a point, and which
//! number it has. Sites in unwatched code (the library's own, the system's) are recognised without
//! asking.

use core::ops::Range;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering::*};

use super::plans;
use crate::sys;
use raddle_wire::tsvd::{EntryCall, TsvdPlan};

static WATCHED: AtomicPtr<Range<u64>> = AtomicPtr::new(core::ptr::null_mut());
static WATCHED_COUNT: AtomicU32 = AtomicU32::new(0);

/// Sets the code whose calls count, from a new plan. `bias`: the plan is for one file of several,
/// and its addresses must be moved by this.
pub fn set_watched(plan: TsvdPlan, bias: Option<u64>) {
    let known = WATCHED_COUNT.load(Relaxed) as usize;
    let old: &[Range<u64>] = match bias {
        // SAFETY: that many, which are never freed.
        Some(_) if known > 0 => unsafe { core::slice::from_raw_parts(WATCHED.load(Relaxed), known) },
        _ => &[],
    };
    let by = bias.unwrap_or(0);
    let ranges = plan.watched().map(|r| r.start.wrapping_add(by)..r.end.wrapping_add(by));
    let new = sys::ARENA.take((old.len() + ranges.len() + 1) * size_of::<Range<u64>>()).cast::<Range<u64>>();
    let mut n = 0;
    for range in old.iter().cloned().chain(ranges.filter(|range| !old.contains(range))) {
        // SAFETY: fresh memory of that many.
        unsafe { new.add(n).write(range) };
        n += 1;
    }
    // A plan names everything that is mapped or adds to it, so there are only ever more ranges: a
    // reader with the old count sees some of the new ones.
    if n >= known {
        WATCHED.store(new, Release);
        WATCHED_COUNT.store(n as u32, Release);
    }
}

#[inline]
pub fn is_watched(return_address: u64) -> bool {
    let n = WATCHED_COUNT.load(Acquire) as usize;
    // SAFETY: that many or more, which are never freed.
    n > 0
        && unsafe { core::slice::from_raw_parts(WATCHED.load(Acquire), n) }
            .iter()
            .any(|range| range.contains(&return_address))
}

const SLOTS: usize = 1 << 14;
/// How far from its position a key is searched.
const FARTHEST: usize = 64;

struct Table {
    keys: [AtomicU64; SLOTS],
    answers: [AtomicU32; SLOTS],
}

static TABLE: Table =
    Table { keys: [const { AtomicU64::new(0) }; SLOTS], answers: [const { AtomicU32::new(0) }; SLOTS] };

/// Values in [`Table::answers`]: a thread is asking, it is no point, or the number of its site plus
/// this.
const ASKING: u32 = 0;
const NONE: u32 = 1;
const FIRST: u32 = 2;

/// The site of a call. None if it is no point, or if another thread is just asking.
pub fn site(hook: u32, return_address: u64) -> Option<u32> {
    // User addresses have 47 bits.
    let key = return_address | u64::from(hook + 1) << 48;
    let place = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 50) as usize;
    for i in (0..FARTHEST).map(|step| (place + step) % SLOTS) {
        let found = TABLE.keys[i].load(Acquire);
        if found == key {
            return known(TABLE.answers[i].load(Acquire));
        }
        if found == 0 && TABLE.keys[i].compare_exchange(0, key, AcqRel, Acquire).is_ok() {
            let answer = plans::ask_about(EntryCall { hook, return_address });
            TABLE.answers[i].store(answer.map_or(NONE, |id| id + FIRST), Release);
            return answer;
        }
        if TABLE.keys[i].load(Acquire) == key {
            return known(TABLE.answers[i].load(Acquire));
        }
    }
    None
}

fn known(answer: u32) -> Option<u32> {
    const { assert!(ASKING < NONE && NONE < FIRST) };
    answer.checked_sub(FIRST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_wire::tsvd::MAGIC;

    #[test]
    fn code_counts_as_the_plan_says() {
        assert!(!is_watched(5));
        set_watched(TsvdPlan::decode(&[MAGIC, 0, 0, 0, 0, 2, 1, 10, 20, 30]).unwrap(), None);
        assert!(is_watched(5) && is_watched(20) && !is_watched(10) && !is_watched(30));
        set_watched(TsvdPlan::decode(&[MAGIC, 0, 0, 0, 0, 0]).unwrap(), None);
        assert!(is_watched(5), "an answer about one call takes nothing away");
        let library = TsvdPlan::decode(&[MAGIC, 0, 0, 0, 0, 1, 5, 7]).unwrap();
        set_watched(library, Some(100));
        set_watched(library, Some(100));
        assert!(is_watched(5) && is_watched(105) && !is_watched(107));
        assert_eq!(WATCHED_COUNT.load(Relaxed), 3, "once is enough");
    }

    #[test]
    fn answers_are_kept_and_without_a_driver_there_is_none() {
        assert_eq!(site(3, 0x1000), None);
        assert_eq!(site(3, 0x1000), None);
        let key = 0x1000 | 4 << 48;
        let used: Vec<usize> = (0..SLOTS).filter(|i| TABLE.keys[*i].load(Relaxed) == key).collect();
        assert_eq!(used.len(), 1);
        assert_eq!(TABLE.answers[used[0]].load(Relaxed), NONE);
        assert_eq!((known(ASKING), known(NONE), known(FIRST + 7)), (None, None, Some(7)));
    }
}
