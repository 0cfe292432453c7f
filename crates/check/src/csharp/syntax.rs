//! The syntax tree from tree-sitter, together with the text.

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use crate::ir::Pos;

/// A parsed file.
pub struct File {
    pub path: std::sync::Arc<str>,
    pub text: String,
    pub tree: Tree,
    pub builtin: bool,
    /// The project that it belongs to.
    pub group: Option<std::sync::Arc<str>>,
    /// The number of places that could not be parsed, and the line of the first.
    pub errors: u32,
    pub first_error: Option<u32>,
}

impl File {
    /// Parses a text whose directives have been applied. `None` if the parser itself gives up.
    pub fn parse(path: &str, text: String, builtin: bool) -> Option<Self> {
        let mut parser = Parser::new();
        parser.set_language(&tree_sitter_c_sharp::LANGUAGE.into()).ok()?;
        let tree = parse_bounded(&mut parser, &text)?;
        let (errors, first_error) = count_errors(tree.root_node());
        let mut file = Self { path: path.into(), text, tree, builtin, group: None, errors, first_error };
        if errors > 0 {
            file.close_brackets(&mut parser);
        }
        Some(file)
    }

    /// Parses again with the brackets closed that are open at the end. Keeps the result if it has
    /// more types and functions.
    fn close_brackets(&mut self, parser: &mut Parser) {
        let Some(closing) = super::unclosed::closing(&self.text) else { return };
        let text = format!("{}{closing}", self.text);
        let Some(tree) = parse_bounded(parser, &text) else { return };
        if declarations(tree.root_node()) > declarations(self.tree.root_node()) {
            (self.text, self.tree) = (text, tree);
        }
    }
}

/// Parses, unless it takes far more work than a text of that length should: source that is broken
/// in thousands of places makes the parser try thousands of alternatives at each.
fn parse_bounded(parser: &mut Parser, text: &str) -> Option<Tree> {
    let mut left = 10_000 + text.len() / REPORTED_BYTES;
    let mut is_too_much = |_: &ParseState| {
        left = left.saturating_sub(1);
        left == 0
    };
    let options = ParseOptions::new().progress_callback(&mut is_too_much);
    let bytes = text.as_bytes();
    let tree =
        parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options));
    // Otherwise the parser would treat the next text as the rest of this one.
    parser.reset();
    tree
}

/// The parser reports its progress every hundred operations. A complete text needs far less than
/// one operation for each byte.
const REPORTED_BYTES: usize = 4;

/// The number of types and functions in a tree.
fn declarations(root: Node<'_>) -> usize {
    let (mut count, mut todo) = (0, vec![root]);
    while let Some(node) = todo.pop() {
        let kind = node.kind();
        count += usize::from(kind.ends_with("_declaration") || kind == "global_statement");
        todo.extend(node.named_children(&mut node.walk()));
    }
    count
}

fn count_errors(root: Node<'_>) -> (u32, Option<u32>) {
    let (mut errors, mut first) = (0, None);
    let mut todo = vec![root];
    while let Some(node) = todo.pop() {
        if !node.has_error() {
            continue;
        }
        if node.is_error() || node.is_missing() {
            errors += 1;
            let line = node.start_position().row as u32 + 1;
            first = Some(first.map_or(line, |f: u32| f.min(line)));
            continue;
        }
        todo.extend(node.children(&mut node.walk()));
    }
    (errors, first)
}

/// A node of one of the files.
#[derive(Clone, Copy)]
pub struct Syntax<'a> {
    pub node: Node<'a>,
    pub text: &'a str,
    pub file: u16,
}

impl std::fmt::Debug for Syntax<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{}", self.kind(), self.node.start_position())
    }
}

impl<'a> Syntax<'a> {
    pub fn kind(self) -> &'static str {
        self.node.kind()
    }

    pub fn str(self) -> &'a str {
        self.text.get(self.node.byte_range()).unwrap_or("")
    }

    fn with(self, node: Node<'a>) -> Self {
        Self { node, ..self }
    }

    pub fn field(self, name: &str) -> Option<Self> {
        self.node.child_by_field_name(name).map(|n| self.with(n))
    }

    /// Named children without comments, and `this` and `base`, which have no name in the grammar.
    pub fn children(self) -> Vec<Self> {
        let n = self.node.named_child_count();
        let mut out = Vec::with_capacity(n);
        let mut cursor = self.node.walk();
        if cursor.goto_first_child() {
            loop {
                let child = cursor.node();
                let is_self = matches!(child.kind(), "this" | "base");
                if child.is_named() && child.kind() != "comment" || is_self {
                    out.push(self.with(child));
                }
                if !cursor.goto_next_sibling() {
                    break;
                }
            }
        }
        out
    }

    /// All children of a field.
    pub fn fields(self, name: &str) -> Vec<Self> {
        let mut cursor = self.node.walk();
        self.node.children_by_field_name(name, &mut cursor).map(|n| self.with(n)).collect()
    }

    /// Tokens without a name, as they are written.
    pub fn tokens(self) -> Vec<&'a str> {
        let mut cursor = self.node.walk();
        let children = self.node.children(&mut cursor);
        children.filter(|c| !c.is_named()).map(|c| self.with(c).str()).collect()
    }

    pub fn child(self, kind: &str) -> Option<Self> {
        self.children().into_iter().find(|c| c.kind() == kind)
    }

    pub fn first(self) -> Option<Self> {
        self.children().into_iter().next()
    }

    pub fn last(self) -> Option<Self> {
        self.children().into_iter().next_back()
    }

    pub fn pos(self) -> Pos {
        let p = self.node.start_position();
        Pos { file: self.file, line: p.row as u32 + 1, col: u16::try_from(p.column + 1).unwrap_or(u16::MAX) }
    }

    pub fn end_line(self) -> u32 {
        self.node.end_position().row as u32 + 1
    }

    pub fn has_modifier(self, word: &str) -> bool {
        self.children().iter().any(|c| c.kind() == "modifier" && c.str() == word)
    }

    /// Names of the attributes, without `Attribute` and namespaces.
    pub fn attributes(self) -> Vec<&'a str> {
        let mut out = Vec::new();
        for list in self.children().into_iter().filter(|c| c.kind() == "attribute_list") {
            for a in list.children().into_iter().filter(|c| c.kind() == "attribute") {
                let name = a.field("name").map_or("", Syntax::str);
                let name = name.rsplit('.').next().unwrap_or(name);
                out.push(name.strip_suffix("Attribute").unwrap_or(name));
            }
        }
        out
    }

    /// Calls a function for this node and its descendants. If it returns false, the node's
    /// descendants are skipped.
    pub fn visit(self, f: &mut dyn FnMut(Self) -> bool) {
        let mut todo = vec![self];
        while let Some(s) = todo.pop() {
            if f(s) {
                todo.extend(s.children());
            }
        }
    }
}
