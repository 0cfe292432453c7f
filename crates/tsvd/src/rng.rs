//! Random numbers from a seed: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), since one word of state fits into a
//! thread's record and any seed is a good seed.

use crate::params::ONE;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    #[inline]
    pub(crate) const fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// To go on with later: `Rng::new(rng.state())` draws what `rng` would.
    #[inline]
    pub(crate) const fn state(self) -> u64 {
        self.0
    }

    #[inline]
    pub(crate) fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `n`; 0 if `n` is 0.
    #[inline]
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        (((self.draw() >> 32) * u64::from(n)) >> 32) as u32
    }

    /// True with so many parts of [`ONE`].
    #[inline]
    pub(crate) fn chance(&mut self, parts: u32) -> bool {
        self.below(ONE) < parts
    }
}

/// The finaliser of SplitMix64: a bijection that spreads every bit.
#[inline]
pub(crate) const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certainty_is_certain_and_nothing_never_happens() {
        let mut rng = Rng::new(1);
        assert!((0..10_000).all(|_| rng.chance(ONE) && !rng.chance(0)));
    }

    #[test]
    fn a_chance_comes_as_often_as_it_says() {
        let mut rng = Rng::new(2);
        let hits = (0..100_000).filter(|_| rng.chance(ONE / 20)).count();
        assert!((4_500..5_500).contains(&hits), "{hits}");
    }
}
