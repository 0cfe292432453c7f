use super::*;
use crate::liveness;
use crate::program::RelocatedProgram;
use std::fmt::Write;
use std::process::Command;

/// The loops of functions with these instructions, behind which is `ret`.
fn found(bodies: &[String]) -> (Code, Vec<Vec<Loop>>) {
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("a.s"), folder.path().join("a"));
    let mut text = String::from(".text\n.globl main\n.type main,@function\nmain: ret\n.size main,.-main\n");
    for (n, body) in bodies.iter().enumerate() {
        write!(text, ".type f{n},@function\nf{n}:\n{body}\n9: ret\n.size f{n},.-f{n}\n").unwrap();
    }
    std::fs::write(&source, text + ".section .note.GNU-stack\n").unwrap();
    let built = Command::new("gcc").arg(&source).arg("-o").arg(&program).status().unwrap();
    assert!(built.success());
    let bytes = std::fs::read(&program).unwrap();
    let program = RelocatedProgram::read(&bytes, false).unwrap();
    let code = Code::read(&program);
    let entries = Entries::of(&code, &program.handlers);
    let mut infos = InstructionInfoFactory::new();
    let unused = liveness::unused_vectors(&code.instructions);
    let object = object::File::parse(&*bytes).unwrap();
    let address = |n: usize| {
        use object::{Object, ObjectSymbol};
        object.symbols().find(|s| s.name() == Ok(&format!("f{n}"))).unwrap().address()
    };
    let all = (0..bodies.len()).map(|n| {
        let function = code.functions.iter().find(|f| f.range.start == address(n)).unwrap();
        let body = function.body.clone();
        let inside = |a: u64| code.find(a).filter(|n| body.contains(n)).map(|n| n - body.start);
        let live = liveness::before(&code.instructions[body.clone()], &mut infos, inside);
        let (live, unused) = (&live[..], &unused[..]);
        let mut finder = Finder { code: &code, function, entries: &entries, live, unused, infos: &mut infos };
        finder.all()
    });
    let all = all.collect();
    (code, all)
}

/// The number of accesses without probes, and the ranges: whether they are written, strides and
/// lengths.
type Shape = (usize, Vec<(bool, i64, i64)>);

/// None: no loop has a copy.
fn shapes(bodies: &[&str]) -> Vec<Option<Shape>> {
    let (_, all) = found(&bodies.iter().map(|b| b.to_string()).collect::<Vec<_>>());
    all.into_iter()
        .map(|loops| {
            assert!(loops.len() < 2);
            let l = loops.into_iter().next()?;
            Some((l.unprobed.len(), l.ranges.iter().map(|r| (r.write, r.stride, r.len)).collect()))
        })
        .collect()
}

#[test]
fn accesses_that_advance_share_a_range() {
    let cases: &[(&str, Option<Shape>)] = &[
        ("1: mov (%rdi),%rax\nadd $8,%rdi\ndec %rcx\njnz 1b", Some((1, vec![(false, 8, 8)]))),
        ("1: mov (%rdi,%rcx,8),%rax\ndec %rcx\njnz 1b", Some((1, vec![(false, -8, 8)]))),
        ("1: movups %xmm0,(%rdi,%rax)\nadd $16,%rax\ncmp %rax,%rcx\njne 1b", Some((1, vec![(true, 16, 16)]))),
        // Unrolled, and a grid.
        (
            "1: mov %eax,(%rdi)\nmov %eax,4(%rdi)\nadd $8,%rdi\ndec %rcx\njnz 1b",
            Some((2, vec![(true, 8, 8)])),
        ),
        (
            "1: movsd -8(%rdi,%rax,8),%xmm0\naddsd 8(%rdi,%rax,8),%xmm0\naddsd (%rdi,%rax,8),%xmm0\n\
             movsd %xmm0,(%rsi,%rax,8)\ninc %rax\ncmp %rax,%rcx\njne 1b",
            Some((4, vec![(false, 8, 24), (true, 8, 8)])),
        ),
        // A write stands for the read.
        ("1: mov (%rdi),%eax\nmov %eax,(%rdi)\nadd $4,%rdi\ndec %rcx\njnz 1b", Some((2, vec![(true, 4, 4)]))),
        (
            "1: mov (%rdi),%eax\ntest %eax,%eax\njz 9f\nmov %eax,(%rdi)\nadd $4,%rdi\ndec %rcx\njnz 1b",
            Some((2, vec![(false, 4, 4), (true, 4, 4)])),
        ),
        // An address that stays, unless the loop can be left before its access.
        (
            "1: mov (%rdi),%rax\nadd %rax,(%rsi)\nadd $8,%rdi\ndec %rcx\njnz 1b",
            Some((2, vec![(false, 8, 8), (true, 0, 8)])),
        ),
        (
            "1: mov (%rdi),%rax\ntest %rax,%rax\njz 9f\nadd %rax,(%rsi)\nadd $8,%rdi\ndec %rcx\njnz 1b",
            Some((1, vec![(false, 8, 8)])),
        ),
        // One of two.
        (
            "1: mov (%rdi),%rax\nmov (%rax),%rdx\nadd $8,%rdi\ndec %rcx\njnz 1b",
            Some((1, vec![(false, 8, 8)])),
        ),
        // Bytes between that are not touched.
        ("1: mov (%rdi),%rax\nadd $16,%rdi\ndec %rcx\njnz 1b", None),
        // Not in each iteration.
        ("1: test %eax,%eax\njz 2f\nmov %eax,(%rdi)\n2: add $4,%rdi\ndec %rcx\njnz 1b", None),
        ("1: mov %eax,(%rdi)\ntest %eax,%eax\njz 2f\nadd $4,%rdi\n2: dec %rcx\njnz 1b", None),
        // Not by a constant, or not known.
        ("1: mov %eax,(%rdi)\nadd %rdx,%rdi\ndec %rcx\njnz 1b", None),
        ("1: mov %eax,(%rdi)\nadd $4,%rdi\nadd $4,%rdi\ndec %rcx\njnz 1b", None),
        ("1: mov (%rdi),%rdi\ndec %rcx\njnz 1b", None),
        ("1: mov %eax,(%rdi,%rdi)\nadd $4,%rdi\ndec %rcx\njnz 1b", None),
        ("1: mov %eax,(%rdi,%rsi)\nadd $4,%rdi\ninc %rsi\ndec %rcx\njnz 1b", None),
        ("1: mov %eax,(%rdi)\nadd $4,%edi\ndec %rcx\njnz 1b", None),
        ("1: mov %eax,(%rdi)\ndec %rcx\njnz 1b", None),
        // Something may synchronise.
        ("1: mov %eax,(%rdi)\nadd $4,%rdi\ncall main\ndec %rcx\njnz 1b", None),
        ("1: mov %eax,(%rdi)\nadd $4,%rdi\nlock incl (%rsi)\ndec %rcx\njnz 1b", None),
        ("1: mov %eax,(%rdi)\nadd $4,%rdi\nxchg %eax,(%rsi)\ndec %rcx\njnz 1b", None),
        ("1: mov %eax,(%rdi)\nadd $4,%rdi\nmfence\ndec %rcx\njnz 1b", None),
        ("1: mov %eax,(%rdi)\nadd $4,%rdi\nsyscall\ndec %rcx\njnz 1b", None),
        // Other ways.
        ("jmp 2f\n1: mov %eax,(%rdi)\n2: add $4,%rdi\ndec %rcx\njnz 1b", None),
        ("lea 2f(%rip),%rdx\n1: mov %eax,(%rdi)\n2: add $4,%rdi\ndec %rcx\njnz 1b", None),
        ("1: mov %eax,(%rdi)\ntest %eax,%eax\njz 1b\nadd $4,%rdi\ndec %rcx\njnz 1b", None),
        ("test %ecx,%ecx\njz 1f\njmp *%rcx\n1: mov %eax,(%rdi)\nadd $4,%rdi\ndec %rcx\njnz 1b", None),
        // Flags pass from iteration to iteration.
        ("1: adc (%rdi),%rax\nlea 8(%rdi),%rdi\ndec %rcx\njnz 1b", None),
    ];
    let bodies: Vec<&str> = cases.iter().map(|c| c.0).collect();
    for (shape, (body, expected)) in shapes(&bodies).into_iter().zip(cases) {
        assert_eq!(shape, *expected, "{body}");
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }
}

/// A loop whose jumps go as they like.
fn random_loop(random: &mut Random) -> String {
    let access = |random: &mut Random| {
        let at = 4 * random.below(5) as i64 - 8;
        let operand = random.one_of(&[
            "(%rdi)",
            "(%rsi)",
            "(%rbx,%rax,4)",
            "(%rbx,%rax,8)",
            "(%rdi,%rdx)",
            "(%r10)",
            "(%r10,%r11)",
        ]);
        let accesses = ["mov %r9b,M", "mov %r9d,M", "mov %r9,M", "mov M,%r9d", "mov M,%r9", "movups %xmm0,M"];
        random.one_of(&accesses).replace('M', &format!("{at}{operand}")) + "\n"
    };
    let mut items: Vec<String> = (0..2 + random.below(5)).map(|_| access(random)).collect();
    let steps = [
        ["add $4,%rdi", "sub $8,%rdi", "add $8,%rdi"],
        ["lea 8(%rsi),%rsi", "add $4,%rsi", "lea -16(%rsi),%rsi"],
        ["inc %rax", "dec %rax", "add $2,%rax"],
    ];
    let mut others: Vec<String> = steps.iter().map(|s| random.one_of(s).to_string() + "\n").collect();
    for label in 0..random.below(3) {
        others.push(match random.below(3) {
            0 => format!("test %r8,%r8\nje 2{label}f\n{}2{label}:\n", access(random)),
            _ => "test %r8,%r8\nje 9f\n".into(),
        });
    }
    for other in others {
        items.insert(random.below(items.len() as u64 + 1) as usize, other);
    }
    format!("1:\n{}dec %rcx\njnz 1b", items.concat())
}

/// Bytes, and whether they are written.
type Touched = HashSet<(i64, bool)>;

/// Executes a loop with random jumps. What the accesses without probes touched, the jump that left
/// the loop, and the registers then.
fn execute(code: &Code, l: &Loop, random: &mut Random) -> (Touched, usize, HashMap<Register, i64>) {
    let (mut touched, mut registers) = (Touched::new(), starting_values());
    let mut n = l.body.start;
    let mut left = 1 + random.below(12);
    loop {
        let i = &code.instructions[n];
        let full = if i.op0_kind() == OpKind::Register { i.op0_register() } else { Register::None };
        if let Some(step) = step(i, full) {
            *registers.entry(full).or_default() += step;
        }
        if let (InstructionAccess::Read { size } | InstructionAccess::Write { size }, true) =
            (code.accesses[n], l.unprobed.contains(&n))
        {
            let at = address(i, &registers) + i.memory_displacement64() as i64;
            let write = matches!(code.accesses[n], InstructionAccess::Write { .. });
            touched.extend((at..at + i64::from(size)).map(|byte| (byte, write)));
        }
        let mut next = n + 1;
        if is_jump(i) {
            let is_last = n + 1 == l.body.end;
            left -= u64::from(is_last && left > 0);
            let jumps = if is_last { left > 0 } else { random.below(6) == 0 };
            if jumps {
                next = target(code, n).filter(|to| l.body.contains(to)).unwrap_or(usize::MAX);
            }
            if next == usize::MAX || next == l.body.end {
                return (touched, n, registers);
            }
        }
        n = next;
    }
}

fn starting_values() -> HashMap<Register, i64> {
    use Register::*;
    [(RDI, 100_000), (RSI, 200_000), (RBX, 300_000), (RAX, 1000), (RCX, 0), (R10, 400_000), (R11, 50)]
        .into_iter()
        .collect()
}

fn address(i: &Instruction, registers: &HashMap<Register, i64>) -> i64 {
    let of = |r: Register| registers.get(&r).copied().unwrap_or(0);
    of(i.memory_base()) + of(i.memory_index()) * i64::from(i.memory_index_scale())
}

/// What the checks at the jump `exit` announce.
fn announced(code: &Code, l: &Loop, exit: usize, registers: &HashMap<Register, i64>) -> Touched {
    let mut all = Touched::new();
    for range in &l.ranges {
        let i = &code.instructions[range.named];
        let first = address(i, &starting_values()) + range.low;
        let last = address(i, registers) + l.last(code, range, exit);
        let (low, high) = if range.stride > 0 { (first, last) } else { (last, first) };
        if low <= high {
            all.extend((low..high + range.len).map(|byte| (byte, range.write)));
        }
    }
    all
}

/// Each byte is announced that was touched, and no other. A write may stand for a read.
fn is_right(touched: &Touched, announced: &Touched) -> bool {
    touched.iter().all(|(byte, write)| {
        announced.contains(&(*byte, true)) || !write && announced.contains(&(*byte, false))
    }) && announced.is_subset(touched)
}

#[test]
fn random_loops_are_announced_to_the_byte() {
    let mut random = Random(1);
    let bodies: Vec<String> = (0..400).map(|_| random_loop(&mut random)).collect();
    let (code, all) = found(&bodies);
    let (mut loops, mut noticed, mut unnoticed) = (0, 0, 0);
    for (found, body) in all.into_iter().zip(&bodies) {
        let Some(mut l) = found.into_iter().next() else { continue };
        loops += 1;
        for _ in 0..8 {
            let (touched, exit, registers) = execute(&code, &l, &mut random);
            assert!(is_right(&touched, &announced(&code, &l, exit, &registers)), "{body}\n{l:?}");
        }
        // A wrong one is noticed: a range too few, one that begins or ends elsewhere, one that is
        // of the wrong kind.
        let right = l.ranges.clone();
        for wrong in 0..4 {
            l.ranges = right.clone();
            match wrong {
                0 => drop(l.ranges.pop()),
                1 => l.ranges[0].low += 4,
                2 => l.ranges[0].len += 1,
                _ => l.ranges[0].write ^= true,
            }
            let is_noticed = (0..8).any(|_| {
                let (touched, exit, registers) = execute(&code, &l, &mut random);
                !is_right(&touched, &announced(&code, &l, exit, &registers))
            });
            *if is_noticed { &mut noticed } else { &mut unnoticed } += 1;
        }
    }
    assert!(loops > 100 && noticed > 10 * unnoticed, "{loops} {noticed} {unnoticed}");
}
