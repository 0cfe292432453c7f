//! Happens-before fingerprints (section 4.4.2): the state that an execution has reached, as a
//! number.
//!
//! Two executions with the same order of dependent steps differ only in the order of independent
//! steps and reach the same state. So a partially ordered history identifies a state. The
//! fingerprint hashes that history as a *set*. Each step's hash combines its thread's previous
//! step, its operation, and the last write of each of its objects. The state's fingerprint is the
//! sum of the hashes of its steps. Updating it takes one addition per step, and it does not depend
//! on the order of independent steps. It does distinguish every order of dependent ones: writes by
//! their chain, and a read and a write by which write the read came after.
//!
//! A `Global` operation depends on every step before, and every step after depends on it: its hash
//! includes the sum, and goes into all later ones. So does a `Free`, which would otherwise have to
//! look up every object in its range. This is conservative: less is pruned.
//!
//! If threads race on memory at accesses that are no scheduling points, executions with the same
//! fingerprint may be in different states, and pruning may lose one. That is the paper's condition
//! too; it is why accesses found racy become points (section 3.5).
//!
//! Fingerprints have 64 bits. Of a hundred million states, two collide with probability 3 in
//! 10,000, and then the subtree of one state is lost.

use crate::op::{Class, OpKind};
use crate::step::Step;

/// Computes the fingerprint of one execution at a time; its tables are reused for the next.
#[derive(Debug, Default)]
pub struct Fingerprinter {
    state: u64,
    epoch: u64,
    chains: Vec<u64>,
    objects: Objects,
}

impl Fingerprinter {
    /// Ready for a first execution.
    pub fn new() -> Fingerprinter {
        Fingerprinter::default()
    }

    /// A new execution begins.
    pub fn begin(&mut self) {
        self.state = 0;
        self.epoch = 0;
        self.chains.clear();
        self.objects.clear();
    }

    /// The fingerprint of the state reached so far.
    #[inline]
    pub fn state(&self) -> u64 {
        self.state
    }

    /// The execution makes this step. Returns the new fingerprint.
    #[inline]
    pub fn step(&mut self, step: &Step) -> u64 {
        let (hash, class) = self.hash(step);
        let t = step.thread.index();
        if t >= self.chains.len() {
            self.chains.resize(t + 1, 0);
        }
        self.chains[t] = hash;
        match class {
            Class::Local | Class::Reads => {}
            Class::Writes => self.for_keys(step, |o| o.write = hash),
            Class::Global => self.epoch = hash,
        }
        self.state = self.state.wrapping_add(hash);
        self.state
    }

    /// The fingerprint that the state would have after this step.
    #[inline]
    pub fn peek(&self, step: &Step) -> u64 {
        self.state.wrapping_add(self.hash(step).0)
    }

    #[inline]
    fn hash(&self, step: &Step) -> (u64, Class) {
        let op = &step.op;
        let chain = self.chains.get(step.thread.index()).copied().unwrap_or(0);
        let what = u64::from(op.kind() as u8) << 32 | u64::from(step.value) << 16 | u64::from(step.thread.0);
        let mut hash = fold(chain ^ self.epoch.rotate_left(17), what);
        let class = if op.kind() == OpKind::Free { Class::Global } else { op.class() };
        match class {
            Class::Local => {}
            Class::Global => hash = fold(hash, self.state),
            Class::Reads | Class::Writes => {
                for key in op.keys() {
                    if key != 0 {
                        hash = fold(hash ^ key, self.objects.get(key));
                    }
                }
            }
        }
        (hash, class)
    }

    #[inline]
    fn for_keys(&mut self, step: &Step, mut change: impl FnMut(&mut Object)) {
        for key in step.op.keys() {
            if key != 0 {
                change(self.objects.entry(key));
            }
        }
    }
}

/// A 128-bit product, folded: one multiplication mixes two words well.
#[inline]
pub(crate) fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9e37_79b9_7f4a_7c15) * u128::from(b ^ 0xd6e8_feb8_6659_fd93);
    (product as u64) ^ (product >> 64) as u64 ^ a.rotate_left(29)
}

/// The last write to an object.
#[derive(Clone, Copy, Debug, Default)]
struct Object {
    key: u64,
    write: u64,
    age: u64,
}

/// Objects by key, with open addressing. `clear` only begins a new age, since it runs for every
/// execution.
#[derive(Debug, Default)]
struct Objects {
    slots: Vec<Object>,
    used: usize,
    age: u64,
}

impl Objects {
    fn clear(&mut self) {
        if self.slots.is_empty() {
            self.slots = vec![Object::default(); 64];
        }
        self.used = 0;
        self.age += 1;
    }

    #[inline]
    fn find(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        while self.slots[at].age == self.age && self.slots[at].key != key {
            at = (at + 1) & mask;
        }
        at
    }

    #[inline]
    fn get(&self, key: u64) -> u64 {
        if self.slots.is_empty() {
            return 0;
        }
        let o = &self.slots[self.find(key)];
        if o.age == self.age { o.write } else { 0 }
    }

    #[inline]
    fn entry(&mut self, key: u64) -> &mut Object {
        if (self.used + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let at = self.find(key);
        if self.slots[at].age != self.age {
            self.slots[at] = Object { key, age: self.age, ..Object::default() };
            self.used += 1;
        }
        &mut self.slots[at]
    }

    #[cold]
    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(64);
        let old = std::mem::replace(&mut self.slots, vec![Object::default(); size]);
        let age = self.age.max(1);
        self.age = age;
        for o in old.into_iter().filter(|o| o.age == age) {
            let at = self.find(o.key);
            self.slots[at] = o;
        }
    }
}
