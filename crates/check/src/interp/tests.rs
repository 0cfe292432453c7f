//! The machine on hand-made code: nothing here knows a language.

use super::*;
use crate::ir::build::Builder;
use crate::ir::{
    AccessClass, AtomicInstr, Global, GlobalShape, Instr, Linkage, MemoryOrdering, Pos, Scalar, SymbolRef,
    SyncOp, Unit, link,
};

const X: u32 = 0;
const LOCK: u32 = 1;
const WORKER: u32 = 2;

/// A program of two functions and two globals: `main` starts `worker`, runs its own part, and
/// joins.
fn program(worker: &[Instr], main: &[Instr]) -> Program {
    let function = |name: &str, code: &[Instr], params| {
        let mut b = Builder::default();
        b.locals = 2;
        for (line, i) in code.iter().enumerate() {
            b.pos = Pos { file: 0, line: line as u32 + 1, col: 1 };
            b.emit(*i);
        }
        let mut f = b.finish(name.into(), Linkage::External, Pos { file: 0, line: 1, col: 1 });
        f.params = params;
        f
    };
    let mut whole = vec![Instr::FuncAddr(WORKER), Instr::Int(0), Instr::Sync(SyncOp::Start), Instr::Set(0)];
    whole.extend_from_slice(main);
    whole.extend([Instr::Get(0), Instr::Sync(SyncOp::Join), Instr::Return]);
    let global = |name: &str| Global {
        name: name.into(),
        linkage: Linkage::External,
        pos: Pos::default(),
        size: 8,
        init: None,
        relocs: Vec::new(),
        thread_local: false,
        constant: false,
        declared_only: false,
        shape: GlobalShape::default(),
    };
    let unit = Unit {
        functions: vec![function("main", &whole, 0), function("worker", worker, 1)],
        globals: vec![global("x"), global("lock")],
        symbols: vec![SymbolRef::OwnGlobal(0), SymbolRef::OwnGlobal(1), SymbolRef::OwnFunction(1)],
        ..Unit::default()
    };
    link::link(&[&unit])
}

fn kinds(p: &Program, seeds: u64) -> Vec<Kind> {
    let main = p.functions.iter().position(|f| &*f.name == "main").expect("main") as u32;
    let mut m = Machine::new(p, Bounds { steps: 10_000, ..Bounds::default() }, None);
    for seed in 0..seeds {
        m.run(EntryStart { function: main, in_the_middle: false }, seed);
    }
    let mut out: Vec<Kind> = m.knowledge.findings.iter().map(|f| f.kind).collect();
    out.sort();
    out.dedup();
    out
}

fn write() -> Vec<Instr> {
    vec![Instr::GlobalAddr(X), Instr::Int(1), Instr::Store(Scalar::I32, AccessClass::Plain)]
}

fn sync(op: SyncOp) -> Vec<Instr> {
    vec![Instr::GlobalAddr(LOCK), Instr::Sync(op), Instr::Drop]
}

fn locked(inner: Vec<Instr>) -> Vec<Instr> {
    [sync(SyncOp::Lock), inner, sync(SyncOp::Unlock)].concat()
}

fn ending(mut code: Vec<Instr>) -> Vec<Instr> {
    code.extend([Instr::Int(0), Instr::Return]);
    code
}

#[test]
fn two_writes_race_unless_a_lock_orders_them() {
    assert_eq!(kinds(&program(&ending(write()), &write()), 8), [Kind::DataRace]);
    assert_eq!(kinds(&program(&ending(locked(write())), &locked(write())), 20), []);
    assert_eq!(kinds(&program(&ending(locked(write())), &write()), 8), [Kind::DataRace]);
}

#[test]
fn a_join_orders_what_comes_after() {
    let p = program(&ending(write()), &[Instr::Get(0), Instr::Sync(SyncOp::Join), Instr::Drop, Instr::Nop]);
    assert_eq!(kinds(&p, 8), []);
}

#[test]
fn lock_misuse_is_reported_by_kind() {
    assert_eq!(kinds(&program(&ending(sync(SyncOp::Lock)), &[]), 4), [Kind::LockLeak]);
    assert_eq!(kinds(&program(&ending(sync(SyncOp::Unlock)), &[]), 4), [Kind::UnlockNotHeld]);
    let twice = [sync(SyncOp::Lock), sync(SyncOp::Lock)].concat();
    assert_eq!(kinds(&program(&ending(twice), &[]), 4), [Kind::DoubleLock]);
    let reads =
        [sync(SyncOp::ReadLock), sync(SyncOp::ReadLock), sync(SyncOp::RwUnlock), sync(SyncOp::RwUnlock)]
            .concat();
    assert_eq!(kinds(&program(&ending(reads), &[]), 4), []);
    let upgrade = [sync(SyncOp::ReadLock), sync(SyncOp::WriteLock)].concat();
    assert_eq!(kinds(&program(&ending(upgrade), &[]), 4), [Kind::DoubleLock]);
}

#[test]
fn a_wait_that_nobody_ends_is_a_deadlock() {
    assert_eq!(
        kinds(&program(&ending(sync(SyncOp::BarrierWait)), &[]), 4),
        [],
        "a barrier nobody set up is unknown"
    );
    let set_up = [Instr::GlobalAddr(LOCK), Instr::Int(3), Instr::Sync(SyncOp::BarrierInit), Instr::Drop];
    let worker = ending([set_up.to_vec(), sync(SyncOp::BarrierWait)].concat());
    assert_eq!(kinds(&program(&worker, &[]), 4), [Kind::Deadlock]);
}

#[test]
fn an_unknown_that_decided_takes_the_certainty_of_a_stuck_run() {
    let set_up = [Instr::GlobalAddr(LOCK), Instr::Int(3), Instr::Sync(SyncOp::BarrierInit), Instr::Drop];
    let branch = [Instr::Unknown, Instr::Drop];
    let worker = ending([set_up.to_vec(), branch.to_vec(), sync(SyncOp::BarrierWait)].concat());
    let mut p = program(&worker, &[]);
    // The jump goes to the next instruction either way; it only matters that an unknown decided.
    let at = p.code.iter().position(|i| *i == Instr::Unknown).expect("the unknown") + 1;
    p.code[at] = Instr::JumpIf(at as u32 + 1);
    assert_eq!(kinds(&p, 4), []);
}

#[test]
fn atomics_order_by_their_memory_order() {
    let flag = |order| {
        [Instr::GlobalAddr(LOCK), Instr::Int(1), Instr::Atomic(AtomicInstr::Store, Scalar::I32, order)]
    };
    let read = |order| [Instr::GlobalAddr(LOCK), Instr::Atomic(AtomicInstr::Load, Scalar::I32, order)];
    for (store, load, races) in [
        (MemoryOrdering::Release, MemoryOrdering::Acquire, false),
        (MemoryOrdering::SeqCst, MemoryOrdering::SeqCst, false),
        (MemoryOrdering::Relaxed, MemoryOrdering::Acquire, true),
        (MemoryOrdering::Release, MemoryOrdering::Relaxed, true),
    ] {
        let worker = ending([write(), flag(store).to_vec()].concat());
        // Writes only if the flag was seen: otherwise jumps over the write. Targets are set below.
        let main = [read(load).to_vec(), vec![Instr::JumpIfNot(0)], write()].concat();
        let found = kinds(&program_with_skip(&worker, &main), 60);
        assert_eq!(found.contains(&Kind::DataRace), races, "{store:?} {load:?}");
    }
}

/// The jump in `main` skips the three instructions after it.
fn program_with_skip(worker: &[Instr], main: &[Instr]) -> Program {
    let mut main = main.to_vec();
    let at = main.iter().position(|i| matches!(i, Instr::JumpIfNot(_))).expect("a jump");
    main[at] = Instr::Nop;
    let mut p = program(worker, &[&main[..at], &[Instr::Drop], &main[at + 1..]].concat());
    let at = p.code.iter().position(|i| *i == Instr::Drop).expect("its place");
    p.code[at] = Instr::JumpIfNot(at as u32 + 4);
    p
}

#[test]
fn an_unknown_address_gives_no_race() {
    let nowhere = vec![Instr::Unknown, Instr::Int(1), Instr::Store(Scalar::I32, AccessClass::Plain)];
    assert_eq!(kinds(&program(&ending(nowhere.clone()), &nowhere), 8), []);
}

#[test]
fn a_lock_at_an_unknown_address_still_guards() {
    // The same unknown on both sides: the value at `lock` was never set, and both read it.
    let lock = |op| vec![Instr::GlobalAddr(LOCK), Instr::UnknownField(7), Instr::Sync(op), Instr::Drop];
    let guarded = [lock(SyncOp::Lock), write(), lock(SyncOp::Unlock)].concat();
    assert_eq!(kinds(&program(&ending(guarded.clone()), &guarded), 20), []);
}

#[test]
fn both_sides_of_an_unknown_branch_are_covered() {
    let p = program(&ending(vec![]), &[Instr::Unknown, Instr::Drop]);
    let mut m = Machine::new(&p, Bounds::default(), None);
    m.prepare(EntryStart { function: 0, in_the_middle: false }, 1);
    let mut sides = [0, 0];
    for i in 0..40 {
        let u = value::unknown(value::mix(9, i, 0));
        sides[usize::from(m.decide(0, u, 3))] += 1;
    }
    assert!(sides[0] > 10 && sides[1] > 10, "{sides:?}");
    let u = value::unknown(100);
    let first = m.decide(0, u, 3);
    assert!((0..50).all(|_| m.decide(0, u, 3) == first), "decided once");
    let not = m.un(crate::ir::Un::IsZero, Scalar::I32, u);
    assert_eq!(m.decide(0, not, 3), !first, "and its negation with it");
}

#[test]
fn a_run_ends_within_its_bounds() {
    let mut p = program(&ending(vec![]), &[Instr::Nop]);
    let at = p.code.iter().position(|i| *i == Instr::Nop).expect("its place");
    p.code[at] = Instr::Jump(at as u32);
    let mut m = Machine::new(&p, Bounds { steps: 1000, ..Bounds::default() }, None);
    let r = m.run(EntryStart { function: 0, in_the_middle: false }, 1);
    assert_eq!(r.end, RunEnd::Steps);
    assert!(r.steps <= 1000);
}
