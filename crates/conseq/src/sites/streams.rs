//! Functions that print, and their destinations.

use raddle_binary::flow::Query;

/// Where a printing function finds its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sink {
    Stdout,
    /// A `FILE *`, in this argument.
    File(u8),
    /// A descriptor, in this argument.
    Descriptor(u8),
    /// A C++ stream, in argument 0.
    Stream,
    RustStdout,
    RustStderr,
    /// A function of the program itself.
    Elsewhere,
}

impl Sink {
    /// The argument that is the stream.
    pub(super) fn argument(self) -> Option<u8> {
        match self {
            Self::File(argument) | Self::Descriptor(argument) => Some(argument),
            Self::Stream => Some(0),
            Self::Stdout | Self::RustStdout | Self::RustStderr | Self::Elsewhere => None,
        }
    }

    pub(super) fn is_formatted_by_rust(self) -> bool {
        matches!(self, Self::RustStdout | Self::RustStderr)
    }

    /// Whether what a call prints is an error message.
    pub(super) fn is_for_errors(self, query: &Query, call: u32) -> bool {
        match self {
            Self::Stdout | Self::RustStdout | Self::Elsewhere => false,
            Self::RustStderr => true,
            Self::Descriptor(argument) => query.constant(call, argument) == Some(2),
            Self::File(argument) => {
                query.object(call, argument).is_some_and(|name| matches!(name, "stderr" | "_IO_2_1_stderr_"))
            }
            Self::Stream => {
                query.object(call, 0).is_some_and(|name| matches!(name, "_ZSt4cerr" | "_ZSt4clog"))
            }
        }
    }
}

/// Where a function with this raw name prints, if it does.
pub(super) fn sink(name: &str) -> Option<Sink> {
    Some(match name {
        "printf" | "vprintf" | "__printf_chk" | "__vprintf_chk" | "puts" | "putchar" => Sink::Stdout,
        "fprintf" | "vfprintf" | "__fprintf_chk" | "__vfprintf_chk" => Sink::File(0),
        "fputs" | "fputc" | "putc" | "_IO_putc" | "fputs_unlocked" => Sink::File(1),
        "fwrite" | "fwrite_unlocked" => Sink::File(3),
        "write" | "pwrite" | "writev" | "dprintf" | "vdprintf" | "__dprintf_chk" => Sink::Descriptor(0),
        _ if is_stream_operator(name) => Sink::Stream,
        _ if name.contains("5stdio") => return rust_sink(name),
        _ => return None,
    })
}

/// `operator<<` of `std::ostream`, and the functions that it calls.
fn is_stream_operator(name: &str) -> bool {
    const PREFIXES: [&str; 6] =
        ["_ZNSolsE", "_ZStlsI", "_ZSt16__ostream_insertI", "_ZNSo9_M_insertI", "_ZNSo3putE", "_ZNSo5writeE"];
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// The functions that `println!` and `eprintln!` call.
fn rust_sink(name: &str) -> Option<Sink> {
    let path = raddle_binary::demangle(name);
    if path.starts_with("std::io::stdio::_print") {
        Some(Sink::RustStdout)
    } else if path.starts_with("std::io::stdio::_eprint") {
        Some(Sink::RustStderr)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printing_functions_and_their_streams() {
        assert_eq!(sink("printf"), Some(Sink::Stdout));
        assert_eq!(sink("fwrite"), Some(Sink::File(3)));
        assert_eq!(sink("write"), Some(Sink::Descriptor(0)));
        assert_eq!(sink("_ZNSolsEi"), Some(Sink::Stream));
        assert_eq!(sink("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc"), Some(Sink::Stream));
        assert_eq!(sink("_ZN3std2io5stdio6_print17h0123456789abcdefE"), Some(Sink::RustStdout));
        assert_eq!(sink("_ZN3std2io5stdio7_eprint17h0123456789abcdefE"), Some(Sink::RustStderr));
        assert_eq!(sink("_RNvNtNtCsjrHSEGnQ3l9_3std2io5stdio6__print"), Some(Sink::RustStdout));
        assert_eq!(sink("sprintf"), None, "a buffer is no output");
    }

    #[test]
    fn the_stream_is_no_argument_that_is_printed() {
        assert_eq!(Sink::File(3).argument(), Some(3));
        assert_eq!(Sink::Stdout.argument(), None);
        assert_eq!(Sink::Stream.argument(), Some(0));
    }
}
