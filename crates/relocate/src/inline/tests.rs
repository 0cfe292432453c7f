//! Checks are executed here, instruction by instruction, on random registers and random slots.

use super::*;
use iced_x86::{Mnemonic, OpKind};
use std::collections::HashMap;

const HEADER: u64 = 1 << 40;
const OTHERWISE: u64 = 1 << 59;
const OWN: [u64; 2] = [0x1000, 0x1010];
/// Sign, zero, adjust, parity and carry.
const STATUS: u8 = 0b1101_0101;

/// As much of a processor as checks use.
#[derive(Clone, Default)]
struct Machine {
    general: [u64; 16],
    vectors: [u128; 16],
    /// As `lahf` has them, and the overflow flag.
    flags: u8,
    overflow: bool,
    memory: HashMap<u64, u128>,
    /// What `fs` names.
    of_thread: HashMap<u64, u128>,
}

impl Machine {
    fn get(&self, r: Register) -> u64 {
        let all = self.general[r.full_register().number()];
        match r.size() {
            8 => all,
            4 => all as u32 as u64,
            _ => all as u8 as u64,
        }
    }

    fn set(&mut self, r: Register, value: u64) {
        let all = &mut self.general[r.full_register().number()];
        *all = match r.size() {
            8 => value,
            4 => value as u32 as u64,
            _ => *all & !0xff | value & 0xff,
        };
    }

    fn address(&self, i: &Instruction) -> u64 {
        let of = |r: Register| if matches!(r, Register::None | Register::RIP) { 0 } else { self.get(r) };
        let index = of(i.memory_index()) * u64::from(i.memory_index_scale());
        of(i.memory_base()).wrapping_add(index).wrapping_add(i.memory_displacement64())
    }

    fn load(&self, i: &Instruction) -> u128 {
        let from = if i.memory_segment() == Register::FS { &self.of_thread } else { &self.memory };
        *from.get(&self.address(i)).unwrap_or_else(|| panic!("{:x}: {i:?}", self.address(i)))
    }

    fn operand(&self, i: &Instruction, n: u32) -> u128 {
        match i.op_kind(n) {
            OpKind::Memory => self.load(i),
            OpKind::Register if i.op_register(n).is_xmm() => self.vectors[i.op_register(n).number()],
            OpKind::Register => self.get(i.op_register(n)).into(),
            _ => i.immediate(n).into(),
        }
    }

    fn set_flags(&mut self, result: u64) {
        self.flags = if result == 0 { 0b0100_0110 } else { 0b0000_0011 };
        self.overflow = result & 2 != 0;
    }

    /// False: it jumps.
    fn step(&mut self, i: &Instruction) -> bool {
        if i.op_count() == 2 && i.op0_kind() == OpKind::Memory {
            assert!(matches!(i.mnemonic(), Mnemonic::Mov | Mnemonic::Movups));
            self.memory.insert(self.address(i), self.operand(i, 1));
            return true;
        }
        let lanes = |f: fn(u32, u32) -> u32, a: u128, b: u128| {
            (0..4).fold(0, |all, n| {
                let part = |v: u128| (v >> (32 * n)) as u32;
                all | u128::from(f(part(a), part(b))) << (32 * n)
            })
        };
        let (first, second) = match i.op_count() {
            2 if i.mnemonic() != Mnemonic::Lea => (self.operand(i, 0), self.operand(i, 1)),
            _ => (0, 0),
        };
        let (a, b) = (first as u64, second as u64);
        let to = i.op0_register();
        let zero = self.flags & 0b0100_0000 != 0;
        match i.mnemonic() {
            Mnemonic::Movq | Mnemonic::Movdqa | Mnemonic::Movups if to.is_xmm() => {
                self.vectors[to.number()] = second
            }
            Mnemonic::Por => self.vectors[to.number()] = first | second,
            Mnemonic::Pand => self.vectors[to.number()] = first & second,
            Mnemonic::Pcmpeqd => {
                let equal = |x: u32, y: u32| if x == y { u32::MAX } else { 0 };
                self.vectors[to.number()] = lanes(equal, first, second);
            }
            Mnemonic::Movmskps => {
                let bits = (0..4).fold(0, |all, n| all | (second >> (32 * n + 31) & 1) << n);
                self.set(to, bits as u64);
            }
            Mnemonic::Movq | Mnemonic::Mov => self.set(to, b),
            Mnemonic::Lea => self.set(to, self.address(i)),
            Mnemonic::Test => self.set_flags(a & b),
            Mnemonic::Jne if !zero => return false,
            Mnemonic::Je if zero => return false,
            Mnemonic::Jne | Mnemonic::Je => {}
            Mnemonic::Lahf => self.general[0] = self.general[0] & !0xff00 | u64::from(self.flags) << 8,
            Mnemonic::Seto => self.set(Register::AL, u64::from(self.overflow)),
            Mnemonic::Sahf => self.flags = (self.general[0] >> 8) as u8 & STATUS | 2,
            Mnemonic::Add if to == Register::AL => {
                self.set_flags(a + b);
                self.overflow = (a as u8 as i8).overflowing_add(b as i8).1;
                self.set(to, a + b);
            }
            arithmetic => {
                let result = match arithmetic {
                    Mnemonic::Add => a.wrapping_add(b),
                    Mnemonic::And => a & b,
                    Mnemonic::Xor => a ^ b,
                    Mnemonic::Shl => a << b,
                    Mnemonic::Shr => a >> b,
                    other => panic!("{other:?}"),
                };
                self.set_flags(result);
                self.set(to, result);
            }
        }
        true
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }

    fn number(&mut self) -> u64 {
        self.below(1 << 31) << 33 ^ self.below(1 << 31) << 20 ^ self.below(1 << 20)
    }
}

/// Some state's slot, often the thread's own, often of few bytes.
fn random_slot(random: &mut Random, own: u32) -> u32 {
    let state = match random.below(4) {
        0 => 0,
        1 => own + 0x10000,
        _ => own,
    };
    let bytes = [0xff, 0xf0, 0x0f, 0x03, 0x80, 0x3c][random.below(6) as usize];
    state & !0xff | bytes | if random.below(2) == 0 { shadow::READ } else { 0 }
}

/// Is one of the slots of the thread's own state, of at least these bytes and as strong?
fn is_recorded(slots: u128, bytes: u32, write: bool, own: u32) -> bool {
    (0..4).map(|n| (slots >> (32 * n)) as u32).any(|slot| {
        let same = (slot ^ own) & !(0xff | shadow::READ) == 0;
        same && slot & bytes == bytes && !(write && slot & shadow::READ != 0)
    })
}

fn lanes(slot: u32) -> u128 {
    (0..4).fold(0, |all, n| all | u128::from(slot) << (32 * n))
}

struct Case {
    machine: Machine,
    /// The access.
    instruction: Instruction,
    address: u64,
    own: u32,
    size: u32,
    write: bool,
}

fn random_case(random: &mut Random) -> Case {
    let mut machine = Machine::default();
    machine.general.iter_mut().for_each(|r| *r = random.number());
    machine
        .vectors
        .iter_mut()
        .for_each(|v| *v = u128::from(random.number()) << 64 | u128::from(random.number()));
    machine.flags = random.number() as u8 & STATUS | 2;
    machine.overflow = random.below(2) == 0;
    let own = 0x0012_0300;
    let base = [Register::RSP, Register::RAX, Register::RCX, Register::R13][random.below(4) as usize];
    let displacement = random.below(1000) as i64 - 500;
    let operand = MemoryOperand::with_base_displ_size(base, displacement, 8);
    let instruction = made(Instruction::with2(Opcode::Mov_r64_rm64, Register::RAX, operand));
    let size = 1 << random.below(5);
    let aligned = if random.below(5) == 0 { random.below(8) } else { 0 };
    let address = (0x7fff_1234_5600 + random.below(16) * u64::from(size) + aligned) & !(1 << 63);
    let granule = (address & ((1 << shadow::ADDRESS_BITS) - 1)) & !7;
    for n in 0..3 {
        let slots = (0..4).fold(0, |all, k| all | u128::from(random_slot(random, own)) << (32 * k));
        machine.memory.insert(shadow::START + 2 * granule + 16 * n, slots);
    }
    machine.set(base, address.wrapping_add_signed(-displacement));
    for data in constants() {
        let value =
            u128::from(data.get_declare_qword_value(0)) | u128::from(data.get_declare_qword_value(1)) << 64;
        machine.memory.insert(data.ip(), value);
    }
    machine.memory.insert(HEADER + 8 * slot::OWN_WRITE as u64, OWN[0].into());
    machine.memory.insert(HEADER + 8 * slot::OWN_READ as u64, OWN[1].into());
    machine.of_thread.insert(OWN[0], lanes(own | 0xff));
    machine.of_thread.insert(OWN[1], lanes(own | 0xff | shadow::READ));
    Case { machine, instruction, address, own, size, write: random.below(2) == 0 }
}

/// All of `live`, as numbers.
fn seen(m: &Machine, live: Set) -> (Vec<u64>, Vec<u128>, Option<(u8, bool)>) {
    let general = (0..16).map(|n| Register::RAX + n).filter(|r| live.has(*r));
    let vectors = (0..16).map(|n| Register::XMM0 + n).filter(|r| live.has(*r));
    (
        general.map(|r| m.get(r)).collect(),
        vectors.map(|r| m.vectors[r.number()]).collect(),
        live.has_flags().then_some((m.flags, m.overflow)),
    )
}

/// Executes a check. None: it changed what is live; otherwise whether it found the access recorded.
fn execute(case: &Case, registers: &CheckRegisters, live: Set, spoil: Option<usize>) -> Option<bool> {
    let mut machine = case.machine.clone();
    let before = seen(&machine, live);
    let (mut code, mut rest) = (Vec::new(), Vec::new());
    let mut check = CheckWriter { to: &mut code, registers, header: HEADER, otherwise: OTHERWISE };
    check.keep_registers();
    crate::emit::address(check.to, &case.instruction, registers.address, registers.pushed());
    check.keep_flags();
    check.check(case.size, case.write);
    CheckWriter { to: &mut rest, registers, header: HEADER, otherwise: OTHERWISE }.restore();
    if let Some(n) = spoil {
        let both = code.len() + rest.len();
        let n = n % both;
        if n < code.len() {
            code.remove(n)
        } else {
            rest.remove(n - code.len())
        };
    }
    let falls_through = code.iter().all(|i| machine.step(i));
    rest.iter().for_each(|i| assert!(machine.step(i)));
    (seen(&machine, live) == before).then_some(falls_through)
}

fn is_right(case: &Case, found: Option<bool>) -> bool {
    let Some(found) = found else { return false };
    let unit = u64::from(case.size.min(8));
    let granule = shadow::START + 2 * (case.address & ((1 << shadow::ADDRESS_BITS) - 1) & !7);
    let bytes = if case.size >= 8 { 0xff } else { ((1 << case.size) - 1) << (case.address % 8) };
    let granules = if case.size == 16 { 2 } else { 1 };
    let recorded = case.address.is_multiple_of(unit)
        && (0..granules)
            .all(|n| is_recorded(case.machine.memory[&(granule + 16 * n)], bytes, case.write, case.own));
    found == recorded
}

/// The registers of the address are live.
fn random_live(random: &mut Random, base: Register) -> Set {
    let general = (0..16).map(|n| Register::RAX + n);
    let vectors = (0..16).map(|n| Register::XMM0 + n);
    let share = random.below(5);
    let is_live = |r: &Register| *r == Register::RSP || *r == base || random.below(4) < share;
    let mut live: Set = general.chain(vectors).filter(is_live).collect();
    if random.below(2) == 0 {
        live = live.with_flags();
    }
    live
}

#[test]
fn random_checks_say_what_the_slots_say_and_change_nothing_that_is_live() {
    let mut random = Random(1);
    let (mut recorded, mut stacked, mut noticed, mut spoiled) = (0, 0, 0, 0);
    for _ in 0..4000 {
        let case = random_case(&mut random);
        let base = case.instruction.memory_base();
        let live = random_live(&mut random, base);
        let registers = choose(case.size, live, [base].into_iter().collect(), &[]);
        let found = execute(&case, &registers, live, None);
        assert!(is_right(&case, found), "{} {} {registers:?}: {found:?}", case.size, case.write);
        stacked += usize::from(registers.pushed() != 0);
        recorded += usize::from(found == Some(true));
        // A check that lacks one instruction is noticed, now and then.
        if !case.address.is_multiple_of(8) || found == Some(true) {
            let spoil = random.below(64) as usize;
            let result = std::panic::catch_unwind(|| execute(&case, &registers, live, Some(spoil)));
            spoiled += 1;
            noticed += usize::from(!result.is_ok_and(|found| is_right(&case, found)));
        }
    }
    assert!(recorded > 600 && stacked > 600, "{recorded} {stacked}");
    assert!(noticed * 3 > spoiled, "{noticed} {spoiled}");
}

#[test]
fn registers_that_nobody_looks_at_come_first() {
    let all: Set = Set::ALL;
    let unused = [Register::XMM15, Register::XMM14, Register::XMM13, Register::XMM12];
    let spare = |size, live, operand: &[Register], unused: &[Register]| {
        choose(size, live, operand.iter().copied().collect(), unused)
    };
    // Nothing is dead, and no vector register is unused, or some are.
    let stacked = spare(8, all, &[Register::RDX], &[]);
    assert_eq!(stacked.stacked, [Register::XMM0, Register::RAX, Register::RCX]);
    assert_eq!((stacked.slots, stacked.pushed()), (Register::XMM0, 128 + 3 * 16));
    let kept = spare(8, all, &[Register::RDX], &unused);
    assert_eq!(kept.kept, [(Register::RAX, Register::XMM14), (Register::RCX, Register::XMM13)]);
    assert!(kept.keeps_flags && kept.address == Register::RCX && kept.pushed() == 0);
    // The address' own registers are not taken, nor live ones that calls preserve.
    assert_eq!(spare(8, all, &[Register::RCX, Register::RDX], &unused).address, Register::RSI);
    let dead: Set = (0..16).map(|n| Register::RAX + n).filter(|r| *r != Register::R12).collect();
    let one = spare(8, dead, &[], &unused);
    assert_eq!((one.address, one.kept, one.keeps_flags), (Register::R12, vec![], false));
    let two = spare(4, dead, &[], &unused);
    assert_eq!((two.address, two.offset), (Register::R12, Register::RCX));
    assert_eq!(two.kept, [(Register::RCX, Register::XMM13)]);
    // The stack pointer is never taken.
    let none = spare(4, Set::NONE, &[], &[]);
    assert!(none.address != Register::RSP && none.offset != Register::RSP);
}
