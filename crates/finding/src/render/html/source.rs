//! The source on a page: the lines around every place of a picture, each file once.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::super::RenderOptions;
use super::highlight::{Highlighter, SourceLanguage, TokenClass};

/// How many lines before and after a place are shown.
const AROUND: u32 = 7;
/// A longer line is cut.
const LONGEST: usize = 400;
/// The most lines of source on one page.
const MOST_LINES: usize = 40_000;

/// The places that the script will ask for.
#[derive(Default)]
pub(super) struct Sources {
    files: Vec<String>,
    lines: Vec<BTreeSet<u32>>,
}

/// A file in the form that the script reads.
#[derive(Serialize)]
struct File {
    name: String,
    /// By line number; each token as its class followed by its text.
    lines: BTreeMap<u32, Vec<String>>,
}

impl Sources {
    /// Requests the lines around a place. Returns the number of the file.
    pub fn add(&mut self, file: &str, line: u32) -> usize {
        let at = self.files.iter().position(|known| known == file).unwrap_or_else(|| {
            self.files.push(file.to_owned());
            self.lines.push(BTreeSet::new());
            self.files.len() - 1
        });
        self.lines[at].extend(line.saturating_sub(AROUND).max(1)..=line.saturating_add(AROUND));
        at
    }

    /// All requested lines as JSON.
    pub fn json(&self, options: &RenderOptions<'_>) -> String {
        let mut left = MOST_LINES;
        let files: Vec<File> = self
            .files
            .iter()
            .zip(&self.lines)
            .map(|(name, lines)| {
                let mut highlighter = Highlighter::new(SourceLanguage::of(name));
                let mut told = BTreeMap::new();
                let mut before = 0;
                for &line in lines.iter().take(left) {
                    if line != before + 1 {
                        highlighter.skip();
                    }
                    before = line;
                    let Some(text) = options.source.line(name, line) else { continue };
                    told.insert(line, tokens(&mut highlighter, cut(text.trim_end())));
                }
                left -= told.len();
                File { name: options.relative(name).to_owned(), lines: told }
            })
            .collect();
        serde_json::to_string(&files).unwrap_or_default()
    }
}

fn tokens(highlighter: &mut Highlighter, line: &str) -> Vec<String> {
    let told = highlighter.line(line).into_iter();
    told.flat_map(|(class, text): (TokenClass, &str)| [class.letter().to_owned(), text.to_owned()]).collect()
}

/// At most [`LONGEST`] bytes of a line.
pub(super) fn cut(line: &str) -> &str {
    let mut end = line.len().min(LONGEST);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    &line[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_around_each_place_once() {
        let mut sources = Sources::default();
        assert_eq!(sources.add("/src/a.c", 3), 0);
        assert_eq!(sources.add("/src/a.c", 5), 0);
        assert_eq!(sources.add("b.c", 1), 1);
        let source = |file: &str, line: u32| (file.ends_with("a.c") && line < 9).then(|| "int x;".to_owned());
        let options = RenderOptions { source: &source, root: Some("/src"), ..RenderOptions::default() };
        let json: serde_json::Value = serde_json::from_str(&sources.json(&options)).unwrap();
        assert_eq!(json[0]["name"], "a.c");
        assert_eq!(json[0]["lines"].as_object().unwrap().len(), 8);
        assert_eq!(json[0]["lines"]["3"], serde_json::json!(["t", "int", "", " x;"]));
        assert_eq!(json[1]["lines"], serde_json::json!({}));
    }

    #[test]
    fn a_line_is_cut_between_characters() {
        assert_eq!(cut(&"ä".repeat(300)).chars().count(), 200);
        assert_eq!(cut("short"), "short");
    }
}
