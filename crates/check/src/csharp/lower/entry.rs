//! Where interpretation starts (section 4.1): `Main`, tests after their set-up, and public members
//! of libraries.
//!
//! Each entry is a function of its own. It makes the objects, makes the calls, and then lets the
//! threads it started run for a while.

use super::Lowerer;
use super::scope::{LoweringContext, This};
use super::subject::Failed;
use crate::csharp::syntax::Syntax;
use crate::csharp::world::{Method, Place, TypeDecl, TypeKind};
use crate::entries::EntryKind;
use crate::ir::{EntryPoint, Instr, Intrinsic, SyncOp};

const TESTS: &[&str] =
    &["Fact", "Theory", "Test", "TestCase", "TestMethod", "DataTestMethod", "TestCaseSource", "StaFact"];
const SET_UP: &[&str] = &["SetUp", "TestInitialize", "OneTimeSetUp", "ClassInitialize", "TestFixtureSetUp"];
const TEAR_DOWN: &[&str] = &["TearDown", "TestCleanup"];

/// No method starts a thread without one of these words. Each start in the middle costs a function.
const STARTS: &[&str] = &[
    "Thread",
    "Task",
    "Timer",
    "Parallel",
    "BeginInvoke",
    "QueueUserWorkItem",
    "ContinueWith",
    "StartNew",
    "When",
    "Start(",
    "ForEach",
    "Schedule",
];

/// The maximum number of public library members that are called one after the other on one object.
pub const MOST_MEMBERS: usize = 40;

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
        // A file checked by itself may have no public type at all; then all types are tried.
        let any_public = self.world.types.iter().any(is_library);
        for class in 0..self.world.types.len() as u32 {
            let decl = self.world.class(class);
            let is_tried = is_library(decl) || !has_main && !any_public && !decl.builtin;
            if super::ui::is_window(self.world, class) {
                self.window_entry(class);
            } else if super::host_entry::is_service(self.world, class) {
                self.service_entry(class);
            } else if is_tried && decl.kind != TypeKind::Enum {
                self.library_entry(class);
            }
            if super::host_entry::is_controller(self.world, class) {
                self.controller_entry(class);
            }
        }
        let may_start = |s: Syntax<'a>| STARTS.iter().any(|word| s.str().contains(word));
        for m in &methods {
            if self.world.methods[*m as usize].body.is_some_and(may_start) {
                self.middle_entry(*m);
            }
        }
        let mut initialisers: Vec<(u32, u32)> = self.initialisers.iter().map(|(c, i)| (*c, i.1)).collect();
        initialisers.sort_unstable();
        for (class, function) in initialisers {
            let decl = self.world.class(class);
            if !decl.builtin && decl.nodes.iter().any(|n| may_start(*n)) {
                self.initialiser_entry(class, function);
            }
        }
    }

    /// A start in the middle: a method that may start a thread, on an object made by its
    /// constructor, or on one of unknown state if the constructor throws.
    fn middle_entry(&mut self, m: u32) {
        let method = &self.world.methods[m as usize];
        let (class, node) = (method.class, method.node);
        let is_constructor = &*method.name == ".ctor";
        if method.name.starts_with('.') && !is_constructor
            || self.world.class(class).kind == TypeKind::Interface
        {
            return;
        }
        self.open_entry(node, self.qualified_name(class, &method.name));
        let on_ui = self.lives_on_ui(class);
        if on_ui {
            self.enter_ui();
        }
        if is_constructor {
            self.constructor_entry(class, m);
        } else {
            let made = if method.is_static { None } else { self.implementation(class) };
            let subject = made.map(|class| self.new_subject(class, Failed::IsOpaque));
            // Threads started by the constructor may be the only ones that are meant to call it.
            let end = self.builder().label();
            self.emit(Instr::Intrinsic(Intrinsic::IsAlone));
            self.builder().jump_if_not(end);
            self.call_directly(m, subject, !on_ui);
            self.builder().place(end);
        }
        if on_ui {
            self.exit_ui();
        }
        self.close_entry(EntryKind::Middle, node);
        if let Some(e) = self.entry_points.last_mut() {
            e.about = m;
        }
    }

    /// Runs a constructor that may start a thread, on an object of the class itself.
    fn constructor_entry(&mut self, class: u32, m: u32) {
        self.class_init(class);
        self.emit(Instr::New(class));
        self.unknown_arguments(m);
        let n = self.world.methods[m as usize].params.len();
        self.emit(Instr::Call(m, n as u8 + 1));
        self.emit(Instr::Drop);
    }

    /// Runs the initialiser of a class, which may start a thread. Then calls its static methods.
    fn initialiser_entry(&mut self, class: u32, function: u32) {
        let decl = self.world.class(class);
        let node = decl.nodes[0];
        self.open_entry(node, format!("static members of {}", decl.name));
        self.class_init(class);
        let is_called = |m: &Method<'_>| m.is_static && m.body.is_some() && !m.name.starts_with("operator");
        let all = decl.methods.iter().copied().filter(|m| is_called(&self.world.methods[*m as usize]));
        let all: Vec<u32> = all.collect();
        for m in self.first_of(all, MOST_MEMBERS) {
            self.call_and_catch(m, None);
        }
        self.close_entry(EntryKind::Middle, node);
        if let Some(e) = self.entry_points.last_mut() {
            e.about = function;
        }
    }

    /// The first members of a class, which an entry calls. The others are counted.
    pub fn first_of(&mut self, mut members: Vec<u32>, most: usize) -> Vec<u32> {
        self.left_out.members += members.len().saturating_sub(most) as u32;
        members.truncate(most);
        members
    }

    pub fn open_entry(&mut self, s: Syntax<'a>, name: String) {
        let place = Place { file: s.file, ..Place::default() };
        let mut c = LoweringContext::new(place, None, This::None, false, name);
        c.builder.pos = s.pos();
        c.builder.pos.line = 0;
        self.contexts.push(c);
    }

    pub fn close_entry(&mut self, kind: EntryKind, s: Syntax<'a>) {
        // Foreground threads keep a program alive; others get some time.
        self.emit(Instr::Collect);
        self.emit(Instr::Drop);
        for _ in 0..3 {
            self.emit(Instr::Sync(SyncOp::Sleep));
            self.emit(Instr::Drop);
        }
        let function = self.new_function();
        self.close(function, 0, s);
        self.hide(function);
        let group = self.world.groups.get(usize::from(s.file)).cloned().flatten();
        let next = self.assemblies.len() as u32;
        let assembly = *self.assemblies.entry(group).or_insert(next);
        self.entry_points.push(EntryPoint { kind, function, about: function, assembly });
    }

    /// Waits for the task on the stack, if it is one.
    pub fn wait_for_result(&mut self) {
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

    /// Joins the foreground threads: the process ends when they have ended.
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

    /// Calls a member of a library as its users do: they handle its exceptions.
    fn call_and_catch(&mut self, m: u32, subject: Option<u16>) {
        self.catching(|l| l.call_entry_method(m, subject), |_| {});
    }

    /// Calls exactly this method, without dispatch on the object's class. Without a subject, the
    /// object is unknown. On the UI thread nobody waits for the task that it may return.
    fn call_directly(&mut self, m: u32, subject: Option<u16>, waits: bool) {
        let method = &self.world.methods[m as usize];
        self.class_init(method.class);
        if !method.is_static {
            match subject {
                Some(slot) => self.emit(Instr::Get(slot)),
                None => self.emit(Instr::SomeObject),
            }
        }
        self.unknown_arguments(m);
        let n = method.params.len() + usize::from(!method.is_static);
        self.emit(Instr::Call(m, n as u8));
        if method.is_async && waits {
            self.wait_for_result();
        } else {
            self.emit(Instr::Drop);
        }
    }

    pub fn call_entry_method(&mut self, m: u32, subject: Option<u16>) {
        self.push_result_of(m, subject);
        if self.world.methods[m as usize].is_async {
            self.wait_for_result();
        } else {
            self.emit(Instr::Drop);
        }
    }

    /// Nobody waits for the task that the method may return.
    pub fn call_entry_method_without_waiting(&mut self, m: u32, subject: Option<u16>) {
        self.push_result_of(m, subject);
        self.emit(Instr::Drop);
    }

    fn push_result_of(&mut self, m: u32, subject: Option<u16>) {
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
    }

    /// Calls a method of xUnit's set-up or tear-down, and waits for the task that it may return.
    fn call_and_wait(&mut self, m: u32, subject: Option<u16>) {
        let method = &self.world.methods[m as usize];
        if let Some(slot) = subject {
            self.emit(Instr::Get(slot));
        }
        let site = self.tables.site(&method.name, 0, Some(method));
        self.emit(Instr::CallMethod(site));
        self.wait_for_result();
    }

    fn test_entry(&mut self, m: u32) {
        let method = &self.world.methods[m as usize];
        let (class, node) = (method.class, method.node);
        if self.world.class(class).is_abstract {
            return;
        }
        self.open_entry(node, self.qualified_name(class, &method.name));
        let subject = (!method.is_static).then(|| self.new_subject(class, Failed::Ends));
        let lifetime = |l: &Self, name: &str| {
            let all = l.world.methods_named(class, name);
            all.into_iter().find(|m| l.world.methods[*m as usize].params.is_empty() && subject.is_some())
        };
        if let Some(m) = lifetime(self, "InitializeAsync") {
            self.call_and_wait(m, subject);
        }
        for (with, is_before) in [(SET_UP, true), (TEAR_DOWN, false)] {
            if !is_before {
                self.call_entry_method(m, subject);
            }
            for other in self.members_with(class, with) {
                self.call_entry_method(other, subject);
            }
        }
        for name in ["DisposeAsync", "Dispose"] {
            if let Some(m) = lifetime(self, name) {
                self.call_and_wait(m, subject);
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

    /// Calls the public members of a class one after the other. They never run concurrently,
    /// because nothing says that the class allows it.
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
            .collect();
        let any_test = decl.methods.iter().any(|m| is_test(&self.world.methods[*m as usize]));
        let creates = !decl.is_static && !decl.is_abstract && decl.kind == TypeKind::Class;
        if any_test || (members.is_empty() && !creates) {
            return;
        }
        let node = decl.nodes[0];
        self.open_entry(node, format!("public members of {}", decl.name));
        let on_ui = self.lives_on_ui(class);
        if on_ui {
            self.enter_ui();
        }
        let subject = creates.then(|| self.new_subject(class, Failed::Ends));
        let is_callable = |m: &u32| self.world.methods[*m as usize].is_static || subject.is_some();
        let members = members.into_iter().filter(is_callable).collect();
        for m in self.first_of(members, MOST_MEMBERS) {
            if on_ui {
                self.call_on_ui(m, subject);
            } else {
                self.call_and_catch(m, subject);
            }
        }
        if on_ui {
            self.exit_ui();
        }
        self.close_entry(EntryKind::Exported, node);
    }
}
