//! How many of the wrong programs of `tests/programs` are caught in the first run, how many in two,
//! whether anything is said of the right ones, and how much longer the first runs take than the
//! programs by themselves.
//!
//!     cargo bench -p raddle-clr --bench programs [-- ROUNDS] [POLICY | paper | without-TECHNIQUE]
//!         [only=NAME] [profiler=FILE]
//!
//! `only=` takes the programs whose names contain what follows. `profiler=` names another build of
//! the profiler than the one that Cargo has made for the benchmark. Policies are those of sections
//! 3.2 and 3.3 of the paper, techniques those of its Table 3: `hb-inference`, `window`, `phase`,
//! `parallel`; and `known-order` and `last-write`, raddle's own. `tsvd-hb` wants to know what synchronises, which
//! nobody tells it here: it takes all calls for unordered.

#[path = "../tests/support/mod.rs"]
mod support;

use std::path::Path;
use std::time::{Duration, Instant};

use raddle_tsvd::{Params, Policy, technique};
use support::{Program, Run, Sdk, Way, learned, processor_time};

fn main() {
    let Some(mut sdk) = Sdk::find() else { return };
    let after = |key: &str| std::env::args().find_map(|word| word.strip_prefix(key).map(str::to_owned));
    let rounds: u32 = std::env::args().filter_map(|word| word.parse().ok()).next().unwrap_or(1);
    let params = std::env::args().find_map(|word| params(&word)).unwrap_or_default();
    if let Some(profiler) = after("profiler=") {
        sdk.profiler = profiler.into();
    }
    let folder = tempfile::tempdir().unwrap();
    let mut all = Program::all();
    if let Some(only) = after("only=") {
        all.retain(|program| program.name.contains(&only));
    }
    let assembly = sdk.compile_programs(&all, folder.path());
    let session = folder.path().join("session");
    let mut tally = Tally::default();
    for program in (0..rounds).flat_map(|_| &all) {
        let used = Used::by(|| drop(sdk.dotnet().arg(&assembly).arg(&program.name).output().unwrap()));
        tally.plain.add(used);
        tally.run(&sdk, &assembly, program, &session, params);
    }
    tally.print();
}

/// Time by the clock and of the processor.
#[derive(Clone, Copy, Default)]
struct Used {
    clock: Duration,
    processor: f64,
}

impl Used {
    fn by(act: impl FnOnce()) -> Used {
        let (begin, processor) = (Instant::now(), processor_time());
        act();
        Used { clock: begin.elapsed(), processor: processor_time() - processor }
    }

    fn add(&mut self, more: Used) {
        self.clock += more.clock;
        self.processor += more.processor;
    }
}

#[derive(Default)]
struct Tally {
    wrong: u32,
    caught_first: u32,
    caught_in_two: u32,
    right: u32,
    false_reports: u32,
    /// In first runs.
    delays: u64,
    delays_in_right: u64,
    delayed: u64,
    plain: Used,
    first: Used,
}

impl Tally {
    /// Runs a program, and once more if it is wrong and was not caught.
    fn run(&mut self, sdk: &Sdk, assembly: &Path, program: &Program, session: &Path, params: Params) {
        let mut way = Way { params, ..Way::default() };
        let mut caught = [false; 2];
        for (number, caught) in caught.iter_mut().enumerate() {
            let mut run = None;
            let words = [assembly.to_str().unwrap(), &program.name];
            let used = Used::by(|| run = Some(sdk.run(&words, session, &way)));
            let run = run.unwrap();
            if number == 0 {
                self.first.add(used);
                self.add_first(program, &run);
            }
            *caught = self.judge(program, &run);
            if *caught || program.is_right() {
                break;
            }
            way.pairs = learned(&run);
            println!("{}: not caught in run {}, {} delays", program.name, number + 1, run.delays());
            for pair in &way.pairs {
                println!("    {:?} {} µs apart: {}", pair.state, pair.gap, pair.sites.join(" and "));
            }
        }
        if program.is_right() {
            self.right += 1;
            return;
        }
        self.wrong += 1;
        self.caught_first += u32::from(caught[0]);
        self.caught_in_two += u32::from(caught[0] || caught[1]);
    }

    fn add_first(&mut self, program: &Program, run: &Run) {
        self.delays += run.delays();
        self.delayed += run.delay_nanos();
        if program.is_right() && run.delays() > 0 {
            self.delays_in_right += run.delays();
            println!("{}: {} delays in vain", program.name, run.delays());
        }
    }

    /// Whether anything was caught. Says what is wrong with what was.
    fn judge(&mut self, program: &Program, run: &Run) -> bool {
        for violation in run.violations().filter(|violation| !program.expects(violation)) {
            self.false_reports += 1;
            println!("{}: false: {violation:?}", program.name);
        }
        if !run.output.status.success() || run.said() != "done\n" || run.sites() == 0 {
            println!("{}: {} sites, {:?}", program.name, run.sites(), run.output);
        }
        run.violations().count() > 0
    }

    fn print(&self) {
        let Tally { wrong, caught_first, caught_in_two, plain, first, .. } = self;
        let percent = |n: u32| 100.0 * f64::from(n) / f64::from(*wrong);
        println!(
            "wrong programs {wrong}: caught in run 1 {caught_first} ({:.1}%), in two runs {caught_in_two} ({:.1}%)",
            percent(*caught_first),
            percent(*caught_in_two)
        );
        println!("right programs {}; false reports {}", self.right, self.false_reports);
        println!("run 1: delays {}, of which in right programs {}", self.delays, self.delays_in_right);
        let clock = |used: &Used| used.clock.as_secs_f64();
        println!(
            "run 1: {:.1} s in place of {:.1} s ({:+.0}%), {:.1} s of delays",
            clock(first),
            clock(plain),
            100.0 * (clock(first) / clock(plain) - 1.0),
            self.delayed as f64 / 1e9
        );
        println!(
            "run 1: processor time {:.1} s in place of {:.1} s ({:+.0}%)",
            first.processor,
            plain.processor,
            100.0 * (first.processor / plain.processor - 1.0)
        );
    }
}

/// The parameters that a word stands for.
fn params(word: &str) -> Option<Params> {
    let without = |technique: u32| {
        let all = Params::default();
        Params { techniques: all.techniques & !technique, ..all }
    };
    Some(match word {
        "paper" => Params::paper(Policy::Tsvd),
        "tsvd-hb" => Params::new(Policy::TsvdHb),
        "dynamic-random" => Params::new(Policy::DynamicRandom),
        "static-random" => Params::new(Policy::StaticRandom),
        "without-hb-inference" => without(technique::HB_INFERENCE),
        "without-window" => without(technique::WINDOW),
        "without-phase" => without(technique::PHASE),
        "without-known-order" => without(technique::KNOWN_ORDER),
        "without-last-write" => without(technique::LAST_WRITE),
        "without-parallel" => without(technique::PARALLEL),
        _ => return None,
    })
}
