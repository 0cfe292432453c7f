//! Bodies of functions: plain, asynchronous, and iterators.
//!
//! An asynchronous function makes its task first and returns it when it is done or first has to
//! wait. Its result or exception goes into the task. An iterator runs to its end and collects what
//! it yields in a list. A caller that asks for the elements one by one cannot tell, unless the
//! iterator has effects in between (the paper leaves `yield` out).

use super::Lowerer;
use super::scope::Cleanup;
use crate::csharp::syntax::Syntax;
use crate::csharp::types::Ty;
use crate::ir::Instr;

impl<'a> Lowerer<'_, 'a> {
    pub fn model_class(&self, name: &str, arity: usize) -> Option<u32> {
        let all = self.world.by_name.get(name)?;
        all.iter().copied().find(|t| {
            let ty = self.world.class(*t);
            ty.builtin && ty.type_params.len() == arity
        })
    }

    /// Pushes a new object of a class of the models.
    pub fn new_model(&mut self, name: &str, arity: usize) {
        match self.model_class(name, arity) {
            Some(class) => {
                self.emit(Instr::New(class));
                self.emit(Instr::Dup);
                let constructor = self.default_constructor(class);
                self.emit(Instr::Call(constructor, 1));
                self.emit(Instr::Drop);
            }
            None => self.emit(Instr::SomeObject),
        }
    }

    /// Calls a method of the object in a local with the values on the stack, and drops its result.
    pub fn call_on(&mut self, slot: u16, name: &str, push: &dyn Fn(&mut Self)) {
        self.emit(Instr::Get(slot));
        push(self);
        let site = self.tables.site(name, 1, None);
        self.emit(Instr::CallMethod(site));
        self.emit(Instr::Drop);
    }

    /// Lowers a body, and what its kind of function needs around it.
    pub fn body(&mut self, body: Option<Syntax<'a>>, is_async: bool, is_iterator: bool) -> Ty {
        if is_iterator {
            let slot = self.temporary();
            self.new_model("List", 1);
            self.emit(Instr::Set(slot));
            self.context().items = Some(slot);
            self.plain_body(body);
            self.emit(Instr::Get(slot));
            self.emit(Instr::Return);
            return Ty::Unknown;
        }
        if !is_async {
            return self.plain_body(body);
        }
        let slot = self.temporary();
        self.new_model("Task", 0);
        self.emit(Instr::Set(slot));
        self.context().task = Some(slot);
        let (start, end, failed, done) =
            (self.builder().label(), self.builder().label(), self.builder().label(), self.builder().label());
        self.builder().place(start);
        self.plain_body(body);
        self.emit(Instr::Int(0));
        self.finish_async();
        self.builder().place(end);
        self.builder().jump(done);
        self.builder().place(failed);
        let exception = self.temporary();
        self.emit(Instr::Set(exception));
        self.leave_ui();
        self.call_on(slot, "__Fail", &|l| l.emit(Instr::Get(exception)));
        self.builder().place(done);
        self.emit(Instr::Get(slot));
        self.emit(Instr::Return);
        self.builder().handle(start, end, failed);
        Ty::Unknown
    }

    fn plain_body(&mut self, body: Option<Syntax<'a>>) -> Ty {
        match body {
            Some(b) if b.kind() == "block" => {
                self.statement(b);
                Ty::Unknown
            }
            Some(b) => {
                let e = if b.kind() == "arrow_expression_clause" { b.first() } else { Some(b) };
                let Some(e) = e else { return Ty::Unknown };
                self.at(e);
                let expected = self.context().ret.clone();
                let ty = self.expression_as(e, &expected);
                self.return_value();
                ty
            }
            None => Ty::Unknown,
        }
    }

    /// Completes an asynchronous function with the value on the stack.
    fn finish_async(&mut self) {
        let Some(task) = self.context().task else { return };
        let value = self.temporary();
        self.emit(Instr::Set(value));
        self.leave_ui();
        self.call_on(task, "__Finish", &|l| l.emit(Instr::Get(value)));
    }

    /// Returns the value on the stack, after the pending cleanups.
    pub fn return_value(&mut self) {
        if !self.context().cleanups.is_empty() {
            let value = self.temporary();
            self.emit(Instr::Set(value));
            self.clean_up_to(0);
            self.emit(Instr::Get(value));
        }
        if let Some(items) = self.context().items {
            self.emit(Instr::Drop);
            self.emit(Instr::Get(items));
        } else if let Some(task) = self.context().task {
            self.finish_async();
            self.emit(Instr::Get(task));
        }
        self.emit(Instr::Return);
    }

    /// Emits the cleanups of all blocks except the first `depth`.
    pub fn clean_up_to(&mut self, depth: usize) {
        let all = self.context().cleanups.clone();
        let guarded = self.context().guarded.clone();
        for i in (depth..all.len()).rev() {
            // While one cleanup runs, only those around it are still pending.
            self.context().cleanups.truncate(i);
            self.context().guarded.truncate(i);
            self.clean_up(all[i]);
        }
        self.context().cleanups = all;
        self.context().guarded = guarded;
    }

    pub fn clean_up(&mut self, c: Cleanup<'a>) {
        match c {
            Cleanup::Finally(block) => self.statement(block),
            Cleanup::Unlock(slot) => {
                self.emit(Instr::Get(slot));
                self.emit(Instr::Sync(crate::ir::SyncOp::Unlock));
                self.emit(Instr::Drop);
            }
            Cleanup::Dispose(slot) => {
                let end = self.builder().label();
                self.emit(Instr::Get(slot));
                self.builder().jump_if_not(end);
                self.emit(Instr::Get(slot));
                let site = self.tables.site("Dispose", 0, None);
                self.emit(Instr::CallMethod(site));
                self.emit(Instr::Drop);
                self.builder().place(end);
            }
        }
    }
}
