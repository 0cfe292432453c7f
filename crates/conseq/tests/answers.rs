//! Slices of real programs against answers that were worked out by hand, in C, C++ and Rust at
//! `-O0` to `-O2`.
//!
//! The answers are in the programs' own comments, at the lines where they belong:
//!
//! ```text
//! int w = written;                // [written]             a read has a name
//! printf("%d\n", w);              // ~ output: written@1   a site, and all reads that it depends on
//! ```
//!
//! After `~` comes the kind of the sites on this line, and what is expected of them together:
//! - `name`: this read is critical; `name@2`: at a distance of at most 2; `name?`: it may be;
//! - `std`: reads outside of this file; all other reads are wrong;
//! - `fails(a=1,b=2)`: with these values the site's condition holds; `holds(…)`: it does not;
//! - `waits`: a loop that only waits.
//!
//! `#12` after any of these: only at `-O1` and `-O2`.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use common::Workshop;
use raddle_binary::{Address, Lookup, Module};
use raddle_conseq::{Analysis, CriticalRead, Options, Site, SiteKind, analyse};

/// What is expected of the sites of one kind on one line.
#[derive(Debug)]
struct Expected {
    line: u32,
    kind: SiteKind,
    /// Names, with the greatest distance.
    reads: BTreeMap<String, u32>,
    allowed: BTreeSet<String>,
    waits: bool,
    /// Values, and whether they lead to the site.
    values: Vec<(BTreeMap<String, u64>, bool)>,
}

/// The answers in a program's comments, for one level of optimisation.
struct Answers {
    names: BTreeMap<u32, String>,
    sites: Vec<Expected>,
}

impl Answers {
    fn of(text: &str, level: char) -> Self {
        let mut answers = Self { names: BTreeMap::new(), sites: Vec::new() };
        for (line, text) in (1..).zip(text.lines()) {
            let Some((_, comment)) = text.split_once("// ") else { continue };
            let (labels, site) = comment.split_once('~').map_or((comment, None), |(l, s)| (l, Some(s)));
            if let Some(name) = labels.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                answers.names.insert(line, name.to_string());
            }
            answers.sites.extend(site.and_then(|site| Expected::of(line, site.trim(), level)));
        }
        answers
    }
}

impl Expected {
    fn of(line: u32, text: &str, level: char) -> Option<Self> {
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        let (kind, applies) = leveled(kind, level);
        let kind = SiteKind::by_name(kind).unwrap_or_else(|| panic!("line {line}: no kind {kind}"));
        let mut expected = Self {
            line,
            kind,
            reads: BTreeMap::new(),
            allowed: BTreeSet::new(),
            waits: false,
            values: Vec::new(),
        };
        for word in rest.split_whitespace() {
            let (word, applies) = leveled(word, level);
            if applies {
                expected.add(word);
            }
        }
        applies.then_some(expected)
    }

    fn add(&mut self, word: &str) {
        let values = |text: &str| {
            let text = text.trim_end_matches(')');
            let pair = |pair: &str| {
                let (name, value) = pair.split_once('=').expect("name=value");
                (name.to_string(), value.parse::<i64>().expect("a number") as u64)
            };
            text.split(',').map(pair).collect()
        };
        if word == "waits" {
            self.waits = true;
        } else if let Some(text) = word.strip_prefix("fails(") {
            self.values.push((values(text), true));
        } else if let Some(text) = word.strip_prefix("holds(") {
            self.values.push((values(text), false));
        } else if let Some(name) = word.strip_suffix('?') {
            self.allowed.insert(name.to_string());
        } else {
            let (name, distance) = word.split_once('@').unwrap_or((word, "9"));
            self.allowed.insert(name.to_string());
            self.reads.insert(name.to_string(), distance.parse().expect("a distance"));
        }
    }
}

/// Splits `word#12` and says whether it applies.
fn leveled(word: &str, level: char) -> (&str, bool) {
    match word.split_once('#') {
        Some((word, levels)) => (word, levels.contains(level)),
        None => (word, true),
    }
}

/// An analysed program.
struct Analysed<'a> {
    module: &'a Module,
    analysis: &'a Analysis,
    file: &'a str,
    answers: &'a Answers,
}

impl Analysed<'_> {
    /// The line of this file that an address belongs to, directly or by inlining.
    fn line(&self, address: u64, lookup: Lookup) -> Option<u32> {
        let frames = self.module.frames(Address::Virtual(address), lookup);
        let own = |file: &Option<String>| file.as_ref().is_some_and(|file| file.ends_with(self.file));
        frames.into_iter().find(|frame| own(&frame.file)).and_then(|frame| frame.line)
    }

    fn name(&self, read: &CriticalRead) -> String {
        match self.line(read.address, Lookup::Return) {
            Some(line) => self.answers.names.get(&line).cloned().unwrap_or(format!("line {line}")),
            None => "std".to_string(),
        }
    }

    fn sites(&self, expected: &Expected) -> Vec<&Site> {
        let own = |site: &&Site| {
            site.kind == expected.kind && self.line(site.address, Lookup::Exact) == Some(expected.line)
        };
        self.analysis.sites.iter().filter(own).collect()
    }

    /// Compares one line with its answer; gives what is wrong.
    fn check(&self, expected: &Expected) -> Vec<String> {
        let mut wrong = Vec::new();
        let sites = self.sites(expected);
        if sites.is_empty() {
            return vec!["there is no such site".to_string()];
        }
        let ids: Vec<u32> = sites.iter().map(|site| site.id).collect();
        let reads: Vec<&CriticalRead> =
            self.analysis.reads.iter().filter(|read| ids.contains(&read.site) && !read.local).collect();
        let mut nearest: BTreeMap<String, u32> = BTreeMap::new();
        for read in &reads {
            assert!(read.instrumented, "every read here has a probe: {read:?}");
            let distance = nearest.entry(self.name(read)).or_insert(read.distance);
            *distance = read.distance.min(*distance);
        }
        for (name, most) in &expected.reads {
            match nearest.get(name) {
                None => wrong.push(format!("{name} is missing")),
                Some(distance) if distance > most => wrong.push(format!("{name} is at distance {distance}")),
                Some(_) => {}
            }
        }
        wrong.extend(
            nearest
                .keys()
                .filter(|name| !expected.allowed.contains(*name))
                .map(|name| format!("{name} is too much")),
        );
        if expected.waits && !sites.iter().any(|site| site.waits) {
            wrong.push("it does not wait".to_string());
        }
        for (values, leads) in &expected.values {
            wrong.extend(self.evaluate(&reads, values, *leads));
        }
        wrong
    }

    /// Whether the given values lead to the site as expected.
    fn evaluate(
        &self,
        reads: &[&CriticalRead],
        values: &BTreeMap<String, u64>,
        leads: bool,
    ) -> Option<String> {
        let value = |address: u64| {
            let read = reads.iter().find(|read| read.address == address)?;
            values.get(&self.name(read)).copied()
        };
        let told: Vec<bool> = reads
            .iter()
            .filter(|read| values.contains_key(&self.name(read)))
            .filter_map(|read| read.leads(&value))
            .collect();
        let wrong = told.is_empty() || told.contains(&true) != leads;
        wrong.then(|| format!("{values:?} should give {leads}, and gives {told:?}"))
    }
}

fn check(name: &str, level: char) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/answers").join(name);
    let text = std::fs::read_to_string(&source).expect("the program");
    let workshop = Workshop::new();
    let flags = if name.ends_with(".rs") { format!("-Copt-level={level}") } else { format!("-O{level}") };
    let module = workshop.build(&source, &flags);
    let analysis = analyse(&module, &Options::default());
    let answers = Answers::of(&text, level);
    assert!(!answers.sites.is_empty(), "{name} has no answers");
    let analysed = Analysed { module: &module, analysis: &analysis, file: name, answers: &answers };
    let wrong: Vec<String> = answers
        .sites
        .iter()
        .flat_map(|expected| {
            let place = format!("{name}:{} {} at -O{level}", expected.line, expected.kind.name());
            analysed.check(expected).into_iter().map(move |wrong| format!("{place}: {wrong}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The answers are about memory that is shared for certain. A local counts as a read of its own
/// where its address has left the function.
#[test]
fn a_local_that_others_may_point_to_is_told_apart() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/answers/loops_and_calls.c");
    let text = std::fs::read_to_string(&source).expect("the program");
    let workshop = Workshop::new();
    let module = workshop.build(&source, "-O0");
    let analysis = analyse(&module, &Options::default());
    let answers = Answers::of(&text, '0');
    let analysed =
        Analysed { module: &module, analysis: &analysis, file: "loops_and_calls.c", answers: &answers };
    let line = |part: &str| 1 + text.lines().position(|l| l.contains(part)).expect("the line") as u32;
    let locals: Vec<Option<u32>> =
        analysis.reads.iter().filter(|r| r.local).map(|r| analysed.line(r.address, Lookup::Return)).collect();
    assert!(locals.contains(&Some(line("if (w > 80)"))), "{locals:?}");
}

macro_rules! answers {
    ($($test:ident: $file:literal $level:literal,)*) => {
        $(#[test] fn $test() { check($file, $level); })*
    };
}

answers! {
    conditions_at_0: "conditions.c" '0',
    conditions_at_1: "conditions.c" '1',
    conditions_at_2: "conditions.c" '2',
    loops_and_calls_at_0: "loops_and_calls.c" '0',
    loops_and_calls_at_1: "loops_and_calls.c" '1',
    loops_and_calls_at_2: "loops_and_calls.c" '2',
    output_at_0: "output.c" '0',
    output_at_1: "output.c" '1',
    output_at_2: "output.c" '2',
    classes_at_0: "classes.cpp" '0',
    classes_at_1: "classes.cpp" '1',
    classes_at_2: "classes.cpp" '2',
    panics_at_0: "panics.rs" '0',
    panics_at_1: "panics.rs" '1',
    panics_at_2: "panics.rs" '2',
}
