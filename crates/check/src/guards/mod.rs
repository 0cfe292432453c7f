//! Accesses without the lock that the rest of the program holds.
//!
//! A simulated program gets no connections, no messages and no answers, so most code that takes a
//! lock is never run. This rule needs no run. It is the belief of Engler et al., "Bugs as Deviant
//! Behavior" (SOSP 2001): if the functions that access a member or a global hold one lock, all but
//! one of them, then that one is the mistake. Locks and accesses are named by the way the code gets
//! to them ([`paths`]), followed along all paths of each function ([`flow`]).
//!
//! A suspicion rests on a guess, since no run has shown it: of nine in a set of real projects five
//! were false. So it is listed on demand only. It needs all of this:
//!
//! 1. At least [`LEAST_GUARDED`] functions access the place and always hold a lock of one name: a
//!    global, or a member of the same object or of one on the way to it. Their callers may hold it.
//! 2. One function accesses it where certainly no lock is held at all, and there is a way to it
//!    from a thread's beginning, or from outside, on which none is held ([`threads`]).
//! 3. The two may run on different threads, and one of them writes.
//! 4. Neither sets up, tears down, starts or joins ([`phase`]), and the object is not new.
//!    Of a thread's start function only the part from its first loop to its last counts.
//! 5. Nobody accesses the place atomically, and it is not volatile.
//!
//! What it does not see: places behind unnamed pointers, functions that are called by a pointer,
//! and code that runs beside the threads that `main` has started.

mod finding;
pub(crate) mod flow;
pub(crate) mod paths;
mod phase;
mod threads;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::{MemberId, Program};
use crate::locking::Locking;
use flow::{Flow, GuardingLock, SeenAccess};
use paths::{Path, PathStep};
use threads::{Caller, Escape, Threads, shared};

/// How many functions must hold the lock.
const LEAST_GUARDED: usize = 2;
/// How many functions must hold it for each that does not.
const GUARDED_FOR_EACH: usize = 3;

/// What is accessed: a member, by the way from its object, or a global.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum PlaceKey {
    Global(u32),
    Member(Vec<MemberId>),
}

/// A lock, as others name it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum LockKey {
    Global(u32),
    Member(Vec<MemberId>),
}

/// One end of a suspicion.
#[derive(Debug, Clone)]
struct RunEnd {
    pc: u32,
    write: bool,
    size: u32,
    /// Who runs it, and by which calls, the innermost first.
    caller: Option<Caller>,
    way: Vec<u32>,
    /// Where the lock was taken, if here.
    lock: Option<u32>,
}

#[derive(Debug, Clone)]
struct Suspicion {
    bare: RunEnd,
    guarded: RunEnd,
    place: PlaceKey,
    lock: LockKey,
    /// The number of functions that hold the lock.
    holders: usize,
}

/// An access and the function it is in.
#[derive(Clone, Copy)]
struct Use<'a> {
    function: u32,
    access: &'a SeenAccess,
}

/// How the code of a program uses its locks.
pub struct Guards<'p> {
    program: &'p Program,
    flow: Flow<'p>,
    threads: Threads,
    /// For each function, the locks that all of its callers hold.
    from_callers: Vec<FxHashSet<LockKey>>,
}

fn lock_key(flow: &Flow<'_>, lock: Path) -> Option<LockKey> {
    let members = flow.paths.lock_members(lock);
    if !members.is_empty() {
        return Some(LockKey::Member(members));
    }
    match flow.paths.root(lock) {
        PathStep::Global(a) => Some(LockKey::Global(a)),
        _ => None,
    }
}

/// The locks that all callers of each function hold, by the greatest fixed point.
fn from_callers(
    program: &Program,
    flow: &Flow<'_>,
    threads: &Threads,
    locking: &Locking,
) -> Vec<FxHashSet<LockKey>> {
    let n = program.functions.len();
    // None: not known yet, so that any lock may be held.
    let mut out: Vec<Option<FxHashSet<LockKey>>> = vec![None; n];
    for (f, known) in out.iter_mut().enumerate() {
        if threads.sites[f].is_empty() || locking.is_address_taken(f as u32) {
            *known = Some(FxHashSet::default());
        }
    }
    let mut todo: Vec<u32> = (0..n as u32).collect();
    while let Some(f) = todo.pop() {
        let (Some(seen), Some(own)) = (&flow.seen[f as usize], out[f as usize].clone()) else { continue };
        for call in &seen.calls {
            let mut held = own.clone();
            held.extend(call.held.iter().filter(|h| h.always).filter_map(|h| lock_key(flow, h.lock)));
            let known = &mut out[call.callee as usize];
            let met = match &known {
                None => held,
                Some(known) => known.intersection(&held).cloned().collect(),
            };
            if known.as_ref() != Some(&met) {
                *known = Some(met);
                todo.push(call.callee);
            }
        }
    }
    out.into_iter().map(Option::unwrap_or_default).collect()
}

impl<'p> Guards<'p> {
    /// `is_elsewhere` says whether other programs of the project mention a function.
    pub fn of(program: &'p Program, locking: &Locking, is_elsewhere: &dyn Fn(&str) -> bool) -> Self {
        let flow = Flow::of(program);
        let threads = Threads::of(program, &flow, locking, is_elsewhere);
        let from_callers = from_callers(program, &flow, &threads, locking);
        Self { program, flow, threads, from_callers }
    }

    fn suspicions(&self) -> Vec<Suspicion> {
        let mut uses: FxHashMap<PlaceKey, Vec<Use<'_>>> = FxHashMap::default();
        let mut atomic: FxHashSet<PlaceKey> = FxHashSet::default();
        for (f, seen) in self.flow.seen.iter().enumerate() {
            let Some(seen) = seen else { continue };
            atomic.extend(seen.atomic.iter().filter_map(|p| self.place_key(*p)));
            for access in &seen.accesses {
                if let Some(key) = self.place_key(access.place) {
                    uses.entry(key).or_default().push(Use { function: f as u32, access });
                }
            }
        }
        let mut uses: Vec<_> = uses.into_iter().filter(|u| !atomic.contains(&u.0)).collect();
        uses.sort_by_key(|u| u.1.iter().map(|u| u.access.pc).min());
        let out: Vec<_> = uses.iter().flat_map(|(place, uses)| self.about(place, uses)).collect();
        out
    }

    fn place_key(&self, place: Path) -> Option<PlaceKey> {
        let paths = &self.flow.paths;
        let members = paths.members(place);
        if !members.is_empty() {
            return match paths.step(paths.object(place)) {
                // A variable of the function's own.
                PathStep::Frame(..) => None,
                _ => Some(PlaceKey::Member(members)),
            };
        }
        match paths.step(paths.object(place)) {
            PathStep::Global(a) if a != 0 => Some(PlaceKey::Global(a)),
            _ => None,
        }
    }

    /// The locks that an access certainly holds and that have to do with its place.
    fn guards_of(&self, u: &Use<'_>) -> FxHashSet<LockKey> {
        let own = u.access.held.iter().filter(|h| h.always && self.is_related(u, h));
        let own = own.filter_map(|h| lock_key(&self.flow, h.lock));
        own.chain(self.from_callers[u.function as usize].iter().cloned()).collect()
    }

    /// Whether a lock is a global, or part of an object on the way to the place.
    fn is_related(&self, u: &Use<'_>, h: &GuardingLock) -> bool {
        let paths = &self.flow.paths;
        let seen = self.flow.seen[u.function as usize].as_ref();
        // A semaphore that is only waited for is a signal.
        if h.is_semaphore && seen.is_some_and(|s| s.leaves_held(h.lock)) {
            return false;
        }
        let owner = paths.object(paths.lock_place(h.lock));
        matches!(paths.step(owner), PathStep::Global(_)) || paths.is_within(u.access.place, owner)
    }

    fn about(&self, place: &PlaceKey, uses: &[Use<'_>]) -> Option<Suspicion> {
        let (program, flow) = (self.program, &self.flow);
        let uses: Vec<&Use<'_>> =
            uses.iter().filter(|u| !phase::is_exempt(program, flow, u.function)).collect();
        // The lock that most functions hold.
        let mut holders: FxHashMap<LockKey, FxHashSet<u32>> = FxHashMap::default();
        for u in &uses {
            for lock in self.guards_of(u) {
                holders.entry(lock).or_default().insert(u.function);
            }
        }
        let (lock, holders) = holders.into_iter().max_by_key(|(lock, f)| (f.len(), lock.clone()))?;
        let without = |u: &&&Use<'_>| !self.guards_of(u).contains(&lock);
        // A read before the lock is taken, and again under it, is meant.
        let is_first_look = |u: &&Use<'_>| !u.access.write && holders.contains(&u.function);
        let writes_bare: FxHashSet<u32> =
            uses.iter().filter(without).filter(|u| u.access.write).map(|u| u.function).collect();
        let lacks = |u: &&&Use<'_>| without(u) && (!is_first_look(u) || writes_bare.contains(&u.function));
        let others: FxHashSet<u32> = uses.iter().filter(lacks).map(|u| u.function).collect();
        let always: FxHashSet<u32> = holders.difference(&others).copied().collect();
        if always.is_empty() || others.is_empty() {
            return None;
        }
        if others.len() > 1 && always.len() < GUARDED_FOR_EACH * others.len() {
            return None;
        }
        // A global lock is around more than it guards, and so is a caller's.
        let takers: FxHashSet<u32> =
            uses.iter().filter(|u| self.takes(u, &lock)).map(|u| u.function).collect();
        let is_apart = matches!((&lock, place), (LockKey::Global(_), PlaceKey::Member(_)));
        if takers.len() < if is_apart { LEAST_GUARDED } else { 1 } {
            return None;
        }
        let mut bare: Vec<&&Use<'_>> = uses.iter().filter(lacks).collect();
        bare.sort_by_key(|u| (!u.access.write, u.access.pc));
        bare.into_iter().find_map(|u| self.suspicion(place, &lock, u, &uses, &always))
    }

    /// Whether the function of an access has itself taken a lock there.
    fn takes(&self, u: &Use<'_>, lock: &LockKey) -> bool {
        let is_it = |h: &GuardingLock| h.always && lock_key(&self.flow, h.lock).as_ref() == Some(lock);
        u.access.held.iter().any(|h| is_it(h) && self.is_related(u, h))
    }

    fn suspicion(
        &self,
        place: &PlaceKey,
        lock: &LockKey,
        bare: &Use<'_>,
        uses: &[&Use<'_>],
        always: &FxHashSet<u32>,
    ) -> Option<Suspicion> {
        let seen = self.flow.seen[bare.function as usize].as_ref()?;
        // Who releases a lock that it has not taken may have come with it.
        if !bare.access.held.is_empty() || seen.uncertain || seen.releases_others() {
            return None;
        }
        if self.threads.starts_or_joins(bare.function) {
            return None;
        }
        let param = match shared(&self.flow, bare.access.place) {
            Escape::Yes => None,
            Escape::ByParam(n) => Some(n),
            Escape::Unclear => return None,
        };
        let (caller, way) =
            self.threads.free_way(self.program, &self.flow, bare.function, bare.access.pc, param)?;
        // One other function says enough only if it is known to be another thread's.
        let is_weak = always.len() < LEAST_GUARDED;
        let begins = self.threads.is_root(bare.function);
        if is_weak && (begins || phase::is_setter(self.program, bare.function)) {
            return None;
        }
        let mut guarded: Vec<&&Use<'_>> = uses
            .iter()
            .filter(|u| always.contains(&u.function) && (u.access.write || bare.access.write))
            .collect();
        guarded.sort_by_key(|u| (!u.access.write, u.access.pc));
        let (other, by) = guarded.into_iter().find_map(|u| {
            let mut others: Vec<Caller> = self.threads.callers[u.function as usize].iter().copied().collect();
            others.sort_unstable();
            // A thread that writes a place may read it without the lock under which others read it.
            if !bare.access.write && caller != Caller::Outside && others.contains(&caller) {
                return None;
            }
            if is_weak && (others.contains(&caller) || !others.iter().any(|o| matches!(o, Caller::Thread(_))))
            {
                return None;
            }
            let by = others.into_iter().find(|o| *o != caller || *o == Caller::Outside);
            by.map(|by| (u, by))
        })?;
        let taken = other.access.held.iter().find(|h| lock_key(&self.flow, h.lock).as_ref() == Some(lock));
        let end = |u: &Use<'_>, caller, way, lock| {
            let SeenAccess { pc, write, size, .. } = *u.access;
            RunEnd { pc, write, size, caller: Some(caller), way, lock }
        };
        Some(Suspicion {
            bare: end(bare, caller, way, None),
            guarded: end(other, by, Vec::new(), taken.map(|h| h.pc)),
            place: place.clone(),
            lock: lock.clone(),
            holders: always.len(),
        })
    }
}
