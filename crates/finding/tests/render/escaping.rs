//! Every format with the worst names a target can have: what a C++ template, a Rust closure, a file
//! name on Linux (any bytes; what is not UTF-8 arrives as U+FFFD) or somebody with bad intentions
//! puts there.

use raddle_finding::{
    Access, AccessOp, Confidence, Finding, Format, Frame, Interleaving, Kind, Location, Lock, LockSpan,
    RenderOptions, Report, Row, Stat, Taken, ThreadInfo, Timeline, TimelineStep, Triage, identity, render,
};

const NASTY: &str =
    "a\"b'c<d>&e\nf\r\u{1b}[31mg\u{0}h%i,j:k]]>l\\m\u{202e}n\u{fffd}o\u{ffff}p[q](r) {{s}} `t`\u{7f}";

fn nasty() -> Report {
    let frame = || Frame {
        function: Some(NASTY.into()),
        file: Some(NASTY.into()),
        line: Some(0),
        column: Some(0),
        module: Some(NASTY.into()),
        offset: Some(1),
        function_line: Some(9),
    };
    let access = |op| Access {
        op,
        size: 1,
        thread: NASTY.into(),
        locks: vec![NASTY.into()],
        lock: Some(NASTY.into()),
        stack: vec![frame(), Frame::default()],
    };
    let finding = |kind, op| Finding {
        accesses: vec![access(op), access(op)],
        location: Some(Location::Global {
            name: NASTY.into(),
            offset: 1,
            size: 2,
            module: NASTY.into(),
            file: Some(NASTY.into()),
            line: Some(1),
        }),
        threads: vec![ThreadInfo {
            label: NASTY.into(),
            name: Some(NASTY.into()),
            created_by: Some(NASTY.into()),
            stack: vec![frame()],
            running: false,
        }],
        locks: vec![Lock {
            label: "a\"b'c<d>&e\nf\r\u{1b}[31mg\u{0}h%i,j:k]]>l\\m\u{202e}n\u{fffd}o\u{ffff}p[q](r)".into(),
            what: NASTY.into(),
            name: Some(NASTY.into()),
            taken: vec![Taken { thread: NASTY.into(), stack: vec![frame()] }],
        }],
        schedule: Some(NASTY.into()),
        interleaving: Some(Interleaving {
            deeds: vec![NASTY.into()],
            threads: vec![NASTY.into()],
            rows: vec![Row { text: NASTY.into(), frame: Some(frame()), preempts: true, ..Row::default() }],
        }),
        timeline: Some(Timeline {
            threads: vec![NASTY.into()],
            frames: vec![frame()],
            steps: (0..2)
                .map(|_| TimelineStep {
                    text: NASTY.into(),
                    frame: Some(0),
                    value: Some(NASTY.into()),
                    ..TimelineStep::default()
                })
                .collect(),
            held: vec![LockSpan { lock: NASTY.into(), name: Some(NASTY.into()), ..LockSpan::default() }],
            ..Timeline::default()
        }),
        test: Some(NASTY.into()),
        triage: Some(Triage { decision: NASTY.into(), reason: NASTY.into() }),
        notes: vec![NASTY.into()],
        ..Finding::new(kind, Confidence::Confirmed, NASTY)
    };
    let mut report = Report::new(NASTY, vec![NASTY.into()]);
    report.stats.insert(NASTY.into(), Stat::Text(NASTY.into()));
    report.findings =
        vec![finding(Kind::DataRace, AccessOp::Write), finding(Kind::LockOrder, AccessOp::Lock)];
    identity::assign(&mut report.findings);
    report
}

fn rendered(format: Format) -> String {
    let source = |_: &str, _: u32| Some(NASTY.to_owned());
    render(&nasty(), format, &RenderOptions { source: &source, ..RenderOptions::default() })
}

/// Control characters other than the line breaks that a format makes itself.
fn controls(text: &str) -> Vec<char> {
    text.chars().filter(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}').collect()
}

#[test]
fn text_shows_and_obeys_nothing() {
    let text = rendered(Format::Text);
    assert!(controls(&text).is_empty(), "{text:?}");
    assert!(text.contains("\\u{1b}[31m"), "{text}");
    assert!(text.lines().all(|line| line == line.trim_end()));
}

#[test]
fn json_reads_back() {
    assert_eq!(serde_json::from_str::<Report>(&rendered(Format::Json)).unwrap(), nasty());
}

#[test]
fn sarif_is_json_with_uris_and_without_links() {
    let text = rendered(Format::Sarif);
    let log: serde_json::Value = serde_json::from_str(&text).unwrap();
    let result = &log["runs"][0]["results"][0];
    assert!(result["message"]["text"].as_str().unwrap().contains("p\\[q\\](r)"));
    let physical = &result["locations"][0]["physicalLocation"];
    let uri = physical["artifactLocation"]["uri"].as_str().unwrap();
    assert!(uri.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}[]".contains(&byte)), "{uri}");
    // Lines and columns start at 1; a 0 says nothing.
    assert!(physical.get("region").is_none());
}

#[test]
fn junit_is_xml() {
    let xml = rendered(Format::Junit);
    assert!(controls(&xml).is_empty() && !xml.contains('\u{ffff}'), "{xml:?}");
    assert_eq!(quick_junit::Report::deserialize_from_str(&xml).unwrap().failures, 2);
}

#[test]
fn github_has_one_line_a_finding() {
    let text = rendered(Format::Github);
    assert!(controls(&text).is_empty(), "{text:?}");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[..2].iter().all(|line| line.starts_with("::error file=a\"b'c<d>&e%0Af%0D")));
}

#[test]
fn html_has_only_its_own_tags() {
    let html = rendered(Format::Html);
    let hostile: Vec<_> = controls(&html).into_iter().filter(|c| *c != '\t').collect();
    assert!(hostile.is_empty(), "{html:?}");
    assert!(!html.contains("<d>"));
}

/// A line of Markdown without its code: what stands between two equally long runs of backticks.
fn without_code(line: &str) -> String {
    let (mut out, mut rest) = (String::new(), line);
    while let Some(at) = rest.find('`').filter(|at| !rest[..*at].ends_with('\\')) {
        let fence = "`".repeat(rest[at..].len() - rest[at..].trim_start_matches('`').len());
        let inside = &rest[at + fence.len()..];
        let is_fence =
            |end: &usize| !inside[..*end].ends_with('`') && !inside[*end + fence.len()..].starts_with('`');
        let ends: Vec<usize> = inside.match_indices(&fence).map(|(end, _)| end).collect();
        let end = ends.into_iter().find(is_fence).expect("code is closed");
        out.push_str(&rest[..at]);
        rest = &inside[end + fence.len()..];
    }
    out + rest
}

#[test]
fn markdown_has_no_markup_of_others() {
    let text = rendered(Format::Markdown);
    assert!(controls(&text).is_empty(), "{text:?}");
    // In code it is code; nowhere else does it stand as it is.
    for line in text.lines() {
        let outside = without_code(line);
        let summary = line.starts_with("<details>");
        let looked_at = if summary { line } else { outside.as_str() };
        assert!(!looked_at.contains("<d>"), "{line}");
        // Markdown looks for no links in an element.
        assert!(summary || !outside.contains("p[q](r)"), "{line}");
    }
    // Each finding is a row: nothing breaks the table.
    assert_eq!(text.lines().filter(|line| line.starts_with("| confirmed")).count(), 2, "{text}");
}

#[test]
fn a_trace_is_json() {
    let trace: serde_json::Value = serde_json::from_str(&rendered(Format::Perfetto)).unwrap();
    assert!(trace["traceEvents"].as_array().unwrap().iter().all(|event| event["ph"].is_string()));
}
