//! Misuse of locks, threads and signal handlers.

use raddle_finding::{Access, AccessOp, Confidence, Finding, Kind};
use raddle_wire::record::MisuseKind;

use super::{Cast, Explain};
use crate::collect::Misuse;
use crate::detection::DetectionOptions;

impl Explain<'_> {
    pub(super) fn misuses(&mut self, options: &DetectionOptions) -> Vec<Finding> {
        let is_wanted = |m: &&Misuse| !match m.what {
            Some(MisuseKind::ThreadLeak) => !options.thread_leaks,
            Some(MisuseKind::SignalErrno | MisuseKind::SignalUnsafe) => !options.signal_bugs,
            _ => !options.mutex_bugs,
        };
        let process = self.process;
        let findings: Vec<Finding> =
            process.misuses.iter().filter(is_wanted).filter_map(|m| self.misuse(m)).collect();
        findings.into_iter().filter(|f| !self.is_ignored(f)).collect()
    }

    /// The name of the function at `pc`, given the mappings known at the time of `stack`.
    fn function(&mut self, pc: u64, stack: u64) -> Option<String> {
        let modules = self.process.stacks.get(&stack).filter(|_| pc != 0)?.modules;
        // It is looked up as if it were the place behind a call.
        self.places.frames(self.process.modules(modules), pc + 1).pop()?.function
    }

    /// `None`: a newer runtime wrote the record.
    fn misuse(&mut self, m: &Misuse) -> Option<Finding> {
        let (thread, lock) = (self.thread_label(m.thread), format!("L{}", m.lock));
        let (kind, op, message) = match m.what? {
            MisuseKind::DoubleLock => (
                Kind::DoubleLock,
                AccessOp::Lock,
                format!("{thread} takes {lock}, which it holds: it waits for itself"),
            ),
            MisuseKind::UnlockUnlocked => (
                Kind::UnlockNotHeld,
                AccessOp::Unlock,
                format!("{thread} lets go of {lock}, which nobody holds"),
            ),
            MisuseKind::UnlockOfAnothers => (
                Kind::UnlockNotHeld,
                AccessOp::Unlock,
                format!("{thread} lets go of {lock}, which another thread holds"),
            ),
            MisuseKind::ReadAsWrite => (
                Kind::UnlockNotHeld,
                AccessOp::Unlock,
                format!(
                    "{thread} holds {lock} in one way and lets go of it in the other: reading and writing"
                ),
            ),
            MisuseKind::TakenFromAnother => (
                Kind::DoubleLock,
                AccessOp::Lock,
                format!(
                    "{thread} takes {lock}, which another thread holds: the lock, or its annotation, is wrong"
                ),
            ),
            MisuseKind::ReadWhileWritten => (
                Kind::DoubleLock,
                AccessOp::Lock,
                format!("{thread} takes {lock} for reading while it is held for writing"),
            ),
            MisuseKind::UsedDestroyed => {
                (Kind::UseAfterFree, AccessOp::Lock, format!("{thread} uses {lock}, which was destroyed"))
            }
            MisuseKind::UsedUninitialised => (
                Kind::UninitializedRead,
                AccessOp::Call,
                format!(
                    "{thread} uses {lock}, whose memory is filled with ones: it was not initialised, or was overwritten"
                ),
            ),
            MisuseKind::DestroyedLocked => {
                (Kind::LockLeak, AccessOp::Call, format!("{thread} destroys {lock}, which is held"))
            }
            MisuseKind::EndedHolding => (
                Kind::LockLeak,
                AccessOp::Lock,
                format!("{thread} has ended and still holds {lock}, which nobody can release now"),
            ),
            MisuseKind::ThreadLeak => (
                Kind::Leak,
                AccessOp::Call,
                format!("{thread} has ended and was neither joined nor detached"),
            ),
            MisuseKind::SignalErrno => (
                Kind::SignalSpoilsErrno,
                AccessOp::Call,
                format!("a signal handler leaves another errno to {thread}, which it interrupted"),
            ),
            MisuseKind::SignalUnsafe => (
                Kind::SignalUnsafeCall,
                AccessOp::Call,
                format!("{thread} allocates or frees memory in a signal handler"),
            ),
        };
        let mut cast = Cast::default();
        let mut finding = Finding::new(kind, Confidence::Confirmed, message);
        let label = matches!(op, AccessOp::Lock | AccessOp::Unlock).then(|| lock.clone());
        // A thread leaks where it was created, and its creator is responsible.
        let creator = self.process.threads.get(&m.thread).map_or(0, |t| t.parent);
        let actor = if m.what == Some(MisuseKind::ThreadLeak) { creator } else { m.thread };
        cast.thread(m.thread);
        let stack = self.stack(m.stack);
        let thread = self.thread_label(actor);
        finding.accesses = vec![Access { op, size: 0, thread, locks: vec![], stack, lock: label }];
        if m.what == Some(MisuseKind::SignalUnsafe) {
            finding.handler = self.function(m.lock, m.stack);
        } else if m.lock != 0 {
            cast.lock(m.lock, m.thread, m.taken);
        }
        self.introduce(&mut finding, cast);
        if m.taken == 0 {
            finding.locks.iter_mut().for_each(|l| l.taken.clear());
        }
        Some(finding)
    }
}
