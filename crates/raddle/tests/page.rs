//! `raddle report` and `raddle view`, and the page in a real browser.
//!
//! The browser is Chromium, spoken to over pipes. Where there is none, that test says so and tests
//! nothing; what the page consists of is tested without one in `crates/finding/tests/render`.

mod browser;
mod common;

use std::collections::HashSet;

use browser::Browser;
use common::{Bench, refused, stderr};
use serde_json::{Value, json};

const LOST_UPDATE: &str = "\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

_Atomic int balance = 100;

static void *deposit(void *amount) {
    int before = atomic_load(&balance); // the read
    atomic_store(&balance, before + *(int *)amount);
    return 0;
}

int main(void) {
    pthread_t a, b;
    int ten = 10, twenty = 20;
    pthread_create(&a, 0, deposit, &ten);
    pthread_create(&b, 0, deposit, &twenty);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(balance == 130);
}
";

/// A search that finds the lost update; its JSON is in `lost.json`.
fn searched() -> (Bench, Value) {
    let bench = Bench::new();
    let name = bench.build_text("lost", LOST_UPDATE);
    let search = bench.raddle(&format!("explore --format json -o lost.json -- {name}")).output().unwrap();
    assert_eq!(search.status.code(), Some(66), "{}", stderr(&search));
    let report = std::fs::read_to_string(bench.path("lost.json")).unwrap();
    (bench, serde_json::from_str(&report).unwrap())
}

#[test]
fn a_timeline_has_all_steps_with_their_values() {
    let (_bench, report) = searched();
    let timeline = &report["findings"][0]["timeline"];
    let threads = timeline["threads"].as_array().unwrap();
    assert_eq!(threads.len(), 3, "{threads:?}");
    let steps: Vec<String> = timeline["steps"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|step| step["text"].as_str().unwrap().ends_with("`balance`"))
        .map(|step| format!("{} {}", step["text"].as_str().unwrap(), step["value"].as_str().unwrap_or("?")))
        .collect();
    // Both threads read 100. Who wins differs, and one deposit is lost.
    assert_eq!(steps.iter().filter(|step| *step == "loads `balance` 100").count(), 2, "{steps:?}");
    let last = steps.last().unwrap();
    assert!(["loads `balance` 110", "loads `balance` 120"].contains(&last.as_str()), "{steps:?}");
    assert!(steps.iter().all(|step| !step.ends_with('?')), "{steps:?}");
}

#[test]
fn a_report_is_written_again_in_any_format() {
    let (bench, report) = searched();
    let id = report["findings"][0]["id"].as_str().unwrap();
    for format in ["text", "json", "sarif", "junit", "github", "html", "markdown", "perfetto"] {
        let text = bench.ok(&format!("report --format {format} lost.json"));
        assert!(text.contains(id), "{format}: {text}");
    }
    assert_eq!(bench.ok("report --html lost.json"), bench.ok("report --format html lost.json"));
    let again: Value = serde_json::from_str(&bench.ok("report --format json lost.json")).unwrap();
    assert_eq!(again, report);
    // Two that found the same are one finding.
    std::fs::copy(bench.path("lost.json"), bench.path("other.json")).unwrap();
    let both: Value = serde_json::from_str(&bench.ok("report --format json lost.json other.json")).unwrap();
    assert_eq!(both["findings"].as_array().unwrap().len(), 1);
    assert_eq!(both["findings"][0]["test"], json!("./lost"));
}

#[test]
fn without_a_file_the_store_is_reported() {
    let bench = Bench::with("race");
    let none = bench.raddle("report").output().unwrap();
    assert_eq!(none.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&none.stderr).contains("nothing has run in it"));
    bench.run("", &["./race"]).assert_races(&["counter"]);
    let report: Value = serde_json::from_str(&bench.ok("report --format json")).unwrap();
    assert_eq!(report["findings"][0]["detectors"], json!(["run"]));
    let path = bench.ok("view --print");
    let page = std::fs::read_to_string(path.trim_end()).unwrap();
    assert!(page.contains("counter++") && page.contains("vscode://file/"), "{page}");
    // From below the project, files are found all the same.
    std::fs::create_dir_all(bench.path("src/deep")).unwrap();
    std::fs::create_dir_all(bench.path(".git")).unwrap();
    let mut below = bench.raddle("report --html");
    let page = common::succeed(below.current_dir(bench.path("src/deep")));
    let file = bench.path("race.c").canonicalize().unwrap();
    assert!(
        page.contains("counter++") && page.contains(&format!("vscode://file{}", file.display())),
        "{page}"
    );
}

#[test]
fn without_a_display_view_prints_the_path() {
    let (bench, _) = searched();
    let mut view = bench.raddle("view lost.json");
    for name in ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"] {
        view.env_remove(name);
    }
    let output = view.output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("there is no browser here"), "{}", stderr(&output));
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("report.html\n"));
    // A browser gets the path as its only word.
    bench.script("browser", "#!/bin/sh\nprintf '%s' \"$#:$1\" > told.tmp && mv told.tmp told\n");
    let mut view = bench.raddle("view lost.json");
    assert!(view.env("BROWSER", bench.path("browser")).status().unwrap().success());
    let told = browser::wait_for(|| std::fs::read_to_string(bench.path("told")).ok());
    assert!(told.starts_with("1:/") && told.ends_with("report.html"), "{told}");
}

#[test]
fn what_is_no_report_is_refused() {
    let (bench, _) = searched();
    bench.file("text", "hello");
    bench.file(
        "other.json",
        "{\"schema\": \"x/1\", \"command\": \"a\", \"target\": [], \"stats\": {}, \"findings\": []}",
    );
    for (line, why) in [
        ("report none.json", "cannot read none.json"),
        ("report text", "is not a report of raddle's"),
        ("report .", "is not a report of raddle's"),
        ("report other.json", "has the schema `x/1`"),
        ("report -o none/x", "its folder does not exist"),
    ] {
        assert!(refused(&mut bench.raddle(line)).contains(why), "{line}");
    }
    let mut report = bench.raddle("report --html lost.json");
    assert!(refused(report.env("RADDLE_EDITOR_URL", "javascript:alert(1)")).contains("RADDLE_EDITOR_URL"));
}

/// A report of a stranger names files; only those of this project are quoted.
#[test]
fn a_strangers_report_opens_no_other_files() {
    let (bench, mut report) = searched();
    bench.file("outside/secret.env", &"TOKEN=hunter2\n".repeat(40));
    bench.file("project/.git/HEAD", "");
    let secret = bench.path("outside/secret.env").display().to_string();
    report["target"] = json!([bench.path("outside/program").display().to_string()]);
    for frame in report["findings"][0]["timeline"]["frames"].as_array_mut().unwrap() {
        frame["file"] = json!(secret);
    }
    bench.file("project/strange.json", &report.to_string());
    let mut command = bench.raddle("report --html strange.json");
    let page = common::succeed(command.current_dir(bench.path("project")));
    assert!(page.contains("secret.env") && !page.contains("hunter2"));
}

#[test]
fn the_page_in_a_browser() {
    let Some(mut browser) = Browser::start() else {
        eprintln!("NOT TESTED: there is no chromium on the PATH, so nothing has opened the page");
        return;
    };
    let (bench, mut report) = searched();
    // A second finding, and text that would be a script if it were not escaped.
    let mut other = report["findings"][0].clone();
    other["id"] = json!("other'\"<id>");
    other["kind"] = json!("crash");
    other["message"] = json!("</script><script>document.title = 'broken'</script>");
    report["findings"].as_array_mut().unwrap().push(other);
    bench.file("two.json", &report.to_string());
    bench.ok("report --html -o two.html two.json");
    browser.open(&bench.path("two.html"));
    let mut ask = |script: &str| browser.evaluate(script);

    assert!(ask("document.title").as_str().unwrap().starts_with("raddle explore"));
    assert_eq!(ask("document.querySelectorAll('article:not([hidden])').length"), 1);
    let current = "document.querySelector('article:not([hidden]) [aria-current=step] .what').textContent";
    assert_eq!(ask(current), "fails");
    let press = |key: &str| {
        format!("document.body.dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}', bubbles: true}}))")
    };
    ask(&press("ArrowLeft"));
    assert_eq!(ask(current), "loads balance");
    // The source of every thread is there, in colour, and follows.
    assert_eq!(ask("document.querySelectorAll('article:not([hidden]) .pane').length"), 3);
    let line = "document.querySelector('article:not([hidden]) .pane.active .now').textContent";
    assert!(ask(line).as_str().unwrap().contains("assert(balance == 130);"));
    assert_eq!(ask("document.querySelector('.pane .now .f').textContent"), "assert");
    let slider = "document.querySelector('article:not([hidden]) input[type=range]')";
    ask(&format!("{slider}.value = 1; {slider}.dispatchEvent(new Event('input'))"));
    assert!(ask(line).as_str().unwrap().contains("// the read"));
    let steps = "Number(document.querySelector('article:not([hidden]) input[type=range]').max)";
    let few = ask(steps).as_u64();
    ask(&press("a"));
    assert!(ask(steps).as_u64() > few, "all steps are more than those that matter");

    // Where the lanes are wider than the screen, that of the step is in view.
    ask("document.querySelector('article:not([hidden]) .lanes').style.width = '13rem'");
    let place = "(() => { const lanes = document.querySelector('article:not([hidden]) .lanes'); \
         const [lane, view] = [lanes.querySelector('[aria-current=step] .here'), lanes] \
             .map((element) => element.getBoundingClientRect()); \
         return [lane.left - view.left, view.right - lane.right, lanes.scrollLeft]; })()";
    let mut scrolled = HashSet::new();
    for step in 1..=ask(steps).as_u64().unwrap() {
        ask(&format!("{slider}.value = {step}; {slider}.dispatchEvent(new Event('input'))"));
        let at = ask(place);
        let at: Vec<f64> = at.as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect();
        assert!(at[0] >= -1.0 && at[1] >= -1.0, "step {step} is out of view: {at:?}");
        scrolled.insert(at[2] as i64);
    }
    assert!(scrolled.len() > 1, "nothing had to be scrolled: {scrolled:?}");

    // Filters, search, and the finding whose names are hostile.
    ask("const kind = document.querySelector('select[name=kind]'); kind.value = 'crash'; \
         kind.dispatchEvent(new Event('input', {bubbles: true}))");
    assert_eq!(ask("document.querySelector('.count').textContent"), "1 of 2");
    assert_eq!(ask("document.querySelector('article:not([hidden])').id"), "other'\"<id>");
    ask("kind.value = ''; const search = document.querySelector('input[type=search]'); \
         search.value = 'ASSERTION-  failed'; search.dispatchEvent(new Event('input', {bubbles: true}))");
    assert_eq!(ask("document.querySelector('.count').textContent"), "1 of 2");
    ask("search.value = ''; search.dispatchEvent(new Event('input', {bubbles: true}))");
    ask("document.querySelectorAll('.list a')[1].click()");
    let id = "document.querySelector('article:not([hidden])').id";
    browser::wait_for(|| (browser.evaluate(id) == "other'\"<id>").then_some(()));
    let mut ask = |script: &str| browser.evaluate(script);
    assert!(ask("document.title").as_str().unwrap().starts_with("raddle explore"), "no script of others ran");

    let theme = "document.documentElement.dataset.theme";
    let before = ask(theme);
    ask(&press("t"));
    assert_ne!(ask(theme), before);
    assert_eq!(browser.complaints(), Vec::<String>::new(), "the page has errors");
}
