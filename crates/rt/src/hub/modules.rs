//! The files that are mapped into the process. The list comes from the kernel, because the loader's
//! own list is behind a lock that the target may hold.

use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::sys::{self, Shared, Spin};
use raddle_base::hash::fnv64;
use raddle_wire::record::Record;

const MOST: usize = 2048;

/// One mapping of a file. A module has several.
#[derive(Clone, Copy)]
pub struct Mapping {
    pub low: usize,
    pub high: usize,
    executable: (usize, usize),
    path_hash: u64,
    /// An instrumented module has called in from this mapping.
    instrumented: bool,
    /// Uninstrumented, but copies on behalf of the program: the C++ library.
    trusted: bool,
    gone: bool,
    /// The dynamic linker or the C library, which call the constructors of other modules.
    starts_others: bool,
}

struct Table {
    modules: [Mapping; MOST],
    n: usize,
}

const NONE: Mapping = Mapping {
    low: 0,
    high: 0,
    executable: (0, 0),
    path_hash: 0,
    instrumented: false,
    trusted: false,
    gone: true,
    starts_others: false,
};
static LOCK: Spin = Spin::new();
static TABLE: Shared<Table> = Shared::new(Table { modules: [NONE; MOST], n: 0 });

/// Reads the maps again and logs new ones.
///
/// Other threads read the table meanwhile, without the lock. So a mapping is never marked as gone
/// before all of the maps have been read: the other threads would take its code for unknown.
pub fn refresh() {
    let _guard = LOCK.lock();
    // SAFETY: TABLE is changed under LOCK.
    let table = unsafe { &mut *TABLE.get() };
    let mut present = [false; MOST];
    let is_whole = each_line(|line| {
        if let Some((map, path)) = parse(line)
            && let Some(at) = table.add(map, path)
        {
            present[at] = true;
        }
    });
    if is_whole {
        for (m, present) in table.modules[..table.n].iter_mut().zip(present) {
            m.gone = !present;
        }
    }
}

/// Visits the beginnings of readable files that are loaded to run. If a file is also mapped as
/// data, the last beginning before its code counts.
pub fn each_beginning(mut visit: impl FnMut(usize, &[u8])) {
    let mut last = (0, 0);
    each_line(|line| {
        let readable = parse_line(line).is_some_and(|(_, permissions)| permissions.starts_with(b"r"));
        let Some((map, path)) = parse(line) else { return };
        let of = fnv64(path);
        if map.offset == 0 && readable && !(map.executable && last.0 == of) {
            last = (of, map.start);
        }
        if map.executable && last.0 == of {
            visit(last.1, path);
            last = (0, 0);
        }
    });
}

/// A library was unloaded, and another file may take its place.
pub fn forget_unmapped() {
    refresh();
    let _guard = LOCK.lock();
    // SAFETY: under LOCK.
    let table = unsafe { &mut *TABLE.get() };
    for m in table.modules[..table.n].iter_mut().filter(|m| m.gone && m.path_hash != 0) {
        crate::detect::range::clear(m.low, m.high - m.low);
        crate::detect::objects::remove_range(m.low, m.high - m.low);
        m.executable = (0, 0);
        // The same file may return to the same place. It is then logged again.
        m.path_hash = 0;
    }
}

/// Forgets what is in the log, because the child of a fork has a new one.
pub fn reset_after_fork() {
    LOCK.reset();
    // SAFETY: the child has one thread.
    let table = unsafe { &mut *TABLE.get() };
    let old = table.n;
    table.n = 0;
    let mut kept = [(0usize, false); MOST];
    for (k, m) in kept.iter_mut().zip(&table.modules[..old]) {
        *k = (m.low, m.instrumented);
    }
    refresh();
    // SAFETY: as above.
    let table = unsafe { &mut *TABLE.get() };
    for m in &mut table.modules[..table.n] {
        m.instrumented = kept[..old].iter().any(|k| k.0 == m.low && k.1);
    }
}

struct Map {
    start: usize,
    end: usize,
    offset: usize,
    executable: bool,
}

impl Table {
    /// The number of the mapping, which is new or known. `None`: there is no room for it.
    fn add(&mut self, map: Map, path: &[u8]) -> Option<usize> {
        let path_hash = fnv64(path);
        let same = |m: &Mapping| m.path_hash == path_hash && m.low == map.start && m.high == map.end;
        if let Some(at) = self.modules[..self.n].iter().rposition(same) {
            self.modules[at].gone = false;
            return Some(at);
        }
        if self.n == MOST {
            return None;
        }
        let executable = if map.executable { (map.start, map.end) } else { (0, 0) };
        let trusted = path.windows(9).any(|w| w == b"libstdc++");
        self.modules[self.n] = Mapping {
            low: map.start,
            high: map.end,
            executable,
            path_hash,
            instrumented: false,
            trusted,
            gone: false,
            starts_others: path.windows(8).any(|w| w == b"ld-linux" || w == b"/libc.so"),
        };
        self.n += 1;
        let (low, high, offset) = (map.start as u64, map.end as u64, map.offset as u64);
        crate::hub::log::write(&Record::Module { low, high, offset, path });
        Some(self.n - 1)
    }
}

/// `start-end perms offset dev inode path`, for files only.
fn parse(line: &[u8]) -> Option<(Map, &[u8])> {
    let path = &line[line.iter().position(|b| *b == b'/')?..];
    let mut fields = line.split(|b| *b == b' ');
    let mut range = fields.next()?.split(|b| *b == b'-');
    let (start, end) = (hex(range.next()?), hex(range.next()?));
    let perms = fields.next()?;
    let offset = hex(fields.next()?);
    Some((Map { start, end, offset, executable: perms.get(2) == Some(&b'x') }, path))
}

/// The range of a line and its permissions.
pub fn parse_line(line: &[u8]) -> Option<((usize, usize), &[u8])> {
    let mut fields = line.split(|b| *b == b' ');
    let mut range = fields.next()?.split(|b| *b == b'-');
    Some(((hex(range.next()?), hex(range.next()?)), fields.next()?))
}

pub fn hex(digits: &[u8]) -> usize {
    digits.iter().fold(0, |n, d| n << 4 | (*d as char).to_digit(16).unwrap_or(0) as usize)
}

/// Visits the lines of the process's maps. False if they could not be read to their end.
pub fn each_line(mut f: impl FnMut(&[u8])) -> bool {
    let fd = sys::open(c"/proc/self/maps".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC, 0);
    if fd < 0 {
        return false;
    }
    let mut buffer = [0u8; 8192];
    let mut kept = 0;
    let is_whole = loop {
        let n = sys::read(fd, &mut buffer[kept..]);
        if n <= 0 {
            break n == 0;
        }
        let filled = kept + n as usize;
        let mut start = 0;
        while let Some(len) = buffer[start..filled].iter().position(|b| *b == b'\n') {
            f(&buffer[start..start + len]);
            start += len + 1;
        }
        if start == 0 && filled == buffer.len() {
            // The line is longer than the buffer. Its path does not matter here.
            kept = 0;
            continue;
        }
        buffer.copy_within(start..filled, 0);
        kept = filled - start;
    };
    sys::close(fd);
    is_whole
}

fn table() -> &'static Table {
    // SAFETY: modules are only appended, or updated in place with plain words; a reader may see an
    // older state.
    unsafe { &*TABLE.get() }
}

/// Completes a program counter of which only the low half was kept.
pub fn complete(low: u32) -> u64 {
    let t = table();
    let fits = |m: &&Mapping| !m.gone && m.executable.1 != 0;
    for m in t.modules[..t.n].iter().filter(fits) {
        let high = m.executable.0 & !0xffff_ffff;
        for pc in [high | low as usize, (high | low as usize).wrapping_add(1 << 32)] {
            if pc >= m.executable.0 && pc < m.executable.1 {
                return pc as u64;
            }
        }
    }
    low as u64
}

/// Handles the call from `pc` by a constructor that the compiler has added to an instrumented
/// module. gcc turns the constructor's last call into a jump. Then `pc` is the place that called
/// the constructor, and instrumented modules are recognised by their imports.
pub fn mark_instrumented(pc: usize) {
    if !find(pc) {
        refresh();
    }
    let t = table();
    let jumped = t.modules[..t.n].iter().any(|m| contains(m, pc) && m.starts_others);
    if !jumped {
        return mark(pc);
    }
    // SAFETY: reads the kernel's auxiliary vector.
    let entry = unsafe { super::init::getauxval(libc::AT_ENTRY) } as usize;
    let runtime = mark as *const () as usize;
    if t.modules[..t.n].iter().any(|m| contains(m, entry) && contains(m, runtime)) {
        mark(entry);
    }
    each_beginning(|start, path| {
        // SAFETY: the first page of a file that is loaded to run.
        if unsafe { super::imports::has(start, b"__tsan_init") } {
            let of = fnv64(path);
            let t = table();
            let code = |m: &&Mapping| m.path_hash == of && !m.gone && m.executable.1 != 0;
            t.modules[..t.n].iter().filter(code).for_each(|m| mark(m.executable.0));
        }
    });
}

/// Marks the code at `pc` as instrumented.
pub fn mark(pc: usize) {
    let _guard = LOCK.lock();
    // SAFETY: under LOCK.
    let table = unsafe { &mut *TABLE.get() };
    for m in table.modules[..table.n].iter_mut().filter(|m| contains(m, pc) && !m.starts_others) {
        m.instrumented = true;
        if FIRST_END.load(Relaxed) == 0 {
            FIRST_START.store(m.executable.0, Relaxed);
            FIRST_END.store(m.executable.1, Relaxed);
        }
    }
}

/// The code of the first module that called in, usually the executable.
static FIRST_START: AtomicUsize = AtomicUsize::new(0);
static FIRST_END: AtomicUsize = AtomicUsize::new(0);

fn contains(m: &Mapping, pc: usize) -> bool {
    !m.gone && pc >= m.executable.0 && pc < m.executable.1
}

fn find(pc: usize) -> bool {
    let t = table();
    t.modules[..t.n].iter().any(|m| contains(m, pc))
}

/// Whether the call that returns to `pc` comes from instrumented code. The runtime cannot judge
/// what other code does to memory, because it may not see that code's synchronisation.
#[inline]
pub fn is_judged(pc: usize) -> bool {
    if pc >= FIRST_START.load(Relaxed) && pc < FIRST_END.load(Relaxed) {
        return true;
    }
    let t = table();
    t.modules[..t.n].iter().any(|m| (m.instrumented || m.trusted) && contains(m, pc))
}

/// Whether `pc` is in the C++ library, and that is not instrumented.
pub fn is_of_cxx_library(pc: usize) -> bool {
    let t = table();
    t.modules[..t.n].iter().any(|m| m.trusted && !m.instrumented && contains(m, pc))
}

/// Like [`is_judged`], but without the C++ library, which counts references with its own
/// atomics before it frees.
#[inline]
pub fn is_instrumented(pc: usize) -> bool {
    if pc >= FIRST_START.load(Relaxed) && pc < FIRST_END.load(Relaxed) {
        return true;
    }
    let t = table();
    t.modules[..t.n].iter().any(|m| m.instrumented && contains(m, pc))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_stays_known_while_the_maps_are_read_again() {
        refresh();
        let pc = refresh as *const () as usize;
        let refreshing = std::thread::spawn(|| (0..200).for_each(|_| refresh()));
        while !refreshing.is_finished() {
            assert_eq!(complete(pc as u32), pc as u64);
            assert!(find(pc));
        }
        refreshing.join().unwrap();
    }
}
