//! Random numbers from a seed. The sequence is the same on both sides of the process boundary, and
//! never changes.

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): one word of state, and any seed is a good seed.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Rng(u64);

impl Rng {
    #[inline]
    pub const fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// The state: `Rng::new(rng.state())` draws what `rng` would draw next.
    #[inline]
    pub const fn state(self) -> u64 {
        self.0
    }

    #[inline]
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `n`, or 0 if `n` is 0. The bias of the multiplication is below n/2^32.
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        (((self.draw() >> 32) * u64::from(n)) >> 32) as u32
    }

    /// True once in `n` times.
    #[inline]
    pub fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// True with the probability `parts` / `whole`.
    #[inline]
    pub fn chance(&mut self, parts: u32, whole: u32) -> bool {
        self.below(whole) < parts
    }
}

/// The finaliser of SplitMix64: a bijection that spreads every bit.
#[inline]
pub const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_sequence_of_seed_zero() {
        let mut rng = Rng::new(0);
        assert_eq!([rng.draw(), rng.draw()], [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
    }

    #[test]
    fn certainty_is_certain_and_nothing_never_happens() {
        let mut rng = Rng::new(1);
        assert!((0..10_000).all(|_| rng.chance(1 << 16, 1 << 16) && !rng.chance(0, 1 << 16)));
    }

    #[test]
    fn a_chance_comes_as_often_as_it_says() {
        let mut rng = Rng::new(2);
        let hits = (0..100_000).filter(|_| rng.chance(1, 20)).count();
        assert!((4_500..5_500).contains(&hits), "{hits}");
    }
}
