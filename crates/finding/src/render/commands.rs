//! The commands that reproduce a finding, ready to paste into a shell.

use crate::model::Finding;

use super::story;

/// What a command does, and its line. Empty if a name contains characters that must not reach a
/// terminal.
pub(super) fn of(finding: &Finding, command: &str, target: &[String]) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if let Some(file) = finding.schedule.as_deref().and_then(word) {
        lines.push(("Execute the schedule again", format!("raddle replay {file}")));
        lines.push(("Open gdb at the failure", format!("raddle replay --gdb {file}")));
        lines.push(("Write a trace for Perfetto", format!("raddle replay --trace steps.json {file}")));
        return lines;
    }
    let words: Option<Vec<String>> = target.iter().map(|w| word(w)).collect();
    let Some(words) = words.filter(|words| !words.is_empty()) else { return lines };
    let words = words.join(" ");
    match command {
        "check" => lines.push(("Check again", format!("raddle check {words}"))),
        "run" | "tsvd" | "explore" | "conseq" | "hunt" => {
            lines.push(("Look again", format!("raddle {command} -- {words}")));
        }
        _ => {}
    }
    lines
}

/// A word quoted for a shell; `None` if it has control characters or changes the reading direction.
fn word(word: &str) -> Option<String> {
    if word.is_empty() || word.chars().any(|c| c.is_control() || story::turns_text(c)) {
        return None;
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./=:,@%+-".contains(c);
    let quoted = format!("'{}'", word.replace('\'', "'\\''"));
    Some(if word.chars().all(plain) { word.to_owned() } else { quoted })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Kind;
    use crate::sample::finding;

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(word("./a-b_c.raddle").as_deref(), Some("./a-b_c.raddle"));
        assert_eq!(word("a b'$(rm)").as_deref(), Some("'a b'\\''$(rm)'"));
        assert_eq!(word("a\nrm x"), None);
        assert_eq!(word(""), None);
    }

    #[test]
    fn a_schedule_is_replayed_and_a_run_is_run_again() {
        let mut race = finding(Kind::DataRace, vec![]);
        let target = ["./bank".to_owned(), "a b".to_owned()];
        assert_eq!(of(&race, "run", &target), [("Look again", "raddle run -- ./bank 'a b'".to_owned())]);
        assert_eq!(of(&race, "replay", &target), []);
        race.schedule = Some("x y.raddle".into());
        assert_eq!(of(&race, "run", &target)[1].1, "raddle replay --gdb 'x y.raddle'");
        assert_eq!(of(&race, "run", &target).len(), 3);
    }
}
