//! The installed .NET runtimes, and whether they accept raddle's profiler.

use std::path::{Path, PathBuf};

use super::Check;
use crate::wrap::compiler::lookup;

const NAME: &str = ".NET runtimes";

pub fn check() -> Check {
    if let Some(other) = crate::tsvd::other_profiler() {
        let remedy = "unset CORECLR_ENABLE_PROFILING to have raddle tsvd watch .NET programs";
        return Check::warn(NAME, format!("another profiler is configured: {other}"), remedy);
    }
    judge(&runtimes(&folders()))
}

/// Where runtimes are installed, searched as `dotnet` itself does.
fn folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = std::env::var_os("DOTNET_ROOT").into_iter().map(PathBuf::from).collect();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let command = lookup("dotnet".as_ref(), &path).next().and_then(|path| path.canonicalize().ok());
    folders.extend(command.and_then(|path| Some(path.parent()?.to_owned())));
    folders.extend(std::env::var_os("HOME").map(|home| Path::new(&home).join(".dotnet")));
    folders.extend(["/usr/share/dotnet", "/usr/lib/dotnet", "/usr/local/share/dotnet"].map(PathBuf::from));
    folders.retain(|folder| folder.is_dir());
    folders.dedup();
    folders
}

/// A runtime.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    version: String,
    folder: PathBuf,
    /// Linked with musl, so it cannot load what is linked with glibc.
    is_musl: bool,
}

fn runtimes(folders: &[PathBuf]) -> Vec<Found> {
    let mut found = Vec::new();
    for folder in folders {
        let shared = folder.join("shared/Microsoft.NETCore.App");
        for entry in std::fs::read_dir(shared).into_iter().flatten().flatten() {
            let version = entry.file_name().to_string_lossy().into_owned();
            let library = std::fs::read(entry.path().join("libcoreclr.so")).unwrap_or_default();
            let is_musl = library.windows(9).any(|window| window == b"libc.musl");
            found.push(Found { version, folder: folder.clone(), is_musl });
        }
    }
    found.sort_by(|x, y| x.version.cmp(&y.version));
    found
}

fn judge(found: &[Found]) -> Check {
    if found.is_empty() {
        return Check::ok(NAME, "none found; only raddle tsvd on .NET programs wants one");
    }
    let is_old = |runtime: &Found| {
        runtime.version.split('.').next().and_then(|major| major.parse::<u32>().ok()).is_none_or(|n| n < 3)
    };
    let tell = |runtime: &Found| {
        let note = match runtime {
            Found { is_musl: true, .. } => ", linked with musl: not watched",
            runtime if is_old(runtime) => ", too old: not watched",
            Found { version, .. } if version.starts_with("3.") => "",
            _ => ", not tested by raddle's authors",
        };
        format!("{} in {}{note}", runtime.version, runtime.folder.display())
    };
    let detail = found.iter().map(tell).collect::<Vec<_>>().join("; ");
    if found.iter().all(|runtime| runtime.is_musl || is_old(runtime)) {
        return Check::warn(NAME, detail, "install .NET Core 3.1 or later for glibc");
    }
    Check::ok(NAME, detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Status;

    fn found(version: &str, is_musl: bool) -> Found {
        Found { version: version.into(), folder: "/x".into(), is_musl }
    }

    #[test]
    fn runtimes_that_take_a_profiler() {
        assert_eq!(judge(&[]).status, Status::Ok);
        let check = judge(&[found("2.1.30", false), found("3.1.2", false), found("8.0.1", false)]);
        assert_eq!(check.status, Status::Ok);
        assert_eq!(
            check.detail,
            "2.1.30 in /x, too old: not watched; 3.1.2 in /x; 8.0.1 in /x, not tested by raddle's authors"
        );
        assert_eq!(judge(&[found("8.0.1", true)]).status, Status::Warn);
        assert_eq!(judge(&[found("2.0.0", false)]).status, Status::Warn);
    }

    #[test]
    fn runtimes_are_found_by_their_folders() {
        let folder = tempfile::tempdir().unwrap();
        let shared = folder.path().join("shared/Microsoft.NETCore.App");
        std::fs::create_dir_all(shared.join("3.1.2")).unwrap();
        std::fs::create_dir_all(shared.join("6.0.0")).unwrap();
        std::fs::write(shared.join("6.0.0/libcoreclr.so"), b"..libc.musl-x86_64.so.1..").unwrap();
        let all = runtimes(&[folder.path().to_owned()]);
        assert_eq!(
            all.iter().map(|r| (r.version.as_str(), r.is_musl)).collect::<Vec<_>>(),
            [("3.1.2", false), ("6.0.0", true)]
        );
    }
}
