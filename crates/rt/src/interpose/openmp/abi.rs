//! What gcc passes to libgomp, and its meaning.

use core::ffi::c_void;

pub type OutlinedFunction = unsafe extern "C-unwind" fn(*mut c_void);
pub type Copier = unsafe extern "C-unwind" fn(*mut c_void, *mut c_void);

/// Flags of tasks: libgomp's `GOMP_TASK_FLAG_…`.
pub mod flag {
    pub const FINAL: u32 = 1 << 1;
    pub const DEPENDS: u32 = 1 << 3;
    pub const UP: u32 = 1 << 8;
    pub const GRAINSIZE: u32 = 1 << 9;
    pub const IF: u32 = 1 << 10;
    pub const NO_GROUP: u32 = 1 << 11;
    pub const REDUCTION: u32 = 1 << 12;
    pub const DETACHED: u32 = 1 << 13;
}

/// More than anybody writes; further ones are ignored.
pub const MOST_DEPENDS: usize = 64;

/// What a task depends on: addresses, with [`WRITES`] where it writes.
#[derive(Clone, Copy)]
pub struct Depends {
    pub n: usize,
    pub addresses: [usize; MOST_DEPENDS],
}

/// Added to an address that the task writes.
const WRITES: usize = 1 << 62;

impl Depends {
    pub const NONE: Depends = Depends { n: 0, addresses: [0; MOST_DEPENDS] };

    /// `omp_all_memory`, which is a dependence on everything that siblings depend on.
    pub const ALL: usize = 0;

    pub fn is_all(address: usize) -> bool {
        address & !WRITES == Depends::ALL
    }

    /// There are two forms, distinguished by the first word (libgomp's `gomp_task_handle_depend`):
    /// number, writes, addresses; or zero, number, writes, exclusive writes, reads, addresses, and
    /// then objects that hold an address each and count as writes here.
    ///
    /// SAFETY: `list` is the compiler's.
    pub unsafe fn read(list: *const usize) -> Depends {
        // SAFETY: by the caller's contract.
        unsafe {
            let (first, n, writes, plain) = match *list {
                0 => {
                    let writes = *list.add(2) + *list.add(3);
                    (list.add(5), *list.add(1), writes, writes + *list.add(4))
                }
                n => (list.add(2), n, *list.add(1), n),
            };
            let mut depends = Depends { n: n.min(MOST_DEPENDS), ..Depends::NONE };
            for (i, to) in depends.addresses.iter_mut().enumerate().take(n) {
                let address = *first.add(i);
                *to = match i {
                    _ if i < writes => address | WRITES,
                    _ if i < plain => address,
                    _ => *(address as *const usize) | WRITES,
                };
            }
            depends
        }
    }

    /// The keys through which writing tasks, and reading tasks, hand over at an address.
    fn keys(address: usize) -> (usize, usize) {
        let address = address & !WRITES;
        (address | 1 << 53, address | 1 << 53 | 1 << 52)
    }

    pub fn begins_after(address: usize, mut acquire: impl FnMut(usize)) {
        let (written, read) = Depends::keys(address);
        acquire(written);
        if address & WRITES != 0 {
            acquire(read);
        }
    }

    pub fn ends_before(address: usize, mut release: impl FnMut(usize)) {
        let (written, read) = Depends::keys(address);
        release(if address & WRITES != 0 { written } else { read });
    }

    /// True if one of two tasks with these dependences must wait for the other.
    pub fn are_ordered(a: usize, b: usize) -> bool {
        (a | WRITES) == (b | WRITES) && (a | b) & WRITES != 0
    }
}

/// A `taskloop`.
pub struct TaskLoop {
    pub start: u64,
    pub end: u64,
    pub step: u64,
    /// The number of tasks, or of iterations for each ([`flag::GRAINSIZE`]); 0: as many tasks as
    /// threads.
    pub tasks: u64,
}

impl TaskLoop {
    /// Calls `f` with the bounds of each task.
    pub fn chunks(&self, flags: u32, threads: u32, mut f: impl FnMut(u64, u64)) {
        let up = flags & flag::UP != 0;
        let way = if up { self.end.wrapping_sub(self.start) } else { self.start.wrapping_sub(self.end) };
        let step = if up { self.step } else { self.step.wrapping_neg() }.max(1);
        if way as i64 <= 0 {
            return;
        }
        let n = way.div_ceil(step);
        let tasks = match self.tasks {
            grain if flags & flag::GRAINSIZE != 0 => n / grain.max(1),
            0 => u64::from(threads),
            tasks => tasks,
        }
        .clamp(1, n);
        let value = |i: u64| self.start.wrapping_add(i.wrapping_mul(self.step));
        let mut done = 0;
        for i in 0..tasks {
            let next = done + n / tasks + u64::from(i < n % tasks);
            f(value(done), if next == n { self.end } else { value(next) });
            done = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunks(start: i64, end: i64, step: i64, tasks: u64, flags: u32) -> Vec<(i64, i64)> {
        let of = TaskLoop { start: start as u64, end: end as u64, step: step as u64, tasks };
        let mut all = Vec::new();
        of.chunks(flags, 2, |from, until| all.push((from as i64, until as i64)));
        all
    }

    #[test]
    fn iterations_are_dealt_out_evenly_and_none_is_lost() {
        assert_eq!(chunks(0, 10, 1, 3, flag::UP), [(0, 4), (4, 7), (7, 10)]);
        assert_eq!(chunks(0, 10, 1, 0, flag::UP), [(0, 5), (5, 10)]);
        assert_eq!(chunks(0, 10, 3, 10, flag::UP), [(0, 3), (3, 6), (6, 9), (9, 10)]);
        assert_eq!(chunks(9, -1, -1, 2, 0), [(9, 4), (4, -1)]);
        assert_eq!(chunks(0, 10, 1, 4, flag::UP | flag::GRAINSIZE), [(0, 5), (5, 10)]);
        assert_eq!(chunks(0, 3, 1, 10, flag::UP | flag::GRAINSIZE), [(0, 3)]);
        assert_eq!(chunks(5, 5, 1, 4, flag::UP), []);
    }

    #[test]
    fn both_forms_of_dependences_are_read() {
        // SAFETY: lists as gcc writes them.
        let [short, long] = unsafe {
            let object = [0x5000usize, 2];
            let at = &raw const object as usize;
            [
                Depends::read([3, 1, 0x1000, 0x2000, 0x3000].as_ptr()),
                Depends::read([0, 4, 1, 1, 1, 0x1000, 0x2000, 0x3000, at].as_ptr()),
            ]
        };
        assert_eq!(&short.addresses[..short.n], [0x1000 | WRITES, 0x2000, 0x3000]);
        assert_eq!(&long.addresses[..long.n], [0x1000 | WRITES, 0x2000 | WRITES, 0x3000, 0x5000 | WRITES]);
    }

    #[test]
    fn two_that_read_are_not_ordered() {
        assert!(!Depends::are_ordered(8, 8));
        assert!(Depends::are_ordered(8 | WRITES, 8));
        assert!(Depends::are_ordered(8, 8 | WRITES));
        assert!(!Depends::are_ordered(8 | WRITES, 16 | WRITES));
    }
}
