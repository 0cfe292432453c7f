//! What was found, as a report.

use anyhow::Result;
use raddle_conseq::history::Point;
use raddle_conseq::suspects::{Instead, Suspect};
use raddle_finding::{Confidence, Finding, Kind, Report, Stat};

use super::Phases;
use super::analysed::Analysed;
use super::args::Args;
use super::check::Check;
use super::tester::{Consequence, Tested, Verdict};
use super::traced::Runs;
use crate::explore::outcome::{program_name, write_new};
use crate::explore::schedule::{self, Expected, Head, Schedule};
use crate::explore::verdict::Failure;
use crate::explore::words::pc_of;
use crate::explore::{build_id, told};
use crate::places::Places;

pub fn report(
    args: &Args,
    runs: &Runs,
    analysed: &Analysed,
    tested: Tested,
    places: Places,
    clock: &Phases,
) -> Result<Report> {
    let mut teller = Teller { args, runs, analysed, tested: &tested, places };
    let mut report = Report::new("conseq", teller.words());
    for run in runs.runs.iter().filter_map(|r| r.failure.as_ref()) {
        let known = report.findings.iter().any(|f: &Finding| f.message == run.facts.sentence);
        if !known {
            report.findings.push(teller.without_analysis(run)?);
        }
    }
    for c in &tested.consequences {
        report.findings.push(teller.confirmed(c)?);
    }
    teller.add_stats(&mut report, clock);
    Ok(report)
}

struct Teller<'a> {
    args: &'a Args,
    runs: &'a Runs,
    analysed: &'a Analysed,
    tested: &'a Tested,
    places: Places,
}

impl Teller<'_> {
    fn words(&self) -> Vec<String> {
        self.args.command.iter().map(|w| w.to_string_lossy().into_owned()).collect()
    }

    /// A traced run failed by itself.
    fn without_analysis(&mut self, failure: &Failure) -> Result<Finding> {
        let modules = self.runs.modules.clone();
        let mut finding = told::finding(failure, &self.tested.passing, &mut self.places, &modules);
        finding.schedule = Some(self.write(failure, None)?);
        finding.notes.push("a traced run, in which nobody was preempted, came to this".into());
        Ok(finding)
    }

    fn confirmed(&mut self, c: &Consequence) -> Result<Finding> {
        let modules = self.runs.modules.clone();
        let mut finding = told::finding(&c.failure, &self.tested.passing, &mut self.places, &modules);
        finding.confidence = Confidence::Confirmed;
        finding.kind = kind(c.failure.kind);
        finding.schedule = Some(self.write(&c.failure, c.check.as_ref())?);
        if let Some(i) = c.suspects.first() {
            let because = self.because(&self.analysed.suspects[*i].clone());
            finding.message = format!("{}: {because}", finding.message);
        }
        if !c.again {
            finding.notes.push(
                "it did not happen again when the same choices were made again: something outside the schedule differs from run to run".into(),
            );
        }
        Ok(finding)
    }

    /// `ui.c:55 may read NULL written by loader.c:31`.
    fn because(&mut self, s: &Suspect) -> String {
        let read = self.place(&s.read);
        let value = value(s.value, s.read.cell.size);
        match s.instead {
            Instead::Write(w) => format!("{read} may read {value} written by {}", self.place(&w)),
            Instead::Initial => format!("{read} may come too early, and read {value}"),
            Instead::Freed(f) => format!("{read} may access what {} has freed", self.place(&f)),
        }
    }

    fn place(&mut self, point: &Point) -> String {
        let Some(pc) = pc_of(&self.runs.modules, point.site) else { return "somewhere".into() };
        let frames = self.places.stack(&self.runs.modules, &[pc]);
        let Some(frame) = raddle_finding::place::place(&frames) else { return format!("{pc:#x}") };
        match (&frame.file, frame.line) {
            (Some(file), Some(line)) => {
                let name = file.rsplit('/').next().unwrap_or(file);
                format!("{name}:{line}")
            }
            _ => frame.function.clone().unwrap_or_else(|| format!("{pc:#x}")),
        }
    }

    /// Writes the file to replay. Gives its name.
    fn write(&self, failure: &Failure, check: Option<&Check>) -> Result<String> {
        let recipe = &self.tested.recipe;
        let head = Head {
            format: schedule::FORMAT.into(),
            version: schedule::VERSION,
            command: self.words(),
            folder: std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned(),
            environment: schedule::environment(),
            build_id: build_id(&recipe.program.path),
            flags: recipe.flags,
            max_steps: recipe.max_steps,
            donors: recipe.donors,
            points: recipe.points.iter().map(|p| format!("{p:x}")).collect(),
            expected: Expected {
                kind: failure.kind.name().into(),
                number: failure.what,
                message: failure.facts.sentence.clone(),
                usual_status: self.runs.usual.status,
                usual_panics: self.runs.usual.panics,
                check: check.cloned(),
            },
        };
        let text = Schedule { head, steps: failure.trace.steps.clone() }.write();
        let name = format!("{}-{}", program_name(recipe), word(failure.kind));
        Ok(write_new(&self.args.schedules_to, &name, &text)?.display().to_string())
    }

    fn add_stats(&self, report: &mut Report, clock: &Phases) {
        let count = |f: &dyn Fn(&Verdict) -> bool| {
            Stat::from(self.tested.verdicts.iter().filter(|v| f(v)).count() as u64)
        };
        let mut add = |key: &str, value: Stat| drop(report.stats.insert(key.into(), value));
        add("seconds", Stat::Float(clock.begun.elapsed().as_secs_f64()));
        add("seconds_traced", Stat::Float(clock.traced));
        add("seconds_static", Stat::Float(clock.static_half));
        add("seconds_analysed", Stat::Float(clock.analysed));
        add("seconds_tested", Stat::Float(clock.tested));
        add("sites", Stat::from((self.analysed.sites.count() + self.analysed.guards.len()) as u64));
        add("critical_reads", Stat::from(self.analysed.sites.critical_reads() as u64));
        add("invariants", Stat::from(self.analysed.guards.len() as u64));
        add("suspects", Stat::from(self.analysed.suspects.len() as u64));
        add("suspects_confirmed", count(&|v| matches!(v, Verdict::Confirmed(_))));
        add("suspects_refuted", count(&|v| matches!(v, Verdict::Refuted(_))));
        add("suspects_open", count(&|v| *v == Verdict::Open));
        add("executions", Stat::from(self.tested.executions));
        add("exhausted", Stat::Bool(self.tested.exhausted));
        add("runs", Stat::from(self.runs.runs.len() as u64));
        add("trace_events", Stat::from(self.analysed.events));
        add("trace_bytes", Stat::from(self.runs.runs.iter().map(|r| r.bytes).sum::<u64>()));
        add("accesses", Stat::from(self.runs.runs.iter().map(|r| r.accesses).sum::<u64>()));
    }
}

/// An execution that goes on for ever hangs, whatever its threads do meanwhile.
fn kind(kind: Kind) -> Kind {
    match kind {
        Kind::Livelock | Kind::Starvation => Kind::Hang,
        other => other,
    }
}

/// The kind of site, for the name of a file.
fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Assertion => "assert",
        Kind::ErrorMessage => "error",
        Kind::Output => "output",
        Kind::Hang | Kind::Livelock | Kind::Starvation => "loop",
        Kind::Crash | Kind::UseAfterFree | Kind::DoubleFree => "memory",
        Kind::Deadlock => "deadlock",
        Kind::ExitStatus => "exit-status",
        _ => "invariant",
    }
}

/// A value as its reader would write it.
fn value(value: u64, size: u8) -> String {
    match (value, size) {
        (0, 8) => "NULL or 0".into(),
        (v, 8) if v > 1 << 32 => format!("{v:#x}"),
        (v, 4) => (v as u32 as i32).to_string(),
        (v, _) => v.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_their_reader_would() {
        assert_eq!(value(0xffff_ffff, 4), "-1");
        assert_eq!(value(0, 8), "NULL or 0");
        assert_eq!(value(0x7a00_0000_0010, 8), "0x7a0000000010");
        assert_eq!(value(3, 1), "3");
    }
}
