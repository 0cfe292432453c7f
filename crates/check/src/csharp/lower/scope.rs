//! The functions being lowered, and the variables they see.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::Lowerer;
use crate::csharp::syntax::Syntax;
use crate::csharp::types::Ty;
use crate::csharp::world::Place;
use crate::ir::build::{Builder, Label};
use crate::ir::objects::{DELEGATE_CAPTURED, DELEGATE_TARGET, FIRST_FIELD, FieldSlot, ObjectClass};
use crate::ir::{AccessClass, Instr, Scalar};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// The local holds the value.
    Plain,
    /// The local holds an object with the value, because others may capture it.
    Boxed,
    /// The local holds the address of the value: `ref` and `out`.
    Address,
}

#[derive(Debug, Clone)]
pub struct Var {
    pub slot: u16,
    pub storage: Storage,
    pub ty: Ty,
}

/// A local function.
#[derive(Debug)]
pub struct LocalFunction<'a> {
    pub node: Syntax<'a>,
    pub function: u32,
    /// The number of functions around it.
    pub level: usize,
    pub captures: RefCell<Option<Vec<&'a str>>>,
    pub lowering: std::cell::Cell<bool>,
    pub ret: Ty,
}

#[derive(Clone)]
pub enum Named<'a> {
    Var(Var),
    Function(Rc<LocalFunction<'a>>),
}

pub struct LoopLabels {
    pub end: Label,
    pub next: Option<Label>,
    pub cleanups: usize,
}

/// What must be done when a block is left.
#[derive(Clone, Copy)]
pub enum Cleanup<'a> {
    Finally(Syntax<'a>),
    Unlock(u16),
    Dispose(u16),
}

pub struct LoweringContext<'a> {
    pub builder: Builder,
    pub scopes: Vec<HashMap<&'a str, Named<'a>>>,
    /// Names that nested functions mention, or whose address is taken.
    pub shared: HashSet<&'a str>,
    pub place: Place,
    pub class: Option<u32>,
    pub this: This,
    /// Variables of the surrounding functions that this one uses, in the order of its delegate.
    pub captures: Vec<&'a str>,
    pub loops: Vec<LoopLabels>,
    pub cleanups: Vec<Cleanup<'a>>,
    /// For each cleanup the labels in the code that it comes after.
    pub guarded: Vec<Rc<HashSet<&'a str>>>,
    /// The local with the task of an asynchronous function, or with what an iterator has yielded so
    /// far.
    pub task: Option<u16>,
    pub items: Option<u16>,
    pub ret: Ty,
    pub hidden: bool,
    /// A memory barrier precedes or follows the statement.
    pub fenced: bool,
    pub overflow: bool,
    pub labels: HashMap<&'a str, Label>,
    /// The locals with the objects of `?.`, innermost last.
    pub bindings: Vec<(u16, Ty)>,
    pub name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum This {
    None,
    /// The first local.
    First,
    /// The object that the delegate in the first local is bound to.
    OfDelegate,
}

impl<'a> LoweringContext<'a> {
    pub fn new(place: Place, class: Option<u32>, this: This, hidden: bool, name: String) -> Self {
        Self {
            builder: Builder::default(),
            scopes: vec![HashMap::new()],
            shared: HashSet::new(),
            place,
            class,
            this,
            captures: Vec::new(),
            loops: Vec::new(),
            cleanups: Vec::new(),
            guarded: Vec::new(),
            task: None,
            items: None,
            ret: Ty::Unknown,
            hidden,
            fenced: false,
            overflow: false,
            labels: HashMap::new(),
            bindings: Vec::new(),
            name,
        }
    }
}

/// The names that functions nested in a body mention, and those whose address is taken.
pub fn shared_names<'a>(body: Syntax<'a>) -> HashSet<&'a str> {
    let mut out = HashSet::new();
    collect_shared(body, false, &mut out, 0);
    out
}

fn collect_shared<'a>(s: Syntax<'a>, nested: bool, out: &mut HashSet<&'a str>, depth: u32) {
    if depth > 800 {
        return;
    }
    let kind = s.kind();
    if kind == "identifier" && nested {
        out.insert(s.str());
    }
    if kind == "argument" && s.tokens().iter().any(|t| matches!(*t, "ref" | "out" | "in"))
        || kind == "ref_expression"
    {
        s.visit(&mut |c| {
            if c.kind() == "identifier" {
                out.insert(c.str());
            }
            true
        });
    }
    let nested = nested
        || matches!(kind, "lambda_expression" | "anonymous_method_expression" | "local_function_statement")
        || kind == "query_expression";
    for c in s.children() {
        collect_shared(c, nested, out, depth + 1);
    }
}

impl<'a> Lowerer<'_, 'a> {
    pub fn enter(&mut self) {
        self.context().scopes.push(HashMap::new());
    }

    pub fn leave(&mut self) {
        self.context().scopes.pop();
    }

    fn variable_class(&mut self, name: &str) -> u32 {
        let field = self.tables.name("value");
        let owner = self.context().name.clone();
        let mut class = ObjectClass {
            name: format!("{owner}.{name}").into(),
            size: FIRST_FIELD + 8,
            labels: vec![(FIRST_FIELD, name.into())],
            is_variable: true,
            ..ObjectClass::default()
        };
        class.fields.insert(field, FieldSlot { offset: FIRST_FIELD, volatile: false });
        self.add_class(class)
    }

    /// Declares a variable whose value is on the stack.
    pub fn declare(&mut self, name: &'a str, ty: Ty) {
        let shared = self.context().shared.contains(name);
        let slot = self.temporary();
        if shared {
            let class = self.variable_class(name);
            let value = self.temporary();
            self.emit(Instr::Set(value));
            self.emit(Instr::New(class));
            self.emit(Instr::Tee(slot));
            self.emit(Instr::Field(FIRST_FIELD));
            self.emit(Instr::Get(value));
            self.emit(Instr::Store(Scalar::U64, AccessClass::Hidden));
        } else {
            self.emit(Instr::Set(slot));
        }
        let storage = if shared { Storage::Boxed } else { Storage::Plain };
        self.bind(name, Named::Var(Var { slot, storage, ty }));
    }

    pub fn bind(&mut self, name: &'a str, named: Named<'a>) {
        if let Some(scope) = self.context().scopes.last_mut() {
            scope.insert(name, named);
        }
    }

    /// A name as the function at a level sees it, and the level that defines it.
    pub fn find(&self, name: &str) -> Option<(usize, Named<'a>)> {
        for (level, c) in self.contexts.iter().enumerate().rev() {
            if let Some(found) = c.scopes.iter().rev().find_map(|s| s.get(name)) {
                return Some((level, found.clone()));
            }
        }
        None
    }

    /// Pushes the object that holds a captured or shared variable.
    pub fn push_box(&mut self, name: &'a str) {
        let here = self.contexts.len() - 1;
        match self.find(name) {
            Some((level, Named::Var(v))) if level == here && v.storage == Storage::Boxed => {
                self.emit(Instr::Get(v.slot));
            }
            Some((level, Named::Var(v))) if level < here && v.storage == Storage::Boxed => {
                let known = self.context().captures.iter().position(|c| *c == name);
                let i = known.unwrap_or_else(|| {
                    self.context().captures.push(name);
                    self.context().captures.len() - 1
                });
                self.emit(Instr::Get(0));
                self.emit(Instr::Field(DELEGATE_CAPTURED + i as u32 * 8));
                self.emit(Instr::Load(Scalar::U64, AccessClass::Hidden));
            }
            _ => self.emit(Instr::Unknown),
        }
    }

    /// Pushes `this`.
    pub fn push_this(&mut self) {
        match self.context().this {
            This::None => self.emit(Instr::SomeObject),
            This::First => self.emit(Instr::Get(0)),
            This::OfDelegate => {
                self.emit(Instr::Get(0));
                self.emit(Instr::Field(DELEGATE_TARGET));
                self.emit(Instr::Load(Scalar::U64, AccessClass::Hidden));
            }
        }
    }
}
