//! Declarations: specifiers, records, enumerations, initialisers, function definitions.

use super::declarator::Declared;
use super::{Confused, Meaning, Parse, Parser, Word};
use crate::c::ast::{Assembly, Expr, ExprKind, FunctionDef, Init, Item, Storage, VarDecl};
use crate::c::token::{Punct, Sym, Token, TokenKind};
use crate::c::types::{CType, Type, Types};

/// The specifiers before the declarators.
pub(super) struct Specifiers {
    pub ty: CType,
    pub storage: Storage,
    pub thread_local: bool,
    pub inline: bool,
    pub attributes: Attributes,
    /// `auto x = …`, whose type is its initialiser's.
    pub inferred: bool,
}

#[derive(Default, Clone, Copy)]
pub(super) struct Attributes {
    pub load_hook: bool,
    pub weak: bool,
    pub packed: bool,
    pub cleanup: Option<Sym>,
}

/// Counts of the words that make up an arithmetic type.
#[derive(Default)]
struct Arithmetic {
    base: Option<CType>,
    long: u8,
    short: bool,
    signed: bool,
    unsigned: bool,
    seen: bool,
}

impl Arithmetic {
    fn ty(&self) -> CType {
        let unsigned = self.unsigned;
        match self.base {
            Some(t) if t == Types::CHAR => {
                if unsigned {
                    Types::UCHAR
                } else {
                    Types::CHAR
                }
            }
            Some(t) if t != Types::INT => t,
            _ if self.short => {
                if unsigned {
                    Types::USHORT
                } else {
                    Types::SHORT
                }
            }
            _ if self.long > 0 => {
                if unsigned {
                    Types::ULONG
                } else {
                    Types::LONG
                }
            }
            _ => {
                if unsigned {
                    Types::UINT
                } else {
                    Types::INT
                }
            }
        }
    }
}

impl Parser<'_> {
    /// True if a token can only begin a type.
    pub(super) fn starts_type(&self, t: &Token) -> bool {
        use Word::{
            Alignas, Atomic, Attribute, Auto, Bool, Char, Complex, Const, Declspec, Double, Enum, Extension,
            Extern, Float, Float64, Inline, Int, Int128, Long, Noreturn, Register, Restrict, Short, Signed,
            Static, Struct, ThreadLocal, Typedef, Typeof, Union, Unsigned, Void, Volatile,
        };
        match self.word_of(t) {
            Some(w) => matches!(
                w,
                Alignas
                    | Atomic
                    | Attribute
                    | Auto
                    | Bool
                    | Char
                    | Complex
                    | Const
                    | Declspec
                    | Double
                    | Enum
                    | Extension
                    | Extern
                    | Float
                    | Float64
                    | Inline
                    | Int
                    | Int128
                    | Long
                    | Noreturn
                    | Register
                    | Restrict
                    | Short
                    | Signed
                    | Static
                    | Struct
                    | ThreadLocal
                    | Typedef
                    | Typeof
                    | Union
                    | Unsigned
                    | Void
                    | Volatile
            ),
            None => {
                t.kind == TokenKind::Ident && matches!(self.scopes.meaning(t.sym), Some(Meaning::Typedef(_)))
            }
        }
    }

    pub(super) fn specifiers(&mut self) -> Parse<Specifiers> {
        let mut spec = Specifiers {
            ty: Types::INT,
            storage: Storage::None,
            thread_local: false,
            inline: false,
            attributes: Attributes::default(),
            inferred: false,
        };
        let mut arithmetic = Arithmetic::default();
        let mut other: Option<CType> = None;
        let mut quals = Types::UNKNOWN;
        loop {
            let t = self.peek();
            let Some(word) = self.word() else {
                if !arithmetic.seen && other.is_none() && self.is_unknown_specifier() {
                    spec.thread_local |= is_thread_local_name(self.text(t.sym));
                    self.at += 1;
                    continue;
                }
                if arithmetic.seen || other.is_some() || !self.is_type_name_here(&t, spec.inferred) {
                    break;
                }
                other = Some(match self.scopes.meaning(t.sym) {
                    Some(Meaning::Typedef(ty)) => ty,
                    _ => Types::UNKNOWN,
                });
                self.at += 1;
                continue;
            };
            match word {
                Word::Typedef => spec.storage = Storage::Typedef,
                Word::Static => spec.storage = Storage::Static,
                Word::Extern => {
                    spec.storage = Storage::Extern;
                    // `extern "C"`
                    if self.ahead(1).kind == TokenKind::Str {
                        self.at += 1;
                    }
                }
                Word::Register | Word::Restrict | Word::Noreturn | Word::Extension | Word::Complex => {}
                Word::Auto => spec.inferred = true,
                Word::Inline => spec.inline = true,
                Word::ThreadLocal => spec.thread_local = true,
                Word::Const => quals = quals.with_const(),
                Word::Volatile => quals = quals.with_volatile(),
                Word::Atomic if self.ahead(1).is(Punct::LParen) => {
                    self.at += 2;
                    other = Some(self.deeper(Self::type_name)?.with_atomic());
                    self.expect(Punct::RParen)?;
                    continue;
                }
                Word::Atomic => quals = quals.with_atomic(),
                Word::Attribute | Word::Declspec | Word::Alignas => {
                    let a = self.attributes();
                    spec.attributes = spec.attributes.or(a);
                    continue;
                }
                Word::Struct | Word::Union if other.is_none() => {
                    other = Some(self.deeper(Self::record)?);
                    continue;
                }
                Word::Enum if other.is_none() => {
                    other = Some(self.deeper(Self::enumeration)?);
                    continue;
                }
                Word::Typeof => {
                    other = Some(self.type_of()?);
                    continue;
                }
                _ => {
                    if !arithmetic_word(&mut arithmetic, word) {
                        break;
                    }
                }
            }
            self.at += 1;
        }
        if other.is_none() && !arithmetic.seen && spec.storage == Storage::None && quals == Types::UNKNOWN {
            let anything = spec.inline || spec.thread_local || spec.inferred || spec.attributes.load_hook;
            if !anything {
                return Err(Confused);
            }
        }
        spec.inferred &= other.is_none() && !arithmetic.seen;
        spec.ty = other.unwrap_or_else(|| arithmetic.ty()).qualified_like(quals);
        Ok(spec)
    }

    /// Whether an identifier is in a type's place: a typedef, or an undeclared name followed by
    /// something that only a declaration has.
    fn is_type_name_here(&self, t: &Token, inferred: bool) -> bool {
        if !self.is_plain_ident(t) || inferred {
            return false;
        }
        match self.scopes.meaning(t.sym) {
            Some(Meaning::Typedef(_)) => true,
            Some(_) => false,
            None => self.is_unknown_type(0),
        }
    }

    /// Whether an undeclared name `n` tokens ahead can only be a type: `T x`, `T *x`, and inside
    /// brackets `T *)` or `T)`.
    pub(super) fn is_unknown_type(&self, n: usize) -> bool {
        let t = self.ahead(n);
        if !self.is_plain_ident(&t) || self.scopes.meaning(t.sym).is_some() {
            return false;
        }
        let mut n = n + 1;
        if self.is_plain_ident(&self.ahead(n)) {
            return true;
        }
        let mut stars = 0;
        loop {
            let t = self.ahead(n);
            match t.kind {
                TokenKind::Punct(Punct::Star) => stars += 1,
                TokenKind::Ident
                    if matches!(
                        self.words.get(t.sym),
                        Some(Word::Const | Word::Restrict | Word::Volatile)
                    ) =>
                {
                    stars += 1;
                }
                TokenKind::Punct(Punct::RParen | Punct::Comma) => return true,
                TokenKind::Ident => {
                    // `a * b;` with `a` undeclared is a declaration; with an operator after it, it
                    // is a product.
                    let after = self.ahead(n + 1).kind;
                    return stars > 0
                        && self.is_plain_ident(&t)
                        && matches!(
                            after,
                            TokenKind::Punct(
                                Punct::Semi
                                    | Punct::Eq
                                    | Punct::Comma
                                    | Punct::LBracket
                                    | Punct::RParen
                                    | Punct::LParen
                            )
                        );
                }
                _ => return false,
            }
            n += 1;
        }
    }

    /// Whether the next name is a macro that nobody defines before the type, as `EXPORT` in `EXPORT
    /// int f(void)` or `EXPORT t *f(void)`: a type follows that a declarator could not be. In
    /// `HANDLE h ALIGNED;` the first name is the type.
    fn is_unknown_specifier(&self) -> bool {
        if !self.is_unknown_capitals(0) {
            return false;
        }
        let mut n = 1;
        while self.words.get(self.ahead(n).sym).is_some_and(is_storage_or_qualifier) {
            n += 1;
        }
        let next = self.ahead(n);
        if self.word_of(&next).is_some() {
            return self.starts_type(&next);
        }
        let follows = self.ahead(n + 1);
        self.is_plain_ident(&next)
            && (follows.is(Punct::Star) || self.is_plain_ident(&follows) && !self.is_unknown_capitals(n + 1))
    }

    /// Whether the name `n` tokens ahead is in capitals and nobody has declared it.
    pub(super) fn is_unknown_capitals(&self, n: usize) -> bool {
        let t = self.ahead(n);
        self.is_plain_ident(&t)
            && self.scopes.meaning(t.sym).is_none()
            && self.text(t.sym).len() > 1
            && !self.text(t.sym).contains(|c: char| c.is_ascii_lowercase())
    }

    /// The type of a variable that takes it from its initialiser. Unlike `type_of_expr`, it can
    /// create the type of `&x`.
    fn infer(&mut self, e: &Expr) -> CType {
        match &e.kind {
            ExprKind::AddressOf(a) => {
                let to = self.type_of_expr(a);
                self.scopes.types.pointer(to)
            }
            _ => {
                let ty = self.type_of_expr(e).bare();
                match *self.scopes.types.get(ty) {
                    Type::Array(of, _) | Type::Vla(of, _) => self.scopes.types.pointer(of),
                    _ => ty,
                }
            }
        }
    }

    fn type_of(&mut self) -> Parse<CType> {
        self.at += 1;
        self.expect(Punct::LParen)?;
        let ty = if self.starts_type(&self.peek()) {
            self.deeper(Self::type_name)?
        } else {
            let e = self.expression()?;
            self.type_of_expr(&e).bare()
        };
        self.expect(Punct::RParen)?;
        Ok(ty)
    }

    /// `__attribute__((…))`, `_Alignas(…)`, `asm("name")`: mostly skipped.
    pub(super) fn attributes(&mut self) -> Attributes {
        let mut found = Attributes::default();
        loop {
            match self.word() {
                Some(Word::Attribute | Word::Declspec | Word::Alignas | Word::Asm) => {
                    self.at += 1;
                    while self.word().is_some_and(|w| matches!(w, Word::Volatile | Word::Inline | Word::Goto))
                    {
                        self.at += 1;
                    }
                    let start = self.at;
                    if self.is(Punct::LParen) {
                        self.skip_balanced();
                    }
                    found = found.or(self.read_attributes(start, self.at));
                }
                Some(Word::Extension) => self.at += 1,
                _ if self.is(Punct::LBracket) && self.ahead(1).is(Punct::LBracket) => self.skip_balanced(),
                _ => return found,
            }
        }
    }

    /// How inline assembly orders accesses: as a fence of some processor, as a locked instruction,
    /// or through operands in memory (`"=m"(*p)`; with a memory clobber any operand, since it may
    /// be an address).
    pub(super) fn assembly(&self, from: usize, to: usize) -> Assembly {
        const FENCES: &[&str] =
            &["mfence", "lfence", "sfence", "lock", "xchgl", "xchgq", "xchg", "dmb", "dsb", "sync", "lwsync"];
        let tokens = &self.tokens[from..to.min(self.tokens.len())];
        let text = |t: &Token| self.text(t.sym).trim_matches('"').to_ascii_lowercase();
        let is_text = |t: &&Token| t.kind == TokenKind::Str;
        let operands = || {
            let follows = |pair: &&[Token]| pair[1].kind == TokenKind::Punct(Punct::LParen);
            tokens.windows(2).filter(|pair| is_text(&&pair[0])).filter(follows).map(|pair| text(&pair[0]))
        };
        let clobbers_memory = tokens.iter().filter(is_text).any(|t| text(t) == "memory");
        if operands().any(|o| o.contains('m')) || clobbers_memory && operands().next().is_some() {
            return Assembly::Accesses;
        }
        let is_fence = tokens
            .iter()
            .filter(is_text)
            .any(|t| text(t).split(|c: char| !c.is_ascii_alphanumeric()).any(|w| FENCES.contains(&w)));
        if is_fence { Assembly::Fence } else { Assembly::Nothing }
    }

    fn read_attributes(&self, from: usize, to: usize) -> Attributes {
        let mut found = Attributes::default();
        for i in from..to.min(self.tokens.len()) {
            match self.text(self.tokens[i].sym) {
                "constructor" | "__constructor__" | "destructor" | "__destructor__" => found.load_hook = true,
                "weak" | "__weak__" => found.weak = true,
                "packed" | "__packed__" => found.packed = true,
                "cleanup" | "__cleanup__" => found.cleanup = self.tokens.get(i + 2).map(|t| t.sym),
                _ => {}
            }
        }
        found
    }

    /// One declaration or definition at file level.
    pub(super) fn external(&mut self) -> Parse<()> {
        self.links = 0;
        if self.eat(Punct::Semi) || self.eat_word(Word::Extension) {
            return Ok(());
        }
        if self.peek().kind == TokenKind::PragmaOmp {
            self.omp_at_file_level();
            return Ok(());
        }
        if self.word() == Some(Word::Asm) {
            self.attributes();
            return Ok(());
        }
        if self.eat_word(Word::StaticAssert) {
            self.skip_balanced();
            return self.expect(Punct::Semi);
        }
        if self.is_extern_block() {
            self.at += 3;
            return Ok(());
        }
        if self.is(Punct::RBrace) {
            // The end of an `extern "C"` block, or one brace too many.
            self.at += 1;
            return Ok(());
        }
        let spec = self.external_specifiers()?;
        if self.eat(Punct::Semi) {
            return Ok(());
        }
        loop {
            let d = self.declarator(spec.ty, false)?;
            let attributes = spec.attributes.or(self.attributes());
            self.skip_unknown_attributes();
            if matches!(self.scopes.types.get(d.ty), Type::Function(_))
                && spec.storage != Storage::Typedef
                && (self.is(Punct::LBrace) || self.starts_type(&self.peek()))
            {
                return self.function(&spec, d, attributes);
            }
            let var = self.variable(&spec, d, attributes)?;
            if let Some(var) = var {
                self.items.push(Item::Var(var));
            }
            if !self.eat(Punct::Comma) {
                break;
            }
        }
        self.expect(Punct::Semi)
    }

    /// Skips macros that nobody defines between a declarator and the end of its declaration, as in
    /// `int f(void) NORETURN;` or `int n ALIGNED(8) = 3;`.
    fn skip_unknown_attributes(&mut self) {
        while self.is_unknown_capitals(0) {
            let end = if self.ahead(1).is(Punct::LParen) { self.closing(self.at + 1) } else { self.at };
            let Some(after) = self.tokens.get(end + 1) else { return };
            let ends = [Punct::Semi, Punct::Comma, Punct::Eq, Punct::LBrace].iter().any(|p| after.is(*p));
            if !ends && !self.is_plain_ident(after) {
                return;
            }
            self.at = end + 1;
        }
    }

    /// The specifiers at file level. `name(…) {` is a function that returns `int`.
    fn external_specifiers(&mut self) -> Parse<Specifiers> {
        let implicit = self.is_plain_ident(&self.peek()) && self.ahead(1).is(Punct::LParen);
        if implicit && !self.starts_type(&self.peek()) {
            let close = self.closing(self.at + 1);
            if !self.tokens.get(close + 1).is_some_and(|t| t.is(Punct::LBrace)) {
                return Err(Confused);
            }
            return Ok(Specifiers {
                ty: Types::INT,
                storage: Storage::None,
                thread_local: false,
                inline: false,
                attributes: Attributes::default(),
                inferred: false,
            });
        }
        self.specifiers()
    }

    fn is_extern_block(&self) -> bool {
        self.word() == Some(Word::Extern)
            && self.ahead(1).kind == TokenKind::Str
            && self.ahead(2).is(Punct::LBrace)
    }

    /// Parses the initialiser of a variable, after its declarator.
    pub(super) fn variable(
        &mut self,
        spec: &Specifiers,
        d: Declared,
        attributes: Attributes,
    ) -> Parse<Option<VarDecl>> {
        let Some((name, pos)) = d.name else { return Ok(None) };
        if spec.storage == Storage::Typedef {
            self.scopes.declare(name, Meaning::Typedef(d.ty));
            return Ok(None);
        }
        // What is not understood must not take a type's name away from the rest of the file.
        let is_type = matches!(self.scopes.meaning(name), Some(Meaning::Typedef(_)));
        if is_type && !(self.is(Punct::Semi) || self.is(Punct::Comma) || self.is(Punct::Eq)) {
            return Err(Confused);
        }
        self.scopes.declare(name, Meaning::Object(d.ty));
        let mut ty = d.ty;
        let mut init = None;
        if self.eat(Punct::Eq) {
            let value = self.deeper(Self::initialiser)?;
            ty = self.complete_array(ty, &value);
            if spec.inferred
                && let Init::Expr(e) = &value
            {
                ty = self.infer(e);
            }
            self.scopes.declare(name, Meaning::Object(ty));
            init = Some(value);
        }
        if matches!(self.scopes.types.get(ty), Type::Function(_)) && init.is_none() {
            return Ok(None);
        }
        Ok(Some(VarDecl {
            pos,
            name,
            ty,
            storage: spec.storage,
            thread_local: spec.thread_local,
            init,
            cleanup: attributes.cleanup,
        }))
    }

    fn function(&mut self, spec: &Specifiers, d: Declared, attributes: Attributes) -> Parse<()> {
        let (name, pos) = d.name.ok_or(Confused)?;
        let mut params = d.params;
        let mut ty = d.ty;
        if !self.is(Punct::LBrace) {
            ty = self.old_style_parameters(ty, &mut params)?;
        }
        self.scopes.declare(name, Meaning::Object(ty));
        let function = FunctionDef {
            pos,
            name,
            ty,
            params,
            is_static: spec.storage == Storage::Static,
            is_inline: spec.inline,
            load_hook: attributes.load_hook,
            weak: attributes.weak,
            body: Vec::new(),
            end_line: pos.line,
        };
        let Err(mut function) = self.defer(function) else { return Ok(()) };
        super::deferred::open_with(
            &mut self.scopes,
            function.params.iter().map(|(name, ty, _)| (*name, *ty)),
        );
        self.in_body = true;
        let body = self.block();
        self.in_body = false;
        self.scopes.close();
        function.end_line = self.tokens.get(self.at.saturating_sub(1)).map_or(pos.line, |t| t.pos.line);
        function.body = body?;
        self.items.push(Item::Function(function));
        Ok(())
    }

    fn old_style_parameters(
        &mut self,
        ty: CType,
        params: &mut [(Sym, CType, crate::ir::Pos)],
    ) -> Parse<CType> {
        while !self.is(Punct::LBrace) {
            let spec = self.specifiers()?;
            loop {
                let d = self.declarator(spec.ty, false)?;
                let declared = self.adjust_parameter(d.ty);
                if let Some((name, _)) = d.name
                    && let Some(p) = params.iter_mut().find(|p| p.0 == name)
                {
                    p.1 = declared;
                }
                if !self.eat(Punct::Comma) {
                    break;
                }
            }
            self.expect(Punct::Semi)?;
        }
        let result = self.scopes.types.as_function(ty).map_or(Types::INT, |f| f.result);
        Ok(self.scopes.types.function(result, params.iter().map(|p| p.1).collect(), false))
    }
}

impl Attributes {
    fn or(self, other: Self) -> Self {
        Self {
            load_hook: self.load_hook || other.load_hook,
            weak: self.weak || other.weak,
            packed: self.packed || other.packed,
            cleanup: self.cleanup.or(other.cleanup),
        }
    }
}

fn is_storage_or_qualifier(word: Word) -> bool {
    use Word::{Const, Extern, Inline, Register, Restrict, Static, Volatile};
    matches!(word, Const | Extern | Inline | Register | Restrict | Static | Volatile)
}

fn arithmetic_word(a: &mut Arithmetic, word: Word) -> bool {
    match word {
        Word::Void => a.base = Some(Types::VOID),
        Word::Bool => a.base = Some(Types::BOOL),
        Word::Char => a.base = Some(Types::CHAR),
        Word::Int => a.base = a.base.or(Some(Types::INT)),
        Word::Float => a.base = Some(Types::FLOAT),
        Word::Double | Word::Float64 => a.base = Some(Types::DOUBLE),
        Word::Int128 => a.long = 2,
        Word::Long => a.long += 1,
        Word::Short => a.short = true,
        Word::Signed => a.signed = true,
        Word::Unsigned => a.unsigned = true,
        _ => return false,
    }
    a.seen = true;
    true
}

/// Whether a macro that nobody defines, mostly for want of a header that the build writes, says
/// that each thread has a variable of its own. `MAIN_THREAD` and `NOT_THREAD_LOCAL` do not.
fn is_thread_local_name(name: &str) -> bool {
    const WHOLE: &[&str] = &["THREAD", "TLS", "THREADLOCAL", "THREAD_LOCAL", "THREAD_LOCAL_STORAGE"];
    const ENDS: &[&str] = &["_THREAD_LOCAL", "_TLS"];
    const DENIALS: &[&str] = &["NO", "NOT", "NON", "NEVER", "WITHOUT"];
    let is_denied = name.split('_').any(|word| DENIALS.contains(&word));
    WHOLE.contains(&name.trim_matches('_')) || !is_denied && ENDS.iter().any(|end| name.ends_with(end))
}
