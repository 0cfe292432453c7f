//! The steps of an execution for a timeline viewer, in Chrome's Trace Event Format, which Perfetto
//! reads too.
//!
//! There is one row per thread. A step is one microsecond long, since steps have no duration.
//! Consecutive steps of one thread are inside one slice, so that switches are visible from afar.

use raddle_explore::{Step, StepFlags};
use serde_json::{Value, json};

use raddle_harness::describe::steps::StepWords;
use raddle_harness::places::{Mapped, Places};

pub fn chrome(steps: &[Step], places: &mut Places, modules: &[Mapped]) -> String {
    let mut words = StepWords::new(places, modules, steps);
    let mut events: Vec<Value> = Vec::new();
    let mut threads: Vec<_> = steps.iter().map(|s| s.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    for t in threads {
        let name = words.thread(t);
        events.push(json!({"ph": "M", "name": "thread_name", "pid": 1, "tid": t.0, "args": {"name": name}}));
    }
    let mut at = 0;
    for run in steps.chunk_by(|a, b| a.thread == b.thread) {
        let preempts = run[0].flags.has(StepFlags::PREEMPTION);
        let name = if preempts { "runs, preempting" } else { "runs" };
        events.push(slice(name.into(), run[0].thread.0, at, run.len(), json!({})));
        for step in run {
            let place = words.place(&step.op).unwrap_or_default();
            let args = json!({"step": at + 1, "place": place});
            events.push(slice(words.step(step), step.thread.0, at, 1, args));
            at += 1;
        }
    }
    json!({"traceEvents": events, "displayTimeUnit": "ns"}).to_string()
}

fn slice(name: String, thread: u16, at: usize, steps: usize, args: Value) -> Value {
    json!({"ph": "X", "name": name, "pid": 1, "tid": thread, "ts": at, "dur": steps, "args": args})
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_explore::{LogicalThread, Op, OpKind};

    #[test]
    fn a_row_a_thread_and_a_slice_a_step() {
        let step = |t, kind| Step::bare(LogicalThread(t), Op::new(kind, 64, 0));
        let steps = [step(0, OpKind::Lock), step(0, OpKind::Unlock), step(1, OpKind::Lock)];
        let text = chrome(&steps, &mut Places::new(), &[]);
        let document: Value = serde_json::from_str(&text).unwrap();
        let events = document["traceEvents"].as_array().unwrap();
        let of = |phase: &str| events.iter().filter(|e| e["ph"] == phase).collect::<Vec<_>>();
        assert_eq!(of("M").iter().map(|e| &e["args"]["name"]).collect::<Vec<_>>(), ["T0 (main)", "T1"]);
        let slices: Vec<_> = of("X")
            .iter()
            .map(|e| (e["name"].as_str().unwrap(), e["tid"].as_i64(), e["ts"].as_i64(), e["dur"].as_i64()))
            .collect();
        assert_eq!(slices[0], ("runs", Some(0), Some(0), Some(2)));
        assert_eq!(slices[2], ("unlocks L1", Some(0), Some(1), Some(1)));
        assert_eq!(slices[4], ("locks L1", Some(1), Some(2), Some(1)));
    }
}
