//! A program of the suite and its expectations. `corpus/README.md` has the grammar.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::BenchError;
use crate::explore::subject::Language;

/// How often the two calls of a pair come close in one run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Meets {
    Often,
    Once,
    /// In most runs a long time passes between them.
    Rare,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReadOrWrite {
    Read,
    Write,
}

/// A mark: one end of a pair, or both at one line.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Mark {
    line: u32,
    ops: Vec<ReadOrWrite>,
}

/// A planted pair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlantedPair {
    pub number: u32,
    /// One of the paper's kinds: `different-keys`, `unlocked-read`, …
    pub kind: String,
    pub meets: Meets,
    marks: Vec<Mark>,
}

/// One side of a finding: the operation, and the line of the innermost frame in the program's own
/// file.
pub type Side = (ReadOrWrite, u32);

impl PlantedPair {
    /// Whether a finding is this pair.
    pub fn is(&self, sides: [Side; 2]) -> bool {
        let both = |mark: &Mark| match mark.ops[..] {
            [a, b] => sides == [(a, mark.line), (b, mark.line)] || sides == [(b, mark.line), (a, mark.line)],
            _ => false,
        };
        let end = |side: Side| self.marks.iter().position(|mark| mark.ops == [side.0] && mark.line == side.1);
        self.marks.iter().any(both) || matches!((end(sides[0]), end(sides[1])), (Some(a), Some(b)) if a != b)
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlantedProgram {
    /// The file's name.
    pub name: String,
    pub path: PathBuf,
    pub language: Language,
    pub libs: Vec<String>,
    /// Empty in a correct program.
    pub pairs: Vec<PlantedPair>,
}

impl PlantedProgram {
    /// The pair that a finding matches. None for a false report.
    pub fn pair(&self, sides: [Side; 2]) -> Option<u32> {
        self.pairs.iter().find(|pair| pair.is(sides)).map(|pair| pair.number)
    }

    pub fn parse(path: &Path, text: &str) -> Result<PlantedProgram, BenchError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bad = |what: &str| BenchError::MalformedKernel { kernel: name.clone(), what: what.to_owned() };
        let language = Language::of(path).ok_or_else(|| bad("a known extension"))?;
        let header = || text.lines().take_while(|line| line.starts_with("//"));
        let mut pairs = Vec::new();
        for line in header().filter_map(|line| line.strip_prefix("//@ pair ")) {
            pairs.push(declaration(line).ok_or_else(|| bad("`//@ pair NUMBER: KIND often|once|rare`"))?);
        }
        let silent = header().any(|line| line == "// expect: nothing");
        if silent == pairs.is_empty() {
            for (number, line) in (1..).zip(text.lines()) {
                let Some((_, marks)) = line.split_once("// expect: thread-safety-violation ") else {
                    continue;
                };
                for mark in marks.split(" | ") {
                    let (pair, ops) = end(mark).ok_or_else(|| bad("`read|write [read|write] #NUMBER`"))?;
                    let pair = pairs.iter_mut().find(|p| p.number == pair);
                    pair.ok_or_else(|| bad("a `//@ pair` for each mark"))?
                        .marks
                        .push(Mark { line: number, ops });
                }
            }
        }
        let complete =
            |pair: &PlantedPair| pair.marks.len() > 1 || pair.marks.iter().any(|mark| mark.ops.len() == 2);
        if silent != pairs.is_empty() || !pairs.iter().all(complete) {
            return Err(bad("either `// expect: nothing` or pairs with both ends marked"));
        }
        let libs = header().find_map(|line| line.strip_prefix("//@ libs: ")).unwrap_or_default();
        let libs = libs.split_whitespace().map(str::to_owned).collect();
        Ok(PlantedProgram { name, path: path.to_owned(), language, libs, pairs })
    }

    /// The programs of a folder whose names contain one of `only`, by name. `work.*` is the code
    /// that they share.
    pub fn all(folder: &Path, only: &[String]) -> Result<Vec<PlantedProgram>, BenchError> {
        let mut programs = Vec::new();
        for entry in fs::read_dir(folder).map_err(BenchError::file("read", folder))? {
            let path = entry.map_err(BenchError::file("read", folder))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let wanted = only.is_empty() || only.iter().any(|part| name.contains(part));
            if Language::of(&path).is_none() || name.starts_with("work.") || !wanted {
                continue;
            }
            let text = fs::read_to_string(&path).map_err(BenchError::file("read", &path))?;
            programs.push(PlantedProgram::parse(&path, &text)?);
        }
        if programs.is_empty() {
            return Err(BenchError::Usage(format!("no program in {} has such a name", folder.display())));
        }
        programs.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(programs)
    }
}

/// `1: different-keys often`.
fn declaration(line: &str) -> Option<PlantedPair> {
    let (number, rest) = line.split_once(": ")?;
    let (kind, meets) = rest.trim_end().split_once(' ')?;
    let meets = match meets {
        "often" => Meets::Often,
        "once" => Meets::Once,
        "rare" => Meets::Rare,
        _ => return None,
    };
    Some(PlantedPair { number: number.parse().ok()?, kind: kind.to_owned(), meets, marks: Vec::new() })
}

/// `write write #1`, with any comment after it.
fn end(mark: &str) -> Option<(u32, Vec<ReadOrWrite>)> {
    let (ops, number) = mark.trim().split_once(" #")?;
    let op = |word| match word {
        "read" => Some(ReadOrWrite::Read),
        "write" => Some(ReadOrWrite::Write),
        _ => None,
    };
    let ops: Vec<ReadOrWrite> = ops.split(' ').map(op).collect::<Option<_>>()?;
    (ops.len() <= 2).then_some(())?;
    Some((number.trim().parse().ok()?, ops))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRONG: &str = "\
//@ pair 1: different-keys often
//@ pair 2: same-location once
//@ libs: -lz -lm
// What it is about.
a();    // expect: thread-safety-violation write #1 | write write #2
b();    // expect: thread-safety-violation read #1
";

    fn parse(text: &str) -> Result<PlantedProgram, BenchError> {
        PlantedProgram::parse(Path::new("some/x_bad.cc"), text)
    }

    #[test]
    fn pairs_marks_and_libraries_are_read() {
        let program = parse(WRONG).unwrap();
        let told: Vec<_> = program.pairs.iter().map(|p| (p.number, &*p.kind, p.meets)).collect();
        assert_eq!(told, [(1, "different-keys", Meets::Often), (2, "same-location", Meets::Once)]);
        assert_eq!((program.name.as_str(), program.libs.len()), ("x_bad.cc", 2));
    }

    #[test]
    fn a_finding_is_a_pair_by_both_its_lines_and_operations() {
        let program = parse(WRONG).unwrap();
        assert_eq!(program.pair([(ReadOrWrite::Write, 5), (ReadOrWrite::Read, 6)]), Some(1));
        assert_eq!(program.pair([(ReadOrWrite::Read, 6), (ReadOrWrite::Write, 5)]), Some(1));
        assert_eq!(program.pair([(ReadOrWrite::Write, 5), (ReadOrWrite::Write, 5)]), Some(2));
        assert_eq!(program.pair([(ReadOrWrite::Read, 6), (ReadOrWrite::Read, 6)]), None, "one end twice");
        assert_eq!(
            program.pair([(ReadOrWrite::Write, 6), (ReadOrWrite::Write, 5)]),
            None,
            "another operation"
        );
        assert_eq!(program.pair([(ReadOrWrite::Write, 7), (ReadOrWrite::Read, 6)]), None, "another line");
    }

    #[test]
    fn a_right_program_says_so_and_has_no_pairs() {
        assert!(parse("// expect: nothing\nint main() {}\n").unwrap().pairs.is_empty());
        for text in [
            "int main() {}\n",
            "// expect: nothing\n//@ pair 1: once once\n",
            "//@ pair 1: once once\na(); // expect: thread-safety-violation read #1\n",
            "//@ pair 1: once once\na(); // expect: thread-safety-violation write write #2\n",
            "//@ pair 1: once sometimes\na(); // expect: thread-safety-violation write write #1\n",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_suite_is_as_the_issue_wants_it() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/tsvd");
        let programs = PlantedProgram::all(&folder, &[]).unwrap();
        let wrong = programs.iter().filter(|program| !program.pairs.is_empty()).count();
        assert!(programs.len() >= 40 && wrong * 3 > programs.len() && wrong * 3 < programs.len() * 2);
        let pairs: Vec<&PlantedPair> = programs.iter().flat_map(|program| &program.pairs).collect();
        let often = pairs.iter().filter(|pair| pair.meets == Meets::Often).count();
        assert!(often * 3 >= pairs.len() * 2, "{often} of {} meet more than once", pairs.len());
        for program in &programs {
            assert_eq!(program.name.contains("_bad."), !program.pairs.is_empty(), "{}", program.name);
        }
    }
}
