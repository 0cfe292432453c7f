//! Objects and arguments for entries: what the callers of a library would pass.

use super::Lowerer;
use super::scope::{LoweringContext, This};
use crate::csharp::types::Ty;
use crate::csharp::world::{FieldDecl, Place, TypeKind};
use crate::ir::{AccessClass, Instr, Scalar};

/// What happens if the constructor of an entry's object throws.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Failed {
    /// The exception propagates: there is no object.
    Ends,
    /// The object exists all the same, and its fields hold unknowns.
    IsOpaque,
}

impl<'a> Lowerer<'_, 'a> {
    /// Makes an object for an entry, with unknown arguments. Returns the local that holds it.
    pub fn new_subject(&mut self, class: u32, failed: Failed) -> u16 {
        let slot = self.temporary();
        self.class_init(class);
        self.emit(Instr::New(class));
        self.emit(Instr::Set(slot));
        match failed {
            Failed::Ends => self.construct(class, slot),
            Failed::IsOpaque => {
                self.catching(|l| l.construct(class, slot), |l| l.make_opaque(class, slot, true));
                // Much may have happened since it was made.
                let fresh = self.builder().label();
                self.emit(Instr::Unknown);
                self.builder().jump_if_not(fresh);
                self.make_opaque(class, slot, false);
                self.builder().place(fresh);
            }
        }
        slot
    }

    /// Marks a function as not part of the source.
    pub fn hide(&mut self, function: u32) {
        if let Some(f) = self.functions[function as usize].as_mut() {
            f.outlined = true;
        }
    }

    /// Runs code, and other code if it throws.
    pub fn catching(&mut self, run: impl FnOnce(&mut Self), failed: impl FnOnce(&mut Self)) {
        let (start, end, handler, done) =
            (self.builder().label(), self.builder().label(), self.builder().label(), self.builder().label());
        self.builder().place(start);
        run(self);
        self.builder().place(end);
        self.builder().jump(done);
        self.builder().place(handler);
        self.emit(Instr::Drop);
        failed(self);
        self.builder().place(done);
        self.builder().handle(start, end, handler);
    }

    /// Calls the constructor with the fewest parameters.
    fn construct(&mut self, class: u32, slot: u16) {
        let constructors = self.world.class(class).constructors.clone();
        let simplest =
            constructors.iter().min_by_key(|m| self.world.methods[**m as usize].params.len()).copied();
        self.emit(Instr::Get(slot));
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
    }

    /// Makes the fields unknown that may have changed since an object was made, or that an
    /// incomplete constructor may not have set.
    fn make_opaque(&mut self, class: u32, slot: u16, is_incomplete: bool) {
        let is_unsure = |f: &FieldDecl<'a>| if is_incomplete { f.init.is_none() } else { !f.is_readonly };
        let fields: Vec<(u32, &'a str)> = self
            .world
            .ancestry(class)
            .iter()
            .copied()
            .filter(|c| self.world.class(*c).kind == TypeKind::Class)
            .flat_map(|c| self.world.class(c).fields.iter().map(move |f| (c, f)))
            .filter(|(_, f)| !f.is_static && is_unsure(f))
            .map(|(c, f)| (c, f.name))
            .collect();
        for (owner, name) in fields {
            self.emit(Instr::Get(slot));
            self.emit(Instr::Unknown);
            let hider = self.hider(Some(owner), name);
            let name = self.member_name(name, hider);
            self.emit(Instr::SetMember(name, AccessClass::Hidden));
        }
    }

    /// Pushes an argument for each parameter of a method. Arguments are not null.
    pub fn unknown_arguments(&mut self, m: u32) {
        for p in &self.world.methods[m as usize].params {
            if p.ty.is_number() || self.world.is_enum(&p.ty) {
                self.emit(Instr::Unknown);
                continue;
            }
            match self.maker(&p.ty) {
                Some(f) => self.emit(Instr::Call(f, 0)),
                None => self.emit(Instr::SomeObject),
            }
        }
    }

    /// The class whose objects represent those of a type: the type itself, or the first one that
    /// derives from it or implements it.
    pub fn implementation(&mut self, class: u32) -> Option<u32> {
        let decl = self.world.class(class);
        if decl.kind == TypeKind::Class && !decl.is_abstract {
            return Some(class);
        }
        if self.implementations.is_none() {
            let mut found = std::collections::HashMap::new();
            for (c, decl) in self.world.types.iter().enumerate() {
                let is_concrete = decl.kind == TypeKind::Class && !decl.is_abstract && !decl.is_static;
                if is_concrete && !decl.builtin {
                    for base in self.world.ancestry(c as u32) {
                        found.entry(*base).or_insert(c as u32);
                    }
                }
            }
            self.implementations = Some(found);
        }
        self.implementations.as_ref()?.get(&class).copied()
    }

    /// A function that returns an object of a class of the program: one made by its constructor, or
    /// an unknown one.
    pub fn maker(&mut self, ty: &Ty) -> Option<u32> {
        let class = ty.class().filter(|c| !self.world.class(*c).builtin)?;
        let class = self.implementation(class)?;
        if let Some(f) = self.makers.get(&class) {
            return *f;
        }
        // While the maker is being built there is none: an object's own arguments are unknown.
        self.makers.insert(class, None);
        let node = self.world.class(class).nodes[0];
        let open = std::mem::take(&mut self.contexts);
        let depth = std::mem::take(&mut self.depth);
        let place = Place { file: node.file, ..Place::default() };
        let mut c = LoweringContext::new(
            place,
            None,
            This::None,
            false,
            format!("new {}", self.world.class(class).name),
        );
        c.builder.pos = node.pos();
        c.builder.pos.line = 0;
        self.contexts.push(c);
        let (unknown, slot) = (self.builder().label(), self.temporary());
        let shared = self.singletons.get(&class).copied();
        match shared {
            Some(global) => {
                let first = self.builder().label();
                self.global_address(global);
                self.emit(Instr::Load(Scalar::U64, AccessClass::Hidden));
                self.emit(Instr::Tee(slot));
                self.builder().jump_if_not(first);
                self.emit(Instr::Get(slot));
                self.emit(Instr::Return);
                self.builder().place(first);
            }
            None => {
                self.emit(Instr::Unknown);
                self.builder().jump_if_not(unknown);
            }
        }
        self.class_init(class);
        self.emit(Instr::New(class));
        self.emit(Instr::Set(slot));
        self.catching(
            |l| {
                l.construct(class, slot);
                if let Some(global) = shared {
                    l.global_address(global);
                    l.emit(Instr::Get(slot));
                    l.emit(Instr::Store(Scalar::U64, AccessClass::Hidden));
                }
                l.emit(Instr::Get(slot));
                l.emit(Instr::Return);
            },
            |_| {},
        );
        self.builder().place(unknown);
        self.emit(Instr::SomeObject);
        self.emit(Instr::Return);
        let function = self.new_function();
        self.close(function, 0, node);
        self.hide(function);
        self.contexts = open;
        self.depth = depth;
        self.makers.insert(class, Some(function));
        Some(function)
    }
}
