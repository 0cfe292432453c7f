//! The human-readable report: the tables and figures of section 5 of the paper, in its order.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::figures::{self, Fraction, Miss, any, often, rare};
use super::plot::{Axis, Chart, PlotLine};
use super::program::Meets;
use super::record::{Planted, TsvdRecord};
use super::series::{EXTENSIONS, PARAMETERS, POLICIES, Parameter, TECHNIQUES};
use crate::error::BenchError;
use crate::table::{NONE, Table, percent};

/// With more processors than this busy with something else, times are not reliable.
const IDLE: f64 = 0.3;

/// The marks around the tables in a document that contains other text too.
const MARKS: [&str; 2] = ["<!-- raddle-bench tsvd: from here -->\n", "<!-- raddle-bench tsvd: to here -->\n"];

/// The document with its tables replaced by these, or only the tables if it has no marks.
pub fn put_into(document: &str, tables: &str) -> String {
    let place = document.split_once(MARKS[0]).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(MARKS[1])?;
        Some((before, after))
    });
    match place {
        Some((before, after)) => format!("{before}{}{tables}{}{after}", MARKS[0], MARKS[1]),
        None => tables.to_owned(),
    }
}

pub fn markdown(record: &TsvdRecord) -> String {
    let mut text = heading(record);
    let parts = [
        suite(record),
        policies(record),
        goals(record),
        ablation(record),
        extensions(record),
        sensitivity(record),
        tries(record),
    ];
    text.extend(parts);
    text + &resources(record) + &misses(record) + &programs(record) + &failures(record)
}

fn heading(record: &TsvdRecord) -> String {
    let machine = &record.machine;
    let mut text = format!(
        "## The suite, measured\n\nMade by `{}` on {}: {}, {} cores, {} GiB; before it began {:.1} of them were busy with \
         something else; {} program(s) at a time.",
        record.command,
        record.date,
        machine.cpu,
        machine.cores,
        machine.memory_gib,
        machine.load,
        record.jobs
    );
    if machine.load > IDLE {
        text += " The machine was not idle, so times are noisy, and overheads more so.";
    }
    for (program, version) in &machine.versions {
        let _ = write!(text, "\n- {program}: {version}");
    }
    text + "\n"
}

fn suite(record: &TsvdRecord) -> String {
    let wrong = record.subjects.iter().filter(|subject| !subject.pairs.is_empty()).count();
    let pairs = || record.subjects.iter().flat_map(|subject| &subject.pairs);
    let count = |meets| pairs().filter(|pair| pair.meets == meets).count();
    let natives: Vec<f64> =
        record.subjects.iter().filter_map(|subject| figures::native(record, &subject.program)).collect();
    let least = natives.iter().copied().fold(f64::MAX, f64::min);
    let most = natives.iter().copied().fold(0.0, f64::max);
    let times = match natives.len() {
        0 => String::new(),
        _ => format!(
            " Natively they take {least:.1} to {most:.1} s, {:.0} s in all.",
            natives.iter().sum::<f64>()
        ),
    };
    format!(
        "\n### The suite\n\n{} programs, {wrong} of them with {} planted pairs: {} that meet more than once a run, {} that meet \
         once, {} that seldom come close (long gap).{times}\n",
        record.subjects.len(),
        pairs().count(),
        count(Meets::Often),
        count(Meets::Once),
        count(Meets::Rare),
    )
}

fn share(share: Fraction) -> String {
    if share.of == 0 { NONE.to_owned() } else { format!("{}/{}", share.found, share.of) }
}

fn decimal(value: Option<f64>) -> String {
    value.map_or(NONE.to_owned(), |value| format!("{value:.1}"))
}

const NOTES: &str = "
- A program whose planted pairs are all found after two runs or more is not run again in that series, since nothing more can be found in it; a right program
  has two runs. So *found* is of all programs, and false reports are looked for in the runs that were made.
- *timed*: the programs that delays and overhead are of; where not all had so many runs, one in four by the order of names, run so often whatever was
  found. Delays are those of one run of one program, on average. Overhead is time by the clock, the first runs together.
- The delay bound is the time of all delays of a run over half the processor time that the programs take natively: what delays can add at most on an
  idle machine, whatever this one did meanwhile.
- raddle's cap on the share of time that may be delays holds tsvd and tsvd-hb, as users have them; the two random policies go without it, as in the
  paper, and are held by 3 s a thread and 10 s a process. What tsvd does without it is in the next table but one.
";

fn policies(record: &TsvdRecord) -> String {
    let mut text = "\n### Policies (Table 2, Figure 8)\n\n".to_owned();
    let mut table = Table::new([
        "policy",
        "runs",
        "programs",
        "found",
        "often",
        "once",
        "long gap",
        "false",
        "timed",
        "delays",
        "overhead",
        "delay bound",
    ]);
    let once = |pair: &Planted| pair.meets == Meets::Once;
    for policy in POLICIES {
        for runs in [1, 2, 10, 50] {
            let programs = figures::programs(record, policy, runs);
            let timed = figures::timed(record, policy, runs);
            // If the bench was interrupted, only settled programs show what further runs find.
            if !figures::is_known(record, policy, runs) {
                continue;
            }
            table.row([
                policy.to_owned(),
                runs.to_string(),
                programs.to_string(),
                share(figures::found(record, policy, runs, any)),
                share(figures::found(record, policy, runs, often)),
                share(figures::found(record, policy, runs, once)),
                share(figures::found(record, policy, runs, rare)),
                figures::false_reports(record, policy).to_string(),
                timed.subjects.len().to_string(),
                decimal(figures::delays(&timed, policy, runs)),
                percent(figures::overhead(&timed, policy, runs)),
                percent(figures::delay_bound(&timed, policy)),
            ]);
        }
    }
    text += &table.render();
    text += NOTES;
    text + "\nThe paper, 1,000 modules, two runs: TSVD 53 (42 in the first) at 33%, TSVD-HB 41 (25) at 310%, DataCollider 25 (22) \
            at 378%, DynamicRandom 13 (6) at 178%.\n\n![found against runs](plots/tsvd-runs.svg)\n"
}

fn goals(record: &TsvdRecord) -> String {
    let all_but_rare = |pair: &Planted| pair.meets != Meets::Rare;
    let found = |runs, which: &dyn Fn(&Planted) -> bool| figures::found(record, "tsvd", runs, which);
    let ran = |runs| figures::programs(record, "tsvd", runs) == record.subjects.len();
    let mut table = Table::new(["to reach", "reached", ""]);
    let mut goal = |what: &str, figure: String, met: Option<bool>| {
        let verdict = met.map_or("not measured", |met| if met { "yes" } else { "**no**" });
        table.row([what, &figure, verdict]);
    };
    let no_false: usize = record.rows.iter().map(|row| row.false_reports.len()).sum();
    goal("no false report, in any series", no_false.to_string(), Some(no_false == 0));
    let part = |share: Fraction, least: f64| share.part().map(|part| part >= least);
    let first = found(1, &often);
    goal("80% of pairs that meet more than once, run 1", share(first), part(first, 0.8).filter(|_| ran(1)));
    let second = found(2, &all_but_rare);
    goal("95% of all but long-gap pairs, two runs", share(second), part(second, 0.95).filter(|_| ran(2)));
    let tenth = found(10, &rare);
    // Half of them is not most.
    let most = tenth.part().map(|part| part > 0.5);
    goal("most long-gap pairs, ten runs", share(tenth), most.filter(|_| ran(10)));
    let (cost, idle) = (figures::overhead(record, "tsvd", 1), record.machine.load <= IDLE);
    goal(
        "overhead of 33% or less, run 1, machine idle",
        percent(cost.filter(|_| idle)),
        cost.map(|cost| cost <= 0.33).filter(|_| ran(1) && idle),
    );
    let all_ran = |runs| POLICIES.iter().all(|p| figures::programs(record, p, runs) == record.subjects.len());
    for runs in [1, 2, 10] {
        let found = POLICIES.map(|policy| figures::found(record, policy, runs, any).found);
        let most = found[1..].iter().all(|other| *other < found[0]);
        let words = found.map(|n| n.to_string()).join(", ");
        goal(
            &format!("more than any other policy, {runs} run(s)"),
            words,
            Some(most).filter(|_| all_ran(runs)),
        );
    }
    let costs = POLICIES.map(|policy| figures::overhead(record, policy, 2));
    let least = costs[1..].iter().all(|other| costs[0] <= *other);
    let words = costs.map(percent).join(", ");
    goal("at the least overhead, two runs", words, Some(least).filter(|_| all_ran(2) && idle));
    "\n### What is to be reached\n\n".to_owned() + &table.render()
}

/// A line of Table 3 or of Figure 9. The second run is made only where something is left to find,
/// so the cost is that of the first.
fn two_runs(record: &TsvdRecord, table: &mut Table, name: &str, series: &str) {
    if !figures::is_known(record, series, 2) {
        return;
    }
    table.row([
        name.to_owned(),
        figures::programs(record, series, 2).to_string(),
        share(figures::found(record, series, 2, any)),
        figures::found(record, series, 1, any).found.to_string(),
        decimal(figures::delays(record, series, 1)),
        percent(figures::overhead(record, series, 1)),
    ]);
}

/// Delays are averages for one program.
const TWO_RUNS: [&str; 6] = ["", "programs", "found", "in run 1", "delays, run 1", "overhead, run 1"];

fn ablation(record: &TsvdRecord) -> String {
    let measured = |name: &String| figures::is_known(record, name, 2);
    let techniques = TECHNIQUES.map(|(technique, title)| (format!("without {technique}"), title));
    let mut names: Vec<String> = techniques.iter().map(|(name, _)| name.clone()).filter(measured).collect();
    if names.is_empty() {
        return "\n### One technique less (Table 3)\n\nNot measured.\n".to_owned();
    }
    names.push("tsvd".to_owned());
    let record = &figures::common(record, &names);
    let mut table = Table::new(TWO_RUNS);
    two_runs(record, &mut table, "TSVD", "tsvd");
    for (name, title) in &techniques {
        two_runs(record, &mut table, title, name);
    }
    "\n### One technique less (Table 3), two runs\n\n".to_owned()
        + &table.render()
        + "\nThe paper: 53 at 33%; without inference 45 at 84%, without windowing 46 at 143%, without phases 54 at 61%.\n"
}

fn extensions(record: &TsvdRecord) -> String {
    let (paper, others) = EXTENSIONS.split_at(1);
    let tables = [("All programs", paper), ("One technique less, one program in four", others)];
    let tables: String =
        tables.iter().filter_map(|(title, series)| extension_table(record, title, series)).collect();
    let tables = if tables.is_empty() { "\nNot measured.\n".to_owned() } else { tables };
    "\n### What raddle adds to the paper, two runs\n".to_owned() + &tables
}

/// Some series compared with `tsvd`, on the programs that all of them were run on.
fn extension_table(record: &TsvdRecord, title: &str, series: &[(&str, &[&str], &str)]) -> Option<String> {
    let known = |name: &str| figures::is_known(record, name, 2);
    let mut lines: Vec<(&str, &str)> =
        series.iter().map(|s| (s.0, s.2)).filter(|(name, _)| known(name)).collect();
    if lines.is_empty() {
        return None;
    }
    lines.insert(0, ("tsvd", "TSVD of raddle"));
    let names: Vec<String> = lines.iter().map(|(name, _)| (*name).to_owned()).collect();
    let record = figures::common(record, &names);
    let mut table = Table::new([
        "",
        "programs",
        "found",
        "in run 1",
        "delays, run 1",
        "overhead, run 1",
        "overhead, two runs",
        "delay bound",
    ]);
    for (name, title) in lines {
        table.row([
            title.to_owned(),
            figures::programs(&record, name, 2).to_string(),
            share(figures::found(&record, name, 2, any)),
            figures::found(&record, name, 1, any).found.to_string(),
            decimal(figures::delays(&record, name, 1)),
            percent(figures::overhead(&record, name, 1)),
            percent(figures::overhead(&record, name, 2)),
            percent(figures::delay_bound(&record, name)),
        ]);
    }
    Some(format!("\n{title}:\n\n{}", table.render()))
}

/// The measured values of a parameter, and the programs on which all of them were measured.
fn measured(record: &TsvdRecord, parameter: &Parameter) -> Option<(Vec<&'static str>, TsvdRecord)> {
    let known = |value: &&&str| figures::is_known(record, &parameter.series(value), 2);
    let values: Vec<&str> = parameter.values.iter().filter(known).copied().collect();
    let names: Vec<String> = values.iter().map(|value| parameter.series(value)).collect();
    let others = values.iter().any(|value| *value != parameter.default);
    others.then(|| (values, figures::common(record, &names)))
}

fn sensitivity(record: &TsvdRecord) -> String {
    let heading = "\n### Parameters (Figure 9), two runs\n";
    let mut text = heading.to_owned();
    for parameter in &PARAMETERS {
        let Some((values, record)) = measured(record, parameter) else { continue };
        let mut table = Table::new(TWO_RUNS);
        for value in values {
            two_runs(&record, &mut table, &format!("{} {value}", parameter.option), &parameter.series(value));
        }
        let _ = write!(
            text,
            "\n#### ({}) {}\n\n{}\n![{}](plots/tsvd-{}.svg)\n",
            parameter.panel,
            parameter.title,
            table.render(),
            parameter.title,
            parameter.option
        );
    }
    match text == heading {
        true => text + "\nNot measured.\n",
        false => {
            text + "\nOne program in four, by the order of their names. The default is the policy `tsvd`.\n"
        }
    }
}

fn tries(record: &TsvdRecord) -> String {
    let names: Vec<&String> =
        record.series.iter().map(|s| &s.name).filter(|name| name.starts_with("try ")).collect();
    if names.is_empty() {
        return String::new();
    }
    let mut table = Table::new(TWO_RUNS);
    names.into_iter().for_each(|name| two_runs(record, &mut table, name, name));
    "\n#### (a) the same again with other seeds\n\n".to_owned()
        + &table.render()
        + "\n![tries](plots/tsvd-tries.svg)\n\nOne program in four, as above.\n"
}

fn resources(record: &TsvdRecord) -> String {
    let mut table = Table::new(["policy", "peak memory", "processor time"]);
    for policy in POLICIES.iter().filter(|policy| figures::programs(record, policy, 1) > 0) {
        table.row([
            (*policy).to_owned(),
            percent(figures::median_increase(record, policy, |run| run.peak_kib as f64)),
            percent(figures::median_increase(record, policy, |run| run.cpu_seconds)),
        ]);
    }
    "\n### Memory and processor (5.5)\n\nMedian increase over the programs.\n\n".to_owned()
        + &table.render()
        + "\nThe paper: 17% more memory, 82% more processor use, the latter from forcing async functions to run so.\n"
}

fn misses(record: &TsvdRecord) -> String {
    let runs = if figures::programs(record, "tsvd", 2) > 0 { 2 } else { 1 };
    let missed = figures::misses(record, runs);
    let mut text = format!("\n### What `tsvd` missed in {runs} run(s) (5.3)\n\n{} pairs.", missed.len());
    for (class, name) in [
        (Miss::NearMiss, "near-miss: the two calls did not come close"),
        (Miss::OneRun, "they meet once a run, and one run can only learn of them"),
        (Miss::Inference, "inference: taken to be ordered, found without it"),
        (Miss::Delay, "delay: no delay made them meet"),
    ] {
        let of_class: Vec<String> = missed
            .iter()
            .filter(|(_, _, miss)| *miss == class)
            .map(|(program, pair, _)| format!("`{program}` #{pair}"))
            .collect();
        if !of_class.is_empty() {
            let _ = write!(text, "\n- {name}: {}", of_class.join(", "));
        }
    }
    text + "\n"
}

fn programs(record: &TsvdRecord) -> String {
    let mut table = Table::new(["program", "native s", "tsvd s", "calls", "delays", "found in run"]);
    for subject in &record.subjects {
        let Some(row) = record.row(&subject.program, Some("tsvd")) else { continue };
        let in_runs = subject.pairs.iter().map(|pair| {
            let run =
                row.found.iter().find(|found| found.pair == pair.number).map(|found| found.run.to_string());
            format!("#{}: {}", pair.number, run.unwrap_or(NONE.to_owned()))
        });
        let seconds = |value: Option<f64>| value.map_or(NONE.to_owned(), |value| format!("{value:.2}"));
        table.row([
            format!("`{}`", subject.program),
            seconds(figures::native(record, &subject.program)),
            seconds(row.runs.first().map(|run| run.seconds)),
            (row.calls / row.runs.len().max(1) as u64).to_string(),
            (row.delays.iter().sum::<u64>() / row.runs.len().max(1) as u64).to_string(),
            in_runs.collect::<Vec<_>>().join(", "),
        ]);
    }
    "\n### Program by program\n\nThe time of the first run; calls and delays of a run on average.\n\n"
        .to_owned()
        + &table.render()
}

fn failures(record: &TsvdRecord) -> String {
    let mut text = String::new();
    for row in record.rows.iter().filter(|row| !row.false_reports.is_empty()) {
        for message in &row.false_reports {
            let series = row.series.as_deref().unwrap_or("native");
            let _ = write!(text, "\n- **false report**, `{}`, {series}: {message}", row.program);
        }
    }
    for failure in &record.failures {
        let series = failure.series.as_deref().unwrap_or("native");
        let _ = write!(text, "\n- `{}`, {series}: {}", failure.program, failure.reason);
    }
    if text.is_empty() { text } else { format!("\n### What went wrong\n{text}\n") }
}

/// Draws one plot for each figure.
pub fn plots(record: &TsvdRecord, folder: &Path) -> Result<(), BenchError> {
    fs::create_dir_all(folder).map_err(BenchError::file("create", folder))?;
    let write = |name: &str, chart: &Chart| {
        let path = folder.join(format!("tsvd-{name}.svg"));
        fs::write(&path, chart.svg()).map_err(BenchError::file("write", &path))
    };
    write("runs", &runs_chart(record))?;
    for parameter in &PARAMETERS {
        let Some((values, record)) = measured(record, parameter) else { continue };
        let line = |name: &str, axis, figure: &dyn Fn(&str) -> f64| PlotLine {
            name: name.to_owned(),
            axis,
            points: (0..)
                .map(f64::from)
                .zip(values.iter().map(|value| figure(&parameter.series(value))))
                .collect(),
        };
        let found = |series: &str| figures::found(&record, series, 2, any).found as f64;
        let cost = |series: &str| figures::overhead(&record, series, 1).unwrap_or(0.0) * 100.0;
        let chart = Chart {
            title: format!("Figure 9({}): {}", parameter.panel, parameter.title),
            x: parameter.title.to_owned(),
            left: "pairs found in two runs".to_owned(),
            right: "overhead of run 1, %".to_owned(),
            ticks: Some(values.iter().map(|value| (*value).to_owned()).collect()),
            lines: vec![line("found", Axis::Left, &found), line("overhead", Axis::Right, &cost)],
        };
        write(parameter.option, &chart)?;
    }
    if let Some(chart) = tries_chart(record) {
        write("tries", &chart)?;
    }
    Ok(())
}

/// Figure 9(a).
fn tries_chart(record: &TsvdRecord) -> Option<Chart> {
    let known = |name: &&String| name.starts_with("try ") && figures::is_known(record, name, 2);
    let names: Vec<&String> = record.series.iter().map(|series| &series.name).filter(known).collect();
    let line = |name: &str, axis, figure: &dyn Fn(&str) -> f64| PlotLine {
        name: name.to_owned(),
        axis,
        points: (1..).map(f64::from).zip(names.iter().map(|series| figure(series))).collect(),
    };
    let found = |series: &str| figures::found(record, series, 2, any).found as f64;
    let cost = |series: &str| figures::overhead(record, series, 1).unwrap_or(0.0) * 100.0;
    (!names.is_empty()).then(|| Chart {
        title: "Figure 9(a): the same again with other seeds".to_owned(),
        x: "try".to_owned(),
        left: "pairs found in two runs".to_owned(),
        right: "overhead of run 1, %".to_owned(),
        ticks: None,
        lines: vec![line("found", Axis::Left, &found), line("overhead", Axis::Right, &cost)],
    })
}

/// Figure 8.
fn runs_chart(record: &TsvdRecord) -> Chart {
    let line = |policy: &&str| {
        let known = |runs: &u32| figures::is_known(record, policy, *runs);
        let most =
            record.series.iter().find(|series| series.name == **policy).map_or(0, |series| series.runs);
        // If the bench was interrupted, the line ends.
        let runs = (1..=most).take_while(known).last().unwrap_or(0);
        let point = |run| (f64::from(run), figures::found(record, policy, run, any).found as f64);
        PlotLine { name: (*policy).to_owned(), axis: Axis::Left, points: (1..=runs).map(point).collect() }
    };
    let measured = POLICIES.iter().filter(|policy| figures::programs(record, policy, 1) > 0);
    Chart {
        title: "Figure 8: pairs found against runs".to_owned(),
        x: "runs".to_owned(),
        left: "pairs found".to_owned(),
        right: String::new(),
        ticks: None,
        lines: measured.map(line).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::{add, sample};
    use super::*;

    #[test]
    fn tables_hold_what_was_measured_and_name_what_was_missed() {
        let mut record = sample();
        for program in ["a_bad.cc", "b_bad.c", "c_ok.rs"] {
            add(&mut record, program, None, &[1.0], &[]);
            let found: &[(u32, u32)] = if program == "a_bad.cc" { &[(1, 1), (2, 2)] } else { &[] };
            add(&mut record, program, Some("tsvd"), &[1.3, 1.1], found);
        }
        let text = markdown(&record);
        let line = |part: &str| text.lines().find(|line| line.contains(part)).unwrap_or_default().to_owned();
        assert!(line("| tsvd ").contains("1/3") && line("| tsvd ").contains("30%"), "{}", line("| tsvd "));
        assert!(line("80% of pairs").ends_with("yes |") && line("most long-gap").contains("not measured"));
        assert!(text.contains("1 pairs.\n- near-miss: the two calls did not come close: `b_bad.c` #1"));
        assert!(!text.contains("What went wrong") && !text.contains("tsvd-hb |"));
        record.rows[1].false_reports.push("nobody planted this".to_owned());
        let text = markdown(&record);
        assert!(text.contains("**false report**, `a_bad.cc`, tsvd: nobody planted this"));
        assert!(text.lines().any(|line| line.contains("no false report") && line.contains("**no**")));
    }

    #[test]
    fn tables_take_the_place_of_those_before_them() {
        let [from, to] = MARKS;
        let document = format!("# Title\n{from}old\n{to}After.\n");
        assert_eq!(put_into(&document, "new\n"), format!("# Title\n{from}new\n{to}After.\n"));
        assert_eq!(put_into("no marks\n", "new\n"), "new\n");
        assert_eq!(put_into(&format!("{to}{from}"), "new\n"), "new\n", "marks the wrong way round");
    }

    #[test]
    fn a_parameter_is_compared_on_the_programs_all_its_values_had() {
        let mut record = sample();
        for program in ["a_bad.cc", "b_bad.c", "c_ok.rs"] {
            add(&mut record, program, None, &[1.0], &[]);
            add(&mut record, program, Some("tsvd"), &[1.0, 1.0], &[(1, 1)]);
        }
        assert!(sensitivity(&record).contains("Not measured."));
        add(&mut record, "a_bad.cc", Some("window 10"), &[1.0, 1.0], &[]);
        let text = sensitivity(&record);
        let row = |name: &str| text.lines().find(|line| line.contains(name)).unwrap_or_default().to_owned();
        assert!(row("| window 100 ").contains("1/2"), "{text}");
        assert!(row("| window 10 ").contains("0/2"), "{text}");
        let more = ["without phase", "without window"];
        more.iter().for_each(|name| add(&mut record, "a_bad.cc", Some(name), &[1.0, 1.0], &[(1, 1)]));
        let text = ablation(&record);
        assert!(text.contains("| TSVD ") && text.contains("| No concurrent phase detection "), "{text}");
    }

    #[test]
    fn the_paper_stands_beside_what_raddle_makes_of_it() {
        let mut record = sample();
        assert!(extensions(&record).contains("Not measured"));
        for program in ["a_bad.cc", "b_bad.c", "c_ok.rs"] {
            add(&mut record, program, None, &[1.0], &[]);
            add(&mut record, program, Some("tsvd"), &[1.1, 1.0], &[(1, 1)]);
            add(&mut record, program, Some("paper"), &[1.3, 1.4], &[(1, 2)]);
        }
        let text = extensions(&record);
        let line = text.lines().find(|line| line.contains("The paper's algorithm")).unwrap();
        assert!(line.contains("30%") && line.contains("35%") && line.contains("2/3"), "{text}");
        assert!(text.contains("TSVD of raddle") && !text.contains("No renewal"), "{text}");
    }

    #[test]
    fn plots_are_drawn_for_what_was_measured() {
        let mut record = sample();
        add(&mut record, "a_bad.cc", None, &[1.0], &[]);
        add(&mut record, "a_bad.cc", Some("tsvd"), &[1.0, 1.0], &[(1, 1)]);
        add(&mut record, "a_bad.cc", Some("window 10"), &[1.0, 1.0], &[]);
        let folder = std::env::temp_dir().join(format!("raddle-bench-plots-{}", std::process::id()));
        plots(&record, &folder).unwrap();
        let mut names: Vec<String> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["tsvd-runs.svg", "tsvd-window.svg"]);
        fs::remove_dir_all(&folder).unwrap();
    }
}
