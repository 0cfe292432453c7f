//! Lowers bodies to instructions. `World` says what names mean; here each function becomes code.

mod access;
mod async_method;
mod call;
mod class;
mod closure;
mod control;
mod creation;
mod entry;
mod expression;
mod host_entry;
mod left_out;
mod method_choice;
mod operator;
mod pattern;
mod query;
mod request;
mod scope;
mod statement;
mod subject;
mod tables;
mod target;
mod ui;

use std::collections::HashMap;
use std::sync::Arc;

use super::syntax::{File, Syntax};
use super::types::Ty;
use super::world::{Place, World};
use crate::ir::build::Builder;
use crate::ir::objects::ObjectClass;
use crate::ir::{
    AccessClass, EntryPoint, Global, GlobalShape, Instr, Linkage, Pos, Scalar, SourceFile, SymbolRef, Unit,
    UnitFunction,
};
pub use left_out::Unlowered;
use scope::LoweringContext;
use tables::Tables;

/// The maximum nesting of expressions; deeper ones are unknown.
const DEEPEST: u32 = 200;
/// Marks an operand as the number of a global until the number of functions is known.
const GLOBAL: u32 = 0x8000_0000;

/// Lowers a whole program.
pub fn lower(world: &World<'_>, files: &[Arc<File>]) -> (Unit, Unlowered) {
    let mut lowerer = Lowerer::new(world);
    lowerer.classes();
    lowerer.find_singletons();
    lowerer.bodies();
    lowerer.entries();
    let left_out = lowerer.left_out;
    (lowerer.finish(files), left_out)
}

pub(super) struct Lowerer<'w, 'a> {
    world: &'w World<'a>,
    functions: Vec<Option<UnitFunction>>,
    globals: Vec<Global>,
    tables: Tables,
    constants: Vec<u64>,
    texts: HashMap<String, u32>,
    /// Globals of static fields, by class and name.
    statics: HashMap<(u32, &'a str), u32>,
    /// For each class with something to initialise, the global that says whether it is done, and
    /// the function.
    initialisers: HashMap<u32, (u32, u32)>,
    /// The constructor of a class that declares none.
    default_constructors: HashMap<u32, u32>,
    thunks: HashMap<u32, u32>,
    contexts: Vec<LoweringContext<'a>>,
    entry_points: Vec<EntryPoint>,
    /// Numbers of the projects that have entries.
    assemblies: HashMap<Option<Arc<str>>, u32>,
    /// The class whose objects represent those of an interface or abstract class.
    implementations: Option<HashMap<u32, u32>>,
    /// Functions that make an argument of a class for an entry.
    makers: HashMap<u32, Option<u32>>,
    depth: u32,
    left_out: Unlowered,
    /// Whether the program has windows, so that there is a UI thread.
    has_ui: bool,
    has_windows: bool,
    /// Classes that have one object per host, and the globals that hold these objects.
    singletons: HashMap<u32, u32>,
}

impl<'w, 'a> Lowerer<'w, 'a> {
    fn new(world: &'w World<'a>) -> Self {
        Self {
            world,
            functions: vec![None; world.methods.len()],
            globals: Vec::new(),
            tables: Tables::new(world),
            constants: Vec::new(),
            texts: HashMap::new(),
            statics: HashMap::new(),
            initialisers: HashMap::new(),
            default_constructors: HashMap::new(),
            thunks: HashMap::new(),
            contexts: Vec::new(),
            entry_points: Vec::new(),
            assemblies: HashMap::new(),
            implementations: None,
            makers: HashMap::new(),
            depth: 0,
            left_out: Unlowered::default(),
            has_ui: ui::has_ui(world),
            has_windows: ui::has_windows(world),
            singletons: HashMap::new(),
        }
    }

    fn new_function(&mut self) -> u32 {
        self.functions.push(None);
        self.functions.len() as u32 - 1
    }

    fn global(&mut self, name: &str, pos: Pos, thread_local: bool) -> u32 {
        self.globals.push(Global {
            name: name.into(),
            linkage: Linkage::Internal,
            pos,
            size: 8,
            init: Some(vec![0; 8]),
            relocs: Vec::new(),
            thread_local,
            constant: false,
            declared_only: false,
            shape: GlobalShape::default(),
        });
        self.globals.len() as u32 - 1
    }

    fn context(&mut self) -> &mut LoweringContext<'a> {
        self.contexts.last_mut().expect("code is emitted inside a function only")
    }

    fn builder(&mut self) -> &mut Builder {
        &mut self.context().builder
    }

    fn emit(&mut self, instr: Instr) {
        self.builder().emit(instr);
    }

    fn at(&mut self, s: Syntax<'a>) {
        self.builder().pos = s.pos();
    }

    /// How the current code accesses memory: the library's accesses are not recorded.
    fn access(&self) -> AccessClass {
        match self.contexts.last() {
            Some(c) if c.hidden => AccessClass::Hidden,
            Some(c) if c.fenced => AccessClass::Volatile,
            _ => AccessClass::Plain,
        }
    }

    fn place(&self) -> Place {
        self.contexts.last().map(|c| c.place.clone()).unwrap_or_default()
    }

    fn ty(&self, s: Syntax<'a>) -> Ty {
        match self.contexts.last() {
            Some(c) => self.world.ty(s, &c.place),
            None => Ty::Unknown,
        }
    }

    /// Allocates a local for a temporary value.
    fn temporary(&mut self) -> u16 {
        match self.builder().local() {
            Some(slot) => slot,
            None => {
                self.context().overflow = true;
                0
            }
        }
    }

    fn int(&mut self, v: i64) {
        match i32::try_from(v) {
            Ok(v) => self.emit(Instr::Int(v)),
            Err(_) => self.constant(v as u64),
        }
    }

    fn constant(&mut self, v: u64) {
        let n = self.constants.len() as u32;
        self.constants.push(v);
        self.emit(Instr::Const(n));
    }

    /// Pushes the address of a global.
    fn global_address(&mut self, global: u32) {
        self.emit(Instr::GlobalAddr(GLOBAL | global));
    }

    /// Pushes a string literal. Equal literals are the same object.
    fn text(&mut self, text: &str) {
        let known = self.texts.get(text).copied();
        let global = known.unwrap_or_else(|| {
            let g = self.global("a text", Pos::default(), false);
            let mut init = crate::ir::objects::tag(crate::ir::objects::TEXT).to_le_bytes().to_vec();
            init.extend((text.chars().count() as u64).to_le_bytes());
            self.globals[g as usize].size = 16;
            self.globals[g as usize].init = Some(init);
            self.globals[g as usize].constant = true;
            self.texts.insert(text.into(), g);
            g
        });
        self.global_address(global);
    }

    /// Loads the value at the address on the stack.
    fn load(&mut self) {
        let access = self.access();
        self.emit(Instr::Load(Scalar::U64, access));
    }

    fn store(&mut self) {
        let access = self.access();
        self.emit(Instr::Store(Scalar::U64, access));
    }

    fn finish(mut self, files: &[Arc<File>]) -> Unit {
        let functions: Vec<UnitFunction> = std::mem::take(&mut self.functions)
            .into_iter()
            .map(|f| f.unwrap_or_else(|| absent("?".into(), Pos::default())))
            .collect();
        let base = functions.len() as u32;
        let mut symbols: Vec<SymbolRef> = (0..base).map(SymbolRef::OwnFunction).collect();
        symbols.extend((0..self.globals.len() as u32).map(SymbolRef::OwnGlobal));
        let patch = |mut f: UnitFunction| {
            for i in &mut f.code {
                if let Instr::GlobalAddr(g) = i {
                    *g = base + (*g & !GLOBAL);
                }
            }
            f
        };
        let call_back = self.world.by_name.get("__Callback").and_then(|all| all.first());
        let call_back = call_back.and_then(|c| self.world.class(*c).methods.first().copied());
        Unit {
            files: files.iter().map(|f| SourceFile { path: f.path.clone(), builtin: f.builtin }).collect(),
            functions: functions.into_iter().map(patch).collect(),
            globals: self.globals,
            symbols,
            member_names: Default::default(),
            member_sizes: Default::default(),
            constants: self.constants,
            classes: Some(Arc::new(self.tables.finish(call_back))),
            entry_points: self.entry_points,
        }
    }

    fn add_class(&mut self, class: ObjectClass) -> u32 {
        self.tables.add(class)
    }
}

/// A function without code. A call of it gives an unknown.
fn absent(name: Arc<str>, pos: Pos) -> UnitFunction {
    let mut f = Builder::at(pos).finish(name, Linkage::Internal, pos);
    // Code that does not verify is not linked.
    f.code = vec![Instr::Drop];
    f.pos_of = vec![pos];
    f
}
