//! The result of an undefined function that starts a thread, judged by its name.
//!
//! Some return 0 for success, as `pthread_create` does, some true or a handle. The thread runs, so
//! the call must not look as if it failed: after a failed start, a program may free what it gave to
//! the thread, and would race with it. If a condition on the result follows, the side that cleans
//! up, reports an error or leaves the function is the one of a failed start. If neither side looks
//! like that, a result that is used as `bool` is true, and any other follows the shape of the call.

use rustc_hash::FxHashMap;

use super::named::words;
use super::value::{known_bin, known_conv, known_un};
use crate::ir::doom::Doom;
use crate::ir::{Bin, Instr, Program, Scalar};

/// The maximum number of instructions between the call and the condition, and the number of
/// instructions examined on a side.
const FARTHEST: usize = 32;
const LONGEST_SIDE: usize = 60;

/// By how much one side must look more like a failed start than the other. A return alone counts
/// less.
const MARGIN: i32 = 2;

/// Words in names of functions that are called after a failure. Words for closing or destroying are
/// not among them: after a successful start, the thread's attributes are no longer needed.
const AFTER_FAILURE: &[&str] = &[
    "err", "errx", "error", "fail", "failed", "failure", "perror", "strerror", "warn", "warning", "abort",
    "exit", "die", "fatal", "panic",
];
/// Words in names of functions that are called when a thread runs.
const AFTER_SUCCESS: &[&str] = &["join", "detach", "setname", "wait"];

/// The result with which a call at `pc` reports that it has started the thread with this handle: 0,
/// the handle, or a constant that the caller compares the result with.
pub fn result_of_success(program: &Program, doom: &Doom, pc: u32, handle: u64) -> Option<u64> {
    let compared = compared_with(program, pc).filter(|n| *n != 0);
    let of_two = |a: u64, b: u64| match (side_after(program, pc, a), side_after(program, pc, b)) {
        (Some(with_a), Some(with_b)) if with_a != with_b => {
            let fails = is_failure(program, doom, pc, with_a, with_b);
            fails.map(|a_fails| if a_fails { b } else { a })
        }
        _ => None,
    };
    of_two(0, handle)
        .or_else(|| compared.and_then(|n| of_two(0, n)))
        .or_else(|| is_used_as_bool(program, pc).then_some(handle))
}

/// Whether the first side of a condition, rather than the other, is that of a failed start. `None`
/// if it is not clear.
fn is_failure(program: &Program, doom: &Doom, pc: u32, side: u32, against: u32) -> Option<bool> {
    let given = given_to_thread(program, pc);
    let (side, against) = (after_jumps(program, side), after_jumps(program, against));
    let signs = |at, against| signs_of_failure(program, doom, given, at, against);
    let (one, other) = (signs(side, against), signs(against, side));
    // Code that both sides reach says nothing, and neither does a side whose end was not seen,
    // unless that is where both sides meet: `for (…) { if (start(…)) fail(); }`.
    let is_seen = (!one.loops || other.joins) && (!other.loops || one.joins);
    let one_alone = if other.joins { 0 } else { one.count };
    let other_alone = if one.joins { 0 } else { other.count };
    let is_clear = is_seen && (one_alone - other_alone).abs() >= MARGIN;
    is_clear.then_some(one_alone > other_alone)
}

/// Where a side begins: an empty one only jumps over the other.
fn after_jumps(program: &Program, mut at: u32) -> u32 {
    while let Some(Instr::Jump(to)) = program.code.get(at as usize)
        && *to > at
    {
        at = *to;
    }
    at
}

/// The constant that the first condition after the call compares with, as in `if (start(…) !=
/// TRUE)`.
fn compared_with(program: &Program, pc: u32) -> Option<u64> {
    let after = program.code.get(pc as usize + 1..)?;
    let until =
        after.iter().take(FARTHEST).position(|i| matches!(i, Instr::JumpIf(_) | Instr::JumpIfNot(_)))?;
    let compares = |i: &Instr| matches!(i, Instr::Bin(Bin::Eq | Bin::Ne, _));
    let at = after[..until].iter().rposition(compares)?;
    match after[..at].iter().rev().find(|i| !matches!(i, Instr::Conv(..) | Instr::Nop))? {
        Instr::Int(n) => Some(i64::from(*n) as u64),
        _ => None,
    }
}

/// Whether the caller first uses the result as a value of one byte.
fn is_used_as_bool(program: &Program, pc: u32) -> bool {
    let used = program.code.iter().skip(pc as usize + 1).find(|i| !matches!(i, Instr::Nop));
    let is_byte = |ty: Scalar| ty == Scalar::U8;
    used.is_some_and(|i| match i {
        Instr::Un(_, ty) | Instr::Conv(ty, _) | Instr::Store(ty, _) | Instr::StoreTee(ty, _) => is_byte(*ty),
        _ => false,
    })
}

/// A value on the way from the call to the condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Value {
    Number(u64),
    /// The address of a variable.
    Address(Place),
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Global(u32),
    Frame(u32),
    Local(u16),
}

/// The side that the first condition on the result takes if the call returned `result`.
fn side_after(program: &Program, pc: u32, result: u64) -> Option<u32> {
    let mut stack = vec![Value::Number(result)];
    let mut stored: FxHashMap<Place, Value> = FxHashMap::default();
    let mut at = pc as usize + 1;
    for _ in 0..FARTHEST {
        let instr = *program.code.get(at)?;
        at += 1;
        match instr {
            Instr::Jump(to) => at = to as usize,
            Instr::JumpIf(to) | Instr::JumpIfNot(to) => {
                let Value::Number(v) = stack.pop()? else { return None };
                let is_taken = (v != 0) == matches!(instr, Instr::JumpIf(_));
                return Some(if is_taken { to } else { at as u32 });
            }
            Instr::Switch(_) | Instr::Return | Instr::Throw => return None,
            _ => step(instr, &mut stack, &mut stored)?,
        }
    }
    None
}

/// Executes one instruction that continues with the next.
fn step(instr: Instr, stack: &mut Vec<Value>, stored: &mut FxHashMap<Place, Value>) -> Option<()> {
    let known = |stored: &FxHashMap<Place, Value>, place| stored.get(&place).copied().unwrap_or(Value::Other);
    match instr {
        Instr::Int(n) => stack.push(Value::Number(i64::from(n) as u64)),
        Instr::GlobalAddr(a) => stack.push(Value::Address(Place::Global(a))),
        Instr::FrameAddr(a) => stack.push(Value::Address(Place::Frame(a))),
        Instr::Get(n) => stack.push(known(stored, Place::Local(n))),
        Instr::Set(n) => {
            stored.insert(Place::Local(n), stack.pop()?);
        }
        Instr::Tee(n) => {
            stored.insert(Place::Local(n), *stack.last()?);
        }
        Instr::Load(..) => {
            let from = stack.pop()?;
            stack.push(if let Value::Address(place) = from { known(stored, place) } else { Value::Other });
        }
        Instr::Store(ty, _) | Instr::StoreTee(ty, _) => {
            let (value, to) = (stack.pop()?, stack.pop()?);
            let value = if let Value::Number(n) = value { Value::Number(ty.wrap(n)) } else { value };
            if let Value::Address(place) = to {
                stored.insert(place, value);
            }
            if matches!(instr, Instr::StoreTee(..)) {
                stack.push(value);
            }
        }
        Instr::Un(op, ty) => apply(stack, |a| known_un(op, ty, a))?,
        Instr::Conv(from, to) => apply(stack, |a| known_conv(from, to, a))?,
        Instr::Bin(op, ty) => {
            let (b, a) = (stack.pop()?, stack.pop()?);
            stack.push(match (a, b) {
                (Value::Number(a), Value::Number(b)) => Value::Number(known_bin(op, ty, a, b)),
                _ => Value::Other,
            });
        }
        Instr::Dup => stack.push(*stack.last()?),
        Instr::Swap => {
            let (b, a) = (stack.pop()?, stack.pop()?);
            stack.extend([b, a]);
        }
        other => {
            let (pops, pushes) = other.effect();
            let left = stack.len().checked_sub(pops as usize)?;
            stack.truncate(left);
            stack.extend((0..pushes).map(|_| Value::Other));
        }
    }
    Some(())
}

fn apply(stack: &mut Vec<Value>, f: impl Fn(u64) -> u64) -> Option<()> {
    let a = stack.pop()?;
    stack.push(if let Value::Number(a) = a { Value::Number(f(a)) } else { Value::Other });
    Some(())
}

/// What a side of a condition looks like.
#[derive(Debug, Clone, Copy, Default)]
struct Signs {
    /// How much it looks like a failed start. A negative count means the opposite.
    count: i32,
    /// It continues with the other side.
    joins: bool,
    /// It goes back to a loop, whose end was not looked for.
    loops: bool,
}

/// The code of the arguments after the thread's function in the call at `pc`.
fn given_to_thread(program: &Program, pc: u32) -> &[Instr] {
    let from = (pc as usize).saturating_sub(FARTHEST);
    let before = &program.code[from..pc as usize];
    let function = before.iter().rposition(|i| matches!(i, Instr::FuncAddr(_)));
    function.map_or(&[], |i| &before[i + 1..])
}

/// Whether the code ends with a variable that the thread was given, too. Anything else may be freed
/// after a successful start.
fn is_given(given: &[Instr], code: &[Instr]) -> bool {
    let is_part = |i: &&Instr| matches!(i, Instr::Conv(..) | Instr::Nop | Instr::Load(..) | Instr::Field(_));
    let variable = code.iter().rev().find(|i| !is_part(i));
    variable.is_some_and(|v| {
        matches!(v, Instr::Get(_) | Instr::GlobalAddr(_) | Instr::FrameAddr(_)) && given.contains(v)
    })
}

/// The signs of one side of the condition; `against` begins the other.
fn signs_of_failure(program: &Program, doom: &Doom, given: &[Instr], side: u32, against: u32) -> Signs {
    if doom.ends.get(side as usize) == Some(&true) {
        return Signs { count: 8, ..Signs::default() };
    }
    let mut signs = Signs::default();
    let mut at = side;
    let mut is_negative = false;
    for _ in 0..LONGEST_SIDE {
        if at == against {
            return Signs { joins: true, ..signs };
        }
        let Some(instr) = program.code.get(at as usize) else { break };
        match instr {
            Instr::Call(f, _) => {
                let name = &program.functions[*f as usize].name;
                let frees = is_given(given, &program.code[side as usize..at as usize])
                    && words(name).iter().any(|w| w == "free");
                signs.count += sign_of_name(name) + 2 * i32::from(frees);
            }
            // Code under further conditions is not part of the side: those conditions count as
            // false.
            Instr::Jump(to) | Instr::JumpIfNot(to) if *to > at => {
                at = *to;
                continue;
            }
            Instr::Jump(_) => return Signs { loops: true, ..signs },
            Instr::Return => {
                signs.count += 1 + 2 * i32::from(is_negative);
                return signs;
            }
            _ => {}
        }
        is_negative = matches!(instr, Instr::Int(n) if *n < 0)
            || is_negative && matches!(instr, Instr::Conv(..) | Instr::Nop | Instr::Un(..));
        at += 1;
    }
    signs
}

fn sign_of_name(name: &str) -> i32 {
    let words = words(name);
    let has = |list: &[&str]| words.iter().any(|w| list.contains(&w.as_str()));
    2 * (i32::from(has(AFTER_FAILURE)) - i32::from(has(AFTER_SUCCESS)))
}
