//! Calls.

use std::rc::Rc;

use super::Lowerer;
use super::access::spine_is_conditional;
use super::scope::Named;
use super::target::AssignmentTarget;
use crate::csharp::syntax::Syntax;
use crate::csharp::types::Ty;
use crate::csharp::world::{Member, Passing};
use crate::ir::{Instr, SyncOp};

/// The arguments of a call, on the stack.
pub struct Arguments<'a> {
    pub types: Vec<Ty>,
    pub names: Vec<Option<&'a str>>,
}

impl<'a> Lowerer<'_, 'a> {
    pub fn invocation(&mut self, s: Syntax<'a>) -> Ty {
        let (Some(f), args) = (s.field("function"), arguments_of(s)) else {
            self.emit(Instr::Unknown);
            return Ty::Unknown;
        };
        match f.kind() {
            "identifier" | "generic_name" => self.call_simple(f, &args, s),
            "member_access_expression" => self.call_member(f, &args, s),
            "conditional_access_expression" => self.call_conditional(f, &args, s),
            _ => {
                let ty = self.expression(f);
                self.call_delegate(&ty, &args, s)
            }
        }
    }

    /// Evaluates arguments onto the stack. `expected` are the types of the parameters, as far as
    /// known.
    pub fn arguments(&mut self, args: &[Syntax<'a>], expected: &[Ty]) -> Arguments<'a> {
        let mut out = Arguments { types: Vec::new(), names: Vec::new() };
        for (i, a) in args.iter().enumerate() {
            let by_address = a.tokens().iter().any(|t| matches!(*t, "ref" | "out" | "in"));
            let is_out = a.tokens().contains(&"out");
            out.names.push(a.field("name").map(Syntax::str));
            let Some(e) = a.last() else {
                self.emit(Instr::Unknown);
                out.types.push(Ty::Unknown);
                continue;
            };
            if by_address {
                let (target, mut ty) = self.target(e);
                if let (AssignmentTarget::Boxed(name), Ty::Unknown, Some(want)) =
                    (&target, &ty, expected.get(i))
                {
                    ty = want.clone();
                    self.retype(name, want.clone());
                }
                if is_out {
                    // A value that the callee does not set is unknown.
                    self.emit(Instr::Unknown);
                    self.store_target_quietly(&target, e);
                }
                self.push_address(&target, e);
                out.types.push(ty);
                continue;
            }
            let ty = match expected.get(i) {
                Some(want) if self.is_for_handlers(want) => {
                    if let Ty::Func(params, _) = self.expression(e) {
                        self.wrap_handler(&params, e);
                    }
                    want.clone()
                }
                Some(want) => self.expression_as(e, want),
                None => self.expression(e),
            };
            out.types.push(ty);
        }
        out
    }

    fn retype(&mut self, name: &str, ty: Ty) {
        for scope in self.context().scopes.iter_mut().rev() {
            if let Some(Named::Var(v)) = scope.get_mut(name) {
                v.ty = ty;
                return;
            }
        }
    }

    /// Stores without recording the access: the callee's own store counts.
    fn store_target_quietly(&mut self, t: &AssignmentTarget<'a>, s: Syntax<'a>) {
        let hidden = std::mem::replace(&mut self.context().hidden, true);
        match t {
            AssignmentTarget::Local(_) | AssignmentTarget::Boxed(_) | AssignmentTarget::Address(_) => {
                self.store_target(t, s)
            }
            _ => self.emit(Instr::Drop),
        }
        self.context().hidden = hidden;
    }

    /// Arranges the arguments on the stack in the order of a method's parameters.
    fn arrange(&mut self, m: u32, args: &Arguments<'a>) {
        let world = self.world;
        let params = &world.methods[m as usize].params;
        let n = args.types.len();
        let plain = n == params.len() && args.names.iter().all(Option::is_none);
        let packs = params.last().is_some_and(|p| p.mode == Passing::Rest)
            && !(plain && matches!(args.types[n - 1], Ty::Array(_) | Ty::Null | Ty::Unknown | Ty::Param(_)));
        if plain && !packs {
            return;
        }
        let slots: Vec<u16> = (0..n).map(|_| self.temporary()).collect();
        slots.iter().rev().for_each(|s| self.emit(Instr::Set(*s)));
        let mut next = 0;
        for (i, p) in params.iter().enumerate() {
            if p.mode == Passing::Rest && packs {
                self.pack(&slots[next.min(n)..]);
                next = n;
                continue;
            }
            let named = args.names.iter().position(|a| *a == Some(p.name));
            let positional = (next < n && args.names[next].is_none()).then_some(next);
            match named.or(positional) {
                Some(at) => {
                    if named.is_none() {
                        next += 1;
                    }
                    self.emit(Instr::Get(slots[at]));
                }
                None => match p.default {
                    Some(e) => {
                        let ty = params[i].ty.clone();
                        self.expression_as(e, &ty);
                    }
                    None => self.emit(Instr::Int(0)),
                },
            }
        }
    }

    /// Pushes an array of the values in locals.
    fn pack(&mut self, slots: &[u16]) {
        let array = self.temporary();
        self.int(slots.len() as i64);
        self.emit(Instr::NewArray);
        self.emit(Instr::Set(array));
        for (i, s) in slots.iter().enumerate() {
            self.emit(Instr::Get(array));
            self.int(i as i64);
            self.emit(Instr::ElementAddr);
            self.emit(Instr::Get(*s));
            self.emit(Instr::Store(crate::ir::Scalar::U64, crate::ir::AccessClass::Hidden));
        }
        self.emit(Instr::Get(array));
    }

    /// The result type of a method, with its inferred type parameters.
    fn result(&self, m: u32, receiver: &Ty, args: &Arguments<'a>) -> Ty {
        let method = &self.world.methods[m as usize];
        let mut with = vec![Ty::Unknown; method.type_params.len()];
        let (class_params, class_args): (&[Rc<str>], &[Ty]) = match receiver {
            Ty::Class(c, a) => (&self.world.class(*c).type_params, a),
            _ => (&[], &[]),
        };
        for (p, a) in method.params.iter().zip(&args.types) {
            p.ty.learn(a, &method.type_params, &mut with);
        }
        method.ret.substitute(&method.type_params, &with).substitute(class_params, class_args)
    }

    /// Evaluates the arguments of a constructor whose object is on the stack. Returns the chosen
    /// constructor.
    pub fn call_with_this(&mut self, found: &[u32], args: &[Syntax<'a>]) -> Option<u32> {
        let expected = self.expected(found, &Ty::Unknown, args);
        let evaluated = self.arguments(args, &expected);
        let m = self.best(found, &evaluated.types)?;
        self.arrange(m, &evaluated);
        Some(m)
    }

    fn call_simple(&mut self, f: Syntax<'a>, args: &[Syntax<'a>], s: Syntax<'a>) -> Ty {
        let name = if f.kind() == "generic_name" { f.first().map_or("", Syntax::str) } else { f.str() };
        if name == "nameof" {
            self.emit(Instr::SomeObject);
            return Ty::Text;
        }
        match self.find(name) {
            Some((_, Named::Function(local))) => {
                self.local_function_delegate(&local);
                let ty = Ty::Func(Rc::from([]), Rc::new(local.ret.clone()));
                return self.call_delegate(&ty, args, s);
            }
            Some((_, Named::Var(_))) => {
                let ty = self.identifier(f);
                return self.call_delegate(&ty, args, s);
            }
            None => {}
        }
        match self.own_member(name) {
            Some((owner, Member::Method, is_outer)) => {
                let class = if is_outer { owner } else { self.context().class.unwrap_or(owner) };
                let methods = self.applicable(&self.world.methods_named(class, name), args.len());
                if methods.is_empty() {
                    return self.call_unknown(args, s);
                }
                let all_static = methods.iter().all(|m| self.world.methods[*m as usize].is_static);
                if all_static {
                    return self.call_static(&methods, args, s);
                }
                if is_outer {
                    self.emit(Instr::SomeObject);
                } else {
                    self.push_this();
                }
                let this = if is_outer { Ty::Unknown } else { self.this_type() };
                self.call_instance(&methods, name, &this, args, s)
            }
            Some((_, Member::Field(_) | Member::Property(_), _)) => {
                let ty = self.identifier(f);
                self.call_delegate(&ty, args, s)
            }
            _ => self.call_unknown(args, s),
        }
    }

    fn call_member(&mut self, f: Syntax<'a>, args: &[Syntax<'a>], s: Syntax<'a>) -> Ty {
        let (Some(object), Some(name)) = (f.field("expression"), f.field("name")) else {
            return self.call_unknown(args, s);
        };
        let name =
            if name.kind() == "generic_name" { name.first().map_or("", Syntax::str) } else { name.str() };
        if object.kind() == "base" {
            return self.call_base(name, args, s);
        }
        if let Some(class) = self.type_expression(object) {
            return match class {
                Some(c) if self.world.class(c).name == "__raddle" => self.machine_call(name, args, s),
                Some(c) => self.call_of_type(c, name, args, s),
                None => self.call_unknown(args, s),
            };
        }
        let ty = self.expression(object);
        if self.world.is_value(&ty) && self.is_readonly_field(object) {
            // The method gets a copy, so that it cannot change the field.
            self.copy_struct(ty.class().unwrap_or_default());
        }
        if spine_is_conditional(object) {
            return self.unless_null(|l| l.call_on_value(&ty, name, args, s));
        }
        self.call_on_value(&ty, name, args, s)
    }

    /// `a?.F(x)`: evaluates the object once; null makes the whole call null.
    fn call_conditional(&mut self, f: Syntax<'a>, args: &[Syntax<'a>], s: Syntax<'a>) -> Ty {
        let Some(object) = f.field("condition") else { return self.call_unknown(args, s) };
        let ty = self.expression(object);
        let binding = f.last();
        self.unless_null(|l| match binding {
            Some(b) if b.kind() == "member_binding_expression" => {
                let name = b.field("name");
                let simple = name.map(|n| {
                    if n.kind() == "generic_name" { n.first().map_or("", Syntax::str) } else { n.str() }
                });
                l.call_on_value(&ty, simple.unwrap_or(""), args, s)
            }
            _ => {
                l.emit(Instr::Drop);
                l.call_unknown(args, s)
            }
        })
    }

    /// Continues with the object on the stack unless it is null.
    pub fn unless_null(&mut self, f: impl FnOnce(&mut Self) -> Ty) -> Ty {
        let slot = self.temporary();
        let (null, end) = (self.builder().label(), self.builder().label());
        self.emit(Instr::Tee(slot));
        self.builder().jump_if_not(null);
        self.emit(Instr::Get(slot));
        let ty = f(self);
        self.builder().jump(end);
        self.builder().place(null);
        self.emit(Instr::Int(0));
        self.builder().place(end);
        ty
    }

    /// Calls a static method of a type, or a delegate in a static field.
    fn call_of_type(&mut self, class: u32, name: &'a str, args: &[Syntax<'a>], s: Syntax<'a>) -> Ty {
        let methods = self.applicable(&self.world.methods_named(class, name), args.len());
        if !methods.is_empty() {
            self.class_init(class);
            return self.call_static(&methods, args, s);
        }
        if let (Some((_, Member::Field(_) | Member::Property(_))), Some(f)) =
            (self.world.member(class, name), s.field("function"))
        {
            let (target, ty) = self.target(f);
            self.load_target(&target, f);
            return self.call_delegate(&ty, args, s);
        }
        self.call_unknown(args, s)
    }

    fn call_static(&mut self, methods: &[u32], args: &[Syntax<'a>], s: Syntax<'a>) -> Ty {
        let expected = self.expected(methods, &Ty::Unknown, args);
        let evaluated = self.arguments(args, &expected);
        let Some(m) = self.best(methods, &evaluated.types) else {
            self.at(s);
            self.emit(Instr::CallNothing(args.len() as u8));
            return Ty::Unknown;
        };
        self.arrange(m, &evaluated);
        let n = self.world.methods[m as usize].params.len();
        self.class_init(self.world.methods[m as usize].class);
        self.at(s);
        self.emit(Instr::Call(m, u8::try_from(n).unwrap_or(u8::MAX)));
        self.result(m, &Ty::Unknown, &evaluated)
    }

    /// Calls a method of the object on the stack.
    pub fn call_on_value(&mut self, ty: &Ty, name: &'a str, args: &[Syntax<'a>], s: Syntax<'a>) -> Ty {
        if let Ty::Func(_, ret) = ty
            && matches!(name, "Invoke" | "DynamicInvoke")
        {
            let ty = Ty::Func(Rc::from([]), ret.clone());
            return self.call_delegate(&ty, args, s);
        }
        if name == "Invoke" && !ty.is_known() {
            return self.call_delegate(&Ty::Unknown, args, s);
        }
        let class = match ty {
            Ty::Class(c, _) => Some(*c),
            Ty::Array(_) => Some(crate::ir::objects::ARRAY),
            Ty::Text => Some(crate::ir::objects::TEXT),
            _ => None,
        };
        let methods = class.map(|c| self.world.methods_named(c, name)).unwrap_or_default();
        let methods = self.applicable(&methods, args.len());
        if !methods.is_empty() {
            return self.call_instance(&methods, name, ty, args, s);
        }
        if let Some((owner, member @ (Member::Field(_) | Member::Property(_)))) =
            class.and_then(|c| self.world.member(c, name))
        {
            let hider = self.hider(class, name);
            self.get_member(name, hider, s);
            let ty = self.type_of_member(owner, member);
            return self.call_delegate(&ty, args, s);
        }
        if let Some(found) = self.extension(ty, name, args.len()) {
            return self.call_extension(&found, ty, args, s);
        }
        if ty.is_number() {
            let evaluated = self.arguments(args, &[]);
            self.at(s);
            self.emit(Instr::CallNothing(evaluated.types.len() as u8 + 1));
            return Ty::Unknown;
        }
        let evaluated = self.arguments(args, &[]);
        self.at(s);
        let site = self.tables.site(name, evaluated.types.len(), None);
        self.emit(Instr::CallMethod(site));
        Ty::Unknown
    }

    fn call_instance(
        &mut self,
        methods: &[u32],
        name: &str,
        this: &Ty,
        args: &[Syntax<'a>],
        s: Syntax<'a>,
    ) -> Ty {
        let expected = self.expected(methods, this, args);
        let evaluated = self.arguments(args, &expected);
        let Some(m) = self.best(methods, &evaluated.types) else {
            self.at(s);
            self.emit(Instr::CallNothing(args.len() as u8 + 1));
            return Ty::Unknown;
        };
        self.arrange(m, &evaluated);
        let method = &self.world.methods[m as usize];
        let n = method.params.len();
        if method.is_static {
            // Found by name only; the object is not needed.
            self.at(s);
            self.emit(Instr::Call(m, n as u8));
            self.emit(Instr::Swap);
            self.emit(Instr::Drop);
        } else {
            let site = self.tables.site(name, n, Some(method));
            self.at(s);
            self.emit(Instr::CallMethod(site));
        }
        self.result(m, this, &evaluated)
    }

    /// Calls `base.F()`, without looking at the object's class.
    fn call_base(&mut self, name: &str, args: &[Syntax<'a>], s: Syntax<'a>) -> Ty {
        let base = self.context().class.and_then(|c| self.world.class(c).base);
        let methods = base.map(|b| self.world.methods_named(b, name)).unwrap_or_default();
        let methods = self.applicable(&methods, args.len());
        if methods.is_empty() {
            return self.call_unknown(args, s);
        }
        self.push_this();
        let expected = self.expected(&methods, &Ty::Unknown, args);
        let evaluated = self.arguments(args, &expected);
        let Some(m) = self.best(&methods, &evaluated.types) else { return Ty::Unknown };
        self.arrange(m, &evaluated);
        let n = self.world.methods[m as usize].params.len() + 1;
        self.at(s);
        self.emit(Instr::Call(m, n as u8));
        self.result(m, &Ty::Unknown, &evaluated)
    }

    /// Extension methods of a name that may apply to an object of some type.
    fn extension(&self, ty: &Ty, name: &str, n: usize) -> Option<Vec<u32>> {
        let all = self.world.extensions.get(name)?;
        let found: Vec<u32> = all
            .iter()
            .copied()
            .filter(|m| {
                let m = &self.world.methods[*m as usize];
                m.takes(n + 1) && m.params.first().is_some_and(|p| self.extends(&p.ty, ty))
            })
            .collect();
        let is_sure = |m: &u32| {
            let first = self.world.methods[*m as usize].params.first();
            first.is_some_and(|p| self.surely_extends(&p.ty, ty))
        };
        let sure: Vec<u32> = found.iter().copied().filter(is_sure).collect();
        let found = if sure.is_empty() { found } else { sure };
        (!found.is_empty()).then_some(found)
    }

    /// Whether a type certainly is what an extension method extends.
    fn surely_extends(&self, param: &Ty, ty: &Ty) -> bool {
        match (param, ty) {
            (Ty::Class(c, _), Ty::Class(d, _)) => self.world.ancestry(*d).contains(c),
            (Ty::Extern(name), Ty::Class(d, _)) => {
                let mut bases =
                    self.world.ancestry(*d).iter().flat_map(|c| self.world.class(*c).bases.iter());
                bases.any(|b| matches!(b, Ty::Extern(base) if base == name))
            }
            (p, t) => p == t && (t.is_known() || matches!(t, Ty::Extern(_))),
        }
    }

    fn extends(&self, param: &Ty, ty: &Ty) -> bool {
        match (param, ty) {
            (Ty::Param(_) | Ty::Object | Ty::Unknown, _) => true,
            (Ty::Class(c, _), Ty::Class(d, _)) => {
                // The interfaces of a type outside of the program are unknown.
                self.world.ancestry(*d).contains(c)
                    || self.world.class(*c).builtin && self.world.class(*d).builtin
                    || self.world.class(*d).bases.iter().any(|b| matches!(b, Ty::Extern(_)))
            }
            (Ty::Class(c, _), Ty::Array(_) | Ty::Unknown | Ty::Extern(_)) => self.world.class(*c).builtin,
            (Ty::Class(c, _), Ty::Text) => self.world.class(*c).builtin,
            (Ty::Extern(a), Ty::Extern(b)) => a == b,
            (Ty::Extern(_), Ty::Class(..)) => self.surely_extends(param, ty),
            (Ty::Array(_), Ty::Array(_)) | (Ty::Func(..), Ty::Func(..)) => true,
            (p, t) => p == t,
        }
    }

    /// Calls an extension method with the object on the stack as its first argument.
    fn call_extension(&mut self, found: &[u32], ty: &Ty, args: &[Syntax<'a>], s: Syntax<'a>) -> Ty {
        let expected = self.expected_after_this(found, ty, args);
        let mut evaluated = self.arguments(args, &expected);
        evaluated.types.insert(0, ty.clone());
        evaluated.names.insert(0, None);
        let Some(m) = self.best(found, &evaluated.types) else { return Ty::Unknown };
        self.arrange(m, &evaluated);
        self.class_init(self.world.methods[m as usize].class);
        let n = self.world.methods[m as usize].params.len();
        self.at(s);
        self.emit(Instr::Call(m, n as u8));
        self.result(m, &Ty::Unknown, &evaluated)
    }

    /// Calls the delegate on the stack.
    pub fn call_delegate(&mut self, ty: &Ty, args: &[Syntax<'a>], s: Syntax<'a>) -> Ty {
        let (expected, ret) = match ty {
            Ty::Func(params, ret) => (params.to_vec(), (**ret).clone()),
            _ => (Vec::new(), Ty::Unknown),
        };
        let evaluated = self.arguments(args, &expected);
        self.at(s);
        self.emit(Instr::CallDelegate(u8::try_from(evaluated.types.len()).unwrap_or(u8::MAX)));
        ret
    }

    /// Calls something unknown. Its arguments are still evaluated.
    pub fn call_unknown(&mut self, args: &[Syntax<'a>], s: Syntax<'a>) -> Ty {
        let evaluated = self.arguments(args, &[]);
        self.at(s);
        self.emit(Instr::CallNothing(u8::try_from(evaluated.types.len()).unwrap_or(u8::MAX)));
        Ty::Unknown
    }

    /// Emits an instruction of the machine, which only the models use.
    fn machine_call(&mut self, name: &str, args: &[Syntax<'a>], s: Syntax<'a>) -> Ty {
        let evaluated = self.arguments(args, &[]);
        self.at(s);
        let instr = match name {
            "Reads" => {
                self.emit(Instr::Touch(false));
                Instr::Int(0)
            }
            "Writes" => {
                self.emit(Instr::Touch(true));
                Instr::Int(0)
            }
            "Until" => Instr::Await(u16::MAX),
            "UntilTimed" => Instr::AwaitTimed,
            "Collect" => Instr::Collect,
            "Unknown" => Instr::Unknown,
            "Something" => Instr::SomeObject,
            "IsObject" => Instr::IsInstance(u32::MAX),
            "IsKnown" => Instr::Intrinsic(crate::ir::Intrinsic::IsKnown),
            "IsAlone" => Instr::Intrinsic(crate::ir::Intrinsic::IsAlone),
            "Holds" => Instr::Intrinsic(crate::ir::Intrinsic::Holds),
            "Choose" => Instr::Intrinsic(crate::ir::Intrinsic::Choose),
            "Function" | "Bound" => {
                self.emit(Instr::Field(if name == "Function" { 8 } else { 16 }));
                Instr::Load(crate::ir::Scalar::U64, crate::ir::AccessClass::Hidden)
            }
            "Suppress" => {
                self.emit(Instr::SuppressFinalizer);
                Instr::Int(0)
            }
            "ArrayLength" => Instr::ArrayLength,
            "Fence" => {
                self.emit(Instr::Fence(crate::ir::MemoryOrdering::SeqCst));
                Instr::Int(0)
            }
            "Swap" => atomic(crate::ir::AtomicInstr::Swap),
            "Add" => atomic(crate::ir::AtomicInstr::Rmw(crate::ir::Bin::Add)),
            "And" => atomic(crate::ir::AtomicInstr::Rmw(crate::ir::Bin::And)),
            "Or" => atomic(crate::ir::AtomicInstr::Rmw(crate::ir::Bin::Or)),
            "CompareSwap" => atomic(crate::ir::AtomicInstr::CompareSwap),
            "AtomicLoad" => atomic(crate::ir::AtomicInstr::Load),
            "AtomicStore" => {
                self.emit(atomic(crate::ir::AtomicInstr::Store));
                Instr::Int(0)
            }
            _ => match sync_op(name) {
                Some(op) => Instr::Sync(op),
                None => Instr::CallNothing(evaluated.types.len() as u8),
            },
        };
        self.emit(instr);
        Ty::Unknown
    }
}

fn atomic(op: crate::ir::AtomicInstr) -> Instr {
    Instr::Atomic(op, crate::ir::Scalar::I64, crate::ir::MemoryOrdering::SeqCst)
}

/// Operations on threads and synchronisation objects that the models name.
fn sync_op(name: &str) -> Option<SyncOp> {
    Some(match name {
        "Start" => SyncOp::Start,
        "Join" => SyncOp::Join,
        "TryJoin" => SyncOp::TryJoin,
        "Exit" => SyncOp::ExitProcess,
        "Current" => SyncOp::Current,
        "LockStatic" => SyncOp::LockStatic,
        "Lock" => SyncOp::Lock,
        "TryLock" => SyncOp::TryLock,
        "TimedLock" => SyncOp::TimedLock,
        "Unlock" => SyncOp::Unlock,
        "ReadLock" => SyncOp::ReadLock,
        "TryReadLock" => SyncOp::TryReadLock,
        "WriteLock" => SyncOp::WriteLock,
        "TryWriteLock" => SyncOp::TryWriteLock,
        "RwUnlock" => SyncOp::RwUnlock,
        "Wait" => SyncOp::Wait,
        "TimedWait" => SyncOp::TimedWait,
        "NotifyOne" => SyncOp::NotifyOne,
        "NotifyAll" => SyncOp::NotifyAll,
        "SemInit" => SyncOp::SemInit,
        "SemWait" => SyncOp::SemWait,
        "SemTryWait" => SyncOp::SemTryWait,
        "SemTimedWait" => SyncOp::SemTimedWait,
        "SemPost" => SyncOp::SemPost,
        "SemValue" => SyncOp::SemValue,
        "BarrierInit" => SyncOp::BarrierInit,
        "BarrierWait" => SyncOp::BarrierWait,
        "Yield" => SyncOp::Yield,
        "Sleep" => SyncOp::Sleep,
        "KeyCreate" => SyncOp::KeyCreate,
        "KeyGet" => SyncOp::KeyGet,
        "KeySet" => SyncOp::KeySet,
        "TimerStart" => SyncOp::TimerStart,
        "TimerStop" => SyncOp::TimerStop,
        "TimerEnd" => SyncOp::TimerEnd,
        "Publish" => SyncOp::Publish,
        "Learn" => SyncOp::Learn,
        _ => return None,
    })
}

/// The arguments of an invocation or creation.
pub fn arguments_of<'a>(s: Syntax<'a>) -> Vec<Syntax<'a>> {
    let list = s.field("arguments").or_else(|| s.child("argument_list"));
    list.map(|l| l.children().into_iter().filter(|c| c.kind() == "argument").collect()).unwrap_or_default()
}
