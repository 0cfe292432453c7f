//! How many of the wrong programs of `tests/programs` are caught in the first run, how many in two,
//! whether anything is said of the right ones, and how much longer the first runs take than the
//! programs by themselves.
//!
//!     cargo bench -p raddle-clr --bench programs [-- ROUNDS] [POLICY | paper | without-TECHNIQUE] [only=NAME]
//!
//! `only=` takes the programs whose names contain what follows. Policies are those of sections 3.2
//! and 3.3 of the paper, techniques those of its Table 3: `hb-inference`, `window`, `phase`,
//! `parallel`; and `known-order`, raddle's own. `tsvd-hb` wants to know what synchronises, which
//! nobody tells it here: it takes all calls for unordered.

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::{Duration, Instant};

use raddle_tsvd::{Params, Policy, technique};
use support::{Program, Sdk, Way, learned};

fn main() {
    let Some(sdk) = Sdk::find() else { return };
    let rounds: u32 = std::env::args().filter_map(|word| word.parse().ok()).next().unwrap_or(1);
    let params = std::env::args().find_map(|word| params(&word)).unwrap_or_default();
    let folder = tempfile::tempdir().unwrap();
    let mut all = Program::all();
    if let Some(only) = std::env::args().find_map(|word| word.strip_prefix("only=").map(str::to_owned)) {
        all.retain(|program| program.name.contains(&only));
    }
    let assembly = sdk.compile_programs(&all, folder.path());
    let session = folder.path().join("session");
    let (mut wrong, mut first, mut second, mut right, mut false_reports) = (0, 0, 0, 0, 0);
    let (mut delays, mut vain_delays) = (0, 0);
    let (mut plain_time, mut first_time, mut delayed) = (Duration::ZERO, Duration::ZERO, 0);
    let (mut plain_processor, mut first_processor) = (0.0, 0.0);
    for program in (0..rounds).flat_map(|_| &all) {
        let mut way = Way { params, ..Way::default() };
        let mut caught = [false; 2];
        let (begin, processor) = (Instant::now(), processor_time());
        sdk.dotnet().arg(&assembly).arg(&program.name).output().unwrap();
        plain_time += begin.elapsed();
        plain_processor += processor_time() - processor;
        for (number, caught) in caught.iter_mut().enumerate() {
            let (begin, processor) = (Instant::now(), processor_time());
            let run = sdk.run(&[assembly.to_str().unwrap(), &program.name], &session, &way);
            for violation in run.violations().filter(|violation| !program.expects(violation)) {
                false_reports += 1;
                println!("{}: false: {violation:?}", program.name);
            }
            if number == 0 {
                first_time += begin.elapsed();
                first_processor += processor_time() - processor;
                delays += run.delays();
                delayed += run.delay_nanos();
                if program.is_right() && run.delays() > 0 {
                    vain_delays += run.delays();
                    println!("{}: {} delays in vain", program.name, run.delays());
                }
            }
            *caught = run.violations().count() > 0;
            if !run.output.status.success() || run.said() != "done\n" || run.sites() == 0 {
                println!("{}: {} sites, {:?}", program.name, run.sites(), run.output);
            }
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
            right += 1;
            continue;
        }
        wrong += 1;
        first += u32::from(caught[0]);
        second += u32::from(caught[0] || caught[1]);
        if !caught[0] {
            println!("{}: run 1 {}, run 2 {}", program.name, caught[0], caught[1]);
        }
    }
    let percent = |n: u32| 100.0 * f64::from(n) / f64::from(wrong);
    println!(
        "wrong programs {wrong}: caught in run 1 {first} ({:.1}%), in two runs {second} ({:.1}%)",
        percent(first),
        percent(second)
    );
    println!("right programs {right}; false reports {false_reports}");
    println!("run 1: delays {delays}, of which in right programs {vain_delays}");
    let seconds = |time: Duration| time.as_secs_f64();
    println!(
        "run 1: {:.1} s in place of {:.1} s ({:+.0}%), {:.1} s of delays",
        seconds(first_time),
        seconds(plain_time),
        100.0 * (seconds(first_time) / seconds(plain_time) - 1.0),
        delayed as f64 / 1e9
    );
    println!(
        "run 1: processor time {first_processor:.1} s in place of {plain_processor:.1} s ({:+.0}%)",
        100.0 * (first_processor / plain_processor - 1.0)
    );
}

/// Seconds that processes which were waited for have used.
fn processor_time() -> f64 {
    // SAFETY: numbers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: a place for the answer.
    unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage) };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
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
        "without-parallel" => without(technique::PARALLEL),
        _ => return None,
    })
}
