//! The program's memory, saved once and restored after each execution.
//!
//! This covers every page of a writable private mapping that has been written to, the used part of
//! the stacks of the first thread and of the donors, and the blocks of the heap. It does not cover
//! the runtime's own mappings, nor the unused part of stacks, where nobody expects to find
//! anything.
//!
//! A page that was not written to before the snapshot has no copy, and needs none until somebody
//! writes to it. The kernel counts page faults: if an execution had none, there is no new such
//! page, and restoring is just copying. Otherwise the new pages are found and returned to the
//! kernel (so they read as at first), and they join the copied ones. Of the pages with a copy, only
//! those that some execution has written to are restored ([`written`]).

use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::{heap, state, threads, written};
use crate::hub::modules;
use crate::layout::RESERVED;
use crate::sys;
use raddle_wire::explore::{Outside, gap};

const PAGE: usize = 4096;
const MOST: usize = 1 << 14;
/// After these numbers of executions, the written pages are determined anew. The first executions
/// write to many pages that later ones do not, such as the addresses of functions that were looked
/// up.
const WATCH_AGAIN: [u32; 2] = [40, 1000];

/// Memory and its copy.
#[derive(Clone, Copy)]
struct Region {
    at: usize,
    len: usize,
    copy: usize,
}

/// All zero is an empty snapshot.
pub struct Snapshot {
    regions: *mut Region,
    count: usize,
    /// The parts of `regions` that have been written to, if known.
    written: *mut Region,
    written_count: usize,
    /// The copy of the process that makes this known.
    copy: Option<u32>,
    executions: u32,
    /// The donors' stacks, of which only those in use are restored.
    stacks: *mut Region,
    donors: usize,
    /// Memory without copies: start and end.
    gaps: *mut (usize, usize),
    gap_count: usize,
    faults: u64,
    bytes: usize,
    /// The region with the runtime's own call stack of the first thread.
    shadow: usize,
    /// The region with the first thread's stack.
    main_stack: (usize, usize),
    /// What the current execution has mapped; unmapped when it ends.
    mapped: [(usize, usize); MOST_MAPPED],
}

const MOST_MAPPED: usize = 64;

/// The program is about to map memory, at this address if `flags` say so.
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
        super::retry_with_fork(Outside::SharedMemory);
    }
    if flags & libc::MAP_FIXED != 0 && flags & libc::MAP_FIXED_NOREPLACE != libc::MAP_FIXED_NOREPLACE {
        replacing(at, len, pc);
    }
}

/// The program is about to map memory a second time, at another address.
pub fn mapping_again() {
    if super::is_on() {
        state().serve.maps_file = true;
        super::retry_with_fork(Outside::Mapping);
    }
}

/// The contents of memory are about to be replaced, by `madvise` or by a mapping over it.
pub fn replacing(at: usize, len: usize, pc: usize) {
    protecting(at, len, pc);
}

/// The program has mapped memory.
pub fn mapped(at: usize, len: usize) {
    if !super::is_running() || at as isize == -1 {
        return;
    }
    match state().snapshot.mapped.iter_mut().find(|m| m.1 == 0) {
        Some(free) => *free = (at, len),
        None => super::retry_with_fork(Outside::Mapping),
    }
}

/// The program is about to unmap memory. Memory from before the execution cannot be unmapped in
/// place.
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
        None => super::retry_with_fork(Outside::Mapping),
    }
}

/// The program is about to change the protection of memory. In place this is possible only if the
/// memory was mapped in this execution.
pub fn protecting(at: usize, len: usize, pc: usize) {
    if !super::is_running() {
        return;
    }
    takes_away(at, len, pc);
    let within = |m: &(usize, usize)| m.0 <= at && at + len <= m.0 + m.1;
    if !state().snapshot.mapped.iter().any(within) {
        super::retry_with_fork(Outside::Mapping);
    }
}

/// A step after which accesses to the memory may fail, as when a block is freed.
fn takes_away(at: usize, len: usize, pc: usize) {
    /// Larger areas are not searched for accesses.
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

    /// `stack`: the first thread's stack is in use from here on. `may_watch`: writes may be
    /// watched.
    pub fn take(&mut self, stack: usize, may_watch: bool) {
        self.regions = sys::pages(MOST * size_of::<Region>()).cast();
        self.stacks = sys::pages(raddle_explore::MAX_THREADS * size_of::<Region>()).cast();
        self.gaps = sys::pages(MOST * size_of::<(usize, usize)>()).cast();
        self.donors = 0;
        for (low, high) in threads::stacks(threads::donors()) {
            // SAFETY: one entry per donor.
            unsafe { *self.stacks.add(self.donors) = keep(low, high - low) };
            self.donors += 1;
            self.bytes += high - low;
        }
        // Hundreds of threads have more mappings than fit on a stack.
        // SAFETY: fresh memory of the right size; all zero is a valid entry.
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
                self.main_stack = (stack & !63, high);
                self.add(stack & !63, high);
            } else {
                self.look_through(low, high);
            }
        }
        let shadow = crate::detect::thread::current();
        self.shadow = shadow.trace.stack as usize;
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

    /// True if copying everything is cheaper than watching. Learning what a program shares takes
    /// few executions. Copying some pages for each costs less than finding out which of them need
    /// it, which is a fault for each written page.
    fn is_soon_copied(&self) -> bool {
        const SMALL: usize = 16 << 20;
        crate::trace::learns() && self.bytes <= SMALL
    }

    /// Starts to watch: no page counts as written from now on.
    fn watch(&mut self) {
        self.end();
        // Two pages test whether the kernel tells: after a write to the first, they differ.
        let pages = sys::pages(2 * PAGE);
        // SAFETY: fresh memory of this function.
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

    /// The process is about to end. If it cannot call this, the copy ends anyway, but somebody else
    /// must wait for it.
    pub fn end(&mut self) {
        if let Some(child) = self.copy.take() {
            written::end(child);
        }
    }

    /// Finds what must be restored. If there is too much to list, everything is.
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

    /// Makes the word keep its current value from now on.
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

    /// Restores memory; `threads` have been in use.
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
        // SAFETY: mapped and writable regions, and copies of the same length.
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

    /// Calls `f` with each word of the program's memory, but the heap and the stacks of other
    /// threads, that differs from its copy: its address and its value. Of the first thread's stack,
    /// words below `main` do not count. False: there is memory without a copy, or too much memory.
    pub fn each_change(&mut self, threads: usize, main: usize, mut f: impl FnMut(usize, u64)) -> bool {
        if self.count == MOST || self.gap_count == MOST || self.mapped.iter().any(|m| m.1 != 0) {
            return false;
        }
        if faults() != self.faults {
            if self.has_new() {
                return false;
            }
            self.find_written();
            self.faults = faults();
        }
        let all = self.copy.is_none() || self.written_count == MOST;
        let (list, n) = if all { (self.regions, self.count) } else { (self.written, self.written_count) };
        let main_low = self.main_stack.0;
        for i in 0..n {
            // SAFETY: below the count.
            let r = unsafe { *list.add(i) };
            if r.at == self.shadow {
                continue;
            }
            each_difference(r, |at, word| {
                if !(main_low..main).contains(&at) {
                    f(at, word);
                }
            });
        }
        for i in 0..self.donors.min(threads - 1) {
            // SAFETY: one entry per donor.
            each_difference(unsafe { *self.stacks.add(i) }, &mut f);
        }
        true
    }

    /// Whether pages were written to of which there is no copy yet.
    #[cold]
    fn has_new(&self) -> bool {
        let mut new = false;
        for i in 0..self.gap_count {
            // SAFETY: below the count.
            let (low, high) = unsafe { *self.gaps.add(i) };
            for_each_page(low, high, |at, is_written| {
                // SAFETY: `count` entries are written.
                let regions = unsafe { core::slice::from_raw_parts(self.regions, self.count) };
                new |= is_written && !regions.iter().any(|r| r.at <= at && at + PAGE <= r.at + r.len);
            });
        }
        new
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

    /// Pages of a gap were written to: resets them to their first state, and gives them a copy from
    /// now on. The gap stays: a page that is in both is restored twice.
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

/// Calls `f` with each word of the region that differs from its copy. Regions are of whole words,
/// except at their ends.
fn each_difference(r: Region, mut f: impl FnMut(usize, u64)) {
    const LINE: usize = 64;
    let (low, high) = (r.at & !7, (r.at + r.len).next_multiple_of(8));
    let word = |at: usize| unsafe { (at as *const u64).read_volatile() };
    let mut at = low;
    while at < high {
        let end = (at + LINE).min(high);
        // SAFETY: mapped memory, and a copy in whole pages.
        let same = unsafe {
            let now = core::slice::from_raw_parts(at as *const u8, end - at);
            now == core::slice::from_raw_parts((r.copy + at - r.at) as *const u8, end - at)
        };
        if !same {
            for w in (at..end).step_by(8) {
                if word(w) != word(r.copy + w - r.at) {
                    f(w, word(w));
                }
            }
        }
        at = end;
    }
}

/// Makes a copy of this memory.
fn keep(at: usize, len: usize) -> Region {
    let copy = sys::pages(len.next_multiple_of(PAGE)) as usize;
    // A page fault for each of its pages takes longer than copying them.
    sys::populate(copy, len.next_multiple_of(PAGE));
    // SAFETY: mapped memory of the program, and fresh memory of the runtime.
    unsafe { core::ptr::copy_nonoverlapping(at as *const u8, copy as *mut u8, len) };
    Region { at, len, copy }
}

/// Calls `f` with all of the program's memory that has been written to, except the heap and stacks.
/// The first thread's stack is included, from `stack` on.
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

/// If the page belongs to the runtime, a donor's stack, the heap, or the shadow: the end of that
/// area.
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

/// True if the address lies in memory that other processes may share.
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

/// Calls `f` with each page and whether it has been written to: it is present, and no longer the
/// file's. If the kernel does not tell, it counts as written, unless it cannot be read.
fn for_each_page(low: usize, high: usize, mut f: impl FnMut(usize, bool)) {
    const PRESENT: u64 = 1 << 63;
    const SWAPPED: u64 = 1 << 62;
    const OF_FILE: u64 = 1 << 61;
    for_each_entry(low, high, |page, entry| {
        let is_written = match entry {
            Some(entry) if entry & SWAPPED == 0 => entry & PRESENT != 0 && entry & OF_FILE == 0,
            _ => is_readable(page),
        };
        f(page, is_written);
    });
}

/// Since 2.42 glibc guards the stacks of threads by MADV_GUARD_INSTALL. Such a page lies in a
/// writable mapping and looks as if it was swapped out, but whoever touches it gets SIGSEGV. Kernels
/// before 6.15 do not say which pages these are, so the kernel is asked to read one.
fn is_readable(page: usize) -> bool {
    let mut byte = 0u8;
    let here = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let there = libc::iovec { iov_base: page as *mut _, iov_len: 1 };
    let words = [sys::pid() as usize, &raw const here as usize, 1, &raw const there as usize, 1, 0];
    sys::syscall(libc::SYS_process_vm_readv, words) != -libc::EFAULT as isize
}

/// Calls `f` with each page and its pagemap entry, if the kernel has one.
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

/// The number of page faults of this process so far.
fn faults() -> u64 {
    let mut usage: libc::rusage = unsafe { core::mem::zeroed() };
    sys::syscall(libc::SYS_getrusage, [libc::RUSAGE_THREAD as usize, &raw mut usage as usize, 0, 0, 0, 0]);
    usage.ru_minflt as u64
}
