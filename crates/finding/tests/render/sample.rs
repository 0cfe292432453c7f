//! A report with one of everything, as `raddle run` would make it.

use raddle_finding::{
    Access, AccessOp, Confidence, Finding, Frame, Kind, Location, Lock, LockSpan, Report, Settlement, Stat,
    Taken, ThreadInfo, Timeline, TimelineStep, Triage, identity,
};

pub fn rich() -> Report {
    let mut report = Report::new("run", vec!["./bank".into(), "--selftest".into()]);
    report.stats.insert("seconds".into(), Stat::Float(1.25));
    report.stats.insert("flushes".into(), Stat::Int(0));
    report.stats.insert("mode".into(), Stat::Text("hb".into()));
    report.stats.insert("suppressed".into(), Stat::Int(2));
    report.stats.insert("baseline".into(), Stat::Int(1));
    report.findings = vec![global_race(), heap_use_after_free(), lock_order(), assertion()];
    identity::assign(&mut report.findings);
    report.findings[0].also = vec![further_reader(&report.findings[0])];
    report.findings[0].occurrences += 1;
    report
}

/// A lost update and a suspicion that was refuted, as `raddle hunt` would make them.
pub fn explored() -> Report {
    let mut report = Report::new("hunt", vec!["./bank".into()]);
    report.coverage = vec!["2 suspicions: 1 confirmed, 1 refuted, 0 open".into()];
    report.findings = vec![lost_update()];
    let mut refuted = lock_order();
    refuted.verdict = Some(Settlement::Refuted);
    refuted.notes = vec!["refuted: the gate `mu` is held by both".into()];
    report.suspects = vec![refuted];
    identity::assign(&mut report.findings);
    identity::assign(&mut report.suspects);
    report
}

fn lost_update() -> Finding {
    let mut finding =
        Finding::new(Kind::Assertion, Confidence::Confirmed, "assertion `total == 30` failed in main");
    finding.schedule = Some("bank-assertion-1.raddle".into());
    finding.explanation = Some("T1 reads `total`, and T2 writes it before T1 does.".into());
    finding.detectors = vec!["run".into(), "explore".into()];
    finding.test = Some("bank.deposits".into());
    finding.triage = Some(Triage { decision: "regression".into(), reason: "mended in May".into() });
    finding.accesses = assertion().accesses;
    let step = |at: u64, thread, text: &str, frame| TimelineStep {
        step: Some(at),
        thread,
        text: text.into(),
        frame: Some(frame),
        matters: !text.contains("lock"),
        ..TimelineStep::default()
    };
    let mut steps = vec![
        step(5, 1, "reads `total`", 0),
        step(6, 2, "locks L1 `mu`", 1),
        step(7, 2, "writes `total`", 2),
        step(8, 2, "unlocks L1 `mu`", 3),
        step(9, 1, "writes `total`", 2),
        TimelineStep { step: None, ..step(0, 0, "fails", 4) },
    ];
    steps[1].preempts = true;
    for (at, value) in [(0, "10"), (2, "10 → 30"), (4, "20")] {
        steps[at].value = Some(value.into());
    }
    let place = |line| frame("deposit", "bank.c", line, 3, 10);
    finding.timeline = Some(Timeline {
        threads: vec!["T0 (main)".into(), "T1 (teller)".into(), "T2 (teller)".into()],
        left_out: 5,
        frames: vec![place(11), place(12), place(13), place(14), frame("main", "bank.c", 64, 0, 50)],
        steps,
        held: vec![LockSpan {
            lock: "L1".into(),
            name: Some("mu".into()),
            thread: 2,
            from: 1,
            until: Some(3),
            read: false,
        }],
    });
    finding
}

/// What a reader of source would find for [`rich`].
pub fn source(file: &str, line: u32) -> Option<String> {
    let text = match (file, line) {
        ("/home/me/bank/src/bank.c", 12) => "\ttotal += amount;",
        ("/home/me/bank/src/bank.c", 31) => "    return total; /* unlocked */",
        ("/home/me/bank/src/pool.cc", 77) => "  memcpy(out, job->data, job->size);",
        _ => return None,
    };
    Some(text.to_owned())
}

fn frame(function: &str, file: &str, line: u32, column: u32, first: u32) -> Frame {
    Frame {
        function: Some(function.into()),
        file: Some(format!("/home/me/bank/src/{file}")),
        line: Some(line),
        column: (column > 0).then_some(column),
        module: Some("bank".into()),
        offset: Some(0x1000 + u64::from(line)),
        function_line: Some(first),
    }
}

fn bare(function: &str, module: &str, offset: u64) -> Frame {
    Frame {
        function: (!function.is_empty()).then(|| function.into()),
        module: Some(module.into()),
        offset: Some(offset),
        ..Frame::default()
    }
}

fn thread(label: &str, name: &str, running: bool, line: u32) -> ThreadInfo {
    ThreadInfo {
        label: label.into(),
        name: Some(name.into()),
        created_by: Some("T0 (main)".into()),
        stack: vec![
            bare("pthread_create", "libc.so.6", 0x90a10),
            frame("main", "bank.c", line, 9, 50),
            bare("__libc_start_call_main", "libc.so.6", 0x271c9),
            bare("_start", "bank", 0x10a0),
        ],
        running,
    }
}

fn main_thread() -> ThreadInfo {
    ThreadInfo {
        label: "T0 (main)".into(),
        name: Some("main".into()),
        created_by: None,
        stack: vec![],
        running: true,
    }
}

/// The same cause, read by another function.
fn further_reader(race: &Finding) -> Finding {
    let mut further = race.clone();
    further.message = "`total` is written by deposit while statement may read it".into();
    further.accesses[1].stack = vec![frame("statement", "report.c", 9, 16, 5)];
    further.notes.clear();
    further.occurrences = 1;
    further.id = identity::id(&further);
    further
}

fn global_race() -> Finding {
    let mut race = Finding::new(
        Kind::DataRace,
        Confidence::Confirmed,
        "`total` is written by deposit in T2 (teller) while balance in T1 (auditor) may read it, and nothing orders the two",
    );
    race.accesses = vec![
        Access {
            op: AccessOp::Write,
            size: 8,
            thread: "T2 (teller)".into(),
            locks: vec!["L1".into()],
            lock: None,
            stack: vec![
                frame("deposit", "bank.c", 12, 8, 10),
                frame("teller", "bank.c", 24, 0, 20),
                bare("start_thread", "libc.so.6", 0x891f5),
                bare("clone3", "libc.so.6", 0x10989c),
            ],
        },
        Access {
            op: AccessOp::Read,
            size: 8,
            thread: "T1 (auditor)".into(),
            locks: vec!["L2 (read)".into()],
            lock: None,
            stack: vec![frame("balance", "bank.c", 31, 12, 29), bare("", "libaudit.so", 0x1f0)],
        },
    ];
    race.location = Some(Location::Global {
        name: "total".into(),
        offset: 0,
        size: 8,
        module: "bank".into(),
        file: Some("/home/me/bank/src/bank.c".into()),
        line: Some(3),
    });
    race.threads = vec![
        main_thread(),
        thread("T1 (auditor)", "auditor", false, 55),
        thread("T2 (teller)", "teller", true, 56),
    ];
    race.locks = vec![
        Lock {
            label: "L1".into(),
            what: "mutex".into(),
            name: Some("total_mu".into()),
            taken: vec![Taken {
                thread: "T2 (teller)".into(),
                stack: vec![frame("deposit", "bank.c", 11, 3, 10)],
            }],
        },
        Lock {
            label: "L2".into(),
            what: "rwlock".into(),
            name: None,
            taken: vec![Taken {
                thread: "T1 (auditor)".into(),
                stack: vec![frame("audit", "bank.c", 40, 3, 38)],
            }],
        },
    ];
    race.occurrences = 5;
    race.notes =
        vec!["also: write in deposit (src/bank.c:14) against read in balance (src/bank.c:31)".into()];
    race
}

fn heap_use_after_free() -> Finding {
    let mut finding = Finding::new(
        Kind::UseAfterFree,
        Confidence::Suspected,
        "a block is read by Pool::run(Job*) that T0 (main) frees without waiting",
    );
    let template = "std::vector<std::unique_ptr<Job, std::default_delete<Job>>, std::allocator<std::unique_ptr<Job>>>::clear()";
    finding.accesses = vec![
        Access {
            op: AccessOp::Read,
            size: 24,
            thread: "T3".into(),
            locks: vec![],
            lock: None,
            stack: vec![bare("memcpy", "libc.so.6", 0x9d1c0), frame("Pool::run(Job*)", "pool.cc", 77, 3, 70)],
        },
        Access {
            op: AccessOp::Free,
            size: 0,
            thread: "T0 (main)".into(),
            locks: vec![],
            lock: None,
            stack: vec![
                bare("operator delete(void*)", "libstdc++.so.6", 0xa1b0),
                Frame {
                    file: Some("/usr/include/c++/12/bits/stl_vector.h".into()),
                    ..frame(template, "", 1603, 7, 1602)
                },
                frame("Pool::~Pool()", "pool.cc", 40, 0, 38),
            ],
        },
    ];
    finding.location = Some(Location::Heap {
        offset: 8,
        size: 64,
        thread: "T0 (main)".into(),
        stack: vec![
            bare("operator new(unsigned long)", "libstdc++.so.6", 0xa0f0),
            frame("make_job", "pool.cc", 19, 12, 17),
        ],
    });
    finding.threads = vec![thread("T3", "", true, 58)];
    finding.schedule = Some("uaf.raddle".into());
    finding
}

fn lock_order() -> Finding {
    let mut finding = Finding::new(
        Kind::LockOrder,
        Confidence::Suspected,
        "2 locks are taken in different orders by T1 (auditor) and T2 (teller)",
    );
    let edge = |thread: &str, takes: &str, holds: &str, function: &str, line: u32| Access {
        op: AccessOp::Lock,
        size: 0,
        thread: thread.into(),
        locks: vec![holds.into()],
        lock: Some(takes.into()),
        stack: vec![
            bare("pthread_mutex_lock", "libc.so.6", 0x8c2f0),
            frame(function, "bank.c", line, 3, line - 3),
        ],
    };
    finding.accesses =
        vec![edge("T1 (auditor)", "L2", "L1", "transfer", 82), edge("T2 (teller)", "L1", "L2", "refund", 93)];
    let lock = |label: &str, name: &str, thread: &str, function: &str, line: u32| Lock {
        label: label.into(),
        what: "mutex".into(),
        name: Some(name.into()),
        taken: vec![Taken {
            thread: thread.into(),
            stack: vec![frame(function, "bank.c", line, 3, line - 2)],
        }],
    };
    finding.locks = vec![
        lock("L1", "accounts[0].mu", "T1 (auditor)", "transfer", 81),
        lock("L2", "accounts[1].mu", "T2 (teller)", "refund", 92),
    ];
    finding.notes =
        vec!["the run did not deadlock; `raddle explore` can look for the schedule that does".into()];
    finding
}

fn assertion() -> Finding {
    let mut finding =
        Finding::new(Kind::Assertion, Confidence::Confirmed, "assertion `total == sum(accounts)' failed");
    finding.accesses = vec![Access {
        op: AccessOp::Call,
        size: 0,
        thread: "T0 (main)".into(),
        locks: vec![],
        lock: None,
        stack: vec![bare("__assert_fail", "libc.so.6", 0x38e32), frame("main", "bank.c", 64, 0, 50)],
    }];
    finding
}
