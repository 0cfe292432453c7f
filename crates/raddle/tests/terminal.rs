//! What raddle writes keeps to the width of a narrow terminal, and of a pipe.

mod common;

use common::{Bench, succeed};

/// Names that fit into a narrow terminal, and a message that does not.
const PROGRAM: &str = r#"
#include <assert.h>
#include <pthread.h>

int total, may_deadlock;
pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;

void *deposit(void *p) {
    pthread_mutex_lock(&left);
    pthread_mutex_lock(&right);
    int seen = total;
    total = seen + 1;
    pthread_mutex_unlock(&right);
    pthread_mutex_unlock(&left);
    return p;
}

void *withdraw(void *p) {
    if (may_deadlock) {
        pthread_mutex_lock(&right);
        pthread_mutex_lock(&left);
        pthread_mutex_unlock(&left);
        pthread_mutex_unlock(&right);
    }
    int seen = total;
    total = seen + 1;
    return p;
}

int main(int argc, char **argv) {
    pthread_t a, b;
    may_deadlock = argc > 1;
    pthread_create(&a, 0, deposit, 0);
    pthread_create(&b, 0, withdraw, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(total == 2 && "somebody has written over the sum that somebody else has written");
    return 0;
}
"#;

const COMMANDS: [&str; 5] = [
    "hunt --seconds 5 ./bank deadlock",
    "explore --schedules 200 ./bank deadlock",
    "run ./bank",
    "tsvd ./bank",
    "doctor",
];

fn bench() -> Bench {
    let bench = Bench::new();
    bench.file("bank.c", PROGRAM);
    succeed(&mut bench.raddle("cc -g -pthread bank.c -o bank"));
    bench
}

/// The lines of `text` that are wider than `columns`, except paths and what is meant to be copied.
fn too_wide(text: &str, columns: usize) -> Vec<&str> {
    // What the live line has overwritten is not looked at here, but a line of a terminal ends in
    // `\r\n`.
    let lines = text.lines().map(|line| line.trim_end_matches('\r').rsplit("\r\x1b[K").next().unwrap());
    let mut after_head = false;
    lines
        .filter(|line| {
            // The C library's own line about an assertion is the program's.
            let is_whole = after_head
                || line.starts_with("bank: ")
                || line.trim_start().starts_with('`')
                || line.rsplit(' ').next().is_some_and(|path| path.starts_with('/'))
                || ["replay:", "id:", "suppress:", "->"].iter().any(|w| line.contains(w));
            after_head = ["replay:", "id:"].contains(&line.trim());
            !is_whole && line.chars().count() > columns
        })
        .collect()
}

#[test]
fn a_pipe_gets_at_most_100_columns_or_those_of_the_variable() {
    let bench = bench();
    for command in COMMANDS {
        for columns in [None, Some(60)] {
            let mut raddle = bench.raddle(command);
            match columns {
                Some(columns) => raddle.env("COLUMNS", columns.to_string()),
                None => raddle.env_remove("COLUMNS"),
            };
            let output = raddle.output().unwrap();
            let text = [output.stdout, output.stderr].map(|out| String::from_utf8(out).unwrap()).concat();
            assert!(text.lines().count() > 0, "{command}");
            let wide = too_wide(&text, columns.unwrap_or(100));
            assert!(wide.is_empty(), "{command}, {columns:?} columns: {wide:#?}\n{text}");
        }
    }
}

/// `script` gives raddle a terminal.
#[test]
fn a_terminal_of_40_columns_is_enough() {
    let bench = bench();
    for command in COMMANDS {
        let line = format!("stty cols 40 && {} {command}", env!("CARGO_BIN_EXE_raddle"));
        let mut script = bench.command("script");
        script.args(["-q", "-c", &line, "/dev/null"]).env("NO_COLOR", "1").env("TERM", "xterm");
        let output = script.output().expect("`script`, of the package bsdutils");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.lines().count() > 3, "{command}: {text}");
        let wide = too_wide(&text, 40);
        assert!(wide.is_empty(), "{command}: {wide:#?}\n{text}");
    }
}
