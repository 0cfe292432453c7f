//! What a function of the C library does to its caller's memory, for functions that do nothing
//! else.
//!
//! Most of the C library only reads and writes what it is given. Such a function is one entry of a
//! table: [`looks!`] for one that reads and returns a result ([`strlen`](super::string)),
//! [`accesses!`] for all others. An entry says which bytes the function touches, never more than it
//! must. It applies in each mode: the detector checks the bytes, a recorded run records them, and
//! an explored program has its scheduling points there.
//!
//! Calls from uninstrumented code are passed on unseen: it is not known how such code synchronises.

use core::ffi::{c_char, c_int};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::{channel, descriptor_use, process};
use crate::detect::thread::{Current, gate};
use crate::detect::{misuse, range, sync};
use crate::explore;
use crate::hub::modules;
use crate::mode::{Mode, mode};

pub type Text = *const c_char;
pub type Wide = *const u32;

unsafe extern "C" {
    static stdout: *mut core::ffi::c_void;
    static stderr: *mut core::ffi::c_void;
    static environ: *const Text;
}

pub(super) fn is_output(file: *mut core::ffi::c_void) -> bool {
    // SAFETY: the C library's streams.
    unsafe { [stdout, stderr] }.contains(&file)
}

/// The object that stands for a file name, at an address where the target has no memory.
unsafe fn name(path: Text) -> usize {
    // SAFETY: the caller's string.
    let hash = raddle_base::hash::fnv64(unsafe { core::ffi::CStr::from_ptr(path) }.to_bytes());
    0x4100_0000_0000 + (hash >> 34) as usize * 16
}

/// The process has made a FIFO.
pub static FIFOS: AtomicBool = AtomicBool::new(false);

/// One call of an interposed function.
pub struct Call {
    t: Current,
    pc: usize,
    judged: bool,
}

impl Call {
    /// The call changes state outside memory, such as a folder. An explored execution cannot undo
    /// that.
    pub fn changes_outside(&self) {
        if mode() == Mode::Detect {
            channel::file_event(self.t);
        }
        explore::changes_outside(self.pc);
    }

    /// The call looks at files or folders, which other threads may change.
    pub fn looks_outside(&self) {
        if explore::is_on() {
            explore::looks_outside(self.pc);
        }
    }

    /// The call changes state of the process outside memory, such as its limits.
    pub fn changes_process(&self) {
        explore::changes_process(self.pc);
    }

    /// The call asks for something that differs from run to run.
    pub fn asks_for_chance(&self) {
        explore::asks_for_chance();
    }

    /// The call changes the locale of the process.
    pub fn changes_locale(&self) {
        explore::changes_locale();
    }

    /// Before the call reads or writes a file at a given offset.
    pub fn uses_file(&self, fd: c_int, writes: bool) {
        if explore::is_running() {
            explore::sync::uses_file(fd, writes, self.pc);
        }
    }

    /// The call makes another process.
    pub fn makes_process(&self) {
        if explore::is_on() {
            explore::fork::forks(self.pc);
        } else if mode() == Mode::Detect {
            process::sends_out(self.t);
        }
    }

    /// The function keeps state between calls, such as the next result of `rand`: in an explored
    /// program the order of calls is a choice.
    pub fn keeps_state(&mut self) {
        if self.judged {
            explore::keeps_state(self.pc);
        }
    }

    /// The call has written to the library's own memory, which it hands out to every thread.
    pub fn wrote_own<T>(&mut self, p: *const T, n: usize) {
        if !self.judged || p.is_null() {
        } else if explore::is_on() {
            explore::library_wrote(p as usize, n, self.pc);
        } else if mode() == Mode::Detect {
            range::access::<true>(self.t, p as usize, n, self.pc);
        }
    }

    /// The call reads the environment, as `getenv` does, or changes it. The C library guards
    /// neither what `getenv` returns nor the list that it walks.
    pub fn uses_environment(&mut self, changes: bool) {
        self.keeps_state();
        if self.judged && mode() == Mode::Detect {
            let list = &raw const environ;
            if changes { self.writes_one(list) } else { self.reads_one(list) }
        }
    }

    /// The call uses an object of the C library that another call frees: see [`misuse`].
    fn uses_object(&mut self, object: *mut core::ffi::c_void) {
        if !object.is_null() && mode() == Mode::Detect {
            misuse::used(&mut self.t, object as usize, self.pc);
        }
    }

    /// The call frees the stream or the folder that it is given.
    pub fn frees_object(&mut self, object: *mut core::ffi::c_void) {
        if !object.is_null() && !is_output(object) && mode() == Mode::Detect {
            misuse::made_or_destroyed(self.t, object as usize, self.pc);
        }
    }

    /// The call reads from an open folder.
    pub fn uses_folder(&mut self, folder: *mut core::ffi::c_void) {
        self.looks_outside();
        self.uses_object(folder);
    }

    /// Before the call makes, moves or removes the file of this name. Whoever then finds that it
    /// exists, or is gone, comes after. This covers files whose existence says that something is
    /// done, and lock files.
    pub unsafe fn changes_name(&mut self, path: Text) {
        if self.judged && !path.is_null() && mode() == Mode::Detect {
            channel::file_event(self.t);
            // SAFETY: the caller's string.
            sync::release(self.t, unsafe { name(path) });
        }
    }

    /// The call has seen whether there is a file of this name.
    pub unsafe fn saw_name(&mut self, path: Text) {
        if self.judged && !path.is_null() && mode() == Mode::Detect {
            // SAFETY: the caller's string.
            sync::acquire(self.t, unsafe { name(path) });
        }
    }

    /// The call has told of a file, how long it is among other things: whoever wrote to the file
    /// comes before.
    pub unsafe fn saw_file(&mut self, success: bool, file: *const libc::stat) {
        self.wrote_if(success, file);
        if success && self.judged && !file.is_null() && mode() == Mode::Detect {
            // SAFETY: the call has filled it in.
            let (mode, ino, dev) = unsafe { ((*file).st_mode, (*file).st_ino, (*file).st_dev) };
            channel::saw_file(self.t, mode, ino, dev);
        }
    }

    /// [`Self::saw_file`] by a descriptor. One that may write is asked for its end to write there,
    /// not to wait for others.
    pub unsafe fn saw_file_of(&mut self, fd: c_int, success: bool, file: *const libc::stat) {
        match channel::may_write(fd) {
            true => self.wrote_if(success, file),
            // SAFETY: as the caller promises.
            false => unsafe { self.saw_file(success, file) },
        }
    }

    /// The same for `statx`, whose file is the descriptor's if the path is empty.
    pub unsafe fn saw_file_by_statx(
        &mut self,
        fd: c_int,
        path: Text,
        success: bool,
        file: *const libc::statx,
    ) {
        self.wrote_if(success, file);
        // SAFETY: the caller's string, which the call has read.
        let of_descriptor = success && (path.is_null() || unsafe { *path } == 0);
        let may_write = of_descriptor && channel::may_write(fd);
        if success && !may_write && self.judged && !file.is_null() && mode() == Mode::Detect {
            // SAFETY: the call has filled it in.
            let file = unsafe { &*file };
            let dev = libc::makedev(file.stx_dev_major, file.stx_dev_minor);
            channel::saw_file(self.t, u32::from(file.stx_mode), file.stx_ino, dev);
        }
    }

    /// Before the call changes how long a file is.
    pub fn fills_file(&mut self, fd: c_int) {
        if self.judged && mode() == Mode::Detect {
            channel::sending(self.t, fd);
        }
    }

    /// [`Self::fills_file`] by a name.
    pub unsafe fn fills_file_named(&mut self, path: Text) {
        if self.judged && !path.is_null() && mode() == Mode::Detect {
            channel::changes_length(self.t, path);
        }
    }

    /// The call makes a FIFO.
    pub fn makes_fifo(&self) {
        FIFOS.store(true, Relaxed);
    }

    /// Before a stream is read or moved, unless it is one for output.
    pub fn uses_stream(&mut self, file: *mut core::ffi::c_void) {
        if !self.judged || file.is_null() || is_output(file) {
        } else if explore::is_on() {
            explore::uses_stream(file as usize, self.pc);
        } else {
            self.uses_object(file);
        }
    }

    /// Before a stream is written to, unless it is one for output.
    pub fn fills_stream(&mut self, file: *mut core::ffi::c_void) {
        if !self.judged || is_output(file) {
        } else if explore::is_on() {
            explore::fills_stream(self.pc);
        } else {
            self.uses_object(file);
        }
    }

    /// Right before the call takes the lock of a stream, in a search: another thread may have it.
    pub fn locks_stream(&self, file: *mut core::ffi::c_void) {
        if explore::is_on() {
            explore::locks::awaits_stream(file as usize, self.pc);
        }
    }

    /// The same of a call that prints to standard output.
    pub fn prints(&self) {
        // SAFETY: the C library's stream.
        self.locks_stream(unsafe { stdout });
    }

    /// The same of a call that prints to standard error.
    pub fn complains(&self) {
        // SAFETY: the C library's stream.
        self.locks_stream(unsafe { stderr });
    }

    #[inline]
    pub fn new(t: Current, pc: usize) -> Call {
        Call { t, pc, judged: modules::is_judged(pc) }
    }

    /// False if the call is of no interest, so that no length needs to be computed.
    #[inline]
    pub fn is_judged(&self) -> bool {
        self.judged
    }

    /// Before the call uses a descriptor.
    #[inline]
    pub fn uses(&mut self, fd: c_int) {
        descriptor_use::used(self.t, fd, self.pc);
    }

    /// Before the call reads `n` bytes.
    #[inline]
    pub fn reads<T>(&mut self, p: *const T, n: usize) {
        if self.judged && n > 0 && !p.is_null() {
            if n > 1 && explore::is_on() {
                explore::in_pieces(self.pc);
            }
            range::access::<false>(self.t, p as usize, n, self.pc);
        }
    }

    /// Before the call writes `n` bytes.
    #[inline]
    pub fn writes<T>(&mut self, p: *const T, n: usize) {
        if self.judged && n > 0 && !p.is_null() {
            if n > 1 && explore::is_on() {
                explore::in_pieces(self.pc);
            }
            range::access::<true>(self.t, p as usize, n, self.pc);
        }
    }

    pub fn reads_one<T>(&mut self, p: *const T) {
        self.reads(p, size_of::<T>());
    }

    pub fn writes_one<T>(&mut self, p: *const T) {
        self.writes(p, size_of::<T>());
    }

    /// Before the call writes an unknown number of bytes to `p`: in an explored program this may be
    /// a scheduling point.
    #[inline]
    pub fn fills<T>(&mut self, p: *const T) {
        if self.judged && explore::is_on() && !p.is_null() {
            explore::fills(p as usize, self.pc);
        }
    }

    /// The call has written `n` bytes. If the detector did not see this coming, it sees it now.
    #[inline]
    pub fn wrote<T>(&mut self, p: *const T, n: usize) {
        if !self.judged || n == 0 || p.is_null() {
        } else if explore::is_on() {
            explore::data_made(true, p as usize, n, self.t.gate & gate::IGNORE_WRITES == 0, self.pc);
        } else {
            range::access::<true>(self.t, p as usize, n, self.pc);
        }
    }

    pub fn wrote_one<T>(&mut self, p: *const T) {
        self.wrote(p, size_of::<T>());
    }

    /// The call has written one `T`, if it was successful.
    pub fn wrote_if<T>(&mut self, success: bool, p: *const T) {
        if success {
            self.wrote_one(p);
        }
    }

    /// The call has written a string.
    pub unsafe fn wrote_text(&mut self, s: Text) {
        if self.judged && !s.is_null() {
            // SAFETY: the call has just written it.
            let n = unsafe { length(s) };
            self.wrote(s, n + 1);
        }
    }

    /// The call has read `n` bytes, which was not known before.
    #[inline]
    pub fn has_read<T>(&mut self, p: *const T, n: usize) {
        if !self.judged || n == 0 || p.is_null() {
        } else if explore::is_on() {
            explore::data_made(false, p as usize, n, self.t.gate & gate::IGNORE_READS == 0, self.pc);
        } else {
            range::access::<false>(self.t, p as usize, n, self.pc);
        }
    }

    /// Before the call reads a string with its zero. Returns its length.
    pub unsafe fn text(&mut self, s: Text) -> usize {
        if !self.judged || s.is_null() {
            return 0;
        }
        // SAFETY: the caller's string.
        let n = unsafe { length(s) };
        self.reads(s, n + 1);
        n
    }

    /// Before the call reads a string, at most its first `most` characters.
    pub unsafe fn text_within(&mut self, s: Text, most: usize) -> usize {
        if !self.judged || s.is_null() {
            return 0;
        }
        // SAFETY: the caller's string.
        let n = unsafe { length_within(s, most) };
        self.reads(s, (n + 1).min(most));
        n
    }

    pub unsafe fn wide(&mut self, s: Wide) -> usize {
        // SAFETY: the caller's string.
        unsafe { self.wide_within(s, usize::MAX >> 2) }
    }

    pub unsafe fn wide_within(&mut self, s: Wide, most: usize) -> usize {
        if !self.judged || s.is_null() {
            return 0;
        }
        // SAFETY: the caller's string.
        let n = unsafe { wide_length_within(s, most) };
        self.reads(s, (n + 1).min(most) * size_of::<u32>());
        n
    }
}

pub unsafe fn length(s: Text) -> usize {
    // SAFETY: a string ends in zero.
    unsafe { length_within(s, usize::MAX) }
}

/// Looks at no more than `most` characters.
pub unsafe fn length_within(s: Text, most: usize) -> usize {
    let mut n = 0;
    // SAFETY: within the caller's bound, and not past the zero.
    while n < most && unsafe { *s.add(n) } != 0 {
        n += 1;
    }
    n
}

pub unsafe fn wide_length_within(s: Wide, most: usize) -> usize {
    let mut n = 0;
    // SAFETY: as for `length_within`.
    while n < most && unsafe { *s.add(n) } != 0 {
        n += 1;
    }
    n
}

/// `fn NAME(ARGUMENTS) -> RESULT, |c, r| { … }`: a function that reads and changes nothing. The
/// result `r` tells how far it has looked; `c` is the [`Call`].
macro_rules! looks {
    ($(fn $name:ident($($a:ident: $ty:ty),* $(,)?) -> $r:ty, |$c:ident, $result:ident| $reads:block)*) => {
        $crate::interpose::interpose! {$(
            fn $name($($a: $ty),*) -> $r, |t, pc, real| {
                let $result = real($($a),*);
                let mut $c = $crate::interpose::access::Call::new(t, pc);
                if $c.is_judged() { $reads }
                $result
            } record as detect, tsvd real, explore {
                let $result = real($($a),*);
                let mut $c = $crate::interpose::access::Call::new(t, pc);
                if !$c.is_judged() {
                    return $result;
                }
                $reads
                // Others may have run at the scheduling points of these reads.
                real($($a),*)
            }
        )*}
    };
}
pub(crate) use looks;

/// `fn NAME(ARGUMENTS) -> RESULT, |c| { before } then |r| { after }`: what the call is about to
/// read and write, and what it has read and written, now that its result `r` is known; `c` is the
/// [`Call`].
macro_rules! accesses {
    ($($(#[$meta:meta])* fn $name:ident($($a:ident: $ty:ty),* $(,)?) $(-> $r:ty)? $(= $version:literal)?, |$c:ident| { $($before:tt)* }
       $(then |$result:ident| $after:block)?)*) => {
        $crate::interpose::interpose! {$(
            #[allow(redundant_semicolons, reason = "what is said before may end in one")]
            $(#[$meta])* fn $name($($a: $ty),*) $(-> $r)? $(= $version)?, |t, pc, real| {
                #[allow(unused_mut, unused_variables, reason = "some have nothing to say")]
                let mut $c = $crate::interpose::access::Call::new(t, pc);
                $($before)*;
                $crate::interpose::access::after!($c real($($a),*) $(then $result $after)?)
            } record as detect, tsvd real, explore as detect
        )*}
    };
}
pub(crate) use accesses;

macro_rules! after {
    ($c:ident $real:ident($($a:ident),*)) => {
        $real($($a),*)
    };
    ($c:ident $real:ident($($a:ident),*) then $result:ident $after:block) => {{
        let $result = $real($($a),*);
        $after
        $result
    }};
}
pub(crate) use after;
