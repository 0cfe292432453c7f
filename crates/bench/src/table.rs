//! Markdown tables that also read well as plain text, and the format of figures in them.

/// Shown where there is no figure.
pub const NONE: &str = "–";

pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// The first column is left-aligned, the others hold figures and are right-aligned.
    pub fn new<S: Into<String>>(header: impl IntoIterator<Item = S>) -> Table {
        Table { header: header.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row. A row that is too short is filled up with [`NONE`].
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let mut cells: Vec<String> = cells.into_iter().map(|cell| cell.into().replace('|', "\\|")).collect();
        cells.resize(self.header.len(), NONE.to_owned());
        self.rows.push(cells);
    }

    pub fn render(&self) -> String {
        let width = |column: usize| {
            let cells = self.rows.iter().map(|row| &row[column]).chain([&self.header[column]]);
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(3)
        };
        let widths: Vec<usize> = (0..self.header.len()).map(width).collect();
        let line = |cells: &[String]| {
            let padded = cells.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
            format!("| {} |\n", padded.collect::<Vec<_>>().join(" | "))
        };
        let rule: Vec<String> = widths
            .iter()
            .enumerate()
            .map(|(column, &width)| if column == 0 { "-".repeat(width) } else { "-".repeat(width - 1) + ":" })
            .collect();
        let mut text = line(&self.header) + &line(&rule);
        text.extend(self.rows.iter().map(|row| line(row)));
        text
    }
}

/// About two significant digits: 0.85, 5.6, 123. More would be noise.
pub fn ratio(value: Option<f64>) -> String {
    match value {
        None => NONE.to_owned(),
        Some(value) if value < 1.995 => format!("{value:.2}"),
        Some(value) if value < 99.95 => format!("{value:.1}"),
        Some(value) => format!("{value:.0}"),
    }
}

pub fn seconds(value: Option<f64>) -> String {
    value.map_or(
        NONE.to_owned(),
        |value| if value < 0.0995 { format!("{value:.3}") } else { format!("{value:.2}") },
    )
}

pub fn mebibytes(kib: Option<f64>) -> String {
    kib.map_or(NONE.to_owned(), |kib| format!("{:.0}", kib / 1024.0))
}

pub fn percent(part: Option<f64>) -> String {
    part.map_or(NONE.to_owned(), |part| format!("{:.0}%", part * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_short_rows_are_filled() {
        let mut table = Table::new(["kernel", "hb", "clang-tsan"]);
        table.row(["lu", "5.6", "7.1"]);
        table.row(["hashtable", "12"]);
        let expected = "\
| kernel    |  hb | clang-tsan |
| --------- | --: | ---------: |
| lu        | 5.6 |        7.1 |
| hashtable |  12 |          – |
";
        assert_eq!(table.render(), expected);
    }

    #[test]
    fn a_bar_in_a_cell_does_not_end_it() {
        let mut table = Table::new(["a", "b"]);
        table.row(["x|y", "1"]);
        assert!(table.render().contains("| x\\|y |"));
    }

    #[test]
    fn ratios_keep_as_many_places_as_mean_something() {
        let written: Vec<String> =
            [0.8512, 1.0, 1.999, 5.63, 22.04, 99.97, 123.4].map(|value| ratio(Some(value))).to_vec();
        assert_eq!(written, ["0.85", "1.00", "2.0", "5.6", "22.0", "100", "123"]);
        assert_eq!(ratio(None), NONE);
    }

    #[test]
    fn seconds_memory_and_parts() {
        assert_eq!(seconds(Some(0.0123)), "0.012");
        assert_eq!(seconds(Some(0.314)), "0.31");
        assert_eq!(mebibytes(Some(20480.0)), "20");
        assert_eq!(percent(Some(0.256)), "26%");
        assert_eq!((seconds(None), mebibytes(None), percent(None)), (NONE.into(), NONE.into(), NONE.into()));
    }
}
