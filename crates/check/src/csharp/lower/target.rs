//! Assignable expressions: each kind is evaluated once, then loaded from and stored to.

use super::Lowerer;
use super::scope::{Named, Storage};
use crate::csharp::syntax::Syntax;
use crate::csharp::types::Ty;
use crate::csharp::world::Member;
use crate::ir::objects::FIRST_FIELD;
use crate::ir::{AccessClass, AtomicInstr, Instr, MemoryOrdering, Scalar};

#[derive(Debug, Clone)]
pub enum AssignmentTarget<'a> {
    Local(u16),
    /// A variable that nested functions share.
    Boxed(&'a str),
    /// The variable behind an address in a local.
    Address(u16),
    Static {
        class: u32,
        global: u32,
        volatile: bool,
    },
    StaticProperty {
        class: u32,
        name: &'a str,
    },
    /// A field or property of the object in a local.
    Member {
        object: u16,
        name: &'a str,
        /// The class whose field hides one of the same name.
        hider: Option<u32>,
    },
    /// The array and the index are in locals.
    Element {
        array: u16,
        index: u16,
    },
    Grid {
        array: u16,
        row: u16,
        column: u16,
    },
    Indexer {
        object: u16,
        arguments: Vec<u16>,
    },
    Tuple(Vec<(AssignmentTarget<'a>, Ty)>),
    Nothing,
}

impl<'a> Lowerer<'_, 'a> {
    /// Evaluates the left side of an assignment.
    pub fn target(&mut self, s: Syntax<'a>) -> (AssignmentTarget<'a>, Ty) {
        match s.kind() {
            "identifier" => self.identifier_target(s),
            "parenthesized_expression" => match s.first() {
                Some(inner) => self.target(inner),
                None => (AssignmentTarget::Nothing, Ty::Unknown),
            },
            "member_access_expression" => self.member_target(s),
            "member_binding_expression" => {
                let Some((object, ty)) = self.context().bindings.last().cloned() else {
                    return (AssignmentTarget::Nothing, Ty::Unknown);
                };
                let name = s.field("name").map_or("", Syntax::str);
                let hider = self.hider(ty.class(), name);
                (AssignmentTarget::Member { object, name, hider }, self.member_type(&ty, name))
            }
            "element_access_expression" => self.element_target(s),
            "declaration_expression" => {
                let ty = s.field("type").map(|t| self.ty(t)).unwrap_or_default();
                match s.field("name") {
                    Some(n) if n.kind() == "identifier" => self.fresh(n.str(), ty),
                    Some(n) => self.designation(n),
                    None => (AssignmentTarget::Nothing, Ty::Unknown),
                }
            }
            "tuple_expression" => {
                let parts: Vec<_> = s
                    .children()
                    .into_iter()
                    .filter_map(|a| if a.kind() == "argument" { a.last() } else { Some(a) })
                    .map(|e| self.target(e))
                    .collect();
                (AssignmentTarget::Tuple(parts), Ty::Unknown)
            }
            "tuple_pattern" | "parenthesized_variable_designation" => self.designation(s),
            "ref_expression" => {
                s.first().map_or((AssignmentTarget::Nothing, Ty::Unknown), |e| self.target(e))
            }
            "discard" => (AssignmentTarget::Nothing, Ty::Unknown),
            _ => {
                self.expression(s);
                self.emit(Instr::Drop);
                (AssignmentTarget::Nothing, Ty::Unknown)
            }
        }
    }

    /// A variable that is declared where it is assigned.
    pub fn fresh(&mut self, name: &'a str, ty: Ty) -> (AssignmentTarget<'a>, Ty) {
        if name == "_" {
            return (AssignmentTarget::Nothing, Ty::Unknown);
        }
        self.emit(Instr::Int(0));
        self.declare(name, ty.clone());
        match self.find(name) {
            Some((_, Named::Var(v))) if v.storage == Storage::Plain => (AssignmentTarget::Local(v.slot), ty),
            _ => (AssignmentTarget::Boxed(name), ty),
        }
    }

    fn designation(&mut self, s: Syntax<'a>) -> (AssignmentTarget<'a>, Ty) {
        let parts = s
            .children()
            .into_iter()
            .map(|c| match c.kind() {
                "identifier" => self.fresh(c.str(), Ty::Unknown),
                "discard" => (AssignmentTarget::Nothing, Ty::Unknown),
                _ => self.designation(c),
            })
            .collect();
        (AssignmentTarget::Tuple(parts), Ty::Unknown)
    }

    fn identifier_target(&mut self, s: Syntax<'a>) -> (AssignmentTarget<'a>, Ty) {
        let name = s.str();
        let here = self.contexts.len() - 1;
        match self.find(name) {
            Some((level, Named::Var(v))) => {
                let target = match v.storage {
                    Storage::Plain if level == here => AssignmentTarget::Local(v.slot),
                    Storage::Address if level == here => AssignmentTarget::Address(v.slot),
                    Storage::Boxed => AssignmentTarget::Boxed(name),
                    _ => AssignmentTarget::Nothing,
                };
                return (target, v.ty);
            }
            Some(_) => return (AssignmentTarget::Nothing, Ty::Unknown),
            None if name == "_" => return (AssignmentTarget::Nothing, Ty::Unknown),
            None => {}
        }
        if let Some((owner, member, is_outer)) = self.own_member(name) {
            if let Some(found) = self.static_target(owner, member, name) {
                return found;
            }
            let object = self.temporary();
            if is_outer {
                self.emit(Instr::SomeObject);
            } else {
                self.push_this();
            }
            self.emit(Instr::Set(object));
            let ty = self.type_of_member(owner, member);
            let hider = self.hider(Some(owner), name);
            return (AssignmentTarget::Member { object, name, hider }, ty);
        }
        (AssignmentTarget::Nothing, Ty::Unknown)
    }

    /// The target of a static member, if it is one.
    fn static_target(
        &mut self,
        owner: u32,
        member: Member,
        name: &'a str,
    ) -> Option<(AssignmentTarget<'a>, Ty)> {
        let ty = self.type_of_member(owner, member);
        match member {
            Member::Field(i) if self.world.class(owner).fields[i].is_static => {
                let volatile = self.world.class(owner).fields[i].is_volatile || self.context().fenced;
                let global = *self.statics.get(&(owner, self.world.class(owner).fields[i].name))?;
                Some((AssignmentTarget::Static { class: owner, global, volatile }, ty))
            }
            Member::Property(i) if self.world.class(owner).properties[i].2 => {
                Some((AssignmentTarget::StaticProperty { class: owner, name }, ty))
            }
            _ => None,
        }
    }

    fn member_target(&mut self, s: Syntax<'a>) -> (AssignmentTarget<'a>, Ty) {
        let (Some(object), Some(name)) = (s.field("expression"), s.field("name")) else {
            return (AssignmentTarget::Nothing, Ty::Unknown);
        };
        let name = name.str();
        if let Some(class) = self.type_expression(object) {
            if let Some((owner, member)) = class.and_then(|c| self.world.member(c, name))
                && let Some(found) = self.static_target(owner, member, name)
            {
                return found;
            }
            return (AssignmentTarget::Nothing, Ty::Unknown);
        }
        let ty = self.expression(object);
        let slot = self.temporary();
        self.emit(Instr::Set(slot));
        if let Ty::Tuple(parts) = &ty
            && let Some(i) = parts.iter().position(|p| *p.0 == *name)
        {
            const ITEMS: [&str; 8] = ["Item1", "Item2", "Item3", "Item4", "Item5", "Item6", "Item7", "Item8"];
            let name = ITEMS.get(i).copied().unwrap_or(name);
            return (AssignmentTarget::Member { object: slot, name, hider: None }, parts[i].1.clone());
        }
        let member = self.member_type(&ty, name);
        let hider = self.hider(ty.class(), name);
        (AssignmentTarget::Member { object: slot, name, hider }, member)
    }

    fn element_target(&mut self, s: Syntax<'a>) -> (AssignmentTarget<'a>, Ty) {
        let Some(object) = s.field("expression") else { return (AssignmentTarget::Nothing, Ty::Unknown) };
        let ty = self.expression(object);
        let object = self.temporary();
        self.emit(Instr::Set(object));
        let arguments = s.field("subscript").map(Syntax::children).unwrap_or_default();
        self.subscript(object, &ty, &arguments)
    }

    /// An element of the object in a local.
    pub fn subscript(
        &mut self,
        object: u16,
        ty: &Ty,
        arguments: &[Syntax<'a>],
    ) -> (AssignmentTarget<'a>, Ty) {
        let mut slots = Vec::new();
        let mut from_end = false;
        for a in arguments {
            let e = a.last().unwrap_or(*a);
            from_end |= e.str().starts_with('^') || e.kind() == "range_expression";
            self.expression(e);
            let slot = self.temporary();
            self.emit(Instr::Set(slot));
            slots.push(slot);
        }
        match (ty, slots.as_slice()) {
            _ if from_end => (AssignmentTarget::Nothing, Ty::Unknown),
            (Ty::Array(t), [index]) => {
                (AssignmentTarget::Element { array: object, index: *index }, (**t).clone())
            }
            (Ty::Array(t), [row, column]) => {
                (AssignmentTarget::Grid { array: object, row: *row, column: *column }, (**t).clone())
            }
            _ => {
                let element = self.method_result(ty, "get_Item", slots.len());
                (AssignmentTarget::Indexer { object, arguments: slots }, element)
            }
        }
    }

    /// Pushes the value of a target.
    pub fn load_target(&mut self, t: &AssignmentTarget<'a>, s: Syntax<'a>) {
        match t {
            AssignmentTarget::Local(slot) => self.emit(Instr::Get(*slot)),
            AssignmentTarget::Boxed(name) => {
                self.push_box(name);
                self.emit(Instr::Field(FIRST_FIELD));
                self.at(s);
                self.load();
            }
            AssignmentTarget::Address(slot) => {
                self.emit(Instr::Get(*slot));
                self.at(s);
                self.load();
            }
            AssignmentTarget::Static { class, global, volatile } => {
                self.class_init(*class);
                self.global_address(*global);
                self.at(s);
                if *volatile {
                    self.emit(Instr::Atomic(AtomicInstr::Load, Scalar::U64, MemoryOrdering::SeqCst));
                } else {
                    self.load();
                }
            }
            AssignmentTarget::StaticProperty { class, name } => self.static_getter(*class, name, s),
            AssignmentTarget::Member { object, name, hider } => {
                self.emit(Instr::Get(*object));
                self.get_member(name, *hider, s);
            }
            AssignmentTarget::Element { .. } | AssignmentTarget::Grid { .. } => {
                self.push_address(t, s);
                self.at(s);
                self.load();
            }
            AssignmentTarget::Indexer { object, arguments } => {
                self.emit(Instr::Get(*object));
                arguments.iter().for_each(|a| self.emit(Instr::Get(*a)));
                self.at(s);
                let site = self.tables.site("get_Item", arguments.len(), None);
                self.emit(Instr::CallMethod(site));
            }
            AssignmentTarget::Tuple(_) | AssignmentTarget::Nothing => self.emit(Instr::Unknown),
        }
    }

    /// Stores the value on the stack.
    pub fn store_target(&mut self, t: &AssignmentTarget<'a>, s: Syntax<'a>) {
        match t {
            AssignmentTarget::Local(slot) => self.emit(Instr::Set(*slot)),
            AssignmentTarget::StaticProperty { class, name } => self.static_setter(*class, name, s),
            AssignmentTarget::Member { object, name, hider } => {
                self.emit(Instr::Get(*object));
                self.emit(Instr::Swap);
                let name = self.member_name(name, *hider);
                let access = self.access();
                self.at(s);
                self.emit(Instr::SetMember(name, access));
            }
            AssignmentTarget::Indexer { object, arguments } => {
                let value = self.temporary();
                self.emit(Instr::Set(value));
                self.emit(Instr::Get(*object));
                arguments.iter().for_each(|a| self.emit(Instr::Get(*a)));
                self.emit(Instr::Get(value));
                self.at(s);
                let site = self.tables.site("set_Item", arguments.len() + 1, None);
                self.emit(Instr::CallMethod(site));
                self.emit(Instr::Drop);
            }
            AssignmentTarget::Tuple(parts) => self.store_parts(parts, s),
            AssignmentTarget::Nothing => self.emit(Instr::Drop),
            AssignmentTarget::Static { volatile: true, .. } => {
                self.push_address(t, s);
                self.emit(Instr::Swap);
                self.at(s);
                self.emit(Instr::Atomic(AtomicInstr::Store, Scalar::U64, MemoryOrdering::SeqCst));
            }
            AssignmentTarget::Boxed(_) | AssignmentTarget::Address(_) | AssignmentTarget::Static { .. } => {
                self.push_address(t, s);
                self.emit(Instr::Swap);
                self.at(s);
                self.store();
            }
            AssignmentTarget::Element { .. } | AssignmentTarget::Grid { .. } => {
                let value = self.temporary();
                self.emit(Instr::Set(value));
                self.push_address(t, s);
                self.emit(Instr::Get(value));
                self.at(s);
                self.store();
            }
        }
    }

    /// Stores the parts of a tuple, each to its own target.
    fn store_parts(&mut self, parts: &[(AssignmentTarget<'a>, Ty)], s: Syntax<'a>) {
        let tuple = self.temporary();
        self.emit(Instr::Set(tuple));
        for (i, (part, _)) in parts.iter().enumerate() {
            self.emit(Instr::Get(tuple));
            let name = self.tables.name(&format!("Item{}", i + 1));
            self.emit(Instr::GetMember(name, AccessClass::Hidden));
            self.store_target(part, s);
        }
    }

    /// Pushes the address of a target's value. A target without an address gets a place of its own.
    pub fn push_address(&mut self, t: &AssignmentTarget<'a>, s: Syntax<'a>) {
        match t {
            AssignmentTarget::Boxed(name) => {
                self.push_box(name);
                self.emit(Instr::Field(FIRST_FIELD));
            }
            AssignmentTarget::Address(slot) => self.emit(Instr::Get(*slot)),
            AssignmentTarget::Static { class, global, .. } => {
                self.class_init(*class);
                self.global_address(*global);
            }
            AssignmentTarget::Member { object, name, hider } => {
                self.emit(Instr::Get(*object));
                let name = self.member_name(name, *hider);
                self.at(s);
                self.emit(Instr::MemberAddr(name));
            }
            AssignmentTarget::Element { array, index } => {
                self.emit(Instr::Get(*array));
                self.emit(Instr::Get(*index));
                self.at(s);
                self.emit(Instr::ElementAddr);
            }
            AssignmentTarget::Grid { array, row, column } => {
                self.emit(Instr::Get(*array));
                self.emit(Instr::Get(*row));
                self.emit(Instr::Get(*column));
                self.at(s);
                self.emit(Instr::GridAddr);
            }
            _ => self.emit(Instr::SomeObject),
        }
    }
}
