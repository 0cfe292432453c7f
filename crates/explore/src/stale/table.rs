//! A hash table of fixed size. A key's bucket is the index of its value in an array beside the
//! table.

pub struct KeyTable<const BUCKETS: usize> {
    keys: [u64; BUCKETS],
    used: usize,
}

const FREE: u64 = 0;
/// Was used: a search continues past it.
const GONE: u64 = u64::MAX;

impl<const BUCKETS: usize> KeyTable<BUCKETS> {
    pub const EMPTY: KeyTable<BUCKETS> = KeyTable { keys: [FREE; BUCKETS], used: 0 };

    pub fn clear(&mut self) {
        if self.used > 0 {
            self.keys.fill(FREE);
            self.used = 0;
        }
    }

    fn buckets(key: u64) -> impl Iterator<Item = usize> {
        let start = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize;
        (0..BUCKETS).map(move |i| (start + i) % BUCKETS)
    }

    pub fn find(&self, key: u64) -> Option<usize> {
        let mut buckets = Self::buckets(key).take_while(|b| self.keys[*b] != FREE);
        buckets.find(|b| self.keys[*b] == key)
    }

    /// A bucket for a new key; None if the table is three quarters full.
    pub fn insert(&mut self, key: u64) -> Option<usize> {
        let bucket = Self::buckets(key).find(|b| matches!(self.keys[*b], FREE | GONE))?;
        if self.keys[bucket] == FREE {
            if self.used >= BUCKETS / 4 * 3 {
                return None;
            }
            self.used += 1;
        }
        self.keys[bucket] = key;
        Some(bucket)
    }

    pub fn remove(&mut self, bucket: usize) {
        self.keys[bucket] = GONE;
    }

    pub fn key(&self, bucket: usize) -> Option<u64> {
        Some(self.keys[bucket]).filter(|k| !matches!(*k, FREE | GONE))
    }

    /// True if nothing was ever inserted.
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_is_found_until_it_is_taken_out() {
        let mut table = KeyTable::<16>::EMPTY;
        let buckets: Vec<usize> = (1..=12).map(|k| table.insert(k * 8).unwrap()).collect();
        assert_eq!(table.insert(1000), None, "three quarters are full");
        for (k, b) in (1..=12).zip(&buckets) {
            assert_eq!(table.find(k * 8), Some(*b));
        }
        table.remove(buckets[3]);
        assert_eq!((table.find(32), table.find(40)), (None, Some(buckets[4])));
        assert_eq!((table.key(buckets[3]), table.key(buckets[4])), (None, Some(40)));
        // The freed bucket is reused for keys that reach it.
        assert_eq!(table.insert(32), Some(buckets[3]));
        table.clear();
        assert!(table.is_empty() && table.find(8).is_none());
    }
}
