//! What may be taken from `.csproj`, `.sln` and `.slnx` files. They are data: nothing in them is
//! run, and only names are read.

/// What a project says about its sources.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Project {
    /// The new style: all `.cs` files below its folder are compiled, unless removed.
    pub takes_folder: bool,
    /// Files that it lists, with forward slashes.
    pub includes: Vec<String>,
    pub removes: Vec<String>,
    /// Symbols for `#if`.
    pub symbols: Vec<String>,
}

impl Project {
    /// Whether a file is compiled: `path` is relative to the project, with forward slashes.
    pub fn compiles(&self, path: &str) -> bool {
        let is_in = |list: &[String]| list.iter().any(|pattern| matches(pattern, path));
        let lists_source = self.includes.iter().any(|p| p.to_ascii_lowercase().ends_with(".cs"));
        is_in(&self.includes) || !is_in(&self.removes) && (self.takes_folder || !lists_source)
    }
}

/// The most stars of a pattern.
const MOST_STARS: usize = 8;

/// Whether a path is meant by a pattern: `*` is part of a name, `**` any folders. Letters of
/// either case are the same, as where most projects are made.
fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, path) = (pattern.to_lowercase(), path.to_lowercase());
    // More stars than anybody needs would take more time than there is.
    if pattern.matches('*').count() > MOST_STARS {
        return false;
    }
    let folders: Vec<&str> = pattern.split('/').filter(|p| *p != ".").collect();
    let names: Vec<&str> = path.split('/').collect();
    matches_folders(&folders, &names)
}

fn matches_folders(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], rest) => rest.is_empty(),
        (["**"], rest) => !rest.is_empty(),
        (["**", more @ ..], rest) => (0..=rest.len().min(64)).any(|n| matches_folders(more, &rest[n..])),
        ([first, more @ ..], [name, rest @ ..]) => matches_name(first, name) && matches_folders(more, rest),
        (_, []) => false,
    }
}

fn matches_name(pattern: &str, name: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else { return pattern == name };
    let Some(rest) = name.strip_prefix(before) else { return false };
    (0..=rest.len()).any(|n| rest.get(n..).is_some_and(|tail| matches_name(after, tail)))
}

/// The most entries that are read of one file.
const MOST: usize = 20_000;

/// Reads a project.
pub fn read_project(text: &str) -> Project {
    let has_sdk = text.contains("Sdk=") || text.contains("<Sdk");
    let lists_all = text.contains("<EnableDefaultCompileItems>false");
    let mut out = Project { takes_folder: has_sdk && !lists_all, ..Project::default() };
    for tag in tags(text).take(MOST) {
        if !tag.starts_with("Compile") {
            continue;
        }
        let values = |name: &str| attribute(tag, name).map(paths).unwrap_or_default();
        out.includes.extend(values("Include"));
        out.removes.extend(values("Remove"));
    }
    for part in text.split("<DefineConstants").skip(1).take(MOST) {
        let inner = part.split_once('>').and_then(|p| p.1.split_once('<')).map_or("", |p| p.0);
        let symbols = inner.split([';', ',', ' ']).map(str::trim);
        out.symbols.extend(symbols.filter(|s| is_symbol(s)).map(Into::into));
    }
    out.symbols.sort();
    out.symbols.dedup();
    out
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

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let at = tag.find(&format!("{name}=\""))? + name.len() + 2;
    tag[at..].split('"').next()
}

fn paths(list: &str) -> Vec<String> {
    list.split(';').map(|p| p.trim().replace('\\', "/")).filter(|p| !p.is_empty()).collect()
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
        assert_eq!(new.removes, ["old/**"]);
        assert_eq!(new.symbols, ["A_1", "FAST"]);
        let old = read_project(
            r#"<Project ToolsVersion="4.0"><ItemGroup><Compile Include="a\b.cs" /><Compile Include="c.cs;d.cs"><X/></Compile>"#,
        );
        assert!(!old.takes_folder);
        assert_eq!(old.includes, ["a/b.cs", "c.cs", "d.cs"]);
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
        assert!(!matches(&"*a".repeat(40), &"a".repeat(80)));
    }

    #[test]
    fn solutions_of_both_kinds() {
        let sln = "Project(\"{FAE0}\") = \"App\", \"src\\App\\App.csproj\", \"{1}\"\nEndProject\n";
        assert_eq!(read_solution(sln), ["src/App/App.csproj"]);
        assert_eq!(read_solution(r#"<Solution><Project Path="a/b.csproj" /></Solution>"#), ["a/b.csproj"]);
        assert!(read_solution("Project(\"").is_empty());
    }
}
