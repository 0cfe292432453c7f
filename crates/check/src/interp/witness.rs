//! What a run has assumed about its unknowns.
//!
//! A path is taken only if some inputs take it. So every unknown has, besides its identity, a value
//! that agrees with every branch decided so far: the *witness*. A *root* is an unknown that comes
//! from outside. Everything computed from roots is a [`Term`], which remembers its operation and is
//! evaluated like an ordinary expression. To decide a branch, the run wants a side and looks for
//! values of the roots in its condition that take that side and keep every earlier assumption. If
//! it finds none, the branch goes where the current values go. So a contradiction is never entered,
//! whatever the arithmetic (`i > 3` and later `i > 5`, `switch (k)` and `k == 2`, masks, casts,
//! minima, remainders). The search may miss a side that could have been taken.
//!
//! The search ([`search`]) asks which values of a root would give the condition the wanted outcome,
//! by running the operations backwards from the constants they are compared with.
//!
//! Bounds: a term with too many roots or too great a height becomes a root whose value is what it
//! evaluates to, and its own roots keep their values from then on (they are *frozen*). A root with
//! very many assumptions is frozen too.

mod search;

use rustc_hash::FxHashMap;

use super::value::{self, is_unknown, mix, number, unknown};
use crate::ir::{Bin, Scalar, Un};

/// The maximum number of roots of one term.
const MOST_ROOTS: usize = 4;
/// The maximum number of operations between a term and a root.
const GREATEST_HEIGHT: u8 = 24;
/// The maximum number of terms in one run. Later results are unknowns of their own.
const MOST_TERMS: usize = 1 << 16;
/// The maximum number of assumptions about one root.
const MOST_ASSUMED: usize = 100;
/// The use count of a decision that stands for the whole run.
const SETTLED: u16 = u16::MAX;
/// After this many uses, a decision changes. Otherwise a loop that waits for an unknown to change
/// would never end.
const PATIENCE: u16 = 100;

/// How a term was computed. Operands are values, known or unknown.
#[derive(Debug, Clone, Copy)]
enum Made {
    Bin(Bin, Scalar, u64, u64),
    Un(Un, Scalar, u64),
    Conv(Scalar, Scalar, u64),
    /// `.0 + .1 * .2`
    Index(u64, u64, u64),
}

/// The roots that a term depends on.
#[derive(Debug, Clone, Copy, Default)]
struct Roots {
    len: u8,
    of: [u32; MOST_ROOTS],
}

impl Roots {
    fn one(root: u32) -> Self {
        Self { len: 1, of: [root, 0, 0, 0] }
    }

    fn as_slice(&self) -> &[u32] {
        &self.of[..usize::from(self.len)]
    }

    /// The union, unless it has too many roots.
    fn union(mut self, other: Self) -> Option<Self> {
        for root in other.as_slice() {
            if !self.as_slice().contains(root) {
                *self.of.get_mut(usize::from(self.len))? = *root;
                self.len += 1;
            }
        }
        Some(self)
    }
}

#[derive(Debug, Clone, Copy)]
struct Term {
    made: Made,
    height: u8,
    roots: Roots,
    /// Its value as of `version`.
    value: u64,
    version: u32,
}

#[derive(Debug, Clone)]
struct Root {
    value: u64,
    /// Its value no longer changes.
    frozen: bool,
    /// Terms that depend on it, and the truth value that each must keep.
    assumed: Vec<(u32, bool)>,
}

impl Root {
    fn new(root: u32) -> Self {
        // Not null, and small, so that a loop up to it is short.
        Self { value: 1 + u64::from(root >> 1) % 7, frozen: false, assumed: Vec::new() }
    }
}

/// Terms, roots and assumptions of one run.
#[derive(Debug, Default)]
pub struct Witness {
    terms: FxHashMap<u32, Term>,
    roots: FxHashMap<u32, Root>,
    /// Decided conditions, and how often each was asked since.
    decided: FxHashMap<u32, u16>,
    /// Changes whenever the value of a root does.
    version: u32,
}

/// What is known about a condition before it is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConditionStatus {
    /// It was decided before.
    Decided(bool),
    /// It was asked too often: the unknown behind it must change.
    Overdue(bool),
    Open,
}

impl Witness {
    pub fn clear(&mut self) {
        self.terms.clear();
        self.roots.clear();
        self.decided.clear();
        self.version = 0;
    }

    /// Settles, from the start on, that an unknown pointer is not null.
    pub fn settle(&mut self, number: u32) {
        self.decided.insert(number, SETTLED);
    }

    /// An operation with an unknown operand.
    pub fn bin(&mut self, op: Bin, ty: Scalar, a: u64, b: u64) -> u64 {
        let same = a == b && !ty.is_float();
        match op {
            Bin::Eq | Bin::Ne if same => return u64::from(op == Bin::Eq),
            Bin::Le | Bin::Ge if same => return 1,
            Bin::Lt | Bin::Gt | Bin::Sub | Bin::Xor if same => return 0,
            _ if ty.is_float() => {}
            Bin::And | Bin::Mul if a == 0 || b == 0 => return 0,
            Bin::Add | Bin::Or | Bin::Xor if a == 0 => return b,
            Bin::Add | Bin::Or | Bin::Xor | Bin::Sub | Bin::Shl | Bin::Shr if b == 0 => return a,
            // `i - 1` is `i + -1`, so that `i + 1 - 1` is `i` again.
            Bin::Sub if !is_unknown(b) => return self.bin(Bin::Add, ty, a, ty.wrap(b.wrapping_neg())),
            Bin::Add if is_unknown(b) && !is_unknown(a) => return self.bin(Bin::Add, ty, b, a),
            Bin::Add if !is_unknown(b) => {
                if let Some(Made::Bin(Bin::Add, inner, x, c)) = self.made(a)
                    && inner == ty
                    && !is_unknown(c)
                {
                    return match ty.wrap(b.wrapping_add(c)) {
                        0 => x,
                        sum => self.make(Made::Bin(Bin::Add, ty, x, sum)),
                    };
                }
            }
            _ => {}
        }
        self.make(Made::Bin(op, ty, a, b))
    }

    pub fn un(&mut self, op: Un, ty: Scalar, a: u64) -> u64 {
        self.make(Made::Un(op, ty, a))
    }

    /// Converts an unknown. A conversion that changes no bit keeps the unknown as it is.
    pub fn conv(&mut self, from: Scalar, to: Scalar, a: u64) -> u64 {
        let same = from.size() == to.size() && from.is_float() == to.is_float();
        if same { a } else { self.make(Made::Conv(from, to, a)) }
    }

    /// The address of an element, if the base or the index is unknown.
    pub fn index(&mut self, a: u64, i: u64, n: u64) -> u64 {
        if is_unknown(i) || !is_unknown(a) {
            return self.make(Made::Index(a, i, n));
        }
        let mut bytes = i.wrapping_mul(n);
        let mut base = a;
        if let Some(Made::Index(inner, offset, 1)) = self.made(a)
            && !is_unknown(offset)
        {
            bytes = bytes.wrapping_add(offset);
            base = inner;
        }
        if bytes == 0 { base } else { self.make(Made::Index(base, bytes, 1)) }
    }

    /// The unknown pointer that an unknown address was computed from.
    pub fn base_of(&self, address: u64) -> u64 {
        let mut base = address;
        while let Some(Made::Index(inner, ..)) = self.made(base) {
            base = inner;
        }
        base
    }

    /// Whether it is the address of an unknown element of a known object.
    pub fn is_in_object(&self, name: u32) -> bool {
        matches!(self.made(unknown(name)), Some(Made::Index(base, ..)) if base != 0 && !is_unknown(base))
    }

    fn made(&self, v: u64) -> Option<Made> {
        if is_unknown(v) { self.terms.get(&number(v)).map(|t| t.made) } else { None }
    }

    fn make(&mut self, made: Made) -> u64 {
        let name = name_of(made);
        if self.terms.contains_key(&name) || self.terms.len() >= MOST_TERMS {
            return unknown(name);
        }
        let (a, b) = operands(made);
        let (x, y) = (self.roots_of(a), self.roots_of(b));
        let height = 1 + self.height(a).max(self.height(b));
        match x.union(y).filter(|_| height <= GREATEST_HEIGHT) {
            Some(roots) => {
                let term = Term { made, height, roots, value: 0, version: self.version.wrapping_sub(1) };
                self.terms.insert(name, term);
            }
            None => self.make_root(name, made, x, y),
        }
        unknown(name)
    }

    /// Turns a term that is too large into a root, and freezes the roots it depends on.
    fn make_root(&mut self, name: u32, made: Made, x: Roots, y: Roots) {
        if self.roots.contains_key(&name) {
            return;
        }
        let value = self.evaluate(made);
        for root in x.as_slice().iter().chain(y.as_slice()) {
            self.root(*root).frozen = true;
        }
        self.roots.insert(name, Root { value, frozen: true, assumed: Vec::new() });
    }

    fn height(&self, v: u64) -> u8 {
        if is_unknown(v) { self.terms.get(&number(v)).map_or(0, |t| t.height) } else { 0 }
    }

    fn roots_of(&self, v: u64) -> Roots {
        if !is_unknown(v) {
            return Roots::default();
        }
        self.terms.get(&number(v)).map_or_else(|| Roots::one(number(v)), |t| t.roots)
    }

    fn root(&mut self, root: u32) -> &mut Root {
        self.roots.entry(root).or_insert_with(|| Root::new(root))
    }

    /// The value of a known or unknown operand.
    fn operand(&mut self, v: u64) -> u64 {
        if is_unknown(v) { self.value_of(number(v)) } else { v }
    }

    /// The current value of an unknown. A later branch may still change it.
    pub fn value_of(&mut self, name: u32) -> u64 {
        let Some(term) = self.terms.get(&name).copied() else {
            return self.roots.get(&name).map_or_else(|| Root::new(name).value, |r| r.value);
        };
        if term.version == self.version {
            return term.value;
        }
        let value = self.evaluate(term.made);
        let version = self.version;
        if let Some(t) = self.terms.get_mut(&name) {
            (t.value, t.version) = (value, version);
        }
        value
    }

    fn evaluate(&mut self, made: Made) -> u64 {
        match made {
            Made::Bin(op, ty, a, b) => {
                let (a, b) = (fit(ty, self.operand(a)), fit(ty, self.operand(b)));
                match op {
                    // Such a program ends, or its behaviour is undefined.
                    Bin::Div | Bin::Rem if b == 0 && !ty.is_float() => 0,
                    Bin::Shl | Bin::Shr if b >= 64 => 0,
                    _ => value::known_bin(op, ty, a, b),
                }
            }
            Made::Un(op, ty, a) => {
                let a = fit(ty, self.operand(a));
                value::known_un(op, ty, a)
            }
            Made::Conv(from, to, a) => {
                let a = fit(from, self.operand(a));
                value::known_conv(from, to, a)
            }
            Made::Index(a, i, n) => {
                let (a, i) = (self.operand(a), self.operand(i));
                a.wrapping_add(i.wrapping_mul(n))
            }
        }
    }

    /// The unknowns from outside that a value depends on.
    pub fn roots(&self, v: u64) -> Vec<u32> {
        self.roots_of(v).as_slice().to_vec()
    }

    /// A value with other values in place of its roots. `None` if none is replaced, or if that is
    /// too much work.
    pub fn substitute(&mut self, v: u64, of: &dyn Fn(u32) -> Option<u64>) -> Option<u64> {
        /// The maximum number of operations that are done again.
        const MOST: u32 = 200;
        if !self.roots_of(v).as_slice().iter().any(|root| of(*root).is_some()) {
            return None;
        }
        self.substitute_within(v, of, &mut { MOST })
    }

    fn substitute_within(&mut self, v: u64, of: &dyn Fn(u32) -> Option<u64>, left: &mut u32) -> Option<u64> {
        *left = left.checked_sub(1)?;
        let Some(made) = self.made(v) else {
            // A former value may have one itself.
            return match if is_unknown(v) { of(number(v)) } else { None } {
                Some(former) => self.substitute_within(former, of, left),
                None => Some(v),
            };
        };
        let mut operand = |w: &mut Self, v: u64| w.substitute_within(v, of, left);
        Some(match made {
            Made::Bin(op, ty, a, b) => {
                let (a, b) = (operand(self, a)?, operand(self, b)?);
                let known = !is_unknown(a) && !is_unknown(b);
                if known { value::known_bin(op, ty, fit(ty, a), fit(ty, b)) } else { self.bin(op, ty, a, b) }
            }
            Made::Un(op, ty, a) => {
                let a = operand(self, a)?;
                if is_unknown(a) { self.un(op, ty, a) } else { value::known_un(op, ty, fit(ty, a)) }
            }
            Made::Conv(from, to, a) => {
                let a = operand(self, a)?;
                if is_unknown(a) { self.conv(from, to, a) } else { value::known_conv(from, to, fit(from, a)) }
            }
            Made::Index(a, i, n) => {
                let (a, i) = (operand(self, a)?, operand(self, i)?);
                let known = !is_unknown(a) && !is_unknown(i);
                if known { a.wrapping_add(i.wrapping_mul(n)) } else { self.index(a, i, n) }
            }
        })
    }

    pub fn truth(&mut self, name: u32) -> bool {
        self.value_of(name) != 0
    }

    /// A condition without its negations, and whether it was negated.
    pub fn strip(&self, condition: u64) -> (u32, bool) {
        let (mut v, mut negated) = (condition, false);
        while let Some(made) = self.made(v) {
            v = match made {
                Made::Un(Un::IsZero, ty, a) if !ty.is_float() => {
                    negated = !negated;
                    a
                }
                Made::Un(Un::Truth, ty, a) if !ty.is_float() => a,
                Made::Bin(Bin::Eq, ty, a, 0) if !ty.is_float() => {
                    negated = !negated;
                    a
                }
                Made::Bin(Bin::Ne, ty, a, 0) if !ty.is_float() => a,
                // An object and its parts are null together.
                Made::Index(a, ..) if is_unknown(a) => a,
                _ => break,
            };
        }
        (number(v), negated)
    }

    /// What was decided about a condition. Each call counts as a use.
    pub fn standing(&mut self, name: u32) -> ConditionStatus {
        let truth = self.truth(name);
        match self.decided.get_mut(&name) {
            None => ConditionStatus::Open,
            Some(&mut SETTLED) => ConditionStatus::Decided(truth),
            Some(uses) if *uses < PATIENCE => {
                *uses += 1;
                ConditionStatus::Decided(truth)
            }
            Some(_) => ConditionStatus::Overdue(truth),
        }
    }

    /// Assumes that a condition is true or false. Returns the truth value it must have.
    pub fn assume(&mut self, name: u32, wanted: bool) -> bool {
        let truth = if self.truth(name) == wanted || self.search(name, wanted) { wanted } else { !wanted };
        for root in self.roots_of(unknown(name)).as_slice() {
            let root = self.root(*root);
            if !root.assumed.contains(&(name, truth)) {
                root.assumed.push((name, truth));
                root.frozen |= root.assumed.len() > MOST_ASSUMED;
            }
        }
        self.decided.insert(name, 0);
        truth
    }

    /// Whether a branch has assumed something of an unknown from outside.
    pub fn has_assumed(&self, name: u32) -> bool {
        self.roots.get(&name).is_some_and(|root| !root.assumed.is_empty())
    }

    /// Whether a condition was decided.
    pub fn is_decided(&self, name: u32) -> bool {
        self.decided.contains_key(&name)
    }

    /// Forgets all assumptions about the unknowns behind a condition, because they have changed.
    pub fn forget(&mut self, name: u32) {
        for root in self.roots_of(unknown(name)).as_slice() {
            let old = std::mem::take(&mut self.root(*root).assumed);
            self.root(*root).frozen = false;
            for (term, _) in old {
                self.decided.remove(&term);
                for other in self.roots_of(unknown(term)).as_slice() {
                    self.root(*other).assumed.retain(|a| a.0 != term);
                }
            }
        }
    }
}

/// A value as an operand of this type.
fn fit(ty: Scalar, v: u64) -> u64 {
    if ty == Scalar::F64 { v } else { ty.wrap(v) }
}

fn operands(made: Made) -> (u64, u64) {
    match made {
        Made::Bin(_, _, a, b) | Made::Index(a, b, _) => (a, b),
        Made::Un(_, _, a) | Made::Conv(_, _, a) => (a, 0),
    }
}

/// The number of a term: the same expression over the same unknowns is the same unknown.
fn name_of(made: Made) -> u32 {
    match made {
        Made::Bin(op, ty, a, b) => mix(1000 + ((op as u64) << 8) + ty as u64, a, b),
        Made::Un(op, ty, a) => mix(200 + ((op as u64) << 4) + ty as u64, a, 0),
        Made::Conv(from, to, a) => mix(600 + ((from as u64) << 4) + to as u64, a, 1),
        Made::Index(a, i, n) => mix(306, a, i.wrapping_mul(31).wrapping_add(n)),
    }
}

#[cfg(test)]
mod tests;
