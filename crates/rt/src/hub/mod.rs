//! Between the target and the driver: configuration in, log out.

pub mod annotations;
mod covered;
mod defaults;
pub mod fences;
mod imports;
pub mod init;
pub mod log;
pub mod modules;
pub mod plan;
pub mod session;

use core::sync::atomic::{AtomicPtr, Ordering::*};

use crate::mode::{Mode, mode};
use raddle_wire::config::Config;

static CONFIG: AtomicPtr<Config> = AtomicPtr::new(core::ptr::null_mut());

/// True once the detector runs. Stays false in a process that no driver watches.
#[inline(always)]
pub fn is_active() -> bool {
    matches!(mode(), Mode::Detect | Mode::Record)
}

/// How often the driver has asked for a flush.
#[inline(always)]
pub fn flush_request() -> u32 {
    // SAFETY: null or the mapped config page.
    unsafe { CONFIG.load(Relaxed).as_ref().map_or(0, |c| c.flush_request.load(Relaxed)) }
}
