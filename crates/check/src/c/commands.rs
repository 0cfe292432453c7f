//! Reads macros and include folders from compile_commands.json, and nothing else.
//!
//! The file comes with a repository and is data, not a command to trust. A compiler's path,
//! `-fplugin`, `-B` or `@file` in it would run or read whatever its author likes as soon as an
//! editor opens the folder. So raddle never runs a command from it. It takes only the flags in
//! `ALLOWED`, each with its meaning. If a preprocessor is to be used, raddle chooses it and passes
//! [`CompileCommand::arguments`]. Flags that only change code generation or warnings are dropped
//! silently. Harmful flags are kept in [`CompileCommand::refused`] for the report.

use std::fmt;

use serde_json::Value;

/// Accepted flags, and whether their value may be in the next word.
const ALLOWED: &[(&str, bool)] = &[
    ("-I", true),
    ("-isystem", true),
    ("-iquote", true),
    ("-idirafter", true),
    ("-D", true),
    ("-U", true),
    ("-include", true),
    ("-imacros", true),
    ("-std=", false),
];

/// Flags accepted as they are: they define `_OPENMP`, `_REENTRANT` and the like.
const SWITCHES: &[&str] = &["-fopenmp", "-pthread", "-ansi", "-nostdinc", "-m32", "-m64", "-fno-builtin"];

/// Flags with a value in the next word. Both are dropped.
const WITH_VALUE: &[&str] = &["-MF", "-MT", "-MQ", "-x", "-arch", "-target", "--param"];

/// Prefixes of flags that can make a compiler run or load something.
const DANGEROUS: &[&str] = &[
    "-fplugin",
    "-B",
    "-specs",
    "--specs",
    "-wrapper",
    "-Xclang",
    "-Xpreprocessor",
    "-Wp,",
    "-load",
    "--sysroot",
    "-isysroot",
    "-fuse-ld",
    "-ccc",
    "-iplugindir",
    "-no-canonical-prefixes",
    "-dumpdir",
];

/// The maximum number of entries read.
pub const MOST_COMMANDS: usize = 100_000;

/// One file's entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompileCommand {
    pub directory: String,
    pub file: String,
    /// `-D` and `-U` in order: the name and its value. `None` undefines.
    pub macros: Vec<(String, Option<String>)>,
    /// Folders for `#include`, as written.
    pub folders: Vec<(String, FolderKind)>,
    /// `-include` and `-imacros`, as written.
    pub before: Vec<(BeforeKind, String)>,
    pub standard: Option<String>,
    /// Switches from a fixed list.
    pub switches: Vec<&'static str>,
    /// The output file of the compilation.
    pub output: Option<String>,
    /// Flags refused because they could do harm.
    pub refused: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderKind {
    /// `-I`
    Both,
    /// `-iquote`: for `"…"` only.
    Quoted,
    /// `-isystem`, `-idirafter`
    System,
}

/// How a file is read before the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BeforeKind {
    /// `-include`
    Whole,
    /// `-imacros`: only its macro definitions.
    Macros,
}

/// Why the whole file is unusable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandsError {
    NotJson(String),
    NotAList,
}

impl fmt::Display for CommandsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson(why) => write!(f, "compile_commands.json is not JSON: {why}"),
            Self::NotAList => write!(f, "compile_commands.json is not a list of commands"),
        }
    }
}

impl std::error::Error for CommandsError {}

/// The entries read from the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Commands {
    pub all: Vec<CompileCommand>,
    /// There were more entries, which were not read.
    pub is_cut: bool,
}

/// Parses the file's text. Leaves out entries that make no sense.
pub fn parse(json: &str) -> Result<Commands, CommandsError> {
    let value: Value = serde_json::from_str(json).map_err(|e| CommandsError::NotJson(e.to_string()))?;
    let Value::Array(entries) = value else { return Err(CommandsError::NotAList) };
    let all = entries.iter().take(MOST_COMMANDS).filter_map(entry).collect();
    Ok(Commands { all, is_cut: entries.len() > MOST_COMMANDS })
}

fn entry(value: &Value) -> Option<CompileCommand> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_string);
    let words = match value.get("arguments") {
        Some(Value::Array(list)) => list.iter().filter_map(|w| w.as_str().map(str::to_string)).collect(),
        _ => split(&text("command")?),
    };
    let mut command = CompileCommand {
        directory: text("directory").unwrap_or_default(),
        file: text("file")?,
        ..CompileCommand::default()
    };
    command.take_flags(words.get(1..).unwrap_or_default());
    command.output = text("output").or(command.output);
    Some(command)
}

impl CompileCommand {
    fn take_flags(&mut self, words: &[String]) {
        let mut i = 0;
        while i < words.len() {
            let word = &words[i];
            i += 1;
            if let Some((flag, next)) = ALLOWED.iter().find(|(f, _)| word.starts_with(f)) {
                let value = match &word[flag.len()..] {
                    "" if *next => {
                        i += 1;
                        words.get(i - 1).cloned().unwrap_or_default()
                    }
                    rest => rest.to_string(),
                };
                self.take(flag, value);
                continue;
            }
            if let Some(switch) = SWITCHES.iter().find(|s| **s == word) {
                self.switches.push(switch);
                continue;
            }
            if word == "-o" {
                self.output = words.get(i).cloned();
                i += 1;
                continue;
            }
            if word.starts_with('@') || DANGEROUS.iter().any(|d| word.starts_with(d)) {
                self.refused.push(word.clone());
            }
            if WITH_VALUE.contains(&word.as_str()) {
                i += 1;
            }
        }
    }

    fn take(&mut self, flag: &str, value: String) {
        match flag {
            "-I" => self.folders.push((value, FolderKind::Both)),
            "-iquote" => self.folders.push((value, FolderKind::Quoted)),
            "-isystem" | "-idirafter" => self.folders.push((value, FolderKind::System)),
            "-D" => {
                let (name, body) = value.split_once('=').map_or((value.as_str(), "1"), |(n, b)| (n, b));
                // A newline would end the definition and begin a directive of the author's choice.
                if is_name(name) && !body.contains('\n') {
                    self.macros.push((name.to_string(), Some(body.to_string())));
                }
            }
            "-U" if is_name(&value) => self.macros.push((value, None)),
            // A standard is a word such as gnu11 or iso9899:1999.
            "-std=" if value.chars().all(|c| c.is_ascii_alphanumeric() || c == ':') => {
                self.standard = Some(value)
            }
            // The value becomes a word of its own. These characters would make it an option or a
            // list of options.
            "-include" | "-imacros" if value.starts_with(['@', '-']) => {
                self.refused.push(format!("{flag} {value}"))
            }
            "-include" => self.before.push((BeforeKind::Whole, value)),
            "-imacros" => self.before.push((BeforeKind::Macros, value)),
            _ => {}
        }
    }

    /// The flags that are safe to pass to a preprocessor that raddle has chosen and that runs in
    /// `directory`.
    pub fn arguments(&self) -> Vec<String> {
        let folders = self.folders.iter().map(|(path, kind)| match kind {
            FolderKind::Both => format!("-I{path}"),
            FolderKind::Quoted => format!("-iquote{path}"),
            FolderKind::System => format!("-isystem{path}"),
        });
        let macros = self.macros.iter().map(|(name, value)| match value {
            Some(value) => format!("-D{name}={value}"),
            None => format!("-U{name}"),
        });
        let before = self.before.iter().flat_map(|(kind, path)| match kind {
            BeforeKind::Whole => ["-include".to_string(), path.clone()],
            BeforeKind::Macros => ["-imacros".to_string(), path.clone()],
        });
        let switches = self.switches.iter().map(ToString::to_string);
        let standard = self.standard.iter().map(|s| format!("-std={s}"));
        folders.chain(macros).chain(before).chain(switches).chain(standard).collect()
    }

    /// The build target of the compilation, if the build system writes it into the output's path:
    /// `CMakeFiles/NAME.dir/a.c.o` for CMake, `NAME.p/a.c.o` for Meson.
    pub fn target(&self) -> Option<&str> {
        let folder = |part: &&str| part.ends_with(".dir") || part.ends_with(".p");
        let output = self.output.as_deref()?;
        let parts: Vec<&str> = output.split('/').collect();
        let (_, folders) = parts.split_last()?;
        folders.iter().rev().find(|p| folder(p)).copied()
    }
}

fn is_name(text: &str) -> bool {
    // `F(x)=…` defines a function-like macro.
    let name = text.split('(').next().unwrap_or_default();
    !name.is_empty() && !text.contains('\n') && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Splits a command line into words as a shell would, without any other shell feature.
fn split(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = command.chars();
    let mut quote = None;
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some('"') | None, '\\') => word.get_or_insert_default().extend(chars.next()),
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(command: &str) -> CompileCommand {
        let json = serde_json::json!([{ "directory": "/d", "file": "a.c", "command": command }]).to_string();
        parse(&json).expect("valid").all.remove(0)
    }

    #[test]
    fn macros_and_folders_are_taken() {
        let c = one(
            r#"gcc -Iinclude -I ../x -isystem /sys -DA -D B=2 -D'S="t x"' -UC -std=gnu11 -O2 -Wall -c a.c -o a.o"#,
        );
        let macros: Vec<_> = c.macros.iter().map(|(n, v)| (n.as_str(), v.as_deref())).collect();
        assert_eq!(macros, [("A", Some("1")), ("B", Some("2")), ("S", Some("\"t x\"")), ("C", None)]);
        let folders: Vec<_> = c.folders.iter().map(|f| f.0.as_str()).collect();
        assert_eq!(folders, ["include", "../x", "/sys"]);
        assert_eq!(c.standard.as_deref(), Some("gnu11"));
        assert!(c.refused.is_empty());
        assert_eq!(c.arguments().len(), 8);
    }

    #[test]
    fn flags_that_run_something_are_refused_and_never_passed_on() {
        let c = one(
            "/tmp/evil -fplugin=./evil.so -B./bin -specs=x @args -wrapper sh -Xclang -load -include @more -include -fplugin=x -std=c11,@x --sysroot=/x a.c",
        );
        assert!(c.refused.len() >= 9, "{:?}", c.refused);
        assert_eq!(c.arguments(), Vec::<String>::new());
    }

    #[test]
    fn a_macro_cannot_smuggle_a_directive_in() {
        let c = one("gcc '-DX=1\n#include \"/etc/passwd\"' '-DA B=1' -D a.c");
        assert!(c.macros.iter().all(|m| !m.1.as_deref().unwrap_or("").contains('\n')), "{:?}", c.macros);
        assert!(!c.macros.iter().any(|m| m.0.contains(' ')));
    }

    #[test]
    fn arguments_as_a_list_and_entries_that_make_no_sense() {
        let json =
            r#"[{"file":"a.c","arguments":["cc","-DX=1","a.c"]}, 3, {"command":"cc"}, {"file":"b.c"}]"#;
        let all = parse(json).expect("valid").all;
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].macros.len(), 1);
        assert_eq!(parse("{}"), Err(CommandsError::NotAList));
        assert!(matches!(parse("nonsense"), Err(CommandsError::NotJson(_))));
    }

    #[test]
    fn files_before_the_source_switches_and_the_target() {
        let c = one(
            "cc -include config.h -imacros m.h -fopenmp -pthread -o CMakeFiles/app.dir/src/a.c.o -c src/a.c",
        );
        assert_eq!(c.arguments(), ["-include", "config.h", "-imacros", "m.h", "-fopenmp", "-pthread"]);
        assert_eq!(c.target(), Some("app.dir"));
        assert_eq!(one("cc -o libx.a.p/a.c.o -c a.c").target(), Some("libx.a.p"));
        assert_eq!(one("cc -o a.p -c a.c").target(), None);
        assert_eq!(one("cc -c a.c -o").target(), None);
    }

    #[test]
    fn words_are_split_as_a_shell_would() {
        assert_eq!(split(r#"a "b c"  d\ e 'f"g' "h\"i" """#), ["a", "b c", "d e", "f\"g", "h\"i", ""]);
        assert_eq!(split("\"open"), ["open"]);
    }

    #[test]
    fn a_list_that_is_too_long_says_so() {
        let list = |n: usize| format!("[{}]", vec!["0"; n].join(","));
        assert!(!parse(&list(MOST_COMMANDS)).expect("valid").is_cut);
        assert!(parse(&list(MOST_COMMANDS + 1)).expect("valid").is_cut);
    }
}
