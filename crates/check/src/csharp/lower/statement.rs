//! Statements. The operand stack is empty before and after each.

use super::scope::LoopLabels;
use super::{DEEPEST, Lowerer};
use crate::csharp::syntax::Syntax;
use crate::csharp::types::Ty;
use crate::ir::{AccessClass, Instr};

impl<'a> Lowerer<'_, 'a> {
    pub fn statement(&mut self, s: Syntax<'a>) {
        if self.depth > DEEPEST {
            self.context().overflow = true;
            return;
        }
        self.depth += 1;
        self.at(s);
        self.kind_of_statement(s);
        self.depth -= 1;
    }

    fn kind_of_statement(&mut self, s: Syntax<'a>) {
        match s.kind() {
            "block" => self.block(&s.children()),
            "checked_statement" | "unsafe_statement" | "global_statement" | "fixed_statement" => {
                for c in s.children() {
                    self.statement(c);
                }
            }
            "expression_statement" => {
                if let Some(e) = s.first() {
                    self.expression(e);
                    self.emit(Instr::Drop);
                }
            }
            "local_declaration_statement" => {
                if let Some(list) = s.child("variable_declaration") {
                    self.variables(list);
                }
            }
            "variable_declaration" => self.variables(s),
            "local_function_statement" | "empty_statement" | "comment" => {}
            "if_statement" => self.if_statement(s),
            "while_statement" => self.while_statement(s),
            "do_statement" => self.do_statement(s),
            "for_statement" => self.for_statement(s),
            "foreach_statement" => self.foreach_statement(s),
            "switch_statement" => self.switch_statement(s),
            "return_statement" => self.return_statement(s),
            "break_statement" | "continue_statement" => self.leave_loop(s.kind() == "break_statement"),
            "throw_statement" => self.throw_statement(s),
            "try_statement" => self.try_statement(s),
            "lock_statement" => self.lock_statement(s),
            "using_statement" => self.using_statement(s),
            "yield_statement" => self.yield_statement(s),
            "labeled_statement" => {
                let parts = s.children();
                if let Some(name) = parts.first() {
                    let label = self.label(name.str());
                    self.builder().place(label);
                }
                parts.into_iter().skip(1).for_each(|p| self.statement(p));
            }
            "goto_statement" => match s.first() {
                Some(name) if name.kind() == "identifier" => self.jump_to_label(name.str()),
                _ => self.leave_loop(true),
            },
            // Half-typed source: lower what can be understood.
            "ERROR" => {
                for c in s.children() {
                    if c.kind().ends_with("statement") || c.kind() == "block" {
                        self.statement(c);
                    }
                }
            }
            kind if kind.ends_with("expression") => {
                self.expression(s);
                self.emit(Instr::Drop);
            }
            _ => {}
        }
    }

    pub fn label(&mut self, name: &'a str) -> crate::ir::build::Label {
        if let Some(l) = self.context().labels.get(name) {
            return *l;
        }
        let l = self.builder().label();
        self.context().labels.insert(name, l);
        l
    }

    pub fn block(&mut self, statements: &[Syntax<'a>]) {
        self.enter();
        self.hoist(statements);
        // A `using` declaration is disposed of at the end of its block.
        for (i, s) in statements.iter().enumerate() {
            let uses = s.kind() == "local_declaration_statement" && s.tokens().contains(&"using");
            if uses {
                self.at(*s);
                self.using_declaration(*s, &statements[i + 1..]);
                break;
            }
            let near = [i.checked_sub(1), Some(i + 1)];
            let fenced = near.into_iter().flatten().any(|n| statements.get(n).is_some_and(is_fence));
            // A statement beside a barrier is meant to be visible to other threads.
            let outer = std::mem::replace(&mut self.context().fenced, fenced && is_simple(s));
            self.statement(*s);
            self.context().fenced = outer;
        }
        self.leave();
    }

    pub fn variables(&mut self, list: Syntax<'a>) {
        let declared = list.field("type");
        let is_var = declared.is_none_or(|t| t.kind() == "implicit_type");
        let ty = declared.filter(|_| !is_var).map(|t| self.ty(t)).unwrap_or_default();
        for v in list.children().into_iter().filter(|c| c.kind() == "variable_declarator") {
            let Some(name) = v.field("name").or_else(|| v.first()) else { continue };
            let init = v.children().into_iter().rfind(|c| c.node.id() != name.node.id());
            let found = match init.filter(|i| i.kind() != "bracketed_argument_list") {
                Some(e) if is_var => {
                    let found = self.expression(e);
                    if self.world.is_struct(&found) && e.kind() == "identifier" {
                        self.copy_struct(found.class().unwrap_or(0));
                    }
                    found
                }
                Some(e) => {
                    let found = self.expression_as(e, &ty);
                    // An interface says less than the assigned value.
                    if ty.is_known() { ty.clone() } else { found }
                }
                None if self.world.is_value(&ty) => {
                    self.emit(Instr::New(ty.class().unwrap_or(0)));
                    ty.clone()
                }
                None => {
                    self.emit(Instr::Int(0));
                    ty.clone()
                }
            };
            if name.kind() == "identifier" {
                self.declare(name.str(), found);
            } else {
                let slot = self.temporary();
                self.emit(Instr::Set(slot));
                let (target, _) = self.target(name);
                self.emit(Instr::Get(slot));
                self.store_target(&target, name);
            }
        }
    }

    fn if_statement(&mut self, s: Syntax<'a>) {
        let (other, end) = (self.builder().label(), self.builder().label());
        match s.field("condition") {
            Some(c) => {
                self.expression(c);
            }
            None => self.emit(Instr::Unknown),
        }
        self.builder().jump_if_not(other);
        if let Some(c) = s.field("consequence") {
            self.statement(c);
        }
        self.builder().jump(end);
        self.builder().place(other);
        if let Some(a) = s.field("alternative") {
            self.statement(a);
        }
        self.builder().place(end);
    }

    fn enter_loop(&mut self) -> (crate::ir::build::Label, crate::ir::build::Label) {
        let (next, end) = (self.builder().label(), self.builder().label());
        let cleanups = self.context().cleanups.len();
        self.context().loops.push(LoopLabels { end, next: Some(next), cleanups });
        (next, end)
    }

    fn while_statement(&mut self, s: Syntax<'a>) {
        let (next, end) = self.enter_loop();
        self.builder().place(next);
        if let Some(c) = s.field("condition").or_else(|| s.first()) {
            self.expression(c);
            self.builder().jump_if_not(end);
        }
        if let Some(b) = s.field("body") {
            self.statement(b);
        }
        self.builder().jump(next);
        self.builder().place(end);
        self.context().loops.pop();
    }

    fn do_statement(&mut self, s: Syntax<'a>) {
        let start = self.builder().label();
        let (next, end) = self.enter_loop();
        self.builder().place(start);
        if let Some(b) = s.field("body") {
            self.statement(b);
        }
        self.builder().place(next);
        match s.field("condition") {
            Some(c) => {
                self.expression(c);
            }
            None => self.emit(Instr::Int(0)),
        }
        self.builder().jump_if(start);
        self.builder().place(end);
        self.context().loops.pop();
    }

    fn for_statement(&mut self, s: Syntax<'a>) {
        self.enter();
        for i in s.fields("initializer") {
            if i.kind() == "variable_declaration" {
                self.variables(i);
            } else {
                self.statement(i);
            }
        }
        let start = self.builder().label();
        let (next, end) = self.enter_loop();
        self.builder().place(start);
        if let Some(c) = s.field("condition") {
            self.expression(c);
            self.builder().jump_if_not(end);
        }
        if let Some(b) = s.field("body") {
            self.statement(b);
        }
        self.builder().place(next);
        for u in s.fields("update").into_iter().filter(|u| u.node.is_named()) {
            self.expression(u);
            self.emit(Instr::Drop);
        }
        self.builder().jump(start);
        self.builder().place(end);
        self.context().loops.pop();
        self.leave();
    }

    fn foreach_statement(&mut self, s: Syntax<'a>) {
        let Some(of) = s.field("right") else { return };
        if let (Some(task), true) = (self.context().task, s.tokens().contains(&"await")) {
            // The stream may have to be awaited.
            self.emit(Instr::SomeObject);
            self.emit(Instr::Await(task));
            self.emit(Instr::Drop);
        }
        let ty = self.expression(of);
        let element = self.element_type(&ty);
        let enumerator = self.temporary();
        self.at(of);
        let site = self.tables.site("GetEnumerator", 0, None);
        self.emit(Instr::CallMethod(site));
        self.emit(Instr::Set(enumerator));
        let (next, end) = self.enter_loop();
        self.builder().place(next);
        self.emit(Instr::Get(enumerator));
        self.at(of);
        let site = self.tables.site("MoveNext", 0, None);
        self.emit(Instr::CallMethod(site));
        self.builder().jump_if_not(end);
        self.enter();
        self.emit(Instr::Get(enumerator));
        let current = self.tables.name("Current");
        self.emit(Instr::GetMember(current, AccessClass::Hidden));
        let declared = s.field("type").filter(|t| t.kind() != "implicit_type").map(|t| self.ty(t));
        match s.field("left") {
            Some(n) if n.kind() == "identifier" => {
                self.declare(n.str(), declared.unwrap_or(element));
            }
            Some(n) => {
                let slot = self.temporary();
                self.emit(Instr::Set(slot));
                let (target, _) = self.target(n);
                self.emit(Instr::Get(slot));
                self.store_target(&target, n);
            }
            None => self.emit(Instr::Drop),
        }
        if let Some(b) = s.field("body") {
            self.statement(b);
        }
        self.leave();
        self.builder().jump(next);
        self.builder().place(end);
        self.context().loops.pop();
    }

    /// The element type of a collection.
    pub fn element_type(&self, ty: &Ty) -> Ty {
        match ty {
            Ty::Array(t) => (**t).clone(),
            Ty::Class(_, args) if args.len() == 1 => args[0].clone(),
            Ty::Class(c, _) => {
                let world = self.world;
                let bases = world.ancestry(*c).iter().flat_map(|c| world.class(*c).bases.iter());
                bases
                    .into_iter()
                    .find_map(|b| match b {
                        Ty::Class(_, args) if args.len() == 1 => Some(args[0].clone()),
                        _ => None,
                    })
                    .unwrap_or_default()
            }
            _ => Ty::Unknown,
        }
    }

    fn return_statement(&mut self, s: Syntax<'a>) {
        match s.first() {
            Some(e) => {
                let expected = match (self.context().ret.clone(), self.context().task) {
                    (Ty::Class(_, args), Some(_)) => args.first().cloned().unwrap_or_default(),
                    (_, Some(_)) => Ty::Unknown,
                    (ty, None) => ty,
                };
                self.expression_as(e, &expected);
            }
            None => self.emit(Instr::Int(0)),
        }
        self.at(s);
        self.return_value();
    }

    fn leave_loop(&mut self, breaks: bool) {
        let target =
            self.context().loops.iter().rev().find_map(|l| {
                if breaks { Some((l.end, l.cleanups)) } else { l.next.map(|n| (n, l.cleanups)) }
            });
        if let Some((label, cleanups)) = target {
            self.clean_up_to(cleanups);
            self.builder().jump(label);
        }
    }

    fn yield_statement(&mut self, s: Syntax<'a>) {
        let Some(items) = self.context().items else { return };
        if s.tokens().contains(&"break") {
            self.emit(Instr::Int(0));
            self.return_value();
            return;
        }
        if let Some(e) = s.first() {
            let slot = self.temporary();
            self.expression(e);
            self.emit(Instr::Set(slot));
            self.call_on(items, "__Yield", &|l| l.emit(Instr::Get(slot)));
            // The first elements of an endless iterator are enough.
            let more = self.builder().label();
            self.emit(Instr::Get(items));
            let full = self.tables.name("__full");
            self.emit(Instr::GetMember(full, AccessClass::Hidden));
            self.builder().jump_if_not(more);
            self.emit(Instr::Int(0));
            self.return_value();
            self.builder().place(more);
        }
    }
}

/// `Interlocked.MemoryBarrier();`
fn is_fence(s: &Syntax<'_>) -> bool {
    s.kind() == "expression_statement"
        && s.str().trim_end_matches(';').trim_end().ends_with(".MemoryBarrier()")
}

fn is_simple(s: &Syntax<'_>) -> bool {
    matches!(s.kind(), "expression_statement" | "return_statement" | "local_declaration_statement")
}
