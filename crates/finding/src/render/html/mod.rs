//! A self-contained page: no network, no fonts, no images.
//!
//! # Design
//!
//! Rust writes the whole page: list, pictures, stacks, graphs. The page can be read, printed and
//! searched without a script, and its tests need no browser. The script (`page.js`) adds what
//! moves: it shows one finding at a time, searches and filters the list, steps through a picture,
//! and lets the source of every thread follow. It makes elements by name and sets their text; it
//! never parses HTML.
//!
//! | file | |
//! |---|---|
//! | `writer` | the only way to write: escapes everything but raddle's own text |
//! | `article` | one finding |
//! | `lanes` | its interleaving as a table with a lane for each thread |
//! | `graph` | who waits for whom, as SVG |
//! | `stacks`, `names` | stacks, folded to the user's code; short names |
//! | `link` | places that open the editor |
//! | `source`, `highlight` | the source on the page, in colour |
//! | `page.css`, `page.js` | look and behaviour; the policy allows only these two, by hash |
//!
//! # Safety
//!
//! Names, messages and source come from strangers, and the page may be published. [`writer`] leaves
//! no way to write them unescaped. If one were found, the page's policy would still run no script
//! but `page.js` and load nothing from outside.
//!
//! # Size
//!
//! Steps that do not matter are written as long as there is [`ROOM`] for them. Each source file is
//! included once, and only the lines around places.

mod article;
mod graph;
mod highlight;
mod lanes;
mod link;
mod names;
mod source;
mod stacks;
mod writer;

use std::collections::{BTreeSet, HashSet};

use sha2::{Digest, Sha256};

use crate::model::{Finding, Report};
use crate::place::place;

use self::article::Articles;
use self::lanes::Room;
use self::source::Sources;
use self::writer::Writer;
use super::{RenderOptions, story};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The most steps on one page that do not matter.
const ROOM: usize = 20_000;

pub(super) fn render(report: &Report, options: &RenderOptions<'_>) -> String {
    let mut writer = Writer::default();
    let findings: Vec<&Finding> = report.findings.iter().chain(&report.suspects).collect();
    let anchors = anchors(&findings);
    head(&mut writer, report);
    writer.raw("<body>\n<a class=\"skip\" href=\"#findings\">Skip to the findings</a>\n");
    top(&mut writer, report);
    writer.raw("<div class=\"page\">\n");
    list(&mut writer, &findings, &anchors, options);
    writer.raw("<main id=\"findings\" tabindex=\"-1\">\n");
    let mut articles = Articles {
        options,
        command: &report.command,
        target: &report.target,
        sources: Sources::default(),
        room: Room { steps: ROOM },
    };
    if findings.is_empty() {
        empty(&mut writer, report);
    }
    for (finding, anchor) in findings.iter().zip(&anchors) {
        articles.write(&mut writer, finding, anchor);
    }
    coverage(&mut writer, report);
    writer.raw("</main>\n</div>\n");
    help(&mut writer);
    writer.data("sources", &articles.sources.json(options));
    writer.raw("<script>");
    writer.raw(SCRIPT);
    writer.raw("</script>\n</body>\n</html>\n");
    writer.finish()
}

/// The anchors of findings: their ids, made unique.
fn anchors(findings: &[&Finding]) -> Vec<String> {
    let mut known = HashSet::new();
    let mut anchor = |finding: &&Finding| {
        let mut name = finding.id.clone();
        while !known.insert(name.clone()) {
            name.push('+');
        }
        name
    };
    findings.iter().map(&mut anchor).collect()
}

fn head(writer: &mut Writer, report: &Report) {
    writer.raw(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n",
    );
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
        source_hash(SCRIPT),
        source_hash(STYLE)
    );
    writer.open("meta", &[("http-equiv", Some("Content-Security-Policy")), ("content", Some(&policy))]);
    writer.line();
    let title = format!("raddle {}: {}", report.command, story::summary(report));
    writer.element("title", &[], &title);
    writer.raw("\n<style>");
    writer.raw(STYLE);
    writer.raw("</style>\n</head>\n");
}

/// `sha256-…`, the form in which a policy names a script.
fn source_hash(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::from("sha256-");
    for bytes in Sha256::digest(text.as_bytes()).chunks(3) {
        let group =
            bytes.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte)) << (8 * (3 - bytes.len()));
        for digit in 0..4 {
            let at = (group >> (18 - 6 * digit) & 63) as usize;
            out.push(if digit <= bytes.len() { char::from(DIGITS[at]) } else { '=' });
        }
    }
    out
}

fn top(writer: &mut Writer, report: &Report) {
    writer.raw("<header class=\"top\">\n<h1><span class=\"brand\">raddle</span> ");
    writer.text(&report.command);
    writer.raw("</h1>\n");
    let target = report.target.join(" ");
    writer.element("p", &[("class", Some("target")), ("title", Some(&target))], &target);
    writer.element("p", &[("class", Some("summary"))], &story::summary(report));
    writer.raw(
        "\n<div class=\"buttons\" hidden><button type=\"button\" data-do=\"theme\" \
         aria-label=\"Light or dark\">◐</button><button type=\"button\" data-do=\"help\" \
         aria-label=\"Keys\">?</button></div>\n</header>\n",
    );
}

/// The list, with search and filters above it. Without a script it is a table of contents.
fn list(writer: &mut Writer, findings: &[&Finding], anchors: &[String], options: &RenderOptions<'_>) {
    if findings.is_empty() {
        return;
    }
    writer.raw(
        "<nav class=\"list\" aria-label=\"Findings\">\n<form class=\"filters\" role=\"search\" hidden>\n",
    );
    writer.raw(
        "<input type=\"search\" placeholder=\"Search  /\" aria-label=\"Search in findings\" \
         autocomplete=\"off\">\n<div class=\"selects\">",
    );
    filter(writer, "verdict", "any verdict", findings.iter().map(|f| article::verdict(f)));
    filter(writer, "kind", "any kind", findings.iter().map(|f| f.kind.name()));
    filter(writer, "test", "any test", findings.iter().map(|f| f.test.as_deref().unwrap_or_default()));
    filter(writer, "triage", "any triage", findings.iter().map(|f| article::triage(f)));
    writer.raw("</div>\n<p class=\"count\" role=\"status\"></p></form>\n<ol>\n");
    for (finding, anchor) in findings.iter().zip(anchors) {
        item(writer, finding, anchor, options);
    }
    writer.raw("</ol>\n<p class=\"none\" hidden>Nothing matches.</p></nav>\n");
}

/// A choice among the values that occur; nothing if there is no choice.
fn filter<'a>(
    writer: &mut Writer,
    name: &'static str,
    any: &'static str,
    values: impl Iterator<Item = &'a str>,
) {
    let values: BTreeSet<&str> = values.collect();
    if values.len() < 2 {
        return;
    }
    writer.open("select", &[("name", Some(name)), ("aria-label", Some(name))]);
    writer.element("option", &[("value", Some(""))], any);
    for value in values.into_iter().filter(|value| !value.is_empty()) {
        writer.element("option", &[("value", Some(value))], value);
    }
    writer.raw("</select>\n");
}

fn item(writer: &mut Writer, finding: &Finding, anchor: &str, options: &RenderOptions<'_>) {
    let verdict = article::verdict(finding);
    writer.open(
        "li",
        &[
            ("class", Some(verdict)),
            ("data-verdict", Some(verdict)),
            ("data-kind", Some(finding.kind.name())),
            ("data-test", Some(finding.test.as_deref().unwrap_or_default())),
            ("data-triage", Some(article::triage(finding))),
        ],
    );
    let href = format!("#{}", super::sarif::percent(anchor));
    writer.open("a", &[("href", Some(&href)), ("title", Some(&finding.message))]);
    writer.element("span", &[("class", Some("kind"))], &format!("{verdict} {}", finding.kind.title()));
    writer.raw("<span class=\"message\">");
    writer.prose(&finding.message);
    writer.raw("</span>");
    let place = finding.accesses.first().and_then(|access| place(&access.stack));
    if let Some(place) = place.and_then(|frame| story::place(frame, options)) {
        writer.element("span", &[("class", Some("where"))], &place);
    }
    writer.raw("</a></li>\n");
}

fn empty(writer: &mut Writer, report: &Report) {
    let nothing = story::nothing(report);
    writer.raw("<section class=\"empty\"><h2>");
    match nothing.as_str() {
        "no findings" => writer.raw("No findings</h2>\n<p>Raddle found nothing in what it looked at. "),
        _ => {
            writer.raw("Nothing is confirmed</h2>\n<p>");
            let rest =
                ["nothing confirmed, ", "no findings, "].iter().find_map(|head| nothing.strip_prefix(head));
            let why = rest.filter(|rest| !rest.starts_with("as ")).unwrap_or(&nothing);
            let (first, others) = why.split_at(1);
            writer.text(&format!("{}{others}. ", first.to_uppercase()));
        }
    }
    writer.raw("That is no proof that there is nothing.</p></section>\n");
}

/// What was examined, and the numbers of the run.
fn coverage(writer: &mut Writer, report: &Report) {
    if report.coverage.is_empty() && report.stats.is_empty() {
        return;
    }
    writer.raw("<footer>\n");
    if !report.coverage.is_empty() {
        writer.raw("<h2>What was looked at</h2>\n<ul>\n");
        for sentence in &report.coverage {
            writer.raw("<li>");
            writer.prose(sentence);
            writer.raw("</li>\n");
        }
        writer.raw("</ul>\n");
    }
    if !report.stats.is_empty() {
        writer.raw("<details><summary>Numbers of this run</summary>\n<dl>\n");
        for (key, value) in &report.stats {
            writer.element("dt", &[], &key.replace('_', " "));
            writer.element("dd", &[], &value.to_string());
            writer.line();
        }
        writer.raw("</dl></details>\n");
    }
    writer.raw("</footer>\n");
}

fn help(writer: &mut Writer) {
    writer.raw(
        "<dialog class=\"help\" aria-label=\"Keys\"><h2>Keys</h2>\n<dl>\
         <dt><kbd>←</kbd> <kbd>→</kbd></dt><dd>step through the interleaving</dd>\
         <dt><kbd>Home</kbd> <kbd>End</kbd></dt><dd>first and last step, on the lanes</dd>\
         <dt><kbd>a</kbd></dt><dd>all steps, or those that matter</dd>\
         <dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next and previous finding</dd>\
         <dt><kbd>/</kbd></dt><dd>search</dd>\
         <dt><kbd>t</kbd></dt><dd>light or dark</dd>\
         <dt><kbd>?</kbd></dt><dd>these keys</dd></dl>\n\
         <form method=\"dialog\"><button>Close</button></form></dialog>\n",
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_policy() {
        // The hash of the empty string, as in RFC 6920 and every browser.
        assert_eq!(source_hash(""), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    }

    #[test]
    fn the_script_never_parses_html_and_nothing_comes_from_outside() {
        for bad in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "Function(",
            "setAttribute(\"on",
            "</script",
        ] {
            assert!(!SCRIPT.contains(bad), "{bad}");
        }
        for outside in ["http:", "https:", "fetch(", "import ", "@import", "url(", "XMLHttpRequest"] {
            assert!(!SCRIPT.contains(outside) && !STYLE.contains(outside), "{outside}");
        }
        assert!(!STYLE.contains("</style"));
    }
}
