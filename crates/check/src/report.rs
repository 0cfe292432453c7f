//! Turns raw findings into findings: places, labels, sentences, suggestions. Merges duplicates by
//! cause.

use raddle_finding::{Access, AccessOp, Confidence, Finding, Frame, Kind, Location, Lock, Taken, ThreadInfo};

use crate::entries::EntryKind;
use crate::interp::named::{Named, named};
use crate::interp::raw::{ObjectPart, RawAccess, RawFinding, RawHeld, RawPlace, RawThread};
use crate::ir::{EntryPoint, GlobalInfo, Instr, Pos, Program};

/// The name of an address in reports.
pub fn place_name(program: &Program, place: &RawPlace) -> String {
    match place {
        RawPlace::Global { index, offset } => {
            let g = &program.globals[*index];
            format!("`{}{}`", g.name, g.shape.part(*offset))
        }
        RawPlace::Heap { part: Some(ObjectPart { name: Some(name), .. }), .. } => format!("`{name}`"),
        RawPlace::Heap { part: Some(ObjectPart { class, .. }), stack, .. } => {
            let name = &program.classes.all[*class as usize].name;
            match stack.iter().map(|pc| program.pos_of[*pc as usize]).find(|p| !program.is_builtin(*p)) {
                Some(p) => format!("the `{name}` made at {}", at_line(program, p)),
                None => format!("a `{name}`"),
            }
        }
        RawPlace::Heap { offset, size, stack, .. } => {
            let at = stack.iter().map(|pc| program.pos_of[*pc as usize]).find(|p| !program.is_builtin(*p));
            match at {
                Some(p) => {
                    format!("byte {offset} of the {size}-byte block allocated at {}", at_line(program, p))
                }
                None => format!("byte {offset} of an object of {size} bytes that the caller passed"),
            }
        }
        RawPlace::Stack { function, .. } => {
            format!("a local of `{}`", program.functions[*function as usize].name)
        }
        RawPlace::Tls { thread, .. } => format!("a thread-local of T{thread}"),
        RawPlace::Unknown => "an unnamed object".into(),
    }
}

fn at_line(program: &Program, pos: Pos) -> String {
    let path = program.files.get(usize::from(pos.file)).map_or("?", |f| &f.path);
    format!("{path}:{}", pos.line)
}

/// What a report needs from outside the program.
pub struct ReportContext<'a> {
    /// How often a raw finding occurred.
    pub occurrences: &'a dyn Fn(&RawFinding) -> u64,
    /// The source text from a place to the end of its line: path, line, column.
    pub text: &'a dyn Fn(&str, u32, u32) -> Option<String>,
    /// The seed of the exploration.
    pub seed: u64,
}

/// Makes the findings of a program.
pub fn findings<'a>(
    program: &'a Program,
    raw: &'a [RawFinding],
    context: &ReportContext<'a>,
) -> Vec<Finding> {
    let mut causes: Vec<(Cause, Vec<&'a RawFinding>)> = Vec::new();
    let reporter = |raw: &'a RawFinding| Reporter::new(program, raw, context);
    for r in raw {
        let cause = reporter(r).cause();
        match causes.iter_mut().find(|(c, _)| c.is(&cause)) {
            Some((known, members)) => {
                if known.kind == Kind::DataRace {
                    known.ends.extend(cause.ends);
                }
                members.push(r);
            }
            None => causes.push((cause, vec![r])),
        }
    }
    let one = |members: Vec<&'a RawFinding>| {
        // The one that stands for all must not hang on the order in which a seed meets them.
        let first =
            members.iter().enumerate().min_by_key(|(i, r)| (reporter(r).cause().ends, *i)).map_or(0, |m| m.0);
        let one = reporter(members[first]);
        let mut finding = one.finding((context.occurrences)(members[first]));
        let mut others = Vec::new();
        for (_, r) in members.iter().enumerate().filter(|(i, _)| *i != first) {
            finding.occurrences += (context.occurrences)(r);
            let note = one.other_pair(&reporter(r));
            others.extend(note.filter(|n| !others.contains(n)));
        }
        let more = others.len().saturating_sub(MOST_PAIRS);
        others.truncate(MOST_PAIRS);
        finding.notes.append(&mut others);
        if more > 0 {
            finding.notes.push(format!("also between {more} more pairs of places"));
        }
        finding
    };
    causes.into_iter().map(|(_, members)| one(members)).collect()
}

/// Equal for findings that one repair would fix.
struct Cause {
    kind: Kind,
    /// The object, as precisely as a repair distinguishes it.
    object: String,
    /// For a race, the functions at its ends; otherwise the ends themselves.
    ends: Vec<String>,
}

impl Cause {
    /// Races on one object with a common end have one cause: that end lacks the synchronisation.
    /// Other kinds must have all ends in common.
    fn is(&self, other: &Cause) -> bool {
        self.kind == other.kind
            && self.object == other.object
            && match self.kind {
                Kind::DataRace if !self.object.is_empty() => other.ends.iter().any(|e| self.ends.contains(e)),
                _ => self.ends == other.ends,
            }
    }
}

/// Pairs of places with the same cause that a finding names.
const MOST_PAIRS: usize = 12;

struct Reporter<'a> {
    program: &'a Program,
    raw: &'a RawFinding,
    text: &'a dyn Fn(&str, u32, u32) -> Option<String>,
    seed: u64,
}

impl<'a> Reporter<'a> {
    fn new(program: &'a Program, raw: &'a RawFinding, context: &ReportContext<'a>) -> Self {
        Self { program, raw, text: context.text, seed: context.seed }
    }

    /// The locks of a deadlock that involves only locks, if all are known. Whatever the lines, one
    /// order of these locks repairs it.
    fn locks_in_circle(&self) -> Option<Vec<String>> {
        let raw = self.raw;
        if raw.kind != Kind::Deadlock || !raw.accesses.iter().all(|a| a.op == AccessOp::Lock) {
            return None;
        }
        let mut locks: Vec<String> = raw.locks.iter().map(|(_, place)| self.object_of(place)).collect();
        locks.sort();
        locks.dedup();
        (!locks.is_empty() && locks.iter().all(|l| !l.is_empty())).then_some(locks)
    }

    /// If a handler waits for a lock that the interrupted thread holds: where it waits, and where
    /// the lock was taken. At which instruction in between the thread was interrupted does not
    /// matter.
    fn interrupted_lock(&self) -> Option<Vec<String>> {
        let raw = self.raw;
        let [waits, interrupted] = &raw.accesses[..] else { return None };
        let is_handler = |t: usize| raw.threads.iter().any(|r| r.index == t && r.handler);
        let is_deadlock =
            raw.kind == Kind::Deadlock && waits.op == AccessOp::Lock && interrupted.op != AccessOp::Lock;
        if !is_deadlock || !is_handler(waits.thread) || is_handler(interrupted.thread) {
            return None;
        }
        let held = interrupted.locks.iter().find(|h| Some(h.lock) == raw.address)?;
        let all = |stack: &[u32]| {
            let lines: Vec<String> =
                self.frames(stack).iter().map(|f| format!("{:?}:{:?}", f.file, f.line)).collect();
            lines.join(" ")
        };
        Some(vec![all(&waits.stack), all(&held.stack)])
    }

    /// Another pair of places with the same cause, as a sentence. None if it is the same pair.
    fn other_pair(&self, other: &Reporter<'_>) -> Option<String> {
        let lines =
            |r: &Reporter<'_>| -> Vec<String> { r.raw.accesses.iter().map(|a| r.line_of(a)).collect() };
        if self.interrupted_lock().is_some() {
            return None;
        }
        let (own, its) = (lines(self), lines(other).join(" and "));
        let relation = if own.len() == 1 { "at" } else { "between" };
        (its != own.join(" and ")).then(|| format!("also {relation} {its}"))
    }

    /// The object and the functions.
    fn cause(&self) -> Cause {
        let object = self.object_of(&self.raw.place);
        if let Some(locks) = self.locks_in_circle() {
            return Cause { kind: self.raw.kind, object: locks.join(" "), ends: Vec::new() };
        }
        if let Some((object, call)) = self.call_on_locks() {
            return Cause { kind: self.raw.kind, object, ends: vec![call] };
        }
        let mut ends: Vec<String> = self.raw.accesses.iter().map(|a| self.end_of(a)).collect();
        if let Some(taken) = self.interrupted_lock() {
            ends = taken;
        }
        ends.sort();
        Cause { kind: self.raw.kind, object, ends }
    }

    /// For the misuse of a lock in a function that only takes or only releases locks, such as all
    /// those of an object: the object without its members, and the call of that function. Whichever
    /// lock it is, the caller needs one repair.
    fn call_on_locks(&self) -> Option<(String, String)> {
        let [access] = &self.raw.accesses[..] else { return None };
        let is_misuse = matches!(self.raw.kind, Kind::LockLeak | Kind::UnlockNotHeld | Kind::DoubleLock);
        let object = match &self.raw.place {
            RawPlace::Global { index, .. } => format!("g{index}"),
            RawPlace::Heap { part: None, stack, .. } => format!("h{:?}", stack.first()),
            _ => return None,
        };
        let frames = self.frames(&access.stack);
        let [inner, caller, ..] = &frames[..] else { return None };
        let is_one_sided = self.own_function(&access.stack).is_some_and(|f| self.is_one_sided(f));
        let call = format!("{:?}:{:?}:{:?}:{:?}", inner.function, caller.function, caller.file, caller.line);
        (is_misuse && is_one_sided).then_some((object, call))
    }

    /// The innermost function of the program's own on a stack.
    fn own_function(&self, stack: &[u32]) -> Option<u32> {
        let mut functions = stack.iter().map(|pc| self.program.function_of(*pc));
        functions.find(|f| !self.program.functions[*f as usize].builtin)
    }

    /// Whether a function takes locks or releases some, but not both.
    fn is_one_sided(&self, f: u32) -> bool {
        let f = &self.program.functions[f as usize];
        let said = self.program.code[f.entry as usize..f.end as usize].iter().filter_map(|i| match i {
            Instr::Call(g, _) => named(&self.program.functions[*g as usize].name),
            _ => None,
        });
        let said: Vec<Named> = said.collect();
        let takes = said.iter().any(|n| matches!(n, Named::Lock | Named::ReadLock));
        takes != said.contains(&Named::Unlock)
    }

    /// An object, as precisely as a repair distinguishes it.
    fn object_of(&self, place: &RawPlace) -> String {
        match place {
            RawPlace::Global { index, offset } => {
                // The same member of all elements of an array is one thing to the reader.
                format!("g{index}+{}", self.program.globals[*index].shape.member_at(*offset))
            }
            RawPlace::Heap { part: Some(part), stack, .. } => {
                let element = part.name.as_deref().is_some_and(|n| n.starts_with("element "));
                let by_place = element || part.name.is_none();
                let name = part.name.as_deref().filter(|_| !element);
                format!("o{}+{name:?}+{:?}", part.class, if by_place { stack.first() } else { None })
            }
            RawPlace::Heap { offset, size, stack, .. } => {
                // A large block is most likely an array. One that the caller passed is certainly a
                // record.
                let array = *size > 256 && !stack.is_empty();
                format!("h{:?}+{}", stack.first(), if array { 0 } else { *offset })
            }
            RawPlace::Stack { function, offset, .. } => format!("s{function}+{offset}"),
            RawPlace::Tls { offset, .. } => format!("t{offset}"),
            RawPlace::Unknown => String::new(),
        }
    }

    fn end_of(&self, a: &RawAccess) -> String {
        let frames = self.frames(&a.stack);
        let f = frames.first();
        let name = f.and_then(|f| f.function.clone()).unwrap_or_default();
        match self.raw.kind {
            // Pairs in the same functions on the same object are one race.
            Kind::DataRace => name,
            _ => format!("{name}:{:?}", f.and_then(|f| f.line)),
        }
    }

    fn line_of(&self, a: &RawAccess) -> String {
        self.line_of_stack(&a.stack)
    }

    fn line_of_stack(&self, stack: &[u32]) -> String {
        let frames = self.frames(stack);
        let f = frames.first();
        let path = f.and_then(|f| f.file.as_deref()).unwrap_or("?");
        format!("{path}:{}", f.and_then(|f| f.line).unwrap_or(0))
    }

    /// The user's frames of a stack, without those of the models.
    fn frames(&self, stack: &[u32]) -> Vec<Frame> {
        let mut out = Vec::new();
        for pc in stack {
            let Some(pos) = self.program.pos_of.get(*pc as usize) else { continue };
            if self.program.is_builtin(*pos) || pos.line == 0 {
                continue;
            }
            let f = &self.program.functions[self.program.function_of(*pc) as usize];
            out.push(Frame {
                function: Some(f.name.to_string()),
                file: self.program.files.get(usize::from(pos.file)).map(|f| f.path.to_string()),
                line: Some(pos.line),
                column: Some(u32::from(pos.col)),
                module: None,
                offset: None,
                function_line: Some(f.pos.line),
            });
        }
        out
    }

    fn finding(&self, occurrences: u64) -> Finding {
        let raw = self.raw;
        let mut notes = Vec::new();
        if raw.kind == Kind::Deadlock {
            for (a, wait) in raw.accesses.iter().zip(&raw.waits) {
                notes.push(format!("{} {wait}", self.label_of(a.thread)));
            }
        } else {
            notes.extend(raw.waits.iter().cloned());
        }
        notes.extend(self.suggestion());
        let entry = &self.program.functions[raw.entry.function as usize].name;
        // Later runs build on what earlier ones covered, so a seed repeats the whole exploration.
        let run = raw.seed.wrapping_sub(self.seed).wrapping_add(1);
        let is_prepared = |e: &&EntryPoint| e.function == raw.entry.function && e.kind == EntryKind::Middle;
        let middle = if raw.entry.in_the_middle {
            ", started in the middle with unknown globals"
        } else if self.program.entry_points.iter().any(|e| is_prepared(&e)) {
            ", started in the middle with an object of unknown state"
        } else {
            ""
        };
        notes.push(format!("seed {} repeats it in run {run} of `{entry}`{middle}", self.seed));
        let mut accesses: Vec<_> = raw.accesses.iter().map(|a| self.access(a)).collect();
        // A library thread has no place in the source; the notes say what it waits for.
        if raw.kind == Kind::Deadlock && accesses.iter().any(|a| !a.stack.is_empty()) {
            accesses.retain(|a| !a.stack.is_empty());
        }
        Finding {
            accesses,
            location: self.location(),
            threads: raw.threads.iter().map(|t| self.thread(t)).collect(),
            locks: self.locks(),
            occurrences,
            notes,
            ..Finding::new(raw.kind, Confidence::Suspected, self.message())
        }
    }

    fn thread_of(&self, index: usize) -> Option<&RawThread> {
        self.raw.threads.iter().find(|t| t.index == index)
    }

    fn label_of(&self, index: usize) -> String {
        let Some(t) = self.thread_of(index) else { return format!("T{index}") };
        let f = &self.program.functions[t.function as usize];
        let is_c = self.program.classes.all.is_empty();
        match (f.builtin, t.handler) {
            (true, _) if is_c => format!("T{index} (library thread)"),
            (true, _) => format!("T{index} (timer)"),
            (false, true) => format!("T{index} ({} handler)", f.name),
            (false, false) => format!("T{index} ({})", f.name),
        }
    }

    fn access(&self, a: &RawAccess) -> Access {
        Access {
            op: a.op,
            size: u64::from(a.size),
            thread: self.label_of(a.thread),
            lock: None,
            locks: a.locks.iter().map(|h| self.lock_label(h)).collect(),
            stack: self.frames(&a.stack),
        }
    }

    fn lock_label(&self, h: &RawHeld) -> String {
        let n = self.raw.locks.iter().position(|l| l.0 == h.lock).map_or(0, |i| i + 1);
        if h.shared { format!("L{n} (read)") } else { format!("L{n}") }
    }

    fn thread(&self, t: &RawThread) -> ThreadInfo {
        ThreadInfo {
            label: self.label_of(t.index),
            name: None,
            created_by: t.parent.map(|p| self.label_of(p)),
            stack: self.frames(&t.stack),
            running: t.running,
        }
    }

    fn locks(&self) -> Vec<Lock> {
        let raw = self.raw;
        raw.locks
            .iter()
            .enumerate()
            .map(|(i, (address, place))| {
                let mut taken = Vec::new();
                let mut shared = false;
                for a in &raw.accesses {
                    for h in a.locks.iter().filter(|h| h.lock == *address) {
                        shared |= h.shared;
                        taken.push(Taken { thread: self.label_of(a.thread), stack: self.frames(&h.stack) });
                    }
                }
                Lock {
                    label: format!("L{}", i + 1),
                    what: if shared { "rwlock" } else { "lock" }.into(),
                    name: match place {
                        RawPlace::Unknown => None,
                        place => Some(place_name(self.program, place).replace('`', "")),
                    },
                    taken,
                }
            })
            .collect()
    }

    fn location(&self) -> Option<Location> {
        self.raw.address?;
        let program = self.program;
        Some(match &self.raw.place {
            RawPlace::Global { index, offset } => {
                let g = &program.globals[*index];
                let file = program.files.get(usize::from(g.pos.file)).map(|f| f.path.to_string());
                Location::Global {
                    name: g.name.to_string(),
                    offset: u64::from(*offset),
                    size: u64::from(g.size),
                    module: String::new(),
                    file,
                    line: Some(g.pos.line).filter(|l| *l > 0),
                }
            }
            RawPlace::Heap { offset, size, thread, stack, .. } => Location::Heap {
                offset: u64::from(*offset),
                size: u64::from(*size),
                thread: self.label_of(*thread),
                stack: self.frames(stack),
            },
            RawPlace::Stack { thread, .. } => Location::Stack { thread: self.label_of(*thread) },
            RawPlace::Tls { thread, .. } => Location::Tls { thread: self.label_of(*thread) },
            RawPlace::Unknown => return None,
        })
    }

    /// The name of the object if it has one, else the text that the source has for it at one of the
    /// ends.
    fn object(&self) -> String {
        let place = place_name(self.program, &self.raw.place);
        if let RawPlace::Global { index, offset } = self.raw.place {
            return self.bit_fields(&self.program.globals[index], offset).unwrap_or(place);
        }
        let written = self.raw.accesses.iter().find_map(|a| {
            let frame = self.frames(&a.stack).into_iter().next()?;
            let text = (self.text)(frame.file.as_deref()?, frame.line?, frame.column?)?;
            let path = access_path(&text);
            // A call's name says nothing about the object.
            (!path.is_empty() && !text[path.len()..].trim_start().starts_with('(')).then(|| path.to_string())
        });
        match written {
            Some(path) => format!("`{path}` ({place})"),
            None => place,
        }
    }

    /// The bit-fields of a global that the two ends name, if both do.
    fn bit_fields(&self, global: &GlobalInfo, offset: u32) -> Option<String> {
        let name = |a: &RawAccess| {
            let (Instr::LoadBits(_, at, width) | Instr::StoreBits(_, at, width)) =
                self.program.code.get(*a.stack.first()? as usize)?
            else {
                return None;
            };
            Some(format!("`{}{}`", global.name, global.shape.bit_field(offset, *at, *width)?))
        };
        let [a, b] = self.raw.accesses.as_slice() else { return None };
        let (a, b) = (name(a)?, name(b)?);
        Some(if a == b { a } else { format!("{a} and {b}, which share their bytes") })
    }

    fn message(&self) -> String {
        let name = self.object();
        let who = |i: usize| self.raw.accesses.get(i).map(|a| self.label_of(a.thread)).unwrap_or_default();
        match self.raw.kind {
            Kind::DataRace => {
                let verb = |i: usize| verb_of(self.raw.accesses[i].op);
                format!(
                    "data race on {name}: {} {} while {} {}, with nothing that orders the two",
                    who(0),
                    verb(0),
                    who(1),
                    verb(1)
                )
            }
            Kind::ThreadSafetyViolation => {
                let verb = |i: usize| verb_of(self.raw.accesses[i].op);
                format!(
                    "two threads use {name}, which is made for one at a time: {} {} while {} {}",
                    who(0),
                    verb(0),
                    who(1),
                    verb(1)
                )
            }
            Kind::Deadlock if self.raw.accesses.iter().all(|a| a.op == AccessOp::Lock) => {
                let n = self.raw.accesses.len();
                format!("deadlock: {n} threads each hold a lock that the next one waits for")
            }
            Kind::Deadlock => "deadlock: no thread can go on".into(),
            Kind::DoubleLock => format!("{name} is taken by {} which already holds it", who(0)),
            Kind::LockLeak => format!("{} ends while it still holds {name}", who(0)),
            Kind::UnlockNotHeld => format!("{name} is released by {} which does not hold it", who(0)),
            other => format!("{other:?} on {name}"),
        }
    }

    /// A simple repair, if there is one.
    fn suggestion(&self) -> Option<String> {
        let raw = self.raw;
        match raw.kind {
            Kind::DataRace => self.race_suggestion(),
            Kind::ThreadSafetyViolation => {
                Some("guard both calls with one lock, or use a collection made for several threads".into())
            }
            Kind::Deadlock if raw.accesses.iter().all(|a| a.op == AccessOp::Lock) => {
                Some("take the locks in one order everywhere".into())
            }
            Kind::DoubleLock => Some("release it first, or make it recursive if that is meant".into()),
            Kind::LockLeak => Some("release it on every way out".into()),
            _ => None,
        }
    }

    fn race_suggestion(&self) -> Option<String> {
        let raw = self.raw;
        let [a, b] = raw.accesses.as_slice() else { return None };
        let handled = [a, b].iter().any(|x| self.thread_of(x.thread).is_some_and(|t| t.handler));
        if handled {
            return Some(
                "a handler may share only atomic or volatile objects with what it interrupts".into(),
            );
        }
        if a.op == AccessOp::Free || b.op == AccessOp::Free {
            return Some("join or otherwise wait for the other thread before freeing".into());
        }
        let (held, bare) = match (a.locks.is_empty(), b.locks.is_empty()) {
            (false, true) => (a, b),
            (true, false) => (b, a),
            _ => return Some("guard both accesses with one lock, or make the object atomic".into()),
        };
        let first = held.locks.first()?;
        let lock = match raw.locks.iter().find(|l| l.0 == first.lock) {
            Some((_, place @ RawPlace::Global { .. })) => place_name(self.program, place),
            _ => format!("the lock taken at {}", self.line_of_stack(&first.stack)),
        };
        Some(format!("hold {lock} at {} too, as at {}", self.line_of(bare), self.line_of(held)))
    }
}

/// The variable, member or element at the beginning of a text: `s->list[i].next` of
/// `s->list[i].next = 0;`, and `*(s->next)` of `*(s->next) = 0`.
fn access_path(text: &str) -> &str {
    let bytes = text.as_bytes();
    let prefix = bytes.iter().take_while(|b| matches!(b, b'*' | b'&' | b'(')).count();
    let mut open = bytes[..prefix].iter().filter(|b| **b == b'(').count();
    let word =
        |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    let mut i = prefix + word(prefix);
    if i == prefix {
        return "";
    }
    loop {
        let rest = &bytes[i..];
        i += match rest {
            [b'-', b'>', ..] if word(i + 2) > 0 => 2 + word(i + 2),
            [b'.', ..] if word(i + 1) > 0 => 1 + word(i + 1),
            [b'[', ..] => match rest.iter().position(|b| *b == b']') {
                Some(end) => end + 1,
                None => break,
            },
            [b')', ..] if open > 0 => {
                open -= 1;
                1
            }
            _ => break,
        };
    }
    // An unclosed parenthesis belongs to more than the access: drop it and everything before it.
    let inner = text[..i].rfind('(').filter(|_| open > 0).map_or(0, |at| at + 1);
    &text[inner..i]
}

fn verb_of(op: AccessOp) -> &'static str {
    match op {
        AccessOp::Read => "reads it",
        AccessOp::Write => "writes it",
        AccessOp::AtomicRead => "reads it atomically",
        AccessOp::AtomicWrite => "writes it atomically",
        AccessOp::Free => "frees it",
        _ => "uses it",
    }
}

#[cfg(test)]
mod tests {
    use super::access_path;

    #[test]
    fn a_path_ends_where_the_access_does() {
        assert_eq!(access_path("s->list[i + 1].next = 0;"), "s->list[i + 1].next");
        assert_eq!(access_path("counter++;"), "counter");
        assert_eq!(access_path("*p = 1"), "*p");
        assert_eq!(access_path("(*q).x"), "(*q).x");
        assert_eq!(access_path("*(s->next) = 0"), "*(s->next)");
        assert_eq!(access_path("*(s + 1) = 0"), "s");
        assert_eq!(access_path("(a->b)"), "(a->b)");
        assert_eq!(access_path("+ 3"), "");
        assert_eq!(access_path("a[3"), "a");
    }
}
