//! Who owns a module: the user, whose calls are watched, or the framework.

use std::path::Path;

use crate::embedded_pdb::embedded;
use crate::lists::matches_pattern;

/// Whether a module is the user's, or matches a pattern of other modules to watch.
pub fn is_users(path: &str, patterns: &[String]) -> bool {
    let users = match by_name(path) {
        Owner::User => true,
        Owner::Framework => false,
        Owner::HasPdb => has_pdb(Path::new(path)),
    };
    users || patterns.iter().any(|pattern| matches_pattern(pattern, path))
}

#[derive(Debug, PartialEq, Eq)]
enum Owner {
    User,
    Framework,
    /// The user's if it has a PDB. Projects have names like these too (`System.Linq.Dynamic`).
    /// Packages of the framework, and the framework in a self-contained application, come without
    /// lines.
    HasPdb,
}

fn by_name(path: &str) -> Owner {
    const PREFIXES: [&str; 5] = ["System.", "Microsoft.", "netstandard.", "mscorlib.", "WindowsBase."];
    let file = path.rsplit('/').next().unwrap_or(path);
    if is_shared_framework(path) || is_in_sdk(path) {
        Owner::Framework
    } else if PREFIXES.iter().any(|prefix| file.starts_with(prefix)) {
        Owner::HasPdb
    } else {
        Owner::User
    }
}

/// Whether a file belongs to the framework that all programs on a machine share:
/// `shared/Microsoft.NETCore.App/3.1.2/System.Linq.dll`.
pub fn is_shared_framework(path: &str) -> bool {
    path.contains("/shared/Microsoft.")
}

/// Whether a file is a tool of an SDK, which runs in `dotnet test` and the like:
/// `sdk/3.1.102/MSBuild.dll`.
fn is_in_sdk(path: &str) -> bool {
    let folders = path.split('/').zip(path.split('/').skip(1));
    let is_version = |folder: &str| {
        let mut numbers = folder.split(['.', '-']);
        (0..3).all(|_| numbers.next().is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())))
    };
    folders.into_iter().any(|(folder, below)| folder == "sdk" && is_version(below))
}

fn has_pdb(path: &Path) -> bool {
    path.with_extension("pdb").is_file() || std::fs::read(path).is_ok_and(|file| embedded(&file).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_framework_is_known_by_its_place() {
        let shared = "/usr/share/dotnet/shared/Microsoft.NETCore.App/3.1.2/System.Linq.dll";
        assert_eq!(by_name(shared), Owner::Framework);
        assert!(!is_users(shared, &[]));
        assert!(is_users(shared, &["*/System.Linq.dll".to_owned()]));
    }

    #[test]
    fn tools_of_an_sdk_are_not_the_users() {
        assert_eq!(by_name("/opt/dotnet/sdk/3.1.102/MSBuild.dll"), Owner::Framework);
        assert_eq!(by_name("/opt/dotnet/sdk/9.0.100-rc.2/NuGet.Common.dll"), Owner::Framework);
        assert_eq!(by_name("/home/me/sdk/tests/Shop.dll"), Owner::User);
        assert_eq!(by_name("/home/me/3.1.102/Shop.dll"), Owner::User);
    }

    #[test]
    fn a_name_like_the_frameworks_is_the_users_with_a_pdb() {
        let folder = tempfile::tempdir().unwrap();
        let module = folder.path().join("System.Linq.Dynamic.dll");
        let is_users = || is_users(module.to_str().unwrap(), &[]);
        assert!(!is_users(), "there is not even a file");
        std::fs::write(&module, b"no lines").unwrap();
        assert!(!is_users());
        std::fs::write(module.with_extension("pdb"), b"").unwrap();
        assert!(is_users());
    }
}
