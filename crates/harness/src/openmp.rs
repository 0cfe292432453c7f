//! Lets clang's OpenMP library find Archer. The library reports its synchronisation to this tool,
//! and Archer passes it on through annotations that raddle understands. The library searches only
//! the loader's path for it, and Debian installs it elsewhere.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where to look for the library besides `LD_LIBRARY_PATH`.
const FOLDERS: [&str; 4] = ["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/local/lib", "/usr/lib"];

/// Lets the target's OpenMP library find the tool, unless the user has chosen one.
pub fn add_tool(command: &mut Command) {
    const TOOLS: &str = "OMP_TOOL_LIBRARIES";
    if std::env::var_os(TOOLS).is_some() {
        return;
    }
    let Some(tool) = find(&folders()) else { return };
    command.env(TOOLS, tool);
    command.env("TSAN_OPTIONS", with_quiet(std::env::var_os("TSAN_OPTIONS")));
}

fn folders() -> Vec<PathBuf> {
    let own = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    std::env::split_paths(&own).chain(FOLDERS.map(PathBuf::from)).collect()
}

/// The tool is beside the library itself; the folders contain only a link to the library.
fn find(folders: &[PathBuf]) -> Option<PathBuf> {
    let libraries = folders.iter().flat_map(|f| ["libomp.so.5", "libomp.so"].map(|name| f.join(name)));
    libraries.filter_map(|library| library.canonicalize().ok()).find_map(|library| {
        let tool = library.parent().unwrap_or(Path::new("/")).join("libarcher.so");
        tool.is_file().then_some(tool)
    })
}

/// Without this option, the tool prints a request to set it.
fn with_quiet(options: Option<OsString>) -> OsString {
    let mut all = options.unwrap_or_default();
    if !all.is_empty() {
        all.push(":");
    }
    all.push("ignore_noninstrumented_modules=1");
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tool_is_found_beside_the_library_that_a_link_leads_to() {
        let at = tempfile::tempdir().unwrap();
        let (links, real) = (at.path().join("lib"), at.path().join("llvm/lib"));
        std::fs::create_dir_all(&links).unwrap();
        std::fs::create_dir_all(&real).unwrap();
        let folders = [at.path().join("none"), links.clone()];
        std::fs::write(real.join("libomp.so.5"), "").unwrap();
        std::os::unix::fs::symlink(real.join("libomp.so.5"), links.join("libomp.so.5")).unwrap();
        assert_eq!(find(&folders), None);
        let tool = real.join("libarcher.so");
        std::fs::write(&tool, "").unwrap();
        assert_eq!(find(&folders), Some(tool.canonicalize().unwrap()));
    }

    #[test]
    fn the_users_own_options_stay() {
        assert_eq!(with_quiet(None), "ignore_noninstrumented_modules=1");
        assert_eq!(with_quiet(Some("exitcode=3".into())), "exitcode=3:ignore_noninstrumented_modules=1");
    }
}
