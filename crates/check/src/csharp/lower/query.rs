//! Query expressions. A query over an ordinary collection is a loop that fills a list. A query over
//! a `ParallelQuery` calls its methods, as the compiler does.

use super::Lowerer;
use crate::csharp::syntax::Syntax;
use crate::csharp::types::Ty;
use crate::ir::build::Label;
use crate::ir::{AccessClass, Instr};

impl<'a> Lowerer<'_, 'a> {
    pub fn query(&mut self, s: Syntax<'a>) -> Ty {
        let parts = s.children();
        let Some((from, rest)) = parts.split_first() else { return self.nothing_known() };
        let Some(source) = from.last() else { return self.nothing_known() };
        let ty = self.expression(source);
        if ty.class().is_some_and(|c| self.world.class(c).name == "ParallelQuery") {
            return self.parallel_query(&ty, *from, rest);
        }
        let list = self.temporary();
        let of = self.temporary();
        self.emit(Instr::Set(of));
        self.new_model("List", 1);
        self.emit(Instr::Set(list));
        let found = self.each(*from, of, &ty, rest, list);
        self.emit(Instr::Get(list));
        match self.model_class("List", 1) {
            Some(class) => Ty::Class(class, [found].into()),
            None => Ty::Unknown,
        }
    }

    fn nothing_known(&mut self) -> Ty {
        self.emit(Instr::SomeObject);
        Ty::Unknown
    }

    /// Runs clauses for each element of the collection in a local. Returns the type of what they
    /// select.
    fn each(&mut self, from: Syntax<'a>, of: u16, ty: &Ty, rest: &[Syntax<'a>], list: u16) -> Ty {
        let (next, end, elements) = (self.builder().label(), self.builder().label(), self.temporary());
        self.at(from);
        self.emit(Instr::Get(of));
        let site = self.tables.site("GetEnumerator", 0, None);
        self.emit(Instr::CallMethod(site));
        self.emit(Instr::Set(elements));
        self.builder().place(next);
        self.emit(Instr::Get(elements));
        let site = self.tables.site("MoveNext", 0, None);
        self.emit(Instr::CallMethod(site));
        self.builder().jump_if_not(end);
        self.enter();
        self.emit(Instr::Get(elements));
        let current = self.tables.name("Current");
        self.emit(Instr::GetMember(current, AccessClass::Hidden));
        let declared = from.field("type").map(|t| self.ty(t));
        let element = declared.unwrap_or_else(|| self.element_type(ty));
        self.declare(from.field("name").map_or("", Syntax::str), element);
        let found = self.clauses(rest, list, next);
        self.leave();
        self.builder().jump(next);
        self.builder().place(end);
        found
    }

    fn clauses(&mut self, rest: &[Syntax<'a>], list: u16, next: Label) -> Ty {
        for (i, clause) in rest.iter().enumerate() {
            let inner = clause.children();
            match (clause.kind(), inner.as_slice()) {
                ("where_clause", [condition, ..]) => {
                    self.expression(*condition);
                    self.builder().jump_if_not(next);
                }
                ("let_clause", [name, .., value]) => {
                    let ty = self.expression(*value);
                    self.declare(name.str(), ty);
                }
                ("from_clause", [.., source]) => {
                    let of = self.temporary();
                    let ty = self.expression(*source);
                    self.emit(Instr::Set(of));
                    return self.each(*clause, of, &ty, &rest[i + 1..], list);
                }
                ("order_by_clause", keys) => {
                    for key in keys {
                        self.expression(*key);
                        self.emit(Instr::Drop);
                    }
                }
                ("select_clause", [value, ..]) => {
                    let ty = self.expression(*value);
                    let slot = self.temporary();
                    self.emit(Instr::Set(slot));
                    self.call_on(list, "__Put", &|l| l.emit(Instr::Get(slot)));
                    // The use of the result by `into` is not followed.
                    return if i + 1 == rest.len() { ty } else { Ty::Unknown };
                }
                // The content of a join or a group is unknown.
                _ => {
                    self.call_on(list, "__Put", &|l| l.emit(Instr::SomeObject));
                    return Ty::Unknown;
                }
            }
        }
        Ty::Unknown
    }

    /// Lowers `where` and `select` of the parallel query on the stack.
    fn parallel_query(&mut self, ty: &Ty, from: Syntax<'a>, rest: &[Syntax<'a>]) -> Ty {
        let name = from.field("name").map_or("", Syntax::str);
        for clause in rest {
            let method = match clause.kind() {
                "where_clause" => "Where",
                "select_clause" => "Select",
                "order_by_clause" => continue,
                _ => {
                    self.emit(Instr::Drop);
                    return self.nothing_known();
                }
            };
            let Some(body) = clause.first() else { continue };
            let element = self.element_type(ty);
            self.delegate_of(name, element, body);
            self.at(*clause);
            let site = self.tables.site(method, 1, None);
            self.emit(Instr::CallMethod(site));
        }
        Ty::Class(ty.class().unwrap_or_default(), [Ty::Unknown].into())
    }

    /// `record with { Member = value }`: a copy that is changed before anybody else can see it.
    pub fn with_expression(&mut self, s: Syntax<'a>) -> Ty {
        let Some(of) = s.first() else { return self.nothing_known() };
        let ty = self.expression(of);
        let Some(class) = ty.class().filter(|c| !self.world.class(*c).builtin) else {
            self.emit(Instr::Drop);
            return self.nothing_known();
        };
        self.copy_struct(class);
        let copy = self.temporary();
        self.emit(Instr::Set(copy));
        for initialiser in s.children().into_iter().filter(|c| c.kind() == "with_initializer") {
            let (Some(name), Some(value)) = (initialiser.first(), initialiser.last()) else { continue };
            self.emit(Instr::Get(copy));
            self.expression(value);
            let name = self.tables.name(name.str());
            self.emit(Instr::SetMember(name, AccessClass::Hidden));
        }
        self.emit(Instr::Get(copy));
        ty
    }
}
