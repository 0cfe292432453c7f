//! What the terminal can show: width, colours, links, characters, an overwritten line.
//!
//! | variable | effect |
//! |---|---|
//! | `NO_COLOR`, not empty | no colours |
//! | `CLICOLOR_FORCE`, not empty and not 0 | colours and width as on a terminal, also into a pipe |
//! | `CLICOLOR=0` | no colours |
//! | `TERM=dumb` | no colours, no links, no line that is overwritten |
//! | `FORCE_HYPERLINK`, not empty and not 0 | links, also into a pipe; 0: no links |
//! | `COLUMNS` | the width of a pipe or a file, up to 100; a terminal says its own |
//! | `LC_ALL`, `LC_CTYPE`, `LANG` | the first that is set and is not UTF-8: ASCII only |
//!
//! `--color` takes precedence for colours.

use std::ffi::OsString;
use std::io::IsTerminal;

use raddle_harness::say;

use super::args::Color;
use super::{TextTo, editor_of_user};

/// How to write text for a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terminal {
    pub color: bool,
    pub width: usize,
    /// The URL of a place, with `{path}`, if the terminal has links.
    pub links: Option<String>,
    /// The terminal shows ASCII only.
    pub ascii: bool,
}

/// The width of text, unless there is less room. Wider lines are hard to read.
const WIDTH: usize = 100;

/// Links that open the file with the system's default program.
const FILE_LINK: &str = "file://{path}";

impl Terminal {
    /// The settings for a file or a pipe.
    pub const PLAIN: Terminal = Terminal { color: false, width: WIDTH, links: None, ascii: false };

    /// `is_file`: the text goes to a file, not to `to`.
    pub fn new(to: TextTo, color: Color, is_file: bool) -> Terminal {
        let variable = |name: &str| std::env::var_os(name);
        let is_terminal = !is_file && is_terminal(to);
        let color = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => !is_file && has_colour(is_terminal, variable),
        };
        let has_links = !is_file && has_links(is_terminal && color, variable);
        let links = has_links.then(|| editor_of_user().unwrap_or_else(|| FILE_LINK.to_owned()));
        let width = if is_file { WIDTH } else { width(to) };
        Terminal { color, width, links, ascii: is_terminal && !is_utf8(variable) }
    }
}

fn is_terminal(to: TextTo) -> bool {
    match to {
        TextTo::Stdout => std::io::stdout().is_terminal(),
        TextTo::Stderr => std::io::stderr().is_terminal(),
    }
}

/// The columns of the terminal or the pipe, up to a maximum.
pub fn width(to: TextTo) -> usize {
    let columns = match to {
        TextTo::Stdout => say::columns(&std::io::stdout()),
        TextTo::Stderr => say::columns(&std::io::stderr()),
    };
    columns.map_or(WIDTH, |columns| columns.min(WIDTH))
}

/// Whether stderr can show a line that is overwritten.
pub fn has_live_line() -> bool {
    std::io::stderr().is_terminal() && !is_dumb(|name| std::env::var_os(name))
}

fn has_colour(is_terminal: bool, variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let is_set = |name| variable(name).is_some_and(|value| !value.is_empty());
    let is_zero = |name| variable(name).is_some_and(|value| value == "0");
    if is_set("NO_COLOR") {
        return false;
    }
    if is_set("CLICOLOR_FORCE") && !is_zero("CLICOLOR_FORCE") {
        return true;
    }
    is_terminal && !is_zero("CLICOLOR") && !is_dumb(variable)
}

fn is_dumb(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    variable("TERM").is_some_and(|term| term == "dumb")
}

/// Most terminals without links ignore them, but some old ones print the URL. So these are the
/// terminals that are known to have links.
fn has_links(is_coloured_terminal: bool, variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let text = |name| variable(name).map(|value| value.to_string_lossy().into_owned()).unwrap_or_default();
    match text("FORCE_HYPERLINK").as_str() {
        "" => {}
        forced => return forced != "0",
    }
    if !is_coloured_terminal {
        return false;
    }
    let program = text("TERM_PROGRAM");
    let term = text("TERM");
    ["iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper"].contains(&program.as_str())
        || ["xterm-kitty", "alacritty", "foot", "xterm-ghostty"].iter().any(|name| term.starts_with(name))
        || ["WT_SESSION", "KONSOLE_VERSION", "DOMTERM"].iter().any(|name| !text(name).is_empty())
        || text("VTE_VERSION").parse().is_ok_and(|version: u32| version >= 5000)
}

/// If no variable is set, as in most containers, the terminal outside is a modern one.
fn is_utf8(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| {
        variable(name).map(|value| value.to_string_lossy().to_lowercase()).filter(|value| !value.is_empty())
    });
    locale.is_none_or(|locale| locale.contains("utf-8") || locale.contains("utf8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<'a>(set: &'a [(&str, &str)]) -> impl Fn(&str) -> Option<OsString> + 'a {
        |name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
    }

    #[test]
    fn colours_follow_the_variables() {
        assert!(has_colour(true, of(&[])) && !has_colour(false, of(&[])));
        assert!(!has_colour(true, of(&[("NO_COLOR", "1")])) && has_colour(true, of(&[("NO_COLOR", "")])));
        assert!(has_colour(false, of(&[("CLICOLOR_FORCE", "1")])));
        assert!(!has_colour(false, of(&[("CLICOLOR_FORCE", "0")])));
        assert!(!has_colour(false, of(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")])));
        assert!(!has_colour(true, of(&[("CLICOLOR", "0")])) && !has_colour(true, of(&[("TERM", "dumb")])));
    }

    #[test]
    fn links_are_for_terminals_that_are_known_to_have_them() {
        assert!(!has_links(true, of(&[("TERM", "xterm-256color")])));
        assert!(
            has_links(true, of(&[("TERM", "xterm-kitty")]))
                && has_links(true, of(&[("VTE_VERSION", "6003")]))
        );
        assert!(!has_links(true, of(&[("VTE_VERSION", "4800")])));
        assert!(!has_links(false, of(&[("TERM", "xterm-kitty")])));
        assert!(has_links(true, of(&[("TERM", "xterm"), ("FORCE_HYPERLINK", "1")])));
        assert!(has_links(false, of(&[("FORCE_HYPERLINK", "1")])));
        assert!(!has_links(true, of(&[("TERM", "xterm-kitty"), ("FORCE_HYPERLINK", "0")])));
    }

    #[test]
    fn a_locale_that_is_not_utf8_gets_ascii() {
        assert!(
            is_utf8(of(&[])) && is_utf8(of(&[("LANG", "C.UTF-8")])) && is_utf8(of(&[("LANG", "de_DE.utf8")]))
        );
        assert!(!is_utf8(of(&[("LANG", "C.UTF-8"), ("LC_ALL", "C")])));
        assert!(!is_utf8(of(&[("LANG", "de_DE.ISO-8859-1")])));
    }
}
