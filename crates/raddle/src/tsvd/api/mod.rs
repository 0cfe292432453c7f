//! Which functions are thread-unsafe, on what, and how: lists in TOML.
//!
//! The lists in `apis/` are part of the binary, one file per library. A project adds its own in
//! `raddle.toml`. A list says only what the library's documentation says, and names that
//! documentation. The grammar:
//!
//! ```toml
//! library = "zlib"
//! documentation = "where the contract is written"
//! own = ["gz_*"]                     # functions inside the library: their calls are not points
//! own_except = ["std::thread::*"]    # … except those into which compilers inline user code
//! own_types = ["13__future_base"]    # a function with this in its mangled name is an instance
//!                                    # over a type of the library itself: not a point
//!
//! [[class]]
//! name = "z_stream"                  # calls conflict only within a class
//! rule = "what the documentation says"
//! object = 0                         # the argument that is the object, or "library": static state
//! field = 64                         # … or the word at this offset in it
//! via = "sqlite3_db_handle"          # … or what this function of the library returns for it
//! safe_if = "sqlite3_db_mutex"       # not zero: the object may be shared; the call is not a point
//! often_local = true                 # an object in the caller's frames belongs to that thread
//! exempt = ["_ZSt4cout"]             # variables, by raw name, to which the rule does not apply
//! traces = ["std::_Rb_tree::*"]      # functions that remain if a compiler has inlined the class
//! prefix = "std::map::"              # stands before each of the names
//! read = ["size", "find"]            # paths as `plain_path` spells them; `*` is a wildcard,
//!                                    # except in `operator*`
//! write = ["insert", "erase"]
//! [[class.also]]                     # functions of the class whose object is elsewhere
//! object = 1
//! raw = "*ERKS*"                     # only if the raw name matches too: tells overloads apart
//! read = ["map"]
//! ```
//!
//! If several names match a function, the first one counts: writes before reads, names before
//! patterns.

mod lists;
#[cfg(test)]
mod tests;

use crate::settings;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::rc::Rc;

use raddle_binary::{matches_glob, plain_path};
use raddle_wire::tsvd::ObjectOperand;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use thiserror::Error;

#[derive(Debug, Error)]
pub enum ApiError {
    #[error("{file}: {why}")]
    Syntax { file: String, why: String },
    #[error("{file}: class `{class}`: {why}")]
    Class { file: String, class: String, why: &'static str },
    #[error("{0}")]
    Unknown(String),
}

/// A list in its TOML form.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    library: String,
    #[serde(default)]
    documentation: String,
    #[serde(default)]
    own: Vec<String>,
    #[serde(default)]
    own_except: Vec<String>,
    #[serde(default)]
    own_types: Vec<String>,
    #[serde(default, rename = "class")]
    classes: Vec<WrittenClass>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenClass {
    name: String,
    #[serde(default)]
    rule: String,
    object: Option<WrittenObject>,
    field: Option<u16>,
    via: Option<String>,
    safe_if: Option<String>,
    #[serde(default)]
    often_local: bool,
    #[serde(default)]
    exempt: Vec<String>,
    #[serde(default)]
    traces: Vec<String>,
    raw: Option<String>,
    #[serde(default)]
    prefix: String,
    #[serde(default)]
    read: Vec<String>,
    #[serde(default)]
    write: Vec<String>,
    #[serde(default)]
    also: Vec<WrittenAlso>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenAlso {
    object: Option<WrittenObject>,
    field: Option<u16>,
    via: Option<String>,
    prefix: Option<String>,
    raw: Option<String>,
    #[serde(default)]
    read: Vec<String>,
    #[serde(default)]
    write: Vec<String>,
}

/// A number or a word. serde's own way to accept both would lose the position of an error.
#[derive(Clone, Copy, Debug)]
struct WrittenObject(ObjectOperand);

impl<'de> Deserialize<'de> for WrittenObject {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let wrong =
            || serde::de::Error::custom("`object` is the number of an argument, 0 to 5, or \"library\"");
        match toml::Value::deserialize(from)? {
            toml::Value::Integer(n @ 0..=5) => Ok(WrittenObject(ObjectOperand::Argument(n as u8))),
            toml::Value::String(word) if word == "library" => Ok(WrittenObject(ObjectOperand::Library)),
            _ => Err(wrong()),
        }
    }
}

/// `raddle.toml`. Only `[[tsvd.list]]` is read here; `raddle_clr` reads `[[tsvd.dotnet]]`.
#[derive(Debug, Default, Deserialize)]
struct Project {
    #[serde(default)]
    tsvd: ProjectTsvd,
}

#[derive(Debug, Default, Deserialize)]
struct ProjectTsvd {
    #[serde(default)]
    list: Vec<List>,
    /// Libraries of the shipped lists to leave out.
    #[serde(default)]
    without: Vec<String>,
}

/// Calls under the same rules. They conflict if they are on the same object.
#[derive(Debug)]
pub struct ApiClass {
    pub name: String,
    pub library: String,
    pub documentation: String,
    pub rule: String,
    pub often_local: bool,
    pub safe_if: Option<String>,
    pub exempt: Vec<String>,
    pub traces: Vec<String>,
    /// From a list of the project: raddle reports a pattern that matches nothing.
    pub of_project: bool,
}

/// A function, or the functions that a pattern matches.
#[derive(Debug)]
pub struct ApiOperation {
    pub pattern: String,
    pub class: usize,
    pub write: bool,
    pub object: ObjectOperand,
    pub field: Option<u16>,
    pub via: Option<String>,
    raw: Option<String>,
}

/// The paths of raw names, each computed once: demangling is slow.
#[derive(Default)]
pub struct SymbolPaths(RefCell<HashMap<String, Rc<str>>>);

impl SymbolPaths {
    fn of(&self, raw: &str) -> Rc<str> {
        if let Some(known) = self.0.borrow().get(raw) {
            return known.clone();
        }
        let path: Rc<str> = plain_path(raw).into();
        self.0.borrow_mut().insert(raw.to_string(), path.clone());
        path
    }
}

impl ApiOperation {
    pub fn is_destructor(&self) -> bool {
        self.pattern.rsplit("::").next().is_some_and(|name| name.starts_with('~'))
    }

    fn takes(&self, raw: &str) -> bool {
        self.raw.as_ref().is_none_or(|pattern| matches_glob(pattern, raw))
    }
}

/// All lists of a run.
#[derive(Debug, Default)]
pub struct Catalogue {
    pub classes: Vec<ApiClass>,
    pub operations: Vec<ApiOperation>,
    exact: HashMap<String, Vec<usize>>,
    globs: Vec<usize>,
    own: Vec<String>,
    own_except: Vec<String>,
    own_types: Vec<String>,
    /// The first parts of all paths: a name that begins with none of them need not be demangled.
    roots: HashSet<String>,
    /// A digest of all texts that the lists were read from, in order.
    pub digest: Vec<u8>,
}

impl Catalogue {
    /// The shipped lists and those of a project: files like `raddle.toml` and their contents.
    pub fn load(project: &[(PathBuf, String)]) -> Result<Catalogue, ApiError> {
        let mut catalogue = Catalogue { digest: digest(project), ..Catalogue::default() };
        let mut parsed = Vec::new();
        for (path, text) in project {
            let file = path.display().to_string();
            let project: Project = toml::from_str(text).map_err(|e| syntax(&file, &e))?;
            settings::refuse_unknown(text, path, "tsvd").map_err(|e| ApiError::Unknown(e.to_string()))?;
            parsed.push((file, project.tsvd));
        }
        let without: Vec<&String> = parsed.iter().flat_map(|(_, tsvd)| &tsvd.without).collect();
        for (file, text) in lists::SHIPPED {
            let list: List = toml::from_str(text).map_err(|e| syntax(file, &e))?;
            if !without.contains(&&list.library) {
                catalogue.add(file, list, false)?;
            }
        }
        for (file, tsvd) in parsed {
            for list in tsvd.list {
                catalogue.add(&file, list, true)?;
            }
        }
        Ok(catalogue)
    }

    fn add(&mut self, file: &str, list: List, of_project: bool) -> Result<(), ApiError> {
        self.own.extend(list.own);
        self.own_except.extend(list.own_except);
        self.own_types.extend(list.own_types);
        for class in list.classes {
            let wrong = |why| ApiError::Class { file: file.into(), class: class.name.clone(), why };
            let empty = |read: &[String], write: &[String]| read.is_empty() && write.is_empty();
            if empty(&class.read, &class.write) && class.also.iter().all(|a| empty(&a.read, &a.write)) {
                return Err(wrong("it names no function"));
            }
            let same = |other: &ApiClass| other.library == list.library && other.name == class.name;
            if self.classes.iter().any(same) {
                return Err(wrong(
                    "the list has another class of this name: put all functions in one class, those whose object is elsewhere under [[class.also]]",
                ));
            }
            let number = self.classes.len();
            let object = class.object.map_or(ObjectOperand::Argument(0), |o| o.0);
            if object == ObjectOperand::Library && (class.field.is_some() || class.via.is_some()) {
                return Err(wrong("state of the library has neither `field` nor `via`"));
            }
            let first = WrittenAlso {
                object: class.object,
                field: class.field,
                via: class.via,
                prefix: None,
                raw: class.raw,
                read: class.read,
                write: class.write,
            };
            for group in std::iter::once(first).chain(class.also) {
                let prefix = group.prefix.unwrap_or_else(|| class.prefix.clone());
                let reads = group.read.iter().map(|name| (name, false));
                for (name, write) in group.write.iter().map(|name| (name, true)).chain(reads) {
                    self.add_operation(ApiOperation {
                        pattern: format!("{prefix}{name}"),
                        class: number,
                        write,
                        object: group.object.map_or(object, |o| o.0),
                        field: group.field,
                        via: group.via.clone(),
                        raw: group.raw.clone(),
                    });
                }
            }
            self.classes.push(ApiClass {
                name: class.name,
                library: list.library.clone(),
                documentation: list.documentation.clone(),
                rule: class.rule,
                often_local: class.often_local,
                safe_if: class.safe_if,
                exempt: class.exempt,
                traces: class.traces,
                of_project,
            });
        }
        Ok(())
    }

    fn add_operation(&mut self, operation: ApiOperation) {
        let number = self.operations.len();
        let root = operation.pattern.split("::").next().unwrap_or_default();
        self.roots.insert(root.to_string());
        // `operator*` is a name, not a pattern.
        if operation.pattern.trim_end_matches("operator*").contains('*') {
            self.globs.push(number);
        } else {
            self.exact.entry(operation.pattern.clone()).or_default().push(number);
        }
        self.operations.push(operation);
    }

    /// The operation of a function, by its raw name.
    pub fn find(&self, raw: &str, paths: &SymbolPaths) -> Option<usize> {
        if !self.may_be(raw) {
            return None;
        }
        if !raw.starts_with("_Z") && !raw.starts_with("_R") && self.globs.is_empty() {
            return self.named(raw, raw);
        }
        let path = paths.of(raw);
        let matches = |op: &ApiOperation| matches_glob(&op.pattern, &path) && op.takes(raw);
        let glob = || self.globs.iter().copied().find(|i| matches(&self.operations[*i]));
        self.named(&path, raw).or_else(glob)
    }

    fn named(&self, path: &str, raw: &str) -> Option<usize> {
        self.exact.get(path)?.iter().copied().find(|i| self.operations[*i].takes(raw))
    }

    /// The classes of which the function is a trace: it exists only if the class is used.
    pub fn traced(&self, raw: &str, paths: &SymbolPaths) -> Vec<usize> {
        if !self.may_be(raw) {
            return Vec::new();
        }
        let path = paths.of(raw);
        let traces = |class: &ApiClass| class.traces.iter().any(|t| matches_glob(t, &path));
        (0..self.classes.len()).filter(|i| traces(&self.classes[*i])).collect()
    }

    /// Whether a function is an instance over a type that only the library itself uses. Whoever
    /// calls it does so for the library.
    pub fn is_over_own_type(&self, raw: &str) -> bool {
        self.own_types.iter().any(|part| raw.contains(part.as_str()))
    }

    /// Whether a call from this function is internal to the library.
    pub fn is_own(&self, raw_caller: &str, operation: usize, paths: &SymbolPaths) -> bool {
        self.library_of(raw_caller, paths) == Some(self.library(operation))
            || self.is_own_of_all(raw_caller, paths)
    }

    /// Whether the function is internal to a library, so that none of its calls is a point.
    pub fn is_own_of_all(&self, raw: &str, paths: &SymbolPaths) -> bool {
        if !self.may_be(raw) {
            return false;
        }
        let path = paths.of(raw);
        let any = |patterns: &[String]| patterns.iter().any(|p| matches_glob(p, &path));
        any(&self.own) && !any(&self.own_except)
    }

    /// The library that lists a function by its name.
    pub fn library_of(&self, raw: &str, paths: &SymbolPaths) -> Option<&str> {
        let path = self.may_be(raw).then(|| paths.of(raw))?;
        self.exact.get(&*path).map(|found| self.library(found[0]))
    }

    pub fn library(&self, operation: usize) -> &str {
        &self.classes[self.operations[operation].class].library
    }

    /// The libraries of all lists, each once, in order.
    pub fn libraries(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for class in &self.classes {
            if !names.contains(&class.library.as_str()) {
                names.push(&class.library);
            }
        }
        names
    }

    /// A quick filter: demangling is slow, and a large program has a hundred thousand names.
    fn may_be(&self, raw: &str) -> bool {
        let Some(rest) = raw.strip_prefix("_Z") else {
            return if raw.starts_with("_R") { true } else { !raw.is_empty() };
        };
        let rest = rest.trim_start_matches(['N', 'K', 'V', 'L']);
        if rest.starts_with('S') {
            return self.roots.contains("std");
        }
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (len, name) = rest.split_at(digits);
        let len: usize = len.parse().unwrap_or(0);
        // Rust's legacy mangling hides `<T as Trait>` behind an underscore.
        name.get(..len).is_some_and(|first| self.roots.contains(first) || first.starts_with('_'))
    }
}

fn digest(project: &[(PathBuf, String)]) -> Vec<u8> {
    let shipped = lists::SHIPPED.iter().map(|(_, text)| *text);
    let mut all = Sha256::new();
    for text in shipped.chain(project.iter().map(|(_, text)| text.as_str())) {
        all.update(Sha256::digest(text));
    }
    all.finalize().to_vec()
}

fn syntax(file: &str, error: &toml::de::Error) -> ApiError {
    let why = error.to_string().lines().map(str::trim).collect::<Vec<_>>().join(" ");
    ApiError::Syntax { file: file.into(), why }
}
