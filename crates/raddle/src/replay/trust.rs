//! Whether the command that a `.raddle` file names may be executed.
//!
//! A file is trusted if it belongs to this user and names a folder in the project of the current
//! folder or in the project of the file. The program must be in that project too, unless the file
//! is in the current project and something marks this project as one: a file in `/tmp` could say
//! anything about `/tmp`. An untrusted file may come from a stranger; `--trust` says that the user
//! has looked at it.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use raddle_store::home::{project_root, real};
use thiserror::Error;

use raddle_harness::schedule::Schedule;

#[derive(Debug, Error)]
#[error(
    "{file} runs `{command}` in {folder}, and {why}: look at it, and give --trust if that is what you want"
)]
pub struct Untrusted {
    file: String,
    command: String,
    folder: String,
    why: &'static str,
}

/// `program` is what would be executed. `is_chosen`: the user has named it.
pub fn check(file: &Path, schedule: &Schedule, program: &Path, is_chosen: bool) -> Result<(), Untrusted> {
    let user = rustix::process::geteuid().as_raw();
    let is_own = std::fs::metadata(file).is_ok_and(|meta| meta.uid() == user);
    let (folder, program) = (real(Path::new(&schedule.head.folder)), real(program));
    let beside = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (here, beside) = (project_root(Path::new(".")), project_root(beside));
    let any_program = is_chosen || (here == beside && is_marked(&here));
    let is_of =
        |project: &PathBuf| folder.starts_with(project) && (any_program || program.starts_with(project));
    let why = if !is_own {
        "the file belongs to another user"
    } else if !is_of(&here) && !is_of(&beside) {
        "that is not of this project"
    } else {
        return Ok(());
    };
    Err(Untrusted {
        file: file.display().to_string(),
        command: schedule.head.command.join(" "),
        folder: folder.display().to_string(),
        why,
    })
}

/// Whether something marks this folder as a project.
fn is_marked(project: &Path) -> bool {
    ["raddle.toml", ".git", "compile_commands.json"].iter().any(|name| project.join(name).exists())
}
