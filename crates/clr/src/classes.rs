//! Classes of objects that the code alone does not tell: listed, not listed, or wrappers that read
//! another object. Each is determined once and kept by its method table, which is the first word of
//! its objects.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::*};

use crate::profiling::ClassId;

/// What is known about a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassKind {
    Listed,
    Other,
    /// It reads the object that the reference at this offset points to.
    Wrapper(u32),
}

const LISTED: usize = 1;
const OTHER: usize = 2;
const WRAPPER: usize = 4;
const MARKS: usize = 7;

/// A class with a mark in its lower bits, and the offset of a wrapper, which is stored first.
struct Entry {
    word: AtomicUsize,
    offset: AtomicU32,
}

const SIZE: usize = 4096;
static CLASSES: [Entry; SIZE] =
    [const { Entry { word: AtomicUsize::new(0), offset: AtomicU32::new(0) } }; SIZE];

fn entries_of(class: ClassId) -> impl Iterator<Item = &'static Entry> {
    const PROBES: usize = 8;
    let first = class.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52;
    (first..first + PROBES).map(|i| &CLASSES[i % SIZE])
}

/// The kind of a class. None if it is not known yet.
#[inline]
pub fn kind(class: ClassId) -> Option<ClassKind> {
    for entry in entries_of(class) {
        let word = entry.word.load(Acquire);
        if word & !MARKS == class {
            return Some(match word & MARKS {
                LISTED => ClassKind::Listed,
                WRAPPER => ClassKind::Wrapper(entry.offset.load(Relaxed)),
                _ => ClassKind::Other,
            });
        }
        if word == 0 {
            break;
        }
    }
    None
}

/// Keeps the kind of a class. If there is no room, the class is determined again each time, which
/// is slow but right.
pub fn keep(class: ClassId, kind: ClassKind) {
    let (mark, offset) = match kind {
        ClassKind::Listed => (LISTED, 0),
        ClassKind::Other => (OTHER, 0),
        ClassKind::Wrapper(offset) => (WRAPPER, offset),
    };
    static WRITER: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _alone = crate::rewrite::lock(&WRITER);
    let same_or_free = |entry: &&Entry| [0, class].contains(&(entry.word.load(Relaxed) & !MARKS));
    // No room: replace the first entry. Its word is cleared before its offset changes.
    let entry = entries_of(class).find(same_or_free).or_else(|| entries_of(class).next());
    let Some(entry) = entry else { return };
    entry.word.store(OTHER, Release);
    entry.offset.store(offset, Release);
    entry.word.store(class | mark, Release);
}

/// Forgets all classes after a module was unloaded: another class may get the address of one of its
/// classes.
pub fn forget_all() {
    for entry in &CLASSES {
        entry.word.store(0, Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_out_is_kept_until_a_module_goes() {
        let class = |i: usize| 0x7f00_0000_0000 + i * 0x40;
        assert_eq!(kind(class(0)), None);
        keep(class(0), ClassKind::Listed);
        keep(class(1), ClassKind::Other);
        keep(class(2), ClassKind::Wrapper(24));
        let kinds = [0, 1, 2].map(|i| kind(class(i)));
        assert_eq!(kinds, [Some(ClassKind::Listed), Some(ClassKind::Other), Some(ClassKind::Wrapper(24))]);
        // Far more than there is room for: the table is never wrong.
        for i in 3..20_000 {
            keep(class(i), if i % 2 == 0 { ClassKind::Listed } else { ClassKind::Other });
        }
        for i in 3..20_000 {
            let right = if i % 2 == 0 { ClassKind::Listed } else { ClassKind::Other };
            assert!(kind(class(i)).is_none_or(|kind| kind == right));
        }
        forget_all();
        assert!((0..20_000).all(|i| kind(class(i)).is_none()));
    }
}
