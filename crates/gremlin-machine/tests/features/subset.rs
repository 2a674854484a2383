//! Which scenarios are in the service's part of Gremlin.
//!
//! In are those whose steps the service documents or is known to accept, without strategies, null, set cardinality
//! and types of values that it does not keep.

use crate::gherkin::{Scenario, Then};

const STEPS: &str = "V E addV addE from to property drop out in both outE inE bothE outV inV bothV otherV \
    has hasLabel hasId hasNot hasKey hasValue is not and or filter where as select by values propertyMap valueMap \
    properties id label key value identity constant count sum max min mean fold unfold group groupCount order limit \
    range skip tail sample coin dedup path simplePath cyclicPath tree project union coalesce optional choose option \
    repeat emit until times loops local flatMap map sideEffect store aggregate cap inject \
    eq neq lt lte gt gte inside outside between within without \
    startingWith notStartingWith endingWith notEndingWith containing notContaining regex notRegex negate";

/// Says whether a scenario is in the service's part of Gremlin.
pub(crate) fn contains(scenario: &Scenario) -> bool {
    if scenario.left {
        return false;
    }
    let texts = std::iter::once(&scenario.text).chain(&scenario.initializer);
    texts.into_iter().all(|text| steps_are_in(text)) && values_are_in(scenario)
}

fn steps_are_in(text: &str) -> bool {
    let known: Vec<&str> = STEPS.split_whitespace().collect();
    let mut word = String::new();
    let mut quote: Option<char> = None;
    for character in text.chars().chain([' ']) {
        if let Some(open) = quote {
            if character == open {
                quote = None;
            }
            continue;
        }
        if character.is_alphanumeric() || character == '_' {
            word.push(character);
            continue;
        }
        if character == '(' && !word.is_empty() && !known.contains(&word.as_str()) {
            return false;
        }
        if ["null", "Cardinality", "normSack"].contains(&word.as_str()) || word.ends_with("Strategy") {
            return false;
        }
        let digits = word.trim_end_matches(['b', 's', 'n', 'm', 'B', 'S', 'N', 'M']);
        if digits.len() < word.len()
            && digits.chars().all(|digit| digit.is_ascii_digit())
            && !digits.is_empty()
        {
            return false;
        }
        if ["'", "\""].contains(&character.to_string().as_str()) {
            quote = Some(character);
        }
        word.clear();
    }
    true
}

fn values_are_in(scenario: &Scenario) -> bool {
    let mut texts: Vec<&str> = scenario.parameters.iter().map(|(_, text)| text.as_str()).collect();
    if !scenario.side_effects.is_empty() {
        return false;
    }
    for then in &scenario.thens {
        match then {
            Then::Ordered(rows) | Then::Unordered(rows) | Then::Of(rows) => {
                texts.extend(rows.iter().map(String::as_str));
            }
            Then::Subgraph => return false,
            _ => {}
        }
    }
    let exotic = ["].b", "].s\"", "].n", "].m", "dt[", "uuid[", "null", "c["];
    texts.iter().all(|text| !text.ends_with("].s") && exotic.iter().all(|part| !text.contains(part)))
}
