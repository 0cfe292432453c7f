//! What raddle must know about single options of gcc and clang to parse a command line.
//!
//! The one thing that cannot be guessed is which options take the next word as their value:
//! `-o main.c` names no source. The lists are the union of gcc's (`common.opt`, `c.opt`, the
//! driver's own) and clang's (`Options.td`); a word that only one of them knows does no harm.

/// Options whose value is always the next word.
const SEPARATE: &[&str] = &[
    "-A",
    "-F",
    "-G",
    "-Xanalyzer",
    "-Xarch_host",
    "-Xassembler",
    "-Xclang",
    "-Xlinker",
    "-Xpreprocessor",
    "-allowable_client",
    "-arch",
    "-aux-info",
    "-b",
    "-client_name",
    "-compatibility_version",
    "-current_version",
    "-dumpbase",
    "-dumpbase-ext",
    "-dumpdir",
    "-exported_symbols_list",
    "-framework",
    "-gcc-toolchain",
    "-idirafter",
    "-imacros",
    "-imultiarch",
    "-imultilib",
    "-include",
    "-include-pch",
    "-init",
    "-install_name",
    "-iprefix",
    "-iquote",
    "-isysroot",
    "-isystem",
    "-isystem-after",
    "-ivfsoverlay",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-iwithsysroot",
    "-mllvm",
    "-resource-dir",
    "-rpath",
    "-serialize-diagnostics",
    "-specs",
    "-target",
    "-target-linker-version",
    "-working-directory",
    "-wrapper",
    "--include",
    "--param",
    "--sysroot",
    "--target",
    "-MF",
    "-MJ",
    "-MQ",
    "-MT",
];

/// Options whose value is joined (`-Idir`) or, when nothing is joined, the next word (`-I dir`).
const JOINED_OR_SEPARATE: &[&str] =
    &["-B", "-D", "-I", "-L", "-T", "-U", "-V", "-e", "-h", "-l", "-o", "-u", "-x", "-z"];

/// Whether the word after `option` belongs to it.
pub fn takes_next_word(option: &str) -> bool {
    SEPARATE.contains(&option) || JOINED_OR_SEPARATE.contains(&option)
}

/// Options that only ask the compiler about itself: nothing is compiled or linked.
pub fn is_query(option: &str) -> bool {
    const EXACT: &[&str] = &[
        "--version",
        "-version",
        "--help",
        "-help",
        "-dumpversion",
        "-dumpfullversion",
        "-dumpmachine",
        "-dumpspecs",
        "--target-help",
        "-###",
        "-cc1",
        "-cc1as",
    ];
    const PREFIX: &[&str] = &["-print-", "--print-", "--help=", "-dump=", "--autocomplete="];
    EXACT.contains(&option) || PREFIX.iter().any(|p| option.starts_with(p))
}

/// Whether `option` chooses a level or format of debug information (`-g0` included).
pub fn is_debug_info(option: &str) -> bool {
    // These begin like it but do not say whether there is debug information.
    const OTHER: &[&str] = &[
        "-gcc-",
        "-gnat",
        "-gz",
        "-gno-",
        "-grecord-",
        "-gcolumn-info",
        "-gsimple-template-names",
        "-gpubnames",
        "-ggnu-pubnames",
    ];
    option.starts_with("-g") && !OTHER.iter().any(|p| option.starts_with(p))
}

/// What the compiler does with an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputLanguage {
    /// C, C++, Objective-C, or their preprocessed forms: takes `-D` and `-isystem`.
    CFamily,
    /// A header to precompile: nothing is linked.
    Header,
    /// Assembler that goes through the preprocessor.
    PreprocessedAssembler,
    /// Plain assembler: no option of raddle's applies to it.
    Assembler,
    /// Fortran, D, Go, Ada: instrumented by the same back end, but without a C preprocessor.
    Other,
    /// Not compiled at all: an object, an archive, a library, a linker script.
    LinkerInput,
}

/// The language of `path` by its extension, as gcc and clang see it.
pub fn language_of_path(path: &str) -> InputLanguage {
    let name = path.rsplit('/').next().unwrap_or(path);
    let Some((_, ending)) = name.rsplit_once('.') else {
        return InputLanguage::LinkerInput;
    };
    match ending {
        "c" | "i" | "ii" | "cc" | "cp" | "cxx" | "cpp" | "CPP" | "c++" | "C" | "m" | "mi" | "mm" | "M"
        | "mii" | "cppm" | "ixx" | "cu" => InputLanguage::CFamily,
        "h" | "hh" | "H" | "hp" | "hxx" | "hpp" | "HPP" | "h++" | "tcc" => InputLanguage::Header,
        "S" | "sx" => InputLanguage::PreprocessedAssembler,
        "s" => InputLanguage::Assembler,
        "f" | "for" | "ftn" | "F" | "FOR" | "fpp" | "FPP" | "FTN" | "f90" | "f95" | "f03" | "f08" | "F90"
        | "F95" | "F03" | "F08" | "d" | "di" | "dd" | "go" | "adb" | "ads" | "ll" | "bc" => {
            InputLanguage::Other
        }
        _ => InputLanguage::LinkerInput,
    }
}

/// The language that `-x NAME` chooses; `None` for `-x none`, which goes back to the extensions.
pub fn language_of_name(name: &str) -> Option<InputLanguage> {
    match name {
        "none" => None,
        "assembler" => Some(InputLanguage::Assembler),
        "assembler-with-cpp" => Some(InputLanguage::PreprocessedAssembler),
        _ if name.ends_with("-header") || name.ends_with("-header-unit") => Some(InputLanguage::Header),
        _ if name.starts_with('c') || name.starts_with("objective-c") || name == "cpp-output" => {
            Some(InputLanguage::CFamily)
        }
        _ => Some(InputLanguage::Other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_not_mistaken_for_inputs() {
        for option in ["-o", "-MF", "-isystem", "-Xlinker", "--param", "-x", "-l", "-D"] {
            assert!(takes_next_word(option), "{option}");
        }
        for option in ["-O2", "-c", "-Ifoo", "-lfoo", "-MD", "-MMD", "-MP", "-pthread", "-shared"] {
            assert!(!takes_next_word(option), "{option}");
        }
    }

    #[test]
    fn debug_flags() {
        for option in [
            "-g",
            "-g0",
            "-g3",
            "-ggdb",
            "-ggdb3",
            "-gdwarf-4",
            "-gline-tables-only",
            "-gsplit-dwarf",
            "-gstabs+",
            "-gmlt",
        ] {
            assert!(is_debug_info(option), "{option}");
        }
        for option in ["-gz", "-gz=zlib", "-grecord-gcc-switches", "-gno-column-info", "-gnatp", "-O1"] {
            assert!(!is_debug_info(option), "{option}");
        }
    }

    #[test]
    fn endings_as_the_compilers_read_them() {
        assert_eq!(language_of_path("a/b.c"), InputLanguage::CFamily);
        assert_eq!(language_of_path("b.C"), InputLanguage::CFamily);
        assert_eq!(language_of_path("b.hpp"), InputLanguage::Header);
        assert_eq!(language_of_path("b.s"), InputLanguage::Assembler);
        assert_eq!(language_of_path("b.S"), InputLanguage::PreprocessedAssembler);
        assert_eq!(language_of_path("b.f90"), InputLanguage::Other);
        for object in ["b.o", "libx.a", "libx.so.1", "script", "dir.c/object", "x.lo"] {
            assert_eq!(language_of_path(object), InputLanguage::LinkerInput, "{object}");
        }
    }

    #[test]
    fn names_of_languages() {
        assert_eq!(language_of_name("none"), None);
        assert_eq!(language_of_name("c++"), Some(InputLanguage::CFamily));
        assert_eq!(language_of_name("cpp-output"), Some(InputLanguage::CFamily));
        assert_eq!(language_of_name("objective-c++-cpp-output"), Some(InputLanguage::CFamily));
        assert_eq!(language_of_name("c++-header"), Some(InputLanguage::Header));
        assert_eq!(language_of_name("assembler"), Some(InputLanguage::Assembler));
        assert_eq!(language_of_name("f95"), Some(InputLanguage::Other));
    }
}
