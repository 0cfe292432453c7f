//! The source of randomness: small, fast, and the same everywhere (xorshift64*, seeded through
//! SplitMix64). It is not the generator of `raddle_base`, because a seed that somebody has written
//! down must give the same findings as before.

use raddle_base::rng::Rng;

#[derive(Debug, Clone)]
pub struct XorShift(u64);

impl XorShift {
    pub fn new(seed: u64) -> Self {
        Self(Rng::new(seed).draw() | 1)
    }

    #[inline]
    pub fn draw(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `n`, 0 when `n` is 0.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.draw()) * u128::from(n)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let (mut a, mut b, mut c) = (XorShift::new(5), XorShift::new(5), XorShift::new(6));
        let (x, y, z) = (a.draw(), b.draw(), c.draw());
        assert_eq!(x, y);
        assert_ne!(x, z);
        assert!((0..1000).all(|_| a.below(7) < 7));
        assert_eq!(a.below(0), 0);
    }
}
