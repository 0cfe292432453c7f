//! The benches of `raddle explore`, small, with this very raddle: the bench's own tests have a
//! stand-in.

use std::path::{Path, PathBuf};

use raddle_bench::explore::{effect, effect_report, speed};
use raddle_bench::options::{self, BenchCommand};

fn raddle() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_raddle"))
}

fn command(line: &str) -> BenchCommand {
    options::parse(line.split_whitespace().map(Into::into)).unwrap()
}

#[test]
fn the_speed_bench_gets_a_rate_for_all_it_measures() {
    let folder = tempfile::tempdir().unwrap();
    let BenchCommand::ExploreSpeed(options) = command("explore-speed --quick --seconds 1.5 --only mutex")
    else {
        panic!("another command")
    };
    let speed = speed::run(&options, raddle(), folder.path()).unwrap();
    assert_eq!(speed.failures, []);
    assert!(speed.series.len() > 16 && speed.series.iter().all(|series| series.best().is_some()));
    // Else a hand-over would be measured by two programs that differ in more than that.
    assert_eq!(speed.steps["pingpong"], speed.steps["solo"]);
}

#[test]
fn the_effect_bench_finds_what_is_wrong_in_each_language() {
    let folder = tempfile::tempdir().unwrap();
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/explore/suite");
    let BenchCommand::ExploreEffect(mut options) = command(
        "explore-effect --quick --seconds 60 --strategies preemption,pos \
         --only wronglock_1,bank_transfer,two_mutexes",
    ) else {
        panic!("another command")
    };
    options.suite = suite;
    let effect = effect::run(&options, raddle(), folder.path()).unwrap();
    assert_eq!(effect.failures, []);
    assert_eq!(effect.rows.len(), 3);
    let shown = effect_report::markdown(&effect);
    for row in &effect.rows {
        for strategy in ["preemption", "pos"] {
            assert_eq!(row.found(strategy), (1, 1), "{strategy} on {}: {shown}", row.program);
        }
        assert!(row.default.as_ref().is_some_and(|run| run.found.is_some()), "{}: {shown}", row.program);
    }
}
