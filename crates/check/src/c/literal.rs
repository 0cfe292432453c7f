//! The values of number, character and string tokens.

/// An integer constant and what its spelling says about its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Integer {
    pub value: u64,
    pub unsigned: bool,
    /// `l` or `ll`.
    pub long: bool,
    pub decimal: bool,
}

/// Reads an integer. `None` for floating-point numbers and nonsense.
pub fn integer(text: &str) -> Option<Integer> {
    let text: String = text.chars().filter(|c| *c != '\'').collect();
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = match lower.strip_prefix("0x") {
        Some(rest) => (rest, 16),
        None => match lower.strip_prefix("0b") {
            Some(rest) => (rest, 2),
            None if lower.len() > 1 && lower.starts_with('0') => (&lower[1..], 8),
            None => (lower.as_str(), 10),
        },
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(end);
    if suffix.chars().any(|c| !matches!(c, 'u' | 'l' | 'z' | 'i' | 'w' | 'b'))
        || digits.is_empty() && radix != 8
    {
        return None;
    }
    let mut value: u64 = 0;
    for c in digits.chars() {
        value = value.wrapping_mul(u64::from(radix)).wrapping_add(u64::from(c.to_digit(radix)?));
    }
    Some(Integer { value, unsigned: suffix.contains('u'), long: suffix.contains('l'), decimal: radix == 10 })
}

/// Reads a floating-point constant. The flag means `float`.
pub fn float(text: &str) -> Option<(f64, bool)> {
    let lower = text.to_ascii_lowercase();
    if let Some(hex) = lower.strip_prefix("0x") {
        return hex_float(hex);
    }
    let body = lower.trim_end_matches(['f', 'l', 'd', 'q']);
    body.parse::<f64>().ok().map(|v| (v, lower.ends_with('f')))
}

fn hex_float(text: &str) -> Option<(f64, bool)> {
    let (mantissa, exponent) = text.split_once('p')?;
    let single = exponent.ends_with('f');
    let exponent: i32 = exponent.trim_end_matches(['f', 'l']).parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut value = 0.0;
    for c in whole.chars() {
        value = value * 16.0 + f64::from(c.to_digit(16)?);
    }
    let mut place = 1.0 / 16.0;
    for c in fraction.chars() {
        value += place * f64::from(c.to_digit(16)?);
        place /= 16.0;
    }
    Some((value * 2f64.powi(exponent.clamp(-2000, 2000)), single))
}

/// The value of `'a'`. The spelling includes the quotes.
pub fn character(text: &str) -> i64 {
    let bytes = unescape(text);
    match bytes.as_slice() {
        [one] => i64::from(*one as i8),
        many => many.iter().fold(0i64, |v, b| (v << 8) | i64::from(*b)),
    }
}

/// The bytes of a quoted spelling, without quotes and terminator.
pub fn unescape(text: &str) -> Vec<u8> {
    let quote = text.chars().next().unwrap_or('"');
    let inner = text.get(1..).unwrap_or("");
    let inner = inner.strip_suffix(quote).unwrap_or(inner);
    let mut out = Vec::with_capacity(inner.len());
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c as u32 as u8);
            continue;
        }
        let Some(e) = chars.next() else { break };
        match e {
            'n' => out.push(b'\n'),
            't' => out.push(b'\t'),
            'r' => out.push(b'\r'),
            'a' => out.push(7),
            'b' => out.push(8),
            'f' => out.push(12),
            'v' => out.push(11),
            'e' => out.push(27),
            'x' => out.push(number(&mut chars, 16, 8, 0) as u8),
            'u' => push_utf8(&mut out, number(&mut chars, 16, 4, 0)),
            'U' => push_utf8(&mut out, number(&mut chars, 16, 8, 0)),
            '0'..='7' => out.push(number(&mut chars, 8, 2, e as u32 - '0' as u32) as u8),
            other => out.push(other as u32 as u8),
        }
    }
    out
}

fn number(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, radix: u32, most: u32, start: u32) -> u32 {
    let mut value = start;
    for _ in 0..most {
        let Some(d) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
        chars.next();
        value = value.wrapping_mul(radix).wrapping_add(d);
    }
    value
}

fn push_utf8(out: &mut Vec<u8>, code: u32) {
    let mut buffer = [0; 4];
    out.extend_from_slice(char::from_u32(code).unwrap_or('?').encode_utf8(&mut buffer).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers() {
        let value = |t| integer(t).map(|i| (i.value, i.unsigned, i.long));
        assert_eq!(value("42"), Some((42, false, false)));
        assert_eq!(value("0x1FuL"), Some((31, true, true)));
        assert_eq!(value("017"), Some((15, false, false)));
        assert_eq!(value("0"), Some((0, false, false)));
        assert_eq!(value("0b101"), Some((5, false, false)));
        assert_eq!(value("18446744073709551615u"), Some((u64::MAX, true, false)));
        assert_eq!(value("1.5"), None);
        assert_eq!(value("08x"), None);
    }

    #[test]
    fn floats() {
        assert_eq!(float("1.5f"), Some((1.5, true)));
        assert_eq!(float("1e3"), Some((1000.0, false)));
        assert_eq!(float("0x1.8p1"), Some((3.0, false)));
        assert_eq!(float("abc"), None);
    }

    #[test]
    fn characters_and_strings() {
        assert_eq!(character("'a'"), 97);
        assert_eq!(character("'\\0'"), 0);
        assert_eq!(character("'\\xff'"), -1);
        assert_eq!(unescape("\"a\\tb\\101\\x41\""), b"a\tbAA");
        assert_eq!(unescape("\"half"), b"half");
    }
}
