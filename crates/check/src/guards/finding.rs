//! Suspicions as findings.

use raddle_finding::{Access, AccessOp, Confidence, Finding, Frame, Kind, Lock, Taken, ThreadInfo};
use rustc_hash::FxHashMap;

use super::threads::Caller;
use super::{Guards, LockKey, PlaceKey, RunEnd, Suspicion};
use crate::ir::{MemberId, Program};

/// Findings of one function and one lock that are told as one.
const MOST_TOGETHER: usize = 6;

impl Guards<'_> {
    /// The accesses of a program without the lock that the rest of it holds. One function that
    /// lacks one lock is one finding.
    pub fn findings(&self) -> Vec<Finding> {
        let program = self.program;
        let mut causes: Vec<Vec<Suspicion>> = Vec::new();
        let mut known: FxHashMap<(u32, LockKey), usize> = FxHashMap::default();
        for s in self.suspicions() {
            let cause = (program.function_of(s.bare.pc), s.lock.clone());
            let at = *known.entry(cause).or_insert_with(|| {
                causes.push(Vec::new());
                causes.len() - 1
            });
            causes[at].push(s);
        }
        causes.iter().map(|together| finding(program, together)).collect()
    }
}

fn finding(program: &Program, together: &[Suspicion]) -> Finding {
    // The one that most functions guard says most.
    let s = together.iter().max_by_key(|s| (s.holders, s.bare.write)).unwrap_or(&together[0]);
    let (bare, guarded) = (label(program, 1, &s.bare), label(program, 2, &s.guarded));
    let (place, lock) = (place_name(program, &s.place), lock_name(program, &s.lock));
    let verb = |e: &RunEnd| if e.write { "writes" } else { "reads" };
    let holders = match s.holders {
        1 => "the other function that accesses it".to_string(),
        n => format!("{n} other functions"),
    };
    let message = format!(
        "data race on {place}: {bare} {} it without {lock}, which {} {}, while {guarded} {} it",
        verb(&s.bare),
        holders,
        if s.holders == 1 { "holds" } else { "hold" },
        verb(&s.guarded)
    );
    let mut notes: Vec<String> = together
        .iter()
        .filter(|t| t.bare.pc != s.bare.pc)
        .take(MOST_TOGETHER)
        .map(|t| {
            let line = program.pos_of[t.bare.pc as usize].line;
            format!("line {line} {} {} without it, too", verb(&t.bare), place_name(program, &t.place))
        })
        .collect();
    notes.push(format!("no run has shown it: it follows from where the program takes {lock} around {place}"));
    let access = |e: &RunEnd, thread: &str, locks: Vec<String>| Access {
        op: if e.write { AccessOp::Write } else { AccessOp::Read },
        size: u64::from(e.size),
        thread: thread.into(),
        lock: None,
        locks,
        stack: frames(program, e),
    };
    let thread = |label: &str| ThreadInfo {
        label: label.into(),
        name: None,
        created_by: None,
        stack: Vec::new(),
        running: true,
    };
    let taken = s.guarded.lock.map(|pc| Taken { thread: guarded.clone(), stack: vec![frame(program, pc)] });
    Finding {
        accesses: vec![access(&s.bare, &bare, Vec::new()), access(&s.guarded, &guarded, vec!["L1".into()])],
        threads: vec![thread(&bare), thread(&guarded)],
        locks: vec![Lock {
            label: "L1".into(),
            what: "lock".into(),
            name: Some(lock.replace('`', "")),
            taken: taken.into_iter().collect(),
        }],
        occurrences: 1,
        notes,
        ..Finding::new(Kind::DataRace, Confidence::Suspected, message)
    }
}

fn label(program: &Program, n: u32, end: &RunEnd) -> String {
    match end.caller {
        Some(Caller::Thread(f)) => format!("T{n} ({})", program.functions[f as usize].name),
        Some(Caller::Main) => format!("T{n} (main)"),
        _ => format!("T{n}"),
    }
}

fn frame(program: &Program, pc: u32) -> Frame {
    let pos = program.pos_of[pc as usize];
    let f = &program.functions[program.function_of(pc) as usize];
    Frame {
        function: Some(f.name.to_string()),
        file: program.files.get(usize::from(pos.file)).map(|f| f.path.to_string()),
        line: Some(pos.line),
        column: Some(u32::from(pos.col)),
        module: None,
        offset: None,
        function_line: Some(f.pos.line),
    }
}

fn frames(program: &Program, end: &RunEnd) -> Vec<Frame> {
    std::iter::once(end.pc).chain(end.way.iter().copied()).map(|pc| frame(program, pc)).collect()
}

fn global_name(program: &Program, address: u32) -> String {
    if address == 0 {
        return "the lock".into();
    }
    let after = program.globals.partition_point(|g| g.address <= address);
    let name = after.checked_sub(1).map_or("?", |i| &program.globals[i].name);
    format!("`{name}`")
}

fn member_name<'a>(program: &'a Program, id: &MemberId) -> &'a str {
    program.member_names.get(id).map_or("?", |n| n)
}

fn place_name(program: &Program, place: &PlaceKey) -> String {
    match place {
        PlaceKey::Global(address) => global_name(program, *address),
        PlaceKey::Member(members) => {
            let names: Vec<&str> = members.iter().map(|id| member_name(program, id)).collect();
            format!("the member `{}`", names.join("."))
        }
    }
}

fn lock_name(program: &Program, lock: &LockKey) -> String {
    match lock {
        LockKey::Global(address) => global_name(program, *address),
        LockKey::Member(members) => {
            format!("`{}`", members.first().map_or("?", |id| member_name(program, id)))
        }
    }
}
