//! One finding: what it is, the picture, the stacks, the graph of its locks, how to repeat it, and
//! what else is known.

use crate::model::{Confidence, Finding, Frame, Settlement};

use super::super::story::{self, StoryEnd};
use super::super::{RenderOptions, commands, picture};
use super::lanes::{Drawing, Room};
use super::source::Sources;
use super::writer::Writer;
use super::{graph, lanes, stacks};

pub(super) struct Articles<'a> {
    pub options: &'a RenderOptions<'a>,
    pub command: &'a str,
    pub target: &'a [String],
    pub sources: Sources,
    pub room: Room,
}

/// The status of a finding, for its badge and for the filter.
pub(super) fn verdict(finding: &Finding) -> &'static str {
    match (finding.verdict, finding.confidence) {
        (Some(Settlement::Confirmed), _) | (None, Confidence::Confirmed) => "confirmed",
        (Some(Settlement::Refuted), _) => "refuted",
        (Some(Settlement::Open), _) => "open",
        (None, Confidence::Suspected) => "suspected",
    }
}

/// What people decided, for the filter.
pub(super) fn triage(finding: &Finding) -> &str {
    finding.triage.as_ref().map_or("undecided", |triage| triage.decision.as_str())
}

impl Articles<'_> {
    pub fn write(&mut self, writer: &mut Writer, finding: &Finding, anchor: &str) {
        let verdict = verdict(finding);
        let heading = format!("h-{anchor}");
        writer.open(
            "article",
            &[
                ("id", Some(anchor)),
                ("class", Some(verdict)),
                ("aria-labelledby", Some(&heading)),
                ("tabindex", Some("-1")),
            ],
        );
        writer.raw("\n<header><p class=\"badges\">");
        writer.element("span", &[("class", Some("badge verdict"))], verdict);
        writer.element("span", &[("class", Some("badge"))], &finding.kind.title());
        if let Some(triage) = &finding.triage {
            writer.element("span", &[("class", Some("badge"))], &triage.decision);
        }
        if let Some(test) = &finding.test {
            writer.element("span", &[("class", Some("badge test"))], test);
        }
        writer.raw("</p>");
        writer.open("h2", &[("id", Some(&heading))]);
        writer.prose(&finding.message);
        writer.raw("</h2>\n");
        self.explanation(writer, finding);
        writer.raw("</header>\n");
        let picture = picture::picture(finding);
        if let Some(picture) = &picture {
            let (sources, room) = (&mut self.sources, &mut self.room);
            Drawing { picture, options: self.options, sources, room }.write(writer);
        }
        let locks = picture.as_ref().map(lanes::locks).unwrap_or_default();
        graph::write(writer, finding, &locks);
        self.ends(writer, finding);
        self.commands(writer, finding);
        writer.raw("<section class=\"facts\"><h3>Details</h3>\n<dl>\n");
        self.facts(writer, finding);
        writer.raw("</dl></section>\n</article>\n");
    }

    fn explanation(&self, writer: &mut Writer, finding: &Finding) {
        if let Some(explanation) = &finding.explanation {
            writer.raw("<p class=\"explanation\">");
            writer.prose(explanation);
            writer.raw("</p>\n");
        }
        writer.element("p", &[("class", Some("kind"))], finding.kind.explanation());
        writer.line();
    }

    fn ends(&self, writer: &mut Writer, finding: &Finding) {
        let ends = story::ends(finding);
        if ends.is_empty() {
            return;
        }
        writer.raw("<section class=\"ends\"><h3>Stacks</h3>\n<ol>\n");
        for end in &ends {
            self.end(writer, finding, end);
        }
        writer.raw("</ol></section>\n");
    }

    fn end(&self, writer: &mut Writer, finding: &Finding, end: &StoryEnd<'_>) {
        writer.raw("<li><p class=\"deed\">");
        if !end.when.is_empty() {
            writer.element("span", &[("class", Some("when"))], end.when);
            writer.raw(" ");
        }
        writer.prose(&story::deed(finding, end));
        writer.raw("</p>\n");
        if end.access.stack.is_empty() {
            writer.raw("<p class=\"soft\">the stack could not be restored</p>\n");
        }
        stacks::write(writer, &end.access.stack, true, self.options);
        if story::is_cycle(finding) {
            for label in &end.access.locks {
                let lock = finding.locks.iter().find(|lock| lock.label == story::bare(label));
                let mut taken = lock.into_iter().flat_map(|lock| &lock.taken);
                if let Some(taken) = taken.find(|taken| taken.thread == end.access.thread) {
                    writer.element("p", &[("class", Some("soft"))], &format!("{label} was taken here:"));
                    stacks::write(writer, &taken.stack, false, self.options);
                }
            }
        }
        writer.raw("</li>\n");
    }

    fn commands(&self, writer: &mut Writer, finding: &Finding) {
        let commands = commands::of(finding, self.command, self.target);
        if commands.is_empty() {
            return;
        }
        writer.raw("<section class=\"commands\"><h3>Repeat it</h3>\n<ul>\n");
        for (what, line) in commands {
            writer.raw("<li>");
            writer.element("span", &[("class", Some("soft"))], what);
            writer.raw("<pre><code>");
            writer.text(&line);
            writer.raw("</code></pre><button type=\"button\" class=\"copy\" hidden>copy</button></li>\n");
        }
        writer.raw("</ul></section>\n");
    }

    fn facts(&self, writer: &mut Writer, finding: &Finding) {
        let fact = |writer: &mut Writer, name, text: &str| self.fact(writer, name, text, &[]);
        if let Some(relation) = story::lock_relation(finding) {
            fact(writer, "locks", &relation);
        }
        if let Some(location) = &finding.location {
            let stack = story::location_stack(location);
            self.fact(writer, "address", &story::location(location, self.options), stack);
        }
        for thread in &finding.threads {
            if let Some(text) = story::thread(thread) {
                self.fact(writer, "thread", &format!("{}, {text}", thread.label), &thread.stack);
            }
        }
        if !story::is_cycle(finding) {
            self.locks(writer, finding);
        }
        for place in story::further_places(finding, self.options) {
            fact(writer, "also", &place);
        }
        if finding.occurrences > 1 {
            fact(writer, "seen", &story::count(finding.occurrences, "time"));
        }
        for note in &finding.notes {
            fact(writer, "note", note);
        }
        if let Some(triage) = &finding.triage {
            fact(writer, "triage", &format!("{}: {}", triage.decision, triage.reason));
        }
        if !finding.detectors.is_empty() {
            fact(writer, "detectors", &finding.detectors.join(", "));
        }
        for rule in story::suppressions(finding) {
            fact(writer, "suppress", &story::suppress(&rule));
        }
        fact(writer, "id", &finding.id);
    }

    fn locks(&self, writer: &mut Writer, finding: &Finding) {
        for lock in &finding.locks {
            for taken in &lock.taken {
                let text = format!("{}, taken by {}", story::lock(lock), taken.thread);
                self.fact(writer, "lock", &text, &taken.stack);
            }
            if lock.taken.is_empty() {
                self.fact(writer, "lock", &story::lock(lock), &[]);
            }
        }
    }

    fn fact(&self, writer: &mut Writer, name: &'static str, text: &str, stack: &[Frame]) {
        writer.element("dt", &[], name);
        writer.raw("<dd>");
        if stack.is_empty() {
            writer.prose(text);
        } else {
            writer.raw("<details><summary>");
            writer.prose(text);
            writer.raw("</summary>\n");
            stacks::write(writer, stack, false, self.options);
            writer.raw("</details>");
        }
        writer.raw("</dd>\n");
    }
}
