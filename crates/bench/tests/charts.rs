//! The charts in `docs/` show the figures of their pages. `raddle-bench charts docs` draws them anew.

use std::fs;
use std::path::Path;

use raddle_bench::bars;

#[test]
fn charts_show_the_figures_of_their_pages() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let charts = bars::of_folder(&docs).unwrap();
    assert!(charts.len() >= 5, "only {} charts", charts.len());
    for (path, svg) in charts {
        let drawn = fs::read_to_string(&path).unwrap_or_default();
        assert!(drawn == svg, "{} is not of today's table: raddle-bench charts docs", path.display());
    }
}
