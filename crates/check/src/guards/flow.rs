//! What the code of each function accesses and calls, and the locks that it holds there.
//!
//! A function is followed along all of its paths at once. The locks that its callees take and leave
//! taken, or release, come from a summary of each callee.

use rustc_hash::{FxHashMap, FxHashSet};

use super::paths::{Path, PathStep, Paths};
use crate::interp::named::{Named, named};
use crate::ir::{AccessClass, AtomicInstr, Instr, Intrinsic, MemberId, Program, SyncOp, cfg};

/// The largest function that is followed, in instructions.
const LARGEST: u32 = 20_000;
/// The deepest chain of calls of which summaries are made.
const DEEPEST: u32 = 150;
/// The largest function that does little more than to take a lock.
const WRAPPER: u32 = 60;
/// How often a block is looked at again.
const MOST_VISITS: u32 = 40;

/// A lock that may be held, and whether it is on every path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuardingLock {
    pub lock: Path,
    pub always: bool,
    /// It is held for reading only.
    pub shared: bool,
    /// It is a semaphore, which may as well be a signal.
    pub is_semaphore: bool,
    /// Where it was taken.
    pub pc: u32,
}

/// A plain access to memory.
#[derive(Debug, Clone)]
pub struct SeenAccess {
    pub pc: u32,
    pub place: Path,
    pub write: bool,
    pub size: u32,
    pub held: Vec<GuardingLock>,
}

#[derive(Debug, Clone)]
pub struct SeenCall {
    pub pc: u32,
    pub callee: u32,
    pub arguments: Vec<Path>,
    pub held: Vec<GuardingLock>,
}

/// What is known about a function.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    pub accesses: Vec<SeenAccess>,
    pub calls: Vec<SeenCall>,
    /// Places that are accessed atomically, or by assembly.
    pub atomic: Vec<Path>,
    /// Locks that it holds when it returns.
    acquires: Vec<GuardingLock>,
    /// Locks that it releases and has not taken, and whether they are semaphores.
    releases: Vec<(Path, bool)>,
    /// It was too large to be followed.
    pub given_up: bool,
    /// It initialises or destroys a lock.
    pub sets_up: bool,
    pub starts: bool,
    pub joins: bool,
    /// It calls a function whose effect on locks is not known, or has a fence.
    pub uncertain: bool,
}

impl Seen {
    /// Whether it releases a lock that it has not taken.
    pub fn releases_others(&self) -> bool {
        !self.releases.is_empty()
    }

    /// Whether it may still hold a lock when it returns.
    pub fn leaves_held(&self, lock: Path) -> bool {
        self.acquires.iter().any(|a| a.lock == lock)
    }
}

/// What a library function does to locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Lock,
    ReadLock,
    TryLock,
    Unlock,
    SemWait,
    SemPost,
    SetUp,
    Start,
    Join,
    Atomic,
    Nothing,
}

#[derive(Debug, Clone)]
struct State {
    stack: Vec<Path>,
    held: Vec<GuardingLock>,
}

pub struct Flow<'p> {
    program: &'p Program,
    pub paths: Paths,
    pub seen: Vec<Option<Seen>>,
    effects: Vec<Effect>,
    /// Where each member that the code mentions lies in its record.
    offsets: FxHashMap<MemberId, u32>,
}

impl<'p> Flow<'p> {
    /// Follows no function yet.
    pub fn new(program: &'p Program) -> Self {
        let effects = (0..program.functions.len()).map(|f| effect_of(program, f)).collect();
        let seen = vec![None; program.functions.len()];
        Self { program, paths: Paths::default(), seen, effects, offsets: FxHashMap::default() }
    }

    /// Follows all functions of a program.
    pub fn of(program: &'p Program) -> Self {
        let mut flow = Self::new(program);
        for f in 0..program.functions.len() as u32 {
            flow.follow(f, 0);
        }
        flow
    }

    /// Follows one function, with those that it calls.
    pub fn of_function(&mut self, f: u32) -> Option<&Seen> {
        self.follow(f, 0);
        self.seen[f as usize].as_ref()
    }

    /// The distance of a member from the beginning of its record.
    pub fn offset(&self, member: MemberId) -> Option<u32> {
        self.offsets.get(&member).copied()
    }

    fn is_own(&self, f: u32) -> bool {
        let f = &self.program.functions[f as usize];
        f.defined && !f.builtin
    }

    /// Whether a library function, or one that nobody defines, starts or joins a thread.
    pub fn starts_itself(&self, f: u32) -> bool {
        self.effects[f as usize] == Effect::Start
    }

    pub fn joins_itself(&self, f: u32) -> bool {
        self.effects[f as usize] == Effect::Join
    }

    fn follow(&mut self, f: u32, depth: u32) {
        if !self.is_own(f) || self.seen[f as usize].is_some() {
            return;
        }
        let info = &self.program.functions[f as usize];
        // A function that calls itself sees this.
        self.seen[f as usize] = Some(Seen::default());
        if info.end - info.entry > LARGEST || depth > DEEPEST {
            self.seen[f as usize] = Some(Seen { given_up: true, uncertain: true, ..Seen::default() });
            return;
        }
        let callees: FxHashSet<u32> = self.program.code[info.entry as usize..info.end as usize]
            .iter()
            .filter_map(|i| if let Instr::Call(g, _) = i { Some(*g) } else { None })
            .collect();
        let mut callees: Vec<u32> = callees.into_iter().collect();
        callees.sort_unstable();
        for g in callees {
            self.follow(g, depth + 1);
        }
        let seen = Walk::new(self, f).run();
        self.seen[f as usize] = Some(seen);
    }
}

/// Whether a name says that a function takes a lock and leaves it taken.
fn says_lock(name: &str) -> bool {
    const WORDS: &[&str] = &["lock", "rdlock", "wrlock", "acquire", "enter", "hold", "grab"];
    crate::interp::named::words(name).iter().any(|w| WORDS.contains(&w.as_str()))
}

fn effect_of(program: &Program, f: usize) -> Effect {
    let info = &program.functions[f];
    if !info.defined {
        let words = crate::interp::named::words(&info.name);
        let has = |list: &[&str]| words.iter().any(|w| list.contains(&w.as_str()));
        return match named(&info.name) {
            Some(Named::Lock | Named::ReadLock) if has(&["try", "trylock"]) => Effect::TryLock,
            Some(Named::Lock) => Effect::Lock,
            Some(Named::ReadLock) => Effect::ReadLock,
            Some(Named::Unlock) => Effect::Unlock,
            Some(Named::Starts) => Effect::Start,
            Some(Named::Joins) => Effect::Join,
            Some(Named::Atomic(_) | Named::Fence) => Effect::Atomic,
            _ if has(&["mutex", "lock", "rwlock", "spinlock", "mtx"])
                && has(&["init", "destroy", "new", "create", "free", "delete", "alloc"]) =>
            {
                Effect::SetUp
            }
            _ => Effect::Nothing,
        };
    }
    if !info.builtin {
        return Effect::Nothing;
    }
    let mut effect = Effect::Nothing;
    for instr in &program.code[info.entry as usize..info.end as usize] {
        effect = match (effect, instr) {
            (_, Instr::Sync(SyncOp::Lock | SyncOp::WriteLock)) => Effect::Lock,
            (_, Instr::Sync(SyncOp::ReadLock)) => Effect::ReadLock,
            (Effect::Nothing, Instr::Sync(SyncOp::Unlock | SyncOp::RwUnlock)) => Effect::Unlock,
            (
                Effect::Nothing,
                Instr::Sync(
                    SyncOp::TryLock
                    | SyncOp::TimedLock
                    | SyncOp::TryReadLock
                    | SyncOp::TimedReadLock
                    | SyncOp::TryWriteLock
                    | SyncOp::TimedWriteLock
                    | SyncOp::SemTryWait
                    | SyncOp::SemTimedWait,
                ),
            ) => Effect::TryLock,
            (Effect::Nothing, Instr::Sync(SyncOp::SemWait)) => Effect::SemWait,
            (Effect::Nothing, Instr::Sync(SyncOp::SemPost)) => Effect::SemPost,
            (Effect::Nothing, Instr::Sync(SyncOp::LockInit | SyncOp::LockDestroy | SyncOp::SemInit)) => {
                Effect::SetUp
            }
            (Effect::Nothing, Instr::Sync(SyncOp::Start | SyncOp::StartMember)) => Effect::Start,
            (Effect::Nothing, Instr::Sync(SyncOp::Join | SyncOp::Cancel)) => Effect::Join,
            (Effect::Nothing, Instr::Atomic(..) | Instr::Fence(_)) => Effect::Atomic,
            (e, _) => e,
        };
    }
    effect
}

struct Walk<'a, 'p> {
    flow: &'a mut Flow<'p>,
    program: &'p Program,
    function: u32,
    out: Seen,
    /// The number of instructions that set a variable, and what they set it to.
    sets: FxHashMap<u16, u32>,
    values: FxHashMap<u16, Path>,
    /// Whether accesses and calls are written down.
    records: bool,
}

impl<'a, 'p> Walk<'a, 'p> {
    fn new(flow: &'a mut Flow<'p>, function: u32) -> Self {
        let program = flow.program;
        let f = &program.functions[function as usize];
        let mut sets: FxHashMap<u16, u32> = FxHashMap::default();
        for i in &program.code[f.entry as usize..f.end as usize] {
            if let Instr::Set(n) | Instr::Tee(n) = i {
                *sets.entry(*n).or_default() += 1;
            }
        }
        let (out, values) = (Seen::default(), FxHashMap::default());
        Self { flow, program, function, out, sets, values, records: false }
    }

    fn run(mut self) -> Seen {
        let f = &self.program.functions[self.function as usize];
        let (entry, end) = (f.entry, f.end);
        let mut is_start: FxHashSet<u32> = FxHashSet::default();
        is_start.insert(entry);
        for pc in entry..end {
            let instr = self.program.code[pc as usize];
            if instr.jump_target().is_some() || instr.ends_block() {
                is_start.extend(cfg::successors(&self.program.code, &self.program.switches, pc));
            }
        }
        let mut states: FxHashMap<u32, State> = FxHashMap::default();
        let mut visits: FxHashMap<u32, u32> = FxHashMap::default();
        states.insert(entry, State { stack: Vec::new(), held: Vec::new() });
        let mut todo = vec![entry];
        while let Some(start) = todo.pop() {
            let seen = visits.entry(start).or_default();
            *seen += 1;
            if *seen > MOST_VISITS {
                self.out.uncertain = true;
                continue;
            }
            let Some(mut state) = states.get(&start).cloned() else { continue };
            let last = self.block(start, end, &is_start, &mut state);
            for next in cfg::successors(&self.program.code, &self.program.switches, last) {
                if (entry..end).contains(&next) && self.merge(&mut states, next, &state) {
                    todo.push(next);
                }
            }
        }
        self.records = true;
        let mut starts: Vec<u32> = states.keys().copied().collect();
        starts.sort_unstable();
        for start in starts {
            let mut state = states[&start].clone();
            self.block(start, end, &is_start, &mut state);
        }
        // A function that does more than to take a lock may release it by a cleanup handler.
        if end - entry > WRAPPER && !says_lock(&f.name) {
            self.out.acquires.iter_mut().for_each(|a| a.always = false);
        }
        self.out
    }

    /// Follows a block; returns its last instruction.
    fn block(&mut self, start: u32, end: u32, is_start: &FxHashSet<u32>, state: &mut State) -> u32 {
        let program = self.program;
        let mut noted = program.members.partition_point(|m| m.0 < start);
        // Members noted before the first instruction of a block belong to the block.
        let mut pc = start;
        loop {
            let mut offset = match pc.checked_sub(1).map(|before| program.code[before as usize]) {
                Some(Instr::Field(n)) => n,
                _ => 0,
            };
            while let Some((_, id)) = program.members.get(noted).filter(|m| m.0 == pc) {
                self.flow.offsets.insert(*id, std::mem::take(&mut offset));
                if let Some(top) = state.stack.pop() {
                    state.stack.push(self.flow.paths.make(PathStep::Member(top, *id), pc));
                }
                noted += 1;
            }
            self.step(pc, state);
            let instr = program.code[pc as usize];
            let is_last = instr.jump_target().is_some() || instr.ends_block();
            if is_last || pc + 1 >= end || is_start.contains(&(pc + 1)) {
                return pc;
            }
            pc += 1;
        }
    }

    fn merge(&mut self, states: &mut FxHashMap<u32, State>, at: u32, new: &State) -> bool {
        let Some(known) = states.get_mut(&at) else {
            states.insert(at, new.clone());
            return true;
        };
        let mut changed = false;
        for (i, (a, b)) in known.stack.iter_mut().zip(&new.stack).enumerate() {
            if a != b {
                // One name for what two paths leave at this height of the stack.
                let met = self.flow.paths.make(PathStep::Local(at, i as u16), at);
                changed |= *a != met;
                *a = met;
            }
        }
        for h in &mut known.held {
            let other = new.held.iter().find(|n| n.lock == h.lock);
            if h.always && !other.is_some_and(|n| n.always) {
                h.always = false;
                changed = true;
            }
            if !h.shared && other.is_some_and(|n| n.shared) {
                h.shared = true;
                changed = true;
            }
        }
        for n in &new.held {
            if !known.held.iter().any(|h| h.lock == n.lock) {
                known.held.push(GuardingLock { always: false, ..*n });
                changed = true;
            }
        }
        changed
    }

    fn make(&mut self, step: PathStep, pc: u32) -> Path {
        self.flow.paths.make(step, pc)
    }

    fn access(&mut self, pc: u32, place: Path, write: bool, size: u32, state: &State) {
        if self.records {
            let held = state.held.clone();
            self.out.accesses.push(SeenAccess { pc, place, write, size, held });
        }
    }

    fn step(&mut self, pc: u32, state: &mut State) {
        let instr = self.program.code[pc as usize];
        let (pops, pushes) = instr.effect();
        let at = state.stack.len().saturating_sub(pops as usize);
        let args: Vec<Path> = state.stack.split_off(at);
        let arg = |i: usize| args.get(i).copied();
        let result: Option<Path> = match instr {
            Instr::GlobalAddr(a) => Some(self.make(PathStep::Global(a), pc)),
            Instr::FuncAddr(f) => Some(self.make(PathStep::Function(f), pc)),
            Instr::FrameAddr(at) => Some(self.make(PathStep::Frame(self.function, at), pc)),
            Instr::Get(n) => Some(self.variable(n, pc)),
            Instr::Set(n) | Instr::Tee(n) => {
                if let Some(value) = arg(0) {
                    self.set(n, value, pc);
                }
                arg(0).filter(|_| matches!(instr, Instr::Tee(_)))
            }
            Instr::Load(scalar, access) => arg(0).map(|p| {
                if access == AccessClass::Plain {
                    self.access(pc, p, false, scalar.size(), state);
                }
                self.make(PathStep::Load(p), pc)
            }),
            Instr::LoadBits(scalar, ..) => arg(0).map(|p| {
                self.access(pc, p, false, scalar.size(), state);
                self.make(PathStep::Result(pc), pc)
            }),
            Instr::Store(scalar, access) | Instr::StoreTee(scalar, access) => {
                if let Some(p) = arg(0).filter(|_| access == AccessClass::Plain) {
                    self.access(pc, p, true, scalar.size(), state);
                }
                arg(1).filter(|_| pushes > 0)
            }
            Instr::StoreBits(scalar, ..) => {
                if let Some(p) = arg(0) {
                    self.access(pc, p, true, scalar.size(), state);
                }
                arg(1)
            }
            Instr::Conv(..) | Instr::Field(_) => arg(0),
            Instr::Index(size) => {
                arg(0).map(|p| self.make(PathStep::Element(p, self.distance(pc, size)), pc))
            }
            Instr::Dup => {
                state.stack.extend(arg(0));
                arg(0)
            }
            Instr::Swap => {
                state.stack.extend(arg(1));
                arg(0)
            }
            Instr::Atomic(op, ..) => {
                self.out.atomic.extend(arg(0).filter(|_| self.records));
                (!matches!(op, AtomicInstr::Store)).then(|| self.make(PathStep::Result(pc), pc))
            }
            Instr::Fence(_) | Instr::Assembly | Instr::Gap => {
                self.out.uncertain = true;
                None
            }
            Instr::Call(f, _) => Some(self.call(pc, f, &args, state)),
            Instr::CallPtr(_) => {
                self.call_pointer(pc, &args, state);
                Some(self.make(PathStep::Called(pc), pc))
            }
            Instr::Sync(op) => {
                self.sync(pc, op, &args, state);
                Some(self.make(PathStep::Result(pc), pc))
            }
            Instr::Intrinsic(Intrinsic::Alloc | Intrinsic::AllocZero) => {
                Some(self.make(PathStep::Called(pc), pc))
            }
            Instr::Return => {
                if self.records {
                    self.leave(&state.held);
                }
                None
            }
            _ if pushes > 0 => Some(self.make(PathStep::Result(pc), pc)),
            _ => None,
        };
        if pushes > 0 {
            let value = result.unwrap_or_else(|| self.make(PathStep::Result(pc), pc));
            state.stack.push(value);
        }
    }

    /// The distance of an element from the first one, if its index is a constant.
    fn distance(&self, pc: u32, size: u32) -> Option<u32> {
        match self.program.code.get(pc.checked_sub(1)? as usize)? {
            Instr::Int(i) => u32::try_from(*i).ok()?.checked_mul(size),
            _ => None,
        }
    }

    fn variable(&mut self, n: u16, pc: u32) -> Path {
        let params = self.program.functions[self.function as usize].params;
        match self.sets.get(&n).copied().unwrap_or(0) {
            0 if u32::from(n) < params => self.make(PathStep::Param(n), pc),
            1 if u32::from(n) >= params && self.values.contains_key(&n) => self.values[&n],
            _ => self.make(PathStep::Local(self.function, n), pc),
        }
    }

    fn set(&mut self, n: u16, value: Path, pc: u32) {
        let known = *self.values.entry(n).or_insert(value);
        if known != value {
            let local = self.make(PathStep::Local(self.function, n), pc);
            self.values.insert(n, local);
        }
    }

    fn lock(&mut self, pc: u32, lock: Path, always: bool, shared: bool, state: &mut State) {
        self.take(GuardingLock { lock, always, shared, is_semaphore: false, pc }, state);
    }

    fn take(&mut self, lock: GuardingLock, state: &mut State) {
        match state.held.iter_mut().find(|h| h.lock == lock.lock) {
            Some(h) => {
                h.always |= lock.always;
                h.shared &= lock.shared;
            }
            None => state.held.push(lock),
        }
    }

    fn unlock(&mut self, lock: Path, is_semaphore: bool, state: &mut State) {
        let paths = &self.flow.paths;
        let key = paths.lock_members(lock);
        let same = |h: &GuardingLock| h.lock == lock;
        let like = |h: &GuardingLock| !key.is_empty() && paths.lock_members(h.lock) == key;
        let found = state.held.iter().position(same).or_else(|| state.held.iter().position(like));
        match found {
            Some(i) => {
                state.held.remove(i);
            }
            None => {
                if !self.out.releases.contains(&(lock, is_semaphore)) {
                    self.out.releases.push((lock, is_semaphore));
                }
                // Whichever it was, none of the others is certain any more. A semaphore rather is
                // a signal then.
                if !is_semaphore {
                    state.held.iter_mut().for_each(|h| h.always = false);
                }
            }
        }
    }

    fn leave(&mut self, held: &[GuardingLock]) {
        for h in held {
            match self.out.acquires.iter_mut().find(|a| a.lock == h.lock) {
                Some(a) => {
                    a.always &= h.always;
                    a.shared |= h.shared;
                }
                None => self.out.acquires.push(*h),
            }
        }
    }

    fn sync(&mut self, pc: u32, op: SyncOp, args: &[Path], state: &mut State) {
        let Some(lock) = args.first().copied() else { return };
        match op {
            SyncOp::Lock | SyncOp::WriteLock => self.lock(pc, lock, true, false, state),
            SyncOp::ReadLock => self.lock(pc, lock, true, true, state),
            SyncOp::Unlock | SyncOp::RwUnlock => self.unlock(lock, false, state),
            SyncOp::LockInit | SyncOp::LockDestroy => self.out.sets_up = true,
            SyncOp::Start | SyncOp::StartMember => self.out.starts = true,
            SyncOp::Join => self.out.joins = true,
            _ => {}
        }
    }

    fn call(&mut self, pc: u32, f: u32, args: &[Path], state: &mut State) -> Path {
        let result = self.make(PathStep::Called(pc), pc);
        if self.records {
            let held = state.held.clone();
            self.out.calls.push(SeenCall { pc, callee: f, arguments: args.to_vec(), held });
        }
        // A lock that has no argument is the one of the functions of that kind.
        let nameless = self.make(PathStep::Global(0), pc);
        let lock = args.first().copied().unwrap_or(nameless);
        match self.flow.effects[f as usize] {
            Effect::Lock => self.lock(pc, lock, true, false, state),
            Effect::ReadLock => self.lock(pc, lock, true, true, state),
            Effect::TryLock => self.lock(pc, lock, false, false, state),
            Effect::Unlock => self.unlock(lock, false, state),
            Effect::SemWait => {
                self.take(GuardingLock { lock, always: true, shared: false, is_semaphore: true, pc }, state)
            }
            Effect::SemPost => self.unlock(lock, true, state),
            Effect::SetUp => self.out.sets_up = true,
            Effect::Start => self.out.starts = true,
            Effect::Join => self.out.joins = true,
            Effect::Atomic => {
                self.out.atomic.extend(args.first().copied().filter(|_| self.records));
            }
            Effect::Nothing => {}
        }
        let Some(callee) = self.flow.seen[f as usize].as_ref() else { return result };
        if callee.acquires.is_empty() && callee.releases.is_empty() {
            return result;
        }
        let (acquires, releases) = (callee.acquires.clone(), callee.releases.clone());
        for (r, is_semaphore) in releases {
            let own = self.flow.paths.of_caller(r, args, pc);
            let own = own.unwrap_or_else(|| self.flow.paths.make(PathStep::Result(pc), pc));
            self.unlock(own, is_semaphore, state);
        }
        for a in acquires {
            let own = self.flow.paths.of_caller(a.lock, args, pc);
            // One that only the callee can name is held all the same.
            let own = own.unwrap_or(a.lock);
            self.take(GuardingLock { lock: own, pc, ..a }, state);
        }
        result
    }

    /// A call by a pointer whose name says that it is a lock: `ops->lock(ops)`.
    fn call_pointer(&mut self, pc: u32, args: &[Path], state: &mut State) {
        let Some((function, args)) = args.split_last() else { return };
        let Some(id) = self.flow.paths.last_member(*function) else { return };
        let what = self.program.member_names.get(&id).and_then(|name| named(name));
        let lock = args.first().copied().unwrap_or_else(|| self.make(PathStep::Global(0), pc));
        match what {
            Some(Named::Lock) => self.lock(pc, lock, true, false, state),
            Some(Named::ReadLock) => self.lock(pc, lock, true, true, state),
            Some(Named::Unlock) => self.unlock(lock, false, state),
            _ => {}
        }
    }
}
