//! Which documents schemas admit, and what is told of the others.

use armilla_mongo_expression::{Environment, Scope};

use super::Schema;
use crate::filter::Filter;
use crate::testing::{object, text, value};

#[track_caller]
fn check(schema: &str, cases: &[(&str, bool)]) {
    let parsed = Schema::parse(&value(schema)).unwrap_or_else(|error| panic!("{schema}: {error:?}"));
    for (document, expected) in cases {
        let document = object(document);
        assert_eq!(parsed.matches(&document), Ok(*expected), "{schema} {document:?}");
        let failures = parsed.failures(&document).expect("describing does not fail");
        assert_eq!(failures.is_empty(), *expected, "{schema} {document:?}");
    }
}

#[test]
fn keywords() {
    check("{}", &[("{}", true), ("{a: 1}", true)]);
    check("{bsonType: 'object'}", &[("{}", true)]);
    check("{bsonType: 'array'}", &[("{}", false)]);
    check("{required: ['a', 'b']}", &[("{a: 1, b: null}", true), ("{a: 1}", false)]);
    let property = |schema: &str| format!("{{properties: {{a: {schema}}}}}");
    for (schema, cases) in [
        ("{bsonType: 'int'}", vec![("{a: i1}", true), ("{a: 1}", false), ("{}", true), ("{a: [i1]}", false)]),
        ("{bsonType: ['int', 'null']}", vec![("{a: null}", true), ("{a: 'x'}", false)]),
        ("{bsonType: 'number'}", vec![("{a: d1}", true), ("{a: 'x'}", false)]),
        ("{type: 'boolean'}", vec![("{a: true}", true), ("{a: 1}", false)]),
        ("{type: ['string', 'number']}", vec![("{a: 1.5}", true), ("{a: 'x'}", true), ("{a: null}", false)]),
        ("{minimum: 3}", vec![("{a: 3}", true), ("{a: 2}", false), ("{a: 'x'}", true)]),
        ("{minimum: 3, exclusiveMinimum: true}", vec![("{a: 3}", false), ("{a: 4}", true)]),
        ("{maximum: 3, exclusiveMaximum: false}", vec![("{a: 3}", true), ("{a: 4}", false)]),
        ("{maximum: 3, exclusiveMaximum: true}", vec![("{a: 3}", false)]),
        ("{multipleOf: 0.1}", vec![("{a: 0.3}", true), ("{a: 0.35}", false), ("{a: 'x'}", true)]),
        ("{multipleOf: 3}", vec![("{a: 9}", true), ("{a: 10}", false)]),
        ("{minLength: 2}", vec![("{a: 'éé'}", true), ("{a: 'é'}", false), ("{a: 1}", true)]),
        ("{maxLength: 1}", vec![("{a: 'é'}", true), ("{a: 'éé'}", false)]),
        ("{pattern: '^x'}", vec![("{a: 'xy'}", true), ("{a: 'y'}", false), ("{a: 1}", true)]),
        ("{enum: [1, 'x', {b: 1}]}", vec![("{a: 1.0}", true), ("{a: {b: 1}}", true), ("{a: 2}", false)]),
        (
            "{minItems: 1, maxItems: 2}",
            vec![("{a: []}", false), ("{a: [1]}", true), ("{a: [1, 2, 3]}", false)],
        ),
        ("{uniqueItems: true}", vec![("{a: [1, 2]}", true), ("{a: [1, 1.0]}", false), ("{a: 1}", true)]),
        ("{uniqueItems: false}", vec![("{a: [1, 1]}", true)]),
        (
            "{items: {bsonType: 'string'}}",
            vec![("{a: ['x']}", true), ("{a: ['x', 1]}", false), ("{a: 1}", true)],
        ),
        (
            "{items: [{type: 'string'}, {type: 'number'}], additionalItems: false}",
            vec![
                ("{a: ['x', 1]}", true),
                ("{a: ['x']}", true),
                ("{a: ['x', 'y']}", false),
                ("{a: ['x', 1, 2]}", false),
            ],
        ),
        (
            "{items: [{type: 'string'}], additionalItems: {type: 'number'}}",
            vec![("{a: ['x', 1, 2]}", true), ("{a: ['x', 'y']}", false)],
        ),
        ("{additionalItems: false}", vec![("{a: [1]}", true)]),
        (
            "{minProperties: 1, maxProperties: 1}",
            vec![("{a: {b: 1}}", true), ("{a: {}}", false), ("{a: {b: 1, c: 1}}", false)],
        ),
        ("{required: ['b']}", vec![("{a: {b: 1}}", true), ("{a: {}}", false), ("{a: 1}", true)]),
        ("{allOf: [{minimum: 1}, {maximum: 5}]}", vec![("{a: 3}", true), ("{a: 6}", false)]),
        ("{anyOf: [{type: 'string'}, {minimum: 5}]}", vec![("{a: 'x'}", true), ("{a: 3}", false)]),
        (
            "{oneOf: [{minimum: 1}, {minimum: 5}]}",
            vec![("{a: 3}", true), ("{a: 6}", false), ("{a: 0}", false)],
        ),
        ("{not: {type: 'string'}}", vec![("{a: 1}", true), ("{a: 'x'}", false), ("{}", true)]),
        ("{title: 't', description: 'd'}", vec![("{a: 1}", true)]),
    ] {
        check(&property(schema), &cases);
    }
    check(
        "{additionalProperties: false, properties: {a: {}, _id: {}}}",
        &[("{_id: 1, a: 1}", true), ("{a: 1, b: 1}", false)],
    );
    check(
        "{additionalProperties: {type: 'string'}, patternProperties: {'^n': {type: 'number'}}}",
        &[("{n1: 1, b: 'x'}", true), ("{n1: 'x'}", false), ("{b: 1}", false)],
    );
    check(
        "{dependencies: {a: ['b'], c: {required: ['d']}}}",
        &[("{}", true), ("{a: 1}", false), ("{a: 1, b: 1}", true), ("{c: 1}", false), ("{c: 1, d: 1}", true)],
    );
}

#[test]
fn what_is_refused() {
    for (schema, expected) in [
        ("1", 14),
        ("{foo: 1}", 9),
        ("{format: 'x'}", 9),
        ("{$ref: 'x'}", 9),
        ("{type: 'string', bsonType: 'string'}", 9),
        ("{type: 'integer'}", 9),
        ("{type: 'int'}", 2),
        ("{bsonType: 'foo'}", 2),
        ("{bsonType: 1}", 14),
        ("{type: ['string', 'string']}", 9),
        ("{minimum: 'x'}", 14),
        ("{exclusiveMinimum: true}", 9),
        ("{exclusiveMinimum: 5, minimum: 4}", 14),
        ("{multipleOf: 0}", 9),
        ("{multipleOf: -1}", 9),
        ("{minLength: -1}", 9),
        ("{minLength: 'x'}", 14),
        ("{pattern: 1}", 14),
        ("{pattern: '('}", 51091),
        ("{enum: []}", 9),
        ("{enum: 1}", 14),
        ("{enum: [1, 1.0]}", 9),
        ("{required: []}", 9),
        ("{required: 'a'}", 14),
        ("{required: ['a', 'a']}", 9),
        ("{required: [1]}", 14),
        ("{properties: 1}", 14),
        ("{properties: {a: 1}}", 14),
        ("{items: 1}", 14),
        ("{uniqueItems: 1}", 14),
        ("{allOf: []}", 2),
        ("{anyOf: 1}", 14),
        ("{oneOf: [1]}", 14),
        ("{not: 1}", 14),
        ("{additionalProperties: 1}", 14),
        ("{dependencies: {a: 1}}", 14),
        ("{title: 1}", 14),
    ] {
        assert_eq!(Schema::parse(&value(schema)).expect_err(schema).code, expected, "{schema}");
    }
}

#[test]
fn what_is_told() {
    let query = object(
        "{$jsonSchema: {required: ['a', 'b'], properties: {a: {bsonType: 'string', description: 'a name'}}}}",
    );
    let filter = Filter::parse(&query, &Scope::default()).expect("a good filter");
    let environment = Environment::default();
    let document = object("{a: 1}");
    assert_eq!(filter.matches(&document, &environment), Ok(false));
    let told = filter.failure(&document, &environment).expect("describing does not fail");
    let expected = object(
        "{operatorName: '$jsonSchema', schemaRulesNotSatisfied: [
           {operatorName: 'required', specifiedAs: {required: ['a', 'b']}, missingProperties: ['b']},
           {operatorName: 'properties', propertiesNotSatisfied: [{propertyName: 'a', description: 'a name', details: [
             {operatorName: 'bsonType', specifiedAs: {bsonType: 'string'}, reason: 'type did not match',
              consideredValue: 1, consideredType: 'long'}]}]}]}",
    );
    assert_eq!(text(told), text(expected));
    let filter = Filter::parse(&object("{a: {$gt: 5}, b: 1}"), &Scope::default()).expect("a good filter");
    let told = text(filter.failure(&document, &environment).expect("describing does not fail"));
    assert!(told.contains("clausesNotSatisfied") && told.contains("$gt"), "{told}");
}
