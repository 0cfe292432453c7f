//! Which operation came after which, by site in the program: the feedback of the guided strategies.
//!
//! A *pair* says that an operation at one site met an object last touched at another site. For a
//! read of memory, the other is the write it reads from (RFF's feedback); for a write, the last
//! access; for a lock, a condition variable and the like, the last operation. A pair also says
//! whether another thread made the other operation. Pairs are the same whichever threads and
//! objects take part, so a hundred threads that run the same code have no more pairs than two. That
//! makes them a measure of what is new.
//!
//! Two consecutive reads of a thread make a pair too: an inconsistent view (one value new, the
//! other old) consists of pairs that have each been seen before.

use rustc_hash::FxHashMap;

use crate::fingerprint::fold;
use crate::op::{Op, OpKind};
use crate::thread::LogicalThread;

/// A pair, as a number.
pub type Pair = u64;

/// The site of an operation in the program. Without instrumentation, only its kind and its object
/// are known.
#[inline]
pub fn place(op: &Op) -> u64 {
    if op.site != 0 { u64::from(op.site) } else { fold(op.object, op.kind() as u64) | 1 << 40 }
}

/// The last operations on an object.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    write: Option<(LogicalThread, u64)>,
    access: Option<(LogicalThread, u64)>,
}

/// The last operations on each object of an execution, and what each thread read last.
#[derive(Clone, Debug, Default)]
pub struct Lasts {
    objects: FxHashMap<u64, Last>,
    reads: FxHashMap<LogicalThread, Pair>,
}

impl Lasts {
    /// A new execution begins.
    pub fn clear(&mut self) {
        self.objects.clear();
        self.reads.clear();
    }

    /// `thread` executes `op`. Returns the pairs that this makes.
    pub fn step(&mut self, thread: LogicalThread, op: &Op) -> [Option<Pair>; 2] {
        let Some(key) = shared_key(op) else { return [None; 2] };
        let last = self.objects.entry(key).or_default();
        let pair = pair(*last, thread, op);
        *last = advanced(*last, thread, op);
        let second = is_read(pair).then(|| self.reads.insert(thread, pair)).flatten();
        [Some(pair), second.map(|first| view(first, pair))]
    }

    /// [`step`](Self::step) on a copy that holds only the differences: `self` is the state that was
    /// branched from.
    pub fn step_aside(&self, aside: &mut Lasts, thread: LogicalThread, op: &Op) -> [Option<Pair>; 2] {
        let Some(key) = shared_key(op) else { return [None; 2] };
        let last = aside.objects.get(&key).or_else(|| self.objects.get(&key)).copied().unwrap_or_default();
        aside.objects.insert(key, advanced(last, thread, op));
        let pair = pair(last, thread, op);
        if !is_read(pair) {
            return [Some(pair), None];
        }
        let first = aside.reads.insert(thread, pair).or_else(|| self.reads.get(&thread).copied());
        [Some(pair), first.map(|first| view(first, pair))]
    }
}

// The kind of a pair is in its lowest bits.
const KINDS: u64 = 7;
const DEADLOCK: u64 = 0;
const READ: u64 = 1;
const WRITE: u64 = 2;
const SYNC: u64 = 3;
const VIEW: u64 = 4;
const OVERLAP: u64 = 5;
const CHOICE: u64 = 6;

fn is_read(pair: Pair) -> bool {
    pair & KINDS == READ
}

/// Two consecutive reads of a thread.
fn view(first: Pair, second: Pair) -> Pair {
    fold(first, second) & !KINDS | VIEW
}

/// A lock taken while another thread holds another.
pub fn overlap(held_at: u64, taken_at: u64) -> Pair {
    fold(held_at, taken_at) & !KINDS | OVERLAP
}

/// A value chosen at a site.
pub fn choice(at: u64, value: u16) -> Pair {
    fold(at, u64::from(value)) & !KINDS | CHOICE
}

/// Two threads, each about to wait for a lock that the other holds.
pub fn deadlock(at: u64, other: u64) -> Pair {
    fold(at, other) & !KINDS | DEADLOCK
}

/// The object by which an operation can make a pair; thread and local operations make none.
fn shared_key(op: &Op) -> Option<u64> {
    use OpKind::*;
    match op.kind() {
        Start | Exit | Create | Join | Fence | Yield | Sleep | Io | Signal | Choose | Other => None,
        Unlock => None,
        _ => Some(op.object).filter(|o| *o != 0),
    }
}

fn pair(last: Last, thread: LogicalThread, op: &Op) -> Pair {
    let (before, kind) = match () {
        _ if op.is_memory_read() => (last.write, READ),
        _ if op.is_memory_write() => (last.access, WRITE),
        _ => (last.access, SYNC),
    };
    let (crossed, place_before) = before.map_or((0, 0), |(t, p)| (1 + u64::from(t != thread), p));
    fold(fold(place_before, crossed), place(op)) & !KINDS | kind
}

fn advanced(last: Last, thread: LogicalThread, op: &Op) -> Last {
    let here = Some((thread, place(op)));
    let write = if op.is_memory_write() { here } else { last.write };
    Last { write, access: here }
}

/// The value of seeing a pair for the first time.
pub fn worth(pair: Pair) -> u32 {
    match pair & KINDS {
        DEADLOCK => 32,
        READ => 4,
        WRITE | OVERLAP => 1,
        _ => 2,
    }
}
