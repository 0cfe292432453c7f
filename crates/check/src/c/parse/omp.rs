//! OpenMP directives and their clauses.

use super::{Parse, Parser};
use crate::c::ast::{Item, OmpDirective, OmpKind, ReductionOp, StmtKind};
use crate::c::token::{Punct, Sym, TokenKind};
use crate::ir::Bin;

impl Parser<'_> {
    pub(super) fn skip_pragma(&mut self) {
        while !matches!(self.peek().kind, TokenKind::PragmaEnd | TokenKind::Eof) {
            self.at += 1;
        }
        self.at += 1;
    }

    /// Parses a directive outside functions. `threadprivate(a, b)` makes earlier variables
    /// thread-local.
    pub(super) fn omp_at_file_level(&mut self) {
        let mut names = Vec::new();
        if self.text(self.ahead(1).sym) == "threadprivate" && self.ahead(2).is(Punct::LParen) {
            self.at += 2;
            self.names(&mut names);
        }
        self.skip_pragma();
        for item in &mut self.items {
            if let Item::Var(v) = item {
                v.thread_local |= names.contains(&v.name);
            }
        }
    }

    /// Parses a directive with the statement that it governs.
    pub(super) fn omp(&mut self) -> Parse<StmtKind> {
        self.at += 1;
        let mut words = Vec::new();
        while self.peek().kind == TokenKind::Ident && is_construct(self.text(self.peek().sym)) {
            words.push(self.text(self.peek().sym).to_string());
            self.at += 1;
        }
        let mut directive = OmpDirective {
            kind: kind_of(&words),
            private: Vec::new(),
            firstprivate: Vec::new(),
            lastprivate: Vec::new(),
            reduction: Vec::new(),
            nowait: false,
            num_threads: None,
            name: None,
            collapse: 1,
        };
        if directive.kind == OmpKind::Critical && self.is(Punct::LParen) {
            directive.name = Some(self.ahead(1).sym);
            self.skip_balanced();
        }
        while !matches!(self.peek().kind, TokenKind::PragmaEnd | TokenKind::Eof) {
            self.clause(&mut directive);
        }
        self.at += 1;
        let stands_alone = matches!(directive.kind, OmpKind::Barrier | OmpKind::Taskwait)
            || words
                .first()
                .is_some_and(|w| matches!(w.as_str(), "flush" | "taskyield" | "threadprivate" | "declare"));
        let body = if stands_alone { None } else { Some(Box::new(self.statement())) };
        Ok(StmtKind::Omp(Box::new(directive), body))
    }

    fn clause(&mut self, d: &mut OmpDirective) {
        let name = self.next();
        let text = self.text(name.sym).to_string();
        if !self.is(Punct::LParen) {
            d.nowait |= text == "nowait";
            return;
        }
        match text.as_str() {
            "private" => self.names(&mut d.private),
            "firstprivate" => self.names(&mut d.firstprivate),
            "lastprivate" => self.names(&mut d.lastprivate),
            "reduction" => self.reduction(d),
            "num_threads" => {
                self.at += 1;
                d.num_threads = self.expression().ok();
                self.eat(Punct::RParen);
            }
            "collapse" => {
                let n = self.ahead(1);
                d.collapse = self.text(n.sym).parse().unwrap_or(1);
                self.skip_balanced();
            }
            _ => self.skip_balanced(),
        }
    }

    fn names(&mut self, out: &mut Vec<Sym>) {
        self.at += 1;
        while !matches!(self.peek().kind, TokenKind::PragmaEnd | TokenKind::Eof) {
            let t = self.next();
            if t.is(Punct::RParen) {
                break;
            }
            if t.kind == TokenKind::Ident {
                out.push(t.sym);
            }
            if t.is(Punct::LBracket) {
                self.at -= 1;
                self.skip_balanced();
            }
        }
    }

    fn reduction(&mut self, d: &mut OmpDirective) {
        self.at += 1;
        let op = self.next();
        let op = match (op.kind, self.text(op.sym)) {
            (_, "min") => ReductionOp::Min,
            (_, "max") => ReductionOp::Max,
            (TokenKind::Punct(Punct::Star), _) => ReductionOp::Bin(Bin::Mul),
            (TokenKind::Punct(Punct::And), _) => ReductionOp::Bin(Bin::And),
            (TokenKind::Punct(Punct::Or), _) => ReductionOp::Bin(Bin::Or),
            (TokenKind::Punct(Punct::Caret), _) => ReductionOp::Bin(Bin::Xor),
            (TokenKind::Punct(Punct::AndAnd), _) => ReductionOp::LogicalAnd,
            (TokenKind::Punct(Punct::OrOr), _) => ReductionOp::LogicalOr,
            _ => ReductionOp::Bin(Bin::Add),
        };
        // The current token is the colon, which `names` skips like a parenthesis.
        let mut names = Vec::new();
        self.names(&mut names);
        d.reduction.extend(names.into_iter().map(|n| (op, n)));
    }
}

fn is_construct(word: &str) -> bool {
    matches!(
        word,
        "parallel"
            | "for"
            | "simd"
            | "sections"
            | "section"
            | "single"
            | "master"
            | "masked"
            | "critical"
            | "atomic"
            | "barrier"
            | "task"
            | "taskwait"
            | "taskgroup"
            | "taskloop"
            | "ordered"
            | "flush"
            | "taskyield"
            | "threadprivate"
            | "declare"
            | "target"
            | "teams"
            | "distribute"
            | "loop"
    )
}

fn kind_of(words: &[String]) -> OmpKind {
    let has = |w: &str| words.iter().any(|x| x == w);
    let looped = has("for") || has("loop") || has("taskloop");
    match () {
        () if has("parallel") && looped => OmpKind::ParallelFor,
        () if has("parallel") && has("sections") => OmpKind::ParallelSections,
        () if has("parallel") => OmpKind::Parallel,
        () if has("for") || has("loop") => OmpKind::For,
        () if has("sections") => OmpKind::Sections,
        () if has("section") => OmpKind::Section,
        () if has("single") => OmpKind::Single,
        () if has("master") || has("masked") => OmpKind::Master,
        () if has("critical") => OmpKind::Critical,
        () if has("ordered") => OmpKind::Ordered,
        () if has("atomic") => OmpKind::Atomic,
        () if has("barrier") => OmpKind::Barrier,
        () if has("task") => OmpKind::Task,
        () if has("taskwait") => OmpKind::Taskwait,
        () => OmpKind::Other,
    }
}
