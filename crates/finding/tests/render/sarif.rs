//! What the SARIF 2.1.0 schema requires of the parts that raddle writes, checked by hand: tests
//! have no network.

use crate::sample;
use raddle_finding::{Format, RenderOptions, render};
use serde_json::Value;

fn sarif() -> Value {
    let options = RenderOptions { root: Some("/home/me/bank"), ..RenderOptions::default() };
    serde_json::from_str(&render(&sample::rich(), Format::Sarif, &options)).unwrap()
}

fn array<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().unwrap_or_else(|| panic!("{key} is no array in {value}"))
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("{key} is no string in {value}"))
}

fn check_location(location: &Value) {
    assert!(
        location.get("physicalLocation").is_some() || location.get("logicalLocations").is_some(),
        "a location is somewhere: {location}"
    );
    if let Some(physical) = location.get("physicalLocation") {
        let uri = text(&physical["artifactLocation"], "uri");
        assert!(!uri.contains(' ') && !uri.starts_with('/'), "{uri}");
        let relative = physical["artifactLocation"].get("uriBaseId").is_some();
        assert_eq!(relative, !uri.starts_with("file:///"), "{uri}");
        if let Some(region) = physical.get("region") {
            assert!(region["startLine"].as_u64().unwrap() >= 1);
            assert!(region.get("startColumn").is_none_or(|column| column.as_u64().unwrap() >= 1));
        }
    }
    if let Some(message) = location.get("message") {
        assert!(!text(message, "text").is_empty());
    }
}

#[test]
fn the_log_and_its_rules() {
    let log = sarif();
    assert_eq!(log["version"], "2.1.0");
    let runs = array(&log, "runs");
    assert_eq!(runs.len(), 1);
    let driver = &runs[0]["tool"]["driver"];
    assert_eq!(driver["name"], "raddle");
    let ids: Vec<_> = array(driver, "rules").iter().map(|rule| text(rule, "id")).collect();
    assert_eq!(ids, ["data-race", "lock-order", "assertion", "use-after-free"]);
    for rule in array(driver, "rules") {
        for key in ["shortDescription", "fullDescription"] {
            assert!(!text(&rule[key], "text").is_empty());
        }
    }
}

#[test]
fn results_point_at_their_rules_and_carry_their_ids() {
    let log = sarif();
    let rules = array(&log["runs"][0]["tool"]["driver"], "rules");
    let results = array(&log["runs"][0], "results");
    let report = sample::rich();
    assert_eq!(results.len(), report.findings.len());
    for (result, finding) in results.iter().zip(&report.findings) {
        let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!(rule["id"], result["ruleId"]);
        assert_eq!(text(result, "ruleId"), finding.kind.name());
        assert!(["error", "warning"].contains(&text(result, "level")));
        assert_eq!(text(&result["message"], "text"), finding.message);
        assert_eq!(result["partialFingerprints"]["raddleFindingId/v1"], finding.id.as_str());
        assert!(!array(result, "locations").is_empty());
        array(result, "locations").iter().for_each(check_location);
    }
}

#[test]
fn a_race_has_a_thread_flow_for_each_end() {
    let log = sarif();
    for result in &array(&log["runs"][0], "results")[..3] {
        let flows = array(result, "codeFlows");
        assert_eq!(flows.len(), 1);
        let threads = array(&flows[0], "threadFlows");
        assert_eq!(threads.len(), 2);
        for (at, thread) in threads.iter().enumerate() {
            let steps = array(thread, "locations");
            steps.iter().for_each(|step| check_location(&step["location"]));
            let order = steps.last().unwrap().get("executionOrder").and_then(Value::as_u64);
            assert_eq!(order, (result["ruleId"] != "lock-order").then_some(at as u64 + 1));
            assert_eq!(steps[0]["nestingLevel"], 0);
        }
        let ids: Vec<_> =
            array(result, "relatedLocations").iter().map(|location| location["id"].as_u64()).collect();
        assert_eq!(ids, (1..=ids.len() as u64).map(Some).collect::<Vec<_>>());
        array(result, "relatedLocations").iter().for_each(check_location);
    }
}

/// The schema allows no other keys in these objects.
const KEYS: &[(&str, &[&str])] = &[
    ("", &["$schema", "version", "runs"]),
    ("runs", &["tool", "columnKind", "automationDetails", "results"]),
    ("tool", &["driver"]),
    ("driver", &["name", "version", "semanticVersion", "rules"]),
    ("rules", &["id", "name", "shortDescription", "fullDescription", "defaultConfiguration", "properties"]),
    ("automationDetails", &["id"]),
    ("defaultConfiguration", &["level"]),
    ("shortDescription", &["text"]),
    ("fullDescription", &["text"]),
    ("message", &["text"]),
    (
        "results",
        &[
            "ruleId",
            "ruleIndex",
            "level",
            "message",
            "locations",
            "relatedLocations",
            "codeFlows",
            "partialFingerprints",
            "properties",
        ],
    ),
    ("codeFlows", &["message", "threadFlows"]),
    ("threadFlows", &["id", "locations"]),
    ("location", &["id", "physicalLocation", "logicalLocations", "message"]),
    ("relatedLocations", &["id", "physicalLocation", "logicalLocations", "message"]),
    ("physicalLocation", &["artifactLocation", "region"]),
    ("artifactLocation", &["uri", "uriBaseId"]),
    ("region", &["startLine", "startColumn"]),
    ("logicalLocations", &["fullyQualifiedName", "kind"]),
];

fn check_keys(name: &str, value: &Value) {
    match value {
        Value::Array(values) => {
            assert!(
                !values.is_empty() || ["results", "locations", "rules"].contains(&name),
                "{name} is empty"
            );
            values.iter().for_each(|value| check_keys(name, value));
        }
        Value::Object(object) => {
            // Steps of a thread flow and locations of a result are called the same.
            let allowed = match name {
                "locations" if object.contains_key("location") => {
                    Some(&["location", "nestingLevel", "executionOrder", "importance"][..])
                }
                "locations" => Some(&["id", "physicalLocation", "logicalLocations", "message"][..]),
                name => KEYS.iter().find(|(known, _)| *known == name).map(|(_, keys)| *keys),
            };
            for (key, value) in object {
                assert!(allowed.is_none_or(|allowed| allowed.contains(&key.as_str())), "{key} in {name}");
                check_keys(key, value);
            }
        }
        _ => {}
    }
}

#[test]
fn only_keys_of_the_schema_are_written() {
    for report in [sample::rich(), sample::explored()] {
        let text = render(&report, Format::Sarif, &RenderOptions::default());
        check_keys("", &serde_json::from_str(&text).unwrap());
    }
}

#[test]
fn a_recorded_execution_is_a_flow_in_its_order() {
    let text = render(&sample::explored(), Format::Sarif, &RenderOptions::default());
    let log: Value = serde_json::from_str(&text).unwrap();
    let flows = array(&log["runs"][0]["results"][0], "codeFlows");
    let threads = array(flows.last().unwrap(), "threadFlows");
    let ids: Vec<_> = threads.iter().map(|thread| thread["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["T0 (main)", "T1 (teller)", "T2 (teller)"]);
    let steps = threads.iter().flat_map(|thread| array(thread, "locations"));
    let mut order: Vec<_> = steps.map(|step| step["executionOrder"].as_u64().unwrap()).collect();
    order.sort_unstable();
    assert_eq!(order, [1, 3, 5, 6]);
    assert_eq!(threads[2]["locations"][0]["location"]["message"]["text"], "writes `total`: 10 → 30");
}

#[test]
fn files_below_the_root_have_relative_uris() {
    let log = sarif();
    let location = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "src/bank.c");
    assert_eq!(location["region"]["startLine"], 12);
}
