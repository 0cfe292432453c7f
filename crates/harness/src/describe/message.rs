//! What a failing program says about its failure: the text and place printed by a panic, a test
//! framework's check, or an uncaught C++ exception.

use crate::watch::Watched;

/// A failure in the program's own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub text: String,
    /// File and line, if it names them.
    pub place: Option<(String, u32)>,
}

/// Finds the failure in what a program printed: on standard error, or on standard output, where a
/// test harness shows what it has captured. `skip`: how many panics are usual. Later panics may
/// follow from the one found, such as that of a thread which unwraps what `join` returned.
pub fn of(watched: &Watched, skip: u32) -> Option<Said> {
    let both = [watched.output(1), watched.output(0)];
    find(&both.map(|text| String::from_utf8_lossy(&text).into_owned()).join("\n"), skip)
}

/// A longer message is cut.
const LONGEST: usize = 400;

fn find(printed: &str, skip: u32) -> Option<Said> {
    panic(printed, skip as usize).or_else(|| check(printed)).or_else(|| exception(printed))
}

/// `thread 'main' panicked at src/lib.rs:9:5:`, and the message on the next lines.
fn panic(printed: &str, skip: usize) -> Option<Said> {
    const MARK: &str = " panicked at ";
    let is_head = |l: &str| l.starts_with("thread '") && l.contains(MARK);
    let lines: Vec<&str> = printed.lines().collect();
    let heads = || lines.iter().enumerate().filter(|(_, l)| is_head(l)).map(|(i, _)| i);
    let at = heads().nth(skip).or_else(|| heads().next_back())?;
    let (_, place) = lines[at].split_once(MARK)?;
    let ends =
        |l: &str| l.is_empty() || l.starts_with("note: ") || l.starts_with("stack backtrace:") || is_head(l);
    let message = lines[at + 1..].iter().copied().take_while(|l| !ends(l));
    let text = joined(message);
    let text = if text.is_empty() { "a thread panics".into() } else { format!("a thread panics: {text}") };
    Some(Said { text, place: file_and_line(place.trim_end_matches(':')) })
}

/// GoogleTest: `queue.cc:12: Failure`; Catch2: `queue.cc:12: FAILED:`. The next lines say what was
/// expected.
fn check(printed: &str) -> Option<Said> {
    let head = |l: &str| l.strip_suffix(": Failure").or(l.strip_suffix(": FAILED:")).and_then(file_and_line);
    let lines: Vec<&str> = printed.lines().collect();
    let (at, place) = lines.iter().enumerate().find_map(|(i, l)| Some((i, head(l)?)))?;
    let ends = |l: &str| l.trim().is_empty() || l.starts_with("[  FAILED") || l.starts_with("=====");
    let message = joined(lines[at + 1..].iter().copied().take_while(|l| !ends(l)));
    Some(Said { text: format!("a check fails: {message}"), place: Some(place) })
}

/// `terminate called after throwing an instance of 'std::runtime_error'`, and `  what():  …`.
fn exception(printed: &str) -> Option<Said> {
    let mut lines = printed.lines().skip_while(|l| !l.starts_with("terminate called "));
    let (head, next) = (lines.next()?, lines.next().unwrap_or_default());
    let name =
        head.strip_prefix("terminate called after throwing an instance of ").map(|n| n.trim_matches('\''));
    let what = next.trim_start().strip_prefix("what():").map(|w| format!(": {}", cut(w.trim())));
    let text = match name {
        Some(name) => format!("an exception `{name}` is not caught{}", what.unwrap_or_default()),
        None => head.to_owned(),
    };
    Some(Said { text, place: None })
}

/// `file.cc:12` or `file.rs:12:5`.
fn file_and_line(text: &str) -> Option<(String, u32)> {
    let mut parts: Vec<&str> = text.split(':').collect();
    let number = |p: &&str| p.parse::<u32>().ok();
    let last = number(parts.last()?)?;
    parts.pop();
    // The last number may have been the column.
    let line = match parts.last().and_then(number).filter(|_| parts.len() > 1) {
        Some(line) => {
            parts.pop();
            line
        }
        None => last,
    };
    let file = parts.join(":");
    (!file.trim().is_empty()).then_some((file, line))
}

fn joined<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let lines: Vec<&str> = lines.map(str::trim).collect();
    cut(&lines.join("; ").replace(":; ", ": "))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(file: &str, line: u32) -> Option<(String, u32)> {
        Some((file.into(), line))
    }

    #[test]
    fn a_panic_has_its_message_and_its_place() {
        let printed = "---- tests::near stdout ----\n\nthread 'main' (17) panicked at src/lib.rs:9:5:\nassertion `left == right` failed\n  \
                       left: 1\n right: 2\nnote: run with `RUST_BACKTRACE=1`\n";
        let said = find(printed, 0).unwrap();
        assert_eq!(said.text, "a thread panics: assertion `left == right` failed; left: 1; right: 2");
        assert_eq!(said.place, place("src/lib.rs", 9));
    }

    #[test]
    fn panics_that_are_usual_are_skipped() {
        let printed =
            "thread 'a' panicked at a.rs:1:1:\nmeant\n\nthread 'b' panicked at a.rs:2:1:\nnot meant\n";
        assert_eq!(find(printed, 0).unwrap().text, "a thread panics: meant");
        assert_eq!(find(printed, 1).unwrap().place, place("a.rs", 2));
        assert_eq!(find(printed, 5).unwrap().place, place("a.rs", 2));
    }

    #[test]
    fn checks_of_test_frameworks_have_theirs() {
        let google = "[ RUN      ] Q.Pops\nq.cc:12: Failure\nExpected equality of these values:\n  n\n    Which is: 1\n  2\n\n[  FAILED  ] Q.Pops\n";
        let said = find(google, 0).unwrap();
        assert_eq!(said.text, "a check fails: Expected equality of these values: n; Which is: 1; 2");
        assert_eq!(said.place, place("q.cc", 12));
        let catch = "q.cc:7: FAILED:\n  REQUIRE( n == 2 )\nwith expansion:\n  1 == 2\n\n====\n";
        let said = find(catch, 0).unwrap();
        assert_eq!(said.text, "a check fails: REQUIRE( n == 2 ); with expansion: 1 == 2");
        assert_eq!(said.place, place("q.cc", 7));
    }

    #[test]
    fn an_exception_has_its_type_and_what_it_says() {
        let printed =
            "terminate called after throwing an instance of 'std::runtime_error'\n  what():  no more\n";
        assert_eq!(
            find(printed, 0).unwrap().text,
            "an exception `std::runtime_error` is not caught: no more"
        );
        let none = "terminate called without an active exception\n";
        assert_eq!(find(none, 0).unwrap().text, "terminate called without an active exception");
        assert_eq!(find("all is well\n", 0), None);
    }

    #[test]
    fn what_is_no_place_is_none() {
        assert_eq!(file_and_line("a.c:3"), place("a.c", 3));
        assert_eq!(file_and_line("C:/a.rs:3:4"), place("C:/a.rs", 3));
        assert_eq!(file_and_line("a.c"), None);
        assert_eq!(file_and_line(":3"), None);
    }
}
