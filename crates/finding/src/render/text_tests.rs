use super::*;
use crate::model::{AccessOp, Kind};
use crate::sample::{access, finding, frame};

#[test]
fn control_characters_do_not_reach_the_terminal() {
    assert_eq!(visible("a\u{1b}[31m\n\u{202e}é\u{fffd}"), "a\\u{1b}[31m\\n\\u{202e}é\u{fffd}");
}

#[test]
fn the_caret_stands_under_its_column() {
    assert_eq!(excerpt("\t\tx = y;", Some(7)), ("x = y;".to_owned(), Some(4)));
    assert_eq!(excerpt("  é = y;", Some(8)), ("é = y;".to_owned(), Some(4)));
    assert_eq!(excerpt("x", None), ("x".to_owned(), None));
    assert_eq!(excerpt("    x", Some(1)), ("x".to_owned(), Some(0)));
}

#[test]
fn prose_keeps_to_the_width_and_names_are_never_cut() {
    let long = "a_very_long_name_of_a_function_that_does_not_fit_into_forty_columns_at_all";
    let mut race =
        finding(Kind::DataRace, vec![access(AccessOp::Write, "T1", vec![frame(long, "src/a.c", 3, 1)])]);
    race.message = "one two three four five six seven eight nine ten eleven twelve thirteen".into();
    let text = super::finding(&race, &RenderOptions { width: 40, ..RenderOptions::default() });
    assert!(text.contains(&format!("      #0 {long}\n         src/a.c:3\n")), "{text}");
    assert!(
        text.contains("  one two three four five six seven\n  eight nine ten eleven twelve thirteen\n"),
        "{text}"
    );
    for line in text.lines().filter(|line| !line.contains(long)) {
        assert!(line.chars().count() <= 40, "{line}");
    }
}

#[test]
fn a_command_to_copy_stays_whole() {
    let mut race = finding(Kind::DataRace, vec![access(AccessOp::Write, "T1", vec![])]);
    race.schedule = Some("queue_test-data-race-1.raddle".into());
    let of = |width| super::finding(&race, &RenderOptions { width, ..RenderOptions::default() });
    assert!(of(60).contains("\n  replay: raddle replay queue_test-data-race-1.raddle\n"), "{}", of(60));
    assert!(of(40).contains("\n  replay:\n    raddle replay queue_test-data-race-1.raddle\n"), "{}", of(40));
}

#[test]
fn an_interleaving_has_a_column_for_each_thread() {
    let mut deadlock = finding(Kind::Deadlock, vec![access(AccessOp::Call, "T1", vec![])]);
    let row = |thread, text: &str, preempts, times| Row {
        thread,
        text: text.into(),
        frame: Some(frame("f", "a.c", 3, 1)),
        preempts,
        times,
    };
    deadlock.interleaving = Some(Interleaving {
        deeds: vec!["waits for the end".into()],
        threads: vec!["T0 (main)".into(), "T1".into()],
        rows: vec![row(0, "locks `a`", false, 1), row(1, "reads `x`", true, 3)],
    });
    let text = super::finding(&deadlock, &RenderOptions { width: 60, ..RenderOptions::default() });
    assert!(text.contains("T1 waits for the end, holding no lock"), "{text}");
    let lines: Vec<&str> = text.lines().skip_while(|l| *l != "  interleaving:").collect();
    assert_eq!(
        lines[1..5],
        [
            "      T0 (main)                  T1",
            "      locks `a`  f a.c:3",
            "      - - - - - - - - - - - - - - - - - - - - - - - - - -",
            "                                 reads `x` (3 times)",
        ],
        "{text}"
    );
    assert_eq!(lines[5], "                                   f a.c:3");
}

#[test]
fn an_interleaving_fits_into_forty_columns() {
    let mut deadlock = finding(Kind::Deadlock, vec![access(AccessOp::Call, "T1", vec![])]);
    let row = |thread, text: &str| Row {
        thread,
        text: text.into(),
        frame: Some(frame("transfer", "bank.c", 42, 1)),
        preempts: thread == 2,
        times: 1,
    };
    deadlock.interleaving = Some(Interleaving {
        deeds: vec![],
        threads: ["T0 (main)", "T1 (work)", "T2 (work)"].map(str::to_owned).into(),
        rows: vec![
            row(0, "waits for T1 (work) to end"),
            row(1, "waits for L2 `bob`"),
            row(2, "waits for L1 `alice`"),
            row(2, "waits until somebody tells it that it may go on"),
        ],
    });
    let text = super::finding(&deadlock, &RenderOptions { width: 40, ..RenderOptions::default() });
    let lines: Vec<&str> = text.lines().skip_while(|l| *l != "  interleaving:").take(13).collect();
    assert_eq!(
        lines[1..],
        [
            "      T0    T1    T2",
            "      waits for T1 (work) to end",
            "        transfer bank.c:42",
            "            waits for L2 `bob`",
            "              transfer bank.c:42",
            "      - - - - - - -",
            "                  waits for L1 `alice`",
            "                    transfer bank.c:42",
            "      - - - - - - -",
            "                  waits until somebody",
            "                  tells it that it may",
            "                  go on",
        ],
        "{text}"
    );
}

#[test]
fn the_place_of_a_step_moves_to_the_left_if_it_is_long() {
    let mut deadlock = finding(Kind::Deadlock, vec![access(AccessOp::Call, "T1", vec![])]);
    let long = "withdraw_from_the_account";
    deadlock.interleaving = Some(Interleaving {
        deeds: vec![],
        threads: vec!["T0".into(), "T1".into()],
        rows: vec![Row {
            thread: 1,
            text: "waits".into(),
            frame: Some(frame(long, "bank.c", 42, 1)),
            preempts: false,
            times: 1,
        }],
    });
    let lines = |width| {
        let text = super::finding(&deadlock, &RenderOptions { width, ..RenderOptions::default() });
        let steps = text.lines().skip_while(|l| *l != "  interleaving:").skip(2);
        steps.take_while(|l| !l.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    // 35 columns end at the edge; with 40 columns, they do not fit behind the indentation.
    let place = format!("{long} bank.c:42");
    assert_eq!(lines(50), [format!("{}waits", " ".repeat(29)), format!("{}{place}", " ".repeat(15))]);
    let narrow = lines(40);
    assert_eq!(narrow[1..], [format!("{}{long}", " ".repeat(15)), format!("{}bank.c:42", " ".repeat(26))]);
}

#[test]
fn a_long_line_of_source_is_shown_around_its_caret() {
    let line = "0123456789abcdefghijklmnopqrstuvwxyz";
    let shown = |caret, room| window(line.to_owned(), caret, room, "…");
    assert_eq!(shown(Some(9), 36), (line.to_owned(), Some(9)));
    assert_eq!(shown(Some(3), 12), ("0123456789a…".to_owned(), Some(3)));
    assert_eq!(shown(Some(20), 12), ("…hijklmnopq…".to_owned(), Some(4)));
    assert_eq!(shown(Some(35), 12), ("…pqrstuvwxyz".to_owned(), Some(11)));
    assert_eq!(shown(None, 12), ("0123456789a…".to_owned(), None));
    // The mark is below the same letter, wherever that stands.
    for (caret, sign) in (0..line.len()).flat_map(|caret| [(caret, "…"), (caret, "...")]) {
        let (text, at) = window(line.to_owned(), Some(caret), 12, sign);
        assert_eq!(text.chars().nth(at.unwrap()), line.chars().nth(caret), "{caret}: {text}");
        assert_eq!(text.chars().count(), 12);
    }
}

#[test]
fn frames_of_libraries_are_counted_between_those_of_the_reader() {
    let std = |name: &str| frame(name, "/usr/include/c++/12/thread", 5, 1);
    let stack = vec![
        std("std::vector<int>::push_back"),
        frame("work", "src/a.c", 3, 1),
        std("std::__invoke"),
        std("std::thread::_Invoker"),
        std("std::thread::_State_impl"),
        frame("main", "src/a.c", 9, 1),
        std("std::two"),
        std("std::frames"),
    ];
    let race = finding(Kind::DataRace, vec![access(AccessOp::Write, "T1", stack)]);
    let text = super::finding(&race, &RenderOptions::default());
    let folded = "      #1 work  src/a.c:3\n      … 3 frames of libraries\n      #5 main  src/a.c:9\n";
    assert!(text.contains(folded) && text.contains("#0 std::vector") && text.contains("#7 "), "{text}");
    let all = RenderOptions { all_frames: true, ..RenderOptions::default() };
    assert!(!super::finding(&race, &all).contains('…'));
}

#[test]
fn a_long_name_loses_the_arguments_of_its_templates() {
    let name = "std::thread::thread<start(std::vector<std::thread>&)::{lambda()#1}, , void>(&&)";
    assert_eq!(fitted(name.to_owned(), 100), name);
    assert_eq!(fitted(name.to_owned(), 40), "std::thread::thread<…>(&&)");
    for kept in [
        "std::operator<< <std::char_traits<char> >(std::ostream&)",
        "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop",
    ] {
        assert_eq!(fitted(kept.to_owned(), 20), kept);
    }
}

#[test]
fn a_place_is_a_link_where_the_terminal_has_them() {
    let mut report = Report::new("run", vec![]);
    report.findings = vec![finding(
        Kind::DataRace,
        vec![access(AccessOp::Write, "T1", vec![frame("work", "/src/a b.c", 3, 1)])],
    )];
    let links = RenderOptions { links: Some("file://{path}"), ..RenderOptions::default() };
    let text = render(&report, &links);
    assert!(
        text.contains("  \u{1b}]8;;file:///src/a%20b.c\u{1b}\\/src/a b.c:3\u{1b}]8;;\u{1b}\\\n"),
        "{text:?}"
    );
}

#[test]
fn a_terminal_without_utf8_gets_ascii() {
    assert_eq!(ascii("alice → bob … é"), "alice -> bob ... \\u{e9}");
    let mut report = Report::new("run", vec![]);
    report.findings = vec![finding(Kind::LockOrder, vec![])];
    report.findings[0].message = "a → b".into();
    let text = render(&report, &RenderOptions { ascii: true, ..RenderOptions::default() });
    assert!(text.contains("a -> b") && text.is_ascii(), "{text}");
}

#[test]
fn an_end_without_a_stack_says_so() {
    let race = finding(
        Kind::DataRace,
        vec![access(AccessOp::Write, "T1", vec![]), access(AccessOp::Read, "T2", vec![])],
    );
    let text = super::finding(&race, &RenderOptions::default());
    assert_eq!(text.matches("the stack could not be restored").count(), 2, "{text}");
}
