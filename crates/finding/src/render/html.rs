//! One page that needs nothing else: no script, no font, no image, light and dark as the reader's
//! system is.
//!
//! It is safe to publish: every text passes [`escape`], and the page forbids itself scripts and
//! outside resources.

use crate::model::{Confidence, Finding, Frame, Interleaving, Report};
use crate::place;

use super::RenderOptions;
use super::story::{self, End};

pub(super) fn render(report: &Report, options: &RenderOptions<'_>) -> String {
    let mut page = Page { out: String::new(), options };
    let title = format!("raddle {}: {}", report.command, story::summary(report));
    page.out.push_str(HEAD);
    page.tag("title", "", &title);
    page.out.push_str("<style>\n");
    page.out.push_str(STYLE);
    page.out.push_str("</style>\n</head>\n<body>\n<header>\n");
    page.tag("h1", "", &format!("raddle {}", report.command));
    page.tag("p", "target", &report.target.join(" "));
    page.tag("p", "summary", &story::summary(report));
    page.out.push_str("</header>\n<main>\n");
    for finding in &report.findings {
        page.finding(finding);
    }
    page.out.push_str("</main>\n");
    page.stats(report);
    page.out.push_str("</body>\n</html>\n");
    page.out
}

struct Page<'a> {
    out: String,
    options: &'a RenderOptions<'a>,
}

impl Page<'_> {
    /// `<name class="class">text</name>`, the text escaped.
    fn tag(&mut self, name: &str, class: &str, text: &str) {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        self.out.push_str(&format!("<{name}{class}>{}</{name}>\n", escape(text)));
    }

    fn finding(&mut self, finding: &Finding) {
        let class = match finding.confidence {
            Confidence::Confirmed => "confirmed",
            Confidence::Suspected => "suspected",
        };
        self.out.push_str(&format!("<article id=\"{}\" class=\"{class}\">\n", escape(&finding.id)));
        self.tag("h2", "", &format!("{} {}", finding.confidence, finding.kind.title()));
        self.tag("p", "message", &finding.message);
        if let Some(explanation) = &finding.explanation {
            self.tag("p", "explanation", explanation);
        }
        self.tag("p", "explanation", finding.kind.explanation());
        let ends = story::ends(finding);
        self.out.push_str("<ol class=\"ends\">\n");
        for end in &ends {
            self.end(finding, end);
        }
        self.out.push_str("</ol>\n");
        if let Some(interleaving) = &finding.interleaving {
            self.interleaving(interleaving);
        }
        self.out.push_str("<dl>\n");
        self.facts(finding);
        self.out.push_str("</dl>\n</article>\n");
    }

    fn end(&mut self, finding: &Finding, end: &End<'_>) {
        self.out.push_str("<li>");
        let when = if end.when.is_empty() { String::new() } else { format!("{}: ", end.when) };
        self.tag("p", "deed", &format!("{when}{}", story::deed(finding, end)));
        if end.access.stack.is_empty() {
            self.tag("p", "explanation", "the stack could not be restored");
        }
        self.stack(&end.access.stack, true);
        if story::is_cycle(finding) {
            for label in &end.access.locks {
                let lock = finding.locks.iter().find(|lock| lock.label == story::bare(label));
                let mut taken = lock.into_iter().flat_map(|lock| &lock.taken);
                if let Some(taken) = taken.find(|taken| taken.thread == end.access.thread) {
                    self.tag("p", "", &format!("{label} was taken here:"));
                    self.stack(&taken.stack, false);
                }
            }
        }
        self.out.push_str("</li>\n");
    }

    /// One column a thread, one row a step.
    fn interleaving(&mut self, table: &Interleaving) {
        if table.rows.is_empty() {
            return;
        }
        self.out.push_str("<table class=\"interleaving\">\n<tr>");
        for label in &table.threads {
            self.out.push_str(&format!("<th>{}</th>", escape(label)));
        }
        self.out.push_str("</tr>\n");
        for row in &table.rows {
            let class = if row.preempts { " class=\"preempts\"" } else { "" };
            self.out.push_str(&format!("<tr{class}>{}", "<td></td>".repeat(row.thread)));
            let place = story::row_place(row, self.options).unwrap_or_default();
            self.out.push_str(&format!(
                "<td>{} <small>{}</small></td>",
                escape(&story::row(row)),
                escape(&place)
            ));
            let rest = table.threads.len().saturating_sub(row.thread + 1);
            self.out.push_str(&format!("{}</tr>\n", "<td></td>".repeat(rest)));
        }
        self.out.push_str("</table>\n");
    }

    fn facts(&mut self, finding: &Finding) {
        if let Some(relation) = story::lock_relation(finding) {
            self.fact("locks", &relation, &[]);
        }
        if let Some(location) = &finding.location {
            self.fact("address", &story::location(location, self.options), story::location_stack(location));
        }
        for thread in &finding.threads {
            if let Some(text) = story::thread(thread) {
                self.fact("thread", &format!("{}, {text}", thread.label), &thread.stack);
            }
        }
        if !story::is_cycle(finding) {
            for lock in &finding.locks {
                for taken in &lock.taken {
                    self.fact(
                        "lock",
                        &format!("{}, taken by {}", story::lock(lock), taken.thread),
                        &taken.stack,
                    );
                }
                if lock.taken.is_empty() {
                    self.fact("lock", &story::lock(lock), &[]);
                }
            }
        }
        for place in story::further_places(finding, self.options) {
            self.fact("also", &place, &[]);
        }
        if finding.occurrences > 1 {
            self.fact("seen", &story::count(finding.occurrences, "time"), &[]);
        }
        for note in &finding.notes {
            self.fact("note", note, &[]);
        }
        if let Some(schedule) = &finding.schedule {
            self.fact("replay", &format!("raddle replay {schedule}"), &[]);
        }
        for rule in story::suppressions(finding) {
            self.fact("suppress", &story::suppress(&rule), &[]);
        }
        self.fact("id", &finding.id, &[]);
    }

    fn fact(&mut self, name: &str, text: &str, stack: &[Frame]) {
        self.tag("dt", "", name);
        if stack.is_empty() {
            return self.tag("dd", "", text);
        }
        self.out.push_str(&format!("<dd><details><summary>{}</summary>\n", escape(text)));
        self.stack(stack, false);
        self.out.push_str("</details></dd>\n");
    }

    fn stack(&mut self, stack: &[Frame], source: bool) {
        let shown = story::trimmed(stack);
        if shown.is_empty() {
            return;
        }
        let important = place::place(stack);
        self.out.push_str("<ol class=\"stack\" start=\"0\">\n");
        for frame in shown {
            let here = important.is_some_and(|important| std::ptr::eq(important, frame));
            let class = if here { " class=\"here\"" } else { "" };
            let function = escape(story::function(frame));
            self.out.push_str(&format!("<li{class}><code>{function}</code>"));
            if let Some(place) = story::place(frame, self.options) {
                self.out.push_str(&format!(" <span class=\"place\">{}</span>", escape(&place)));
            }
            if source
                && here
                && let Some((line, text, _)) = story::source_line(frame, self.options)
            {
                self.out.push_str(&format!("<pre>{line} | {}</pre>", escape(text.trim_start())));
            }
            self.out.push_str("</li>\n");
        }
        self.out.push_str("</ol>\n");
    }

    fn stats(&mut self, report: &Report) {
        if report.stats.is_empty() {
            return;
        }
        self.out.push_str("<footer>\n<dl>\n");
        for (key, value) in &report.stats {
            self.tag("dt", "", key);
            self.tag("dd", "", &value.to_string());
        }
        self.out.push_str("</dl>\n</footer>\n");
    }
}

/// Text for an element or a quoted attribute. HTML has no way to write a control character; they
/// become U+FFFD.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(c),
            c if c.is_control() || story::turns_text(c) => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

const HEAD: &str = r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
"#;

const STYLE: &str = r#":root { color-scheme: light dark; --text: #1a1a1a; --page: #fff; --soft: #595959; --line: #ccc; --code: #f3f3f3;
  --confirmed: #b00020; --suspected: #7a5200; --place: #0b5394; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e6e6; --page: #161616; --soft: #a6a6a6; --line: #444;
  --code: #242424; --confirmed: #ff7b88; --suspected: #e5b24a; --place: #7fb4e8; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page); max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
article { border-top: 1px solid var(--line); border-left: 4px solid var(--line); padding: 0 0 0 1rem; margin: 2rem 0; }
article.confirmed { border-left-color: var(--confirmed); } article.confirmed h2 { color: var(--confirmed); }
article.suspected { border-left-color: var(--suspected); } article.suspected h2 { color: var(--suspected); }
.message { font-size: 1.1rem; font-weight: 600; overflow-wrap: anywhere; }
.explanation, .target { color: var(--soft); overflow-wrap: anywhere; }
.deed { font-weight: 600; margin-bottom: 0.25rem; }
.stack { font-size: 0.9rem; padding-left: 2rem; } .stack li { overflow-wrap: anywhere; color: var(--soft); }
.stack li.here, .stack li.here code { color: var(--text); font-weight: 600; }
.place { color: var(--place); }
pre { background: var(--code); padding: 0.25rem 0.5rem; overflow-x: auto; margin: 0.25rem 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.25rem 1rem; } dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
.interleaving { border-collapse: collapse; font-size: 0.9rem; } .interleaving td, .interleaving th { padding: 0.1rem 0.75rem; text-align: left; border-left: 1px solid var(--line); }
.interleaving tr.preempts td { border-top: 1px dashed var(--line); }
footer { border-top: 1px solid var(--line); font-size: 0.9rem; color: var(--soft); }
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Kind, Op};
    use crate::sample::{access, finding, frame};

    #[test]
    fn a_name_cannot_leave_its_element() {
        let mut report = Report::new("run", vec!["<script>alert(1)</script>".into()]);
        let stack = vec![frame("</style><img src=x onerror='a'>", "\"&.c", 3, 1)];
        let mut race = finding(Kind::DataRace, vec![access(Op::Write, "<b>", stack)]);
        race.id = "\"><i>".into();
        race.message = "<!-- \u{1b} \u{202e} &amp;".into();
        report.findings.push(race);
        let source = |_: &str, _: u32| Some("  <u> & </u>".to_owned());
        let html = render(&report, &RenderOptions { source: &source, ..RenderOptions::default() });
        for bad in ["<script", "<img", "<b>", "<i>", "<u>", "<!-- ", "\u{1b}", "\u{202e}", "\"&.c"] {
            assert!(!html.contains(bad), "{bad}: {html}");
        }
        assert!(html.contains("<article id=\"&quot;&gt;&lt;i&gt;\" class=\"confirmed\">"), "{html}");
        assert!(html.contains("<pre>3 | &lt;u&gt; &amp; &lt;/u&gt;</pre>"), "{html}");
        assert!(html.contains("&lt;!-- \u{fffd} \u{fffd} &amp;amp;"), "{html}");
    }

    #[test]
    fn elements_are_closed() {
        let mut report = Report::new("run", vec![]);
        report
            .findings
            .push(finding(Kind::DataRace, vec![access(Op::Write, "T", vec![frame("f", "a.c", 3, 1)])]));
        let html = render(&report, &RenderOptions::default());
        for name in
            ["html", "head", "body", "header", "main", "article", "ol", "li", "dl", "dt", "dd", "p", "style"]
        {
            let opened =
                html.matches(&format!("<{name}>")).count() + html.matches(&format!("<{name} ")).count();
            assert_eq!(opened, html.matches(&format!("</{name}>")).count(), "{name}");
        }
    }
}
