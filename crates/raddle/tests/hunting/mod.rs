//! What the tests of `raddle hunt` share: programs, and one hunt with its report.

#![allow(dead_code, reason = "each test binary uses its own part")]

use super::common::{Bench, stderr};
use serde_json::Value;
use std::process::Output;

/// Two counters: one that a lock protects, and one that nothing does.
pub const RACE: &str = r#"
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int guarded, bare;
static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    guarded++;
    pthread_mutex_unlock(&lock);
    bare++;
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return guarded != 2;
}
"#;

/// Two locks in two orders, but the second thread begins when the first one is done: no schedule
/// has the deadlock.
pub const ONE_AFTER_THE_OTHER: &str = r#"
#include <pthread.h>
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
int is_ready;
static void *first(void *unused) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    pthread_mutex_lock(&lock);
    is_ready = 1;
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&lock);
    return unused;
}
static void *second(void *unused) {
    pthread_mutex_lock(&lock);
    while (!is_ready)
        pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return unused;
}
int main(void) {
    pthread_t x, y;
    pthread_create(&x, 0, first, 0);
    pthread_create(&y, 0, second, 0);
    pthread_join(x, 0);
    pthread_join(y, 0);
    return 0;
}
"#;

/// Fails in an assertion of `main`, at the same relative line whatever is lost.
pub fn loses(what: &str) -> String {
    format!(
        r#"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int {what};
static void *work(void *unused) {{
    int seen = {what};
    {what} = seen + 1;
    return unused;
}}
int main(void) {{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert({what} == 2);
    return 0;
}}
"#
    )
}

pub fn built(bench: &Bench, name: &str, source: &str) {
    bench.file(&format!("{name}.c"), source);
    bench.ok(&format!("cc -g -O1 -pthread {name}.c -o {name}"));
}

pub fn hunt(bench: &Bench, line: &str) -> (Output, Value) {
    let output = bench.raddle(&format!("hunt --format json {line}")).output().unwrap();
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}\n{}", output.status, stderr(&output)));
    (output, report)
}

pub fn findings(report: &Value) -> &Vec<Value> {
    report["findings"].as_array().unwrap()
}

/// What a hunt of a program says it has covered, and its exit status.
pub fn covered(bench: &Bench, line: &str) -> (Option<i32>, String) {
    let (output, report) = hunt(bench, line);
    (output.status.code(), report["coverage"].to_string())
}
