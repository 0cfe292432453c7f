//! The number of processors. Pools use it for their size, and with one processor they run
//! everything sequentially; `raddle tsvd --force-async` pretends that there are more. Also which
//! threads may use them: an explored thread's number is made up, so the kernel gets its donor's.

use core::ffi::{c_int, c_long, c_uint, c_void};

use super::access::Call;
use super::interpose;
use crate::explore::{self, threads::kernel_number};
use crate::tsvd;
use raddle_wire::tsvd::PROCESSORS;

fn at_least(found: c_long) -> c_long {
    if tsvd::forces_async() && found > 0 { found.max(PROCESSORS) } else { found }
}

interpose! {
    fn get_nprocs() -> c_int, |t, pc, real| { real() } record as detect, explore real, tsvd { at_least(real().into()) as c_int }
    fn get_nprocs_conf() -> c_int, |t, pc, real| { real() } record as detect, explore real, tsvd { at_least(real().into()) as c_int }
    fn sysconf(name: c_int) -> c_long, |t, pc, real| { real(name) } record as detect, explore {
        if name == libc::_SC_AVPHYS_PAGES {
            explore::asks_for_chance();
        }
        real(name)
    } tsvd {
        let found = real(name);
        if name == libc::_SC_NPROCESSORS_ONLN || name == libc::_SC_NPROCESSORS_CONF { at_least(found) } else { found }
    }
    /// Rust counts the processors that it may use.
    fn sched_getaffinity(pid: c_int, size: usize, mask: *mut c_void) -> c_int, |t, pc, real| {
        let r = real(pid, size, mask);
        Call::new(t, pc).wrote(mask, if r == 0 { size } else { 0 });
        r
    } record as detect, explore {
        let r = real(kernel_number(pid), size, mask);
        Call::new(t, pc).wrote(mask, if r == 0 { size } else { 0 });
        r
    } tsvd {
        let r = real(pid, size, mask);
        if r == 0 && size > 0 && tsvd::forces_async() {
            *mask.cast::<u8>() |= ((1u32 << PROCESSORS) - 1) as u8;
        }
        r
    }
    fn sched_setaffinity(pid: c_int, size: usize, from: *const c_void) -> c_int, |t, pc, real| {
        Call::new(t, pc).reads(from, size);
        real(pid, size, from)
    } record as detect, tsvd real, explore {
        Call::new(t, pc).reads(from, size);
        explore::changes_process(pc);
        real(kernel_number(pid), size, from)
    }
    fn sched_setscheduler(pid: c_int, policy: c_int, from: *const libc::sched_param) -> c_int, |t, pc, real| {
        Call::new(t, pc).reads_one(from);
        real(pid, policy, from)
    } record as detect, tsvd real, explore {
        Call::new(t, pc).reads_one(from);
        explore::changes_process(pc);
        real(kernel_number(pid), policy, from)
    }
    fn sched_getparam(pid: c_int, to: *mut libc::sched_param) -> c_int, |t, pc, real| {
        let r = real(pid, to);
        Call::new(t, pc).wrote_if(r == 0, to);
        r
    } record as detect, tsvd real, explore {
        Call::new(t, pc).writes_one(to);
        real(kernel_number(pid), to)
    }
    fn setpriority(which: c_int, who: c_uint, to: c_int) -> c_int, |t, pc, real| { real(which, who, to) } record as detect, tsvd real, explore {
        explore::changes_process(pc);
        real(which, kernel_number(who as c_int) as c_uint, to)
    }
}
