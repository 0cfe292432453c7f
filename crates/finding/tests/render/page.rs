//! The page, as a browser would read it: its elements, what they refer to, and what no text of
//! others can do to it. No browser is needed; `crates/raddle/tests/page.rs` opens one.

use crate::sample;
use raddle_finding::{Format, RenderOptions, Report, render};

const HOSTILE: &str = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'`</style><!--";

fn page(report: &Report) -> String {
    let source = |_: &str, line: u32| Some(format!("line {line}; // {HOSTILE}"));
    render(report, Format::Html, &RenderOptions { source: &source, ..RenderOptions::default() })
}

/// Every element, as its name and its attributes, closing ones with a slash.
fn tags(page: &str) -> Vec<(String, String)> {
    let mut tags = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let end = rest.find('>').unwrap();
        let (name, attributes) = rest[..end].split_once(' ').unwrap_or((&rest[..end], ""));
        tags.push((name.to_owned(), attributes.to_owned()));
        // What is inside is no markup.
        if let Some(close) = ["script", "style"].iter().find(|raw| **raw == name) {
            rest = &rest[rest.find(&format!("</{close}>")).unwrap()..];
        } else {
            rest = &rest[end + 1..];
        }
    }
    tags
}

fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let start = attributes.find(&format!("{name}=\""))? + name.len() + 2;
    attributes[start..].split('"').next()
}

/// Puts a text wherever a report has one.
fn poisoned(report: &Report, text: &str) -> Report {
    fn poison(value: &mut serde_json::Value, text: &str) {
        match value {
            serde_json::Value::String(string) => string.push_str(text),
            serde_json::Value::Array(values) => values.iter_mut().for_each(|value| poison(value, text)),
            serde_json::Value::Object(object) => {
                let fixed = ["kind", "confidence", "op", "verdict", "schema"];
                object
                    .iter_mut()
                    .filter(|(k, _)| !fixed.contains(&k.as_str()))
                    .for_each(|(_, v)| poison(v, text));
            }
            _ => {}
        }
    }
    let mut value = serde_json::to_value(report).unwrap();
    poison(&mut value, text);
    serde_json::from_value(value).unwrap()
}

#[test]
fn elements_are_nested_and_refer_to_what_there_is() {
    for report in [sample::rich(), sample::explored(), Report::new("run", vec![])] {
        let page = page(&report);
        let mut open: Vec<String> = Vec::new();
        let void = ["!DOCTYPE", "meta", "input"];
        let tags = tags(&page);
        for (name, _) in tags.iter().filter(|(name, _)| !void.contains(&name.as_str())) {
            match name.strip_prefix('/') {
                Some(name) => assert_eq!(open.pop().as_deref(), Some(name), "in {open:?}"),
                None => open.push(name.clone()),
            }
        }
        assert!(open.is_empty(), "{open:?}");
        let ids: Vec<&str> =
            tags.iter().filter_map(|(_, a)| attribute(a, " id").or(attribute(a, "id"))).collect();
        let mut unique = ids.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), ids.len());
        for (_, attributes) in &tags {
            let links = attribute(attributes, "href").and_then(|href| href.strip_prefix('#'));
            for target in links.into_iter().chain(attribute(attributes, "aria-labelledby")) {
                assert!(ids.contains(&target), "{target}");
            }
        }
    }
}

#[test]
fn nothing_of_others_becomes_markup() {
    for report in [sample::rich(), sample::explored()] {
        let clean: Vec<_> = tags(&page(&report)).into_iter().map(|(name, _)| name).collect();
        let page = page(&poisoned(&report, HOSTILE));
        let poisoned: Vec<_> = tags(&page).into_iter().map(|(name, _)| name).collect();
        for name in ["script", "style", "img"] {
            let count = |names: &[String]| names.iter().filter(|n| *n == name).count();
            assert_eq!(count(&poisoned), count(&clean), "{name}");
        }
        assert!(poisoned.iter().all(|name| clean.contains(name) || name.contains("code")), "{poisoned:?}");
        for (name, attributes) in tags(&page) {
            let names: String = attributes.split('"').step_by(2).collect();
            assert!(!names.split_whitespace().any(|a| a.starts_with("on")), "{name} {attributes}");
        }
        assert!(!page.contains("<!--") && !page.contains("<img"));
        // The source that the script reads is one JSON document, hostile lines and all.
        let data = page.split("id=\"sources\">").nth(1).unwrap().split("</script>").next().unwrap();
        let files: serde_json::Value = serde_json::from_str(data).unwrap();
        assert!(files.to_string().contains("<script>alert(1)"), "it is there, as text");
    }
}

#[test]
fn the_page_allows_itself_nothing_from_outside() {
    let page = page(&sample::explored());
    let policy =
        page.split("Content-Security-Policy\" content=\"").nth(1).unwrap().split('"').next().unwrap();
    assert!(policy.starts_with("default-src &#39;none&#39;; script-src &#39;sha256-"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    for (name, attributes) in tags(&page) {
        assert!(!["link", "img", "iframe", "object", "base"].contains(&name.as_str()), "{name}");
        assert!(attribute(&attributes, "src").is_none() && attribute(&attributes, "style").is_none());
        if let Some(href) = attribute(&attributes, "href") {
            assert!(href.starts_with('#') || href.starts_with("vscode://file/"), "{href}");
        }
    }
}

#[test]
fn a_picture_has_a_lane_a_thread_bars_for_locks_and_values() {
    let page = page(&sample::explored());
    let table = page.split("<table>").nth(1).unwrap().split("</table>").next().unwrap();
    assert_eq!(table.matches("scope=\"col\" class=\"lane").count(), 3);
    let rows: Vec<&str> = table.split("<tr class=\"step").skip(1).collect();
    assert_eq!(rows.len(), 6);
    // Numbers go on behind the steps that are left out; the lock is held over three rows.
    assert!(rows[0].contains("scope=\"row\" class=\"n\">6</th>"), "{}", rows[0]);
    let bars: Vec<&str> = ["l0 first", "\"l0\"", "l0 last"].into();
    for (row, bar) in rows[1..4].iter().zip(bars) {
        assert!(row.contains(bar) && row.contains("title=\"L1 `mu`\""), "{row}");
    }
    assert!(!rows[4].contains("l0"), "{}", rows[4]);
    assert!(rows[2].contains("<span class=\"value\">10 → 30</span>"), "{}", rows[2]);
    assert!(rows[1].starts_with(" lock minor preempts\""), "{}", rows[1]);
    assert!(rows[2].contains("<span class=\"sr\">holding L1 `mu`</span>"), "{}", rows[2]);
    assert!(page.contains("5 steps are left out."));
    assert_eq!(table.matches("<tr class=\"gap\">").count(), 2);
}

#[test]
fn a_page_of_many_findings_stays_within_bounds() {
    let mut report = sample::explored();
    let finding = report.findings[0].clone();
    report.findings = (0..500)
        .map(|i| {
            let mut finding = finding.clone();
            finding.id = format!("assertion-{i}");
            let timeline = finding.timeline.as_mut().unwrap();
            let minor = timeline.steps[1].clone();
            timeline.steps.splice(1..1, std::iter::repeat_n(minor, 300));
            finding
        })
        .collect();
    let page = page(&report);
    assert!(page.len() < 40 << 20, "{}", page.len());
    assert_eq!(page.matches("<article ").count(), 501);
    assert!(page.contains("307 steps are left out."), "later pictures have only what matters");
}

#[test]
fn filters_offer_what_there_is_to_choose() {
    let page = page(&sample::explored());
    for option in ["confirmed", "refuted", "assertion", "lock-order", "bank.deposits", "regression"] {
        assert!(page.contains(&format!("<option value=\"{option}\">{option}</option>")), "{option}");
    }
    assert!(page.contains("data-verdict=\"refuted\" data-kind=\"lock-order\""));
    assert!(page.contains("raddle replay --gdb bank-assertion-1.raddle"));
}
