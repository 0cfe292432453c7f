//! The files that an instrumented copy reads instead of asking a driver.
//!
//! A folder beside an instrumented copy of a program has the files of a run's folder except `ask`.
//! It has [`FIXED_PLAN`] and [`FIXED_NAMES`] in place of answers.
//!
//! - Addresses in these files are those of the program's file. Functions and exempt objects are
//!   either such addresses, with [`FIXED_OWN`], or numbers, from one, of names in the second file.
//!   Each name ends in a zero byte.
//! - [`FIXED_LIBRARIES`] lists the program's own libraries, as [`PlannedLibrary`]s. The n-th of
//!   them, from one, has `plan.<n>` and `names.<n>`.
//! - No driver can say who calls a hook. [`FIXED_PLACES`] (`places.<n>`) has the [`PointerCall`]s
//!   in a file that count, and [`FIXED_CALLERS`] gathers the calls that were seen.

use raddle_base::hash::Fnv64;

pub const FIXED_PLAN: &str = "plan";
pub const FIXED_NAMES: &str = "names";
pub const FIXED_LIBRARIES: &str = "libraries";
pub const FIXED_PLACES: &str = "places";
/// One word with the number of sites that are known beforehand, then [`MOST_CALLERS`] words, each
/// zero or a [`FixedCaller`]. The site of the n-th caller has that number plus n. All runs of the
/// copy map this file.
pub const FIXED_CALLERS: &str = "callers";
pub const MOST_CALLERS: usize = 4096;
/// Marks an address of the program's own file, as opposed to the number of a name.
pub const FIXED_OWN: u64 = 1 << 63;

/// A library for which an instrumented copy has a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedLibrary {
    /// [`PlannedLibrary::identity`] of the first page of its file.
    pub identity: u64,
    /// The address that the file gives its first page.
    pub address: u64,
    /// The name of its file, without a folder, padded with zeros.
    name: [u8; PlannedLibrary::MOST_NAME],
}

impl PlannedLibrary {
    pub const PAGE: usize = 4096;
    pub const LEN: usize = 16 + Self::MOST_NAME;
    /// File systems allow 255.
    const MOST_NAME: usize = 256;

    /// Returns None if no file can have such a name.
    pub fn new(identity: u64, address: u64, name: &[u8]) -> Option<PlannedLibrary> {
        let mut room = [0; Self::MOST_NAME];
        room.get_mut(..name.len())?.copy_from_slice(name);
        Some(PlannedLibrary { identity, address, name: room })
    }

    pub fn name(&self) -> &[u8] {
        self.name.split(|b| *b == 0).next().unwrap_or_default()
    }

    /// The identity of a first page, or of a whole file that is shorter. Missing bytes count as
    /// zeros.
    pub fn identity(page: &[u8]) -> u64 {
        let mut hash = Fnv64::new();
        page.iter()
            .copied()
            .chain(core::iter::repeat(0))
            .take(Self::PAGE)
            .for_each(|byte| hash.write(&[byte]));
        hash.finish()
    }

    pub fn encode(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..8].copy_from_slice(&self.identity.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.address.to_le_bytes());
        bytes[16..].copy_from_slice(&self.name);
        bytes
    }

    pub fn decode(bytes: &[u8]) -> Option<PlannedLibrary> {
        let (identity, rest) = bytes.split_first_chunk::<8>()?;
        let (address, rest) = rest.split_first_chunk::<8>()?;
        Self::new(u64::from_le_bytes(*identity), u64::from_le_bytes(*address), rest)
    }
}

/// The return address of a call in a file that may be a call through a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointerCall {
    /// In the file; 40 bits.
    pub address: u64,
    /// The libraries of the API lists, numbered from one, that contain the calling function and the
    /// called one. 0: none. Calls within one library do not count. 12 bits each.
    pub libraries: [u16; 2],
}

impl PointerCall {
    /// Returns None if a number does not fit. The words sort like the addresses of their places.
    pub fn encode(self) -> Option<u64> {
        let [a, b] = self.libraries.map(u64::from);
        (self.address < 1 << 40 && a < 1 << 12 && b < 1 << 12).then_some(self.address << 24 | a << 12 | b)
    }

    pub fn decode(word: u64) -> PointerCall {
        let library = |shift: u32| (word >> shift) as u16 & 0xfff;
        PointerCall { address: word >> 24, libraries: [library(12), library(0)] }
    }
}

/// A call through a pointer that a run of an instrumented copy has made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedCaller {
    /// The function that was called: the hook's number, below [`FixedCaller::MOST_HOOKS`].
    pub hook: u32,
    /// The file that contains the call: 0 is the program, others are libraries. 10 bits.
    pub file: u32,
    /// [`PointerCall::address`].
    pub place: u64,
}

impl FixedCaller {
    pub const MOST_HOOKS: u32 = (1 << 14) - 1;

    /// Never zero. Returns None if a number does not fit.
    pub fn encode(self) -> Option<u64> {
        let fits = self.hook < Self::MOST_HOOKS && self.file < 1 << 10 && self.place < 1 << 40;
        fits.then_some(u64::from(self.hook + 1) << 50 | u64::from(self.file) << 40 | self.place)
    }

    pub fn decode(word: u64) -> Option<FixedCaller> {
        let hook = ((word >> 50) as u32).checked_sub(1)?;
        Some(FixedCaller { hook, file: (word >> 40) as u32 & 0x3ff, place: word & 0xff_ffff_ffff })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_callers_come_back() {
        let place = PointerCall { address: 0x12_3456_789a, libraries: [0xfff, 3] };
        assert_eq!(PointerCall::decode(place.encode().unwrap()), place);
        assert!(
            PointerCall { address: 1, ..place }.encode()
                < PointerCall { address: 2, libraries: [0, 0] }.encode()
        );
        assert_eq!(PointerCall { address: 1 << 40, ..place }.encode(), None);
        assert_eq!(PointerCall { libraries: [0, 1 << 12], ..place }.encode(), None);
        let caller = FixedCaller { hook: FixedCaller::MOST_HOOKS - 1, file: 1023, place: 0xff_ffff_ffff };
        assert_eq!(FixedCaller::decode(caller.encode().unwrap()), Some(caller));
        let first = FixedCaller { hook: 0, file: 0, place: 0 };
        assert_eq!(FixedCaller::decode(first.encode().unwrap()), Some(first));
        assert_eq!(FixedCaller::decode(0), None);
        assert_eq!(FixedCaller { hook: FixedCaller::MOST_HOOKS, ..first }.encode(), None);
        assert_eq!(FixedCaller { file: 1024, ..first }.encode(), None);
    }

    #[test]
    fn libraries_come_back_and_are_told_apart_by_their_first_page() {
        let library = PlannedLibrary::new(7, 0x1000, b"libours.so.1").unwrap();
        assert_eq!(PlannedLibrary::decode(&library.encode()), Some(library.clone()));
        assert_eq!(library.name(), b"libours.so.1");
        assert_eq!(PlannedLibrary::decode(&library.encode()[..20]).unwrap().name(), b"libo");
        assert_eq!(PlannedLibrary::decode(&[0; 15]), None);
        assert_eq!(PlannedLibrary::new(0, 0, &[b'x'; 300]), None);
        let mut page = [0; PlannedLibrary::PAGE + 8];
        page[..4].copy_from_slice(b"\x7fELF");
        assert_eq!(PlannedLibrary::identity(&page), PlannedLibrary::identity(b"\x7fELF"));
        page[PlannedLibrary::PAGE] = 1;
        assert_eq!(
            PlannedLibrary::identity(&page),
            PlannedLibrary::identity(b"\x7fELF"),
            "only the first page counts"
        );
        page[100] = 1;
        assert_ne!(PlannedLibrary::identity(&page), PlannedLibrary::identity(b"\x7fELF"));
    }
}
