//! What the C library and the kernel return about time, names, users and hosts. It goes into memory
//! of the caller, or of the library (`localtime`, `getpwnam`), which all threads share: two threads
//! that call such a function at once race.

use core::ffi::{c_char, c_double, c_float, c_int, c_long, c_uint, c_void};

use super::access::{Call, Text, accesses, length, looks};
use super::transfer::{gathers, scattered};

type Room = *mut c_char;
type Tm = *mut libc::tm;
type Time = *const libc::time_t;
type Set = *mut libc::sigset_t;
type Address = *const c_void;

/// Time.
mod time {
    use super::*;

    accesses! {
        fn localtime_r(at: Time, to: Tm) -> Tm, |c| { c.reads_one(at); c.fills(to) } then |r| { c.wrote_if(!r.is_null(), to) }
        fn gmtime_r(at: Time, to: Tm) -> Tm, |c| { c.reads_one(at); c.fills(to) } then |r| { c.wrote_if(!r.is_null(), to) }
        fn localtime(at: Time) -> Tm, |c| { c.reads_one(at); c.keeps_state() } then |r| { c.wrote_own(r, size_of::<libc::tm>()) }
        fn gmtime(at: Time) -> Tm, |c| { c.reads_one(at); c.keeps_state() } then |r| { c.wrote_own(r, size_of::<libc::tm>()) }
        fn ctime(at: Time) -> Room, |c| { c.reads_one(at); c.keeps_state() } then |r| { c.wrote_own(r, 26) }
        fn ctime_r(at: Time, to: Room) -> Room, |c| { c.reads_one(at); c.fills(to) } then |r| { c.wrote_text(r) }
        fn asctime(from: Tm) -> Room, |c| { c.reads_one(from); c.keeps_state() } then |r| { c.wrote_own(r, 26) }
        fn asctime_r(from: Tm, to: Room) -> Room, |c| { c.reads_one(from); c.fills(to) } then |r| { c.wrote_text(r) }
        fn mktime(from: Tm) -> libc::time_t, |c| { c.reads_one(from); c.fills(from) } then |r| { c.wrote_if(r != -1, from) }
        fn timelocal(from: Tm) -> libc::time_t, |c| { c.reads_one(from); c.fills(from) } then |r| { c.wrote_if(r != -1, from) }
        fn timegm(from: Tm) -> libc::time_t, |c| { c.reads_one(from); c.fills(from) } then |r| { c.wrote_if(r != -1, from) }
        fn strftime(to: Room, n: usize, format: Text, from: Tm) -> usize, |c| { c.text(format); c.reads_one(from); c.fills(to) } then |n| {
            if n > 0 { c.wrote(to, n + 1) }
        }
        fn strftime_l(to: Room, n: usize, format: Text, from: Tm, locale: usize) -> usize, |c| {
            c.text(format);
            c.reads_one(from);
            c.fills(to)
        } then |n| { if n > 0 { c.wrote(to, n + 1) } }
        fn strptime(s: Text, format: Text, to: Tm) -> Text, |c| { c.text(format); c.fills(to) } then |end| {
            if !end.is_null() { c.has_read(s, end as usize - s as usize) }
            c.wrote_if(!end.is_null(), to)
        }
        fn clock_getres(clock: c_int, to: *mut libc::timespec) -> c_int, |c| { c.fills(to) } then |r| { c.wrote_if(r == 0, to) }
        fn clock_settime(clock: c_int, from: *const libc::timespec) -> c_int, |c| { c.reads_one(from); c.changes_process() }
        fn clock_getcpuclockid(pid: c_int, to: *mut c_int) -> c_int, |c| { c.fills(to) } then |r| { c.wrote_if(r == 0, to) }
    }
}

/// The process, its limits, its users.
mod process {
    use super::*;

    /// `getpwnam_r` and its kin write the record, what it points to, and its address if there is
    /// one.
    unsafe fn found<T: Texts>(c: &mut Call, record: *const T, result: *mut *mut T, r: c_int) {
        c.wrote_one(result);
        // SAFETY: the call has filled it in.
        unsafe {
            if r == 0 && !(*result).is_null() {
                c.wrote_one(record);
                (*record).texts().into_iter().for_each(|text| c.wrote_text(text));
            }
        }
    }

    /// What a record points to lies in the caller's room.
    trait Texts {
        fn texts(&self) -> [Text; 5];
    }

    impl Texts for libc::passwd {
        fn texts(&self) -> [Text; 5] {
            [self.pw_name, self.pw_passwd, self.pw_gecos, self.pw_dir, self.pw_shell].map(|t| t.cast_const())
        }
    }

    impl Texts for libc::group {
        fn texts(&self) -> [Text; 5] {
            let none = core::ptr::null();
            [self.gr_name, self.gr_passwd, none, none, none]
        }
    }

    accesses! {
        fn gethostname(to: Room, n: usize) -> c_int, |c| { c.fills(to) } then |r| { if r == 0 { c.wrote_text(to) } }
        fn __gethostname_chk(to: Room, n: usize, room: usize) -> c_int, |c| { c.fills(to) } then |r| { if r == 0 { c.wrote_text(to) } }
        fn getdomainname(to: Room, n: usize) -> c_int, |c| { c.fills(to) } then |r| { if r == 0 { c.wrote_text(to) } }
        fn sethostname(from: Text, n: usize) -> c_int, |c| { c.reads(from, n); c.changes_process() }
        fn uname(to: *mut libc::utsname) -> c_int, |c| { c.fills(to) } then |r| { c.wrote_if(r == 0, to) }
        fn sysinfo(to: *mut libc::sysinfo) -> c_int, |c| { c.asks_for_chance(); c.fills(to) } then |r| { c.wrote_if(r == 0, to) }
        fn getrlimit(what: c_int, to: *mut libc::rlimit) -> c_int, |c| { c.fills(to) } then |r| { c.wrote_if(r == 0, to) }
        fn getrlimit64(what: c_int, to: *mut libc::rlimit) -> c_int, |c| { c.fills(to) } then |r| { c.wrote_if(r == 0, to) }
        fn setrlimit(what: c_int, from: *const libc::rlimit) -> c_int, |c| { c.reads_one(from); c.changes_process() }
        fn setrlimit64(what: c_int, from: *const libc::rlimit) -> c_int, |c| { c.reads_one(from); c.changes_process() }
        fn umask(mask: c_uint) -> c_uint, |c| { c.changes_process() }
        fn nice(by: c_int) -> c_int, |c| { c.changes_process() }
        fn prlimit(pid: c_int, what: c_int, from: *const libc::rlimit, to: *mut libc::rlimit) -> c_int, |c| { c.reads_one(from); c.changes_process(); c.fills(to) } then |r| { c.wrote_if(r == 0, to) }
        fn prlimit64(pid: c_int, what: c_int, from: *const libc::rlimit, to: *mut libc::rlimit) -> c_int, |c| { c.reads_one(from); c.changes_process(); c.fills(to) } then |r| { c.wrote_if(r == 0, to) }
        fn chroot(path: Text) -> c_int, |c| { c.text(path); c.changes_process() }
        fn setuid(id: c_uint) -> c_int, |c| { c.changes_process() }
        fn seteuid(id: c_uint) -> c_int, |c| { c.changes_process() }
        fn setreuid(a: c_uint, b: c_uint) -> c_int, |c| { c.changes_process() }
        fn setgid(id: c_uint) -> c_int, |c| { c.changes_process() }
        fn setegid(id: c_uint) -> c_int, |c| { c.changes_process() }
        fn setregid(a: c_uint, b: c_uint) -> c_int, |c| { c.changes_process() }
        fn setgroups(n: usize, from: *const c_uint) -> c_int, |c| { c.reads(from, n * 4); c.changes_process() }
        fn setpgid(pid: c_int, group: c_int) -> c_int, |c| { c.changes_process() }
        fn setsid() -> c_int, |c| { c.changes_process() }
        fn getloadavg(to: *mut c_double, n: c_int) -> c_int, |c| { c.asks_for_chance(); c.fills(to) } then |got| { c.wrote(to, got.max(0) as usize * 8) }
        fn confstr(name: c_int, to: Room, n: usize) -> usize, |c| { if n > 0 { c.fills(to) } } then |need| { c.wrote(to, need.min(n)) }
        fn getgroups(n: c_int, to: *mut c_uint) -> c_int, |c| { if n > 0 { c.fills(to) } } then |got| {
            if n > 0 { c.wrote(to, got.max(0) as usize * 4) }
        }
        fn getresuid(a: *mut c_uint, b: *mut c_uint, d: *mut c_uint) -> c_int, |c| { c.writes_one(a); c.writes_one(b); c.writes_one(d) }
        fn getresgid(a: *mut c_uint, b: *mut c_uint, d: *mut c_uint) -> c_int, |c| { c.writes_one(a); c.writes_one(b); c.writes_one(d) }
        fn getlogin_r(to: Room, n: usize) -> c_int, |c| { c.fills(to) } then |r| { if r == 0 { c.wrote_text(to) } }
        fn ttyname_r(fd: c_int, to: Room, n: usize) -> c_int, |c| { c.fills(to) } then |r| { if r == 0 { c.wrote_text(to) } }
        fn ptsname_r(fd: c_int, to: Room, n: usize) -> c_int, |c| { c.fills(to) } then |r| { if r == 0 { c.wrote_text(to) } }
        fn getpwnam_r(name: Text, to: *mut libc::passwd, room: Room, n: usize, result: *mut *mut libc::passwd) -> c_int, |c| {
            c.text(name);
            c.fills(to)
        } then |r| { found(&mut c, to, result, r) }
        fn getpwuid_r(id: c_uint, to: *mut libc::passwd, room: Room, n: usize, result: *mut *mut libc::passwd) -> c_int, |c| {
            c.fills(to)
        } then |r| { found(&mut c, to, result, r) }
        fn getpwent_r(to: *mut libc::passwd, room: Room, n: usize, result: *mut *mut libc::passwd) -> c_int, |c| {
            c.fills(to)
        } then |r| { found(&mut c, to, result, r) }
        fn getgrnam_r(name: Text, to: *mut libc::group, room: Room, n: usize, result: *mut *mut libc::group) -> c_int, |c| {
            c.text(name);
            c.fills(to)
        } then |r| { found(&mut c, to, result, r) }
        fn getgrgid_r(id: c_uint, to: *mut libc::group, room: Room, n: usize, result: *mut *mut libc::group) -> c_int, |c| {
            c.fills(to)
        } then |r| { found(&mut c, to, result, r) }
        fn getgrent_r(to: *mut libc::group, room: Room, n: usize, result: *mut *mut libc::group) -> c_int, |c| {
            c.fills(to)
        } then |r| { found(&mut c, to, result, r) }
        fn getpwnam(name: Text) -> *mut libc::passwd, |c| { c.text(name); c.keeps_state() } then |r| { c.wrote_own(r, size_of::<libc::passwd>()) }
        fn getpwuid(id: c_uint) -> *mut libc::passwd, |c| { c.keeps_state() } then |r| { c.wrote_own(r, size_of::<libc::passwd>()) }
        fn getgrnam(name: Text) -> *mut libc::group, |c| { c.text(name); c.keeps_state() } then |r| { c.wrote_own(r, size_of::<libc::group>()) }
        fn getgrgid(id: c_uint) -> *mut libc::group, |c| { c.keeps_state() } then |r| { c.wrote_own(r, size_of::<libc::group>()) }
        fn getpwent() -> *mut libc::passwd, |c| { c.keeps_state() } then |r| { c.wrote_own(r, size_of::<libc::passwd>()) }
        fn getgrent() -> *mut libc::group, |c| { c.keeps_state() } then |r| { c.wrote_own(r, size_of::<libc::group>()) }
        fn fgetpwent_r(file: *mut c_void, to: *mut libc::passwd, room: Room, n: usize, result: *mut *mut libc::passwd) -> c_int, |c| {
            c.uses_stream(file);
            c.fills(to)
        } then |r| { found(&mut c, to, result, r) }
        fn fgetgrent_r(file: *mut c_void, to: *mut libc::group, room: Room, n: usize, result: *mut *mut libc::group) -> c_int, |c| {
            c.uses_stream(file);
            c.fills(to)
        } then |r| { found(&mut c, to, result, r) }
        fn getmntent_r(file: *mut c_void, to: *mut [usize; 5], room: Room, n: c_int) -> *mut [usize; 5], |c| { c.uses_stream(file); c.fills(to) } then |r| {
            c.wrote_if(!r.is_null(), to)
        }
        fn getgrouplist(user: Text, group: c_uint, to: *mut c_uint, n: *mut c_int) -> c_int, |c| {
            c.text(user);
            c.reads_one(n);
            c.fills(to)
        } then |got| { c.wrote_one(n); if got > 0 { c.wrote(to, got as usize * 4) } }
        fn ttyname(fd: c_int) -> Room, |c| { c.keeps_state() } then |r| { c.wrote_own(r, 1) }
        fn ptsname(fd: c_int) -> Room, |c| { c.keeps_state() } then |r| { c.wrote_own(r, 1) }
        fn mincore(at: *mut c_void, n: usize, to: *mut u8) -> c_int, |c| { c.asks_for_chance(); c.fills(to) } then |r| {
            c.wrote(to, if r == 0 { n.div_ceil(4096) } else { 0 })
        }
        fn process_vm_readv(pid: c_int, to: *const libc::iovec, n: usize, from: *const libc::iovec, m: usize, flags: usize) -> isize, |c| {} then |got| {
            scattered(&mut c, to, n, got.max(0) as usize)
        }
        fn process_vm_writev(pid: c_int, from: *const libc::iovec, n: usize, to: *const libc::iovec, m: usize, flags: usize) -> isize, |c| {
            // The memory may be the program's own.
            c.changes_process();
            gathers(&mut c, from, n)
        }
    }

    // Databases that are read entry by entry: the position and the returned entry belong to the
    // library.
    accesses! {
        fn setpwent(), |c| { c.keeps_state() }
        fn endpwent(), |c| { c.keeps_state() }
        fn setgrent(), |c| { c.keeps_state() }
        fn endgrent(), |c| { c.keeps_state() }
        fn fgetpwent(file: *mut c_void) -> *mut libc::passwd, |c| { c.uses_stream(file); c.keeps_state() } then |r| { c.wrote_own(r, size_of::<libc::passwd>()) }
        fn fgetgrent(file: *mut c_void) -> *mut libc::group, |c| { c.uses_stream(file); c.keeps_state() } then |r| { c.wrote_own(r, size_of::<libc::group>()) }
        fn getmntent(file: *mut c_void) -> *mut [usize; 5], |c| { c.uses_stream(file); c.keeps_state() } then |r| { c.wrote_own(r, size_of::<[usize; 5]>()) }
        fn getutent() -> *mut libc::utmpx, |c| { c.keeps_state() } then |r| { c.wrote_own(r, size_of::<libc::utmpx>()) }
        fn getutxent() -> *mut libc::utmpx, |c| { c.keeps_state() } then |r| { c.wrote_own(r, size_of::<libc::utmpx>()) }
        fn getutid(like: *const libc::utmpx) -> *mut libc::utmpx, |c| { c.keeps_state() } then |r| { c.wrote_own(r, size_of::<libc::utmpx>()) }
        fn getutxid(like: *const libc::utmpx) -> *mut libc::utmpx, |c| { c.keeps_state() } then |r| { c.wrote_own(r, size_of::<libc::utmpx>()) }
        fn getutline(like: *const libc::utmpx) -> *mut libc::utmpx, |c| { c.keeps_state() } then |r| { c.wrote_own(r, size_of::<libc::utmpx>()) }
        fn getutxline(like: *const libc::utmpx) -> *mut libc::utmpx, |c| { c.keeps_state() } then |r| { c.wrote_own(r, size_of::<libc::utmpx>()) }
        fn getusershell() -> Room, |c| { c.keeps_state() }
    }

    accesses! {
        fn initgroups(user: Text, group: c_uint) -> c_int, |c| { c.text(user); c.changes_process() }
        fn capget(head: *mut [u32; 2], to: *mut [u32; 3]) -> c_int, |c| { c.reads_one(head); c.fills(to) } then |r| { c.wrote_if(r == 0, to) }
        fn capset(head: *mut [u32; 2], from: *const [u32; 3]) -> c_int, |c| { c.reads_one(head); c.reads_one(from); c.changes_process() }
        fn dn_expand(message: *const u8, end: *const u8, from: *const u8, to: Room, n: c_int) -> c_int, |c| { c.fills(to) } then |got| {
            c.has_read(from, got.max(0) as usize);
            if got >= 0 { c.wrote_text(to) }
        }
        fn dn_comp(name: Text, to: *mut u8, n: c_int, known: *mut *mut u8, last: *mut *mut u8) -> c_int, |c| { c.text(name); c.fills(to) } then |got| {
            c.wrote(to, got.max(0) as usize)
        }
        fn backtrace(to: *mut usize, n: c_int) -> c_int, |c| { c.fills(to) } then |got| { c.wrote(to, got.max(0) as usize * 8) }
        fn backtrace_symbols(from: *const usize, n: c_int) -> *mut Room, |c| { c.reads(from, n.max(0) as usize * 8) }
        fn setlocale(category: c_int, name: Text) -> Room, |c| {
            c.text(name);
            if !name.is_null() { c.changes_locale() }
            c.keeps_state()
        }
        fn textdomain(name: Text) -> Room, |c| { c.text(name); c.keeps_state() }
        fn tmpnam(to: Room) -> Room, |c| { c.looks_outside(); if to.is_null() { c.keeps_state() } else { c.fills(to) } } then |r| {
            if to.is_null() { c.wrote_own(r, 1) } else { c.wrote_text(r) }
        }
        fn tempnam(folder: Text, prefix: Text) -> Room, |c| { c.looks_outside(); c.text(folder); c.text(prefix); }
        fn shmctl(id: c_int, command: c_int, to: *mut libc::shmid_ds) -> c_int, |c| {
            if command == libc::IPC_SET { c.reads_one(to) }
        } then |r| { c.wrote_if(command == libc::IPC_STAT && r != -1, to) }
    }

    accesses! {
        /// Who asks for numbers that need not be random, such as the keys of Rust's `HashMap`, says
        /// that it does not matter which they are.
        fn getrandom(to: *mut c_void, n: usize, flags: c_uint) -> isize, |c| {
            if flags & libc::GRND_INSECURE == 0 { c.asks_for_chance() }
            c.fills(to)
        } then |got| { c.wrote(to, got.max(0) as usize) }
        fn getentropy(to: *mut c_void, n: usize) -> c_int, |c| { c.asks_for_chance(); c.fills(to) } then |r| { c.wrote(to, if r == 0 { n } else { 0 }) }
        fn rand() -> c_int, |c| { c.keeps_state() }
        fn srand(seed: c_uint), |c| { c.keeps_state() }
        fn random() -> c_long, |c| { c.keeps_state() }
        fn srandom(seed: c_uint), |c| { c.keeps_state() }
        fn drand48() -> c_double, |c| { c.keeps_state() }
        fn lrand48() -> c_long, |c| { c.keeps_state() }
        fn mrand48() -> c_long, |c| { c.keeps_state() }
        fn srand48(seed: c_long), |c| { c.keeps_state() }
        fn rand_r(seed: *mut c_uint) -> c_int, |c| { c.reads_one(seed); c.writes_one(seed) }
        fn erand48(state: *mut [u16; 3]) -> c_double, |c| { c.keeps_state(); c.reads_one(state); c.writes_one(state) }
        fn nrand48(state: *mut [u16; 3]) -> c_long, |c| { c.keeps_state(); c.reads_one(state); c.writes_one(state) }
        fn jrand48(state: *mut [u16; 3]) -> c_long, |c| { c.keeps_state(); c.reads_one(state); c.writes_one(state) }
        fn random_r(state: *mut [u8; 48], to: *mut i32) -> c_int, |c| { c.writes_one(state); c.writes_one(to) }
        fn drand48_r(state: *mut [u8; 24], to: *mut c_double) -> c_int, |c| { c.writes_one(state); c.writes_one(to) }
        fn lrand48_r(state: *mut [u8; 24], to: *mut c_long) -> c_int, |c| { c.writes_one(state); c.writes_one(to) }
        fn frexp(x: c_double, to: *mut c_int) -> c_double, |c| { c.writes_one(to) }
        fn frexpf(x: c_float, to: *mut c_int) -> c_float, |c| { c.writes_one(to) }
        fn modf(x: c_double, to: *mut c_double) -> c_double, |c| { c.writes_one(to) }
        fn modff(x: c_float, to: *mut c_float) -> c_float, |c| { c.writes_one(to) }
        fn lgamma_r(x: c_double, to: *mut c_int) -> c_double, |c| { c.writes_one(to) }
        fn lgammaf_r(x: c_float, to: *mut c_int) -> c_float, |c| { c.writes_one(to) }
        fn remquo(x: c_double, y: c_double, to: *mut c_int) -> c_double, |c| { c.writes_one(to) }
        fn remquof(x: c_float, y: c_float, to: *mut c_int) -> c_float, |c| { c.writes_one(to) }
        fn sincos(x: c_double, sine: *mut c_double, cosine: *mut c_double), |c| { c.writes_one(sine); c.writes_one(cosine) }
        fn sincosf(x: c_float, sine: *mut c_float, cosine: *mut c_float), |c| { c.writes_one(sine); c.writes_one(cosine) }
        fn gcvt(x: c_double, digits: c_int, to: Room) -> Room, |c| { c.fills(to) } then |r| { c.wrote_text(r) }
        fn ecvt(x: c_double, digits: c_int, point: *mut c_int, sign: *mut c_int) -> Room, |c| {
            c.writes_one(point);
            c.writes_one(sign);
            c.keeps_state()
        } then |r| { c.wrote_own(r, length(r) + 1) }
        fn fcvt(x: c_double, digits: c_int, point: *mut c_int, sign: *mut c_int) -> Room, |c| {
            c.writes_one(point);
            c.writes_one(sign);
            c.keeps_state()
        } then |r| { c.wrote_own(r, length(r) + 1) }
        fn ecvt_r(x: c_double, digits: c_int, point: *mut c_int, sign: *mut c_int, to: Room, n: usize) -> c_int, |c| { c.fills(to) } then |r| {
            c.wrote_if(r == 0, point);
            c.wrote_if(r == 0, sign);
            if r == 0 { c.wrote_text(to) }
        }
        fn fcvt_r(x: c_double, digits: c_int, point: *mut c_int, sign: *mut c_int, to: Room, n: usize) -> c_int, |c| { c.fills(to) } then |r| {
            c.wrote_if(r == 0, point);
            c.wrote_if(r == 0, sign);
            if r == 0 { c.wrote_text(to) }
        }
        fn sched_getcpu() -> c_int, |c| { c.asks_for_chance() }
        fn getcpu(processor: *mut c_uint, node: *mut c_uint) -> c_int, |c| { c.asks_for_chance(); c.fills(processor); c.fills(node) } then |r| {
            c.wrote_if(r == 0, processor);
            c.wrote_if(r == 0, node)
        }
        fn crypt(key: Text, salt: Text) -> Room, |c| { c.text(key); c.text(salt); c.keeps_state() } then |r| {
            if !r.is_null() { c.wrote_own(r, length(r) + 1) }
        }
        fn crypt_r(key: Text, salt: Text, room: *mut c_void) -> Room, |c| { c.text(key); c.text(salt); c.fills(room) } then |r| { c.wrote_text(r) }
        fn __b64_ntop(from: *const c_void, n: usize, to: Room, room: usize) -> c_int, |c| { c.reads(from, n); c.fills(to) } then |r| {
            if r >= 0 { c.wrote(to, r as usize + 1) }
        }
        fn __b64_pton(from: Text, to: *mut c_void, room: usize) -> c_int, |c| { c.text(from); c.fills(to) } then |r| {
            if r > 0 { c.wrote(to, r as usize) }
        }
        fn argp_parse(parser: Address, n: c_int, words: *const Text, flags: c_uint, at: *mut c_int, input: *mut c_void) -> c_int, |c| {
            for i in 0..n.max(0) as usize {
                c.reads_one(words.add(i));
                c.text(*words.add(i));
            }
        } then |_r| { c.wrote_one(at) }
        fn getpass(prompt: Text) -> Room, |c| { c.text(prompt); c.keeps_state() } then |r| {
            if !r.is_null() { c.wrote_own(r, length(r) + 1) }
        }
        fn pututxline(from: *const libc::utmpx) -> *mut c_void, |c| { c.reads_one(from); c.changes_outside() }
        fn ptrace(request: c_int, pid: c_int, at: usize, data: *mut c_void) -> c_long, |c| {
            let (reads, writes) = traced(request);
            c.reads(data, reads);
            if writes > 0 { c.fills(data) }
        } then |r| { if r == 0 { c.wrote(data, writes) } }
        fn tcgetattr(fd: c_int, to: *mut libc::termios) -> c_int, |c| { c.fills(to) } then |r| { c.wrote_if(r == 0, to) }
        fn tcsetattr(fd: c_int, how: c_int, from: *const libc::termios) -> c_int, |c| { c.reads_one(from); c.changes_process() }
    }
}

/// Sets of signals, and attributes of threads.
mod threads {
    use super::*;

    accesses! {
        fn sigemptyset(set: Set) -> c_int, |c| { c.writes_one(set) }
        fn sigfillset(set: Set) -> c_int, |c| { c.writes_one(set) }
        fn sigaddset(set: Set, signal: c_int) -> c_int, |c| { c.writes(set, 8) }
        fn sigdelset(set: Set, signal: c_int) -> c_int, |c| { c.writes(set, 8) }
        fn pthread_setaffinity_np(thread: usize, size: usize, from: *const c_void) -> c_int, |c| { c.reads(from, size); c.changes_process() }
        fn pthread_setschedparam(thread: usize, policy: c_int, from: *const libc::sched_param) -> c_int, |c| { c.reads_one(from); c.changes_process() }
        fn pthread_setschedprio(thread: usize, priority: c_int) -> c_int, |c| { c.changes_process() }
        fn pthread_setconcurrency(level: c_int) -> c_int, |c| { c.changes_process() }
        fn pthread_getschedparam(thread: usize, policy: *mut c_int, to: *mut libc::sched_param) -> c_int, |c| {
            c.fills(policy)
        } then |r| { c.wrote_if(r == 0, policy); c.wrote_if(r == 0, to) }
        fn pthread_getcpuclockid(thread: usize, to: *mut c_int) -> c_int, |c| { c.fills(to) } then |r| { c.wrote_if(r == 0, to) }
        fn pthread_getaffinity_np(thread: usize, size: usize, to: *mut c_void) -> c_int, |c| { c.fills(to) } then |r| {
            c.wrote(to, if r == 0 { size } else { 0 })
        }
        fn pthread_attr_getstack(from: *const c_void, at: *mut usize, n: *mut usize) -> c_int, |c| { c.writes_one(at); c.writes_one(n) }
        fn pthread_attr_getstacksize(from: *const c_void, to: *mut usize) -> c_int, |c| { c.writes_one(to) }
        fn pthread_attr_getguardsize(from: *const c_void, to: *mut usize) -> c_int, |c| { c.writes_one(to) }
        fn pthread_attr_getdetachstate(from: *const c_void, to: *mut c_int) -> c_int, |c| { c.writes_one(to) }
        fn pthread_attr_getschedpolicy(from: *const c_void, to: *mut c_int) -> c_int, |c| { c.writes_one(to) }
        fn pthread_attr_getinheritsched(from: *const c_void, to: *mut c_int) -> c_int, |c| { c.writes_one(to) }
        fn pthread_attr_getscope(from: *const c_void, to: *mut c_int) -> c_int, |c| { c.writes_one(to) }
        fn pthread_attr_getschedparam(from: *const c_void, to: *mut libc::sched_param) -> c_int, |c| { c.writes_one(to) }
    }

    accesses! {
        fn sigandset(to: Set, a: Set, b: Set) -> c_int, |c| { c.reads_one(a); c.reads_one(b); c.writes_one(to) }
        fn sigorset(to: Set, a: Set, b: Set) -> c_int, |c| { c.reads_one(a); c.reads_one(b); c.writes_one(to) }
        fn pthread_attr_getaffinity_np(from: *const c_void, size: usize, to: *mut c_void) -> c_int, |c| { c.fills(to) } then |r| {
            c.wrote(to, if r == 0 { size } else { 0 })
        }
        fn pthread_mutexattr_gettype(from: *const c_int, to: *mut c_int) -> c_int, |c| { c.reads_one(from); c.writes_one(to) }
        fn pthread_mutexattr_getpshared(from: *const c_int, to: *mut c_int) -> c_int, |c| { c.reads_one(from); c.writes_one(to) }
        fn pthread_mutexattr_getprotocol(from: *const c_int, to: *mut c_int) -> c_int, |c| { c.reads_one(from); c.writes_one(to) }
        fn pthread_mutexattr_getrobust(from: *const c_int, to: *mut c_int) -> c_int, |c| { c.reads_one(from); c.writes_one(to) }
        fn pthread_mutexattr_getprioceiling(from: *const c_int, to: *mut c_int) -> c_int, |c| { c.reads_one(from); c.writes_one(to) }
        fn pthread_condattr_getclock(from: *const c_int, to: *mut c_int) -> c_int, |c| { c.reads_one(from); c.writes_one(to) }
        fn pthread_condattr_getpshared(from: *const c_int, to: *mut c_int) -> c_int, |c| { c.reads_one(from); c.writes_one(to) }
        fn pthread_barrierattr_getpshared(from: *const c_int, to: *mut c_int) -> c_int, |c| { c.reads_one(from); c.writes_one(to) }
        fn pthread_rwlockattr_getpshared(from: *const c_void, to: *mut c_int) -> c_int, |c| { c.writes_one(to) }
        fn pthread_rwlockattr_getkind_np(from: *const c_void, to: *mut c_int) -> c_int, |c| { c.writes_one(to) }
    }

    looks! {
        fn sigismember(set: Set, signal: c_int) -> c_int, |c, _r| { c.reads(set, 8) }
    }
}

/// Network addresses.
mod network {
    use super::*;

    /// `getservbyname_r` and its kin write the record, and its address if there is one.
    unsafe fn told<T>(c: &mut Call, record: *const T, result: *mut *mut T, r: c_int) {
        c.wrote_one(result);
        // SAFETY: the call has filled it in.
        c.wrote_if(r == 0 && unsafe { !(*result).is_null() }, record);
    }

    /// As large as a `struct netent`.
    type Network = [usize; 3];

    const fn size(family: c_int) -> usize {
        match family {
            libc::AF_INET => 4,
            libc::AF_INET6 => 16,
            _ => 0,
        }
    }

    accesses! {
        fn inet_pton(family: c_int, from: Text, to: *mut c_void) -> c_int, |c| { c.text(from); c.fills(to) } then |r| {
            c.wrote(to, if r == 1 { size(family) } else { 0 })
        }
        fn inet_ntop(family: c_int, from: Address, to: Room, n: c_uint) -> Text, |c| { c.reads(from, size(family)); c.fills(to) } then |r| {
            c.wrote_text(r)
        }
        fn inet_aton(from: Text, to: *mut u32) -> c_int, |c| { c.text(from); c.fills(to) } then |r| { c.wrote_if(r != 0, to) }
        fn inet_addr(from: Text) -> u32, |c| { c.text(from); }
        fn getaddrinfo(node: Text, service: Text, hints: *const libc::addrinfo, result: *mut *mut libc::addrinfo) -> c_int, |c| {
            c.text(node);
            c.text(service);
            c.reads_one(hints);
            c.fills(result)
        } then |r| { c.wrote_if(r == 0, result) }
        fn getnameinfo(from: Address, len: c_uint, host: Room, n: c_uint, service: Room, m: c_uint, flags: c_int) -> c_int, |c| {
            c.reads(from, len as usize);
            c.fills(host);
            c.fills(service)
        } then |r| {
            if r == 0 && n > 0 { c.wrote_text(host) }
            if r == 0 && m > 0 { c.wrote_text(service) }
        }
        fn gethostbyname(name: Text) -> *mut libc::hostent, |c| { c.text(name); c.keeps_state() } then |r| {
            c.wrote_own(r, size_of::<libc::hostent>())
        }
        fn gethostbyname2(name: Text, family: c_int) -> *mut libc::hostent, |c| { c.text(name); c.keeps_state() } then |r| {
            c.wrote_own(r, size_of::<libc::hostent>())
        }
        fn gethostent() -> *mut libc::hostent, |c| { c.keeps_state() } then |r| { c.wrote_own(r, size_of::<libc::hostent>()) }
        fn getnetent() -> *mut Network, |c| { c.keeps_state() } then |r| { c.wrote_own(r, size_of::<Network>()) }
        fn getnetbyname(name: Text) -> *mut Network, |c| { c.text(name); c.keeps_state() } then |r| { c.wrote_own(r, size_of::<Network>()) }
        fn getnetbyaddr(at: u32, kind: c_int) -> *mut Network, |c| { c.keeps_state() } then |r| { c.wrote_own(r, size_of::<Network>()) }
        fn getprotoent() -> *mut libc::protoent, |c| { c.keeps_state() } then |r| { c.wrote_own(r, size_of::<libc::protoent>()) }
        fn getservent() -> *mut libc::servent, |c| { c.keeps_state() } then |r| { c.wrote_own(r, size_of::<libc::servent>()) }
        fn ether_aton(from: Text) -> *mut [u8; 6], |c| { c.text(from); c.keeps_state() } then |r| { c.wrote_own(r, 6) }
        fn ether_ntoa(from: *const [u8; 6]) -> Room, |c| { c.reads_one(from); c.keeps_state() } then |r| { c.wrote_own(r, 1) }
        fn ether_hostton(name: Text, to: *mut [u8; 6]) -> c_int, |c| { c.text(name); c.fills(to) } then |r| { c.wrote_if(r == 0, to) }
        fn ether_ntohost(to: Room, from: *const [u8; 6]) -> c_int, |c| { c.reads_one(from); c.fills(to) } then |r| { if r == 0 { c.wrote_text(to) } }
        fn ether_line(line: Text, to: *mut [u8; 6], name: Room) -> c_int, |c| { c.text(line); c.fills(to); c.fills(name) } then |r| {
            c.wrote_if(r == 0, to);
            if r == 0 { c.wrote_text(name) }
        }
        fn gethostbyname_r(name: Text, to: *mut libc::hostent, room: Room, n: usize, result: *mut *mut libc::hostent, error: *mut c_int) -> c_int, |c| {
            c.text(name);
            c.fills(to)
        } then |r| { told(&mut c, to, result, r) }
        fn gethostent_r(to: *mut libc::hostent, room: Room, n: usize, result: *mut *mut libc::hostent, error: *mut c_int) -> c_int, |c| {
            c.keeps_state();
            c.fills(to)
        } then |r| { told(&mut c, to, result, r) }
        fn gethostbyname2_r(name: Text, family: c_int, to: *mut libc::hostent, room: Room, n: usize, result: *mut *mut libc::hostent, error: *mut c_int) -> c_int, |c| {
            c.text(name);
            c.fills(to)
        } then |r| { told(&mut c, to, result, r) }
        fn gethostbyaddr_r(from: Address, len: c_uint, family: c_int, to: *mut libc::hostent, room: Room, n: usize, result: *mut *mut libc::hostent, error: *mut c_int) -> c_int, |c| {
            c.reads(from, len as usize);
            c.fills(to)
        } then |r| { told(&mut c, to, result, r) }
        fn gethostbyaddr(from: Address, len: c_uint, family: c_int) -> *mut libc::hostent, |c| { c.reads(from, len as usize); c.keeps_state() } then |r| {
            c.wrote_own(r, size_of::<libc::hostent>())
        }
        fn getservbyname_r(name: Text, protocol: Text, to: *mut libc::servent, room: Room, n: usize, result: *mut *mut libc::servent) -> c_int, |c| {
            c.text(name);
            c.text(protocol);
            c.fills(to)
        } then |r| { told(&mut c, to, result, r) }
        fn getservbyport_r(port: c_int, protocol: Text, to: *mut libc::servent, room: Room, n: usize, result: *mut *mut libc::servent) -> c_int, |c| {
            c.text(protocol);
            c.fills(to)
        } then |r| { told(&mut c, to, result, r) }
        fn getservbyname(name: Text, protocol: Text) -> *mut libc::servent, |c| { c.text(name); c.text(protocol); c.keeps_state() } then |r| {
            c.wrote_own(r, size_of::<libc::servent>())
        }
        fn getservbyport(port: c_int, protocol: Text) -> *mut libc::servent, |c| { c.text(protocol); c.keeps_state() } then |r| {
            c.wrote_own(r, size_of::<libc::servent>())
        }
        fn getprotobyname_r(name: Text, to: *mut libc::protoent, room: Room, n: usize, result: *mut *mut libc::protoent) -> c_int, |c| {
            c.text(name);
            c.fills(to)
        } then |r| { told(&mut c, to, result, r) }
        fn getprotoent_r(to: *mut libc::protoent, room: Room, n: usize, result: *mut *mut libc::protoent) -> c_int, |c| {
            c.keeps_state();
            c.fills(to)
        } then |r| { told(&mut c, to, result, r) }
        fn getprotobynumber_r(number: c_int, to: *mut libc::protoent, room: Room, n: usize, result: *mut *mut libc::protoent) -> c_int, |c| {
            c.fills(to)
        } then |r| { told(&mut c, to, result, r) }
        fn getprotobyname(name: Text) -> *mut libc::protoent, |c| { c.text(name); c.keeps_state() } then |r| {
            c.wrote_own(r, size_of::<libc::protoent>())
        }
        fn getprotobynumber(number: c_int) -> *mut libc::protoent, |c| { c.keeps_state() } then |r| {
            c.wrote_own(r, size_of::<libc::protoent>())
        }
        fn ether_aton_r(from: Text, to: *mut [u8; 6]) -> *mut [u8; 6], |c| { c.text(from); c.fills(to) } then |r| { c.wrote_if(!r.is_null(), to) }
        fn ether_ntoa_r(from: *const [u8; 6], to: Room) -> Room, |c| { c.reads_one(from); c.fills(to) } then |r| { c.wrote_text(r) }
        fn getifaddrs(result: *mut *mut c_void) -> c_int, |c| { c.fills(result) } then |r| { c.wrote_if(r == 0, result) }
        fn if_nametoindex(name: Text) -> c_uint, |c| { c.text(name); }
        fn if_indextoname(index: c_uint, to: Room) -> Room, |c| { c.fills(to) } then |r| { c.wrote_text(r) }
    }
}

/// The bytes that a request of `ptrace` reads from its last argument, and those that it writes
/// there.
fn traced(request: c_int) -> (usize, usize) {
    const GENERAL: usize = 27 * 8;
    const FLOATING: usize = 512;
    match request as c_uint {
        libc::PTRACE_GETREGS => (0, GENERAL),
        libc::PTRACE_SETREGS => (GENERAL, 0),
        libc::PTRACE_GETFPREGS => (0, FLOATING),
        libc::PTRACE_SETFPREGS => (FLOATING, 0),
        libc::PTRACE_GETEVENTMSG => (0, size_of::<usize>()),
        libc::PTRACE_GETSIGINFO => (0, size_of::<libc::siginfo_t>()),
        libc::PTRACE_SETSIGINFO => (size_of::<libc::siginfo_t>(), 0),
        _ => (0, 0),
    }
}
