//! Entries that a host calls: controllers, whose requests run concurrently, and hosted services,
//! which are stopped while they work.

use super::Lowerer;
use super::scope::{LoweringContext, This};
use super::subject::Failed;
use crate::csharp::types::Ty;
use crate::csharp::world::{Method, Place, TypeDecl, TypeKind, World};
use crate::entries::EntryKind;
use crate::ir::{Instr, SyncOp};

const CONTROLLERS: &[&str] = &["Controller", "ControllerBase", "ApiController", "AsyncController"];
const SERVICES: &[&str] = &["IHostedService", "BackgroundService"];
/// The maximum number of requested actions of one controller.
pub const MOST_ACTIONS: usize = 12;

/// Whether a class derives from one of these names, in the program or outside of it.
fn derives_from(world: &World<'_>, class: u32, names: &[&str]) -> bool {
    world.ancestry(class).iter().any(|c| {
        let decl = world.class(*c);
        let is_named = |ty: &Ty| match ty {
            Ty::Extern(name) => names.contains(&&**name),
            _ => false,
        };
        decl.builtin && names.contains(&decl.name) || decl.bases.iter().any(is_named)
    })
}

fn is_concrete(decl: &TypeDecl<'_>) -> bool {
    decl.kind == TypeKind::Class && !decl.builtin && !decl.is_abstract && !decl.is_static
}

pub fn is_controller(world: &World<'_>, class: u32) -> bool {
    is_concrete(world.class(class)) && derives_from(world, class, CONTROLLERS)
}

pub fn is_service(world: &World<'_>, class: u32) -> bool {
    is_concrete(world.class(class)) && derives_from(world, class, SERVICES)
}

/// The classes that a program registers as singletons: `AddSingleton<IStore, Store>()`.
fn singletons(world: &World<'_>) -> Vec<u32> {
    let mut out = Vec::new();
    let mut files: Vec<(u16, &str)> = Vec::new();
    for decl in world.types.iter().filter(|d| !d.builtin) {
        for node in &decl.nodes {
            if files.last().is_none_or(|f| f.0 != node.file) {
                files.push((node.file, node.text));
            }
        }
    }
    files.extend(world.top_level.iter().flat_map(|t| t.1.first()).map(|s| (s.file, s.text)));
    files.sort_unstable_by_key(|f| f.0);
    files.dedup_by_key(|f| f.0);
    for (_, text) in files {
        for found in text.split("AddSingleton<").skip(1) {
            let Some((names, _)) = found.split_once('>') else { continue };
            for name in names.split(',') {
                let name = name.trim().rsplit('.').next().unwrap_or_default();
                out.extend(world.by_name.get(name).into_iter().flatten().copied());
            }
        }
    }
    out
}

impl<'a> Lowerer<'_, 'a> {
    pub fn find_singletons(&mut self) {
        for class in singletons(self.world) {
            let Some(class) = self.implementation(class) else { continue };
            if !self.singletons.contains_key(&class) {
                let pos = self.world.class(class).nodes[0].pos();
                let global = self.global("the singleton", pos, false);
                self.singletons.insert(class, global);
            }
        }
    }

    /// Runs two clients that request all actions of a controller. Each request has a controller of
    /// its own.
    pub fn controller_entry(&mut self, class: u32) {
        let decl = self.world.class(class);
        let is_action = |m: &Method<'_>| {
            let is_plain = !m.is_static && m.is_public && m.body.is_some() && !m.name.starts_with('.');
            let is_accessor = m.name.starts_with("get_") || m.name.starts_with("set_");
            is_plain && !is_accessor && !m.attributes.contains(&"NonAction")
        };
        let all = decl.methods.iter().copied();
        let actions = all.filter(|m| is_action(&self.world.methods[*m as usize])).collect();
        let actions = self.first_of(actions, MOST_ACTIONS);
        if actions.is_empty() {
            return;
        }
        let node = decl.nodes[0];
        let (name, client) = (format!("requests to {}", decl.name), self.new_function());
        let place = Place { file: node.file, ..Place::default() };
        let mut c = LoweringContext::new(place, None, This::None, false, name.clone());
        c.builder.pos = node.pos();
        c.builder.pos.line = 0;
        c.builder.locals = 1;
        self.contexts.push(c);
        for m in actions {
            self.catching(
                |l| {
                    let subject = l.new_subject(class, Failed::Ends);
                    l.call_entry_method(m, Some(subject));
                },
                |_| {},
            );
        }
        self.emit(Instr::Int(0));
        self.emit(Instr::Return);
        self.close(client, 1, node);
        self.hide(client);
        self.open_entry(node, name);
        // Objects shared by all requests are made before the first one.
        self.catching(
            |l| {
                l.new_subject(class, Failed::Ends);
            },
            |_| {},
        );
        for _ in 0..2 {
            self.emit(Instr::FuncAddr(client));
            self.emit(Instr::Int(0));
            self.emit(Instr::NewDelegate(0));
            self.run_on_thread();
        }
        self.close_entry(EntryKind::Exported, node);
    }

    /// Starts the delegate on the stack on a thread.
    fn run_on_thread(&mut self) {
        let pool = self.model_class("ThreadPool", 0);
        let method = pool.and_then(|c| {
            let all = self.world.methods_named(c, "QueueUserWorkItem");
            all.into_iter().find(|m| self.world.methods[*m as usize].params.len() == 1)
        });
        if let Some(m) = method {
            self.emit(Instr::Call(m, 1));
        }
        self.emit(Instr::Drop);
    }

    /// Starts a service, lets it work for a while, and stops it.
    pub fn service_entry(&mut self, class: u32) {
        let decl = self.world.class(class);
        let node = decl.nodes[0];
        self.open_entry(node, format!("the service {}", decl.name));
        let subject = self.new_subject(class, Failed::Ends);
        for (method, arguments) in [("StartAsync", 1), ("StopAsync", 1), ("Dispose", 0)] {
            self.catching(|l| l.call_service(subject, method, arguments), |_| {});
            self.emit(Instr::Sync(SyncOp::Sleep));
            self.emit(Instr::Drop);
        }
        self.close_entry(EntryKind::Exported, node);
    }

    fn call_service(&mut self, subject: u16, method: &str, arguments: usize) {
        self.emit(Instr::Get(subject));
        (0..arguments).for_each(|_| self.emit(Instr::SomeObject));
        let site = self.tables.site(method, arguments, None);
        self.emit(Instr::CallMethod(site));
        self.wait_for_result();
    }
}
