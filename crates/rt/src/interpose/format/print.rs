//! `printf` and its kin. The call reads the format and the strings among its arguments, as far as
//! their precisions allow; `%n` writes. What is printed to memory is written there.

use core::ffi::{c_char, c_int, c_void};

use super::arguments::{VaList, variadic};
use super::directive::{Amount, FormatFamily, FormatUnit, next};
use crate::interpose::access::{Call, Text, Wide, accesses};
use crate::interpose::stdio::{filling, filling_descriptor};

type Room = *mut c_char;
type WideRoom = *mut u32;
type File = *mut c_void;
type List = *mut VaList;

/// Strings longer than a C string can be.
const ANY: usize = usize::MAX >> 2;

/// Before the call formats.
unsafe fn formats(c: &mut Call, format: Text, arguments: List) {
    if c.is_judged() {
        // SAFETY: the caller's format, and a copy of its arguments.
        unsafe {
            c.text(format);
            follow(c, format, *arguments);
        }
    }
}

unsafe fn formats_wide(c: &mut Call, format: Wide, arguments: List) {
    if c.is_judged() {
        // SAFETY: as above.
        unsafe {
            c.wide(format);
            follow(c, format, *arguments);
        }
    }
}

unsafe fn follow<U: FormatUnit>(c: &mut Call, mut format: *const U, mut a: VaList) {
    // SAFETY: the arguments are those that the format asks for; the C library relies on it too.
    unsafe {
        while let Some(d) = next(&mut format, FormatFamily::Print) {
            if d.width == Amount::Argument {
                a.word();
            }
            let most = match d.precision {
                Amount::Missing => ANY,
                Amount::Number(n) => n,
                // A negative precision counts as missing.
                Amount::Argument => usize::try_from(a.word() as c_int).unwrap_or(ANY),
            };
            match d.conversion {
                b's' if d.wide => _ = c.wide_within(a.word() as Wide, most),
                b's' => _ = c.text_within(a.word() as Text, most),
                b'n' => c.writes(a.word() as *const u8, d.integer),
                b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'c' | b'p' => _ = a.word(),
                b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' if d.long_double => {
                    a.skip_long_double()
                }
                b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => a.skip_double(),
                b'm' => {}
                // A conversion registered by the program: nobody knows what it takes.
                _ => return,
            }
        }
    }
}

/// What was printed to memory, with the zero, as far as there was room.
fn printed(c: &mut Call, to: *const c_char, result: c_int, room: usize) {
    if let Ok(n) = usize::try_from(result) {
        c.wrote(to, (n + 1).min(room));
    }
}

fn printed_wide(c: &mut Call, to: *const u32, result: c_int) {
    if let Ok(n) = usize::try_from(result) {
        c.wrote(to, (n + 1) * size_of::<u32>());
    }
}

accesses! {
    #[unsafe(export_name = "__formats_vsprintf")]
    fn vsprintf(to: Room, format: Text, a: List) -> c_int, |c| { formats(&mut c, format, a); c.fills(to) } then |r| {
        printed(&mut c, to, r, ANY)
    }
    #[unsafe(export_name = "__formats_vsnprintf")]
    fn vsnprintf(to: Room, n: usize, format: Text, a: List) -> c_int, |c| {
        formats(&mut c, format, a);
        if n > 0 { c.fills(to) }
    } then |r| { printed(&mut c, to, r, n) }
    #[unsafe(export_name = "__formats_vasprintf")]
    fn vasprintf(to: *mut Room, format: Text, a: List) -> c_int, |c| { formats(&mut c, format, a); c.fills(to) } then |r| {
        if r >= 0 { c.wrote_one(to) }
    }
    #[unsafe(export_name = "__formats_vprintf")]
    fn vprintf(format: Text, a: List) -> c_int, |c| { formats(&mut c, format, a); c.prints() }
    #[unsafe(export_name = "__formats_vfprintf")]
    fn vfprintf(file: File, format: Text, a: List) -> c_int, |c| { c.fills_stream(file); formats(&mut c, format, a); c.locks_stream(file); let _filling = filling(file); }
    #[unsafe(export_name = "__formats_vdprintf")]
    fn vdprintf(fd: c_int, format: Text, a: List) -> c_int, |c| {
        formats(&mut c, format, a);
        let _filling = filling_descriptor(fd);
    }
    #[unsafe(export_name = "__formats_vsyslog")]
    fn vsyslog(priority: c_int, format: Text, a: List), |c| { formats(&mut c, format, a) }

    #[unsafe(export_name = "__formats_vsprintf_chk")]
    fn __vsprintf_chk(to: Room, flag: c_int, room: usize, format: Text, a: List) -> c_int, |c| {
        formats(&mut c, format, a);
        c.fills(to)
    } then |r| { printed(&mut c, to, r, room) }
    #[unsafe(export_name = "__formats_vsnprintf_chk")]
    fn __vsnprintf_chk(to: Room, n: usize, flag: c_int, room: usize, format: Text, a: List) -> c_int, |c| {
        formats(&mut c, format, a);
        if n > 0 { c.fills(to) }
    } then |r| { printed(&mut c, to, r, n) }
    #[unsafe(export_name = "__formats_vasprintf_chk")]
    fn __vasprintf_chk(to: *mut Room, flag: c_int, format: Text, a: List) -> c_int, |c| {
        formats(&mut c, format, a);
        c.fills(to)
    } then |r| { if r >= 0 { c.wrote_one(to) } }
    #[unsafe(export_name = "__formats_vprintf_chk")]
    fn __vprintf_chk(flag: c_int, format: Text, a: List) -> c_int, |c| { formats(&mut c, format, a); c.prints() }
    #[unsafe(export_name = "__formats_vfprintf_chk")]
    fn __vfprintf_chk(file: File, flag: c_int, format: Text, a: List) -> c_int, |c| {
        c.fills_stream(file);
        formats(&mut c, format, a);
        c.locks_stream(file);
        let _filling = filling(file);
    }
    #[unsafe(export_name = "__formats_vdprintf_chk")]
    fn __vdprintf_chk(fd: c_int, flag: c_int, format: Text, a: List) -> c_int, |c| {
        formats(&mut c, format, a);
        let _filling = filling_descriptor(fd);
    }
    #[unsafe(export_name = "__formats_vsyslog_chk")]
    fn __vsyslog_chk(priority: c_int, flag: c_int, format: Text, a: List), |c| { formats(&mut c, format, a) }

    #[unsafe(export_name = "__formats_vwprintf")]
    fn vwprintf(format: Wide, a: List) -> c_int, |c| { formats_wide(&mut c, format, a); c.prints() }
    #[unsafe(export_name = "__formats_vfwprintf")]
    fn vfwprintf(file: File, format: Wide, a: List) -> c_int, |c| { formats_wide(&mut c, format, a); c.locks_stream(file); let _filling = filling(file); }
    #[unsafe(export_name = "__formats_vswprintf")]
    fn vswprintf(to: WideRoom, n: usize, format: Wide, a: List) -> c_int, |c| {
        formats_wide(&mut c, format, a);
        c.fills(to)
    } then |r| { printed_wide(&mut c, to, r) }
    #[unsafe(export_name = "__formats_vwprintf_chk")]
    fn __vwprintf_chk(flag: c_int, format: Wide, a: List) -> c_int, |c| { formats_wide(&mut c, format, a); c.prints() }
    #[unsafe(export_name = "__formats_vfwprintf_chk")]
    fn __vfwprintf_chk(file: File, flag: c_int, format: Wide, a: List) -> c_int, |c| {
        formats_wide(&mut c, format, a);
        c.locks_stream(file);
        let _filling = filling(file);
    }
    #[unsafe(export_name = "__formats_vswprintf_chk")]
    fn __vswprintf_chk(to: WideRoom, n: usize, flag: c_int, room: usize, format: Wide, a: List) -> c_int, |c| {
        formats_wide(&mut c, format, a);
        c.fills(to)
    } then |r| { printed_wide(&mut c, to, r) }
}

variadic! {
    "sprintf" 2 => "__formats_vsprintf"
    "snprintf" 3 => "__formats_vsnprintf"
    "asprintf" 2 => "__formats_vasprintf"
    "printf" 1 => "__formats_vprintf"
    "fprintf" 2 => "__formats_vfprintf"
    "dprintf" 2 => "__formats_vdprintf"
    "syslog" 2 => "__formats_vsyslog"
    "__sprintf_chk" 4 => "__formats_vsprintf_chk"
    "__snprintf_chk" 5 => "__formats_vsnprintf_chk"
    "__asprintf_chk" 3 => "__formats_vasprintf_chk"
    "__printf_chk" 2 => "__formats_vprintf_chk"
    "__fprintf_chk" 3 => "__formats_vfprintf_chk"
    "__dprintf_chk" 3 => "__formats_vdprintf_chk"
    "__syslog_chk" 3 => "__formats_vsyslog_chk"
    "wprintf" 1 => "__formats_vwprintf"
    "fwprintf" 2 => "__formats_vfwprintf"
    "swprintf" 3 => "__formats_vswprintf"
    "__wprintf_chk" 2 => "__formats_vwprintf_chk"
    "__fwprintf_chk" 3 => "__formats_vfwprintf_chk"
    "__swprintf_chk" 5 => "__formats_vswprintf_chk"
}
