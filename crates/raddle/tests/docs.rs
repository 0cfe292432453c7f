//! Pages say what is so: every command of a `console` block is run, and every link leads somewhere.
//!
//! A block is run in a copy of `examples/`, one shell command after the other; the folder of one
//! command is that of the next one, also in the next block of the page:
//!
//! ```console
//! $ raddle run -- ./bank
//! confirmed data race
//! …
//! ? 66
//! ```
//!
//! What follows a command is all that it prints. `…` stands for any text of a line, and a line of
//! it for any number of lines. `? N` is the exit status, if it is not 0.

mod common;

use common::{ATTEMPTS, Bench, look_again};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

struct Step {
    command: String,
    expected: Vec<String>,
    status: i32,
}

fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        match line {
            "```console" => inside = true,
            "```" => inside = false,
            _ if !inside => {}
            _ => match (line.strip_prefix("$ "), line.strip_prefix("? "), steps.last_mut()) {
                (Some(command), ..) => {
                    steps.push(Step { command: command.to_owned(), expected: Vec::new(), status: 0 });
                }
                (_, Some(status), Some(step)) => step.status = status.parse().unwrap(),
                (_, _, Some(step)) => step.expected.push(line.to_owned()),
                (_, _, None) => panic!("output before the first command: {line}"),
            },
        }
    }
    steps
}

/// Whether lines are those that a page shows.
fn agree(expected: &[String], printed: &[&str]) -> bool {
    match expected.split_first() {
        None => printed.is_empty(),
        Some((any, rest)) if any == "…" => (0..=printed.len()).any(|skip| agree(rest, &printed[skip..])),
        Some((line, rest)) => {
            printed.split_first().is_some_and(|(p, more)| line_agrees(line, p) && agree(rest, more))
        }
    }
}

fn line_agrees(expected: &str, printed: &str) -> bool {
    let mut parts = expected.split('…');
    let first = parts.next().unwrap();
    let Some(mut rest) = printed.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Runs the commands of a page. Now and then an ordinary run of a wrong program shows its bug where
/// the page has a run that passes: about one of a hundred on a busy machine.
fn run_page(name: &str) {
    run_page_by_luck(name, |printed| printed.contains("Aborted"));
}

/// Runs the commands of a page; `is_luck` says whether luck may be the reason for what a command
/// printed, if that is not what the page shows.
fn run_page_by_luck(name: &str, is_luck: impl Fn(&str) -> bool) {
    let bench = Bench::new();
    copy(&root().join("examples"), &bench.path(""));
    let raddle = Path::new(env!("CARGO_BIN_EXE_raddle")).parent().unwrap();
    let path = format!("{}:{}", raddle.display(), std::env::var("PATH").unwrap());
    let mut folder = bench.path("");
    let page = std::fs::read_to_string(root().join(name)).unwrap();
    let steps = steps(&page);
    assert!(!steps.is_empty(), "{name} has no command to run");
    for step in steps {
        let after = bench.state().join("folder");
        let script =
            format!("exec 2>&1; {}\nstatus=$?; pwd > '{}'; exit $status", step.command, after.display());
        let run = || {
            let mut shell = bench.command("bash");
            shell.arg("-c").arg(&script).current_dir(&folder).env("PATH", &path).output().unwrap()
        };
        let mut out = run();
        for _ in 1..ATTEMPTS {
            let text = String::from_utf8_lossy(&out.stdout);
            if agree(&step.expected, &text.lines().collect::<Vec<_>>()) || !is_luck(&text) {
                break;
            }
            eprintln!("{name}: $ {}\nprints\n{text}perhaps by luck; once more", step.command);
            out = run();
        }
        let text = String::from_utf8_lossy(&out.stdout);
        let printed: Vec<&str> = text.lines().collect();
        assert!(agree(&step.expected, &printed), "{name}: $ {}\nprints\n{text}", step.command);
        assert_eq!(out.status.code(), Some(step.status), "{name}: $ {}\nprints\n{text}", step.command);
        folder = std::fs::read_to_string(after).unwrap().trim_end().into();
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[test]
fn the_tutorial_can_be_followed_word_for_word() {
    run_page("docs/tutorial.md");
}

#[test]
fn the_page_about_settings() {
    run_page("docs/settings.md");
}

#[test]
fn the_story_of_the_baseline() {
    run_page("docs/ci.md");
}

#[test]
fn the_page_about_suppressions() {
    run_page("docs/suppressions.md");
}

#[test]
fn the_report_of_explore() {
    run_page("docs/explore.md");
}

#[test]
fn the_report_of_conseq() {
    run_page("docs/conseq.md");
}

#[test]
fn the_report_of_check() {
    run_page("docs/check.md");
}

#[test]
fn the_file_that_is_replayed() {
    run_page("docs/replay.md");
}

/// Its program has a race that is hidden if one thread comes before the other, as it nearly always
/// does.
#[test]
fn what_the_modes_see() {
    run_page_by_luck("docs/modes.md", |_| true);
}

/// A new page with commands must not be forgotten above.
#[test]
fn every_page_with_commands_is_run() {
    let run = ["check", "ci", "conseq", "explore", "modes", "replay", "settings", "suppressions", "tutorial"]
        .map(|name| root().join(format!("docs/{name}.md")));
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        assert!(steps(&text).is_empty() || run.contains(&page), "{} is not run", page.display());
    }
}

/// The blocks of a page that begin with this line.
fn blocks(page: &str, fence: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            if line == fence {
                blocks.push(block.join("\n"));
            }
        }
    }
    blocks
}

/// Lines of a report of the bank without what chance decides: which teller came first, which of
/// them read, and how often.
fn without_chance(report: &str) -> Vec<String> {
    let same = [
        ("T2", "T1"),
        ("L2", "L1"),
        ("afternoon", "morning"),
        ("bob", "alice"),
        ("wrote", "read"),
        ("write", "read"),
    ];
    let mut lines: Vec<String> = report
        .lines()
        .filter(|line| !line.contains("customers") && !line.starts_with("  seen: "))
        .map(|line| same.iter().fold(line.to_owned(), |line, (from, to)| line.replace(from, to)))
        .collect();
    lines.sort();
    lines.dedup();
    lines
}

/// `docs/reports.md` explains the report of the bank, as text and as JSON.
#[test]
fn the_report_that_is_explained_is_the_report_that_is_written() {
    let bench = Bench::new();
    copy(&root().join("examples/bank"), &bench.path(""));
    let page = std::fs::read_to_string(root().join("docs/reports.md")).unwrap();
    let raddle = |words: &str| {
        let mut raddle = bench.command(env!("CARGO_BIN_EXE_raddle"));
        raddle.args(words.split(' ')).current_dir(bench.path("")).output().unwrap()
    };
    assert!(raddle("cc -g -O1 -pthread bank.c -o bank").status.success());
    // On a busy machine the tellers may meet, or lock each other out: up to five days.
    let explained = without_chance(&blocks(&page, "```")[0]);
    let text = look_again(
        |text: &String| without_chance(text.trim_end()) == explained,
        || String::from_utf8(raddle("run -- ./bank").stderr).unwrap(),
    );
    assert_eq!(explained, without_chance(text.trim_end()), "{text}");

    let shown: serde_json::Value = serde_json::from_str(&blocks(&page, "```json")[0]).unwrap();
    let written = raddle("run --format json -o report.json -- ./bank");
    assert_eq!(written.status.code(), Some(66), "{written:?}");
    let report = std::fs::read_to_string(bench.path("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let (shown, report) = (key_paths(&shown), key_paths(&report));
    let gone: Vec<_> = shown.difference(&report).collect();
    assert!(gone.is_empty(), "reports.md shows fields that are not written: {gone:?}");
}

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

/// `docs/troubleshooting.md` shows a report of the doctor. Which compilers there are is the
/// machine's.
#[test]
fn the_doctor_looks_at_what_its_page_shows() {
    let subjects = |report: &str| -> Vec<String> {
        let lines = report.lines().filter_map(|line| line.get(6..29)?.trim_end().to_owned().into());
        lines.filter(|what| !what.is_empty() && !is_compiler(what)).collect()
    };
    let doctor = std::process::Command::new(env!("CARGO_BIN_EXE_raddle")).arg("doctor").output().unwrap();
    let report = String::from_utf8(doctor.stdout).unwrap();
    let (printed, _) = report.split_once("\n\n").unwrap();
    let page = blocks(&read("docs/troubleshooting.md"), "```")[0].clone();
    let (shown, _) = page.strip_prefix("$ raddle doctor\n").unwrap().split_once("\n\n").unwrap();
    assert_eq!(subjects(shown), subjects(printed), "{report}");
}

fn is_compiler(subject: &str) -> bool {
    ["gcc", "clang", "rustc"].iter().any(|name| subject.starts_with(name))
}

/// Every block of settings is one that the command reads.
#[test]
fn settings_that_pages_show_are_accepted() {
    let tsvd = read("docs/tsvd.md");
    let blocks = blocks(&tsvd, "```toml");
    let [dotnet, list, also] = &blocks[..] else { panic!("tsvd.md has other blocks") };
    let indented = read("docs/conseq.md");
    let sites = indented.split("    [conseq]\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let sites = format!("[conseq]\n{}\n", sites.replace("    ", ""));
    let bench = Bench::new();
    let tried = |settings: &str, command: &[&str]| {
        bench.file("raddle.toml", settings);
        let mut raddle = bench.command(env!("CARGO_BIN_EXE_raddle"));
        common::stderr(&raddle.args(command).current_dir(bench.path("")).output().unwrap())
    };
    for settings in [dotnet.clone(), list.clone(), format!("{list}\n{also}")] {
        let command = ["tsvd", "--", "true"];
        assert!(!tried(&settings, &command).contains("raddle.toml:"), "{settings}");
        let wrong = tried(&settings.replace("read = ", "reads = "), &command);
        assert!(wrong.contains("raddle.toml:"), "{settings} is not read: {wrong}");
    }
    let command = ["conseq", "--sites-only", "--", "true"];
    assert!(!tried(&sites, &command).contains("raddle.toml:"), "{sites}");
    let wrong = tried(&sites.replace("output = ", "outputs = "), &command);
    assert!(wrong.contains("raddle.toml:"), "{sites} is not read: {wrong}");
}

/// Each annotation that the page names is in the header.
#[test]
fn annotations_of_the_page_are_in_the_header() {
    let header = read("crates/harness/include/raddle/annotations.h");
    let page = read("docs/annotations.md");
    let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let names: HashSet<&str> =
        page.split(|c| !is_name(c)).filter(|word| word.starts_with("ANNOTATE_")).collect();
    assert!(names.len() > 15, "{names:?}");
    let defined = |name: &str| header.contains(&format!("#define {name}("));
    let unknown: Vec<_> = names.into_iter().filter(|name| !defined(name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

/// A stranger reads it in two minutes.
#[test]
fn the_readme_is_short() {
    let lines = read("README.md").lines().count();
    assert!(lines <= 150, "README.md has {lines} lines");
}

/// The three lines with which the README begins, in the folder of its program.
#[test]
fn the_start_of_the_readme_works_as_it_stands() {
    let readme = read("README.md");
    let start =
        readme.lines().skip_while(|line| !line.starts_with("    ")).take_while(|line| !line.is_empty());
    let commands: Vec<&str> = start.map(|line| line.split('#').next().unwrap().trim()).collect();
    let bench = Bench::new();
    copy(&root().join("examples/queue"), &bench.path(""));
    // The minute of the page is for programs of unknown size.
    bench.file("raddle.toml", "[hunt]\nseconds = 10\n");
    let raddle = Path::new(env!("CARGO_BIN_EXE_raddle")).parent().unwrap();
    let path = format!("{}:{}", raddle.display(), std::env::var("PATH").unwrap());
    let statuses = commands.iter().map(|command| {
        let mut shell = bench.command("bash");
        let out =
            shell.args(["-c", command]).current_dir(bench.path("")).env("PATH", &path).output().unwrap();
        (out.status.code(), format!("$ {command}\n{}", String::from_utf8_lossy(&out.stderr)))
    });
    let statuses: Vec<_> = statuses.collect();
    let codes: Vec<_> = statuses.iter().map(|(code, _)| *code).collect();
    assert_eq!(codes, [Some(0), Some(66), Some(66)], "{statuses:#?}");
}

/// No command is without a place where a reader finds it.
#[test]
fn every_command_is_in_the_table_of_commands() {
    let help = std::process::Command::new(env!("CARGO_BIN_EXE_raddle")).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let page = read("docs/which-command.md");
    let (_, table) = page.split_once("## All commands").unwrap();
    let cells = table.lines().filter_map(|line| line.strip_prefix("| `raddle ")?.split('|').next());
    let listed: HashSet<&str> = cells.flat_map(|cell| cell.split(['`', ',', ' '])).collect();
    let names: HashSet<&str> = commands(&help).filter(|name| *name != "help").collect();
    assert!(names.len() > 15, "{names:?}");
    let missing: Vec<_> = names.difference(&listed).collect();
    assert!(missing.is_empty(), "not in docs/which-command.md: {missing:?}");
}

/// The names of the commands, from what `raddle --help` prints.
fn commands(help: &str) -> impl Iterator<Item = &str> {
    let listed = help.split("Commands:").nth(1).unwrap().split("Options:").next().unwrap();
    let names = listed.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty())
}

/// Figures in the comparison of the README, and in its answer to why one of the other tools does not
/// do, are those of the pages with the measurements.
#[test]
fn figures_of_the_readme_are_measured_ones() {
    let readme = read("README.md");
    let measured = read("docs/benchmarks.md") + &read("docs/benchmarks-explore.md");
    let is_edge = |c: char| !c.is_ascii_digit() && !".,".contains(c);
    let numbers = |text: &str| -> Vec<String> {
        let words = text.split(is_edge).map(|word| word.trim_matches(['.', ',']));
        words.filter(|word| word.contains(['.', ','])).map(str::to_owned).collect()
    };
    let known: HashSet<String> = numbers(&measured).into_iter().collect();
    let rows = readme.lines().filter(|line| {
        ["| time, ", "| peak memory, ", "| schedules a second"].iter().any(|row| line.starts_with(row))
    });
    let why = readme.lines().skip_while(|line| !line.starts_with("**Why not")).take_while(|l| !l.is_empty());
    assert!(why.clone().any(|line| line.contains("0.")), "the README no longer says why");
    let figures: Vec<String> = rows.chain(why).flat_map(numbers).collect();
    assert!(figures.len() > 10, "{figures:?}");
    let unknown: Vec<_> = figures.iter().filter(|figure| !known.contains(*figure)).collect();
    assert!(unknown.is_empty(), "in no table of docs/benchmarks*.md: {unknown:?}");
}

/// What a recording (`docs/plots/pictures`) shows, line by line.
fn recorded(svg: &str) -> Vec<String> {
    let lines = svg.lines().filter_map(|line| line.strip_prefix("<text y=")?.split_once('>'));
    let text = |line: &str| -> String {
        let visible = line.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
        let text: String = visible.collect();
        text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    };
    lines.map(|(_, line)| text(line)).collect()
}

/// The lines of a report before the table, and its last one, without which thread it was and when.
fn claims(lines: &[String]) -> Vec<String> {
    let until = lines.iter().position(|line| line == "  interleaving:").unwrap_or(0);
    let told = lines[..until].iter().chain(lines.last());
    let same = |line: &String| match line.split_once("raddle: confirmed after ") {
        Some((_, rest)) => rest.split_once(" s: ").unwrap().1.to_owned(),
        None => line.replace("T2", "T1"),
    };
    told.map(same).collect()
}

/// The picture of a terminal in the README shows what its command prints.
#[test]
fn the_recording_of_a_hunt_is_what_a_hunt_prints() {
    let recorded = recorded(&read("docs/plots/hunt.svg"));
    let command = recorded[0].strip_prefix("$ ").unwrap();
    let bench = Bench::new();
    copy(&root().join("examples/queue"), &bench.path(""));
    let raddle = Path::new(env!("CARGO_BIN_EXE_raddle")).parent().unwrap();
    let path = format!("{}:{}", raddle.display(), std::env::var("PATH").unwrap());
    let run = |script: &str| {
        let mut shell = bench.command("bash");
        shell.args(["-c", &format!("exec 2>&1; {script}")]).current_dir(bench.path("")).env("PATH", &path);
        String::from_utf8(shell.output().unwrap().stdout).unwrap()
    };
    run("raddle build -- make -s");
    let expected = claims(&recorded[1..]);
    assert!(expected.len() > 10, "{recorded:#?}");
    let lines = |text: &String| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let text = look_again(|text: &String| claims(&lines(text)) == expected, || run(command));
    assert_eq!(claims(&lines(&text)), expected, "{text}");
}

/// The action takes what the README and the page about CI give it.
#[test]
fn the_action_has_the_inputs_that_pages_use() {
    let action = read("action.yml");
    for page in ["README.md", "docs/ci.md"] {
        let yaml = blocks(&read(page), "```yaml");
        let uses = yaml.iter().filter(|block| block.contains("/raddle@"));
        let mut inputs = 0;
        for block in uses {
            let with = block.split("/raddle@").nth(1).unwrap().split("with:\n").nth(1).unwrap();
            let depth = |line: &str| line.len() - line.trim_start().len();
            let first = depth(with);
            for line in with.lines().take_while(|line| depth(line) >= first) {
                let name = line.trim_start().split(':').next().unwrap();
                assert!(action.contains(&format!("\n  {name}:\n")), "{page}: {name} is no input");
                inputs += 1;
            }
        }
        assert!(inputs > 1, "{page} uses no action");
    }
}

/// `findings.accesses.op` and so on; the elements of a list have one path.
fn key_paths(value: &serde_json::Value) -> HashSet<String> {
    let mut paths = HashSet::new();
    let mut todo = vec![(String::new(), value)];
    while let Some((path, value)) = todo.pop() {
        match value {
            serde_json::Value::Object(fields) => {
                for (key, value) in fields {
                    let path = format!("{path}.{key}");
                    paths.insert(path.clone());
                    todo.push((path, value));
                }
            }
            serde_json::Value::Array(items) => todo.extend(items.iter().map(|item| (path.clone(), item))),
            _ => {}
        }
    }
    paths
}

/// Options that belong to other programs: cargo, ctest, GoogleTest, docker, the benchmark and
/// `RADDLE_TSVD_EXPERIMENT`.
const FOREIGN: &[&str] = &[
    "--chance",
    "--decay",
    "--gap",
    "--git",
    "--gtest_filter",
    "--ignored",
    "--inferred",
    "--locked",
    "--no-run",
    "--paper",
    "--path",
    "--phase",
    "--policy",
    "--repo_env",
    "--rest",
    "--security-opt",
    "--show-only",
    "--spawn_strategy",
    "--target",
    "--test",
    "--tests",
    "--use",
    "--widening",
    "--without",
];

/// Every option that a page names is one that some command has.
#[test]
fn pages_name_options_that_there_are() {
    let help = |words: &[&str]| {
        let raddle = std::process::Command::new(env!("CARGO_BIN_EXE_raddle")).args(words).output().unwrap();
        String::from_utf8(raddle.stdout).unwrap()
    };
    let all = help(&["--help"]);
    let known: HashSet<String> = commands(&all).flat_map(|name| options(&help(&["help", name]))).collect();
    assert!(known.contains("--minutes") && known.contains("--no-retry"), "{known:?}");
    let mut wrong = Vec::new();
    for page in pages() {
        let name = page.strip_prefix(root()).unwrap().display().to_string();
        if !name.starts_with("docs/") && name != "README.md"
            || name.contains("benchmarks")
            || name.contains("evaluation")
        {
            continue;
        }
        let text = std::fs::read_to_string(&page).unwrap();
        let unknown =
            options(&text).into_iter().filter(|o| !known.contains(o) && !FOREIGN.contains(&o.as_str()));
        wrong.extend(unknown.map(|option| format!("{name}: {option}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// `--name`, wherever it stands in a text.
fn options(text: &str) -> HashSet<String> {
    let is_edge = |c: char| c.is_whitespace() || "`'\"(=|,".contains(c);
    let words = text.split(is_edge).filter(|word| word.starts_with("--"));
    let end = |c: char| !c.is_ascii_alphanumeric() && !"-_".contains(c);
    let names = words.map(|word| word.split(end).next().unwrap_or_default().trim_end_matches('-'));
    names.filter(|name| name.len() > 3).map(str::to_owned).collect()
}

fn pages() -> Vec<PathBuf> {
    let root = root();
    let mut pages: Vec<PathBuf> = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "examples/README.md",
        "corpus/README.md",
    ]
    .map(|name| root.join(name))
    .into();
    for folder in ["docs", "docs/evaluation"] {
        let files = std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        pages.extend(files.filter(|file| file.extension().is_some_and(|e| e == "md")));
    }
    pages.sort();
    pages
}

#[test]
fn every_link_leads_somewhere() {
    let mut wrong = Vec::new();
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for link in links(&text).filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            let found = target.exists()
                && (anchor.is_empty()
                    || anchors(&std::fs::read_to_string(&target).unwrap()).contains(anchor));
            if !found {
                wrong.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The book is built from `docs/` alone: a link to a file beside it is dead there. Such a file is
/// named, not linked.
#[test]
fn links_of_the_book_stay_in_the_book() {
    let docs = root().join("docs");
    let mut seen = 0;
    for page in pages().into_iter().filter(|page| page.starts_with(&docs)) {
        let text = std::fs::read_to_string(&page).unwrap();
        for link in links(&text).filter(|link| !link.contains("://") && !link.starts_with('#')) {
            let file = page.parent().unwrap().join(link.split('#').next().unwrap());
            let target = file.canonicalize().unwrap_or_else(|e| panic!("{}: {link}: {e}", page.display()));
            assert!(target.starts_with(&docs), "{}: {link} is outside of docs/", page.display());
            seen += 1;
        }
    }
    assert!(seen > 100, "only {seen} links found");
}

/// Pages send readers to files: a file that was renamed must be renamed there too. Evaluations also
/// name files of other projects.
#[test]
fn files_that_pages_name_exist() {
    let mut named = 0;
    let ours =
        |path: &str| ["crates/", "corpus/", "examples/", "editors/"].iter().any(|f| path.starts_with(f));
    let all = pages();
    let names = all.iter().map(|page| page.strip_prefix(root()).unwrap().to_str().unwrap());
    for page in names.filter(|name| !name.starts_with("docs/evaluation/") && *name != "CHANGELOG.md") {
        let words = read(page);
        for path in words.split('`').filter(|word| ours(word) && !word.contains(['<', ' ', '\n', '{'])) {
            // `wrapper_*.rs` stands for several files of a folder.
            let (folder, pattern) = path.rsplit_once('/').unwrap();
            let found = match pattern.split_once('*') {
                None => root().join(path).exists(),
                Some((start, end)) => std::fs::read_dir(root().join(folder)).is_ok_and(|files| {
                    let mut names = files.map(|f| f.unwrap().file_name().into_string().unwrap());
                    names.any(|name| name.starts_with(start) && name.ends_with(end))
                }),
            };
            assert!(found, "{page} names {path}");
            named += 1;
        }
    }
    assert!(named > 50, "only {named} paths found");
}

#[test]
fn every_page_is_in_the_book() {
    let docs = root().join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let listed: HashSet<&str> = links(&summary).collect();
    for page in pages().iter().filter_map(|page| page.strip_prefix(&docs).ok()) {
        let name = page.to_str().unwrap();
        assert!(name == "SUMMARY.md" || listed.contains(name), "{name} is not in docs/SUMMARY.md");
    }
}

/// What is in the parentheses of `[text](link)`, outside of code blocks.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    let prose = text.lines().filter(move |line| {
        inside ^= line.starts_with("```");
        !inside && !line.starts_with("    ")
    });
    prose
        .flat_map(|line| line.split("](").skip(1))
        .filter_map(|rest| rest.split_once(')').map(|(link, _)| link))
}

/// The names that headings have in a link, as the usual renderers make them.
fn anchors(text: &str) -> HashSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let slug = |line: &str| -> String {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(slug).collect()
}

#[test]
fn lines_are_compared_as_documented() {
    assert!(line_agrees("a … b … c", "a 1 b 2 c"));
    assert!(!line_agrees("a … b", "a 1 c"));
    assert!(line_agrees("a", "a") && !line_agrees("a", "ab"));
    let expected: Vec<String> = ["x", "…", "z"].map(str::to_owned).into();
    assert!(agree(&expected, &["x", "z"]) && agree(&expected, &["x", "y", "y", "z"]));
    assert!(!agree(&expected, &["x", "y"]));
}
