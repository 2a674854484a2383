//! The built-in functions: their names, synonyms and argument counts.
//!
//! Not here: what they compute (`call`), aggregates (`aggregate`).

use std::fmt;

/// How many arguments a function takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arity {
    /// The fewest.
    pub min: usize,
    /// The most; `None` where there is no bound.
    pub max: Option<usize>,
}

impl Arity {
    /// Says whether a call with that many arguments is legal.
    pub fn admits(self, count: usize) -> bool {
        count >= self.min && self.max.is_none_or(|max| count <= max)
    }
}

impl fmt::Display for Arity {
    /// Writes the count as the service's message has it: `2`, `2 to 3`, `at least 2`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.max {
            None => write!(formatter, "at least {}", self.min),
            Some(max) if max == self.min => write!(formatter, "{max}"),
            Some(max) => write!(formatter, "{} to {max}", self.min),
        }
    }
}

macro_rules! functions {
    ($($variant:ident $name:literal $(| $synonym:literal)* ($min:literal $(.. $max:literal)? $(, $many:ident)?);)*) => {
        /// A built-in function.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Function {
            $(#[doc = concat!("The function ", $name, ".")] $variant,)*
        }

        impl Function {
            /// Every function.
            pub const ALL: &[Function] = &[$(Function::$variant),*];

            /// Returns the name, in capitals.
            pub fn name(self) -> &'static str {
                match self { $(Function::$variant => $name,)* }
            }

            /// Returns how many arguments it takes.
            pub fn arity(self) -> Arity {
                match self {
                    $(Function::$variant => arity!($min $(.. $max)? $(, $many)?),)*
                }
            }

            /// Returns the other spellings of the name.
            pub fn synonyms(self) -> &'static [&'static str] {
                match self { $(Function::$variant => &[$($synonym),*],)* }
            }
        }
    };
}

macro_rules! arity {
    ($min:literal) => {
        Arity { min: $min, max: Some($min) }
    };
    ($min:literal .. $max:literal) => {
        Arity { min: $min, max: Some($max) }
    };
    ($min:literal, many) => {
        Arity { min: $min, max: None }
    };
}

functions! {
    // Strings.
    Concat "CONCAT" (2, many);
    Contains "CONTAINS" (2..3);
    ContainsAllCi "CONTAINS_ALL_CI" | "CONTAINSALLCI" (2, many);
    ContainsAllCs "CONTAINS_ALL_CS" | "CONTAINSALLCS" (2, many);
    ContainsAnyCi "CONTAINS_ANY_CI" | "CONTAINSANYCI" (2, many);
    ContainsAnyCs "CONTAINS_ANY_CS" | "CONTAINSANYCS" (2, many);
    EndsWith "ENDSWITH" (2..3);
    StartsWith "STARTSWITH" (2..3);
    StringEquals "STRINGEQUALS" | "STRING_EQUALS" (2..3);
    IndexOf "INDEX_OF" (2..3);
    LastIndexOf "LASTINDEXOF" (2..3);
    Left "LEFT" (2);
    Right "RIGHT" (2);
    Length "LENGTH" (1);
    Lower "LOWER" (1);
    Upper "UPPER" (1);
    LTrim "LTRIM" (1..2);
    RTrim "RTRIM" (1..2);
    Trim "TRIM" (1..2);
    RegexMatch "REGEXMATCH" (2..3);
    Replace "REPLACE" (3);
    Replicate "REPLICATE" (2);
    Reverse "REVERSE" (1);
    StringJoin "STRINGJOIN" | "STRING_JOIN" (2);
    StringSplit "STRINGSPLIT" | "STRING_SPLIT" (2);
    Substring "SUBSTRING" (3);
    ToString "TOSTRING" | "TO_STRING" (1);
    StringToArray "STRINGTOARRAY" | "STRING_TO_ARRAY" (1);
    StringToBoolean "STRINGTOBOOLEAN" | "STRING_TO_BOOLEAN" (1);
    StringToNull "STRINGTONULL" | "STRING_TO_NULL" (1);
    StringToNumber "STRINGTONUMBER" | "STRING_TO_NUMBER" (1);
    StringToObject "STRINGTOOBJECT" | "STRING_TO_OBJECT" (1);

    // Doubles.
    Abs "ABS" (1);
    Acos "ACOS" (1);
    Asin "ASIN" (1);
    Atan "ATAN" (1);
    Atn2 "ATN2" (2);
    Ceiling "CEILING" (1);
    Cos "COS" (1);
    Cot "COT" (1);
    Degrees "DEGREES" (1);
    Exp "EXP" (1);
    Floor "FLOOR" (1);
    Log "LOG" (1..2);
    Log10 "LOG10" (1);
    NumberBin "NUMBERBIN" (1..2);
    Pi "PI" (0);
    Power "POWER" (2);
    Radians "RADIANS" (1);
    Rand "RAND" (0);
    Round "ROUND" (1);
    Sign "SIGN" (1);
    Sin "SIN" (1);
    Sqrt "SQRT" (1);
    Square "SQUARE" (1);
    Tan "TAN" (1);
    Trunc "TRUNC" (1);

    // Integers.
    IntAdd "INTADD" (2);
    IntSub "INTSUB" (2);
    IntMul "INTMUL" | "INTMULTIPLY" (2);
    IntDiv "INTDIV" (2);
    IntMod "INTMOD" (2);
    IntBitAnd "INTBITAND" | "INTBITWISEAND" (2);
    IntBitOr "INTBITOR" | "INTBITWISEOR" (2);
    IntBitXor "INTBITXOR" | "INTBITWISEXOR" (2);
    IntBitNot "INTBITNOT" | "INTBITWISENOT" (1);
    IntBitLeftShift "INTBITLEFTSHIFT" | "INTBITWISELEFTSHIFT" (2);
    IntBitRightShift "INTBITRIGHTSHIFT" | "INTBITWISERIGHTSHIFT" (2);

    // Arrays, sets and objects.
    ArrayAvg "ARRAY_AVG" (1);
    ArrayConcat "ARRAY_CONCAT" (2, many);
    ArrayContains "ARRAY_CONTAINS" (2..3);
    ArrayContainsAll "ARRAY_CONTAINS_ALL" (2, many);
    ArrayContainsAny "ARRAY_CONTAINS_ANY" (2, many);
    ArrayLength "ARRAY_LENGTH" (1);
    ArrayMax "ARRAY_MAX" (1);
    ArrayMedian "ARRAY_MEDIAN" (1);
    ArrayMin "ARRAY_MIN" (1);
    ArraySlice "ARRAY_SLICE" (2..3);
    ArraySum "ARRAY_SUM" (1);
    SetDifference "SETDIFFERENCE" | "SET_DIFFERENCE" (2);
    SetEqual "SETEQUAL" | "SET_EQUAL" (2);
    SetIntersect "SETINTERSECT" | "SET_INTERSECT" (2);
    SetUnion "SETUNION" | "SET_UNION" (2);
    ObjectToArray "OBJECTTOARRAY" | "OBJECT_TO_ARRAY" (1..3);

    // Types, choice, items.
    IsArray "IS_ARRAY" (1);
    IsBool "IS_BOOL" | "IS_BOOLEAN" (1);
    IsDateTime "IS_DATETIME" (1);
    IsDefined "IS_DEFINED" (1);
    IsFiniteNumber "IS_FINITE_NUMBER" (1);
    IsInteger "IS_INTEGER" (1);
    IsNull "IS_NULL" (1);
    IsNumber "IS_NUMBER" (1);
    IsObject "IS_OBJECT" (1);
    IsPrimitive "IS_PRIMITIVE" (1);
    IsString "IS_STRING" (1);
    Iif "IIF" (3);
    Choose "CHOOSE" (2, many);
    DocumentId "DOCUMENTID" (1);

    // Dates and times.
    Ago "AGO" (2);
    DateTimeAdd "DATETIMEADD" (3);
    DateTimeBin "DATETIMEBIN" (2..4);
    DateTimeDiff "DATETIMEDIFF" (3);
    DateTimeFormat "DATETIMEFORMAT" (2);
    DateTimeFromParts "DATETIMEFROMPARTS" (3..7);
    DateTimePart "DATETIMEPART" (2);
    DateTimeToTicks "DATETIMETOTICKS" (1);
    DateTimeToTimestamp "DATETIMETOTIMESTAMP" (1);
    Day "DAY" (1);
    GetCurrentDateTime "GETCURRENTDATETIME" (0);
    GetCurrentDateTimeStatic "GETCURRENTDATETIMESTATIC" (0);
    GetCurrentTicks "GETCURRENTTICKS" (0);
    GetCurrentTicksStatic "GETCURRENTTICKSSTATIC" (0);
    GetCurrentTimestamp "GETCURRENTTIMESTAMP" (0);
    GetCurrentTimestampStatic "GETCURRENTTIMESTAMPSTATIC" (0);
    Month "MONTH" (1);
    Now "NOW" (0..2);
    TicksToDateTime "TICKSTODATETIME" (1);
    TimestampToDateTime "TIMESTAMPTODATETIME" (1);
    Year "YEAR" (1);

    // Shapes.
    StArea "ST_AREA" (1);
    StDistance "ST_DISTANCE" (2);
    StIntersects "ST_INTERSECTS" (2);
    StIsValid "ST_ISVALID" (1);
    StIsValidDetailed "ST_ISVALIDDETAILED" (1);
    StWithin "ST_WITHIN" (2);

    // Text and vector search.
    FullTextContains "FULLTEXTCONTAINS" | "FULLTEXT_CONTAINS" (2);
    FullTextContainsAll "FULLTEXTCONTAINSALL" | "FULLTEXT_CONTAINS_ALL" (2, many);
    FullTextContainsAny "FULLTEXTCONTAINSANY" | "FULLTEXT_CONTAINS_ANY" (2, many);
    FullTextScore "FULLTEXTSCORE" (2, many);
    Rrf "RRF" (2, many);
    VectorDistance "VECTORDISTANCE" (2..4);
}

impl Function {
    /// Finds a function by name or synonym, in any letter case.
    pub fn find(name: &str) -> Option<Function> {
        let matches = |own: &str| own.eq_ignore_ascii_case(name);
        Function::ALL
            .iter()
            .copied()
            .find(|function| matches(function.name()) || function.synonyms().iter().any(|own| matches(own)))
    }

    /// Says whether the same arguments give the same result throughout one query.
    ///
    /// The `STATIC` forms of the clock functions, NOW and AGO read the time at which the query started.
    pub fn is_deterministic(self) -> bool {
        !matches!(
            self,
            Function::Rand
                | Function::GetCurrentDateTime
                | Function::GetCurrentTicks
                | Function::GetCurrentTimestamp
        )
    }

    /// Says whether the result depends on when the query runs, so that it may not be stored or indexed, nor
    /// computed before the query runs.
    pub fn is_volatile(self) -> bool {
        !self.is_deterministic()
            || matches!(
                self,
                Function::Ago
                    | Function::Now
                    | Function::GetCurrentDateTimeStatic
                    | Function::GetCurrentTicksStatic
                    | Function::GetCurrentTimestampStatic
            )
    }

    /// Says whether this is one of the functions over shapes.
    pub fn is_spatial(self) -> bool {
        matches!(
            self,
            Function::StArea
                | Function::StDistance
                | Function::StIntersects
                | Function::StIsValid
                | Function::StIsValidDetailed
                | Function::StWithin
        )
    }

    /// Says whether a query may use it; text and vector search are known by name only.
    pub fn is_supported(self) -> bool {
        !matches!(
            self,
            Function::FullTextContains
                | Function::FullTextContainsAll
                | Function::FullTextContainsAny
                | Function::FullTextScore
                | Function::Rrf
                | Function::VectorDistance
        )
    }
}

#[cfg(test)]
#[path = "function_tests.rs"]
mod tests;
