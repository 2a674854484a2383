//! The words of the query language: its functions with a signature and a line of help each, its reserved words.
//!
//! The list is the server's own, without the functions that it knows by name only (full text and vector search).

export interface SqlFunction {
  name: string;
  /** The arguments, with the parentheses. */
  call: string;
  help: string;
  group: string;
}

type Row = readonly [name: string, call: string, help: string];

const GROUPS: readonly (readonly [string, readonly Row[]])[] = [
  ['Aggregate', [
    ['AVG', '(number)', 'The mean of the numbers; undefined if one is no number.'],
    ['COUNT', '(value)', 'How many rows have the value; COUNT(1) counts all.'],
    ['COUNTIF', '(condition)', 'How many rows the condition is true for.'],
    ['MAKELIST', '(value)', 'The values of all rows as an array.'],
    ['MAKESET', '(value)', 'The different values of all rows as an array.'],
    ['MAX', '(value)', 'The largest of the values.'],
    ['MIN', '(value)', 'The smallest of the values.'],
    ['SUM', '(number)', 'The sum of the numbers; undefined if one is no number.'],
  ]],
  ['Text', [
    ['CONCAT', '(text, text, …)', 'The texts joined.'],
    ['CONTAINS', '(text, part [, ignoreCase])', 'Whether the text has the part in it. Scans the index.'],
    ['CONTAINS_ALL_CI', '(text, part, …)', 'Whether the text has all the parts, in any letter case.'],
    ['CONTAINS_ALL_CS', '(text, part, …)', 'Whether the text has all the parts, letter case counts.'],
    ['CONTAINS_ANY_CI', '(text, part, …)', 'Whether the text has one of the parts, in any letter case.'],
    ['CONTAINS_ANY_CS', '(text, part, …)', 'Whether the text has one of the parts, letter case counts.'],
    ['ENDSWITH', '(text, end [, ignoreCase])', 'Whether the text ends so. Scans the index.'],
    ['INDEX_OF', '(text, part [, start])', 'Where the part is first found, from 0; -1 if nowhere.'],
    ['LASTINDEXOF', '(text, part [, position])', 'Where the part is last found, from 0; -1 if nowhere.'],
    ['LEFT', '(text, count)', 'The first characters.'],
    ['LENGTH', '(text)', 'How many characters the text has.'],
    ['LOWER', '(text)', 'The text in lower case. The index does not serve it.'],
    ['LTRIM', '(text [, characters])', 'The text without white space, or the characters, at its start.'],
    ['REGEXMATCH', '(text, pattern [, modifiers])', 'Whether the regular expression is found; modifiers: m, s, i, x.'],
    ['REPLACE', '(text, find, by)', 'The text with every occurrence replaced.'],
    ['REPLICATE', '(text, count)', 'The text repeated; at most 10,000 characters.'],
    ['REVERSE', '(text)', 'The text from its end to its start.'],
    ['RIGHT', '(text, count)', 'The last characters.'],
    ['RTRIM', '(text [, characters])', 'The text without white space, or the characters, at its end.'],
    ['STARTSWITH', '(text, start [, ignoreCase])', 'Whether the text starts so. The index finds it.'],
    ['STRINGEQUALS', '(text, other [, ignoreCase])', 'Whether the texts are equal. The index finds it.'],
    ['STRINGJOIN', '(array, separator)', 'The texts of an array joined, with the separator between them.'],
    ['STRINGSPLIT', '(text, separator)', 'The parts between the separators, as an array.'],
    ['STRINGTOARRAY', '(text)', 'The array that the text is as JSON, else undefined.'],
    ['STRINGTOBOOLEAN', '(text)', 'The boolean that the text is as JSON, else undefined.'],
    ['STRINGTONULL', '(text)', 'null if the text is null as JSON, else undefined.'],
    ['STRINGTONUMBER', '(text)', 'The number that the text is as JSON, else undefined.'],
    ['STRINGTOOBJECT', '(text)', 'The object that the text is as JSON, else undefined.'],
    ['SUBSTRING', '(text, start, count)', 'Characters from a position, counted from 0.'],
    ['TOSTRING', '(value)', 'The value as text; arrays and objects as JSON.'],
    ['TRIM', '(text [, characters])', 'The text without white space, or the characters, at both ends.'],
    ['UPPER', '(text)', 'The text in upper case. The index does not serve it.'],
  ]],
  ['Number', [
    ['ABS', '(number)', 'The number without its sign.'],
    ['ACOS', '(number)', 'The arc cosine in radians.'],
    ['ASIN', '(number)', 'The arc sine in radians.'],
    ['ATAN', '(number)', 'The arc tangent in radians.'],
    ['ATN2', '(y, x)', 'The angle of the point (x, y) in radians.'],
    ['CEILING', '(number)', 'The smallest integer that is not less.'],
    ['COS', '(radians)', 'The cosine.'],
    ['COT', '(radians)', 'The cotangent.'],
    ['DEGREES', '(radians)', 'The angle in degrees.'],
    ['EXP', '(number)', 'e raised to the number.'],
    ['FLOOR', '(number)', 'The largest integer that is not greater.'],
    ['LOG', '(number [, base])', 'The logarithm; the natural one without a base.'],
    ['LOG10', '(number)', 'The logarithm to base 10.'],
    ['NUMBERBIN', '(number [, size])', 'The number rounded down to a multiple of the size.'],
    ['PI', '()', 'The constant π.'],
    ['POWER', '(number, exponent)', 'The number raised to the exponent.'],
    ['RADIANS', '(degrees)', 'The angle in radians.'],
    ['RAND', '()', 'A random number from 0 up to 1, another for each row.'],
    ['ROUND', '(number)', 'The nearest integer; halves away from zero.'],
    ['SIGN', '(number)', '-1, 0 or 1.'],
    ['SIN', '(radians)', 'The sine.'],
    ['SQRT', '(number)', 'The square root.'],
    ['SQUARE', '(number)', 'The number times itself.'],
    ['TAN', '(radians)', 'The tangent.'],
    ['TRUNC', '(number)', 'The number without its fraction.'],
  ]],
  ['Integer', [
    ['INTADD', '(integer, integer)', 'The sum of 64-bit integers, exact.'],
    ['INTBITAND', '(integer, integer)', 'The bits that both have.'],
    ['INTBITLEFTSHIFT', '(integer, count)', 'The bits shifted to the left.'],
    ['INTBITNOT', '(integer)', 'The bits inverted.'],
    ['INTBITOR', '(integer, integer)', 'The bits that either has.'],
    ['INTBITRIGHTSHIFT', '(integer, count)', 'The bits shifted to the right, with the sign.'],
    ['INTBITXOR', '(integer, integer)', 'The bits that one alone has.'],
    ['INTDIV', '(integer, integer)', 'The quotient without its fraction.'],
    ['INTMOD', '(integer, integer)', 'The remainder, with the sign of the dividend.'],
    ['INTMUL', '(integer, integer)', 'The product of 64-bit integers, exact.'],
    ['INTSUB', '(integer, integer)', 'The difference of 64-bit integers, exact.'],
  ]],
  ['Array and object', [
    ['ARRAY_AVG', '(array)', 'The mean of an array of numbers.'],
    ['ARRAY_CONCAT', '(array, array, …)', 'The arrays joined.'],
    ['ARRAY_CONTAINS', '(array, value [, partial])', 'Whether an element is the value, or has its members. The index finds it.'],
    ['ARRAY_CONTAINS_ALL', '(array, value, …)', 'Whether all the values are elements. The index finds it.'],
    ['ARRAY_CONTAINS_ANY', '(array, value, …)', 'Whether one of the values is an element. The index finds it.'],
    ['ARRAY_LENGTH', '(array)', 'How many elements the array has.'],
    ['ARRAY_MAX', '(array)', 'The largest element.'],
    ['ARRAY_MEDIAN', '(array)', 'The middle of an array of numbers.'],
    ['ARRAY_MIN', '(array)', 'The smallest element.'],
    ['ARRAY_SLICE', '(array, start [, count])', 'Elements from a position; negative ones count from the end.'],
    ['ARRAY_SUM', '(array)', 'The sum of an array of numbers.'],
    ['OBJECTTOARRAY', '(object [, name, value])', 'Members as an array of {"k": name, "v": value}.'],
    ['SETDIFFERENCE', '(array, array)', 'The values of the first that the second lacks.'],
    ['SETEQUAL', '(array, array)', 'Whether both have the same values, in any order.'],
    ['SETINTERSECT', '(array, array)', 'The values that both have.'],
    ['SETUNION', '(array, array)', 'The different values of both.'],
  ]],
  ['Type and choice', [
    ['CHOOSE', '(number, value, …)', 'The value of that number, counted from 1.'],
    ['DOCUMENTID', '(alias)', 'The internal number of the item.'],
    ['IIF', '(condition, value, otherwise)', 'The value if the condition is true, else the other.'],
    ['IS_ARRAY', '(value)', 'Whether it is an array.'],
    ['IS_BOOL', '(value)', 'Whether it is true or false.'],
    ['IS_DATETIME', '(value)', 'Whether it is the text of a date and time.'],
    ['IS_DEFINED', '(value)', 'Whether the property is there; null is.'],
    ['IS_FINITE_NUMBER', '(value)', 'Whether it is a number and finite.'],
    ['IS_INTEGER', '(value)', 'Whether it is an integer of 64 bits.'],
    ['IS_NULL', '(value)', 'Whether it is null.'],
    ['IS_NUMBER', '(value)', 'Whether it is a number.'],
    ['IS_OBJECT', '(value)', 'Whether it is an object.'],
    ['IS_PRIMITIVE', '(value)', 'Whether it is null, a boolean, a number or a text.'],
    ['IS_STRING', '(value)', 'Whether it is a text.'],
  ]],
  ['Date and time', [
    ['AGO', '(part, count)', 'The time of the query, so much earlier.'],
    ['DATETIMEADD', '(part, count, time)', 'The time, so much later; parts: year, month, day, hour, minute, second, …'],
    ['DATETIMEBIN', '(time, part [, size [, origin]])', 'The start of the interval in which the time lies.'],
    ['DATETIMEDIFF', '(part, start, end)', 'How many bounds of the part lie between the times.'],
    ['DATETIMEFORMAT', '(time, pattern)', 'The time written by a pattern of y, M, d, H, h, m, s, f.'],
    ['DATETIMEFROMPARTS', '(year, month, day [, hour, minute, second, ticks])', 'The time of its parts.'],
    ['DATETIMEPART', '(part, time)', 'One part of the time as a number.'],
    ['DATETIMETOTICKS', '(time)', 'Units of 100 nanoseconds since 1970.'],
    ['DATETIMETOTIMESTAMP', '(time)', 'Milliseconds since 1970.'],
    ['DAY', '(time)', 'The day of the month.'],
    ['GETCURRENTDATETIME', '()', 'The time now, read for each row.'],
    ['GETCURRENTDATETIMESTATIC', '()', 'The time of the query; the index can serve a filter by it.'],
    ['GETCURRENTTICKS', '()', 'The time now in units of 100 nanoseconds, read for each row.'],
    ['GETCURRENTTICKSSTATIC', '()', 'The time of the query in units of 100 nanoseconds.'],
    ['GETCURRENTTIMESTAMP', '()', 'The time now in milliseconds, read for each row.'],
    ['GETCURRENTTIMESTAMPSTATIC', '()', 'The time of the query in milliseconds.'],
    ['MONTH', '(time)', 'The month, from 1.'],
    ['NOW', '([part, count])', 'The time of the query, or so much later.'],
    ['TICKSTODATETIME', '(ticks)', 'The time of units of 100 nanoseconds since 1970.'],
    ['TIMESTAMPTODATETIME', '(milliseconds)', 'The time of milliseconds since 1970.'],
    ['YEAR', '(time)', 'The year.'],
  ]],
  ['Shape', [
    ['ST_AREA', '(polygon)', 'The area in square metres.'],
    ['ST_DISTANCE', '(shape, shape)', 'The distance in metres. A spatial index finds what is near.'],
    ['ST_INTERSECTS', '(shape, shape)', 'Whether the shapes meet. A spatial index finds it.'],
    ['ST_ISVALID', '(shape)', 'Whether it is valid GeoJSON.'],
    ['ST_ISVALIDDETAILED', '(shape)', 'Whether it is valid GeoJSON, and why not.'],
    ['ST_WITHIN', '(shape, polygon)', 'Whether the first lies in the second. A spatial index finds it.'],
  ]],
];

export const FUNCTIONS: readonly SqlFunction[] = GROUPS.flatMap(([group, rows]) =>
  rows.map(([name, call, help]) => ({ name, call, help, group })),
);

/** Other spellings that the server takes; they are highlighted and not offered. */
export const SYNONYMS: readonly string[] = [
  'CONTAINSALLCI', 'CONTAINSALLCS', 'CONTAINSANYCI', 'CONTAINSANYCS', 'STRING_EQUALS', 'STRING_JOIN', 'STRING_SPLIT',
  'TO_STRING', 'STRING_TO_ARRAY', 'STRING_TO_BOOLEAN', 'STRING_TO_NULL', 'STRING_TO_NUMBER', 'STRING_TO_OBJECT',
  'INTMULTIPLY', 'INTBITWISEAND', 'INTBITWISEOR', 'INTBITWISEXOR', 'INTBITWISENOT', 'INTBITWISELEFTSHIFT',
  'INTBITWISERIGHTSHIFT', 'SET_DIFFERENCE', 'SET_EQUAL', 'SET_INTERSECT', 'SET_UNION', 'OBJECT_TO_ARRAY',
  'IS_BOOLEAN',
];

export const KEYWORDS: readonly string[] = [
  'ALL', 'AND', 'ARRAY', 'AS', 'ASC', 'BETWEEN', 'BY', 'DESC', 'DISTINCT', 'ESCAPE', 'EXISTS', 'FIRST', 'FROM', 'GROUP',
  'IN', 'JOIN', 'LAST', 'LET', 'LIKE', 'LIMIT', 'NOT', 'OFFSET', 'OR', 'ORDER', 'SELECT', 'TOP', 'VALUE', 'WHERE',
];

/** Words that stand for a value. */
export const CONSTANTS: readonly string[] = ['true', 'false', 'null', 'undefined'];
