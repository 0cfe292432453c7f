//! The report in each of its formats, from a real run.

mod common;

use common::{Bench, look_again, succeed};
use serde_json::Value;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

/// The report on stdout; the target prints nothing.
#[track_caller]
fn printed(bench: &Bench, format: &str) -> String {
    let output = bench.run_command(&format!("--format {format}"), &["./race", "5"]).output().unwrap();
    assert_eq!(output.status.code(), Some(66), "{}", common::stderr(&output));
    assert!(output.stderr.is_empty(), "{}", common::stderr(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// The line of `counter++` in the program.
fn race_line() -> u64 {
    let at = include_str!("programs/race.c").lines().position(|l| l.contains("counter++")).unwrap();
    at as u64 + 1
}

fn keys(object: &Value) -> BTreeSet<&str> {
    object.as_object().unwrap_or_else(|| panic!("{object} is no object")).keys().map(String::as_str).collect()
}

#[track_caller]
fn assert_has(object: &Value, names: &[&str]) {
    let missing: Vec<_> = names.iter().filter(|n| !keys(object).contains(*n)).collect();
    assert!(missing.is_empty(), "no {missing:?} in {object:#}");
}

/// `#line` may name any file. Its lines are not for a report, which may be published.
#[test]
fn lines_of_files_outside_the_project_are_not_quoted() {
    let bench = Bench::new();
    bench.file("outside/secret.env", "TOKEN=hunter2\n");
    let text = "#include <pthread.h>\nint x;\nstatic void *w(void *a) {\n#line 1 \"../outside/secret.env\"\n\
        for (int i = 0; i < 100; i++) x++; return a; }\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); w(0); pthread_join(t, 0); return 0; }\n";
    bench.file("project/b.c", text);
    let raddle = |words: &[&str]| {
        let mut command = bench.raddle("");
        let output = command.args(words).current_dir(bench.path("project")).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &common::stderr(&output);
        (output.status.code(), text)
    };
    assert_eq!(raddle(&["cc", "--use", "gcc", "-g", "-pthread", "b.c", "-o", "b"]).0, Some(0));
    for format in ["text", "json", "sarif", "junit", "github", "html", "markdown", "perfetto"] {
        for words in [&["run", "--format", format, "--", "./b"][..], &["check", "--format", format, "b.c"]] {
            let (status, text) = raddle(words);
            assert_eq!(status, Some(66), "{words:?}: {text}");
            assert!(text.contains("secret.env") && !text.contains("hunter2"), "{words:?}: {text}");
        }
    }
}

/// A file's name is somebody else's text.
#[test]
fn escape_sequences_in_names_do_not_reach_the_terminal() {
    let bench = Bench::new();
    let name = "a\u{1b}[31m\u{7}.c";
    bench.file(&format!("{name}.raddle"), "x");
    let lines = [
        vec!["run", "--", name],
        vec!["run", "--suppressions", name, "--", "true"],
        vec!["run", "-o", "none\u{1b}[31m/x", "--", "true"],
        vec!["run", name],
        vec![name],
        vec!["replay", name],
        vec!["replay", "a\u{1b}[31m\u{7}.c.raddle"],
        vec!["check", name],
        vec!["explore", "--", name],
        vec!["tsvd", "--api", name, "--", "true"],
        vec!["conseq", "--", name],
        vec!["run", "--mode", name, "--", "true"],
        vec!["shims", "/dev/null/\u{1b}[31m"],
    ];
    for words in lines {
        let output = bench.raddle("").args(&words).output().unwrap();
        let said = common::stderr(&output) + &String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(!said.contains(['\u{1b}', '\u{7}']), "{words:?}: {said:?}");
    }
}

#[test]
fn json_is_the_contract() {
    let bench = Bench::with("race");
    let report: Value = serde_json::from_str(&printed(&bench, "json")).unwrap();
    assert_eq!(report["schema"], "raddle.findings/1");
    assert_eq!(report["command"], "run");
    assert_eq!(report["target"], serde_json::json!(["./race", "5"]));

    let stats = &report["stats"];
    assert!(stats.as_object().unwrap().values().all(|v| v.is_number() || v.is_boolean() || v.is_string()));
    assert!(stats["seconds"].as_f64().unwrap() > 0.0);
    assert_eq!((stats["flushes"].as_i64(), stats["target_status"].as_i64()), (Some(0), Some(5)));

    let [finding] = &report["findings"].as_array().unwrap()[..] else { panic!("{report:#}") };
    assert_has(finding, &["id", "kind", "confidence", "message", "schedule", "accesses"]);
    assert_eq!((&finding["kind"], &finding["confidence"]), (&"data-race".into(), &"confirmed".into()));
    assert!(finding["schedule"].is_null());
    let [now, before] = &finding["accesses"].as_array().unwrap()[..] else { panic!("{finding:#}") };
    let mut ops = BTreeSet::new();
    for access in [now, before] {
        assert_has(access, &["op", "size", "thread", "locks", "stack"]);
        ops.insert(access["op"].as_str().unwrap());
        assert_eq!((access["size"].as_i64(), &access["locks"]), (Some(4), &serde_json::json!([])));
        let top = &access["stack"][0];
        assert_eq!((&top["function"], &top["module"]), (&"bump".into(), &"race".into()));
        assert!(top["file"].as_str().unwrap().ends_with("race.c"), "{top}");
        assert_eq!((top["line"].as_u64(), top["column"].is_u64()), (Some(race_line()), true));
    }
    assert!(ops.contains("write"), "{ops:?}");
    assert_ne!(now["thread"], before["thread"]);
    assert_eq!(finding["location"]["name"], "counter");
    // Whether the C library's function that calls `main` has a name depends on the machine.
    let created: Vec<&Value> = finding["threads"].as_array().unwrap().iter().map(|t| &t["stack"]).collect();
    let outermost: Vec<&Value> =
        created.iter().filter_map(|s| Some(&s.as_array()?.last()?["function"])).collect();
    assert_eq!(outermost, ["main", "main"], "{created:#?}");
}

/// With both compilers, run after run, and when the code moves down; one on a global and one on the
/// heap. One function writes, three read: one finding that lists them. A baseline knows each by
/// itself.
#[test]
fn one_writer_and_its_readers_are_one_finding() {
    let bench = Bench::new();
    let program = |readers: &[&str]| {
        // One after the other, by an atomic that orders nothing: accesses at the same time may miss
        // each other. It has a cache line of its own: few accesses to one word are remembered, and
        // this one is looked at again and again. All threads live until the last access: the next
        // to begin would take the place of one that has ended.
        let mut text = String::from("#include <pthread.h>\n#include <sched.h>\nint now;\n");
        text += "_Alignas(64) static char own_line[64];\n#define turn (*(int *)own_line)\n";
        text += "static void wait_for(int n) { while (__atomic_load_n(&turn, __ATOMIC_RELAXED) != n) sched_yield(); }\n";
        text += "static void pass(void) { __atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED); }\n";
        let mut main = String::new();
        for (i, reader) in readers.iter().enumerate() {
            text += &format!(
                "static void *{reader}(void *a) {{ wait_for({i}); a = now ? a : 0; pass(); wait_for({}); return a; }}\n",
                readers.len() + 1
            );
            main += &format!("pthread_create(&t, 0, {reader}, 0); pthread_detach(t); ");
        }
        bench.file(
            "w.c",
            &format!(
                "{text}int main(void) {{ pthread_t t; {main}\nwait_for({}); now = 1; pass(); pthread_exit(0); }}\n",
                readers.len()
            ),
        );
        bench.ok("cc --use gcc -g -pthread w.c -o w");
    };
    let run = |options: &str| {
        let output = bench.run_command(&format!("--format json {options}"), &["./w"]).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), report)
    };
    program(&["show", "print"]);
    let (status, report) = run("--write-baseline known.json");
    assert_eq!((status, report["findings"].as_array().unwrap().len()), (Some(66), 1), "{report:#}");
    let also = report["findings"][0]["also"].as_array().unwrap();
    assert_eq!(also.len(), 1, "{report:#}");
    assert_ne!(also[0]["id"], report["findings"][0]["id"]);
    assert_eq!(report["findings"][0]["occurrences"], 2);
    let text = bench.run_command("", &["./w"]).output().unwrap();
    assert!(common::stderr(&text).contains("  also: read in show at w.c:"), "{}", common::stderr(&text));

    let (status, report) = run("--baseline known.json");
    assert_eq!((status, &report["stats"]["baseline"]), (Some(0), &Value::from(1)), "{report:#}");
    program(&["show", "print", "tell"]);
    let (status, report) = run("--baseline known.json");
    assert_eq!((status, report["findings"].as_array().unwrap().len()), (Some(66), 1), "{report:#}");
    assert!(report["findings"][0]["message"].as_str().unwrap().contains("tell"), "{report:#}");
    assert_eq!(report["findings"][0].get("also"), None);
}

#[test]
fn ids_are_stable() {
    let bench = Bench::new();
    for name in ["race", "heap"] {
        bench.source(name);
        let text = std::fs::read_to_string(bench.path(&format!("{name}.c"))).unwrap();
        let mut ids = BTreeSet::new();
        for above in ["", "// A line more.\n\nstatic int unused(void) { return 3; }\n"] {
            bench.file(&format!("{name}.c"), &format!("{above}{text}"));
            bench.ok(&format!("cc --use gcc -g -O1 -pthread {name}.c -o {name}"));
            for _ in 0..2 {
                let outcome = bench.run("", &[&format!("./{name}")]);
                assert_eq!(outcome.findings().len(), 1);
                ids.extend(outcome.ids());
            }
        }
        assert_eq!(ids.len(), 1, "{name}: {ids:?}");
    }
}

#[test]
fn the_id_is_the_same_with_clang() {
    let bench = Bench::with("race");
    bench.ok("cc --use clang-19 -g -O1 -pthread race.c -o race-clang");
    let gcc = bench.run("", &["./race"]);
    let clang = bench.run("", &["./race-clang"]);
    clang.assert_races(&["counter"]);
    assert_eq!(gcc.ids(), clang.ids());
}

#[test]
fn sarif() {
    let bench = Bench::with("race");
    let log: Value = serde_json::from_str(&printed(&bench, "sarif")).unwrap();
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().contains("sarif-2.1.0"));
    let [run] = &log["runs"].as_array().unwrap()[..] else { panic!("{log:#}") };
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "raddle");
    let [result] = &run["results"].as_array().unwrap()[..] else { panic!("{run:#}") };
    assert_has(result, &["ruleId", "message", "locations", "partialFingerprints"]);
    let rule = &driver["rules"][result["ruleIndex"].as_u64().unwrap() as usize];
    assert_eq!((&result["ruleId"], &rule["id"]), (&"data-race".into(), &"data-race".into()));
    assert_eq!(result["level"], "error");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "race.c", "relative, or no service finds it");
    assert_eq!(place["region"]["startLine"].as_u64(), Some(race_line()));
    let id = result["partialFingerprints"].as_object().unwrap().values().next().unwrap();
    assert!(id.as_str().unwrap().starts_with("data-race-"), "{id}");
}

#[test]
fn junit() {
    let bench = Bench::with("race");
    bench.file("junit.xml", &printed(&bench, "junit"));
    let read = "import sys, xml.etree.ElementTree as tree\n\
                root = tree.parse(sys.argv[1]).getroot()\n\
                case = root.find('testsuite/testcase')\n\
                print(root.tag, root.get('tests'), root.get('failures'), case.get('name'))\n\
                print('counter' in case.find('failure').text)\n";
    let said = succeed(bench.command("python3").args(["-c", read, "junit.xml"]));
    assert!(said.starts_with("testsuites 1 1 data-race-") && said.ends_with("\nTrue\n"), "{said}");
}

#[test]
fn github() {
    let bench = Bench::with("race");
    let text = printed(&bench, "github");
    let commands: Vec<&str> = text.lines().filter(|l| l.starts_with("::")).collect();
    let [command] = commands[..] else { panic!("{text}") };
    let start = format!("::error file=race.c,line={},", race_line());
    assert!(command.starts_with(&start) && command.contains("counter"), "{command}");
}

#[test]
fn html() {
    let bench = Bench::with("race");
    let page = printed(&bench, "html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
    assert!(page.contains("data race on `counter`") && page.contains("counter++;"), "{page}");
    for outside in ["javascript:", " src=", "<link", "@import", "url(", "http:", "https:"] {
        assert!(!page.to_lowercase().contains(outside), "{outside}");
    }
    assert_eq!(page.matches("<script").count(), 2, "the source as data, and the page's own");
}

#[test]
fn text_is_for_stderr_and_without_colour_in_a_pipe() {
    let bench = Bench::with("race");
    let output = bench.run_command("", &["./race"]).output().unwrap();
    assert!(output.stdout.is_empty(), "the target's output stays what it was");
    let text = common::stderr(&output);
    for part in ["data race on `counter`", "T1", "T2", "race.c:", "counter++;", "id: data-race-", "1 finding"]
    {
        assert!(text.contains(part), "`{part}` is not in {text}");
    }
    assert!(!text.contains('\x1b'));
    let colourful = bench.run_command("--color always", &["./race"]).output().unwrap();
    assert!(common::stderr(&colourful).contains("\x1b["));
}

#[test]
fn without_findings_every_format_is_whole() {
    let bench = Bench::with("race");
    for format in ["text", "json", "sarif", "junit", "github", "html", "markdown", "perfetto"] {
        let run = bench.run_command(&format!("--format {format} -o report"), &["./race", "silent"]).output();
        assert_eq!(run.unwrap().status.code(), Some(5));
        let text = std::fs::read_to_string(bench.path("report")).unwrap();
        match format {
            "json" => {
                assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["findings"], Value::Array(vec![]))
            }
            "sarif" => {
                let log: Value = serde_json::from_str(&text).unwrap();
                assert_eq!(log["runs"][0]["results"], Value::Array(vec![]));
            }
            "junit" => assert!(text.contains("failures=\"0\"") && text.contains("tests=\"1\""), "{text}"),
            "html" => assert!(text.trim_end().ends_with("</html>")),
            _ => assert!(text.ends_with('\n'), "{format}: {text:?}"),
        }
    }
}

/// All of the file is new, and its permissions are those of any file that a program makes.
#[test]
fn a_file_is_written_whole() {
    let bench = Bench::with("race");
    for (umask, mode) in [("022", 0o644), ("077", 0o600)] {
        bench.file("report.json", &"longer than any report\n".repeat(10_000));
        let raddle = env!("CARGO_BIN_EXE_raddle");
        let line = format!(
            "umask {umask}; rm -f new.json; {raddle} run --format json -o new.json -- ./race; {raddle} run --format json -o report.json -- ./race"
        );
        let output = bench.command("sh").args(["-c", &line]).output().unwrap();
        assert_eq!(output.status.code(), Some(66));
        for name in ["new.json", "report.json"] {
            let text = std::fs::read_to_string(bench.path(name)).unwrap();
            let report: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(report["findings"].as_array().unwrap().len(), 1);
        }
        let found = std::fs::metadata(bench.path("new.json")).unwrap().permissions().mode() & 0o777;
        assert_eq!(found, mode, "{found:o} under umask {umask}");
    }
    let left = std::fs::read_dir(bench.path("")).unwrap().flatten();
    assert!(left.map(|e| e.file_name()).all(|n| !n.to_string_lossy().starts_with(".raddle")));
}

/// A reader that goes away early is no failure of raddle's.
#[test]
fn a_closed_pipe() {
    let bench = Bench::with("race");
    let line =
        format!("{{ {} run --format json -- ./race; echo $? >&2; }} | true", env!("CARGO_BIN_EXE_raddle"));
    let output = bench.command("sh").args(["-c", &line]).output().unwrap();
    assert_eq!(common::stderr(&output), "66\n");
}

#[test]
fn names_of_files_with_spaces() {
    let bench = Bench::new();
    bench.source("race");
    std::fs::rename(bench.path("race.c"), bench.path("a b.c")).unwrap();
    let mut build = bench.raddle("cc --use gcc -g -O1 -pthread");
    succeed(build.args(["a b.c", "-o", "a b"]));
    bench.run("", &["./a b"]).assert_races(&["counter"]);
    let log = bench.run_command("--format sarif", &["./a b"]).output().unwrap();
    let log: Value = serde_json::from_slice(&log.stdout).unwrap();
    let place = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"];
    assert_eq!(place["uri"], "a%20b.c", "SARIF has URIs");
}

/// `std::thread` starts and joins threads in code that is not instrumented: reports name the lines
/// of the program that called it.
#[test]
fn threads_of_cxx_are_started_and_joined_by_the_program() {
    let bench = Bench::new();
    let text = "#include <condition_variable>\n#include <mutex>\n#include <thread>\n#include <vector>\n\
        int x;\nstd::mutex m;\nstd::condition_variable cv;\n\
        static void wait() {\n  std::unique_lock<std::mutex> l(m);\n  cv.wait(l);\n}\n\
        int main(int argc, char **) {\n  std::vector<std::thread> v;\n  for (int i = 0; i < 2; i++)\n\
        \x20   v.emplace_back([=] {\n      x++;\n      if (argc > 1)\n        wait();\n    });\n\
        \x20 for (auto &t : v)\n    t.join();\n}\n";
    bench.file("threads.cc", text);
    let lines: Vec<&str> = text.lines().collect();
    // Two threads at the very same moment can hide from each other in an ordinary run: it is made
    // up to five times.
    let report = |words: &str| -> Value {
        let output = look_again(
            |output: &Output| output.status.code() == Some(66),
            || bench.raddle(words).output().unwrap(),
        );
        assert_eq!(output.status.code(), Some(66), "{words}: {}", common::stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    // The line of the innermost frame in the program.
    let line = |stack: &Value| {
        let frames = stack.as_array().unwrap().iter();
        let own = frames.filter(|f| f["file"].as_str().is_some_and(|f| f.ends_with("threads.cc")));
        let at = own.map(|f| f["line"].as_u64().unwrap() as usize).next();
        at.map_or("", |at| lines[at - 1])
    };
    for compiler in ["g++", "clang++-19"] {
        for level in ["-O0", "-O1", "-O2"] {
            let build = format!("c++ --use {compiler} -g {level} -pthread threads.cc -o threads");
            succeed(bench.raddle(&build).current_dir(bench.path("")));

            let report_of_run = report("run --format json -- ./threads");
            let threads = report_of_run["findings"][0]["threads"].as_array().unwrap();
            let created: Vec<&str> = threads.iter().skip(1).map(|t| line(&t["stack"])).collect();
            assert!(!created.is_empty(), "{report_of_run:#}");
            let is_start = |at: &&str| at.contains("emplace_back") || at.contains("});");
            assert!(created.iter().all(is_start), "{compiler} {level}: {threads:#?}");

            let explored = report("explore --format json -- ./threads wait");
            let ends = explored["findings"][0]["accesses"].as_array().unwrap();
            let main = ends.iter().find(|end| end["thread"].as_str().unwrap().contains("main")).unwrap();
            assert!(line(&main["stack"]).contains("t.join()"), "{compiler} {level}: {main:#}");
        }
    }
}
