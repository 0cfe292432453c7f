//! Numbers for names of members, keys of methods, call sites and classes.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::csharp::types::Ty;
use crate::csharp::world::{Method, World};
use crate::ir::objects::{Classes, MethodCall, ObjectClass};

pub struct Tables {
    classes: Classes,
    names: HashMap<Rc<str>, u32>,
    keys: HashMap<String, u32>,
    sites: HashMap<(u32, u32, u8), u32>,
}

impl Tables {
    /// Classes of the world get the numbers of their types.
    pub fn new(world: &World<'_>) -> Self {
        let mut t = Self {
            classes: Classes::default(),
            names: HashMap::new(),
            keys: HashMap::new(),
            sites: HashMap::new(),
        };
        for ty in &world.types {
            t.classes
                .all
                .push(ObjectClass { name: display(ty.name, ty.type_params.len()), ..ObjectClass::default() });
        }
        t.classes.done = t.name("__done");
        t.classes.handle = t.name("__handle");
        t
    }

    pub fn name(&mut self, name: &str) -> u32 {
        if let Some(n) = self.names.get(name) {
            return *n;
        }
        let n = self.names.len() as u32;
        self.names.insert(name.into(), n);
        let getter = self.key(format!("get_{name}/0"));
        let setter = self.key(format!("set_{name}/1"));
        self.classes.properties.push([getter, setter]);
        n
    }

    fn key(&mut self, key: String) -> u32 {
        let n = self.keys.len() as u32;
        *self.keys.entry(key).or_insert(n)
    }

    pub fn arity_key(&mut self, name: &str, n: usize) -> u32 {
        self.key(format!("{name}/{n}"))
    }

    pub fn exact_key(&mut self, m: &Method<'_>) -> u32 {
        let types: Vec<String> = m.params.iter().map(|p| erased(&p.ty)).collect();
        self.key(format!("{}({})", m.name, types.join(",")))
    }

    /// A place that calls a method: the method chosen by types if there is one, else by the number
    /// of arguments.
    pub fn site(&mut self, name: &str, arguments: usize, chosen: Option<&Method<'_>>) -> u32 {
        let by_arity = self.arity_key(name, arguments);
        let exact = chosen.map_or(by_arity, |m| self.exact_key(m));
        let n = self.classes.calls.len() as u32;
        let count = u8::try_from(arguments + 1).unwrap_or(u8::MAX);
        let site = *self.sites.entry((exact, by_arity, count)).or_insert(n);
        if site == n {
            self.classes.calls.push(MethodCall {
                keys: [exact, by_arity],
                arguments: count,
                name: name.into(),
            });
        }
        site | u32::from(count) << 24
    }

    pub fn add(&mut self, class: ObjectClass) -> u32 {
        self.classes.all.push(class);
        self.classes.all.len() as u32 - 1
    }

    pub fn on_unknown(&mut self, key: u32, method: u32) {
        self.classes.on_unknown.entry(key).or_insert(method);
    }

    /// The name of a field in reports.
    pub fn label(&self, class: u32, field: &str) -> Arc<str> {
        format!("{}.{field}", self.classes.all[class as usize].name).into()
    }

    pub fn class(&mut self, n: u32) -> &mut ObjectClass {
        &mut self.classes.all[n as usize]
    }

    pub fn finish(mut self, call_back: Option<u32>) -> Classes {
        self.classes.call_back = call_back;
        self.classes
    }
}

/// A type as it counts for overriding: an override may use other names for type parameters.
fn erased(t: &Ty) -> String {
    match t {
        Ty::Param(_) | Ty::Unknown | Ty::Object => "?".into(),
        Ty::Class(c, _) => format!("c{c}"),
        Ty::Array(t) => format!("{}[]", erased(t)),
        Ty::Func(p, _) => format!("f{}", p.len()),
        Ty::Tuple(p) => format!("t{}", p.len()),
        other => format!("{other:?}"),
    }
}

fn display(name: &str, type_params: usize) -> Arc<str> {
    match type_params {
        0 => name.into(),
        1 => format!("{name}<T>").into(),
        n => format!("{name}<{}>", ",".repeat(n - 1)).into(),
    }
}
