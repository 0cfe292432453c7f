//! Lists of thread-unsafe APIs in TOML, like the native ones in `crates/raddle/apis`.
//!
//! ```toml
//! library = ".NET collections"
//! documentation = "where the contract is written"
//!
//! [[class]]
//! # as metadata spells it: a backtick and the number of type parameters
//! name = "System.Collections.Generic.List`1"
//! rule = "what the documentation says"
//! # virtual methods: a derived class may be safe, so only objects of the class itself count
//! overridable = true
//! write = ["Add"]                              # properties are get_Item and set_Item
//! read = ["Contains"]
//!
//! # interfaces and base classes: a point if the object is of a listed class
//! [[interface]]
//! name = "System.Collections.Generic.IList`1"
//! write = ["Insert"]
//!
//! [[function]]                                 # static methods, and constructors (`.ctor`)
//! name = "System.Linq.Enumerable"
//! argument = 0                                 # which argument is the object
//! any = true                                   # the object may be of any class, listed or not
//! rule = "what the documentation says"         # used with `any`
//! read = ["ToList"]
//! # reads the object, and gives the static field that the argument refers to another one: conflicts
//! # with writes of the old object, and with its like on one field
//! replace = ["Resize"]
//!
//! # a structure whose first field is the collection: `MoveNext` reads it
//! [[enumerator]]
//! name = "System.Collections.Generic.List`1/Enumerator"
//!
//! # an object that reads another one later: an iterator of LINQ
//! [[wrapper]]
//! name = "System.Linq.Enumerable/*Iterator*"   # `*` matches anything
//! field = "_source"                            # the field that refers to the other object
//! ```
//!
//! A project adds classes of its own as `[[tsvd.dotnet]]` in `raddle.toml`, with the same keys.

use std::collections::HashMap;

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[expect(dead_code, reason = "part of the grammar; reports name the class alone")]
    library: String,
    #[serde(default)]
    documentation: String,
    #[serde(default, rename = "class")]
    classes: Vec<Class>,
    #[serde(default, rename = "interface")]
    interfaces: Vec<Interface>,
    #[serde(default, rename = "function")]
    functions: Vec<Function>,
    #[serde(default, rename = "enumerator")]
    enumerators: Vec<Enumerator>,
    #[serde(default, rename = "wrapper")]
    wrappers: Vec<Wrapper>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Class {
    name: String,
    #[serde(default)]
    rule: String,
    #[serde(default)]
    overridable: bool,
    #[serde(default)]
    read: Vec<String>,
    #[serde(default)]
    write: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Interface {
    name: String,
    #[serde(default)]
    read: Vec<String>,
    #[serde(default)]
    write: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Function {
    name: String,
    #[serde(default)]
    argument: u8,
    #[serde(default)]
    any: bool,
    #[serde(default)]
    rule: String,
    #[serde(default)]
    read: Vec<String>,
    #[serde(default)]
    write: Vec<String>,
    #[serde(default)]
    replace: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Enumerator {
    name: String,
}

/// An object that reads another one later.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wrapper {
    name: String,
    pub field: String,
}

/// `raddle.toml`. Only `[[tsvd.dotnet]]` is read here.
#[derive(Debug, Default, Deserialize)]
struct Project {
    #[serde(default)]
    tsvd: ProjectTsvd,
}

#[derive(Debug, Default, Deserialize)]
struct ProjectTsvd {
    #[serde(default)]
    dotnet: Vec<List>,
}

/// The position of a call's object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ObjectPosition {
    /// The object that the method is called on.
    This,
    /// An argument of a static method or of a constructor.
    Argument(u8),
    /// The first field of the structure that the method is called on.
    FirstField,
}

/// The effect of a call of a listed method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Operation {
    pub write: bool,
    pub object: ObjectPosition,
    /// Whether the object is of a listed class, or which object it reads, is known only when the
    /// call is made.
    pub checked: bool,
    /// It gives a static field another object. What it does to the old one is
    /// [`Operation::on_old_object`].
    pub replaces: bool,
}

impl Operation {
    const fn reading(object: ObjectPosition, checked: bool) -> Operation {
        Operation { write: false, object, checked, replaces: false }
    }

    /// What the call does to the object that it is given: one that replaces the object only reads
    /// it.
    pub fn on_old_object(self) -> Operation {
        Operation { write: self.write && !self.replaces, replaces: false, ..self }
    }
}

/// The contract of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contract {
    pub rule: String,
    pub documentation: String,
}

/// All lists, by name.
#[derive(Debug, Default)]
pub struct ApiLists {
    /// By class and method.
    operations: HashMap<(String, String), Operation>,
    contracts: HashMap<String, Contract>,
    /// The contracts of functions whose object may be of any class.
    function_contracts: HashMap<String, Contract>,
    wrappers: Vec<Wrapper>,
}

const SHIPPED: [&str; 5] = [
    include_str!("../apis/collections.toml"),
    include_str!("../apis/enumeration.toml"),
    include_str!("../apis/text.toml"),
    include_str!("../apis/data.toml"),
    include_str!("../apis/packages.toml"),
];

impl ApiLists {
    /// The lists that come with raddle.
    pub fn shipped() -> ApiLists {
        let mut catalogue = ApiLists::default();
        for text in SHIPPED {
            let list = toml::from_str(text).expect("the shipped lists are right");
            catalogue.add(list).expect("the shipped lists are right");
        }
        catalogue
    }

    /// Adds the lists in a project's `raddle.toml`.
    pub fn add_project(&mut self, text: &str) -> Result<(), String> {
        let project: Project = toml::from_str(text).map_err(|e| e.to_string())?;
        project.tsvd.dotnet.into_iter().try_for_each(|list| self.add(list))
    }

    fn add(&mut self, list: List) -> Result<(), String> {
        let contract =
            |rule: &String| Contract { rule: rule.clone(), documentation: list.documentation.clone() };
        for class in &list.classes {
            if self.contracts.insert(class.name.clone(), contract(&class.rule)).is_some() {
                return Err(format!("there are two classes `{}`", class.name));
            }
            let operation = Operation::reading(ObjectPosition::This, class.overridable);
            self.add_methods(&class.name, operation, &class.read, &class.write)?;
        }
        for class in &list.interfaces {
            let operation = Operation::reading(ObjectPosition::This, true);
            self.add_methods(&class.name, operation, &class.read, &class.write)?;
        }
        for function in &list.functions {
            let object = ObjectPosition::Argument(function.argument);
            let operation = Operation::reading(object, !function.any);
            self.add_methods(&function.name, operation, &function.read, &function.write)?;
            if !function.replace.is_empty() {
                let operation = Operation { replaces: true, ..operation };
                self.add_methods(&function.name, operation, &[], &function.replace)?;
            }
            if function.any {
                self.function_contracts.insert(function.name.clone(), contract(&function.rule));
            }
        }
        for enumerator in &list.enumerators {
            let operation = Operation::reading(ObjectPosition::FirstField, false);
            self.add_methods(&enumerator.name, operation, &["MoveNext".to_owned()], &[])?;
        }
        self.wrappers.extend(list.wrappers);
        Ok(())
    }

    fn add_methods(
        &mut self,
        class: &str,
        operation: Operation,
        read: &[String],
        write: &[String],
    ) -> Result<(), String> {
        if read.is_empty() && write.is_empty() {
            return Err(format!("`{class}` has no methods: name them under `read` and `write`"));
        }
        for (method, write) in read.iter().map(|m| (m, false)).chain(write.iter().map(|m| (m, true))) {
            let key = (class.to_owned(), method.clone());
            if self.operations.insert(key, Operation { write, ..operation }).is_some() {
                return Err(format!("`{class}` has `{method}` twice"));
            }
        }
        Ok(())
    }

    /// The operation of a method; none if it is not listed.
    pub fn find(&self, class: &str, method: &str) -> Option<Operation> {
        self.operations.get(&(class.to_owned(), method.to_owned())).copied()
    }

    /// The contract of a listed class.
    pub fn contract(&self, class: &str) -> Option<&Contract> {
        self.contracts.get(class)
    }

    /// The contract of the functions of a class, whatever their object is.
    pub fn function_contract(&self, class: &str) -> Option<&Contract> {
        self.function_contracts.get(class)
    }

    pub fn wrapper(&self, class: &str) -> Option<&Wrapper> {
        self.wrappers.iter().find(|wrapper| matches_pattern(&wrapper.name, class))
    }
}

/// Whether a name matches a pattern, in which `*` matches anything.
pub fn matches_pattern(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(first) else { return false };
    let (middle, last) = rest.rsplit_once('*').map_or((None, rest), |(middle, last)| (Some(middle), last));
    for part in middle.into_iter().flat_map(|middle| middle.split('*')) {
        let Some(at) = name.find(part) else { return false };
        name = &name[at + part.len()..];
    }
    name.ends_with(last)
}

/// Whether `await` asks an object of this class whether there is anything to wait for.
pub fn is_awaiter(class: &str) -> bool {
    const NAMES: [&str; 8] = [
        "TaskAwaiter",
        "TaskAwaiter`1",
        "ValueTaskAwaiter",
        "ValueTaskAwaiter`1",
        "ConfiguredTaskAwaitable/ConfiguredTaskAwaiter",
        "ConfiguredTaskAwaitable`1/ConfiguredTaskAwaiter",
        "ConfiguredValueTaskAwaitable/ConfiguredValueTaskAwaiter",
        "ConfiguredValueTaskAwaitable`1/ConfiguredValueTaskAwaiter",
    ];
    class.strip_prefix("System.Runtime.CompilerServices.").is_some_and(|name| NAMES.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn direct(write: bool) -> Option<Operation> {
        Some(Operation { write, ..Operation::reading(ObjectPosition::This, false) })
    }

    #[test]
    fn the_shipped_lists_say_what_reads_and_what_writes() {
        let shipped = ApiLists::shipped();
        let is =
            |class: &str, method: &str| shipped.find(&format!("System.Collections.Generic.{class}"), method);
        assert_eq!((is("List`1", "Add"), is("Dictionary`2", "TryGetValue")), (direct(true), direct(false)));
        assert!(is("IList`1", "Insert").is_some_and(|o| o.write && o.checked));
        assert_eq!((is("List`1", "get_Count"), is("List`1", "Nothing")), (None, None));
        assert!(is("List`1/Enumerator", "MoveNext").is_some_and(|o| o.object == ObjectPosition::FirstField));
        assert!(shipped.contract("System.Collections.Generic.List`1").is_some_and(|c| !c.rule.is_empty()));
        assert_eq!(shipped.contract("System.Collections.Generic.IList`1"), None);
    }

    #[test]
    fn every_class_that_the_paper_and_the_framework_have_is_listed() {
        let shipped = ApiLists::shipped();
        for name in [
            "System.Collections.Generic.SortedList`2",
            "System.Collections.Generic.SortedSet`1",
            "System.Collections.Generic.LinkedList`1",
            "System.Collections.Generic.PriorityQueue`2",
            "System.Collections.ArrayList",
            "System.Collections.BitArray",
            "System.Collections.Hashtable",
            "System.Text.StringBuilder",
            "System.Random",
            "System.Data.DataTable",
            "System.Xml.XmlDocument",
            "System.IO.MemoryStream",
            "System.IO.StreamWriter",
            "System.Net.Http.Headers.HttpHeaders",
            "Newtonsoft.Json.Linq.JObject",
            "Microsoft.EntityFrameworkCore.DbContext",
        ] {
            assert!(shipped.contract(name).is_some_and(|c| !c.rule.is_empty()), "{name}");
        }
        assert!(shipped.function_contract("System.Array").is_some());
    }

    #[test]
    fn what_replaces_an_object_reads_the_old_one() {
        let shipped = ApiLists::shipped();
        let is = |method| shipped.find("System.Array", method).unwrap();
        assert!(is("Resize").write && is("Resize").replaces);
        assert_eq!(is("Resize").on_old_object(), is("IndexOf"));
        assert_eq!(is("Sort").on_old_object(), is("Sort"));
    }

    /// Several threads may read it while one writes.
    #[test]
    fn a_hashtable_is_written_only() {
        let shipped = ApiLists::shipped();
        let is = |method| shipped.find("System.Collections.Hashtable", method);
        assert!(is("Add").is_some_and(|o| o.write && o.checked), "it may be a synchronized one");
        assert_eq!(is("get_Item"), None);
    }

    #[test]
    fn iterators_of_linq_lead_to_what_they_read() {
        let shipped = ApiLists::shipped();
        let field = |name: &str| shipped.wrapper(name).map(|wrapper| wrapper.field.as_str());
        assert_eq!(field("System.Linq.Enumerable/WhereListIterator`1"), Some("_source"));
        assert_eq!(field("System.Collections.Generic.List`1/Enumerator"), Some("_list"));
        assert_eq!(field("Mine.Iterator"), None);
        assert_eq!(field("System.Collections.ArrayList/SyncArrayList"), None, "it locks");
    }

    #[test]
    fn patterns() {
        for (pattern, name, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "ab", true),
            ("*b", "ab", true),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "aXYc", false),
            ("a*c", "abcd", false),
        ] {
            assert_eq!(matches_pattern(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn a_project_adds_classes_of_its_own() {
        let mut catalogue = ApiLists::shipped();
        let text = "[other]\nx = 1\n[[tsvd.dotnet]]\nlibrary = \"ours\"\n[[tsvd.dotnet.class]]\nname = \"Shop.Cart\"\n\
                    write = [\"Put\"]\nread = [\"Total\"]\n";
        catalogue.add_project(text).unwrap();
        assert_eq!(catalogue.find("Shop.Cart", "Put"), direct(true));
    }

    #[test]
    fn lists_that_are_wrong_are_refused() {
        let mut catalogue = ApiLists::shipped();
        let mut add = |text: &str| {
            catalogue.add_project(&format!("[[tsvd.dotnet]]\nlibrary = \"x\"\n{text}")).unwrap_err()
        };
        assert!(add("= ").contains("TOML"));
        assert!(add("what = 1").contains("what"));
        let class = "[[tsvd.dotnet.class]]\nname = \"System.Collections.Generic.List`1\"\n";
        assert!(add(class).contains("two classes"));
        assert!(add("[[tsvd.dotnet.class]]\nname = \"Mine\"\n").contains("no methods"));
    }

    #[test]
    fn awaiters_are_told_by_name() {
        assert!(is_awaiter("System.Runtime.CompilerServices.TaskAwaiter`1"));
        assert!(!is_awaiter("System.Runtime.CompilerServices.YieldAwaitable/YieldAwaiter"));
        assert!(!is_awaiter("Mine.TaskAwaiter"));
    }
}
