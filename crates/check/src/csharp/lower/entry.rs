//! Where interpretation starts (section 4.1): `Main`, tests after their set-up, and public members
//! of libraries.
//!
//! Each entry is a function of its own that makes the objects, calls, and then lets what it started
//! go on for a while.

use super::Lowerer;
use super::scope::{Context, This};
use crate::csharp::syntax::Syntax;
use crate::csharp::world::{Method, Place, TypeDecl, TypeKind};
use crate::entries::EntryKind;
use crate::ir::{EntryPoint, Instr, SyncOp};

const TESTS: &[&str] =
    &["Fact", "Theory", "Test", "TestCase", "TestMethod", "DataTestMethod", "TestCaseSource", "StaFact"];
const SET_UP: &[&str] = &["SetUp", "TestInitialize", "OneTimeSetUp", "ClassInitialize", "TestFixtureSetUp"];
const TEAR_DOWN: &[&str] = &["TearDown", "TestCleanup"];

/// Words without which no method starts a thread: each start in the middle costs a function.
const STARTS: &[&str] = &["Thread", "Task", "Timer", "Parallel", "BeginInvoke", "QueueUserWorkItem"];

/// Public members of a library that are called one after the other on one object.
const MOST_MEMBERS: usize = 40;

impl<'a> Lowerer<'_, 'a> {
    pub fn entries(&mut self) {
        let methods: Vec<u32> = (0..self.world.methods.len() as u32)
            .filter(|m| !self.world.class(self.world.methods[*m as usize].class).builtin)
            .collect();
        for m in &methods {
            let method = &self.world.methods[*m as usize];
            if &*method.name == "Main" && method.is_static && method.body.is_some() {
                self.main_entry(*m, method.params.len(), Some(method.class));
            }
        }
        for m in &methods {
            let method = &self.world.methods[*m as usize];
            if method.attributes.iter().any(|a| TESTS.contains(a)) && method.body.is_some() {
                self.test_entry(*m);
            }
        }
        let has_main = self.entry_points.iter().any(|e| e.kind == EntryKind::Main);
        let is_library = |d: &TypeDecl<'a>| d.is_public && d.outer.is_none() && !d.builtin;
        // A file that is looked at by itself may have no public type at all; then all of them are
        // tried.
        let any_public = self.world.types.iter().any(is_library);
        for class in 0..self.world.types.len() as u32 {
            let decl = self.world.class(class);
            let is_tried = is_library(decl) || !has_main && !any_public && !decl.builtin;
            if is_tried && decl.kind != TypeKind::Enum {
                self.library_entry(class);
            }
        }
        for m in &methods {
            let method = &self.world.methods[*m as usize];
            if method.body.is_some_and(|b| STARTS.iter().any(|word| b.str().contains(word))) {
                self.middle_entry(*m);
            }
        }
    }

    /// A start in the middle: a method that may start a thread, on an object that its constructor
    /// has made.
    fn middle_entry(&mut self, m: u32) {
        let method = &self.world.methods[m as usize];
        let (class, node) = (method.class, method.node);
        let decl = self.world.class(class);
        if method.name.starts_with('.') || decl.kind == TypeKind::Interface {
            return;
        }
        self.open_entry(node, self.qualified_name(class, &method.name));
        let creates = !method.is_static && !decl.is_abstract;
        let subject = creates.then(|| self.new_subject(class));
        self.call_entry_method(m, subject);
        self.close_entry(EntryKind::Middle, node);
        if let Some(e) = self.entry_points.last_mut() {
            e.about = m;
        }
    }

    fn open_entry(&mut self, s: Syntax<'a>, name: String) {
        let place = Place { file: s.file, ..Place::default() };
        let mut c = Context::new(place, None, This::None, false, name);
        c.builder.pos = s.pos();
        c.builder.pos.line = 0;
        self.contexts.push(c);
    }

    fn close_entry(&mut self, kind: EntryKind, s: Syntax<'a>) {
        // Threads in the foreground keep a program alive; others get some time.
        self.emit(Instr::Collect);
        self.emit(Instr::Drop);
        for _ in 0..3 {
            self.emit(Instr::Sync(SyncOp::Sleep));
            self.emit(Instr::Drop);
        }
        let function = self.new_function();
        self.close(function, 0, s);
        self.entry_points.push(EntryPoint { kind, function, about: function });
    }

    /// Waits for the task on the stack, if it is one.
    fn wait_for_result(&mut self) {
        let (slot, end) = (self.temporary(), self.builder().label());
        self.emit(Instr::Tee(slot));
        self.builder().jump_if_not(end);
        self.emit(Instr::Get(slot));
        self.emit(Instr::Await(u16::MAX));
        self.emit(Instr::Drop);
        self.builder().place(end);
    }

    pub fn main_entry(&mut self, function: u32, params: usize, class: Option<u32>) {
        let node = match class {
            Some(_) => self.world.methods[function as usize].node,
            None => match self.world.top_level.first().and_then(|t| t.1.first()) {
                Some(s) => *s,
                None => return,
            },
        };
        self.open_entry(node, "Main".into());
        if let Some(c) = class {
            self.class_init(c);
        }
        for _ in 0..params {
            self.emit(Instr::SomeObject);
        }
        self.emit(Instr::Call(function, params as u8));
        let is_async = class.is_none() || self.world.methods[function as usize].is_async;
        if is_async && (class.is_some() || self.returns_task(function)) {
            self.wait_for_result();
        } else {
            self.emit(Instr::Drop);
        }
        self.join_foreground();
        self.close_entry(EntryKind::Main, node);
    }

    fn returns_task(&self, function: u32) -> bool {
        self.functions[function as usize]
            .as_ref()
            .is_some_and(|f| f.code.iter().any(|i| matches!(i, Instr::Await(n) if *n != u16::MAX)))
    }

    /// The process ends when its foreground threads have.
    fn join_foreground(&mut self) {
        let thread = self
            .world
            .by_name
            .get("Thread")
            .and_then(|all| all.iter().copied().find(|t| self.world.class(*t).builtin));
        let method = thread.and_then(|t| self.world.methods_named(t, "__JoinForeground").first().copied());
        if let Some(m) = method {
            if let Some(t) = thread {
                self.class_init(t);
            }
            self.emit(Instr::Call(m, 0));
            self.emit(Instr::Drop);
        }
    }

    /// Pushes a new object for an entry, with unknown arguments.
    fn new_subject(&mut self, class: u32) -> u16 {
        let slot = self.temporary();
        let constructors = self.world.class(class).constructors.clone();
        let simplest =
            constructors.iter().min_by_key(|m| self.world.methods[**m as usize].params.len()).copied();
        self.class_init(class);
        self.emit(Instr::New(class));
        self.emit(Instr::Tee(slot));
        let (f, n) = match simplest {
            Some(m) => (m, self.world.methods[m as usize].params.len()),
            None => (self.default_constructor(class), self.world.class(class).primary.len()),
        };
        match simplest {
            Some(m) => self.unknown_arguments(m),
            None => (0..n).for_each(|_| self.emit(Instr::SomeObject)),
        }
        self.emit(Instr::Call(f, n as u8 + 1));
        self.emit(Instr::Drop);
        slot
    }

    fn unknown_arguments(&mut self, m: u32) {
        for p in &self.world.methods[m as usize].params {
            // What a test or a caller passes is there.
            if p.ty.is_number() || self.world.is_enum(&p.ty) {
                self.emit(Instr::Unknown);
            } else {
                self.emit(Instr::SomeObject);
            }
        }
    }

    /// Calls a member of a library as its users do: they handle what it throws.
    fn call_and_catch(&mut self, m: u32, subject: Option<u16>) {
        let (start, end, failed, done) =
            (self.builder().label(), self.builder().label(), self.builder().label(), self.builder().label());
        self.builder().place(start);
        self.call_entry_method(m, subject);
        self.builder().place(end);
        self.builder().jump(done);
        self.builder().place(failed);
        self.emit(Instr::Drop);
        self.builder().place(done);
        self.builder().handle(start, end, failed);
    }

    fn call_entry_method(&mut self, m: u32, subject: Option<u16>) {
        let method = &self.world.methods[m as usize];
        let n = method.params.len();
        if method.is_static {
            self.class_init(method.class);
            self.unknown_arguments(m);
            self.emit(Instr::Call(m, n as u8));
        } else {
            match subject {
                Some(slot) => self.emit(Instr::Get(slot)),
                None => self.emit(Instr::SomeObject),
            }
            self.unknown_arguments(m);
            let site = self.tables.site(&method.name, n, Some(method));
            self.emit(Instr::CallMethod(site));
        }
        if method.is_async {
            self.wait_for_result();
        } else {
            self.emit(Instr::Drop);
        }
    }

    fn test_entry(&mut self, m: u32) {
        let method = &self.world.methods[m as usize];
        let (class, node) = (method.class, method.node);
        if self.world.class(class).is_abstract {
            return;
        }
        self.open_entry(node, self.qualified_name(class, &method.name));
        let subject = (!method.is_static).then(|| self.new_subject(class));
        for (with, is_before) in [(SET_UP, true), (TEAR_DOWN, false)] {
            if !is_before {
                self.call_entry_method(m, subject);
            }
            for other in self.members_with(class, with) {
                self.call_entry_method(other, subject);
            }
        }
        self.close_entry(EntryKind::Test, node);
    }

    fn members_with(&self, class: u32, attributes: &[&str]) -> Vec<u32> {
        let has = |m: &Method<'_>| m.attributes.iter().any(|a| attributes.contains(a));
        let ancestry = self.world.ancestry(class);
        let all = ancestry.iter().rev().flat_map(|c| self.world.class(*c).methods.iter().copied());
        all.filter(|m| has(&self.world.methods[*m as usize])).collect()
    }

    /// The public members of a class, called one after the other: never at once, for nothing says
    /// that it is meant for that.
    fn library_entry(&mut self, class: u32) {
        let decl = self.world.class(class);
        let is_test = |m: &Method<'_>| m.attributes.iter().any(|a| TESTS.contains(a) || SET_UP.contains(a));
        let members: Vec<u32> = decl
            .methods
            .iter()
            .copied()
            .filter(|m| {
                let m = &self.world.methods[*m as usize];
                let main = m.is_static && &*m.name == "Main";
                m.is_public && m.body.is_some() && !m.name.starts_with("operator") && !main && !is_test(m)
            })
            .take(MOST_MEMBERS)
            .collect();
        let any_test = decl.methods.iter().any(|m| is_test(&self.world.methods[*m as usize]));
        let creates = !decl.is_static && !decl.is_abstract && decl.kind == TypeKind::Class;
        if any_test || (members.is_empty() && !creates) {
            return;
        }
        let node = decl.nodes[0];
        self.open_entry(node, format!("public members of {}", decl.name));
        let subject = creates.then(|| self.new_subject(class));
        for m in members {
            if self.world.methods[m as usize].is_static || subject.is_some() {
                self.call_and_catch(m, subject);
            }
        }
        self.close_entry(EntryKind::Exported, node);
    }
}
