//! The corpus: small programs that carry their expectations in comments, `// expect: data-race
//! write #1` at the line.
//!
//! Lines with the same number belong to one finding: each of its ends must lie on one of them. A
//! program under `bad/` must give every finding it expects and no other; one under `ok/` none. The
//! table is printed with `--nocapture`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use raddle_check::{CheckOptions, Source, check_sources};
use raddle_finding::{AccessOp, Finding};

/// One expected finding: kind, and the lines where its ends may lie with the operation there.
#[derive(Debug, Default)]
struct Expected {
    kind: String,
    lines: Vec<(u32, Option<String>)>,
}

fn expectations(text: &str) -> BTreeMap<String, Expected> {
    let mut out: BTreeMap<String, Expected> = BTreeMap::new();
    for (i, line) in text.lines().enumerate() {
        let Some((_, rest)) = line.split_once("// expect: ") else { continue };
        for one in rest.split(", ") {
            let words: Vec<&str> = one.split_whitespace().collect();
            let Some(kind) = words.first().filter(|k| **k != "nothing") else { continue };
            let number = words
                .iter()
                .find(|w| w.starts_with('#'))
                .map_or_else(|| format!("line {i}"), |n| n.to_string());
            let op = words.get(1).filter(|w| !w.starts_with('#')).map(ToString::to_string);
            let e = out.entry(format!("{kind} {number}")).or_default();
            e.kind = kind.to_string();
            e.lines.push((i as u32 + 1, op));
        }
    }
    out
}

fn op_name(op: AccessOp) -> String {
    let json = serde_json::to_string(&op).expect("an operation is a word");
    json.trim_matches('"').to_string()
}

fn kind_name(f: &Finding) -> String {
    let json = serde_json::to_string(&f.kind).expect("a kind is a word");
    json.trim_matches('"').to_string()
}

impl Expected {
    fn matches(&self, f: &Finding) -> bool {
        kind_name(f) == self.kind
            && f.accesses.iter().all(|a| {
                let line = a.stack.first().and_then(|s| s.line).unwrap_or(0);
                self.lines
                    .iter()
                    .any(|(l, op)| *l == line && op.as_ref().is_none_or(|op| *op == op_name(a.op)))
            })
    }
}

fn programs(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/check").join(folder);
    let mut out: Vec<PathBuf> = std::fs::read_dir(root)
        .expect("the corpus is there")
        .filter_map(|e| e.ok().map(|e| e.path()))
        .filter(|p| p.extension().is_some_and(|e| e == "c" || e == "cs"))
        .collect();
    out.sort();
    out
}

struct Row {
    name: String,
    expected: usize,
    found: usize,
    /// Findings that nobody expected, in words.
    surplus: Vec<String>,
    missing: Vec<String>,
    time: Duration,
    steps: u64,
}

/// `RADDLE_SEED` tries another seed: the result must not hang on one.
fn options() -> CheckOptions {
    let mut options = CheckOptions::default();
    if let Some(seed) = std::env::var("RADDLE_SEED").ok().and_then(|s| s.parse().ok()) {
        options.budget.seed = seed;
    }
    options
}

fn check(path: &Path) -> Row {
    let text = std::fs::read_to_string(path).expect("readable");
    let name = path.file_name().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let expected = expectations(&text);
    let started = Instant::now();
    let out = check_sources(&[Source::new(&name, &text)], &options());
    let time = started.elapsed();
    let found: Vec<bool> = expected.values().map(|e| out.findings.iter().any(|f| e.matches(f))).collect();
    let surplus =
        out.findings.iter().filter(|f| !expected.values().any(|e| e.matches(f))).map(describe).collect();
    let missing = expected.iter().zip(&found).filter(|(_, f)| !**f).map(|((k, _), _)| k.clone()).collect();
    Row {
        name,
        expected: expected.len(),
        found: found.iter().filter(|f| **f).count(),
        surplus,
        missing,
        time,
        steps: out.stats.steps,
    }
}

fn describe(f: &Finding) -> String {
    let ends: Vec<String> = f
        .accesses
        .iter()
        .map(|a| format!("{} line {}", op_name(a.op), a.stack.first().and_then(|s| s.line).unwrap_or(0)))
        .collect();
    format!("{}: {} [{}]", kind_name(f), f.message, ends.join(", "))
}

#[test]
fn the_corpus_of_c_is_found_and_nothing_else() {
    whole_corpus(["bad", "ok"]);
}

#[test]
fn the_corpus_of_csharp_is_found_and_nothing_else() {
    whole_corpus(["csharp/bad", "csharp/ok"]);
}

fn whole_corpus(folders: [&str; 2]) {
    let (mut bugs, mut found, mut false_alarms) = (0, 0, 0);
    for folder in folders {
        let all = programs(folder);
        assert!(all.len() >= 40, "{folder} has {} programs", all.len());
        for path in all {
            let row = check(&path);
            println!("{folder:4} {:34} {}/{} {:>9.1?}", row.name, row.found, row.expected, row.time);
            row.missing.iter().for_each(|m| println!("       missing {m}"));
            row.surplus.iter().for_each(|s| println!("       surplus {s}"));
            assert!(
                folder.ends_with("bad") == (row.expected > 0),
                "{}: expectations belong in bad/",
                row.name
            );
            bugs += row.expected;
            found += row.found;
            false_alarms += row.surplus.len();
        }
    }
    println!("{found} of {bugs} bugs found, {false_alarms} findings that are none");
    assert_eq!(found, bugs, "bugs found, and bugs that there are");
    assert_eq!(false_alarms, 0);
}

/// The paper's Table 3: each accurate. The times are for the reader (`-- --nocapture` on an
/// optimised build; the goal is half a second each): a busy machine makes any of them long, so only
/// the steps, which stand for them, are held down.
#[test]
fn the_papers_ten_cases_are_accurate_and_fast() {
    papers_cases(["bad", "ok"], 10);
}

/// In C# with the patterns of figures 5 to 8, and a correct twin of each.
#[test]
fn the_papers_cases_in_csharp_are_accurate_and_fast() {
    papers_cases(["csharp/bad", "csharp/ok"], 18);
}

fn papers_cases(folders: [&str; 2], expected: usize) {
    let mut cases = 0;
    for folder in folders {
        for path in programs(folder) {
            if !path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("paper_")) {
                continue;
            }
            cases += 1;
            let row = check(&path);
            println!("{:34} {}/{} {:>9.1?}", row.name, row.found, row.expected, row.time);
            assert_eq!((row.found, row.surplus.len()), (row.expected, 0), "{}", row.name);
            assert!(row.steps <= 10_000_000, "{} took {} steps", row.name, row.steps);
        }
    }
    assert_eq!(cases, expected);
}
