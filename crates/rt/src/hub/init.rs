//! Start-up: before the program's first constructor if the runtime is part of the executable, or
//! when the first instrumented module calls in.

use core::ffi::{c_char, c_ulong, c_void};
use core::sync::atomic::{AtomicU32, Ordering::*};

use super::{CONFIG, defaults, fences, log, modules, plan, session};
use crate::detect::thread::{Current, Thread, current, gate, new_card};
use crate::detect::{self, Settings, thread_storage};
use crate::interpose;
use crate::layout::{RESERVED, is_watchable};
use crate::mode;
use crate::relocated;
use crate::sys;
use crate::trace;
use raddle_wire::config::{Config, ConfigMode, flag};
use raddle_wire::log::fatal;
use raddle_wire::record::Record;

unsafe extern "C" {
    pub(super) fn getauxval(kind: c_ulong) -> c_ulong;
    static __libc_stack_end: *const c_void;
}

/// The address of the marker, under a name that stays inside the module.
#[unsafe(no_mangle)]
static raddle_marker: u32 = raddle_wire::VERSION;

// By this name the driver recognises an executable that contains the runtime, and a second copy of
// the runtime recognises the first.
core::arch::global_asm!(
    ".globl __raddle_runtime",
    ".type __raddle_runtime, @object",
    ".size __raddle_runtime, 4",
    ".set __raddle_runtime, raddle_marker",
);

/// Runs before all constructors of an executable. The build removes this section from the shared
/// library.
#[used]
#[unsafe(link_section = ".preinit_array")]
static PREINIT: extern "C" fn() = preinit;

extern "C" fn preinit() {
    start(environment());
}

/// In an uninstrumented process, the library only makes sure that programs started from there are
/// watched.
#[used]
#[unsafe(link_section = ".init_array")]
static INIT: extern "C" fn() = init;

extern "C" fn init() {
    if session::remembered()[0].is_null() {
        session::remember(environment());
    }
    // The exception: `explore` schedules uninstrumented programs too.
    if STATE.load(Relaxed) == NOT_YET
        && session::find(environment())
        && session::config()
            .is_some_and(|c| c.mode == ConfigMode::Explore as u32 && c.flags & flag::PLAIN != 0)
    {
        start(environment());
    }
    // And any command, if the driver has made a copy of this program's code that has probes.
    if !is_second_copy()
        && session::find(environment())
        && session::config().is_some_and(|c| c.flags & flag::RELOCATED != 0)
        && relocated::is_meant()
    {
        start(environment());
        if super::is_active() || crate::explore::is_on() {
            relocated::install_executable();
            watch_libraries(flag::LIBRARIES);
        }
    }
    if !is_second_copy() {
        start_tsvd(environment());
    }
}

/// `raddle tsvd` watches a process whether or not it is instrumented. True: it does so here.
fn start_tsvd(environment: *const *const c_char) -> bool {
    static BEGUN: AtomicU32 = AtomicU32::new(NOT_YET);
    if !session::find(environment) {
        if !session::find_beside(&raw const raddle_marker as usize) {
            return false;
        }
        crate::tsvd::watch_itself();
    }
    let Some(config) = session::config() else { return false };
    if ConfigMode::from_number(config.mode) != Some(ConfigMode::Tsvd) {
        return false;
    }
    if BEGUN.compare_exchange(NOT_YET, STARTED, Relaxed, Relaxed).is_ok() && log::open(session::dir()) {
        log_process();
        crate::tsvd::turn_on();
    }
    true
}

/// The C library may not have started yet, so `environ` may not be set: gcc's start-up object calls
/// in this early. The kernel put the arguments and the environment at the end of the stack.
fn environment() -> *const *const c_char {
    // SAFETY: the dynamic linker records where the stack ended when the process began: the count of
    // arguments, the arguments, a null, the environment, a null.
    unsafe {
        if !sys::environ.is_null() {
            return sys::environ;
        }
        let arguments = *__libc_stack_end.cast::<usize>();
        __libc_stack_end.cast::<*const c_char>().add(arguments + 2)
    }
}

const NOT_YET: u32 = 0;
const STARTING: u32 = 1;
const STARTED: u32 = 2;
static STATE: AtomicU32 = AtomicU32::new(NOT_YET);

fn start(environment: *const *const c_char) {
    if STATE.compare_exchange(NOT_YET, STARTING, Relaxed, Relaxed).is_err() {
        return;
    }
    session::remember(environment);
    if !is_second_copy() && start_tsvd(environment) {
        reserve(false);
        STATE.store(STARTED, Relaxed);
        return;
    }
    let config = if is_second_copy() || !session::find(environment) { None } else { session::config() };
    let watched = config.is_some() && log::open(session::dir());
    if watched {
        log_process();
    }
    reserve(watched);
    if let (Some(config), true) = (config, watched) {
        watch(config, environment);
        watch_libraries(flag::ALL_LIBRARIES);
    }
    STATE.store(STARTED, Relaxed);
}

/// Libraries execute copies of their code if the driver makes some for processes like this one.
fn watch_libraries(wanted: u32) {
    if super::is_active() && session::config().is_some_and(|c| c.flags & wanted != 0) {
        relocated::install_libraries();
    }
}

/// Whether the executable contains a runtime. This copy, in the library, then does nothing.
pub fn is_second_copy() -> bool {
    // SAFETY: a look-up by name.
    let first = unsafe { sys::dlsym(libc::RTLD_DEFAULT, c"__raddle_runtime".as_ptr()) };
    !first.is_null() && !core::ptr::eq(first.cast(), &raw const raddle_marker)
}

/// The probes read the shadow before anything else, so it must exist even in a process that is not
/// watched.
fn reserve(watched: bool) {
    for range in RESERVED {
        if let Err(e) = sys::reserve(range.start, range.len()) {
            let code = if e == -(libc::EEXIST as isize) { fatal::LAYOUT } else { fatal::SHADOW };
            if watched {
                log::write(&Record::Fatal { code, detail: b"" });
                // The driver prints the message.
                sys::die(b"");
            }
            sys::die(b"raddle: this process has no room for shadow memory (run `raddle doctor`)\n");
        }
    }
}

fn watch(config: &'static Config, environment: *const *const c_char) {
    let here = &raw const config as usize;
    if !is_watchable(here) || !is_watchable(preinit as *const () as usize) {
        log::write(&Record::Fatal { code: fatal::LAYOUT, detail: b"" });
        sys::die(b"");
    }
    let mode = ConfigMode::from_number(config.mode).unwrap_or(ConfigMode::HappensBefore);
    if mode == ConfigMode::Explore && config.flags & flag::COMMANDS != 0 {
        return log_command();
    }
    if mode == ConfigMode::Explore {
        modules::refresh();
        if let Some(header) = session::explore_file() {
            crate::explore::turn_on(header);
        }
        return;
    }
    let has = |f| config.flags & f != 0;
    detect::configure(Settings {
        hybrid: mode != ConfigMode::HappensBefore,
        owners: mode == ConfigMode::Fast || has(flag::INIT_STATE),
        lines: mode == ConfigMode::Fast,
        history: config.history,
        lock_order: has(flag::LOCK_ORDER),
        condvar_mutexes_order: has(flag::CONDVAR_MUTEXES_ORDER),
    });
    CONFIG.store((&raw const *config).cast_mut(), Release);
    modules::refresh();
    fences::look();
    if has(flag::HAS_PLANS) {
        plan::ask(bias());
    }
    // If each access leaves an event, each probe counts.
    if config.history < 2 && !has(flag::DELAYS) && !has(flag::TRACED) {
        plan::leave_out_covered();
    }
    if has(flag::DELAYS) {
        session::delays_file().into_iter().for_each(trace::delays::turn_on);
    }
    if has(flag::TRACED) {
        session::trace_file().into_iter().for_each(trace::plain::turn_on);
    }
    interpose::thread::prepare();
    let mut t = current();
    let card = new_card(0, 0);
    t.inside += 1;
    t.start(card, main_stack(environment));
    gate_of(&mut t);
    log::write(&Record::Thread { thread: 0, parent: u64::MAX, stack: 0 });
    log::count_thread();
    mode::set(if trace::is_ordinary() { mode::Mode::Record } else { mode::Mode::Detect });
    t.inside -= 1;
}

/// The load bias of the executable.
pub fn bias() -> usize {
    let headers = program_headers();
    // Their entry for themselves has their address in the file.
    let own = headers.iter().find(|h| h.p_type == libc::PT_PHDR);
    own.map_or(0, |h| headers.as_ptr() as usize - h.p_vaddr as usize)
}

/// The executable's code that an address lies in.
pub fn code_around(address: usize) -> Option<core::ops::Range<usize>> {
    let bias = bias();
    let code = program_headers().iter().filter(|h| h.p_type == libc::PT_LOAD && h.p_flags & libc::PF_X != 0);
    code.map(|h| bias + h.p_vaddr as usize..bias + (h.p_vaddr + h.p_filesz) as usize)
        .find(|range| range.contains(&address))
}

fn program_headers() -> &'static [libc::Elf64_Phdr] {
    // SAFETY: the kernel says where the program headers are, and how many.
    unsafe {
        let at = getauxval(libc::AT_PHDR) as *const libc::Elf64_Phdr;
        let n = getauxval(libc::AT_PHNUM) as usize;
        if at.is_null() { &[] } else { core::slice::from_raw_parts(at, n) }
    }
}

fn main_stack(environment: *const *const c_char) -> (usize, usize) {
    let mut limit = [0usize; 2];
    sys::syscall(libc::SYS_prlimit64, [0, libc::RLIMIT_STACK as usize, 0, limit.as_mut_ptr() as usize, 0, 0]);
    // The environment's strings lie above the stack.
    // SAFETY: the environment ends in a null.
    let top = unsafe {
        match environment.as_ref() {
            Some(first) if !first.is_null() => *first as usize,
            _ => &raw const limit as usize + (64 << 10),
        }
    };
    let size = limit[0].clamp(1 << 20, 1 << 30);
    ((top - size) & !4095, (top + (1 << 20)) & !4095)
}

fn log_process() {
    let mut path = [0u8; 512];
    let at = libc::AT_FDCWD as isize as usize;
    let link = c"/proc/self/exe".as_ptr() as usize;
    let n = sys::syscall(libc::SYS_readlinkat, [at, link, path.as_mut_ptr() as usize, path.len(), 0, 0]);
    log::write(&Record::Process { executable: &path[..n.max(0) as usize] });
}

/// Logs the command that started this process, as the kernel laid it out.
fn log_command() {
    // SAFETY: as in `environment`.
    let (words, environment) = unsafe {
        let count = *__libc_stack_end.cast::<usize>();
        let words = __libc_stack_end.cast::<*const c_char>().add(1);
        (strings(words), strings(words.add(count + 1)))
    };
    let mut folder = [0u8; 4096];
    let n = sys::syscall(libc::SYS_getcwd, [folder.as_mut_ptr() as usize, folder.len(), 0, 0, 0, 0]);
    // The length includes the zero at the end.
    let folder = &folder[..(n - 1).max(0) as usize];
    log::write(&Record::Command { words, environment, folder });
}

/// The strings of a null-terminated list, which are adjacent.
///
/// # Safety
/// The kernel made the list, and nobody has written to its strings.
unsafe fn strings(list: *const *const c_char) -> &'static [u8] {
    // SAFETY: by the contract.
    unsafe {
        let mut n = 0;
        while !(*list.add(n)).is_null() {
            n += 1;
        }
        let Some(last) = n.checked_sub(1) else { return &[] };
        let (first, last) = (*list, *list.add(last));
        let end = last.add(core::ffi::CStr::from_ptr(last).to_bytes_with_nul().len());
        core::slice::from_raw_parts(first.cast(), end.offset_from_unsigned(first))
    }
}

/// Opens a new log in the child of a fork. The log begins by identifying the process.
pub fn new_log(t: Current) {
    if !log::open_in_child(session::dir()) {
        return;
    }
    log_process();
    modules::reset_after_fork();
    relocated::tell_all();
    log::mark_instrumented();
    let id = t.id() as u64;
    log::write(&Record::Thread { thread: id, parent: u64::MAX, stack: 0 });
    log::count_thread();
}

/// Like [`new_log`], where no detector runs.
pub fn new_log_of_child() {
    if log::open_in_child(session::dir()) {
        log_process();
        modules::reset_after_fork();
        log::mark_instrumented();
    }
}

/// Handles the call of an instrumented module's constructor at `pc`.
pub fn module_calls_in(pc: usize) {
    thread_storage::module_loaded();
    start(environment());
    if super::is_active() {
        log::mark_instrumented();
        defaults::tell();
    }
    if mode::mode() != mode::Mode::Off {
        modules::mark_instrumented(pc);
    }
}

/// If functions are ignored by name, or accesses are delayed or traced, makes each slow access
/// check for it.
pub fn gate_of(t: &mut Thread) {
    if plan::ignores_some() || trace::is_ordinary() {
        t.gate |= gate::IGNORE_SOME;
    }
}
