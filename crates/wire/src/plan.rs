//! Program counters of one executable that mean something to the runtime.
//!
//! A plan is a sequence of little-endian u64: [`MAGIC`], the number of lock sites, the number of
//! ignored ranges, the number of covered probes, then for each lock site
//! `address << 8 | depth << 6 | effect << 4 | class`, sorted, then for each range its start and
//! end, sorted and disjoint, then for each covered probe
//! `address << 8 | length << 4 | write << 2 | log2 of the size`. Addresses are virtual addresses of
//! the executable's file; the runtime adds the load bias.

pub const MAGIC: u64 = u64::from_le_bytes(*b"raddlep3");

/// What an atomic operation inside the implementation of a lock does when it succeeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum SiteClass {
    MutexAcquire = 1,
    MutexRelease = 2,
    ReadAcquire = 3,
    ReadRelease = 4,
    WriteAcquire = 5,
    WriteRelease = 6,
    /// A writer becomes a reader.
    Downgrade = 7,
    /// A mutex is released by a wait for a condition variable, which takes it again.
    WaitRelease = 8,
}

impl SiteClass {
    pub fn from_number(n: u8) -> Option<SiteClass> {
        use SiteClass::*;
        let locks = [MutexAcquire, MutexRelease, ReadAcquire, ReadRelease, WriteAcquire, WriteRelease];
        locks.into_iter().chain([Downgrade, WaitRelease]).find(|c| *c as u8 == n)
    }
}

/// When the operation has that effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum SiteEffect {
    Always = 0,
    /// If a compare-exchange found what it expected.
    IfExchanged = 1,
    /// If the old value was zero.
    IfReturnedZero = 2,
}

/// An atomic operation inside the implementation of a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LockOperation {
    pub class: SiteClass,
    pub effect: SiteEffect,
    /// 0: the address is the return address of the operation. 1 to 3: the address is the return
    ///    address of the function that many levels further out.
    pub depth: u8,
}

impl LockOperation {
    #[cfg(any(feature = "std", test))]
    fn to_bits(self) -> u64 {
        (self.depth as u64 & 3) << 6 | (self.effect as u64) << 4 | self.class as u64
    }

    fn from_bits(bits: u64) -> Option<LockOperation> {
        let effect = match bits >> 4 & 3 {
            0 => SiteEffect::Always,
            1 => SiteEffect::IfExchanged,
            _ => SiteEffect::IfReturnedZero,
        };
        Some(LockOperation {
            class: SiteClass::from_number(bits as u8 & 15)?,
            effect,
            depth: (bits >> 6) as u8 & 3,
        })
    }
}

/// A call of a probe that can be left out, because another one covers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CoveredProbe {
    /// The address of the call.
    pub address: u64,
    /// The length of the call instruction.
    pub length: u8,
    pub write: bool,
    /// The binary logarithm of the announced size: 0 to 3.
    pub log2: u8,
}

impl CoveredProbe {
    pub fn to_word(self) -> u64 {
        let shape = (self.write as u64) << 2 | self.log2 as u64 & 3;
        self.address << 8 | (self.length as u64 & 15) << 4 | shape
    }

    pub fn from_word(word: u64) -> CoveredProbe {
        CoveredProbe {
            address: word >> 8,
            length: (word >> 4) as u8 & 15,
            write: word >> 2 & 1 == 1,
            log2: word as u8 & 3,
        }
    }
}

#[cfg(any(feature = "std", test))]
pub fn encode(
    sites: &[(u64, LockOperation)],
    ignored: &[core::ops::Range<u64>],
    covered: &[CoveredProbe],
) -> Vec<u8> {
    let mut sites: Vec<u64> = sites.iter().map(|(a, site)| a << 8 | site.to_bits()).collect();
    sites.sort_unstable();
    sites.dedup_by_key(|w| *w >> 8);
    let mut words = vec![MAGIC, sites.len() as u64, ignored.len() as u64, covered.len() as u64];
    words.append(&mut sites);
    let mut ranges: Vec<_> = ignored.to_vec();
    ranges.sort_unstable_by_key(|r| r.start);
    for r in ranges {
        words.extend([r.start, r.end]);
    }
    words.extend(covered.iter().map(|probe| probe.to_word()));
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// A plan as the runtime sees it, borrowed from a mapping.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    pub sites: &'a [u64],
    /// start, end, start, end, …
    pub ignored: &'a [u64],
    /// See [`CoveredProbe::from_word`].
    pub covered: &'a [u64],
}

impl<'a> Plan<'a> {
    pub fn decode(words: &'a [u64]) -> Option<Plan<'a>> {
        let [MAGIC, sites, ignored, covered, rest @ ..] = words else { return None };
        let (sites, rest) = rest.split_at_checked(*sites as usize)?;
        let (ignored, rest) = rest.split_at_checked(*ignored as usize * 2)?;
        let (covered, _) = rest.split_at_checked(*covered as usize)?;
        Some(Plan { sites, ignored, covered })
    }

    /// The lock site whose call returns to `address`.
    pub fn site(&self, address: u64) -> Option<LockOperation> {
        let i = self.sites.partition_point(|w| w >> 8 < address);
        let w = self.sites.get(i).filter(|w| **w >> 8 == address)?;
        LockOperation::from_bits(w & 0xff)
    }

    pub fn is_ignored(&self, address: u64) -> bool {
        // If the number of boundaries at or below the address is odd, the address is inside a
        // range.
        self.ignored.partition_point(|b| *b <= address) % 2 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(bytes: &[u8]) -> Vec<u64> {
        bytes.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().unwrap())).collect()
    }

    #[test]
    fn sites_and_ranges_are_found_again() {
        let site = |class, effect, depth| LockOperation { class, effect, depth };
        let read = site(SiteClass::ReadAcquire, SiteEffect::IfExchanged, 1);
        let taken = site(SiteClass::MutexAcquire, SiteEffect::IfReturnedZero, 0);
        let released = site(SiteClass::MutexRelease, SiteEffect::Always, 3);
        let bytes =
            encode(&[(0x40, read), (0x10, taken), (0x20, released)], &[0x100..0x110, 0x10..0x18], &[]);
        let words = words(&bytes);
        let plan = Plan::decode(&words).unwrap();
        assert_eq!(plan.site(0x10), Some(taken));
        assert_eq!(plan.site(0x20), Some(released));
        assert_eq!(plan.site(0x40), Some(read));
        assert_eq!(plan.site(0x11), None);
        assert_eq!(plan.site(0x41), None);
        for (a, inside) in [
            (0xf, false),
            (0x10, true),
            (0x17, true),
            (0x18, false),
            (0xff, false),
            (0x100, true),
            (0x110, false),
        ] {
            assert_eq!(plan.is_ignored(a), inside, "{a:#x}");
        }
    }

    #[test]
    fn a_cut_plan_is_refused() {
        let site = LockOperation { class: SiteClass::ReadAcquire, effect: SiteEffect::Always, depth: 0 };
        let ignored = 1..2;
        let probe = CoveredProbe { address: 0x7_1234_5678, length: 6, write: true, log2: 3 };
        let bytes = encode(&[(0x40, site)], core::slice::from_ref(&ignored), &[probe]);
        let words = words(&bytes);
        assert_eq!(CoveredProbe::from_word(Plan::decode(&words).unwrap().covered[0]), probe);
        for n in 0..words.len() {
            assert!(Plan::decode(&words[..n]).is_none());
        }
    }
}
