//! Which points were reached, and which while several threads were at work: what a test suite can find at all.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use raddle_binary::plain_path;
use raddle_finding::place::place;
use serde::Serialize;

use super::sites::Registry;
use super::told::site_frames;
use raddle_harness::places::Places;

pub const SCHEMA: &str = "raddle.tsvd-coverage/1";

/// How far a site was covered, by any process of any run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    pub hit: bool,
    pub concurrent: bool,
}

#[derive(Debug, Serialize)]
pub struct Coverage {
    schema: &'static str,
    #[serde(rename = "total")]
    counts: Counts,
    files: Vec<FileCoverage>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub points: usize,
    pub hit: usize,
    pub concurrent: usize,
    pub never_hit: usize,
}

impl Counts {
    fn add(&mut self, covered: Covered) {
        self.points += 1;
        self.hit += usize::from(covered.hit);
        self.concurrent += usize::from(covered.concurrent);
        self.never_hit += usize::from(!covered.hit);
    }
}

#[derive(Debug, Serialize)]
struct FileCoverage {
    file: String,
    #[serde(rename = "total")]
    counts: Counts,
    points: Vec<PointCoverage>,
}

#[derive(Debug, Serialize)]
struct PointCoverage {
    line: Option<u32>,
    function: Option<String>,
    operation: String,
    hit: bool,
    concurrent: bool,
}

impl Coverage {
    pub fn new(registry: &Registry, covered: &[Covered], places: &mut Places) -> Coverage {
        let mut files: BTreeMap<String, FileCoverage> = BTreeMap::new();
        let mut counts = Counts::default();
        for (number, site) in registry.sites.iter().enumerate() {
            let frames = site_frames(places, site);
            let frame = place(&frames).cloned().unwrap_or_default();
            let covered = covered.get(number).copied().unwrap_or_default();
            let file = frame.file.or(frame.module).unwrap_or_else(|| site.path.display().to_string());
            let entry = files.entry(file.clone()).or_insert_with(|| FileCoverage {
                file,
                counts: Counts::default(),
                points: Vec::new(),
            });
            entry.counts.add(covered);
            counts.add(covered);
            entry.points.push(PointCoverage {
                line: frame.line,
                function: frame.function,
                operation: plain_path(&site.callee),
                hit: covered.hit,
                concurrent: covered.concurrent,
            });
        }
        let mut files: Vec<FileCoverage> = files.into_values().collect();
        files.iter_mut().for_each(|f| f.points.sort_by_key(|p| p.line));
        Coverage { schema: SCHEMA, counts, files }
    }

    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("strings and numbers only") + "\n"
    }

    /// One line a file, and the sum.
    pub fn table(&self) -> String {
        let width = self.files.iter().map(|f| f.file.chars().count()).max().unwrap_or(0).clamp(5, 60);
        let mut text = format!(
            "{:width$}  {:>7}  {:>7}  {:>10}  {:>9}\n",
            "file", "points", "hit", "concurrent", "never hit"
        );
        let mut line = |name: &str, c: &Counts| {
            let _ = writeln!(
                text,
                "{name:width$}  {:>7}  {:>7}  {:>10}  {:>9}",
                c.points, c.hit, c.concurrent, c.never_hit
            );
        };
        self.files.iter().for_each(|f| line(&f.file, &f.counts));
        line("all", &self.counts);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_line_for_each_file_and_the_sum() {
        let mut counts = Counts::default();
        counts.add(Covered { hit: true, concurrent: true });
        counts.add(Covered { hit: true, concurrent: false });
        counts.add(Covered::default());
        assert_eq!(counts, Counts { points: 3, hit: 2, concurrent: 1, never_hit: 1 });
        let file = FileCoverage { file: "src/a.cpp".into(), counts, points: vec![] };
        let table = Coverage { schema: SCHEMA, counts, files: vec![file] }.table();
        assert_eq!(
            table,
            "file        points      hit  concurrent  never hit\n\
             src/a.cpp        3        2           1          1\n\
             all              3        2           1          1\n"
        );
    }
}
