//! Writes HTML in which only raddle's own markup is markup.
//!
//! [`Writer::raw`] takes text that is part of raddle's program. Everything that is known only at
//! run time goes through [`Writer::text`], an attribute or [`Writer::data`], which escape it. So a
//! name cannot become an element, whoever chose it.

use super::super::story;

#[derive(Default)]
pub(super) struct Writer {
    out: String,
}

/// The attributes of an element, by name. `None` leaves the attribute out.
pub(super) type Attributes<'a> = &'a [(&'static str, Option<&'a str>)];

impl Writer {
    /// Raddle's own markup.
    pub fn raw(&mut self, markup: &'static str) {
        self.out.push_str(markup);
    }

    /// Text inside an element.
    pub fn text(&mut self, text: &str) {
        escape(text, &mut self.out);
    }

    /// A sentence of raddle's; text in backticks is code.
    pub fn prose(&mut self, text: &str) {
        let parts: Vec<&str> = text.split('`').collect();
        for (i, part) in parts.iter().enumerate() {
            let is_closed = i + 1 < parts.len();
            match (i % 2, is_closed) {
                (1, true) => self.element("code", &[], part),
                (1, false) => {
                    self.out.push('`');
                    self.text(part);
                }
                _ => self.text(part),
            }
        }
    }

    pub fn open(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.out.push('<');
        self.out.push_str(tag);
        for (name, value) in attributes {
            let Some(value) = value else { continue };
            self.out.push(' ');
            self.out.push_str(name);
            if !value.is_empty() {
                self.out.push_str("=\"");
                escape(value, &mut self.out);
                self.out.push('"');
            }
        }
        self.out.push('>');
    }

    pub fn close(&mut self, tag: &'static str) {
        self.out.push_str("</");
        self.out.push_str(tag);
        self.out.push('>');
    }

    pub fn element(&mut self, tag: &'static str, attributes: Attributes<'_>, text: &str) {
        self.open(tag, attributes);
        self.text(text);
        self.close(tag);
    }

    pub fn line(&mut self) {
        self.out.push('\n');
    }

    /// A JSON document for the script. Nothing in it can end the element: `<` is written as a JSON
    /// escape.
    pub fn data(&mut self, id: &'static str, json: &str) {
        self.open("script", &[("type", Some("application/json")), ("id", Some(id))]);
        for c in json.chars() {
            match c {
                '<' => self.out.push_str("\\u003c"),
                '>' => self.out.push_str("\\u003e"),
                '&' => self.out.push_str("\\u0026"),
                c if is_hostile(c) => self.out.push('\u{fffd}'),
                c => self.out.push(c),
            }
        }
        self.close("script");
        self.line();
    }

    pub fn finish(self) -> String {
        self.out
    }
}

/// Text for an element or a quoted attribute.
fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if is_hostile(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
}

/// HTML cannot express control characters. A mark that changes the reading direction can disguise a
/// name.
fn is_hostile(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t') || story::turns_text(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl Fn(&mut Writer)) -> String {
        let mut writer = Writer::default();
        write(&mut writer);
        writer.finish()
    }

    #[test]
    fn text_and_attributes_stay_what_they_are() {
        let html =
            written(|w| w.element("p", &[("title", Some("\"><b>")), ("id", None)], "</p><i> & \u{1b}"));
        assert_eq!(html, "<p title=\"&quot;&gt;&lt;b&gt;\">&lt;/p&gt;&lt;i&gt; &amp; \u{fffd}</p>");
        assert_eq!(written(|w| w.open("p", &[("hidden", Some(""))])), "<p hidden>");
    }

    #[test]
    fn data_cannot_end_its_element() {
        let html = written(|w| w.data("x", "[\"</script><script>a()</script>\u{202e}\u{7f}<!--\"]"));
        assert_eq!(html.matches("script>").count(), 1, "{html}");
        assert!(!html.contains("<!--") && !html.contains('\u{202e}'), "{html}");
    }

    #[test]
    fn backticks_are_code_in_pairs() {
        assert_eq!(written(|w| w.prose("a `b` c `d`")), "a <code>b</code> c <code>d</code>");
        assert_eq!(written(|w| w.prose("a ` b")), "a ` b");
        assert_eq!(written(|w| w.prose("`<a>` ` b")), "<code>&lt;a&gt;</code> ` b");
    }
}
