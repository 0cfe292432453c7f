//! SARIF 2.1.0, for code-scanning services and editors.
//!
//! A finding is a result of the rule for its kind. Its location is the later access. The other
//! ends, the allocation and the creation of threads are related locations. Each end is also a
//! thread flow of one code flow, outermost call first, so that a viewer steps through both. A
//! recorded execution is a second code flow, with a thread flow per thread. The id is the partial
//! fingerprint by which a service follows a finding from commit to commit.
//!
//! Typed structs, not `json!`: the order of keys is then that of the structs, whatever features of
//! serde_json another crate in the workspace turns on.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::cause;
use crate::model::{Confidence, Finding, Frame, Kind, Report};
use crate::place::place;

use super::RenderOptions;
use super::picture::{Moment, Origin, picture};
use super::story;

pub(super) fn render(report: &Report, options: &RenderOptions<'_>) -> String {
    let mut kinds: Vec<Kind> = report.findings.iter().map(|finding| finding.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let results = report.findings.iter().map(|finding| result(finding, &kinds, options)).collect();
    let driver = Driver {
        name: "raddle",
        version: env!("CARGO_PKG_VERSION"),
        semantic_version: env!("CARGO_PKG_VERSION"),
        rules: kinds.iter().map(|kind| rule(*kind)).collect(),
    };
    let log = Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: vec![Run {
            tool: Tool { driver },
            column_kind: "unicodeCodePoints",
            automation_details: Automation { id: format!("raddle/{}/", report.command) },
            results,
        }],
    };
    let mut text = serde_json::to_string_pretty(&log).expect("SARIF is always valid JSON");
    text.push('\n');
    text
}

fn rule(kind: Kind) -> Rule {
    Rule {
        id: kind.name(),
        name: kind.name().split('-').map(capitalised).collect(),
        short_description: Message { text: capitalised(&kind.title()) },
        full_description: Message { text: kind.explanation().to_owned() },
        default_configuration: Configuration { level: "error" },
        properties: RuleProperties { tags: ["concurrency"] },
    }
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().collect::<String>() + chars.as_str())
}

fn result(finding: &Finding, kinds: &[Kind], options: &RenderOptions<'_>) -> Outcome {
    let primary = finding.accesses.first().and_then(|access| place(&access.stack));
    Outcome {
        rule_id: finding.kind.name(),
        rule_index: kinds.binary_search(&finding.kind).unwrap_or_default(),
        level: if finding.confidence == Confidence::Confirmed { "error" } else { "warning" },
        message: Message { text: plain(&explained(finding)) },
        locations: primary.map(|frame| location(frame, None, options)).into_iter().collect(),
        related_locations: related(finding, options),
        code_flows: code_flows(finding, options),
        partial_fingerprints: BTreeMap::from([("raddleFindingId/v1", finding.id.clone())]),
        properties: Properties {
            confidence: finding.confidence.to_string(),
            occurrences: finding.occurrences,
            schedule: finding.schedule.clone(),
            notes: finding.notes.clone(),
        },
    }
}

/// The ends in order, then the allocation, the creation of threads, and the places of further
/// findings with the same cause. Ids start at 1.
fn related(finding: &Finding, options: &RenderOptions<'_>) -> Vec<Location> {
    let ends = story::ends(finding);
    let ends = ends.iter().map(|end| {
        let when = if end.when.is_empty() { String::new() } else { format!("{}: ", end.when) };
        (end.access.stack.as_slice(), format!("{when}{}", story::deed(finding, end)))
    });
    let address = finding.location.iter().map(|address| {
        (story::location_stack(address), format!("the address is {}", story::location(address, options)))
    });
    let threads = finding.threads.iter().filter_map(|thread| {
        Some((thread.stack.as_slice(), format!("{} was {}", thread.label, story::thread(thread)?)))
    });
    let told = ends.chain(address).chain(threads).filter_map(|(stack, text)| Some((place(stack)?, text)));
    let further = cause::further_places(finding)
        .into_iter()
        .map(|(op, frame)| (frame, format!("also: {op} in {}", story::function(frame))));
    let mut related = Vec::new();
    for (frame, text) in told.chain(further) {
        let mut location = location(frame, Some(text), options);
        location.id = Some(related.len() + 1);
        related.push(location);
    }
    related
}

fn code_flows(finding: &Finding, options: &RenderOptions<'_>) -> Vec<CodeFlow> {
    let ends = story::ends(finding);
    let mut flows = Vec::new();
    for (at, end) in ends.iter().enumerate() {
        let frames = story::trimmed(&end.access.stack);
        let depth = frames.len();
        let locations: Vec<_> = frames
            .iter()
            .rev()
            .enumerate()
            .map(|(level, frame)| {
                let innermost = level + 1 == depth;
                let text =
                    if innermost { story::deed(finding, end) } else { story::function(frame).to_owned() };
                FlowLocation {
                    location: location(frame, Some(text), options),
                    nesting_level: level,
                    // The edges of a cycle have no order.
                    execution_order: (innermost && !story::is_cycle(finding)).then_some(at + 1),
                    importance: if innermost { "essential" } else { "important" },
                }
            })
            .collect();
        if !locations.is_empty() {
            let id = format!("{}: {}", at + 1, end.access.thread);
            flows.push(ThreadFlow { id, locations });
        }
    }
    let ends = (!flows.is_empty()).then_some(CodeFlow { message: None, thread_flows: flows });
    ends.into_iter().chain(interleaving(finding, options)).collect()
}

/// The recorded execution as a separate code flow: a thread flow per thread, with the steps that
/// matter in order.
fn interleaving(finding: &Finding, options: &RenderOptions<'_>) -> Option<CodeFlow> {
    let picture = picture(finding).filter(|picture| picture.origin == Origin::Recorded)?;
    let step = |(at, step): (usize, &Moment)| {
        let frame = step.frame.as_ref().filter(|frame| frame.file.is_some())?;
        let value = step.value.as_ref().map_or(String::new(), |value| format!(": {value}"));
        Some(FlowLocation {
            location: location(frame, Some(format!("{}{value}", step.text)), options),
            nesting_level: 0,
            execution_order: Some(at + 1),
            importance: if step.is_key { "essential" } else { "important" },
        })
    };
    let of_lane = |(lane, name): (usize, &String)| {
        let own = picture.steps.iter().enumerate().filter(|(_, s)| s.lane == lane && s.matters);
        let locations: Vec<_> = own.filter_map(step).collect();
        (!locations.is_empty()).then(|| ThreadFlow { id: name.clone(), locations })
    };
    let thread_flows: Vec<_> = picture.lanes.iter().enumerate().filter_map(of_lane).collect();
    let message = Some(Message { text: picture.caption().to_owned() });
    (!thread_flows.is_empty()).then_some(CodeFlow { message, thread_flows })
}

fn location(frame: &Frame, message: Option<String>, options: &RenderOptions<'_>) -> Location {
    let physical = frame.file.as_deref().map(|file| PhysicalLocation {
        artifact_location: artifact(options.relative(file)),
        region: frame
            .line
            .filter(|line| *line > 0)
            .map(|start_line| Region { start_line, start_column: frame.column.filter(|column| *column > 0) }),
    });
    let logical = match (&frame.function, &frame.module) {
        (Some(function), Some(module)) if frame.file.is_none() => {
            Some((format!("{module}!{function}"), "function"))
        }
        (Some(function), _) => Some((function.clone(), "function")),
        (None, _) => story::place(frame, options).map(|place| (place, "module")),
    };
    let logical = logical.map(|(fully_qualified_name, kind)| LogicalLocation { fully_qualified_name, kind });
    Location {
        id: None,
        physical_location: physical,
        logical_locations: logical.into_iter().collect(),
        message: message.map(|text| Message { text: plain(&text) }),
    }
}

fn artifact(file: &str) -> ArtifactLocation {
    if file.starts_with('/') {
        ArtifactLocation { uri: format!("file://{}", percent(file)), uri_base_id: None }
    } else {
        // A colon before the first slash would look like a scheme.
        let lead = if file.split('/').next().is_some_and(|first| first.contains(':')) { "./" } else { "" };
        ArtifactLocation { uri: format!("{lead}{}", percent(file)), uri_base_id: Some("%SRCROOT%") }
    }
}

/// A path as the path of a URI.
pub(super) fn percent(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z'
            | b'a'..=b'z'
            | b'0'..=b'9'
            | b'-'
            | b'.'
            | b'_'
            | b'~'
            | b'/'
            | b'+'
            | b':'
            | b'@'
            | b'=' => {
                uri.push(char::from(byte));
            }
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// The message, followed by the explanation if there is one.
fn explained(finding: &Finding) -> String {
    match &finding.explanation {
        Some(explanation) => format!("{}\n\n{explanation}", finding.message),
        None => finding.message.clone(),
    }
}

/// A message without links: SARIF would take `[x](y)` for one.
fn plain(text: &str) -> String {
    if text.contains("](") { text.replace('[', "\\[").replace(']', "\\]") } else { text.to_owned() }
}

#[derive(Serialize)]
struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: Vec<Run>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Tool,
    column_kind: &'static str,
    automation_details: Automation,
    results: Vec<Outcome>,
}

#[derive(Serialize)]
struct Automation {
    id: String,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    version: &'static str,
    semantic_version: &'static str,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: &'static str,
    name: String,
    short_description: Message,
    full_description: Message,
    default_configuration: Configuration,
    properties: RuleProperties,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
struct RuleProperties {
    tags: [&'static str; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Message,
    locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    code_flows: Vec<CodeFlow>,
    partial_fingerprints: BTreeMap<&'static str, String>,
    properties: Properties,
}

#[derive(Serialize)]
struct Properties {
    confidence: String,
    occurrences: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Message {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CodeFlow {
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
    thread_flows: Vec<ThreadFlow>,
}

#[derive(Serialize)]
struct ThreadFlow {
    id: String,
    locations: Vec<FlowLocation>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FlowLocation {
    location: Location,
    nesting_level: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    execution_order: Option<usize>,
    importance: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    physical_location: Option<PhysicalLocation>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<LogicalLocation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactLocation {
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri_base_id: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_column: Option<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation {
    fully_qualified_name: String,
    kind: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris() {
        let uri = |file| artifact(file).uri;
        assert_eq!(uri("src/a b%.c"), "src/a%20b%25.c");
        assert_eq!(uri("/src/ü#?.c"), "file:///src/%C3%BC%23%3F.c");
        assert_eq!(uri("c:/x.c"), "./c:/x.c");
        assert_eq!(uri("src/a:b.c"), "src/a:b.c");
        assert!(artifact("/src/a.c").uri_base_id.is_none());
        assert_eq!(artifact("a.c").uri_base_id, Some("%SRCROOT%"));
    }

    #[test]
    fn a_message_holds_no_links_by_accident() {
        assert_eq!(plain("a[1](x)"), "a\\[1\\](x)");
        assert_eq!(plain("a[1] = {{closure}}"), "a[1] = {{closure}}");
    }
}
