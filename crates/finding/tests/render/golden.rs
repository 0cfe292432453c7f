//! Each format of one rich report, as it should look. `RADDLE_BLESS=1 cargo test -p raddle-finding`
//! rewrites the files; read the difference before it is committed.

use std::path::Path;

use crate::sample;
use raddle_finding::{Format, RenderOptions, Report, render};

fn options() -> RenderOptions<'static> {
    RenderOptions {
        source: &sample::source,
        root: Some("/home/me/bank"),
        width: 90,
        ..RenderOptions::default()
    }
}

#[track_caller]
fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("RADDLE_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(expected, text, "{name} differs; RADDLE_BLESS=1 accepts what is new");
}

#[test]
fn text() {
    golden("rich.txt", &render(&sample::rich(), Format::Text, &options()));
}

#[test]
fn text_narrow_and_without_source() {
    golden(
        "narrow.txt",
        &render(&sample::rich(), Format::Text, &RenderOptions { width: 50, ..RenderOptions::default() }),
    );
}

#[test]
fn json() {
    golden("rich.json", &render(&sample::rich(), Format::Json, &options()));
}

#[test]
fn sarif() {
    golden("rich.sarif", &render(&sample::rich(), Format::Sarif, &options()));
    golden("explored.sarif", &render(&sample::explored(), Format::Sarif, &options()));
}

#[test]
fn junit() {
    golden("rich.junit.xml", &render(&sample::rich(), Format::Junit, &options()));
}

#[test]
fn github() {
    golden("rich.github.txt", &render(&sample::rich(), Format::Github, &options()));
}

#[test]
fn html() {
    golden("rich.html", &without_style(&render(&sample::rich(), Format::Html, &options())));
    golden("explored.html", &without_style(&render(&sample::explored(), Format::Html, &options())));
}

/// A page without what is the same on every page: the style, the script, and their hashes.
fn without_style(page: &str) -> String {
    let mut page = page.to_owned();
    for (begin, end) in
        [("script-src", ";"), ("style-src", ";"), ("<style>", "</style>"), ("<script>", "</script>")]
    {
        let from = page.find(begin).unwrap() + begin.len();
        let to = from + page[from..].find(end).unwrap();
        page.replace_range(from..to, "…");
    }
    page
}

#[test]
fn markdown() {
    golden("rich.md", &render(&sample::rich(), Format::Markdown, &options()));
    golden("explored.md", &render(&sample::explored(), Format::Markdown, &options()));
}

#[test]
fn perfetto() {
    golden("explored.perfetto.json", &render(&sample::explored(), Format::Perfetto, &options()));
}

#[test]
fn nothing_found() {
    let report = Report::new("run", vec!["./bank".into()]);
    assert_eq!(render(&report, Format::Text, &options()), "no findings\n");
    assert_eq!(render(&report, Format::Github, &options()), "raddle: no findings\n");
}

#[test]
fn text_has_no_trailing_spaces_and_colours_are_all_that_colour_adds() {
    let plain = render(&sample::rich(), Format::Text, &options());
    assert!(plain.lines().all(|line| line == line.trim_end()));
    assert!(!plain.contains('\u{1b}'));
    let colored = render(&sample::rich(), Format::Text, &RenderOptions { color: true, ..options() });
    let mut stripped = String::new();
    for (at, part) in colored.split('\u{1b}').enumerate() {
        stripped.push_str(if at == 0 { part } else { part.split_once('m').unwrap().1 });
    }
    assert_eq!(stripped, plain);
    assert!(colored.contains("\u{1b}[1;31mconfirmed data race\u{1b}[0m"));
}

#[test]
fn the_json_document_reads_back_as_the_report() {
    for report in [sample::rich(), sample::explored()] {
        let text = render(&report, Format::Json, &options());
        assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
    }
}

/// The document of DESIGN.md, with no more fields than are named there: what older tools and people
/// write by hand.
#[test]
fn the_smallest_document_is_read() {
    let text = r#"{ "schema": "raddle.findings/1", "command": "explore", "target": ["./bank"], "stats": { "schedules": 3 },
      "findings": [ { "id": "data-race-5f3a", "kind": "data-race", "confidence": "confirmed", "message": "m", "schedule": null,
      "accesses": [ { "op": "write", "size": 4, "thread": "T2 (worker)", "locks": ["L1"],
      "stack": [ { "function": "f", "file": "src/a.c", "line": 12, "column": 5, "module": "a.out" } ] } ] } ] }"#;
    let report: Report = serde_json::from_str(text).unwrap();
    for format in Format::ALL {
        assert!(render(&report, format, &options()).contains("data-race-5f3a"), "{format}");
    }
}
