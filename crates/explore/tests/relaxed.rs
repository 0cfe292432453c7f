//! The store-buffer monitor against brute force: all interleavings, and all executions with store
//! buffers, of small programs.

use std::collections::{BTreeSet, HashSet};

use proptest::prelude::*;
use raddle_explore::relaxed::overtakings;
use raddle_explore::{LogicalThread, Op, OpKind, Outcome, Step, TraceView};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Access {
    Load(usize),
    Store(usize),
    Fence,
}

use Access::*;

const CELLS: usize = 3;

type Program = Vec<Vec<Access>>;

/// The state of a machine with a store buffer a thread. Every store has a value of its own, so what
/// the loads read tells which store they read from.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct State {
    at: Vec<usize>,
    buffers: Vec<Vec<(usize, u32)>>,
    /// All that was ever stored, in order.
    memory: [Vec<u32>; CELLS],
    read: Vec<Vec<u32>>,
}

/// What the loads read, and in which order stores reached memory.
type Result = (Vec<Vec<u32>>, [Vec<u32>; CELLS]);

impl State {
    fn new(program: &Program) -> State {
        let n = program.len();
        State { at: vec![0; n], buffers: vec![vec![]; n], memory: Default::default(), read: vec![vec![]; n] }
    }

    /// The next access of a thread. Without `buffered` a store goes straight to memory.
    fn access(&mut self, program: &Program, t: usize, buffered: bool) -> bool {
        let Some(access) = program[t].get(self.at[t]) else { return false };
        match *access {
            Fence if !self.buffers[t].is_empty() => return false,
            Fence => {}
            Load(x) => {
                let own = self.buffers[t].iter().rev().find(|(y, _)| *y == x).map(|(_, v)| *v);
                let last = self.memory[x].last().copied().unwrap_or(0);
                self.read[t].push(own.unwrap_or(last));
            }
            Store(x) => {
                let value = (10 * (t + 1) + self.at[t]) as u32;
                if buffered {
                    self.buffers[t].push((x, value));
                } else {
                    self.memory[x].push(value);
                }
            }
        }
        self.at[t] += 1;
        true
    }

    fn flush(&mut self, t: usize) -> bool {
        if self.buffers[t].is_empty() {
            return false;
        }
        let (x, value) = self.buffers[t].remove(0);
        self.memory[x].push(value);
        true
    }

    fn result(self) -> Result {
        (self.read, self.memory)
    }
}

/// Everything that can come out with store buffers.
fn with_buffers(program: &Program) -> BTreeSet<Result> {
    let mut results = BTreeSet::new();
    let mut seen = HashSet::new();
    let mut todo = vec![State::new(program)];
    while let Some(state) = todo.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        let before = todo.len();
        for t in 0..program.len() {
            let (mut accessed, mut flushed) = (state.clone(), state.clone());
            if accessed.access(program, t, true) {
                todo.push(accessed);
            }
            if flushed.flush(t) {
                todo.push(flushed);
            }
        }
        if todo.len() == before {
            results.insert(state.result());
        }
    }
    results
}

/// Everything that can come out by interleaving, and whether the monitor finds something in any of
/// them.
fn interleaved(program: &Program) -> (BTreeSet<Result>, bool) {
    fn go(program: &Program, state: &State, steps: &mut Vec<Step>, out: &mut (BTreeSet<Result>, bool)) {
        let mut ended = true;
        for t in 0..program.len() {
            let mut next = state.clone();
            if next.access(program, t, false) {
                ended = false;
                let op = match program[t][state.at[t]] {
                    Load(x) => Op::new(OpKind::AtomicLoad, 8 * (x as u64 + 1), 1),
                    Store(x) => Op::new(OpKind::AtomicStore, 8 * (x as u64 + 1), 1),
                    Fence => Op::new(OpKind::Fence, 0, 1),
                };
                steps.push(Step::bare(LogicalThread(t as u16), op));
                go(program, &next, steps, out);
                steps.pop();
            }
        }
        if ended {
            let trace = TraceView::new(steps, &[], Outcome::Passed, None);
            out.1 |= !overtakings(trace).is_empty();
            out.0.insert(state.clone().result());
        }
    }
    let mut out = (BTreeSet::new(), false);
    go(program, &State::new(program), &mut Vec::new(), &mut out);
    out
}

#[test]
fn store_buffering_by_brute_force() {
    let program = vec![vec![Store(0), Load(1)], vec![Store(1), Load(0)]];
    let (sc, found) = interleaved(&program);
    assert!(found && with_buffers(&program).len() == sc.len() + 1);
    let fenced = vec![vec![Store(0), Fence, Load(1)], vec![Store(1), Fence, Load(0)]];
    let (sc, found) = interleaved(&fenced);
    assert!(!found && with_buffers(&fenced) == sc);
}

fn program(threads: usize, longest: usize) -> impl Strategy<Value = Program> {
    let access = prop_oneof![
        4 => (0..CELLS).prop_map(Load),
        4 => (0..CELLS).prop_map(Store),
        1 => Just(Fence)
    ];
    proptest::collection::vec(proptest::collection::vec(access, 1..=longest), threads)
}

fn config() -> ProptestConfig {
    let rng_seed = proptest::test_runner::RngSeed::Fixed(2008);
    ProptestConfig { cases: 1500, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    /// If store buffers can bring about what no interleaving can, some interleaving shows it.
    #[test]
    fn nothing_is_missed_two_threads(program in program(2, 4)) {
        let (sc, found) = interleaved(&program);
        let tso = with_buffers(&program);
        prop_assert!(tso.is_superset(&sc));
        prop_assert!(found || tso == sc);
    }

    #[test]
    fn nothing_is_missed_three_threads(program in program(3, 2)) {
        let (sc, found) = interleaved(&program);
        let tso = with_buffers(&program);
        prop_assert!(tso.is_superset(&sc));
        prop_assert!(found || tso == sc);
    }

    /// And where the monitor finds something, store buffers do make a difference.
    #[test]
    fn nothing_is_made_up(program in program(2, 3)) {
        let (sc, found) = interleaved(&program);
        prop_assert!(!found || with_buffers(&program) != sc);
    }
}

/// Each of two threads stores its own and loads the other's, as these say; one after the other.
fn store_buffering(store: impl Fn(Op) -> Op, load: impl Fn(Op) -> Op) -> bool {
    let at = |kind, address: u64| Op::new(kind, address & !7, 1).with_bytes(address, 4);
    let side = |t: u16, own, other| {
        let ops = [store(at(OpKind::AtomicStore, own)), load(at(OpKind::AtomicLoad, other))];
        ops.map(|op| Step::bare(LogicalThread(t), op))
    };
    let steps: Vec<Step> = [side(1, 0x1000, 0x1004), side(2, 0x1004, 0x1000)].concat();
    let trace = TraceView::new(&steps, &[], Outcome::Passed, None);
    !overtakings(trace).is_empty()
}

#[test]
fn seq_cst_stores_and_fences_between_steps_empty_the_buffer() {
    let plain = |op: Op| op;
    assert!(store_buffering(plain, plain), "two variables of one granule");
    assert!(!store_buffering(|op| op.with_drain(true), plain));
    assert!(!store_buffering(plain, |op| op.with_fence(true)));
}
