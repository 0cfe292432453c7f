//! Failures that `explore` does not see: unusual output, or a broken invariant. A `.raddle` file
//! records what to look for, so that a replay can tell whether it happened again.

pub mod events;
pub mod printed;

use raddle_base::hash::fnv32;
use raddle_conseq::event::TraceEvent;
use raddle_conseq::invariants::Invariant;
use raddle_explore::Outcome;
use raddle_finding::Kind;
use raddle_wire::trace::Recording;
use serde::{Deserialize, Serialize};

use self::printed::{Printed, PrintedLine, Stream, masked, shortened};
use crate::verdict::{ExecutionFacts, Failure};
use crate::watch::{Traced, Watch, Watched};
use crate::worker::Execution;

/// What to look for in an execution that ended well.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    Printed(PrintedLine),
    Invariant(Guard),
}

/// An invariant, and what is needed to check it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Guard {
    pub invariant: Invariant,
    /// The invariant in words.
    pub text: String,
    /// The program counters of all accesses to the invariant's variables.
    pub accesses: Vec<u64>,
}

/// The most characters of a line in a sentence.
const TOLD: usize = 120;
/// Room for the accesses of one execution.
const ROOM: u64 = 64 << 20;

/// What to watch in order to check these guards.
pub fn watch<'a>(guards: impl IntoIterator<Item = &'a Guard>) -> Watch {
    let mut sites: Vec<u64> = guards.into_iter().flat_map(|g| g.accesses.iter().copied()).collect();
    sites.sort_unstable();
    sites.dedup();
    let trace = (!sites.is_empty()).then_some(Traced { mode: Recording::Table, sites, room: ROOM });
    Watch { trace, output: true }
}

/// The recorded events of an execution.
pub fn events(watched: &Watched) -> Vec<TraceEvent> {
    events::of(watched.events().0).events
}

impl Check {
    pub fn watch(&self) -> Watch {
        match self {
            Check::Printed(_) => watch([]),
            Check::Invariant(guard) => watch([guard]),
        }
    }

    /// Whether an execution shows the failure.
    pub fn shows(&self, watched: &Watched) -> bool {
        match self {
            Check::Printed(line) => Printed::of(watched).shows(line),
            Check::Invariant(guard) => guard.invariant.broken(&events(watched)).is_some(),
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Check::Printed(line) if line.stream == Stream::Err => Kind::ErrorMessage,
            Check::Printed(_) => Kind::Output,
            Check::Invariant(_) => Kind::Invariant,
        }
    }

    pub fn sentence(&self) -> String {
        match self {
            Check::Printed(line) => {
                let text = shortened(&line.text, TOLD);
                match (line.appears, &line.usually) {
                    (true, Some(usually)) => {
                        format!("`{text}` is printed where `{}` usually is", shortened(usually, TOLD))
                    }
                    (true, None) => format!("`{text}` is printed, which usually is not"),
                    (false, _) => format!("`{text}` is not printed, which usually is"),
                }
            }
            Check::Invariant(guard) => {
                format!("`{}`, which held in all training runs, does not hold", guard.text)
            }
        }
    }

    /// A number that is the same for failures that a report would not tell apart.
    fn number(&self) -> u32 {
        let text = match self {
            Check::Printed(line) => format!("{:?} {} {}", line.stream, line.appears, masked(&line.text)),
            Check::Invariant(guard) => format!("{:x} {}", guard.invariant.site, guard.text),
        };
        fnv32(text.as_bytes())
    }

    /// The execution as a failure.
    pub fn failure(&self, e: &Execution<'_>) -> Failure {
        let what = self.number();
        let facts = ExecutionFacts {
            sentence: self.sentence(),
            thread: e.slot.thread as u16,
            address: 0,
            ends: Vec::new(),
            seen: None,
            said: None,
            stacks: e.stacks.to_vec(),
        };
        Failure {
            kind: self.kind(),
            what,
            facts,
            trace: e.trace(Outcome::Failed { what }),
            after: 0,
            flags: 0,
            points: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_conseq::invariants::Shape;

    fn line(text: &str) -> Check {
        Check::Printed(PrintedLine { stream: Stream::Out, text: text.into(), appears: true, usually: None })
    }

    #[test]
    fn lines_that_differ_in_numbers_are_one_thing() {
        assert_eq!(line("total 7").number(), line("total 81").number());
        assert_ne!(line("total 7").number(), line("sum 7").number());
    }

    #[test]
    fn a_check_comes_back_from_a_file() {
        let invariant =
            Invariant { site: 7, variable: None, shape: Shape::Constant(3), samples: 9, confidence: 1.0 };
        let guard = Guard { invariant, text: "x == 3".into(), accesses: vec![16] };
        for check in [line("a"), Check::Invariant(guard)] {
            let text = serde_json::to_string(&check).unwrap();
            assert_eq!(serde_json::from_str::<Check>(&text).unwrap(), check);
        }
    }

    #[test]
    fn only_invariants_take_a_trace() {
        assert!(line("a").watch().trace.is_none() && line("a").watch().output);
        let invariant =
            Invariant { site: 7, variable: None, shape: Shape::NotNull, samples: 1, confidence: 1.0 };
        let guard = |accesses| Guard { invariant: invariant.clone(), text: String::new(), accesses };
        let watched = watch(&[guard(vec![9, 3]), guard(vec![3])]);
        assert_eq!(watched.trace.unwrap().sites, [3, 9]);
    }
}
