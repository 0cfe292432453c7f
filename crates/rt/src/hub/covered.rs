//! Removes calls of probes that other probes cover, as the driver has found in the executable.
//!
//! The calls become nops before there is a second thread. All of them are first compared with the
//! plan: if one is not the call that the driver saw (another file of that name, a breakpoint, a
//! runtime that is a library), none is touched.

use super::init;
use crate::sys;
use crate::tsan_abi::access::PROBES;
use raddle_wire::plan::CoveredProbe;

const PAGE: usize = 4096;
const READ_EXECUTE: i32 = libc::PROT_READ | libc::PROT_EXEC;

/// A call in memory.
#[derive(Clone, Copy)]
struct Call {
    at: usize,
    len: usize,
    probe: usize,
}

impl Call {
    fn new(word: u64, bias: usize) -> Call {
        let probe = CoveredProbe::from_word(word);
        let number = (probe.write as usize) << 2 | probe.log2 as usize;
        Call {
            at: (probe.address as usize).wrapping_add(bias),
            len: probe.length as usize,
            probe: PROBES[number] as usize,
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

    /// Replaces the call by one long nop.
    fn overwrite(self) {
        const NOPS: [u8; 6] = [0x66, 0x0f, 0x1f, 0x44, 0, 0];
        // SAFETY: the page is writable, and this is the only thread.
        unsafe { core::ptr::copy_nonoverlapping(NOPS[6 - self.len..].as_ptr(), self.at as *mut u8, self.len) }
    }
}

/// `words`: the covered probes of the plan, sorted by address.
pub fn leave_out(words: &[u64], bias: usize) {
    let calls = || words.iter().map(move |word| Call::new(*word, bias));
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
