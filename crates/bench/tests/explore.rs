//! The benches of `raddle explore` as their users run them, at the quick size, with a stand-in for
//! raddle: what is tested is the bench. Raddle itself goes through them in its own tests.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use raddle_bench::explore::effect::EffectRecord;
use raddle_bench::explore::peer::Peer;
use raddle_bench::explore::speed::{Engine, Speed, raddle_key};
use raddle_bench::explore::subject::Language;

const BENCH: &str = env!("CARGO_BIN_EXE_raddle-bench");

/// An empty folder of this test's own.
fn folder(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("explore").join(test);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

/// Knows the command line only. A search takes 0.5 s by its own account, makes 1,000 schedules (500
/// with processes, and 2,000 with two jobs), and finds what its program's name promises. `before`
/// is done first, with `$strategy` and `$program` set.
fn fake_raddle(folder: &Path, before: &str) -> String {
    let script = format!(
        r#"#!/bin/sh
case $1 in
--version) echo 'raddle 0.0.0-fake'; exit;;
cc|c++|rustc) while [ "$1" != -o ]; do shift; done; exec touch "$2";;
esac
schedules=1000; fork=false; kind=; exhausted=false
while [ "$1" != -- ]; do
    case $1 in
    -o) report=$2;;
    --strategy) strategy=$2;;
    --fork) fork=true; schedules=500;;
    --jobs) [ "$2" = 1 ] || schedules=2000;;
    esac
    shift
done
program=${{2##*/}}
case $program in
abba*|*deadlock*|*philosophers*) kind=deadlock;;
atomicity*|*wronglock*) kind=assertion;;
solo*) schedules=1250;;
esac
{before}
findings=; first=
if [ -n "$kind" ]; then findings="{{\"kind\": \"$kind\"}}"; first='"first_failure": 6,'; fi
cat >"$report" <<END
{{"stats": {{"schedules": $schedules, "seconds": 0.5, "exhausted": $exhausted, "fork": $fork, $first "steps_max": 2005}},
 "findings": [$findings]}}
END
[ -z "$kind" ] || exit 66
"#
    );
    let path = folder.join("raddle");
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

/// Runs a bench in a folder, where it leaves its record and its tables.
fn bench(folder: &Path, command: &str, options: &str) -> Output {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/explore/suite");
    let mut bench = Command::new(BENCH);
    bench.args([command, "--quick", "--json", "r.json", "--markdown", "r.md"]);
    bench.args(options.split_whitespace());
    if command == "explore-effect" {
        bench.arg("--suite").arg(suite);
    }
    bench.current_dir(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn read<T: serde::de::DeserializeOwned>(folder: &Path) -> T {
    serde_json::from_str(&fs::read_to_string(folder.join("r.json")).unwrap()).unwrap()
}

#[test]
fn speed_has_a_rate_for_each_test_language_and_way() {
    let folder = folder("speed");
    let raddle = fake_raddle(&folder, "");
    let output = bench(&folder, "explore-speed", &format!("--jobs 1,2 --seconds 0.1 --raddle {raddle}"));
    assert!(output.status.success(), "{}{}", text(&output.stderr), text(&output.stdout));
    let speed: Speed = read(&folder);
    for test in ["mutex", "atomicity", "abba"] {
        for language in [Language::C, Language::Rust] {
            let rate = |engine| speed.rate(&raddle_key(test, language, engine, "random", true));
            assert_eq!((rate(Engine::InPlace), rate(Engine::Fork)), (Some(2000.0), Some(1000.0)));
            assert_eq!(speed.start_up(test, language), Some(0.5));
        }
    }
    // A thousand executions in half a second with hand-overs, 1,250 without: 0.1 ms for a thousand
    // of them.
    let (_, hand_over) = speed.hand_over().unwrap();
    assert!((hand_over - 100.0).abs() < 1e-6, "{hand_over}");
    // Loom alone cannot do one test; without the feature all peers are named.
    assert_eq!(speed.absent.len(), if Peer::AVAILABLE { 1 } else { 3 }, "{:?}", speed.absent);

    let tables = fs::read_to_string(folder.join("r.md")).unwrap();
    assert_eq!(tables, text(&output.stdout));
    let line = tables.lines().find(|line| line.starts_with("| C, random ")).unwrap();
    assert!(line.contains("2,000 |") && line.contains("4,000 (2.0) |"), "{tables}");
    assert!(tables.contains("- raddle: raddle 0.0.0-fake") && !tables.contains(&*folder.to_string_lossy()));
}

#[test]
fn a_search_that_goes_wrong_has_no_rate_and_fails_the_bench() {
    let cases = [
        ("status", "[ $strategy != random ] || exit 2", "it ended with status 2"),
        ("unfit", "[ $strategy != random ] || fork=true", "it fell back to a process for each schedule"),
        ("phantom", "[ $strategy != random ] || kind=crash", "it reported `crash`, which is not there"),
        ("mute", "[ $strategy != random ] || report=/dev/null", "it left no report"),
    ];
    for (name, before, reason) in cases {
        let folder = folder(&format!("speed_{name}"));
        let raddle = fake_raddle(&folder, before);
        let output =
            bench(&folder, "explore-speed", &format!("--only mutex --seconds 0.1 --raddle {raddle}"));
        assert_eq!(output.status.code(), Some(1), "{name}: {}", text(&output.stderr));
        let speed: Speed = read(&folder);
        assert!(
            speed.failures.iter().any(|failure| failure.reason == reason),
            "{name}: {:?}",
            speed.failures
        );
        let rate = |strategy| {
            let key = raddle_key("mutex", Language::C, Engine::InPlace, strategy, true);
            speed.rate(&key)
        };
        assert_eq!((rate("random"), rate("portfolio")), (None, Some(2000.0)), "{name}");
        assert!(text(&output.stdout).contains(&format!("one core: {reason}.")), "{name}");
    }
}

#[test]
fn effect_counts_executions_for_each_program_and_strategy() {
    let folder = folder("effect");
    let raddle = fake_raddle(&folder, "[ $strategy != dfs ] || kind=");
    let options =
        format!("--only wronglock_,philosophers_3 --strategies dfs,pct --seeds 2 --raddle {raddle}");
    let output = bench(&folder, "explore-effect", &options);
    assert!(output.status.success(), "{}{}", text(&output.stderr), text(&output.stdout));
    let effect: EffectRecord = read(&folder);
    let programs: Vec<&str> = effect.rows.iter().map(|row| row.program.as_str()).collect();
    assert_eq!(programs, ["philosophers_3_bad.c", "wronglock_1_bad.c", "wronglock_3_bad.c"]);
    for row in &effect.rows {
        assert_eq!((row.found("dfs"), row.found("pct")), ((0, 1), (2, 2)));
        // The sixth schedule, and the run under the detector.
        assert_eq!(row.median("pct"), Some(7.0));
        assert_eq!(row.default.as_ref().map(|run| (run.jobs, run.found)), Some((2, Some(7))));
    }
    let tables = fs::read_to_string(folder.join("r.md")).unwrap();
    assert!(tables.contains("**found, of 3**") && tables.contains("on two cores: met."), "{tables}");
}

#[test]
fn a_search_that_claims_too_much_fails_the_bench() {
    let folder = folder("effect_claims");
    let raddle = fake_raddle(&folder, "[ $strategy != dfs ] || { kind=; exhausted=true; }");
    let options = format!("--only wronglock_1 --strategies dfs --default no --raddle {raddle}");
    let output = bench(&folder, "explore-effect", &options);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stdout);
    assert!(
        said.contains("wronglock_1_bad.c under dfs: seed 1: it says that no schedule fails, after 1001."),
        "{said}"
    );
}

#[test]
fn what_is_absent_or_unknown_stops_the_bench() {
    let folder = folder("absent");
    let cases = [
        ("explore-speed", "--raddle /no/such/raddle", "`/no/such/raddle` was not found"),
        ("explore-effect", "--raddle /bin/sh --only nothing_like_it", "no wrong program"),
        ("explore-effect", "--strategies best", "invalid value 'best'"),
        ("explore-speed", "--only best", "[possible values: mutex, atomicity, abba]"),
    ];
    for (command, options, complaint) in cases {
        let output = bench(&folder, command, options);
        assert_eq!(output.status.code(), Some(2), "{options}");
        assert!(text(&output.stderr).contains(complaint), "{options}: {}", text(&output.stderr));
        assert!(!folder.join("r.json").exists(), "{options}");
    }
}

#[test]
fn a_peer_says_what_it_did_or_that_it_is_not_there() {
    let output = Command::new(BENCH).args(["peer", "loom", "atomicity", "0.2"]).output().unwrap();
    if Peer::AVAILABLE {
        let pace: raddle_bench::explore::peer::Pace = serde_json::from_slice(&output.stdout).unwrap();
        assert!(pace.seconds > 0.0 && pace.schedules >= pace.failures, "{pace:?}");
    } else {
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains("the feature `peers`"), "{}", text(&output.stderr));
    }
}
