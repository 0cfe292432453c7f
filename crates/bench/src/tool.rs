//! What a kernel can be run under.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::BenchError;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RunMode {
    Hb,
    Hybrid,
    Fast,
}

impl RunMode {
    /// The name that `raddle run --mode` takes.
    pub fn name(self) -> &'static str {
        match self {
            RunMode::Hb => "hb",
            RunMode::Hybrid => "hybrid",
            RunMode::Fast => "fast",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Tool {
    Native,
    GccTsan,
    ClangTsan,
    Helgrind,
    Drd,
    Raddle { mode: RunMode, history: u8 },
}

/// How a tool's binary is built.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Flavour {
    Plain,
    /// With the compiler's own ThreadSanitizer.
    Tsan,
    /// By `raddle cc`.
    Raddle,
}

impl Tool {
    pub fn all() -> Vec<Tool> {
        let raddle = [RunMode::Hb, RunMode::Hybrid, RunMode::Fast]
            .into_iter()
            .flat_map(|mode| [0, 1].map(|history| Tool::Raddle { mode, history }));
        [Tool::Native, Tool::GccTsan, Tool::ClangTsan, Tool::Helgrind, Tool::Drd]
            .into_iter()
            .chain(raddle)
            .collect()
    }

    pub fn flavour(self) -> Flavour {
        match self {
            Tool::Native | Tool::Helgrind | Tool::Drd => Flavour::Plain,
            Tool::GccTsan | Tool::ClangTsan => Flavour::Tsan,
            Tool::Raddle { .. } => Flavour::Raddle,
        }
    }

    /// Valgrind's tools run the reduced size; see promise 1 of the crate.
    pub fn is_valgrind(self) -> bool {
        matches!(self, Tool::Helgrind | Tool::Drd)
    }

    pub fn is_raddle(self) -> bool {
        matches!(self, Tool::Raddle { .. })
    }

    /// Whether the tool may report something on a correct program. The hybrid state machine does so
    /// by design (section 6.4 of the paper), and fast mode is the same state machine with fewer
    /// accesses (4.4.2). Pure happens-before never may.
    pub fn may_report_falsely(self) -> bool {
        matches!(self, Tool::Raddle { mode: RunMode::Hybrid | RunMode::Fast, .. })
    }

    /// Whether the tool can run what this compiler builds.
    pub fn takes(self, compiler: &CCompiler) -> bool {
        match self {
            Tool::GccTsan => compiler.family() == CompilerFamily::Gcc,
            Tool::ClangTsan => compiler.family() == CompilerFamily::Clang,
            _ => true,
        }
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tool::Native => f.write_str("native"),
            Tool::GccTsan => f.write_str("gcc-tsan"),
            Tool::ClangTsan => f.write_str("clang-tsan"),
            Tool::Helgrind => f.write_str("helgrind"),
            Tool::Drd => f.write_str("drd"),
            Tool::Raddle { mode, history } => write!(f, "raddle-{}/{history}", mode.name()),
        }
    }
}

impl From<Tool> for String {
    fn from(tool: Tool) -> String {
        tool.to_string()
    }
}

impl TryFrom<String> for Tool {
    type Error = BenchError;

    fn try_from(name: String) -> Result<Tool, BenchError> {
        let all = Tool::all();
        let known = || all.iter().map(Tool::to_string).collect();
        all.iter()
            .copied()
            .find(|tool| tool.to_string() == name)
            .ok_or_else(|| BenchError::UnknownTool { known: known(), name })
    }
}

/// The tools with these names. `raddle-hb` stands for both of its histories, `raddle-hb/1` for one,
/// `raddle` for all. Native is always included, because everything else is a ratio to it.
pub fn select(names: &[String]) -> Result<Vec<Tool>, BenchError> {
    let all = Tool::all();
    let matches = |tool: &Tool, name: &str| {
        let full = tool.to_string();
        full == name || full.split('/').next() == Some(name) || (name == "raddle" && tool.is_raddle())
    };
    if let Some(name) = names.iter().find(|name| !all.iter().any(|tool| matches(tool, name))) {
        return Err(BenchError::UnknownTool {
            name: name.clone(),
            known: all.iter().map(Tool::to_string).collect(),
        });
    }
    let chosen =
        |tool: &Tool| *tool == Tool::Native || names.is_empty() || names.iter().any(|n| matches(tool, n));
    Ok(all.into_iter().filter(chosen).collect())
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CompilerFamily {
    Gcc,
    Clang,
}

/// A C compiler by its command, such as `gcc` or `clang-19`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct CCompiler(String);

impl CCompiler {
    pub fn new(command: &str) -> Result<CCompiler, BenchError> {
        let plain = ["gcc", "clang"].iter().any(|family| {
            command.strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        });
        if !plain {
            return Err(BenchError::Usage(format!(
                "`{command}` is neither gcc nor clang, with or without a version"
            )));
        }
        Ok(CCompiler(command.to_owned()))
    }

    pub fn c(&self) -> &str {
        &self.0
    }

    /// The corresponding C++ compiler.
    pub fn cpp(&self) -> String {
        match self.family() {
            CompilerFamily::Gcc => self.0.replacen("gcc", "g++", 1),
            CompilerFamily::Clang => self.0.replacen("clang", "clang++", 1),
        }
    }

    pub fn family(&self) -> CompilerFamily {
        if self.0.starts_with("gcc") { CompilerFamily::Gcc } else { CompilerFamily::Clang }
    }

    /// Its own ThreadSanitizer.
    pub fn tsan(&self) -> Tool {
        match self.family() {
            CompilerFamily::Gcc => Tool::GccTsan,
            CompilerFamily::Clang => Tool::ClangTsan,
        }
    }
}

impl fmt::Display for CCompiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(tools: &[Tool]) -> Vec<String> {
        tools.iter().map(Tool::to_string).collect()
    }

    fn select_names(wanted: &[&str]) -> Result<Vec<String>, BenchError> {
        select(&wanted.iter().map(|&name| name.to_owned()).collect::<Vec<_>>()).map(|tools| names(&tools))
    }

    #[test]
    fn without_a_choice_every_tool_is_run_and_raddle_with_both_histories() {
        let all = select_names(&[]).unwrap();
        assert_eq!(all.len(), 11);
        for name in ["native", "gcc-tsan", "clang-tsan", "helgrind", "drd", "raddle-hb/0", "raddle-fast/1"] {
            assert!(all.contains(&name.to_owned()), "{name}");
        }
    }

    #[test]
    fn a_mode_stands_for_both_histories_and_native_is_always_there() {
        assert_eq!(select_names(&["raddle-hb"]).unwrap(), ["native", "raddle-hb/0", "raddle-hb/1"]);
        assert_eq!(select_names(&["raddle-hybrid/1"]).unwrap(), ["native", "raddle-hybrid/1"]);
        assert_eq!(select_names(&["raddle"]).unwrap().len(), 7);
    }

    #[test]
    fn every_tool_is_written_and_read_by_its_name() {
        for tool in Tool::all() {
            let json = serde_json::to_string(&tool).unwrap();
            assert_eq!(json, format!("\"{tool}\""));
            assert_eq!(serde_json::from_str::<Tool>(&json).unwrap(), tool);
        }
        assert!(serde_json::from_str::<Tool>("\"raddle-hb\"").is_err());
    }

    #[test]
    fn an_unknown_tool_is_named() {
        assert!(select_names(&["tsan"]).unwrap_err().to_string().starts_with("no tool is called `tsan`"));
    }

    #[test]
    fn a_compiler_knows_its_c_plus_plus_and_its_sanitizer() {
        let gcc = CCompiler::new("gcc-12").unwrap();
        assert_eq!((gcc.cpp().as_str(), gcc.tsan()), ("g++-12", Tool::GccTsan));
        let clang = CCompiler::new("clang-19").unwrap();
        assert_eq!((clang.cpp().as_str(), clang.tsan()), ("clang++-19", Tool::ClangTsan));
        assert!(Tool::GccTsan.takes(&gcc) && !Tool::GccTsan.takes(&clang) && Tool::Helgrind.takes(&clang));
    }

    #[test]
    fn what_is_no_compiler_of_ours_is_refused() {
        for bad in ["tcc", "clang++", "gccgo", ""] {
            assert!(CCompiler::new(bad).is_err(), "{bad}");
        }
    }
}
