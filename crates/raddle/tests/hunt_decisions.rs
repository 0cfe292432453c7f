//! What outlives a hunt: the store, what people decide, and builds that are compared.

mod common;
mod hunting;

use common::{Bench, refused, stderr, succeed};
use hunting::{RACE, built, findings, hunt, loses};

#[test]
fn decisions_are_respected_and_a_fixed_bug_that_returns_is_a_regression() {
    let bench = Bench::new();
    built(&bench, "race", RACE);
    let line = "--seconds 60 -- ./race";
    let (_, report) = hunt(&bench, line);
    let id = findings(&report)[0]["id"].as_str().unwrap().to_owned();
    assert!(bench.ok("list").starts_with(&id));
    assert!(bench.ok(&format!("show {id}")).contains("To fix it"));
    assert!(refused(&mut bench.raddle("show no-such")).contains("no finding has the id"));
    let triage = |how: &str, reason: &str| {
        succeed(bench.raddle(&format!("triage {id} --{how} --reason")).arg(reason));
    };
    triage("benign", "statistics only");
    let (output, report) = hunt(&bench, line);
    assert_eq!((output.status.code(), findings(&report).len()), (Some(0), 0), "{}", stderr(&output));
    assert_eq!(report["stats"]["accepted"], 1);
    assert!(bench.ok("list").is_empty() && bench.ok("list --all").contains("statistics only"));
    triage("fixed", "made atomic");
    let (output, report) = hunt(&bench, line);
    assert_eq!(output.status.code(), Some(66), "{}", stderr(&output));
    assert_eq!(report["stats"]["regressions"], 1);
    assert!(findings(&report)[0]["notes"][0].as_str().unwrap().starts_with("a regression"));
}

#[test]
fn a_decision_about_one_program_does_not_reach_another_with_the_same_id() {
    let bench = Bench::new();
    built(&bench, "hits", &loses("hits"));
    built(&bench, "coins", &loses("coins"));
    // The same again with an exit status, which has no place at all, and with a race.
    let status = |what: &str| {
        loses(what).replace(&format!("assert({what} == 2);"), &format!("if ({what} != 2) return 3;"))
    };
    built(&bench, "hits_status", &status("hits"));
    built(&bench, "coins_status", &status("coins"));
    let race = RACE.replace("guarded != 2", "0");
    built(&bench, "race_one", &race);
    built(&bench, "race_two", &race);
    for (one, two, kind) in [
        ("hits", "coins", "assertion"),
        ("hits_status", "coins_status", "exit-status"),
        ("race_one", "race_two", "data-race"),
    ] {
        let hunted = |program: &str| {
            let (output, report) = hunt(&bench, &format!("--seconds 60 -- ./{program}"));
            let found = findings(&report).iter().find(|f| f["kind"] == kind).cloned();
            (output.status.code(), found)
        };
        let (code, first) = hunted(one);
        let first = first.unwrap_or_else(|| panic!("{one} has no {kind}"));
        assert_eq!(code, Some(66));
        let (id, subject) = (first["id"].as_str().unwrap(), first["subject"].as_str().unwrap());
        succeed(&mut bench.raddle(&format!("triage {id}@{subject} --benign --reason expected")));
        let (_, again) = hunted(one);
        assert!(again.is_none(), "{again:#?}");
        let (code, second) = hunted(two);
        let second = second.unwrap_or_else(|| panic!("{two} is hidden by the decision about {one}"));
        assert_eq!((code, second["id"].as_str()), (Some(66), Some(id)), "only the subject tells them apart");
        let both = refused(&mut bench.raddle(&format!("show {id}")));
        assert!(both.contains("2 findings begin with"), "{both}");
    }
}

#[test]
fn a_store_that_cannot_be_read_is_no_empty_one() {
    let bench = Bench::new();
    assert!(bench.ok("list").is_empty(), "no hunt has run");
    bench.file("file", "x");
    std::fs::create_dir(bench.path("garbage")).unwrap();
    bench.file("garbage/store.db", "this is no database, whatever its name says, and it is long enough");
    std::fs::create_dir(bench.path("empty")).unwrap();
    bench.file("empty/store.db", "");
    for store in ["missing", "file", "file/below", "garbage", "empty"] {
        for line in ["list", "list --all", "show x", "triage x --fixed --reason y", "verify x"] {
            let said = refused(bench.raddle(line).env("RADDLE_STORE", store));
            assert!(said.contains(store), "{store}, {line}: {said}");
        }
        assert_eq!(
            bench.raddle(&format!("merge {store}")).output().unwrap().status.code(),
            Some(2),
            "{store}"
        );
    }
}

#[test]
fn a_build_is_instrumented_and_a_mended_program_is_verified() {
    let bench = Bench::new();
    bench.file("race.c", RACE);
    bench.file("build.sh", "cc -g -O1 -pthread race.c -o race\n");
    let built = bench.raddle("build -- sh build.sh").output().unwrap();
    assert!(built.status.success() && stderr(&built).contains("1 call of a compiler"), "{}", stderr(&built));
    let failed = bench.raddle("build -- false").output().unwrap();
    assert_eq!(failed.status.code(), Some(1));
    assert!(stderr(&failed).is_empty(), "the build says itself why it failed: {}", stderr(&failed));
    let nothing = bench.raddle("build -- true").output().unwrap();
    assert!(stderr(&nothing).contains("nothing was instrumented"), "{}", stderr(&nothing));

    let (_, report) = hunt(&bench, "--seconds 60 -- ./race");
    let id = findings(&report)[0]["id"].as_str().unwrap().to_owned();
    let verify = || bench.raddle(&format!("verify {id} --seconds 10")).output().unwrap();
    let there = verify();
    assert_eq!(there.status.code(), Some(66), "{}", stderr(&there));
    bench.file("race.c", &RACE.replace("bare++", "__atomic_fetch_add(&bare, 1, __ATOMIC_SEQ_CST)"));
    bench.ok("build -- sh build.sh");
    let mended = verify();
    assert_eq!(mended.status.code(), Some(0), "{}", stderr(&mended));
    let said = stderr(&mended);
    assert!(said.contains("was not reproduced") && !said.contains("fixed"), "{said}");
}

/// As CMake does: it writes down where the compiler is, and a later command calls it there.
#[test]
fn a_build_that_was_made_ready_by_another_command_is_instrumented() {
    let bench = Bench::new();
    bench.file("race.c", RACE);
    bench.file("configure.sh", "command -v cc > found\n");
    bench.file("make.sh", "$(cat found) -g -O1 -pthread race.c -o race\n");
    bench.ok("build -- sh configure.sh");
    let built = bench.raddle("build -- sh make.sh").output().unwrap();
    assert!(built.status.success() && stderr(&built).contains("1 call of a compiler"), "{}", stderr(&built));
    let mut alone = bench.command("sh");
    let alone = alone.arg("make.sh").output().unwrap();
    assert!(alone.status.success() && stderr(&alone).is_empty(), "{}", stderr(&alone));
}

#[test]
fn two_builds_are_compared_and_one_that_was_not_hunted_is_refused() {
    let bench = Bench::new();
    built(&bench, "race", RACE);
    let hunted = || hunt(&bench, "--seconds 60 -- ./race").0.status.code();
    assert_eq!(hunted(), Some(66));
    std::fs::copy(bench.path("race"), bench.path("old")).unwrap();
    let both = RACE.replace("bare++", "__atomic_fetch_add(&bare, 1, __ATOMIC_SEQ_CST); late++");
    built(&bench, "race", &both.replace("guarded, bare", "guarded, bare, late"));
    assert!(refused(&mut bench.raddle("diff old race")).contains("never hunted"));
    assert_eq!(hunted(), Some(66));
    let compared = bench.raddle("diff old race").output().unwrap();
    assert_eq!(compared.status.code(), Some(66), "{}", stderr(&compared));
    let text = String::from_utf8(compared.stdout).unwrap();
    let line = |word: &str| text.lines().find(|l| l.starts_with(word)).unwrap_or_default().to_owned();
    assert!(line("gone").contains("`bare`") && line("new").contains("`late`"), "{text}");
    let backwards = bench.raddle("diff race old").output().unwrap();
    assert_eq!(backwards.status.code(), Some(66), "what is gone is new the other way round");
    assert!(refused(&mut bench.raddle("diff old old")).contains("the same build"));
}

#[test]
fn what_was_confirmed_outlives_a_hunt_that_is_killed() {
    let bench = Bench::new();
    // Endless work behind the race: the hunt goes on until it is killed.
    let endless = RACE.replace(
        "guarded++;",
        "for (int i = 0; i < 40; i++) { pthread_mutex_unlock(&lock); pthread_mutex_lock(&lock); } guarded++;",
    );
    built(&bench, "long", &endless);
    let mut hunt =
        bench.raddle("hunt --minutes 5 -- ./long").stderr(std::process::Stdio::piped()).spawn().unwrap();
    let lines = std::io::BufReader::new(hunt.stderr.take().unwrap());
    let told = std::io::BufRead::lines(lines).map_while(Result::ok).find(|l| l.contains("confirmed after"));
    hunt.kill().unwrap();
    hunt.wait().unwrap();
    assert!(told.unwrap_or_default().contains("`bare`"));
    let listed = bench.ok("list");
    assert!(listed.starts_with("data-race-") && listed.contains("`bare`"), "{listed}");
    let id = listed.split_whitespace().next().unwrap();
    assert!(bench.ok(&format!("show {id}")).contains("raddle replay"));
}
