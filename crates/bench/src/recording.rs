//! A recording of a terminal as one animated SVG, for README.
//!
//! `raddle-bench record -o docs/plots/hunt.svg --title "raddle hunt bank.c" -- raddle hunt --color
//! always bank.c` runs the command, notes when each line comes, and draws the lines in that order.
//! Long pauses are cut short. The picture needs no script and no font: it is text, with SMIL, which
//! browsers also play in `<img>`; where they do not, all lines are there.

use std::fmt::Write;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::error::BenchError;

/// A line of the terminal, and when it appears.
#[derive(Debug, Clone, PartialEq)]
pub struct ScreenLine {
    pub at: Duration,
    pub text: String,
}

/// No line lets the reader wait longer than this for the next one.
const LONGEST_PAUSE: Duration = Duration::from_millis(900);
/// Nor does it come so soon that nobody sees it come.
const SHORTEST_PAUSE: Duration = Duration::from_millis(60);
/// How long the end stays before the recording begins again.
const REST: Duration = Duration::from_secs(8);

/// Runs a command and returns what it prints, stderr included, with the time of each line.
pub fn record(words: &[std::ffi::OsString]) -> Result<Vec<ScreenLine>, BenchError> {
    let (program, arguments) =
        words.split_first().ok_or_else(|| BenchError::Usage("`record` needs a command after --".into()))?;
    // One pipe for both streams keeps their order.
    let script = "exec \"$@\" 2>&1";
    let mut child = Command::new("sh")
        .args(["-c", script, "sh"])
        .arg(program)
        .args(arguments)
        .stdout(Stdio::piped())
        .spawn()
        .map_err(BenchError::Launch)?;
    let begun = Instant::now();
    let mut lines = Vec::new();
    let pipe = child.stdout.take().expect("a piped stdout");
    for text in BufReader::new(pipe).lines() {
        lines.push(ScreenLine { at: begun.elapsed(), text: text.map_err(BenchError::Launch)? });
    }
    child.wait().map_err(BenchError::Launch)?;
    Ok(lines)
}

/// The times at which lines are shown: as they came, but at a pace that can be followed.
fn paced(lines: &[ScreenLine]) -> Vec<ScreenLine> {
    let (mut shown, mut came) = (Duration::ZERO, Duration::ZERO);
    let mut paced = Vec::new();
    for line in lines {
        shown += (line.at.saturating_sub(came)).clamp(SHORTEST_PAUSE, LONGEST_PAUSE);
        came = line.at;
        paced.push(ScreenLine { at: shown, text: line.text.clone() });
    }
    paced
}

const COLUMN: f64 = 8.43;
const ROW: f64 = 19.0;
const MARGIN: f64 = 16.0;
const BAR: f64 = 34.0;

/// Draws a terminal of so many columns and rows. Lines beyond the last row scroll.
pub fn draw(title: &str, lines: &[ScreenLine], columns: usize, rows: usize) -> String {
    let mut all = vec![ScreenLine { at: Duration::ZERO, text: format!("\x1b[1m$ {title}\x1b[0m") }];
    all.extend(paced(lines));
    let total = (all.last().map_or(Duration::ZERO, |line| line.at) + REST).as_secs_f64();
    let rows = rows.min(all.len());
    let width = 2.0 * MARGIN + columns as f64 * COLUMN;
    let height = BAR + 2.0 * MARGIN + rows as f64 * ROW;
    let mut svg = String::new();
    let view = format!("0 0 {width:.0} {height:.0}");
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{view}\" width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\">"
    );
    let _ = writeln!(svg, "<title>{}</title>", escaped(title));
    svg.push_str(STYLE);
    let _ = writeln!(svg, "<rect class=\"window\" width=\"100%\" height=\"100%\" rx=\"8\"/>");
    let _ = writeln!(svg, "<text class=\"name\" x=\"50%\" y=\"22\">{}</text>", escaped(title));
    for (n, colour) in ["#ff5f57", "#febc2e", "#28c840"].iter().enumerate() {
        let _ = writeln!(svg, "<circle cx=\"{}\" cy=\"17\" r=\"5.5\" fill=\"{colour}\"/>", 20 + 18 * n);
    }
    let inner = rows as f64 * ROW + 6.0;
    let _ = writeln!(svg, "<svg x=\"{MARGIN}\" y=\"{BAR}\" width=\"100%\" height=\"{inner:.0}\"><g>");
    svg.push_str(&scrolling(&all, rows, total));
    for (n, line) in all.iter().enumerate() {
        let y = (n as f64 + 1.0) * ROW;
        let begin = line.at.as_secs_f64() / total;
        let appears = format!(
            "<animate attributeName=\"opacity\" calcMode=\"discrete\" values=\"0;1\" keyTimes=\"0;{begin:.4}\" dur=\"{total:.2}s\" repeatCount=\"indefinite\"/>"
        );
        let appears = if n == 0 { "" } else { &appears };
        let _ = writeln!(svg, "<text y=\"{y:.1}\">{}{appears}</text>", spans(&line.text, columns));
    }
    svg.push_str("</g></svg>\n</svg>\n");
    svg
}

const STYLE: &str = "<style>
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #d8dee9; white-space: pre; }
.window { fill: #1b2230; } .name { text-anchor: middle; fill: #8a94a6; }
.b { font-weight: bold; } .d { fill: #8a94a6; } .f31 { fill: #ff7b72; } .f32 { fill: #7ee787; }
.f33 { fill: #f2cc60; } .f34 { fill: #79c0ff; } .f35 { fill: #d2a8ff; } .f36 { fill: #76e3ea; }
</style>
";

/// Moves the lines up by one row for each that does not fit.
fn scrolling(lines: &[ScreenLine], rows: usize, total: f64) -> String {
    if lines.len() <= rows {
        return String::new();
    }
    let mut times = vec!["0".to_owned()];
    let mut places = vec!["0 0".to_owned()];
    for (n, line) in lines.iter().enumerate().skip(rows) {
        times.push(format!("{:.4}", line.at.as_secs_f64() / total));
        places.push(format!("0 -{:.0}", (n + 1 - rows) as f64 * ROW));
    }
    format!(
        "<animateTransform attributeName=\"transform\" type=\"translate\" calcMode=\"discrete\" values=\"{}\" keyTimes=\"{}\" dur=\"{total:.2}s\" repeatCount=\"indefinite\"/>\n",
        places.join(";"),
        times.join(";")
    )
}

/// The text of a line with its colours, cut at the last column.
fn spans(text: &str, columns: usize) -> String {
    let (mut out, mut class, mut left) = (String::new(), String::new(), columns);
    for part in text.split('\x1b') {
        let (codes, words) = match part.strip_prefix('[').and_then(|rest| rest.split_once('m')) {
            Some((codes, words)) => (Some(codes), words),
            None => (None, part),
        };
        codes.into_iter().flat_map(|codes| codes.split(';')).for_each(|code| apply(&mut class, code));
        let shown: String = words.chars().take(left).collect();
        left -= shown.chars().count();
        match (shown.is_empty(), class.is_empty()) {
            (true, _) => {}
            (_, true) => out.push_str(&escaped(&shown)),
            _ => {
                let _ = write!(out, "<tspan class=\"{}\">{}</tspan>", class.trim(), escaped(&shown));
            }
        }
    }
    out
}

/// What an SGR code does to the classes of the text after it.
fn apply(class: &mut String, code: &str) {
    match code {
        "" | "0" => class.clear(),
        "1" => class.push_str(" b"),
        "2" => class.push_str(" d"),
        "31" | "32" | "33" | "34" | "35" | "36" => {
            let _ = write!(class, " f{code}");
        }
        _ => {}
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(millis: u64, text: &str) -> ScreenLine {
        ScreenLine { at: Duration::from_millis(millis), text: text.to_owned() }
    }

    #[test]
    fn long_pauses_are_cut_and_bursts_spread() {
        let times: Vec<u128> = paced(&[line(0, "a"), line(1, "b"), line(60_000, "c")])
            .iter()
            .map(|line| line.at.as_millis())
            .collect();
        assert_eq!(times, [60, 120, 1020]);
    }

    #[test]
    fn colours_become_classes_and_markup_is_escaped() {
        assert_eq!(spans("a \x1b[1;31m<b>\x1b[0m c", 80), "a <tspan class=\"b f31\">&lt;b&gt;</tspan> c");
        assert_eq!(spans("\x1b[1mabcdef\x1b[0mgh", 3), "<tspan class=\"b\">abc</tspan>");
    }

    #[test]
    fn what_does_not_fit_scrolls() {
        let lines: Vec<ScreenLine> = (0..5).map(|n| line(n * 100, "x")).collect();
        let svg = draw("t", &lines, 80, 4);
        // Six lines with the command's own, in four rows.
        assert!(svg.contains("values=\"0 0;0 -19;0 -38\""), "{svg}");
        assert!(!draw("t", &lines, 80, 9).contains("animateTransform"));
    }

    #[test]
    fn lines_come_in_the_order_in_which_they_were_printed() {
        let words = ["sh", "-c", "echo one; echo two >&2; echo three"].map(Into::into);
        let lines: Vec<String> = record(&words).unwrap().into_iter().map(|line| line.text).collect();
        assert_eq!(lines, ["one", "two", "three"]);
    }
}
