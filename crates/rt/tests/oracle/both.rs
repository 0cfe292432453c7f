//! One script, played to the detector and to the pure machine at once, and the relation between the
//! two held at each step. What is expected of them is said in `oracle.rs`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use raddle_race::*;
use raddle_rt::detect::{self, Settings, flush, range, testing};

use crate::fast::{self, BASE, Logical, PARTY};
use crate::script::{LOCKS, OBJECTS, Script, Step, THREADS};

/// Bytes by their distance from [`BASE`].
type Bytes = BTreeSet<u64>;

/// No more threads than this at one time.
const MOST: usize = 6;
/// Objects of the machine that scripts cannot name.
const NOBODY: u64 = 1000;
const BARRIER: u64 = 2000;

/// What was met on the way, to see that the comparison has something to compare.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Pieces of accesses, each within a granule, and those judged by an intact granule.
    pub pieces: u64,
    pub intact: u64,
    /// Events at which the machine, and the detector, found a race.
    pub pure: u64,
    pub fast: u64,
    /// Pieces of which the filter spared the detector a repeated report.
    pub filtered: u64,
    /// Bytes with a race by definition that the machine had superseded.
    pub superseded: u64,
    /// Slots given up.
    pub evicted: u64,
    /// Races that the machine found and the detector had forgotten.
    pub forgotten: u64,
}

/// The kind of an access.
#[derive(Clone, Copy)]
struct How {
    write: bool,
    atomic: bool,
}

impl std::ops::Add for Tally {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            pieces: self.pieces + other.pieces,
            intact: self.intact + other.intact,
            pure: self.pure + other.pure,
            fast: self.fast + other.fast,
            filtered: self.filtered + other.filtered,
            superseded: self.superseded + other.superseded,
            evicted: self.evicted + other.evicted,
            forgotten: self.forgotten + other.forgotten,
        }
    }
}

struct Life {
    logical: Logical,
    id: ThreadId,
    held: HashMap<u64, (LockMode, u32)>,
    /// Arrived at the barrier in this phase, and not passed yet.
    at_barrier: Option<u32>,
    fenced: bool,
    /// There was a flush, and it has not synchronised since: it may take a sid that started over
    /// for its last user.
    behind: bool,
}

/// The machine's accesses, numbered by their place among all events.
pub struct Both {
    settings: Settings,
    machine: RaceDetector,
    events: Vec<Event>,
    lives: Vec<Life>,
    started: u32,
    arrivals: u32,
    sids: BTreeSet<usize>,
    /// For each thread and byte, the segments in which it wrote and read it, not atomically: what
    /// the filter may know.
    done: HashMap<(ThreadId, u64, bool), [BTreeSet<u32>; 2]>,
    /// Bytes on which the detector has reported.
    reported: Bytes,
    /// Granules that have lost a slot, or whose line was reset in part.
    worn: Bytes,
    /// The threads that head release sequences of an object, as far as the detector can tell them
    /// apart.
    heads: BTreeMap<u64, BTreeSet<ThreadId>>,
    /// The detector knows of order, or of an owner, that the machine does not: it may be silent
    /// from now on.
    silent: bool,
    /// A thread has gone on with another sid.
    resumed: bool,
    pub tally: Tally,
}

fn config(settings: &Settings) -> MachineConfig {
    let mode = match (settings.hybrid, settings.lines) {
        (false, _) => StateMachine::HappensBefore,
        (true, false) => StateMachine::Hybrid,
        (true, true) => StateMachine::Fast,
    };
    let history =
        [SegmentStart::SyncOnly, SegmentStart::Contexts, SegmentStart::EachAccess][settings.history as usize];
    let initialization_state = (settings.owners && !settings.lines).then_some(InitializationUnit::EightBytes);
    MachineConfig { history, initialization_state, report_once: false, ..MachineConfig::new(mode) }
}

/// Plays the script. An error says how the two differ, and where.
pub fn play(script: &Script) -> Result<Tally, String> {
    let mut both = Both::new();
    for (number, (thread, step)) in script.iter().enumerate() {
        both.step(*thread, step).map_err(|e| format!("step {number}, {step:?} by {thread}: {e}"))?;
    }
    Ok(both.tally)
}

impl Both {
    pub fn new() -> Self {
        let settings = *detect::settings();
        fast::begin(LOCKS, OBJECTS);
        fast::forget_objects(0, 1024);
        let mut both = Self {
            settings,
            machine: RaceDetector::new(config(&settings)),
            events: Vec::new(),
            lives: Vec::new(),
            started: 0,
            arrivals: 0,
            sids: BTreeSet::new(),
            done: HashMap::new(),
            reported: Bytes::new(),
            worn: Bytes::new(),
            heads: BTreeMap::new(),
            silent: false,
            resumed: false,
            tally: Tally::default(),
        };
        (0..THREADS).for_each(|_| both.add(Logical::new()));
        both
    }

    fn add(&mut self, logical: Logical) {
        self.takes_up(logical.sid());
        let id = ThreadId(self.started);
        self.started += 1;
        self.lives.push(Life {
            logical,
            id,
            held: HashMap::new(),
            at_barrier: None,
            fenced: false,
            behind: false,
        });
    }

    fn takes_up(&mut self, sid: usize) {
        if !self.sids.insert(sid) && self.settings.owners {
            // What belonged to the sid's last user is this thread's now.
            self.silent = true;
        }
    }

    /// Tells the machine and returns the bytes on which the event completes a race.
    fn tell(&mut self, id: ThreadId, kind: EventKind) -> Bytes {
        let event = Event::new(id, EventSource(0), kind);
        let races = self.machine.handle(&event);
        self.events.push(event);
        races.iter().flat_map(|race| race.bytes.bytes()).collect()
    }

    fn step(&mut self, thread: usize, step: &Step) -> Result<(), String> {
        let me = thread % self.lives.len();
        if let Some(phase) = self.lives[me].at_barrier {
            if phase >= self.arrivals / PARTY {
                return Ok(());
            }
            self.lives[me].at_barrier = None;
            self.lives[me].logical.pass(phase);
            self.tell(self.lives[me].id, EventKind::Wait(SyncId::Object(BARRIER + u64::from(phase))));
        }
        match *step {
            Step::Access { at, size, write } => self.plain(me, at, size, write),
            Step::Ignored { at, size, write, reads } => self.ignored(me, at, size, write, reads),
            Step::Atomic { at, size, op } => self.atomic(me, at, size, op),
            Step::Free { at, size } => self.free(me, at, size),
            Step::Fresh { .. } | Step::Clear { .. } => {
                self.renew(me, step);
                Ok(())
            }
            _ => {
                self.synchronise(me, step);
                let races = testing::take_races();
                if races.is_empty() { Ok(()) } else { Err(format!("a race without an access: {races:x?}")) }
            }
        }
    }

    fn plain(&mut self, me: usize, at: u64, size: u64, write: bool) -> Result<(), String> {
        let bytes = ByteRange::new(at, size);
        let kind = if write {
            EventKind::Write { bytes, atomic: false }
        } else {
            EventKind::Read { bytes, atomic: false }
        };
        self.access(me, bytes, kind, How { write, atomic: false }, |l| l.access(at, size, write))
    }

    fn ignored(&mut self, me: usize, at: u64, size: u64, write: bool, reads: bool) -> Result<(), String> {
        use Annotation::*;
        let (begin, end) =
            if reads { (IgnoreReadsBegin, IgnoreReadsEnd) } else { (IgnoreWritesBegin, IgnoreWritesEnd) };
        let id = self.lives[me].id;
        self.tell(id, EventKind::Annotate(begin));
        self.lives[me].logical.ignore(1, u32::from(!reads));
        let known = self.done.clone();
        let result = self.plain(me, at, size, write);
        if !reads || !write {
            self.done = known;
        }
        self.tell(id, EventKind::Annotate(end));
        self.lives[me].logical.ignore(0, 0);
        result
    }

    fn free(&mut self, me: usize, at: u64, size: u64) -> Result<(), String> {
        let bytes = ByteRange::new(at, size);
        let how = How { write: true, atomic: false };
        self.access(me, bytes, EventKind::Free(bytes), how, |l| l.free(at, size))
    }

    fn atomic(&mut self, me: usize, at: u64, size: u64, op: AtomicOp) -> Result<(), String> {
        let bytes = ByteRange::new(at, size);
        let read = matches!(op, AtomicOp::Load(_) | AtomicOp::CompareExchange { succeeded: false, .. });
        let how = How { write: !read, atomic: true };
        self.access(me, bytes, EventKind::Atomic { bytes, op }, how, |l| l.atomic(at, size, op))?;
        let Life { id, fenced, .. } = self.lives[me];
        let heads = self.heads.entry(at).or_default();
        let (order, alone) = match op {
            AtomicOp::Store(order) => (order, true),
            AtomicOp::Rmw(order) | AtomicOp::CompareExchange { success: order, succeeded: true, .. } => {
                (order, false)
            }
            _ => return Ok(()),
        };
        if alone {
            // The detector keeps one clock for all heads, and cannot take those of others out of
            // it.
            self.silent |= !order.releases() && heads.contains(&id) && heads.len() > 1;
            heads.retain(|head| *head == id);
        }
        if order.releases() || fenced {
            heads.insert(id);
        }
        Ok(())
    }

    /// Fresh memory was written by whoever got it, up to a size: so that handing it on without
    /// order is a race.
    fn renew(&mut self, me: usize, step: &Step) {
        let (at, size) = match *step {
            Step::Fresh { at, size } => {
                self.lives[me].logical.fresh(at, size);
                (at, size)
            }
            Step::Clear { at, size } => {
                range::clear((BASE + at) as usize, size as usize);
                (at, size)
            }
            _ => return,
        };
        let (start, end) = (at & !7, (at + size).next_multiple_of(8));
        let bytes = ByteRange::new(start, end - start);
        let id = self.lives[me].id;
        fast::forget_objects(start, end - start);
        self.heads.retain(|object, _| !bytes.contains(*object));
        self.done.retain(|(_, byte, _), _| !bytes.contains(*byte));
        self.reported.retain(|byte| !bytes.contains(*byte));
        self.worn.retain(|granule| !bytes.contains(*granule));
        if self.settings.lines {
            // The owner of a line is noted at its head, and goes with it.
            let cut = [start, end].into_iter().filter(|cut| cut % 64 != 0).map(|cut| cut & !63);
            self.worn.extend(cut.flat_map(|line| (line..line + 64).step_by(8)));
        }
        self.tell(id, EventKind::Alloc(bytes));
        if matches!(step, Step::Fresh { .. }) && !self.settings.owners {
            self.tell(id, EventKind::Write { bytes, atomic: false });
            let state = self.lives[me].logical.state();
            for byte in bytes.bytes() {
                self.done.entry((id, byte, false)).or_default()[0].insert(state);
            }
        }
    }

    fn synchronise(&mut self, me: usize, step: &Step) {
        let Life { logical, id, held, at_barrier, fenced, behind } = &mut self.lives[me];
        let id = *id;
        match *step {
            Step::Fence(order) => {
                logical.fence(order);
                *fenced |= order.releases();
                self.tell(id, EventKind::Fence(order));
            }
            Step::Lock(lock, mode) => self.lock(me, lock, mode),
            Step::Unlock(lock) => self.unlock(me, lock),
            Step::UnlockForAnother(lock) => {
                logical.unlock(lock);
                for life in &mut self.lives {
                    life.held.remove(&lock);
                }
                self.tell(id, EventKind::WrUnlock(LockId(lock)));
            }
            Step::CondvarWait(lock) => {
                if let Some(&(LockMode::Write, times)) = held.get(&lock) {
                    logical.condvar_wait(lock);
                    (0..times).for_each(|_| drop(self.tell(id, EventKind::WrUnlock(LockId(lock)))));
                    (0..times).for_each(|_| drop(self.tell(id, EventKind::WrLock(LockId(lock)))));
                }
            }
            Step::OrderBy(lock) => {
                fast::order_by(lock);
                self.tell(id, EventKind::Annotate(Annotation::PureHappensBeforeMutex(LockId(lock))));
            }
            Step::Signal(object) => {
                logical.signal(object);
                *behind = false;
                self.tell(id, EventKind::Signal(SyncId::Object(object)));
            }
            Step::Wait(object) => {
                // Where nobody has released anything, there is nothing to learn.
                *behind &= !logical.has_clock(object);
                logical.wait(object);
                self.tell(id, EventKind::Wait(SyncId::Object(object)));
            }
            Step::Arrive => {
                let phase = logical.arrive();
                assert_eq!(phase, self.arrivals / PARTY, "phases are counted alike");
                *at_barrier = Some(phase);
                // Phases of one parity share a clock. A slow thread may learn of the later one,
                // too.
                let slow = |life: &Life| life.at_barrier.is_some_and(|p| p != phase && p % 2 == phase % 2);
                self.silent |= self.lives.iter().any(slow);
                self.arrivals += 1;
                self.tell(id, EventKind::Signal(SyncId::Object(BARRIER + u64::from(phase))));
            }
            Step::Flush => {
                flush::flush();
                self.machine.flush();
                // By the definition, too, nothing from before takes part in a race any more.
                self.events.push(Event::new(
                    id,
                    EventSource(1),
                    EventKind::Alloc(ByteRange::new(0, 1 << 20)),
                ));
                self.lives.iter_mut().for_each(|life| life.behind = true);
                self.done.clear();
                self.reported.clear();
                self.worn.clear();
            }
            Step::WearOut => {
                logical.wear_out();
                let sid = logical.sid();
                self.takes_up(sid);
                self.resumed = true;
                self.tell(id, EventKind::Signal(SyncId::Object(NOBODY)));
            }
            Step::Create if self.lives.len() < MOST => {
                let child = self.lives[me].logical.create();
                let name = SyncId::ThreadStart(ThreadId(self.started));
                self.tell(id, EventKind::Signal(name));
                self.tell(ThreadId(self.started), EventKind::Wait(name));
                self.add(child);
            }
            Step::End { thread, joined } => self.end(me, thread % self.lives.len(), joined),
            _ => {}
        }
    }

    fn lock(&mut self, me: usize, lock: u64, mode: LockMode) {
        let free = self.lives.iter().enumerate().all(|(at, life)| match life.held.get(&lock) {
            None => true,
            Some((held, _)) if at == me => *held == mode,
            Some((held, _)) => !held.excludes(mode),
        });
        if free {
            let life = &mut self.lives[me];
            life.held.entry(lock).or_insert((mode, 0)).1 += 1;
            life.logical.lock(lock, mode);
            let id = life.id;
            let lock = LockId(lock);
            self.tell(
                id,
                if mode == LockMode::Write { EventKind::WrLock(lock) } else { EventKind::RdLock(lock) },
            );
        }
    }

    fn unlock(&mut self, me: usize, lock: u64) {
        let life = &mut self.lives[me];
        let Some((mode, times)) = life.held.get_mut(&lock) else { return };
        let mode = *mode;
        *times -= 1;
        if *times == 0 {
            life.held.remove(&lock);
        }
        life.logical.unlock(lock);
        let id = life.id;
        let lock = LockId(lock);
        self.tell(
            id,
            if mode == LockMode::Write { EventKind::WrUnlock(lock) } else { EventKind::RdUnlock(lock) },
        );
    }

    fn end(&mut self, me: usize, thread: usize, joined: bool) {
        let life = &mut self.lives[thread];
        if thread == me || !life.held.is_empty() || life.at_barrier.is_some() || self.lives.len() <= 2 {
            return;
        }
        let (id, joiner) = (self.lives[thread].id, self.lives[me].id);
        self.lives[thread].logical.end();
        let name = SyncId::ThreadEnd(id);
        self.tell(id, EventKind::Signal(name));
        if joined {
            let [mine, other] = self.lives.get_disjoint_mut([me, thread]).expect("two threads");
            mine.logical.join(&other.logical);
            self.tell(joiner, EventKind::Wait(name));
        }
        self.lives.remove(thread);
    }

    /// An access, by both.
    fn access(
        &mut self,
        me: usize,
        bytes: ByteRange,
        kind: EventKind,
        how: How,
        perform: impl FnOnce(&mut Logical),
    ) -> Result<(), String> {
        let granules: Vec<u64> = (bytes.start & !7..bytes.end()).step_by(8).collect();
        let slots = |granules: &[u64]| -> Vec<_> {
            granules.iter().map(|g| testing::slots((BASE + g) as usize)).collect()
        };
        let before = slots(&granules);
        let state = self.lives[me].logical.state();
        perform(&mut self.lives[me].logical);
        let after = slots(&granules);
        let fast = fast_bytes();
        let id = self.lives[me].id;
        let pure = self.tell(id, kind);
        self.tally.pure += u64::from(!pure.is_empty());
        self.tally.fast += u64::from(!fast.is_empty());
        for (at, granule) in granules.into_iter().enumerate() {
            let piece: Vec<u64> = (granule..granule + 8).filter(|byte| bytes.contains(*byte)).collect();
            let repeated = self.is_repeated(id, &piece, how, state);
            let intact = !self.silent && !self.lives[me].behind && !self.worn.contains(&granule);
            self.compare(&piece, &pure, &fast, intact, repeated)?;
            let gave_way = how.atomic && has_given_way(after[at], state, self.settings.owners);
            if gave_way || has_evicted(before[at], after[at], self.settings.owners) {
                self.tally.evicted += 1;
                self.worn.insert(granule);
            }
        }
        for byte in bytes.bytes() {
            let done = self.done.entry((id, byte, how.atomic)).or_default();
            done[usize::from(!how.write)].insert(state);
        }
        self.reported.extend(fast);
        Ok(())
    }

    /// Has this segment done to all of these bytes what it does now, or more?
    fn is_repeated(&self, id: ThreadId, piece: &[u64], how: How, state: u32) -> bool {
        piece.iter().all(|byte| {
            let done = self.done.get(&(id, *byte, how.atomic));
            done.is_some_and(|[writes, reads]| {
                writes.contains(&state) || (!how.write && reads.contains(&state))
            })
        })
    }

    /// The relation, for the part of an access that lies in one granule.
    fn compare(
        &mut self,
        piece: &[u64],
        pure: &Bytes,
        fast: &Bytes,
        intact: bool,
        repeated: bool,
    ) -> Result<(), String> {
        let found = |by: &Bytes| piece.iter().copied().filter(|byte| by.contains(byte)).collect::<Bytes>();
        let (pure, fast) = (found(pure), found(fast));
        self.tally.pieces += 1;
        self.tally.intact += u64::from(intact);
        for byte in fast.difference(&pure) {
            // Order alone is transitive, so what was superseded is found at its successor.
            let may = self.settings.hybrid || (self.settings.owners && self.resumed);
            if !may || !self.is_race_by_definition(*byte) {
                return Err(format!("only the detector: byte {byte} of {fast:?}, the machine has {pure:?}"));
            }
            self.tally.superseded += 1;
        }
        let missing: Bytes = pure.difference(&fast).copied().collect();
        if missing.is_empty() {
            return Ok(());
        }
        let filtered =
            self.settings.history < 2 && repeated && fast.is_empty() && missing.is_subset(&self.reported);
        if intact && !filtered {
            return Err(format!("only the machine: {missing:?} of {pure:?}, repeated: {repeated}"));
        }
        self.tally.filtered += u64::from(intact);
        self.tally.forgotten += u64::from(!intact);
        Ok(())
    }

    /// Whether the last access races by 4.1 with any earlier one, superseded or not: the machine is
    /// shown each pair alone, among all that synchronises.
    fn is_race_by_definition(&self, byte: u64) -> bool {
        let last = self.events.len() - 1;
        (0..last).filter(|x| touches(&self.events[*x], byte)).any(|x| self.races_alone(x, last, byte))
    }

    fn races_alone(&self, x: usize, y: usize, byte: u64) -> bool {
        use Annotation::*;
        let mode = if self.settings.hybrid { StateMachine::Hybrid } else { StateMachine::HappensBefore };
        let mut machine = RaceDetector::new(MachineConfig { report_once: false, ..MachineConfig::new(mode) });
        let note = |machine: &mut RaceDetector, thread: ThreadId, annotations: [Annotation; 2]| {
            for annotation in annotations {
                machine.handle(&Event::new(thread, EventSource(0), EventKind::Annotate(annotation)));
            }
        };
        (0..self.started)
            .for_each(|t| note(&mut machine, ThreadId(t), [IgnoreReadsBegin, IgnoreWritesBegin]));
        let mut found = false;
        for (at, event) in self.events[..=y].iter().enumerate() {
            if event.context == EventSource(1) {
                machine.flush();
            }
            let looks = at == x || at == y;
            if looks {
                note(&mut machine, event.thread, [IgnoreReadsEnd, IgnoreWritesEnd]);
            }
            let races = machine.handle(event);
            found |= at == y && races.iter().any(|race| race.bytes.contains(byte));
            if looks {
                note(&mut machine, event.thread, [IgnoreReadsBegin, IgnoreWritesBegin]);
            }
        }
        found
    }
}

fn touches(event: &Event, byte: u64) -> bool {
    match event.kind {
        EventKind::Read { bytes, .. }
        | EventKind::Write { bytes, .. }
        | EventKind::Atomic { bytes, .. }
        | EventKind::Free(bytes) => bytes.contains(byte),
        _ => false,
    }
}

/// The bytes on which the detector has just reported.
fn fast_bytes() -> Bytes {
    let mut bytes = Bytes::new();
    for race in testing::take_races() {
        let overlap = race.current & race.other & 0xff;
        let granule = race.granule as u64 - BASE;
        bytes.extend((0..8).filter(|bit| overlap >> bit & 1 == 1).map(|bit| granule + bit));
    }
    bytes
}

/// Did an atomic access of segment `state` find no room but in the place of a plain one?
fn has_given_way(after: [u32; testing::SLOTS], state: u32, owners: bool) -> bool {
    let slots = &after[..if owners { 3 } else { testing::SLOTS }];
    let own = |slot: &u32| slot & 0x3fff_ff00 == state && slot & testing::ATOMIC != 0;
    !slots.contains(&0) && !slots.iter().any(own)
}

/// Was a slot given up for want of room, not because the new one says as much?
fn has_evicted(before: [u32; testing::SLOTS], after: [u32; testing::SLOTS], owners: bool) -> bool {
    use testing::{ATOMIC, READ};
    let usable = if owners { 3 } else { testing::SLOTS };
    if before[..usable].contains(&0) || after[..usable].contains(&0) {
        return false;
    }
    (0..usable).filter(|lane| before[*lane] != after[*lane]).any(|lane| {
        let (old, new) = (before[lane], after[lane]);
        let covered = testing::sid(old) == testing::sid(new)
            && old & !new & 0xff == 0
            && (new & READ == 0 || old & READ != 0)
            && (new & ATOMIC == 0 || old & ATOMIC != 0);
        !covered
    })
}
