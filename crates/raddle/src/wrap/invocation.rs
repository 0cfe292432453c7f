//! What a C or C++ command line asks for: to answer a question, preprocess, compile or link, and
//! what to link.
//!
//! Pure: words in, an [`Invocation`] out. It reads the *expanded* words (see
//! [`response`](super::response)) and never rewrites them.

use super::options::{self, InputLanguage};
use std::ffi::OsString;

/// How far the compiler goes with its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Nothing is built: `--version`, `-print-search-dirs`, or no input at all.
    Query,
    /// `-E`, `-M`, `-MM`.
    Preprocess,
    /// `-c`, `-S`, `-fsyntax-only`, or only headers to precompile.
    Compile,
    /// The linker runs, after compiling the sources if there are any.
    Link(LinkOutput),
}

/// What the linker makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkOutput {
    /// A dynamically linked executable.
    Executable,
    /// `-shared`.
    SharedLibrary,
    /// `-r`: objects merged into one.
    Relocatable,
    /// `-static` or `-static-pie`: there is no dynamic linker to interpose through.
    StaticExecutable,
}

/// A parsed command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    pub stage: Stage,
    /// The languages of the inputs that get compiled, each once.
    pub languages: Vec<InputLanguage>,
    /// The user chose a level of debug information.
    pub debug_info: bool,
    /// Requested sanitizers besides `thread`.
    pub other_sanitizers: Vec<String>,
    /// The option that asks for a machine other than x86-64.
    pub foreign_target: Option<String>,
    /// `-fuse-ld=NAME`.
    pub linker: Option<String>,
    /// Every input that is not compiled, as written.
    pub linker_inputs: Vec<String>,
}

impl Invocation {
    /// Parses a command line without the compiler's own name.
    pub fn parse(args: &[OsString]) -> Invocation {
        let mut reader = Reader::default();
        let words: Vec<_> = args.iter().map(|a| a.to_string_lossy()).collect();
        let mut words = words.iter().map(|w| w.as_ref());
        while let Some(word) = words.next() {
            let value = if options::takes_next_word(word) { words.next() } else { None };
            reader.word(word, value);
        }
        reader.finish()
    }

    /// Whether any input is compiled in a way that can be instrumented.
    pub fn compiles(&self) -> bool {
        self.languages.iter().any(|l| *l != InputLanguage::Assembler)
    }

    /// Whether any input goes through the C preprocessor.
    pub fn preprocesses(&self) -> bool {
        use InputLanguage::{CFamily, Header, PreprocessedAssembler};
        self.languages.iter().any(|l| matches!(l, CFamily | Header | PreprocessedAssembler))
    }
}

/// The state while words are read.
#[derive(Default)]
struct Reader {
    query: bool,
    stop: Option<Stage>,
    shared: bool,
    relocatable: bool,
    static_: bool,
    /// The current `-x`.
    forced: Option<InputLanguage>,
    languages: Vec<InputLanguage>,
    linker_inputs: Vec<String>,
    debug_info: bool,
    sanitizers: Vec<String>,
    foreign_target: Option<String>,
    linker: Option<String>,
}

impl Reader {
    fn word(&mut self, word: &str, value: Option<&str>) {
        match word {
            "-" => self.input(word),
            "-E" | "-M" | "-MM" => self.stop = Some(Stage::Preprocess),
            "-c" | "-S" | "-fsyntax-only" | "--analyze" | "--precompile" | "-emit-ast" | "-fmodule-only" => {
                self.stop.get_or_insert(Stage::Compile);
            }
            "-shared" | "--shared" => self.shared = true,
            "-r" => self.relocatable = true,
            "-static" | "--static" | "-static-pie" => self.static_ = true,
            "-dynamic" => self.static_ = false,
            "-m32" | "-mx32" | "-m16" => self.foreign_target = Some(word.to_owned()),
            "-m64" => self.foreign_target = None,
            "-target" | "--target" => self.target(value.unwrap_or_default()),
            "-l" => self.linker_inputs.push(format!("-l{}", value.unwrap_or_default())),
            "-x" => self.forced = options::language_of_name(value.unwrap_or_default()),
            "-Xlinker" => self.linker_inputs.extend(value.map(str::to_owned)),
            _ if word.starts_with('-') => self.option(word),
            _ => self.input(word),
        }
    }

    fn option(&mut self, word: &str) {
        if options::is_query(word) {
            self.query = true;
        } else if options::is_debug_info(word) {
            self.debug_info = true;
        } else if let Some(list) = word.strip_prefix("-fsanitize=") {
            self.sanitizers.extend(list.split(',').map(str::to_owned));
        } else if let Some(list) = word.strip_prefix("-fno-sanitize=") {
            let off: Vec<_> = list.split(',').collect();
            self.sanitizers.retain(|s| !off.contains(&s.as_str()) && !off.contains(&"all"));
        } else if let Some(name) = word.strip_prefix("-fuse-ld=") {
            self.linker = Some(name.to_owned());
        } else if let Some(triple) = word.strip_prefix("--target=") {
            self.target(triple);
        } else if let Some(name) = word.strip_prefix("-x") {
            self.forced = options::language_of_name(name);
        } else if word.starts_with("-l") {
            self.linker_inputs.push(word.to_owned());
        }
    }

    fn target(&mut self, triple: &str) {
        let ours = (triple.starts_with("x86_64") || triple.starts_with("amd64"))
            && triple.contains("linux")
            && !triple.ends_with("x32");
        self.foreign_target = (!ours).then(|| format!("--target={triple}"));
    }

    fn input(&mut self, path: &str) {
        match self.forced.unwrap_or_else(|| options::language_of_path(path)) {
            InputLanguage::LinkerInput => self.linker_inputs.push(path.to_owned()),
            language if !self.languages.contains(&language) => self.languages.push(language),
            _ => {}
        }
    }

    fn finish(self) -> Invocation {
        let stage = self.stage();
        Invocation {
            stage,
            languages: self.languages,
            debug_info: self.debug_info,
            other_sanitizers: self.sanitizers.into_iter().filter(|s| s != "thread").collect(),
            foreign_target: self.foreign_target,
            linker: self.linker,
            linker_inputs: self.linker_inputs,
        }
    }

    fn stage(&self) -> Stage {
        // `cc -Wl,--version` and `cc -v` have no input: configure scripts use them as queries.
        let no_input = self.languages.is_empty() && self.linker_inputs.is_empty();
        if self.query || no_input {
            return Stage::Query;
        }
        if let Some(stage) = self.stop {
            return stage;
        }
        let only_headers = self.languages.contains(&InputLanguage::Header)
            && self.languages.iter().all(|l| *l == InputLanguage::Header);
        if only_headers {
            return Stage::Compile;
        }
        Stage::Link(if self.relocatable {
            LinkOutput::Relocatable
        } else if self.shared {
            LinkOutput::SharedLibrary
        } else if self.static_ {
            LinkOutput::StaticExecutable
        } else {
            LinkOutput::Executable
        })
    }
}

#[cfg(test)]
#[path = "invocation_tests.rs"]
mod tests;
