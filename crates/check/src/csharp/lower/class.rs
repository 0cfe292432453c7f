//! Classes: layout, tables of methods, constructors, static initialisers, and the methods.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::Lowerer;
use super::call::arguments_of;
use super::scope::{LoweringContext, This, shared_names};
use crate::csharp::syntax::Syntax;
use crate::csharp::types::Ty;
use crate::csharp::world::{FieldDecl, Method, Passing, Place};
use crate::ir::objects::{FIRST_FIELD, FieldSlot};
use crate::ir::{Instr, Pos};

/// What each class gives to those derived from it. Computed once, because many may derive from one.
#[derive(Default)]
struct LayoutParts {
    fields: HashMap<u32, Rc<[FieldPart]>>,
    methods: HashMap<u32, Rc<[MethodPart]>>,
}

struct FieldPart {
    name: u32,
    label: Arc<str>,
    is_volatile: bool,
    is_property: bool,
}

struct MethodPart {
    number: u32,
    exact: u32,
    /// Its keys by the number of arguments, from the required ones to all.
    by_arity: Vec<u32>,
    /// It is a method of the program that is declared as `override`.
    overrides: bool,
    /// Its name is `ContinueWith`.
    continues: bool,
}

impl LayoutParts {
    fn fields_of(&mut self, lowerer: &mut Lowerer<'_, '_>, class: u32) -> Rc<[FieldPart]> {
        let find = || {
            let fields = lowerer.world.class(class).fields.iter().filter(|f| !f.is_static);
            let part = |f: &FieldDecl<'_>| {
                let hider = lowerer.hider(Some(class), f.name);
                let name = lowerer.member_name(f.name, hider);
                let label = lowerer.tables.label(class, f.name);
                FieldPart { name, label, is_volatile: f.is_volatile, is_property: f.is_property }
            };
            fields.map(part).collect()
        };
        self.fields.entry(class).or_insert_with(find).clone()
    }

    /// The instance methods that have code.
    fn methods_of(&mut self, lowerer: &mut Lowerer<'_, '_>, class: u32) -> Rc<[MethodPart]> {
        let find = || {
            let world = lowerer.world;
            let decl = world.class(class);
            let all = decl.methods.iter().map(|m| (*m, &world.methods[*m as usize]));
            let part = |(number, m): (u32, &Method<'_>)| {
                let exact = lowerer.tables.exact_key(m);
                let arities = m.required()..=m.params.len();
                MethodPart {
                    number,
                    exact,
                    by_arity: arities.map(|n| lowerer.tables.arity_key(&m.name, n)).collect(),
                    overrides: !decl.builtin && m.node.has_modifier("override"),
                    continues: &*m.name == "ContinueWith",
                }
            };
            all.filter(|(_, m)| !m.is_static && m.body.is_some()).map(part).collect()
        };
        self.methods.entry(class).or_insert_with(find).clone()
    }
}

impl<'a> Lowerer<'_, 'a> {
    /// Lays out all classes and finds those with something to initialise.
    pub fn classes(&mut self) {
        let mut parts = LayoutParts::default();
        for c in 0..self.world.types.len() as u32 {
            self.layout(c, &mut parts);
            self.static_fields(c);
            self.left_out.deep_classes += u32::from(self.world.is_too_deep(c));
            self.left_out.crowded_classes += u32::from(self.world.is_crowded(c));
        }
    }

    /// Lays out a class. Fields of the bases come first, so that a field has the same offset in all
    /// derived classes.
    fn layout(&mut self, class: u32, parts: &mut LayoutParts) {
        let line = self.world.base_line(class).0;
        let mut offset = FIRST_FIELD;
        for c in line.iter().rev() {
            for f in parts.fields_of(self, *c).iter() {
                let table = self.tables.class(class);
                // An overriding property shares the storage of the overridden one.
                let known = table.fields.contains_key(&f.name) && f.is_property;
                if !known {
                    table.fields.insert(f.name, FieldSlot { offset, volatile: f.is_volatile });
                    table.labels.push((offset, f.label.clone()));
                    offset += 8;
                }
            }
        }
        let supers = self.world.ancestry(class).to_vec();
        let finalizer = line.iter().find_map(|c| self.world.class(*c).finalizer);
        let builtin = self.world.class(class).builtin;
        let table = self.tables.class(class);
        (table.size, table.supers, table.finalizer, table.builtin) =
            (offset, supers.clone(), finalizer, builtin);
        self.methods_of(class, &supers, parts);
    }

    /// The keys of the library's methods that a method overrides: the models spell types
    /// differently.
    fn overridden_keys(&mut self, m: u32, library: &[u32]) -> Vec<u32> {
        let method = &self.world.methods[m as usize];
        let all = library.iter().flat_map(|c| &self.world.class(*c).methods);
        let all = all.map(|m| &self.world.methods[*m as usize]);
        let same: Vec<_> =
            all.filter(|o| o.name == method.name && o.params.len() == method.params.len()).collect();
        same.into_iter().map(|o| self.tables.exact_key(o)).collect()
    }

    fn methods_of(&mut self, class: u32, ancestry: &[u32], parts: &mut LayoutParts) {
        let is_builtin = |c: &u32| self.world.class(*c).builtin;
        let library: Vec<u32> = ancestry.iter().copied().filter(is_builtin).collect();
        let is_of_library = is_builtin(&class);
        for c in ancestry.iter().rev() {
            for m in parts.methods_of(self, *c).iter() {
                let number = m.number;
                self.tables.class(class).methods.insert(m.exact, number);
                if m.overrides {
                    for key in self.overridden_keys(number, &library) {
                        self.tables.class(class).methods.insert(key, number);
                    }
                }
                for (i, key) in m.by_arity.iter().enumerate() {
                    if m.continues && is_of_library {
                        self.tables.on_unknown(*key, number);
                    }
                    let table = self.tables.class(class);
                    let has_all = i + 1 == m.by_arity.len();
                    if has_all || !table.methods.contains_key(key) {
                        table.methods.insert(*key, number);
                    }
                }
            }
        }
    }

    fn static_fields(&mut self, class: u32) {
        let decl = self.world.class(class);
        let mut has_code = decl.static_constructor.is_some();
        for f in decl.fields.iter().filter(|f| f.is_static && !f.is_const) {
            let name = format!("{}.{}", decl.name, f.name);
            let g = self.global(&name, f.node.pos(), f.is_thread_static);
            self.statics.insert((class, f.name), g);
            has_code |= f.init.is_some() || self.world.is_value(&f.ty);
        }
        if has_code {
            let flag = self.global(&format!("initialisation of {}", decl.name), Pos::default(), false);
            let function = self.new_function();
            self.initialisers.insert(class, (flag, function));
        }
    }

    /// The place where names in a class are looked up.
    pub fn class_place(&self, class: u32, file: u16) -> Place {
        let mut type_params: Vec<Rc<str>> = Vec::new();
        let mut at = Some(class);
        while let Some(c) = at {
            type_params.extend(self.world.class(c).type_params.iter().cloned());
            at = self.world.class(c).outer;
        }
        let namespace = self.world.class(class).namespace.clone();
        Place { file, namespace, class: Some(class), type_params }
    }

    fn open(&mut self, class: u32, s: Syntax<'a>, this: This, name: String) {
        let hidden = self.world.class(class).builtin;
        let mut c = LoweringContext::new(self.class_place(class, s.file), Some(class), this, hidden, name);
        c.builder.pos = s.pos();
        self.contexts.push(c);
    }

    /// Lowers all methods, constructors and initialisers.
    pub fn bodies(&mut self) {
        for m in 0..self.world.methods.len() as u32 {
            let name = &*self.world.methods[m as usize].name;
            match name {
                ".cctor" => {}
                ".ctor" => self.constructor(m),
                _ => self.method(m),
            }
        }
        let mut all: Vec<_> = self.initialisers.iter().map(|(c, (_, f))| (*c, *f)).collect();
        all.sort_unstable();
        for (class, function) in all {
            self.static_initialiser(class, function);
        }
        for (file, statements) in self.world.top_level.clone() {
            self.top_level(file, &statements);
        }
    }

    fn method(&mut self, m: u32) {
        let method = &self.world.methods[m as usize];
        let class = method.class;
        let name = format!("{}.{}", self.world.class(class).name, method.name);
        let this = if method.is_static { This::None } else { This::First };
        self.open(class, method.node, this, name);
        let first = u16::from(!method.is_static);
        let c = self.context();
        c.place.type_params.extend(method.type_params.iter().cloned());
        c.shared = method.body.map(shared_names).unwrap_or_default();
        c.ret = method.ret.clone();
        let count = method.params.len() as u32 + u32::from(first);
        c.builder.locals = count;
        if method.body.is_none() {
            self.contexts.pop();
            let name = format!("{}.{}", self.world.class(class).name, method.name);
            self.functions[m as usize] = Some(super::absent(name.into(), method.node.pos()));
            return;
        }
        for (i, p) in method.params.iter().enumerate() {
            self.parameter(p.name, i as u16 + first, p.ty.clone(), p.mode == Passing::Reference);
        }
        self.body(method.body, method.is_async, method.is_iterator);
        self.close(m, count, method.node);
    }

    fn constructor(&mut self, m: u32) {
        let method = &self.world.methods[m as usize];
        let class = method.class;
        let name = format!("{}.{}", self.world.class(class).name, self.world.class(class).name);
        self.open(class, method.node, This::First, name);
        let count = method.params.len() as u32 + 1;
        let c = self.context();
        c.shared = shared_names(method.node);
        c.ret = Ty::Void;
        c.builder.locals = count;
        for (i, p) in method.params.iter().enumerate() {
            self.parameter(p.name, i as u16 + 1, p.ty.clone(), p.mode == Passing::Reference);
        }
        let chained = method.node.child("constructor_initializer");
        let to_own = chained.is_some_and(|c| c.tokens().contains(&"this"));
        if !to_own {
            self.field_initialisers(class);
        }
        match chained {
            Some(c) if to_own => self.chain(class, &arguments_of(c), c),
            Some(c) => match self.world.class(class).base {
                Some(base) => self.chain(base, &arguments_of(c), c),
                None => {
                    self.call_unknown(&arguments_of(c), c);
                    self.emit(Instr::Drop);
                }
            },
            None => self.base_constructor(class, method.node),
        }
        self.body(method.body, false, false);
        self.close(m, count, method.node);
    }

    /// Calls a constructor of a class on `this`.
    fn chain(&mut self, class: u32, args: &[Syntax<'a>], s: Syntax<'a>) {
        let found = self.applicable(&self.world.class(class).constructors.clone(), args.len());
        if found.is_empty() {
            let n = self.world.class(class).primary.len();
            self.push_this();
            let evaluated = self.arguments(args, &[]);
            for _ in n..evaluated.types.len() {
                self.emit(Instr::Drop);
            }
            for _ in evaluated.types.len()..n {
                self.emit(Instr::Unknown);
            }
            let f = self.default_constructor(class);
            self.emit(Instr::Call(f, n as u8 + 1));
        } else {
            self.push_this();
            self.call_constructor(&found, args, s);
        }
        self.emit(Instr::Drop);
    }

    fn base_constructor(&mut self, class: u32, s: Syntax<'a>) {
        let Some(base) = self.world.class(class).base else { return };
        let primary = self.world.class(class).nodes.iter().find_map(|n| {
            n.child("base_list")?.child("primary_constructor_base_type").map(|b| arguments_of(b))
        });
        let args = primary.unwrap_or_else(|| {
            let list = self
                .world
                .class(class)
                .nodes
                .iter()
                .find_map(|n| n.child("base_list")?.child("argument_list"));
            list.map(|l| l.children().into_iter().filter(|c| c.kind() == "argument").collect())
                .unwrap_or_default()
        });
        self.chain(base, &args, s);
    }

    fn field_initialisers(&mut self, class: u32) {
        let fields = self.world.class(class).fields.clone();
        for f in fields.iter().filter(|f| !f.is_static) {
            if f.init.is_none() && !self.world.is_value(&f.ty) {
                continue;
            }
            self.push_this();
            match f.init {
                Some(e) => {
                    let shared = shared_names(e);
                    self.context().shared.extend(shared);
                    let file = std::mem::replace(&mut self.context().place.file, e.file);
                    self.at(e);
                    self.expression_as(e, &f.ty);
                    self.context().place.file = file;
                }
                None => self.emit(Instr::New(f.ty.class().unwrap_or(0))),
            }
            let hider = self.hider(Some(class), f.name);
            let name = self.member_name(f.name, hider);
            self.at(f.node);
            let access = self.access();
            self.emit(Instr::SetMember(name, access));
        }
    }

    /// The constructor of a class that declares none, or of its primary parameters.
    pub fn default_constructor(&mut self, class: u32) -> u32 {
        if let Some(f) = self.default_constructors.get(&class) {
            return *f;
        }
        // A class of the models may declare one itself.
        let own = self.world.class(class).constructors.clone();
        if let Some(m) = own.iter().find(|m| self.world.methods[**m as usize].required() == 0) {
            self.default_constructors.insert(class, *m);
            return *m;
        }
        let number = self.new_function();
        self.default_constructors.insert(class, number);
        let node = self.world.class(class).nodes[0];
        let name = format!("{}.{}", self.world.class(class).name, self.world.class(class).name);
        // This function is lowered in the middle of another, whose open state is kept.
        let open = std::mem::take(&mut self.contexts);
        let depth = std::mem::take(&mut self.depth);
        self.open(class, node, This::First, name);
        let primary = self.world.class(class).primary.clone();
        let count = primary.len() as u32 + 1;
        self.context().builder.locals = count;
        for (i, p) in primary.iter().enumerate() {
            self.push_this();
            self.emit(Instr::Get(i as u16 + 1));
            let name = self.tables.name(p.name);
            let access = self.access();
            self.emit(Instr::SetMember(name, access));
            self.parameter(p.name, i as u16 + 1, p.ty.clone(), false);
        }
        self.field_initialisers(class);
        self.base_constructor(class, node);
        self.close(number, count, node);
        self.contexts = open;
        self.depth = depth;
        number
    }

    fn static_initialiser(&mut self, class: u32, function: u32) {
        let decl = self.world.class(class);
        let constructor = decl.static_constructor.map(|m| &self.world.methods[m as usize]);
        let node = constructor.map_or(decl.nodes[0], |m| m.node);
        let name =
            format!("{}.{}", decl.name, if constructor.is_some() { decl.name } else { "static fields" });
        self.open(class, node, This::None, name);
        self.context().shared = constructor.and_then(|m| m.body).map(shared_names).unwrap_or_default();
        let fields = decl.fields.clone();
        for f in fields.iter().filter(|f| f.is_static && !f.is_const) {
            let Some(global) = self.statics.get(&(class, f.name)).copied() else { continue };
            if f.init.is_none() && !self.world.is_value(&f.ty) {
                continue;
            }
            self.global_address(global);
            match f.init {
                Some(e) => {
                    self.context().shared.extend(shared_names(e));
                    self.at(e);
                    self.expression_as(e, &f.ty);
                }
                None => self.emit(Instr::New(f.ty.class().unwrap_or(0))),
            }
            self.at(f.node);
            self.store();
        }
        if let Some(m) = constructor {
            self.body(m.body, false, false);
        }
        self.close(function, 0, node);
    }

    /// Lowers statements outside of any class: they are the body of the program's `Main`.
    fn top_level(&mut self, file: u16, statements: &[Syntax<'a>]) {
        let Some(first) = statements.first().copied() else { return };
        let place = Place { file, ..Place::default() };
        let mut c = LoweringContext::new(place, None, This::None, false, "Main".into());
        c.builder.pos = first.pos();
        for s in statements {
            c.shared.extend(shared_names(*s));
        }
        let is_async = statements.iter().any(|s| has_await(*s));
        self.contexts.push(c);
        self.emit(Instr::SomeObject);
        self.declare("args", Ty::Array(Rc::new(Ty::Text)));
        if is_async {
            let slot = self.temporary();
            self.new_model("Task", 0);
            self.emit(Instr::Set(slot));
            self.context().task = Some(slot);
            self.block(statements);
            self.call_on(slot, "__Finish", &|l| l.emit(Instr::Int(0)));
            self.emit(Instr::Get(slot));
            self.emit(Instr::Return);
        } else {
            self.block(statements);
        }
        let function = self.new_function();
        self.close(function, 0, first);
        self.main_entry(function, 0, None);
    }
}

fn has_await(s: Syntax<'_>) -> bool {
    let mut found = false;
    s.visit(&mut |c| {
        found |= c.kind() == "await_expression";
        !matches!(c.kind(), "lambda_expression" | "local_function_statement" | "anonymous_method_expression")
    });
    found
}
