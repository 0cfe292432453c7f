//! Objects, arrays, tuples and collections that expressions create.

use std::rc::Rc;

use super::Lowerer;
use super::call::arguments_of;
use crate::csharp::syntax::Syntax;
use crate::csharp::types::Ty;
use crate::csharp::world::TypeKind;
use crate::ir::{AccessClass, Instr, Scalar};

/// The maximum number of elements that are created with a new array of structures.
const MOST_STRUCTS: i32 = 64;

impl<'a> Lowerer<'_, 'a> {
    pub fn object_creation(&mut self, s: Syntax<'a>, expected: Option<&Ty>) -> Ty {
        let ty = match s.field("type") {
            Some(t) => self.ty(t),
            None => expected.cloned().unwrap_or_default(),
        };
        let args = arguments_of(s);
        if let Ty::Func(..) = ty {
            // `new Action(f)` is `f`.
            if let Some(e) = args.first().and_then(|a| a.last()) {
                return self.expression_as(e, &ty);
            }
        }
        match ty.class() {
            Some(class) => self.new_object(class, &args, s),
            None if ty == Ty::Object => {
                self.at(s);
                self.new_model("Object", 0);
            }
            None => {
                self.call_unknown(&args, s);
                self.emit(Instr::Drop);
                self.emit(Instr::SomeObject);
            }
        }
        let initializer = s.field("initializer").or_else(|| s.child("initializer_expression"));
        if let Some(list) = initializer {
            self.initializer(list, &ty);
        }
        ty
    }

    /// Pushes a new object of a class.
    pub fn new_object(&mut self, class: u32, args: &[Syntax<'a>], s: Syntax<'a>) {
        self.class_init(class);
        let constructors = self.world.class(class).constructors.clone();
        let found = self.applicable(&constructors, args.len());
        self.at(s);
        self.emit(Instr::New(class));
        let object = self.temporary();
        self.emit(Instr::Tee(object));
        if found.is_empty() {
            let primary = self.world.class(class).primary.len();
            let arguments = self.arguments(args, &[]);
            let mut n = arguments.types.len();
            while n > primary {
                self.emit(Instr::Drop);
                n -= 1;
            }
            while n < primary {
                self.emit(Instr::Unknown);
                n += 1;
            }
            let f = self.default_constructor(class);
            self.at(s);
            self.emit(Instr::Call(f, n as u8 + 1));
        } else {
            self.call_constructor(&found, args, s);
        }
        self.emit(Instr::Drop);
        self.emit(Instr::Get(object));
    }

    /// Calls one of several constructors on the object on the stack.
    pub fn call_constructor(&mut self, found: &[u32], args: &[Syntax<'a>], s: Syntax<'a>) {
        let m = self.call_with_this(found, args);
        let n = m.map_or(args.len(), |m| self.world.methods[m as usize].params.len()) + 1;
        self.at(s);
        match m {
            Some(m) => self.emit(Instr::Call(m, n as u8)),
            None => self.emit(Instr::CallNothing(n as u8)),
        }
    }

    fn initializer(&mut self, list: Syntax<'a>, ty: &Ty) {
        let object = self.temporary();
        self.emit(Instr::Set(object));
        for item in list.children() {
            if item.kind() == "assignment_expression"
                && let (Some(left), Some(right)) = (item.field("left"), item.field("right"))
            {
                self.initialise_member(object, ty, left, right);
                continue;
            }
            // Something to add: one value, or several in braces.
            let parts = if item.kind() == "initializer_expression" { item.children() } else { vec![item] };
            self.emit(Instr::Get(object));
            for p in &parts {
                self.expression(*p);
            }
            self.at(item);
            let site = self.tables.site("Add", parts.len(), None);
            self.emit(Instr::CallMethod(site));
            self.emit(Instr::Drop);
        }
        self.emit(Instr::Get(object));
    }

    fn initialise_member(&mut self, object: u16, ty: &Ty, left: Syntax<'a>, right: Syntax<'a>) {
        if left.kind() == "element_binding_expression" {
            let (target, _) = self.subscript(object, ty, &left.children());
            self.expression(right);
            self.store_target(&target, left);
            return;
        }
        let name = left.str();
        let member = self.member_type(ty, name);
        if right.kind() == "initializer_expression" {
            self.emit(Instr::Get(object));
            self.get_member(name, None, left);
            self.initializer(right, &member);
            self.emit(Instr::Drop);
            return;
        }
        self.emit(Instr::Get(object));
        self.expression_as(right, &member);
        let name = self.tables.name(name);
        self.at(left);
        let access = self.access();
        self.emit(Instr::SetMember(name, access));
    }

    pub fn array_creation(&mut self, s: Syntax<'a>, expected: Option<&Ty>) -> Ty {
        let ty = match s.field("type") {
            Some(t) => self.ty(t),
            None => expected.filter(|t| matches!(t, Ty::Array(_))).cloned().unwrap_or_default(),
        };
        if let Some(list) = s.child("initializer_expression") {
            return self.array_of(&list.children(), &ty);
        }
        let sizes = s.field("type").and_then(|t| t.field("rank")).map(|r| r.children()).unwrap_or_default();
        for size in sizes.iter().take(2) {
            self.expression(*size);
        }
        self.at(s);
        match sizes.len() {
            1 => self.emit(Instr::NewArray),
            2 => self.emit(Instr::NewGrid),
            0 => self.emit(Instr::SomeObject),
            _ => {
                self.emit(Instr::Drop);
                self.emit(Instr::Drop);
                self.emit(Instr::SomeObject);
            }
        }
        if let Ty::Array(t) = &ty
            && self.world.is_struct(t)
            && sizes.len() == 1
        {
            self.fill_with_structs(t.class().unwrap_or(0));
        }
        ty
    }

    /// Fills the new array on the stack with structures instead of nulls.
    fn fill_with_structs(&mut self, class: u32) {
        let (array, i) = (self.temporary(), self.temporary());
        let (next, end) = (self.builder().label(), self.builder().label());
        self.emit(Instr::Set(array));
        self.emit(Instr::Int(0));
        self.emit(Instr::Set(i));
        self.builder().place(next);
        for bound in [None, Some(MOST_STRUCTS)] {
            self.emit(Instr::Get(i));
            match bound {
                None => {
                    self.emit(Instr::Get(array));
                    self.emit(Instr::ArrayLength);
                }
                Some(n) => self.emit(Instr::Int(n)),
            }
            self.emit(Instr::Bin(crate::ir::Bin::Lt, Scalar::I32));
            self.builder().jump_if_not(end);
        }
        self.emit(Instr::Get(array));
        self.emit(Instr::Get(i));
        self.emit(Instr::ElementAddr);
        self.emit(Instr::New(class));
        self.emit(Instr::Store(Scalar::U64, AccessClass::Hidden));
        self.emit(Instr::Get(i));
        self.emit(Instr::Int(1));
        self.emit(Instr::Bin(crate::ir::Bin::Add, Scalar::I32));
        self.emit(Instr::Set(i));
        self.builder().jump(next);
        self.builder().place(end);
        self.emit(Instr::Get(array));
    }

    /// Pushes an array of expressions.
    pub fn array_of(&mut self, items: &[Syntax<'a>], ty: &Ty) -> Ty {
        let element = match ty {
            Ty::Array(t) => (**t).clone(),
            _ => Ty::Unknown,
        };
        let array = self.temporary();
        self.int(items.len() as i64);
        self.emit(Instr::NewArray);
        self.emit(Instr::Set(array));
        let mut found = element.clone();
        for (i, item) in items.iter().enumerate() {
            self.emit(Instr::Get(array));
            self.int(i as i64);
            self.emit(Instr::ElementAddr);
            let t = if item.kind() == "initializer_expression" {
                self.array_of(&item.children(), &element)
            } else {
                self.expression_as(*item, &element)
            };
            if i == 0 && found == Ty::Unknown {
                found = t;
            }
            self.emit(Instr::Store(Scalar::U64, AccessClass::Hidden));
        }
        self.emit(Instr::Get(array));
        Ty::Array(Rc::new(found))
    }

    /// `[a, b, ..c]`
    pub fn collection(&mut self, s: Syntax<'a>, expected: Option<&Ty>) -> Ty {
        let spreads = s.children().iter().any(|e| e.child("spread_element").is_some());
        let items: Vec<Syntax<'a>> = s.children().iter().filter_map(|e| e.first()?.first()).collect();
        match expected {
            Some(Ty::Class(c, _)) if !spreads => {
                let (c, ty) = (*c, expected.cloned().unwrap_or_default());
                let c = if self.world.class(c).kind == TypeKind::Interface { None } else { Some(c) };
                match c {
                    Some(c) => self.new_object(c, &[], s),
                    None => self.new_model("List", 1),
                }
                let slot = self.temporary();
                self.emit(Instr::Set(slot));
                for item in items {
                    self.emit(Instr::Get(slot));
                    self.expression(item);
                    let site = self.tables.site("Add", 1, None);
                    self.emit(Instr::CallMethod(site));
                    self.emit(Instr::Drop);
                }
                self.emit(Instr::Get(slot));
                ty
            }
            _ if !spreads => self.array_of(&items, expected.unwrap_or(&Ty::Unknown)),
            _ => {
                for item in items {
                    self.expression(item);
                    self.emit(Instr::Drop);
                }
                self.emit(Instr::SomeObject);
                expected.cloned().unwrap_or_default()
            }
        }
    }

    pub fn tuple(&mut self, s: Syntax<'a>) -> Ty {
        let slot = self.temporary();
        self.new_model("ValueTuple", 0);
        self.emit(Instr::Set(slot));
        let mut parts = Vec::new();
        for (i, a) in s.children().into_iter().enumerate() {
            let Some(e) = (if a.kind() == "argument" { a.last() } else { Some(a) }) else { continue };
            self.emit(Instr::Get(slot));
            let ty = self.expression(e);
            let item = format!("Item{}", i + 1);
            let name = a.field("name").map_or_else(|| item.clone(), |n| n.str().to_string());
            let number = self.tables.name(&item);
            self.emit(Instr::SetMember(number, AccessClass::Hidden));
            parts.push((name.as_str().into(), ty));
        }
        self.emit(Instr::Get(slot));
        Ty::Tuple(parts.into())
    }

    /// Replaces the structure on the stack by a copy.
    pub fn copy_struct(&mut self, class: u32) {
        let (from, to) = (self.temporary(), self.temporary());
        let end = self.builder().label();
        self.emit(Instr::Set(from));
        self.emit(Instr::New(class));
        self.emit(Instr::Set(to));
        self.emit(Instr::Get(from));
        self.builder().jump_if_not(end);
        let all = self.world.ancestry(class).iter().flat_map(|c| self.world.class(*c).fields.iter());
        let names: Vec<&'a str> = all.filter(|f| !f.is_static).map(|f| f.name).collect();
        for name in names {
            let number = self.tables.name(name);
            let access = self.access();
            self.emit(Instr::Get(to));
            self.emit(Instr::Get(from));
            self.emit(Instr::GetMember(number, access));
            self.emit(Instr::SetMember(number, AccessClass::Hidden));
        }
        self.builder().place(end);
        self.emit(Instr::Get(to));
    }
}
