//! Programs with windows: events run on a UI thread. The code after an `await` there runs there
//! again, unless `ConfigureAwait(false)` says otherwise.
//!
//! The UI thread is a lock in the machine (`models/ui.cs`): its holder is the UI thread.

use super::Lowerer;
use super::subject::Failed;
use crate::csharp::syntax::Syntax;
use crate::csharp::types::Ty;
use crate::csharp::world::{Method, World};
use crate::entries::EntryKind;
use crate::ir::{Instr, Intrinsic};

/// The maximum number of raised events of one window.
pub const MOST_EVENTS: usize = 24;

/// Whether a class is a window or part of one.
pub fn is_window(world: &World<'_>, class: u32) -> bool {
    let of_library = |c: &u32| world.class(*c).builtin && world.class(*c).name == "__UiObject";
    !world.class(class).builtin && world.ancestry(class).iter().any(of_library)
}

pub fn has_windows(world: &World<'_>) -> bool {
    (0..world.types.len() as u32).any(|c| is_window(world, c))
}

pub fn has_ui(world: &World<'_>) -> bool {
    has_windows(world) || (0..world.types.len() as u32).any(|c| asks_for_its_dispatcher(world, c))
}

/// Whether a class tells a window when its properties change, as view models do.
fn notifies_windows(world: &World<'_>, class: u32) -> bool {
    let notifies = |ty: &Ty| match ty {
        Ty::Extern(name) => matches!(&**name, "INotifyPropertyChanged" | "ObservableObject"),
        _ => false,
    };
    !world.class(class).builtin
        && world.ancestry(class).iter().any(|c| world.class(*c).bases.iter().any(notifies))
}

/// Whether a class uses the dispatcher of the thread that runs it without asking whether there is
/// one: `Dispatcher.GetForCurrentThread().DispatchAsync(f)`. Off the UI thread there is none, so
/// who wrote this expects to be called on it.
pub fn asks_for_its_dispatcher(world: &World<'_>, class: u32) -> bool {
    let decl = world.class(class);
    let is_library = |name: &str| world.types.iter().all(|t| t.builtin || t.name != name);
    !decl.builtin
        && decl.nodes.iter().any(|n| n.str().contains(ASKS) && uses_own_dispatcher(*n))
        && is_library("Dispatcher")
        && is_library("DispatcherQueue")
}

const ASKS: &str = "Dispatcher";

fn uses_own_dispatcher(class: Syntax<'_>) -> bool {
    let mut found = false;
    class.visit(&mut |s| {
        let is_asked = |e: Syntax<'_>| {
            let text: String = e.str().chars().filter(|c| !c.is_whitespace()).collect();
            e.kind() == "invocation_expression"
                && ["Dispatcher.GetForCurrentThread()", "DispatcherQueue.GetForCurrentThread()"]
                    .iter()
                    .any(|end| text.ends_with(end))
        };
        found |= s.kind() == "member_access_expression" && s.field("expression").is_some_and(is_asked);
        !found
    });
    found
}

/// Whether a method handles events: its last parameter says what happened.
fn handles_events(m: &Method<'_>) -> bool {
    let is_args = |ty: &Ty| matches!(ty, Ty::Extern(name) if name.ends_with("Args"));
    matches!(m.params.len(), 1 | 2) && m.params.last().is_some_and(|p| is_args(&p.ty))
}

/// `MainForm_Load`, `OnLoaded`: a window opens before all its other events.
fn happens_once(method: &str) -> bool {
    ["Load", "Loaded", "Shown"].iter().any(|event| {
        let before = method.strip_suffix(event);
        before.is_some_and(|b| b.ends_with('_') || b.ends_with("On"))
    })
}

impl<'a> Lowerer<'_, 'a> {
    /// Whether the members of a class that is no window itself are called on the UI thread: they
    /// need its dispatcher, or are the view model of a program with windows.
    pub fn lives_on_ui(&self, class: u32) -> bool {
        asks_for_its_dispatcher(self.world, class) || self.has_windows && notifies_windows(self.world, class)
    }

    /// Calls a method of the library without arguments.
    pub fn call_model(&mut self, class: &str, method: &str) {
        let class = self.model_class(class, 0);
        let found = class.and_then(|c| self.world.methods_named(c, method).first().copied());
        match (class, found) {
            (Some(c), Some(m)) => {
                self.class_init(c);
                self.emit(Instr::Call(m, 0));
            }
            _ => self.emit(Instr::Unknown),
        }
    }

    fn call_ui(&mut self, method: &str) {
        self.call_model("__UiThread", method);
    }

    /// Awaits the task on the stack, which stays there. A function with a thread of its own leaves
    /// the UI thread while it waits. A function that was on the UI thread returns to it.
    pub fn await_on_ui(&mut self, awaited: Syntax<'a>, slot: u16) {
        let (task, was_here) = (self.temporary(), self.temporary());
        self.emit(Instr::Set(task));
        self.call_ui("IsHeld");
        self.emit(Instr::Set(was_here));
        self.leave_ui();
        self.emit(Instr::Get(task));
        self.emit(Instr::Await(slot));
        let text: String = awaited.str().chars().filter(|c| !c.is_whitespace()).collect();
        if !text.ends_with(".ConfigureAwait(false)") {
            let end = self.builder().label();
            self.emit(Instr::Get(was_here));
            self.builder().jump_if_not(end);
            self.call_ui("Return");
            self.emit(Instr::Drop);
            self.builder().place(end);
        }
    }

    /// Makes a function with a thread of its own leave the UI thread if it is there.
    pub fn leave_ui(&mut self) {
        if !self.has_ui || self.context().hidden {
            return;
        }
        let end = self.builder().label();
        self.emit(Instr::Intrinsic(Intrinsic::IsOutermost));
        self.builder().jump_if_not(end);
        self.call_ui("IsHeld");
        self.builder().jump_if_not(end);
        self.call_ui("Leave");
        self.emit(Instr::Drop);
        self.builder().place(end);
    }

    /// Calls a public member on the UI thread, as an event does, and lets what it has posted run.
    pub fn call_on_ui(&mut self, m: u32, subject: Option<u16>) {
        self.catching(|l| l.call_entry_method_without_waiting(m, subject), |_| {});
        self.call_ui("Pump");
        self.emit(Instr::Drop);
    }

    /// Makes the entry's thread the UI thread.
    pub fn enter_ui(&mut self) {
        self.call_ui("Enter");
        self.emit(Instr::Drop);
    }

    /// Ends what [`Self::enter_ui`] began.
    pub fn exit_ui(&mut self) {
        self.call_ui("Leave");
        self.emit(Instr::Drop);
    }

    /// Runs the events of a window and its public members, one after the other on the UI thread,
    /// twice. What happens when it opens comes first, and once.
    pub fn window_entry(&mut self, class: u32) {
        let decl = self.world.class(class);
        if decl.is_abstract || decl.is_static {
            return;
        }
        let is_called = |m: &Method<'_>| {
            let is_member = !m.is_static && m.body.is_some() && !m.name.starts_with('.');
            is_member && (m.is_public || handles_events(m)) && !m.name.starts_with("operator")
        };
        let all = decl.methods.iter().copied();
        let members = all.filter(|m| is_called(&self.world.methods[*m as usize])).collect();
        let members = self.first_of(members, MOST_EVENTS);
        let (starts, members): (Vec<u32>, Vec<u32>) =
            members.into_iter().partition(|m| happens_once(&self.world.methods[*m as usize].name));
        let node = decl.nodes[0];
        self.open_entry(node, format!("events of {}", decl.name));
        self.enter_ui();
        self.catching(
            |l| {
                let subject = l.new_subject(class, Failed::Ends);
                l.call_ui("Open");
                l.emit(Instr::Drop);
                for m in starts.iter().chain(&members).chain(&members) {
                    l.catching(|l| l.call_without_waiting(*m, subject), |_| {});
                    l.call_ui("Pump");
                    l.emit(Instr::Drop);
                }
                l.call_ui("Raise");
                l.emit(Instr::Drop);
            },
            |_| {},
        );
        self.exit_ui();
        self.close_entry(EntryKind::Exported, node);
    }

    /// Calls a member. Nobody waits for the task that it may return.
    fn call_without_waiting(&mut self, m: u32, subject: u16) {
        let method = &self.world.methods[m as usize];
        self.emit(Instr::Get(subject));
        self.unknown_arguments(m);
        let site = self.tables.site(&method.name, method.params.len(), Some(method));
        self.emit(Instr::CallMethod(site));
        self.emit(Instr::Drop);
    }
}
