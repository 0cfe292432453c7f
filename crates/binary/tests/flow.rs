//! Flow of control and data in code whose answers are known: written by hand, or by gcc.

mod common;

use std::rc::Rc;

use common::{Workshop, address_of};
use raddle_binary::Module;
use raddle_binary::flow::{
    Expression, MachineFunction, MachineProgram, Predicate, Query, SliceLimits, SliceStart, Sliced, slice,
    tested,
};

const LIMITS: SliceLimits = SliceLimits { distance: 4, depth: 3, steps: 10_000, callers: false };

/// A program at fixed addresses with variables `a` to `d`, made of assembly.
fn assembled(code: &str) -> (Workshop, Module) {
    let workshop = Workshop::new();
    let data = ".bss\n.globl a, b, c, d\na: .zero 8\nb: .zero 8\nc: .zero 8\nd: .zero 8\n";
    let types = "a b c d".split(' ').map(|name| format!(".type {name}, @object\n.size {name}, 8\n"));
    let source = format!("{data}{}.text\n{code}\n", types.collect::<String>());
    let module = workshop.build("code.s", &source, "gcc -nostartfiles -Wl,-e,f");
    (workshop, module)
}

/// A function of assembly, with its size.
fn function(name: &str, body: &str) -> String {
    format!(".globl {name}\n.type {name}, @function\n{name}:\n{body}\n.size {name}, . - {name}\n")
}

fn analysed<'m>(program: &MachineProgram<'m>, name: &str) -> Rc<MachineFunction<'m>> {
    let entry = address_of(program.module().path(), name);
    program.function(entry).expect("a function")
}

fn at(function: &MachineFunction, module: &Module, label: &str) -> u32 {
    function.index_of(address_of(module.path(), label)).expect("an instruction")
}

/// The variables that a slice reads, with distances.
fn variables(module: &Module, sliced: &Sliced) -> Vec<(String, u32)> {
    let name =
        |address: u64| module.data_symbol(address).map_or(format!("{address:x}"), |symbol| symbol.name);
    sliced.reads.iter().map(|read| (read.variable.map_or("*".into(), name), read.distance)).collect()
}

fn sliced(program: &MachineProgram, function: &MachineFunction, start: SliceStart) -> Vec<(String, u32)> {
    variables(program.module(), &slice(program, function.entry(), &[(start, 0)], LIMITS, None))
}

fn pairs(expected: &[(&str, u32)]) -> Vec<(String, u32)> {
    expected.iter().map(|(name, distance)| (name.to_string(), *distance)).collect()
}

#[test]
fn values_go_through_registers_slots_pushes_and_arithmetic() {
    let code = function(
        "f",
        "push %rbp; mov %rsp, %rbp; sub $32, %rsp
         mov a(%rip), %eax; mov %eax, -8(%rbp)
         mov b(%rip), %ecx; push %rcx; xor %ecx, %ecx; pop %rdx
         mov -8(%rbp), %esi; add %edx, %esi
         mov c(%rip), %edi
         cmp $7, %esi
         je 1f
         leave; ret
         1: bad: call stop
         ud2",
    );
    let (_workshop, module) = assembled(&format!("{code}{}", function("stop", "ud2")));
    let program = MachineProgram::new(&module);
    let f = analysed(&program, "f");
    assert_eq!(
        sliced(&program, &f, SliceStart::Control(at(&f, &module, "bad"))),
        pairs(&[("a", 2), ("b", 2)])
    );
}

#[test]
fn a_slot_that_is_overwritten_no_longer_counts() {
    let code = function(
        "f",
        "sub $24, %rsp
         mov a(%rip), %rax; mov %rax, 8(%rsp)
         mov b(%rip), %rax; mov %rax, 8(%rsp)
         mov c(%rip), %eax; mov %eax, 12(%rsp)
         cmpl $0, 8(%rsp)
         je 1f
         cmpl $0, 12(%rsp)
         je 2f
         add $24, %rsp; ret
         1: low: call stop
         2: high: call stop",
    );
    let (_workshop, module) = assembled(&format!("{code}{}", function("stop", "ud2")));
    let program = MachineProgram::new(&module);
    let f = analysed(&program, "f");
    let control = |label| sliced(&program, &f, SliceStart::Control(at(&f, &module, label)));
    assert_eq!(control("low"), pairs(&[("b", 1)]), "the store of a is gone, that of c is beside");
    assert_eq!(control("high"), pairs(&[("c", 1)]), "and the first failure decides nothing here");
}

#[test]
fn a_jump_table_is_followed_and_its_index_decides() {
    let source = "int a, b, out; void stop(void);
        __attribute__((noinline)) void f(int n) {
            switch (a) { case 0: out = n; break; case 1: out = n * 3; break; case 2: out = n - 7; break;
              case 3: out = -n; break; case 4: stop(); break; case 5: out = n / 3; break; case 6: out = n ^ 9; break;
              default: out = 1; } out += b; }
        __attribute__((noinline)) void stop(void) { __asm__ volatile(\"\"); }
        int main(int n, char **v) { f(n); return 0; }";
    for flags in ["-O0", "-O2", "-O2 -no-pie -fno-pie"] {
        let workshop = Workshop::new();
        let module = workshop.build("a.c", source, &format!("gcc {flags} -fno-inline"));
        let program = MachineProgram::new(&module);
        let f = analysed(&program, "f");
        let query = Query::new(&program, f.clone());
        let calls = query.calls();
        let stop = calls.iter().find(|(_, callee)| callee.name == Some("stop"));
        let stop = stop.unwrap_or_else(|| panic!("{flags}: the case that calls is not reached")).0;
        let found = sliced(&program, &f, SliceStart::Control(stop));
        assert_eq!(found.first().map(|(name, _)| name.as_str()), Some("a"), "{flags}: {found:?}");
        assert!(found.iter().all(|(name, _)| name == "a"), "{flags}: {found:?}");
    }
}

#[test]
fn functions_that_never_return_are_known_by_their_code() {
    let source = "#include <stdlib.h>\nint a, b;
        __attribute__((noinline)) void fatal(int n) { if (n) exit(2); abort(); }
        __attribute__((noinline)) void wrapped(int n) { fatal(n + 1); }
        __attribute__((noinline)) void f(void) { if (a) wrapped(3); if (b) fatal(4); }
        int main(void) { f(); return 0; }";
    let workshop = Workshop::new();
    for flags in ["-O0", "-O2"] {
        let module = workshop.build("a.c", source, &format!("gcc {flags} -fno-ipa-pure-const"));
        let program = MachineProgram::new(&module);
        let f = analysed(&program, "f");
        let query = Query::new(&program, f.clone());
        let call = |name: &str| {
            let found =
                query.calls().into_iter().find(|(_, callee)| callee.name.is_some_and(|n| n.contains(name)));
            found.unwrap_or_else(|| panic!("{flags}: {name}")).0
        };
        assert_eq!(sliced(&program, &f, SliceStart::Control(call("fatal"))), pairs(&[("b", 1)]), "{flags}");
        assert_eq!(sliced(&program, &f, SliceStart::Control(call("wrapped"))), pairs(&[("a", 1)]), "{flags}");
    }
}

#[test]
fn conditions_are_what_the_jumps_test() {
    let tests = [
        ("cmpl $5, a(%rip); jl 1f", vec![(4, true), (5, false), (u64::MAX, true)]),
        ("cmpl $5, a(%rip); jb 1f", vec![(4, true), (u64::MAX, false)]),
        ("mov a(%rip), %eax; test %eax, %eax; jns 1f", vec![(0, true), (u64::MAX, false)]),
        ("mov a(%rip), %rax; test $6, %al; jne 1f", vec![(2, true), (9, false)]),
        ("movsbl a(%rip), %eax; add $3, %eax; cmp $2, %eax; je 1f", vec![(255, true), (2, false)]),
        ("movzbl a(%rip), %eax; lea 1(%rax,%rax,2), %ecx; cmp $7, %ecx; je 1f", vec![(2, true), (3, false)]),
        (
            "cmpl $3, a(%rip); setg %al; movzbl %al, %eax; xor $1, %eax; test %eax, %eax; je 1f",
            vec![(4, true), (3, false)],
        ),
        (
            "mov a(%rip), %ecx; shr $4, %ecx; and $15, %ecx; cmp $2, %ecx; je 1f",
            vec![(0x25, true), (0x35, false)],
        ),
        ("mov a(%rip), %ecx; imul $3, %ecx, %ecx; sub $9, %ecx; je 1f", vec![(3, true), (4, false)]),
        ("mov a(%rip), %eax; bt $3, %eax; jb 1f", vec![(8, true), (7, false)]),
        ("mov a(%rip), %eax; neg %eax; cmp $-4, %eax; je 1f", vec![(4, true), (5, false)]),
    ];
    for (code, values) in tests {
        let (_workshop, module) = assembled(&function("f", &format!("{code}\nret\n1: there: nop; ret")));
        let program = MachineProgram::new(&module);
        let f = analysed(&program, "f");
        let deciding = Query::new(&program, f.clone()).deciding(at(&f, &module, "there"));
        assert_eq!(deciding.len(), 1, "{code}");
        assert_eq!(deciding[0].taken, Some(true), "{code}");
        let test =
            tested(&program, &f, deciding[0].branch).unwrap_or_else(|| panic!("{code}: not understood"));
        for (value, taken) in values {
            assert_eq!(
                test.evaluate(&|_| Some(value)),
                Some(u64::from(taken)),
                "{code} with {value}: {test:?}"
            );
        }
    }
}

#[test]
fn a_value_that_depends_on_the_path_has_no_expression() {
    let code = "mov a(%rip), %eax; cmpl $0, b(%rip); je 2f; mov c(%rip), %eax
        2: cmp $1, %eax; join: je 1f; ret; 1: nop; ret";
    let (_workshop, module) = assembled(&function("f", code));
    let program = MachineProgram::new(&module);
    let f = analysed(&program, "f");
    assert_eq!(tested(&program, &f, at(&f, &module, "join")), None);
    let found = sliced(&program, &f, SliceStart::Branch(at(&f, &module, "join")));
    assert_eq!(found, pairs(&[("a", 0), ("c", 0), ("b", 1)]), "but the slice has all of them");
}

#[test]
fn a_getter_is_looked_through() {
    let code = [
        function("get", "mov a(%rip), %eax; ret"),
        function("f", "sub $8, %rsp; call get; cmp $4, %eax; there: je 1f; add $8, %rsp; ret; 1: ud2"),
    ];
    let (_workshop, module) = assembled(&code.concat());
    let program = MachineProgram::new(&module);
    let f = analysed(&program, "f");
    match tested(&program, &f, at(&f, &module, "there")) {
        Some(Expression::Comparison { predicate: Predicate::Equal, width: 4, left, .. }) => {
            assert!(matches!(*left, Expression::Read { size: 4, .. }));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn constant_arguments_decide_what_a_callee_does() {
    // Loads a for 0, b for 1, c for 2, by a jump table; d where the argument is not known.
    let choose = "cmp $2, %edi; ja 4f; mov %edi, %eax; lea table(%rip), %rdx; movslq (%rdx,%rax,4), %rax; add %rdx, %rax
        jmp *%rax; 1: mov a(%rip), %eax; ret; 2: mov b(%rip), %eax; ret; 3: mov c(%rip), %eax; ret
        4: mov d(%rip), %eax; ret
        .section .rodata; .balign 4; table: .long 1b - table, 2b - table, 3b - table; .text";
    let through = "push %rbx; mov %esi, %edi; call choose; pop %rbx; ret";
    let ask = |set: &str, callee: &str| {
        format!(
            "sub $8, %rsp; {set}; call {callee}; cmp $4, %eax; there_{callee}: je 1f; add $8, %rsp; ret; 1: ud2"
        )
    };
    let code = [
        format!(".globl choose\n.type choose, @function\nchoose: {choose}\n.size choose, 4b - choose + 7\n"),
        function("through", through),
        function("f", &ask("mov $1, %edi", "choose")),
        function("g", &ask("mov $2, %esi", "through")),
        function(
            "h",
            &ask("mov $1, %edi", "choose").replace("mov $1", "mov b(%rip)").replace("there", "known"),
        ),
    ];
    let (_workshop, module) = assembled(&code.concat());
    let program = MachineProgram::new(&module);
    for (name, label, expected) in [("f", "there_choose", "b"), ("g", "there_through", "c")] {
        let function = analysed(&program, name);
        let branch = at(&function, &module, label);
        assert_eq!(
            sliced(&program, &function, SliceStart::Branch(branch)),
            pairs(&[(expected, 0)]),
            "{name}"
        );
        assert!(tested(&program, &function, branch).is_some(), "{name}");
    }
    let h = analysed(&program, "h");
    let branch = at(&h, &module, "known_choose");
    let found = sliced(&program, &h, SliceStart::Branch(branch));
    assert_eq!(found.iter().filter(|(_, distance)| *distance == 0).count(), 4, "any of them: {found:?}");
    assert_eq!(tested(&program, &h, branch), None);
}

#[test]
fn functions_that_call_themselves_come_to_an_end() {
    let body = "sub $8, %rsp; cmp $3, %edi; je 1f; mov $2, %edi; call f; cmp $1, %eax; there: je 1f
        mov $4, %edi; call g; 1: add $8, %rsp; ret";
    let code = [function("f", body), function("g", "mov $5, %edi; jmp f")];
    let (_workshop, module) = assembled(&code.concat());
    let program = MachineProgram::new(&module);
    let f = analysed(&program, "f");
    let branch = at(&f, &module, "there");
    assert_eq!(tested(&program, &f, branch), None);
    let limits = SliceLimits { depth: 50, callers: true, ..LIMITS };
    assert!(slice(&program, f.entry(), &[(SliceStart::Branch(branch), 0)], limits, None).reads.is_empty());
}

#[test]
fn pointers_into_a_frame_lead_to_its_slots() {
    let code = [
        function("fill", "mov a(%rip), %eax; mov %eax, 4(%rdi); mov b(%rip), %eax; mov %eax, (%rdi); ret"),
        function("pass", "sub $8, %rsp; call fill; add $8, %rsp; ret"),
        function(
            "f",
            "sub $24, %rsp; lea 8(%rsp), %rdi; call pass; cmpl $0, 12(%rsp); there: je 1f; add $24, %rsp; ret; 1: ud2",
        ),
    ];
    let (_workshop, module) = assembled(&code.concat());
    let program = MachineProgram::new(&module);
    let f = analysed(&program, "f");
    assert_eq!(sliced(&program, &f, SliceStart::Branch(at(&f, &module, "there"))), pairs(&[("a", 0)]));
}

#[test]
fn callers_are_asked_when_that_is_wanted() {
    let code = [
        function("check", "cmp $0, %edi; there: je 1f; ret; 1: ud2"),
        function(
            "f",
            "sub $8, %rsp; mov a(%rip), %edi; call check; mov b(%rip), %edi; call check; add $8, %rsp; ret",
        ),
    ];
    let (_workshop, module) = assembled(&code.concat());
    let program = MachineProgram::new(&module);
    let check = analysed(&program, "check");
    let start = [(SliceStart::Branch(at(&check, &module, "there")), 0)];
    assert!(slice(&program, check.entry(), &start, LIMITS, None).reads.is_empty());
    let found = slice(&program, check.entry(), &start, SliceLimits { callers: true, ..LIMITS }, None);
    assert_eq!(variables(&module, &found), pairs(&[("a", 1), ("b", 1)]));
}

#[test]
fn loops_know_their_ways_out_and_whether_they_wait() {
    let code = [
        function("f", "1: cmpl $0, a(%rip); out: jne 2f; pause; jmp 1b; 2: ret"),
        function("g", "1: incl b(%rip); cmpl $0, a(%rip); back: je 1b; ret"),
    ];
    let (_workshop, module) = assembled(&code.concat());
    let program = MachineProgram::new(&module);
    for (name, label, waits, stays) in [("f", "out", true, false), ("g", "back", false, true)] {
        let function = analysed(&program, name);
        let query = Query::new(&program, function.clone());
        let loops = query.loops();
        assert_eq!(loops.len(), 1, "{name}");
        assert_eq!(loops[0].waits, waits, "{name}");
        assert_eq!(loops[0].exits.len(), 1, "{name}");
        let exit = loops[0].exits[0];
        assert_eq!((exit.branch, exit.stays_when_taken), (at(&function, &module, label), stays), "{name}");
    }
}

#[test]
fn pointers_from_shared_memory_are_told_from_others() {
    let code = function(
        "f",
        "mov a(%rip), %rax; used: mov 16(%rax), %ecx
         mov b(%rip), %eax; lea c(%rip), %rdx; mov (%rdx,%rax,4), %ecx
         mov (%rdi), %ecx; mov 8(%rsp), %ecx; ret",
    );
    let (_workshop, module) = assembled(&code);
    let program = MachineProgram::new(&module);
    let f = analysed(&program, "f");
    let found = Query::new(&program, f.clone()).dereferences();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].index, found[0].offset), (at(&f, &module, "used"), 16));
    assert_eq!(found[0].variable, Some(address_of(module.path(), "a")));
}

#[test]
fn what_lands_after_an_exception_is_code_of_the_function() {
    let source = "#include <cstdio>\nint a, b; void work(int);
        __attribute__((noinline)) int f() { int x = a; try { work(x); } catch (int) { if (x > 3) perror(\"caught\"); } return b; }
        __attribute__((noinline)) void work(int n) { if (n > 1) throw n; }
        int main() { return f(); }";
    for flags in ["-O0", "-O2"] {
        let workshop = Workshop::new();
        let module = workshop.build("a.cpp", source, &format!("g++ {flags}"));
        let program = MachineProgram::new(&module);
        let entry = address_of(module.path(), "_Z1fv");
        let f = program.function(entry).unwrap();
        let calls = Query::new(&program, f.clone()).calls();
        let perror = calls.iter().find(|(_, callee)| callee.name == Some("perror"));
        let perror = perror.unwrap_or_else(|| panic!("{flags}: the handler is not reached")).0;
        assert_eq!(sliced(&program, &f, SliceStart::Control(perror)), pairs(&[("a", 1)]), "{flags}");
    }
}

#[test]
fn fingerprints_do_not_depend_on_where_code_lies() {
    let body = "cmpl $4, a(%rip); je 1f; ret; 1: ud2";
    let changed = "cmpl $5, a(%rip); je 1f; ret; 1: ud2";
    let front = function("front", "mov %edi, %eax; ret; .balign 64");
    let print = |code: &str, name: &str| {
        let (_workshop, module) = assembled(code);
        MachineProgram::new(&module).fingerprint(address_of(module.path(), name)).expect("a fingerprint")
    };
    let first = print(&function("f", body), "f");
    assert_eq!(first, print(&format!("{front}{}", function("f", body)), "f"));
    assert_ne!(first, print(&function("f", changed), "f"), "another constant");
    assert_ne!(first, print(&function("f", &body.replace("a(", "b(")), "f"), "another variable");
    assert_ne!(
        first,
        print(&format!("{}{}", function("f", "ret"), function("g", body)), "g"),
        "another name"
    );
}

#[test]
fn everything_can_be_asked_of_a_large_real_library() {
    // The C library, linked in: hand-written assembly, odd sections, thousands of functions.
    let workshop = Workshop::new();
    let source = "#include <stdio.h>\nint main(int n, char **v) { printf(\"%d\", n); return 0; }";
    let module = workshop.build("a.c", source, "gcc -static");
    let program = MachineProgram::new(&module);
    let mut asked = 0;
    for outline in program.outlines().iter().step_by(20) {
        let Some(function) = program.function(outline.range.start) else { continue };
        let query = Query::new(&program, function.clone());
        for (index, _) in query.calls() {
            slice(&program, function.entry(), &[(SliceStart::Control(index), 0)], LIMITS, None);
        }
        asked += query.loops().len() + query.dereferences().len() + 1;
    }
    assert!(asked > 50, "{asked}");
}
