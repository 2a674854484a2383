// What scripts find in their global scope: getContext, __, ErrorCodes, console, and an Error and a Date of our own.
//
// `host` is the one native function: host(OPERATION, ...). An operation on a document gives false if it was not
// accepted; what became of it comes into `replies`, when there is reason to know. A query gives false if it was not
// accepted, a number if it was refused (host(MESSAGE) says why then), and otherwise its result. Names in capitals
// are constants of the operations and limits, whose values prelude.rs puts in their places. Scripts can change
// prototypes, so this text keeps the functions it needs; what it does not keep, a script can break for itself alone.
//
// This runs long before the script, and an interpreter that is put back is as it was right after it: whatever differs
// from one execution to the next is asked for in `begin` or later.
function install(host, role) {
  'use strict';

  const { stringify, parse } = JSON;
  const { apply, construct } = Reflect;
  const { assign, create, defineProperties, defineProperty, freeze, getOwnPropertyDescriptors, setPrototypeOf } = Object;
  const { isArray } = Array;
  const global = globalThis;

  const ErrorCodes = freeze({
    BadRequest: 400, Forbidden: 403, NotFound: 404, Conflict: 409, PreconditionFailed: 412,
    RequestEntityTooLarge: 413, RetryWith: 449, InternalServerError: 500,
  });

  // Takes the place of a constructor, with all that hangs on it.
  function replace(name, original, replacement) {
    defineProperties(replacement, getOwnPropertyDescriptors(original));
    defineProperty(original.prototype, 'constructor', { value: replacement });
    defineProperty(global, name, { value: replacement });
  }

  // new Error(number, message), besides all that Error always took.
  const OriginalError = Error, { captureStackTrace } = Error;
  function NumberedError(first, second) {
    const isNumbered = typeof first === 'number' && arguments.length > 1;
    const error = construct(OriginalError, isNumbered ? [second] : arguments, new.target || NumberedError);
    if (isNumbered) error.number = first;
    captureStackTrace(error, NumberedError);
    return error;
  }
  replace('Error', OriginalError, NumberedError);
  setPrototypeOf(EvalError, NumberedError);
  setPrototypeOf(RangeError, NumberedError);
  setPrototypeOf(ReferenceError, NumberedError);
  setPrototypeOf(SyntaxError, NumberedError);
  setPrototypeOf(TypeError, NumberedError);
  setPrototypeOf(URIError, NumberedError);
  setPrototypeOf(AggregateError, NumberedError);
  if (typeof InternalError === 'function') setPrototypeOf(InternalError, NumberedError);
  if (typeof SuppressedError === 'function') setPrototypeOf(SuppressedError, NumberedError);

  // Time and chance are the collection's, so that an execution can be repeated.
  const OriginalDate = Date, dateText = Date.prototype.toString;
  function CollectionDate() {
    if (new.target === undefined) return apply(dateText, new OriginalDate(host(NOW)), []);
    return construct(OriginalDate, arguments.length === 0 ? [host(NOW)] : arguments, new.target);
  }
  replace('Date', OriginalDate, CollectionDate);
  defineProperty(CollectionDate, 'now', { value: { now: () => host(NOW) }.now });
  defineProperty(Math, 'random', { value: { random: () => host(RANDOM) }.random });

  const fail = (number, message) => new NumberedError(number, message);
  const bad = (message) => new NumberedError(400, message);

  // -- The callbacks that wait, in their order. Each is four entries: function, error, result, options. Those of
  // operations on documents, whose results are still to come, have `toCome` as their result and the status code of
  // success in the place of options.
  let waiting = [], head = 0, isAborted = false, abortReason;
  const toCome = {};

  // What became of operations on documents, in their order. Each is two entries: a number if it was refused, and
  // otherwise its result; then why it was refused, or whether an upsert created.
  let replies = [], replied = 0;

  function enqueue(callback, error, result, options) {
    waiting[waiting.length] = callback;
    waiting[waiting.length] = error;
    waiting[waiting.length] = result;
    waiting[waiting.length] = options;
  }

  function next() {
    for (;;) {
      if (head === waiting.length) return false;
      const callback = waiting[head], error = waiting[head + 1], result = waiting[head + 2], options = waiting[head + 3];
      if (result === toCome && replied === replies.length) {
        replies = [];
        replied = 0;
        host(SEND, replies);
      }
      waiting[head] = waiting[head + 1] = waiting[head + 2] = waiting[head + 3] = undefined;
      head += 4;
      if (head === waiting.length) {
        waiting = [];
        head = 0;
      }
      if (result === toCome) {
        if (callDocument(callback, options)) return true;
      } else {
        if (callback === undefined) throw error;
        if (error !== undefined) callback(error);
        else callback(undefined, result, options);
        return true;
      }
    }
  }

  // Calls the callback of the operation whose reply is next, if it has one.
  function callDocument(callback, statusCode) {
    const outcome = replies[replied], detail = replies[replied + 1];
    replies[replied] = replies[replied + 1] = undefined;
    replied += 2;
    if (typeof outcome === 'number') {
      const error = refusal(outcome, detail);
      if (callback === undefined) throw error;
      callback(error);
      return true;
    }
    if (callback === undefined) return false;
    const options = responseOptions(outcome === null ? 304 : detail === false ? 200 : statusCode);
    options.notModified = outcome === null;
    if (outcome === true) callback(undefined, options);
    else callback(undefined, outcome === null ? undefined : outcome, options);
    return true;
  }

  // Takes note of an operation on a document, which gives this status code if all goes well; returns whether it was
  // accepted.
  function begun(isAccepted, callback, statusCode) {
    if (isAccepted) enqueue(callback, undefined, toCome, statusCode);
    return isAccepted;
  }

  const isFull = () => isAborted || waiting.length - head >= 4 * CALLBACKS_MAX;

  // Made without a stack of its own choosing, which takes the longest of it: nothing of the script is on it.
  function refusal(number, message) {
    const error = construct(OriginalError, [message], NumberedError);
    error.number = number;
    error.body = message;
    return error;
  }

  const refused = (number) => refusal(number, host(MESSAGE));

  let currentSize, maxSize;
  function responseOptions(statusCode) {
    if (maxSize === undefined) {
      currentSize = host(CURRENT_MB);
      maxSize = host(MAX_MB);
    }
    return { statusCode, currentCollectionSizeInMB: currentSize, maxCollectionSizeInMB: maxSize };
  }

  // -- Arguments.
  let options, callback;
  const noOptions = freeze(create(null));

  function atLeast(count, given, name) {
    if (given < count) {
      throw bad(`The function "${name}" requires at least ${count} argument(s) but was called with ${given} argument(s).`);
    }
  }

  function take(optionsGiven, callbackGiven) {
    if (typeof optionsGiven === 'function' && callbackGiven === undefined) {
      options = noOptions;
      callback = optionsGiven;
      return;
    }
    if (optionsGiven === undefined || optionsGiven === null) options = noOptions;
    else if (typeof optionsGiven === 'object') options = optionsGiven;
    else throw bad(`The "options" parameter must be of type "object". Actual type is: "${typeof optionsGiven}".`);
    if (callbackGiven === undefined || callbackGiven === null) callback = undefined;
    else if (typeof callbackGiven === 'function') callback = callbackGiven;
    else throw bad(`The "callback" parameter must be of type "function". Actual type is: "${typeof callbackGiven}".`);
  }

  function textOption(name) {
    if (options === noOptions) return undefined;
    const value = options[name];
    if (value === undefined || value === null || value === '') return undefined;
    if (typeof value !== 'string') throw bad(`The "${name}" option must be of type "string". Actual type is: "${typeof value}".`);
    return value;
  }

  function checkIndexAction() {
    const action = textOption('indexAction');
    if (action !== undefined && action !== 'default' && action !== 'include' && action !== 'exclude') {
      throw bad(`The "indexAction" option must be "default", "include" or "exclude". Actual value is: "${action}".`);
    }
  }

  // -- Links.
  let selfLink, altLink, selfDocuments, altDocuments, selfDatabase, selfCollection, altDatabase, altCollection;
  function learnLinks() {
    selfLink = host(SELF_LINK);
    altLink = host(ALT_LINK);
    selfDocuments = `${selfLink}docs/`;
    altDocuments = `${altLink}/docs/`;
    [, selfDatabase, , selfCollection] = selfLink.split('/');
    [, altDatabase, , altCollection] = altLink.split('/');
  }

  // Splits a link into its segments; undefined if it has not this many, or other names in between.
  function segmentsOf(link, count) {
    if (typeof link !== 'string') return undefined;
    const segments = link.split('/');
    if (segments.length === count + 1 && segments[count] === '') segments.length = count;
    const isLink = segments.length === count && segments[0].toLowerCase() === 'dbs'
      && segments[2].toLowerCase() === 'colls' && (count === 4 || segments[4].toLowerCase() === 'docs' && segments[5] !== '');
    return isLink ? segments : undefined;
  }

  // Says whether a link of the collection names things by their resource ids.
  function isByRid(link, segments) {
    if (segments[1] === selfDatabase && segments[3] === selfCollection) return true;
    if (segments[1] === altDatabase && segments[3] === altCollection) return false;
    throw bad('Function is not allowed to operate on resources outside current collection. '
      + `Make sure that the link provided, "${link}", belongs to current collection.`);
  }

  function checkCollection(link) {
    if (link === selfLink || link === altLink) return;
    const segments = segmentsOf(link, 4);
    if (segments === undefined) throw bad(`Invalid collection link: "${String(link)}".`);
    isByRid(link, segments);
  }

  // Finds the document that a link names: its id or resource id, and which of both in `byRid`.
  let byRid;
  function documentName(link) {
    if (typeof link === 'string') {
      // Nearly every link is one that the collection or a document gave.
      byRid = link.startsWith(selfDocuments);
      if (byRid || link.startsWith(altDocuments)) {
        const start = byRid ? selfDocuments.length : altDocuments.length, end = link.indexOf('/', start);
        if (end === -1 && start < link.length) return link.slice(start);
        if (end > start && end === link.length - 1) return link.slice(start, end);
      }
    }
    const segments = segmentsOf(link, 6);
    if (segments === undefined) throw bad(`Invalid document link: "${String(link)}".`);
    byRid = isByRid(link, segments);
    return segments[5];
  }

  // -- Documents.
  function checkBody(body) {
    if (typeof body === 'object' ? body === null : typeof body !== 'string') {
      throw bad('The document body must be an object or a string representing a JSON-serialized object.');
    }
  }

  function parseBody(text) {
    let body;
    try {
      body = parse(text);
    } catch (error) {
      throw bad(`The document body is not valid JSON: ${error.message}`);
    }
    if (typeof body !== 'object' || body === null) {
      throw bad('The document body must be an object or a string representing a JSON-serialized object.');
    }
    return body;
  }

  // Gives a document an id if it has none, on a copy: the caller's object stays as it is.
  function withId(body) {
    const object = typeof body === 'string' ? parseBody(body) : body;
    if (object.id || options.disableAutomaticIdGeneration === true) return body;
    const copy = assign({}, object);
    copy.id = host(GUID);
    return copy;
  }

  function readFeed(text, parameters, pageSize, continuation, isWanted) {
    return host(QUERY, replies, text, parameters, pageSize, continuation, isWanted);
  }

  function pageSizeOption() {
    const pageSize = options.pageSize;
    if (pageSize === undefined || pageSize === null || pageSize === 0) return PAGE_SIZE_DEFAULT;
    if (pageSize === -1) return undefined;
    if (typeof pageSize !== 'number' || !(pageSize >= 1)) {
      throw bad(`The "pageSize" option must be -1 or a number from 1 on. Actual value is: "${String(pageSize)}".`);
    }
    return pageSize;
  }

  function feed(text, parameters) {
    const pageSize = pageSizeOption(), continuation = textOption('continuation');
    if (isFull()) return false;
    const result = readFeed(text, parameters, pageSize, continuation, callback !== undefined);
    if (result === false) return false;
    if (typeof result === 'number') enqueue(callback, refused(result));
    if (typeof result !== 'object') return true;
    const feedOptions = responseOptions(200), rest = host(CONTINUATION);
    if (rest !== undefined) feedOptions.continuation = rest;
    enqueue(callback, undefined, result, feedOptions);
    return true;
  }

  const collection = {
    getSelfLink() {
      return selfLink;
    },
    getAltLink() {
      return altLink;
    },
    readDocument(link, optionsGiven, callbackGiven) {
      atLeast(1, arguments.length, 'readDocument');
      const name = documentName(link);
      take(optionsGiven, callbackGiven);
      const known = textOption('ifNoneMatch');
      return !isFull() && begun(host(READ, replies, byRid, name, known, callback !== undefined), callback, 200);
    },
    readDocuments(link, optionsGiven, callbackGiven) {
      atLeast(1, arguments.length, 'readDocuments');
      checkCollection(link);
      take(optionsGiven, callbackGiven);
      return feed(undefined, undefined);
    },
    queryDocuments(link, query, optionsGiven, callbackGiven) {
      atLeast(2, arguments.length, 'queryDocuments');
      checkCollection(link);
      const isSpec = typeof query === 'object' && query !== null, text = isSpec ? query.query : query;
      if (typeof text !== 'string') {
        throw bad('The "filterQuery" parameter must be of type "string" or "object" with a "query". '
          + `Actual type is: "${typeof query}".`);
      }
      take(optionsGiven, callbackGiven);
      const hasParameters = isSpec && query.parameters !== undefined && query.parameters !== null;
      return feed(text, hasParameters ? stringify(query.parameters) : undefined);
    },
    createDocument(link, body, optionsGiven, callbackGiven) {
      atLeast(2, arguments.length, 'createDocument');
      checkBody(body);
      checkCollection(link);
      take(optionsGiven, callbackGiven);
      checkIndexAction();
      return !isFull() && begun(host(CREATE, replies, withId(body), callback !== undefined), callback, 201);
    },
    upsertDocument(link, body, optionsGiven, callbackGiven) {
      atLeast(2, arguments.length, 'upsertDocument');
      checkBody(body);
      checkCollection(link);
      take(optionsGiven, callbackGiven);
      checkIndexAction();
      const etag = textOption('etag');
      return !isFull() && begun(host(UPSERT, replies, withId(body), callback !== undefined, etag), callback, 201);
    },
    replaceDocument(link, body, optionsGiven, callbackGiven) {
      atLeast(2, arguments.length, 'replaceDocument');
      const name = documentName(link), isRid = byRid;
      checkBody(body);
      take(optionsGiven, callbackGiven);
      checkIndexAction();
      const etag = textOption('etag');
      if (typeof body === 'string') parseBody(body);
      return !isFull() && begun(host(REPLACE, replies, isRid, name, body, callback !== undefined, etag), callback, 200);
    },
    deleteDocument(link, optionsGiven, callbackGiven) {
      atLeast(1, arguments.length, 'deleteDocument');
      const name = documentName(link);
      take(optionsGiven, callbackGiven);
      const etag = textOption('etag');
      return !isFull() && begun(host(DELETE, replies, byRid, name, callback !== undefined, etag), callback, 204);
    },
  };

  // Attachments ended with the service's early years.
  for (const name of [
    'readAttachment', 'readAttachments', 'queryAttachments', 'createAttachment', 'upsertAttachment', 'replaceAttachment',
    'deleteAttachment',
  ]) {
    collection[name] = () => {
      throw bad(`The function "${name}" is not supported: there are no attachments.`);
    };
  }

  // -- Request and response.
  // A bag of properties: get<name> for each, set<name> and append<name> for what can be written, and all by name.
  function bag(properties) {
    const writable = (name) => {
      const property = properties[name];
      if (property === undefined) throw bad(`Cannot set new values: ${String(name)}`);
      if (property.set === undefined) throw fail(403, `Not a writable property: ${name}`);
      return property;
    };
    const append = (property, value) => property.set(joined(property.get(), value));
    const object = {
      getValue: (name) => (properties[name] === undefined ? undefined : properties[name].get()),
      setValue: (name, value) => writable(name).set(value),
      appendValue: (name, value) => append(writable(name), value),
    };
    for (const name in properties) {
      const property = properties[name];
      object[`get${name}`] = () => property.get();
      if (property.set !== undefined) {
        object[`set${name}`] = (value) => property.set(value);
        object[`append${name}`] = (value) => append(property, value);
      }
    }
    return object;
  }

  const textOf = (value) => (typeof value === 'object' ? stringify(value) : String(value));

  function joined(before, value) {
    if (!before) return value;
    if (isArray(before) && isArray(value)) return before.concat(value);
    return textOf(before) + textOf(value);
  }

  // A body, which is read when it is asked for first.
  function bodyOf(operation, isWritable) {
    let isRead = false, value;
    const body = {
      isSet: false,
      get() {
        if (!isRead) {
          isRead = true;
          const text = host(operation);
          value = text === undefined ? undefined : parse(text);
        }
        return value;
      },
    };
    if (isWritable) {
      body.set = (given) => {
        if (typeof given === 'string' && given.length > RESPONSE_BYTES_MAX) {
          throw fail(413, 'Resulting message would be too large because of "Body".');
        }
        isRead = true;
        body.isSet = true;
        value = given;
      };
    }
    return setPrototypeOf(body, null);
  }

  const requested = bodyOf(REQUEST_TEXT, role === PRE_TRIGGER), responded = bodyOf(RESPONSE_TEXT, true);
  const requestProperties = { __proto__: null, Body: requested };
  const responseProperties = { __proto__: null, Body: responded };
  if (role !== PROCEDURE) requestProperties.OperationType = { get: () => host(OPERATION_TYPE) };
  if (role === POST_TRIGGER) {
    responseProperties.ResourceQuotaCurrentUsage = { get: () => host(CURRENT_USAGE) };
    responseProperties.MaxResourceQuota = { get: () => host(MAX_USAGE) };
  }
  const request = bag(requestProperties), response = role === PRE_TRIGGER ? undefined : bag(responseProperties);

  // -- The integrated query is loaded by the scripts that use it.
  let integrated;
  function integratedQuery() {
    if (integrated === undefined) {
      integrated = host(LOAD_QUERY)({
        bad, host, fail, isFull, take, refused, enqueue, responseOptions, pageSizeOption, textOption, readFeed,
        appendPage: response === undefined ? undefined : (page) => responded.set(joined(responded.get(), page)),
        given: () => ({ options, callback }),
      });
    }
    return integrated;
  }
  for (const name of [
    'filter', 'map', 'pluck', 'flatten', 'sortBy', 'sortByDescending', 'unwind', 'chain',
  ]) {
    collection[name] = { [name]: (...given) => integratedQuery()[name](...given) }[name];
  }
  defineProperty(collection, 'spatial', { get: () => integratedQuery().spatial, configurable: true });

  // -- Globals.
  // Its jobs belong to no promise, so that their exceptions would be lost.
  delete global.queueMicrotask;

  const context = { getCollection: () => collection, getRequest: () => request };
  if (response !== undefined) context.getResponse = () => response;
  context.abort = (reason) => {
    if (!isAborted) {
      isAborted = true;
      abortReason = reason === undefined ? fail(400, 'The script was aborted.') : reason;
    }
    throw abortReason;
  };

  const underscore = create(collection);
  underscore.request = request;
  if (response !== undefined) underscore.response = response;

  let format;
  const console = {
    log(...values) {
      if (!host(KEEPS_LOG)) return;
      if (format === undefined) format = host(LOAD_CONSOLE);
      if (!host(LOG, format(values))) throw fail(413, 'The log would be too large.');
    },
  };

  assign(global, { getContext: () => context, __: underscore, ErrorCodes, console });
  defineProperty(global, 'ErrorCodes', { writable: false, configurable: false });

  return [
    // Calls the script.
    (script, given) => {
      learnLinks();
      apply(script, undefined, given);
      return true;
    },
    // Calls the next callback; gives false if none waits.
    next,
    // Throws what the script was aborted with.
    () => {
      if (isAborted) throw abortReason;
    },
    // Hands the bodies over.
    () => {
      if (requested.isSet) host(SET_REQUEST, requested.get());
      if (responded.isSet) host(SET_RESPONSE, responded.get());
    },
  ];
}
