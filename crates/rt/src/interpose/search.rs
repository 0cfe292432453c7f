//! Trees and tables of `<search.h>`. The C library hides their nodes, so the caller's variable
//! stands for all of them: a lookup reads it, and whatever may add or remove something writes it.
//! That is what the manual asks of callers.

use core::ffi::{c_char, c_int, c_uint, c_void};

use super::access::accesses;

type Root = *const *mut c_void;

/// The part of a `struct hsearch_data` that every call reads: the address of its table.
type Table = *const *mut c_void;

/// `ENTRY`, which is passed in two registers.
#[derive(Clone, Copy)]
#[repr(C)]
struct Entry {
    key: *const c_char,
    data: *mut c_void,
}

const ENTER: c_uint = 1;

accesses! {
    fn tsearch(key: *const c_void, root: Root, compare: usize) -> *mut c_void, |c| { c.writes_one(root) }
    fn tdelete(key: *const c_void, root: Root, compare: usize) -> *mut c_void, |c| { c.writes_one(root) }
    fn tfind(key: *const c_void, root: Root, compare: usize) -> *mut c_void, |c| { c.reads_one(root) }
    fn hcreate(most: usize) -> c_int, |c| { c.keeps_state() }
    fn hdestroy(), |c| { c.keeps_state() }
    fn hsearch(entry: Entry, action: c_uint) -> *mut Entry, |c| { c.text(entry.key); c.keeps_state() }
    fn hcreate_r(most: usize, table: Table) -> c_int, |c| { c.writes_one(table) }
    fn hdestroy_r(table: Table), |c| { c.writes_one(table) }
    fn hsearch_r(entry: Entry, action: c_uint, result: *mut *mut Entry, table: Table) -> c_int, |c| {
        c.text(entry.key);
        if action == ENTER { c.writes_one(table) } else { c.reads_one(table) }
        c.fills(result)
    } then |_r| { c.wrote_one(result) }
    fn insque(element: *mut [usize; 2], before: *mut [usize; 2]), |c| { c.writes_one(element); c.writes(before, 8) }
    fn remque(element: *mut [usize; 2]), |c| { c.reads_one(element) }
}
