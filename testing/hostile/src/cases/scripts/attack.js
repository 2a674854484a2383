// Calls functions of the language at random with arguments that no sane caller gives: huge, negative, backed by getters,
// proxied, endless. SEED, TURNS and FILL are put in their places by the generator.
function attack() {
  let state = SEED;
  const below = (count) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 4294967296 * count);
  };
  const pick = (list) => list[below(list.length)];
  const numbers = [
    2 ** 53 - 1, 2 ** 53 - 2, 2 ** 53, 2 ** 32, 2 ** 32 - 1, 2 ** 31, 2 ** 31 - 1, -1, -(2 ** 31), -(2 ** 53), 0, -0, 1,
    0.5, NaN, Infinity, -Infinity, 1e308, 5e-324, 2 ** 24, 2 ** 20, 65536, 1000, 17,
  ];
  const number = () => pick(numbers);
  const unit = ['a', 'ab', '\u00e9', 'a\u0323\u0307', '\ud83d\ude00', '\ud83d', '[', '{"a":', '1', ' ', '(', '\\', '\0'];
  const text = () => pick(unit).repeat(1 << below(21));
  const patterns = ['(a*)*b', '(?:a|a)*$', '(.*)*x', '(?<=a{1,5000})b', '[^]*?(?=b)', '(?:){1000}', '(a?){50}a{50}', '\\p{L}+$', '(?<n>a)|\\k<n>b'];
  const keep = [];
  const made = [
    number, number, number, text, text,
    () => BigInt(pick([1, 2, 3, -7, 10])) ** BigInt(below(30000)),
    () => BigInt.asIntN(64, BigInt(below(1e9))),
    () => Symbol('s'), () => null, () => undefined, () => true,
    () => ({ length: number() }),
    () => ({ get length() { return number(); } }),
    () => { let asked = 0; return { get length() { return asked++ ? 2 ** 53 - 1 : 1; } }; },
    () => ({ length: 1000, get 0() { throw 1; }, get 5() { keep.length = 0; return text(); } }),
    () => ({ valueOf: number, toString: text }),
    () => ({ valueOf() { throw 1; }, toString() { throw 2; } }),
    () => ({ [Symbol.toPrimitive]: () => pick([number(), text(), {}]) }),
    () => new Proxy([], { get: (target, key) => (key === 'length' ? number() : typeof key === 'symbol' ? target[key] : below(9)) }),
    () => new Proxy({}, {
      ownKeys: () => Array.from({ length: below(3000) }, (_, key) => 'k' + key),
      getOwnPropertyDescriptor: () => ({ value: 1, configurable: true, enumerable: true }),
      has: () => true, get: () => below(9), getPrototypeOf: () => Array.prototype,
    }),
    () => new Proxy(function () {}, { apply: () => text(), construct: () => ({}) }),
    () => Array(below(1 << 16)).fill(below(9)),
    () => { const array = []; array.length = pick([2 ** 32 - 1, 2 ** 31, 2 ** 24, 5]); return array; },
    () => { const array = [1, 2, 3]; array.push(array, { array }); return array; },
    () => { let array = []; for (let depth = below(30000); depth > 0; depth--) array = [array]; return array; },
    () => { let object = {}; for (let depth = below(3000); depth > 0; depth--) object = Object.create(object); return object; },
    () => new (pick([Uint8Array, Int16Array, Float64Array, BigInt64Array]))(1 << below(18)),
    () => new ArrayBuffer(1 << below(22)), () => new ArrayBuffer(8, { maxByteLength: 1 << 22 }),
    () => new DataView(new ArrayBuffer(64)),
    () => new Map(Array.from({ length: below(2000) }, (_, key) => [key, text])),
    () => new Set(Array.from({ length: below(2000) }, (_, key) => 'v' + key)),
    () => new WeakMap(), () => new WeakRef({}),
    () => () => below(3) - 1, () => (value) => { keep.push(value); return true; },
    () => () => { throw new Error('callback'); },
    () => (...all) => all, () => class extends Array {}, () => async () => {}, () => function* () { yield 1; },
    () => (function* () { for (;;) yield below(9); })(),
    () => ({ [Symbol.iterator]: () => ({ next: () => ({ done: false, value: 1 }) }) }),
    () => ({ [Symbol.asyncIterator]: () => ({ next: async () => ({ done: false, value: 1 }) }) }),
    () => ({ then(resolve) { resolve(this); } }), () => Promise.resolve(1), () => new Promise(() => {}), () => Promise.reject(1),
    () => new RegExp(pick(patterns), pick(['', 'g', 'y', 'u', 's', 'gi', 'v'])),
    () => new Date(number()), () => new Error(text()), () => JSON, () => Math, () => Reflect, () => globalThis,
    () => { const error = new Error('e'); Object.defineProperty(error, 'message', { get: text }); return error; },
    () => pick(keep),
  ];
  const make = () => { try { return pick(made)(); } catch (error) { return undefined; } };
  // Every function that can be reached from the globals.
  const targets = [], seen = new Set();
  const look = (owner, depth) => {
    if ((typeof owner !== 'object' && typeof owner !== 'function') || owner === null || seen.has(owner) || depth > 3) return;
    seen.add(owner);
    for (const key of Reflect.ownKeys(owner)) {
      const property = Reflect.getOwnPropertyDescriptor(owner, key);
      for (const found of [property.value, property.get, property.set]) {
        if (typeof found === 'function' && found !== attack) targets.push([found, owner]);
        look(found, depth + 1);
      }
    }
    look(Reflect.getPrototypeOf(owner), depth + 1);
  };
  look(globalThis, 0);
  for (const value of [[], '', 1n, 1, /a/, function* () {}, async function () {}, new Map()[Symbol.iterator](), [].values(), ''.matchAll(/a/g), new Uint8Array(1)]) look(value, 1);
  const fill = () => {
    for (let step = 2 ** 22; step >= 16; step /= 2) {
      try { for (;;) keep.push(pick([0, 1]) ? new ArrayBuffer(step) : 'x'.repeat(step)); } catch (error) {}
    }
    keep.length -= below(200);
  };
  const fillAt = FILL ? below(TURNS) : -1;
  for (let turn = 0; turn < TURNS; turn++) {
    if (turn === fillAt) fill();
    const [target, owner] = pick(targets);
    const receiver = below(3) ? make() : owner, given = [];
    for (let count = below(5); count > 0; count--) given.push(make());
    try {
      const result = below(4) ? Reflect.apply(target, receiver, given) : Reflect.construct(target, given);
      if (below(2)) keep.push(result);
    } catch (error) {
      if (!below(8)) keep.push(error);
    }
  }
  return keep.length;
}
