//! The detector against the pure machines: random scripts go through the shadow memory of the
//! runtime and through `raddle_race::Machine` at once, and at each access the bytes that the one
//! and the other report are compared.
//!
//! # The relation
//! Let P be the bytes on which the machine finds a race at an access (report-once off, sets
//! unbounded), F those on which the detector does, both within one granule.
//!
//! **What is found is real.** In hb, F ⊆ P, whatever was forgotten. In hybrid and fast, each byte
//! of F that is not in P is a race by 4.1 that the machine has superseded: shown the two accesses
//! alone, it finds it. (The machine drops an access that precedes the current one at once, the
//! detector when it wants the slot. In hb that is no difference, because order is transitive; in
//! hybrid the later access may hold a lock which the earlier did not.)
//!
//! **What is real is found.** P ⊆ F where the granule is *intact*, but for *repetitions*.
//! - A granule is intact until it gives up a slot for want of room: four slots, of segment, bytes,
//!   read and atomic; three where owners are kept. Slots of accesses that happened before stay
//!   until then, so this is not the same as four unordered segments. The test looks at the slots to
//!   know.
//! - A repetition is a plain access by a segment that has done the same or more to the same bytes
//!   before; the filter of the probes returns. Then F is empty, and a race on each of these bytes
//!   was reported before. With history 2 there is no filter, and no exception. A thread that comes
//!   back to the locks it held goes on with the segment it had.
//!
//! **Owners** (fast mode, the initialization state): the same with the machine's cache lines of 64
//! bytes, or granules of 8. The detector is silent for longer than the machine
//! - where a thread takes up the sid of one that ended before it, and with it what that one owned;
//! - after memory was renewed that is only part of a line: the line's owner is noted in its first
//!   granule.
//!
//! And it is silent for less where a thread that used up its sid goes on with another: it looks
//! like a second thread. What is reported then is still a race without owners.
//!
//! # Where the detector knows more order than the machine
//! It may be silent from then on, and the test asks only that F ⊆ P (or by 4.1).
//! 1. A relaxed store by one of several heads of release sequences ends the others' (C++11). The
//!    detector keeps one clock for all heads, and cannot take theirs out of it.
//! 2. A thread that passes a barrier late, when a next but one phase has begun, learns of that one
//!    too.
//! 3. After a flush, a thread that has not synchronised yet may take a sid that started over for
//!    its last user.
//!
//! # What is told to the machine in other words
//! 1. Memory that was just allocated counts as written by whoever got it, in whole granules, so the
//!    machine is told of an allocation and a write. Where owners are kept there is no such write.
//! 2. A barrier is a SIGNAL and a WAIT for each of its threads, by phase. Using up a sid is a
//!    SIGNAL nobody waits for.
//!
//! Left out: stale values of atomics, locks taken by a thread in two modes at once, and lock sets
//! of more than eight locks.

#[path = "oracle/both.rs"]
mod both;
#[path = "oracle/fast.rs"]
mod fast;
#[path = "oracle/granule.rs"]
mod granule;
#[path = "oracle/regressions.rs"]
mod regressions;
#[path = "oracle/script.rs"]
mod script;

use both::Tally;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config as Runs, TestCaseError, TestError, TestRunner};
use raddle_rt::detect::{self, Settings, testing};
use script::{Script, Step};

const CASES: u32 = 400;
const LENGTH: usize = 60;

/// Settings are the process's, so each test is a process: the test binary again, told to run only
/// this test.
fn isolated(name: &str, settings: Settings, body: impl FnOnce()) {
    const INSIDE: &str = "RADDLE_ORACLE_INSIDE";
    if std::env::var_os(INSIDE).is_some() {
        testing::reserve_shadow();
        detect::configure(settings);
        return body();
    }
    let exe = std::env::current_exe().expect("the test binary");
    let output =
        std::process::Command::new(exe).args(["--exact", name]).env(INSIDE, "1").output().expect("runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("1 passed"), "no test is called {name}");
}

const HB: Settings = Settings::DEFAULT;
const HYBRID: Settings = Settings { hybrid: true, ..HB };
const FAST: Settings = Settings { owners: true, lines: true, ..HYBRID };

/// `RADDLE_ORACLE_CASES` asks for more.
fn cases(usually: u32) -> u32 {
    std::env::var("RADDLE_ORACLE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usually)
}

/// Plays random scripts. One that fails is cut down, step by step, as long as it fails: shorter
/// than proptest makes it, which keeps the shape that the script was made by.
fn hold(strategy: impl Strategy<Value = Script>, usually: u32) {
    let runs =
        Runs { cases: cases(usually), failure_persistence: None, max_shrink_iters: 0, ..Runs::default() };
    let held = TestRunner::new(runs).run(&strategy, |mut script| {
        let Err(mut difference) = both::play(&script) else { return Ok(()) };
        while let Some((shorter, e)) = (0..script.len()).find_map(|at| without(&script, at)) {
            (script, difference) = (shorter, e);
        }
        let steps: Vec<String> =
            script.iter().map(|(thread, step)| format!("    ({thread}, {step:?}),\n")).collect();
        Err(TestCaseError::fail(format!("{difference}\n{}", steps.concat())))
    });
    if let Err(TestError::Fail(why, _)) = held {
        panic!("{why}");
    }
    held.expect("every script can be played");
}

/// The script without one step, if it still fails.
fn without(script: &Script, at: usize) -> Option<(Script, String)> {
    let mut shorter = script.clone();
    shorter.remove(at);
    both::play(&shorter).err().map(|e| (shorter, e))
}

/// Each mode with each history.
macro_rules! modes {
    ($($name:ident: $settings:expr, $history:literal;)*) => {$(
        #[test]
        fn $name() {
            let settings = Settings { history: $history, ..$settings };
            isolated(stringify!($name), settings, || hold(script::any_script(LENGTH), CASES));
        }
    )*};
}

modes! {
    hb_history_0: HB, 0;
    hb_history_1: HB, 1;
    hb_history_2: HB, 2;
    hybrid_history_0: HYBRID, 0;
    hybrid_history_1: HYBRID, 1;
    hybrid_history_2: HYBRID, 2;
    fast_history_0: FAST, 0;
    fast_history_1: FAST, 1;
    fast_history_2: FAST, 2;
    hb_initialization_state: Settings { owners: true, ..HB }, 1;
    hybrid_initialization_state: Settings { owners: true, ..HYBRID }, 1;
}

/// What synchronises, taken out of a script: all that is left of it is accesses that meet.
fn bare(script: &Script) -> Script {
    let access = |step: &Step| matches!(step, Step::Access { .. } | Step::Free { .. });
    script.iter().filter(|(_, step)| access(step)).cloned().collect()
}

/// The scripts must reach what the relation speaks of, or these tests would show little.
fn scripts_are_not_trivial() {
    let mut runner = TestRunner::deterministic();
    let (mut racy, mut ordered, mut sum) = (0, 0, Tally::default());
    const SCRIPTS: u32 = 500;
    for _ in 0..SCRIPTS {
        let script = script::any_script(LENGTH).new_tree(&mut runner).expect("a script").current();
        let tally = both::play(&script).expect("the relation holds");
        racy += u32::from(tally.fast > 0);
        ordered += u32::from(tally.fast == 0 && both::play(&bare(&script)).expect("it holds").fast > 0);
        sum = sum + tally;
    }
    assert!(racy > SCRIPTS / 4, "{racy} have races");
    assert!(ordered > SCRIPTS / 10, "{ordered} have none, and only because they synchronise");
    assert!(sum.intact > sum.pieces * 3 / 4, "most are judged with nothing forgotten: {sum:?}");
    assert!(sum.pure > 100 && sum.fast > 100, "{sum:?}");
    assert!([sum.filtered, sum.evicted, sum.forgotten].iter().all(|n| *n >= 10), "{sum:?}");
    let hybrid = detect::settings().hybrid;
    assert!(if hybrid { sum.superseded > 0 } else { sum.superseded == 0 }, "{sum:?}");
}

#[test]
fn happens_before_scripts_are_not_trivial() {
    isolated("happens_before_scripts_are_not_trivial", HB, scripts_are_not_trivial);
}

#[test]
fn hybrid_scripts_are_not_trivial() {
    isolated("hybrid_scripts_are_not_trivial", HYBRID, scripts_are_not_trivial);
}

/// With flushes, and threads that use up their sids.
macro_rules! long_lived {
    ($($name:ident: $settings:expr;)*) => {$(
        #[test]
        fn $name() {
            isolated(stringify!($name), $settings, || hold(script::long_lived_script(LENGTH), CASES / 4));
        }
    )*};
}

long_lived! {
    hb_long_lived: HB;
    hybrid_long_lived: HYBRID;
    fast_long_lived: FAST;
    hb_initialization_state_long_lived: Settings { owners: true, ..HB };
}
