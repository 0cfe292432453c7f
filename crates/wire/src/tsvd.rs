//! What crosses the boundary for `raddle tsvd`.
//!
//! | file | written by | read by | what |
//! |---|---|---|---|
//! | `tsvd` | both, mapped | both | [`Shared`]: the time that delays may still take in this run |
//! | `params` | driver | runtime | the parameters of the policy, as the core lays them out |
//! | `ask` | runtime | driver | [`Question`]s |
//! | `plan.<pid>.<n>` | driver | runtime | the answer to the n-th question: call sites to redirect, pairs to begin with |
//! | `<pid>.<n>.state` | runtime, mapped | driver | the core's tables, so that traps and coverage outlive the process however it ends |
//!
//! A folder beside an instrumented copy of a program has the same files but `ask`, and [`FIXED_PLAN`] and [`FIXED_NAMES`] in
//! place of answers. There addresses are those of the program's file, and functions and exempt objects are given as such with
//! [`FIXED_OWN`], or as numbers, from one, of names in the second file, each of which ends in a zero byte.
//!
//! A plan is a run of little-endian u64: [`MAGIC`], the numbers of sites, of pairs and of exempt objects, [`SITE_WORDS`] for
//! each site, then two for each pair: both sites, and `gap << 32 | state << 24 | probability` as the core has them,
//! then the addresses of exempt objects.
//! Sites are sorted by address. Addresses are those of the process that asked.

use core::sync::atomic::{AtomicU32, AtomicU64};

pub const MAGIC: u64 = u64::from_le_bytes(*b"raddlet2");
pub const SHARED_FILE: &str = "tsvd";
pub const PARAMS_FILE: &str = "params";
pub const STATE_SUFFIX: &str = "state";
pub const FIXED_PLAN: &str = "plan";
pub const FIXED_NAMES: &str = "names";
/// Instead of the number of a name: an address of the program's own file.
pub const FIXED_OWN: u64 = 1 << 63;
/// The runtime looks for such a folder around itself only under these names.
pub const LIBRARIES: [&str; 2] = ["/libraddle_tsvd.so", "/libraddle_tsvd_hb.so"];

/// A mapped word or two that all processes of a run share.
#[repr(C)]
pub struct Shared {
    pub magic: u64,
    pub version: u32,
    /// [`flag`]s.
    pub flags: u32,
    /// Nanoseconds of delay that the run may spend in all its processes, and has spent.
    pub budget: AtomicU64,
    pub spent: AtomicU64,
    /// Processes whose sites were redirected.
    pub processes: AtomicU32,
    /// What delays of one process may take in all, as millionths of the time it has run, beside [`Shared::slack`].
    pub share: u32,
    /// Milliseconds.
    pub slack: u32,
    pub reserved: u32,
}

const _: () = assert!(size_of::<Shared>() == 48);

pub mod flag {
    /// `std::async` starts a thread whatever policy it is given, and there are at least [`super::PROCESSORS`] processors.
    pub const FORCE_ASYNC: u32 = 1 << 0;
    /// The policy wants to know what synchronises.
    pub const SYNC_EVENTS: u32 = 1 << 1;
}

/// How many processors a program sees at least under `--force-async`.
pub const PROCESSORS: i64 = 4;

impl Shared {
    pub fn new(flags: u32, budget: u64, share: u32, slack: u32) -> Shared {
        Shared {
            magic: MAGIC,
            version: crate::VERSION,
            flags,
            budget: AtomicU64::new(budget),
            spent: AtomicU64::new(0),
            processes: AtomicU32::new(0),
            share,
            slack,
            reserved: 0,
        }
    }

    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: repr(C) with no padding (checked above), so all its bytes are initialised.
        unsafe { core::slice::from_raw_parts((&raw const *self).cast(), size_of::<Shared>()) }
    }
}

/// "Process `pid` wants the sites of what it has mapped"; the answer is `plan.<pid>.<number>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    pub pid: u32,
    pub number: u32,
}

impl Question {
    pub const LEN: usize = 8;

    pub fn encode(self) -> [u8; Self::LEN] {
        (u64::from(self.number) << 32 | u64::from(self.pid)).to_le_bytes()
    }

    pub fn decode(bytes: [u8; Self::LEN]) -> Question {
        let word = u64::from_le_bytes(bytes);
        Question { pid: word as u32, number: (word >> 32) as u32 }
    }
}

/// What of a call is the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Object {
    /// The integer argument with this number, from 0 to 5.
    Argument(u8),
    /// The state that all callers of the class share.
    Library,
}

/// A call or jump to be redirected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Site {
    /// Of the instruction, whose last four bytes are its operand.
    pub address: u64,
    /// What must be there: the instruction's bytes, the first one lowest.
    pub bytes: u64,
    pub len: u8,
    /// [`site_flag`]s.
    pub flags: u8,
    pub object: Object,
    /// Of the class whose rules the call is under; objects of different classes at one address are different objects.
    pub class: u32,
    /// The site's number in this run, the same in all processes.
    pub id: u32,
    /// Not the object but the word at this offset in it names it: a document that a node belongs to.
    pub field: Option<u16>,
    /// A function of the library that gives the object that the object belongs to; 0: none.
    pub via: u64,
    /// A function of the library that is asked about the object: not zero says that it may be shared; 0: none.
    pub safe_if: u64,
}

pub mod site_flag {
    pub const WRITE: u8 = 1 << 0;
    /// A jump that leaves the caller's own return address to the callee.
    pub const TAIL: u8 = 1 << 1;
    /// The operand is a slot that holds the target, not the target.
    pub const SLOT: u8 = 1 << 2;
    /// An object in the frames of the caller is nobody else's.
    pub const OFTEN_LOCAL: u8 = 1 << 3;
    /// No point: a call of `std::async`, whose policy is its second argument.
    pub const ASYNC: u8 = 1 << 4;
    /// Some objects are exempt: see [`super::Plan::exempt`].
    pub const EXEMPTS: u8 = 1 << 5;
    /// The object ends with this call: a destructor.
    pub const ENDS: u8 = 1 << 6;
}

pub const SITE_WORDS: usize = 6;

impl Site {
    pub fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    pub fn encode(&self) -> [u64; SITE_WORDS] {
        let object = match self.object {
            Object::Argument(n) => u64::from(n),
            Object::Library => 0xff,
        };
        let field = self.field.map_or(0, |f| u64::from(f) + 1);
        let packed = u64::from(self.len)
            | u64::from(self.flags) << 8
            | object << 16
            | field << 24
            | u64::from(self.class) << 42;
        [self.address, self.bytes, packed, u64::from(self.id), self.via, self.safe_if]
    }

    pub fn decode(words: &[u64]) -> Option<Site> {
        let [address, bytes, packed, id, via, safe_if] = *words else { return None };
        let object = match (packed >> 16) as u8 {
            0xff => Object::Library,
            n if n < 6 => Object::Argument(n),
            _ => return None,
        };
        let field = (packed >> 24 & 0x3_ffff).checked_sub(1).map(|f| f as u16);
        Some(Site {
            address,
            bytes,
            len: packed as u8,
            flags: (packed >> 8) as u8,
            object,
            class: (packed >> 42) as u32,
            id: id as u32,
            field,
            via,
            safe_if,
        })
    }
}

/// A pair to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    pub a: u32,
    pub b: u32,
    /// Below 2^24.
    pub probability: u32,
    /// Below 2^8.
    pub state: u32,
    pub gap: u32,
}

#[cfg(any(feature = "std", test))]
pub fn encode(sites: &[Site], pairs: &[Pair], exempt: &[u64]) -> Vec<u8> {
    let mut sites = sites.to_vec();
    sites.sort_by_key(|s| s.address);
    let mut words = vec![MAGIC, sites.len() as u64, pairs.len() as u64, exempt.len() as u64];
    sites.iter().for_each(|s| words.extend(s.encode()));
    for p in pairs {
        words.extend([
            u64::from(p.a) << 32 | u64::from(p.b),
            u64::from(p.gap) << 32 | u64::from(p.state) << 24 | u64::from(p.probability),
        ]);
    }
    words.extend(exempt);
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// A plan as the runtime sees it: borrowed from a mapping.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    sites: &'a [u64],
    pairs: &'a [u64],
    /// Objects that may be shared whatever their class says: `std::cout` and its like.
    pub exempt: &'a [u64],
}

impl<'a> Plan<'a> {
    pub fn decode(words: &'a [u64]) -> Option<Plan<'a>> {
        let [MAGIC, sites, pairs, exempt, rest @ ..] = words else { return None };
        let (sites, rest) = rest.split_at_checked((*sites as usize).checked_mul(SITE_WORDS)?)?;
        let (pairs, rest) = rest.split_at_checked((*pairs as usize).checked_mul(2)?)?;
        let exempt = rest.get(..*exempt as usize)?;
        Some(Plan { sites, pairs, exempt })
    }

    pub fn has_sites(self) -> bool {
        !self.sites.is_empty()
    }

    pub fn sites(self) -> impl Iterator<Item = Site> + Clone + 'a {
        self.sites.chunks_exact(SITE_WORDS).filter_map(Site::decode)
    }

    /// The plan with only those sites whose address is in the range.
    pub fn within(self, range: core::ops::Range<u64>) -> Plan<'a> {
        let (sites, _) = self.sites.as_chunks::<SITE_WORDS>();
        let start = sites.partition_point(|s| s[0] < range.start);
        let end = sites.partition_point(|s| s[0] < range.end).max(start);
        Plan { sites: &self.sites[start * SITE_WORDS..end * SITE_WORDS], ..self }
    }

    pub fn pairs(self) -> impl Iterator<Item = Pair> + 'a {
        self.pairs.chunks_exact(2).map(|w| Pair {
            a: (w[0] >> 32) as u32,
            b: w[0] as u32,
            probability: w[1] as u32 & 0xff_ffff,
            state: (w[1] >> 24) as u32 & 0xff,
            gap: (w[1] >> 32) as u32,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(bytes: &[u8]) -> Vec<u64> {
        bytes.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().unwrap())).collect()
    }

    fn any_site() -> impl Strategy<Value = Site> {
        let object = prop_oneof![(0u8..6).prop_map(Object::Argument), Just(Object::Library)];
        let numbers = (any::<[u64; 4]>(), any::<u8>(), any::<u8>(), 0u32..1 << 22, any::<u32>());
        (numbers, object, any::<Option<u16>>()).prop_map(|((w, len, flags, class, id), object, field)| Site {
            address: w[0],
            bytes: w[1],
            len,
            flags,
            object,
            class,
            id,
            field,
            via: w[2],
            safe_if: w[3],
        })
    }

    proptest! {
        #[test]
        fn sites_and_pairs_come_back(sites in prop::collection::vec(any_site(), 0..20), pairs in prop::collection::vec(any::<[u32; 5]>(), 0..20), exempt: [u64; 2]) {
            let pairs: Vec<Pair> = pairs.into_iter().map(|[a, b, probability, state, gap]| Pair { a, b, probability: probability >> 8, state: state >> 24, gap }).collect();
            let words = words(&encode(&sites, &pairs, &exempt));
            let mut sites = sites;
            sites.sort_by_key(|s| s.address);
            let plan = Plan::decode(&words).unwrap();
            prop_assert_eq!(plan.sites().collect::<Vec<_>>(), sites.clone());
            let (low, high) = (1 << 62, 1 << 63);
            let inside: Vec<Site> = sites.into_iter().filter(|s| (low..high).contains(&s.address)).collect();
            prop_assert_eq!(plan.within(low..high).sites().collect::<Vec<_>>(), inside);
            prop_assert_eq!(plan.pairs().collect::<Vec<_>>(), pairs);
            prop_assert_eq!(plan.exempt, &exempt[..]);
            for n in 0..words.len() {
                prop_assert!(Plan::decode(&words[..n]).is_none());
            }
        }

        #[test]
        fn questions_come_back(pid: u32, number: u32) {
            let question = Question { pid, number };
            prop_assert_eq!(Question::decode(question.encode()), question);
        }
    }

    #[test]
    fn a_site_with_a_seventh_argument_is_refused() {
        let site = Site {
            address: 1,
            bytes: 2,
            len: 5,
            flags: 0,
            object: Object::Argument(6),
            class: 0,
            id: 0,
            field: None,
            via: 0,
            safe_if: 0,
        };
        assert_eq!(Site::decode(&site.encode()), None);
    }
}
