//! The picture as a table: a column per thread, a row per step, and in every cell the locks that
//! the column's thread holds, as bars. A screen reader can walk through a table, and it prints.

use super::super::picture::{Bar, Moment, Picture};
use super::super::{RenderOptions, story};
use super::link;
use super::source::Sources;
use super::writer::Writer;
use crate::place::is_user_code;

/// The number of colours that locks take in turn; see `--lock-0` in the style.
const COLOURS: usize = 6;

/// The space left on a page.
pub(super) struct Room {
    /// How many more steps that do not matter are written.
    pub steps: usize,
}

/// For each lane, its bars by slot: bars of locks that are held together are side by side.
struct Slots<'a> {
    lanes: Vec<Vec<Vec<&'a Bar>>>,
}

impl<'a> Slots<'a> {
    fn of(picture: &'a Picture) -> Slots<'a> {
        let mut lanes: Vec<Vec<Vec<&Bar>>> = vec![Vec::new(); picture.lanes.len()];
        for bar in &picture.bars {
            let slots = &mut lanes[bar.lane];
            let free = |slot: &Vec<&Bar>| {
                slot.last().is_none_or(|last| last.until.is_some_and(|until| until < bar.from))
            };
            match slots.iter().position(free) {
                Some(slot) => slots[slot].push(bar),
                None => slots.push(vec![bar]),
            }
        }
        Slots { lanes }
    }
}

pub(super) struct Drawing<'a> {
    pub picture: &'a Picture,
    pub options: &'a RenderOptions<'a>,
    pub sources: &'a mut Sources,
    pub room: &'a mut Room,
}

impl Drawing<'_> {
    pub fn write(&mut self, writer: &mut Writer) {
        let (picture, steps) = (self.picture, &self.picture.steps);
        let minor = steps.iter().filter(|step| !step.matters).count();
        let whole = minor <= self.room.steps;
        if whole {
            self.room.steps -= minor;
        }
        let steps_shown = if whole { steps.len() } else { steps.len() - minor };
        writer.raw("<section class=\"player\"><h3>Interleaving</h3>\n");
        controls(writer, minor > 0 && whole, steps_shown);
        writer.raw("<p class=\"soft\">");
        self.caption(writer, if whole { 0 } else { minor });
        writer.raw("</p>\n<div class=\"stage\"><div class=\"lanes\" tabindex=\"0\" role=\"group\" ");
        writer.raw("aria-label=\"Steps; arrow keys go from step to step\"><table>\n<caption class=\"sr\">");
        writer.raw("Interleaving, a column for each thread</caption>\n<thead><tr><th scope=\"col\" class=\"n\">#</th>");
        for (i, lane) in picture.lanes.iter().enumerate() {
            let class = format!("lane t{}", i % 4);
            writer.element("th", &[("scope", Some("col")), ("class", Some(&class))], lane);
        }
        writer.raw("</tr></thead>\n<tbody>\n");
        self.rows(writer, whole);
        writer.raw("</tbody></table></div>\n<div class=\"panes\" hidden></div></div>\n");
        legend(writer, picture);
        writer.raw("<p class=\"said\" aria-live=\"polite\"></p></section>\n");
    }

    fn caption(&self, writer: &mut Writer, left_out: usize) {
        writer.text(self.picture.caption());
        let left_out = self.picture.left_out + left_out as u64;
        if left_out > 0 {
            let are = if left_out == 1 { "is" } else { "are" };
            writer.text(&format!(" {} {are} left out.", story::count(left_out, "step")));
        }
    }

    fn rows(&mut self, writer: &mut Writer, whole: bool) {
        let slots = Slots::of(self.picture);
        let locks = locks(self.picture);
        let mut skipped = 0;
        for (i, step) in self.picture.steps.iter().enumerate() {
            if !step.matters {
                skipped += 1;
                if whole {
                    self.row(writer, i, step, &slots, &locks);
                }
                continue;
            }
            if skipped > 0 {
                self.gap(writer, i, skipped, &slots, &locks);
                skipped = 0;
            }
            self.row(writer, i, step, &slots, &locks);
        }
        if skipped > 0 {
            self.gap(writer, self.picture.steps.len() - 1, skipped, &slots, &locks);
        }
    }

    fn row(&mut self, writer: &mut Writer, i: usize, step: &Moment, slots: &Slots<'_>, locks: &[String]) {
        let mut class = format!("step {}", step.act.name());
        for (is, word) in
            [(!step.matters, " minor"), (step.is_key, " key"), (step.preempts && i > 0, " preempts")]
        {
            if is {
                class.push_str(word);
            }
        }
        let place = step.frame.as_ref().and_then(|f| Some((f.file.as_deref()?, story::line(f)?)));
        let place = place.map(|(file, line)| (self.sources.add(file, line).to_string(), line.to_string()));
        let is_library = step.frame.as_ref().is_some_and(|frame| !is_user_code(frame));
        let lane = step.lane.to_string();
        writer.open(
            "tr",
            &[
                ("class", Some(&class)),
                ("data-lane", Some(&lane)),
                ("data-file", place.as_ref().map(|(file, _)| file.as_str())),
                ("data-line", place.as_ref().map(|(_, line)| line.as_str())),
                ("data-library", is_library.then_some("")),
            ],
        );
        let number = (self.picture.left_out as usize + i + 1).to_string();
        writer.element("th", &[("scope", Some("row")), ("class", Some("n"))], &number);
        for (lane, own) in slots.lanes.iter().enumerate() {
            let class = format!("t{}{}", lane % 4, if lane == step.lane { " here" } else { "" });
            writer.open("td", &[("class", Some(&class))]);
            writer.raw("<div class=\"cell\">");
            bars(writer, own, i, locks);
            if lane == step.lane {
                self.step(writer, step, own, i);
            }
            writer.raw("</div></td>");
        }
        writer.raw("</tr>\n");
    }

    fn step(&mut self, writer: &mut Writer, step: &Moment, own: &[Vec<&Bar>], i: usize) {
        writer.raw("<div class=\"act\">");
        if step.preempts && i > 0 {
            writer.raw("<span class=\"tag\">preempts</span>");
        }
        writer.raw("<span class=\"what\">");
        writer.prose(&step.text);
        writer.raw("</span>");
        if let Some(value) = &step.value {
            writer.element("span", &[("class", Some("value"))], value);
        }
        if let Some(frame) = &step.frame {
            link::place(writer, frame, self.options);
        }
        let held: Vec<String> =
            own.iter().flatten().filter(|bar| bar.covers(i)).map(|bar| bar.label()).collect();
        if !held.is_empty() {
            writer.element("span", &[("class", Some("sr"))], &format!("holding {}", held.join(", ")));
        }
        writer.raw("</div>");
    }

    /// Stands for hidden steps that do not matter.
    fn gap(&self, writer: &mut Writer, i: usize, skipped: usize, slots: &Slots<'_>, locks: &[String]) {
        writer.raw("<tr class=\"gap\">");
        let told = story::count(skipped as u64, "step");
        writer.element("th", &[("class", Some("n")), ("title", Some(&told))], &format!("⋮ {skipped}"));
        for (lane, own) in slots.lanes.iter().enumerate() {
            let class = format!("t{}", lane % 4);
            writer.open("td", &[("class", Some(&class))]);
            writer.raw("<div class=\"cell\">");
            bars(writer, own, i.saturating_sub(1), locks);
            writer.raw("</div></td>");
        }
        writer.raw("</tr>\n");
    }
}

fn controls(writer: &mut Writer, has_minor: bool, steps: usize) {
    writer.raw(
        "<div class=\"controls\" hidden>\
         <button type=\"button\" data-go=\"first\" aria-label=\"First step\">|◀</button>\
         <button type=\"button\" data-go=\"back\" aria-label=\"Step back\">◀</button>",
    );
    let most = steps.to_string();
    writer.open(
        "input",
        &[
            ("type", Some("range")),
            ("min", Some("1")),
            ("max", Some(&most)),
            ("value", Some("1")),
            ("aria-label", Some("Step")),
        ],
    );
    writer.raw(
        "<button type=\"button\" data-go=\"on\" aria-label=\"Step on\">▶</button>\
         <button type=\"button\" data-go=\"last\" aria-label=\"Last step\">▶|</button>\
         <output></output>",
    );
    if has_minor {
        writer.raw("<label class=\"all\"><input type=\"checkbox\"> all steps</label>");
    }
    writer.raw("</div>\n");
}

fn bars(writer: &mut Writer, slots: &[Vec<&Bar>], i: usize, locks: &[String]) {
    if slots.is_empty() {
        return;
    }
    writer.raw("<span class=\"bars\" aria-hidden=\"true\">");
    for slot in slots {
        let Some(bar) = slot.iter().find(|bar| bar.covers(i)) else {
            writer.raw("<i></i>");
            continue;
        };
        let mut class = format!("l{}", colour(locks, &bar.lock));
        for (is, word) in [(bar.from == i, " first"), (bar.until == Some(i), " last"), (bar.read, " read")] {
            if is {
                class.push_str(word);
            }
        }
        writer.element("i", &[("class", Some(&class)), ("title", Some(&bar.label()))], "");
    }
    writer.raw("</span>");
}

/// The labels of the locks, in the order of their colours.
pub(super) fn locks(picture: &Picture) -> Vec<String> {
    picture.locks().iter().map(|bar| bar.lock.clone()).collect()
}

pub(super) fn colour(locks: &[String], lock: &str) -> usize {
    locks.iter().position(|known| known == lock).unwrap_or_default() % COLOURS
}

fn legend(writer: &mut Writer, picture: &Picture) {
    let locks = picture.locks();
    if locks.is_empty() {
        return;
    }
    writer.raw("<ul class=\"legend\" aria-label=\"Locks\">");
    for (i, bar) in locks.iter().enumerate() {
        let class = format!("l{}", i % COLOURS);
        writer.raw("<li>");
        writer.element("i", &[("class", Some(&class)), ("aria-hidden", Some("true"))], "");
        writer.prose(&Bar { read: false, ..(*bar).clone() }.label());
        writer.raw(" while held</li>");
    }
    writer.raw("</ul>\n");
}
