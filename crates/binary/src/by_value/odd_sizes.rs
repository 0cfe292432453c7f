//! Accesses of a size that has no probe.
//!
//! LLVM, and so clang and rustc, puts a probe before accesses of 1, 2, 4, 8 and 16 bytes only. Its
//! intermediate code has others: bit-fields that share 3, 5, 6 or 7 bytes, small structs that are
//! moved as one integer, `long double` and vectors of 32 and 64 bytes. In machine code those of 3
//! to 7 bytes are two accesses side by side, neither of them announced. Nothing sees such an
//! access.
//!
//! Not found: those of three and more parts that are stored in an unusual order, and those in
//! functions of Rust that call no probe.

use iced_x86::Instruction;

use super::numbers::{Number, Root};
use super::{PROBE, Walk, is_rust};
use crate::module::Module;

impl Module {
    /// The addresses of accesses to memory that others may share, of sizes that have no probe.
    /// Sorted.
    pub fn odd_accesses(&self) -> Vec<u64> {
        self.walked(|walk: Walk<'_>, instructions: &[Instruction], name: Option<&str>, calls_probe: bool| {
            let is_runtime =
                |name: &str| [PROBE, "__interpose_", "raddle_"].iter().any(|p| name.starts_with(p));
            let is_left_out =
                |name: &str| is_runtime(name) || is_rust(name) && (!calls_probe || is_of_rust_std(name));
            if name.is_none_or(is_left_out) { Vec::new() } else { walk.through(instructions).odd }
        })
    }
}

impl Walk<'_> {
    /// A read that is not announced.
    pub(super) fn reads_odd(&mut self, at: u64, place: Number, size: usize) {
        let is_part = self.silent_loads.iter().any(|other| make_odd(*other, (place, size)));
        if is_odd(size) || is_part {
            self.found.odd.push(at);
        }
    }

    pub(super) fn writes_silently(&mut self, at: u64, place: Number, size: usize) {
        let end = place.offset.saturating_add(size as i64);
        let has = |(from, length): &(Number, i64)| {
            from.root == place.root
                && from.offset <= place.offset
                && end <= from.offset.saturating_add(*length)
        };
        if place.root == Root::Frame || self.announced_writes.iter().any(has) {
            return;
        }
        if self.is_after_call {
            self.found.returned.push(at);
        }
        let is_part = self.silent_stores.iter().any(|other| make_odd(*other, (place, size)));
        if is_odd(size) || is_part {
            self.found.odd.push(at);
        }
        self.silent_stores.push((place, size));
    }
}

/// The sizes that one instruction has.
fn is_odd(size: usize) -> bool {
    matches!(size, 10 | 32 | 64)
}

/// Whether two accesses are the parts of one.
fn make_odd(one: (Number, usize), other: (Number, usize)) -> bool {
    let borders = |(a, n): (Number, usize), (b, _): (Number, usize)| a.plus(n as i64) == b;
    (borders(one, other) || borders(other, one)) && matches!(one.1 + other.1, 3 | 5..=7)
}

/// The crates that Rust's standard library is made of.
const RUST_STD: [&str; 15] = [
    "core",
    "alloc",
    "std",
    "std_detect",
    "addr2line",
    "adler2",
    "cfg_if",
    "compiler_builtins",
    "gimli",
    "hashbrown",
    "memchr",
    "miniz_oxide",
    "object",
    "panic_unwind",
    "rustc_demangle",
];

/// Whether a function of Rust belongs to the standard library and has nothing from another crate.
/// It shares what it reads in such a way with nobody: parts of debug information.
fn is_of_rust_std(raw: &str) -> bool {
    let mut crates = crates_in(raw).peekable();
    crates.peek().is_some() && crates.all(|name| RUST_STD.contains(&name))
}

/// The crates in a name of today's mangling: `Cs`, a number in base 62, `_`, and a length before
/// each name.
fn crates_in(raw: &str) -> impl Iterator<Item = &str> {
    raw.match_indices("Cs").filter_map(|(at, _)| {
        let (number, rest) = raw[at + 2..].split_once('_')?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let name = rest.get(digits..digits + rest[..digits].parse::<usize>().ok()?)?;
        number.bytes().all(|b| b.is_ascii_alphanumeric()).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_the_standard_library_are_known() {
        let own = "_RNvCsjrHSEGnQ3l9_3std4main";
        let generic = "_RINvMs0_NtCsduwmD7cSIQq_5gimli4read5parseECsjrHSEGnQ3l9_3std";
        assert!(is_of_rust_std(own) && is_of_rust_std(generic));
        let of_program = "_RINvNtNtCsjrHSEGnQ3l9_3std3sys9backtraceNCNvCs5ab_6r_u1284main0ECs5ab_6r_u128";
        assert!(!is_of_rust_std(of_program) && !is_of_rust_std("_ZN4core3ptr17h0123456789abcdefE"));
    }
}
