//! Changes calls of probes as the driver has found in the executable: those that other probes cover
//! become nops, and the first of neighbouring fields calls a probe that announces all of them.
//!
//! That is done before there is a second thread. All calls are first compared with the plan: if one is not the call that the driver saw (another file of that name, a breakpoint, a
//! runtime that is a library), none is touched.

use super::init;
use crate::sys;
use crate::tsan_abi::access::{PROBES, WORDS_PROBES};
use raddle_wire::plan::ProbeChange;

const PAGE: usize = 4096;
const READ_EXECUTE: i32 = libc::PROT_READ | libc::PROT_EXEC;

/// A call in memory.
#[derive(Clone, Copy)]
struct Call {
    at: usize,
    len: usize,
    probe: usize,
    /// What it is to call instead; `None` to leave it out.
    wide: Option<usize>,
}

impl Call {
    fn new(words: [u64; 2], bias: usize) -> Call {
        let probe = ProbeChange::from_words(words);
        let wide =
            (probe.granules as usize).checked_sub(2).and_then(|n| WORDS_PROBES[probe.write as usize].get(n));
        let number = (probe.write as usize) << 2 | probe.log2 as usize;
        Call {
            at: (probe.address as usize).wrapping_add(bias),
            len: probe.length as usize,
            probe: PROBES[number] as usize,
            wide: wide.map(|wide| *wide as usize),
        }
    }

    /// True if the call is there.
    fn is_intact(self) -> bool {
        if self.len != 5 && self.len != 6 {
            return false;
        }
        // SAFETY: the driver read the file that is mapped here, and saw a call of this length.
        let bytes = unsafe { core::slice::from_raw_parts(self.at as *const u8, self.len) };
        let (prefix, call) = bytes.split_at(self.len - 5);
        let [0xe8, a, b, c, d] = *call else { return false };
        let distance = i32::from_le_bytes([a, b, c, d]) as isize;
        matches!(prefix, [] | [0x67]) && self.end().wrapping_add_signed(distance) == self.probe
    }

    fn end(self) -> usize {
        self.at + self.len
    }

    /// Replaces the target of the call, or the call by one long nop.
    fn overwrite(self) {
        const NOPS: [u8; 6] = [0x66, 0x0f, 0x1f, 0x44, 0, 0];
        let mut bytes = NOPS;
        if let Some(wide) = self.wide {
            // All probes are in the executable, which spans less than 2 GiB.
            let [a, b, c, d] = (wide.wrapping_sub(self.end()) as i32).to_le_bytes();
            bytes = [0x67, 0xe8, a, b, c, d];
        }
        // SAFETY: the page is writable, and this is the only thread.
        unsafe {
            core::ptr::copy_nonoverlapping(bytes[6 - self.len..].as_ptr(), self.at as *mut u8, self.len)
        }
    }
}

/// `probes`: the changed probes of the plan, sorted by address.
pub fn change(probes: &[[u64; 2]], bias: usize) {
    let calls = || probes.iter().map(move |words| Call::new(*words, bias));
    let Some(text) = calls().next().and_then(|call| init::code_around(call.at)) else { return };
    let is_inside = |call: Call| text.start <= call.at && call.at < text.end && call.end() <= text.end;
    if !calls().all(|call| is_inside(call) && call.is_intact()) {
        return;
    }
    let mut pages = 0..0;
    for call in calls() {
        if call.end() > pages.end {
            // The previous pages are done.
            protect(&pages, READ_EXECUTE);
            pages = call.at & !(PAGE - 1)..call.end().next_multiple_of(PAGE);
            if !protect(&pages, READ_EXECUTE | libc::PROT_WRITE) {
                return;
            }
        }
        call.overwrite();
    }
    protect(&pages, READ_EXECUTE);
}

fn protect(pages: &core::ops::Range<usize>, access: i32) -> bool {
    pages.is_empty() || sys::protect(pages.start, pages.len(), access)
}
