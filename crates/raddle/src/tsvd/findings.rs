//! Turns what runtimes caught into findings: both stacks, the object, the operations.

use std::collections::HashSet;

use raddle_binary::{Registers, demangle, plain_path};
use raddle_finding::place::place;
use raddle_finding::{
    Access, AccessOp, Confidence, Finding, Frame, Interleaving, Kind, Location, ThreadInfo,
};
use raddle_wire::record::DecodedCaught;
use raddle_wire::tsvd::ObjectOperand;

use super::api::{ApiOperation, Catalogue};
use super::sites::{Numbered, Registry};
use raddle_harness::collect::{LoggedViolation, Process};
use raddle_harness::places::Places;

pub struct Teller<'a> {
    pub catalogue: &'a Catalogue,
    pub registry: &'a Registry,
    pub places: &'a mut Places,
    /// Which run, if there are several.
    pub run: Option<u32>,
}

impl<'a> Teller<'a> {
    pub fn findings(&mut self, process: &Process) -> Vec<Finding> {
        process.violations.iter().filter_map(|v| self.finding(process, v)).collect()
    }

    fn finding(&mut self, process: &Process, violation: &LoggedViolation) -> Option<Finding> {
        let now = self.end(process, violation, &violation.now)?;
        let before = self.end(process, violation, &violation.before)?;
        let class = &self.catalogue.classes[now.operation.class];
        let location = self.location(process, violation, now.operation);
        let on = match &location {
            Some(Location::Global { name, .. }) => format!(" `{name}`"),
            _ => String::new(),
        };
        let message = format!(
            "two threads use {}{}{on} at once: {} calls {} while {} is about to call {}",
            // There is one environment, but there are many maps.
            if class.name.starts_with("the ") { "" } else { "one " },
            class.name,
            now.access.thread,
            now.called,
            before.access.thread,
            before.called
        );
        let mut finding = Finding::new(Kind::ThreadSafetyViolation, Confidence::Confirmed, message);
        finding.interleaving = Some(Interleaving {
            deeds: vec![
                format!("calls {} ({})", now.called, now.access.op),
                format!("is about to call {} ({})", before.called, before.access.op),
            ],
            ..Interleaving::default()
        });
        if !class.rule.is_empty() {
            finding
                .notes
                .push(format!("the contract of {}: {} ({})", class.name, class.rule, class.documentation));
        }
        if let Some(run) = self.run {
            finding.notes.push(format!("caught in run {run}"));
        }
        finding.contract = self.may_be_another(&now, &before).then(|| class.name.clone());
        finding.threads = [&now, &before].map(|end| end.thread()).into();
        finding.accesses = vec![now.access, before.access];
        finding.location = location;
        Some(finding)
    }

    fn end(
        &mut self,
        process: &Process,
        violation: &LoggedViolation,
        caught: &DecodedCaught,
    ) -> Option<End<'a>> {
        let (registry, catalogue) = (self.registry, self.catalogue);
        let site = registry.sites.get(caught.site as usize)?;
        let operation = &catalogue.operations[site.operation];
        let modules = process.modules(violation.modules);
        let [rip, rsp, rbp, rbx, r12, r13, r14, r15] = caught.registers;
        let registers = Registers { rip, rsp, rbp, rbx, r12, r13, r14, r15 };
        let pcs = self.places.unwind(modules, &registers, &caught.stack);
        let mut stack = self.places.stack(modules, &pcs);
        if site.tail {
            // The function that made the tail call has left no frame.
            stack.splice(0..0, site_frames(self.places, site));
        }
        let name = String::from_utf8_lossy(&caught.name).into_owned();
        // Nobody names the main thread, so the system gives it the program's name.
        let name = if caught.thread == 0 { "main".into() } else { name };
        let label = format!("T{} ({name})", caught.thread);
        let op = if operation.write { AccessOp::Write } else { AccessOp::Read };
        let called = short_name(&site.callee);
        let access = Access { op, size: 0, thread: label, locks: vec![], lock: None, stack };
        Some(End { access, site, operation, called, name })
    }

    /// Whether calls of another class are at both places, so that the places alone do not say which
    /// contract was broken. All calls of the program count, not only those that were caught: an id
    /// must be the same in every run.
    fn may_be_another(&mut self, now: &End, before: &End) -> bool {
        let classes = [now, before].map(|end| self.classes_beside(end));
        let own = now.operation.class;
        classes[0].iter().any(|class| *class != own && classes[1].contains(class))
    }

    /// The classes whose functions are called on the same line of the same function.
    fn classes_beside(&mut self, end: &End) -> HashSet<usize> {
        let line = |frames: &[Frame]| place(frames).map(|f| (f.file.clone(), f.line));
        let (registry, catalogue) = (self.registry, self.catalogue);
        let here = line(&site_frames(self.places, end.site));
        let in_function = |site: &&Numbered| caller(&site.name) == caller(&end.site.name);
        let mut classes = HashSet::new();
        for site in registry.sites.iter().filter(in_function) {
            let class = catalogue.operations[site.operation].class;
            if !classes.contains(&class) && line(&site_frames(self.places, site)) == here {
                classes.insert(class);
            }
        }
        classes
    }

    fn location(
        &mut self,
        process: &Process,
        violation: &LoggedViolation,
        operation: &ApiOperation,
    ) -> Option<Location> {
        if operation.object == ObjectOperand::Library {
            return None;
        }
        let global = self.places.global(process.modules(violation.modules), violation.object)?;
        Some(Location::Global {
            name: global.name,
            offset: global.offset,
            size: global.size,
            module: global.module,
            file: global.file,
            line: global.line,
        })
    }
}

struct End<'a> {
    access: Access,
    site: &'a Numbered,
    operation: &'a ApiOperation,
    called: String,
    name: String,
}

impl End<'_> {
    fn thread(&self) -> ThreadInfo {
        let name = (!self.name.is_empty()).then(|| self.name.clone());
        ThreadInfo { label: self.access.thread.clone(), name, created_by: None, stack: vec![], running: true }
    }
}

/// The function that contains a call: the part of the site's name before the called function.
fn caller(name: &str) -> &str {
    name.split(" > ").next().unwrap_or_default()
}

/// The functions at a site, inlined ones first.
pub fn site_frames(places: &mut Places, site: &Numbered) -> Vec<Frame> {
    places.file_frames(&site.path, site.address + u64::from(site.len))
}

/// `std::map<int, int>::operator[](int&&)`, without default template arguments, which tell a reader
/// nothing.
pub fn short_name(raw: &str) -> String {
    const MOST: usize = 120;
    let mut name = demangle(raw);
    for part in
        [", std::allocator<", ", std::less<", ", std::hash<", ", std::equal_to<", ", std::char_traits<"]
    {
        while let Some(start) = name.find(part) {
            let open = start + part.len();
            let Some(len) = closing(&name[open..]) else { break };
            name.replace_range(start..open + len + 1, "");
        }
    }
    let name = name.replace(" >", ">");
    if name.chars().count() <= MOST { name } else { plain_path(raw) }
}

/// The position of the bracket that closes the one opened before `text`.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_what_says_nothing() {
        let map = "_ZNSt3mapIiiSt4lessIiESaISt4pairIKiiEEEixERS3_";
        assert_eq!(short_name(map), "std::map<int, int>::operator[](int const&)");
        let nested = "_ZNSt6vectorIS_IiSaIiEESaIS1_EE9push_backERKS1_";
        assert_eq!(short_name(nested), "std::vector<std::vector<int>>::push_back(std::vector<int> const&)");
        assert_eq!(short_name("strtok"), "strtok");
    }

    #[test]
    fn names_that_are_too_long_lose_all_arguments() {
        let name = "N1a23with_a_rather_long_nameE";
        let long = format!("_ZNSt3mapI{name}St4pairI{name}St4pairI{name}{name}EESt4lessIiESaIiEE5clearEv");
        assert_eq!(short_name(&long), "std::map::clear");
    }

    #[test]
    fn brackets_are_closed_where_they_were_opened() {
        assert_eq!(closing("a<b>c>d"), Some(5));
        assert_eq!(closing("a<b"), None);
    }
}
