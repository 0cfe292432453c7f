//! The program's memory, put aside once and put back after each execution.
//!
//! What is put back: every page of a writable private mapping that has been written to, the used
//! part of the stacks of the first thread and of the donors, and the blocks of the heap. What is
//! not: the runtime's own mappings, and stack below what was in use, where nothing is expected to
//! be found.
//!
//! A page that had not been written to when the snapshot was taken has no copy, and needs none
//! while nobody writes to it. The kernel counts page faults; when an execution had none, no such
//! page can have come into being, and putting back is nothing but copying. Otherwise the pages are
//! looked for, given back to the kernel (they read as at first then), and join the copied ones. Of
//! the pages that have a copy only those are put back that some execution has written to
//! ([`written`]).

use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::{heap, state, threads, written};
use crate::hub::modules;
use crate::layout::RESERVED;
use crate::sys;
use raddle_wire::explore::{gap, outside};

const PAGE: usize = 4096;
const MOST: usize = 1 << 14;
/// After so many executions it is looked anew what they write to: the first ones write to much that
/// later ones do not, such as where functions were found.
const WATCH_AGAIN: [u32; 2] = [40, 1000];

/// Memory and its copy.
#[derive(Clone, Copy)]
struct Region {
    at: usize,
    len: usize,
    copy: usize,
}

/// All zero is an empty one.
pub struct Snapshot {
    regions: *mut Region,
    count: usize,
    /// The parts of these that have been written to, if that is known.
    written: *mut Region,
    written_count: usize,
    /// The copy of the process that tells.
    copy: Option<u32>,
    executions: u32,
    /// The donors' stacks, of which only those in use are put back.
    stacks: *mut Region,
    donors: usize,
    /// Memory without copies: start and end.
    gaps: *mut (usize, usize),
    gap_count: usize,
    faults: u64,
    bytes: usize,
    /// What the execution under way has mapped: it goes with it.
    mapped: [(usize, usize); MOST_MAPPED],
}

const MOST_MAPPED: usize = 64;

/// The program is about to map something, at this place if `flags` say so.
pub fn mapping(at: usize, len: usize, flags: i32, pc: usize) {
    if !super::is_on() {
        return;
    }
    if flags & libc::MAP_SHARED != 0 {
        if flags & libc::MAP_ANONYMOUS == 0 {
            state().serve.maps_file = true;
        }
        if !super::is_running() {
            super::shares_memory();
        }
        super::retry_with_fork(outside::SHARED_MEMORY);
    }
    if flags & libc::MAP_FIXED != 0 && flags & libc::MAP_FIXED_NOREPLACE != libc::MAP_FIXED_NOREPLACE {
        replacing(at, len, pc);
    }
}

/// Memory is about to be mapped a second time, at another address.
pub fn mapping_again() {
    if super::is_on() {
        state().serve.maps_file = true;
        super::retry_with_fork(outside::MAPPING);
    }
}

/// What memory holds goes, and something else is there: by `madvise`, or by a mapping over it.
pub fn replacing(at: usize, len: usize, pc: usize) {
    protecting(at, len, pc);
}

/// It has.
pub fn mapped(at: usize, len: usize) {
    if !super::is_running() || at as isize == -1 {
        return;
    }
    match state().snapshot.mapped.iter_mut().find(|m| m.1 == 0) {
        Some(free) => *free = (at, len),
        None => super::retry_with_fork(outside::MAPPING),
    }
}

/// What was there before the execution cannot be unmapped in place.
pub fn unmapping(at: usize, len: usize, pc: usize) {
    if !super::is_running() {
        return;
    }
    takes_away(at, len, pc);
    super::hidden::unmapped(at, len);
    super::races::unmapped(at, len);
    super::circle::forget();
    match state().snapshot.mapped.iter_mut().find(|m| **m == (at, len)) {
        Some(m) => *m = (0, 0),
        None => super::retry_with_fork(outside::MAPPING),
    }
}

/// What may be done with memory changes: in place only where the memory goes with the execution.
pub fn protecting(at: usize, len: usize, pc: usize) {
    if !super::is_running() {
        return;
    }
    takes_away(at, len, pc);
    let within = |m: &(usize, usize)| m.0 <= at && at + len <= m.0 + m.1;
    if !state().snapshot.mapped.iter().any(within) {
        super::retry_with_fork(outside::MAPPING);
    }
}

/// A step, after which accesses to the memory may fail: as when a block is given back.
fn takes_away(at: usize, len: usize, pc: usize) {
    /// Larger areas are not looked through for who accesses them.
    const LARGE: usize = 1 << 18;
    super::point(super::op(raddle_explore::OpKind::Other, 0, pc), super::Wait::Nothing, pc);
    match len <= LARGE {
        true => super::hidden::freed(at, len, pc),
        false => super::hidden::note(gap::WIDE),
    }
}

impl Snapshot {
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// `stack`: where the first thread's is in use from. `may_watch`: writes may be watched for.
    pub fn take(&mut self, stack: usize, may_watch: bool) {
        self.regions = sys::pages(MOST * size_of::<Region>()).cast();
        self.stacks = sys::pages(raddle_explore::MAX_THREADS * size_of::<Region>()).cast();
        self.gaps = sys::pages(MOST * size_of::<(usize, usize)>()).cast();
        self.donors = 0;
        for (low, high) in threads::stacks(threads::donors()) {
            // SAFETY: one entry a donor.
            unsafe { *self.stacks.add(self.donors) = keep(low, high - low) };
            self.donors += 1;
            self.bytes += high - low;
        }
        // Hundreds of threads have more mappings than a stack has room for.
        // SAFETY: fresh memory, as much as is wanted; any bytes that are zero are an entry.
        let maps = unsafe {
            let at = sys::pages(MOST * size_of::<(usize, usize, bool)>());
            core::slice::from_raw_parts_mut(at.cast::<(usize, usize, bool)>(), MOST)
        };
        let mut n = 0;
        modules::each_line(|line| {
            if let Some((low, high, is_stack)) = writable(line)
                && n < maps.len()
            {
                maps[n] = (low, high, is_stack);
                n += 1;
            }
        });
        for (low, high, is_stack) in maps[..n].iter().copied() {
            if is_stack {
                self.add(stack & !63, high);
            } else {
                self.look_through(low, high);
            }
        }
        let shadow = crate::detect::thread::current();
        self.add(shadow.trace.stack as usize, shadow.sp as usize);
        for (low, high) in heap::used() {
            self.add(low, high);
        }
        self.written = sys::pages(MOST * size_of::<Region>()).cast();
        if may_watch && !self.is_soon_copied() {
            self.watch();
        }
        self.faults = faults();
    }

    /// To learn what a program shares takes few executions, and to copy some pages for each costs
    /// less than to find out which of them need it: that is a fault for each page that is written
    /// to.
    fn is_soon_copied(&self) -> bool {
        const SMALL: usize = 16 << 20;
        crate::trace::learns() && self.bytes <= SMALL
    }

    /// Nothing counts as written to from now on.
    fn watch(&mut self) {
        self.end();
        // Two pages to see whether the kernel tells: after the first has been written to, they
        // differ.
        let pages = sys::pages(2 * PAGE);
        // SAFETY: fresh memory of ours.
        unsafe {
            pages.write_volatile(1);
            pages.add(PAGE).write_volatile(1);
            self.copy = written::begin();
            pages.write_volatile(2);
        }
        let mut told = [false; 2];
        for_each_entry(pages as usize, pages as usize + 2 * PAGE, |page, entry| {
            told[(page - pages as usize) / PAGE] = entry.is_some_and(written::is_written);
        });
        if told != [true, false] {
            self.end();
        }
        self.find_written();
    }

    /// The process is about to end. Where it cannot say so, the copy ends all the same, but
    /// somebody else has to wait for it.
    pub fn end(&mut self) {
        if let Some(child) = self.copy.take() {
            written::end(child);
        }
    }

    /// What is to be put back. Where there is too much to list, all of it.
    fn find_written(&mut self) {
        self.written_count = 0;
        if self.copy.is_none() {
            return;
        }
        for i in 0..self.count {
            // SAFETY: below the count.
            let r = unsafe { *self.regions.add(i) };
            let mut run = (r.at, r.at);
            let (low, high) = (r.at & !(PAGE - 1), (r.at + r.len).next_multiple_of(PAGE));
            for_each_entry(low, high, |page, entry| {
                if entry.is_some_and(|e| !written::is_written(e)) {
                    return;
                }
                let (from, to) = (page.max(r.at), (page + PAGE).min(r.at + r.len));
                if run.1 != from {
                    self.add_written(r, run);
                    run.0 = from;
                }
                run.1 = to;
            });
            self.add_written(r, run);
        }
    }

    fn add_written(&mut self, r: Region, (low, high): (usize, usize)) {
        if low < high && self.written_count < MOST {
            let part = Region { at: low, len: high - low, copy: r.copy + low - r.at };
            // SAFETY: below MOST.
            unsafe { *self.written.add(self.written_count) = part };
            self.written_count += 1;
        }
    }

    fn add(&mut self, low: usize, high: usize) {
        if low >= high || self.count == MOST {
            return;
        }
        // SAFETY: below MOST.
        unsafe { *self.regions.add(self.count) = keep(low, high - low) };
        self.count += 1;
        self.bytes += high - low;
    }

    fn add_gap(&mut self, low: usize, high: usize) {
        if low < high && self.gap_count < MOST {
            // SAFETY: below MOST.
            unsafe { *self.gaps.add(self.gap_count) = (low, high) };
            self.gap_count += 1;
        }
    }

    /// Copies the pages of a mapping that were written to.
    fn look_through(&mut self, low: usize, high: usize) {
        let mut page = low;
        while page < high {
            if let Some(end) = own_end(page) {
                page = end.next_multiple_of(PAGE).min(high);
                continue;
            }
            let mut end = page;
            while end < high && own_end(end).is_none() {
                end += PAGE;
            }
            let (mut written, mut clean) = ((page, page), (page, page));
            for_each_page(page, end, |at, is_written| {
                let run = if is_written { &mut written } else { &mut clean };
                if run.1 != at {
                    if is_written {
                        self.add(run.0, run.1)
                    } else {
                        self.add_gap(run.0, run.1)
                    };
                    run.0 = at;
                }
                run.1 = at + PAGE;
            });
            self.add(written.0, written.1);
            self.add_gap(clean.0, clean.1);
            page = end;
        }
    }

    /// The word keeps its present value from now on.
    pub fn keep_word(&mut self, word: &AtomicUsize) {
        let at = word.as_ptr() as usize;
        for i in 0..self.count {
            // SAFETY: below the count; the copy is as long as the region.
            unsafe {
                let r = *self.regions.add(i);
                if r.at <= at && at + 8 <= r.at + r.len {
                    *((r.copy + at - r.at) as *mut usize) = word.load(Relaxed);
                }
            }
        }
    }

    /// Memory is again as it was taken; `threads` have been in use.
    pub fn put_back(&mut self, threads: usize) {
        for m in self.mapped.iter_mut().filter(|m| m.1 != 0) {
            sys::unmap(m.0, m.1);
            *m = (0, 0);
        }
        if faults() != self.faults {
            self.look_for_new();
            self.find_written();
            self.faults = faults();
        }
        let all = self.copy.is_none() || self.written_count == MOST;
        let (list, n) = if all { (self.regions, self.count) } else { (self.written, self.written_count) };
        // SAFETY: regions that are mapped and writable, and copies of the same length.
        unsafe {
            for i in 0..n {
                let r = *list.add(i);
                core::ptr::copy_nonoverlapping(r.copy as *const u8, r.at as *mut u8, r.len);
            }
            for i in 0..self.donors.min(threads - 1) {
                let r = *self.stacks.add(i);
                core::ptr::copy_nonoverlapping(r.copy as *const u8, r.at as *mut u8, r.len);
            }
        }
        self.executions = self.executions.wrapping_add(1);
        if self.copy.is_some() && WATCH_AGAIN.contains(&self.executions) {
            self.watch();
            self.faults = faults();
        }
    }

    #[cold]
    fn look_for_new(&mut self) {
        for i in 0..self.gap_count {
            // SAFETY: below the count.
            let (low, high) = unsafe { *self.gaps.add(i) };
            if low == high {
                continue;
            }
            let mut new = (low, low);
            for_each_page(low, high, |at, is_written| {
                if !is_written {
                    return;
                }
                if new.1 != at {
                    self.fill(i, new);
                    new.0 = at;
                }
                new.1 = at + PAGE;
            });
            self.fill(i, new);
        }
    }

    /// Pages of a gap were written to: they become as they were at first, and have a copy from now
    /// on. The gap stays: a page that is both is put back twice.
    fn fill(&mut self, _gap: usize, (low, high): (usize, usize)) {
        let known = |r: &Region| r.at <= low && high <= r.at + r.len;
        // SAFETY: `count` entries are written.
        let regions = unsafe { core::slice::from_raw_parts(self.regions, self.count) };
        if low < high && !regions.iter().any(known) {
            sys::discard(low, high - low);
            self.add(low, high);
        }
    }
}

/// A copy of this memory.
fn keep(at: usize, len: usize) -> Region {
    let copy = sys::pages(len.next_multiple_of(PAGE)) as usize;
    // To meet its pages by a fault each takes longer than to copy them.
    sys::populate(copy, len.next_multiple_of(PAGE));
    // SAFETY: mapped memory of the program's, and fresh memory of ours.
    unsafe { core::ptr::copy_nonoverlapping(at as *const u8, copy as *mut u8, len) };
    Region { at, len, copy }
}

/// Calls `f` with all memory of the program's that has been written to, but for stacks and the
/// heap; `f` gets the first thread's stack too, from `stack` on.
pub fn each_written(stack: usize, mut f: impl FnMut(usize, usize)) {
    modules::each_line(|line| match writable(line) {
        Some((_, high, true)) => f(stack, high),
        Some((low, high, false)) => {
            let mut page = low;
            while page < high {
                if let Some(end) = own_end(page) {
                    page = end.next_multiple_of(PAGE).min(high);
                    continue;
                }
                let mut end = page;
                while end < high && own_end(end).is_none() {
                    end += PAGE;
                }
                for_each_page(page, end, |at, is_written| {
                    if is_written {
                        f(at, at + PAGE);
                    }
                });
                page = end;
            }
        }
        None => {}
    });
}

/// Is the page the runtime's, a donor's stack, the heap, or shadow? The end of that, then.
fn own_end(page: usize) -> Option<usize> {
    let within = |low: usize, high: usize| (low..high).contains(&page).then_some(high);
    RESERVED
        .iter()
        .find_map(|r| within(r.start, r.end))
        .or_else(|| within(heap::RANGE.start, heap::RANGE.end))
        .or_else(|| within(heap::FREED.start, heap::FREED.end))
        .or_else(|| sys::own_pages().find_map(|(at, len)| within(at, at + len)))
        .or_else(|| threads::whole_stacks().find_map(|(low, high)| within(low, high)))
}

/// Does the address lie in memory that other processes may have too?
#[cold]
pub fn is_shared(address: usize) -> bool {
    let mut shared = false;
    modules::each_line(|line| {
        let mut fields = line.split(|b| *b == b' ');
        let mut range = fields.next().unwrap_or_default().split(|b| *b == b'-');
        let (low, high) =
            (modules::hex(range.next().unwrap_or_default()), modules::hex(range.next().unwrap_or_default()));
        let is_here = (low..high).contains(&address);
        shared |= is_here && fields.next().is_some_and(|p| p.get(3) == Some(&b's'));
    });
    shared
}

/// `start-end rw-p …`, and whether it is the first thread's stack.
fn writable(line: &[u8]) -> Option<(usize, usize, bool)> {
    let mut fields = line.split(|b| *b == b' ');
    let mut range = fields.next()?.split(|b| *b == b'-');
    let (low, high) = (modules::hex(range.next()?), modules::hex(range.next()?));
    let permissions = fields.next()?;
    (permissions.starts_with(b"rw") && permissions.get(3) == Some(&b'p')).then_some(())?;
    (!line.ends_with(b"[vvar]")).then_some((low, high, line.ends_with(b"[stack]")))
}

/// Calls `f` with each page and whether it has been written to: it is there, and no longer the
/// file's. Where the kernel does not tell, it has.
fn for_each_page(low: usize, high: usize, mut f: impl FnMut(usize, bool)) {
    const PRESENT: u64 = 1 << 63;
    const SWAPPED: u64 = 1 << 62;
    const OF_FILE: u64 = 1 << 61;
    let is_written = |e: u64| e & SWAPPED != 0 || e & PRESENT != 0 && e & OF_FILE == 0;
    for_each_entry(low, high, |page, entry| f(page, entry.is_none_or(is_written)));
}

/// Calls `f` with each page and what the kernel says of it, if it does.
fn for_each_entry(low: usize, high: usize, mut f: impl FnMut(usize, Option<u64>)) {
    let fd = sys::open(c"/proc/self/pagemap".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC, 0);
    let mut entries = [0u64; 512];
    let mut page = low;
    while page < high {
        let n = ((high - page) / PAGE).min(entries.len());
        let offset = page / PAGE * 8;
        let got = if fd < 0 {
            -1
        } else {
            sys::syscall(libc::SYS_pread64, [fd as usize, entries.as_mut_ptr() as usize, n * 8, offset, 0, 0])
        };
        for (i, entry) in entries[..n].iter().enumerate() {
            f(page + i * PAGE, (got == n as isize * 8).then_some(*entry));
        }
        page += n * PAGE;
    }
    if fd >= 0 {
        sys::close(fd);
    }
}

/// The page faults of this process so far.
fn faults() -> u64 {
    let mut usage: libc::rusage = unsafe { core::mem::zeroed() };
    sys::syscall(libc::SYS_getrusage, [libc::RUSAGE_THREAD as usize, &raw mut usage as usize, 0, 0, 0, 0]);
    usage.ru_minflt as u64
}
