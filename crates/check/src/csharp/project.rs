//! What is read from `.csproj`, `.sln` and `.slnx` files. They are data: nothing in them is run,
//! and only names are read.

use std::collections::{BTreeSet, HashSet};

/// What a project says about its sources.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Project {
    /// The new style: all `.cs` files below its folder are compiled, unless removed.
    pub takes_folder: bool,
    pub includes: FileList,
    pub removes: FileList,
    /// Symbols for `#if`.
    pub symbols: Vec<String>,
    /// A sentence about what was not read.
    pub left_out: Option<String>,
}

impl Project {
    /// Whether a file is compiled: `path` is relative to the project, with forward slashes.
    pub fn compiles(&self, path: &str) -> bool {
        let path = path.to_lowercase();
        self.includes.has(&path)
            || !self.removes.has(&path) && (self.takes_folder || !self.includes.names_source)
    }
}

/// Files that a project lists: by name, and by patterns with stars. Case does not matter, as on the
/// systems where most projects are made.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FileList {
    names: HashSet<String>,
    patterns: Vec<Pattern>,
    /// Some entry ends in `.cs`.
    names_source: bool,
    /// The number of names and patterns beyond the limit.
    left_out: usize,
}

impl FileList {
    /// Adds the entries of a list with semicolons, up to a limit.
    fn add(&mut self, list: &str) {
        for path in list.split(';').map(str::trim).filter(|p| !p.is_empty()) {
            let path = path.replace('\\', "/").to_lowercase();
            self.names_source |= path.ends_with(".cs");
            let is_pattern = path.contains('*');
            if is_pattern && self.patterns.len() < MOST_PATTERNS {
                self.patterns.push(Pattern::new(&path));
            } else if !is_pattern && self.names.len() < MOST {
                self.names.insert(path.strip_prefix("./").unwrap_or(&path).to_string());
            } else {
                self.left_out += 1;
            }
        }
    }

    fn has(&self, path: &str) -> bool {
        self.names.contains(path) || self.patterns.iter().any(|p| p.matches(path))
    }
}

/// A path with stars: `*` is part of a name, `**` is any number of folders.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    folders: Vec<String>,
}

impl Pattern {
    fn new(path: &str) -> Self {
        Self { folders: path.split('/').filter(|p| *p != ".").map(Into::into).collect() }
    }

    fn matches(&self, path: &str) -> bool {
        let names: Vec<&str> = path.split('/').collect();
        if self.folders.last().is_some_and(|f| f == "**") {
            // A pattern that ends in folders means all files in them, and these have a name.
            let most = names.len().saturating_sub(1);
            let folders = &self.folders[..self.folders.len() - 1];
            return (0..=most)
                .any(|n| matches_with_rests(folders, &names[..n], is_any_folders, matches_name));
        }
        matches_with_rests(&self.folders, &names, is_any_folders, matches_name)
    }
}

fn is_any_folders(folder: &String) -> bool {
    folder == "**"
}

/// Whether a list of parts matches a list of names, where some parts match any number of names.
/// Only the last such part is retried. That is enough, and it takes at most the product of the two
/// lengths in steps: an untrusted pattern must not run forever.
fn matches_with_rests<P, N: Copy>(
    parts: &[P],
    names: &[N],
    is_rest: fn(&P) -> bool,
    means: fn(&P, N) -> bool,
) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut again: Option<(usize, usize)> = None;
    while n < names.len() {
        match parts.get(p) {
            Some(part) if is_rest(part) => {
                again = Some((p, n));
                p += 1;
            }
            Some(part) if means(part, names[n]) => (p, n) = (p + 1, n + 1),
            _ => {
                let Some((rest, from)) = again else { return false };
                again = Some((rest, from + 1));
                (p, n) = (rest + 1, from + 1);
            }
        }
    }
    parts[p..].iter().all(is_rest)
}

/// Whether a pattern with stars matches a name.
fn matches_name(pattern: &String, name: &str) -> bool {
    let is_star = |b: &u8| *b == b'*';
    matches_with_rests(pattern.as_bytes(), name.as_bytes(), is_star, |a, b| *a == b)
}

/// The maximum number of entries read from one file, and the maximum number of these with stars,
/// since each file is compared with all of them.
const MOST: usize = 20_000;
const MOST_PATTERNS: usize = 1_000;
/// The maximum depth of nested elements.
const DEEPEST: usize = 64;

/// Reads a project.
pub fn read_project(text: &str) -> Project {
    let text = &without_comments(text);
    let has_sdk = text.contains("Sdk=") || text.contains("<Sdk");
    let lists_all = text.contains("<EnableDefaultCompileItems>false");
    let mut out = Project { takes_folder: has_sdk && !lists_all, ..Project::default() };
    let mut conditions = Conditions::default();
    for tag in tags(text) {
        conditions.enter(tag);
        if name_of(tag) == "Compile" {
            out.includes.add(attribute(tag, "Include").unwrap_or_default());
            // A file removed from one build is part of another.
            if !conditions.apply_to(tag) {
                out.removes.add(attribute(tag, "Remove").unwrap_or_default());
            }
        }
    }
    let mut symbols: BTreeSet<&str> = BTreeSet::new();
    for part in text.split("<DefineConstants").skip(1) {
        let inner = part.split_once('>').and_then(|p| p.1.split_once('<')).map_or("", |p| p.0);
        symbols.extend(inner.split([';', ',', ' ']).map(str::trim).filter(|s| is_symbol(s)));
    }
    let left_out = out.includes.left_out + out.removes.left_out + symbols.len().saturating_sub(MOST);
    out.symbols = symbols.into_iter().take(MOST).map(Into::into).collect();
    out.left_out = (left_out > 0).then(|| {
        format!("lists more than {MOST} names or {MOST_PATTERNS} patterns; {left_out} of them were not used")
    });
    out
}

/// The elements around a tag, and whether a condition applies to them. Which conditions hold
/// depends on the build, which is not run.
#[derive(Default)]
struct Conditions<'a> {
    open: Vec<(&'a str, bool)>,
}

/// Elements around `Compile` that may have a condition; `Otherwise` is one.
const GROUPS: &[&str] = &["ItemGroup", "When", "Otherwise", "Choose", "Target"];

impl<'a> Conditions<'a> {
    /// Records a start or end tag.
    fn enter(&mut self, tag: &'a str) {
        if let Some(ended) = tag.strip_prefix('/') {
            if let Some(at) = self.open.iter().rposition(|(name, _)| *name == ended.trim()) {
                self.open.truncate(at);
            }
        } else if GROUPS.contains(&name_of(tag)) && !tag.ends_with('/') && self.open.len() < DEEPEST {
            let name = name_of(tag);
            let is_conditional =
                matches!(name, "Otherwise" | "Target") || attribute(tag, "Condition").is_some();
            self.open.push((name, is_conditional));
        }
    }

    fn apply_to(&self, tag: &str) -> bool {
        attribute(tag, "Condition").is_some() || self.open.iter().any(|(_, conditional)| *conditional)
    }
}

/// The text without `<!-- … -->`. Entities are not looked up.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<!--") {
        out.push_str(before);
        rest = after.split_once("-->").map_or("", |a| a.1);
    }
    out + rest
}

/// The projects that a solution names, with forward slashes.
pub fn read_solution(text: &str) -> Vec<String> {
    let quoted = text.split('"').skip(1).step_by(2).take(MOST);
    let mut out: Vec<String> =
        quoted.filter(|p| p.ends_with(".csproj")).map(|p| p.replace('\\', "/")).collect();
    out.dedup();
    out
}

fn is_symbol(s: &str) -> bool {
    !s.is_empty()
        && !s.starts_with(|c: char| c.is_ascii_digit())
        && s.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// The insides of start tags.
fn tags(text: &str) -> impl Iterator<Item = &str> {
    text.split('<').skip(1).map(|t| t.split('>').next().unwrap_or(t))
}

fn name_of(tag: &str) -> &str {
    tag.split([' ', '\t', '\r', '\n', '/']).next().unwrap_or(tag)
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    ['"', '\''].into_iter().find_map(|quote| {
        let at = tag.find(&format!("{name}={quote}"))? + name.len() + 2;
        tag[at..].split(quote).next()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_and_new_projects() {
        let new = read_project(
            r#"<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup>
            <DefineConstants>$(DefineConstants);FAST;A_1</DefineConstants></PropertyGroup>
            <ItemGroup><Compile Remove="old\**" /></ItemGroup></Project>"#,
        );
        assert!(new.takes_folder);
        assert!(!new.compiles("old/a.cs") && new.compiles("a.cs"));
        assert_eq!(new.symbols, ["A_1", "FAST"]);
        let old = read_project(
            r#"<Project ToolsVersion="4.0"><ItemGroup><Compile Include="a\b.cs" /><Compile Include="c.cs;d.cs"><X/></Compile>"#,
        );
        assert!(!old.takes_folder);
        let names = ["a/b.cs", "c.cs", "d.cs"].map(String::from);
        assert_eq!(old.includes.names, names.into());
    }

    #[test]
    fn what_a_project_compiles() {
        let new = read_project(
            r#"<Project Sdk="x"><Compile Remove="old/**;Gen*.cs" /><Compile Include="old/kept.cs" /></Project>"#,
        );
        for (path, is_compiled) in [
            ("a.cs", true),
            ("sub/a.cs", true),
            ("old/a.cs", false),
            ("Old/deep/a.cs", false),
            ("old/kept.cs", true),
            ("Generated.cs", false),
            ("sub/Generated.cs", true),
        ] {
            assert_eq!(new.compiles(path), is_compiled, "{path}");
        }
        let old =
            read_project(r#"<Project><Compile Include="a.cs" /><Compile Include="sub\**\*.cs" /></Project>"#);
        for (path, is_compiled) in [("a.cs", true), ("b.cs", false), ("sub/x/y.cs", true), ("sub/y.cs", true)]
        {
            assert_eq!(old.compiles(path), is_compiled, "{path}");
        }
        let listed = r#"<Project Sdk="x"><EnableDefaultCompileItems>false</EnableDefaultCompileItems>
            <Compile Include="a.cs" /></Project>"#;
        assert!(!read_project(listed).compiles("b.cs") && read_project(listed).compiles("a.cs"));
        // A project that lists no source at all says nothing about it.
        assert!(read_project("<Project></Project>").compiles("a.cs"));
    }

    /// Patterns that would take a backtracking matcher longer than a lifetime.
    #[test]
    fn patterns_of_a_stranger_take_few_steps() {
        let matches = |pattern: &str, path: &str| Pattern::new(pattern).matches(path);
        assert!(!matches(&format!("{}b", "*a".repeat(100)), &"a".repeat(250)));
        let deep = "a/".repeat(64) + "a.cs";
        assert!(!matches(&("**/a/".repeat(30) + "b.cs"), &deep));
        assert!(matches(&("**/a/".repeat(30) + "a.cs"), &deep));
        assert!(!matches(&("**/a/".repeat(100) + "a.cs"), &deep));
        for (pattern, path, means) in [
            ("**", "a.cs", true),
            ("**", "x/a.cs", true),
            ("x/**", "x/a.cs", true),
            ("x/**", "x/y/a.cs", true),
            ("x/**", "y/a.cs", false),
            ("**/x/**", "a/x/b.cs", true),
            ("**/x/**", "x", false),
            ("**/*.g.cs", "a/b.g.cs", true),
            ("**/*.g.cs", "b.g.cs", true),
            ("**/*.g.cs", "b.cs", false),
            ("./*.cs", "a.cs", true),
            ("*", "a/b", false),
            ("a*b*c", "aXbXc", true),
            ("a*b*c", "aXbX", false),
            ("*é*", "caf\u{e9}.cs", true),
        ] {
            assert_eq!(matches(pattern, path), means, "{pattern} {path}");
        }
    }

    #[test]
    fn comments_and_entities_mean_nothing() {
        let text = r#"<!DOCTYPE p [<!ENTITY a "&b;&b;"><!ENTITY b SYSTEM "file:///etc/hostname">]>
            <Project Sdk="x"><!-- <Compile Remove="**" /> <DefineConstants>NO</DefineConstants> -->
            <DefineConstants>&a;;YES</DefineConstants><Compile Remove="&a;" /><!-- open"#;
        let project = read_project(text);
        assert!(project.compiles("a.cs"));
        assert_eq!(project.symbols, ["YES"]);
    }

    #[test]
    fn what_is_listed_has_an_end() {
        let many: String = (0..50_000).map(|i| format!("{i}*.cs;{i}.cs;")).collect();
        let project = read_project(&format!("<Project><Compile Include=\"{many}\" /></Project>"));
        assert_eq!((project.includes.names.len(), project.includes.patterns.len()), (MOST, MOST_PATTERNS));
        assert!(project.compiles("7.cs") && project.compiles("7_more.cs") && !project.compiles("no.cs"));
        let said = "lists more than 20000 names or 1000 patterns; 79000 of them were not used";
        assert_eq!(project.left_out.as_deref(), Some(said));
    }

    #[test]
    fn what_is_removed_on_a_condition_may_be_compiled() {
        let project = read_project(
            r#"<Project Sdk="x">
            <Compile Remove="a.cs" Condition=" '$(TargetFramework)' == 'net45' " />
            <ItemGroup Condition=" '$(TargetFramework)' == 'net45' "><Compile Remove="b.cs" /></ItemGroup>
            <Choose><When Condition="'$(X)' != ''"><ItemGroup><Compile Remove="c.cs" /></ItemGroup></When>
            <Otherwise><ItemGroup><Compile Remove="d.cs" /></ItemGroup></Otherwise></Choose>
            <ItemGroup><Compile Remove="e.cs" /><Compile Remove='f.cs' /></ItemGroup></Project>"#,
        );
        let compiled: Vec<bool> =
            ["a.cs", "b.cs", "c.cs", "d.cs", "e.cs", "f.cs"].iter().map(|f| project.compiles(f)).collect();
        assert_eq!(compiled, [true, true, true, true, false, false]);
    }

    #[test]
    fn solutions_of_both_kinds() {
        let sln = "Project(\"{FAE0}\") = \"App\", \"src\\App\\App.csproj\", \"{1}\"\nEndProject\n";
        assert_eq!(read_solution(sln), ["src/App/App.csproj"]);
        assert_eq!(read_solution(r#"<Solution><Project Path="a/b.csproj" /></Solution>"#), ["a/b.csproj"]);
        assert!(read_solution("Project(\"").is_empty());
    }
}
