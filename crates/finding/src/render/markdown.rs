//! A summary for a pull request, in GitHub's Markdown: a table of all findings, then each one,
//! folded, with its explanation, its interleaving and how to reproduce it.
//!
//! Foreign text is written so that Markdown takes it as text: every character that could begin
//! markup is escaped, and code is fenced by more backticks than it contains.

use std::fmt::Write;

use crate::model::{Finding, Report};
use crate::place::place;

use super::picture::{Moment, Picture, picture};
use super::{RenderOptions, commands, story};

/// How many findings are shown in full. GitHub accepts comments of up to 65,536 characters.
const IN_FULL: usize = 20;
/// The most rows of the table.
const LISTED: usize = 200;
/// The most steps of an interleaving.
const STEPS: usize = 40;

pub(super) fn render(report: &Report, options: &RenderOptions<'_>) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "## raddle {}: {}\n", text(&report.command), text(&story::summary(report)));
    if !report.target.is_empty() {
        let _ = writeln!(out, "{}\n", code(&report.target.join(" ")));
    }
    table(&mut out, report, options);
    for finding in report.findings.iter().take(IN_FULL) {
        whole(&mut out, finding, report, options);
    }
    let left = report.findings.len().saturating_sub(IN_FULL);
    if left > 0 {
        let _ = writeln!(out, "{} are in the table only.\n", story::count(left as u64, "finding"));
    }
    for sentence in &report.coverage {
        let _ = writeln!(out, "- {}", text(sentence));
    }
    while out.ends_with("\n\n") {
        out.pop();
    }
    out
}

fn table(out: &mut String, report: &Report, options: &RenderOptions<'_>) {
    if report.findings.is_empty() {
        return;
    }
    out.push_str("| | finding | where | id |\n|---|---|---|---|\n");
    for finding in report.findings.iter().take(LISTED) {
        let frame = finding.accesses.first().and_then(|access| place(&access.stack));
        let place = frame.and_then(|frame| story::place(frame, options)).map_or(String::new(), |p| code(&p));
        let _ = writeln!(
            out,
            "| {} {} | {} | {place} | {} |",
            finding.confidence,
            finding.kind.title(),
            text(&finding.message),
            code(&finding.id)
        );
    }
    let left = report.findings.len().saturating_sub(LISTED);
    if left > 0 {
        let _ = writeln!(out, "| | and {left} more | | |");
    }
    out.push('\n');
}

fn whole(out: &mut String, finding: &Finding, report: &Report, options: &RenderOptions<'_>) {
    let _ = writeln!(
        out,
        "<details><summary>{} {}: {}</summary>\n",
        finding.confidence,
        finding.kind.title(),
        html(&finding.message)
    );
    let explanation = finding.explanation.as_deref().unwrap_or(finding.kind.explanation());
    let _ = writeln!(out, "{}\n", text(explanation));
    for end in story::ends(finding) {
        let when = if end.when.is_empty() { String::new() } else { format!("{}: ", end.when) };
        let place = place(&end.access.stack).and_then(|frame| story::place(frame, options));
        let place = place.map_or(String::new(), |place| format!(" at {}", code(&place)));
        let _ = writeln!(out, "- {when}{}{place}", text(&story::deed(finding, &end)));
    }
    out.push('\n');
    if let Some(picture) = picture(finding) {
        interleaving(out, &picture);
    }
    for (_, line) in commands::of(finding, &report.command, &report.target) {
        let _ = writeln!(out, "{}\n", fenced("sh", &line));
    }
    out.push_str("</details>\n\n");
}

/// One column per thread.
fn interleaving(out: &mut String, picture: &Picture) {
    let _ = writeln!(out, "{}\n", picture.caption());
    let lanes: Vec<String> = picture.lanes.iter().map(|lane| text(lane)).collect();
    let _ = writeln!(out, "| {} |\n|{}", lanes.join(" | "), "---|".repeat(lanes.len()));
    let shown: Vec<&Moment> = picture.steps.iter().filter(|step| step.matters).collect();
    for step in &shown[shown.len().saturating_sub(STEPS)..] {
        let place = step.frame.as_ref().and_then(|frame| {
            let file = crate::place::file_name(frame.file.as_deref()?);
            Some(format!(" {}", code(&format!("{file}:{}", story::line(frame)?))))
        });
        let value = step.value.as_ref().map_or(String::new(), |value| format!(" {}", code(value)));
        let told = format!("{}{value}{}", text(&step.text), place.unwrap_or_default());
        let told = if step.is_key { format!("**{}**", told.trim()) } else { told };
        let cell = |lane: usize| if lane == step.lane { told.as_str() } else { "" };
        let cells: Vec<&str> = (0..lanes.len()).map(cell).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out.push('\n');
}

/// Text in an HTML element, where Markdown does not apply.
fn html(text: &str) -> String {
    let clean = |c: char| if c.is_control() || story::turns_text(c) { ' ' } else { c };
    let text: String = text.chars().map(clean).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('@', "&#64;")
}

/// Plain text. What raddle puts in backticks is code.
fn text(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return escaped(text);
    }
    let part = |(i, part): (usize, &&str)| match (i % 2, part.is_empty()) {
        (1, false) => code(part),
        (1, true) => String::new(),
        _ => escaped(part),
    };
    parts.iter().enumerate().map(part).collect()
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // A report must not mention a user or close an issue.
            '@' => out.push_str("&#64;"),
            '#' => out.push_str("&#35;"),
            // A URL would become a link by itself.
            ':' if text[at..].starts_with("://") => out.push_str("&#58;"),
            '.' if text[..at].to_ascii_lowercase().ends_with("www") => out.push_str("&#46;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '!' | '|' | '~' | '$' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() || story::turns_text(c) => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Inline code. In a table, a bar must be escaped even there.
fn code(text: &str) -> String {
    let text: String =
        text.chars().map(|c| if c.is_control() || story::turns_text(c) { ' ' } else { c }).collect();
    let fence = "`".repeat(longest_run(&text) + 1);
    let text = text.replace('|', "\\|");
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

fn fenced(language: &str, text: &str) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_no_markup() {
        assert_eq!(text("a <b> [c](d) *e* @f #1 | g"), "a &lt;b&gt; \\[c\\](d) \\*e\\* &#64;f &#35;1 \\| g");
        assert_eq!(text("race on `a|b`"), "race on `a\\|b`");
        assert_eq!(text("one ` only"), "one \\` only");
        assert_eq!(text("see https://x.y"), "see https&#58;//x.y");
        assert_eq!(text("a::b, WWW.x.y"), "a::b, WWW&#46;x.y");
    }

    #[test]
    fn code_is_fenced_by_more_than_it_has() {
        assert_eq!(code("a``b"), "```a``b```");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(fenced("sh", "a ``` b"), "````sh\na ``` b\n````");
    }
}
