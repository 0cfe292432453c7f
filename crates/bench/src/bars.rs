//! Bar charts of the tables in `docs/`, so that no picture shows another figure than its page.
//!
//! A page asks for a chart below a table; `raddle-bench charts docs` draws all of them, and a test
//! keeps them so:
//!
//! ```text
//! <!-- bars: gcc-tsan, raddle-hb/1 -->
//!
//! ![time of gcc's builds, times native](plots/run-time-gcc.svg)
//! ```
//!
//! The names are those of columns, and `log` after a `;` asks for a logarithmic axis. A row has a
//! bar for each of these columns; a row without any figure is left out.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::BenchError;

/// A picture that a page asks for.
#[derive(Debug, PartialEq)]
pub struct BarChart {
    /// The path in the page's link.
    pub path: String,
    pub svg: String,
}

/// Draws what a page asks for. An error says which chart has no table, column or figure.
pub fn charts(page: &str) -> Result<Vec<BarChart>, String> {
    let lines: Vec<&str> = page.lines().collect();
    let mut charts = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(wanted) = line.strip_prefix("<!-- bars: ").and_then(|rest| rest.strip_suffix(" -->")) else {
            continue;
        };
        let image = lines[at + 1..].iter().find(|line| !line.is_empty());
        let (title, path) = image
            .and_then(|line| line.strip_prefix("![")?.strip_suffix(')')?.split_once("]("))
            .ok_or_else(|| format!("no picture follows `{line}`"))?;
        let svg = Bars::read(&lines[..at], wanted).map_err(|why| format!("{path}: {why}"))?.svg(title);
        charts.push(BarChart { path: path.to_owned(), svg });
    }
    Ok(charts)
}

/// The charts of all pages of a folder: where each belongs, and what it is.
pub fn of_folder(folder: &Path) -> Result<Vec<(PathBuf, String)>, BenchError> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).map_err(BenchError::file("read", folder))? {
        let path = entry.map_err(BenchError::file("read", folder))?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            let page = fs::read_to_string(&path).map_err(BenchError::file("read", &path))?;
            let drawn =
                charts(&page).map_err(|why| BenchError::Usage(format!("{}: {why}", path.display())))?;
            all.extend(drawn.into_iter().map(|chart| (folder.join(chart.path), chart.svg)));
        }
    }
    all.sort();
    Ok(all)
}

/// One group of bars for each row of a table, one bar in it for each series.
struct Bars {
    series: Vec<String>,
    rows: Vec<(String, Vec<Option<f64>>)>,
    is_logarithmic: bool,
}

impl Bars {
    /// The last table of `above`, with the columns that are `wanted`.
    fn read(above: &[&str], wanted: &str) -> Result<Bars, String> {
        let (names, options) = wanted.split_once(';').unwrap_or((wanted, ""));
        let series: Vec<String> = names.split(',').map(|name| name.trim().to_owned()).collect();
        let end = above.iter().rposition(|line| line.starts_with('|')).ok_or("no table is above it")? + 1;
        let start = above[..end].iter().rposition(|line| !line.starts_with('|')).map_or(0, |line| line + 1);
        let header = cells(above[start]);
        let columns: Vec<usize> = series
            .iter()
            .map(|name| header.iter().position(|cell| cell == name))
            .collect::<Option<_>>()
            .ok_or_else(|| format!("the table above it has no such columns: {header:?}"))?;
        let row = |line: &&str| {
            let cells = cells(line);
            let values: Vec<Option<f64>> = columns.iter().map(|column| figure(cells.get(*column)?)).collect();
            (cells.first().cloned().unwrap_or_default(), values)
        };
        let rows: Vec<(String, Vec<Option<f64>>)> = above[start..end]
            .iter()
            .skip(2)
            .map(row)
            .filter(|(_, values)| values.iter().any(Option::is_some))
            .collect();
        if rows.is_empty() {
            return Err("the table above it has no figures".into());
        }
        Ok(Bars { series, rows, is_logarithmic: options.trim() == "log" })
    }

    /// The share of the width that a value takes, and the values that get a line.
    fn axis(&self) -> (impl Fn(f64) -> f64 + use<>, Vec<f64>) {
        let values = || self.rows.iter().flat_map(|(_, values)| values).flatten().copied();
        let (least, most) = (values().fold(f64::MAX, f64::min), values().fold(0.0, f64::max));
        let is_logarithmic = self.is_logarithmic;
        let (from, to) = if is_logarithmic {
            (least.log10().floor(), most.log10().ceil().max(least.log10().floor() + 1.0))
        } else {
            (0.0, step(most) * (most / step(most)).ceil())
        };
        let lines = if is_logarithmic {
            (from as i32..=to as i32).map(|exponent| 10f64.powi(exponent)).collect()
        } else {
            (0..=(to / step(most)).round() as u32).map(|n| f64::from(n) * step(most)).collect()
        };
        let share = move |value: f64| {
            let at = if is_logarithmic { value.log10() } else { value };
            ((at - from) / (to - from)).clamp(0.0, 1.0)
        };
        (share, lines)
    }

    fn svg(&self, title: &str) -> String {
        let group = BAR * self.series.len() as f64 + GAP;
        let label =
            self.rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0) as f64 * 6.2 + 16.0;
        let width = LENGTH + label + 56.0;
        let height = TOP + group * self.rows.len() as f64 + 24.0;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
             font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        text(&mut svg, label, 16.0, "start", title);
        self.legend(&mut svg, label);
        let (share, lines) = self.axis();
        for value in lines {
            let x = label + share(value) * LENGTH;
            let _ = writeln!(svg, "<path d=\"M{x:.1} {TOP} V{:.1}\" stroke=\"#ddd\"/>", height - 20.0);
            text(&mut svg, x, height - 7.0, "middle", &grouped(value));
        }
        for (index, (name, values)) in self.rows.iter().enumerate() {
            let top = TOP + group * index as f64;
            text(&mut svg, label - 6.0, top + (group - GAP) / 2.0 + 4.0, "end", name);
            for (series, value) in values.iter().enumerate() {
                let Some(value) = *value else { continue };
                let (y, length) = (top + BAR * series as f64, share(value) * LENGTH);
                let _ = writeln!(
                    svg,
                    "<rect x=\"{label:.1}\" y=\"{y:.1}\" width=\"{length:.1}\" height=\"{:.1}\" fill=\"{}\"/>",
                    BAR - 1.0,
                    COLOURS[series % COLOURS.len()]
                );
                text(&mut svg, label + length + 4.0, y + BAR - 2.0, "start", &grouped(value));
            }
        }
        svg + "</svg>\n"
    }

    fn legend(&self, svg: &mut String, from: f64) {
        let mut x = from;
        for (index, name) in self.series.iter().enumerate() {
            let colour = COLOURS[index % COLOURS.len()];
            let _ =
                writeln!(svg, "<rect x=\"{x:.1}\" y=\"24\" width=\"10\" height=\"10\" fill=\"{colour}\"/>");
            text(svg, x + 14.0, 33.0, "start", name);
            x += 34.0 + name.chars().count() as f64 * 6.2;
        }
    }
}

/// Height of a bar, space between groups, width of the longest bar, space above the first.
const BAR: f64 = 12.0;
const GAP: f64 = 7.0;
const LENGTH: f64 = 380.0;
const TOP: f64 = 44.0;
/// Distinguishable for people who see no red or no green (Okabe and Ito).
const COLOURS: [&str; 4] = ["#d55e00", "#0072b2", "#009e73", "#cc79a7"];

fn cells(line: &str) -> Vec<String> {
    let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
    inner.split('|').map(|cell| cell.trim().replace("**", "")).collect()
}

/// `142,418` and `4.6` are figures, `all 128` is none.
fn figure(cell: &str) -> Option<f64> {
    let value: f64 = cell.replace(',', "").parse().ok()?;
    (value > 0.0).then_some(value)
}

/// The distance of lines, of which at most six fit: 1, 2 or 5 times a power of ten.
fn step(most: f64) -> f64 {
    let unit = 10f64.powf((most / 6.0).log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .map(|times| times * unit)
        .into_iter()
        .find(|step| most / step <= 6.0)
        .unwrap_or(unit)
}

/// As in the tables: 142,418 and 4.6.
fn grouped(value: f64) -> String {
    if value < 1000.0 {
        let text = format!("{value:.2}");
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, words: &str) {
    let words = words.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>");
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "
| kernel | native, s | tsan | raddle |
| ------ | --------: | ---: | -----: |
| lu     |      0.32 | 28.4 |   11.5 |
| loom   |         – |    – |      – |
| **geometric mean** | | 8.5 | 4.6 |
";

    fn page(wanted: &str) -> String {
        format!("{TABLE}\n<!-- bars: {wanted} -->\n\n![time, times native](plots/a.svg)\n")
    }

    #[test]
    fn a_chart_has_the_figures_of_the_table_above_it() {
        let [chart] = &charts(&page("tsan, raddle")).unwrap()[..] else { panic!("one chart") };
        assert_eq!(chart.path, "plots/a.svg");
        for shown in
            [">time, times native<", ">tsan<", ">lu<", ">28.4<", ">11.5<", ">geometric mean<", ">4.6<"]
        {
            assert!(chart.svg.contains(shown), "{shown}: {}", chart.svg);
        }
        assert!(!chart.svg.contains("loom") && !chart.svg.contains(">0.32<"), "{}", chart.svg);
    }

    #[test]
    fn what_cannot_be_drawn_is_said() {
        assert!(
            charts(&page("helgrind")).unwrap_err().contains("plots/a.svg: the table above it has no such")
        );
        assert!(charts("<!-- bars: tsan -->\n\n![a](b)").unwrap_err().contains("b: no table"));
        assert!(charts(&format!("{TABLE}<!-- bars: tsan -->\n")).unwrap_err().contains("no picture follows"));
    }

    #[test]
    fn bars_are_in_proportion_on_either_axis() {
        let linear = Bars::read(&TABLE.lines().collect::<Vec<_>>(), "tsan").unwrap();
        let (share, lines) = linear.axis();
        assert_eq!((share(15.0), lines), (0.5, vec![0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0]));
        let logarithmic = Bars::read(&TABLE.lines().collect::<Vec<_>>(), "tsan; log").unwrap();
        let (share, lines) = logarithmic.axis();
        assert_eq!((share(1.0), share(10.0), lines), (0.0, 0.5, vec![1.0, 10.0, 100.0]));
    }

    #[test]
    fn figures_are_written_as_in_the_tables() {
        assert_eq!(grouped(142_418.0), "142,418");
        assert_eq!(grouped(1_000.0), "1,000");
        assert_eq!((grouped(4.6), grouped(0.75), grouped(20.0)), ("4.6".into(), "0.75".into(), "20".into()));
        assert_eq!(figure("142,418"), Some(142_418.0));
        assert_eq!(figure("all 128"), None);
    }
}
