//! Keywords, including GNU spellings with the same meaning.

use rustc_hash::FxHashMap;

use crate::c::token::{Interner, Sym};

macro_rules! words {
    ($($word:ident $($text:literal)+),* $(,)?) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Word { $($word),* }
        const ALL: &[(&str, Word)] = &[$($(($text, Word::$word)),+),*];
    };
}

words! {
    Auto "auto" "__auto_type", Break "break", Case "case", Char "char", Const "const" "__const" "__const__", Continue "continue",
    Default "default", Do "do", Double "double", Else "else", Enum "enum", Extern "extern",
    Float "float" "_Float32" "_Float16", Float64 "_Float64" "_Float32x" "_Float64x" "_Float128" "__float128", For "for", Goto "goto",
    If "if", Inline "inline" "__inline" "__inline__", Int "int", Long "long", Register "register", Restrict "restrict" "__restrict"
    "__restrict__", Return "return", Short "short", Signed "signed" "__signed" "__signed__", Sizeof "sizeof", Static "static",
    Struct "struct", Switch "switch", Typedef "typedef", Union "union", Unsigned "unsigned", Void "void",
    Volatile "volatile" "__volatile" "__volatile__", While "while", Bool "_Bool", Complex "_Complex" "__complex__", Int128 "__int128"
    "__int128_t" "__uint128_t", Alignas "_Alignas", Alignof "_Alignof" "__alignof__" "__alignof", Atomic "_Atomic",
    Generic "_Generic", Noreturn "_Noreturn", StaticAssert "_Static_assert", ThreadLocal "_Thread_local" "__thread",
    Attribute "__attribute__" "__attribute", Asm "asm" "__asm__" "__asm", Extension "__extension__", Typeof "typeof" "__typeof__"
    "__typeof" "typeof_unqual", VaArg "__builtin_va_arg", Offsetof "__builtin_offsetof", TypesCompatible
    "__builtin_types_compatible_p", ChooseExpr "__builtin_choose_expr", LabelDecl "__label__", Declspec "__declspec",
}

/// The keywords of one interner.
#[derive(Debug, Clone)]
pub struct Words {
    words: FxHashMap<Sym, Word>,
}

impl Words {
    pub fn new(interner: &mut Interner) -> Self {
        Self { words: ALL.iter().map(|(text, word)| (interner.intern(text), *word)).collect() }
    }

    pub fn get(&self, sym: Sym) -> Option<Word> {
        self.words.get(&sym).copied()
    }
}
