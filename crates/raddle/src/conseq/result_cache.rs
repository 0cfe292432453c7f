//! Results of the static analysis, kept between runs: they do not depend on the input ("How to
//! reuse the analysis results across inputs", section 6.1).
//!
//! There are up to three files per program in the user's cache folder. Two are named by the build id
//! and the options. One holds the whole analysis, so another run of the same file has nothing left
//! to do. The other holds the functions that were analysed so far, for the next test or run of the
//! same file. The third is named by the path and holds the results by function, so after a rebuild
//! only changed functions are analysed. A file that cannot be read, or that belongs to another build of
//! raddle, counts as missing. A file that cannot be written is not an error.

use std::path::Path;

use raddle_binary::Module;
use raddle_conseq::{Analysis, Cache, Extent, KnownFunctions, Note, Options, analyse_with};

use raddle_harness::install::cache;
use raddle_harness::install::results::{self, read, write};
use raddle_harness::program::build_id;

/// The sites and reads of a file, from the cache if it has been analysed before.
pub fn analysis(path: &Path, options: &Options) -> raddle_binary::Result<Analysis> {
    analysis_within(path, options, &Extent::whole())
}

/// The same, within an extent. What is not finished is not kept as a whole, but its functions are.
pub fn analysis_within(
    path: &Path,
    options: &Options,
    extent: &Extent<'_>,
) -> raddle_binary::Result<Analysis> {
    let folder = cache::root().ok().map(|root| root.join("conseq"));
    analysis_in(folder.as_deref(), path, options, extent)
}

fn analysis_in(
    folder: Option<&Path>,
    path: &Path,
    options: &Options,
    extent: &Extent<'_>,
) -> raddle_binary::Result<Analysis> {
    let wanted = postcard::to_allocvec(options).unwrap_or_default();
    let of_build = |ending| folder.map(|f| results::file(f, &[build_id(path).as_bytes(), &wanted], ending));
    let whole = of_build("sites");
    if let Some(known) = whole.as_deref().and_then(read) {
        return Ok(known);
    }
    let module = Module::open(path)?;
    let known_file = of_build("known");
    let functions = folder.map(|f| results::file(f, &[path.as_os_str().as_encoded_bytes()], "functions"));
    let before: KnownFunctions = known_file.as_deref().and_then(read).unwrap_or_default();
    let mut kept: Cache = functions.as_deref().and_then(read).unwrap_or_default();
    let mut known = before.clone();
    let analysis = analyse_with(&module, options, (&mut known, &mut kept), extent);
    if known == before {
        return Ok(analysis);
    }
    if let Some(folder) = folder {
        let _ = std::fs::create_dir_all(folder);
    }
    let is_whole = extent.executed.is_none()
        && !analysis.notes.iter().any(|note| matches!(note, Note::Unfinished { .. }));
    match is_whole {
        true => write(whole.as_deref(), &analysis),
        false => write(known_file.as_deref(), &known),
    }
    write(functions.as_deref(), &kept);
    Ok(analysis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_analysis_is_found_again_and_a_broken_file_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let program = Path::new("/bin/true");
        let (options, whole) = (Options::default(), Extent::whole());
        let first = analysis_in(Some(folder.path()), program, &options, &whole).unwrap();
        let other = tempfile::tempdir().unwrap();
        let cut = Extent { executed: None, is_over: &|| true };
        let unfinished = analysis_in(Some(other.path()), program, &options, &cut).unwrap();
        assert!(unfinished.notes.iter().any(|note| matches!(note, Note::Unfinished { .. })));
        assert_eq!(analysis_in(Some(other.path()), program, &options, &whole).unwrap(), first);
        let files = || std::fs::read_dir(folder.path()).unwrap().flatten().map(|e| e.path());
        assert_eq!(files().count(), 2);
        assert_eq!(analysis_in(Some(folder.path()), program, &options, &whole).unwrap(), first);
        files().for_each(|f| std::fs::write(f, "broken").unwrap());
        assert_eq!(analysis_in(Some(folder.path()), program, &options, &whole).unwrap(), first);
        assert_eq!(analysis_in(None, program, &options, &whole).unwrap(), first, "no cache folder");
    }
}
