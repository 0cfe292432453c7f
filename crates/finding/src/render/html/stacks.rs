//! Stacks, folded to the user's code: frames of the language's library and of the system are one
//! line that can be opened.

use crate::model::Frame;
use crate::place;

use super::super::{RenderOptions, story};
use super::highlight::{Highlighter, SourceLanguage, TokenClass};
use super::writer::Writer;
use super::{link, names, source};

/// How many lines before and after a frame's line are shown.
const AROUND: u32 = 2;

/// A stack, innermost frame first. With `quotes`, shows the lines around the frame that represents
/// it.
pub(super) fn write(writer: &mut Writer, stack: &[Frame], quotes: bool, options: &RenderOptions<'_>) {
    let shown = story::trimmed(stack);
    if shown.is_empty() {
        return;
    }
    let important = place::place(stack);
    let stays = |frame: &Frame| {
        place::is_user_code(frame) || important.is_some_and(|important| std::ptr::eq(important, frame))
    };
    writer.raw("<ol class=\"stack\">\n");
    let mut number = 0;
    for run in shown.chunk_by(|a, b| stays(a) == stays(b)) {
        if stays(&run[0]) || run.len() == 1 {
            for frame in run {
                let here = important.is_some_and(|important| std::ptr::eq(important, frame));
                frame_line(writer, frame, number, here, quotes, options);
                number += 1;
            }
            continue;
        }
        writer.raw("<li class=\"folded\"><details><summary>");
        writer.text(&format!("{} of libraries", story::count(run.len() as u64, "frame")));
        writer.raw("</summary><ol class=\"stack\">\n");
        for frame in run {
            frame_line(writer, frame, number, false, false, options);
            number += 1;
        }
        writer.raw("</ol></details></li>\n");
    }
    writer.raw("</ol>\n");
}

fn frame_line(
    writer: &mut Writer,
    frame: &Frame,
    number: usize,
    here: bool,
    quotes: bool,
    options: &RenderOptions<'_>,
) {
    let class = match (here, place::is_user_code(frame)) {
        (true, _) => "here",
        (false, true) => "own",
        (false, false) => "library",
    };
    writer.open("li", &[("class", Some(class))]);
    writer.element("span", &[("class", Some("number"))], &format!("#{number}"));
    let function = story::function(frame);
    writer.raw(" ");
    writer.element("code", &[("title", Some(function))], &names::short(function));
    if let Some(place) = story::place(frame, options) {
        writer.raw(" ");
        link::write(writer, frame, &place, options);
    }
    if here && quotes {
        quote(writer, frame, options);
    }
    writer.raw("</li>\n");
}

/// The lines around a frame's line, with that line marked.
fn quote(writer: &mut Writer, frame: &Frame, options: &RenderOptions<'_>) {
    let (Some(file), Some(line)) = (frame.file.as_deref(), story::line(frame)) else { return };
    let text = |n: u32| options.source.line(file, n).filter(|_| n > 0);
    if text(line).is_none_or(|text| text.trim().is_empty()) {
        return;
    }
    let mut highlighter = Highlighter::new(SourceLanguage::of(file));
    writer.raw("<pre class=\"quote\" tabindex=\"0\">");
    for n in line.saturating_sub(AROUND)..=line.saturating_add(AROUND) {
        let Some(text) = text(n) else { continue };
        let class = if n == line { "line now" } else { "line" };
        writer.open("span", &[("class", Some(class))]);
        writer.element("b", &[("aria-hidden", Some("true"))], &n.to_string());
        for (class, token) in highlighter.line(source::cut(text.trim_end())) {
            if class == TokenClass::Plain {
                writer.text(token);
            } else {
                writer.element("i", &[("class", Some(class.letter()))], token);
            }
        }
        writer.raw("\n</span>");
    }
    writer.raw("</pre>");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::frame;

    fn written(stack: &[Frame]) -> String {
        let mut writer = Writer::default();
        write(&mut writer, stack, true, &RenderOptions::default());
        writer.finish()
    }

    #[test]
    fn frames_of_libraries_are_folded() {
        let library = |name: &str| frame(name, "/usr/include/c++/12/bits/stl_vector.h", 3, 1);
        let stack =
            [library("a"), library("b"), frame("mine", "a.cc", 7, 1), library("c"), frame("m", "a.cc", 9, 1)];
        let html = written(&stack);
        assert_eq!(html.matches("<details>").count(), 1, "{html}");
        assert!(html.contains("<summary>2 frames of libraries</summary>"), "{html}");
        let numbers: Vec<bool> = (0..5).map(|n| html.contains(&format!(">#{n}<"))).collect();
        assert_eq!(numbers, [true; 5], "{html}");
        assert!(
            html.contains("<li class=\"here\"><span class=\"number\">#2</span> <code title=\"mine\">"),
            "{html}"
        );
    }

    #[test]
    fn the_line_is_quoted_with_its_neighbours() {
        let source = |_: &str, line: u32| Some(format!("int x{line}; // </pre>"));
        let mut writer = Writer::default();
        let options = RenderOptions { source: &source, ..RenderOptions::default() };
        write(&mut writer, &[frame("f", "a.c", 2, 1)], true, &options);
        let html = writer.finish();
        assert_eq!(html.matches("class=\"line").count(), 4, "{html}");
        assert!(
            html.contains("<span class=\"line now\"><b aria-hidden=\"true\">2</b><i class=\"t\">int</i> x2;")
        );
        assert!(html.contains("// &lt;/pre&gt;") && html.matches("</pre>").count() == 1, "{html}");
    }
}
