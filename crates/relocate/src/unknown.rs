//! Whether a program has code that belongs to no known function, and so is neither copied nor
//! counted.

use std::ops::Range;

use iced_x86::{Decoder, DecoderOptions, Mnemonic};
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, elf};

/// What the start-up objects of the C library bring without unwind information and sizes. It runs
/// when there is one thread.
const START_UP: [&str; 4] =
    ["deregister_tm_clones", "register_tm_clones", "__do_global_dtors_aux", "frame_dummy"];

/// Sections of code, beside `.text`, that only the linker and start-up objects fill.
const OF_LINKER: [&str; 6] = [".text", ".init", ".fini", ".plt", ".plt.got", ".plt.sec"];

/// `functions` are sorted, and lie in the text, which begins at `text`.
pub fn has(file: &ElfFile64, code: &[u8], text: u64, functions: &[Range<u64>]) -> bool {
    let is_code = |flags: SectionFlags| matches!(flags, SectionFlags::Elf { sh_flags } if sh_flags & u64::from(elf::SHF_EXECINSTR) != 0);
    let is_foreign = |name: &str| !OF_LINKER.contains(&name);
    if file.sections().any(|s| is_code(s.flags()) && s.size() > 0 && s.name().map_or(true, is_foreign)) {
        return true;
    }
    let symbols: Vec<(u64, &str)> =
        file.symbols().filter(|s| !s.is_undefined()).map(|s| (s.address(), s.name().unwrap_or(""))).collect();
    let end = text + code.len() as u64;
    let starts = functions.iter().map(|f| f.start).chain([end]);
    let ends = [text].into_iter().chain(functions.iter().map(|f| f.end));
    ends.zip(starts).filter(|(from, to)| from < to).any(|(from, to)| {
        let bytes = &code[(from - text) as usize..(to - text) as usize];
        let Some(first) = first_behind_padding(bytes) else { return false };
        let inside = |address: u64| (from + first..to).contains(&address);
        let mut names = symbols.iter().filter(|(address, name)| inside(*address) && !name.is_empty());
        let begins = symbols.iter().any(|(at, name)| *at == from + first && START_UP.contains(name));
        !begins || names.any(|(_, name)| !START_UP.contains(name))
    })
}

/// Where something else than `nop`s and traps begins.
fn first_behind_padding(bytes: &[u8]) -> Option<u64> {
    let mut decoder = Decoder::new(64, bytes, DecoderOptions::NONE);
    while decoder.can_decode() {
        let at = decoder.position() as u64;
        let i = decoder.decode();
        let is_zeros = bytes[at as usize..].iter().all(|b| *b == 0);
        if !is_zeros && (i.is_invalid() || !matches!(i.mnemonic(), Mnemonic::Nop | Mnemonic::Int3)) {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    const PROGRAM: &str = "int x; int f(void) { return x++; } int main(void) { return f() + f(); }";

    /// Whether gcc's output with these flags, and this assembly beside it, has unknown code.
    fn is_unknown(flags: &[&str], assembly: &str) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("a.c"), PROGRAM).unwrap();
        std::fs::write(path("b.s"), format!("{assembly}\n.section .note.GNU-stack\n")).unwrap();
        let mut gcc = Command::new("gcc");
        gcc.args(flags).arg(path("a.c")).arg(path("b.s")).arg("-o").arg(path("a"));
        assert!(gcc.status().unwrap().success());
        let bytes = std::fs::read(path("a")).unwrap();
        crate::program::RelocatedProgram::read(&bytes, false).unwrap().has_unknown_code
    }

    #[test]
    fn compiled_programs_are_known() {
        for flags in [["-O0"], ["-O1"], ["-O2"], ["-O3"]] {
            assert!(!is_unknown(&flags, ""), "{flags:?}");
        }
    }

    #[test]
    fn code_without_a_size_is_unknown() {
        assert!(is_unknown(&["-O1"], ".text\n.globl g\ng: incl x(%rip)\n ret"));
        assert!(is_unknown(&["-O1"], ".text\n incl x(%rip)\n ret"));
        assert!(!is_unknown(&["-O1"], ".text\n.globl g\n.type g, @function\ng: ret\n.size g, .-g"));
    }

    #[test]
    fn code_elsewhere_is_unknown() {
        assert!(is_unknown(&["-O1"], ".section other, \"ax\"\n incl x(%rip)\n ret"));
    }

    #[test]
    fn nobody_can_tell_in_a_stripped_program() {
        assert!(is_unknown(&["-O1", "-s"], ""));
    }
}
