//! A real editor: headless Neovim, with the snippet that users are given. The steps are in
//! `editor.lua`.

mod common;

use common::{Bench, stderr};
use std::path::Path;
use std::process::{Output, Stdio};

const PROGRAM: &str = "\
#include <pthread.h>

/* Written by both, after ü and 😀. */
static int count;

static void *work(void *unused) {
    count++; /* 😀 */
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    /* ü😀 */ count = 2;
    pthread_join(thread, 0);
    return count;
}
";

/// Small enough that a hunt of it ends by itself.
const RACE: &str = "\
#include <pthread.h>

static int counter;

static void *work(void *unused) {
    counter++;
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
";

fn neovim(bench: &Bench, script: &str, file: &Path) -> Output {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut nvim = bench.command("nvim");
    nvim.args(["--headless", "--clean", "-n", "-c"]).arg(format!("luafile {}", here.join(script).display()));
    nvim.env("SNIPPET", here.join("../../editors/neovim/raddle.lua"));
    nvim.env("RADDLE", env!("CARGO_BIN_EXE_raddle")).env("FILE", file);
    nvim.current_dir(file.parent().unwrap());
    nvim.env("HOME", bench.path("home")).env("XDG_DATA_HOME", bench.path("data"));
    // Neovim is no part of raddle: without it there is nothing to say about editors.
    nvim.stdin(Stdio::null()).output().unwrap_or_else(|why| panic!("nvim (Debian: neovim) is needed: {why}"))
}

#[test]
fn neovim_underlines_a_race_until_it_is_repaired() {
    let bench = Bench::new();
    let file = bench.file("project/a.c", PROGRAM);
    let output = neovim(&bench, "tests/editor.lua", &file);
    let said = stderr(&output);
    assert!(output.status.success(), "{said}");
    assert_eq!(said.matches("ok: ").count(), 5, "{said}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), PROGRAM, "nothing was saved");
}

/// What `raddle run` saw is underlined too, and goes with the line that it was seen at.
#[test]
fn neovim_shows_what_a_run_has_found() {
    let bench = Bench::with("race");
    bench.run("", &["./race"]).assert_races(&["counter"]);
    let output = neovim(&bench, "tests/editor_stored.lua", &bench.path("race.c"));
    let said = stderr(&output);
    assert!(output.status.success(), "{said}");
    assert_eq!(said.matches("ok: ").count(), 3, "{said}");
}

/// `:RaddleHunt` and `:RaddleFindings` fill the quickfix list, and `:RaddleReplay` replays an
/// entry.
#[test]
fn neovim_hunts_and_replays() {
    let bench = Bench::new();
    let file = bench.file("project/race.c", RACE);
    let mut cc = bench.command(env!("CARGO_BIN_EXE_raddle"));
    cc.args(["cc", "-g", "-pthread", "race.c", "-o", "race"]).current_dir(bench.path("project"));
    assert!(cc.status().unwrap().success());
    let output = neovim(&bench, "tests/editor_hunt.lua", &file);
    let said = stderr(&output);
    assert!(output.status.success(), "{said}");
    assert_eq!(said.matches("ok: ").count(), 4, "{said}");
}
