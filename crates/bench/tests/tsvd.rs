//! The bench of `raddle tsvd` as its users run it, with a stand-in for raddle: what is tested is the bench.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use raddle_bench::tsvd::figures;
use raddle_bench::tsvd::record::{Found, Record};

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

/// An empty folder of this test's own, with a suite of two programs and a raddle that finds pair 1 in run 1 and pair 2 in
/// run 2 of the wrong one, if it is run so often. It logs what it is asked. `findings` is added to what it reports.
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
    esac
    shift
done
shift
i=0; while [ $i -lt $runs ]; do "$@" || exit; i=$((i+1)); done
findings=; case "$*" in *x_bad*) findings='{one}'; [ $runs -lt 2 ] || findings="$findings,"'{two}';; esac
printf '{{"stats":{{"calls":10,"delays":%s}},"findings":[%s]}}' $runs "$findings"'{findings}' >"$report"
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

fn record(folder: &Path) -> Record {
    Record::read(&folder.join("record.json")).unwrap().expect("there is a record")
}

#[test]
fn what_is_found_is_held_against_what_was_planted() {
    let folder = setting("found", "");
    let output = bench(&folder, &["--parts", "policies", "--policies", "tsvd", "--runs", "2"]);
    assert!(output.status.success(), "{output:?}");
    let record = record(&folder);
    let row = record.row("x_bad.c", Some("tsvd")).expect("it was run");
    assert_eq!(row.found, [Found { pair: 1, run: 1 }, Found { pair: 2, run: 2 }]);
    assert_eq!((row.runs.len(), row.calls, figures::delays(&record, "tsvd", 2)), (2, 10, 4));
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
