//! What goes in and what comes out.

/// A call of a thread-unsafe API that is about to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApiPoint {
    /// Numbered from zero; no two living threads have one number.
    pub thread: u32,
    /// The call site, numbered from zero, below [`crate::MAX_SITES`].
    pub site: u32,
    /// What is called on, not zero: its address mixed with its class, since two objects of
    /// different classes may have one address.
    pub object: u64,
    /// Whether the API's contract lists the call as a write. Two reads never conflict.
    pub write: bool,
}

impl ApiPoint {
    /// Whether the contract is broken if both calls are under way at once (section 2.2).
    #[inline]
    pub fn conflicts_with(&self, other: &ApiPoint) -> bool {
        self.thread != other.thread && self.object == other.object && (self.write || other.write)
    }
}

/// What the caller is to do with the thread: set the trap with [`crate::Tsvd::trap_set`], sleep,
/// and come back with [`crate::Tsvd::delay_done`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Delay {
    /// The call that waits.
    pub point: ApiPoint,
    /// The time that was given to [`crate::Tsvd::on_call`].
    pub start: u64,
    /// How long to sleep.
    pub nanos: u64,
}

/// Two threads caught at conflicting calls on one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The call of the thread that was delayed.
    pub trapped: ApiPoint,
    /// What that thread gave to [`crate::Tsvd::trap_set`].
    pub cookie: u64,
    /// The call of the thread that came meanwhile.
    pub caller: ApiPoint,
    /// Whether this pair of sites was known already, from this run or by [`crate::Tsvd::seed`].
    pub repeated: bool,
}

/// The caller's side of a call.
pub trait Host {
    /// Whether the two points are on one object, for a caller whose [`ApiPoint::object`] may be the
    /// same for two of them, as a hash may. False: nothing has happened. What holds for
    /// [`Host::violation`] holds here.
    fn is_one_object(&mut self, _violation: &Violation) -> bool {
        true
    }

    /// For a caller that knows what orders calls (extension 9 of the crate): a word that is kept
    /// with this call, and comes back in [`Host::is_ordered`].
    fn mark(&mut self) -> u64 {
        0
    }

    /// Whether the caller knows that a call that `thread` made at `time`, when [`Host::mark`] gave
    /// `mark`, and this one can never be under way at once. In doubt it does not: a pair that is
    /// ordered is not looked at, so one that is not would be missed.
    fn is_ordered(&mut self, _thread: u32, _time: u64, _mark: u64) -> bool {
        false
    }

    /// Whether the caller knows that this thread has waited in this run for what `thread` did at
    /// `time`, and that another run may have it otherwise. Such a wait explains a gap. It makes the
    /// two calls less likely to meet, and orders nothing (see `inference`).
    fn has_waited_by_chance(&mut self, _thread: u32, _time: u64) -> bool {
        false
    }

    /// A violation. The trapped thread cannot go on before this returns, so what its cookie refers
    /// to can be read; the traps of other threads may wait as well, so it should be brief. It must
    /// not call back.
    fn violation(&mut self, violation: &Violation);

    /// Called while waiting for another thread that is inside this crate. In a target this should
    /// give up the processor: the other thread may need it.
    fn relax(&mut self) {
        core::hint::spin_loop();
    }
}
