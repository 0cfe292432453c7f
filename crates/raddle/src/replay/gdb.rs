//! Shows the failure in a debugger.
//!
//! gdb starts the program in a session that already has its only order. The runtime stops the
//! program at the failure with a trap. The signals of a crash go to the runtime first, which knows
//! their meaning.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use raddle_explore::Order;
use raddle_wire::explore::{self, Header, flag};
use std::sync::atomic::Ordering;

use raddle_harness::schedule::Schedule;
use raddle_harness::worker::{Recipe, write};

/// The script for gdb. All threads of the program run on one; the runtime's `switch` changes from
/// one to another.
const SCRIPT: &str = r#"set disable-randomization on
set breakpoint pending on
set pagination off
set confirm off
set print thread-events off
handle SIGSEGV SIGBUS SIGFPE SIGILL SIGABRT nostop noprint pass
define raddle-where
  backtrace
end
define raddle-from-start
  tbreak main
  run
end
document raddle-from-start
Run the program again, up to main.
end
define raddle-next-switch
  rbreak ^raddle_rt::explore::switch::switch
  continue
  delete
  raddle-where
end
document raddle-next-switch
Run to the next switch from one thread of the program to another.
end
echo The program stops at the failure. `raddle-from-start` goes back to main, `raddle-next-switch` from there to the next switch.\n
"#;

/// Leaves the runtime's frames out. A gdb without Python says so and shows all frames.
const FRAMES: &str = include_str!("gdb_frames.py");

/// Runs gdb and returns its status. If there are arguments of a front end, the front end starts the
/// program itself.
pub fn run(recipe: &Recipe, schedule: &Schedule, arguments: &[OsString]) -> Result<ExitCode> {
    let recipe = Recipe { flags: recipe.flags | flag::TRAP_AT_FAILURE, ..recipe.clone() };
    let (folder, memory) = recipe.session()?;
    // SAFETY: the mapping is a session that `session` wrote, and nobody else has it yet.
    unsafe {
        (*memory.as_mut_ptr().cast::<Header>()).wanted = schedule.head.expected.number;
        let header = &*memory.as_ptr().cast::<Header>();
        let slot = explore::parts(header, memory.as_mut_ptr().add(header.slot_at(0)));
        write(slot, &Order::replay(schedule.choices()));
        header.posted.store(1, Ordering::Release);
    }
    let script = folder.path().join("gdb");
    // If each schedule has its own process, the failure is in the child.
    let follow = if recipe.flags & flag::FORK != 0 { "set follow-fork-mode child\n" } else { "" };
    std::fs::write(&script, format!("{follow}{SCRIPT}")).context("cannot write the script for gdb")?;
    let frames = folder.path().join("frames.py");
    std::fs::write(&frames, FRAMES).context("cannot write the script for gdb")?;
    let target = recipe.command(folder.path());
    let mut gdb = Command::new("gdb");
    gdb.arg("-q").arg("-x").arg(&script).arg("-x").arg(&frames).args(arguments);
    if arguments.is_empty() {
        gdb.args(["-ex", "run", "-ex", "raddle-where"]);
    }
    gdb.arg("--args").arg(target.get_program()).args(target.get_args());
    gdb.envs(target.get_envs().filter_map(|(k, v)| Some((k, v?))));
    if let Some(folder) = target.get_current_dir() {
        gdb.current_dir(folder);
    }
    // SAFETY: Ctrl-C is for gdb; only async-signal-safe calls between fork and exec.
    unsafe {
        libc::signal(libc::SIGINT, libc::SIG_IGN);
        gdb.pre_exec(|| {
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            Ok(())
        });
    }
    let status = gdb.status().context("cannot start gdb: install it, or put it on the PATH")?;
    Ok(ExitCode::from(status.code().unwrap_or(2) as u8))
}
