//! The pictures of a report as a trace for timeline viewers, in Chrome's Trace Event Format, which
//! Perfetto reads.
//!
//! A finding is a process, and each of its threads is a track. A step is one microsecond long,
//! because steps have an order and no duration. Locks are asynchronous slices, so each has its own
//! track under the process. `raddle replay --trace` writes the same for a schedule of any length.

use serde_json::{Value, json};

use crate::model::{Finding, Report};

use super::picture::{Picture, picture};
use super::story;

pub(super) fn render(report: &Report) -> String {
    let mut events = Vec::new();
    for (i, finding) in report.findings.iter().chain(&report.suspects).enumerate() {
        let name = format!("{} {}: {}", finding.confidence, finding.kind.title(), finding.message);
        events.push(json!({
            "ph": "M", "name": "process_name", "pid": i + 1, "tid": 0,
            "args": {"name": name, "id": finding.id},
        }));
        if let Some(picture) = picture(finding) {
            draw(&mut events, i + 1, finding, &picture);
        }
    }
    let document = json!({
        "traceEvents": events,
        "displayTimeUnit": "ns",
        "otherData": {"command": report.command, "target": report.target.join(" ")},
    });
    format!("{document}\n")
}

fn draw(events: &mut Vec<Value>, pid: usize, finding: &Finding, picture: &Picture) {
    for (lane, name) in picture.lanes.iter().enumerate() {
        events.push(json!({
            "ph": "M", "name": "thread_name", "pid": pid, "tid": lane + 1, "args": {"name": name},
        }));
    }
    for (at, step) in picture.steps.iter().enumerate() {
        let place = step
            .frame
            .as_ref()
            .and_then(|frame| Some(format!("{}:{}", frame.file.as_deref()?, story::line(frame)?)));
        let number = picture.left_out as usize + at + 1;
        events.push(json!({
            "ph": "X", "name": step.text, "cat": step.act.name(), "pid": pid, "tid": step.lane + 1,
            "ts": at, "dur": 1,
            "args": {
                "step": number, "place": place, "value": step.value,
                "matters": step.is_key, "preempts": step.preempts,
            },
        }));
    }
    for (i, bar) in picture.bars.iter().enumerate() {
        let end = bar.until.unwrap_or(picture.steps.len());
        let id = format!("{}-{i}", finding.id);
        let thread = &picture.lanes[bar.lane];
        for (phase, at) in [("b", bar.from), ("e", end)] {
            events.push(json!({
                "ph": phase, "name": bar.label(), "cat": "lock", "id": id, "pid": pid,
                "tid": bar.lane + 1, "ts": at, "args": {"held by": thread},
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Kind, LockSpan, Timeline, TimelineStep};
    use crate::sample::finding;

    #[test]
    fn a_finding_is_a_process_and_a_thread_a_track() {
        let mut crash = finding(Kind::Crash, vec![]);
        let step = |thread, text: &str| TimelineStep { thread, text: text.into(), ..Default::default() };
        crash.timeline = Some(Timeline {
            threads: vec!["T0".into(), "T1".into()],
            steps: vec![step(1, "locks L1"), step(0, "fails")],
            held: vec![LockSpan { lock: "L1".into(), thread: 1, ..Default::default() }],
            ..Timeline::default()
        });
        let mut report = Report::new("explore", vec!["./a".into()]);
        report.findings.push(crash);
        let document: Value = serde_json::from_str(&render(&report)).unwrap();
        let events = document["traceEvents"].as_array().unwrap();
        let of = |phase: &str| events.iter().filter(|e| e["ph"] == phase).collect::<Vec<_>>();
        assert_eq!(of("M").len(), 3);
        let slices: Vec<_> =
            of("X").iter().map(|e| (e["name"].as_str(), e["tid"].as_i64(), e["ts"].as_i64())).collect();
        assert_eq!(slices, [(Some("locks L1"), Some(2), Some(0)), (Some("fails"), Some(1), Some(1))]);
        assert_eq!((of("b")[0]["ts"].as_i64(), of("e")[0]["ts"].as_i64()), (Some(0), Some(2)));
        assert_eq!(of("b")[0]["id"], of("e")[0]["id"]);
    }
}
