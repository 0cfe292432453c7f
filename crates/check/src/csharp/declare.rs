//! Collects the types of all files and their members; bodies are lowered later.

use std::cell::OnceCell;
use std::rc::Rc;

use super::syntax::{File, Syntax};
use super::types::Ty;
use super::world::{FieldDecl, Member, Method, Param, Passing, Place, TypeDecl, TypeKind, World};

/// The maximum nesting of types.
const DEEPEST: usize = 60;

/// Declares everything in the files.
pub fn declare(files: &[std::sync::Arc<File>]) -> World<'_> {
    let mut d = Declarer { world: World::default() };
    for (i, f) in files.iter().enumerate() {
        d.world.groups.push(f.group.clone());
        let root = Syntax { node: f.tree.root_node(), text: &f.text, file: i as u16 };
        d.scan(root, "", None, f.builtin, 0);
    }
    d.link_types();
    d.declare_members();
    d.world
}

struct Declarer<'a> {
    world: World<'a>,
}

/// For each class, the root of its known base classes. A class that would derive from itself is
/// found in few steps, however long the chain is.
struct Roots {
    towards: Vec<u32>,
}

impl Roots {
    fn new(types: usize) -> Self {
        Self { towards: (0..types as u32).collect() }
    }

    fn of(&mut self, class: u32) -> u32 {
        let mut at = class;
        while self.towards[at as usize] != at {
            // Path halving: every second step is shortened for later lookups.
            self.towards[at as usize] = self.towards[self.towards[at as usize] as usize];
            at = self.towards[at as usize];
        }
        at
    }

    /// Makes `class`, which had no base, derive from `base`.
    fn derive(&mut self, class: u32, base: u32) {
        self.towards[class as usize] = self.of(base);
    }
}

impl<'a> Declarer<'a> {
    fn scan(&mut self, s: Syntax<'a>, namespace: &str, outer: Option<u32>, builtin: bool, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        let mut namespace = namespace.to_string();
        for c in s.children() {
            match c.kind() {
                "namespace_declaration" | "file_scoped_namespace_declaration" => {
                    let name = c.field("name").map_or("", Syntax::str);
                    let full =
                        if namespace.is_empty() { name.to_string() } else { format!("{namespace}.{name}") };
                    match c.field("body") {
                        Some(body) => self.scan(body, &full, outer, builtin, depth + 1),
                        None => {
                            self.scan(c, &full, outer, builtin, depth + 1);
                            namespace = full;
                        }
                    }
                }
                "using_directive" => self.using(c),
                "global_statement" => {
                    let statement = c.first();
                    match self.world.top_level.iter_mut().find(|t| t.0 == c.file) {
                        Some(t) => t.1.extend(statement),
                        None => self.world.top_level.push((c.file, statement.into_iter().collect())),
                    }
                }
                "class_declaration"
                | "struct_declaration"
                | "interface_declaration"
                | "record_declaration"
                | "enum_declaration"
                | "delegate_declaration" => self.declare_type(c, &namespace, outer, builtin, depth),
                // Unclosed or half-typed source still has declarations in it.
                "ERROR" | "declaration_list" => self.scan(c, &namespace, outer, builtin, depth + 1),
                _ => {}
            }
        }
    }

    fn using(&mut self, c: Syntax<'a>) {
        let target = c.children().into_iter().next_back();
        match (c.field("name"), target) {
            (Some(name), Some(target)) => {
                self.world.aliases.insert((c.file, name.str()), target);
            }
            (None, Some(target)) => self.world.usings.entry(c.file).or_default().push(target.str()),
            _ => {}
        }
    }

    fn declare_type(
        &mut self,
        c: Syntax<'a>,
        namespace: &str,
        outer: Option<u32>,
        builtin: bool,
        depth: usize,
    ) {
        let Some(name) = c.field("name").map(Syntax::str) else { return };
        let params = c.field("type_parameters").or_else(|| c.child("type_parameter_list"));
        let type_params: Vec<Rc<str>> = params
            .map(|l| l.children().iter().filter_map(|p| p.field("name")).map(|n| n.str().into()).collect())
            .unwrap_or_default();
        let prefix = match outer {
            Some(o) => format!("{}.", self.world.types[o as usize].full),
            None if namespace.is_empty() => String::new(),
            None => format!("{namespace}."),
        };
        let full = format!("{prefix}{name}`{}", type_params.len());
        let kind = match c.kind() {
            "struct_declaration" => TypeKind::Struct,
            "interface_declaration" => TypeKind::Interface,
            "enum_declaration" => TypeKind::Enum,
            "delegate_declaration" => TypeKind::Delegate,
            "record_declaration" if c.tokens().contains(&"struct") => TypeKind::Struct,
            _ => TypeKind::Class,
        };
        let known = self.world.by_full.get(&full).copied();
        // Two projects may each have a type of the same name; parts of one type are `partial`.
        let is_part =
            known.filter(|_| c.has_modifier("partial") || kind == TypeKind::Class && outer.is_some());
        let number = match is_part {
            Some(t) => {
                self.world.types[t as usize].nodes.push(c);
                t
            }
            None => self.new_type(c, name, full, namespace, kind, outer, builtin, type_params),
        };
        let t = &mut self.world.types[number as usize];
        t.is_static |= c.has_modifier("static");
        t.is_abstract |= c.has_modifier("abstract");
        t.attributes.extend(c.attributes());
        if let Some(body) = c.field("body") {
            self.scan(body, namespace, Some(number), builtin, depth + 1);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "each is a part of the declaration")]
    fn new_type(
        &mut self,
        c: Syntax<'a>,
        name: &'a str,
        full: String,
        namespace: &str,
        kind: TypeKind,
        outer: Option<u32>,
        builtin: bool,
        type_params: Vec<Rc<str>>,
    ) -> u32 {
        let number = self.world.types.len() as u32;
        self.world.types.push(TypeDecl {
            name,
            full: full.clone(),
            namespace: namespace.into(),
            kind,
            is_static: false,
            is_public: c.has_modifier("public"),
            is_abstract: false,
            builtin,
            outer,
            type_params,
            nodes: vec![c],
            bases: Vec::new(),
            base: None,
            fields: Vec::new(),
            properties: Vec::new(),
            methods: Vec::new(),
            constructors: Vec::new(),
            static_constructor: None,
            finalizer: None,
            constants: Vec::new(),
            signature: None,
            primary: Vec::new(),
            attributes: Vec::new(),
            members: std::collections::HashMap::new(),
            ancestry: OnceCell::new(),
        });
        self.world.by_full.entry(full).or_insert(number);
        self.world.by_name.entry(name).or_default().push(number);
        if let Some(o) = outer {
            self.world.types[o as usize].members.insert(name, Member::Type(number));
        }
        number
    }

    fn place(&self, t: u32, file: u16) -> Place {
        let mut type_params = Vec::new();
        let mut at = Some(t);
        while let Some(c) = at {
            type_params.extend(self.world.types[c as usize].type_params.iter().cloned());
            at = self.world.types[c as usize].outer;
        }
        let namespace = self.world.types[t as usize].namespace.clone();
        Place { file, namespace, class: Some(t), type_params }
    }

    /// Resolves base types and signatures of delegates.
    fn link_types(&mut self) {
        let mut roots = Roots::new(self.world.types.len());
        for t in 0..self.world.types.len() as u32 {
            for node in self.world.types[t as usize].nodes.clone() {
                let mut place = self.place(t, node.file);
                // A type's bases are looked up outside of it.
                place.class = self.world.types[t as usize].outer;
                if node.kind() == "delegate_declaration" {
                    let inner = self.place(t, node.file);
                    let params = self.params(node, &inner);
                    let ret = node.field("type").map(|s| self.world.ty(s, &inner)).unwrap_or_default();
                    let types: Rc<[Ty]> = params.into_iter().map(|p| p.ty).collect();
                    self.world.types[t as usize].signature = Some((types, Rc::new(ret)));
                }
                for b in node.child("base_list").map(Syntax::children).unwrap_or_default() {
                    let b =
                        if b.kind() == "primary_constructor_base_type" { b.field("type") } else { Some(b) };
                    let Some(b) = b.filter(|b| b.kind() != "argument_list") else { continue };
                    let ty = self.world.ty(b, &place);
                    if self.world.types[t as usize].kind == TypeKind::Enum {
                        continue;
                    }
                    if let Some(c) = ty.class()
                        && c != t
                        && self.world.types[c as usize].kind == TypeKind::Class
                        && self.world.types[t as usize].base.is_none()
                        && roots.of(c) != t
                    {
                        roots.derive(t, c);
                        self.world.types[t as usize].base = Some(c);
                    }
                    self.world.types[t as usize].bases.push(ty);
                }
            }
        }
    }

    fn declare_members(&mut self) {
        for t in 0..self.world.types.len() as u32 {
            for node in self.world.types[t as usize].nodes.clone() {
                let place = self.place(t, node.file);
                if let Some(list) = node.child("parameter_list") {
                    self.primary(t, node, list, &place);
                }
                let Some(body) = node.field("body") else { continue };
                self.members(t, body, &place, 0);
            }
        }
    }

    fn members(&mut self, t: u32, body: Syntax<'a>, place: &Place, depth: usize) {
        for m in body.children() {
            match m.kind() {
                "field_declaration" | "event_field_declaration" => self.fields(t, m, place),
                "property_declaration" => self.property(t, m, place),
                "method_declaration" => self.method(t, m, place),
                "constructor_declaration" => self.constructor(t, m, place),
                "destructor_declaration" => {
                    let f = self.function(t, "Finalize", m, place, m.field("body"));
                    self.world.types[t as usize].finalizer = Some(f);
                }
                "indexer_declaration" => self.indexer(t, m, place),
                "event_declaration" => self.event(t, m, place),
                "operator_declaration" | "conversion_operator_declaration" => self.operator(t, m, place),
                "enum_member_declaration" => {
                    if let Some(name) = m.field("name") {
                        let ty = &mut self.world.types[t as usize];
                        ty.members.insert(name.str(), Member::Constant(ty.constants.len()));
                        ty.constants.push((name.str(), m.field("value")));
                    }
                }
                "ERROR" if depth < 4 => self.members(t, m, place, depth + 1),
                _ => {}
            }
        }
    }

    /// Parameters of the type itself. In a record they are properties, in a class they are kept as
    /// fields.
    fn primary(&mut self, t: u32, node: Syntax<'a>, list: Syntax<'a>, place: &Place) {
        let params = self.params(list, place);
        for p in &params {
            let field = FieldDecl {
                name: p.name,
                ty: p.ty.clone(),
                is_static: false,
                is_volatile: false,
                is_const: false,
                is_readonly: true,
                is_thread_static: false,
                init: None,
                node,
                is_property: node.kind() == "record_declaration",
            };
            self.add_field(t, field);
        }
        self.world.types[t as usize].primary = params;
    }

    fn add_field(&mut self, t: u32, field: FieldDecl<'a>) {
        let ty = &mut self.world.types[t as usize];
        ty.members.insert(field.name, Member::Field(ty.fields.len()));
        ty.fields.push(field);
    }

    fn fields(&mut self, t: u32, m: Syntax<'a>, place: &Place) {
        let Some(list) = m.child("variable_declaration") else { return };
        let ty = list.field("type").map(|s| self.world.ty(s, place)).unwrap_or_default();
        let is_thread_static = m.attributes().contains(&"ThreadStatic");
        for v in list.children().into_iter().filter(|c| c.kind() == "variable_declarator") {
            let Some(name) = v.field("name") else { continue };
            let init = v.children().into_iter().rfind(|c| c.node.id() != name.node.id());
            let is_const = m.has_modifier("const");
            self.add_field(
                t,
                FieldDecl {
                    name: name.str(),
                    ty: ty.clone(),
                    is_static: m.has_modifier("static") || is_const,
                    is_volatile: m.has_modifier("volatile"),
                    is_const,
                    is_readonly: m.has_modifier("readonly"),
                    is_thread_static,
                    init: init.filter(|c| c.kind() != "bracketed_argument_list"),
                    node: v,
                    is_property: false,
                },
            );
        }
    }

    fn property(&mut self, t: u32, m: Syntax<'a>, place: &Place) {
        let Some(name) = m.field("name").map(Syntax::str) else { return };
        let ty = m.field("type").map(|s| self.world.ty(s, place)).unwrap_or_default();
        let is_static = m.has_modifier("static");
        let accessors: Vec<Syntax<'a>> = m
            .field("accessors")
            .map(|a| a.children().into_iter().filter(|c| c.kind() == "accessor_declaration").collect())
            .unwrap_or_default();
        let arrow = m.field("value").filter(|v| v.kind() == "arrow_expression_clause");
        let has_code = arrow.is_some() || accessors.iter().any(|a| a.field("body").is_some());
        let no_body = m.has_modifier("abstract")
            || self.world.types[t as usize].kind == TypeKind::Interface && !has_code;
        if !has_code && !no_body {
            // Its storage is what counts; overridden storage is the same storage.
            let init = m.field("value");
            self.add_field(
                t,
                FieldDecl {
                    name,
                    ty,
                    is_static,
                    is_volatile: false,
                    is_const: false,
                    is_readonly: !accessors.iter().any(|a| a.field("name").is_some_and(|n| n.str() == "set")),
                    is_thread_static: false,
                    init,
                    node: m,
                    is_property: true,
                },
            );
            return;
        }
        let decl = &mut self.world.types[t as usize];
        decl.members.insert(name, Member::Property(decl.properties.len()));
        decl.properties.push((name, ty.clone(), is_static));
        if no_body {
            return;
        }
        if let Some(arrow) = arrow {
            self.accessor(t, m, place, &format!("get_{name}"), Some(arrow), ty);
            return;
        }
        for a in accessors {
            let word = a.field("name").map_or("", Syntax::str);
            let prefix = if word == "get" { "get" } else { "set" };
            self.accessor(t, m, place, &format!("{prefix}_{name}"), a.field("body"), ty.clone());
        }
    }

    /// A getter or setter; the latter has a parameter `value`.
    fn accessor(
        &mut self,
        t: u32,
        m: Syntax<'a>,
        place: &Place,
        name: &str,
        body: Option<Syntax<'a>>,
        ty: Ty,
    ) {
        let f = self.function(t, name, m, place, body);
        let takes_value = !name.starts_with("get_");
        let method = &mut self.world.methods[f as usize];
        method.attributes.clear();
        if takes_value {
            method.params.push(Param { name: "value", ty, mode: Passing::Value, default: None });
            method.ret = Ty::Void;
        } else {
            method.ret = ty;
        }
        self.world.types[t as usize].methods.push(f);
    }

    fn indexer(&mut self, t: u32, m: Syntax<'a>, place: &Place) {
        let ty = m.field("type").map(|s| self.world.ty(s, place)).unwrap_or_default();
        if let Some(arrow) = m.field("value") {
            self.accessor(t, m, place, "get_Item", Some(arrow), ty);
            return;
        }
        let list = m.field("accessors").map(Syntax::children).unwrap_or_default();
        for a in list.into_iter().filter(|c| c.kind() == "accessor_declaration") {
            let word = a.field("name").map_or("", Syntax::str);
            if a.field("body").is_some() {
                let name = if word == "get" { "get_Item" } else { "set_Item" };
                self.accessor(t, m, place, name, a.field("body"), ty.clone());
            }
        }
    }

    fn event(&mut self, t: u32, m: Syntax<'a>, place: &Place) {
        let Some(name) = m.field("name").map(Syntax::str) else { return };
        let ty = m.field("type").map(|s| self.world.ty(s, place)).unwrap_or_default();
        let decl = &mut self.world.types[t as usize];
        decl.members.insert(name, Member::Property(decl.properties.len()));
        decl.properties.push((name, ty.clone(), m.has_modifier("static")));
        let list = m.field("accessors").map(Syntax::children).unwrap_or_default();
        for a in list.into_iter().filter(|c| c.kind() == "accessor_declaration") {
            let word = a.field("name").map_or("", Syntax::str).to_string();
            self.accessor(t, m, place, &format!("{word}_{name}"), a.field("body"), ty.clone());
        }
    }

    fn operator(&mut self, t: u32, m: Syntax<'a>, place: &Place) {
        let name = match m.field("operator") {
            Some(op) => format!("operator {}", op.str()),
            None => "operator cast".to_string(),
        };
        let f = self.function(t, &name, m, place, m.field("body"));
        let method = &mut self.world.methods[f as usize];
        method.is_static = true;
        method.is_public = false;
        self.world.types[t as usize].methods.push(f);
    }

    fn method(&mut self, t: u32, m: Syntax<'a>, place: &Place) {
        let Some(name) = m.field("name").map(Syntax::str) else { return };
        let f = self.function(t, name, m, place, m.field("body"));
        let decl = &mut self.world.types[t as usize];
        decl.methods.push(f);
        decl.members.entry(name).or_insert(Member::Method);
        if self.world.methods[f as usize].is_extension {
            let name = self.world.methods[f as usize].name.clone();
            self.world.extensions.entry(name).or_default().push(f);
        }
    }

    fn constructor(&mut self, t: u32, m: Syntax<'a>, place: &Place) {
        let is_static = m.has_modifier("static");
        let f = self.function(t, if is_static { ".cctor" } else { ".ctor" }, m, place, m.field("body"));
        let decl = &mut self.world.types[t as usize];
        if is_static {
            decl.static_constructor = Some(f);
        } else {
            decl.constructors.push(f);
        }
    }

    fn params(&self, m: Syntax<'a>, place: &Place) -> Vec<Param<'a>> {
        let list = match m.kind() {
            "parameter_list" | "bracketed_parameter_list" => Some(m),
            _ => m.field("parameters"),
        };
        let mut out = Vec::new();
        let Some(list) = list else { return out };
        for p in list.children().into_iter().filter(|c| c.kind() == "parameter") {
            let Some(name) = p.field("name") else { continue };
            let modifiers: Vec<&str> =
                p.children().iter().filter(|c| c.kind() == "modifier").map(|c| c.str()).collect();
            let mode = if modifiers.iter().any(|m| matches!(*m, "ref" | "out" | "in")) {
                Passing::Reference
            } else if modifiers.contains(&"params") || p.tokens().contains(&"params") {
                Passing::Rest
            } else {
                Passing::Value
            };
            let ty = p.field("type").map(|s| self.world.ty(s, place)).unwrap_or_default();
            let is_part = |c: &Syntax<'a>| {
                c.kind() != "modifier"
                    && c.kind() != "attribute_list"
                    && c.node.id() != name.node.id()
                    && p.field("type").is_none_or(|t| t.node.id() != c.node.id())
            };
            let default = p.children().into_iter().find(is_part);
            out.push(Param { name: name.str(), ty, mode, default });
        }
        // The grammar has `params T[] x` outside of a parameter.
        if let (Some(ty), Some(name)) = (list.field("type"), list.field("name")) {
            let ty = self.world.ty(ty, place);
            out.push(Param { name: name.str(), ty, mode: Passing::Rest, default: None });
        }
        out
    }

    fn function(
        &mut self,
        t: u32,
        name: &str,
        m: Syntax<'a>,
        place: &Place,
        body: Option<Syntax<'a>>,
    ) -> u32 {
        let type_params: Vec<Rc<str>> = m
            .field("type_parameters")
            .map(|l| l.children().iter().filter_map(|p| p.field("name")).map(|n| n.str().into()).collect())
            .unwrap_or_default();
        let mut place = place.clone();
        place.type_params.extend(type_params.iter().cloned());
        let params = self.params(m, &place);
        let first_is_this =
            m.field("parameters").and_then(|l| l.child("parameter")).is_some_and(|p| p.has_modifier("this"));
        let ret = m
            .field("returns")
            .or_else(|| m.field("type"))
            .map(|s| self.world.ty(s, &place))
            .unwrap_or_default();
        let number = self.world.methods.len() as u32;
        let in_interface = self.world.types[t as usize].kind == TypeKind::Interface;
        self.world.methods.push(Method {
            name: name.into(),
            class: t,
            params,
            type_params,
            ret: if name.starts_with('.') { Ty::Void } else { ret },
            node: m,
            body,
            is_static: m.has_modifier("static"),
            is_async: m.has_modifier("async"),
            is_iterator: body.is_some_and(has_yield),
            is_extension: first_is_this,
            is_public: m.has_modifier("public") || in_interface,
            attributes: m.attributes(),
        });
        number
    }
}

/// Whether a body yields; lambdas and local functions within it have bodies of their own.
pub fn has_yield(body: Syntax<'_>) -> bool {
    let mut found = false;
    body.visit(&mut |s| {
        found |= s.kind() == "yield_statement";
        !matches!(s.kind(), "lambda_expression" | "local_function_statement" | "anonymous_method_expression")
    });
    found
}
