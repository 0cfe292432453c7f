//! Recognises test code by the names of its files and folders.

use raddle_finding::Finding;

/// Whether a folder or file in the path is named after tests, as in `tests/a.c`, `App.Tests/A.cs`,
/// `ThingTests.cs` or `test_thing.c`.
fn is_test_path(path: &str) -> bool {
    path.split('/').any(|part| {
        let stem = part.strip_suffix(".cs").or_else(|| part.strip_suffix(".c")).unwrap_or(part);
        let is_word = |w: &str| matches!(w, "test" | "tests" | "unittest" | "unittests" | "spec" | "specs");
        words(stem).iter().any(|w| is_word(w))
    })
}

/// The words of a name: between dots, dashes and underscores, and where small letters end.
fn words(name: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        let begins = c.is_ascii_uppercase() && before.is_ascii_lowercase();
        if begins || !c.is_alphanumeric() {
            out.push(String::new());
        }
        if let Some(word) = out.last_mut().filter(|_| c.is_alphanumeric()) {
            word.push(c.to_ascii_lowercase());
        }
        before = c;
    }
    out
}

/// Whether all ends of a finding are in test code.
pub fn is_in_tests(finding: &Finding) -> bool {
    let mut ends = finding.accesses.iter().filter_map(|a| a.stack.first()?.file.as_deref()).peekable();
    ends.peek().is_some() && ends.all(is_test_path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tests() {
        for path in [
            "tests/a.c",
            "src/App.Tests/Thing.cs",
            "src/Polly.SharedSpecs/A.cs",
            "a/ThingTests.cs",
            "test_queue.c",
            "NLog.UnitTests/Helper.cs",
        ] {
            assert!(is_test_path(path), "{path}");
        }
        for path in ["src/contest.c", "Latest/a.cs", "src/Testimony.cs", "inspect/a.c", "attestation.c"] {
            assert!(!is_test_path(path), "{path}");
        }
    }
}
