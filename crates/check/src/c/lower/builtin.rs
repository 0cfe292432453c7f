//! Names with a meaning built into the compiler, and the `__raddle_` names that the models use.

use super::Lower;
use crate::c::ast::{Expr, ExprKind};
use crate::c::types::{CType, Types};
use crate::ir::{AccessClass, Bin, Instr, Intrinsic, Pos, Scalar, SyncOp};

/// The synchronisation operations of the models. Adding one here makes it usable in `c/models/*.c`.
const SYNC: &[(&str, SyncOp)] = &[
    ("start", SyncOp::Start),
    ("start_member", SyncOp::StartMember),
    ("join", SyncOp::Join),
    ("try_join", SyncOp::TryJoin),
    ("detach", SyncOp::Detach),
    ("cancel", SyncOp::Cancel),
    ("exit_thread", SyncOp::ExitThread),
    ("exit_process", SyncOp::ExitProcess),
    ("current", SyncOp::Current),
    ("team_id", SyncOp::TeamId),
    ("team_size", SyncOp::TeamSize),
    ("lock_init", SyncOp::LockInit),
    ("lock_static", SyncOp::LockStatic),
    ("lock_destroy", SyncOp::LockDestroy),
    ("lock", SyncOp::Lock),
    ("try_lock", SyncOp::TryLock),
    ("timed_lock", SyncOp::TimedLock),
    ("unlock", SyncOp::Unlock),
    ("read_lock", SyncOp::ReadLock),
    ("try_read_lock", SyncOp::TryReadLock),
    ("timed_read_lock", SyncOp::TimedReadLock),
    ("write_lock", SyncOp::WriteLock),
    ("try_write_lock", SyncOp::TryWriteLock),
    ("timed_write_lock", SyncOp::TimedWriteLock),
    ("rw_unlock", SyncOp::RwUnlock),
    ("wait", SyncOp::Wait),
    ("timed_wait", SyncOp::TimedWait),
    ("notify_one", SyncOp::NotifyOne),
    ("notify_all", SyncOp::NotifyAll),
    ("sem_init", SyncOp::SemInit),
    ("sem_wait", SyncOp::SemWait),
    ("sem_try_wait", SyncOp::SemTryWait),
    ("sem_timed_wait", SyncOp::SemTimedWait),
    ("sem_post", SyncOp::SemPost),
    ("sem_value", SyncOp::SemValue),
    ("barrier_init", SyncOp::BarrierInit),
    ("barrier_wait", SyncOp::BarrierWait),
    ("once", SyncOp::Once),
    ("yield", SyncOp::Yield),
    ("sleep", SyncOp::Sleep),
    ("key_create", SyncOp::KeyCreate),
    ("key_get", SyncOp::KeyGet),
    ("key_set", SyncOp::KeySet),
    ("interrupt", SyncOp::Interrupt),
    ("interrupt_off", SyncOp::InterruptOff),
    ("pause", SyncOp::Pause),
    ("set_mask", SyncOp::SetMask),
    ("get_mask", SyncOp::GetMask),
    ("set_jump", SyncOp::SetJump),
    ("jump", SyncOp::Jump),
    ("timer_start", SyncOp::TimerStart),
    ("timer_stop", SyncOp::TimerStop),
    ("publish", SyncOp::Publish),
    ("learn", SyncOp::Learn),
    ("benign", SyncOp::Benign),
    ("ignore", SyncOp::Ignore),
];

const INTRINSICS: &[(&str, Intrinsic)] = &[
    ("alloc", Intrinsic::Alloc),
    ("alloc_zero", Intrinsic::AllocZero),
    ("realloc", Intrinsic::Realloc),
    ("free", Intrinsic::Free),
    ("alloc_frame", Intrinsic::AllocFrame),
    ("copy", Intrinsic::Copy),
    ("fill", Intrinsic::Fill),
    ("compare", Intrinsic::Compare),
    ("text_length", Intrinsic::TextLength),
    ("text_compare", Intrinsic::TextCompare),
    ("text_copy", Intrinsic::TextCopy),
    ("text_find", Intrinsic::TextFind),
    ("read", Intrinsic::ReadRange),
    ("write", Intrinsic::WriteRange),
    ("havoc", Intrinsic::Havoc),
    ("read_format", Intrinsic::ReadFormat),
    ("unknown", Intrinsic::Unknown),
    ("choose", Intrinsic::Choose),
    ("assume", Intrinsic::Assume),
    ("block_size", Intrinsic::BlockSize),
    ("is_known", Intrinsic::IsKnown),
    ("peek", Intrinsic::Peek),
];

impl Lower<'_> {
    /// Lowers a call by name if the name is built in.
    pub(super) fn builtin_call(&mut self, name: &str, args: &[Expr], pos: Pos) -> Option<CType> {
        if let Some(op) = name.strip_prefix("__raddle_") {
            return Some(self.raddle_call(op, args));
        }
        if let Some(ty) = self.atomic_call(name, args, pos) {
            return Some(ty);
        }
        match name {
            "__builtin_va_start" | "va_start" | "__builtin_c23_va_start" => {
                self.value(args.first()?);
                self.emit(Instr::VarArgs);
                self.emit(Instr::Store(Scalar::U64, AccessClass::Hidden));
                self.emit(Instr::Int(0));
                Some(Types::VOID)
            }
            "__builtin_va_copy" | "va_copy" => {
                let [to, from] = args else { return None };
                self.value(to);
                self.value(from);
                self.emit(Instr::Load(Scalar::U64, AccessClass::Hidden));
                self.emit(Instr::Store(Scalar::U64, AccessClass::Hidden));
                self.emit(Instr::Int(0));
                Some(Types::VOID)
            }
            "__builtin_va_end" | "va_end" => {
                self.emit(Instr::Int(0));
                Some(Types::VOID)
            }
            "__builtin_expect" | "__builtin_expect_with_probability" | "__builtin_assume_aligned" => {
                Some(self.value(args.first()?))
            }
            "__builtin_constant_p" => {
                let known = args.first().and_then(|a| self.constant(a)).is_some();
                self.emit(Instr::Int(i32::from(known)));
                Some(Types::INT)
            }
            "__builtin_unreachable" | "__builtin_trap" | "abort" | "__builtin_abort" => {
                self.emit(Instr::Int(134));
                self.emit(Instr::Sync(SyncOp::ExitProcess));
                Some(Types::VOID)
            }
            "__builtin_add_overflow" => Some(self.overflow(Bin::Add, args)),
            "__builtin_sub_overflow" => Some(self.overflow(Bin::Sub, args)),
            "__builtin_mul_overflow" => Some(self.overflow(Bin::Mul, args)),
            "alloca" | "__builtin_alloca" | "__builtin_alloca_with_align" => {
                let ty = self.value(args.first()?);
                self.convert(ty, Types::ULONG);
                self.emit(Instr::Intrinsic(Intrinsic::AllocFrame));
                Some(self.scopes.types.pointer(Types::VOID))
            }
            // Lowered in the function itself, because the jump comes back to its frame.
            "setjmp" | "_setjmp" | "__setjmp" | "sigsetjmp" | "__sigsetjmp" | "__builtin_setjmp" => {
                self.value(args.first()?);
                self.emit(Instr::Sync(SyncOp::SetJump));
                Some(Types::INT)
            }
            "__builtin_frame_address" | "__builtin_return_address" => {
                self.emit(Instr::Int(0));
                Some(self.scopes.types.pointer(Types::VOID))
            }
            _ => self.library_spelling(name, args, pos),
        }
    }

    /// `__builtin_memcpy`, `__memcpy_chk` and the like are the functions that they name.
    fn library_spelling(&mut self, name: &str, args: &[Expr], pos: Pos) -> Option<CType> {
        let plain = name
            .strip_prefix("__builtin___")
            .or_else(|| name.strip_prefix("__builtin_"))
            .or_else(|| name.strip_prefix("__").filter(|n| n.ends_with("_chk")))?;
        let plain = plain.strip_suffix("_chk").unwrap_or(plain);
        let sym = self.interner.find(plain)?;
        self.declared_type(sym)?;
        let f = Expr { pos, kind: ExprKind::Name(sym) };
        Some(self.call(&f, args, pos))
    }

    fn raddle_call(&mut self, op: &str, args: &[Expr]) -> CType {
        let sync = SYNC.iter().find(|(n, _)| *n == op).map(|(_, o)| (Instr::Sync(*o), o.arity()));
        let found = sync.or_else(|| {
            let i = INTRINSICS.iter().find(|(n, _)| *n == op)?.1;
            Some((Instr::Intrinsic(i), i.arity()))
        });
        match found {
            Some((instr, arity)) if arity as usize == args.len() => {
                self.plain_arguments(args);
                self.emit(instr);
            }
            _ => self.emit(Instr::Unknown),
        }
        Types::ULONG
    }

    pub(super) fn builtin_type(&self, name: &str, args: &[Expr]) -> Option<CType> {
        if name.starts_with("__raddle_") {
            return Some(Types::ULONG);
        }
        if let Some(ty) = self.atomic_type(name, args) {
            return Some(ty);
        }
        match name {
            "__builtin_expect" | "__builtin_assume_aligned" => args.first().map(|a| self.static_type(a)),
            "__builtin_constant_p" => Some(Types::INT),
            "alloca" | "__builtin_alloca" => self.types().find_pointer(Types::VOID),
            "abort" | "__builtin_trap" => Some(Types::VOID),
            _ if name.starts_with("__builtin_") || name.ends_with("_chk") => {
                let plain =
                    name.trim_start_matches("__builtin_").trim_start_matches("__").trim_end_matches("_chk");
                let sym = self.interner.find(plain)?;
                let ty = self.declared_type(sym)?;
                self.types().as_function(ty).map(|f| f.result)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_given_twice() {
        let mut names: Vec<_> = SYNC.iter().map(|s| s.0).chain(INTRINSICS.iter().map(|i| i.0)).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
