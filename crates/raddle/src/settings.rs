//! The settings of a project: options that `raddle.toml` adds to every call.
//!
//! ```toml
//! [report]                       # for every command that writes a report
//! suppressions = ["tsan.supp"]   # paths are relative to the file
//!
//! [hunt]
//! minutes = 5
//! ```
//!
//! A table has the name of a command, and a key has the name of one of its options without the
//! dashes. So there is no list of settings here. The definition of the command line is the list,
//! checks the values, and is the source of `docs/raddle.schema.json`. The words of a setting are
//! inserted after the command's name, unless the call itself has that option or one that excludes
//! it.
//!
//! The file may come with somebody else's code. So [`NEVER`] lists the options that only a call can
//! have: those that write to a given place, and those that say what to run and to trust.

use crate::cli::Cli;
use crate::similar;
use anyhow::Context;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, CommandFactory, ValueHint};
use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

const FILE: &str = "raddle.toml";

/// The commands that have a table.
const COMMANDS: [&str; 6] = ["hunt", "run", "explore", "conseq", "tsvd", "check"];

/// The options of the report, which all of [`COMMANDS`] share.
const REPORT: &str = "report";

/// Options that only a call can have.
const NEVER: [&str; 13] = [
    "output",
    "write-baseline",
    "schedules-to",
    "resume",
    "shard",
    "ctest",
    "cargo",
    "trust",
    "trace-to",
    "help",
    "version",
    "only",
    "stdin",
];

/// Keys of a table that are not options but lists that the command itself reads.
fn own_keys(command: &str) -> &'static [&'static str] {
    match command {
        "conseq" => &["assert", "error", "output"],
        "tsvd" => &["list", "dotnet", "without"],
        _ => &[],
    }
}

/// The command line with the settings of the current folder's project.
pub fn apply(args: Vec<OsString>) -> anyhow::Result<Vec<OsString>> {
    let Some(command) = args.get(1).and_then(|word| word.to_str()) else { return Ok(args) };
    if !COMMANDS.contains(&command) {
        return Ok(args);
    }
    let folder = std::env::current_dir().unwrap_or_default();
    let Some(file) = folder.ancestors().map(|folder| folder.join(FILE)).find(|file| file.exists()) else {
        return Ok(args);
    };
    let text =
        std::fs::read_to_string(&file).with_context(|| format!("{} cannot be read", file.display()))?;
    let words = words(&text, &file, command, &args)?;
    let (head, tail) = args.split_at(2);
    Ok([head, &words, tail].concat())
}

/// The words that the settings add to a call.
fn words(text: &str, file: &Path, command: &str, args: &[OsString]) -> anyhow::Result<Vec<OsString>> {
    let reader = Reader { text, file };
    let root = DeTable::parse(text).map_err(|error| reader.at(error.span(), error.message()))?;
    let cli = Cli::command();
    // If the call is wrong even without settings, the final parse reports it.
    let Ok(given) = cli.clone().try_get_matches_from(args) else { return Ok(Vec::new()) };
    let Some((_, given)) = given.subcommand() else { return Ok(Vec::new()) };
    let mut words = Vec::new();
    for (name, table) in root.get_ref() {
        let (name_span, name) = (name.span(), name.get_ref().as_ref());
        let known = COMMANDS.iter().copied().chain([REPORT]);
        let is_known = known.clone().any(|known| known == name);
        let DeValue::Table(table) = table.get_ref() else {
            return Err(match is_known {
                true => reader.at(Some(table.span()), &format!("`{name}` must be a table: [{name}]")),
                false => reader.without_table(&cli, name_span, name),
            });
        };
        if !is_known {
            return Err(reader.unknown(name_span, "table", name, known));
        }
        for (key, value) in table {
            let Some(option) = reader.option(&cli, name, key)? else { continue };
            let key = key.get_ref().as_ref();
            let setting = reader.setting(key, value.get_ref(), value.span(), &option)?;
            let applies = name == command || name == REPORT;
            // A setting of the command takes precedence over one for all reports.
            let nearer = name == REPORT && table_has(root.get_ref(), command, key);
            let subcommand = cli.find_subcommand(command).expect("a command of the list");
            if applies && !nearer && !overridden(subcommand, &option, given) {
                let with = [&args[..2], &setting, &args[2..]].concat();
                if let Err(error) = cli.clone().try_get_matches_from(with) {
                    return Err(reader.refused(value.span(), &error));
                }
                words.extend(setting);
            }
        }
    }
    Ok(words)
}

/// Refuses a key of one table that is neither an option of its command nor a list that the command
/// reads. For code that reads such a list from this file or from another one.
pub fn refuse_unknown(text: &str, file: &Path, table: &str) -> anyhow::Result<()> {
    // If it is not TOML, the code that reads the lists reports it.
    let Ok(root) = DeTable::parse(text) else { return Ok(()) };
    let tables = root.get_ref().iter().filter(|(name, _)| name.get_ref() == table);
    let cli = Cli::command();
    for key in tables.filter_map(|(_, keys)| keys.get_ref().as_table()).flat_map(DeTable::keys) {
        Reader { text, file }.option(&cli, table, key)?;
    }
    Ok(())
}

fn table_has(root: &DeTable, command: &str, key: &str) -> bool {
    let table = root.iter().find(|(name, _)| name.get_ref() == command).map(|(_, table)| table.get_ref());
    matches!(table, Some(DeValue::Table(table)) if table.keys().any(|known| known.get_ref() == key))
}

/// Whether the call overrides the setting. Options that may be repeated add up.
fn overridden(command: &clap::Command, option: &Arg, given: &clap::ArgMatches) -> bool {
    let by_call = |arg: &Arg| {
        let id = arg.get_id().as_str();
        given.try_contains_id(id).is_ok() && given.value_source(id) == Some(ValueSource::CommandLine)
    };
    let repeatable = matches!(option.get_action(), ArgAction::Append);
    // Either of two options may declare that they exclude each other.
    let excludes = |one: &Arg, other: &Arg| command.get_arg_conflicts_with(one).contains(&other);
    let excluded = |other: &&Arg| excludes(option, other) || excludes(other, option);
    (by_call(option) && !repeatable) || command.get_arguments().filter(excluded).any(by_call)
}

/// The options that a table can set, in the order of the help.
fn options(cli: &clap::Command, table: &str) -> Vec<Arg> {
    let shared = table == REPORT;
    let command = cli.find_subcommand(if shared { "run" } else { table }).expect("a command of the list");
    let of_the_report = |arg: &Arg| matches!(arg.get_help_heading(), Some("Report" | "Selection"));
    let everywhere = |arg: &Arg| {
        let has = |name: &&str| {
            let command = cli.find_subcommand(name).expect("a command of the list");
            command.get_arguments().any(|other| other.get_long() == arg.get_long())
        };
        COMMANDS.iter().all(has)
    };
    let settable = |arg: &&Arg| {
        let long = arg.get_long().filter(|long| !NEVER.contains(long));
        long.is_some() && !arg.is_hide_set() && (!shared || (of_the_report(arg) && everywhere(arg)))
    };
    command.get_arguments().filter(settable).cloned().collect()
}

struct Reader<'a> {
    text: &'a str,
    file: &'a Path,
}

impl Reader<'_> {
    fn at(&self, span: Option<Range<usize>>, message: &str) -> anyhow::Error {
        let before = &self.text[..span.map_or(0, |span| span.start.min(self.text.len()))];
        anyhow::anyhow!("{}:{}: {message}", self.file.display(), before.matches('\n').count() + 1)
    }

    fn unknown<'a>(
        &self,
        span: Range<usize>,
        what: &str,
        word: &str,
        known: impl Iterator<Item = &'a str> + Clone,
    ) -> anyhow::Error {
        let message = match similar::nearest(word, known.clone()) {
            Some(meant) => format!("unknown {what} `{word}`; did you mean `{meant}`?"),
            None => {
                let known: Vec<_> = known.map(|one| format!("`{one}`")).collect();
                format!("unknown {what} `{word}`; possible are {}", known.join(", "))
            }
        };
        self.at(Some(span), &message)
    }

    /// The error for a setting above the first table.
    fn without_table(&self, cli: &clap::Command, span: Range<usize>, word: &str) -> anyhow::Error {
        let home = |table: &&str| options(cli, table).iter().any(|option| option.get_long() == Some(word));
        // What all commands share has its own table.
        let table = [REPORT].into_iter().chain(COMMANDS).find(home);
        let message = match table {
            Some(table) => format!("`{word}` is outside of a table: write it below [{table}]"),
            None => {
                let tables: Vec<_> =
                    COMMANDS.iter().chain([&REPORT]).map(|table| format!("[{table}]")).collect();
                format!("`{word}` is outside of a table; the tables are {}", tables.join(", "))
            }
        };
        self.at(Some(span), &message)
    }

    /// The error for a value that the command line does not take.
    fn refused(&self, span: Range<usize>, error: &clap::Error) -> anyhow::Error {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        self.at(Some(span), first.strip_prefix("error: ").unwrap_or(first))
    }

    /// The option that a key of a table sets; `None` if the key is one of the command's lists.
    fn option(
        &self,
        cli: &clap::Command,
        table: &str,
        key: &Spanned<DeString>,
    ) -> anyhow::Result<Option<Arg>> {
        let (span, key) = (key.span(), key.get_ref().as_ref());
        if own_keys(table).contains(&key) {
            return Ok(None);
        }
        let mut options = options(cli, table);
        if let Some(found) = options.iter().position(|option| option.get_long() == Some(key)) {
            return Ok(Some(options.swap_remove(found)));
        }
        let known = options.iter().filter_map(|option| option.get_long());
        Err(self.unknown(span, "setting", key, known.chain(own_keys(table).iter().copied())))
    }

    /// One setting as words of a command line.
    fn setting(
        &self,
        key: &str,
        value: &DeValue,
        span: Range<usize>,
        option: &Arg,
    ) -> anyhow::Result<Vec<OsString>> {
        let takes_value = option.get_action().takes_values();
        match value {
            DeValue::Boolean(true) if !takes_value => Ok(vec![format!("--{key}").into()]),
            DeValue::Boolean(false) if !takes_value => Ok(Vec::new()),
            _ if !takes_value => Err(self.at(Some(span), &format!("`{key}` must be true or false"))),
            DeValue::Array(values) if matches!(option.get_action(), ArgAction::Append) => {
                values.iter().map(|one| self.word(key, one.get_ref(), one.span(), option)).collect()
            }
            one => Ok(vec![self.word(key, one, span, option)?]),
        }
    }

    fn word(&self, key: &str, value: &DeValue, span: Range<usize>, option: &Arg) -> anyhow::Result<OsString> {
        let text = match value {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) => number.as_str().to_owned(),
            DeValue::Float(number) => number.as_str().to_owned(),
            _ => return Err(self.at(Some(span), &format!("`{key}` must be a text or a number"))),
        };
        let path = option.get_value_hint() == ValueHint::AnyPath;
        let text = if path { self.beside(&text).into_os_string() } else { text.into() };
        let values = option.get_possible_values();
        if !values.is_empty()
            && !values.iter().any(|known| text.to_str().is_some_and(|t| known.matches(t, false)))
        {
            let known = values.iter().map(|value| value.get_name());
            return Err(self.unknown(span, &format!("value of `{key}`:"), &text.to_string_lossy(), known));
        }
        let mut word = OsString::from(format!("--{key}="));
        word.push(text);
        Ok(word)
    }

    /// A path in the file, relative to the folder of the file.
    fn beside(&self, path: &str) -> PathBuf {
        self.file.parent().unwrap_or(Path::new(".")).join(path)
    }
}

/// The JSON schema of the file, for editors.
#[cfg(test)]
fn schema() -> serde_json::Value {
    use serde_json::{Map, Value, json};
    let cli = Cli::command();
    let value = |option: &Arg| -> Value {
        let values: Vec<_> = option.get_possible_values().iter().map(|v| v.get_name().to_owned()).collect();
        let one = match () {
            () if !option.get_action().takes_values() => json!({"type": "boolean"}),
            () if !values.is_empty() => json!({"enum": values}),
            () => json!({"type": ["string", "number"]}),
        };
        let mut one = match option.get_action() {
            ArgAction::Append => json!({"oneOf": [one.clone(), {"type": "array", "items": one}]}),
            _ => one,
        };
        one["description"] = json!(option.get_help().map(ToString::to_string).unwrap_or_default());
        one
    };
    let table = |name: &str| -> Value {
        let mut keys: Map<String, Value> = options(&cli, name)
            .iter()
            .map(|option| (option.get_long().expect("settable").to_owned(), value(option)))
            .collect();
        for key in own_keys(name) {
            keys.insert((*key).to_owned(), json!({"type": "array"}));
        }
        json!({"type": "object", "additionalProperties": false, "properties": keys})
    };
    let tables: Map<String, Value> =
        COMMANDS.iter().chain([&REPORT]).map(|name| ((*name).to_owned(), table(name))).collect();
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Settings of raddle for a project: raddle.toml",
        "type": "object",
        "additionalProperties": false,
        "properties": tables,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    fn of(settings: &str, call: &str) -> anyhow::Result<Vec<String>> {
        let args = line(call);
        let command = args[1].to_str().unwrap().to_owned();
        let words = words(settings, Path::new("/p/raddle.toml"), &command, &args)?;
        Ok(words.into_iter().map(|word| word.into_string().unwrap()).collect())
    }

    fn error(settings: &str) -> String {
        of(settings, "raddle hunt -- x").unwrap_err().to_string()
    }

    #[test]
    fn settings_become_words_of_the_command_they_are_for() {
        let file =
            "[report]\nsuppressions = [\"a.supp\", \"/b\"]\n[hunt]\nminutes = 5\n[run]\nmode = 'hybrid'\n";
        let shared = ["--suppressions=/p/a.supp", "--suppressions=/b"];
        assert_eq!(of(file, "raddle hunt -- x").unwrap(), [&["--minutes=5"][..], &shared].concat());
        assert_eq!(of(file, "raddle run -- x").unwrap(), [&shared[..], &["--mode=hybrid"]].concat());
        assert_eq!(of("[run]\nno-lock-order = true\n", "raddle run -- x").unwrap(), ["--no-lock-order"]);
        assert!(of("[run]\nno-lock-order = false\n", "raddle run -- x").unwrap().is_empty());
    }

    #[test]
    fn the_call_goes_before_the_file_and_the_command_before_the_report() {
        let file = "[hunt]\nminutes = 5\nexit-code = 3\n[report]\nexit-code = 4\n";
        assert_eq!(of(file, "raddle hunt --minutes 1 -- x").unwrap(), ["--exit-code=3"]);
        // --seconds excludes --minutes.
        assert_eq!(of(file, "raddle hunt --seconds 1 --exit-code 9 -- x").unwrap(), [""; 0]);
        assert_eq!(of(file, "raddle run -- x").unwrap(), ["--exit-code=4"]);
        let both = of("[run]\nignore = 'fun:a'\n", "raddle run --ignore fun:b -- x").unwrap();
        assert_eq!(both, ["--ignore=fun:a"]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line_and_what_was_meant() {
        assert_eq!(error("[hnut]\n"), "/p/raddle.toml:1: unknown table `hnut`; did you mean `hunt`?");
        assert!(
            error("\n[hunt]\nminuts = 3\n").contains(":3: unknown setting `minuts`; did you mean `minutes`?")
        );
        assert!(error("[run]\nmode = 'hybird'\n").contains("did you mean `hybrid`?"));
        assert!(error("[run]\nno-lock-order = 'x'\n").contains("must be true or false"));
        assert!(error("[hunt\n").contains("/p/raddle.toml:1: "));
        assert!(error("hunt = 3\n").contains("must be a table"));
        let outside = error("suppressions = 'a'\n[hunt]\n");
        assert_eq!(
            outside,
            "/p/raddle.toml:1: `suppressions` is outside of a table: write it below [report]"
        );
        assert!(error("minutes = 5\n").ends_with("write it below [hunt]"));
        assert!(
            error("suppresions = 'a'\n").contains("is outside of a table; the tables are [hunt], [run],")
        );
        let value = error("[hunt]\nminutes = 'five'\n");
        assert!(value.starts_with("/p/raddle.toml:2: invalid value 'five' for '--minutes"), "{value}");
        assert!(value.ends_with("a number, as in 30 or 0.5"), "{value}");
    }

    #[test]
    fn a_file_cannot_say_where_to_write_or_what_to_trust() {
        for key in NEVER {
            let said = error(&format!("[hunt]\n{key} = 'x'\n"));
            assert!(said.contains("unknown setting"), "{key}: {said}");
        }
    }

    #[test]
    fn lists_of_a_command_are_left_to_it() {
        let file = "[conseq]\nassert = ['f']\n[tsvd]\nwithout = ['GLib']\n[[tsvd.list]]\nlibrary = 'x'\n";
        assert!(of(file, "raddle conseq -- x").unwrap().is_empty());
    }

    #[test]
    fn the_published_schema_is_that_of_the_command_line() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/raddle.schema.json");
        let made = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
        if std::env::var_os("RADDLE_BLESS").is_some() {
            std::fs::write(&file, &made).unwrap();
        }
        let published = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(published == made, "RADDLE_BLESS=1 writes docs/raddle.schema.json anew");
    }
}
