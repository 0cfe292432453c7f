//! Opens a page in the user's browser.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

/// Programs that open a page in the user's browser, best first.
const OPENERS: [&str; 3] = ["xdg-open", "gio", "x-www-browser"];

/// Starts the browser and does not wait for it.
pub fn open(page: &Path) -> Result<()> {
    let env = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let (program, arguments) = opener(&env, &on_path).context("there is no browser here")?;
    let mut browser = Command::new(&program);
    browser.args(arguments).arg(page);
    browser.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let started = browser.spawn().with_context(|| format!("cannot start {}", program.display()))?;
    drop(started);
    Ok(())
}

/// `$BROWSER` if it is set, else the desktop's browser, if there is one.
fn opener(
    env: &dyn Fn(&str) -> Option<OsString>,
    find: &dyn Fn(&str) -> Option<PathBuf>,
) -> Option<(PathBuf, &'static [&'static str])> {
    if let Some(browser) = env("BROWSER") {
        let first = browser.to_string_lossy().split(':').next().map(PathBuf::from)?;
        return Some((first, &[]));
    }
    if env("DISPLAY").is_none() && env("WAYLAND_DISPLAY").is_none() {
        return None;
    }
    OPENERS.iter().find_map(|name| {
        let arguments: &[&str] = if *name == "gio" { &["open"] } else { &[] };
        Some((find(name)?, arguments))
    })
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_is_started_only_where_somebody_can_see_it() {
        let of = |set: &[(&str, &str)], known: &[&str]| {
            let env = |name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v));
            let find = |name: &str| known.contains(&name).then(|| PathBuf::from(name));
            opener(&env, &find).map(|(program, words)| (program.display().to_string(), words.to_vec()))
        };
        assert_eq!(of(&[], &["xdg-open"]), None);
        assert_eq!(of(&[("DISPLAY", ":0")], &[]), None);
        assert_eq!(of(&[("DISPLAY", ":0")], &["gio"]), Some(("gio".into(), vec!["open"])));
        assert_eq!(of(&[("WAYLAND_DISPLAY", "w")], &["xdg-open", "gio"]), Some(("xdg-open".into(), vec![])));
        assert_eq!(of(&[("BROWSER", "lynx:w3m")], &[]), Some(("lynx".into(), vec![])));
    }
}
