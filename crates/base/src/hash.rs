//! FNV-1a (Fowler, Noll, Vo): the one hash for everything that is stored or crosses a process
//! boundary.
//!
//! It is a few lines of our own, so no dependency can ever change it. It does not resist an
//! attacker. Hashes that must resist one, such as the name of an unpacked runtime, use SHA-256.

const BASIS_64: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME_64: u64 = 0x0100_0000_01b3;
const BASIS_32: u32 = 0x811c_9dc5;
const PRIME_32: u32 = 0x0100_0193;

/// The 64-bit hash of `bytes`.
pub fn fnv64(bytes: &[u8]) -> u64 {
    let mut hash = Fnv64::new();
    hash.write(bytes);
    hash.finish()
}

/// The 32-bit hash of `bytes`.
pub const fn fnv32(bytes: &[u8]) -> u32 {
    let mut hash = Fnv32::new();
    hash.write(bytes);
    hash.finish()
}

/// 64-bit FNV-1a over input that arrives in parts.
#[derive(Clone, Copy, Debug)]
pub struct Fnv64(u64);

impl Fnv64 {
    pub const fn new() -> Fnv64 {
        Fnv64(BASIS_64)
    }

    #[inline]
    pub fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_word(u64::from(*byte)));
    }

    /// Hashes a whole word at once. This is eight times as fast as hashing its bytes, and gives a
    /// different hash.
    #[inline]
    pub fn write_word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(PRIME_64);
    }

    pub const fn finish(self) -> u64 {
        self.0
    }
}

impl Default for Fnv64 {
    fn default() -> Fnv64 {
        Fnv64::new()
    }
}

/// 32-bit FNV-1a over input that arrives in parts.
#[derive(Clone, Copy, Debug)]
pub struct Fnv32(u32);

impl Fnv32 {
    pub const fn new() -> Fnv32 {
        Fnv32(BASIS_32)
    }

    #[inline]
    pub const fn write(&mut self, bytes: &[u8]) {
        let mut i = 0;
        while i < bytes.len() {
            self.0 = (self.0 ^ bytes[i] as u32).wrapping_mul(PRIME_32);
            i += 1;
        }
    }

    pub const fn finish(self) -> u32 {
        self.0
    }
}

impl Default for Fnv32 {
    fn default() -> Fnv32 {
        Fnv32::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// These are the test vectors that the authors publish.
    #[test]
    fn the_published_vectors() {
        assert_eq!(fnv64(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv64(b"foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(fnv32(b""), 0x811c_9dc5);
        assert_eq!(fnv32(b"foobar"), 0xbf9c_f968);
    }

    #[test]
    fn parts_hash_as_the_whole() {
        let mut hash = Fnv64::new();
        hash.write(b"foo");
        hash.write(b"bar");
        assert_eq!(hash.finish(), fnv64(b"foobar"));
    }
}
