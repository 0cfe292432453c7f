//! One simulated process, and what was reported of it.

use raddle_tsvd::{ApiPoint, Delay, Host, ONE, PairState, Params, Policy, TrapPair, Tsvd, Violation};

pub const MS: u64 = 1_000_000;
pub const OBJECT: u64 = 0x7f00_1000;
pub const OTHER: u64 = 0x7f00_2000;

#[derive(Default)]
pub struct Log(pub Vec<Violation>);

impl Host for Log {
    fn violation(&mut self, violation: &Violation) {
        self.0.push(*violation);
    }
}

/// One process and what it reported.
pub struct World {
    pub tsvd: Box<Tsvd>,
    pub log: Log,
}

impl World {
    pub fn new(params: &Params) -> World {
        World { tsvd: Tsvd::boxed(params), log: Log::default() }
    }

    /// The paper's algorithm, with a parameter changed.
    pub fn with(change: impl FnOnce(&mut Params)) -> World {
        let mut params = Params::paper(Policy::Tsvd);
        change(&mut params);
        World::new(&params)
    }

    /// The paper's algorithm with some extensions.
    pub fn extended(techniques: u32) -> World {
        World::with(|params| params.techniques |= techniques)
    }

    /// A call; if it is delayed, the trap is set.
    pub fn call(&mut self, ms: u64, point: ApiPoint) -> Option<Delay> {
        let delay = self.tsvd.on_call(ms * MS, &point, &mut self.log)?;
        assert!(self.tsvd.trap_set(&delay, u64::from(point.thread), &mut self.log));
        Some(delay)
    }

    /// A call whose delay, if any, ends before anything else happens.
    pub fn pass(&mut self, ms: u64, point: ApiPoint) -> bool {
        let delay = self.call(ms, point);
        delay.inspect(|delay| _ = self.wake(ms + delay.nanos / MS, delay)).is_some()
    }

    pub fn wake(&mut self, ms: u64, delay: &Delay) -> bool {
        self.tsvd.delay_done(ms * MS, delay, &mut self.log)
    }

    pub fn state(&self, a: u32, b: u32) -> Option<PairState> {
        let mut pairs = self.tsvd.pairs();
        pairs.find(|pair| (pair.site_a, pair.site_b) == (a, b)).map(|pair| pair.state)
    }

    pub fn probability(&self, a: u32, b: u32) -> u32 {
        let pair = self.tsvd.pairs().find(|pair| (pair.site_a, pair.site_b) == (a, b));
        pair.map_or(0, |pair| pair.probability)
    }

    pub fn seed(&mut self, a: u32, b: u32) {
        self.seed_at(a, b, 0);
    }

    /// A dangerous pair of an earlier run that came so many ms near.
    pub fn seed_at(&mut self, a: u32, b: u32, ms: u32) {
        let state = PairState::Dangerous;
        let pair = TrapPair { site_a: a, site_b: b, probability: ONE, state, gap: ms * 1000 };
        assert!(self.tsvd.seed(&pair, &mut self.log));
    }
}

pub fn write(thread: u32, site: u32, object: u64) -> ApiPoint {
    ApiPoint { thread, site, object, write: true }
}

pub fn read(thread: u32, site: u32, object: u64) -> ApiPoint {
    ApiPoint { thread, site, object, write: false }
}

/// A world with no thread delayed but by a trap at site 9 that the caller sets.
pub fn trapped(point: ApiPoint) -> (World, Delay) {
    let mut world = World::with(|_| {});
    world.seed(point.site, 900);
    let delay = world.call(1, point).expect("its pair was seeded");
    (world, delay)
}
