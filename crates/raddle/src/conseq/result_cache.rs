//! Results of the static analysis, kept between runs: they do not depend on the input ("How to
//! reuse the analysis results across inputs", section 6.1).
//!
//! There are up to three files per program in the user's cache folder. Two are named by the content
//! of the program and the options. One holds the whole analysis, so another run of the same program
//! has nothing left to do. The other holds the functions that were analysed so far, for the next
//! test or run of the same program. They are written at the end of a command ([`StaticHalves`]).
//! The third is named by the path and holds the results by function, so after a rebuild only
//! changed functions are analysed. A file that cannot be read, or that belongs to another build of
//! raddle, counts as missing. A file that cannot be written is not an error.

use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use raddle_binary::Module;
use raddle_conseq::{Analysis, Cache, Extent, KnownFunctions, Note, Options, StaticHalf};

use raddle_harness::install::cache;
use raddle_harness::install::results::{self, read, write};
use raddle_harness::program::content_id;

/// The sites and reads of a file, from the cache if it has been analysed before.
pub fn analysis(path: &Path, options: &Options) -> raddle_binary::Result<Analysis> {
    let files = MappedFiles::default();
    let halves = StaticHalves::new(&files);
    halves.analysis(path, options, &Extent::whole()).map(Arc::unwrap_or_clone)
}

/// Files that stay open as long as this value lives.
#[derive(Default)]
pub struct MappedFiles {
    first: OnceCell<Box<OpenFile>>,
}

struct OpenFile {
    module: Module,
    next: OnceCell<Box<OpenFile>>,
}

impl MappedFiles {
    fn keep(&self, module: Module) -> &Module {
        let mut place = &self.first;
        while let Some(file) = place.get() {
            place = &file.next;
        }
        &place.get_or_init(|| Box::new(OpenFile { module, next: OnceCell::new() })).module
    }
}

/// The static halves of the programs of one command. The tests of one file share what is known
/// about it: the file is opened once, and a function is analysed when the first test comes by it.
pub struct StaticHalves<'m> {
    /// `None`: nothing is kept on disk.
    folder: Option<PathBuf>,
    files: &'m MappedFiles,
    /// The most recently used one is last.
    known: RefCell<Vec<KnownFile<'m>>>,
}

/// What is known about one file with one set of options.
struct KnownFile<'m> {
    path: PathBuf,
    content_id: String,
    options: Options,
    content: Content<'m>,
}

enum Content<'m> {
    /// The whole analysis, from an earlier run.
    Whole(Arc<Analysis>),
    Half(Box<HalfFile<'m>>),
}

struct HalfFile<'m> {
    half: StaticHalf<'m>,
    by_function: Cache,
    /// How many functions are stored.
    stored: usize,
    /// The whole analysis, if it was made.
    whole: Option<Arc<Analysis>>,
}

impl<'m> StaticHalves<'m> {
    /// Analysed code takes memory, up to 700 MB for a large file.
    const MOST: usize = 4;

    pub fn new(files: &'m MappedFiles) -> StaticHalves<'m> {
        let folder = cache::root().ok().map(|root| root.join("conseq"));
        StaticHalves { folder, files, known: RefCell::default() }
    }

    /// The sites of a file within an extent.
    pub fn analysis(
        &self,
        path: &Path,
        options: &Options,
        extent: &Extent<'_>,
    ) -> raddle_binary::Result<Arc<Analysis>> {
        let content_id = content_id(path);
        let mut known = self.known.borrow_mut();
        let is_it = |k: &KnownFile<'_>| k.path == path && k.content_id == content_id && k.options == *options;
        let file = match known.iter().position(is_it) {
            Some(at) => known.remove(at),
            None => self.open(path, content_id, options)?,
        };
        if known.len() >= Self::MOST {
            self.store(&mut known.remove(0));
        }
        known.push(file);
        let Some(KnownFile { content, .. }) = known.last_mut() else { unreachable!("it was just added") };
        Ok(match content {
            Content::Whole(whole) => Arc::clone(whole),
            Content::Half(file) => file.analysis(extent),
        })
    }

    fn open(
        &self,
        path: &Path,
        content_id: String,
        options: &Options,
    ) -> raddle_binary::Result<KnownFile<'m>> {
        let mut file = KnownFile {
            path: path.into(),
            content_id,
            options: options.clone(),
            content: Content::Whole(Arc::default()),
        };
        if let Some(whole) = self.of_content(&file, "sites").as_deref().and_then(read) {
            file.content = Content::Whole(Arc::new(whole));
            return Ok(file);
        }
        let module = self.files.keep(Module::open(path)?);
        let known: KnownFunctions =
            self.of_content(&file, "known").as_deref().and_then(read).unwrap_or_default();
        let by_function = self.by_function(path).as_deref().and_then(read).unwrap_or_default();
        let stored = known.len();
        let half = StaticHalf::new(module, options, known);
        file.content = Content::Half(Box::new(HalfFile { half, by_function, stored, whole: None }));
        Ok(file)
    }

    /// The file named by the content and the options.
    fn of_content(&self, of: &KnownFile<'_>, ending: &str) -> Option<PathBuf> {
        let wanted = postcard::to_allocvec(&of.options).unwrap_or_default();
        self.folder.as_deref().map(|f| results::file(f, &[of.content_id.as_bytes(), &wanted], ending))
    }

    /// The file named by the path.
    fn by_function(&self, path: &Path) -> Option<PathBuf> {
        let path = path.as_os_str().as_encoded_bytes();
        self.folder.as_deref().map(|f| results::file(f, &[path], "functions"))
    }

    /// Writes what was found out since the last time.
    fn store(&self, of: &mut KnownFile<'_>) {
        let (whole_file, known_file) = (self.of_content(of, "sites"), self.of_content(of, "known"));
        let Content::Half(file) = &mut of.content else { return };
        // The program may have been replaced since its content was read.
        if file.half.known().len() == file.stored || content_id(&of.path) != of.content_id {
            return;
        }
        if let Some(folder) = &self.folder {
            let _ = std::fs::create_dir_all(folder);
        }
        match &file.whole {
            Some(whole) => write(whole_file.as_deref(), whole.as_ref()),
            None => write(known_file.as_deref(), file.half.known()),
        }
        write(self.by_function(&of.path).as_deref(), &file.by_function);
        file.stored = file.half.known().len();
    }
}

/// What was found out is stored at the end of a command, and not after each of its tests.
impl Drop for StaticHalves<'_> {
    fn drop(&mut self) {
        let mut known = std::mem::take(&mut *self.known.borrow_mut());
        known.iter_mut().for_each(|file| self.store(file));
    }
}

impl HalfFile<'_> {
    fn analysis(&mut self, extent: &Extent<'_>) -> Arc<Analysis> {
        if let Some(whole) = self.whole.as_ref().filter(|_| extent.executed.is_none()) {
            return Arc::clone(whole);
        }
        let analysis = Arc::new(self.half.analyse(Some(&mut self.by_function), extent));
        let is_unfinished = analysis.notes.iter().any(|note| matches!(note, Note::Unfinished { .. }));
        if extent.executed.is_none() && !is_unfinished {
            self.whole = Some(Arc::clone(&analysis));
        }
        analysis
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_analysis_is_found_again_and_a_broken_file_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let program = Path::new("/bin/true");
        let (options, whole) = (Options::default(), Extent::whole());
        let analysis_in = |folder: Option<&Path>, extent: &Extent<'_>| {
            let files = MappedFiles::default();
            let folder = folder.map(Path::to_owned);
            let mut halves = StaticHalves::new(&files);
            halves.folder = folder;
            halves.analysis(program, &options, extent)
        };
        let first = analysis_in(Some(folder.path()), &whole).unwrap();
        let other = tempfile::tempdir().unwrap();
        let cut = Extent { executed: None, is_over: &|| true };
        let unfinished = analysis_in(Some(other.path()), &cut).unwrap();
        assert!(unfinished.notes.iter().any(|note| matches!(note, Note::Unfinished { .. })));
        assert_eq!(analysis_in(Some(other.path()), &whole).unwrap(), first);
        let files = || std::fs::read_dir(folder.path()).unwrap().flatten().map(|e| e.path());
        assert_eq!(files().count(), 2);
        assert_eq!(analysis_in(Some(folder.path()), &whole).unwrap(), first);
        files().for_each(|f| std::fs::write(f, "broken").unwrap());
        assert_eq!(analysis_in(Some(folder.path()), &whole).unwrap(), first);
        assert_eq!(analysis_in(None, &whole).unwrap(), first, "no cache folder");
    }

    #[test]
    fn two_programs_with_one_build_id_do_not_share_their_results() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        let id = |of: &Path| raddle_binary::inspect(of).unwrap().build_id.unwrap();
        let (one, other) = (Path::new("/bin/cat"), Path::new("/bin/ls"));
        let mut content = std::fs::read(other).unwrap();
        let at = content.windows(20).position(|part| part == id(other)).unwrap();
        content[at..at + 20].copy_from_slice(&id(one));
        let options = Options::default();
        let looked_at = |cached: bool| {
            let files = MappedFiles::default();
            let mut halves = StaticHalves::new(&files);
            halves.folder = cached.then(|| folder.path().join("cache"));
            let whole = |halves: &StaticHalves<'_>| {
                halves.analysis(&path, &options, &Extent::whole()).unwrap().sites.len()
            };
            std::fs::copy(one, &path).unwrap();
            let first = whole(&halves);
            std::fs::write(&path, &content).unwrap();
            assert_eq!(id(&path), id(one));
            (first, whole(&halves))
        };
        let expected = looked_at(false);
        assert_ne!(expected.0, expected.1);
        assert_eq!(looked_at(true), expected);
        assert_eq!(looked_at(true), expected, "from the files");
    }
}
