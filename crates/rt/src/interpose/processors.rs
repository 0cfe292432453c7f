//! How many processors there are. Pools size themselves by it, and on a machine with one they run
//! everything one after the other; `raddle tsvd --force-async` shows some more.

use core::ffi::{c_int, c_long, c_void};

use super::interpose;
use crate::tsvd;
use raddle_wire::tsvd::PROCESSORS;

fn at_least(found: c_long) -> c_long {
    if tsvd::forces_async() && found > 0 { found.max(PROCESSORS) } else { found }
}

interpose! {
    fn get_nprocs() -> c_int, |t, pc, real| { real() } record as detect, explore real, tsvd { at_least(real().into()) as c_int }
    fn get_nprocs_conf() -> c_int, |t, pc, real| { real() } record as detect, explore real, tsvd { at_least(real().into()) as c_int }
    fn sysconf(name: c_int) -> c_long, |t, pc, real| { real(name) } record as detect, explore real, tsvd {
        let found = real(name);
        if name == libc::_SC_NPROCESSORS_ONLN || name == libc::_SC_NPROCESSORS_CONF { at_least(found) } else { found }
    }
    /// Rust counts the processors that it may use.
    fn sched_getaffinity(pid: c_int, size: usize, mask: *mut c_void) -> c_int, |t, pc, real| { real(pid, size, mask) } record as detect, explore real, tsvd {
        let r = real(pid, size, mask);
        if r == 0 && size > 0 && tsvd::forces_async() {
            *mask.cast::<u8>() |= ((1u32 << PROCESSORS) - 1) as u8;
        }
        r
    }
}
