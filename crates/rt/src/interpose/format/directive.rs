//! One `%…` of a format, of bytes or of wide characters.

/// A character of a format.
pub trait FormatUnit: Copy {
    fn code(self) -> u32;
}

impl FormatUnit for core::ffi::c_char {
    fn code(self) -> u32 {
        u32::from(self as u8)
    }
}

impl FormatUnit for u32 {
    fn code(self) -> u32 {
        self
    }
}

/// A width or a precision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Amount {
    Missing,
    Number(usize),
    /// `*`: given by an argument.
    Argument,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Directive {
    /// scanf: `*`, nothing is stored.
    pub suppressed: bool,
    pub width: Amount,
    pub precision: Amount,
    /// scanf: `m`, the C library allocates.
    pub allocates: bool,
    /// The size of an integer in bytes; 4 for a wide character.
    pub integer: usize,
    /// `L`.
    pub long_double: bool,
    /// `l`, on characters and strings.
    pub wide: bool,
    pub conversion: u8,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum FormatFamily {
    Print,
    Scan,
}

/// The next directive of the format at `*at`, which moves past it. None if there are no more, or
/// none that can be followed.
///
/// # Safety
/// The format ends in zero.
pub unsafe fn next<U: FormatUnit>(at: &mut *const U, family: FormatFamily) -> Option<Directive> {
    loop {
        match take(at)? {
            b'%' if peek(at) == b'%' => _ = take(at),
            b'%' => break,
            _ => {}
        }
    }
    let mut d = Directive {
        suppressed: false,
        width: Amount::Missing,
        precision: Amount::Missing,
        allocates: false,
        integer: 4,
        long_double: false,
        wide: false,
        conversion: 0,
    };
    while family == FormatFamily::Print && b"-+ #0'I".contains(&peek(at)) {
        take(at);
    }
    if family == FormatFamily::Scan && peek(at) == b'*' {
        take(at);
        d.suppressed = true;
    }
    d.width = amount(at);
    // A numbered argument.
    if peek(at) == b'$' {
        return None;
    }
    if family == FormatFamily::Print && peek(at) == b'.' {
        take(at);
        d.precision = match amount(at) {
            Amount::Missing => Amount::Number(0),
            other => other,
        };
    }
    if family == FormatFamily::Scan && peek(at) == b'm' {
        take(at);
        d.allocates = true;
    }
    length(at, &mut d);
    d.conversion = take(at)?;
    if matches!(d.conversion, b'S' | b'C') {
        (d.wide, d.conversion) = (true, d.conversion.to_ascii_lowercase());
    }
    if family == FormatFamily::Scan && d.conversion == b'[' {
        set(at);
    }
    Some(d)
}

fn length<U: FormatUnit>(at: &mut *const U, d: &mut Directive) {
    loop {
        match peek(at) {
            b'h' => d.integer /= 2,
            b'l' | b'q' | b'j' | b'z' | b't' => {
                d.integer = 8;
                d.wide = peek(at) == b'l';
            }
            b'L' => {
                d.integer = 8;
                d.long_double = true;
            }
            _ => return,
        }
        take(at);
    }
}

/// Skips the rest of `[…]`. A bracket that comes first is a member.
fn set<U: FormatUnit>(at: &mut *const U) {
    if peek(at) == b'^' {
        take(at);
    }
    if peek(at) == b']' {
        take(at);
    }
    while take(at).is_some_and(|c| c != b']') {}
}

fn amount<U: FormatUnit>(at: &mut *const U) -> Amount {
    if peek(at) == b'*' {
        take(at);
        return Amount::Argument;
    }
    let mut number = None;
    while peek(at).is_ascii_digit() {
        let digit = usize::from(peek(at) - b'0');
        number = Some(number.unwrap_or(0usize).saturating_mul(10).saturating_add(digit));
        take(at);
    }
    number.map_or(Amount::Missing, Amount::Number)
}

/// Characters outside ASCII mean nothing in a format.
fn peek<U: FormatUnit>(at: &mut *const U) -> u8 {
    // SAFETY: nobody moves past the zero at the end.
    let code = unsafe { **at }.code();
    u8::try_from(code).unwrap_or(b'?')
}

/// None at the end, without a step.
fn take<U: FormatUnit>(at: &mut *const U) -> Option<u8> {
    let c = peek(at);
    if c == 0 {
        return None;
    }
    *at = at.wrapping_add(1);
    Some(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ffi::{CStr, c_char};

    fn all(format: &CStr, family: FormatFamily) -> Vec<Directive> {
        let mut at: *const c_char = format.as_ptr();
        // SAFETY: a format.
        core::iter::from_fn(|| unsafe { next(&mut at, family) }).collect()
    }

    #[test]
    fn directives_of_printf() {
        let d = all(c"100%% %-08.3f|%.*s|%hhx%lld %Lg %ls %n %zu%.s", FormatFamily::Print);
        let kinds: Vec<_> = d.iter().map(|d| (d.conversion as char, d.integer, d.precision)).collect();
        use Amount::*;
        assert_eq!(
            kinds,
            [
                ('f', 4, Number(3)),
                ('s', 4, Argument),
                ('x', 1, Missing),
                ('d', 8, Missing),
                ('g', 8, Missing),
                ('s', 8, Missing),
                ('n', 4, Missing),
                ('u', 8, Missing),
                ('s', 4, Number(0)),
            ]
        );
        assert!(d[4].long_double && d[5].wide && !d[7].wide);
        assert_eq!(d[0].width, Number(8));
    }

    #[test]
    fn directives_of_scanf() {
        let d = all(c"%*d %9[^]%a]%ms %hd%c", FormatFamily::Scan);
        let kinds: Vec<_> = d.iter().map(|d| (d.conversion as char, d.suppressed, d.allocates)).collect();
        assert_eq!(
            kinds,
            [
                ('d', true, false),
                ('[', false, false),
                ('s', false, true),
                ('d', false, false),
                ('c', false, false)
            ]
        );
        assert_eq!((d[1].width, d[3].integer), (Amount::Number(9), 2));
    }

    #[test]
    fn what_can_not_be_followed_ends_it() {
        assert!(all(c"%2$s %1$s", FormatFamily::Print).is_empty());
        assert!(all(c"%", FormatFamily::Print).is_empty() && all(c"%5", FormatFamily::Scan).is_empty());
        assert!(all(c"%[abc", FormatFamily::Scan).len() == 1, "an open set, as the C library takes it");
    }

    #[test]
    fn wide_formats_have_the_same_directives() {
        let format: Vec<u32> = "é %d %s\0".chars().map(u32::from).collect();
        let mut at = format.as_ptr();
        // SAFETY: a format.
        let d: Vec<_> = core::iter::from_fn(|| unsafe { next(&mut at, FormatFamily::Print) }).collect();
        assert_eq!(d.iter().map(|d| d.conversion).collect::<Vec<_>>(), [b'd', b's']);
    }
}
