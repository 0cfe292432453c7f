//! Numbers as people read them.

use core::fmt::{self, Write as _};

/// A number with its thousands apart: `61,234`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grouped(pub u64);

impl fmt::Display for Grouped {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = self.0.checked_ilog10().unwrap_or(0);
        for place in (0..=places).rev() {
            let digit = self.0 / 10u64.pow(place) % 10;
            write!(out, "{digit}")?;
            if place > 0 && place.is_multiple_of(3) {
                out.write_char(',')?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::Grouped;
    use std::string::ToString;

    #[test]
    fn thousands_are_apart() {
        let numbers = [0, 7, 999, 1_000, 61_234, 1_000_000, u64::MAX];
        let words = ["0", "7", "999", "1,000", "61,234", "1,000,000", "18,446,744,073,709,551,615"];
        assert_eq!(numbers.map(|n| Grouped(n).to_string()), words);
    }
}
