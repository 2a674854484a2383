"""COMPAT.md of the MongoDB API: the cases that its rows name are there, and what the reference has is a row."""

import importlib
import re

import pytest

from server import REPOSITORY

COMPAT = REPOSITORY / "crates" / "api-mongo" / "COMPAT.md"

# The operators, stages and expressions of server 7.0 that drivers and their documentation know.
NAMES = {
    "Queries": "$eq $ne $gt $gte $lt $lte $in $nin $and $or $nor $not $exists $type $regex $options $mod $expr $jsonSchema $text $where $all $elemMatch $size $bitsAllSet $bitsAnySet $bitsAllClear $bitsAnyClear $geoWithin $geoIntersects $near $nearSphere $geometry $minDistance $maxDistance $box $center $centerSphere $polygon $comment $rand $alwaysTrue $alwaysFalse $sampleRate",
    "Updates": "$set $unset $setOnInsert $inc $mul $min $max $rename $currentDate $push $each $position $sort $slice $addToSet $pop $pull $pullAll $bit $[]",
    "Stages": "$match $project $addFields $set $unset $group $sort $limit $skip $count $unwind $lookup $replaceRoot $replaceWith $facet $sample $sortByCount $bucket $bucketAuto $out $merge $unionWith $redact $changeStream $collStats $indexStats $currentOp $documents $listLocalSessions $listSessions $graphLookup $setWindowFields $densify $fill $geoNear $planCacheStats $changeStreamSplitLargeEvent",
    "Expressions": "$literal $cond $ifNull $switch $let $eq $ne $gt $gte $lt $lte $cmp $and $or $not $add $subtract $multiply $divide $mod $abs $ceil $floor $round $trunc $concat $toLower $toUpper $substrCP $substrBytes $strLenCP $strLenBytes $split $trim $ltrim $rtrim $size $arrayElemAt $first $last $slice $in $indexOfArray $concatArrays $isArray $filter $map $reduce $range $reverseArray $mergeObjects $objectToArray $arrayToObject $type $isNumber $convert $toString $toInt $toLong $toDouble $toDecimal $toBool $toDate $toObjectId $year $month $dayOfMonth $hour $minute $second $millisecond $dayOfWeek $dayOfYear $week $isoWeek $isoWeekYear $isoDayOfWeek $dateToString $dateFromString $dateToParts $dateFromParts $dateAdd $dateSubtract $dateDiff $dateTrunc $regexFind $regexFindAll $regexMatch $replaceOne $replaceAll $strcasecmp $indexOfBytes $indexOfCP $pow $sqrt $exp $ln $log $log10 $setUnion $setIntersection $setDifference $setEquals $setIsSubset $anyElementTrue $allElementsTrue $zip $sortArray $firstN $lastN $maxN $minN $getField $setField $unsetField $bsonSize $binarySize $rand $bitAnd $bitOr $bitXor $bitNot $sin $cos $tan $asin $acos $atan $atan2 $sinh $cosh $tanh $asinh $acosh $atanh $degreesToRadians $radiansToDegrees $tsSecond $tsIncrement $toHashedIndexKey $median $percentile $meta $function $accumulator $substr $$ROOT $$CURRENT $$REMOVE $$NOW $$CLUSTER_TIME $$KEEP $$PRUNE $$DESCEND $$USER_ROLES $$SEARCH_META",
    "Accumulators": "$sum $avg $min $max $first $last $push $addToSet $count $stdDevPop $stdDevSamp $mergeObjects $top $topN $bottom $bottomN $firstN $lastN $maxN $minN $median $percentile",
    "Window functions": "$rank $denseRank $documentNumber $shift $derivative $integral $expMovingAvg $linearFill $locf $covariancePop $covarianceSamp",
}  # fmt: skip


def rows() -> dict[str, list[list[str]]]:
    """Returns the cells of the rows by heading."""
    found: dict[str, list[list[str]]] = {}
    heading = ""
    for line in COMPAT.read_text().splitlines():
        if line.startswith("#"):
            heading = line.strip("# ")
        elif line.startswith("| ") and not line.startswith("| Feature"):
            found.setdefault(heading, []).append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    return found


@pytest.mark.parametrize("heading", NAMES)
def test_each_name_has_a_row(heading):
    named = {name for row in rows()[heading] for name in re.findall(r"`(\$[^`]+)`", row[0])}
    assert set(NAMES[heading].split()) - named == set()


def test_each_row_names_a_case():
    named = re.findall(r"`(test_mongo_\w+)\.py::(\w+)\[([^`]*)\]`", COMPAT.read_text())
    assert len(named) > 500
    cases: dict[tuple[str, str], set[str]] = {}
    for module, test, _ in named:
        if (module, test) not in cases:
            function = getattr(importlib.import_module(module), test)
            (marked,) = [mark for mark in function.pytestmark if mark.name == "parametrize"]
            cases[module, test] = {str(case) for case in marked.args[1]}
    missing = [f"{module}.py::{test}[{case}]" for module, test, case in named if case not in cases[module, test]]
    assert missing == []


def test_the_tables_have_no_row_twice():
    for heading, found in rows().items():
        features = [row[0] for row in found]
        assert sorted(features) == sorted(set(features)), heading
