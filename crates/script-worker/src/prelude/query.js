// The integrated query: filter, map, pluck, flatten, sortBy, sortByDescending, unwind, alone or in a chain.
//
// It runs in JavaScript over pages of documents. An order needs all documents, so a chain that sorts reads every page
// before it gives the first, and its continuations say how many results were given.
function install(core) {
  'use strict';

  const { bad, host, isFull, take, refused, enqueue, responseOptions, pageSizeOption, textOption, readFeed } = core;
  const { isArray } = Array;
  const { freeze } = Object;

  const accepted = () => ({ isAccepted: true, options: {} });
  const notAccepted = () => ({ isAccepted: false, options: {} });

  function checkPredicate(predicate) {
    if (typeof predicate !== 'function') throw bad('The predicate/transform function must be provided.');
  }

  // -- The steps: each makes a function from results to results.
  function defined(values) {
    const kept = [];
    for (let i = 0; i < values.length; i++) if (values[i] !== undefined) kept.push(values[i]);
    return kept;
  }

  function flattened(values, isShallow, into) {
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (isArray(value)) {
        if (isShallow) for (let j = 0; j < value.length; j++) into.push(value[j]);
        else flattened(value, false, into);
      } else {
        into.push(value);
      }
    }
    return into;
  }

  // The order of values of different types is that of ORDER BY.
  const RANKS = { undefined: 0, boolean: 2, number: 4, string: 5 };
  function rank(value) {
    if (value === null) return 1;
    if (isArray(value)) return 6;
    const known = RANKS[typeof value];
    return known === undefined ? 7 : known;
  }

  function compare(a, b) {
    const left = rank(a), right = rank(b);
    if (left !== right) return left - right;
    if (left === 0 || left === 1 || left > 5) return 0;
    return a < b ? -1 : a > b ? 1 : 0;
  }

  function sorted(values, key, direction) {
    const pairs = [];
    for (let i = 0; i < values.length; i++) {
      const by = key(values[i]);
      // What has no key is not in the result, as with ORDER BY an index that does not hold it.
      if (by !== undefined) pairs.push({ by, at: i, value: values[i] });
    }
    pairs.sort((a, b) => direction * compare(a.by, b.by) || a.at - b.at);
    return pairs.map((pair) => pair.value);
  }

  const steps = {
    filter(predicate) {
      checkPredicate(predicate);
      return { used: 1, run: (values) => values.filter((value) => predicate(value)) };
    },
    map(transform) {
      checkPredicate(transform);
      return { used: 1, run: (values) => defined(values.map((value) => transform(value))) };
    },
    pluck(name) {
      if (typeof name !== 'string' || name === '') {
        throw bad('The property name must be a string and cannot be empty.');
      }
      const pick = (value) => (value === undefined || value === null ? undefined : value[name]);
      return { used: 1, run: (values) => defined(values.map(pick)) };
    },
    flatten(shallow) {
      const isGiven = typeof shallow === 'boolean';
      return { used: isGiven ? 1 : 0, run: (values) => flattened(values, isGiven && shallow, []) };
    },
    sortBy(key) {
      checkPredicate(key);
      return { used: 1, isSorting: true, run: (values) => sorted(values, key, 1) };
    },
    sortByDescending(key) {
      checkPredicate(key);
      return { used: 1, isSorting: true, run: (values) => sorted(values, key, -1) };
    },
    unwind(collectionSelector, resultSelector) {
      if (collectionSelector === undefined) throw bad('When using "unwind", "collectionSelector" must be used.');
      if (typeof collectionSelector !== 'function') {
        throw bad('When using "unwind", "collectionSelector" must be a function.');
      }
      if (collectionSelector.length !== 1) throw bad('"collectionSelector" requires one argument.');
      // With all four arguments the second is a result selector, even if there is none.
      const isSelecting = typeof resultSelector === 'function';
      if (isSelecting && resultSelector.length < 2) throw bad('"resultSelector" requires two arguments.');
      const run = (values) => {
        const results = [];
        for (let i = 0; i < values.length; i++) {
          const inner = collectionSelector(values[i]);
          if (!isArray(inner)) continue;
          for (let j = 0; j < inner.length; j++) {
            results.push(isSelecting ? resultSelector(values[i], inner[j]) : inner[j]);
          }
        }
        return isSelecting ? defined(results) : flattened(results, false, []);
      };
      return { used: isSelecting || arguments.length > 3 ? 2 : 1, run };
    },
  };

  // -- Execution.
  // Reads the pages that a query needs. Gives what `readFeed` gives, and where the next page begins.
  function readPages(isSorting, pageSize, continuation) {
    if (!isSorting) {
      const documents = readFeed(undefined, undefined, pageSize, continuation, true);
      return { documents, rest: typeof documents === 'object' ? host(CONTINUATION) : undefined };
    }
    let all = [], from;
    do {
      const page = readFeed(undefined, undefined, undefined, from, true);
      if (typeof page !== 'object') return { documents: page };
      all = all.length === 0 ? page : all.concat(page);
      from = host(CONTINUATION);
    } while (from !== undefined);
    return { documents: all };
  }

  function skipOf(continuation) {
    if (continuation === undefined) return 0;
    const skip = Number(continuation);
    if (!Number.isInteger(skip) || skip < 0) throw bad('The continuation is not one of this query.');
    return skip;
  }

  function execute(pipeline, optionsGiven, callbackGiven) {
    take(optionsGiven, callbackGiven);
    const { callback } = core.given();
    if (callback === undefined && core.appendPage === undefined) {
      throw bad('The callback function must be provided for scenarios, such as pre-trigger, '
        + 'when response object is not available.');
    }
    const pageSize = pageSizeOption(), continuation = textOption('continuation');
    const isSorting = pipeline.some((step) => step.isSorting === true);
    const skip = isSorting ? skipOf(continuation) : 0;
    if (isFull()) return notAccepted();
    const read = readPages(isSorting, pageSize, continuation);
    if (read.documents === false) return notAccepted();
    if (typeof read.documents === 'number') {
      enqueue(callback, refused(read.documents));
      return accepted();
    }
    let results = read.documents, rest = read.rest;
    for (const step of pipeline) results = step.run(results);
    if (isSorting) {
      const end = pageSize === undefined ? results.length : skip + pageSize;
      if (end < results.length) rest = String(end);
      results = results.slice(skip, end);
    }
    if (callback === undefined) {
      core.appendPage(results);
    } else {
      const feedOptions = responseOptions(200);
      if (rest !== undefined) feedOptions.continuation = rest;
      enqueue(callback, undefined, results, feedOptions);
    }
    const response = accepted();
    if (rest !== undefined) response.options.continuation = rest;
    return response;
  }

  function chained(pipeline) {
    const link = { isAccepted: true };
    for (const name in steps) {
      link[name] = (...given) => {
        const step = steps[name](...given);
        for (let i = step.used; i < given.length; i++) {
          if (typeof given[i] === 'function') {
            throw bad('When using "chain", the callback parameter can only be provided on the "value" function.');
          }
          if (given[i] !== undefined) {
            throw bad('When using "chain", options can only be provided on the call to the "value" function.');
          }
        }
        return chained([...pipeline, step]);
      };
    }
    link.value = (optionsGiven, callbackGiven) => execute(pipeline, optionsGiven, callbackGiven);
    return link;
  }

  // Geometry is the query language's, and is asked for as a query that looks at no document.
  const spatial = {};
  for (const [name, count] of [['distance', 2], ['intersects', 2], ['within', 2], ['isValid', 1], ['isValidDetailed', 1]]) {
    spatial[name] = (...given) => {
      const names = [], parameters = [];
      for (let i = 0; i < count; i++) {
        names.push(`@p${i}`);
        parameters.push({ name: names[i], value: given[i] === undefined ? null : given[i] });
      }
      const text = `SELECT VALUE ST_${name.toUpperCase()}(${names.join(', ')})`;
      const found = readFeed(text, JSON.stringify(parameters), undefined, undefined, true);
      if (found === false) throw bad(`There is no time or budget left for "spatial.${name}".`);
      if (typeof found === 'number') throw refused(found);
      return found[0];
    };
  }

  const methods = { spatial: freeze(spatial), chain: () => chained([]) };
  for (const name in steps) {
    methods[name] = (...given) => {
      const step = steps[name](...given);
      return execute([step], given[step.used], given[step.used + 1]);
    };
  }
  return methods;
}
