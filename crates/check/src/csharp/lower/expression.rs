//! Expressions. Each leaves one value on the stack; one that is not understood leaves an unknown.

use super::{DEEPEST, Lowerer};
use crate::csharp::syntax::Syntax;
use crate::csharp::types::{Ty, predefined};
use crate::ir::{Instr, Scalar, Un};

impl<'a> Lowerer<'_, 'a> {
    pub fn expression(&mut self, s: Syntax<'a>) -> Ty {
        self.expression_for(s, None)
    }

    /// Lowers an expression whose value goes to something of the expected type.
    pub fn expression_as(&mut self, s: Syntax<'a>, expected: &Ty) -> Ty {
        let found = self.expression_for(s, Some(expected));
        self.coerce(&found, expected);
        if self.world.is_struct(expected) && is_place(s) {
            self.copy_struct(expected.class().unwrap_or(0));
        }
        if expected.is_known() && *expected != Ty::Void { expected.clone() } else { found }
    }

    /// Converts the number on the stack.
    pub fn coerce(&mut self, from: &Ty, to: &Ty) {
        match (from, to) {
            (Ty::Int(a), Ty::Float(b)) => self.emit(Instr::Conv(*a, *b)),
            (Ty::Float(a), Ty::Float(b)) if a != b => self.emit(Instr::Conv(*a, *b)),
            _ => {}
        }
    }

    fn expression_for(&mut self, s: Syntax<'a>, expected: Option<&Ty>) -> Ty {
        if self.depth > DEEPEST {
            self.context().overflow = true;
            self.emit(Instr::Unknown);
            return Ty::Unknown;
        }
        self.depth += 1;
        let ty = self.kind_of_expression(s, expected);
        self.depth -= 1;
        ty
    }

    fn kind_of_expression(&mut self, s: Syntax<'a>, expected: Option<&Ty>) -> Ty {
        match s.kind() {
            "identifier" => self.identifier(s),
            "this" => {
                self.push_this();
                self.this_type()
            }
            "parenthesized_expression"
            | "checked_expression"
            | "ref_expression"
            | "arrow_expression_clause" => match s.first() {
                Some(e) => self.expression_for(e, expected),
                None => self.unknown(),
            },
            "member_access_expression" => self.member_access(s),
            "member_binding_expression" => self.binding(s),
            "conditional_access_expression" => self.conditional_access(s),
            "element_access_expression" => {
                let (target, ty) = self.target(s);
                self.load_target(&target, s);
                ty
            }
            "invocation_expression" => self.invocation(s),
            "object_creation_expression" | "implicit_object_creation_expression" => {
                self.object_creation(s, expected)
            }
            "array_creation_expression" | "implicit_array_creation_expression" => {
                self.array_creation(s, expected)
            }
            "initializer_expression" => self.array_of(&s.children(), expected.unwrap_or(&Ty::Unknown)),
            "collection_expression" => self.collection(s, expected),
            "anonymous_object_creation_expression" => {
                for c in s.children() {
                    if c.kind() != "identifier" {
                        self.expression(c);
                        self.emit(Instr::Drop);
                    }
                }
                self.emit(Instr::SomeObject);
                Ty::Unknown
            }
            "lambda_expression" | "anonymous_method_expression" => self.lambda(s, expected),
            "binary_expression" => self.binary(s),
            "prefix_unary_expression" | "unary_expression" => self.prefix(s),
            "postfix_unary_expression" => self.postfix(s),
            "assignment_expression" => self.assignment(s),
            "conditional_expression" => self.choice(s, expected),
            "cast_expression" => self.cast(s),
            "as_expression" => self.as_expression(s),
            "is_expression" => self.is_expression(s),
            "is_pattern_expression" => self.is_pattern(s),
            "switch_expression" => self.switch_expression(s, expected),
            "await_expression" => self.await_expression(s),
            "throw_expression" => {
                match s.first() {
                    Some(e) => {
                        self.expression(e);
                    }
                    None => self.emit(Instr::SomeObject),
                }
                self.at(s);
                self.emit(Instr::Throw);
                // Never reached; the stack is as after any expression.
                self.emit(Instr::Int(0));
                Ty::Unknown
            }
            "tuple_expression" => self.tuple(s),
            "default_expression" | "default" => self.default_value(s, expected),
            "typeof_expression" | "sizeof_expression" => self.some_object(),
            "query_expression" => self.query(s),
            "with_expression" => self.with_expression(s),
            "range_expression" | "stackalloc_expression" => self.some_object(),
            "declaration_expression" => {
                let (target, ty) = self.target(s);
                self.load_target(&target, s);
                ty
            }
            _ => self.literal(s),
        }
    }

    fn unknown(&mut self) -> Ty {
        self.emit(Instr::Unknown);
        Ty::Unknown
    }

    pub fn some_object(&mut self) -> Ty {
        self.emit(Instr::SomeObject);
        Ty::Unknown
    }

    fn literal(&mut self, s: Syntax<'a>) -> Ty {
        match s.kind() {
            "null_literal" => {
                self.emit(Instr::Int(0));
                Ty::Null
            }
            "boolean_literal" => {
                self.int(i64::from(s.str() == "true"));
                Ty::Bool
            }
            "integer_literal" => {
                let (v, ty) = integer(s.str());
                self.int(v);
                ty
            }
            "real_literal" => {
                let text: String = s.str().chars().filter(|c| *c != '_').collect();
                let digits = text.trim_end_matches(|c: char| "fFdDmM".contains(c));
                let v: f64 = digits.parse().unwrap_or(0.0);
                if text.ends_with(['f', 'F']) {
                    self.constant(u64::from((v as f32).to_bits()));
                    Ty::Float(Scalar::F32)
                } else {
                    self.constant(v.to_bits());
                    Ty::Float(Scalar::F64)
                }
            }
            "character_literal" => {
                let c = s.str().chars().nth(1).unwrap_or('\0');
                self.int(i64::from(c as u32));
                predefined("char")
            }
            "string_literal" | "verbatim_string_literal" | "raw_string_literal" => {
                self.text(s.str());
                Ty::Text
            }
            "interpolated_string_expression" => {
                for i in s.children().into_iter().filter(|c| c.kind() == "interpolation") {
                    let inner = i.children().into_iter().find(|c| !c.kind().starts_with("interpolation"));
                    if let Some(e) = inner {
                        self.expression(e);
                        self.emit(Instr::Drop);
                    }
                }
                self.emit(Instr::SomeObject);
                Ty::Text
            }
            _ => self.unknown(),
        }
    }

    fn binding(&mut self, s: Syntax<'a>) -> Ty {
        let Some((slot, ty)) = self.context().bindings.last().cloned() else { return self.unknown() };
        self.emit(Instr::Get(slot));
        let name = s.field("name").map_or("", Syntax::str);
        self.member_of_value(&ty, name, s, false)
    }

    fn conditional_access(&mut self, s: Syntax<'a>) -> Ty {
        let (Some(object), Some(binding)) = (s.field("condition"), s.last()) else { return self.unknown() };
        let ty = self.expression(object);
        self.unless_null(|l| {
            let slot = l.temporary();
            l.emit(Instr::Set(slot));
            if binding.kind() == "element_binding_expression" {
                let (target, found) = l.subscript(slot, &ty, &binding.children());
                l.load_target(&target, s);
                return found;
            }
            l.context().bindings.push((slot, ty.clone()));
            let found = l.expression(binding);
            l.context().bindings.pop();
            found
        })
    }

    fn choice(&mut self, s: Syntax<'a>, expected: Option<&Ty>) -> Ty {
        let (Some(condition), Some(yes), Some(no)) =
            (s.field("condition"), s.field("consequence"), s.field("alternative"))
        else {
            return self.unknown();
        };
        let (other, end) = (self.builder().label(), self.builder().label());
        self.expression(condition);
        self.builder().jump_if_not(other);
        let ty = self.expression_for(yes, expected);
        self.builder().jump(end);
        self.builder().place(other);
        let second = self.expression_for(no, expected);
        self.builder().place(end);
        if matches!(ty, Ty::Null | Ty::Unknown) { second } else { ty }
    }

    fn cast(&mut self, s: Syntax<'a>) -> Ty {
        let (Some(t), Some(value)) = (s.field("type"), s.field("value")) else { return self.unknown() };
        let to = self.ty(t);
        let from = self.expression_for(value, Some(&to));
        match (&from, &to) {
            (Ty::Int(a) | Ty::Float(a), Ty::Int(b) | Ty::Float(b)) if a != b => {
                self.emit(Instr::Conv(*a, *b));
            }
            _ => {}
        }
        // A cast to an interface says less than what is already known.
        if to.is_known() || matches!(to, Ty::Param(_) | Ty::Extern(_) | Ty::Object) { to } else { from }
    }

    fn as_expression(&mut self, s: Syntax<'a>) -> Ty {
        let (Some(value), Some(t)) = (s.field("left"), s.field("right")) else { return self.unknown() };
        self.expression(value);
        let ty = self.ty(t);
        let (slot, other, end) = (self.temporary(), self.builder().label(), self.builder().label());
        self.emit(Instr::Set(slot));
        self.is_of_type(slot, &ty);
        self.builder().jump_if_not(other);
        self.emit(Instr::Get(slot));
        self.builder().jump(end);
        self.builder().place(other);
        self.emit(Instr::Int(0));
        self.builder().place(end);
        ty
    }

    fn await_expression(&mut self, s: Syntax<'a>) -> Ty {
        let Some(e) = s.first() else { return self.unknown() };
        let ty = self.expression(e);
        self.at(s);
        let slot = self.context().task.unwrap_or(u16::MAX);
        if self.has_ui && slot != u16::MAX && !self.context().hidden {
            self.await_on_ui(e, slot);
        } else {
            self.emit(Instr::Await(slot));
        }
        let site = self.tables.site("__Result", 0, None);
        self.emit(Instr::CallMethod(site));
        match ty {
            Ty::Class(_, args) if args.len() == 1 => args[0].clone(),
            Ty::Class(..) => Ty::Void,
            _ => Ty::Unknown,
        }
    }

    fn default_value(&mut self, s: Syntax<'a>, expected: Option<&Ty>) -> Ty {
        let ty = match s.field("type") {
            Some(t) => self.ty(t),
            None => expected.cloned().unwrap_or_default(),
        };
        match ty.class() {
            Some(class) if self.world.is_struct(&ty) => self.emit(Instr::New(class)),
            _ => self.emit(Instr::Int(0)),
        }
        ty
    }

    /// Pushes whether the value in a local is of a type.
    pub fn is_of_type(&mut self, slot: u16, ty: &Ty) {
        match ty {
            Ty::Class(c, _) if !self.world.is_enum(ty) => {
                self.emit(Instr::Get(slot));
                self.emit(Instr::IsInstance(*c));
            }
            Ty::Array(_) => {
                self.emit(Instr::Get(slot));
                self.emit(Instr::IsInstance(crate::ir::objects::ARRAY));
            }
            Ty::Func(..) => {
                self.emit(Instr::Get(slot));
                self.emit(Instr::IsInstance(crate::ir::objects::DELEGATE));
            }
            Ty::Object => {
                self.emit(Instr::Get(slot));
                self.emit(Instr::Un(Un::Truth, Scalar::I64));
            }
            _ => self.emit(Instr::Unknown),
        }
    }
}

/// Whether an expression names a variable. A structure in it is copied when it goes elsewhere.
fn is_place(s: Syntax<'_>) -> bool {
    matches!(s.kind(), "identifier" | "member_access_expression" | "element_access_expression" | "this")
}

fn integer(text: &str) -> (i64, Ty) {
    let lower: String = text.chars().filter(|c| *c != '_').collect::<String>().to_ascii_lowercase();
    let digits = lower.trim_end_matches(['u', 'l']);
    let suffix = &lower[digits.len()..];
    let v = match digits.get(..2) {
        Some("0x") => u64::from_str_radix(&digits[2..], 16),
        Some("0b") => u64::from_str_radix(&digits[2..], 2),
        _ => digits.parse(),
    }
    .unwrap_or(0);
    let ty = match suffix {
        "u" => Ty::Int(Scalar::U32),
        "l" => Ty::LONG,
        "ul" | "lu" => Ty::Int(Scalar::U64),
        _ if i32::try_from(v).is_ok() => Ty::INT,
        _ => Ty::LONG,
    };
    (v as i64, ty)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_of_integers() {
        assert_eq!(integer("1_000"), (1000, Ty::INT));
        assert_eq!(integer("0xFFul"), (255, Ty::Int(Scalar::U64)));
        assert_eq!(integer("0b101"), (5, Ty::INT));
        assert_eq!(integer("3000000000"), (3_000_000_000, Ty::LONG));
    }
}
