//! System calls without the C library: the runtime must not use functions that it interposes.

use core::arch::asm;
use core::ffi::{c_char, c_int, c_long, c_void};
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering::*};

/// A system call with its raw result: negative errno on failure.
#[inline(always)]
pub fn syscall(n: c_long, args: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: the kernel follows its ABI; the caller justifies what the call does to memory.
    unsafe {
        asm!("syscall", inlateout("rax") n as isize => result,
            in("rdi") args[0], in("rsi") args[1], in("rdx") args[2], in("r10") args[3], in("r8") args[4], in("r9") args[5],
            lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    result
}

/// Copies memory that may be gone. The kernel reads it, since an access could fault. False if it
/// cannot all be read.
pub fn copy_if_readable(address: usize, to: &mut [u8]) -> bool {
    let here = [to.as_mut_ptr() as usize, to.len()];
    let there = [address, to.len()];
    let args = [pid() as usize, &raw const here as usize, 1, &raw const there as usize, 1, 0];
    syscall(libc::SYS_process_vm_readv, args) == to.len() as isize
}

const READ_WRITE: usize = (libc::PROT_READ | libc::PROT_WRITE) as usize;
const LAZY: usize = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE) as usize;

/// Maps zeroed memory at `at`, where nothing may be mapped yet. Pages cost memory only when
/// touched.
pub fn reserve(at: usize, len: usize) -> Result<(), isize> {
    let flags = LAZY | libc::MAP_FIXED_NOREPLACE as usize;
    let got = syscall(libc::SYS_mmap, [at, len, READ_WRITE, flags, usize::MAX, 0]);
    if got != at as isize {
        return Err(got);
    }
    // Huge pages would make the sparse shadow dense. A core dump does not need it.
    madvise(at, len, libc::MADV_NOHUGEPAGE);
    madvise(at, len, libc::MADV_DONTDUMP);
    Ok(())
}

/// Where raddle's own memory begins. It is far from the program's memory, whose addresses must not
/// depend on how much memory raddle needs. The stack address of a thread is its id, and programs
/// choose buckets and slots by this id. A replay with different addresses would be a different run.
const OWN_PLACE: usize = 0x7700_0000_0000;
static NEXT_PLACE: AtomicUsize = AtomicUsize::new(OWN_PLACE);

/// Where to map `len` bytes of raddle's own memory. This is a hint; the kernel follows it if the
/// place is free.
pub fn place(len: usize) -> usize {
    NEXT_PLACE.fetch_add(len.next_multiple_of(4096), Relaxed)
}

/// Zeroed memory. Pages cost memory only when touched. Ends the process if there is no memory.
pub fn pages(len: usize) -> *mut u8 {
    try_pages(len).unwrap_or_else(|| die(b"raddle: out of memory in the target\n"))
}

/// Like [`pages`], or `None` if the system has no such room.
pub fn try_pages(len: usize) -> Option<*mut u8> {
    // A request that cannot succeed must not move the place of the next one.
    const MOST: usize = 1 << 44;
    if len > MOST {
        return None;
    }
    let got = syscall(libc::SYS_mmap, [place(len), len, READ_WRITE, LAZY, usize::MAX, 0]);
    if got < 0 && got > -4096 {
        return None;
    }
    let i = OWN_COUNT.fetch_add(1, Relaxed) as usize;
    if i < MOST_OWN {
        // SAFETY: each entry is written once.
        unsafe { (*OWN.get())[i] = (got as usize, len.next_multiple_of(4096)) };
    }
    Some(got as *mut u8)
}

/// Like [`pages`], but shared with the children of this process.
pub fn shared_pages(len: usize) -> *mut u8 {
    let flags = (libc::MAP_SHARED | libc::MAP_ANONYMOUS) as usize;
    let got = syscall(libc::SYS_mmap, [place(len), len, READ_WRITE, flags, usize::MAX, 0]);
    if got < 0 && got > -4096 {
        die(b"raddle: out of memory in the target\n");
    }
    got as *mut u8
}

const MOST_OWN: usize = 8192;
static OWN: Shared<[(usize, usize); MOST_OWN]> = Shared::new([(0, 0); MOST_OWN]);
static OWN_COUNT: AtomicU32 = AtomicU32::new(0);

/// The memory that [`pages`] has returned.
pub fn own_pages() -> impl Iterator<Item = (usize, usize)> {
    // SAFETY: entries below the count; one that is being written is still zero.
    (0..(OWN_COUNT.load(Acquire) as usize).min(MOST_OWN)).map(|i| unsafe { (*OWN.get())[i] })
}

pub fn unmap(at: usize, len: usize) {
    syscall(libc::SYS_munmap, [at, len, 0, 0, 0, 0]);
}

/// Maps memory at `at`, where nothing may be mapped yet.
pub fn map_at(at: usize, len: usize) -> bool {
    let flags = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE) as usize;
    let got = syscall(libc::SYS_mmap, [at, len, READ_WRITE, flags, usize::MAX, 0]);
    if got != at as isize && !(-4095..=0).contains(&got) {
        // This kernel treats the address as a hint.
        unmap(got as usize, len);
    }
    got == at as isize
}

pub fn protect(at: usize, len: usize, access: c_int) -> bool {
    syscall(libc::SYS_mprotect, [at, len, access as usize, 0, 0, 0]) == 0
}

/// Turns off read-ahead for a mapped sparse file. At the first touch the kernel would read, that is
/// clear, two megabytes ahead. That is most of what raddle costs a short process.
pub fn no_reading_ahead(at: usize, len: usize) {
    madvise(at, len, libc::MADV_RANDOM);
}

pub fn madvise(at: usize, len: usize, advice: c_int) {
    syscall(libc::SYS_madvise, [at, len, advice as usize, 0, 0, 0]);
}

/// Populates memory that is about to be written. A kernel that does not know the request does
/// nothing.
pub fn populate(at: usize, len: usize) {
    madvise(at, len, libc::MADV_POPULATE_WRITE);
}

/// Whether a part of a file that is mapped shared has room on the disk. On a full disk, the first
/// touch of a page would end the process by SIGBUS. If the kernel does not know the request (before
/// 5.14), the answer is yes.
pub fn has_room(at: usize, len: usize) -> bool {
    let advice = libc::MADV_POPULATE_WRITE as usize;
    let r = syscall(libc::SYS_madvise, [at, len, advice, 0, 0, 0]);
    r != -(libc::EFAULT as isize) && r != -(libc::ENOMEM as isize)
}

/// The maximal file size by `ulimit -f`. Making a longer file ends the process by SIGXFSZ.
pub fn longest_file() -> usize {
    let mut limit = [usize::MAX; 2];
    syscall(libc::SYS_prlimit64, [0, libc::RLIMIT_FSIZE as usize, 0, limit.as_mut_ptr() as usize, 0, 0]);
    limit[0]
}

/// Returns the memory to the kernel. It reads as zero afterwards.
pub fn discard(at: usize, len: usize) {
    madvise(at, len, libc::MADV_DONTNEED);
}

pub fn open(path: *const c_char, flags: c_int, mode: u32) -> isize {
    let at = libc::AT_FDCWD as isize as usize;
    syscall(libc::SYS_openat, [at, path as usize, flags as usize, mode as usize, 0, 0])
}

pub fn unlink(path: *const c_char) {
    syscall(libc::SYS_unlink, [path as usize, 0, 0, 0, 0, 0]);
}

pub fn close(fd: isize) {
    syscall(libc::SYS_close, [fd as usize, 0, 0, 0, 0, 0]);
}

pub fn read(fd: isize, to: &mut [u8]) -> isize {
    syscall(libc::SYS_read, [fd as usize, to.as_mut_ptr() as usize, to.len(), 0, 0, 0])
}

pub fn write(fd: isize, bytes: &[u8]) -> isize {
    syscall(libc::SYS_write, [fd as usize, bytes.as_ptr() as usize, bytes.len(), 0, 0, 0])
}

/// How many threads this process has; 0: that cannot be found out.
pub fn threads() -> usize {
    // SAFETY: numbers, for which zero is valid.
    let mut stat = unsafe { core::mem::zeroed::<libc::stat>() };
    let path = c"/proc/self/task".as_ptr() as usize;
    // A folder has two links, and one for each folder in it.
    let failed = syscall(libc::SYS_stat, [path, &raw mut stat as usize, 0, 0, 0, 0]);
    if failed == 0 { (stat.st_nlink as usize).saturating_sub(2) } else { 0 }
}

pub fn pid() -> u32 {
    syscall(libc::SYS_getpid, [0; 6]) as u32
}

pub fn thread_id() -> u32 {
    syscall(libc::SYS_gettid, [0; 6]) as u32
}

/// Blocks all signals of this thread; returns those that were blocked before.
pub fn block_signals() -> u64 {
    let (all, mut old) = (u64::MAX, 0u64);
    let how = libc::SIG_SETMASK as usize;
    syscall(libc::SYS_rt_sigprocmask, [how, &raw const all as usize, &raw mut old as usize, 8, 0, 0]);
    old
}

pub fn set_blocked_signals(mask: u64) {
    let how = libc::SIG_SETMASK as usize;
    syscall(libc::SYS_rt_sigprocmask, [how, &raw const mask as usize, 0, 8, 0, 0]);
}

pub fn yield_now() {
    syscall(libc::SYS_sched_yield, [0; 6]);
}

pub fn sleep_ms(ms: i64) {
    sleep_us(ms * 1000);
}

/// The time of a monotonic clock.
pub fn milliseconds() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let clock = libc::CLOCK_MONOTONIC as usize;
    syscall(libc::SYS_clock_gettime, [clock, &raw mut time as usize, 0, 0, 0, 0]);
    time.tv_sec as u64 * 1000 + time.tv_nsec as u64 / 1_000_000
}

pub fn sleep_us(us: i64) {
    let time = libc::timespec { tv_sec: us / 1_000_000, tv_nsec: us % 1_000_000 * 1000 };
    syscall(libc::SYS_nanosleep, [&raw const time as usize, 0, 0, 0, 0, 0]);
}

pub fn futex_wait(word: *const u32, expected: u32) {
    syscall(libc::SYS_futex, [word as usize, libc::FUTEX_WAIT as usize, expected as usize, 0, 0, 0]);
}

pub fn futex_wake(word: *const u32, count: c_int) {
    syscall(libc::SYS_futex, [word as usize, libc::FUTEX_WAKE as usize, count as usize, 0, 0, 0]);
}

/// Ends the process with raddle's status for "could not do its job".
pub fn die(message: &[u8]) -> ! {
    write(2, message);
    loop {
        syscall(libc::SYS_exit_group, [2, 0, 0, 0, 0, 0]);
    }
}

unsafe extern "C" {
    pub fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    pub fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    pub fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
    // The allocator's internal names, because the public ones are interposed.
    pub fn __libc_malloc(n: usize) -> *mut c_void;
    pub fn __libc_calloc(n: usize, m: usize) -> *mut c_void;
    pub fn __libc_realloc(p: *mut c_void, n: usize) -> *mut c_void;
    pub fn __libc_memalign(align: usize, n: usize) -> *mut c_void;
    pub fn __libc_free(p: *mut c_void);
    pub fn __errno_location() -> *mut c_int;
    pub static environ: *const *const c_char;
}

/// The usable size of a block of the C library's allocator: its `malloc_usable_size`, which has no
/// internal name. In a program that is linked with another allocator (jemalloc), the public name
/// leads to that allocator's function.
///
/// # Safety
/// The block belongs to that allocator and is not freed; or it is null.
pub unsafe fn block_size(p: *mut c_void) -> usize {
    const IN_USE_BELOW: usize = 1;
    const MAPPED: usize = 2;
    const OF_OTHER_ARENA: usize = 4;
    if p.is_null() {
        return 0;
    }
    // SAFETY: the size of each block, with three flags, precedes it. A block of the heap also has
    // the first word of the next; a block with its own mapping has two words before it.
    let size = unsafe { p.cast::<usize>().sub(1).read() };
    let header = if size & MAPPED != 0 { 16 } else { 8 };
    (size & !(IN_USE_BELOW | MAPPED | OF_OTHER_ARENA)).saturating_sub(header)
}

pub fn errno() -> c_int {
    // SAFETY: the C library returns a valid thread-local address.
    unsafe { *__errno_location() }
}

pub fn set_errno(e: c_int) {
    // SAFETY: the C library returns a valid thread-local address.
    unsafe { *__errno_location() = e }
}

/// A lock that spins, then yields. The runtime must not take a lock that the target could hold.
pub struct Spin(AtomicU32);

impl Spin {
    pub const fn new() -> Spin {
        Spin(AtomicU32::new(0))
    }

    #[inline]
    pub fn lock(&self) -> SpinGuard<'_> {
        if self.0.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            self.wait();
        }
        SpinGuard(self)
    }

    #[cold]
    #[inline(never)]
    fn wait(&self) {
        let mut tries = 0u32;
        while self.0.compare_exchange_weak(0, 1, Acquire, Relaxed).is_err() {
            tries += 1;
            if tries.is_multiple_of(128) {
                yield_now();
            } else {
                core::hint::spin_loop();
            }
        }
    }

    /// Releases the lock in the child of a fork, where its holder no longer exists.
    pub fn reset(&self) {
        self.0.store(0, Release);
    }
}

pub struct SpinGuard<'a>(&'a Spin);

impl Drop for SpinGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.0.store(0, Release);
    }
}

/// A value whose accesses are ordered by a lock or by design. Each user says by which.
pub struct Shared<T>(core::cell::UnsafeCell<T>);

// SAFETY: every use of `get` states what orders it.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    pub const fn new(value: T) -> Shared<T> {
        Shared(core::cell::UnsafeCell::new(value))
    }

    #[inline(always)]
    pub const fn get(&self) -> *mut T {
        self.0.get()
    }
}

/// An allocator that never frees, in 64-byte steps.
pub struct Arena {
    lock: Spin,
    rest: Shared<(usize, usize)>,
}

const CHUNK: usize = 1 << 20;

impl Arena {
    pub const fn new() -> Arena {
        Arena { lock: Spin::new(), rest: Shared::new((0, 0)) }
    }

    /// Returns zeroed memory.
    pub fn take(&self, size: usize) -> *mut u8 {
        let size = size.next_multiple_of(64);
        if size > CHUNK / 4 {
            return pages(size);
        }
        let _guard = self.lock.lock();
        // SAFETY: `rest` is only used under the lock.
        let rest = unsafe { &mut *self.rest.get() };
        if rest.1 < size {
            *rest = (pages(CHUNK) as usize, CHUNK);
        }
        let at = rest.0;
        *rest = (at + size, rest.1 - size);
        at as *mut u8
    }

    pub fn reset_lock(&self) {
        self.lock.reset();
    }
}

/// Holds all small permanent structures of the runtime.
pub static ARENA: Arena = Arena::new();
