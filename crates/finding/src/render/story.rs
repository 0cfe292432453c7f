//! The wording of a finding, shared by all formats for people.

use raddle_base::grouped::Grouped;

use crate::group::MAX_PLACES;
use crate::model::{
    Access, AccessOp, Confidence, Finding, Frame, Kind, Location, Lock, Report, Row, STAT_BASELINE,
    STAT_SUPPRESSED, Stat, ThreadInfo,
};
use crate::{cause, suppress};

use super::RenderOptions;

/// One end of a finding, with its role.
pub(super) struct StoryEnd<'a> {
    /// `earlier`, `now`, `here`; empty for the edge of a cycle.
    pub when: &'static str,
    /// Its index in [`Finding::accesses`].
    pub index: usize,
    pub access: &'a Access,
}

/// The ends in the order in which they happened: a race's earlier one first.
pub(super) fn ends(finding: &Finding) -> Vec<StoryEnd<'_>> {
    let accesses = &finding.accesses;
    match accesses.as_slice() {
        [access] => vec![StoryEnd { when: "here", index: 0, access }],
        [now, earlier] if !is_state(finding) => vec![
            StoryEnd { when: "earlier", index: 1, access: earlier },
            StoryEnd { when: "now", index: 0, access: now },
        ],
        _ => {
            accesses.iter().enumerate().map(|(index, access)| StoryEnd { when: "", index, access }).collect()
        }
    }
}

/// Whether the accesses are the edges of a cycle, which have no order.
pub(super) fn is_cycle(finding: &Finding) -> bool {
    matches!(finding.kind, Kind::LockOrder | Kind::Deadlock)
        && finding.accesses.iter().all(|a| a.op == AccessOp::Lock)
}

/// Whether all accesses are at one moment: where each thread is when none can continue.
fn is_state(finding: &Finding) -> bool {
    is_cycle(finding) || matches!(finding.kind, Kind::Deadlock | Kind::Livelock | Kind::Starvation)
}

/// `T2 (worker) wrote 4 bytes, holding L1`.
pub(super) fn deed(finding: &Finding, end: &StoryEnd<'_>) -> String {
    let access = end.access;
    let told = finding.interleaving.as_ref().and_then(|i| i.deeds.get(end.index));
    if let Some(deed) = told.filter(|deed| !deed.is_empty()) {
        // Such a finding does not depend on locks, and knows none.
        if finding.kind == Kind::ThreadSafetyViolation {
            return format!("{} {deed}", access.thread);
        }
        let held: Vec<_> = access.locks.iter().map(|label| named(finding, label)).collect();
        let held = if held.is_empty() { "no lock".to_owned() } else { held.join(", ") };
        return format!("{} {deed}, holding {held}", access.thread);
    }
    if access.op == AccessOp::Lock || access.op == AccessOp::Unlock {
        return lock_deed(finding, end);
    }
    format!("{} {}, holding {}", access.thread, act(access), held(access))
}

pub(super) fn act(access: &Access) -> String {
    let bytes = |verb: &str| match access.size {
        0 => verb.to_owned(),
        size => format!("{verb} {}", count(size, "byte")),
    };
    match access.op {
        AccessOp::Read => bytes("read"),
        AccessOp::Write => bytes("wrote"),
        AccessOp::AtomicRead => bytes("atomically read"),
        AccessOp::AtomicWrite => bytes("atomically wrote"),
        AccessOp::Free if access.size == 0 => "freed the block".to_owned(),
        AccessOp::Free => format!("freed the block of {}", count(access.size, "byte")),
        AccessOp::Allocate => bytes("allocated"),
        AccessOp::Lock => "took a lock".to_owned(),
        AccessOp::Unlock => "released a lock".to_owned(),
        AccessOp::Call => match access.stack.first().and_then(|frame| frame.function.as_deref()) {
            Some(function) => format!("was in {function}"),
            None => "was in a call".to_owned(),
        },
    }
}

/// ``T1 took L2 `b` while holding L1 `a` ``; "waits for" if the deadlock was reached.
fn lock_deed(finding: &Finding, end: &StoryEnd<'_>) -> String {
    let access = end.access;
    let verb = match (access.op, finding.kind) {
        (AccessOp::Unlock, _) => "released",
        (_, Kind::Deadlock) => "waits for",
        _ => "took",
    };
    let lock = taken_lock(finding, end.index).map_or("a lock".to_owned(), |label| named(finding, label));
    if access.locks.is_empty() {
        return format!("{} {verb} {lock}, holding no other lock", access.thread);
    }
    let held: Vec<_> = access.locks.iter().map(|label| named(finding, label)).collect();
    format!("{} {verb} {lock} while holding {}", access.thread, held.join(", "))
}

/// The label of the lock that an edge takes. If the access does not name it, it is the only lock
/// that the next edge of the cycle holds and this one does not.
pub(super) fn taken_lock(finding: &Finding, index: usize) -> Option<&str> {
    let access = &finding.accesses[index];
    if let Some(lock) = &access.lock {
        return Some(lock);
    }
    let next = &finding.accesses[(index + 1) % finding.accesses.len()];
    let mut fresh = next.locks.iter().filter(|label| !access.locks.contains(label));
    match (fresh.next(), fresh.next()) {
        (Some(label), None) => Some(bare(label)),
        _ => None,
    }
}

/// `L1` for `L1 (read)`.
pub(super) fn bare(label: &str) -> &str {
    label.split(' ').next().unwrap_or(label)
}

/// ``L1 `mu` ``: a label with the lock's name, if it has one.
pub(super) fn named(finding: &Finding, label: &str) -> String {
    let name =
        finding.locks.iter().find(|lock| lock.label == bare(label)).and_then(|lock| lock.name.as_deref());
    name.map_or_else(|| label.to_owned(), |name| format!("{label} `{name}`"))
}

fn held(access: &Access) -> String {
    if access.locks.is_empty() { "no lock".to_owned() } else { access.locks.join(", ") }
}

/// How the locks of a race's two ends relate; `None` if there is nothing to learn.
pub(super) fn lock_relation(finding: &Finding) -> Option<String> {
    let [now, earlier] = finding.accesses.as_slice() else { return None };
    if finding.kind != Kind::DataRace || (now.locks.is_empty() && earlier.locks.is_empty()) {
        return None;
    }
    let common: Vec<_> =
        now.locks.iter().map(|l| bare(l)).filter(|l| earlier.locks.iter().any(|e| bare(e) == *l)).collect();
    Some(match common.as_slice() {
        [] if now.locks.is_empty() || earlier.locks.is_empty() => "only one end holds a lock".to_owned(),
        [] => "no lock is held at both ends".to_owned(),
        common => format!("{} is held at both ends, and does not order them", common.join(", ")),
    })
}

/// The text of a row: the step, and how often.
pub(super) fn row(row: &Row) -> String {
    if row.times > 1 { format!("{} ({} times)", row.text, Grouped(row.times)) } else { row.text.clone() }
}

/// The place of a row's step: `transfer bank.c:12`. Columns are narrow, so the folders are left
/// out.
pub(super) fn row_place(row: &Row, options: &RenderOptions<'_>) -> Option<String> {
    let frame = row.frame.as_ref()?;
    let short = match (frame.file.as_deref(), line(frame)) {
        (Some(file), Some(line)) => Some(format!("{}:{line}", crate::place::file_name(file))),
        _ => place(frame, options),
    };
    match (frame.function.as_deref(), short) {
        (Some(function), Some(place)) => Some(format!("{function} {place}")),
        (None, place) => place,
        (Some(function), None) => Some(function.to_owned()),
    }
}

/// What the address is, as the end of "the address is …".
pub(super) fn location(location: &Location, options: &RenderOptions<'_>) -> String {
    match location {
        Location::Global { name, offset, size, module, file, line } => {
            let mut text = inside(*offset, &format!("the global `{name}`{}", of_bytes(*size)));
            match (file, line) {
                (Some(file), Some(line)) => {
                    text += &format!(", defined at {}:{line}", options.relative(file))
                }
                (Some(file), None) => text += &format!(", defined in {}", options.relative(file)),
                _ => {}
            }
            if !module.is_empty() {
                text += &format!(", in {module}");
            }
            text
        }
        Location::Heap { offset, size, thread, .. } => {
            inside(*offset, &format!("a heap block{}", of_bytes(*size))) + &format!(", allocated by {thread}")
        }
        Location::Stack { thread } => format!("on the stack of {thread}"),
        Location::Tls { thread } => format!("in the thread-local storage of {thread}"),
        Location::Mapped { name } => format!("in {name}"),
        Location::Descriptor { number } => format!("file descriptor {number}"),
    }
}

fn inside(offset: u64, what: &str) -> String {
    if offset == 0 { what.to_owned() } else { format!("{} into {what}", count(offset, "byte")) }
}

fn of_bytes(size: u64) -> String {
    if size == 0 { String::new() } else { format!(" of {}", count(size, "byte")) }
}

/// The stack that goes with [`location`].
pub(super) fn location_stack(location: &Location) -> &[Frame] {
    if let Location::Heap { stack, .. } = location { stack } else { &[] }
}

/// `created by T0 (main), has ended`; `None` for the main thread, about which there is nothing to
/// say.
pub(super) fn thread(thread: &ThreadInfo) -> Option<String> {
    let created = match &thread.created_by {
        Some(creator) => format!("created by {creator}"),
        None if thread.stack.is_empty() => return None,
        None => "created".to_owned(),
    };
    Some(if thread.running { created } else { format!("{created}, has ended") })
}

/// ``L1 `mu` (mutex)``.
pub(super) fn lock(lock: &Lock) -> String {
    let name = lock.name.as_ref().map_or(String::new(), |name| format!(" `{name}`"));
    let what = if lock.what.is_empty() { String::new() } else { format!(" ({})", lock.what) };
    format!("{}{name}{what}", lock.label)
}

/// How to use a line from [`crate::suppress::suggestion`].
pub(super) fn suppress(rule: &str) -> String {
    format!("add the line `{rule}` to a suppression file")
}

/// The further places of a finding with several members, `read in show at src/b.c:9`, up to
/// [`MAX_PLACES`]; the others are only counted.
pub(super) fn further_places(finding: &Finding, options: &RenderOptions<'_>) -> Vec<String> {
    let places = cause::further_places(finding);
    let beyond = places.len().saturating_sub(MAX_PLACES);
    let named = places.iter().take(MAX_PLACES).map(|(op, frame)| {
        let at = place(frame, options).map_or(String::new(), |place| format!(" at {place}"));
        format!("{op} in {}{at}", function(frame))
    });
    let beyond = (beyond > 0).then(|| format!("in {beyond} more functions"));
    named.chain(beyond).collect()
}

/// The lines that would suppress a finding and all others with its cause.
pub(super) fn suppressions(finding: &Finding) -> Vec<String> {
    let mut rules: Vec<String> = Vec::new();
    for rule in std::iter::once(finding).chain(&finding.also).filter_map(suppress::suggestion) {
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    rules
}

/// `src/a.c:12:5`, `libx.so+0x1f0`, or `None`.
pub(super) fn place(frame: &Frame, options: &RenderOptions<'_>) -> Option<String> {
    match (&frame.file, line(frame), column(frame), &frame.module, frame.offset) {
        (Some(file), Some(line), Some(column), ..) => {
            Some(format!("{}:{line}:{column}", options.relative(file)))
        }
        (Some(file), Some(line), None, ..) => Some(format!("{}:{line}", options.relative(file))),
        (Some(file), None, ..) => Some(options.relative(file).to_owned()),
        (None, _, _, Some(module), Some(offset)) => Some(format!("{module}+{offset:#x}")),
        (None, _, _, Some(module), None) => Some(module.clone()),
        (None, _, _, None, Some(offset)) => Some(format!("{offset:#x}")),
        (None, _, _, None, None) => None,
    }
}

/// The line, from 1. Debug information uses 0 for code that the compiler generated.
pub(super) fn line(frame: &Frame) -> Option<u32> {
    frame.line.filter(|line| *line > 0)
}

/// The column, from 1; 0 stands for the line as a whole.
pub(super) fn column(frame: &Frame) -> Option<u32> {
    frame.column.filter(|column| *column > 0)
}

/// Whether the character changes the reading direction of the text around it, and so can disguise a
/// name.
pub(super) fn turns_text(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The name of the function, or a substitute.
pub(super) fn function(frame: &Frame) -> &str {
    frame.function.as_deref().unwrap_or("<unknown function>")
}

/// A stack without the frames that start every program and thread. The innermost frame always
/// stays.
pub(super) fn trimmed(stack: &[Frame]) -> &[Frame] {
    let starts_a_thread = |frame: &Frame| {
        let name = frame.function.as_deref().map(crate::place::stable_name).unwrap_or_default();
        START_FRAMES.contains(&name)
    };
    let keep = stack.iter().rposition(|frame| !starts_a_thread(frame)).map_or(1, |last| last + 1);
    &stack[..keep.min(stack.len())]
}

const START_FRAMES: &[&str] = &[
    "__clone",
    "__clone3",
    "__libc_start_call_main",
    "__libc_start_main",
    "__libc_start_main_impl",
    "_start",
    "clone",
    "clone3",
    "start_thread",
];

/// The line of source of a frame, and the column in it, from 1.
pub(super) fn source_line(
    frame: &Frame,
    options: &RenderOptions<'_>,
) -> Option<(u32, String, Option<usize>)> {
    let (file, line) = (frame.file.as_deref()?, line(frame)?);
    let text = options.source.line(file, line)?;
    let text = text.trim_end();
    if text.is_empty() {
        return None;
    }
    let column =
        frame.column.map(|column| column as usize).filter(|&column| column >= 1 && column <= text.len());
    Some((line, text.to_owned(), column))
}

/// `3 bytes`, `1 byte`.
pub(super) fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{} {noun}s", Grouped(number)) }
}

/// The text if there is no finding. It does not claim that nothing was found if a hunt has open
/// suspicions, or if nothing in it ended.
pub(super) fn nothing(report: &Report) -> String {
    let stat = |key: &str| match report.stats.get(key) {
        Some(Stat::Int(number)) => *number as u64,
        Some(Stat::Bool(true)) => 1,
        _ => 0,
    };
    let is_hunt = report.command == "hunt";
    let open = stat("suspicions_open");
    let mut text = match is_hunt {
        true if stat("interrupted") > 0 => "nothing confirmed before it was interrupted".to_owned(),
        true if stat("hunted") == stat("hung") => "nothing confirmed, as no run came to its end".to_owned(),
        true if open > 0 => "nothing confirmed".to_owned(),
        _ => "no findings".to_owned(),
    };
    if is_hunt && open > 0 {
        text += &format!(", {} open", count(open, "suspicion"));
    }
    if is_hunt && stat("suspicions_explained") > 0 {
        text += &format!(", {} explained", count(stat("suspicions_explained"), "suspicion"));
    }
    for (key, words) in
        [("looked_only", "run only once"), ("not_reached", "not reached"), ("could_not", "not hunted")]
    {
        if is_hunt && stat(key) > 0 {
            text += &format!(", {} {words}", count(stat(key), "test"));
        }
    }
    text
}

pub(super) fn summary(report: &Report) -> String {
    let confirmed =
        report.findings.iter().filter(|finding| finding.confidence == Confidence::Confirmed).count();
    let suspected = report.findings.len() - confirmed;
    let mut text = match report.findings.len() {
        0 => nothing(report),
        all => format!("{} ({confirmed} confirmed, {suspected} suspected)", count(all as u64, "finding")),
    };
    for (key, word) in [(STAT_SUPPRESSED, "suppressed"), (STAT_BASELINE, "known from the baseline")] {
        if let Some(Stat::Int(number)) = report.stats.get(key)
            && *number > 0
        {
            text += &format!(", {number} {word}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{access, finding, frame};

    #[test]
    fn the_summary_counts() {
        let mut report = Report::new("run", vec![]);
        assert_eq!(summary(&report), "no findings");
        report.stats.insert(STAT_SUPPRESSED.into(), Stat::Int(3));
        assert_eq!(summary(&report), "no findings, 3 suppressed");
        report.findings = vec![finding(Kind::Crash, vec![]), finding(Kind::Hang, vec![])];
        report.findings[1].confidence = Confidence::Suspected;
        report.stats.insert(STAT_BASELINE.into(), Stat::Int(1));
        assert_eq!(
            summary(&report),
            "2 findings (1 confirmed, 1 suspected), 3 suppressed, 1 known from the baseline"
        );
        report.findings.pop();
        report.stats.clear();
        assert_eq!(summary(&report), "1 finding (1 confirmed, 0 suspected)");
    }

    #[test]
    fn a_hunt_with_open_suspicions_has_not_found_that_there_is_nothing() {
        let with = |stats: &[(&str, i64)]| {
            let mut report = Report::new("hunt", vec![]);
            let all = [("hunted", 1), ("hung", 0), ("suspicions_open", 0)].iter().chain(stats);
            report.stats.extend(all.map(|(key, n)| ((*key).to_owned(), Stat::Int(*n))));
            summary(&report)
        };
        assert_eq!(with(&[]), "no findings");
        assert_eq!(with(&[("suspicions_open", 1)]), "nothing confirmed, 1 suspicion open");
        assert_eq!(with(&[("suspicions_explained", 2)]), "no findings, 2 suspicions explained");
        assert_eq!(with(&[("hung", 1)]), "nothing confirmed, as no run came to its end");
        assert_eq!(with(&[("not_reached", 1200)]), "no findings, 1,200 tests not reached");
        assert_eq!(with(&[("looked_only", 7)]), "no findings, 7 tests run only once");
        assert_eq!(
            with(&[("interrupted", 1), ("suspicions_open", 2)]),
            "nothing confirmed before it was interrupted, 2 suspicions open"
        );
    }

    #[test]
    fn the_earlier_end_of_a_race_is_told_first() {
        let race = finding(
            Kind::DataRace,
            vec![access(AccessOp::Write, "T2", vec![]), access(AccessOp::Read, "T1", vec![])],
        );
        let told: Vec<_> =
            ends(&race).iter().map(|end| format!("{}: {}", end.when, deed(&race, end))).collect();
        assert_eq!(
            told,
            ["earlier: T1 read 4 bytes, holding no lock", "now: T2 wrote 4 bytes, holding no lock"]
        );
    }

    #[test]
    fn an_edge_finds_its_lock_in_the_next_edge() {
        let edge = |thread: &str, held: &[&str]| {
            let mut edge = access(AccessOp::Lock, thread, vec![]);
            edge.locks = held.iter().map(|label| (*label).to_owned()).collect();
            edge
        };
        let mut cycle = finding(
            Kind::LockOrder,
            vec![edge("T1", &["L1", "L9"]), edge("T2", &["L2 (read)", "L9"]), edge("T3", &["L3"])],
        );
        let told = |cycle: &Finding| ends(cycle).iter().map(|end| deed(cycle, end)).collect::<Vec<_>>();
        assert_eq!(
            told(&cycle),
            [
                "T1 took L2 while holding L1, L9",
                "T2 took L3 while holding L2 (read), L9",
                "T3 took a lock while holding L3"
            ]
        );
        cycle.accesses[2].lock = Some("L1".into());
        assert_eq!(told(&cycle)[2], "T3 took L1 while holding L3");
    }

    #[test]
    fn what_the_locks_say() {
        let relation = |now: &[&str], earlier: &[&str]| {
            let mut race = finding(
                Kind::DataRace,
                vec![access(AccessOp::Write, "", vec![]), access(AccessOp::Read, "", vec![])],
            );
            race.accesses[0].locks = now.iter().map(|label| (*label).to_owned()).collect();
            race.accesses[1].locks = earlier.iter().map(|label| (*label).to_owned()).collect();
            lock_relation(&race)
        };
        assert_eq!(relation(&[], &[]), None);
        assert_eq!(relation(&["L1"], &[]).unwrap(), "only one end holds a lock");
        assert_eq!(relation(&["L1"], &["L2"]).unwrap(), "no lock is held at both ends");
        assert_eq!(
            relation(&["L1 (read)"], &["L1 (read)"]).unwrap(),
            "L1 is held at both ends, and does not order them"
        );
    }

    #[test]
    fn start_frames_are_left_out_from_the_outside_only() {
        let names = |stack: &[&str]| {
            let frames: Vec<_> = stack.iter().map(|name| frame(name, "", 0, 0)).collect();
            trimmed(&frames).iter().map(|frame| function(frame).to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(&["f", "main", "__libc_start_main@@GLIBC_2.34", "_start"]), ["f", "main"]);
        assert_eq!(names(&["clone", "worker", "start_thread", "clone3"]), ["clone", "worker"]);
        assert_eq!(names(&["clone"]), ["clone"]);
        assert!(names(&[]).is_empty());
    }

    #[test]
    fn places_fall_back() {
        let options = RenderOptions::default();
        let mut f = frame("f", "a.c", 3, 1);
        f.offset = Some(0x10);
        f.column = Some(9);
        assert_eq!(place(&f, &options).unwrap(), "a.c:3:9");
        f.file = None;
        assert_eq!(place(&f, &options).unwrap(), "a.out+0x10");
        f.module = None;
        assert_eq!(place(&f, &options).unwrap(), "0x10");
        assert_eq!(place(&Frame::default(), &options), None);
    }
}
