//! What crosses the boundary for `raddle tsvd`.
//!
//! - `tsvd`: mapped, read and written by both: [`SharedMapping`], the time that delays may still
//!   take in this run.
//! - `params`: from the driver to the runtime: the parameters of the policy, as the core lays them
//!   out.
//! - `ask`: from the runtime to the driver: [`Question`]s.
//! - `plan.<pid>.<n>`: from the driver to the runtime: the answer to the n-th question, with call
//!   sites to redirect, functions to watch at their entries, and pairs to begin with.
//! - `<pid>.<n>.state`: mapped by the runtime, read by the driver: the core's tables, so that traps
//!   and coverage outlive the process however it ends.
//!
//! A folder beside an instrumented copy of a program has the same files except `ask`, and some
//! more: see `fixed`.
//!
//! A plan is a sequence of little-endian u64:
//!
//! - [`MAGIC`], and the numbers of sites, pairs, exempt objects, hooks and watched ranges;
//! - [`SITE_WORDS`] for each site;
//! - two words for each pair: both sites, and `gap << 32 | state << 24 | probability` as the core
//!   has them;
//! - the addresses of exempt objects;
//! - [`HOOK_WORDS`] for each hook;
//! - the start and end of each watched range.
//!
//! Sites and hooks are sorted by address. Addresses are those of the process that asked.
//!
//! A [`Hook`] at the entry of a function watches calls through pointers. The caller is known only
//! when the call happens. So when a place calls the function for the first time, the runtime asks
//! about it ([`EntryCall`]); the answer has one site, or none. When the program looks a name up
//! with `dlsym`, the runtime first asks about the name by its hash ([`name_hash`]). The answer has
//! the hooks of all functions that were looked up so far.

mod fixed;

pub use fixed::*;

use core::sync::atomic::{AtomicU32, AtomicU64};

pub const MAGIC: u64 = u64::from_le_bytes(*b"raddlet2");
pub const SHARED_FILE: &str = "tsvd";
pub const PARAMS_FILE: &str = "params";
pub const STATE_SUFFIX: &str = "state";
/// The runtime looks for such a folder beside itself only if its own file has one of these names.
pub const LIBRARIES: [&str; 2] = ["/libraddle_tsvd.so", "/libraddle_tsvd_hb.so"];

/// A mapping that all processes of a run share.
#[repr(C)]
pub struct SharedMapping {
    pub magic: u64,
    pub version: u32,
    /// [`flag`]s.
    pub flags: u32,
    /// Nanoseconds of delay that the run may spend in all its processes, and nanoseconds already
    /// spent.
    pub budget: AtomicU64,
    pub spent: AtomicU64,
    /// The number of processes whose sites were redirected.
    pub processes: AtomicU32,
    /// The time that the delays of one process may take in total, in millionths of the time it has
    /// run, in addition to [`SharedMapping::slack`].
    pub share: u32,
    /// Milliseconds.
    pub slack: u32,
    pub reserved: u32,
}

const _: () = assert!(size_of::<SharedMapping>() == 48);

pub mod flag {
    /// `std::async` starts a thread whatever policy it is given, and the program sees at least
    /// [`super::PROCESSORS`] processors.
    pub const FORCE_ASYNC: u32 = 1 << 0;
    /// The policy needs synchronisation events.
    pub const SYNC_EVENTS: u32 = 1 << 1;
    /// .NET: an `await` of a completed task continues at once, as it does without raddle.
    pub const SYNCHRONOUS_AWAIT: u32 = 1 << 2;
}

/// The least number of processors that a program sees under `--force-async`.
pub const PROCESSORS: i64 = 4;

impl SharedMapping {
    pub fn new(flags: u32, budget: u64, share: u32, slack: u32) -> SharedMapping {
        SharedMapping {
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
        unsafe { core::slice::from_raw_parts((&raw const *self).cast(), size_of::<SharedMapping>()) }
    }
}

/// "Process `pid` wants the sites of what it has mapped." The answer is `plan.<pid>.<number>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    pub pid: u32,
    pub number: u32,
    pub about: About,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// Everything that is mapped.
    Mapped,
    Call(EntryCall),
    /// The functions whose name has this [`name_hash`].
    Name(u64),
}

/// The hash of a function's raw name. A process uses it to ask for the function.
pub fn name_hash(name: &[u8]) -> u64 {
    raddle_base::hash::fnv64(name)
}

/// A call that arrived at the entry of a watched function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryCall {
    /// [`RedirectSite::id`] of the hook.
    pub hook: u32,
    pub return_address: u64,
}

impl Question {
    pub const LEN: usize = 24;

    pub fn encode(self) -> [u8; Self::LEN] {
        let first = u64::from(self.number) << 32 | u64::from(self.pid);
        let about = match self.about {
            About::Mapped => [0, 0],
            About::Call(c) => [u64::from(c.hook) + 1, c.return_address],
            About::Name(hash) => [u64::MAX, hash],
        };
        let mut bytes = [0; Self::LEN];
        for (to, word) in bytes.chunks_exact_mut(8).zip([first, about[0], about[1]]) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    pub fn decode(bytes: [u8; Self::LEN]) -> Question {
        let (words, _) = bytes.as_chunks::<8>();
        let [first, hook, what] = [words[0], words[1], words[2]].map(u64::from_le_bytes);
        let about = match hook {
            0 => About::Mapped,
            u64::MAX => About::Name(what),
            _ => About::Call(EntryCall { hook: (hook - 1) as u32, return_address: what }),
        };
        Question { pid: first as u32, number: (first >> 32) as u32, about }
    }
}

/// Which part of a call is the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ObjectOperand {
    /// The integer argument with this number, from 0 to 5.
    Argument(u8),
    /// The state that all callers of the class share.
    Library,
}

/// A call or jump to redirect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RedirectSite {
    /// Address of the instruction, whose last four bytes are its operand.
    pub address: u64,
    /// The bytes that the instruction must have, the first one lowest.
    pub bytes: u64,
    pub len: u8,
    /// [`site_flag`]s.
    pub flags: u8,
    pub object: ObjectOperand,
    /// The class whose rules apply to the call. Objects of different classes at one address are
    /// different objects.
    pub class: u32,
    /// The site's number in this run, the same in all processes.
    pub id: u32,
    /// The word at this offset in the object names the object, instead of its address: for example,
    /// the document that a node belongs to.
    pub field: Option<u16>,
    /// A function of the library that returns the owner of the object. 0: none.
    pub via: u64,
    /// A function of the library that says whether the object may be shared: any result but zero
    /// means yes. 0: none.
    pub safe_if: u64,
}

pub mod site_flag {
    pub const WRITE: u8 = 1 << 0;
    /// A jump that leaves the caller's own return address to the callee.
    pub const TAIL: u8 = 1 << 1;
    /// The operand is a slot that holds the target, not the target itself.
    pub const SLOT: u8 = 1 << 2;
    /// An object in the stack frames of the caller belongs to that thread alone.
    pub const OFTEN_LOCAL: u8 = 1 << 3;
    /// Not a TSVD point: a call of `std::async`, whose policy is its second argument, or one of
    /// [`LOOKUP`].
    pub const ASYNC: u8 = 1 << 4;
    /// Not a TSVD point: a call of `dlsym` or a similar function, whose second argument is a name.
    pub const LOOKUP: u8 = ASYNC | WRITE;
    /// Some objects are exempt: see [`super::TsvdPlan::exempt`].
    pub const EXEMPTS: u8 = 1 << 5;
    /// The call ends the object's lifetime: a destructor.
    pub const ENDS: u8 = 1 << 6;
    /// The entry of a function, not a call.
    pub const HOOK: u8 = 1 << 7;
}

pub const SITE_WORDS: usize = 6;

impl RedirectSite {
    pub fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    pub fn encode(&self) -> [u64; SITE_WORDS] {
        let object = match self.object {
            ObjectOperand::Argument(n) => u64::from(n),
            ObjectOperand::Library => 0xff,
        };
        let field = self.field.map_or(0, |f| u64::from(f) + 1);
        let packed = u64::from(self.len)
            | u64::from(self.flags) << 8
            | object << 16
            | field << 24
            | u64::from(self.class) << 42;
        [self.address, self.bytes, packed, u64::from(self.id), self.via, self.safe_if]
    }

    pub fn decode(words: &[u64]) -> Option<RedirectSite> {
        let [address, bytes, packed, id, via, safe_if] = *words else { return None };
        let object = match (packed >> 16) as u8 {
            0xff => ObjectOperand::Library,
            n if n < 6 => ObjectOperand::Argument(n),
            _ => return None,
        };
        let field = (packed >> 24 & 0x3_ffff).checked_sub(1).map(|f| f as u16);
        Some(RedirectSite {
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

/// The most bytes of code that a hook moves, and the most bytes that they become.
pub const MOST_MOVED: usize = 24;
pub const MOST_CODE: usize = 27;
pub const HOOK_WORDS: usize = SITE_WORDS + HOOK_BYTES / 8;
const HOOK_BYTES: usize = (MOST_MOVED + MOST_CODE + 5usize).next_multiple_of(8);

/// A function to watch at its entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hook {
    /// Which object a call is on, and how. `address` is where the jump goes. `id` is the hook's
    /// number in this run, the same in all processes.
    pub site: RedirectSite,
    /// The bytes that must be there, which the jump replaces.
    pub bytes: [u8; MOST_MOVED],
    pub len: u8,
    /// The code that runs elsewhere in their place.
    pub code: [u8; MOST_CODE],
    pub code_len: u8,
    /// Where in the code to correct a relative distance of four bytes. 0: nowhere.
    pub relative: [u8; 3],
}

impl Hook {
    #[cfg(any(feature = "std", test))]
    fn encode(&self) -> Vec<u64> {
        let mut bytes = self.bytes.to_vec();
        bytes.extend(self.code);
        bytes.extend([self.len, self.code_len]);
        bytes.extend(self.relative);
        bytes.resize(HOOK_BYTES, 0);
        let (words, _) = bytes.as_chunks::<8>();
        self.site.encode().into_iter().chain(words.iter().map(|w| u64::from_le_bytes(*w))).collect()
    }

    fn decode(words: &[u64]) -> Option<Hook> {
        let (site, rest) = words.split_at_checked(SITE_WORDS)?;
        let mut all = [0; HOOK_BYTES];
        for (to, word) in all.chunks_exact_mut(8).zip(rest) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        let (bytes, rest) = all.split_first_chunk::<MOST_MOVED>()?;
        let (code, rest) = rest.split_first_chunk::<MOST_CODE>()?;
        let [len, code_len, a, b, c] = *rest.first_chunk::<5>()?;
        // The code that moves instructions relies on these limits.
        let fits = (5..=MOST_MOVED).contains(&usize::from(len)) && usize::from(code_len) <= MOST_CODE;
        let relative = [a, b, c];
        let inside = relative.iter().all(|at| *at == 0 || u32::from(*at) + 4 <= u32::from(code_len));
        let site = RedirectSite::decode(site)?;
        (fits && inside).then_some(Hook { site, bytes: *bytes, len, code: *code, code_len, relative })
    }
}

/// A pair to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartingPair {
    pub a: u32,
    pub b: u32,
    /// Below 2^24.
    pub probability: u32,
    /// Below 2^8.
    pub state: u32,
    pub gap: u32,
}

/// The parts of a plan.
#[cfg(any(feature = "std", test))]
#[derive(Debug, Default)]
pub struct Contents<'a> {
    pub sites: &'a [RedirectSite],
    pub pairs: &'a [StartingPair],
    pub exempt: &'a [u64],
    pub hooks: &'a [Hook],
    /// Code whose calls count when they arrive at a hook.
    pub watched: &'a [core::ops::Range<u64>],
}

#[cfg(any(feature = "std", test))]
impl Contents<'_> {
    pub fn encode(&self) -> Vec<u8> {
        let (mut sites, mut hooks) = (self.sites.to_vec(), self.hooks.to_vec());
        sites.sort_by_key(|s| s.address);
        hooks.sort_by_key(|h| h.site.address);
        let counts = [sites.len(), self.pairs.len(), self.exempt.len(), hooks.len(), self.watched.len()];
        let mut words = vec![MAGIC];
        words.extend(counts.map(|n| n as u64));
        sites.iter().for_each(|s| words.extend(s.encode()));
        for p in self.pairs {
            words.extend([
                u64::from(p.a) << 32 | u64::from(p.b),
                u64::from(p.gap) << 32 | u64::from(p.state) << 24 | u64::from(p.probability),
            ]);
        }
        words.extend(self.exempt);
        hooks.iter().for_each(|h| words.extend(h.encode()));
        self.watched.iter().for_each(|range| words.extend([range.start, range.end]));
        words.iter().flat_map(|w| w.to_le_bytes()).collect()
    }
}

/// A plan as the runtime sees it, borrowed from a mapping.
#[derive(Clone, Copy)]
pub struct TsvdPlan<'a> {
    sites: &'a [u64],
    pairs: &'a [u64],
    /// Objects that may be shared whatever their class says, such as `std::cout`.
    pub exempt: &'a [u64],
    hooks: &'a [u64],
    watched: &'a [u64],
}

impl<'a> TsvdPlan<'a> {
    pub fn decode(words: &'a [u64]) -> Option<TsvdPlan<'a>> {
        let [MAGIC, sites, pairs, exempt, hooks, watched, rest @ ..] = words else { return None };
        let cut =
            |rest: &'a [u64], n: u64, size: usize| rest.split_at_checked((n as usize).checked_mul(size)?);
        let (sites, rest) = cut(rest, *sites, SITE_WORDS)?;
        let (pairs, rest) = cut(rest, *pairs, 2)?;
        let (exempt, rest) = cut(rest, *exempt, 1)?;
        let (hooks, rest) = cut(rest, *hooks, HOOK_WORDS)?;
        let (watched, _) = cut(rest, *watched, 2)?;
        Some(TsvdPlan { sites, pairs, exempt, hooks, watched })
    }

    pub fn has_sites(self) -> bool {
        !self.sites.is_empty()
    }

    pub fn sites(self) -> impl Iterator<Item = RedirectSite> + Clone + 'a {
        self.sites.chunks_exact(SITE_WORDS).filter_map(RedirectSite::decode)
    }

    /// The plan, restricted to the sites with an address in the range.
    pub fn within(self, range: core::ops::Range<u64>) -> TsvdPlan<'a> {
        let (sites, _) = self.sites.as_chunks::<SITE_WORDS>();
        let start = sites.partition_point(|s| s[0] < range.start);
        let end = sites.partition_point(|s| s[0] < range.end).max(start);
        TsvdPlan { sites: &self.sites[start * SITE_WORDS..end * SITE_WORDS], ..self }
    }

    pub fn has_hooks(self) -> bool {
        !self.hooks.is_empty()
    }

    /// The hooks with an address in the range.
    pub fn hooks_within(self, range: core::ops::Range<u64>) -> impl Iterator<Item = Hook> + Clone + 'a {
        let hooks = self.hooks.chunks_exact(HOOK_WORDS).filter_map(Hook::decode);
        hooks.filter(move |h| range.contains(&h.site.address))
    }

    pub fn watched(self) -> impl ExactSizeIterator<Item = core::ops::Range<u64>> + 'a {
        self.watched.chunks_exact(2).map(|w| w[0]..w[1])
    }

    pub fn pairs(self) -> impl Iterator<Item = StartingPair> + 'a {
        self.pairs.chunks_exact(2).map(|w| StartingPair {
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

    fn any_site() -> impl Strategy<Value = RedirectSite> {
        let object = prop_oneof![(0u8..6).prop_map(ObjectOperand::Argument), Just(ObjectOperand::Library)];
        let numbers = (any::<[u64; 4]>(), any::<u8>(), any::<u8>(), 0u32..1 << 22, any::<u32>());
        (numbers, object, any::<Option<u16>>()).prop_map(|((w, len, flags, class, id), object, field)| {
            RedirectSite {
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
            }
        })
    }

    fn any_hook() -> impl Strategy<Value = Hook> {
        let code =
            (any::<[u8; MOST_MOVED]>(), 5..=MOST_MOVED as u8, any::<[u8; MOST_CODE]>(), 5..=MOST_CODE as u8);
        let code = code.prop_flat_map(|(bytes, len, code, code_len)| {
            let at = 0..=code_len - 4;
            (Just((bytes, len, code, code_len)), [at.clone(), at.clone(), at])
        });
        (any_site(), code).prop_map(|(site, ((bytes, len, code, code_len), relative))| Hook {
            site,
            bytes,
            len,
            code,
            code_len,
            relative,
        })
    }

    proptest! {
        #[test]
        fn sites_and_pairs_come_back(sites in prop::collection::vec(any_site(), 0..20), pairs in prop::collection::vec(any::<[u32; 5]>(), 0..20), exempt: [u64; 2], hooks in prop::collection::vec(any_hook(), 0..5), watched: [[u64; 2]; 3]) {
            let pairs: Vec<StartingPair> = pairs.into_iter().map(|[a, b, probability, state, gap]| StartingPair { a, b, probability: probability >> 8, state: state >> 24, gap }).collect();
            let watched = watched.map(|[start, end]| start..end);
            let words = words(&Contents { sites: &sites, pairs: &pairs, exempt: &exempt, hooks: &hooks, watched: &watched }.encode());
            let mut sites = sites;
            sites.sort_by_key(|s| s.address);
            let plan = TsvdPlan::decode(&words).unwrap();
            prop_assert_eq!(plan.sites().collect::<Vec<_>>(), sites.clone());
            let (low, high) = (1 << 62, 1 << 63);
            let inside: Vec<RedirectSite> = sites.into_iter().filter(|s| (low..high).contains(&s.address)).collect();
            prop_assert_eq!(plan.within(low..high).sites().collect::<Vec<_>>(), inside);
            prop_assert_eq!(plan.pairs().collect::<Vec<_>>(), pairs);
            prop_assert_eq!(plan.exempt, &exempt[..]);
            let mut hooks: Vec<Hook> = hooks.into_iter().filter(|h| (low..high).contains(&h.site.address)).collect();
            hooks.sort_by_key(|h| h.site.address);
            prop_assert_eq!(plan.hooks_within(low..high).collect::<Vec<_>>(), hooks);
            prop_assert_eq!(plan.watched().collect::<Vec<_>>(), watched);
            for n in 0..words.len() {
                prop_assert!(TsvdPlan::decode(&words[..n]).is_none());
            }
        }

        #[test]
        fn questions_come_back(pid: u32, number: u32, hook: u32, word: u64) {
            let call = About::Call(EntryCall { hook, return_address: word });
            for about in [About::Mapped, call, About::Name(word)] {
                let question = Question { pid, number, about };
                prop_assert_eq!(Question::decode(question.encode()), question);
            }
        }
    }

    const SITE: RedirectSite = RedirectSite {
        address: 1,
        bytes: 2,
        len: 5,
        flags: 0,
        object: ObjectOperand::Argument(6),
        class: 0,
        id: 0,
        field: None,
        via: 0,
        safe_if: 0,
    };

    #[test]
    fn a_site_with_a_seventh_argument_is_refused() {
        assert_eq!(RedirectSite::decode(&SITE.encode()), None);
    }

    #[test]
    fn a_hook_that_does_not_move_enough_or_points_outside_is_refused() {
        let site = RedirectSite { object: ObjectOperand::Library, ..SITE };
        let (bytes, code) = ([0x90; MOST_MOVED], [0x90; MOST_CODE]);
        let hook = Hook { site, bytes, len: 7, code, code_len: 9, relative: [3, 5, 0] };
        assert_eq!(Hook::decode(&hook.encode()), Some(hook));
        for wrong in [
            Hook { len: 4, ..hook },
            Hook { len: 25, ..hook },
            Hook { code_len: 28, ..hook },
            Hook { relative: [6, 0, 0], ..hook },
        ] {
            assert_eq!(Hook::decode(&wrong.encode()), None);
        }
    }
}
