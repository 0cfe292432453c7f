//! The bench of `raddle tsvd` as its users run it, with a stand-in for raddle: what is tested is
//! the bench.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use raddle_bench::tsvd::figures;
use raddle_bench::tsvd::record::{FoundPair, TsvdRecord};

const BENCH: &str = env!("CARGO_BIN_EXE_raddle-bench");

const WRONG: &str = "\
//@ pair 1: unlocked-read often
//@ pair 2: once once
int main(void) {
    /* a */    // expect: thread-safety-violation write #1 | write write #2
    /* b */    // expect: thread-safety-violation read #1
    return 0;
}
";

const RIGHT: &str = "// expect: nothing\nint main(void) { return 0; }\n";

/// An empty folder of this test's own, with a suite of two programs and a raddle that finds pair 1
/// in run 1 and pair 2 in run 2 of the wrong one, if it is run so often. It logs what it is asked.
/// `findings` is added to what it reports.
fn setting(test: &str, findings: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tsvd").join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("suite")).unwrap();
    fs::write(folder.join("suite/x_bad.c"), WRONG).unwrap();
    fs::write(folder.join("suite/y_ok.c"), RIGHT).unwrap();
    let side =
        |op: &str, line: u32| format!(r#"{{"op":"{op}","stack":[{{"file":"/s/x_bad.c","line":{line}}}]}}"#);
    let finding = |run: u32, a: String, b: String| {
        format!(r#"{{"message":"m","notes":["caught in run {run}"],"accesses":[{a},{b}]}}"#)
    };
    let one = finding(1, side("write", 4), side("read", 5));
    let two = finding(2, side("write", 4), side("write", 4));
    let script = format!(
        r#"#!/bin/sh
[ "$1" = --version ] && {{ echo 'raddle 0.0.0-fake'; exit; }}
echo "$@" >>'{folder}/log'
while [ "$1" != -- ]; do
    case $1 in
    -o) report=$2;;
    --runs) runs=$2;;
    --trap-file) traps=$2;;
    esac
    shift
done
shift
i=0; by_run=
while [ $i -lt $runs ]; do "$@" || exit; i=$((i+1)); by_run=$by_run${{by_run:+,}}1; done
echo trap >>"$traps"; cat "$traps" >'{folder}/traps'
findings=; case "$*" in *x_bad*) findings='{one}'; [ $runs -lt 2 ] || findings="$findings,"'{two}';; esac
printf '{{"stats":{{"calls":10,"delays_by_run":"%s"}},"findings":[%s]}}' $by_run "$findings"'{findings}' >"$report"
[ -z "$findings" ] || exit 66
"#,
        folder = folder.display(),
    );
    let path = folder.join("raddle");
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

fn bench(folder: &Path, arguments: &[&str]) -> Output {
    let file = |name: &str| folder.join(name).into_os_string();
    let mut command = Command::new(BENCH);
    command.arg("tsvd").arg("--raddle").arg(file("raddle")).arg("--suite").arg(file("suite"));
    command.arg("--json").arg(file("record.json")).arg("--markdown").arg(file("tables.md"));
    command
        .arg("--work")
        .arg(file("work"))
        .arg("--plots")
        .arg(file("plots"))
        .args(arguments)
        .output()
        .unwrap()
}

fn record(folder: &Path) -> TsvdRecord {
    TsvdRecord::read(&folder.join("record.json")).unwrap().expect("there is a record")
}

#[test]
fn what_is_found_is_held_against_what_was_planted() {
    let folder = setting("found", "");
    let output = bench(&folder, &["--parts", "policies", "--policies", "tsvd", "--runs", "2"]);
    assert!(output.status.success(), "{output:?}");
    let record = record(&folder);
    let row = record.row("x_bad.c", Some("tsvd")).expect("it was run");
    assert_eq!(row.found, [FoundPair { pair: 1, run: 1 }, FoundPair { pair: 2, run: 2 }]);
    assert_eq!((row.runs.len(), row.calls, figures::delays(&record, "tsvd", 2)), (2, 10, Some(1.0)));
    assert_eq!(record.row("y_ok.c", None).expect("natively too").runs.len(), 2);
    let tables = fs::read_to_string(folder.join("tables.md")).unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), tables);
    assert!(tables.contains("2/2") && tables.contains("#1: 1, #2: 2"), "{tables}");
    assert!(folder.join("plots/tsvd-runs.svg").exists());
}

#[test]
fn a_record_is_gone_on_with() {
    let folder = setting("resumed", "");
    let arguments = ["--parts", "policies", "--policies", "tsvd", "--runs", "1"];
    assert!(bench(&folder, &arguments).status.success());
    let asked = || fs::read_to_string(folder.join("log")).unwrap().lines().count();
    assert_eq!(asked(), 2);
    assert!(bench(&folder, &arguments).status.success());
    assert_eq!(asked(), 2, "all was there");
    assert!(
        bench(&folder, &["--parts", "policies", "--policies", "tsvd,tsvd-hb", "--runs", "1"])
            .status
            .success()
    );
    assert_eq!(asked(), 4, "the other policy was not");
}

#[test]
fn later_runs_go_on_with_the_traps_and_only_where_there_is_something_to_find() {
    let folder = setting("more", "");
    let arguments = |runs| ["--parts", "policies", "--policies", "tsvd", "--runs", runs];
    assert!(bench(&folder, &arguments("1")).status.success());
    assert!(bench(&folder, &arguments("10")).status.success());
    let record = record(&folder);
    let row = record.row("x_bad.c", Some("tsvd")).unwrap();
    // One, one more, and then eight, of which the second finds it.
    assert_eq!(row.found, [FoundPair { pair: 1, run: 1 }, FoundPair { pair: 2, run: 4 }]);
    assert_eq!((row.runs.len(), row.traps.as_deref()), (10, Some("trap\ntrap\ntrap\n")));
    assert_eq!(record.row("y_ok.c", Some("tsvd")).unwrap().runs.len(), 2, "nothing to find there");
    let asked = fs::read_to_string(folder.join("log")).unwrap();
    let seeds = asked.lines().filter(|line| line.contains("x_bad")).map(|line| line.contains("--seed"));
    assert_eq!(seeds.collect::<Vec<_>>(), [false, true, true]);
}

#[test]
fn what_will_not_end_in_time_is_left_out_whole() {
    let folder = setting("short", "");
    // Times are short here, so that a guess of an hour needs a record that says so.
    assert!(bench(&folder, &["--quick", "--policies", "tsvd"]).status.success());
    let mut record = record(&folder);
    record.rows.iter_mut().filter(|row| row.series.is_none()).for_each(|row| row.runs[0].seconds = 3600.0);
    record.write(&folder.join("record.json")).unwrap();
    let output = bench(&folder, &["--quick", "--policies", "tsvd,tsvd-hb", "--time-limit", "60"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && said.contains("no time left for tsvd-hb, 1 runs: 2 programs"),
        "{said}"
    );
}

#[test]
fn tables_are_made_from_a_record_alone_and_take_their_place_in_a_document() {
    let folder = setting("from", "");
    assert!(bench(&folder, &["--quick", "--policies", "tsvd"]).status.success());
    let [json, text] = ["record.json", "document.md"].map(|name| folder.join(name));
    let marks = ["<!-- raddle-bench tsvd: from here -->", "<!-- raddle-bench tsvd: to here -->"];
    fs::write(&text, format!("# Words\n{}\nold\n{}\nMore words.\n", marks[0], marks[1])).unwrap();
    let line = [OsStr::new("tsvd"), "--from".as_ref(), json.as_ref(), "--markdown".as_ref(), text.as_ref()];
    let output = Command::new(BENCH).args(line).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let document = fs::read_to_string(&text).unwrap();
    assert!(document.starts_with("# Words\n") && document.ends_with("\nMore words.\n"));
    assert!(document.contains("### Policies") && !document.contains("old\n"), "{document}");
    fs::remove_file(&json).unwrap();
    let output = Command::new(BENCH).args(line).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "no record");
}

#[test]
fn a_report_that_nobody_planted_fails_the_bench() {
    let folder = setting("untrue", r#"{"message":"an invention","accesses":[]}"#);
    let output = bench(&folder, &["--quick", "--policies", "tsvd", "--only", "y_ok"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("**false report**, `y_ok.c`, tsvd: an invention")
    );
}

#[test]
fn a_program_that_fails_has_no_figures() {
    let folder = setting("failing", "");
    let text = RIGHT.replace("return 0", "return 3");
    fs::write(folder.join("suite/y_ok.c"), text).unwrap();
    let output = bench(&folder, &["--quick", "--policies", "tsvd", "--only", "y_ok"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(record(&folder).rows.is_empty());
    assert!(String::from_utf8_lossy(&output.stdout).contains("`y_ok.c`, native: "));
}
