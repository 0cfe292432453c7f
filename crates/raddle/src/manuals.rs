//! `raddle completions` and `raddle man`: completions for shells, and manual pages.
//!
//! Both are made from the definition in `cli.rs`, so they cannot differ from `--help`.

use crate::{cli::Cli, exit};
use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Print a script that completes raddle's commands and options in a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Where shells look for it:
  raddle completions bash > ~/.local/share/bash-completion/completions/raddle
  raddle completions zsh  > ~/.zfunc/_raddle        # a folder of $fpath
  raddle completions fish > ~/.config/fish/completions/raddle.fish")]
pub struct CompletionsArgs {
    /// The shell to complete in
    shell: Shell,
}

/// Write a man page for raddle and for each of its commands
#[derive(Debug, clap::Args)]
pub struct ManArgs {
    /// Folder for the pages, such as ~/.local/share/man/man1; created if it is missing
    dir: PathBuf,
}

/// Prints the completion script of a shell to stdout.
pub fn completions(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "raddle", &mut script);
    std::io::stdout().write_all(&script).context("cannot write the completions to stdout")?;
    Ok(ExitCode::from(exit::CLEAN))
}

/// Writes `raddle.1` and a `raddle-COMMAND.1` for each command.
pub fn man(args: &ManArgs) -> anyhow::Result<ExitCode> {
    std::fs::create_dir_all(&args.dir)
        .with_context(|| format!("cannot create the folder {}", args.dir.display()))?;
    let raddle = Cli::command().disable_help_subcommand(true);
    write_page(&args.dir, raddle.clone(), "raddle".into())?;
    for command in raddle.get_subcommands().filter(|command| !command.is_hide_set()) {
        let name = format!("raddle-{}", command.get_name());
        write_page(&args.dir, command.clone(), name)?;
    }
    Ok(ExitCode::from(exit::CLEAN))
}

fn write_page(dir: &Path, command: clap::Command, name: String) -> anyhow::Result<()> {
    let shown = name.replacen('-', " ", 1);
    let command = command.display_name(&name).bin_name(shown).version(env!("CARGO_PKG_VERSION"));
    let file = dir.join(format!("{name}.1"));
    let mut page = Vec::new();
    clap_mangen::Man::new(command)
        .title(name)
        .source(concat!("raddle ", env!("CARGO_PKG_VERSION")))
        .render(&mut page)
        .context("cannot lay out a man page")?;
    std::fs::write(&file, page).with_context(|| format!("cannot write {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_that_names_its_options() {
        let dir = tempfile::tempdir().unwrap();
        man(&ManArgs { dir: dir.path().join("man1") }).unwrap();
        let page = |name: &str| std::fs::read_to_string(dir.path().join("man1").join(name)).unwrap();
        for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            let text = page(&format!("raddle-{}.1", command.get_name()));
            assert!(text.contains(&format!("raddle {}", command.get_name())), "{text}");
        }
        assert!(page("raddle-run.1").contains("\\-\\-suppressions"));
        assert!(page("raddle.1").contains("raddle\\-hunt(1)"));
    }

    #[test]
    fn completions_know_commands_and_options() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "raddle", &mut script);
            let script = String::from_utf8(script).unwrap();
            for word in ["hunt", "replay", "suppressions", "minutes"] {
                assert!(script.contains(word), "{shell}: {word}");
            }
        }
    }
}
