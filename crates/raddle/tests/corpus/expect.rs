//! What a program expects of raddle, read from its comments.

use std::collections::BTreeMap;

pub const MODES: [&str; 3] = ["hb", "hybrid", "fast"];

const KINDS: [&str; 11] = [
    "data-race",
    "use-after-free",
    "lock-order",
    "expected-race-missing",
    "double-lock",
    "unlock-not-held",
    "lock-leak",
    "leak",
    "signal-unsafe-call",
    "signal-spoils-errno",
    "uninitialized-read",
];

/// A program's directives and expectations.
#[derive(Clone, Debug)]
pub struct Program {
    pub flags: Vec<String>,
    pub libs: Vec<String>,
    pub compilers: Vec<String>,
    pub run: Vec<String>,
    pub args: Vec<String>,
    pub exit: i64,
    pub golden: bool,
    pub timeout: u64,
    /// By mode; an empty map expects silence.
    pub expected: BTreeMap<&'static str, Groups>,
    /// Modes in which the timing decides: the program must run to its status, no more.
    pub anything: Vec<&'static str>,
}

/// The marks of one finding, by kind and number.
pub type Groups = BTreeMap<(String, u32), Vec<Mark>>;

/// One line that may be an end of the finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    pub line: u32,
    /// Any of these; empty: whatever it does.
    pub ops: Vec<String>,
}

impl Program {
    pub fn parse(text: &str) -> Result<Program, String> {
        let mut program = Program::parse_part(text)?;
        program.finish()?;
        Ok(program)
    }

    /// One file of several.
    pub fn parse_part(text: &str) -> Result<Program, String> {
        let mut program = Program {
            flags: Vec::new(),
            libs: Vec::new(),
            compilers: vec!["gcc".into(), "clang".into()],
            run: Vec::new(),
            args: Vec::new(),
            exit: 0,
            golden: false,
            timeout: 30,
            expected: BTreeMap::new(),
            anything: Vec::new(),
        };
        program.add(text)?;
        Ok(program)
    }

    pub fn add(&mut self, text: &str) -> Result<(), String> {
        for (i, line) in text.lines().enumerate() {
            if let Some(directive) = line.trim().strip_prefix("//@ ") {
                self.directive(directive)
                    .ok_or_else(|| format!("line {}: unknown directive `{directive}`", i + 1))?;
            }
            for comment in line.split("//").skip(1) {
                self.expectation(comment.trim(), i as u32 + 1).map_err(|e| format!("line {}: {e}", i + 1))?;
            }
        }
        Ok(())
    }

    pub fn finish(&mut self) -> Result<(), String> {
        if self.flags.is_empty() {
            self.flags.push("-O1".into());
        }
        match MODES.iter().find(|m| !self.expected.contains_key(*m)) {
            Some(mode) => Err(format!("the program does not say what it expects in mode {mode}")),
            None => Ok(()),
        }
    }

    fn directive(&mut self, text: &str) -> Option<()> {
        let (name, value) = text.split_once(':').unwrap_or((text, ""));
        let words = || value.split_whitespace().map(str::to_owned).collect();
        match name.trim() {
            "flags" => self.flags = words(),
            "libs" => self.libs = words(),
            "compilers" => self.compilers = words(),
            "run" => self.run = words(),
            "args" => self.args = words(),
            "exit" => self.exit = value.trim().parse().ok()?,
            "timeout" => self.timeout = value.trim().parse().ok()?,
            "golden" => self.golden = true,
            _ => return None,
        }
        Some(())
    }

    /// `expect: …` or `expect(MODES): …`
    fn expectation(&mut self, comment: &str, line: u32) -> Result<(), String> {
        let Some(rest) = comment.strip_prefix("expect") else { return Ok(()) };
        let (modes, what) = match (rest.strip_prefix(':'), rest.strip_prefix('(')) {
            (Some(what), _) => (MODES.to_vec(), what),
            (_, Some(rest)) => {
                let (listed, what) = rest.split_once("):").ok_or("`expect(` without `):`")?;
                let known =
                    |m: &str| MODES.into_iter().find(|k| *k == m).ok_or(format!("unknown mode `{m}`"));
                (listed.split_whitespace().map(known).collect::<Result<_, _>>()?, what)
            }
            // An English sentence.
            _ => return Ok(()),
        };
        for mode in modes {
            let groups = self.expected.entry(mode).or_default();
            match what.trim() {
                "nothing" => {}
                "anything" => self.anything.push(mode),
                marks => add(groups, marks, line)?,
            }
        }
        Ok(())
    }
}

/// `KIND OPS #N | OPS #N …`
fn add(groups: &mut Groups, what: &str, line: u32) -> Result<(), String> {
    let mut kind = "";
    for end in what.split('|') {
        let (words, number) = end.split_once('#').ok_or(format!("`{end}` has no #N"))?;
        let number = number.trim().parse().map_err(|_| format!("`#{number}` is no number"))?;
        let mut words: Vec<&str> = words.split_whitespace().collect();
        // The kind of a later mark is that of the one before it.
        if let Some(first) = words.first().filter(|w| KINDS.contains(w)) {
            kind = first;
            words.remove(0);
        }
        if kind.is_empty() {
            return Err(format!("`{what}` names no kind of finding"));
        }
        let marks = groups.entry((kind.into(), number)).or_default();
        let ops = words.into_iter().map(str::to_owned);
        match marks.iter_mut().find(|m| m.line == line) {
            Some(mark) => mark.ops.extend(ops),
            None => marks.push(Mark { line, ops: ops.collect() }),
        }
    }
    Ok(())
}
