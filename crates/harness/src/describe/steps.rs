//! Steps in words: what a thread does, to what, and where.

use std::collections::HashMap;
use std::path::Path;

use raddle_explore::{LogicalThread, Op, OpKind, SYSTEM_V, Step, TIMER_STEP, TIMERS};
use raddle_finding::Frame;
use raddle_wire::explore::Stack;

use super::std_calls;
use crate::places::{Mapped, Places};

/// What is known of the process whose steps are described.
pub struct StepWords<'a> {
    pub places: &'a mut Places,
    pub modules: &'a [Mapped],
    steps: &'a [Step],
    /// The call stack of each of these steps, as far as it is known.
    pub stacks: &'a [Stack],
    threads: HashMap<u16, String>,
    /// Locks in the order of their first appearance.
    locks: Vec<u64>,
    /// Unnamed memory, in the same order.
    blocks: Vec<u64>,
    /// Words in memory that are Rust locks.
    pub mutexes: Vec<u64>,
}

/// A step in words.
pub struct StepText {
    pub text: String,
    /// Whether the words are those of a call, of which the step may be one of several.
    pub is_call: bool,
}

/// The heap of an explored program, as the runtime lays it out.
const HEAP: std::ops::Range<u64> = 0x7a00_0000_0000..0x7e00_0000_0000;

impl<'a> StepWords<'a> {
    pub fn new(places: &'a mut Places, modules: &'a [Mapped], steps: &'a [Step]) -> StepWords<'a> {
        let (threads, locks, blocks) = (HashMap::new(), Vec::new(), Vec::new());
        let mut words =
            StepWords { places, modules, steps, stacks: &[], threads, locks, blocks, mutexes: Vec::new() };
        words.threads.insert(0, "T0 (main)".into());
        for step in steps.iter().filter(|s| s.op.kind() == OpKind::Start) {
            let name = words.start_function(&step.op);
            let id = step.thread.0;
            let label = name.map_or_else(|| format!("T{id}"), |name| format!("T{id} ({name})"));
            words.threads.insert(id, label);
        }
        for step in steps.iter().filter(|s| s.op.kind() == OpKind::TimeOut) {
            if let Some(timer) = timer(step.op.object) {
                words.threads.insert(step.thread.0, format!("T{} ({timer})", step.thread.0));
            }
        }
        for op in steps.iter().map(|s| &s.op) {
            if let Some(lock) = lock_of(op) {
                words.lock(lock);
            }
        }
        words
    }

    pub fn thread(&self, id: LogicalThread) -> String {
        self.threads.get(&id.0).cloned().unwrap_or_else(|| format!("T{}", id.0))
    }

    pub fn pc(&self, site: u32) -> Option<u64> {
        pc_of(self.modules, site)
    }

    pub fn frames(&mut self, site: u32) -> Vec<Frame> {
        let Some(pc) = self.pc(site) else { return Vec::new() };
        self.places.stack(self.modules, &[pc])
    }

    /// The frames of step `i`, with its callers where they are known.
    pub fn frames_of(&mut self, i: usize) -> Vec<Frame> {
        match self.stacks.get(i) {
            Some(stack) if stack[0] != 0 => {
                let n = stack.iter().position(|pc| *pc == 0).unwrap_or(stack.len());
                self.stack(&stack[..n])
            }
            _ => self.frames(self.steps[i].op.site),
        }
    }

    /// The frame that represents step `i`.
    pub fn frame_of(&mut self, i: usize) -> Option<Frame> {
        let op = self.steps[i].op;
        if op.kind() == OpKind::Start || self.stacks.get(i).is_none_or(|s| s[0] == 0) {
            return self.frame(&op);
        }
        let frames = self.frames_of(i);
        let user = frames.iter().find(|f| raddle_finding::place::is_user_code(f)).cloned();
        user.or_else(|| self.frame(&op))
    }

    /// The index of the step.
    pub fn index_of(&self, thread: LogicalThread, op: &Op) -> Option<usize> {
        self.steps.iter().position(|s| s.thread == thread && s.op == *op)
    }

    /// The frame that represents an operation: the innermost frame of the user's code.
    pub fn frame(&mut self, op: &Op) -> Option<Frame> {
        if op.kind() == OpKind::Start {
            // A function's address is not a return address. One byte further on it is certainly
            // inside the function.
            let pc = self.pc(op.site)?;
            // The start function of a library's thread has no name, so its frame says nothing.
            return self.places.frames(self.modules, pc + 1).pop().filter(|frame| frame.function.is_some());
        }
        let frames = self.frames(op.site);
        let place = raddle_finding::place::place(&frames)?;
        // Deep inside Rust's library, the outermost inlined function says most: `send`, not
        // `atomic_load`.
        let inside = place.file.as_deref().is_some_and(|f| f.starts_with("/rustc/"));
        if inside { frames.last().cloned() } else { Some(place.clone()) }
    }

    /// `transfer src/bank.c:12`, for a sentence.
    pub fn place(&mut self, op: &Op) -> Option<String> {
        let frame = self.frame(op)?;
        Self::in_words(frame)
    }

    /// The same for a step of this thread.
    pub fn place_of(&mut self, thread: LogicalThread, op: &Op) -> Option<String> {
        match self.index_of(thread, op) {
            Some(i) => self.frame_of(i).and_then(Self::in_words),
            None => self.place(op),
        }
    }

    fn in_words(frame: Frame) -> Option<String> {
        let file = Path::new(frame.file.as_deref()?).file_name()?.to_string_lossy().into_owned();
        Some(format!("{} {file}:{}", frame.function.unwrap_or_default(), frame.line?).trim_start().to_owned())
    }

    pub fn stack(&mut self, pcs: &[u64]) -> Vec<Frame> {
        self.places.stack(self.modules, pcs)
    }

    fn start_function(&mut self, op: &Op) -> Option<String> {
        let name = self.frame(op)?.function?;
        let machinery = ["std::", "raddle_rt::", "execute_native"].iter().any(|part| name.contains(part));
        (!machinery).then(|| name.split('(').next().unwrap_or(&name).to_owned())
    }

    /// `L1`.
    pub fn lock(&mut self, address: u64) -> String {
        format!("L{}", number(&mut self.locks, address))
    }

    pub fn name(&mut self, address: u64) -> Option<String> {
        self.places.global(self.modules, address).map(|g| g.label())
    }

    /// `` `mu` ``, or `L1` if it has no name.
    pub fn object(&mut self, op: &Op) -> String {
        if lock_of(op).is_some() || self.mutexes.contains(&op.object) {
            let label = self.lock(op.object);
            return self.name(op.object).map_or(label.clone(), |name| format!("{label} `{name}`"));
        }
        if let Some(timer) = timer(op.object) {
            return timer;
        }
        if op.is_memory() {
            if let Some(name) = op.first_byte().and_then(|at| self.name(at)) {
                return format!("`{name}`");
            }
            return self.memory(op.object);
        }
        self.name(op.object).map_or_else(|| self.block(op.object), |name| format!("`{name}`"))
    }

    /// Names a granule of 8 bytes, which may contain two variables.
    fn memory(&mut self, granule: u64) -> String {
        let mut names: Vec<String> = Vec::new();
        for at in [0, 4] {
            if let Some(g) = self.places.global(self.modules, granule + at) {
                let name = if g.size > 8 { Global8(&g.name, g.offset).label() } else { g.name };
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        match names.as_slice() {
            [] => self.block(granule),
            [name] => format!("`{name}`"),
            names => format!("`{}`", names.join("` or `")),
        }
    }

    fn block(&mut self, address: u64) -> String {
        let n = number(&mut self.blocks, address);
        if HEAP.contains(&address) { format!("heap word {n}") } else { format!("word {n}") }
    }

    /// What a step does.
    pub fn step(&mut self, step: &Step) -> String {
        if step.is_value() && step.op.other != 0 {
            let name = self.name(step.op.other).map(|name| format!("`{name}`"));
            let what = name.unwrap_or_else(|| self.memory(step.op.object));
            return match step.value {
                0 => format!("reads the newest value of {what}"),
                back => format!("reads an old value of {what}, {back} before the newest"),
            };
        }
        if step.is_value() {
            // Waiters are numbered by how long they have waited, longest first.
            return match step.value {
                0 => format!("wakes the first of {} waiters", step.n_values),
                n => format!("wakes waiter {} of {}", n + 1, step.n_values),
            };
        }
        self.op_by(step.thread, &step.op)
    }

    /// What step `i` does, or the call of Rust's library that it is a part of.
    pub fn step_or_call(&mut self, i: usize) -> StepText {
        let step = self.steps[i];
        let call =
            if step.op.is_memory() && !step.is_value() { std_calls::of(&self.frames_of(i)) } else { None };
        match call {
            Some(call) => StepText { text: format!("{call} ({})", self.object(&step.op)), is_call: true },
            None => StepText { text: self.step(&step), is_call: false },
        }
    }

    /// What an operation of this thread does. A thread that names itself in a `Signal` accepts signals
    /// there: in `pause`, in `sigwait`, after `raise`, or where it can be cancelled.
    pub fn op_by(&mut self, thread: LogicalThread, op: &Op) -> String {
        if op.kind() == OpKind::Signal && op.object == u64::from(thread.0) {
            return "handles signals".into();
        }
        self.op(op)
    }

    fn op(&mut self, op: &Op) -> String {
        use OpKind::*;
        let thread = |w: &StepWords<'_>| w.thread(LogicalThread(op.object as u16));
        match op.kind() {
            Start => "begins".into(),
            Exit => "ends".into(),
            Create => format!("creates {}", thread(self)),
            Join => format!("joins {}", thread(self)),
            Signal => format!("sends a signal to {}", thread(self)),
            Yield => "yields".into(),
            Sleep => "sleeps".into(),
            Fence => "passes a fence".into(),
            Io => format!("uses descriptor {}", op.object.saturating_sub(1)),
            Other if is_descriptor(op) => format!("uses descriptor {}", op.object - 1),
            CondWait => format!("waits on {}", self.object(op)),
            CondWake => format!("comes back from {}", self.object(op)),
            TimeOut if timer(op.object).is_some() => "expires".into(),
            TimeOut => {
                // The object of a join, or of a wait for a signal or a descriptor, is not an
                // address.
                let what = match op.object {
                    ..NO_ADDRESS => String::new(),
                    SYSTEM_V => " for System V semaphores".into(),
                    _ => format!(" for {}", self.object(op)),
                };
                let after = op.duration().map_or(String::new(), |ns| format!(" after {}", in_time(ns)));
                format!("gives up waiting{what}{after}: time-out")
            }
            Choose => "makes a choice".into(),
            Other if op.object == SYSTEM_V => "uses a System V queue or semaphore".into(),
            Other => self.callee(op).map_or("does something else".into(), |name| format!("calls {name}")),
            kind => format!("{} {}", verb(kind), self.object(op)),
        }
    }

    /// What a blocked thread waits for.
    pub fn wait(&mut self, op: &Op) -> String {
        use OpKind::*;
        match op.kind() {
            Join => format!("waits for {} to end", self.thread(LogicalThread(op.object as u16))),
            Lock | TimedLock | WriteLock => format!("waits for {}", self.object(op)),
            ReadLock => format!("waits to read-lock {}", self.object(op)),
            CondWait | CondWake => format!("waits for a signal on {}", self.object(op)),
            SemWait => format!("waits for the semaphore {}", self.object(op)),
            Barrier => format!("waits at the barrier {}", self.object(op)),
            // A thread at a futex may always wake spuriously, which helps nobody.
            FutexWait | Spurious => format!("waits to be woken at {}", self.object(op)),
            Once => format!("waits for the initialiser of {}", self.object(op)),
            Io => format!("waits for descriptor {}", op.object.saturating_sub(1)),
            Other if is_descriptor(op) => format!("waits for descriptor {}", op.object - 1),
            Other if op.object == SYSTEM_V => "waits for a System V queue or semaphore".into(),
            Signal => "waits for a signal".into(),
            kind => match self.callee(op).filter(|_| kind == Other) {
                Some(name) => format!("waits in {name}"),
                None => format!("is about to go on: {}", self.op(op)),
            },
        }
    }

    /// The function of a library whose call is the step.
    fn callee(&mut self, op: &Op) -> Option<String> {
        let pc = self.pc(op.site)?;
        self.places.callee(self.modules, pc).map(|name| format!("`{name}`"))
    }
}

/// Thread numbers and descriptors are below this; addresses are not.
const NO_ADDRESS: u64 = 1 << 16;

/// True if a step that is related to all others has a descriptor: of a message queue or a FIFO,
/// which several descriptors may stand for.
fn is_descriptor(op: &Op) -> bool {
    (1..NO_ADDRESS).contains(&op.object)
}

/// `5 ms`, `1.5 s`, `50 days`.
fn in_time(nanoseconds: u64) -> String {
    let units = [("ns", 1e3), ("µs", 1e3), ("ms", 1e3), ("s", 60.0), ("min", 60.0), ("h", 24.0)];
    let mut n = nanoseconds as f64;
    for (unit, next) in units {
        if n < next {
            let n = (n * 10.0).round() / 10.0;
            return format!("{n} {unit}");
        }
        n /= next;
    }
    format!("{n:.0} day{}", if n < 1.5 { "" } else { "s" })
}

/// `timer 1`, if the object is one.
fn timer(object: u64) -> Option<String> {
    let n = TIMERS.contains(&object).then(|| (object - TIMERS.start) / TIMER_STEP)?;
    Some(match n {
        0 => "the alarm".into(),
        1 | 2 => "the interval timer".into(),
        n => format!("timer {}", n - 2),
    })
}

/// The program counter of a site. A site is its low half; the mappings of code give the high half.
pub fn pc_of(modules: &[Mapped], site: u32) -> Option<u64> {
    const HALF: u64 = 1 << 32;
    let at = |m: &Mapped| {
        let low = (m.low & !(HALF - 1)) | u64::from(site);
        [low, low + HALF].into_iter().find(|pc| m.low <= *pc && *pc < m.high)
    };
    if site == 0 { None } else { modules.iter().find_map(at) }
}

/// An element of a large variable, shown with its offset.
struct Global8<'a>(&'a str, u64);

impl Global8<'_> {
    fn label(&self) -> String {
        if self.1 == 0 { self.0.into() } else { format!("{}+{}", self.0, self.1) }
    }
}

fn number(known: &mut Vec<u64>, address: u64) -> usize {
    let at = known.iter().position(|a| *a == address).unwrap_or_else(|| {
        known.push(address);
        known.len() - 1
    });
    at + 1
}

/// The lock of an operation.
pub fn lock_of(op: &Op) -> Option<u64> {
    use OpKind::*;
    matches!(op.kind(), Lock | TryLock | TimedLock | Unlock | ReadLock | WriteLock).then_some(op.object)
}

fn verb(kind: OpKind) -> &'static str {
    use OpKind::*;
    match kind {
        Lock => "locks",
        TryLock => "tries to lock",
        TimedLock => "locks, if in time,",
        Unlock => "unlocks",
        ReadLock => "read-locks",
        WriteLock => "write-locks",
        CondSignal => "signals",
        CondBroadcast => "wakes all at",
        SemWait => "takes from the semaphore",
        SemPost => "posts the semaphore",
        Barrier => "arrives at the barrier",
        Once => "runs once, for",
        FutexWait => "looks at the futex",
        FutexWake => "wakes at the futex",
        AtomicLoad => "loads",
        AtomicStore => "stores",
        AtomicRmw => "updates",
        DataRead => "reads",
        DataWrite => "writes",
        Spurious => "wakes for no reason from",
        Free => "frees",
        Timer => "sets or asks",
        Reset => "initialises or destroys",
        _ => "uses",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapped(low: u64, high: u64) -> Mapped {
        Mapped { low, high, offset: 0, path: "/nowhere/a".into() }
    }

    #[test]
    fn the_rest_of_a_site_comes_from_where_code_lies() {
        let modules =
            [mapped(0x5555_5555_4000, 0x5555_5555_8000), mapped(0x7fff_fff0_0000, 0x8000_0010_0000)];
        let mut places = Places::new();
        let words = StepWords::new(&mut places, &modules, &[]);
        assert_eq!(words.pc(0x5555_4123), Some(0x5555_5555_4123));
        assert_eq!(words.pc(0xfff0_0010), Some(0x7fff_fff0_0010));
        assert_eq!(words.pc(0x0000_0010), Some(0x8000_0000_0010));
        assert_eq!(words.pc(0x4000_0000), None);
        assert_eq!(words.pc(0), None);
    }

    #[test]
    fn timers_have_names_and_expire() {
        let mut places = Places::new();
        let mut words = StepWords::new(&mut places, &[], &[]);
        let first_of_program = TIMERS.start + 3 * TIMER_STEP;
        assert_eq!(words.op(&Op::new(OpKind::Timer, first_of_program, 0)), "sets or asks timer 1");
        assert_eq!(words.op(&Op::new(OpKind::Timer, TIMERS.start, 0)), "sets or asks the alarm");
        assert_eq!(words.op(&Op::new(OpKind::TimeOut, first_of_program, 0)), "expires");
        assert_eq!(
            words.op(&Op::new(OpKind::TimeOut, 0x10_0000, 0)),
            "gives up waiting for word 1: time-out"
        );
        let five_ms = Op::new(OpKind::TimeOut, 0x10_0000, 0).with_duration(4_999_000);
        assert_eq!(words.op(&five_ms), "gives up waiting for word 1 after 5 ms: time-out");
        let join = Op::new(OpKind::TimeOut, 3, 0).with_duration(49 * 86_400_000_000_000);
        assert_eq!(words.op(&join), "gives up waiting after 50 days: time-out");
    }

    #[test]
    fn a_thread_handles_its_own_signals_and_sends_those_of_others() {
        let mut places = Places::new();
        let mut words = StepWords::new(&mut places, &[], &[]);
        let to_the_first = Op::new(OpKind::Signal, 0, 0);
        assert_eq!(words.op_by(LogicalThread(0), &to_the_first), "handles signals");
        assert!(words.op_by(LogicalThread(1), &to_the_first).starts_with("sends a signal to T0"));
    }

    #[test]
    fn objects_without_a_name_are_numbered() {
        let mut places = Places::new();
        let lock = |kind, at| Step::bare(LogicalThread(1), Op::new(kind, at, 0));
        let steps = [lock(OpKind::Lock, 0x70), lock(OpKind::Lock, 0x50), lock(OpKind::Unlock, 0x70)];
        let mut words = StepWords::new(&mut places, &[], &steps);
        let told: Vec<String> = steps.iter().map(|s| words.step(s)).collect();
        assert_eq!(told, ["locks L1", "locks L2", "unlocks L1"]);
        assert_eq!(words.op(&Op::new(OpKind::DataRead, 0x7a00_0000_0010, 0)), "reads heap word 1");
        assert_eq!(words.wait(&Op::new(OpKind::Join, 3, 0)), "waits for T3 to end");
        assert_eq!(words.wait(&steps[1].op), "waits for L2");
    }
}
