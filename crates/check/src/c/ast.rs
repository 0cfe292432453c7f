//! The syntax tree. Types are resolved; names of objects and functions are not.

use super::token::Sym;
use super::types::CType;
use crate::ir::{Bin, Pos};

#[derive(Debug, Clone)]
pub struct Expr {
    pub pos: Pos,
    pub kind: ExprKind,
}

#[derive(Debug, Clone)]
pub enum ExprKind {
    /// Something that could not be parsed; its value is unknown.
    Error,
    Int(u64, CType),
    Float(f64, CType),
    /// The bytes without their terminator, and the element type.
    Str(Vec<u8>, CType),
    Name(Sym),
    Call(Box<Expr>, Vec<Expr>),
    Index(Box<Expr>, Box<Expr>),
    /// `a.b`, or `a->b` when the flag is set.
    Member(Box<Expr>, Sym, bool),
    AddressOf(Box<Expr>),
    Deref(Box<Expr>),
    Neg(Box<Expr>),
    BitNot(Box<Expr>),
    Not(Box<Expr>),
    Plus(Box<Expr>),
    /// `±1`, and whether the old value is the result.
    Step(Box<Expr>, i32, bool),
    Binary(Bin, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Assign(Option<Bin>, Box<Expr>, Box<Expr>),
    /// `a ? b : c`; without `b`, the GNU form.
    Conditional(Box<Expr>, Option<Box<Expr>>, Box<Expr>),
    Cast(CType, Box<Expr>),
    SizeofType(CType),
    SizeofExpr(Box<Expr>),
    Comma(Box<Expr>, Box<Expr>),
    Compound(CType, Box<Init>),
    Statement(Vec<Stmt>),
    Generic(Box<Expr>, Vec<(Option<CType>, Expr)>),
    VaArg(Box<Expr>, CType),
    /// The address of a label. Results like those of `__builtin_offsetof`, which the parser knows,
    /// are plain `Int`s.
    LabelAddress(Sym),
    /// A builtin that takes types: its result is unknown but harmless.
    Opaque,
}

#[derive(Debug, Clone)]
pub enum Init {
    Expr(Expr),
    List(Vec<(Vec<Designator>, Init)>),
}

#[derive(Debug, Clone)]
pub enum Designator {
    Member(Sym),
    Index(u64),
    Range(u64, u64),
}

#[derive(Debug, Clone)]
pub struct Stmt {
    pub pos: Pos,
    pub kind: StmtKind,
}

#[derive(Debug, Clone)]
pub enum StmtKind {
    /// Something that could not be parsed.
    Error,
    Empty,
    Expr(Expr),
    Decl(Vec<VarDecl>),
    Block(Vec<Stmt>),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    While(Expr, Box<Stmt>),
    DoWhile(Box<Stmt>, Expr),
    For(Option<Box<Stmt>>, Option<Expr>, Option<Expr>, Box<Stmt>),
    Return(Option<Expr>),
    Break,
    Continue,
    Goto(Sym),
    GotoPointer(Expr),
    Label(Sym, Box<Stmt>),
    Switch(Expr, Box<Stmt>),
    Case(Expr, Option<Expr>, Box<Stmt>),
    Default(Box<Stmt>),
    Omp(Box<OmpDirective>, Option<Box<Stmt>>),
    Asm(Assembly),
}

/// How inline assembly orders accesses. Its results are unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assembly {
    /// No order: a barrier for the compiler, a pause.
    Nothing,
    Fence,
    /// It has operands in memory, and may load and store them.
    Accesses,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    None,
    Static,
    Extern,
    Typedef,
}

#[derive(Debug, Clone)]
pub struct VarDecl {
    pub pos: Pos,
    pub name: Sym,
    pub ty: CType,
    pub storage: Storage,
    pub thread_local: bool,
    pub init: Option<Init>,
    /// `__attribute__((cleanup(f)))`
    pub cleanup: Option<Sym>,
}

#[derive(Debug, Clone)]
pub struct FunctionDef {
    pub pos: Pos,
    pub name: Sym,
    pub ty: CType,
    pub params: Vec<(Sym, CType, Pos)>,
    pub is_static: bool,
    pub is_inline: bool,
    /// A constructor or destructor: it runs when the program or library is loaded or unloaded.
    pub load_hook: bool,
    pub weak: bool,
    pub body: Vec<Stmt>,
    pub end_line: u32,
}

#[derive(Debug, Clone)]
pub enum Item {
    Function(FunctionDef),
    Var(VarDecl),
}

/// The constructs of OpenMP that are modelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OmpKind {
    Parallel,
    For,
    ParallelFor,
    Sections,
    ParallelSections,
    Section,
    Single,
    Master,
    Critical,
    Ordered,
    Atomic,
    Barrier,
    Task,
    Taskwait,
    /// Any other construct: its statement is run as it stands.
    Other,
}

#[derive(Debug, Clone)]
pub struct OmpDirective {
    pub kind: OmpKind,
    pub private: Vec<Sym>,
    pub firstprivate: Vec<Sym>,
    pub lastprivate: Vec<Sym>,
    pub reduction: Vec<(ReductionOp, Sym)>,
    pub nowait: bool,
    pub num_threads: Option<Expr>,
    /// The name of a critical section.
    pub name: Option<Sym>,
    /// `if(0)`-like clauses are not evaluated: the region counts as parallel.
    pub collapse: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReductionOp {
    Bin(Bin),
    Min,
    Max,
    LogicalAnd,
    LogicalOr,
}
