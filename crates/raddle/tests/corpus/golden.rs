//! The report as a person sees it, for the few programs whose report is the same each time.

use std::path::Path;

use libtest_mimic::Failed;

use crate::build::Built;
use crate::expect::Program;

/// Lines break and inlining differs from compiler to compiler: the report is that of this one.
pub const COMPILER: &str = "gcc";

/// A golden report that nobody compares claims what nobody has seen.
pub fn is_compared(program: &Program, compilers: &[String]) -> Result<(), String> {
    match program.golden && !compilers.iter().any(|c| c == COMPILER) {
        true => Err(format!(
            "`golden` is for programs that {COMPILER} builds, and this is built by {}",
            compilers.join(", ")
        )),
        false => Ok(()),
    }
}

pub fn compare(built: &Built, file: &Path, program: &Program) -> Result<(), Failed> {
    let text_file = built_text(built, file, program)?;
    let golden = file.with_extension("stderr");
    if std::env::var_os("RADDLE_BLESS").is_some() {
        std::fs::write(&golden, &text_file)?;
        return Ok(());
    }
    let expected = std::fs::read_to_string(&golden)
        .map_err(|e| format!("{}: {e}; RADDLE_BLESS=1 writes it", golden.display()))?;
    if expected != text_file {
        return Err(format!("the text differs from {}; it is now:\n{text_file}", golden.display()).into());
    }
    Ok(())
}

fn built_text(built: &Built, file: &Path, program: &Program) -> Result<String, Failed> {
    let out = tempfile::NamedTempFile::new()?;
    let mut command = built.command(program, "hb");
    // From the program's own folder, so that its name is short and lines break alike wherever the
    // sources lie.
    command.current_dir(file.canonicalize()?.parent().unwrap_or(Path::new("/")));
    command.arg("-o").arg(out.path());
    built.target(&mut command, program);
    command.output()?;
    Ok(normalise(&std::fs::read_to_string(out.path())?))
}

/// What differs from machine to machine: the folder of the sources.
fn normalise(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let words: Vec<String> = line.split(' ').map(shorten).collect();
        out.push_str(&words.join(" "));
        out.push('\n');
    }
    out
}

/// A path to its last name.
fn shorten(word: &str) -> String {
    match word.rsplit_once('/') {
        Some((folder, name)) if folder.starts_with('/') || folder.starts_with("..") => name.into(),
        _ => word.into(),
    }
}
