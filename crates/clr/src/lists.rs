//! Which APIs are thread-unsafe: lists in TOML, like the native ones of `crates/raddle/apis`.
//!
//! ```toml
//! library = ".NET collections"
//! documentation = "where the contract is written"
//!
//! [[class]]
//! name = "System.Collections.Generic.List`1"   # as metadata spells it: a backtick and the number of type parameters
//! rule = "what the documentation says"
//! write = ["Add"]                              # properties are get_Item and set_Item
//! read = ["Contains"]
//!
//! [[interface]]                                # a point if the object is of one of the classes
//! name = "System.Collections.Generic.IList`1"
//! write = ["Insert"]
//! ```

use std::collections::HashMap;

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[expect(dead_code, reason = "part of the grammar; the report names the class alone so far")]
    library: String,
    #[serde(default)]
    documentation: String,
    #[serde(default, rename = "class")]
    classes: Vec<Class>,
    #[serde(default, rename = "interface")]
    interfaces: Vec<Class>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Class {
    name: String,
    #[serde(default)]
    rule: String,
    #[serde(default)]
    read: Vec<String>,
    #[serde(default)]
    write: Vec<String>,
}

/// What a call of a listed method is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    pub write: bool,
    /// The class of the object is known only when the call is made.
    pub through_interface: bool,
}

/// The contract of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contract {
    pub rule: String,
    pub documentation: String,
}

/// All lists, by name.
#[derive(Debug, Default)]
pub struct Catalogue {
    /// By class and method.
    operations: HashMap<(String, String), Operation>,
    contracts: HashMap<String, Contract>,
}

impl Catalogue {
    /// The lists that raddle brings with it.
    pub fn shipped() -> Catalogue {
        let mut catalogue = Catalogue::default();
        catalogue.add(include_str!("../apis/collections.toml")).expect("the shipped list is right");
        catalogue
    }

    pub fn add(&mut self, text: &str) -> Result<(), String> {
        let list: List = toml::from_str(text).map_err(|e| e.to_string())?;
        for (class, through_interface) in
            list.classes.iter().map(|c| (c, false)).chain(list.interfaces.iter().map(|c| (c, true)))
        {
            if !through_interface {
                let contract =
                    Contract { rule: class.rule.clone(), documentation: list.documentation.clone() };
                if self.contracts.insert(class.name.clone(), contract).is_some() {
                    return Err(format!("there are two classes `{}`", class.name));
                }
            }
            for (method, write) in
                class.read.iter().map(|m| (m, false)).chain(class.write.iter().map(|m| (m, true)))
            {
                let operation = Operation { write, through_interface };
                self.operations.insert((class.name.clone(), method.clone()), operation);
            }
        }
        Ok(())
    }

    /// What a call of this method is; none: nothing of interest.
    pub fn find(&self, class: &str, method: &str) -> Option<Operation> {
        self.operations.get(&(class.to_owned(), method.to_owned())).copied()
    }

    pub fn contract(&self, class: &str) -> Option<&Contract> {
        self.contracts.get(class)
    }
}

/// Whether a class is what `await` asks whether there is anything to wait for.
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

    #[test]
    fn the_shipped_list_says_what_reads_and_what_writes() {
        let shipped = Catalogue::shipped();
        let is =
            |class: &str, method: &str| shipped.find(&format!("System.Collections.Generic.{class}"), method);
        let direct = |write| Some(Operation { write, through_interface: false });
        assert_eq!((is("List`1", "Add"), is("Dictionary`2", "TryGetValue")), (direct(true), direct(false)));
        assert!(is("IList`1", "Insert").is_some_and(|o| o.write && o.through_interface));
        assert_eq!((is("List`1", "get_Count"), is("List`1", "Nothing")), (None, None));
        assert!(shipped.contract("System.Collections.Generic.List`1").is_some_and(|c| !c.rule.is_empty()));
        assert_eq!(shipped.contract("System.Collections.Generic.IList`1"), None);
    }

    #[test]
    fn lists_that_are_wrong_are_refused() {
        let mut catalogue = Catalogue::shipped();
        assert!(catalogue.add("library = ").is_err());
        assert!(catalogue.add("library = \"x\"\nwhat = 1").unwrap_err().contains("what"));
        let twice = "library = \"x\"\n[[class]]\nname = \"System.Collections.Generic.List`1\"\n";
        assert!(catalogue.add(twice).unwrap_err().contains("two classes"));
    }

    #[test]
    fn awaiters_are_told_by_name() {
        assert!(is_awaiter("System.Runtime.CompilerServices.TaskAwaiter`1"));
        assert!(!is_awaiter("System.Runtime.CompilerServices.YieldAwaitable/YieldAwaiter"));
        assert!(!is_awaiter("Mine.TaskAwaiter"));
    }
}
