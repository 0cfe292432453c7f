//! The settings of an experiment, for comparing algorithms as the benchmark does. Users who look
//! for bugs do not need them, so they are not on the command line: they come as words in an
//! environment variable.

use anyhow::Result;
use clap::{Parser, ValueEnum};
use raddle_tsvd::technique;

use super::args::part;

/// The variable that has the words, as in `--policy tsvd-hb --without joins`.
pub const VARIABLE: &str = "RADDLE_TSVD_EXPERIMENT";

#[derive(Clone, Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
pub struct Experiment {
    /// How to choose what to delay
    #[arg(long, value_enum, default_value_t = PaperVariant::Tsvd)]
    pub policy: PaperVariant,

    /// How many calls are remembered for each object
    #[arg(long, value_name = "N", default_value_t = 5,
          value_parser = clap::value_parser!(u32).range(1..=32))]
    pub history: u32,

    /// How many recent calls tell whether the program is in a concurrent phase
    #[arg(long, value_name = "N", default_value_t = 16,
          value_parser = clap::value_parser!(u32).range(2..=4096))]
    pub phase: u32,

    /// The part of a delay that a gap in another thread must last to be blamed on it
    #[arg(long, value_name = "PART", default_value_t = 0.5, value_parser = part)]
    pub gap: f64,

    /// How many calls after such a gap count as ordered too
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub inferred: u32,

    /// What a delay that fails takes from the probability of the next one
    #[arg(long, value_name = "PART", default_value_t = 0.1, value_parser = part)]
    pub decay: f64,

    /// The probability of a delay (dynamic-random), or the share of places sampled (static-random)
    #[arg(long, value_name = "PART", default_value_t = 0.05, value_parser = part)]
    pub chance: f64,

    /// The part of a stretch without delays that the window grows to (not of the paper; policy
    /// tsvd; 0: it does not)
    #[arg(long, value_name = "PART", default_value_t = 0.5, value_parser = part)]
    pub widening: f64,

    /// How many times as long a delay may be for a pair that stays far apart (not of the paper;
    /// policy tsvd; 0: no longer)
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub patience: u32,

    /// The algorithm of the paper and no more: without widening, patience, rest, joins, renewal,
    /// short-first and prompt
    #[arg(long)]
    pub paper: bool,

    /// How many further runs of the same build leave a pair alone that was found to be ordered, or
    /// was delayed in vain too often; twice as many each time it is again (not of the paper; policy
    /// tsvd; 0: none)
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub rest: u32,

    /// Do without one of the techniques (may be repeated)
    #[arg(long, value_enum, value_name = "TECHNIQUE")]
    pub without: Vec<Technique>,
}

impl Default for Experiment {
    fn default() -> Experiment {
        Experiment::parse_from::<_, &str>([])
    }
}

impl Experiment {
    /// What the variable says; without it, the algorithm as it is.
    pub fn from_environment() -> Result<Experiment> {
        let words = std::env::var(VARIABLE).unwrap_or_default();
        Experiment::try_parse_from(words.split_whitespace()).map_err(|error| {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
            anyhow::anyhow!("{VARIABLE} is for experiments, and is not understood: {first}")
        })
    }
}

/// The variants of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PaperVariant {
    /// Near misses, concurrent phases, inferred order (3.4)
    Tsvd,
    /// The same with vector clocks in place of inference (3.5)
    TsvdHb,
    /// Any call, with a small probability, for a random time (3.2)
    DynamicRandom,
    /// Places sampled uniformly, however hot (3.3)
    StaticRandom,
}

impl From<PaperVariant> for raddle_tsvd::Policy {
    fn from(policy: PaperVariant) -> Self {
        match policy {
            PaperVariant::Tsvd => raddle_tsvd::Policy::Tsvd,
            PaperVariant::TsvdHb => raddle_tsvd::Policy::TsvdHb,
            PaperVariant::DynamicRandom => raddle_tsvd::Policy::DynamicRandom,
            PaperVariant::StaticRandom => raddle_tsvd::Policy::StaticRandom,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Technique {
    /// Order inferred from delays (3.4.4)
    HbInference,
    /// Only calls within the window are near misses (3.4.2)
    Window,
    /// Concurrent phases (3.4.3)
    Phase,
    /// Several threads delayed at a time (3.4.6)
    Parallel,
    /// What a joined thread did is no near miss of what its joiner does (not of the paper; policy
    /// tsvd)
    Joins,
    /// One near miss is worth one delay at each end (not of the paper; policy tsvd)
    Renewal,
    /// The first delay of a pair that came very near is short (not of the paper; policy tsvd)
    ShortFirst,
    /// A gap is blamed on a delay only if it ends soon after it (not of the paper; policy tsvd)
    Prompt,
    /// What the program's own synchronisation orders is no near miss (not of the paper; policy
    /// tsvd, .NET)
    KnownOrder,
    /// Reads do not push the last write out of an object's history (not of the paper; policy tsvd)
    LastWrite,
}

impl Technique {
    pub fn bit(self) -> u32 {
        match self {
            Technique::HbInference => technique::HB_INFERENCE,
            Technique::Window => technique::WINDOW,
            Technique::Phase => technique::PHASE,
            Technique::Parallel => technique::PARALLEL,
            Technique::Joins => technique::JOINS,
            Technique::Renewal => technique::RENEWAL,
            Technique::ShortFirst => technique::SHORT_FIRST,
            Technique::Prompt => technique::PROMPT,
            Technique::KnownOrder => technique::KNOWN_ORDER,
            Technique::LastWrite => technique::LAST_WRITE,
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn experiment(line: &str) -> Result<Experiment, clap::Error> {
        Experiment::try_parse_from(line.split_whitespace())
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for line in ["--gap 2", "--decay x", "--policy best", "--history 0", "--phase 1", "--delay 3"] {
            assert!(experiment(line).is_err(), "{line}");
        }
        assert_eq!(experiment("").unwrap().policy, PaperVariant::Tsvd);
    }
}
