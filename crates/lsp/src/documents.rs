//! The client's open buffers. Their content may differ from the files on disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lsp_types::{TextDocumentContentChangeEvent, TextDocumentItem, Url};
use raddle_store::home::real;

use crate::text::offset;

/// A buffer's text for the checker.
#[derive(Debug, Clone)]
pub enum BufferText {
    Here(Arc<[u8]>),
    /// Only the size, because nobody will read the text.
    TooLarge(usize),
}

#[derive(Debug)]
pub struct Document {
    /// The client's spelling. Answers use the same one.
    pub uri: Url,
    pub version: i32,
    pub language: String,
    text: String,
    /// The text as the checker takes it, created on demand.
    shared: Option<Arc<[u8]>>,
}

impl Document {
    fn new(item: TextDocumentItem) -> Document {
        Document {
            uri: item.uri,
            version: item.version,
            language: item.language_id,
            text: item.text,
            shared: None,
        }
    }

    pub fn shared(&mut self) -> Arc<[u8]> {
        self.shared.get_or_insert_with(|| self.text.as_bytes().into()).clone()
    }

    fn apply(&mut self, change: TextDocumentContentChangeEvent) {
        self.shared = None;
        match change.range {
            None => self.text = change.text,
            Some(range) => {
                let start = offset(&self.text, range.start);
                let end = offset(&self.text, range.end).max(start);
                self.text.replace_range(start..end, &change.text);
            }
        }
    }
}

/// All open buffers, by the path that the checker uses for them.
#[derive(Debug, Default)]
pub struct Documents {
    open: BTreeMap<PathBuf, Document>,
}

impl Documents {
    pub fn open(&mut self, item: TextDocumentItem) -> PathBuf {
        let path = path_of(&item.uri);
        self.open.insert(path.clone(), Document::new(item));
        path
    }

    /// Applies changes in order. Returns None for a buffer that is not open.
    pub fn change(
        &mut self,
        uri: &Url,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
    ) -> Option<PathBuf> {
        let path = path_of(uri);
        let document = self.open.get_mut(&path)?;
        changes.into_iter().for_each(|change| document.apply(change));
        document.version = version;
        Some(path)
    }

    pub fn close(&mut self, uri: &Url) -> Option<PathBuf> {
        let path = path_of(uri);
        self.open.remove(&path).map(|_| path)
    }

    pub fn get(&self, path: &Path) -> Option<&Document> {
        self.open.get(path)
    }

    pub fn get_mut(&mut self, path: &Path) -> Option<&mut Document> {
        self.open.get_mut(path)
    }

    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.open.keys()
    }

    /// The URI of a file. If the file is open, this is the client's own spelling.
    pub fn uri(&self, path: &Path) -> Option<Url> {
        match self.open.get(path) {
            Some(document) => Some(document.uri.clone()),
            None => Url::from_file_path(path).ok(),
        }
    }

    /// The current texts of all buffers.
    pub fn snapshot(&mut self, largest: usize) -> Arc<BTreeMap<PathBuf, BufferText>> {
        let text = |document: &mut Document| match document.text.len() {
            size if size > largest => BufferText::TooLarge(size),
            _ => BufferText::Here(document.shared()),
        };
        Arc::new(self.open.iter_mut().map(|(path, document)| (path.clone(), text(document))).collect())
    }
}

/// The path of a buffer. For a buffer without a file (`untitled:1`) this is its URI.
pub fn path_of(uri: &Url) -> PathBuf {
    match uri.to_file_path() {
        Ok(path) => real(&path),
        Err(()) => PathBuf::from(uri.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lsp_types::{Position, Range};

    fn edit(range: Option<[u32; 4]>, text: &str) -> TextDocumentContentChangeEvent {
        let range = range.map(|[a, b, c, d]| Range::new(Position::new(a, b), Position::new(c, d)));
        TextDocumentContentChangeEvent { range, range_length: None, text: text.into() }
    }

    fn open(uri: &str, text: &str) -> (Documents, Url) {
        let uri = Url::parse(uri).unwrap();
        let mut documents = Documents::default();
        documents.open(TextDocumentItem::new(uri.clone(), "c".into(), 1, text.into()));
        (documents, uri)
    }

    fn after(text: &str, changes: Vec<TextDocumentContentChangeEvent>) -> String {
        let (mut documents, uri) = open("file:///a.c", text);
        let path = documents.change(&uri, 2, changes).unwrap();
        documents.get(&path).unwrap().text.clone()
    }

    #[test]
    fn changes_apply_one_after_the_other() {
        let changes = vec![
            edit(Some([0, 4, 0, 5]), "xyz"),
            edit(Some([1, 0, 1, 0]), "// 😀\n"),
            edit(Some([1, 5, 1, 5]), "!"),
        ];
        assert_eq!(after("int n;\nint m;\n", changes), "int xyz;\n// 😀!\nint m;\n");
        assert_eq!(after("a", vec![edit(None, "b"), edit(Some([0, 1, 0, 1]), "c")]), "bc");
    }

    #[test]
    fn nonsense_ranges_are_clamped() {
        assert_eq!(after("ab\n", vec![edit(Some([7, 7, 9, 9]), "c")]), "ab\nc");
        assert_eq!(after("abc", vec![edit(Some([0, 2, 0, 1]), "x")]), "abxc", "the end is before the start");
        assert_eq!(after("ü", vec![edit(Some([0, 0, 0, 1]), "")]), "");
    }

    /// The same edit on UTF-16 units, as the protocol describes it.
    fn edited_by_units(text: &str, [a, b, c, d]: [u32; 4], new: &str) -> String {
        let units: Vec<u16> = text.encode_utf16().collect();
        let at = |line: u32, character: u32| {
            let mut start = 0;
            for _ in 0..line {
                match units[start..].iter().position(|unit| *unit == u16::from(b'\n')) {
                    Some(end) => start += end + 1,
                    None => return units.len(),
                }
            }
            let rest = &units[start..];
            let line = rest.iter().position(|unit| *unit == u16::from(b'\n')).unwrap_or(rest.len());
            let end = line - usize::from(line > 0 && rest[line - 1] == u16::from(b'\r'));
            let character = character as usize;
            let mut at = start + if character > line { end } else { character };
            // Do not split a surrogate pair.
            if at < units.len() && (0xdc00..0xe000).contains(&units[at]) {
                at -= 1;
            }
            at
        };
        let (start, end) = (at(a, b), at(c, d));
        let end = end.max(start);
        let new: Vec<u16> =
            [&units[..start], &new.encode_utf16().collect::<Vec<_>>(), &units[end..]].concat();
        String::from_utf16(&new).unwrap()
    }

    #[test]
    fn random_edits_agree_with_the_protocols_own_units() {
        let pieces = ["a", "ü", "😀", "\n", "\r\n", "// x", "", "\t", "日本"];
        let mut state = 1u64;
        let mut random = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let (mut documents, uri) = open("file:///a.c", "");
        let mut wanted = String::new();
        for version in 2..3000 {
            let range = [random(6), random(9), random(6), random(9)].map(|n| n as u32);
            let new: String = (0..random(4)).map(|_| pieces[random(pieces.len() as u64) as usize]).collect();
            wanted = edited_by_units(&wanted, range, &new);
            let path = documents.change(&uri, version, vec![edit(Some(range), &new)]).unwrap();
            assert_eq!(documents.get(&path).unwrap().text, wanted, "after {range:?} {new:?}");
        }
    }

    #[test]
    fn a_buffer_that_is_not_open_is_not_changed() {
        let (mut documents, uri) = open("file:///a.c", "");
        let other = Url::parse("file:///b.c").unwrap();
        assert_eq!(documents.change(&other, 2, vec![edit(None, "x")]), None);
        assert_eq!(documents.close(&other), None);
        assert!(documents.close(&uri).is_some());
        assert_eq!(documents.close(&uri), None);
    }

    #[test]
    fn the_clients_spelling_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        std::fs::write(folder.join("a b.c"), "").unwrap();
        std::os::unix::fs::symlink(&folder, folder.join("link")).unwrap();
        let spelled = format!("file://{}/link/a%20b.c", folder.display());
        let (documents, uri) = open(&spelled, "");
        assert_eq!(path_of(&uri), folder.join("a b.c"));
        assert_eq!(documents.uri(&folder.join("a b.c")).unwrap().as_str(), spelled);
        let (documents, uri) = open("untitled:Untitled-1", "");
        assert_eq!(documents.uri(&path_of(&uri)).unwrap(), uri);
    }

    #[test]
    fn a_snapshot_has_no_text_of_what_is_too_large() {
        let (mut documents, uri) = open("file:///a.c", "12345678");
        let text = |documents: &mut Documents, largest| documents.snapshot(largest)[&path_of(&uri)].clone();
        assert!(matches!(text(&mut documents, 7), BufferText::TooLarge(8)));
        assert!(matches!(text(&mut documents, 8), BufferText::Here(text) if &*text == b"12345678"));
    }
}
