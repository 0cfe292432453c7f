//! Lowers the syntax tree to the intermediate code.
//!
//! Scalars whose address is never taken become locals of the stack machine. Everything else lives
//! in simulated memory, where its accesses are watched. [`expr`] pushes values, [`place`] pushes
//! places; a value of record or array type is its address.
//!
//! An object of unknown type has no known place, and no other thread sees a store to it. Reading it
//! gives an unknown. Where a single object has the address, as a member of a known record has, it
//! gives what the same thread has just stored there. So a missing header can hide a race on such an
//! object but not invent one. A branch on an unknown is followed both ways, even if the program
//! only ever goes one: `array[0] = 0; array[1] = 1; if (array[0]) …` with elements of unknown type.

mod atomics;
mod builtin;
mod call;
mod expr;
mod func;
mod global;
mod init;
mod omp;
mod place;
mod stmt;

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::ast::{Expr, FunctionDef, Item, Storage, VarDecl};
use super::parse::{Meaning, Scopes};
use super::token::{Interner, Sym};
use super::types::{CType, Types};
use crate::ir::build::{Builder, Label};
use crate::ir::{Global, Instr, Linkage, Pos, SourceFile, SymbolRef, Unit, UnitFunction};

/// Where a variable lives.
#[derive(Debug, Clone, Copy)]
pub(super) enum Home {
    /// A local of the stack machine.
    Slot(u16),
    /// Frame memory.
    Frame(u32),
    /// Frame memory that holds the variable's address, for variable-length arrays and record
    /// parameters.
    Indirect(u32),
    /// A global of this unit, or one found by name.
    Symbol(u32),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Variable {
    home: Home,
    ty: CType,
}

/// A function that is being lowered. Outlined parallel regions stack on top of the function that
/// contains them.
pub(super) struct Open {
    b: Builder,
    scopes: Vec<Scope>,
    /// For `break` and `continue`: the label, and how many scopes stay open there.
    breaks: Vec<(Label, usize)>,
    continues: Vec<(Label, usize)>,
    switches: Vec<Switch>,
    labels: FxHashMap<Sym, Label>,
    /// Labels whose address is taken, in order of mention.
    taken_labels: Vec<Sym>,
    result: CType,
    /// The local that holds the destination of a record result.
    result_slot: Option<u16>,
    name: Arc<str>,
    /// Names whose address is taken somewhere in the function.
    addressed: FxHashSet<Sym>,
    /// Other threads see this function's variables through its frame.
    shared: bool,
    /// The team of an outlined region: frame offsets of its own id and size, and of the barrier's
    /// address.
    team: Option<omp::Team>,
}

#[derive(Default)]
pub(super) struct Scope {
    variables: FxHashMap<Sym, Variable>,
    /// Functions called on the way out, with the variable's address.
    cleanups: Vec<(Sym, Variable)>,
}

#[derive(Default)]
pub(super) struct Switch {
    cases: Vec<(i64, i64, Label)>,
    default: Option<Label>,
}

pub(super) struct Lower<'a> {
    interner: &'a Interner,
    scopes: Scopes,
    unit: Unit,
    file_scope: FxHashMap<Sym, u32>,
    own_functions: FxHashMap<Sym, u32>,
    named: FxHashMap<Sym, u32>,
    strings: FxHashMap<Vec<u8>, u32>,
    constants: FxHashMap<u64, u32>,
    record_ids: FxHashMap<u32, u64>,
    open: Vec<Open>,
    /// Parallel regions turned into functions. They follow the file's own functions.
    outlined: Vec<UnitFunction>,
    static_count: u32,
    linkage_of_all: Option<Linkage>,
    /// Limits that were reached, one sentence each.
    cut_short: Vec<String>,
}

/// Lowers a parsed file. Returns which limits were reached. With `weak`, all definitions give way
/// to others; the models use this.
pub fn lower(
    items: &[Item],
    scopes: Scopes,
    interner: &Interner,
    files: Vec<SourceFile>,
    weak: bool,
) -> (Unit, Vec<String>) {
    let mut lower = Lower {
        interner,
        scopes,
        unit: Unit { files, ..Unit::default() },
        file_scope: FxHashMap::default(),
        own_functions: FxHashMap::default(),
        named: FxHashMap::default(),
        strings: FxHashMap::default(),
        constants: FxHashMap::default(),
        record_ids: FxHashMap::default(),
        open: Vec::new(),
        outlined: Vec::new(),
        static_count: 0,
        linkage_of_all: weak.then_some(Linkage::Weak),
        cut_short: Vec::new(),
    };
    lower.predeclare(items);
    for item in items {
        if let Item::Var(v) = item {
            lower.define_global(v);
        }
    }
    for item in items {
        if let Item::Function(f) = item {
            lower.function(f);
        }
    }
    lower.unit.functions.append(&mut lower.outlined);
    (lower.unit, lower.cut_short)
}

impl Lower<'_> {
    /// Gives own functions and globals their symbols, so that their order does not matter.
    fn predeclare(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Function(f) => {
                    if self.own_functions.contains_key(&f.name) {
                        continue;
                    }
                    let index = self.own_functions.len() as u32;
                    let symbol = self.symbol(SymbolRef::OwnFunction(index));
                    self.own_functions.insert(f.name, symbol);
                }
                Item::Var(v) => self.declare_global(v),
            }
        }
    }

    fn declare_global(&mut self, v: &VarDecl) {
        let types = &self.scopes.types;
        let least = if v.storage == Storage::Extern { 64 } else { types.room(v.ty).max(64) };
        let size = types.size(v.ty).unwrap_or(least).clamp(1, 1 << 28) as u32;
        if let Some(symbol) = self.file_scope.get(&v.name) {
            // A later declaration may complete the type or turn a declaration into a definition.
            if let SymbolRef::OwnGlobal(i) = self.unit.symbols[*symbol as usize] {
                let g = &mut self.unit.globals[i as usize];
                g.size = g.size.max(size);
                g.declared_only &= v.storage == Storage::Extern && v.init.is_none();
                if v.init.is_some() {
                    g.pos = v.pos;
                }
            }
            return;
        }
        let linkage = match (self.linkage_of_all, v.storage) {
            (_, Storage::Static) => Linkage::Internal,
            (Some(l), _) => l,
            _ => Linkage::External,
        };
        let declared_only = v.storage == Storage::Extern && v.init.is_none();
        let symbol = self.new_global(self.name(v.name), linkage, v, size, declared_only);
        self.file_scope.insert(v.name, symbol);
    }

    fn new_global(
        &mut self,
        name: Arc<str>,
        linkage: Linkage,
        v: &VarDecl,
        size: u32,
        declared_only: bool,
    ) -> u32 {
        self.unit.globals.push(Global {
            name,
            linkage,
            pos: v.pos,
            size,
            init: None,
            relocs: Vec::new(),
            thread_local: v.thread_local,
            constant: self.is_constant(v.ty),
            declared_only,
            shape: self.shape(v.ty),
        });
        let index = self.unit.globals.len() as u32 - 1;
        self.symbol(SymbolRef::OwnGlobal(index))
    }

    fn is_constant(&self, ty: CType) -> bool {
        match self.scopes.types.get(ty) {
            super::types::Type::Array(of, _) => self.is_constant(*of),
            _ => ty.is_const(),
        }
    }

    fn name(&self, sym: Sym) -> Arc<str> {
        self.interner.name(sym).clone()
    }

    fn symbol(&mut self, s: SymbolRef) -> u32 {
        self.unit.symbols.push(s);
        self.unit.symbols.len() as u32 - 1
    }

    fn types(&self) -> &Types {
        &self.scopes.types
    }

    /// The declared type of a name at file level or among the built-in headers.
    fn declared_type(&self, name: Sym) -> Option<CType> {
        match self.scopes.meaning(name) {
            Some(Meaning::Object(ty)) => Some(ty),
            _ => None,
        }
    }

    fn function_symbol(&mut self, name: Sym) -> u32 {
        if let Some(s) = self.own_functions.get(&name).or_else(|| self.named.get(&name)) {
            return *s;
        }
        let s = SymbolRef::Function(self.name(name));
        let symbol = self.symbol(s);
        self.named.insert(name, symbol);
        symbol
    }

    fn f(&mut self) -> &mut Open {
        // Expressions and statements are lowered only inside a function.
        self.open.last_mut().expect("a function is open")
    }

    fn emit(&mut self, instr: Instr) {
        self.f().b.emit(instr);
    }

    fn at(&mut self, pos: Pos) {
        if pos.line != 0 {
            self.f().b.pos = pos;
        }
    }

    fn int(&mut self, value: u64) {
        match i32::try_from(value as i64) {
            Ok(v) => self.emit(Instr::Int(v)),
            Err(_) => {
                let next = self.unit.constants.len() as u32;
                let index = *self.constants.entry(value).or_insert(next);
                if index == next {
                    self.unit.constants.push(value);
                }
                self.emit(Instr::Const(index));
            }
        }
    }

    /// The constant value of an expression, if it has one.
    fn constant(&self, e: &Expr) -> Option<i64> {
        super::parse::constant(&self.scopes.types, e, &|e| self.static_type(e))
    }

    fn linkage(&self, f: &FunctionDef) -> Linkage {
        match self.linkage_of_all {
            Some(l) => l,
            None if f.is_static => Linkage::Internal,
            None if f.weak || f.is_inline => Linkage::Weak,
            None => Linkage::External,
        }
    }
}
