//! The record that the bench stores.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::program::{Meets, PlantedProgram};
use super::series::{self, Series};
use crate::error::BenchError;
use crate::machine::MachineInfo;

/// Changes when a reader of the older form would misread it.
pub const SCHEMA: &str = "raddle.bench.tsvd/1";

/// A planted pair, as the tables need it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Planted {
    pub number: u32,
    pub kind: String,
    pub meets: Meets,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ProgramWithPairs {
    pub program: String,
    pub pairs: Vec<Planted>,
}

impl ProgramWithPairs {
    pub fn new(program: &PlantedProgram) -> ProgramWithPairs {
        let planted = |pair: &super::program::PlantedPair| Planted {
            number: pair.number,
            kind: pair.kind.clone(),
            meets: pair.meets,
        };
        ProgramWithPairs { program: program.name.clone(), pairs: program.pairs.iter().map(planted).collect() }
    }
}

/// The resources that one run of a program used.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ProgramRun {
    /// The target's own time, from its start to its end.
    pub seconds: f64,
    pub cpu_seconds: f64,
    pub peak_kib: u64,
}

/// A planted pair that was found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FoundPair {
    pub pair: u32,
    /// The number of the run, from one.
    pub run: u32,
}

/// One program in one series, or natively.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TsvdRow {
    pub program: String,
    /// None for native runs.
    pub series: Option<String>,
    pub runs: Vec<ProgramRun>,
    pub found: Vec<FoundPair>,
    /// Findings that match no planted pair, in words.
    pub false_reports: Vec<String>,
    /// One number for each run if raddle distinguishes them, else one number for all.
    pub delays: Vec<u64>,
    /// The total delay of all threads, in all runs.
    pub delayed_seconds: f64,
    /// The number of watched calls, in all runs.
    pub calls: u64,
    /// The time of all runs, including raddle's own work before, between and after them.
    pub command_seconds: f64,
    /// The trap file of the last run, with which the next one continues.
    #[serde(default)]
    pub traps: Option<String>,
}

impl TsvdRow {
    pub fn new(program: &str, series: Option<&str>) -> TsvdRow {
        TsvdRow {
            program: program.to_owned(),
            series: series.map(str::to_owned),
            runs: Vec::new(),
            found: Vec::new(),
            false_reports: Vec::new(),
            delays: Vec::new(),
            delayed_seconds: 0.0,
            calls: 0,
            command_seconds: 0.0,
            traps: None,
        }
    }

    /// Whether all these pairs were found, so that further runs can find nothing more.
    pub fn is_settled(&self, pairs: &[Planted]) -> bool {
        pairs.iter().all(|pair| self.found.iter().any(|found| found.pair == pair.number))
    }

    /// Whether the row tells what this many runs find: that many were made, or the missing ones
    /// could find nothing more.
    pub fn tells(&self, pairs: &[Planted], runs: u32) -> bool {
        let made = self.runs.len() as u32;
        made >= runs || made > 0 && self.is_settled(pairs)
    }
}

/// The number of runs of each policy that are made for all programs.
pub const WHOLE: u32 = 2;

/// One program in this many, in the order of their names, belongs to the sample that the longest
/// parts use.
const SAMPLE: usize = 4;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ProgramFailure {
    pub program: String,
    pub series: Option<String>,
    pub reason: String,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TsvdRecord {
    pub schema: String,
    pub date: String,
    pub command: String,
    pub machine: MachineInfo,
    /// How many programs ran at a time.
    pub jobs: u32,
    pub subjects: Vec<ProgramWithPairs>,
    pub series: Vec<Series>,
    pub rows: Vec<TsvdRow>,
    pub failures: Vec<ProgramFailure>,
}

impl TsvdRecord {
    /// The record of an earlier bench, if there is one.
    pub fn read(path: &Path) -> Result<Option<TsvdRecord>, BenchError> {
        let Ok(text) = fs::read_to_string(path) else { return Ok(None) };
        let bad = |what: String| BenchError::BadResults { path: path.to_owned(), what };
        let record: TsvdRecord = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
        if record.schema != SCHEMA {
            let what = format!("its schema is `{}`, and this program reads `{SCHEMA}`", record.schema);
            return Err(bad(what));
        }
        Ok(Some(record))
    }

    /// Removes results of another version of the algorithm, which must not be compared with new
    /// ones. Returns the names of those series.
    pub fn forget_other_versions(&mut self) -> Vec<String> {
        let is_other = |known: &Series| known.version != series::version(&known.name);
        let named: Vec<String> = self.series.iter().filter(|s| is_other(s)).map(|s| s.name.clone()).collect();
        let is_one = |of: &Option<String>| of.as_ref().is_some_and(|of| named.contains(of));
        self.rows.retain(|row| !is_one(&row.series));
        self.failures.retain(|failure| !is_one(&failure.series));
        self.series.retain(|series| !is_other(series));
        named
    }

    pub fn write(&self, path: &Path) -> Result<(), BenchError> {
        let text = serde_json::to_string(self).expect("a record is plain data");
        // An interrupted bench must leave the previous record, and not half of a new one.
        let beside = path.with_extension("json.new");
        fs::write(&beside, text + "\n").map_err(BenchError::file("write", &beside))?;
        fs::rename(&beside, path).map_err(BenchError::file("write", path))
    }

    /// The results of a program in a series, or natively.
    pub fn row(&self, program: &str, series: Option<&str>) -> Option<&TsvdRow> {
        self.rows.iter().find(|row| row.program == program && row.series.as_deref() == series)
    }

    /// Whether a program is in the sample. This depends on its place among the names, so results
    /// cannot influence it.
    pub fn samples(&self, program: &str) -> bool {
        self.subjects.iter().position(|subject| subject.program == program).is_some_and(|at| at % SAMPLE == 0)
    }

    pub fn pairs(&self, program: &str) -> &[Planted] {
        self.subjects.iter().find(|subject| subject.program == program).map_or(&[], |subject| &subject.pairs)
    }

    /// The record restricted to some programs.
    pub fn only(&self, wanted: impl Fn(&str) -> bool) -> TsvdRecord {
        TsvdRecord {
            subjects: self.subjects.iter().filter(|subject| wanted(&subject.program)).cloned().collect(),
            rows: self.rows.iter().filter(|row| wanted(&row.program)).cloned().collect(),
            ..self.clone()
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// A record of three programs: one with two pairs, one with a rare one, one correct.
    pub fn sample() -> TsvdRecord {
        let planted = |number, kind: &str, meets| Planted { number, kind: kind.to_owned(), meets };
        let subject = |program: &str, pairs| ProgramWithPairs { program: program.to_owned(), pairs };
        TsvdRecord {
            schema: SCHEMA.to_owned(),
            date: "2026-01-31".to_owned(),
            command: "raddle-bench tsvd".to_owned(),
            machine: MachineInfo {
                cpu: "a processor".to_owned(),
                cores: 2,
                memory_gib: 8,
                load: 0.1,
                versions: BTreeMap::new(),
            },
            jobs: 1,
            subjects: vec![
                subject(
                    "a_bad.cc",
                    vec![planted(1, "different-keys", Meets::Often), planted(2, "once", Meets::Once)],
                ),
                subject("b_bad.c", vec![planted(1, "long-gap", Meets::Rare)]),
                subject("c_ok.rs", Vec::new()),
            ],
            series: series::policies(10),
            rows: Vec::new(),
            failures: Vec::new(),
        }
    }

    /// Adds a row with this many runs of this many seconds each.
    pub fn add(
        record: &mut TsvdRecord,
        program: &str,
        series: Option<&str>,
        seconds: &[f64],
        found: &[(u32, u32)],
    ) {
        let runs = seconds.iter().map(|s| ProgramRun { seconds: *s, cpu_seconds: *s, peak_kib: 4000 });
        record.rows.push(TsvdRow {
            runs: runs.collect(),
            found: found.iter().map(|(pair, run)| FoundPair { pair: *pair, run: *run }).collect(),
            delays: vec![2; seconds.len()],
            delayed_seconds: 0.2 * seconds.len() as f64,
            calls: 100,
            command_seconds: seconds.iter().sum(),
            ..TsvdRow::new(program, series)
        });
    }

    #[test]
    fn a_program_whose_pairs_are_all_found_need_not_go_on() {
        let mut record = sample();
        add(&mut record, "a_bad.cc", Some("tsvd"), &[1.0, 1.0], &[(1, 1)]);
        add(&mut record, "c_ok.rs", Some("tsvd"), &[1.0], &[]);
        let pairs = record.subjects[0].pairs.clone();
        let row = &mut record.rows[0];
        assert_eq!((row.tells(&pairs, 2), row.tells(&pairs, 10)), (true, false));
        row.found.push(FoundPair { pair: 2, run: 2 });
        assert_eq!((row.is_settled(&pairs), row.tells(&pairs, 10)), (true, true));
        assert!(record.rows[1].tells(&[], 10), "there is nothing to find in a right program");
    }

    #[test]
    fn the_sample_is_by_name_and_what_is_left_out_is_gone() {
        let mut record = sample();
        add(&mut record, "a_bad.cc", Some("tsvd"), &[1.0], &[]);
        add(&mut record, "b_bad.c", Some("tsvd"), &[1.0], &[]);
        assert_eq!(["a_bad.cc", "b_bad.c", "x"].map(|name| record.samples(name)), [true, false, false]);
        let part = record.only(|name| record.samples(name));
        assert_eq!((part.subjects.len(), part.rows.len()), (1, 1));
        assert_eq!((record.pairs("b_bad.c").len(), part.pairs("b_bad.c").len()), (1, 0));
    }

    #[test]
    fn what_another_version_measured_is_not_gone_on_with() {
        let mut record = sample();
        add(&mut record, "a_bad.cc", None, &[1.0], &[]);
        add(&mut record, "a_bad.cc", Some("tsvd"), &[1.0], &[]);
        add(&mut record, "a_bad.cc", Some("static-random"), &[1.0], &[]);
        assert!(record.clone().forget_other_versions().is_empty());
        // As in a record from before there were versions.
        let text = serde_json::to_string(&record).unwrap().replace(",\"version\":2", "");
        let mut old: TsvdRecord = serde_json::from_str(&text).unwrap();
        assert_eq!(old.forget_other_versions(), ["tsvd", "tsvd-hb"]);
        let left: Vec<Option<&str>> = old.rows.iter().map(|row| row.series.as_deref()).collect();
        assert_eq!(left, [None, Some("static-random")]);
    }

    #[test]
    fn a_record_without_trap_files_is_still_read() {
        let mut record = sample();
        add(&mut record, "a_bad.cc", Some("tsvd"), &[1.0], &[]);
        let text = serde_json::to_string(&record).unwrap().replace(",\"traps\":null", "");
        assert!(!text.contains("traps"));
        assert_eq!(serde_json::from_str::<TsvdRecord>(&text).unwrap(), record);
    }

    #[test]
    fn a_record_is_there_and_back() {
        let mut record = sample();
        add(&mut record, "a_bad.cc", Some("tsvd"), &[1.0, 2.0], &[(1, 1)]);
        let file = std::env::temp_dir().join(format!("raddle-bench-record-{}.json", std::process::id()));
        assert_eq!(TsvdRecord::read(&file).unwrap(), None);
        record.write(&file).unwrap();
        assert_eq!(TsvdRecord::read(&file).unwrap(), Some(record.clone()));
        record.schema = "raddle.bench.tsvd/0".to_owned();
        record.write(&file).unwrap();
        let message = TsvdRecord::read(&file).unwrap_err().to_string();
        assert!(message.contains("this program reads `raddle.bench.tsvd/1`"), "{message}");
        fs::remove_file(&file).unwrap();
    }
}
