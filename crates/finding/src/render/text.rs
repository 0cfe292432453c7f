//! Text for a terminal.
//!
//! A finding reads from top to bottom as it happened: what is wrong, the earlier end, the later
//! end, what the address is, where the threads come from and the locks were taken, and last what to
//! do about it. Every end has its stack, and the line of source under the frame that stands for it
//! (see [`crate::place`]), as rustc and miri show theirs.
//!
//! Checked by tests: no line ends in a space; no control character of a name reaches the terminal;
//! prose, source lines and interleavings keep to the width; without colours, the text is the same
//! as with colours removed. Names, paths and commands to copy are never cut, so a line with one may
//! be longer than the width.

use crate::model::{Confidence, Finding, Frame, Interleaving, Report, Row, STAT_LOOKED_AT, Stat};
use crate::place;

use super::story::{self, StoryEnd};
use super::{MIN_WIDTH, RenderOptions, place_url};

pub(super) fn render(report: &Report, options: &RenderOptions<'_>) -> String {
    let mut page = Page { out: String::new(), options };
    let all = report.findings.len();
    for (at, finding) in report.findings.iter().enumerate() {
        page.heading(finding, (all > 1).then(|| format!("[{}/{all}] ", at + 1)));
        page.body(finding);
        page.blank();
    }
    page.suspects(&report.suspects);
    for sentence in &report.coverage {
        page.prose("", (Style::Plain, ""), sentence);
    }
    page.line(&[(Style::Bold, &story::summary(report))]);
    if let Some(Stat::Text(looked_at)) = report.stats.get(STAT_LOOKED_AT) {
        page.prose("", (Style::Plain, ""), &format!("looked at {looked_at}"));
    }
    if options.ascii { ascii(&page.out) } else { page.out }
}

/// One finding without colour, for formats that include text.
pub(super) fn finding(finding: &Finding, options: &RenderOptions<'_>) -> String {
    let plain = RenderOptions { color: false, links: None, ..*options };
    let mut page = Page { out: String::new(), options: &plain };
    page.heading(finding, None);
    page.body(finding);
    page.out
}

#[derive(Clone, Copy)]
enum Style<'a> {
    Plain,
    /// A place, and the URL that it links to.
    Place(Option<&'a str>),
    Bold,
    Red,
    Yellow,
    Cyan,
    Dim,
}

/// This many consecutive library frames are counted rather than shown.
const FOLDED: usize = 3;

struct Page<'a> {
    out: String,
    options: &'a RenderOptions<'a>,
}

/// The least columns of a thread in an interleaving.
const MIN_LANE: usize = 4;

/// The indentation of a stack.
const STACK_INDENT: &str = "      ";

impl Page<'_> {
    /// Suspects as a list, a few lines each: what could happen, where, and what was tried.
    fn suspects(&mut self, suspects: &[Finding]) {
        if suspects.is_empty() {
            return;
        }
        self.line(&[(Style::Bold, "suspects, which are not findings:")]);
        for (at, suspect) in suspects.iter().enumerate() {
            let head = format!("{}. {}: ", at + 1, suspect.kind.title());
            self.prose("  ", (Style::Yellow, &head), &suspect.message);
            suspect.notes.iter().for_each(|note| self.prose("     ", (Style::Plain, ""), note));
            if let Some(schedule) = &suspect.schedule {
                self.whole("   replay:", (Style::Plain, &format!("raddle replay {schedule}")));
            }
        }
        self.blank();
    }

    fn heading(&mut self, finding: &Finding, number: Option<String>) {
        let style = match finding.confidence {
            Confidence::Confirmed => Style::Red,
            Confidence::Suspected => Style::Yellow,
        };
        let title = format!("{} {}", finding.confidence, finding.kind.title());
        self.line(&[(Style::Dim, number.as_deref().unwrap_or_default()), (style, &title)]);
        self.prose("  ", (Style::Plain, ""), &finding.message);
        self.blank();
        if let Some(explanation) = &finding.explanation {
            self.prose("  ", (Style::Plain, ""), explanation);
            self.blank();
        }
    }

    fn body(&mut self, finding: &Finding) {
        let ends = story::ends(finding);
        for (at, end) in ends.iter().enumerate() {
            self.end(finding, end, (ends.len() > 1).then_some(at + 1));
        }
        if let Some(interleaving) = &finding.interleaving {
            self.interleaving(interleaving);
        }
        if let Some(relation) = story::lock_relation(finding) {
            self.prose("  ", (Style::Bold, "locks: "), &relation);
        }
        if let Some(location) = &finding.location {
            self.prose("  ", (Style::Bold, "address: "), &story::location(location, self.options));
            self.stack(story::location_stack(location), false);
        }
        for thread in &finding.threads {
            if let Some(text) = story::thread(thread) {
                self.prose("  ", (Style::Bold, "thread: "), &format!("{}, {text}", thread.label));
                self.stack(&thread.stack, false);
            }
        }
        if !story::is_cycle(finding) {
            self.locks(finding);
        }
        self.closing(finding);
    }

    fn end(&mut self, finding: &Finding, end: &StoryEnd<'_>, number: Option<usize>) {
        let mut head = number.map_or(String::new(), |number| format!("({number}) "));
        if !end.when.is_empty() {
            head += &format!("{}: ", end.when);
        }
        self.prose("  ", (Style::Cyan, &head), &story::deed(finding, end));
        if end.access.stack.is_empty() {
            self.line(&[(Style::Dim, "      the stack could not be restored")]);
        }
        self.stack(&end.access.stack, true);
        if story::is_cycle(finding) {
            self.held_at(finding, end);
        }
        self.blank();
    }

    /// One column per thread. A step begins in its thread's column and may extend into the next
    /// ones.
    fn interleaving(&mut self, table: &Interleaving) {
        if table.rows.is_empty() {
            return;
        }
        let columns = table.threads.len().max(1);
        let width = self.lane(table);
        self.line(&[(Style::Bold, "  interleaving:")]);
        let mut heads = STACK_INDENT.to_owned();
        let is_narrow = table.threads.iter().any(|label| label.chars().count() > width);
        for label in &table.threads {
            // `T1` for `T1 (work)`: the name stands beside the ends.
            let label = if is_narrow { label.split(' ').next().unwrap_or(label) } else { label };
            heads += &format!("{label:width$} ");
        }
        self.line(&[(Style::Cyan, &heads)]);
        for row in &table.rows {
            if row.preempts {
                self.line(&[(Style::Dim, &format!("{STACK_INDENT}{}", "- ".repeat(columns * width / 2)))]);
            }
            self.row(row, " ".repeat(STACK_INDENT.len() + row.thread * (width + 1)));
        }
        self.blank();
    }

    /// The columns of a thread: as many as let the longest step of the last thread end on the page.
    fn lane(&self, table: &Interleaving) -> usize {
        let columns = table.threads.len().max(1);
        let page = self.width() - STACK_INDENT.len();
        let evenly = (page / columns).clamp(MIN_LANE, 26);
        let last = table.rows.iter().filter(|row| row.thread + 1 == columns && columns > 1);
        let longest = last.map(|row| visible(&story::row(row)).chars().count()).max().unwrap_or(0);
        // A step that takes more than two thirds of the page is wrapped instead.
        let fitting = (page - longest.min(page * 2 / 3)) / (columns - 1).max(1);
        evenly.min(fitting.saturating_sub(1)).max(MIN_LANE)
    }

    fn row(&mut self, row: &Row, indent: String) {
        let text = story::row(row);
        let Some(place) = story::row_place(row, self.options) else {
            return self.prose(&indent, (Style::Plain, ""), &text);
        };
        let columns = indent.len() + text.chars().count() + 2 + place.chars().count();
        if columns <= self.width() {
            return self.line(&[
                (Style::Plain, &indent),
                (Style::Plain, &text),
                (Style::Dim, &format!("  {place}")),
            ]);
        }
        self.prose(&indent, (Style::Plain, ""), &text);
        self.row_place(&place, indent.len() + 2);
    }

    /// The place of a step, below it. A long one begins further to the left; the longest has its
    /// function and its file on a line each.
    fn row_place(&mut self, place: &str, indent: usize) {
        let room = self.width() - STACK_INDENT.len();
        let parts = match place.rsplit_once(' ') {
            Some((function, file)) if place.chars().count() > room => vec![function, file],
            _ => vec![place],
        };
        for part in parts {
            let indent = indent.min(self.width().saturating_sub(part.chars().count()));
            let indent = " ".repeat(indent.max(STACK_INDENT.len()));
            self.line(&[(Style::Plain, &indent), (Style::Dim, part)]);
        }
    }

    /// The other half of an edge of a cycle: where the thread took the locks that it already held.
    fn held_at(&mut self, finding: &Finding, end: &StoryEnd<'_>) {
        for label in &end.access.locks {
            let lock = finding.locks.iter().find(|lock| lock.label == story::bare(label));
            let taken =
                lock.into_iter().flat_map(|lock| &lock.taken).find(|taken| taken.thread == end.access.thread);
            if let Some(taken) = taken {
                self.line(&[(Style::Cyan, &format!("    {label} was taken here:"))]);
                self.stack(&taken.stack, false);
            }
        }
    }

    fn locks(&mut self, finding: &Finding) {
        for lock in &finding.locks {
            let text = story::lock(lock);
            if lock.taken.is_empty() {
                self.prose("  ", (Style::Bold, "lock: "), &text);
            }
            for taken in &lock.taken {
                self.prose("  ", (Style::Bold, "lock: "), &format!("{text}, taken by {}", taken.thread));
                self.stack(&taken.stack, false);
            }
        }
    }

    fn closing(&mut self, finding: &Finding) {
        for place in story::further_places(finding, self.options) {
            self.prose("  ", (Style::Bold, "also: "), &place);
        }
        if finding.occurrences > 1 {
            self.prose("  ", (Style::Bold, "seen: "), &story::count(finding.occurrences, "time"));
        }
        for note in &finding.notes {
            self.prose("  ", (Style::Bold, "note: "), note);
        }
        if let Some(schedule) = &finding.schedule {
            self.whole("replay:", (Style::Plain, &format!("raddle replay {schedule}")));
        }
        for rule in story::suppressions(finding) {
            let text = story::suppress(&rule);
            // A rule is meant to be copied: one with spaces stays on its line.
            if rule.contains(char::is_whitespace) {
                self.whole("suppress:", (Style::Plain, &text));
            } else {
                self.prose("  ", (Style::Bold, "suppress: "), &text);
            }
        }
        if !finding.id.is_empty() {
            self.whole("id:", (Style::Dim, &finding.key()));
        }
    }

    /// A text to copy, which is not broken. One that does not fit beside its head stands below it.
    fn whole(&mut self, head: &str, text: (Style<'_>, &str)) {
        if "  ".len() + head.len() + 1 + visible(text.1).chars().count() <= self.width() {
            return self.line(&[(Style::Bold, &format!("  {head} ")), text]);
        }
        self.line(&[(Style::Bold, &format!("  {head}"))]);
        self.line(&[(Style::Plain, "    "), text]);
    }

    /// The frames of a stack, with the line of source under the one that represents it.
    fn stack(&mut self, stack: &[Frame], source: bool) {
        let shown = story::trimmed(stack);
        let important = place::place(stack);
        let mut at = 0;
        while at < shown.len() {
            // The innermost frame is shown if something happened there. It is not shown if a thread
            // was created or a lock taken there: the library did that.
            let is_shown = self.options.all_frames || source && at == 0;
            let folded = if is_shown { 0 } else { library_frames(shown, at) };
            if folded >= FOLDED {
                self.line(&[(Style::Dim, &format!("{STACK_INDENT}… {folded} frames of libraries"))]);
                at += folded;
                continue;
            }
            self.frame(at, &shown[at]);
            if source && important.is_some_and(|important| std::ptr::eq(important, &shown[at])) {
                self.source(&shown[at]);
            }
            at += 1;
        }
    }

    fn frame(&mut self, at: usize, frame: &Frame) {
        let number = format!("{STACK_INDENT}#{at} ");
        let function = visible(story::function(frame));
        let function = match self.options.all_frames {
            true => function,
            false => fitted(function, self.width().saturating_sub(number.len())),
        };
        let Some(place) = story::place(frame, self.options).map(|place| visible(&place)) else {
            return self.line(&[(Style::Dim, &number), (Style::Plain, &function)]);
        };
        let url = self.options.links.and_then(|template| place_url(frame, template, self.options));
        let link = Style::Place(url.as_deref());
        let columns = number.len() + function.chars().count() + "  ".len() + place.chars().count();
        if columns <= self.width() {
            self.line(&[
                (Style::Dim, &number),
                (Style::Plain, &function),
                (Style::Plain, "  "),
                (link, &place),
            ]);
        } else {
            self.line(&[(Style::Dim, &number), (Style::Plain, &function)]);
            self.line(&[(Style::Plain, &" ".repeat(number.len())), (link, &place)]);
        }
    }

    fn source(&mut self, frame: &Frame) {
        let Some((number, text, column)) = story::source_line(frame, self.options) else { return };
        let gutter = format!("{STACK_INDENT}   {number} | ");
        let (shown, caret) = excerpt(&text, column);
        let sign = if self.options.ascii { "..." } else { "…" };
        let (shown, caret) = window(shown, caret, self.width().saturating_sub(gutter.len()), sign);
        self.line(&[(Style::Dim, &gutter), (Style::Plain, &shown)]);
        if let Some(caret) = caret {
            let blank = format!("{STACK_INDENT}   {} | ", " ".repeat(number.to_string().len()));
            self.line(&[(Style::Dim, &blank), (Style::Red, &format!("{}^", " ".repeat(caret)))]);
        }
    }

    fn width(&self) -> usize {
        self.options.width.max(MIN_WIDTH)
    }

    /// A head and a text, wrapped between words; lines after the first hang under the text.
    fn prose(&mut self, indent: &str, head: (Style<'_>, &str), text: &str) {
        let hang = " ".repeat(indent.len() + if head.1.is_empty() { 0 } else { 4 });
        let mut line = String::new();
        let mut lead = Some(head);
        let mut used = indent.len() + visible(head.1).chars().count();
        for word in text.split_whitespace().map(visible) {
            let columns = word.chars().count();
            if !line.is_empty() && used + 1 + columns > self.width() {
                self.prose_line(indent, &hang, lead.take(), &line);
                line.clear();
                used = hang.len();
            }
            if !line.is_empty() {
                line.push(' ');
                used += 1;
            }
            line.push_str(&word);
            used += columns;
        }
        if !line.is_empty() || lead.is_some_and(|(_, head)| !head.is_empty()) {
            self.prose_line(indent, &hang, lead, &line);
        }
    }

    fn prose_line(&mut self, indent: &str, hang: &str, head: Option<(Style<'_>, &str)>, text: &str) {
        match head {
            Some((style, head)) => self.line(&[(Style::Plain, indent), (style, head), (Style::Plain, text)]),
            None => self.line(&[(Style::Plain, hang), (Style::Plain, text)]),
        }
    }

    fn blank(&mut self) {
        self.out.push('\n');
    }

    fn line(&mut self, spans: &[(Style<'_>, &str)]) {
        let last = spans.iter().rposition(|(_, text)| !text.trim_end().is_empty());
        let spans = &spans[..last.map_or(0, |last| last + 1)];
        for (at, (style, text)) in spans.iter().enumerate() {
            let text = visible(text);
            let text = if at + 1 == spans.len() { text.trim_end() } else { &text };
            self.paint(*style, text);
        }
        self.out.push('\n');
    }

    fn paint(&mut self, style: Style<'_>, text: &str) {
        if let Style::Place(Some(url)) = style {
            self.out.push_str(&format!("\u{1b}]8;;{url}\u{1b}\\"));
            self.paint(Style::Place(None), text);
            return self.out.push_str("\u{1b}]8;;\u{1b}\\");
        }
        let code = match style {
            Style::Plain => "",
            Style::Bold => "1",
            Style::Red => "1;31",
            Style::Yellow => "1;33",
            Style::Cyan | Style::Place(_) => "36",
            Style::Dim => "2",
        };
        if !self.options.color || code.is_empty() || text.is_empty() {
            self.out.push_str(text);
        } else {
            self.out.push_str(&format!("\u{1b}[{code}m{text}\u{1b}[0m"));
        }
    }
}

/// How many frames from `at` on belong to libraries. A stack without user code is shown in full.
fn library_frames(stack: &[Frame], at: usize) -> usize {
    if !stack.iter().any(place::is_user_code) {
        return 0;
    }
    stack[at..].iter().take_while(|frame| !place::is_user_code(frame)).count()
}

/// The name of a function, without its template arguments if it has more columns than this. Names
/// themselves are not cut: they are meant to be copied.
fn fitted(name: String, columns: usize) -> String {
    // `<` is not always a bracket: `operator<`, `operator->`. A Rust name may begin with one.
    let is_plain = !name.contains("operator") && !name.contains("->") && !name.starts_with('<');
    if is_plain && name.chars().count() > columns { without_arguments(&name) } else { name }
}

fn without_arguments(name: &str) -> String {
    let (mut short, mut depth) = (String::new(), 0_usize);
    for c in name.chars() {
        match c {
            '<' => {
                if depth == 0 {
                    short.push_str("<…>");
                }
                depth += 1;
            }
            '>' => depth = depth.saturating_sub(1),
            c if depth == 0 => short.push(c),
            _ => {}
        }
    }
    short
}

/// The text in ASCII: raddle's own signs as similar ones, others by number.
pub fn ascii(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '→' => shown.push_str("->"),
            '…' => shown.push_str("..."),
            '–' | '—' => shown.push('-'),
            '·' => shown.push('*'),
            c if c.is_ascii() => shown.push(c),
            c => shown.extend(c.escape_default()),
        }
    }
    shown
}

/// A text with nothing in it that moves the cursor, changes colours or turns the reading direction.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || story::turns_text(c) || matches!(c, '\u{2028}' | '\u{2029}') {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// A line of source without its indentation and with tabs expanded, and the caret's position in it.
fn excerpt(text: &str, column: Option<usize>) -> (String, Option<usize>) {
    let mut shown = String::new();
    let mut caret = None;
    for (at, c) in text.char_indices() {
        // Columns in debug information count bytes.
        if column == Some(at + 1) {
            caret = Some(shown.chars().count());
        }
        match c {
            '\t' => shown.push_str("    "),
            c => shown.push_str(&visible(c.encode_utf8(&mut [0; 4]))),
        }
    }
    let indent = shown.chars().take_while(|c| *c == ' ').count();
    (shown[indent..].to_owned(), caret.map(|caret| caret.saturating_sub(indent)))
}

/// As much of a source line as fits, around the caret. `sign` stands for what is left out.
fn window(line: String, caret: Option<usize>, room: usize, sign: &str) -> (String, Option<usize>) {
    let chars: Vec<char> = line.chars().collect();
    let sign: Vec<char> = sign.chars().collect();
    if chars.len() <= room || room < 3 * sign.len() {
        return (line, caret);
    }
    // What follows the caret says more than what precedes it.
    let before = caret.unwrap_or(0).saturating_sub(room / 3);
    let from =
        if caret.is_none_or(|caret| caret + sign.len() < room) { 0 } else { before.min(chars.len() - room) };
    let mut shown = chars[from..from + room].to_vec();
    if from > 0 {
        shown[..sign.len()].copy_from_slice(&sign);
    }
    if from + room < chars.len() {
        shown[room - sign.len()..].copy_from_slice(&sign);
    }
    (shown.into_iter().collect(), caret.map(|caret| caret - from))
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
