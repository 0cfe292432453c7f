//! The parameters, with the paper's defaults.

/// Which code decides where and when to delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(u32)]
pub enum Policy {
    /// Section 3.4: near misses, phases, inferred order.
    #[default]
    Tsvd = 0,
    /// Section 3.5: the same with vector clocks instead of near misses, phases and inferred order.
    TsvdHb = 1,
    /// Section 3.2: any point, with a small probability, for a random time.
    DynamicRandom = 2,
    /// Section 3.3, after DataCollider: locations sampled uniformly, however hot.
    StaticRandom = 3,
}

impl Policy {
    /// In the order of their numbers.
    pub const ALL: [Policy; 4] = [Policy::Tsvd, Policy::TsvdHb, Policy::DynamicRandom, Policy::StaticRandom];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Policy::Tsvd => "tsvd",
            Policy::TsvdHb => "tsvd-hb",
            Policy::DynamicRandom => "dynamic-random",
            Policy::StaticRandom => "static-random",
        }
    }

    /// The policy with a number that crossed a process boundary.
    pub fn from_number(number: u32) -> Option<Policy> {
        Self::ALL.into_iter().find(|policy| *policy as u32 == number)
    }
}

/// Techniques of section 3.4 that can be switched off one at a time (Table 3), as bits of
/// [`Params::techniques`].
pub mod technique {
    /// 3.4.4: order is inferred from delays. Without it, no pair is pruned for being ordered.
    pub const HB_INFERENCE: u32 = 1;
    /// 3.4.2: only accesses within the window are near misses. Without it, the whole kept history
    /// of an object counts: [`super::MAX_HISTORY`] accesses.
    pub const WINDOW: u32 = 1 << 1;
    /// 3.4.3: at least one access of a dangerous pair is made in a concurrent phase.
    pub const PHASE: u32 = 1 << 2;
    /// 3.4.6: several threads are delayed at a time. Without it, a second delay waits for the first
    /// to end.
    pub const PARALLEL: u32 = 1 << 3;
    /// All techniques of the paper.
    pub const PAPER: u32 = HB_INFERENCE | WINDOW | PHASE | PARALLEL;

    /// Extension 1 of the crate: an access of a joined thread is no near miss of its joiner's
    /// accesses.
    pub const JOINS: u32 = 1 << 8;
    /// Extension 2: one near miss is worth one delay at each end.
    pub const RENEWAL: u32 = 1 << 9;
    /// Extension 3: the first delay of a pair that came very near is short.
    pub const SHORT_FIRST: u32 = 1 << 10;
    /// Extension 6: a gap is blamed on a delay only if it ends soon after it.
    pub const PROMPT: u32 = 1 << 11;
    /// Extension 9: accesses that the caller knows to be ordered are no near miss.
    pub const KNOWN_ORDER: u32 = 1 << 12;
    /// Extension 10: reads do not push the last write out of an object's history.
    pub const LAST_WRITE: u32 = 1 << 13;
    /// All bits that raddle adds to the paper. Other extensions have a field of [`super::Params`].
    pub const EXTENSIONS: u32 = JOINS | RENEWAL | SHORT_FIRST | PROMPT | KNOWN_ORDER | LAST_WRITE;
    /// The techniques that [`super::Params::new`] gives to the policy `tsvd`.
    pub const ALL: u32 = PAPER | EXTENSIONS;
}

/// Probabilities and factors are fractions of this.
pub const ONE: u32 = 1_000_000;

/// The maximum number of accesses kept for each object.
pub const MAX_HISTORY: u32 = 32;

const MS: u64 = 1_000_000;

/// All parameters. Times are in nanoseconds, probabilities are parts of [`ONE`]. Plain data: it
/// crosses the process boundary as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Params {
    /// How long a thread is delayed (100 ms).
    pub delay: u64,
    /// T_nm: accesses further apart are no near miss (100 ms).
    pub window: u64,
    /// The maximum total delay of one thread (3 s). The paper has such a cap, and one for a test,
    /// and does not say how long they are.
    pub thread_cap: u64,
    /// The maximum delay between two calls of [`Tsvd::new_test`](crate::Tsvd::new_test) (10 s).
    pub test_cap: u64,
    /// The maximum total delay of the process (120 s).
    pub run_cap: u64,
    /// The start of each thread's random numbers. The same seed and the same calls at the same
    /// times give the same delays.
    pub seed: u64,
    /// The policy. Fields that it does not use have no effect.
    pub policy: Policy,
    /// Bits of [`technique`].
    pub techniques: u32,
    /// N_nm: the number of accesses kept for each object (5).
    pub history: u32,
    /// The number of last points that decide whether the phase is concurrent (16).
    pub buffer: u32,
    /// δ_hb: the part of a delay that a gap must last to be blamed on it (0.5).
    pub gap: u32,
    /// k_hb: how many accesses after a gap count as ordered too (5).
    pub inferred: u32,
    /// How much each failed delay reduces the probability of a pair (0.1).
    pub decay: u32,
    /// The probability of `dynamic-random` (0.05), and the share of locations that `static-random`
    /// samples at a time.
    pub chance: u32,
    /// Extension 4: the part of a stretch without delays that the window grows to (0.5). Zero: it
    /// does not grow.
    pub widening: u32,
    /// Extension 5: how many times as long as [`Params::delay`] a delay may be (5). Zero or one: no
    /// longer.
    pub patience: u32,
}

impl Params {
    /// The policy as raddle uses it: `tsvd` with all extensions. The others exist for comparison
    /// and are as in the paper.
    pub const fn new(policy: Policy) -> Params {
        match policy {
            Policy::Tsvd => {
                Params { techniques: technique::ALL, widening: ONE / 2, patience: 5, ..Params::paper(policy) }
            }
            _ => Params::paper(policy),
        }
    }

    /// The policy as in the paper.
    pub const fn paper(policy: Policy) -> Params {
        Params {
            delay: 100 * MS,
            window: 100 * MS,
            thread_cap: 3_000 * MS,
            test_cap: 10_000 * MS,
            run_cap: 120_000 * MS,
            seed: 0,
            policy,
            techniques: technique::PAPER,
            history: 5,
            buffer: 16,
            gap: ONE / 2,
            inferred: 5,
            decay: ONE / 10,
            chance: ONE / 20,
            widening: 0,
            patience: 0,
        }
    }

    /// Whether any of the given bits of [`technique`] is set.
    #[inline]
    pub const fn has(&self, technique: u32) -> bool {
        self.techniques & technique != 0
    }

    /// The shortest gap that is blamed on a delay of the usual length.
    #[inline]
    pub(crate) const fn blamed_gap(&self) -> u64 {
        self.part_of(self.delay)
    }

    /// δ of a delay of this length.
    #[inline]
    pub(crate) const fn part_of(&self, nanos: u64) -> u64 {
        part(nanos, self.gap)
    }

    /// How far apart two accesses may be in a near miss, if there has been no delay for this long
    /// (extension 4).
    #[inline]
    pub(crate) fn reach(&self, quiet: u64) -> u64 {
        self.window.max(part(quiet, self.widening))
    }

    /// The length of a delay for a pair whose accesses came as near as `gap` (zero: not known).
    /// `tried`: an earlier delay failed (extensions 3 and 5).
    pub(crate) fn length(&self, gap: u64, tried: bool) -> u64 {
        let twice = gap.saturating_mul(2);
        if twice > self.delay {
            return twice.min(self.delay.saturating_mul(u64::from(self.patience))).max(self.delay);
        }
        let short = self.has(technique::SHORT_FIRST) && gap != 0 && !tried;
        if short { self.delay.min(self.blamed_gap() + twice) } else { self.delay }
    }

    /// The number of kept accesses of an object, and whether its last write is always among them.
    #[inline]
    pub(crate) fn history_kept(&self) -> (u32, bool) {
        let kept = if self.has(technique::WINDOW) { self.history.clamp(1, MAX_HISTORY) } else { MAX_HISTORY };
        (kept, self.has(technique::LAST_WRITE))
    }
}

/// The fraction of a time, in `parts` of [`ONE`].
#[inline]
const fn part(time: u64, parts: u32) -> u64 {
    time / ONE as u64 * parts as u64 + time % ONE as u64 * parts as u64 / ONE as u64
}

impl Default for Params {
    fn default() -> Params {
        Params::new(Policy::Tsvd)
    }
}
