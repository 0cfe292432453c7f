//! The places of a finding one by one, each with its sentence, for editors that can jump to them.

use crate::model::{Finding, Frame, Location};
use crate::place::{is_user_code, place};

use super::{RenderOptions, story};

/// One place of a finding's story.
#[derive(Debug, Clone, PartialEq)]
pub struct StoryStep {
    /// Where to jump. It has a file and a line.
    pub frame: Frame,
    /// One sentence, without a full stop.
    pub text: String,
    /// For an end: its index in [`Finding::accesses`].
    pub end: Option<usize>,
}

/// The steps in order: each end with the calls and locks that lead to it, then what the address is
/// and who started which thread. Only places in files, and each line with the same sentence only
/// once.
pub fn steps(finding: &Finding, options: &RenderOptions<'_>) -> Vec<StoryStep> {
    let mut out = Vec::new();
    for end in story::ends(finding) {
        let when = if end.when.is_empty() { String::new() } else { format!("{}: ", end.when) };
        let thread = &end.access.thread;
        let Some(own) = place(&end.access.stack) else { continue };
        push(&mut out, Some(own), format!("{when}{}", story::deed(finding, &end)), Some(end.index));
        // The callers of the innermost frame of user code.
        let outer = end.access.stack.iter().skip_while(|frame| !std::ptr::eq(*frame, own)).skip(1);
        for frame in outer.filter(|frame| is_user_code(frame)) {
            push(
                &mut out,
                Some(frame),
                format!("{thread} got there by a call in {}", story::function(frame)),
                None,
            );
        }
        locks(&mut out, finding, end.index);
    }
    address(&mut out, finding, options);
    for thread in &finding.threads {
        if let Some(told) = story::thread(thread) {
            push(&mut out, place(&thread.stack), format!("{} was {told}", thread.label), None);
        }
    }
    out
}

fn locks(out: &mut Vec<StoryStep>, finding: &Finding, index: usize) {
    let access = &finding.accesses[index];
    for label in &access.locks {
        let Some(lock) = finding.locks.iter().find(|lock| lock.label == story::bare(label)) else { continue };
        for taken in lock.taken.iter().filter(|taken| taken.thread == access.thread) {
            let text = format!("{} took {} here", access.thread, story::lock(lock));
            push(out, place(&taken.stack), text, None);
        }
    }
}

fn address(out: &mut Vec<StoryStep>, finding: &Finding, options: &RenderOptions<'_>) {
    let Some(address) = &finding.location else { return };
    let text = format!("the address is {}", story::location(address, options));
    match address {
        Location::Global { file, line, .. } => {
            let frame = Frame { file: file.clone(), line: *line, ..Frame::default() };
            push(out, Some(&frame), text, None);
        }
        address => push(out, place(story::location_stack(address)), text, None),
    }
}

fn push(out: &mut Vec<StoryStep>, frame: Option<&Frame>, text: String, end: Option<usize>) {
    let Some(frame) = frame.filter(|frame| frame.file.is_some() && story::line(frame).is_some()) else {
        return;
    };
    let same = |step: &StoryStep| {
        step.text == text && step.end == end && step.frame.file == frame.file && step.frame.line == frame.line
    };
    if !out.iter().any(same) {
        out.push(StoryStep { frame: frame.clone(), text, end });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AccessOp, Kind, Lock, Taken, ThreadInfo};
    use crate::sample::{access, finding, frame};

    fn told(finding: &Finding) -> Vec<String> {
        let line =
            |step: &StoryStep| format!("{} {:?} {}", step.frame.line.unwrap_or(0), step.end, step.text);
        steps(finding, &RenderOptions::default()).iter().map(line).collect()
    }

    #[test]
    fn a_race_is_told_from_its_earlier_end_to_its_threads() {
        let mut now =
            access(AccessOp::Write, "T2 (w)", vec![frame("f", "a.c", 10, 9), frame("w", "a.c", 20, 19)]);
        now.locks = vec!["L1".into()];
        let earlier =
            access(AccessOp::Read, "T1", vec![frame("memcpy", "", 0, 0), frame("g", "b.c", 30, 29)]);
        let mut race = finding(Kind::DataRace, vec![now, earlier]);
        race.locks = vec![Lock {
            label: "L1".into(),
            what: "mutex".into(),
            name: Some("mu".into()),
            taken: vec![Taken { thread: "T2 (w)".into(), stack: vec![frame("f", "a.c", 8, 7)] }],
        }];
        race.threads = vec![ThreadInfo {
            label: "T2 (w)".into(),
            name: None,
            created_by: Some("T0 (main)".into()),
            stack: vec![frame("main", "a.c", 40, 39)],
            running: true,
        }];
        race.location = Some(Location::Global {
            name: "n".into(),
            offset: 0,
            size: 4,
            module: String::new(),
            file: Some("a.c".into()),
            line: Some(2),
        });
        assert_eq!(
            told(&race),
            [
                "30 Some(1) earlier: T1 read 4 bytes, holding no lock",
                "10 Some(0) now: T2 (w) wrote 4 bytes, holding L1",
                "20 None T2 (w) got there by a call in w",
                "8 None T2 (w) took L1 `mu` (mutex) here",
                "2 None the address is the global `n` of 4 bytes, defined at a.c:2",
                "40 None T2 (w) was created by T0 (main)",
            ]
        );
    }

    #[test]
    fn places_without_a_line_are_no_steps() {
        let crash = finding(Kind::Crash, vec![access(AccessOp::Call, "T1", vec![frame("f", "", 0, 0)])]);
        assert!(told(&crash).is_empty());
        assert!(told(&finding(Kind::Hang, vec![])).is_empty());
    }
}
