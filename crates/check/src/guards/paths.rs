//! Names for places: how the code of a function gets to an object, as `p->queue.head` does.

use rustc_hash::FxHashMap;

use crate::ir::MemberId;

/// A path, by its number in [`Paths`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path(u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PathStep {
    /// The value of a parameter that is never set.
    Param(u16),
    /// The value of a variable that is set more than once.
    Local(u32, u16),
    /// Memory of this frame.
    Frame(u32, u32),
    Global(u32),
    Function(u32),
    /// What the instruction at a place gives, of which nothing more is known.
    Result(u32),
    /// The same, of a call.
    Called(u32),
    /// The pointer at a place.
    Load(Path),
    Member(Path, MemberId),
    /// An element, with its distance from the first one in bytes if the code says it.
    Element(Path, Option<u32>),
}

/// The longest path that is told apart from others.
const LONGEST: u32 = 12;

#[derive(Debug, Default)]
pub struct Paths {
    steps: Vec<(PathStep, u32)>,
    numbers: FxHashMap<PathStep, Path>,
}

impl Paths {
    pub fn step(&self, path: Path) -> PathStep {
        self.steps[path.0 as usize].0
    }

    /// The path that ends with a step. One that becomes too long is what the instruction gives.
    pub fn make(&mut self, step: PathStep, pc: u32) -> Path {
        let length = self.before(step).map_or(0, |p| self.steps[p.0 as usize].1 + 1);
        let step = if length > LONGEST { PathStep::Result(pc) } else { step };
        let (steps, next) = (&mut self.steps, self.numbers.len() as u32);
        *self.numbers.entry(step).or_insert_with(|| {
            steps.push((step, length.min(LONGEST)));
            Path(next)
        })
    }

    fn before(&self, step: PathStep) -> Option<Path> {
        match step {
            PathStep::Load(p) | PathStep::Member(p, _) | PathStep::Element(p, _) => Some(p),
            _ => None,
        }
    }

    /// The step before the last one.
    pub fn parent(&self, path: Path) -> Option<Path> {
        self.before(self.step(path))
    }

    pub fn root(&self, mut path: Path) -> PathStep {
        while let Some(p) = self.parent(path) {
            path = p;
        }
        self.step(path)
    }

    /// The object that a place is part of: what is left without members and elements.
    pub fn object(&self, mut path: Path) -> Path {
        while let PathStep::Member(p, _) | PathStep::Element(p, _) = self.step(path) {
            path = p;
        }
        path
    }

    /// The members that lead from the object to a place, the outermost first.
    pub fn members(&self, mut path: Path) -> Vec<MemberId> {
        let mut out = Vec::new();
        loop {
            match self.step(path) {
                PathStep::Member(p, id) => {
                    out.push(id);
                    path = p;
                }
                PathStep::Element(p, _) => path = p,
                _ => break,
            }
        }
        out.reverse();
        out
    }

    /// The last member of a path.
    pub fn last_member(&self, mut path: Path) -> Option<MemberId> {
        loop {
            match self.step(path) {
                PathStep::Member(_, id) => return Some(id),
                step => path = self.before(step)?,
            }
        }
    }

    /// Where a lock is, or the handle that stands for it.
    pub fn lock_place(&self, mut lock: Path) -> Path {
        while let PathStep::Load(p) = self.step(lock) {
            lock = p;
        }
        lock
    }

    /// The members that lead from its object to a lock.
    pub fn lock_members(&self, lock: Path) -> Vec<MemberId> {
        self.members(self.lock_place(lock))
    }

    /// Whether a path leads through another one, or is that one.
    pub fn is_within(&self, path: Path, outer: Path) -> bool {
        let mut at = Some(path);
        while let Some(p) = at {
            if p == outer {
                return true;
            }
            at = self.parent(p);
        }
        false
    }

    /// A path of a caller, as its callee names it. None if the callee has no name for it.
    pub fn of_callee(&mut self, path: Path, arguments: &[Path], pc: u32) -> Option<Path> {
        if let Some(n) = arguments.iter().position(|a| *a == path) {
            return Some(self.make(PathStep::Param(n as u16), pc));
        }
        let step = match self.step(path) {
            PathStep::Global(_) | PathStep::Function(_) => return Some(path),
            PathStep::Load(p) => PathStep::Load(self.of_callee(p, arguments, pc)?),
            PathStep::Member(p, id) => PathStep::Member(self.of_callee(p, arguments, pc)?, id),
            PathStep::Element(p, Some(at)) => PathStep::Element(self.of_callee(p, arguments, pc)?, Some(at)),
            _ => return None,
        };
        Some(self.make(step, pc))
    }

    /// A path of a callee, as its caller names it. None if the caller has no name for it.
    pub fn of_caller(&mut self, path: Path, arguments: &[Path], pc: u32) -> Option<Path> {
        let step = match self.step(path) {
            PathStep::Param(n) => return arguments.get(usize::from(n)).copied(),
            PathStep::Global(_) | PathStep::Function(_) => return Some(path),
            PathStep::Load(p) => PathStep::Load(self.of_caller(p, arguments, pc)?),
            PathStep::Member(p, id) => PathStep::Member(self.of_caller(p, arguments, pc)?, id),
            PathStep::Element(p, at) => PathStep::Element(self.of_caller(p, arguments, pc)?, at),
            PathStep::Local(..) | PathStep::Frame(..) | PathStep::Result(_) | PathStep::Called(_) => {
                return None;
            }
        };
        Some(self.make(step, pc))
    }
}
