//! Loops that do nothing but wait for another thread: the flags of ad-hoc synchronisation
//! (*ConSeq*, section 7.2, after Xiong et al., *Ad Hoc Synchronization Considered Harmful*, 2010).

use super::loops::Nest;
use super::places::{RDI, Storage};
use super::view::View;

/// The depth of nested calls to follow.
const MAX_DEPTH: u32 = 3;
/// The most instructions of a function that may count as only reading.
const MAX_LENGTH: usize = 400;

/// Whether a loop writes only its own frame and calls only functions that do no more than that.
pub(super) fn only_waits(view: &View, nest: &Nest) -> bool {
    nest.body.iter().all(|block| {
        let block = view.function.blocks[*block as usize];
        (block.first..block.end).all(|index| is_harmless(view, index, 0))
    })
}

fn is_harmless(view: &View, index: u32, depth: u32) -> bool {
    if !view.is_call(index) {
        return view.operands(index).all(|(operand, place)| {
            !operand.writes || operand.segment || matches!(place, Some(Storage::Slot { .. }))
        });
    }
    let Some(callee) = view.callee(index) else { return false };
    if let Some(probe) = callee.probe() {
        let own = || view.pointed_slot(index, RDI).is_some();
        let only_reads = view.announced(index).is_none_or(|announced| announced.reads || own());
        return only_reads
            && (!probe.starts_with("atomic") || probe.ends_with("_load") || probe.ends_with("_fence"));
    }
    if callee.name.is_some_and(passes_time) {
        return true;
    }
    let Some(entry) = callee.entry.filter(|_| depth < MAX_DEPTH) else { return false };
    let Some(inner) = View::new(view.program, entry) else { return false };
    inner.function.len() < MAX_LENGTH
        && (0..inner.function.len() as u32)
            .filter(|index| inner.data().heights[*index as usize].is_some())
            .filter(|index| !inner.function.is_doomed(inner.function.block_of(*index)))
            .all(|index| is_harmless(&inner, index, depth + 1))
}

/// Functions that only let time pass, or return the time.
fn passes_time(name: &str) -> bool {
    let name = name.split('@').next().unwrap_or(name);
    matches!(
        name,
        "sched_yield"
            | "pthread_yield"
            | "thrd_yield"
            | "usleep"
            | "sleep"
            | "nanosleep"
            | "clock_nanosleep"
            | "thrd_sleep"
            | "clock_gettime"
            | "gettimeofday"
            | "time"
    ) || ["10this_thread9sleep_for", "11__sleep_for", "9yield_now", "6thread5sleep", "9spin_loop"]
        .iter()
        .any(|part| name.starts_with('_') && name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::passes_time;

    #[test]
    fn ways_to_let_time_pass() {
        for name in [
            "sched_yield@GLIBC_2.2.5",
            "usleep",
            "_ZN3std6thread9yield_now17h0E",
            "_ZNSt11this_thread11__sleep_forE",
        ] {
            assert!(passes_time(name), "{name}");
        }
        for name in ["printf", "pthread_mutex_lock", "timer"] {
            assert!(!passes_time(name), "{name}");
        }
    }
}
