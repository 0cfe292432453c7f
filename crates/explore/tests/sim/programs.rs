//! Programs with known bugs, after the classes that the literature uses, and some without.

use super::Ins::{self, *};
use super::Program;

/// A main thread that starts all others and waits for them, then runs `after`.
pub fn start_all(name: &str, codes: Vec<Vec<Ins>>, threads: &[usize], after: &[Ins]) -> Program {
    let n = threads.len();
    let mut main: Vec<Ins> = (1..=n).map(Spawn).collect();
    main.extend((1..=n).map(Join));
    let shift = main.len();
    main.extend(after.iter().map(|ins| match *ins {
        Jump(to) => Jump(to + shift),
        JumpIf(r, k, to) => JumpIf(r, k, to + shift),
        JumpIfNot(r, k, to) => JumpIfNot(r, k, to + shift),
        other => other,
    }));
    let mut all = vec![main];
    all.extend(codes);
    let mut of = vec![0];
    of.extend(threads.iter().map(|c| c + 1));
    Program { name: name.into(), codes: all, threads: of, semaphores: vec![0; 4], spurious: false }
}

/// Two increments, each a read and a write.
pub fn lost_update() -> Program {
    start_all("lost_update", vec![vec![Load(0, 0), Store(0, 0, 1)]], &[0, 0], &[Load(0, 0), Assert(0, 2)])
}

/// The same with a lock: no bug.
pub fn locked_counter(threads: usize, times: usize) -> Program {
    let code = [Lock(0), Load(0, 0), Store(0, 0, 1), Unlock(0)].repeat(times);
    let total = (threads * times) as i64;
    start_all("locked_counter", vec![code], &vec![0; threads], &[Load(0, 0), Assert(0, total)])
}

pub fn abba() -> Program {
    let first = vec![Lock(0), Lock(1), Unlock(1), Unlock(0)];
    let second = vec![Lock(1), Lock(0), Unlock(0), Unlock(1)];
    start_all("abba", vec![first, second], &[0, 1], &[])
}

/// Looks under the lock whether there is something, lets go, takes it under the lock.
pub fn check_then_act() -> Program {
    let taker = vec![
        Lock(0),
        Load(0, 0),
        Unlock(0),
        JumpIf(0, 0, 9),
        Lock(0),
        Load(0, 1),
        Assert(1, 1),
        StoreConst(0, 0),
        Unlock(0),
    ];
    let mut p = start_all("check_then_act", vec![taker], &[0, 0], &[]);
    p.codes[0].insert(0, StoreConst(0, 1));
    p
}

/// SCTBench's reorder: setters write a and then b; the checker must not see the one without the
/// other.
pub fn reorder(setters: usize) -> Program {
    let setter = vec![StoreConst(0, 1), StoreConst(1, -1)];
    let checker = vec![Load(0, 0), Load(1, 1), JumpIf(0, 0, 5), Assert(1, -1), Jump(6), Assert(1, 0)];
    let mut threads = vec![0; setters];
    threads.push(1);
    start_all(&format!("reorder_{setters}"), vec![setter, checker], &threads, &[])
}

/// SCTBench's twostage: two values, each under its own lock, belong together.
pub fn twostage(writers: usize) -> Program {
    let writer = vec![Lock(0), StoreConst(0, 1), Unlock(0), Lock(1), Load(0, 0), Store(1, 0, 1), Unlock(1)];
    let reader = vec![
        Lock(0),
        Load(0, 0),
        JumpIf(0, 0, 8),
        Unlock(0),
        Lock(1),
        Load(1, 1),
        Unlock(1),
        AssertSum(1, 0, 1),
    ];
    // The early return keeps its lock in the original; here it gives it back.
    let mut reader: Vec<Ins> = reader;
    reader.push(Jump(11));
    reader.push(Unlock(0));
    reader[2] = JumpIf(0, 0, 9);
    let mut threads = vec![0; writers];
    threads.push(1);
    start_all(&format!("twostage_{writers}"), vec![writer, reader], &threads, &[])
}

/// SCTBench's wronglock: one thread reads and increments under one lock, the others under another.
pub fn wronglock(others: usize) -> Program {
    let careful =
        vec![Lock(0), Load(0, 0), Load(0, 1), Store(0, 1, 1), Load(0, 2), AssertSum(2, 0, 1), Unlock(0)];
    let other = vec![Lock(1), Load(0, 0), Store(0, 0, 1), Unlock(1)];
    let mut threads = vec![0];
    threads.extend(vec![1; others]);
    start_all(&format!("wronglock_{others}"), vec![careful, other], &threads, &[])
}

/// The stop flag of the Bluetooth driver. Cells: 0 stopping, 1 pending, 2 event, 3 stopped.
pub fn bluetooth() -> Program {
    let stopper = vec![
        StoreConst(0, 1),
        Rmw(1, 0, -1),
        JumpIfNot(0, 1, 4),
        StoreConst(2, 1),
        // Waits for the event.
        Load(2, 0),
        JumpIf(0, 1, 8),
        Yield,
        Jump(4),
        StoreConst(3, 1),
    ];
    let mut main = vec![
        StoreConst(1, 1),
        Spawn(1),
        Load(0, 0),
        JumpIf(0, 1, 6),
        Rmw(1, 1, 1),
        Set(2, 1),
        // Only if it got in: the driver must not have stopped.
        JumpIfNot(2, 1, 9),
        Load(3, 3),
        Assert(3, 0),
        Rmw(1, 1, -1),
        JumpIfNot(1, 1, 12),
        StoreConst(2, 1),
        Join(1),
    ];
    // A request that was refused does not count itself out.
    main[3] = JumpIf(0, 1, 12);
    Program {
        name: "bluetooth".into(),
        codes: vec![main, stopper],
        threads: vec![0, 1],
        semaphores: vec![],
        spurious: false,
    }
}

/// The flag is looked at without the lock, and the signal sent before the wait.
pub fn lost_wakeup() -> Program {
    let waiter = vec![Load(0, 0), JumpIf(0, 1, 5), Lock(0), Wait(0, 0), Unlock(0)];
    let waker = vec![StoreConst(0, 1), Signal(0)];
    start_all("lost_wakeup", vec![waiter, waker], &[0, 1], &[])
}

/// One condition variable for two conditions, `if` where `while` is needed is not the bug: `signal`
/// is.
pub fn one_condition(consumers: usize, producers: usize) -> Program {
    let consumer = vec![
        Lock(0),
        Load(0, 0),
        JumpIf(0, 1, 5),
        Wait(0, 0),
        Jump(1),
        StoreConst(0, 0),
        Signal(0),
        Unlock(0),
    ];
    let producer = vec![
        Lock(0),
        Load(0, 0),
        JumpIf(0, 0, 5),
        Wait(0, 0),
        Jump(1),
        StoreConst(0, 1),
        Signal(0),
        Unlock(0),
    ];
    let mut threads = vec![0; consumers];
    threads.extend(vec![1; producers]);
    start_all("one_condition", vec![consumer, producer], &threads, &[])
}

/// Waits with `if`: a spurious wake-up is enough.
pub fn spurious_wakeup() -> Program {
    let waiter = vec![Lock(0), Load(0, 0), JumpIf(0, 1, 6), Wait(0, 0), Load(0, 0), Assert(0, 1), Unlock(0)];
    let waker = vec![Lock(0), StoreConst(0, 1), Signal(0), Unlock(0)];
    let mut p = start_all("spurious_wakeup", vec![waiter, waker], &[0, 1], &[]);
    p.spurious = true;
    p
}

pub fn dining(n: usize) -> Program {
    let philosopher = |i: usize| {
        let (left, right) = (i, (i + 1) % n);
        vec![Lock(left), Lock(right), Unlock(right), Unlock(left)]
    };
    let threads: Vec<usize> = (0..n).collect();
    start_all(&format!("dining_{n}"), (0..n).map(philosopher).collect(), &threads, &[])
}

/// Threads spin, yielding, until another has set a flag: no bug, and it must end.
pub fn spin(spinners: usize) -> Program {
    let spinner = vec![Load(0, 0), JumpIf(0, 1, 4), Yield, Jump(0)];
    let setter = vec![Lock(0), Unlock(0), StoreConst(0, 1)];
    let mut threads = vec![0; spinners];
    threads.push(1);
    start_all("spin", vec![spinner, setter], &threads, &[])
}

/// Spins without hope.
pub fn spin_forever() -> Program {
    let spinner = vec![Load(0, 0), JumpIf(0, 1, 4), Yield, Jump(0)];
    start_all("spin_forever", vec![spinner], &[0, 0], &[])
}

/// A split read-modify-write after some noise, as in `figures.md`.
pub fn needle(noise: usize) -> Program {
    let mut code = [Lock(1), Unlock(1)].repeat(noise);
    code.extend([Load(0, 0), Store(0, 0, 1)]);
    start_all("needle", vec![code], &[0, 0, 0], &[Load(0, 0), Assert(0, 3)])
}

/// Two threads wait for each other before each round, by yielding, and increment without a lock.
pub fn yielding_rounds(rounds: i64) -> Program {
    let code = |own: usize, other: usize| {
        let mut code = Vec::new();
        for round in 1..=rounds {
            code.push(StoreConst(own, round));
            let look = code.len();
            // The other one may be a round ahead.
            let go_on = look + 5;
            code.extend([Load(other, 0), JumpIf(0, round, go_on), JumpIf(0, round + 1, go_on)]);
            code.extend([Yield, Jump(look), Load(0, 1), Store(0, 1, 1)]);
        }
        code
    };
    start_all("yielding_rounds", vec![code(1, 2), code(2, 1)], &[0, 1], &[Load(0, 0), Assert(0, 2 * rounds)])
}

/// The value must be seen both before and after it flickers: two preemptions.
pub fn flicker() -> Program {
    let flickering = vec![StoreConst(0, 1), StoreConst(0, 0)];
    let watcher = vec![Load(0, 0), Load(0, 1), JumpIf(0, 0, 5), JumpIf(1, 1, 5), Fail];
    start_all("flicker", vec![flickering, watcher], &[0, 1], &[])
}

/// A semaphore that is posted before the value is there.
pub fn semaphore_order() -> Program {
    let producer = vec![SemPost(0), StoreConst(0, 1)];
    let consumer = vec![SemWait(0), Load(0, 0), Assert(0, 1)];
    start_all("semaphore_order", vec![producer, consumer], &[0, 1], &[])
}

/// The same among noise.
pub fn flicker_in_noise(noise: usize) -> Program {
    let mut p = flicker();
    p.name = format!("flicker_noise_{noise}");
    let quiet = [Lock(1), Unlock(1)].repeat(noise);
    p.codes[1].splice(0..0, quiet.clone());
    let shift = quiet.len();
    let watcher = vec![Load(0, 0), Load(0, 1), JumpIf(0, 0, 5 + shift), JumpIf(1, 1, 5 + shift), Fail];
    p.codes[2] = [quiet, watcher].concat();
    p
}

/// A chain of three: each flag is set by who saw the one before, and the last finds the first taken
/// back.
pub fn relay() -> Program {
    let first = vec![StoreConst(0, 1), StoreConst(3, 1), StoreConst(0, 0)];
    let second = vec![Load(0, 0), JumpIf(0, 0, 3), StoreConst(1, 1)];
    let third = vec![Load(1, 0), JumpIf(0, 0, 4), Load(0, 1), Assert(1, 0)];
    start_all("relay", vec![first, second, third], &[0, 1, 2], &[])
}

/// Pop looks at the top and what is below, and compares the top alone: cells 0 top, 1 below A, 2 B
/// is freed.
pub fn aba() -> Program {
    const A: i64 = 1;
    const B: i64 = 2;
    const C: i64 = 3;
    let popper = vec![
        Load(0, 0),
        JumpIfNot(0, A, 7),
        Load(1, 1),
        JumpIfNot(1, B, 7),
        Cas(0, 0, B, 2),
        JumpIf(2, 0, 7),
        Load(2, 3),
        Assert(3, 0),
    ];
    // Pops A and B, frees B, pushes A.
    let other = vec![
        Set(0, A),
        Cas(0, 0, B, 2),
        JumpIf(2, 0, 9),
        Set(0, B),
        Cas(0, 0, C, 2),
        JumpIf(2, 0, 9),
        StoreConst(2, 1),
        StoreConst(1, C),
        StoreConst(0, A),
    ];
    let mut p = start_all("aba", vec![popper, other], &[0, 1], &[]);
    p.codes[0].splice(0..0, [StoreConst(0, A), StoreConst(1, B)]);
    p
}

/// A queue of two items that an owner takes from one end and a thief from the other; the last one
/// is taken twice. Cells: 0 head, 1 tail, 2 and 3 how often an item was taken.
pub fn work_stealing() -> Program {
    let owner = vec![
        // Item 1, then item 0: lower the tail, then look at the head.
        StoreConst(1, 1),
        Load(0, 0),
        JumpIf(0, 2, 5),
        Rmw(3, 1, 1),
        Assert(1, 0),
        StoreConst(1, 0),
        Load(0, 0),
        JumpIfNot(0, 0, 10),
        Rmw(2, 1, 1),
        Assert(1, 0),
    ];
    let thief = vec![
        // Looks at both ends before it raises the head: too early.
        Load(0, 0),
        Load(1, 1),
        JumpIf(1, 0, 6),
        StoreConst(0, 1),
        Rmw(2, 2, 1),
        Assert(2, 0),
    ];
    let mut p = start_all("work_stealing", vec![owner, thief], &[0, 1], &[]);
    p.codes[0].splice(0..0, [StoreConst(1, 2)]);
    p
}

/// SCTBench's lazy01: the third fails if it is last.
pub fn lazy() -> Program {
    let add = |k| vec![Lock(0), Load(0, 0), Store(0, 0, k), Unlock(0)];
    let check = vec![Lock(0), Load(0, 0), JumpIfNot(0, 3, 4), Fail, Unlock(0)];
    start_all("lazy", vec![add(1), add(2), check], &[0, 1, 2], &[])
}

/// Three consumers, three producers and a place for one item, `signal` to whoever waits.
pub fn one_condition_large() -> Program {
    let mut p = one_condition(3, 3);
    p.name = "one_condition_3_3".into();
    p
}

/// All that have a bug.
pub fn buggy() -> Vec<Program> {
    vec![
        lost_update(),
        abba(),
        check_then_act(),
        reorder(3),
        twostage(2),
        wronglock(3),
        bluetooth(),
        lost_wakeup(),
        one_condition(2, 2),
        spurious_wakeup(),
        dining(3),
        flicker(),
        relay(),
        aba(),
        work_stealing(),
        lazy(),
        semaphore_order(),
    ]
}
