//! JUnit XML: one failing test case per finding, or a passing one if there is none, so that a CI
//! server that counts tests shows green rather than "no tests".
//!
//! The case is named by the finding's id, which is stable, so servers with a history show how long
//! a bug has been there. The body is the text format. `quick-junit` escapes it.

use quick_junit::{NonSuccessKind, Report as Junit, TestCase, TestCaseStatus, TestSuite};

use crate::model::Report;

use super::{RenderOptions, story, text};

pub(super) fn render(report: &Report, options: &RenderOptions<'_>) -> String {
    let suite_name = xml(&format!("raddle {}", report.command));
    let mut suite = TestSuite::new(suite_name.clone());
    for finding in &report.findings {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_message(xml(&finding.message.split_whitespace().collect::<Vec<_>>().join(" ")));
        status.set_type(format!("{} {}", finding.confidence, finding.kind));
        status.set_description(xml(&text::finding(finding, options)));
        let mut case = TestCase::new(xml(&finding.id), status);
        case.set_classname(finding.kind.name());
        suite.add_test_case(case);
    }
    if report.findings.is_empty() {
        let mut case = TestCase::new(story::nothing(report), TestCaseStatus::success());
        case.set_classname(suite_name.as_str());
        suite.add_test_case(case);
    }
    let mut junit = Junit::new(suite_name);
    junit.add_test_suite(suite);
    let mut xml = junit.to_string().expect("writing XML into memory does not fail");
    if !xml.ends_with('\n') {
        xml.push('\n');
    }
    xml
}

/// Text that XML can contain. XML forbids most control characters and the last two of a plane, and
/// `quick-junit` lets some of these through. Marks that change the reading direction are replaced
/// too.
fn xml(text: &str) -> String {
    let allowed = |c: char| {
        c == '\n'
            || c == '\t'
            || !(c.is_control() || story::turns_text(c) || matches!(c, '\u{fffe}' | '\u{ffff}'))
    };
    text.chars().map(|c| if allowed(c) { c } else { '\u{fffd}' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AccessOp, Kind};
    use crate::sample::{access, finding, frame};

    #[test]
    fn whatever_a_name_holds_the_document_is_read_back() {
        let mut report = Report::new("run", vec![]);
        let stack = vec![frame("f<T>&'\"]]>\u{0}\u{1b}\u{fffe}", "a&b.c", 3, 1)];
        let mut race = finding(Kind::DataRace, vec![access(AccessOp::Write, "T1", stack)]);
        race.message = "a < b && \"c\"\nd\u{7}".into();
        report.findings.push(race);
        let xml = render(&report, &RenderOptions::default());
        assert!(!xml.contains(['\u{0}', '\u{7}', '\u{1b}', '\u{fffe}']), "{xml}");
        let read = Junit::deserialize_from_str(&xml).unwrap();
        assert_eq!((read.tests, read.failures), (1, 1));
        let TestCaseStatus::NonSuccess { message, description, .. } =
            &read.test_suites[0].test_cases[0].status
        else {
            panic!("{xml}")
        };
        assert_eq!(message.as_ref().unwrap().as_str(), "a < b && \"c\" d\u{fffd}");
        assert!(description.as_ref().unwrap().as_str().contains("f<T>&'\"]]>"), "{xml}");
    }

    #[test]
    fn nothing_found_is_a_passing_test() {
        let xml = render(&Report::new("run", vec![]), &RenderOptions::default());
        let read = Junit::deserialize_from_str(&xml).unwrap();
        assert_eq!((read.tests, read.failures), (1, 0));
    }
}
