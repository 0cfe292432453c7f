//! Keys of states: 128 bits that name the state of a program and of everything that watches it.
//!
//! Equal states have equal keys. Two different states have the same key with probability 2^-128, if
//! the hash is as good as a random one. Of a million states some two then collide with probability
//! 10^-27; of a thousand million with 10^-21. What a key must contain is in
//! [`crate::strategy::States`].

/// The key of a state. Zero is no key: the state is not known.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "std", derive(serde::Serialize, serde::Deserialize))]
#[repr(C)]
pub struct StateKey(pub [u64; 2]);

impl StateKey {
    /// The state is not known.
    pub const NONE: StateKey = StateKey([0; 2]);

    /// Whether the state is known.
    pub fn is_known(self) -> bool {
        self != StateKey::NONE
    }
}

/// Why the states of a program are not known. The numbers cross the process boundary; 0 is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Unknowable {
    /// The program is not explored in place, or not instrumented, or loads read older values.
    Mode = 1,
    /// A function was called of which it is not known what it depends on.
    Function = 2,
    /// A step of a kind of which the same holds.
    Step = 3,
    /// A thread yields, or loops without changing anything.
    Waits = 4,
    /// A clock was read, or time has passed.
    Time = 5,
    /// A signal was sent, or a thread is cancelled.
    Signal = 6,
    /// It is not known how much of a thread's stack is in use.
    Stack = 7,
    /// A detector of races had to forget something.
    Forgot = 8,
}

impl Unknowable {
    /// The number that crosses the process boundary.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// The reason as the rest of a sentence that begins with "states cannot be recognised: ".
    pub fn text(number: u32) -> &'static str {
        const ALL: [&str; 9] = [
            "the target does not say why",
            "the program does not run in place, is not instrumented, or reads older values",
            "the program calls a function whose effects are not all in memory",
            "the program makes a step whose effects are not all in memory",
            "a thread yields or polls",
            "the program reads a clock or waits for some time",
            "the program sends signals or cancels threads",
            "it is not known how much of a stack is in use",
            "there are more accesses, objects or threads than can be watched for races",
        ];
        ALL.get(number as usize).copied().unwrap_or(ALL[0])
    }
}

const SECRETS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];

/// A 128-bit product, folded: one multiplication mixes two words well.
#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}

/// Computes a [`StateKey`] of words in sequence.
#[derive(Clone, Copy, Debug)]
pub struct KeyHash([u64; 2]);

impl KeyHash {
    /// `what` tells different uses apart.
    #[inline]
    pub fn new(what: u64) -> KeyHash {
        let mut hash = KeyHash([0x2545_f491_4f6c_dd1d, 0x8329_22d6_35a1_e1b7]);
        hash.add(what);
        hash
    }

    /// The next word. Each lane adds the old state once more, since a product with zero would
    /// forget it.
    #[inline(always)]
    pub fn add(&mut self, word: u64) {
        for (lane, secret) in self.0.iter_mut().zip(SECRETS) {
            *lane = fold(*lane ^ word, secret) ^ lane.rotate_left(23).wrapping_add(word);
        }
    }

    /// The words so far.
    #[inline]
    pub fn finish(mut self) -> StateKey {
        self.add(0x5bd1_e995);
        // Never the key that stands for none.
        if self.0 == [0; 2] { StateKey([1, 0]) } else { StateKey(self.0) }
    }
}

/// A hash of a multiset: the order in which things are added makes no difference.
#[derive(Clone, Copy, Debug, Default)]
pub struct SetHash([u64; 2]);

impl SetHash {
    /// One more thing.
    #[inline]
    pub fn add(&mut self, thing: KeyHash) {
        let StateKey(key) = thing.finish();
        for (sum, word) in self.0.iter_mut().zip(key) {
            *sum = sum.wrapping_add(word);
        }
    }

    /// Adds the whole set to a key.
    #[inline]
    pub fn into(self, key: &mut KeyHash) {
        self.0.iter().for_each(|w| key.add(*w));
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_no_order_and_a_key_has() {
        let of = |words: &[u64]| {
            let mut hash = KeyHash::new(0);
            words.iter().for_each(|w| hash.add(*w));
            hash
        };
        assert_ne!(of(&[1, 2]).finish(), of(&[2, 1]).finish());
        assert_ne!(of(&[0]).finish(), of(&[0, 0]).finish());
        let set = |words: &[u64]| {
            let mut set = SetHash::default();
            words.iter().for_each(|w| set.add(of(&[*w])));
            let mut key = KeyHash::new(1);
            set.into(&mut key);
            key.finish()
        };
        assert_eq!(set(&[1, 2, 2]), set(&[2, 1, 2]));
        assert_ne!(set(&[1, 2]), set(&[1, 2, 2]));
    }

    /// Words that differ in few bits, as counters and addresses do.
    #[test]
    fn similar_words_have_different_keys_in_each_lane() {
        let mut seen = [std::collections::HashSet::new(), std::collections::HashSet::new()];
        for a in 0..300u64 {
            for b in 0..300u64 {
                let mut hash = KeyHash::new(0);
                hash.add(a << 20);
                hash.add(b);
                let StateKey(lanes) = hash.finish();
                seen.iter_mut().zip(lanes).for_each(|(s, lane)| assert!(s.insert(lane)));
            }
        }
    }
}
