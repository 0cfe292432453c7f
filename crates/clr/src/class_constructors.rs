//! Static constructors (see `order`): everything a static constructor did happens before every use
//! of a static field of its class, because the runtime lets nobody use the class earlier.
//!
//! Which thread runs a static constructor is chance. So it is a piece of work of its own, which
//! knows nothing of what the thread did before, and its past is kept when it has ended. A call
//! comes after it if its method has certainly used a static field of the class before the call: in
//! the same block, or in the block that the method begins with. That is known when the method is
//! rewritten, so nothing is recorded when a field is used.
//!
//! If two static constructors use each other's classes in two threads, the runtime lets one of them
//! use a class that is not ready. So this module says nothing to a thread in a static constructor.
//! Generic classes have a static constructor for each instance: they are left out.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use raddle_tsvd::Past;

use crate::profiling::{MetadataToken, ModuleId};
use crate::rewrite::lock;

/// The number of a class with a static constructor. No number is used twice.
pub type ClassNumber = u32;

#[derive(Default)]
struct Classes {
    last: ClassNumber,
    numbers: HashMap<(ModuleId, MetadataToken), ClassNumber>,
    /// The classes that are ready when a site is reached.
    of_sites: HashMap<u32, Vec<ClassNumber>>,
    /// The pasts of static constructors that have ended.
    pasts: HashMap<ClassNumber, Past>,
}

static CLASSES: LazyLock<Mutex<Classes>> = LazyLock::new(Mutex::default);

/// The number of a class.
pub fn number(module: ModuleId, class: MetadataToken) -> ClassNumber {
    let mut classes = lock(&CLASSES);
    if let Some(number) = classes.numbers.get(&(module, class)) {
        return *number;
    }
    classes.last += 1;
    let number = classes.last;
    classes.numbers.insert((module, class), number);
    number
}

/// Records that a site is reached only when these classes are ready.
pub fn note_site(site: u32, ready: Vec<ClassNumber>) {
    lock(&CLASSES).of_sites.insert(site, ready);
}

/// Records that a static constructor has ended. Only the first time counts: reflection can run it
/// again, and nobody waits for that.
pub fn ended(class: ClassNumber, past: Past) {
    lock(&CLASSES).pasts.entry(class).or_insert(past);
}

/// Whether a static constructor orders what a thread did at that time before a site.
pub fn is_before(site: u32, thread: u32, time: u64) -> bool {
    let classes = lock(&CLASSES);
    let ready = classes.of_sites.get(&site).map_or(&[][..], Vec::as_slice);
    ready.iter().any(|class| classes.pasts.get(class).is_some_and(|past| past.has(thread, time)))
}

/// Forgets an unloaded module: another one may get its number.
pub fn forget(module: ModuleId) {
    lock(&CLASSES).numbers.retain(|(of, _), _| *of != module);
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_tsvd::Span;

    #[test]
    fn a_site_is_after_the_classes_that_it_needs_and_no_other() {
        const MODULE: ModuleId = 0x1000;
        let (one, other) = (number(MODULE, 1), number(MODULE, 2));
        assert_eq!(number(MODULE, 1), one);
        note_site(900, vec![one]);
        let mut past = Past::default();
        past.add(Span { thread: 7, since: 10, until: 20 });
        assert!(!is_before(900, 7, 15), "it has not ended");
        ended(other, past);
        assert!(!is_before(900, 7, 15) && !is_before(901, 7, 15));
        ended(one, past);
        assert!(is_before(900, 7, 15) && !is_before(900, 7, 25) && !is_before(900, 8, 15));
        let mut again = Past::default();
        again.add(Span { thread: 8, since: 10, until: 20 });
        ended(one, again);
        assert!(is_before(900, 7, 15) && !is_before(900, 8, 15), "run again by reflection");
        forget(MODULE);
        assert_ne!(number(MODULE, 1), one, "another class at the same place");
    }
}
