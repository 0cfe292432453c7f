//! What a program expects of `raddle explore`, read from its comments.

/// A program's directives and expectations.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub flags: Vec<String>,
    pub libs: Vec<String>,
    pub compilers: Vec<String>,
    pub args: Vec<String>,
    pub options: Vec<String>,
    pub monitors: Vec<String>,
    /// The kinds of which one must be found, under sequential consistency; none: nothing may be.
    /// Nothing: not explored so.
    pub expected: Option<Vec<String>>,
    /// Lines at which a finding of the kind must be.
    pub marks: Vec<(String, u32)>,
}

impl Program {
    pub fn parse(text: &str) -> Result<Program, String> {
        let mut program = Program { compilers: vec!["gcc".into(), "clang".into()], ..Program::default() };
        for (i, line) in text.lines().enumerate() {
            let at = |e: &str| format!("line {}: {e}", i + 1);
            if let Some(directive) = line.strip_prefix("//@ ") {
                program.directive(directive).ok_or_else(|| at("unknown directive"))?;
            } else if let Some(header) = line.strip_prefix("// expect") {
                program.header(header).map_err(|e| at(&e))?;
            } else if let Some((_, mark)) = line.split_once("// expect: ") {
                let kinds = mark.trim().strip_suffix(" here").ok_or_else(|| at("a mark ends in `here`"))?;
                program.marks.extend(kinds.split(" | ").map(|k| (k.to_owned(), i as u32 + 1)));
            }
        }
        if program.flags.is_empty() {
            program.flags.push("-O1".into());
        }
        Ok(program)
    }

    /// The options that turn its monitors on.
    pub fn monitor_options(&self) -> Vec<&'static str> {
        let option = |name: &String| match name.as_str() {
            "race" => "--races",
            "leak" => "--leaks",
            "output" => "--same-output",
            "spin" => "--spins",
            other => panic!("no monitor is called {other}"),
        };
        self.monitors.iter().map(option).collect()
    }

    fn directive(&mut self, text: &str) -> Option<()> {
        let (name, value) = text.split_once(':').unwrap_or((text, ""));
        let words = || value.split_whitespace().map(str::to_owned).collect();
        match name.trim() {
            "flags" => self.flags = words(),
            "libs" => self.libs = words(),
            "compilers" => self.compilers = words(),
            "args" => self.args = words(),
            "options" => self.options = words(),
            "monitors" => self.monitors = words(),
            "exit" | "timeout" | "bound" | "always" | "explored only" => {}
            _ => return None,
        }
        Some(())
    }

    /// `: deadlock | hang`, `(sc c11): nothing`
    fn header(&mut self, text: &str) -> Result<(), String> {
        let (modes, kinds) = match text.strip_prefix('(') {
            Some(rest) => rest.split_once("):").ok_or("`expect(` without `):`")?,
            None => ("sc", text.strip_prefix(':').ok_or("`expect` without `:`")?),
        };
        if modes.split_whitespace().any(|m| m == "sc") {
            let kinds = kinds.trim().split(" | ").filter(|k| *k != "nothing").map(str::to_owned);
            self.expected = Some(kinds.collect());
        }
        Ok(())
    }
}
