//! Members of types and objects, by name.

use super::Lowerer;
use super::scope::Named;
use crate::csharp::syntax::Syntax;
use crate::csharp::types::{Ty, predefined};
use crate::csharp::world::{Member, TypeKind};
use crate::ir::{Instr, SyncOp};

impl<'a> Lowerer<'_, 'a> {
    /// A member of the current class, or of one around it. The flag says that it is of one around.
    pub fn own_member(&self, name: &str) -> Option<(u32, Member, bool)> {
        let mut class = self.contexts.last()?.class;
        let mut is_outer = false;
        while let Some(c) = class {
            if let Some((owner, member)) = self.world.member(c, name) {
                return Some((owner, member, is_outer));
            }
            class = self.world.class(c).outer;
            is_outer = true;
        }
        None
    }

    /// Whether an expression names a `readonly` field of the current class, outside of
    /// constructors.
    pub fn is_readonly_field(&self, s: Syntax<'a>) -> bool {
        let name = s.str().strip_prefix("this.").unwrap_or(s.str());
        let is_local = s.kind() == "identifier" && self.find(name).is_some();
        let in_constructor = self.contexts.first().is_some_and(|c| {
            let (class, method) = c.name.rsplit_once('.').unwrap_or_default();
            class == method || method == "static fields"
        });
        match self.own_member(name) {
            Some((owner, Member::Field(i), false)) if !is_local && !in_constructor => {
                let field = &self.world.class(owner).fields[i];
                field.is_readonly && !field.is_property
            }
            _ => false,
        }
    }

    pub fn type_of_member(&self, owner: u32, member: Member) -> Ty {
        let class = self.world.class(owner);
        match member {
            Member::Field(i) => class.fields[i].ty.clone(),
            Member::Property(i) => class.properties[i].1.clone(),
            Member::Constant(_) => Ty::Class(owner, std::rc::Rc::from([])),
            Member::Method | Member::Type(_) => Ty::Unknown,
        }
    }

    /// The type of a member of an object of some type.
    pub fn member_type(&self, ty: &Ty, name: &str) -> Ty {
        match ty {
            Ty::Class(c, args) => match self.world.member(*c, name) {
                Some((owner, member)) => {
                    let found = self.type_of_member(owner, member);
                    found.substitute(&self.world.class(*c).type_params, args)
                }
                None => Ty::Unknown,
            },
            Ty::Array(_) | Ty::Text if name == "Length" => Ty::INT,
            Ty::Tuple(parts) => parts
                .iter()
                .enumerate()
                .find(|(i, p)| *p.0 == *name || format!("Item{}", i + 1) == name)
                .map(|(_, p)| p.1.clone())
                .unwrap_or_default(),
            Ty::Nullable(t) if name == "Value" => (**t).clone(),
            Ty::Nullable(_) if name == "HasValue" => Ty::Bool,
            _ => Ty::Unknown,
        }
    }

    /// The type that an expression names: one of the program, or (`Some(None)`) an unknown one or a
    /// namespace. `None` if the expression is a value.
    pub fn type_expression(&self, s: Syntax<'a>) -> Option<Option<u32>> {
        match s.kind() {
            "predefined_type" => Some(self.world.type_named(boxed_name(s.str()), 0, &self.place())),
            "identifier" => self.type_identifier(s),
            "generic_name" => {
                let name = s.first().map_or("", Syntax::str);
                let arity = s.child("type_argument_list").map_or(0, |l| l.children().len());
                Some(self.world.type_named(name, arity, &self.place()))
            }
            "member_access_expression" | "qualified_name" | "alias_qualified_name" => {
                let around = s.field("expression").or_else(|| s.field("qualifier"));
                let name = s.field("name")?;
                let found = match around {
                    Some(around) => self.type_expression(around)?,
                    None => None,
                };
                let simple = if name.kind() == "generic_name" { name.first()?.str() } else { name.str() };
                match found.map(|c| self.world.member(c, simple)) {
                    Some(Some((_, Member::Type(t)))) => Some(Some(t)),
                    Some(Some(_)) => None,
                    // An unknown member of a known type.
                    Some(None) => None,
                    None => {
                        let arity = name.child("type_argument_list").map_or(0, |l| l.children().len());
                        Some(self.world.type_named(simple, arity, &self.place()))
                    }
                }
            }
            _ => None,
        }
    }

    fn type_identifier(&self, s: Syntax<'a>) -> Option<Option<u32>> {
        let name = s.str();
        if self.find(name).is_some() {
            return None;
        }
        let place = self.place();
        match self.own_member(name) {
            Some((_, Member::Type(t), _)) => return Some(Some(t)),
            Some((owner, member @ (Member::Field(_) | Member::Property(_)), _)) => {
                // `Color Color`: what follows decides, and only the type has constants and static
                // members.
                let ty = self.type_of_member(owner, member);
                let class = ty.class().filter(|c| self.world.class(*c).name == name)?;
                let after = s.node.parent().and_then(|p| p.child_by_field_name("name"))?;
                let after = s.text.get(after.byte_range())?;
                return match self.world.member(class, after)? {
                    (_, Member::Constant(_) | Member::Type(_)) => Some(Some(class)),
                    (c, Member::Field(i)) if self.world.class(c).fields[i].is_static => Some(Some(class)),
                    (c, Member::Property(i)) if self.world.class(c).properties[i].2 => Some(Some(class)),
                    (_, Member::Method) => {
                        let methods = self.world.methods_named(class, after);
                        let all_static = methods.iter().all(|m| self.world.methods[*m as usize].is_static);
                        all_static.then_some(Some(class))
                    }
                    _ => None,
                };
            }
            Some((_, Member::Constant(_) | Member::Method, _)) => return None,
            None => {}
        }
        if let Some(alias) = self.world.aliases.get(&(s.file, name))
            && alias.str().rsplit(['.', ':']).next() != Some(name)
        {
            return Some(self.world.ty(*alias, &place).class());
        }
        if let Some(t) = self.world.type_named(name, 0, &place) {
            return Some(Some(t));
        }
        if predefined(name) != Ty::Unknown {
            return Some(None);
        }
        // An unexplained name is a type or a namespace of a library.
        name.starts_with(|c: char| c.is_uppercase()).then_some(None)
    }

    /// Runs the static initialisers of a class, unless this is its own code.
    pub fn class_init(&mut self, class: u32) {
        let Some((flag, function)) = self.initialisers.get(&class).copied() else { return };
        let is_own = self.contexts.last().is_some_and(|c| c.class == Some(class));
        // Code that a static initialiser passes to another thread must wait for the initialiser.
        if is_own && !(self.contexts.len() > 1 && self.initialises(class)) {
            return;
        }
        self.global_address(flag);
        self.emit(Instr::FuncAddr(function));
        self.emit(Instr::Sync(SyncOp::Once));
        self.emit(Instr::Drop);
    }

    /// Whether the outermost function here initialises a class.
    fn initialises(&self, class: u32) -> bool {
        let decl = self.world.class(class);
        let own = if decl.static_constructor.is_some() { decl.name } else { "static fields" };
        let is_static = |c: &super::scope::LoweringContext<'a>| c.this == super::scope::This::None;
        self.contexts.first().is_some_and(|c| is_static(c) && c.name == format!("{}.{own}", decl.name))
    }

    /// The class whose field a name refers to, if a base class has a field of the same name too.
    /// Then each field has its own place.
    pub fn hider(&self, class: Option<u32>, name: &str) -> Option<u32> {
        let (owner, Member::Field(i)) = self.world.member(class?, name)? else { return None };
        let field = &self.world.class(owner).fields[i];
        let mut base = self.world.class(owner).base.filter(|_| !field.is_static && !field.is_property);
        let mut rounds = 0;
        while let Some(b) = base.filter(|_| rounds < 100) {
            let decl = self.world.class(b);
            if decl.fields.iter().any(|f| f.name == name && !f.is_static) {
                return Some(owner);
            }
            (base, rounds) = (decl.base, rounds + 1);
        }
        None
    }

    /// The number of a member's name.
    pub fn member_name(&mut self, name: &str, hider: Option<u32>) -> u32 {
        match hider {
            Some(class) => self.tables.name(&format!("{name}@{class}")),
            None => self.tables.name(name),
        }
    }

    /// Replaces the object on the stack by one of its members.
    pub fn get_member(&mut self, name: &str, hider: Option<u32>, s: Syntax<'a>) {
        let name = self.member_name(name, hider);
        let access = self.access();
        self.at(s);
        self.emit(Instr::GetMember(name, access));
    }

    fn static_method(&self, class: u32, name: &str) -> Option<u32> {
        self.world.methods_named(class, name).into_iter().find(|m| self.world.methods[*m as usize].is_static)
    }

    pub fn static_getter(&mut self, class: u32, name: &str, s: Syntax<'a>) {
        self.class_init(class);
        self.at(s);
        match self.static_method(class, &format!("get_{name}")) {
            Some(f) => self.emit(Instr::Call(f, 0)),
            None => self.emit(Instr::Unknown),
        }
    }

    pub fn static_setter(&mut self, class: u32, name: &str, s: Syntax<'a>) {
        self.class_init(class);
        self.at(s);
        if let Some(f) = self.static_method(class, &format!("set_{name}")) {
            self.emit(Instr::Call(f, 1));
        }
        self.emit(Instr::Drop);
    }

    /// Pushes the value of an enumeration's constant.
    pub fn enum_constant(&mut self, class: u32, i: usize) {
        let constants = &self.world.class(class).constants;
        let explicit = (0..=i).rev().find_map(|j| constants[j].1.map(|e| (j, e)));
        match explicit {
            Some((j, e)) => {
                let place = self.context().place.clone();
                self.context().place.file = e.file;
                self.expression(e);
                self.context().place = place;
                if i > j {
                    self.int((i - j) as i64);
                    self.emit(Instr::Bin(crate::ir::Bin::Add, crate::ir::Scalar::I32));
                }
            }
            None => self.int(i as i64),
        }
    }

    /// Pushes the value of an identifier.
    pub fn identifier(&mut self, s: Syntax<'a>) -> Ty {
        let name = s.str();
        if let Some((_, Named::Function(f))) = self.find(name) {
            self.local_function_delegate(&f);
            return Ty::Func(std::rc::Rc::from([]), std::rc::Rc::new(f.ret.clone()));
        }
        if self.find(name).is_none() {
            match self.own_member(name) {
                Some((owner, Member::Constant(i), _)) => {
                    self.enum_constant(owner, i);
                    return Ty::Class(owner, std::rc::Rc::from([]));
                }
                Some((owner, Member::Field(i), _)) if self.world.class(owner).fields[i].is_const => {
                    return self.const_field(owner, i);
                }
                Some((owner, Member::Method, is_outer)) => {
                    return self.method_group(owner, name, None, is_outer, s);
                }
                Some((_, Member::Type(_), _)) | None => {
                    self.emit(Instr::Unknown);
                    return Ty::Unknown;
                }
                _ => {}
            }
        }
        let (target, ty) = self.target(s);
        self.load_target(&target, s);
        ty
    }

    /// Pushes a constant by evaluating its initialiser.
    pub fn const_field(&mut self, owner: u32, i: usize) -> Ty {
        let field = &self.world.class(owner).fields[i];
        let (ty, init) = (field.ty.clone(), field.init);
        match init {
            Some(e) => {
                let found = self.expression(e);
                self.coerce(&found, &ty);
            }
            None => self.emit(Instr::Unknown),
        }
        ty
    }

    pub fn member_access(&mut self, s: Syntax<'a>) -> Ty {
        let (Some(object), Some(name)) = (s.field("expression"), s.field("name")) else {
            self.emit(Instr::Unknown);
            return Ty::Unknown;
        };
        let simple =
            if name.kind() == "generic_name" { name.first().map_or("", Syntax::str) } else { name.str() };
        if let Some(class) = self.type_expression(object) {
            return self.static_member(class, simple, s);
        }
        if let Some((_, Member::Method)) =
            self.static_type(object).class().and_then(|c| self.world.member(c, simple))
        {
            let ty = self.expression(object);
            let slot = self.temporary();
            self.emit(Instr::Set(slot));
            let class = ty.class().unwrap_or(0);
            return self.method_group(class, simple, Some(slot), false, s);
        }
        let ty = self.expression(object);
        self.member_of_value(&ty, simple, s, spine_is_conditional(object))
    }

    /// Replaces the object on the stack by a member.
    pub fn member_of_value(&mut self, ty: &Ty, name: &'a str, s: Syntax<'a>, may_be_null: bool) -> Ty {
        if may_be_null {
            let slot = self.temporary();
            let (null, end) = (self.builder().label(), self.builder().label());
            self.emit(Instr::Tee(slot));
            self.builder().jump_if_not(null);
            self.emit(Instr::Get(slot));
            let ty = self.member_of_value(ty, name, s, false);
            self.builder().jump(end);
            self.builder().place(null);
            self.emit(Instr::Int(0));
            self.builder().place(end);
            return ty;
        }
        match (ty, name) {
            (Ty::Array(_), "Length" | "LongLength") => {
                self.at(s);
                self.emit(Instr::ArrayLength);
                return Ty::INT;
            }
            (Ty::Nullable(_), "Value") => return self.member_type(ty, name),
            (Ty::Nullable(_), "HasValue") => {
                self.emit(Instr::Un(crate::ir::Un::Truth, crate::ir::Scalar::I64));
                return Ty::Bool;
            }
            (Ty::Tuple(parts), _) => {
                let i = parts.iter().position(|p| *p.0 == *name);
                let item = i.map_or_else(|| name.to_string(), |i| format!("Item{}", i + 1));
                self.get_member(&item, None, s);
            }
            (t, _) if t.is_number() => {
                self.emit(Instr::CallNothing(1));
            }
            _ => {
                let hider = self.hider(ty.class(), name);
                self.get_member(name, hider, s);
            }
        }
        self.member_type(ty, name)
    }

    fn static_member(&mut self, class: Option<u32>, name: &'a str, s: Syntax<'a>) -> Ty {
        let Some(class) = class else {
            // A constant or singleton of a library: it is not null.
            self.emit(Instr::SomeObject);
            return Ty::Unknown;
        };
        match self.world.member(class, name) {
            Some((owner, Member::Constant(i))) => {
                self.enum_constant(owner, i);
                Ty::Class(owner, std::rc::Rc::from([]))
            }
            Some((owner, Member::Field(i))) if self.world.class(owner).fields[i].is_const => {
                self.const_field(owner, i)
            }
            Some((owner, Member::Method)) => self.method_group(owner, name, None, false, s),
            Some(_) => {
                let (target, ty) = self.target(s);
                self.load_target(&target, s);
                ty
            }
            None if self.world.class(class).kind == TypeKind::Enum => {
                self.emit(Instr::Unknown);
                Ty::INT
            }
            None => {
                self.emit(Instr::Unknown);
                Ty::Unknown
            }
        }
    }

    /// The type of an expression, without emitting code. Covers only what is cheap to know.
    pub fn static_type(&self, s: Syntax<'a>) -> Ty {
        match s.kind() {
            "this" => self.this_type(),
            "identifier" => match self.find(s.str()) {
                Some((_, Named::Var(v))) => v.ty,
                Some(_) => Ty::Unknown,
                None => match self.own_member(s.str()) {
                    Some((owner, member, _)) => self.type_of_member(owner, member),
                    None => Ty::Unknown,
                },
            },
            "parenthesized_expression" => s.first().map(|e| self.static_type(e)).unwrap_or_default(),
            "object_creation_expression" => s.field("type").map(|t| self.ty(t)).unwrap_or_default(),
            "member_access_expression" => {
                let (Some(object), Some(name)) = (s.field("expression"), s.field("name")) else {
                    return Ty::Unknown;
                };
                match self.type_expression(object) {
                    Some(Some(c)) => match self.world.member(c, name.str()) {
                        Some((owner, member)) => self.type_of_member(owner, member),
                        None => Ty::Unknown,
                    },
                    Some(None) => Ty::Unknown,
                    None => self.member_type(&self.static_type(object), name.str()),
                }
            }
            _ => Ty::Unknown,
        }
    }

    pub fn this_type(&self) -> Ty {
        match self.contexts.last().and_then(|c| c.class) {
            Some(c) => {
                let params = &self.world.class(c).type_params;
                Ty::Class(c, params.iter().map(|p| Ty::Param(p.clone())).collect())
            }
            None => Ty::Unknown,
        }
    }
}

/// Whether an earlier `?.` may have made the whole chain null.
pub fn spine_is_conditional(s: Syntax<'_>) -> bool {
    let mut at = s;
    for _ in 0..100 {
        let next = match at.kind() {
            "conditional_access_expression" => return true,
            "member_access_expression" | "element_access_expression" => at.field("expression"),
            "invocation_expression" => at.field("function"),
            _ => None,
        };
        match next {
            Some(n) => at = n,
            None => return false,
        }
    }
    false
}

/// The class behind a keyword type of the language.
fn boxed_name(name: &str) -> &str {
    match name {
        "string" => "String",
        "object" => "Object",
        other => other,
    }
}
