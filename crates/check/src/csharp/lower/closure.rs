//! Lambdas, local functions, and methods as values. Each becomes a delegate: a function, the object
//! it is bound to, and its captured variables.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::Lowerer;
use super::scope::{LocalFunction, LoweringContext, Named, Storage, This, Var, shared_names};
use crate::csharp::declare::has_yield;
use crate::csharp::syntax::Syntax;
use crate::csharp::types::Ty;
use crate::ir::objects::DELEGATE_TARGET;
use crate::ir::{AccessClass, Instr, Linkage, Scalar};

/// A parameter of a nested function.
struct NestedParam<'a> {
    name: &'a str,
    ty: Ty,
    by_address: bool,
}

impl<'a> Lowerer<'_, 'a> {
    /// Lowers a lambda or anonymous method. `expected` is the delegate it becomes, if known.
    pub fn lambda(&mut self, s: Syntax<'a>, expected: Option<&Ty>) -> Ty {
        let body = s.field("body").or_else(|| s.child("block"));
        let expected = match expected {
            Some(Ty::Func(params, ret)) => Some((params.clone(), ret.clone())),
            _ => None,
        };
        let mut params = self.nested_params(s);
        if let Some((types, _)) = &expected {
            for (p, ty) in params.iter_mut().zip(types.iter()) {
                if p.ty == Ty::Unknown {
                    p.ty = ty.clone();
                }
            }
        }
        let is_async = s.has_modifier("async") || s.tokens().contains(&"async");
        let number = self.new_function();
        let name = format!("lambda in {}", self.context().name.trim_start_matches("lambda in "));
        let types: Rc<[Ty]> = params.iter().map(|p| p.ty.clone()).collect();
        let ret = expected.map_or(Ty::Unknown, |e| (*e.1).clone());
        let (captures, found) = self.nested(s, body, params, is_async, number, name, ret.clone());
        self.delegate(number, &captures);
        Ty::Func(types, Rc::new(if ret == Ty::Unknown { found } else { ret }))
    }

    /// Pushes a delegate that maps a variable to an expression. Returns its type.
    pub fn delegate_of(&mut self, name: &'a str, ty: Ty, body: Syntax<'a>) -> Ty {
        let params = vec![NestedParam { name, ty, by_address: false }];
        let number = self.new_function();
        let full = format!("lambda in {}", self.context().name.trim_start_matches("lambda in "));
        let (captures, found) = self.nested(body, Some(body), params, false, number, full, Ty::Unknown);
        self.delegate(number, &captures);
        found
    }

    fn nested_params(&self, s: Syntax<'a>) -> Vec<NestedParam<'a>> {
        let Some(list) = s.field("parameters") else { return Vec::new() };
        if list.kind() != "parameter_list" {
            return vec![NestedParam { name: list.str(), ty: Ty::Unknown, by_address: false }];
        }
        let is_param = |c: &Syntax<'a>| matches!(c.kind(), "parameter" | "implicit_parameter");
        list.children()
            .into_iter()
            .filter(is_param)
            .map(|p| NestedParam {
                name: p.field("name").map_or(p.str(), Syntax::str),
                ty: p.field("type").map(|t| self.ty(t)).unwrap_or_default(),
                by_address: ["ref", "out", "in"].iter().any(|m| p.has_modifier(m)),
            })
            .collect()
    }

    /// Pushes a delegate to a nested function with its captures from here.
    fn delegate(&mut self, function: u32, captures: &[&'a str]) {
        self.emit(Instr::FuncAddr(function));
        if self.context().this == This::None {
            self.emit(Instr::Int(0));
        } else {
            self.push_this();
        }
        for name in captures {
            self.push_box(name);
        }
        self.emit(Instr::NewDelegate(u8::try_from(captures.len()).unwrap_or(u8::MAX)));
    }

    /// Lowers a nested function. Returns its captures, and its result type if it is an expression.
    #[expect(clippy::too_many_arguments, reason = "the parts of a function")]
    fn nested(
        &mut self,
        s: Syntax<'a>,
        body: Option<Syntax<'a>>,
        params: Vec<NestedParam<'a>>,
        is_async: bool,
        number: u32,
        name: String,
        ret: Ty,
    ) -> (Vec<&'a str>, Ty) {
        let around = self.context();
        let this = if around.this == This::None { This::None } else { This::OfDelegate };
        let mut c = LoweringContext::new(around.place.clone(), around.class, this, around.hidden, name);
        c.shared = body.map(shared_names).unwrap_or_default();
        c.ret = ret;
        c.builder.pos = s.pos();
        c.builder.locals = params.len() as u32 + 1;
        self.contexts.push(c);
        for (i, p) in params.iter().enumerate() {
            self.parameter(p.name, i as u16 + 1, p.ty.clone(), p.by_address);
        }
        let is_iterator = body.is_some_and(has_yield);
        let found = self.body(body, is_async, is_iterator);
        let count = params.len() as u32 + 1;
        let captures = self.context().captures.clone();
        self.close(number, count, s);
        (captures, found)
    }

    /// Binds a parameter that arrives in a local. If others share it, it moves to an object.
    pub fn parameter(&mut self, name: &'a str, slot: u16, ty: Ty, by_address: bool) {
        if by_address {
            self.bind(name, Named::Var(Var { slot, storage: Storage::Address, ty }));
        } else if self.context().shared.contains(name) {
            self.emit(Instr::Get(slot));
            self.declare(name, ty);
        } else {
            self.bind(name, Named::Var(Var { slot, storage: Storage::Plain, ty }));
        }
    }

    /// Ends the innermost function.
    pub fn close(&mut self, number: u32, params: u32, s: Syntax<'a>) {
        let Some(c) = self.contexts.pop() else { return };
        let pos = s.pos();
        if c.overflow {
            self.left_out.functions += 1;
            self.functions[number as usize] = Some(super::absent(c.name.into(), pos));
            return;
        }
        let mut f = c.builder.finish(c.name.into(), Linkage::Internal, pos);
        f.params = params;
        f.locals = f.locals.max(params);
        f.end_line = s.end_line();
        if crate::ir::cfg::verify(&f).is_err() {
            self.left_out.functions += 1;
        }
        self.functions[number as usize] = Some(f);
    }

    /// Declares the local functions of a block before its statements.
    pub fn hoist(&mut self, statements: &[Syntax<'a>]) {
        for s in statements.iter().filter(|s| s.kind() == "local_function_statement") {
            let Some(name) = s.field("name") else { continue };
            let ret = s.field("type").map(|t| self.ty(t)).unwrap_or_default();
            let f = LocalFunction {
                node: *s,
                function: self.new_function(),
                level: self.contexts.len(),
                captures: RefCell::new(None),
                lowering: Cell::new(false),
                ret,
            };
            self.bind(name.str(), Named::Function(Rc::new(f)));
        }
    }

    /// Lowers a local function at the level where its variables are known.
    fn lower_local(&mut self, f: &LocalFunction<'a>) {
        if f.captures.borrow().is_some() || f.lowering.replace(true) {
            return;
        }
        // Functions in between see variables that it does not see.
        let between = self.contexts.split_off(f.level);
        let s = f.node;
        let params = self.nested_params(s);
        let is_async = s.has_modifier("async");
        let name = s.field("name").map_or("", Syntax::str);
        let outer = self.context().name.clone();
        let full = format!("{}.{name}", outer.trim_start_matches("lambda in "));
        let (captures, _) =
            self.nested(s, s.field("body"), params, is_async, f.function, full, f.ret.clone());
        *f.captures.borrow_mut() = Some(captures);
        self.contexts.extend(between);
    }

    /// Pushes a delegate to a local function.
    pub fn local_function_delegate(&mut self, f: &Rc<LocalFunction<'a>>) {
        self.lower_local(f);
        let captures = f.captures.borrow().clone();
        match captures {
            Some(captures) => self.delegate(f.function, &captures),
            // It calls itself: if this is its own code, the delegate that it runs on is the wanted
            // one.
            None if self.contexts.len() == f.level + 1 => self.emit(Instr::Get(0)),
            None => self.emit(Instr::Unknown),
        }
    }

    /// Pushes a method as a value; `object` is in a local.
    pub fn method_group(
        &mut self,
        class: u32,
        name: &str,
        object: Option<u16>,
        is_outer: bool,
        s: Syntax<'a>,
    ) -> Ty {
        let Some(m) = self.world.methods_named(class, name).into_iter().next() else {
            self.emit(Instr::Unknown);
            return Ty::Unknown;
        };
        let method = &self.world.methods[m as usize];
        let ty = Ty::Func(
            method.params.iter().map(|p| p.ty.clone()).collect(),
            Rc::new(if method.is_async && method.ret == Ty::Unknown {
                Ty::Unknown
            } else {
                method.ret.clone()
            }),
        );
        let thunk = self.thunk(m);
        self.emit(Instr::FuncAddr(thunk));
        match object {
            _ if self.world.methods[m as usize].is_static => self.emit(Instr::Int(0)),
            Some(slot) => self.emit(Instr::Get(slot)),
            None if is_outer => self.emit(Instr::SomeObject),
            None => self.push_this(),
        }
        self.at(s);
        self.emit(Instr::NewDelegate(0));
        ty
    }

    /// A function that calls a method on the object that its delegate is bound to.
    fn thunk(&mut self, m: u32) -> u32 {
        if let Some(f) = self.thunks.get(&m) {
            return *f;
        }
        let number = self.new_function();
        self.thunks.insert(m, number);
        let method = &self.world.methods[m as usize];
        let n = method.params.len();
        let name = format!("{}.{}", self.world.class(method.class).name, method.name);
        let place = self.place();
        let mut c = LoweringContext::new(place, None, This::None, true, name);
        c.builder.pos = method.node.pos();
        c.builder.locals = n as u32 + 1;
        self.contexts.push(c);
        if method.is_static {
            self.class_init(method.class);
        } else {
            self.emit(Instr::Get(0));
            self.emit(Instr::Field(DELEGATE_TARGET));
            self.emit(Instr::Load(Scalar::U64, AccessClass::Hidden));
        }
        for i in 0..n as u16 {
            self.emit(Instr::Get(i + 1));
        }
        if method.is_static {
            self.emit(Instr::Call(m, n as u8));
        } else {
            let site = self.tables.site(&method.name, n, Some(method));
            self.emit(Instr::CallMethod(site));
        }
        self.emit(Instr::Return);
        self.close(number, n as u32 + 1, method.node);
        if let Some(f) = self.functions[number as usize].as_mut() {
            f.outlined = true;
            // The reader sees the method, not the thunk.
            f.pos_of.iter_mut().for_each(|p| p.line = 0);
        }
        number
    }

    /// The name of a member in reports.
    pub fn qualified_name(&self, class: u32, name: &str) -> String {
        format!("{}.{}", self.world.class(class).name, name)
    }
}
