//! Workflow commands for GitHub Actions: one annotation per finding, at the line of the later
//! access.
//!
//! ```text
//! ::error file=src/a.c,line=12,col=5,title=data race (confirmed)::message%0A(1) earlier: …
//! ```
//!
//! A confirmed finding is an error, a suspected one a warning. Escaping follows actions/toolkit:
//! `%`, CR and LF in the message, and also `:` and `,` in a property. Other control characters
//! would reach a log that is shown in a terminal, and marks that change the reading direction could
//! disguise it; both become `?`.

use crate::model::{Confidence, Finding, Report};
use crate::place::place;

use super::RenderOptions;
use super::story;

pub(super) fn render(report: &Report, options: &RenderOptions<'_>) -> String {
    let mut out = String::new();
    for finding in &report.findings {
        out.push_str(&command(finding, options));
        out.push('\n');
    }
    out.push_str(&format!("raddle: {}\n", story::summary(report)));
    out
}

fn command(finding: &Finding, options: &RenderOptions<'_>) -> String {
    let level = match finding.confidence {
        Confidence::Confirmed => "error",
        Confidence::Suspected => "warning",
    };
    let mut properties = Vec::new();
    let frame =
        finding.accesses.iter().filter_map(|access| place(&access.stack)).find(|frame| frame.file.is_some());
    if let Some(frame) = frame {
        let file = frame.file.as_deref().unwrap_or_default();
        properties.push(format!("file={}", property(options.relative(file))));
        properties.extend(story::line(frame).map(|line| format!("line={line}")));
        properties.extend(story::column(frame).map(|column| format!("col={column}")));
    }
    let title = format!("{} ({})", finding.kind.title(), finding.confidence);
    properties.push(format!("title={}", property(&title)));
    format!("::{level} {}::{}", properties.join(","), data(&message(finding, options)))
}

fn message(finding: &Finding, options: &RenderOptions<'_>) -> String {
    let mut lines = vec![finding.message.clone()];
    lines.extend(finding.explanation.clone());
    let ends = story::ends(finding);
    for (at, end) in ends.iter().enumerate() {
        let mut line = format!("({}) ", at + 1);
        if !end.when.is_empty() {
            line += &format!("{}: ", end.when);
        }
        line += &story::deed(finding, end);
        if let Some(frame) = place(&end.access.stack) {
            line += &format!(", in {}", story::function(frame));
            if let Some(place) = story::place(frame, options) {
                line += &format!(" at {place}");
            }
        }
        lines.push(line);
    }
    lines.extend(story::further_places(finding, options).iter().map(|place| format!("also: {place}")));
    if let Some(location) = &finding.location {
        lines.push(format!("address: {}", story::location(location, options)));
    }
    lines.push(format!("id: {}", finding.id));
    lines.join("\n")
}

fn data(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '%' => escaped.push_str("%25"),
            '\r' => escaped.push_str("%0D"),
            '\n' => escaped.push_str("%0A"),
            '\t' => escaped.push('\t'),
            c if c.is_control() || story::turns_text(c) => escaped.push('?'),
            c => escaped.push(c),
        }
    }
    escaped
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AccessOp, Kind};
    use crate::sample::{access, finding, frame};

    #[test]
    fn a_name_cannot_start_a_command_of_its_own() {
        let mut race =
            finding(Kind::DataRace, vec![access(AccessOp::Write, "T1", vec![frame("f", "a,b:c%.c", 3, 1)])]);
        race.message = "100%\n::error::x\u{1b}[2J".into();
        let text = command(&race, &RenderOptions::default());
        assert_eq!(text.lines().count(), 1);
        assert!(
            text.starts_with(
                "::error file=a%2Cb%3Ac%25.c,line=3,title=data race (confirmed)::100%25%0A::error::x?[2J%0A(1) here: "
            ),
            "{text}"
        );
    }

    #[test]
    fn without_a_place_there_is_still_a_message() {
        let mut hang = finding(Kind::Hang, vec![]);
        hang.confidence = Confidence::Suspected;
        let id = hang.id.clone();
        assert_eq!(
            command(&hang, &RenderOptions::default()),
            format!("::warning title=hang (suspected)::hang here%0Aid: {id}")
        );
    }
}
