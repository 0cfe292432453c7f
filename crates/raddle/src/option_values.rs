//! The values of options that several commands have.

/// A number of seconds above 0.
pub fn seconds(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "a number of seconds, as in 30 or 0.5")?;
    if number > 0.0 && number <= 1e9 { Ok(number) } else { Err("a number of seconds above 0".into()) }
}

/// A number of bytes with an optional K, M, G or T (powers of 1024).
pub fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        "T" | "TB" | "TIB" => 40,
        _ => return Err("a size is a number with K, M, G or T, as in 2G".into()),
    };
    let number: u64 = digits.parse().map_err(|_| "a size is a number with K, M, G or T, as in 2G")?;
    number.checked_mul(1 << shift).filter(|n| *n > 0).ok_or_else(|| "out of range".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_numbers_above_zero() {
        assert_eq!(seconds("0.5"), Ok(0.5));
        for bad in ["0", "-1", "soon", "inf", "NaN", ""] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(size("4096"), Ok(4096));
        assert_eq!(size("512M"), Ok(512 << 20));
        assert_eq!(size("2g"), Ok(2 << 30));
        assert_eq!(size("1GiB"), Ok(1 << 30));
        for bad in ["", "G", "2X", "-1", "0", "1.5G", "99999999999T"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }
}
