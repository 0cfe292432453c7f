//! What the static half finds in one module: error sites, and the reads that can affect them.
//!
//! Addresses are virtual, in the numbering of the ELF file: a pc at run time less the load bias
//! of its module. They are stable for one build, so an [`Analysis`] can be kept and used for
//! every input of the program (*ConSeq*, section 6.1, "How to reuse the analysis results").

use raddle_binary::flow::Expression;
use serde::{Deserialize, Serialize};

/// Sites and reads of one module.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Analysis {
    /// Sorted by address; `sites[i].id == i`.
    pub sites: Vec<Site>,
    /// Sorted by site, then distance, then address; each address once a site.
    pub reads: Vec<CriticalRead>,
    /// What could not be analysed, and why; nothing here is an error.
    pub notes: Vec<Note>,
}

/// A place where something can be seen to go wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// The position in [`Analysis::sites`].
    pub id: u32,
    /// What would be seen to go wrong here.
    pub kind: SiteKind,
    /// The instruction: the call that reports, the jump that decides whether a loop goes on,
    /// the access through the pointer, the read of the variable.
    pub address: u64,
    /// The function that contains the instruction. For inlined code, the function it was inlined
    /// into.
    pub function: FunctionName,
    /// The function called, for sites that are calls: demangled.
    pub callee: Option<String>,
    /// What leads to the site: for a loop, what keeps it going.
    pub condition: Option<Condition>,
    /// A loop that does nothing but wait: it writes nothing and calls nothing that does.
    pub waits: bool,
}

/// The function that a site lies in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionName {
    /// Its first instruction.
    pub address: u64,
    /// Demangled; `None` in a stripped file.
    pub name: Option<String>,
}

/// The kinds of `--sites`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum SiteKind {
    /// A call that ends the program because a check failed: an assertion, a panic, `abort`.
    Assert,
    /// A call that reports an error: a line of a log, a message on standard error.
    Error,
    /// A call whose arguments leave the program.
    Output,
    /// The jump that repeats a loop, which might never leave it.
    Loop,
    /// The first use of a pointer, or where its block is freed.
    Memory,
    /// A read whose value obeyed an invariant in all training runs ([`crate::invariants`]).
    Invariant,
}

impl SiteKind {
    /// All kinds, which is what [`crate::Options`] asks for by default.
    pub const ALL: [Self; 6] =
        [Self::Assert, Self::Error, Self::Output, Self::Loop, Self::Memory, Self::Invariant];

    /// The word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Assert => "assert",
            Self::Error => "error",
            Self::Output => "output",
            Self::Loop => "loop",
            Self::Memory => "memory",
            Self::Invariant => "invariant",
        }
    }

    /// The kind with this [`SiteKind::name`]. `None`: there is none.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A read of shared memory that can decide whether, or with what value, a site is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CriticalRead {
    /// In an instrumented module, what the runtime sees as the pc of the access: the return
    /// address of the `__tsan_*` call (or of the `memcpy`) that announces it. Otherwise the
    /// instruction that loads, and `instrumented` is false: it cannot be traced.
    pub address: u64,
    /// Whether a trace can show the read.
    pub instrumented: bool,
    /// The site's id.
    pub site: u32,
    /// Dependence steps from the site: 0 only where the site itself is the read.
    pub distance: u32,
    /// Bytes read; 0 when only known at run time.
    pub size: u8,
    /// Whether the probe announces an atomic operation. False for code without probes.
    pub atomic: bool,
    /// The variable, when the address is fixed: virtual address.
    pub variable: Option<u64>,
    /// A local of the function. Only a run can show whether other threads have a pointer to it.
    pub local: bool,
    /// How the value matters, at this distance.
    pub relation: Relation,
    /// Further branches at the same distance that test it: `i < 0 || i > 15` has two. Any of them
    /// leads on.
    pub also: Vec<Condition>,
}

impl CriticalRead {
    /// Whether these values of the reads lead towards the site by one of the branches that test
    /// them; `None` if that is unknown. A read is identified by its `address`.
    pub fn leads(&self, read: &dyn Fn(u64) -> Option<u64>) -> Option<bool> {
        let Relation::Tested(first) = &self.relation else { return None };
        let mut all_known = true;
        for condition in std::iter::once(first).chain(&self.also) {
            match condition.leads(read) {
                Some(true) => return Some(true),
                Some(false) => {}
                None => all_known = false,
            }
        }
        all_known.then_some(false)
    }
}

/// How the value that was read reaches the site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Relation {
    /// A branch on the way tests it.
    Tested(Condition),
    /// It is an argument of the site's call, counted from 0; printed, if the site is an output.
    Argument {
        /// In the calling convention's order.
        index: u8,
    },
    /// It is the pointer that the site uses, with an offset: a value of which `value + offset`
    /// lies in the first page is a null pointer.
    Pointer {
        /// In bytes.
        offset: i64,
    },
    /// The site is this read.
    Itself,
    /// It matters, but it is unknown how.
    Unknown,
}

/// A conditional jump, and the way that leads on towards the site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// The conditional jump.
    pub branch: u64,
    /// The value (1 or 0) of `test` that leads towards the site.
    pub leads_when: bool,
    /// What the jump depends on, as far as it could be followed back: reads and constants.
    pub test: Expression,
}

impl Condition {
    /// Whether these values lead towards the site; `None` if a needed value is unknown. A read is
    /// identified by its `CriticalRead::address`.
    pub fn leads(&self, read: &dyn Fn(u64) -> Option<u64>) -> Option<bool> {
        Some((self.test.evaluate(read)? != 0) == self.leads_when)
    }
}

/// Something that limits what is known about a module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Note {
    /// No `__tsan_*` call: sites and slices are known, and no run can be traced.
    NotInstrumented,
    /// No symbols: functions are those of the unwind tables, and custom names cannot be found.
    Stripped,
    /// No function was found at all: packed, or without symbols and unwind tables.
    NoFunctions,
    /// Functions too large, or with code that cannot be followed; left out, or cut short.
    LeftOut {
        /// How many.
        functions: u32,
    },
    /// Functions that were left when the time was over.
    Unfinished {
        /// How many, with those that have nothing to find.
        functions: u32,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_binary::flow::Predicate;

    fn null_test(leads_when: bool) -> Condition {
        let test = Expression::Comparison {
            predicate: Predicate::Equal,
            width: 8,
            left: Box::new(Expression::Read { address: 0x40, size: 8 }),
            right: Box::new(Expression::Constant(0)),
        };
        Condition { branch: 0x50, leads_when, test }
    }

    #[test]
    fn kinds_are_known_by_their_words() {
        for kind in SiteKind::ALL {
            assert_eq!(SiteKind::by_name(kind.name()), Some(kind));
        }
        assert_eq!(SiteKind::by_name("asserts"), None);
    }

    #[test]
    fn a_condition_says_which_values_lead_to_the_site() {
        let fails_on_null = null_test(true);
        assert_eq!(fails_on_null.leads(&|_| Some(0)), Some(true));
        assert_eq!(fails_on_null.leads(&|_| Some(7)), Some(false));
        assert_eq!(null_test(false).leads(&|_| Some(0)), Some(false));
        assert_eq!(fails_on_null.leads(&|_| None), None);
    }

    #[test]
    fn an_analysis_is_kept_and_comes_back() {
        let function = FunctionName { address: 0x30, name: Some("f".into()) };
        let condition = Some(null_test(true));
        let site = Site {
            id: 0,
            kind: SiteKind::Assert,
            address: 0x60,
            function,
            callee: None,
            condition,
            waits: false,
        };
        let read = CriticalRead {
            address: 0x40,
            instrumented: true,
            site: 0,
            distance: 1,
            size: 8,
            atomic: false,
            variable: Some(0x4000),
            local: false,
            relation: Relation::Tested(null_test(true)),
            also: vec![null_test(false)],
        };
        assert_eq!(read.leads(&|_| Some(7)), Some(true), "the second condition");
        assert_eq!(CriticalRead { also: Vec::new(), ..read.clone() }.leads(&|_| Some(7)), Some(false));
        assert_eq!(CriticalRead { relation: Relation::Unknown, ..read.clone() }.leads(&|_| Some(7)), None);
        let analysis = Analysis { sites: vec![site], reads: vec![read], notes: vec![Note::Stripped] };
        let bytes = postcard::to_allocvec(&analysis).unwrap();
        assert_eq!(postcard::from_bytes::<Analysis>(&bytes).unwrap(), analysis);
    }
}
