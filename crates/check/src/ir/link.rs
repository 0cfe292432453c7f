//! Links units: names become indices and addresses, code becomes one array.
//!
//! The rules are those of a C linker, which serve other languages as well. A name has one external
//! definition, and the first one wins over later ones: elsewhere a multiply defined name is a build
//! error, but here the file is still being written. Weak definitions give way. Internal ones are
//! visible in their unit only. An undefined name exists all the same: as a function that returns an
//! unknown, or as a global of unknown content.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{
    Function, Global, GlobalInfo, GlobalShape, Handler, Instr, Linkage, Pos, Program, SourceFile, SymbolRef,
    Unit, UnitFunction, cfg,
};

/// Globals beyond this many bytes are not laid out; their uses see an invalid address.
const IMAGE_LIMIT: u64 = 64 << 20;

/// The number of all files that find no number, because the program has too many. Reports name none
/// of them.
const NO_FILE: u16 = u16::MAX;

/// Links units in the order given; those with models come last.
pub fn link(units: &[&Unit]) -> Program {
    let mut linker = Linker::default();
    linker.declare(units);
    linker.lay_out_globals(units);
    for (u, unit) in units.iter().enumerate() {
        linker.emit(u, unit);
    }
    for (u, unit) in units.iter().enumerate() {
        linker.relocate(u, unit);
    }
    linker.program.globals.sort_by_key(|g| g.address);
    // A unit with classes is linked alone, so its function numbers are those of the program.
    if let [unit] = units {
        linker.program.classes = unit.classes.clone().unwrap_or_default();
        linker.program.entry_points = unit.entry_points.clone();
    }
    linker.program
}

#[derive(Default)]
struct Linker {
    program: Program,
    /// Names with external or weak linkage.
    functions: FxHashMap<Arc<str>, u32>,
    globals: FxHashMap<Arc<str>, GlobalAt>,
    /// For each unit, the program index or place of each of its functions or globals.
    own_functions: Vec<Vec<u32>>,
    own_globals: Vec<Vec<GlobalAt>>,
    /// For each unit, the number that each of its files has in the program.
    file_numbers: Vec<Vec<u16>>,
    /// Each file has one number, however many units include it.
    files: FxHashMap<SourceFile, u16>,
}

#[derive(Clone, Copy)]
struct GlobalAt {
    address: u32,
    thread_local: bool,
}

impl Linker {
    /// Gives every function its index. Defined ones come in unit order, so that code stays in index
    /// order.
    fn declare(&mut self, units: &[&Unit]) {
        let mut chosen: FxHashMap<Arc<str>, (usize, usize)> = FxHashMap::default();
        for weak in [false, true] {
            for (u, unit) in units.iter().enumerate() {
                for (i, f) in unit.functions.iter().enumerate() {
                    if f.linkage != Linkage::Internal && (f.linkage == Linkage::Weak) == weak {
                        chosen.entry(f.name.clone()).or_insert((u, i));
                    }
                }
            }
        }
        for (u, unit) in units.iter().enumerate() {
            let numbers = unit.files.iter().map(|file| self.number_of(file)).collect();
            self.file_numbers.push(numbers);
            let mut own = Vec::with_capacity(unit.functions.len());
            for f in &unit.functions {
                let index = self.program.functions.len() as u32;
                own.push(index);
                self.program.functions.push(function_of(f, &self.file_numbers[u], unit));
            }
            self.own_functions.push(own);
        }
        for (name, (u, i)) in chosen {
            self.functions.insert(name, self.own_functions[u][i]);
        }
    }

    /// The number of a file in the program.
    fn number_of(&mut self, file: &SourceFile) -> u16 {
        if let Some(known) = self.files.get(file) {
            return *known;
        }
        let number = self.program.files.len().min(usize::from(NO_FILE)) as u16;
        if number < NO_FILE {
            self.program.files.push(file.clone());
        }
        self.files.insert(file.clone(), number);
        number
    }

    fn lay_out_globals(&mut self, units: &[&Unit]) {
        for pass in [Pass::Defined, Pass::Tentative, Pass::Declared] {
            for (u, unit) in units.iter().enumerate() {
                for g in unit.globals.iter().filter(|g| g.linkage != Linkage::Internal && pass.takes(g)) {
                    if !self.globals.contains_key(&g.name) {
                        let at = self.place(g, u);
                        self.globals.insert(g.name.clone(), at);
                    }
                }
            }
        }
        for (u, unit) in units.iter().enumerate() {
            let mut own = Vec::with_capacity(unit.globals.len());
            for g in &unit.globals {
                own.push(match g.linkage {
                    Linkage::Internal => self.place(g, u),
                    _ => self.globals[&g.name],
                });
            }
            self.own_globals.push(own);
        }
        self.place_undeclared(units);
    }

    /// Places names that are used but never declared as globals.
    fn place_undeclared(&mut self, units: &[&Unit]) {
        for unit in units {
            for s in &unit.symbols {
                if let SymbolRef::Global(name, size) = s
                    && !self.globals.contains_key(name)
                {
                    let g = Global {
                        name: name.clone(),
                        linkage: Linkage::External,
                        pos: Pos::default(),
                        size: (*size).clamp(8, 1 << 20) as u32,
                        init: None,
                        relocs: Vec::new(),
                        thread_local: false,
                        constant: false,
                        declared_only: true,
                        shape: GlobalShape::default(),
                    };
                    let at = self.place(&g, 0);
                    self.globals.insert(name.clone(), at);
                }
            }
        }
    }

    fn place(&mut self, g: &Global, u: usize) -> GlobalAt {
        let size = u64::from(g.size).max(1).next_multiple_of(8);
        if g.thread_local {
            let address = self.program.tls.len() as u32;
            if u64::from(address) + size > IMAGE_LIMIT {
                return GlobalAt { address: 0, thread_local: true };
            }
            self.program.tls.resize(self.program.tls.len() + size as usize, 0);
            copy_init(&mut self.program.tls[address as usize..], g);
            return GlobalAt { address, thread_local: true };
        }
        let offset = self.program.image.len();
        if offset as u64 + size > IMAGE_LIMIT {
            return GlobalAt { address: 0, thread_local: false };
        }
        self.program.image.resize(offset + size as usize, 0);
        copy_init(&mut self.program.image[offset..], g);
        let address = Program::GLOBALS_BASE + offset as u32;
        if g.declared_only {
            self.program.image_unknown.push((address, g.size));
        } else if !g.constant {
            self.program.image_mutable.push((address, g.size));
        }
        let pos = moved(&self.file_numbers[u], g.pos);
        let shape = g.shape.clone();
        self.program.globals.push(GlobalInfo { name: g.name.clone(), address, size: g.size, pos, shape });
        GlobalAt { address, thread_local: false }
    }

    fn emit(&mut self, u: usize, unit: &Unit) {
        let constant_base = self.program.constants.len() as u32;
        self.program.constants.extend_from_slice(&unit.constants);
        self.program.member_names.extend(unit.member_names.iter().map(|(id, name)| (*id, name.clone())));
        self.program.member_sizes.extend(&unit.member_sizes);
        for (i, f) in unit.functions.iter().enumerate() {
            let entry = self.program.code.len() as u32;
            let switch_base = self.program.switches.len() as u32;
            let well_formed = cfg::verify(f).is_ok();
            if well_formed {
                for instr in &f.code {
                    let instr = self.resolve(u, unit, *instr, entry, constant_base, switch_base);
                    self.program.code.push(instr);
                }
                self.program.members.extend(f.members.iter().map(|(at, id)| (at + entry, *id)));
                let numbers = &self.file_numbers[u];
                self.program.pos_of.extend(f.pos_of.iter().map(|p| moved(numbers, *p)));
                self.program.switches.extend(f.switches.iter().map(|t| {
                    let mut t = t.clone();
                    t.default += entry;
                    t.cases.iter_mut().for_each(|c| c.2 += entry);
                    t
                }));
            }
            let end = self.program.code.len() as u32;
            let out = &mut self.program.functions[self.own_functions[u][i] as usize];
            (out.entry, out.end, out.defined) = (entry, end, well_formed);
            let move_handler = |h: &Handler| Handler {
                start: h.start + entry,
                end: h.end + entry,
                target: h.target + entry,
            };
            out.handlers = f.handlers.iter().map(move_handler).collect();
        }
    }

    fn resolve(
        &mut self,
        u: usize,
        unit: &Unit,
        i: Instr,
        entry: u32,
        constants: u32,
        switches: u32,
    ) -> Instr {
        match i {
            Instr::Jump(t) => Instr::Jump(t + entry),
            Instr::JumpIf(t) => Instr::JumpIf(t + entry),
            Instr::JumpIfNot(t) => Instr::JumpIfNot(t + entry),
            Instr::Const(c) => Instr::Const(c + constants),
            Instr::Switch(t) => Instr::Switch(t + switches),
            Instr::Call(s, n) => Instr::Call(self.function(u, unit, s), n),
            Instr::FuncAddr(s) => Instr::FuncAddr(self.function(u, unit, s)),
            Instr::GlobalAddr(s) | Instr::TlsAddr(s) => {
                let at = self.global(u, unit, s);
                if at.thread_local { Instr::TlsAddr(at.address) } else { Instr::GlobalAddr(at.address) }
            }
            other => other,
        }
    }

    fn function(&mut self, u: usize, unit: &Unit, symbol: u32) -> u32 {
        match &unit.symbols[symbol as usize] {
            SymbolRef::OwnFunction(i) => {
                let f = &unit.functions[*i as usize];
                // Another unit's definition may have replaced this one. Calls follow the name.
                match f.linkage {
                    Linkage::Internal => self.own_functions[u][*i as usize],
                    _ => self.functions[&f.name],
                }
            }
            SymbolRef::Function(name) => match self.functions.get(name) {
                Some(index) => *index,
                None => self.undefined(name.clone()),
            },
            _ => self.undefined("?".into()),
        }
    }

    fn undefined(&mut self, name: Arc<str>) -> u32 {
        let index = self.program.functions.len() as u32;
        self.program.functions.push(Function {
            name: name.clone(),
            pos: Pos::default(),
            end_line: 0,
            entry: u32::MAX,
            end: u32::MAX,
            params: 0,
            param_objects: Vec::new(),
            variadic: true,
            locals: 0,
            frame_size: 0,
            external: true,
            outlined: false,
            load_hook: false,
            handlers: Vec::new(),
            defined: false,
            builtin: false,
        });
        self.functions.insert(name, index);
        index
    }

    fn global(&self, u: usize, unit: &Unit, symbol: u32) -> GlobalAt {
        match &unit.symbols[symbol as usize] {
            SymbolRef::OwnGlobal(i) => self.own_globals[u][*i as usize],
            SymbolRef::Global(name, _) => self.globals[name],
            _ => GlobalAt { address: 0, thread_local: false },
        }
    }

    /// Writes addresses into initial data. Only the definition that won has its relocations
    /// applied.
    fn relocate(&mut self, u: usize, unit: &Unit) {
        for (i, g) in unit.globals.iter().enumerate() {
            let at = self.own_globals[u][i];
            if g.init.is_none() || at.address == 0 && !at.thread_local {
                continue;
            }
            for r in &g.relocs {
                let value = match &unit.symbols[r.symbol as usize] {
                    SymbolRef::OwnFunction(_) | SymbolRef::Function(_) => {
                        Program::function_address(self.function(u, unit, r.symbol))
                    }
                    _ => u64::from(self.global(u, unit, r.symbol).address),
                };
                let value = value.wrapping_add(r.addend as u64).to_le_bytes();
                let (bytes, base) = match at.thread_local {
                    true => (&mut self.program.tls, 0),
                    false => (&mut self.program.image, Program::GLOBALS_BASE),
                };
                let start = (at.address - base + r.offset) as usize;
                if let Some(to) = bytes.get_mut(start..start + 8) {
                    to.copy_from_slice(&value);
                }
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Pass {
    Defined,
    Tentative,
    Declared,
}

impl Pass {
    fn takes(self, g: &Global) -> bool {
        match self {
            Self::Defined => g.init.is_some(),
            Self::Tentative => g.init.is_none() && !g.declared_only,
            Self::Declared => g.declared_only,
        }
    }
}

fn copy_init(to: &mut [u8], g: &Global) {
    if let Some(init) = &g.init {
        let n = init.len().min(g.size as usize).min(to.len());
        to[..n].copy_from_slice(&init[..n]);
    }
}

/// A place of a unit in the program.
fn moved(numbers: &[u16], pos: Pos) -> Pos {
    Pos { file: numbers.get(usize::from(pos.file)).copied().unwrap_or(NO_FILE), ..pos }
}

fn function_of(f: &UnitFunction, numbers: &[u16], unit: &Unit) -> Function {
    let builtin = unit.files.get(usize::from(f.pos.file)).is_some_and(|file| file.builtin);
    Function {
        name: f.name.clone(),
        pos: moved(numbers, f.pos),
        end_line: f.end_line,
        entry: 0,
        end: 0,
        params: f.params,
        param_objects: f.param_objects.clone(),
        variadic: f.variadic,
        locals: f.locals,
        frame_size: f.frame_size,
        external: f.linkage != Linkage::Internal,
        outlined: f.outlined,
        load_hook: f.load_hook,
        handlers: Vec::new(),
        defined: true,
        builtin,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Reloc, build::Builder};
    use super::*;

    fn function(name: &str, linkage: Linkage, value: i32) -> UnitFunction {
        let mut b = Builder::default();
        b.emit(Instr::Int(value));
        b.emit(Instr::Return);
        b.finish(name.into(), linkage, Pos { file: 0, line: 1, col: 1 })
    }

    fn unit(functions: Vec<UnitFunction>, symbols: Vec<SymbolRef>) -> Unit {
        let files = vec![SourceFile { path: "a.c".into(), builtin: false }];
        Unit { files, functions, symbols, ..Unit::default() }
    }

    fn caller(symbol: u32) -> UnitFunction {
        let mut b = Builder::default();
        b.emit(Instr::Call(symbol, 0));
        b.emit(Instr::Return);
        b.finish("main".into(), Linkage::External, Pos::default())
    }

    fn called(p: &Program) -> &Function {
        let main = p.functions.iter().find(|f| &*f.name == "main").expect("main");
        let Instr::Call(f, _) = p.code[main.entry as usize] else { panic!("no call") };
        &p.functions[f as usize]
    }

    #[test]
    fn a_strong_definition_wins_over_a_weak_one() {
        let a = unit(vec![caller(0)], vec![SymbolRef::Function("f".into())]);
        let weak = unit(vec![function("f", Linkage::Weak, 1)], vec![]);
        let strong = unit(vec![function("f", Linkage::External, 2)], vec![]);
        for order in [[&a, &weak, &strong], [&strong, &weak, &a]] {
            let p = link(&order);
            assert_eq!(p.code[called(&p).entry as usize], Instr::Int(2));
        }
    }

    #[test]
    fn internal_functions_are_seen_in_their_unit_only() {
        let a = unit(vec![caller(0)], vec![SymbolRef::Function("f".into())]);
        let b = unit(vec![function("f", Linkage::Internal, 1)], vec![]);
        let p = link(&[&a, &b]);
        assert!(!called(&p).defined);
    }

    #[test]
    fn a_malformed_function_is_not_linked_in() {
        let mut bad = function("f", Linkage::External, 1);
        bad.code[0] = Instr::Drop;
        let a = unit(vec![caller(0), bad], vec![SymbolRef::OwnFunction(1)]);
        assert!(!called(&link(&[&a])).defined);
    }

    #[test]
    fn addresses_in_initial_data_are_filled_in() {
        let mut a = unit(vec![function("f", Linkage::External, 1)], vec![SymbolRef::OwnFunction(0)]);
        a.globals.push(Global {
            name: "table".into(),
            linkage: Linkage::External,
            pos: Pos::default(),
            size: 16,
            init: Some(vec![0; 16]),
            relocs: vec![Reloc { offset: 8, symbol: 0, addend: 0 }],
            thread_local: false,
            constant: false,
            declared_only: false,
            shape: GlobalShape::default(),
        });
        let p = link(&[&a]);
        let bytes: [u8; 8] = p.image[8..16].try_into().expect("eight bytes");
        assert_eq!(p.function_at(u64::from_le_bytes(bytes)), Some(0));
        assert_eq!(p.function_of(p.functions[0].entry), 0);
    }
    #[test]
    fn a_file_has_one_number_and_too_many_have_none() {
        let header = || SourceFile { path: "shared.h".into(), builtin: false };
        let of_unit = |i: u32| {
            let mut f = function("f", Linkage::Internal, 1);
            f.pos.file = 1;
            f.pos_of.iter_mut().for_each(|p| p.file = 1);
            let own = SourceFile { path: format!("{i}.c").into(), builtin: false };
            // Of each three units the last has its function in the header.
            let files = if i % 3 == 2 { vec![own, header()] } else { vec![header(), own] };
            Unit { files, functions: vec![f], ..Unit::default() }
        };
        let units: Vec<Unit> = (0..70_000).map(of_unit).collect();
        let p = link(&units.iter().collect::<Vec<_>>());
        let name = |i: usize| {
            let (f, code) = (&p.functions[i], p.pos_of[p.functions[i].entry as usize]);
            assert_eq!(f.pos.file, code.file);
            p.files.get(usize::from(code.file)).map(|file| file.path.to_string())
        };
        assert_eq!(name(0).as_deref(), Some("0.c"));
        assert_eq!(name(40_000).as_deref(), Some("40000.c"));
        assert_eq!(name(69_998).as_deref(), Some("shared.h"));
        assert_eq!(name(69_997), None);
        assert_eq!(p.files.len(), usize::from(NO_FILE));
    }
}
