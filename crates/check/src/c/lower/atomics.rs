//! C11 atomics and the GCC `__atomic` and `__sync` builtins: one table, generic in the type of the
//! first argument.

use super::Lower;
use crate::c::ast::Expr;
use crate::c::types::{CType, Types};
use crate::ir::{AccessClass, AtomicInstr, Bin, Instr, MemoryOrdering, Pos, Scalar};

/// The meaning of a name. `Option<usize>`: which argument is the memory order; `None`: sequentially
/// consistent.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// `T load(p)`
    Load(Option<usize>),
    /// `void load(p, T *out)`: the generic form of GCC.
    LoadTo(Option<usize>),
    /// `void store(p, v)`
    Store(Option<usize>),
    /// `void store(p, T *v)`
    StoreFrom(Option<usize>),
    /// `T exchange(p, v)`
    Swap(Option<usize>),
    /// `void exchange(p, T *v, T *out)`
    SwapTo(Option<usize>),
    /// `bool cas(p, T *expected, desired)`; the flag: desired is a pointer.
    Cas(Option<usize>, bool),
    /// `bool cas(p, expected, desired)`, the old `__sync` form; the flag: the old value is the
    /// result.
    OldCas(bool),
    /// The result is the old value.
    Fetch(Bin, Option<usize>),
    /// The result is the new value.
    Then(Bin, Option<usize>),
    /// `~(old & v)`; the flag: the new value is the result.
    Nand(bool, Option<usize>),
    /// `init(p, v)`: not atomic.
    Init,
    /// `bool test_and_set(p)`
    TestAndSet(Option<usize>),
    /// `void clear(p)`
    Clear(Option<usize>),
    Fence,
    /// `__sync_synchronize()`
    FullFence,
    /// `__sync_lock_test_and_set`: acquires.
    SyncSwap,
    /// `__sync_lock_release`: stores zero and releases.
    SyncRelease,
}

use Form::{
    Cas, Clear, Fence, Fetch, FullFence, Init, Load, LoadTo, Nand, OldCas, Store, StoreFrom, Swap, SwapTo,
    SyncRelease, SyncSwap, TestAndSet, Then,
};

const TABLE: &[(&str, Form)] = &[
    ("atomic_init", Init),
    ("atomic_load", Load(None)),
    ("atomic_load_explicit", Load(Some(1))),
    ("atomic_store", Store(None)),
    ("atomic_store_explicit", Store(Some(2))),
    ("atomic_exchange", Swap(None)),
    ("atomic_exchange_explicit", Swap(Some(2))),
    ("atomic_compare_exchange_strong", Cas(None, false)),
    ("atomic_compare_exchange_weak", Cas(None, false)),
    ("atomic_compare_exchange_strong_explicit", Cas(Some(3), false)),
    ("atomic_compare_exchange_weak_explicit", Cas(Some(3), false)),
    ("atomic_fetch_add", Fetch(Bin::Add, None)),
    ("atomic_fetch_sub", Fetch(Bin::Sub, None)),
    ("atomic_fetch_or", Fetch(Bin::Or, None)),
    ("atomic_fetch_xor", Fetch(Bin::Xor, None)),
    ("atomic_fetch_and", Fetch(Bin::And, None)),
    ("atomic_fetch_add_explicit", Fetch(Bin::Add, Some(2))),
    ("atomic_fetch_sub_explicit", Fetch(Bin::Sub, Some(2))),
    ("atomic_fetch_or_explicit", Fetch(Bin::Or, Some(2))),
    ("atomic_fetch_xor_explicit", Fetch(Bin::Xor, Some(2))),
    ("atomic_fetch_and_explicit", Fetch(Bin::And, Some(2))),
    ("atomic_flag_test_and_set", TestAndSet(None)),
    ("atomic_flag_test_and_set_explicit", TestAndSet(Some(1))),
    ("atomic_flag_clear", Clear(None)),
    ("atomic_flag_clear_explicit", Clear(Some(1))),
    ("atomic_thread_fence", Fence),
    ("__atomic_load_n", Load(Some(1))),
    ("__atomic_load", LoadTo(Some(2))),
    ("__atomic_store_n", Store(Some(2))),
    ("__atomic_store", StoreFrom(Some(2))),
    ("__atomic_exchange_n", Swap(Some(2))),
    ("__atomic_exchange", SwapTo(Some(3))),
    ("__atomic_compare_exchange_n", Cas(Some(4), false)),
    ("__atomic_compare_exchange", Cas(Some(4), true)),
    ("__atomic_fetch_add", Fetch(Bin::Add, Some(2))),
    ("__atomic_fetch_sub", Fetch(Bin::Sub, Some(2))),
    ("__atomic_fetch_and", Fetch(Bin::And, Some(2))),
    ("__atomic_fetch_or", Fetch(Bin::Or, Some(2))),
    ("__atomic_fetch_xor", Fetch(Bin::Xor, Some(2))),
    ("__atomic_fetch_nand", Nand(false, Some(2))),
    ("__atomic_add_fetch", Then(Bin::Add, Some(2))),
    ("__atomic_sub_fetch", Then(Bin::Sub, Some(2))),
    ("__atomic_and_fetch", Then(Bin::And, Some(2))),
    ("__atomic_or_fetch", Then(Bin::Or, Some(2))),
    ("__atomic_xor_fetch", Then(Bin::Xor, Some(2))),
    ("__atomic_nand_fetch", Nand(true, Some(2))),
    ("__atomic_test_and_set", TestAndSet(Some(1))),
    ("__atomic_clear", Clear(Some(1))),
    ("__atomic_thread_fence", Fence),
    ("__sync_fetch_and_add", Fetch(Bin::Add, None)),
    ("__sync_fetch_and_sub", Fetch(Bin::Sub, None)),
    ("__sync_fetch_and_or", Fetch(Bin::Or, None)),
    ("__sync_fetch_and_and", Fetch(Bin::And, None)),
    ("__sync_fetch_and_xor", Fetch(Bin::Xor, None)),
    ("__sync_fetch_and_nand", Nand(false, None)),
    ("__sync_add_and_fetch", Then(Bin::Add, None)),
    ("__sync_sub_and_fetch", Then(Bin::Sub, None)),
    ("__sync_or_and_fetch", Then(Bin::Or, None)),
    ("__sync_and_and_fetch", Then(Bin::And, None)),
    ("__sync_xor_and_fetch", Then(Bin::Xor, None)),
    ("__sync_nand_and_fetch", Nand(true, None)),
    ("__sync_bool_compare_and_swap", OldCas(false)),
    ("__sync_val_compare_and_swap", OldCas(true)),
    ("__sync_lock_test_and_set", SyncSwap),
    ("__sync_lock_release", SyncRelease),
    ("__sync_synchronize", FullFence),
];

/// `__c11_atomic_load(p, order)` is the spelling of `atomic_load_explicit` in clang's header.
fn form_of(name: &str) -> Option<Form> {
    if let Some(rest) = name.strip_prefix("__c11_") {
        let explicit = format!("{rest}_explicit");
        return TABLE.iter().find(|(n, _)| *n == explicit).map(|(_, f)| *f);
    }
    if !name.starts_with("atomic_") && !name.starts_with("__atomic_") && !name.starts_with("__sync_") {
        return None;
    }
    TABLE.iter().find(|(n, _)| *n == name).map(|(_, f)| *f)
}

impl Lower<'_> {
    fn order(&self, args: &[Expr], at: Option<usize>) -> MemoryOrdering {
        let Some(e) = at.and_then(|i| args.get(i)) else { return MemoryOrdering::SeqCst };
        // The values of `memory_order` and of `__ATOMIC_…` are the same.
        match self.constant(e) {
            Some(0) => MemoryOrdering::Relaxed,
            Some(1 | 2) => MemoryOrdering::Acquire,
            Some(3) => MemoryOrdering::Release,
            Some(4) => MemoryOrdering::AcqRel,
            _ => MemoryOrdering::SeqCst,
        }
    }

    /// The type that the first argument points to.
    fn target(&self, args: &[Expr]) -> CType {
        args.first().and_then(|a| self.pointee(a)).map_or(Types::INT, |t| t.bare())
    }

    pub(super) fn atomic_type(&self, name: &str, args: &[Expr]) -> Option<CType> {
        Some(match form_of(name)? {
            Load(_) | Swap(_) | Fetch(..) | Then(..) | Nand(..) | SyncSwap | OldCas(true) => {
                self.target(args)
            }
            Cas(..) | OldCas(false) | TestAndSet(_) => Types::BOOL,
            _ => Types::VOID,
        })
    }

    pub(super) fn atomic_call(&mut self, name: &str, args: &[Expr], pos: Pos) -> Option<CType> {
        let form = form_of(name)?;
        let ty = self.target(args);
        let scalar = match form {
            TestAndSet(_) | Clear(_) => Scalar::U8,
            _ => self.types().scalar(ty).unwrap_or(Scalar::U64),
        };
        match form {
            Fence => {
                let order = self.order(args, Some(0));
                self.emit(Instr::Fence(order));
                self.emit(Instr::Int(0));
                return Some(Types::VOID);
            }
            FullFence => {
                self.emit(Instr::Fence(MemoryOrdering::SeqCst));
                self.emit(Instr::Int(0));
                return Some(Types::VOID);
            }
            _ => {}
        }
        self.value(args.first()?);
        self.at(pos);
        Some(self.atomic_form(form, args, ty, scalar, pos))
    }

    /// Lowers an atomic operation whose address is on the stack.
    fn atomic_form(&mut self, form: Form, args: &[Expr], ty: CType, scalar: Scalar, pos: Pos) -> CType {
        match form {
            Load(o) => {
                let order = self.order(args, o);
                self.emit(Instr::Atomic(AtomicInstr::Load, scalar, order));
                return ty;
            }
            LoadTo(o) => {
                let order = self.order(args, o);
                self.emit(Instr::Atomic(AtomicInstr::Load, scalar, order));
                self.store_through(args.get(1), scalar);
            }
            Store(o) => {
                self.operand(args.get(1), ty);
                self.at(pos);
                let order = self.order(args, o);
                self.emit(Instr::Atomic(AtomicInstr::Store, scalar, order));
            }
            StoreFrom(o) => {
                self.operand_behind(args.get(1), scalar);
                let order = self.order(args, o);
                self.emit(Instr::Atomic(AtomicInstr::Store, scalar, order));
            }
            Init => {
                self.operand(args.get(1), ty);
                self.emit(Instr::Store(scalar, AccessClass::Plain));
            }
            Swap(o) => {
                self.operand(args.get(1), ty);
                self.at(pos);
                let order = self.order(args, o);
                self.emit(Instr::Atomic(AtomicInstr::Swap, scalar, order));
                return ty;
            }
            SwapTo(o) => {
                self.operand_behind(args.get(1), scalar);
                let order = self.order(args, o);
                self.emit(Instr::Atomic(AtomicInstr::Swap, scalar, order));
                self.store_through(args.get(2), scalar);
            }
            Cas(o, by_pointer) => return self.compare_exchange(args, o, by_pointer, ty, scalar, pos),
            OldCas(value) => return self.old_compare_exchange(args, value, ty, scalar, pos),
            Fetch(op, o) => {
                self.operand(args.get(1), ty);
                self.at(pos);
                let order = self.order(args, o);
                self.emit(Instr::Atomic(AtomicInstr::Rmw(op), scalar, order));
                return ty;
            }
            Then(op, o) => {
                let order = self.order(args, o);
                return self.read_modify_write(AtomicInstr::Rmw(op), Some(op), args, order, ty, scalar, pos);
            }
            Nand(_, o) => {
                let order = self.order(args, o);
                return self.read_modify_write(AtomicInstr::Nand, None, args, order, ty, scalar, pos);
            }
            TestAndSet(o) => {
                self.emit(Instr::Int(1));
                let order = self.order(args, o);
                self.emit(Instr::Atomic(AtomicInstr::Swap, scalar, order));
                return Types::BOOL;
            }
            Clear(o) => {
                self.emit(Instr::Int(0));
                let order = self.order(args, o);
                self.emit(Instr::Atomic(AtomicInstr::Store, scalar, order));
            }
            SyncSwap => {
                self.operand(args.get(1), ty);
                self.emit(Instr::Atomic(AtomicInstr::Swap, scalar, MemoryOrdering::Acquire));
                return ty;
            }
            SyncRelease => {
                self.emit(Instr::Int(0));
                self.emit(Instr::Atomic(AtomicInstr::Store, scalar, MemoryOrdering::Release));
            }
            Fence | FullFence => {}
        }
        self.emit(Instr::Int(0));
        Types::VOID
    }

    /// Pushes an operand. Pointer arithmetic counts bytes for the builtins and elements for C11;
    /// both are rare.
    fn operand(&mut self, e: Option<&Expr>, ty: CType) {
        match e {
            Some(e) => {
                let from = self.value(e);
                self.convert(from, ty);
            }
            None => self.emit(Instr::Unknown),
        }
    }

    fn operand_behind(&mut self, e: Option<&Expr>, scalar: Scalar) {
        match e {
            Some(e) => {
                self.value(e);
                self.emit(Instr::Load(scalar, AccessClass::Plain));
            }
            None => self.emit(Instr::Unknown),
        }
    }

    /// Stores the value on the stack where the expression says.
    fn store_through(&mut self, e: Option<&Expr>, scalar: Scalar) {
        match e {
            Some(e) => {
                self.value(e);
                self.emit(Instr::Swap);
                self.emit(Instr::Store(scalar, AccessClass::Plain));
            }
            None => self.emit(Instr::Drop),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one builtin's parts; a struct would be used once")]
    fn read_modify_write(
        &mut self,
        op: AtomicInstr,
        again: Option<Bin>,
        args: &[Expr],
        order: MemoryOrdering,
        ty: CType,
        scalar: Scalar,
        pos: Pos,
    ) -> CType {
        self.operand(args.get(1), ty);
        self.at(pos);
        let slot = self.f().b.local();
        if let Some(slot) = slot {
            self.emit(Instr::Tee(slot));
        }
        self.emit(Instr::Atomic(op, scalar, order));
        if let (Some(slot), Some(op)) = (slot, again) {
            self.emit(Instr::Get(slot));
            self.emit(Instr::Bin(op, scalar));
        }
        ty
    }

    /// Pushes whether the exchange happened. On failure, the old value goes to `expected`.
    fn compare_exchange(
        &mut self,
        args: &[Expr],
        order: Option<usize>,
        by_pointer: bool,
        ty: CType,
        scalar: Scalar,
        pos: Pos,
    ) -> CType {
        let order = self.order(args, order);
        let (Some(expected), Some(desired), Some(at), Some(want)) =
            (args.get(1), args.get(2), self.f().b.local(), self.f().b.local())
        else {
            self.emit(Instr::Drop);
            self.emit(Instr::Unknown);
            return Types::BOOL;
        };
        self.value(expected);
        self.emit(Instr::Tee(at));
        self.emit(Instr::Load(scalar, AccessClass::Plain));
        self.emit(Instr::Tee(want));
        if by_pointer {
            self.operand_behind(Some(desired), scalar);
        } else {
            self.operand(Some(desired), ty);
        }
        self.at(pos);
        self.emit(Instr::Atomic(AtomicInstr::CompareSwap, scalar, order));
        let (same, end) = (self.f().b.label(), self.f().b.label());
        let Some(old) = self.f().b.local() else { return Types::BOOL };
        self.emit(Instr::Tee(old));
        self.emit(Instr::Get(want));
        self.emit(Instr::Bin(Bin::Eq, scalar));
        self.f().b.jump_if(same);
        self.emit(Instr::Get(at));
        self.emit(Instr::Get(old));
        self.emit(Instr::Store(scalar, AccessClass::Plain));
        self.emit(Instr::Int(0));
        self.f().b.jump(end);
        self.f().b.place(same);
        self.emit(Instr::Int(1));
        self.f().b.place(end);
        Types::BOOL
    }

    fn old_compare_exchange(
        &mut self,
        args: &[Expr],
        value: bool,
        ty: CType,
        scalar: Scalar,
        pos: Pos,
    ) -> CType {
        let Some(want) = self.f().b.local() else { return Types::BOOL };
        self.operand(args.get(1), ty);
        self.emit(Instr::Tee(want));
        self.operand(args.get(2), ty);
        self.at(pos);
        self.emit(Instr::Atomic(AtomicInstr::CompareSwap, scalar, MemoryOrdering::SeqCst));
        if value {
            return ty;
        }
        self.emit(Instr::Get(want));
        self.emit(Instr::Bin(Bin::Eq, scalar));
        Types::BOOL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_there_once() {
        let mut names: Vec<_> = TABLE.iter().map(|t| t.0).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn clang_spellings_are_known() {
        assert_eq!(form_of("__c11_atomic_load"), Some(Load(Some(1))));
        assert_eq!(form_of("atomically"), None);
    }
}
