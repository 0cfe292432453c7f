//! Which points were reached, and which while several threads were running: what a test suite can
//! find at all.

use std::fmt::Write as _;

use raddle_binary::plain_path;
use raddle_finding::place::place;
use serde::Serialize;

use super::findings::site_frames;
use super::sites::Registry;
use raddle_harness::places::Places;

pub const SCHEMA: &str = "raddle.tsvd-coverage/1";

/// How far a site was covered by any process of any run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    pub hit: bool,
    pub concurrent: bool,
}

#[derive(Debug, Serialize)]
pub struct Coverage {
    schema: &'static str,
    #[serde(rename = "total")]
    counts: PointCounts,
    files: Vec<FileCoverage>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PointCounts {
    pub points: usize,
    pub hit: usize,
    pub concurrent: usize,
    pub never_hit: usize,
}

impl PointCounts {
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
    counts: PointCounts,
    points: Vec<PointCoverage>,
}

#[derive(Debug, Serialize)]
pub struct PointCoverage {
    pub line: Option<u32>,
    pub function: Option<String>,
    pub operation: String,
    pub hit: bool,
    pub concurrent: bool,
}

impl Coverage {
    pub fn new(registry: &Registry, covered: &[Covered], places: &mut Places) -> Coverage {
        let mut all = Coverage { schema: SCHEMA, counts: PointCounts::default(), files: Vec::new() };
        for (number, site) in registry.sites.iter().enumerate() {
            let frames = site_frames(places, site);
            let frame = place(&frames).cloned().unwrap_or_default();
            let covered = covered.get(number).copied().unwrap_or_default();
            let file = frame.file.or(frame.module).unwrap_or_else(|| site.path.display().to_string());
            all.add(
                file,
                PointCoverage {
                    line: frame.line,
                    function: frame.function,
                    operation: plain_path(&site.callee),
                    hit: covered.hit,
                    concurrent: covered.concurrent,
                },
            );
        }
        all
    }

    /// Adds a point.
    pub fn add(&mut self, file: String, point: PointCoverage) {
        let covered = Covered { hit: point.hit, concurrent: point.concurrent };
        self.counts.add(covered);
        let at = self.files.binary_search_by(|entry| entry.file.cmp(&file)).unwrap_or_else(|at| {
            self.files.insert(at, FileCoverage { file, counts: PointCounts::default(), points: Vec::new() });
            at
        });
        self.files[at].counts.add(covered);
        let points = &mut self.files[at].points;
        points.insert(points.partition_point(|other| other.line <= point.line), point);
    }

    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("strings and numbers only") + "\n"
    }

    /// One line per file, and the sum.
    pub fn table(&self) -> String {
        let width = self.files.iter().map(|f| f.file.chars().count()).max().unwrap_or(0).clamp(5, 60);
        let mut text = format!(
            "{:width$}  {:>7}  {:>7}  {:>10}  {:>9}\n",
            "file", "points", "hit", "concurrent", "never hit"
        );
        let mut line = |name: &str, c: &PointCounts| {
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
        let mut counts = PointCounts::default();
        counts.add(Covered { hit: true, concurrent: true });
        counts.add(Covered { hit: true, concurrent: false });
        counts.add(Covered::default());
        assert_eq!(counts, PointCounts { points: 3, hit: 2, concurrent: 1, never_hit: 1 });
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
