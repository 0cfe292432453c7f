//! Faults: processes of a session that are killed at any moment, limits, full disks, pipes that
//! nobody reads.
//!
//! What must hold whatever happens: raddle ends, does not panic, confirms nothing in a correct
//! program, and leaves nothing behind once the next raddle has run. No time is asserted; a watchdog
//! of minutes tells "slow" from "never". The sequence of faults is that of a fixed seed. When each
//! one strikes depends on the machine, which is the point.

mod common;

use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::{Bench, stderr};
use rustix::process::{Pid, Signal, kill_process};

/// Longer than any of this takes on a busy machine.
const WATCHDOG: Duration = Duration::from_secs(240);

/// Correct: every access is under its lock.
const CORRECT: &str = "#include <pthread.h>\n#include <unistd.h>\n\
    static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;\nstatic int x, y;\n\
    static void *p(void *n) {\n\
        for (int i = 0; i < 4; i++) {\n\
            pthread_mutex_lock(&a); x++; pthread_mutex_unlock(&a); usleep(1000);\n\
            pthread_mutex_lock(&b); y++; pthread_mutex_unlock(&b);\n\
        }\n\
        return n;\n\
    }\n\
    int main(void) {\n\
        pthread_t t[3];\n\
        for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, p, 0);\n\
        for (int i = 0; i < 3; i++) pthread_join(t[i], 0);\n\
        return x == y ? 0 : 1;\n\
    }\n";

/// Xorshift: the same numbers in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

fn bench() -> Bench {
    let bench = Bench::new();
    bench.build_text("correct", CORRECT);
    bench
}

/// Raddle's command lines, each with the correct program.
const SESSIONS: [&str; 8] = [
    "run -- ./correct",
    "run --mode hybrid -- sh -c ./correct;./correct",
    "explore --seconds 1 --jobs 2 -- ./correct",
    "explore --seconds 1 --fork -- ./correct",
    "conseq --seconds 2 -- ./correct",
    "tsvd -- ./correct",
    "hunt --seconds 2 -- ./correct",
    "check correct.c",
];

fn session(bench: &Bench, line: &str) -> Command {
    let (words, target) = line.split_once(" -- ").unwrap_or((line, ""));
    let mut command = bench.raddle(words);
    match target.strip_prefix("sh -c ") {
        Some(script) => command.args(["--", "sh", "-c", script]),
        None if target.is_empty() => &mut command,
        None => command.args(["--", target]),
    };
    command.env("TMPDIR", bench.session_folder()).env("RADDLE_NO_STORE", "1").env_remove("TSAN_OPTIONS");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// All processes that a process has started, and those that these have.
fn descendants(of: u32) -> BTreeSet<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{of}/task")).into_iter().flatten().flatten();
    let children = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let own: Vec<u32> =
        children.flat_map(|c| c.split_whitespace().map(|w| w.parse().unwrap()).collect::<Vec<_>>()).collect();
    own.iter().flat_map(|pid| descendants(*pid)).chain(own.iter().copied()).collect()
}

fn is_running(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

#[track_caller]
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < WATCHDOG, "{what}: not in {WATCHDOG:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// What the child printed; it must end by itself.
#[track_caller]
fn ends(what: &str, mut child: Child) -> Output {
    // A pipe that nobody reads would hold it up.
    let mut errors = child.stderr.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        std::io::Read::read_to_end(&mut errors, &mut text).map(|_| text)
    });
    let mut status = None;
    wait_until(what, || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    let stderr = reader.join().unwrap().unwrap();
    Output { status: status.unwrap(), stdout: Vec::new(), stderr }
}

/// What holds of raddle in any event; `killed` is the signal that the test sent to raddle itself.
#[track_caller]
fn assert_sound(what: &str, output: &Output, killed: Option<Signal>) {
    let said = stderr(output);
    assert!(!said.contains("panicked"), "{what}: {said}");
    for kind in ["data race", "crash", "deadlock", "hang", "status", "output", "violation"] {
        assert!(!said.contains(&format!("confirmed {kind}")), "{what}: {said}");
    }
    assert_ne!(output.status.code(), Some(66), "{what}: {said}");
    match output.status.signal() {
        None => assert_ne!(output.status.code(), Some(101), "{what}: {said}"),
        signal => assert_eq!(signal, killed.map(Signal::as_raw), "{what}: {said}"),
    }
}

/// After the next raddle there is nothing of those before it.
#[track_caller]
fn assert_swept(bench: &Bench) {
    let output = ends("the last run", session(bench, SESSIONS[0]).spawn().unwrap());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let left: Vec<_> = std::fs::read_dir(bench.session_folder()).unwrap().flatten().collect();
    assert!(left.is_empty(), "left behind: {left:?}");
}

/// A number that the environment may change, for a longer look with other faults.
fn number(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).map_or(usual, |asked| asked.parse().expect("a number"))
}

#[test]
fn any_process_may_be_killed_at_any_moment() {
    let bench = bench();
    let mut dice = Dice(number("RADDLE_FAULTS_SEED", 0x5eed));
    for round in 0..number("RADDLE_FAULTS_ROUNDS", 24) {
        let line = SESSIONS[dice.roll(SESSIONS.len() as u64) as usize];
        let signal =
            [Signal::KILL, Signal::KILL, Signal::TERM, Signal::INT, Signal::SEGV][dice.roll(5) as usize];
        let at_driver = dice.roll(3) == 0;
        let (wait, pick) = (dice.roll(400), dice.roll(1000) as usize);
        let what = format!("round {round}: {signal:?} after {wait} ms, to raddle: {at_driver}, in `{line}`");
        let child = session(&bench, line).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        let started = descendants(child.id());
        let victim = if at_driver {
            Some(child.id())
        } else {
            started.iter().nth(pick % started.len().max(1)).copied()
        };
        // One that has ended already is no victim.
        let _ = victim.and_then(|pid| Pid::from_raw(pid as i32)).map(|pid| kill_process(pid, signal));
        let output = ends(&what, child);
        assert_sound(&what, &output, at_driver.then_some(signal));
        wait_until(&what, || !started.iter().any(|pid| is_running(*pid)));
    }
    assert_swept(&bench);
}

#[test]
fn a_driver_that_is_killed_at_its_start_keeps_nobody_waiting() {
    let bench = bench();
    for wait in 0..12 {
        let mut child = session(&bench, SESSIONS[0]).spawn().unwrap();
        let mut started = BTreeSet::new();
        wait_until("a target", || {
            started = descendants(child.id());
            !started.is_empty() || child.try_wait().unwrap().is_some()
        });
        std::thread::sleep(Duration::from_millis(wait));
        let _ = child.kill();
        child.wait().unwrap();
        wait_until("the target's end", || !started.iter().any(|pid| is_running(*pid)));
    }
    assert_swept(&bench);
}

/// Every worker there is, again and again: the search goes on, and nothing is made of it.
#[test]
fn workers_that_are_killed_are_no_finding() {
    let bench = bench();
    for options in ["--seconds 3", "--seconds 3 --fork"] {
        let child = session(&bench, &format!("explore {options} -- ./correct")).spawn().unwrap();
        let driver = child.id();
        let killer = std::thread::spawn(move || {
            let mut killed = 0;
            while is_running(driver) && killed < 6 {
                std::thread::sleep(Duration::from_millis(300));
                for pid in descendants(driver) {
                    let pid = Pid::from_raw(pid as i32).unwrap();
                    killed += u32::from(kill_process(pid, Signal::KILL).is_ok());
                }
            }
            killed
        });
        let output = ends(options, child);
        assert!(killer.join().unwrap() > 0, "{}", stderr(&output));
        assert_sound(options, &output, None);
        assert!([Some(0), Some(2)].contains(&output.status.code()), "{}", stderr(&output));
    }
    assert_swept(&bench);
}

/// The command under a limit that a shell sets.
fn limited(bench: &Bench, limit: &str, line: &str) -> Command {
    let (words, target) = line.split_once(" -- ").unwrap();
    let mut command = bench.command("sh");
    let raddle = env!("CARGO_BIN_EXE_raddle");
    command.args(["-c", &format!("{limit}; exec '{raddle}' {words} -- {target}")]);
    command.env("TMPDIR", bench.session_folder()).env("RADDLE_NO_STORE", "1").env_remove("TSAN_OPTIONS");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

#[test]
fn a_limit_on_files_is_a_sentence() {
    let bench = bench();
    for line in [SESSIONS[0], SESSIONS[2]] {
        for blocks in [0, 8, 4096] {
            let what = format!("ulimit -f {blocks}: {line}");
            let output = ends(&what, limited(&bench, &format!("ulimit -f {blocks}"), line).spawn().unwrap());
            assert_sound(&what, &output, None);
            assert_eq!(output.status.code(), Some(2), "{what}: {}", stderr(&output));
            assert!(stderr(&output).starts_with("raddle: "), "{what}: {}", stderr(&output));
        }
    }
    assert_swept(&bench);
}

/// The limit is named, and no other reason is.
#[test]
fn conseq_of_what_has_no_address_space_says_so() {
    let bench = bench();
    let line = "conseq --seconds 4 -- ./correct";
    let output = ends(line, limited(&bench, "ulimit -v 4000000", line).spawn().unwrap());
    assert_sound(line, &output, None);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("no room for raddle's shadow memory"), "{}", stderr(&output));
    assert!(!stderr(&output).contains("thread"), "{}", stderr(&output));
}

/// Neither scheduled nor watched: nothing is known of the program.
#[test]
fn a_hunt_of_what_cannot_be_watched_finds_nothing_and_says_so() {
    let bench = bench();
    let line = "hunt --seconds 4 -- ./correct";
    let output = ends(line, limited(&bench, "ulimit -v 2000000", line).spawn().unwrap());
    assert_sound(line, &output, None);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("no room for raddle's shadow memory"), "{}", stderr(&output));
}

#[test]
fn a_limit_on_processes_is_a_sentence() {
    if rustix::process::geteuid().is_root() {
        eprintln!("not tested: root may start as many processes as it likes");
        return;
    }
    let bench = bench();
    for line in [SESSIONS[0], SESSIONS[2]] {
        let what = format!("ulimit -u 1: {line}");
        let output = ends(&what, limited(&bench, "ulimit -u 1", line).spawn().unwrap());
        assert_sound(&what, &output, None);
        assert_eq!(output.status.code(), Some(2), "{what}: {}", stderr(&output));
    }
}

#[test]
fn nobody_reads_what_raddle_says() {
    let bench = bench();
    bench.file("a.c", "int main(void) { return 0; }\n");
    let broken = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        Stdio::from(OwnedFd::from(writer))
    };
    for line in [
        "run -- ./correct",
        "explore --seconds 1 -- ./correct",
        "run -- ./none",
        "rnu",
        "check a.c",
        "--help",
        "",
    ] {
        for both in [false, true] {
            let mut command = bench.raddle(line);
            command.env("TMPDIR", bench.session_folder()).stdin(Stdio::null()).stderr(broken());
            command.stdout(if both { broken() } else { Stdio::null() });
            let mut child = command.spawn().unwrap();
            let mut status = None;
            wait_until(line, || {
                status = child.try_wait().unwrap();
                status.is_some()
            });
            let code = status.unwrap().code();
            assert!([Some(0), Some(2)].contains(&code), "`{line}` ended with {status:?}");
        }
    }
}

/// A folder of so few bytes that something does not fit, in a mount namespace of the test's own.
fn on_a_small_disk(bench: &Bench, size: &str, line: &str) -> Option<Output> {
    let mount = bench.path("small");
    std::fs::create_dir_all(&mount).unwrap();
    let run = |script: &str| {
        let mut command = bench.command("unshare");
        command.args(["--mount", "--map-root-user", "sh", "-c", script]);
        command.env("TMPDIR", &mount).env("RADDLE_NO_STORE", "1").env_remove("TSAN_OPTIONS");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().ok().map(|child| ends(line, child))
    };
    let small = format!("mount -t tmpfs -o size={size} none '{}'", mount.display());
    if !run(&small)?.status.success() {
        return None;
    }
    let raddle = env!("CARGO_BIN_EXE_raddle");
    run(&format!("{small} && exec '{raddle}' {line}"))
}

#[test]
fn a_full_disk_is_a_sentence() {
    let bench = bench();
    for size in ["4k", "100k", "300k"] {
        for line in ["run -- ./correct", "explore --seconds 1 -- ./correct", "tsvd -- ./correct"] {
            let Some(output) = on_a_small_disk(&bench, size, line) else {
                eprintln!("not tested: this user may not mount a folder of its own");
                return;
            };
            let what = format!("{size}: {line}");
            assert_sound(&what, &output, None);
            assert!([Some(0), Some(2)].contains(&output.status.code()), "{what}: {}", stderr(&output));
            assert!(size == "300k" || output.status.code() == Some(2), "{what}: {}", stderr(&output));
        }
    }
}

/// A small stack is for the program, not for raddle. Not for `check` or `hunt` of a source: the
/// compiler that they start needs more.
#[test]
fn a_small_stack_is_enough() {
    let bench = bench();
    for line in SESSIONS.iter().filter(|line| !line.starts_with("check")) {
        let what = format!("ulimit -s 100: {line}");
        let output = ends(&what, limited(&bench, "ulimit -s 100", line).spawn().unwrap());
        assert_sound(&what, &output, None);
        assert_eq!(output.status.code(), Some(0), "{what}: {}", stderr(&output));
    }
}

/// The disk fills up while the command runs: what was found before that is told, on stderr if there
/// is no room for the report.
#[test]
fn what_was_found_before_the_disk_was_full_is_told() {
    let bench = bench();
    bench.build("race");
    let fill = "./race 5; dd if=/dev/zero of=small/fill bs=4k 2>dd.log";
    for (line, status) in [
        (format!("run -- sh -c '{fill}; ./correct'"), 66),
        (format!("run -o small/report -- sh -c '{fill}'"), 2),
    ] {
        let Some(output) = on_a_small_disk(&bench, "1m", &line) else {
            eprintln!("not tested: this user may not mount a folder of its own");
            return;
        };
        let said = stderr(&output);
        assert!(said.contains("confirmed data race"), "{line}: {said}");
        assert_eq!(output.status.code(), Some(status), "{line}: {said}");
    }
}

/// As root it is a program with the rights of somebody else; nobody else can make one.
#[test]
fn a_program_with_rights_of_its_own_ignores_the_session() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("not tested: only root can give a file away");
        return;
    }
    let bench = bench();
    let path = bench.path("correct");
    std::os::unix::fs::chown(&path, Some(65534), None).unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o4755)).unwrap();
    open_to_all(bench.path("").as_path());
    let output = ends("set-user-ID", session(&bench, SESSIONS[0]).spawn().unwrap());
    let said = stderr(&output);
    // A file system that is mounted `nosuid` gives no rights away.
    if output.status.code() != Some(0) {
        assert!(said.contains("more rights than its caller"), "{said}");
        assert_eq!(output.status.code(), Some(2), "{said}");
    }
}

/// The folder of a test is closed to the user whose rights the program has.
fn open_to_all(folder: &Path) {
    std::fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}
