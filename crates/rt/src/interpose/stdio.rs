//! Streams: what they copy from and to memory. A FILE has its own lock, whose order is not used.
//! The order of a pipe behind it is: what is written, or flushed, happens before what its reader
//! does. `printf` and `scanf` are in [`super::format`].

use core::ffi::{c_char, c_int, c_void};

use super::access::{Call, Text, accesses, after};
use super::channel::{forget, received, sending, sending_end};
use super::fifo::{Ends, Opening};
use super::memory_streams::closed;
use super::room::{self, Writing, making};
use super::{channel, interpose};
use crate::detect::thread::current;
use crate::explore;
use crate::explore::fifo::open_by_name;
use crate::hub::is_active;
use crate::sys;
use raddle_wire::explore::Outside;

type File = *mut c_void;
type Room = *mut c_char;

unsafe extern "C" {
    fn fileno_unlocked(file: *mut c_void) -> c_int;
}

/// What the thread did happens before what is read at the other end. What is returned lives until
/// the stream is written to.
pub unsafe fn filling(file: File) -> Filling {
    // SAFETY: the caller's FILE. A null pointer means all of them.
    let fd = unsafe {
        let is_written = !file.is_null() && is_active() && *file.cast::<u32>() & NO_WRITES == 0;
        if is_written { fileno_unlocked(file) } else { -1 }
    };
    filling_descriptor(fd)
}

/// In the first word of a FILE: it was opened for reading only.
const NO_WRITES: u32 = 8;

/// [`filling`] without a stream; -1: nothing.
pub fn filling_descriptor(fd: c_int) -> Filling {
    if fd < 0 || !is_active() {
        return Filling(None);
    }
    sending(current(), fd);
    // Most often no more is written than fits into a stream's buffer.
    Filling(Some(Writing::new(fd, 0)))
}

/// A stream that is written to, and may have to wait for room behind it.
pub struct Filling(Option<Writing>);

impl Drop for Filling {
    fn drop(&mut self) {
        if let Some(writing) = self.0.take() {
            writing.done(current(), true, true);
        }
    }
}

/// What a call reads from a stream, at most: so many bytes, and no more than up to this one.
struct Wanted {
    bytes: usize,
    last: Option<c_int>,
}

impl Wanted {
    pub(super) fn bytes(bytes: usize) -> Self {
        Self { bytes, last: None }
    }

    /// A line, in room for so many bytes.
    pub(super) fn line(room: c_int) -> Self {
        Self { bytes: (room.max(1) - 1) as usize, last: Some(c_int::from(b'\n')) }
    }

    pub(super) fn until(last: c_int) -> Self {
        Self { bytes: usize::MAX, last: Some(last) }
    }

    /// True if the buffer of the stream has it all.
    unsafe fn is_in_buffer(&self, file: File) -> bool {
        let words = file.cast::<usize>();
        // SAFETY: the caller's FILE, whose buffer has bytes between these.
        unsafe {
            let (at, end) = (words.add(READ.0).read(), words.add(READ.1).read());
            let has = end.saturating_sub(at);
            has >= self.bytes
                || has > 0
                    && self.last.is_some_and(|last| !libc::memchr(at as *const c_void, last, has).is_null())
        }
    }
}

/// Before a stream is read, which may make room behind it.
unsafe fn draining(file: File, wanted: Wanted) {
    // SAFETY: the caller's FILE.
    unsafe {
        if is_active() && !wanted.is_in_buffer(file) {
            making(current(), fileno_unlocked(file));
        }
    }
}

/// In the first word of a FILE: an error was seen. `ferror_unlocked` is compiled into programs.
const ERROR: u32 = 0x20;

/// An explored thread is about to read a stream. It waits here until there is something to read, if
/// the stream has nothing left: nobody blocks for real. False: the wait is broken off. Then the
/// call fails, as it does if `read` fails.
unsafe fn awaits(file: File, pc: usize) -> bool {
    // SAFETY: the caller's FILE.
    unsafe {
        if !explore::is_running() || !is_drained(file) {
            return true;
        }
        let fd = fileno_unlocked(file);
        if fd <= 2 || is_seekable(fd) || explore::sync::descriptor(fd, libc::POLLIN, pc) {
            return true;
        }
        *file.cast::<u32>() |= ERROR;
        false
    }
}

/// True if it is a file, which nobody waits for.
fn is_seekable(fd: c_int) -> bool {
    sys::syscall(libc::SYS_lseek, [fd as usize, 0, libc::SEEK_CUR as usize, 0, 0, 0]) >= 0
}

pub unsafe fn filled(file: File) {
    // SAFETY: the caller's FILE.
    let fd = if is_active() { unsafe { fileno_unlocked(file) } } else { -1 };
    if fd >= 0 {
        received(current(), fd);
    }
}

/// The position of a FILE within its buffer. These words are part of the C library's interface,
/// since `getc_unlocked` and `putc_unlocked` are compiled into programs.
const READ: (usize, usize) = (1, 2);
const WRITTEN: (usize, usize) = (5, 6);

unsafe fn is_at_end(file: File, (at, end): (usize, usize)) -> bool {
    let words = file.cast::<usize>();
    // SAFETY: the caller's FILE.
    unsafe { words.add(at).read() >= words.add(end).read() }
}

/// True if the next character comes from the descriptor, not from the buffer.
unsafe fn is_drained(file: File) -> bool {
    // SAFETY: as above.
    unsafe { is_at_end(file, READ) }
}

/// True if the next character is written through.
unsafe fn is_full(file: File) -> bool {
    // SAFETY: as above.
    unsafe { is_at_end(file, WRITTEN) }
}

/// The stream is closed, or reopened.
unsafe fn closing(file: File) {
    // SAFETY: the caller's FILE.
    unsafe {
        drop(filling(file));
        if is_active() {
            let fd = fileno_unlocked(file);
            sending_end(current(), fd);
            room::closing(current(), fd);
            forget(fd);
        }
    }
}

/// Before a line is read into the block at `*line`, which may grow.
unsafe fn takes_line(c: &mut Call, line: *mut Room, n: *mut usize) {
    c.reads_one(line);
    c.reads_one(n);
    // SAFETY: null, or the caller's.
    if let Some(block) = unsafe { line.as_ref() } {
        c.fills(*block);
    }
}

unsafe fn has_line(c: &mut Call, line: *mut Room, n: *mut usize, got: isize) {
    if let Ok(got) = usize::try_from(got) {
        c.wrote_one(line);
        c.wrote_one(n);
        // SAFETY: the call has put a line there.
        c.wrote(unsafe { *line }, got + 1);
    }
}

/// Functions that read a stream:
///
/// ```text
/// fn NAME(ARGUMENTS, file) -> RESULT, wants WANTED or FAILURE, |c| { before } then |result| { after }
/// ```
///
/// They fail with FAILURE if a signal or cancellation breaks off the wait for data.
macro_rules! read_streams {
    ($(fn $name:ident($($a:ident: $ty:ty),*) -> $r:ty, wants $wanted:ident::$how:ident($($what:tt)*) or $failure:expr,
       |$c:ident| { $($before:tt)* } then |$result:ident| $after:block)*) => {
        interpose! {$(
            fn $name($($a: $ty),*) -> $r, |t, pc, real| {
                let mut $c = Call::new(t, pc);
                $c.uses_stream(of!($($a)*));
                draining(of!($($a)*), $wanted::$how($($what)*));
                $($before)*;
                after!($c real($($a),*) then $result $after)
            } record as detect, tsvd real, explore may_cancel {
                let mut $c = Call::new(t, pc);
                $c.uses_stream(of!($($a)*));
                if !awaits(of!($($a)*), pc) {
                    return $failure;
                }
                $($before)*;
                if !is_unlocked(stringify!($name)) {
                    $c.locks_stream(of!($($a)*));
                }
                after!($c real($($a),*) then $result $after)
            }
        )*}
    };
}

/// The last of some arguments.
macro_rules! of {
    ($last:ident) => {
        $last
    };
    ($first:ident $($others:ident)+) => {
        of!($($others)+)
    };
}

/// Whether the function of this name leaves the lock of its stream out.
const fn is_unlocked(name: &str) -> bool {
    let (name, end) = (name.as_bytes(), b"_unlocked");
    let Some(before) = name.len().checked_sub(end.len()) else { return false };
    let mut i = 0;
    while i < end.len() && name[before + i] == end[i] {
        i += 1;
    }
    i == end.len()
}

const EOF: c_int = -1;

read_streams! {
    fn fread(to: *mut c_void, size: usize, n: usize, file: File) -> usize, wants Wanted::bytes(size.saturating_mul(n)) or 0, |c| { c.fills(to) } then |got| {
        filled(file);
        c.wrote(to, got * size)
    }
    fn fread_unlocked(to: *mut c_void, size: usize, n: usize, file: File) -> usize, wants Wanted::bytes(size.saturating_mul(n)) or 0, |c| { c.fills(to) } then |got| {
        filled(file);
        c.wrote(to, got * size)
    }
    fn __fread_chk(to: *mut c_void, room: usize, size: usize, n: usize, file: File) -> usize, wants Wanted::bytes(size.saturating_mul(n)) or 0, |c| { c.fills(to) } then |got| {
        filled(file);
        c.wrote(to, got * size)
    }
    fn fgets(to: Room, n: c_int, file: File) -> Room, wants Wanted::line(n) or core::ptr::null_mut(), |c| { c.fills(to) } then |got| {
        filled(file);
        c.wrote_text(got)
    }
    fn fgets_unlocked(to: Room, n: c_int, file: File) -> Room, wants Wanted::line(n) or core::ptr::null_mut(), |c| { c.fills(to) } then |got| {
        filled(file);
        c.wrote_text(got)
    }
    fn __fgets_chk(to: Room, room: usize, n: c_int, file: File) -> Room, wants Wanted::line(n) or core::ptr::null_mut(), |c| { c.fills(to) } then |got| {
        filled(file);
        c.wrote_text(got)
    }
    fn getline(line: *mut Room, n: *mut usize, file: File) -> isize, wants Wanted::until(c_int::from(b'\n')) or -1, |c| { takes_line(&mut c, line, n) } then |got| {
        filled(file);
        has_line(&mut c, line, n, got)
    }
    fn getdelim(line: *mut Room, n: *mut usize, until: c_int, file: File) -> isize, wants Wanted::until(until) or -1, |c| { takes_line(&mut c, line, n) } then |got| {
        filled(file);
        has_line(&mut c, line, n, got)
    }
    fn __getdelim(line: *mut Room, n: *mut usize, until: c_int, file: File) -> isize, wants Wanted::until(until) or -1, |c| { takes_line(&mut c, line, n) } then |got| {
        filled(file);
        has_line(&mut c, line, n, got)
    }
    fn fgetc(file: File) -> c_int, wants Wanted::bytes(1) or EOF, |c| { let refills = is_drained(file) } then |_r| { if refills { filled(file) } }
    fn fgetc_unlocked(file: File) -> c_int, wants Wanted::bytes(1) or EOF, |c| { let refills = is_drained(file) } then |_r| { if refills { filled(file) } }
    fn getc(file: File) -> c_int, wants Wanted::bytes(1) or EOF, |c| { let refills = is_drained(file) } then |_r| { if refills { filled(file) } }
    fn getc_unlocked(file: File) -> c_int, wants Wanted::bytes(1) or EOF, |c| { let refills = is_drained(file) } then |_r| { if refills { filled(file) } }
    fn _IO_getc(file: File) -> c_int, wants Wanted::bytes(1) or EOF, |c| { let refills = is_drained(file) } then |_r| { if refills { filled(file) } }
}

accesses! {
    fn fwrite(from: *const c_void, size: usize, n: usize, file: File) -> usize, |c| {
        c.fills_stream(file);
        c.reads(from, size.saturating_mul(n));
        c.locks_stream(file);
        let _filling = filling(file);
    }
    fn fwrite_unlocked(from: *const c_void, size: usize, n: usize, file: File) -> usize, |c| {
        c.fills_stream(file);
        c.reads(from, size.saturating_mul(n));
        let _filling = filling(file);
    }
    fn fputc(what: c_int, file: File) -> c_int, |c| { c.fills_stream(file); c.locks_stream(file); let _filling = is_full(file).then(|| filling(file)); }
    fn fputc_unlocked(what: c_int, file: File) -> c_int, |c| { c.fills_stream(file); let _filling = is_full(file).then(|| filling(file)); }
    fn putc(what: c_int, file: File) -> c_int, |c| { c.fills_stream(file); c.locks_stream(file); let _filling = is_full(file).then(|| filling(file)); }
    fn putc_unlocked(what: c_int, file: File) -> c_int, |c| { c.fills_stream(file); let _filling = is_full(file).then(|| filling(file)); }
    fn _IO_putc(what: c_int, file: File) -> c_int, |c| { c.fills_stream(file); c.locks_stream(file); let _filling = is_full(file).then(|| filling(file)); }
    fn __overflow(file: File, what: c_int) -> c_int, |_c| { let _filling = filling(file); }
    fn fputs(s: Text, file: File) -> c_int, |c| { c.fills_stream(file); c.text(s); c.locks_stream(file); let _filling = filling(file); }
    fn fputs_unlocked(s: Text, file: File) -> c_int, |c| { c.fills_stream(file); c.text(s); let _filling = filling(file); }
    fn puts(s: Text) -> c_int, |c| { c.text(s); c.prints() }
    fn perror(s: Text), |c| { c.text(s); c.complains() }
    fn fflush(file: File) -> c_int, |c| { c.fills_stream(file); c.locks_stream(file); let _filling = filling(file); }
    fn fclose(file: File) -> c_int, |c| { c.uses_stream(file); c.frees_object(file); c.locks_stream(file); closing(file) } then |_r| { closed(&mut c, file) }
    fn pclose(file: File) -> c_int, |c| { c.uses_stream(file); c.frees_object(file); c.locks_stream(file); closing(file) }
    fn freopen(path: Text, mode: Text, file: File) -> File, |c| { c.changes_outside(); c.text(path); c.text(mode); c.locks_stream(file); closing(file) }
    fn freopen64(path: Text, mode: Text, file: File) -> File, |c| { c.changes_outside(); c.text(path); c.text(mode); c.locks_stream(file); closing(file) }
    fn fdopen(fd: c_int, mode: Text) -> File, |c| { c.looks_outside(); c.text(mode); }
    fn popen(command: Text, mode: Text) -> File, |c| { c.makes_process(); c.text(command); c.text(mode); }
    fn system(command: Text) -> c_int, |c| { c.makes_process(); c.text(command); }
    fn setvbuf(file: File, room: Room, how: c_int, n: usize) -> c_int, |c| { c.uses_stream(file); c.locks_stream(file) }
    fn setbuf(file: File, room: Room), |c| { c.uses_stream(file); c.locks_stream(file) }
    fn setlinebuf(file: File), |c| { c.uses_stream(file); c.locks_stream(file) }
    fn tmpnam_r(to: Room) -> Room, |c| { c.fills(to) } then |r| { c.wrote_text(r) }
    fn ctermid(to: Room) -> Room, |c| { c.fills(to) } then |r| { if !to.is_null() { c.wrote_text(r) } }
    fn ungetc(what: c_int, file: File) -> c_int, |c| { c.uses_stream(file); c.locks_stream(file) }
    fn fseek(file: File, by: i64, from: c_int) -> c_int, |c| { c.uses_stream(file); c.locks_stream(file); let _filling = filling(file); }
    fn fseeko(file: File, by: i64, from: c_int) -> c_int, |c| { c.uses_stream(file); c.locks_stream(file); let _filling = filling(file); }
    fn fseeko64(file: File, by: i64, from: c_int) -> c_int, |c| { c.uses_stream(file); c.locks_stream(file); let _filling = filling(file); }
    fn rewind(file: File), |c| { c.uses_stream(file); c.locks_stream(file); let _filling = filling(file); }
    fn ftell(file: File) -> i64, |c| { c.uses_stream(file); c.locks_stream(file) }
    fn ftello(file: File) -> i64, |c| { c.uses_stream(file); c.locks_stream(file) }
    fn ftello64(file: File) -> i64, |c| { c.uses_stream(file); c.locks_stream(file) }
    fn feof(file: File) -> c_int, |c| { c.uses_stream(file); c.locks_stream(file) }
    fn ferror(file: File) -> c_int, |c| { c.uses_stream(file); c.locks_stream(file) }
    fn clearerr(file: File), |c| { c.uses_stream(file); c.locks_stream(file) }
    fn fgetpos(file: File, to: *mut libc::fpos_t) -> c_int, |c| { c.uses_stream(file); c.fills(to); c.locks_stream(file) } then |r| { c.wrote_if(r == 0, to) }
    fn fsetpos(file: File, from: *const libc::fpos_t) -> c_int, |c| { c.uses_stream(file); c.reads_one(from); c.locks_stream(file) }
}

interpose! {
    // Where `getc_unlocked` is compiled into a program.
    fn __uflow(file: File) -> c_int, |t, pc, real| {
        draining(file, Wanted::bytes(1));
        let r = real(file);
        filled(file);
        r
    } record as detect, tsvd real, explore may_cancel {
        if awaits(file, pc) { real(file) } else { EOF }
    }
    fn fopen(path: Text, mode: Text) -> File, |t, pc, real| {
        opens_named(t, pc, path, mode, || real(path, mode))
    } record as detect, tsvd real, explore may_cancel {
        opens(t, pc, path, mode);
        if explore::is_running() && let Some(ends) = Ends::new(libc::AT_FDCWD, path, flags(mode)) {
            return opens_fifo(ends, path, mode, pc);
        }
        opens_by(path, mode, pc);
        real(path, mode)
    }
    fn tmpfile() -> File, |t, pc, real| { real() } record as detect, tsvd real, explore {
        explore::changes_outside(pc);
        real()
    }
    fn tmpfile64() -> File, |t, pc, real| { real() } record as detect, tsvd real, explore {
        explore::changes_outside(pc);
        real()
    }
    fn fopen64(path: Text, mode: Text) -> File, |t, pc, real| {
        opens_named(t, pc, path, mode, || real(path, mode))
    } record as detect, tsvd real, explore may_cancel {
        opens(t, pc, path, mode);
        if explore::is_running() && let Some(ends) = Ends::new(libc::AT_FDCWD, path, flags(mode)) {
            return opens_fifo(ends, path, mode, pc);
        }
        opens_by(path, mode, pc);
        real(path, mode)
    }
}

/// An explored program opens a stream. A file opened only for reading concerns only this process.
unsafe fn opens_by(path: Text, mode: Text, pc: usize) {
    // SAFETY: the caller's strings.
    let reads = unsafe {
        explore::reads_file(path);
        *mode as u8 == b'r' && !is_both(mode)
    };
    match reads {
        true => {
            explore::retry_with_fork(Outside::File);
            explore::looks_outside(pc);
        }
        false => explore::changes_outside(pc),
    }
}

/// True if the mode is to read and to write.
unsafe fn is_both(mode: Text) -> bool {
    // SAFETY: the caller's string.
    unsafe { has(mode, b'+') }
}

/// True if the mode has this letter behind the first one. The C library looks at six.
unsafe fn has(mode: Text, letter: u8) -> bool {
    // SAFETY: the caller's string.
    unsafe { core::ffi::CStr::from_ptr(mode) }.to_bytes().iter().skip(1).take(6).any(|c| *c == letter)
}

/// How a stream of this mode opens a file. `O_PATH` if there is no such mode: it opens none.
unsafe fn flags(mode: Text) -> c_int {
    // SAFETY: the caller's string.
    unsafe {
        let (access, creates) = match *mode as u8 {
            b'r' => (libc::O_RDONLY, 0),
            b'w' => (libc::O_WRONLY, libc::O_CREAT | libc::O_TRUNC),
            b'a' => (libc::O_WRONLY, libc::O_CREAT | libc::O_APPEND),
            _ => return libc::O_PATH,
        };
        let access = if is_both(mode) { libc::O_RDWR } else { access };
        let exclusive = if has(mode, b'x') { libc::O_EXCL } else { 0 };
        let closes = if has(mode, b'e') { libc::O_CLOEXEC } else { 0 };
        access | creates | exclusive | closes
    }
}

/// An explored program opens a stream of a FIFO, for which it may have to wait.
unsafe fn opens_fifo(ends: Ends, path: Text, mode: Text, pc: usize) -> File {
    unsafe extern "C" {
        #[link_name = "fdopen"]
        fn stream_of(fd: c_int, mode: Text) -> File;
    }
    // SAFETY: the caller's strings.
    unsafe {
        let fd = explore::fifo::open(ends, flags(mode), pc, |flags| open_by_name(path, flags, 0o666));
        if fd < 0 { core::ptr::null_mut() } else { stream_of(fd, mode) }
    }
}

/// Opens a stream with `real`, which creates the file if it may write.
unsafe fn opens_named(
    t: crate::detect::thread::Current,
    pc: usize,
    path: Text,
    mode: Text,
    real: impl FnOnce() -> File,
) -> File {
    let mut c = Call::new(t, pc);
    // SAFETY: the caller's strings.
    unsafe {
        c.text(path);
        c.text(mode);
        channel::file_event(t);
        let fifo = Opening::new(t, libc::AT_FDCWD, path, flags(mode));
        if *mode as u8 != b'r' && fifo.is_of_file() {
            c.changes_name(path);
        }
        let file = real();
        c.saw_name(path);
        if !file.is_null() {
            fifo.done(t);
        }
        file
    }
}

unsafe fn opens(t: crate::detect::thread::Current, pc: usize, path: Text, mode: Text) {
    let mut c = Call::new(t, pc);
    // SAFETY: the caller's strings.
    unsafe {
        c.text(path);
        c.text(mode);
    }
}
