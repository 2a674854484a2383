//! What a query tells of its work: the headers that clients ask for and take apart.

use armilla_engine::QueryMetrics;
use armilla_rest_wire::percent;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::limits::INDEX_UTILIZATION_HEADER_BYTES_MAX;
use crate::request::headers::IndexMetricsForm;

/// Writes what a page did, as pairs separated by semicolons; the JavaScript client fails on one at the end.
///
/// Compiling, reading the index and loading items are timed; what is not timed by itself says nothing, and is part of
/// the total and of the execution.
pub(crate) fn execution(metrics: &QueryMetrics) -> String {
    let QueryMetrics {
        total_ms,
        compile_ms,
        index_ms,
        load_ms,
        retrieved_count,
        retrieved_bytes,
        output_count,
        output_bytes,
        ..
    } = metrics;
    format!(
        "totalExecutionTimeInMs={total_ms:.2};queryCompileTimeInMs={compile_ms:.2};queryLogicalPlanBuildTimeInMs=0.00;\
         queryPhysicalPlanBuildTimeInMs=0.00;queryOptimizationTimeInMs=0.00;VMExecutionTimeInMs={:.2};\
         indexLookupTimeInMs={index_ms:.2};instructionCount=0;documentLoadTimeInMs={load_ms:.2};\
         systemFunctionExecuteTimeInMs=0.00;userFunctionExecuteTimeInMs=0.00;\
         retrievedDocumentCount={retrieved_count};retrievedDocumentSize={retrieved_bytes};\
         outputDocumentCount={output_count};outputDocumentSize={output_bytes};writeOutputTimeInMs=0.00;\
         indexUtilizationRatio={:.2}",
        (total_ms - compile_ms).max(0.0),
        metrics.index_hit_ratio
    )
}

/// Encodes what is told of indexes in the form that the client asked for, unless it is too long for a header.
pub(crate) fn index_utilization(form: IndexMetricsForm, json: &str) -> Option<String> {
    let text = match form {
        IndexMetricsForm::First => STANDARD.encode(json),
        IndexMetricsForm::Second => percent::encode(json).to_string(),
    };
    (text.len() <= INDEX_UTILIZATION_HEADER_BYTES_MAX).then_some(text)
}

#[cfg(test)]
mod tests {
    use armilla_engine::QueryMetrics;

    use super::{execution, index_utilization};
    use crate::limits::INDEX_UTILIZATION_HEADER_BYTES_MAX;
    use crate::request::headers::IndexMetricsForm;

    #[test]
    fn execution_is_pairs() {
        let metrics = QueryMetrics {
            total_ms: 1.5,
            compile_ms: 0.25,
            index_ms: 0.5,
            load_ms: 0.125,
            retrieved_count: 4,
            retrieved_bytes: 900,
            output_count: 3,
            output_bytes: 700,
            index_hit_ratio: 0.75,
        };
        let text = execution(&metrics);
        let pairs: Vec<(&str, f64)> = text
            .split(';')
            .map(|pair| pair.split_once('=').unwrap())
            .map(|(name, value)| (name, value.parse().unwrap()))
            .collect();
        assert_eq!(pairs.len(), 17);
        for (name, expected) in [
            ("totalExecutionTimeInMs", 1.5),
            ("VMExecutionTimeInMs", 1.25),
            ("retrievedDocumentCount", 4.0),
            ("retrievedDocumentSize", 900.0),
            ("outputDocumentCount", 3.0),
            ("outputDocumentSize", 700.0),
            ("indexUtilizationRatio", 0.75),
            ("queryCompileTimeInMs", 0.25),
            ("indexLookupTimeInMs", 0.5),
        ] {
            assert!(pairs.contains(&(name, expected)), "{name}: {text}");
        }
    }

    #[test]
    fn utilization_has_two_forms() {
        let json = r#"{"IndexSpec":"/ö/?"}"#;
        assert_eq!(index_utilization(IndexMetricsForm::First, json).unwrap(), "eyJJbmRleFNwZWMiOiIvw7YvPyJ9");
        assert_eq!(
            index_utilization(IndexMetricsForm::Second, json).unwrap(),
            "%7B%22IndexSpec%22%3A%22%2F%C3%B6%2F%3F%22%7D"
        );
    }

    #[test]
    fn long_headers_are_left_out() {
        let form = IndexMetricsForm::Second;
        assert!(index_utilization(form, &"x".repeat(INDEX_UTILIZATION_HEADER_BYTES_MAX)).is_some());
        assert!(index_utilization(form, &"x".repeat(INDEX_UTILIZATION_HEADER_BYTES_MAX + 1)).is_none());
    }
}
