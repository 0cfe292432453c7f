//! Patterns: `is`, `switch` statements and expressions.

use super::Lowerer;
use crate::csharp::syntax::Syntax;
use crate::csharp::types::Ty;
use crate::ir::{Bin, Instr, Scalar, Un};

impl<'a> Lowerer<'_, 'a> {
    pub fn is_expression(&mut self, s: Syntax<'a>) -> Ty {
        let (Some(value), Some(t)) = (s.field("left"), s.field("right")) else {
            self.emit(Instr::Unknown);
            return Ty::Bool;
        };
        let found = self.expression(value);
        let slot = self.temporary();
        self.emit(Instr::Set(slot));
        // `x is null` and `x is Constant` look like types to the grammar.
        if matches!(t.kind(), "null_literal" | "integer_literal" | "string_literal" | "boolean_literal") {
            self.equals(slot, &found, t);
        } else {
            let ty = self.ty(t);
            self.is_of_type(slot, &ty);
        }
        Ty::Bool
    }

    pub fn is_pattern(&mut self, s: Syntax<'a>) -> Ty {
        let (Some(value), Some(p)) = (s.field("expression"), s.field("pattern")) else {
            self.emit(Instr::Unknown);
            return Ty::Bool;
        };
        let ty = self.expression(value);
        let slot = self.temporary();
        self.emit(Instr::Set(slot));
        self.pattern(p, slot, &ty);
        Ty::Bool
    }

    fn equals(&mut self, slot: u16, ty: &Ty, constant: Syntax<'a>) {
        let b = self.expression(constant);
        if b == Ty::Null {
            self.emit(Instr::Drop);
            self.emit(Instr::Get(slot));
            self.emit(Instr::Un(Un::IsZero, Scalar::I64));
        } else {
            self.emit(Instr::Get(slot));
            self.emit(Instr::Bin(Bin::Eq, ty.wider(&b).scalar()));
        }
    }

    /// Pushes whether the value in a local matches.
    pub fn pattern(&mut self, p: Syntax<'a>, slot: u16, ty: &Ty) {
        if self.depth > super::DEEPEST {
            self.emit(Instr::Unknown);
            return;
        }
        self.depth += 1;
        self.pattern_kind(p, slot, ty);
        self.depth -= 1;
    }

    fn pattern_kind(&mut self, p: Syntax<'a>, slot: u16, ty: &Ty) {
        match p.kind() {
            "discard" => self.emit(Instr::Int(1)),
            "constant_pattern" => {
                let Some(e) = p.first() else { return self.emit(Instr::Unknown) };
                // A name may be a type or a constant.
                let class = if e.kind() == "identifier" || e.kind() == "member_access_expression" {
                    self.type_expression(e).flatten()
                } else {
                    None
                };
                match class {
                    Some(c) => self.is_of_type(slot, &Ty::Class(c, std::rc::Rc::from([]))),
                    None => self.equals(slot, ty, e),
                }
            }
            "type_pattern" => {
                let t = p.field("type").map(|t| self.ty(t)).unwrap_or_default();
                self.is_of_type(slot, &t);
            }
            "declaration_pattern" => {
                let t = p.field("type").map(|t| self.ty(t)).unwrap_or_default();
                self.is_of_type(slot, &t);
                let found = if t.is_known() { t } else { ty.clone() };
                self.bind_pattern(p.field("name"), slot, found);
            }
            "var_pattern" => {
                self.emit(Instr::Int(1));
                self.bind_pattern(p.field("name"), slot, ty.clone());
            }
            "negated_pattern" => {
                match p.first() {
                    Some(inner) => self.pattern(inner, slot, ty),
                    None => self.emit(Instr::Unknown),
                }
                self.emit(Instr::Un(Un::IsZero, Scalar::I64));
            }
            "parenthesized_pattern" => match p.first() {
                Some(inner) => self.pattern(inner, slot, ty),
                None => self.emit(Instr::Unknown),
            },
            "and_pattern" | "or_pattern" => self.two_patterns(p, slot, ty),
            "relational_pattern" => {
                let bin = match p.tokens().first().copied() {
                    Some("<") => Bin::Lt,
                    Some("<=") => Bin::Le,
                    Some(">") => Bin::Gt,
                    _ => Bin::Ge,
                };
                self.emit(Instr::Get(slot));
                match p.first() {
                    Some(e) => {
                        let b = self.expression(e);
                        self.emit(Instr::Bin(bin, ty.wider(&b).scalar()));
                    }
                    None => self.emit(Instr::Drop),
                }
            }
            "recursive_pattern" => self.recursive_pattern(p, slot, ty),
            _ => self.emit(Instr::Unknown),
        }
    }

    fn two_patterns(&mut self, p: Syntax<'a>, slot: u16, ty: &Ty) {
        let (Some(left), Some(right)) = (p.field("left"), p.field("right")) else {
            return self.emit(Instr::Unknown);
        };
        let or = p.kind() == "or_pattern";
        let (short, end) = (self.builder().label(), self.builder().label());
        self.pattern(left, slot, ty);
        if or {
            self.builder().jump_if(short);
        } else {
            self.builder().jump_if_not(short);
        }
        self.pattern(right, slot, ty);
        self.builder().jump(end);
        self.builder().place(short);
        self.int(i64::from(or));
        self.builder().place(end);
    }

    fn bind_pattern(&mut self, name: Option<Syntax<'a>>, slot: u16, ty: Ty) {
        if let Some(n) = name.filter(|n| n.kind() == "identifier") {
            self.emit(Instr::Get(slot));
            self.declare(n.str(), ty);
        }
    }

    /// `Type { Member: pattern } name`
    fn recursive_pattern(&mut self, p: Syntax<'a>, slot: u16, ty: &Ty) {
        let named = p.field("type").map(|t| self.ty(t));
        let found = named.clone().unwrap_or_else(|| ty.clone());
        let (no, end) = (self.builder().label(), self.builder().label());
        match &named {
            Some(t) => self.is_of_type(slot, t),
            None => {
                self.emit(Instr::Get(slot));
                self.emit(Instr::Un(Un::Truth, Scalar::I64));
            }
        }
        self.builder().jump_if_not(no);
        for clause in p.children() {
            let is_positional = clause.kind() == "positional_pattern_clause";
            if !is_positional && clause.kind() != "property_pattern_clause" {
                continue;
            }
            for (i, sub) in clause.children().into_iter().enumerate() {
                let Some(inner) = sub.last() else { continue };
                let name = match sub.first() {
                    Some(n) if !is_positional && n.node.id() != inner.node.id() => n.str().to_string(),
                    _ => format!("Item{}", i + 1),
                };
                let member = self.member_type(&found, &name);
                self.emit(Instr::Get(slot));
                self.get_member(&name, None, sub);
                let part = self.temporary();
                self.emit(Instr::Set(part));
                self.pattern(inner, part, &member);
                self.builder().jump_if_not(no);
            }
        }
        self.bind_pattern(p.field("name"), slot, found);
        self.emit(Instr::Int(1));
        self.builder().jump(end);
        self.builder().place(no);
        self.emit(Instr::Int(0));
        self.builder().place(end);
    }

    pub fn switch_expression(&mut self, s: Syntax<'a>, expected: Option<&Ty>) -> Ty {
        let Some(value) = s.first() else {
            self.emit(Instr::Unknown);
            return Ty::Unknown;
        };
        let ty = self.expression(value);
        let (slot, result) = (self.temporary(), self.temporary());
        self.emit(Instr::Set(slot));
        let end = self.builder().label();
        let mut found = Ty::Unknown;
        for arm in s.children().into_iter().filter(|c| c.kind() == "switch_expression_arm") {
            let parts = arm.children();
            let (Some(pattern), Some(e)) = (parts.first(), parts.last()) else { continue };
            let next = self.builder().label();
            self.enter();
            self.pattern(*pattern, slot, &ty);
            self.builder().jump_if_not(next);
            if let Some(when) = arm.child("when_clause").and_then(Syntax::first) {
                self.expression(when);
                self.builder().jump_if_not(next);
            }
            let t = match expected {
                Some(want) => self.expression_as(*e, want),
                None => self.expression(*e),
            };
            if found == Ty::Unknown {
                found = t;
            }
            self.emit(Instr::Set(result));
            self.builder().jump(end);
            self.leave();
            self.builder().place(next);
        }
        self.emit(Instr::SomeObject);
        self.emit(Instr::Throw);
        self.builder().place(end);
        self.emit(Instr::Get(result));
        found
    }

    pub fn switch_statement(&mut self, s: Syntax<'a>) {
        let Some(value) = s.field("value").or_else(|| s.first()) else { return };
        let ty = self.expression(value);
        let slot = self.temporary();
        self.emit(Instr::Set(slot));
        let sections = s.field("body").map(Syntax::children).unwrap_or_default();
        let end = self.builder().label();
        let cleanups = self.context().cleanups.len();
        self.context().loops.push(super::scope::LoopLabels { end, next: None, cleanups });
        self.enter();
        let labels: Vec<_> = sections.iter().map(|_| self.builder().label()).collect();
        let mut default = end;
        for (section, label) in sections.iter().zip(&labels) {
            let parts = section.children();
            if section.tokens().contains(&"default") {
                default = *label;
                continue;
            }
            let Some(pattern) = parts.first() else { continue };
            let next = self.builder().label();
            if pattern.kind().ends_with("pattern") || pattern.kind() == "discard" {
                self.pattern(*pattern, slot, &ty);
            } else {
                self.equals(slot, &ty, *pattern);
            }
            self.builder().jump_if_not(next);
            if let Some(when) = section.child("when_clause").and_then(Syntax::first) {
                self.expression(when);
                self.builder().jump_if_not(next);
            }
            self.builder().jump(*label);
            self.builder().place(next);
        }
        self.builder().jump(default);
        for (section, label) in sections.iter().zip(&labels) {
            self.builder().place(*label);
            let parts = section.children();
            let is_default = section.tokens().contains(&"default");
            let skip = usize::from(!is_default);
            for part in parts.into_iter().skip(skip).filter(|p| p.kind() != "when_clause") {
                self.statement(part);
            }
            // A section falls through to the next only if it has no statements.
        }
        self.leave();
        self.context().loops.pop();
        self.builder().place(end);
    }
}
