//! Line charts as SVG: found on the left axis, and overhead, if any, on the right one.

use std::fmt::Write;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Axis {
    Left,
    Right,
}

pub struct PlotLine {
    pub name: String,
    pub axis: Axis,
    pub points: Vec<(f64, f64)>,
}

pub struct Chart {
    pub title: String,
    pub x: String,
    pub left: String,
    pub right: String,
    /// Labels for the ticks of x, at 0, 1, 2, …; otherwise numbers.
    pub ticks: Option<Vec<String>>,
    pub lines: Vec<PlotLine>,
}

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 320.0;
const MARGIN: (f64, f64, f64, f64) = (60.0, 30.0, 60.0, 50.0); // left, top, right, bottom
/// Distinguishable for people who see no red or no green (Okabe and Ito).
const COLOURS: [&str; 5] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#555555"];

impl Chart {
    pub fn svg(&self) -> String {
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"11\">\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
        );
        let scale = Scale::of(self);
        text(&mut svg, WIDTH / 2.0, 18.0, "middle", &self.title);
        text(&mut svg, WIDTH / 2.0, HEIGHT - 8.0, "middle", &self.x);
        text(&mut svg, 8.0, MARGIN.1 - 8.0, "start", &self.left);
        if self.lines.iter().any(|line| line.axis == Axis::Right) {
            text(&mut svg, WIDTH - 8.0, MARGIN.1 - 8.0, "end", &self.right);
        }
        self.grid(&mut svg, &scale);
        for (index, line) in self.lines.iter().enumerate() {
            draw(
                &mut svg,
                line,
                &scale,
                COLOURS[index % COLOURS.len()],
                MARGIN.1 + 14.0 * (index as f64 + 1.0),
            );
        }
        svg + "</svg>\n"
    }

    fn grid(&self, svg: &mut String, scale: &Scale) {
        for step in 0..=4 {
            let part = f64::from(step) / 4.0;
            let y = HEIGHT - MARGIN.3 - part * (HEIGHT - MARGIN.1 - MARGIN.3);
            let _ = writeln!(svg, "<path d=\"M{} {y} H{}\" stroke=\"#ddd\"/>", MARGIN.0, WIDTH - MARGIN.2);
            text(svg, MARGIN.0 - 6.0, y + 4.0, "end", &figure(part * scale.left));
            if self.lines.iter().any(|line| line.axis == Axis::Right) {
                text(svg, WIDTH - MARGIN.2 + 6.0, y + 4.0, "start", &figure(part * scale.right));
            }
        }
        let ticks: Vec<(f64, String)> = match &self.ticks {
            Some(ticks) => (0..).map(f64::from).zip(ticks.iter().cloned()).collect(),
            None => {
                let step = ((scale.x.1 - scale.x.0) / 5.0).ceil().max(1.0);
                let count = ((scale.x.1 - scale.x.0) / step) as u32;
                (0..=count).map(|i| scale.x.0 + f64::from(i) * step).map(|x| (x, figure(x))).collect()
            }
        };
        for (x, label) in ticks {
            text(svg, scale.place(x, 0.0, Axis::Left).0, HEIGHT - MARGIN.3 + 16.0, "middle", &label);
        }
    }
}

/// The ends of the axes.
struct Scale {
    x: (f64, f64),
    left: f64,
    right: f64,
}

impl Scale {
    fn of(chart: &Chart) -> Scale {
        let most = |axis| {
            let lines = chart.lines.iter().filter(|line| line.axis == axis);
            nice(lines.flat_map(|line| &line.points).map(|(_, y)| *y).fold(0.0, f64::max))
        };
        let xs = || chart.lines.iter().flat_map(|line| &line.points).map(|(x, _)| *x);
        let (least, greatest) = (xs().fold(f64::MAX, f64::min), xs().fold(f64::MIN, f64::max));
        let x = if least <= greatest { (least, greatest.max(least + 1.0)) } else { (0.0, 1.0) };
        Scale { x, left: most(Axis::Left), right: most(Axis::Right) }
    }

    fn place(&self, x: f64, y: f64, axis: Axis) -> (f64, f64) {
        let top = if axis == Axis::Left { self.left } else { self.right };
        let across = (x - self.x.0) / (self.x.1 - self.x.0);
        (
            MARGIN.0 + across * (WIDTH - MARGIN.0 - MARGIN.2),
            HEIGHT - MARGIN.3 - y.max(0.0) / top * (HEIGHT - MARGIN.1 - MARGIN.3),
        )
    }
}

/// The next of 1, 2, 4, 10, 20, 40, … so that quarters of it read well.
fn nice(value: f64) -> f64 {
    let mut unit = 1.0;
    loop {
        if let Some(top) = [1.0, 2.0, 4.0].map(|m| m * unit).into_iter().find(|top| *top >= value) {
            return top;
        }
        unit *= 10.0;
    }
}

fn figure(value: f64) -> String {
    if value.fract().abs() < 1e-9 { format!("{value:.0}") } else { format!("{value:.2}") }
}

fn draw(svg: &mut String, line: &PlotLine, scale: &Scale, colour: &str, legend: f64) {
    let places: Vec<(f64, f64)> = line.points.iter().map(|(x, y)| scale.place(*x, *y, line.axis)).collect();
    let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    let dashes = if line.axis == Axis::Right { " stroke-dasharray=\"5 3\"" } else { "" };
    let _ = writeln!(
        svg,
        "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\"{dashes}/>",
        path.join(" L")
    );
    for (x, y) in places {
        let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.4\" fill=\"{colour}\"/>");
    }
    let x = WIDTH - MARGIN.2 - 150.0;
    let y = HEIGHT - MARGIN.3 - 80.0 + (legend - MARGIN.1);
    let _ =
        writeln!(svg, "<path d=\"M{x} {} h18\" stroke=\"{colour}\" stroke-width=\"1.6\"{dashes}/>", y - 4.0);
    text(svg, x + 24.0, y, "start", &line.name);
}

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, words: &str) {
    let words = words.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_figures() {
        assert_eq!([0.0, 0.3, 1.0, 3.0, 41.0, 160.0].map(nice), [1.0, 1.0, 1.0, 4.0, 100.0, 200.0]);
    }

    #[test]
    fn a_chart_has_its_lines_words_and_points() {
        let line = |name: &str, axis| PlotLine {
            name: name.to_owned(),
            axis,
            points: vec![(1.0, 2.0), (10.0, 4.0)],
        };
        let chart = Chart {
            title: "a < b".to_owned(),
            x: "runs".to_owned(),
            left: "found".to_owned(),
            right: "overhead".to_owned(),
            ticks: None,
            lines: vec![line("tsvd", Axis::Left), line("cost", Axis::Right)],
        };
        let svg = chart.svg();
        assert!(svg.contains("a &lt; b") && svg.contains(">overhead<") && svg.contains(">tsvd<"));
        assert_eq!(svg.matches("<circle").count(), 4);
        // The greatest value found is at the top: four of four.
        assert!(svg.contains(&format!("cy=\"{:.1}\"", MARGIN.1)));
    }

    #[test]
    fn without_points_there_is_still_a_chart() {
        let chart = Chart {
            title: String::new(),
            x: String::new(),
            left: String::new(),
            right: String::new(),
            ticks: None,
            lines: Vec::new(),
        };
        assert!(chart.svg().ends_with("</svg>\n"));
    }
}
