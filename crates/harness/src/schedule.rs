//! The `.raddle` file: a failure on disk.
//!
//! It is text. The first line is a JSON object ([`Head`]): what was run, where and how, and the
//! result. Each further line is a step:
//!
//! ```text
//! THREAD KIND SITE OBJECT OTHER [=VALUE/VALUES]
//! 1 Lock 55555293 5555555580a0 0
//! ```
//!
//! A replay follows the thread or, for a choice of values, the value. The rest describes the step,
//! so that a replay that diverges can say where it first did. Site, object and other are
//! hexadecimal.
//!
//! This is version 1. A later version adds keys to the first line and words at the end of a step,
//! and version 1 ignores both. A change beyond that gets another version number, which version 1
//! refuses with a sentence.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;

use raddle_explore::{Choice, LogicalThread, Op, OpKind, Step};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::check::Check;

pub const FORMAT: &str = "raddle.schedule";
pub const VERSION: u32 = 1;

#[derive(Debug, Error)]
pub enum ScheduleError {
    #[error("cannot read {0}: {1}")]
    Unreadable(String, std::io::Error),
    #[error("{0} is not a schedule of raddle's")]
    NotASchedule(String),
    #[error("{0} is a schedule of version {1}, and this raddle knows version {VERSION}: use a newer raddle")]
    Version(String, u32),
    #[error("{0}, line {1}: not a step")]
    Step(String, usize),
}

/// The first line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Head {
    pub format: String,
    pub version: u32,
    /// The words of the command line; the first is the program.
    pub command: Vec<String>,
    /// Where it was run, and the variables set there that can matter.
    pub folder: String,
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Variables that the program must not have, whatever is set where it is replayed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unset: Vec<String>,
    /// The file on its standard input. Without one, standard input is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    pub build_id: String,
    /// `raddle_wire::explore::flag`s.
    pub flags: u32,
    pub max_steps: u32,
    pub donors: u32,
    /// Accesses that are scheduling points: program counters, hexadecimal.
    pub points: Vec<String>,
    /// Atomic operations that are not scheduling points: addresses in the executable's file, each
    /// as the hexadecimal distance from the one before.
    #[serde(default)]
    pub quiet: String,
    pub expected: Expected,
}

/// The result that a replay must reach.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expected {
    pub kind: String,
    /// The failure's number: see `verdict`.
    pub number: u32,
    pub message: String,
    /// How the program usually ends.
    #[serde(default)]
    pub usual_status: i32,
    #[serde(default)]
    pub usual_panics: Option<u32>,
    /// A hash of what the program usually prints, hexadecimal.
    #[serde(default)]
    pub usual_output: Option<String>,
    /// From `conseq`: what to look for in an execution that ends well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    pub head: Head,
    pub steps: Vec<Step>,
}

impl Schedule {
    pub fn read(path: &Path) -> Result<Schedule, ScheduleError> {
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|e| ScheduleError::Unreadable(name.clone(), e))?;
        let text = String::from_utf8(bytes).map_err(|_| ScheduleError::NotASchedule(name.clone()))?;
        Schedule::parse(&name, &text)
    }

    pub fn parse(name: &str, text: &str) -> Result<Schedule, ScheduleError> {
        #[derive(Deserialize)]
        struct Version {
            format: String,
            version: u32,
        }
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        let not = |_| ScheduleError::NotASchedule(name.into());
        let version: Version = serde_json::from_str(first).map_err(not)?;
        if version.format != FORMAT {
            return Err(ScheduleError::NotASchedule(name.into()));
        }
        if version.version != VERSION {
            return Err(ScheduleError::Version(name.into(), version.version));
        }
        let head: Head = serde_json::from_str(first).map_err(not)?;
        let lines = rest.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let step = |(i, line)| parse_step(line).ok_or_else(|| ScheduleError::Step(name.into(), i + 2));
        Ok(Schedule { head, steps: lines.map(step).collect::<Result<_, _>>()? })
    }

    pub fn write(&self) -> String {
        let mut text = serde_json::to_string(&self.head).expect("plain data");
        text.push('\n');
        for step in &self.steps {
            let op = &step.op;
            let (thread, kind) = (step.thread.0, op.kind());
            let _ = write!(text, "{thread} {kind:?} {:x} {:x} {:x}", op.site, op.object, op.other);
            if step.is_value() {
                let _ = write!(text, " ={}/{}", step.value, step.n_values);
            }
            text.push('\n');
        }
        text
    }

    pub fn choices(&self) -> impl Iterator<Item = Choice> {
        self.steps.iter().map(raddle_explore::trace::choice_of)
    }

    /// The points as numbers; malformed ones are left out.
    pub fn points(&self) -> Vec<u64> {
        self.head.points.iter().filter_map(|p| u64::from_str_radix(p, 16).ok()).collect()
    }

    /// What [`quiet_in_words`] wrote; empty if the text is malformed.
    pub fn quiet(&self) -> Vec<u64> {
        let mut at = 0u64;
        let mut next = |step: &str| {
            at = at.wrapping_add(u64::from_str_radix(step, 16).ok()?);
            Some(at)
        };
        self.head.quiet.split_whitespace().map(&mut next).collect::<Option<_>>().unwrap_or_default()
    }

    pub fn words(&self) -> Vec<OsString> {
        self.head.command.iter().map(OsString::from).collect()
    }
}

/// Sorted addresses as short text.
pub fn quiet_in_words(sites: &[u64]) -> String {
    let before = std::iter::once(&0).chain(sites);
    let steps: Vec<String> =
        sites.iter().zip(before).map(|(at, before)| format!("{:x}", at - before)).collect();
    steps.join(" ")
}

fn parse_step(line: &str) -> Option<Step> {
    let mut words = line.split_whitespace();
    let thread = LogicalThread(words.next()?.parse().ok()?);
    let kind = kind(words.next()?)?;
    let mut number = || u64::from_str_radix(words.next()?, 16).ok();
    let (site, object, other) = (number()?, number()?, number()?);
    let op = Op::new(kind, object, u32::try_from(site).ok()?).with_other(other);
    let mut step = Step::bare(thread, op);
    if let Some((value, n)) = words.next().and_then(|w| w.strip_prefix('=')).and_then(|w| w.split_once('/')) {
        step.value = value.parse().ok()?;
        step.n_values = n.parse().ok()?;
    }
    Some(step)
}

fn kind(name: &str) -> Option<OpKind> {
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error, StrDeserializer};
    let name: StrDeserializer<'_, Error> = name.into_deserializer();
    OpKind::deserialize(name).ok()
}

/// Whether a variable can change what a program does and may be shown to others.
pub fn matters(name: &str) -> bool {
    const WHOLE: [&str; 4] = ["LANG", "TZ", "LD_PRELOAD", "LD_LIBRARY_PATH"];
    const BEGIN: [&str; 8] = ["LC_", "RUST_", "OMP_", "MALLOC_", "GLIBC_", "GTEST_", "CATCH_", "LD_BIND"];
    WHOLE.contains(&name) || BEGIN.iter().any(|b| name.starts_with(b))
}

/// The variables of raddle itself that matter, and those that the target was given in addition.
pub fn environment() -> BTreeMap<String, String> {
    let around = crate::launch::surroundings();
    let own = std::env::vars_os()
        .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
        .filter(|(k, _)| matters(k) && !around.unset.contains(k));
    own.chain(around.environment.clone()).collect()
}

/// The variables that targets must not have.
pub fn unset() -> Vec<String> {
    crate::launch::surroundings().unset
}

/// The folder in which targets run.
pub fn folder() -> std::path::PathBuf {
    let given = crate::launch::surroundings().folder;
    given.or_else(|| std::env::current_dir().ok()).unwrap_or_default()
}

/// The file on the standard input of targets, by its absolute path.
pub fn input() -> Option<String> {
    let path = crate::launch::input_file()?;
    Some(std::path::absolute(path).unwrap_or_else(|_| path.into()).to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file as version 1 wrote it. It must stay readable for ever.
    const ONE: &str = "{\"format\":\"raddle.schedule\",\"version\":1,\"command\":[\"./bank\",\"-v\"],\"folder\":\"/src\",\
\"environment\":{\"LANG\":\"C\"},\"build_id\":\"c0ffee\",\"flags\":1,\"max_steps\":20000,\"donors\":4,\
\"points\":[\"555555555293\"],\"expected\":{\"kind\":\"deadlock\",\"number\":7,\"message\":\"no thread can go on\"}}
0 Create 55555210 1 0
1 Lock 55555293 5555555580a0 0
1 Choose 0 0 0 =2/3
";

    #[test]
    fn version_1_is_read() {
        let schedule = Schedule::parse("x", ONE).unwrap();
        assert_eq!(schedule.head.command, ["./bank", "-v"]);
        assert_eq!(schedule.head.expected.kind, "deadlock");
        assert_eq!(schedule.points(), [0x5555_5555_5293]);
        let threads = [Choice::thread(LogicalThread(0)), Choice::thread(LogicalThread(1)), Choice::value(2)];
        assert_eq!(schedule.choices().collect::<Vec<_>>(), threads);
        assert_eq!(schedule.steps[1].op, Op::new(OpKind::Lock, 0x5555_5555_80a0, 0x5555_5293));
    }

    #[test]
    fn what_is_written_is_read() {
        let schedule = Schedule::parse("x", ONE).unwrap();
        assert_eq!(Schedule::parse("x", &schedule.write()).unwrap(), schedule);
    }

    #[test]
    fn variables_that_must_not_be_set_are_kept() {
        let mut schedule = Schedule::parse("x", ONE).unwrap();
        assert!(schedule.head.unset.is_empty() && !schedule.write().contains("unset"));
        schedule.head.unset = vec!["DEBUG".into()];
        assert_eq!(Schedule::parse("x", &schedule.write()).unwrap(), schedule);
    }

    #[test]
    fn quiet_operations_are_kept() {
        let mut schedule = Schedule::parse("x", ONE).unwrap();
        assert!(schedule.quiet().is_empty(), "version 1 had none at first");
        schedule.head.quiet = quiet_in_words(&[0x1000, 0x1005, 0x20_0000]);
        assert_eq!(schedule.head.quiet, "1000 5 1feffb");
        assert_eq!(Schedule::parse("x", &schedule.write()).unwrap().quiet(), [0x1000, 0x1005, 0x20_0000]);
        schedule.head.quiet = "1000 x".into();
        assert!(schedule.quiet().is_empty());
    }

    #[test]
    fn what_is_no_schedule_is_refused_in_a_sentence() {
        let refused = |text: &str| Schedule::parse("f.raddle", text).unwrap_err().to_string();
        for text in [
            "",
            "hello",
            "{}",
            "{\"format\":\"other\",\"version\":1}",
            "{\"format\":\"raddle.schedule\",\"version\":1}",
        ] {
            assert_eq!(refused(text), "f.raddle is not a schedule of raddle's", "{text}");
        }
        let newer = refused("{\"format\":\"raddle.schedule\",\"version\":2}");
        assert!(newer.contains("version 2") && newer.contains("newer raddle"), "{newer}");
        for step in [
            "1 Lock",
            "x Lock 0 0 0",
            "1 Jump 0 0 0",
            "1 Lock g 0 0",
            "70000 Lock 0 0 0",
            "1 Lock 100000000 0 0",
        ] {
            assert_eq!(
                refused(&format!("{}\n{step}\n", ONE.lines().next().unwrap())),
                "f.raddle, line 2: not a step"
            );
        }
    }
}
