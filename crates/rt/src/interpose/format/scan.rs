//! `scanf` and its kin. The call reads the format, and a string that is scanned; it writes each
//! item that was assigned.

use core::ffi::{c_int, c_void};

use super::arguments::{VaList, variadic};
use super::directive::{Amount, Directive, FormatFamily, FormatUnit, next};
use crate::interpose::access::{Call, Text, Wide, accesses, length, wide_length_within};
use crate::interpose::stdio::filled;

type File = *mut c_void;
type List = *mut VaList;

/// Marks the items that were assigned. `%n` stores even if no assigned item follows, so only those
/// before such an item are certain.
unsafe fn assigned<U: FormatUnit>(c: &mut Call, mut format: *const U, mut a: VaList, items: c_int) {
    let mut left = usize::try_from(items).unwrap_or(0);
    // SAFETY: the arguments match the format, and this many of them were filled in.
    unsafe {
        while left > 0
            && let Some(d) = next(&mut format, FormatFamily::Scan)
        {
            if d.suppressed {
                continue;
            }
            let to = a.word();
            c.wrote(to as *const u8, size(&d, to));
            left -= usize::from(d.conversion != b'n');
        }
    }
}

/// The number of bytes stored at `to`.
unsafe fn size(d: &Directive, to: usize) -> usize {
    if d.allocates {
        return size_of::<usize>();
    }
    let unit = if d.wide { size_of::<u32>() } else { 1 };
    match d.conversion {
        b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'n' => d.integer,
        b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => match (d.long_double, d.integer) {
            (true, _) => 10,
            (_, 8) => 8,
            _ => 4,
        },
        b'p' => size_of::<usize>(),
        b'c' => match d.width {
            Amount::Number(n) => n * unit,
            _ => unit,
        },
        // SAFETY: a string was stored there.
        b's' | b'[' if d.wide => unsafe { (wide_length_within(to as Wide, usize::MAX >> 2) + 1) * unit },
        // SAFETY: as above.
        b's' | b'[' => unsafe { length(to as Text) + 1 },
        _ => 0,
    }
}

/// The scanning functions, under each of their names, with what they do before and after besides
/// the format.
macro_rules! scans {
    ($($export:literal $name:ident($($from:ident: $ty:ty)?) $format:ident: $unit:ty, $by:ident, |$c:ident| $before:block $after:block)*) => {
        accesses! {$(
            #[unsafe(export_name = $export)]
            fn $name($($from: $ty,)? $format: $unit, a: List) -> c_int, |$c| {
                let arguments = *a;
                $c.$by($format);
                $before
            } then |items| {
                $after
                if $c.is_judged() {
                    assigned(&mut $c, $format, arguments, items)
                }
            }
        )*}
    };
}

scans! {
    "__scans_vsscanf" vsscanf(s: Text) format: Text, text, |c| { c.text(s); } {}
    "__scans_vscanf" vscanf() format: Text, text, |c| {} {}
    "__scans_vfscanf" vfscanf(file: File) format: Text, text, |c| { c.locks_stream(file); } { filled(file) }
    "__scans_99_vsscanf" __isoc99_vsscanf(s: Text) format: Text, text, |c| { c.text(s); } {}
    "__scans_99_vscanf" __isoc99_vscanf() format: Text, text, |c| {} {}
    "__scans_99_vfscanf" __isoc99_vfscanf(file: File) format: Text, text, |c| { c.locks_stream(file); } { filled(file) }
    "__scans_23_vsscanf" __isoc23_vsscanf(s: Text) format: Text, text, |c| { c.text(s); } {}
    "__scans_23_vscanf" __isoc23_vscanf() format: Text, text, |c| {} {}
    "__scans_23_vfscanf" __isoc23_vfscanf(file: File) format: Text, text, |c| { c.locks_stream(file); } { filled(file) }
    "__scans_vswscanf" vswscanf(s: Wide) format: Wide, wide, |c| { c.wide(s); } {}
    "__scans_99_vswscanf" __isoc99_vswscanf(s: Wide) format: Wide, wide, |c| { c.wide(s); } {}
}

variadic! {
    "sscanf" 2 => "__scans_vsscanf"
    "scanf" 1 => "__scans_vscanf"
    "fscanf" 2 => "__scans_vfscanf"
    "__isoc99_sscanf" 2 => "__scans_99_vsscanf"
    "__isoc99_scanf" 1 => "__scans_99_vscanf"
    "__isoc99_fscanf" 2 => "__scans_99_vfscanf"
    "__isoc23_sscanf" 2 => "__scans_23_vsscanf"
    "__isoc23_scanf" 1 => "__scans_23_vscanf"
    "__isoc23_fscanf" 2 => "__scans_23_vfscanf"
    "swscanf" 2 => "__scans_vswscanf"
    "__isoc99_swscanf" 2 => "__scans_99_vswscanf"
}
