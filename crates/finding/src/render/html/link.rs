//! Links that open a place in the editor.

use crate::model::Frame;

use super::super::{RenderOptions, place_url, story};
use super::names;
use super::writer::Writer;

/// The function and the place of a frame, as a link if the file is known.
pub(super) fn place(writer: &mut Writer, frame: &Frame, options: &RenderOptions<'_>) {
    let (file, line) = (frame.file.as_deref(), story::line(frame));
    let function = frame.function.as_deref().map(names::short);
    let (place, line) = match (file, line) {
        (Some(file), Some(line)) => (Some(crate::place::file_name(file).to_owned()), Some(line)),
        _ => (story::place(frame, options), None),
    };
    if function.is_none() && place.is_none() {
        return;
    }
    open(writer, frame, options);
    // Where there is little room, the function is shortened and the place is not.
    if let Some(function) = &function {
        let end = if place.is_some() { " · " } else { "" };
        writer.element("span", &[("class", Some("function"))], &format!("{function}{end}"));
    }
    if let Some(place) = &place {
        writer.element("span", &[("class", Some("file"))], place);
    }
    if let Some(line) = line {
        writer.element("span", &[], &format!(":{line}"));
    }
    close(writer, frame, options);
}

/// `text` as a link to the place of a frame; plain text if no editor could open it.
pub(super) fn write(writer: &mut Writer, frame: &Frame, text: &str, options: &RenderOptions<'_>) {
    open(writer, frame, options);
    writer.text(text);
    close(writer, frame, options);
}

fn open(writer: &mut Writer, frame: &Frame, options: &RenderOptions<'_>) {
    let full = story::place(frame, options);
    let url = url(frame, options);
    let tag = if url.is_some() { "a" } else { "span" };
    writer.open(tag, &[("class", Some("place")), ("href", url.as_deref()), ("title", full.as_deref())]);
}

fn close(writer: &mut Writer, frame: &Frame, options: &RenderOptions<'_>) {
    writer.raw(if url(frame, options).is_some() { "</a>" } else { "</span>" });
}

/// The editor URL of a frame.
fn url(frame: &Frame, options: &RenderOptions<'_>) -> Option<String> {
    place_url(frame, options.editor?, options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::frame;

    #[test]
    fn a_place_is_a_link_if_an_editor_can_find_it() {
        let of = |file: &str, root: Option<&str>, editor| {
            url(&frame("f", file, 3, 1), &RenderOptions { root, editor, ..RenderOptions::default() })
        };
        let editor = Some("vscode://file{path}:{line}:{column}");
        assert_eq!(of("a b.c", Some("/src/"), editor).unwrap(), "vscode://file/src/a%20b.c:3:1");
        assert_eq!(of("/x/{line}\"<.c", None, editor).unwrap(), "vscode://file/x/%7Bline%7D%22%3C.c:3:1");
        assert_eq!(of("a.c", None, editor), None);
        assert_eq!(of("/a.c", None, None), None);
    }
}
