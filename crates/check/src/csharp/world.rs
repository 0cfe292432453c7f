//! All types of a program and their members, and name lookup.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::syntax::Syntax;
use super::types::{Ty, predefined};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeKind {
    Class,
    Struct,
    Interface,
    Enum,
    Delegate,
}

/// How an argument is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passing {
    Value,
    /// `ref`, `out` and `in`: an address is passed.
    Reference,
    /// `params`
    Rest,
}

#[derive(Debug, Clone)]
pub struct Param<'a> {
    pub name: &'a str,
    pub ty: Ty,
    pub mode: Passing,
    pub default: Option<Syntax<'a>>,
}

#[derive(Debug, Clone)]
pub struct Method<'a> {
    pub name: Rc<str>,
    pub class: u32,
    pub params: Vec<Param<'a>>,
    pub type_params: Vec<Rc<str>>,
    pub ret: Ty,
    pub node: Syntax<'a>,
    /// A block, an expression after `=>`, or nothing.
    pub body: Option<Syntax<'a>>,
    pub is_static: bool,
    pub is_async: bool,
    pub is_iterator: bool,
    pub is_extension: bool,
    pub is_public: bool,
    pub attributes: Vec<&'a str>,
}

impl Method<'_> {
    pub fn required(&self) -> usize {
        self.params.iter().filter(|p| p.default.is_none() && p.mode != Passing::Rest).count()
    }

    pub fn takes(&self, n: usize) -> bool {
        let rest = self.params.iter().any(|p| p.mode == Passing::Rest);
        n >= self.required() && (rest || n <= self.params.len())
    }
}

#[derive(Debug, Clone)]
pub struct FieldDecl<'a> {
    pub name: &'a str,
    pub ty: Ty,
    pub is_static: bool,
    pub is_volatile: bool,
    pub is_const: bool,
    /// Only constructors assign it.
    pub is_readonly: bool,
    pub is_thread_static: bool,
    pub init: Option<Syntax<'a>>,
    pub node: Syntax<'a>,
    pub is_property: bool,
}

#[derive(Debug, Clone)]
pub struct TypeDecl<'a> {
    pub name: &'a str,
    pub full: String,
    pub namespace: String,
    pub kind: TypeKind,
    pub is_static: bool,
    pub is_public: bool,
    pub is_abstract: bool,
    pub builtin: bool,
    pub outer: Option<u32>,
    pub type_params: Vec<Rc<str>>,
    pub nodes: Vec<Syntax<'a>>,
    pub bases: Vec<Ty>,
    pub base: Option<u32>,
    pub fields: Vec<FieldDecl<'a>>,
    /// Properties with code: name, type, static.
    pub properties: Vec<(&'a str, Ty, bool)>,
    pub methods: Vec<u32>,
    pub constructors: Vec<u32>,
    pub static_constructor: Option<u32>,
    pub finalizer: Option<u32>,
    pub constants: Vec<(&'a str, Option<Syntax<'a>>)>,
    /// For a delegate: its parameters and result.
    pub signature: Option<(Rc<[Ty]>, Rc<Ty>)>,
    /// Parameters of a primary constructor or a record.
    pub primary: Vec<Param<'a>>,
    pub attributes: Vec<&'a str>,
    pub members: HashMap<&'a str, Member>,
    /// See [`World::ancestry`].
    pub ancestry: OnceCell<Ancestry>,
}

/// A class and what it derives from. The class itself is first; interfaces are last.
#[derive(Debug, Clone)]
pub struct Ancestry {
    classes: Vec<u32>,
    /// It derives from more classes than are examined.
    is_cut: bool,
}

/// What a name refers to in a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Member {
    Field(usize),
    Property(usize),
    Method,
    Type(u32),
    Constant(usize),
}

/// The place where a name is looked up.
#[derive(Debug, Clone, Default)]
pub struct Place {
    pub file: u16,
    pub namespace: String,
    pub class: Option<u32>,
    pub type_params: Vec<Rc<str>>,
}

#[derive(Default)]
pub struct World<'a> {
    pub types: Vec<TypeDecl<'a>>,
    pub by_name: HashMap<&'a str, Vec<u32>>,
    pub by_full: HashMap<String, u32>,
    pub methods: Vec<Method<'a>>,
    pub extensions: HashMap<Rc<str>, Vec<u32>>,
    /// `using X = Y;` of each file.
    pub aliases: HashMap<(u16, &'a str), Syntax<'a>>,
    pub groups: Vec<Option<std::sync::Arc<str>>>,
    /// Statements outside of any type, for each file that has some.
    pub top_level: Vec<(u16, Vec<Syntax<'a>>)>,
    pub usings: HashMap<u16, Vec<&'a str>>,
}

/// The maximum numbers of ancestors of a class, and of methods of one name in a class, that are
/// examined. Generated code with more would take hours.
pub const MOST_ANCESTORS: usize = 64;
pub const MOST_OVERLOADS: usize = 128;

impl<'a> World<'a> {
    /// Finds a type by its simple name: nested in the current one, then in the nearest namespace,
    /// then any.
    pub fn type_named(&self, name: &str, arity: usize, place: &Place) -> Option<u32> {
        let mut class = place.class;
        let mut rounds = 0;
        while let Some(c) = class {
            let mut base = Some(c);
            while let Some(b) = base {
                rounds += 1;
                if rounds > 200 {
                    return None;
                }
                if let Some(Member::Type(t)) = self.types[b as usize].members.get(name) {
                    return Some(*t);
                }
                base = self.types[b as usize].base;
            }
            class = self.types[c as usize].outer;
        }
        let all = self.by_name.get(name)?;
        let usings = self.usings.get(&place.file);
        all.iter().copied().max_by_key(|t| {
            let ty = &self.types[*t as usize];
            let near = if place.namespace == ty.namespace {
                3
            } else if place.namespace.starts_with(&ty.namespace) && !ty.namespace.is_empty() {
                2
            } else {
                usize::from(usings.is_some_and(|u| u.iter().any(|n| **n == ty.namespace)))
            };
            let group = self.groups[usize::from(place.file)].is_some()
                && ty.nodes.first().is_some_and(|n| {
                    self.groups[usize::from(n.file)] == self.groups[usize::from(place.file)]
                });
            (
                ty.type_params.len() == arity,
                ty.outer.is_none(),
                near,
                group,
                !ty.builtin,
                std::cmp::Reverse(*t),
            )
        })
    }

    /// The type that a type's syntax denotes.
    pub fn ty(&self, s: Syntax<'a>, place: &Place) -> Ty {
        self.ty_at(s, place, 0)
    }

    fn ty_at(&self, s: Syntax<'a>, place: &Place, depth: u32) -> Ty {
        if depth > 40 {
            return Ty::Unknown;
        }
        let inner = |s: Syntax<'a>| self.ty_at(s, place, depth + 1);
        match s.kind() {
            "predefined_type" => predefined(s.str()),
            "nullable_type" => {
                let t = s.field("type").map(inner).unwrap_or_default();
                if t.is_number() { Ty::Nullable(Rc::new(t)) } else { t }
            }
            "array_type" => Ty::Array(Rc::new(s.field("type").map(inner).unwrap_or_default())),
            "ref_type" | "scoped_type" => s.field("type").map(inner).unwrap_or_default(),
            "tuple_type" => {
                let parts = s.children().into_iter().enumerate().map(|(i, e)| {
                    let name = e.field("name").map_or_else(|| format!("Item{}", i + 1), |n| n.str().into());
                    (name.into(), e.field("type").map(inner).unwrap_or_default())
                });
                Ty::Tuple(parts.collect())
            }
            "identifier" => self.named_type(s.str(), &[], place, depth),
            "generic_name" => {
                let name = s.first().map_or("", Syntax::str);
                let args: Vec<Ty> = s
                    .child("type_argument_list")
                    .map(|l| l.children().into_iter().map(inner).collect())
                    .unwrap_or_default();
                self.named_type(name, &args, place, depth)
            }
            "qualified_name" | "alias_qualified_name" | "member_access_expression" => match s.field("name") {
                Some(name) => self.ty_at(name, place, depth + 1),
                None => Ty::Unknown,
            },
            _ => Ty::Unknown,
        }
    }

    fn named_type(&self, name: &str, args: &[Ty], place: &Place, depth: u32) -> Ty {
        if let Some(p) = place.type_params.iter().find(|p| ***p == *name) {
            return Ty::Param(p.clone());
        }
        if let Some(alias) = self.aliases.get(&(place.file, name))
            && args.is_empty()
            // `using X = Y.X;` would lead back to itself.
            && alias.str().rsplit(['.', ':']).next() != Some(name)
        {
            return self.ty_at(*alias, place, depth + 1);
        }
        if args.is_empty() && predefined(name) != Ty::Unknown {
            return predefined(name);
        }
        if let Some(t) = self.type_named(name, args.len(), place) {
            let ty = &self.types[t as usize];
            if let Some((params, ret)) = &ty.signature {
                return Ty::Func(params.clone(), ret.clone()).substitute(&ty.type_params, args);
            }
            if ty.kind == TypeKind::Enum {
                return Ty::Class(t, Rc::from([]));
            }
            return Ty::Class(t, args.into());
        }
        match name {
            "Action"
            | "ThreadStart"
            | "TimerCallback"
            | "WaitCallback"
            | "ParameterizedThreadStart"
            | "EventHandler" => Ty::Func(args.into(), Rc::new(Ty::Void)),
            "Func" | "Converter" => {
                let ret = args.last().cloned().unwrap_or_default();
                Ty::Func(args[..args.len().saturating_sub(1)].into(), Rc::new(ret))
            }
            "Predicate" => Ty::Func(args.into(), Rc::new(Ty::Bool)),
            "Comparison" => Ty::Func(Rc::from([]), Rc::new(Ty::INT)),
            "Nullable" => args.first().cloned().unwrap_or_default(),
            _ => Ty::Extern(name.into()),
        }
    }

    pub fn class(&self, c: u32) -> &TypeDecl<'a> {
        &self.types[c as usize]
    }

    /// The class and all that it derives from, itself first, interfaces last. Call it only when all
    /// bases are known, because the answer is cached.
    pub fn ancestry(&self, class: u32) -> &[u32] {
        &self.kept_ancestry(class).classes
    }

    /// Whether a class derives from more classes and interfaces than are examined.
    pub fn is_too_deep(&self, class: u32) -> bool {
        self.kept_ancestry(class).is_cut || self.base_line(class).1
    }

    /// Whether a class has more methods of one name than are examined.
    pub fn is_crowded(&self, class: u32) -> bool {
        let methods = &self.types[class as usize].methods;
        let mut named: HashMap<&str, usize> = HashMap::new();
        methods.len() > MOST_OVERLOADS
            && methods.iter().any(|m| {
                let of_name = named.entry(&*self.methods[*m as usize].name).or_default();
                *of_name += 1;
                *of_name > MOST_OVERLOADS
            })
    }

    fn kept_ancestry(&self, class: u32) -> &Ancestry {
        self.types[class as usize].ancestry.get_or_init(|| {
            let mut classes = vec![class];
            let mut known = HashSet::from([class]);
            let mut i = 0;
            while i < classes.len() && classes.len() < MOST_ANCESTORS {
                let t = &self.types[classes[i] as usize];
                let bases = t.base.into_iter().chain(t.bases.iter().filter_map(Ty::class));
                classes.extend(bases.filter(|b| known.insert(*b)));
                i += 1;
            }
            let is_new = |b: u32| !known.contains(&b);
            let is_cut = classes[i..].iter().any(|c| {
                let t = &self.types[*c as usize];
                t.base.is_some_and(is_new) || t.bases.iter().filter_map(Ty::class).any(is_new)
            });
            Ancestry { classes, is_cut }
        })
    }

    /// The class and its base classes, itself first, and whether there are more. The declaration
    /// phase has made sure that no class derives from itself.
    pub fn base_line(&self, class: u32) -> (Vec<u32>, bool) {
        let mut line = vec![class];
        let mut base = self.types[class as usize].base;
        while let Some(b) = base.filter(|_| line.len() < MOST_ANCESTORS) {
            line.push(b);
            base = self.types[b as usize].base;
        }
        (line, base.is_some())
    }

    /// A member by name, and the class that has it.
    pub fn member(&self, class: u32, name: &str) -> Option<(u32, Member)> {
        self.ancestry(class).iter().find_map(|c| self.types[*c as usize].members.get(name).map(|m| (*c, *m)))
    }

    /// All methods of this name in a class, its own first.
    pub fn methods_named(&self, class: u32, name: &str) -> Vec<u32> {
        let mut out = Vec::new();
        for c in self.ancestry(class) {
            let methods = &self.types[*c as usize].methods;
            let named = methods.iter().copied().filter(|m| *self.methods[*m as usize].name == *name);
            out.extend(named.take(MOST_OVERLOADS));
        }
        out
    }

    pub fn is_struct(&self, ty: &Ty) -> bool {
        ty.class().is_some_and(|c| self.class(c).kind == TypeKind::Struct && !self.class(c).builtin)
    }

    /// Whether a variable of a type holds an object from the start.
    pub fn is_value(&self, ty: &Ty) -> bool {
        ty.class().is_some_and(|c| self.class(c).kind == TypeKind::Struct)
    }

    pub fn is_enum(&self, ty: &Ty) -> bool {
        ty.class().is_some_and(|c| self.class(c).kind == TypeKind::Enum)
    }
}
