//! Searches for values that take the wanted side of a branch.
//!
//! For each root of the condition, the operations between them are run backwards: which operand
//! would give this result? The answers need not be right, because each is tried, but they must be
//! few. If a value breaks an earlier assumption, changing another root of that assumption may
//! repair it, to a small depth.

use super::{Made, Roots, SETTLED, Witness};
use crate::interp::value::{is_unknown, number, unknown};
use crate::ir::{Bin, Scalar, Un};

/// The maximum number of values tried for one branch.
const MOST_TRIED: u32 = 160;
/// The maximum number of roots changed for one branch.
const DEPTH: usize = 3;
/// The maximum number of values that one backward step passes on.
const MOST_TARGETS: usize = 24;

/// What a branch needs, and what was changed for it so far.
struct Search {
    goal: (u32, bool),
    /// Changed roots with their earlier values.
    changed: Vec<(u32, u64)>,
    left: u32,
}

impl Witness {
    /// Changes roots so that `name` gets the wanted truth value and all assumptions hold. If that
    /// fails, changes nothing.
    pub(super) fn search(&mut self, name: u32, wanted: bool) -> bool {
        let mut search = Search { goal: (name, wanted), changed: Vec::new(), left: MOST_TRIED };
        self.repair(name, wanted, &mut search)
    }

    /// Gives a condition a truth value by changing one of its roots, and others if that requires
    /// it.
    fn repair(&mut self, name: u32, wanted: bool, search: &mut Search) -> bool {
        let roots = self.roots_of(unknown(name));
        for root in roots.as_slice() {
            if self.root(*root).frozen || search.changed.iter().any(|c| c.0 == *root) {
                continue;
            }
            let old = self.root(*root).value;
            let depth = search.changed.len();
            search.changed.push((*root, old));
            for candidate in self.candidates(name, wanted, *root) {
                if candidate == old || search.left == 0 {
                    continue;
                }
                search.left -= 1;
                self.set(*root, candidate);
                if self.truth(name) == wanted && self.settled(search) {
                    return true;
                }
                while search.changed.len() > depth + 1 {
                    if let Some((root, old)) = search.changed.pop() {
                        self.set(root, old);
                    }
                }
            }
            self.set(*root, old);
            search.changed.truncate(depth);
        }
        false
    }

    /// Whether all assumptions about the changed roots hold, if necessary after changing other
    /// roots.
    fn settled(&mut self, search: &mut Search) -> bool {
        match self.first_broken(search) {
            None => true,
            Some(_) if search.changed.len() >= DEPTH => false,
            Some((name, wanted)) => self.repair(name, wanted, search),
        }
    }

    fn first_broken(&mut self, search: &Search) -> Option<(u32, bool)> {
        if self.truth(search.goal.0) != search.goal.1 {
            return Some(search.goal);
        }
        for (root, _) in &search.changed {
            if self.decided.get(root) == Some(&SETTLED) && !self.truth(*root) {
                return Some((*root, true));
            }
            let mut i = 0;
            while let Some((name, wanted)) = self.roots.get(root).and_then(|r| r.assumed.get(i)).copied() {
                if self.truth(name) != wanted {
                    return Some((name, wanted));
                }
                i += 1;
            }
        }
        None
    }

    fn set(&mut self, root: u32, value: u64) {
        let slot = self.root(root);
        if slot.value != value {
            slot.value = value;
            self.version = self.version.wrapping_add(1);
        }
    }

    /// Values of a root that may give a condition the wanted truth value, the most likely first.
    fn candidates(&mut self, name: u32, wanted: bool, root: u32) -> Vec<u64> {
        /// The maximum number of assumptions about the root whose boundary values are used.
        const BORDERS: usize = 6;
        let mut out = self.backwards(name, truths(wanted, root), root);
        let assumed: Vec<(u32, bool)> = self.root(root).assumed.iter().rev().take(BORDERS).copied().collect();
        for (name, truth) in assumed {
            out.extend(self.backwards(name, truths(truth, root), root));
        }
        out.extend([0, 1, 2, u64::MAX, pointer(root)]);
        let mut seen = rustc_hash::FxHashSet::default();
        out.retain(|v| seen.insert(*v));
        out
    }

    /// Values of a root for which a term may have one of the wanted values.
    fn backwards(&mut self, name: u32, wanted: Vec<u64>, root: u32) -> Vec<u64> {
        let Some(term) = self.terms.get(&name).copied() else {
            return if name == root { wanted } else { Vec::new() };
        };
        let (a, b) = super::operands(term.made);
        let has =
            |w: &Self, v: u64| -> bool { is_unknown(v) && Roots::as_slice(&w.roots_of(v)).contains(&root) };
        let mut out = Vec::new();
        for (operand, is_left) in [(a, true), (b, false)] {
            if has(self, operand) {
                let targets = self.operand_targets(term.made, is_left, &wanted);
                out.extend(self.backwards(number(operand), targets, root));
            }
        }
        out.truncate(2 * MOST_TARGETS);
        out
    }

    /// The values that one operand needs for the result to be one of `wanted`, if the other does
    /// not change.
    fn operand_targets(&mut self, made: Made, is_left: bool, wanted: &[u64]) -> Vec<u64> {
        let (a, b) = super::operands(made);
        let (x, y) = (self.operand(a), self.operand(b));
        let (own, other) = if is_left { (x, y) } else { (y, x) };
        let mut out = Vec::new();
        match made {
            Made::Bin(op, ty, ..) if is_comparison(op) => around(ty, other, &mut out),
            Made::Bin(op, ty, ..) => {
                for t in wanted {
                    arithmetic_targets(op, ty, is_left, *t, own, other, &mut out);
                }
                out.iter_mut().for_each(|v| *v = if ty == Scalar::F64 { *v } else { ty.wrap(*v) });
            }
            Made::Un(Un::Neg, ..) => out.extend(wanted.iter().map(|t| t.wrapping_neg())),
            Made::Un(Un::Not, ..) => out.extend(wanted.iter().map(|t| !t)),
            Made::Un(_, ty, _) if ty.is_float() => out.extend([0, 1f64.to_bits()]),
            Made::Un(..) => out.extend([0, 1, 2]),
            Made::Conv(from, to, _) if from.is_float() != to.is_float() => {
                out.extend(wanted.iter().map(|t| crate::interp::value::known_conv(to, from, *t)));
            }
            Made::Conv(..) => out.extend(wanted.iter().copied()),
            Made::Index(_, _, n) => {
                for t in wanted {
                    out.push(if is_left {
                        t.wrapping_sub(other.wrapping_mul(n))
                    } else {
                        (t.wrapping_sub(other) as i64).wrapping_div(n.max(1) as i64) as u64
                    });
                }
            }
        }
        out.truncate(MOST_TARGETS);
        out
    }
}

fn is_comparison(op: Bin) -> bool {
    matches!(op, Bin::Eq | Bin::Ne | Bin::Lt | Bin::Le | Bin::Gt | Bin::Ge)
}

/// An address where raddle knows of nothing.
fn pointer(root: u32) -> u64 {
    0x5000_0000 + u64::from(root >> 1 & 0xFFFF) * 64
}

/// Values with a truth value.
fn truths(truth: bool, root: u32) -> Vec<u64> {
    if truth { vec![1, 2, u64::MAX, pointer(root)] } else { vec![0] }
}

/// The values at which a comparison with `other` changes its outcome.
fn around(ty: Scalar, other: u64, out: &mut Vec<u64>) {
    match ty {
        Scalar::F64 => {
            let v = f64::from_bits(other);
            out.extend([v, v + 1.0, v - 1.0, 0.0, v * 2.0].map(f64::to_bits));
        }
        Scalar::F32 => {
            let v = f32::from_bits(other as u32);
            out.extend([v, v + 1.0, v - 1.0, 0.0, v * 2.0].map(|v| u64::from(v.to_bits())));
        }
        _ => {
            // Not the maximum of a signed type: computations from it would overflow and mean
            // nothing.
            let large = if ty.is_signed() { 1u64 << (ty.size() * 8 - 2) } else { u64::MAX };
            let small = if ty.is_signed() { large.wrapping_neg() } else { 0 };
            let near = [other, other.wrapping_add(1), other.wrapping_sub(1), 0, 1, u64::MAX, small, large];
            out.extend(near.map(|v| ty.wrap(v)));
        }
    }
}

fn arithmetic_targets(op: Bin, ty: Scalar, is_left: bool, t: u64, own: u64, other: u64, out: &mut Vec<u64>) {
    if ty.is_float() {
        return float_targets(op, ty, is_left, t, other, out);
    }
    match op {
        Bin::Add => out.push(t.wrapping_sub(other)),
        Bin::Sub if is_left => out.push(t.wrapping_add(other)),
        Bin::Sub => out.push(other.wrapping_sub(t)),
        Bin::Xor => out.push(t ^ other),
        Bin::Mul if other != 0 => {
            let q = (t as i64).wrapping_div(other as i64) as u64;
            out.extend([q, q.wrapping_add(1), q.wrapping_sub(1)]);
        }
        // With the bits outside the mask kept, then cleared; then all bits of the mask, or its
        // lowest bit.
        Bin::And => out.extend([
            own & !other | t & other,
            t & other,
            other,
            other & other.wrapping_neg(),
            own & !other | other,
        ]),
        Bin::Or => out.extend([t & !other, t, 0]),
        Bin::Shl if is_left && other < 64 => out.push(t >> other),
        Bin::Shr if is_left && other < 64 => out.extend([t << other, (t << other).wrapping_add(1)]),
        Bin::Div if is_left => {
            let v = t.wrapping_mul(other);
            out.extend([v, v.wrapping_add(other.wrapping_sub(1))]);
        }
        Bin::Rem if is_left && other != 0 => {
            let whole = (own as i64).wrapping_sub((own as i64).wrapping_rem(other as i64)) as u64;
            out.extend([whole.wrapping_add(t), t, t.wrapping_add(other)]);
        }
        _ => out.extend([t, 0, 1]),
    }
}

fn float_targets(op: Bin, ty: Scalar, is_left: bool, t: u64, other: u64, out: &mut Vec<u64>) {
    let read =
        |v: u64| if ty == Scalar::F32 { f64::from(f32::from_bits(v as u32)) } else { f64::from_bits(v) };
    let (t, other) = (read(t), read(other));
    let v = match op {
        Bin::Add => t - other,
        Bin::Sub if is_left => t + other,
        Bin::Sub => other - t,
        Bin::Mul => t / other,
        Bin::Div if is_left => t * other,
        _ => t,
    };
    for v in [v, v + 1.0, v - 1.0] {
        out.push(if ty == Scalar::F32 { u64::from((v as f32).to_bits()) } else { v.to_bits() });
    }
}
