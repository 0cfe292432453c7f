//! Loops, sections and `single` inside a region. To the detector they order nothing except by the
//! barrier at their end, and libgomp executes them. A section has its own context. While a program
//! is explored, the scheduler deals them out.

use core::ffi::{c_int, c_long, c_uint};

use super::{at_section, behind_sections};
use crate::detect::thread::current;
use crate::explore::openmp::{self as explored, LoopBounds};
use crate::interpose::interpose;

impl LoopBounds {
    pub fn signed(
        start: c_long,
        end: c_long,
        step: c_long,
        chunk: c_long,
        fixed: bool,
        ordered: bool,
    ) -> LoopBounds {
        LoopBounds {
            start: start as u64,
            end: end as u64,
            step: step as u64,
            up: step > 0,
            chunk: chunk.max(0) as u64,
            fixed,
            ordered,
        }
    }
}

/// Passes iterations to the compiled loop. SAFETY: its variables.
unsafe fn hand(chunk: Option<(u64, u64)>, from: *mut c_long, until: *mut c_long) -> bool {
    if let Some((a, b)) = chunk {
        // SAFETY: by the caller's contract.
        unsafe { (*from, *until) = (a as c_long, b as c_long) };
    }
    chunk.is_some()
}

fn is_static(name: &str) -> bool {
    name.ends_with("static_start")
}

/// With a chunk size and without; signed loops and unsigned ones, which say whether they count up.
macro_rules! loops {
    (ordered: $ordered:literal; chunks: $($start:ident)*; plain: $($plain:ident)*; unsigned: $($ull:ident)*; unsigned plain: $($ull_plain:ident)*; next: $($next:ident)*) => {
        interpose! {
            $(fn $start(start: c_long, end: c_long, step: c_long, chunk: c_long, from: *mut c_long, until: *mut c_long) -> bool,
            |t, pc, real| { real(start, end, step, chunk, from, until) } record as detect, tsvd real, explore {
                let bounds = LoopBounds::signed(start, end, step, chunk, is_static(stringify!($start)), $ordered);
                hand(explored::start(&bounds, pc), from, until)
            })*
            $(fn $plain(start: c_long, end: c_long, step: c_long, from: *mut c_long, until: *mut c_long) -> bool,
            |t, pc, real| { real(start, end, step, from, until) } record as detect, tsvd real, explore {
                hand(explored::start(&LoopBounds::signed(start, end, step, 1, false, $ordered), pc), from, until)
            })*
            $(fn $ull(up: bool, start: c_long, end: c_long, step: c_long, chunk: c_long, from: *mut c_long, until: *mut c_long) -> bool,
            |t, pc, real| { real(up, start, end, step, chunk, from, until) } record as detect, tsvd real, explore {
                let bounds = LoopBounds { up, ..LoopBounds::signed(start, end, step, chunk, is_static(stringify!($ull)), $ordered) };
                hand(explored::start(&bounds, pc), from, until)
            })*
            $(fn $ull_plain(up: bool, start: c_long, end: c_long, step: c_long, from: *mut c_long, until: *mut c_long) -> bool,
            |t, pc, real| { real(up, start, end, step, from, until) } record as detect, tsvd real, explore {
                let bounds = LoopBounds { up, ..LoopBounds::signed(start, end, step, 1, false, $ordered) };
                hand(explored::start(&bounds, pc), from, until)
            })*
            $(fn $next(from: *mut c_long, until: *mut c_long) -> bool, |t, pc, real| { real(from, until) } record as detect, tsvd real, explore {
                hand(explored::next(pc), from, until)
            })*
        }
    };
}

loops! {
    ordered: false;
    chunks: GOMP_loop_static_start GOMP_loop_dynamic_start GOMP_loop_guided_start
        GOMP_loop_nonmonotonic_dynamic_start GOMP_loop_nonmonotonic_guided_start;
    plain: GOMP_loop_runtime_start GOMP_loop_nonmonotonic_runtime_start GOMP_loop_maybe_nonmonotonic_runtime_start;
    unsigned: GOMP_loop_ull_static_start GOMP_loop_ull_dynamic_start GOMP_loop_ull_guided_start
        GOMP_loop_ull_nonmonotonic_dynamic_start GOMP_loop_ull_nonmonotonic_guided_start;
    unsigned plain: GOMP_loop_ull_runtime_start GOMP_loop_ull_nonmonotonic_runtime_start
        GOMP_loop_ull_maybe_nonmonotonic_runtime_start;
    next: GOMP_loop_static_next GOMP_loop_dynamic_next GOMP_loop_guided_next GOMP_loop_runtime_next
        GOMP_loop_nonmonotonic_dynamic_next GOMP_loop_nonmonotonic_guided_next GOMP_loop_nonmonotonic_runtime_next
        GOMP_loop_maybe_nonmonotonic_runtime_next
        GOMP_loop_ull_static_next GOMP_loop_ull_dynamic_next GOMP_loop_ull_guided_next GOMP_loop_ull_runtime_next
        GOMP_loop_ull_nonmonotonic_dynamic_next GOMP_loop_ull_nonmonotonic_guided_next
        GOMP_loop_ull_nonmonotonic_runtime_next GOMP_loop_ull_maybe_nonmonotonic_runtime_next
}

loops! {
    ordered: true;
    chunks: GOMP_loop_ordered_static_start GOMP_loop_ordered_dynamic_start GOMP_loop_ordered_guided_start;
    plain: GOMP_loop_ordered_runtime_start;
    unsigned: GOMP_loop_ull_ordered_static_start GOMP_loop_ull_ordered_dynamic_start GOMP_loop_ull_ordered_guided_start;
    unsigned plain: GOMP_loop_ull_ordered_runtime_start;
    next: GOMP_loop_ordered_static_next GOMP_loop_ordered_dynamic_next GOMP_loop_ordered_guided_next
        GOMP_loop_ordered_runtime_next
        GOMP_loop_ull_ordered_static_next GOMP_loop_ull_ordered_dynamic_next GOMP_loop_ull_ordered_guided_next
        GOMP_loop_ull_ordered_runtime_next
}

/// Loops with task reductions, or ordered by `depend`.
macro_rules! refused {
    ($($name:ident)*) => {
        interpose! {
            $(fn $name(a: usize, b: usize, c: usize, d: usize, e: usize, f: usize, g: usize, h: usize, i: usize) -> bool,
            |t, pc, real| { real(a, b, c, d, e, f, g, h, i) } record as detect, tsvd real, explore { explored::refuse() })*
        }
    };
}

refused! {
    GOMP_loop_start GOMP_loop_ordered_start GOMP_loop_doacross_start
    GOMP_loop_ull_start GOMP_loop_ull_ordered_start GOMP_loop_ull_doacross_start
    GOMP_loop_doacross_static_start GOMP_loop_doacross_dynamic_start GOMP_loop_doacross_guided_start
    GOMP_loop_doacross_runtime_start
    GOMP_loop_ull_doacross_static_start GOMP_loop_ull_doacross_dynamic_start GOMP_loop_ull_doacross_guided_start
    GOMP_loop_ull_doacross_runtime_start
}

interpose! {
    fn GOMP_loop_end_nowait(), |t, pc, real| { real() } record as detect, tsvd real, explore { explored::ends() }
    fn GOMP_sections_end_nowait(), |t, pc, real| {
        behind_sections(t);
        real()
    } record as detect, tsvd real, explore { explored::ends() }
    fn GOMP_sections_start(n: c_uint) -> c_uint, |t, pc, real| {
        let section = real(n);
        at_section(current(), section != 0);
        section
    } record as detect, tsvd real, explore {
        explored::start(&LoopBounds::sections(n), pc).map_or(0, |(section, _)| section as c_uint)
    }
    // With task reductions.
    fn GOMP_sections2_start(n: c_uint, reductions: usize, memory: usize) -> c_uint, |t, pc, real| {
        let section = real(n, reductions, memory);
        at_section(current(), section != 0);
        section
    } record as detect, tsvd real, explore { explored::refuse() }
    fn GOMP_sections_next() -> c_uint, |t, pc, real| {
        let section = real();
        at_section(current(), section != 0);
        section
    } record as detect, tsvd real, explore {
        explored::next(pc).map_or(0, |(section, _)| section as c_uint)
    }
    fn GOMP_single_start() -> bool, |t, pc, real| { real() } record as detect, tsvd real, explore { explored::single(pc) }

    fn omp_get_thread_num() -> c_int, |t, pc, real| {
        t.openmp.asked = true;
        real()
    } record as detect, tsvd real, explore { explored::thread_number() as c_int }
    fn omp_get_ancestor_thread_num(level: c_int) -> c_int, |t, pc, real| {
        t.openmp.asked = true;
        real(level)
    } record as detect, tsvd real, explore real
    fn omp_get_num_threads() -> c_int, |t, pc, real| { real() } record as detect, tsvd real, explore { explored::size() as c_int }
    fn omp_get_max_threads() -> c_int, |t, pc, real| { real() } record as detect, tsvd real, explore { explored::max_threads() as c_int }
    fn omp_in_parallel() -> c_int, |t, pc, real| { real() } record as detect, tsvd real, explore { c_int::from(explored::size() > 1) }
    fn omp_get_level() -> c_int, |t, pc, real| { real() } record as detect, tsvd real, explore { explored::level() as c_int }
    fn omp_set_num_threads(n: c_int), |t, pc, real| { real(n) } record as detect, tsvd real, explore { explored::set_threads(n.max(1) as u32) }
}
