// Bounds on the functions of arrays that never ask for the time inside: their loops run as far as `length` says, and
// that may be anything. No array that fits into memory is longer than the bound.
function install() {
  'use strict';

  const { apply } = Reflect, { isArray } = Array, arrays = Array.prototype, Refusal = RangeError;
  const spreadable = Symbol.isConcatSpreadable;

  const check = (array) => {
    if (array !== undefined && array !== null && array.length > ARRAY_LENGTH_MAX) throw new Refusal('the array is too long');
  };
  const guarded = (original) => function () {
    check(this);
    return apply(original, this, arguments);
  };
  arrays.copyWithin = guarded(arrays.copyWithin);
  arrays.fill = guarded(arrays.fill);
  arrays.flat = guarded(arrays.flat);
  arrays.flatMap = guarded(arrays.flatMap);
  arrays.join = guarded(arrays.join);
  arrays.reverse = guarded(arrays.reverse);
  arrays.shift = guarded(arrays.shift);
  arrays.slice = guarded(arrays.slice);
  arrays.sort = guarded(arrays.sort);
  arrays.splice = guarded(arrays.splice);
  arrays.toLocaleString = guarded(arrays.toLocaleString);
  arrays.toReversed = guarded(arrays.toReversed);
  arrays.toSorted = guarded(arrays.toSorted);
  arrays.toSpliced = guarded(arrays.toSpliced);
  arrays.unshift = guarded(arrays.unshift);
  arrays.with = guarded(arrays.with);

  const { concat } = arrays;
  arrays.concat = function () {
    check(this);
    for (let i = 0; i < arguments.length; i++) {
      const given = arguments[i];
      if (isArray(given) || typeof given === 'object' && given !== null && given[spreadable]) check(given);
    }
    return apply(concat, this, arguments);
  };
}
