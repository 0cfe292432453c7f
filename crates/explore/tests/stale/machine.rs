//! Small programs on the model, in every interleaving and with every choice of values.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard};

use raddle_explore::stale::{AtomicObject, AtomicOrder, Model};

/// One instruction. Locations and locks are small numbers; loads and updates give their thread's
/// next register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Do {
    Store(usize, u8, AtomicOrder),
    Load(usize, AtomicOrder),
    /// Adds; gives the old value.
    Add(usize, u8, AtomicOrder),
    Fence(AtomicOrder),
    /// A lock is taken, and given back.
    Take(u64),
    Give(u64),
}

/// One step of an execution: who, what, and how far back a load read.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    pub thread: usize,
    pub what: Do,
    pub back: usize,
}

/// Too large for a test's stack.
static MODEL: Mutex<Model> = Mutex::new(Model::EMPTY);

pub struct Machine {
    pub model: MutexGuard<'static, Model>,
    pub memory: [u8; 4],
    pub registers: Vec<Vec<u8>>,
}

impl Machine {
    pub fn new(threads: usize) -> Machine {
        let mut model = MODEL.lock().unwrap_or_else(|e| e.into_inner());
        model.reset();
        Machine { model, memory: [0; 4], registers: vec![Vec::new(); threads] }
    }

    pub fn place(&self, location: usize) -> AtomicObject {
        AtomicObject { address: 0x1000 + 8 * location as u64, size: 4, value: self.memory[location].into() }
    }

    pub fn candidates(&mut self, thread: usize, what: Do) -> usize {
        match what {
            Do::Load(at, order) => {
                let place = self.place(at);
                self.model.candidates(thread, place, order)
            }
            _ => 1,
        }
    }

    pub fn step(&mut self, Made { thread, what, back }: Made) {
        match what {
            Do::Store(at, value, order) => {
                let place = self.place(at);
                self.model.store(thread, place, order, value.into());
                self.memory[at] = value;
            }
            Do::Load(at, order) => {
                let place = self.place(at);
                let value = self.model.load(thread, place, order, back);
                self.registers[thread].push(value as u8);
            }
            Do::Add(at, value, order) => {
                let (place, new) = (self.place(at), self.memory[at] + value);
                self.model.rmw(thread, place, order, new.into());
                self.registers[thread].push(self.memory[at]);
                self.memory[at] = new;
            }
            Do::Fence(order) => self.model.fence(thread, order),
            Do::Take(object) => self.model.acquire(thread, object),
            Do::Give(object) => self.model.release(thread, object),
        }
    }
}

/// The registers of all threads, one after the other, then memory: all that can come out.
pub fn outcomes(program: &[&[Do]], show_memory: usize) -> BTreeSet<Vec<u8>> {
    let mut found = BTreeSet::new();
    let mut path = Vec::new();
    explore(program, show_memory, &mut path, &mut found);
    found
}

fn explore(program: &[&[Do]], show: usize, path: &mut Vec<Made>, found: &mut BTreeSet<Vec<u8>>) {
    let mut over = true;
    for (thread, code) in program.iter().enumerate() {
        let done = path.iter().filter(|m| m.thread == thread).count();
        let Some(what) = code.get(done).copied() else { continue };
        over = false;
        let n = replay(program.len(), path).candidates(thread, what);
        for back in 0..n {
            path.push(Made { thread, what, back });
            explore(program, show, path, found);
            path.pop();
        }
    }
    if over {
        let end = replay(program.len(), path);
        let registers = end.registers.iter().flatten().copied();
        found.insert(registers.chain(end.memory[..show].iter().copied()).collect());
    }
}

pub fn replay(threads: usize, path: &[Made]) -> Machine {
    let mut machine = Machine::new(threads);
    path.iter().for_each(|made| machine.step(*made));
    machine
}
