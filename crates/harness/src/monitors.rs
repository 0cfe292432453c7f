//! What the monitors of an execution saw besides its end: data races, leaks, output.
//!
//! An execution may have several of these and also fail in another way. Each is a failure with its
//! own number, and is found, shrunk and replayed like any other. For the strategies, an execution
//! with nothing else has passed.

use raddle_explore::Outcome;
use raddle_finding::Kind;
use raddle_wire::explore::{Leak, RacingPair};

use crate::verdict::{ExecutionFacts, Failure, Usual, ends_as_usual};
use crate::worker::Execution;

#[derive(Clone, Copy)]
pub enum Observation {
    Race(RacingPair),
    Leak(Leak),
    Output,
}

/// Everything that the monitors saw.
pub fn seen(e: &Execution<'_>, usual: &Usual) -> Vec<Failure> {
    let mut seen: Vec<Failure> = Vec::new();
    for race in &e.slot.race[..(e.slot.races as usize).min(e.slot.race.len())] {
        let sentence = "two accesses are not ordered".into();
        seen.push(failure(e, Kind::DataRace, race.number, sentence, Observation::Race(*race)));
    }
    for leak in &e.slot.leak[..(e.slot.leaks as usize).min(e.slot.leak.len())] {
        seen.push(failure(e, Kind::Leak, leak.number, leak_sentence(leak), Observation::Leak(*leak)));
    }
    // The output of a program that failed says nothing.
    if let (Some(now), Some(usually), true) = (output(e), usual.output, ends_as_usual(e, usual))
        && now.hash != usually
    {
        seen.push(failure(e, Kind::NonDeterminism, NON_DETERMINISM, now.sentence(), Observation::Output));
    }
    seen
}

/// There is one failure of this kind, however many different outputs a program has.
const NON_DETERMINISM: u32 = 0x6f75_7470;

fn failure(e: &Execution<'_>, kind: Kind, what: u32, sentence: String, seen: Observation) -> Failure {
    let thread = match seen {
        Observation::Race(race) => race.access[0].thread,
        Observation::Leak(leak) => leak.thread as u16,
        Observation::Output => 0,
    };
    let stacks = e.stacks.to_vec();
    let facts = ExecutionFacts {
        sentence,
        thread,
        address: 0,
        ends: Vec::new(),
        stacks,
        seen: Some(seen),
        said: None,
    };
    Failure { kind, what, facts, trace: e.trace(Outcome::Failed { what }), after: 0, flags: 0, points: None }
}

fn leak_sentence(leak: &Leak) -> String {
    let bytes = crate::say::count(leak.bytes, "byte", "bytes");
    match leak.blocks {
        1 => format!("a block of {bytes} is lost: nothing points to it when the program ends"),
        n => format!("{n} blocks of {bytes} together are lost: nothing points to them when the program ends"),
    }
}

/// What an execution printed.
pub struct PrintedOutput<'a> {
    pub hash: u64,
    begin: &'a [u8],
    len: u64,
}

/// What the execution printed, if output is watched.
pub fn output<'a>(e: &Execution<'a>) -> Option<PrintedOutput<'a>> {
    let slot = e.slot;
    let kept = (slot.output_len as usize).min(slot.output.len());
    (slot.output_hash != 0).then(|| PrintedOutput {
        hash: slot.output_hash,
        begin: &slot.output[..kept],
        len: slot.output_len,
    })
}

impl PrintedOutput<'_> {
    /// How many characters of the output a report shows.
    const TOLD: usize = 200;

    /// The beginning of the output, on one line.
    pub fn text(&self) -> String {
        let text = String::from_utf8_lossy(self.begin);
        let text = text.trim_end();
        let told: String = text.chars().take(Self::TOLD).collect();
        let more = told.len() < text.len() || self.len as usize > self.begin.len();
        told.replace('\n', "\\n") + if more { " …" } else { "" }
    }

    fn sentence(&self) -> String {
        match self.len {
            0 => "the program prints nothing, and something in another schedule".into(),
            _ => format!("the program prints `{}`, and something else in another schedule", self.text()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::{exits, with_slot};
    use raddle_wire::explore::Slot;

    fn kinds(usual: &Usual, set: impl FnOnce(&mut Slot)) -> Vec<(Kind, String)> {
        with_slot(set, |e| seen(&e, usual).into_iter().map(|f| (f.kind, f.facts.sentence)).collect())
    }

    fn prints(text: &'static str, hash: u64) -> impl FnOnce(&mut Slot) {
        move |slot| {
            exits(0, 0)(slot);
            slot.output[..text.len()].copy_from_slice(text.as_bytes());
            (slot.output_len, slot.output_hash) = (text.len() as u64, hash);
        }
    }

    #[test]
    fn output_counts_where_another_is_usual_and_the_program_ends_well() {
        let usual = Usual { output: Some(1), ..Usual::default() };
        assert!(kinds(&usual, prints("12\n", 1)).is_empty());
        assert!(kinds(&Usual::default(), prints("21\n", 2)).is_empty());
        let told = "the program prints `21`, and something else in another schedule".to_owned();
        assert_eq!(kinds(&usual, prints("21\n", 2)), [(Kind::NonDeterminism, told)]);
        let fails = |slot: &mut Slot| {
            prints("2", 2)(slot);
            slot.detail = 3;
        };
        assert!(kinds(&usual, fails).is_empty());
        assert!(kinds(&usual, exits(0, 0)).is_empty(), "nobody asked");
    }

    #[test]
    fn leaks_are_told_by_their_place() {
        let set = |slot: &mut Slot| {
            exits(0, 0)(slot);
            slot.leaks = 2;
            (slot.leak[0].blocks, slot.leak[0].bytes) = (1, 32);
            (slot.leak[1].blocks, slot.leak[1].bytes) = (3, 48);
        };
        let told: Vec<String> = kinds(&Usual::default(), set).into_iter().map(|(_, s)| s).collect();
        assert_eq!(told[0], "a block of 32 bytes is lost: nothing points to it when the program ends");
        assert!(told[1].starts_with("3 blocks of 48 bytes together are lost"), "{}", told[1]);
    }
}
